/* The bytes of a data array [vtkformats].
 *
 * They stand in its element as base64, or in <AppendedData> as they are or as base64. In front of
 * bytes that are not compressed is their number; compressed ones are blocks, and in front of them
 * are: how many, how long each is, how long the last is (0: as the others), and how long each is when
 * compressed. Every count is checked against the bytes there are before anything of its size is
 * allocated: deflate shrinks nothing to less than 1/1032. */
#include "report/vtu/file.h"

#include <string.h>

#ifdef EG_HAVE_ZLIB
#include <zlib.h>

#define DEFLATE_MOST 1032
#endif

/* Bytes of an array, as they are or as base64, which may have blanks. Headers and data were encoded
 * together or one after the other, so a padded group may stand anywhere. */
typedef struct stream {
    const unsigned char *at, *end;
    bool raw;
    unsigned char held[3]; /* decoded, but not yet taken */
    int first, count;      /* of them */
} stream;

/* The value of a digit of base64; -1: it is none. */
static int digit_of(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes the next four digits. */
static bool fill(stream *s)
{
    uint32_t bits = 0;
    int digits = 0, padding = 0;
    while (digits + padding < 4) {
        while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
            s->at++;
        if (s->at == s->end) return false;
        const int value = digit_of(*s->at);
        if (*s->at == '=' && digits >= 2)
            padding++;
        else if (value >= 0 && padding == 0)
            digits++;
        else
            return false;
        bits = bits << 6 | (uint32_t)(value < 0 ? 0 : value);
        s->at++;
    }
    for (int i = 0; i < 3; i++)
        s->held[i] = (unsigned char)(bits >> (16 - 8 * i));
    s->first = 0;
    s->count = digits - 1;
    return true;
}

/* No more than so many bytes are left. */
static size_t left(const stream *s)
{
    const size_t bytes = (size_t)(s->end - s->at);
    return s->raw ? bytes : (size_t)s->count + bytes / 4 * 3;
}

static bool take(stream *s, size_t count, void *out)
{
    unsigned char *to = out;
    if (count > left(s)) return false;
    if (s->raw) {
        if (count) memcpy(to, s->at, count);
        s->at += count;
        return true;
    }
    for (; count > 0; count--) {
        if (s->count == 0 && !fill(s)) return false;
        *to++ = s->held[s->first++];
        s->count--;
    }
    return true;
}

static bool take_number(const eg_vtu_file *file, stream *s, uint64_t *out)
{
    uint32_t small = 0;
    if (file->header_bytes == 8) return take(s, 8, out);
    const bool there = take(s, 4, &small);
    *out = small;
    return there;
}

static eg_status fail_short(const eg_vtu_file *file, int node)
{
    char quote[EG_QUOTE_BYTES];
    return eg_xml_fail(&file->xml, node,
                       "the bytes of the array \"%s\" end too early, or are no base64: the file is "
                       "damaged",
                       eg_vtu_array_name(file, node, quote));
}

static eg_status fail_size(const eg_vtu_file *file, int node, uint64_t there, uint64_t needed)
{
    char quote[EG_QUOTE_BYTES];
    return eg_xml_fail(&file->xml, node,
                       "the array \"%s\" has %llu bytes, but should have %llu: the file is damaged",
                       eg_vtu_array_name(file, node, quote), (unsigned long long)there,
                       (unsigned long long)needed);
}

#ifdef EG_HAVE_ZLIB

/* What stands in front of compressed blocks. */
typedef struct blocks {
    uint64_t count, bytes, last;
    uint64_t *packed; /* [count] owned */
    uint64_t packed_total, packed_most;
} blocks;

static eg_status take_block_sizes(const eg_vtu_file *file, int node, stream *s, blocks *b)
{
    eg_status status = EG_OK;
    if (!take_number(file, s, &b->count)) return fail_short(file, node);
    if (b->count == 0) return EG_OK;
    if (!take_number(file, s, &b->bytes) || !take_number(file, s, &b->last) ||
        b->count > left(s) / (size_t)file->header_bytes)
        return fail_short(file, node);
    EG_TRY(eg_new(file->xml.ctx, b->count, &b->packed));
    for (uint64_t i = 0; i < b->count; i++) {
        if (!take_number(file, s, &b->packed[i])) return fail_short(file, node);
        if (b->packed[i] > left(s)) return fail_short(file, node);
        b->packed_total += b->packed[i];
        if (b->packed_total > left(s)) return fail_short(file, node);
        if (b->packed[i] > b->packed_most) b->packed_most = b->packed[i];
    }
done:
    return status;
}

static eg_status fail_blocks(const eg_vtu_file *file, int node)
{
    char quote[EG_QUOTE_BYTES];
    return eg_xml_fail(
        &file->xml, node,
        "the blocks of the array \"%s\" cannot be as long as they should be: the file "
        "is damaged",
        eg_vtu_array_name(file, node, quote));
}

/* The bytes that all blocks are together; UINT64_MAX if that cannot be. */
static uint64_t unpacked(const blocks *b)
{
    const uint64_t most = b->packed_total * DEFLATE_MOST;
    const uint64_t whole = b->count - (b->count > 0 && b->last > 0); /* of full length */
    if (b->last > b->bytes || b->last > most) return UINT64_MAX;
    if (whole > 0 && b->bytes > (most - b->last) / whole) return UINT64_MAX;
    return whole * b->bytes + b->last;
}

static eg_status unpack(const eg_vtu_file *file, int node, stream *s, const blocks *b,
                        unsigned char *out)
{
    eg_status status = EG_OK;
    unsigned char *packed = NULL;
    char quote[EG_QUOTE_BYTES];
    EG_TRY(eg_new(file->xml.ctx, b->packed_most, &packed));
    for (uint64_t i = 0; i < b->count; i++) {
        const uLong expected = (uLong)(i + 1 == b->count && b->last > 0 ? b->last : b->bytes);
        uLong length = expected;
        if (!take(s, b->packed[i], packed)) {
            status = fail_short(file, node);
            goto done;
        }
        if (uncompress(out, &length, packed, (uLong)b->packed[i]) != Z_OK || length != expected) {
            status = eg_xml_fail(&file->xml, node,
                                 "block %llu of the array \"%s\" cannot be decompressed: the file "
                                 "is damaged",
                                 (unsigned long long)i + 1, eg_vtu_array_name(file, node, quote));
            goto done;
        }
        out += expected;
    }
done:
    eg_release(file->xml.ctx, &packed);
    return status;
}

static eg_status take_compressed(const eg_vtu_file *file, int node, stream *s, size_t bytes,
                                 unsigned char **out)
{
    eg_status status = EG_OK;
    blocks b = {0};
    EG_TRY(take_block_sizes(file, node, s, &b));
    const uint64_t there = unpacked(&b);
    if (there != bytes) {
        status =
            there == UINT64_MAX ? fail_blocks(file, node) : fail_size(file, node, there, bytes);
        goto done;
    }
    EG_TRY(eg_new(file->xml.ctx, bytes, out));
    EG_TRY(unpack(file, node, s, &b, *out));
done:
    eg_release(file->xml.ctx, &b.packed);
    return status;
}

#else

static eg_status take_compressed(const eg_vtu_file *file, int node, stream *s, size_t bytes,
                                 unsigned char **out)
{
    (void)node;
    (void)s;
    (void)bytes;
    (void)out;
    return eg_fail(
        file->xml.ctx, EG_ERROR_UNSUPPORTED,
        "this eagre was built without zlib, so it reads no compressed VTU files; build it "
        "with zlib1g-dev");
}

#endif

static eg_status take_plain(const eg_vtu_file *file, int node, stream *s, size_t bytes,
                            unsigned char **out)
{
    eg_status status = EG_OK;
    uint64_t there;
    if (!take_number(file, s, &there)) return fail_short(file, node);
    if (there != bytes) return fail_size(file, node, there, bytes);
    if (bytes > left(s)) return fail_short(file, node);
    EG_TRY(eg_new(file->xml.ctx, bytes, out));
    if (!take(s, bytes, *out)) status = fail_short(file, node);
done:
    return status;
}

/* Finds where the bytes of an array are. */
static eg_status open_stream(const eg_vtu_file *file, int node, stream *s)
{
    const eg_xml *xml = &file->xml;
    const char *format = eg_xml_get(xml, node, "format");
    const eg_xml_node *n = &xml->nodes[node];
    eg_status status = EG_OK;
    char quote[EG_QUOTE_BYTES];
    int64_t offset;
    if (strcmp(format, "binary") == 0) {
        *s = (stream){.at = (const unsigned char *)n->text};
        s->end = n->text ? s->at + n->length : s->at;
        return EG_OK;
    }
    if (strcmp(format, "appended") != 0)
        return eg_xml_fail(xml, node,
                           "format=\"%s\" is none of \"ascii\", \"binary\", \"appended\"",
                           eg_quote(quote, format, strlen(format)));
    EG_TRY(eg_xml_count(xml, node, "offset", NULL, &offset));
    if (!xml->appended || offset > xml->appended_end - xml->appended)
        return eg_xml_fail(xml, node, "offset=\"%lld\" is behind the end of the file",
                           (long long)offset);
    *s = (stream){.at = (const unsigned char *)xml->appended + offset,
                  .end = (const unsigned char *)xml->appended_end,
                  .raw = file->raw};
done:
    return status;
}

eg_status eg_vtu_take_bytes(const eg_vtu_file *file, int node, size_t bytes, unsigned char **out)
{
    stream s;
    const eg_status status = open_stream(file, node, &s);
    if (status != EG_OK) return status;
    return file->compressed ? take_compressed(file, node, &s, bytes, out)
                            : take_plain(file, node, &s, bytes, out);
}
