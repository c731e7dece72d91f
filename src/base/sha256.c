/* SHA-256, as FIPS 180-4 section 6.2 writes it; bytes of a message in, 32 bytes of digest out. */
#include "base/sha256.h"

#include <string.h>

const uint32_t eg_sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int bits)
{
    return x >> bits | x << (32 - bits);
}

static void compress_block(uint32_t state[8], const unsigned char block[64])
{
    uint32_t w[64];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | (uint32_t)block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }

    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; t++) {
        uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + eg_sha256_constants[t] + w[t];
        uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void eg_sha256_compress(uint32_t state[8], const unsigned char *blocks, size_t count)
{
    for (; count > 0; count--, blocks += 64)
        compress_block(state, blocks);
}

static void compress(uint32_t state[8], const unsigned char *blocks, size_t count)
{
    if (!eg_sha256_compress_x86(state, blocks, count)) eg_sha256_compress(state, blocks, count);
}

void eg_sha256_init(eg_sha256 *hash)
{
    *hash = (eg_sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                  0x1f83d9ab, 0x5be0cd19},
    };
}

void eg_sha256_add(eg_sha256 *hash, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    size_t held = (size_t)(hash->bytes % 64);
    hash->bytes += length;

    if (held > 0) {
        size_t taken = length < 64 - held ? length : 64 - held;
        if (taken) memcpy(hash->block + held, bytes, taken);
        if (held + taken < 64) return;
        compress(hash->state, hash->block, 1);
        bytes += taken;
        length -= taken;
    }
    compress(hash->state, bytes, length / 64);
    if (length % 64) memcpy(hash->block, bytes + length / 64 * 64, length % 64);
}

void eg_sha256_end(eg_sha256 *hash, unsigned char digest[EG_SHA256_BYTES])
{
    /* Padding: a one bit, zeros up to 8 bytes before the end of a block, the length in bits. */
    static const unsigned char padding[64] = {0x80};
    unsigned char bits[8];
    for (int i = 0; i < 8; i++)
        bits[i] = (unsigned char)(hash->bytes * 8 >> (56 - 8 * i));
    size_t held = (size_t)(hash->bytes % 64);
    eg_sha256_add(hash, padding, held < 56 ? 56 - held : 120 - held);
    eg_sha256_add(hash, bits, sizeof bits);

    for (int i = 0; i < EG_SHA256_BYTES; i++)
        digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void eg_sha256_hex(const unsigned char digest[EG_SHA256_BYTES], char hex[EG_SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < EG_SHA256_BYTES; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[EG_SHA256_HEX - 1] = '\0';
}
