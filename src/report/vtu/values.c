/* The values of a data array: bytes of any of VTK's types, or text, as reals or whole numbers. */
#include "report/vtu/file.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "mesh/gmsh/decimal.h"

typedef enum value_type { I8, U8, I16, U16, I32, U32, I64, U64, F32, F64, VALUE_TYPES } value_type;

static const struct {
    const char *name;
    size_t bytes;
} value_types[VALUE_TYPES] = {
    [I8] = {"Int8", 1},     [U8] = {"UInt8", 1},   [I16] = {"Int16", 2}, [U16] = {"UInt16", 2},
    [I32] = {"Int32", 4},   [U32] = {"UInt32", 4}, [I64] = {"Int64", 8}, [U64] = {"UInt64", 8},
    [F32] = {"Float32", 4}, [F64] = {"Float64", 8}};

static eg_status find_type(const eg_vtu_file *file, int node, value_type *out)
{
    const char *given;
    char quote[EG_QUOTE_BYTES];
    eg_status status = eg_xml_need(&file->xml, node, "type", &given);
    if (status != EG_OK) return status;
    for (int t = 0; t < VALUE_TYPES; t++)
        if (strcmp(given, value_types[t].name) == 0) {
            *out = (value_type)t;
            return EG_OK;
        }
    return eg_xml_fail(&file->xml, node, "type=\"%s\" is not read",
                       eg_quote(quote, given, strlen(given)));
}

/* Where values go: one of the two is NULL. */
typedef struct values {
    double *reals;
    int64_t *integers;
} values;

static values values_at(bool reals, void *block)
{
    return (values){.reals = reals ? block : NULL, .integers = reals ? NULL : block};
}

#define CONVERT(ctype)                                                                             \
    for (int64_t i = 0; i < count; i++) {                                                          \
        ctype value;                                                                               \
        memcpy(&value, bytes + (size_t)i * sizeof value, sizeof value);                            \
        if (out.reals)                                                                             \
            out.reals[i] = (double)value;                                                          \
        else                                                                                       \
            out.integers[i] = (int64_t)value;                                                      \
    }                                                                                              \
    break

/* What is beyond the 63 bits of a number with a sign becomes negative, which no number, offset or
 * degree is. Reals never go to integers. */
static void convert(value_type type, const unsigned char *bytes, int64_t count, values out)
{
    switch (type) {
    case I8:
        CONVERT(int8_t);
    case U8:
        CONVERT(uint8_t);
    case I16:
        CONVERT(int16_t);
    case U16:
        CONVERT(uint16_t);
    case I32:
        CONVERT(int32_t);
    case U32:
        CONVERT(uint32_t);
    case I64:
        CONVERT(int64_t);
    case U64:
        CONVERT(uint64_t);
    case F32:
        CONVERT(float);
    case F64:
        CONVERT(double);
    case VALUE_TYPES:
        break;
    }
}

/* "nan", "inf" or "infinity", with a sign or without; NULL: none of these. */
static const char *parse_special(const char *at, const char *end, double *out)
{
    static const char *const words[] = {"nan", "infinity", "inf"};
    const bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    for (size_t i = 0; i < EG_COUNT(words); i++) {
        const size_t length = strlen(words[i]);
        if ((size_t)(end - at) < length || strncasecmp(at, words[i], length) != 0) continue;
        *out = i == 0 ? (double)NAN : negative ? -HUGE_VAL : HUGE_VAL;
        return at + length;
    }
    return NULL;
}

static const char *parse_integer(const char *at, const char *end, int64_t *out)
{
    const bool negative = at < end && *at == '-';
    const char *digits = at + negative;
    int64_t value = 0;
    for (at = digits; at < end && *at >= '0' && *at <= '9'; at++) {
        if (value > (INT64_MAX - 9) / 10) return NULL;
        value = 10 * value + (*at - '0');
    }
    *out = negative ? -value : value;
    return at > digits ? at : NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Reads exactly so many numbers of the array's text. */
static eg_status parse_text(const eg_vtu_file *file, int node, int64_t count, values out)
{
    const eg_xml_node *n = &file->xml.nodes[node];
    const char *at = n->text, *end = at ? at + n->length : at;
    char quote[EG_QUOTE_BYTES], name[EG_QUOTE_BYTES];
    for (int64_t i = 0; i < count; i++) {
        const char *behind = NULL;
        while (at < end && is_blank(*at))
            at++;
        if (at == end)
            return eg_xml_fail(&file->xml, node, "the array \"%s\" has only %lld values, not %lld",
                               eg_vtu_array_name(file, node, name), (long long)i, (long long)count);
        if (out.integers) behind = parse_integer(at, end, &out.integers[i]);
        if (out.reals) behind = eg_decimal_parse(at, end, &out.reals[i]);
        if (out.reals && !behind) behind = parse_special(at, end, &out.reals[i]);
        if (!behind || (behind < end && !is_blank(*behind))) {
            const char *stop = at;
            while (stop < end && !is_blank(*stop))
                stop++;
            return eg_xml_fail(&file->xml, node, "\"%s\" in the array \"%s\" is no %snumber",
                               eg_quote(quote, at, (size_t)(stop - at)),
                               eg_vtu_array_name(file, node, name), out.reals ? "" : "whole ");
        }
        at = behind;
    }
    while (at < end && is_blank(*at))
        at++;
    if (at < end)
        return eg_xml_fail(&file->xml, node, "the array \"%s\" has more than its %lld values",
                           eg_vtu_array_name(file, node, name), (long long)count);
    return EG_OK;
}

static eg_status take(eg_vtu_file *file, int node, int64_t count, bool reals, void **out)
{
    eg_status status = EG_OK;
    eg_context *ctx = file->xml.ctx;
    const char *format = eg_xml_get(&file->xml, node, "format");
    char name[EG_QUOTE_BYTES];
    unsigned char *bytes = NULL;
    value_type type = VALUE_TYPES;
    void *block = NULL;
    EG_TRY(find_type(file, node, &type));
    if (!reals && type >= F32)
        return eg_xml_fail(&file->xml, node, "the array \"%s\" must have whole numbers, not %s",
                           eg_vtu_array_name(file, node, name), value_types[type].name);
    EG_TRY(eg_vtu_spend(file, node, count));
    if (!format || strcmp(format, "ascii") == 0) {
        EG_TRY(eg_allocate_array(ctx, (size_t)count, sizeof(double), &block));
        EG_TRY(parse_text(file, node, count, values_at(reals, block)));
    } else {
        EG_TRY(eg_vtu_take_bytes(file, node, (size_t)count * value_types[type].bytes, &bytes));
        EG_TRY(eg_allocate_array(ctx, (size_t)count, sizeof(double), &block));
        convert(type, bytes, count, values_at(reals, block));
    }
    *out = block;
    block = NULL;
done:
    eg_release(ctx, &bytes);
    eg_release(ctx, &block);
    return status;
}

eg_status eg_vtu_take_reals(eg_vtu_file *file, int node, int64_t count, double **out)
{
    void *block = NULL;
    const eg_status status = take(file, node, count, true, &block);
    *out = block;
    return status;
}

eg_status eg_vtu_take_integers(eg_vtu_file *file, int node, int64_t count, int64_t **out)
{
    void *block = NULL;
    const eg_status status = take(file, node, count, false, &block);
    *out = block;
    return status;
}
