/* The compression of SHA-256 with the SHA instructions of x86: four rounds a step, the state held as the
 * vectors ABEF and CDGH. Six times as fast as C. */
#include "base/sha256.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

/* SHA, SSSE3 and SSE4.1. */
static bool has_instructions(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

__attribute__((target("sha,ssse3,sse4.1"))) static void
compress(uint32_t state[8], const unsigned char *blocks, size_t count)
{
    /* Words are big-endian in the message. */
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i *const stored = (__m128i *)state;
    const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(stored), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(stored + 1), 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; count > 0; count--, blocks += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[16]; /* four words of the schedule each */
        for (int i = 0; i < 16; i++) {
            if (i < 4)
                w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)blocks + i), swap);
            else
                w[i] = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w[i - 4], w[i - 3]),
                                                          _mm_alignr_epi8(w[i - 1], w[i - 2], 4)),
                                            w[i - 1]);
            const __m128i k = _mm_loadu_si128((const __m128i *)eg_sha256_constants + i);
            const __m128i sum = _mm_add_epi32(w[i], k);
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(stored, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(stored + 1, _mm_alignr_epi8(dchg, feba, 8));
}

bool eg_sha256_compress_x86(uint32_t state[8], const unsigned char *blocks, size_t count)
{
    static atomic_int known; /* 0: not yet, 1: no, 2: yes; asking the processor takes its time */
    int has = atomic_load(&known);
    if (has == 0) {
        has = has_instructions() ? 2 : 1;
        atomic_store(&known, has);
    }
    if (has == 2) compress(state, blocks, count);
    return has == 2;
}

#else

bool eg_sha256_compress_x86(uint32_t state[8], const unsigned char *blocks, size_t count)
{
    (void)state, (void)blocks, (void)count;
    return false;
}

#endif
