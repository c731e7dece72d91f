/* Values as TOML: strings in double quotes with every escape that they need, numbers that read back as
 * the same double. */
#include "case/case.h"
#include "case/place.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Adds one character, or (0 bytes) what stands for a byte that is none. */
static eg_status put_character(eg_text *out, const char *text, size_t bytes, bool lines)
{
    static const char escapes[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
    const unsigned char c = (unsigned char)text[0];
    if (bytes == 0) return eg_text_puts(out, "\xef\xbf\xbd");
    if (bytes > 1 || (lines && c == '\n')) return eg_text_add(out, text, bytes);
    const char *known = c ? strchr(values, c) : NULL;
    if (known) return eg_text_printf(out, "\\%c", escapes[known - values]);
    if (c < 0x20 || c == 0x7f) return eg_text_printf(out, "\\u%04X", c);
    return eg_text_add(out, text, 1);
}

eg_status eg_toml_put_string(eg_text *out, const char *text, size_t length, bool lines)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(out, lines ? "\"\"\"\n" : "\""));
    for (size_t i = 0; i < length;) {
        const size_t bytes = eg_utf8_length(text + i, length - i);
        EG_TRY(put_character(out, text + i, bytes, lines));
        i += bytes ? bytes : 1;
    }
    EG_TRY(eg_text_puts(out, lines ? "\"\"\"" : "\""));
done:
    return status;
}

eg_status eg_toml_put_real(eg_text *out, double value)
{
    char digits[40];
    if (isnan(value)) return eg_text_puts(out, "nan");
    if (isinf(value)) return eg_text_puts(out, value < 0 ? "-inf" : "inf");
    snprintf(digits, sizeof digits, "%.17g", value);
    /* The host program may have set a locale with another decimal separator. */
    for (char *c = digits; *c; c++)
        if (!strchr("+-.e0123456789", *c)) *c = '.';
    return eg_text_printf(out, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}
