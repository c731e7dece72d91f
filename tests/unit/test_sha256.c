/* SHA-256 in C and with the processor's own instructions. */
#include "test.h"

#include "base/sha256.h"

static void test_sha256__instructions_do_what_c_does(void **state)
{
    (void)state;
    enum { BLOCKS = 9 };
    unsigned char bytes[64 * BLOCKS];
    uint32_t a[8], b[8];
    uint64_t seed = 3;
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)((test_random(&seed) + 1) * 128);
        for (int i = 0; i < 8; i++)
            a[i] = b[i] = (uint32_t)((test_random(&seed) + 1) * 0x1p31);
        eg_sha256_compress(a, bytes, (size_t)(round % (BLOCKS + 1)));
        if (!eg_sha256_compress_x86(b, bytes, (size_t)(round % (BLOCKS + 1)))) skip();
        assert_memory_equal(a, b, sizeof a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256__instructions_do_what_c_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
