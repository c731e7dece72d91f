/* The last line of a manifest: "# sha256 DIGITS", so that a change of any byte shows, of the line itself
 * too. */
#define _GNU_SOURCE
#include "report/checkpoint/manifest_seal.h"

#include <errno.h>
#include <string.h>

#define SEAL_WORD "# sha256 "
#define SEAL_BYTES (sizeof SEAL_WORD - 1 + EG_SHA256_HEX) /* with the line feed */

void eg_manifest_sum(const void *bytes, size_t length, char hex[EG_SHA256_HEX])
{
    unsigned char digest[EG_SHA256_BYTES];
    eg_sha256 hash;
    eg_sha256_init(&hash);
    eg_sha256_add(&hash, bytes, length);
    eg_sha256_end(&hash, digest);
    eg_sha256_hex(digest, hex);
}

eg_status eg_manifest_seal(eg_text *text)
{
    char hex[EG_SHA256_HEX];
    eg_manifest_sum(text->data, text->length, hex);
    return eg_text_printf(text, SEAL_WORD "%s\n", hex);
}

/* NULL if a text ends with the line that belongs to it, else what is wrong. */
static const char *judge(const char *text, size_t length)
{
    char hex[EG_SHA256_HEX];
    const size_t word = strlen(SEAL_WORD);
    const char *seal = length < SEAL_BYTES ? NULL : text + length - SEAL_BYTES;
    if (!seal || memcmp(seal, SEAL_WORD, word) != 0 || text[length - 1] != '\n')
        return "has no checksum at its end: it was cut off or changed";
    eg_manifest_sum(text, length - SEAL_BYTES, hex);
    if (memcmp(seal + word, hex, EG_SHA256_HEX - 1) != 0)
        return "has another checksum than its last line says: it was changed";
    return NULL;
}

eg_status eg_manifest_check_seal(eg_context *ctx, const char *name, const char *text, size_t length)
{
    const char *wrong = judge(text, length);
    return wrong ? eg_fail(ctx, EG_ERROR_INPUT, "%s %s", name, wrong) : EG_OK;
}

/* The first number that stands behind a key in a text that is whole; 0: there is none. */
static int64_t read_number(const char *text, size_t length, const char *key)
{
    const char *at = judge(text, length) ? NULL : memmem(text, length, key, strlen(key));
    int64_t number = 0;
    if (!at) return 0;
    for (at += strlen(key); *at >= '0' && *at <= '9' && number < INT64_MAX / 100; at++)
        number = number * 10 + (*at - '0');
    return number;
}

int64_t eg_manifest_sequence(const char *text, size_t length)
{
    return read_number(text, length, "\nsequence = ");
}

int64_t eg_manifest_format(const char *text, size_t length)
{
    return read_number(text, length, "\nformat = ");
}

bool eg_manifest_lost(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ESTALE:
    case ETIMEDOUT:
        return false;
    default:
        return true;
    }
}
