/* What a manifest is as a file: its name, and its last line, which holds the SHA-256 of all before it. */
#ifndef EG_REPORT_MANIFEST_SEAL_H
#define EG_REPORT_MANIFEST_SEAL_H

#include "base/base.h"

#define EG_MANIFEST_FORMAT 1
#define EG_MANIFEST_NAME "manifest.toml"
#define EG_MANIFEST_BYTES ((int64_t)16 << 20) /* longer ones would not be read by room `case` */

/* Adds the line. */
eg_status eg_manifest_seal(eg_text *text);

/* Fails unless a text ends with the line that belongs to it. */
eg_status eg_manifest_check_seal(eg_context *ctx, const char *name, const char *text,
                                 size_t length);

/* The sequence in a text that ends with the line that belongs to it; 0 if there is something wrong with
 * it. It is all that is parsed. */
int64_t eg_manifest_sequence(const char *text, size_t length);
/* Its format, in the same way: of a newer one nothing else may be known. */
int64_t eg_manifest_format(const char *text, size_t length);

/* Whether a file that could not be read, with this errno, is lost; if not, somebody else or another time
 * may read it. */
bool eg_manifest_lost(int error);

/* The SHA-256 of bytes in hexadecimal digits. */
void eg_manifest_sum(const void *bytes, size_t length, char hex[EG_SHA256_HEX]);

#endif
