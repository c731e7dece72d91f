/* Texts in SVG files: they come from users and files, in UTF-8 if all is well. */
#include "report/draw/svg.h"

uint32_t eg_utf8_next(const char **s)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000}; /* by the number of further bytes */
    const unsigned char *byte = (const unsigned char *)*s;
    const int more = byte[0] < 0x80   ? 0
                     : byte[0] < 0xc0 ? -1
                     : byte[0] < 0xe0 ? 1
                     : byte[0] < 0xf0 ? 2
                     : byte[0] < 0xf8 ? 3
                                      : -1;
    uint32_t code = more <= 0 ? byte[0] : byte[0] & (0x3fu >> more);
    *s += 1;
    for (int i = 1; i <= more; i++) {
        if ((byte[i] & 0xc0) != 0x80) return 0xfffd;
        code = code << 6 | (byte[i] & 0x3f);
    }
    if (more < 0 || code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0xfffd;
    *s += more;
    return code;
}

uint32_t eg_utf8_lowered(uint32_t code)
{
    static const uint32_t early[] = {0xb9, 0xb2, 0xb3}; /* 1, 2, 3 came before the others */
    for (uint32_t i = 0; i < EG_COUNT(early); i++)
        if (code == early[i]) return '1' + i;
    if (code == 0x2070 || (code >= 0x2074 && code <= 0x2079)) return '0' + (code - 0x2070);
    return code == 0x207a ? '+' : code == 0x207b ? 0x2212 : 0;
}

double eg_svg_characters(const char *text)
{
    double count = 0;
    for (; *text; eg_utf8_next(&text))
        count++;
    return count;
}

eg_status eg_svg_put_escaped(eg_text *svg, const char *text)
{
    eg_status status = EG_OK;
    while (*text) {
        const char *from = text;
        const uint32_t code = eg_utf8_next(&text);
        if (code == '&')
            EG_TRY(eg_text_puts(svg, "&amp;"));
        else if (code == '<')
            EG_TRY(eg_text_puts(svg, "&lt;"));
        else if (code == '>')
            EG_TRY(eg_text_puts(svg, "&gt;"));
        else if (code == 0xfffd)
            EG_TRY(eg_text_puts(svg, "\xef\xbf\xbd"));
        else if (code >= 0x20 && !(code >= 0x7f && code < 0xa0) && (code & 0xfffe) != 0xfffe)
            EG_TRY(eg_text_add(svg, from, (size_t)(text - from)));
    }
done:
    return status;
}
