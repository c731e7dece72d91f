/* The compression of SHA-256, in C and with the instructions that some processors have for it; private to
 * room `base`. */
#ifndef EG_SHA256_H
#define EG_SHA256_H

#include "base/base.h"

/* The round constants K, FIPS 180-4 section 4.2.2. */
extern const uint32_t eg_sha256_constants[64];

/* Compresses `count` blocks of 64 bytes into the state. */
void eg_sha256_compress(uint32_t state[8], const unsigned char *blocks, size_t count);
/* The same; false, with nothing done, where the processor has no instructions for it. */
bool eg_sha256_compress_x86(uint32_t state[8], const unsigned char *blocks, size_t count);

#endif
