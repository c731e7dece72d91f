/* Writes JSON (RFC 8259): commas, escapes and numbers in one place. */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

eg_json eg_json_new(eg_text *text)
{
    return (eg_json){.text = text, .status = EG_OK};
}

static void add(eg_json *json, const char *bytes, size_t length)
{
    if (json->status == EG_OK) json->status = eg_text_add(json->text, bytes, length);
}

static void begin_value(eg_json *json)
{
    if (json->has_member && !json->after_key) add(json, ", ", 2);
    json->after_key = false;
    json->has_member = true;
}

static void begin(eg_json *json, const char *opener, char closer)
{
    assert(json->depth < EG_JSON_DEPTH);
    begin_value(json);
    add(json, opener, 1);
    json->closers[json->depth++] = closer;
    json->has_member = false;
}

void eg_json_begin_object(eg_json *json)
{
    begin(json, "{", '}');
}

void eg_json_begin_array(eg_json *json)
{
    begin(json, "[", ']');
}

void eg_json_close(eg_json *json)
{
    assert(json->depth > 0 && !json->after_key);
    add(json, &json->closers[--json->depth], 1);
    json->has_member = true;
}

/* The length of the UTF-8 sequence at `s`, 0 if it is none (overlong, surrogate, beyond U+10FFFF,
 * cut off). */
static size_t utf8_length(const unsigned char *s)
{
    size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] > 0xf4) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
    }
    bool outside = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
                   (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
    return outside ? 0 : length;
}

static void add_string(eg_json *json, const char *value)
{
    add(json, "\"", 1);
    const unsigned char *s = (const unsigned char *)value;
    while (*s) {
        size_t length = utf8_length(s);
        if (length == 0) {
            add(json, "\xef\xbf\xbd", 3);
            length = 1;
        } else if (*s == '"' || *s == '\\') {
            char escaped[2] = {'\\', (char)*s};
            add(json, escaped, 2);
        } else if (*s < 0x20 || *s == 0x7f) {
            char escaped[8];
            int n = snprintf(escaped, sizeof escaped, "\\u%04x", *s);
            add(json, escaped, (size_t)n);
        } else {
            add(json, (const char *)s, length);
        }
        s += length;
    }
    add(json, "\"", 1);
}

void eg_json_key(eg_json *json, const char *key)
{
    assert(json->depth > 0 && json->closers[json->depth - 1] == '}' && !json->after_key);
    begin_value(json);
    add_string(json, key);
    add(json, ": ", 2);
    json->after_key = true;
}

void eg_json_string(eg_json *json, const char *value)
{
    begin_value(json);
    add_string(json, value);
}

void eg_json_number(eg_json *json, double value)
{
    begin_value(json);
    if (!isfinite(value)) {
        add(json, "null", 4);
        return;
    }
    char number[40];
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value) break;
    }
    /* The host program may have set a locale with another decimal separator. */
    for (char *c = number; *c; c++) {
        if (!strchr("+-0123456789e", *c)) *c = '.';
    }
    add(json, number, (size_t)n);
}

void eg_json_integer(eg_json *json, int64_t value)
{
    char number[24];
    int n = snprintf(number, sizeof number, "%lld", (long long)value);
    begin_value(json);
    add(json, number, (size_t)n);
}

void eg_json_bool(eg_json *json, bool value)
{
    begin_value(json);
    add(json, value ? "true" : "false", value ? 4 : 5);
}

void eg_json_put_string(eg_json *json, const char *key, const char *value)
{
    eg_json_key(json, key);
    eg_json_string(json, value);
}

void eg_json_put_number(eg_json *json, const char *key, double value)
{
    eg_json_key(json, key);
    eg_json_number(json, value);
}

void eg_json_put_integer(eg_json *json, const char *key, int64_t value)
{
    eg_json_key(json, key);
    eg_json_integer(json, value);
}

void eg_json_put_bool(eg_json *json, const char *key, bool value)
{
    eg_json_key(json, key);
    eg_json_bool(json, value);
}

eg_status eg_json_end(eg_json *json)
{
    assert(json->depth == 0 && !json->after_key);
    add(json, "\n", 1);
    return json->status;
}
