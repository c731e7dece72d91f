/* What tests of SVG files share. */
#ifndef EG_TEST_SVG_H
#define EG_TEST_SVG_H

#include "test.h"

static inline size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *s = strstr(text, part); s; s = strstr(s + 1, part))
        count++;
    return count;
}

/* Checks that tags nest, attributes are quoted, and text holds no bare markup or control
 * characters. */
static inline void assert_well_formed(const char *xml)
{
    char open[32][32];
    int depth = 0;
    const char *s = xml;
    while (*s) {
        assert_true((unsigned char)*s >= 0x20 || *s == '\n');
        if (*s == '&')
            assert_true(!strncmp(s, "&amp;", 5) || !strncmp(s, "&lt;", 4) ||
                        !strncmp(s, "&gt;", 4));
        if (*s++ != '<') continue;
        const bool closing = *s == '/';
        if (closing) s++;
        char name[32];
        const size_t length = strcspn(s, " />\n");
        assert_in_range(length, 1, sizeof name - 1);
        snprintf(name, sizeof name, "%.*s", (int)length, s);
        s += length;
        bool empty = false;
        for (; *s != '>'; s++) {
            assert_true(*s && *s != '<');
            empty = *s == '/';
            if (*s != '=') continue;
            assert_true(s[1] == '"');
            s = strchr(s + 2, '"');
            assert_non_null(s);
        }
        if (closing) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (!empty) {
            assert_true(depth < 32);
            snprintf(open[depth++], sizeof open[0], "%s", name);
        }
    }
    assert_int_equal(depth, 0);
}

/* The number of an attribute written as name="number", within one tag. */
static inline double attribute(const char *tag, const char *name)
{
    char wanted[16];
    snprintf(wanted, sizeof wanted, " %s=\"", name);
    const char *found = strstr(tag, wanted), *end = strchr(tag, '>');
    assert_true(found && end && found < end);
    return strtod(found + strlen(wanted), NULL);
}

#endif
