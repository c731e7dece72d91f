/* A font of strokes, drawn on a grid of 12 units from the line that letters stand on to the top of
 * capitals.
 *
 * A letter is a list of strokes, separated by spaces: "/" through the points that follow, "~" along
 * them (a quadratic B-spline, from the first point to the last) or "@" around them (the same,
 * closed). A point is two letters, x from a = 0 and y from e = 0 upwards (a is 4 below the
 * line). */
#include "report/font.h"

#include "report/svg.h"

#include <math.h>
#include <string.h>

#define UNIT 0.06   /* of the grid, in sizes */
#define BETWEEN 3.2 /* units between letters */
#define WEIGHT 1.35 /* units of a stroke's width */
#define BOLD 2.0
#define SPACE 2.0      /* units */
#define STROKE_MOST 16 /* points of a stroke in the table */

enum { PIECES = 6 }; /* of a curve between two points */

static const char *const letters[] = {
    /*   */ "",
    /* ! */ "/aiaq /aeaf",
    /* " */ "/anaq /cncq",
    /* # */ "/bedq /fehq /aiii /amim",
    /* $ */ "~hohqaqajhlheaeag /ecds",
    /* % */ "/beiq @akdkdqaq @geiejkgk",
    /* & */ "~iebmbqfqfnajaegeij",
    /* ' */ "/anaq",
    /* ( */ "~cranafcb",
    /* ) */ "~arcncfab",
    /* * */ "/ckcq /alep /apel",
    /* + */ "/ajgj /dgdm",
    /* , */ "/bfac",
    /* - */ "/ajej",
    /* . */ "/aeaf",
    /* / */ "/acgr",
    /* 0 */ "@aehehqaq",
    /* 1 */ "/boeqee",
    /* 2 */ "~anaqhqhlae /aehe",
    /* 3 */ "~aoaqgqgkck ~ckhkheaeag",
    /* 4 */ "/fefqaihi",
    /* 5 */ "/gqbqak ~akcmhmheaeag",
    /* 6 */ "@aehehlal ~gpgqaqai",
    /* 7 */ "/aqhqce",
    /* 8 */ "@bkgkgqbq @aehehkak",
    /* 9 */ "@ajhjhqaq ~hmheaeaf",
    /* : */ "/aeaf /alam",
    /* ; */ "/bfac /blbm",
    /* < */ "/gnajgf",
    /* = */ "/ahgh /algl",
    /* > */ "/angjaf",
    /* ? */ "~aoaqgqgldi /dedf",
    /* @ */ "@dgigimdm ~imihkglglqaqacecjc",
    /* A */ "/aeeqie /bhhh",
    /* B */ "/aeaq ~aqdqhqhkdkak ~akdkikiedeae",
    /* C */ "~iniqaqaeieih",
    /* D */ "/aeaq ~aqdqiqiedeae",
    /* E */ "/hqaqaehe /akgk",
    /* F */ "/hqaqae /akgk",
    /* G */ "~iniqaqaeieik /ikek",
    /* H */ "/aeaq /ieiq /akik",
    /* I */ "/aeaq",
    /* J */ "~fqfkfeaeah",
    /* K */ "/aeaq /hqaj /clie",
    /* L */ "/aqaege",
    /* M */ "/aeaqfijqje",
    /* N */ "/aeaqieiq",
    /* O */ "@aeieiqaq",
    /* P */ "/aeaq ~aqdqhqhjdjaj",
    /* Q */ "@aeieiqaq /fhjd",
    /* R */ "/aeaq ~aqdqhqhjdjaj /djhe",
    /* S */ "~hohqaqajhlheaeag",
    /* T */ "/aqiq /eqee",
    /* U */ "~aqakaeieikiq",
    /* V */ "/aqeeiq",
    /* W */ "/aqdegojemq",
    /* X */ "/aqie /iqae",
    /* Y */ "/aqekiq /ekee",
    /* Z */ "/aqiqaeie",
    /* [ */ "/crarabcb",
    /* \ */ "/argc",
    /* ] */ "/arcrcbab",
    /* ^ */ "/aldqgl",
    /* _ */ "/acic",
    /* ` */ "/aqbo",
    /* a */ "@aegegmam /gmge",
    /* b */ "/aqae @aegegmam",
    /* c */ "~gkgmamaegegg",
    /* d */ "/gqge @aegegmam",
    /* e */ "/aigi ~gigmamaegegg",
    /* f */ "~fqcqcnce /amfm",
    /* g */ "@aegegmam ~gmgggaaaac",
    /* h */ "/aqae ~aiamgmgige",
    /* i */ "/aeam /apaq",
    /* j */ "~cmcecaaa /cpcq",
    /* k */ "/aqae /fmah /cjge",
    /* l */ "~aqagaece",
    /* m */ "/amae ~aiamfmfife ~fifmkmkike",
    /* n */ "/amae ~aiamgmgige",
    /* o */ "@aegegmam",
    /* p */ "/amaa @aegegmam",
    /* q */ "/gmga @aegegmam",
    /* r */ "/amae ~aiamem",
    /* s */ "~flfmamahfjfeaeaf",
    /* t */ "~cpchcefe /amfm",
    /* u */ "~amaiaegegi /gmge",
    /* v */ "/amdegm",
    /* w */ "/amcefliekm",
    /* x */ "/amge /gmae",
    /* y */ "/amde /gmba",
    /* z */ "/amgmaege",
    /* { */ "~drbrbmaj ~ajbhbbdb",
    /* | */ "/abar",
    /* } */ "~arcrcmdj ~djchcbab",
    /* ~ */ "~ajbmfhgk",
};
static const char box[] = "/aegegqaqae";

static const char *letter_of(uint32_t code)
{
    return code >= 32 && code - 32 < EG_COUNT(letters) ? letters[code - 32] : box;
}

/* The width of a letter in units, without what is between letters. */
static double letter_width(const char *letter)
{
    int most = 0;
    if (!*letter) return SPACE;
    for (const char *s = letter; *s; s++) {
        if (strchr("/~@ ", *s)) continue;
        if (*s - 'a' > most) most = *s - 'a';
        s++;
    }
    return most;
}

double eg_font_advance(const char *text, double size)
{
    double width = 0;
    while (*text)
        width += letter_width(letter_of(eg_utf8_next(&text))) + BETWEEN;
    return UNIT * size * width;
}

double eg_font_width(const char *text, double size)
{
    return *text ? eg_font_advance(text, size) - UNIT * size * BETWEEN : 0;
}

static void half_way(const double *a, const double *b, double *out)
{
    out[0] = 0.5 * (a[0] + b[0]);
    out[1] = 0.5 * (a[1] + b[1]);
}

/* The points of a B-spline as a line: one Bézier curve for each inner point, or for each if
 * closed. */
static size_t smooth(size_t count, const double (*p)[2], bool closed, double (*out)[2])
{
    const size_t curves = closed ? count : count - 2;
    size_t n = 0;
    for (size_t i = 0; i < curves; i++) {
        const double *control = p[closed ? i : i + 1];
        const double *before = p[closed ? (i + count - 1) % count : i];
        const double *after = p[closed ? (i + 1) % count : i + 2];
        double from[2], to[2];
        half_way(before, control, from);
        half_way(control, after, to);
        if (!closed && i == 0) memcpy(from, before, sizeof from);
        if (!closed && i + 1 == curves) memcpy(to, after, sizeof to);
        for (int k = i > 0; k <= PIECES; k++, n++) {
            const double t = (double)k / PIECES, s = 1 - t;
            for (int d = 0; d < 2; d++)
                out[n][d] = s * s * from[d] + 2 * s * t * control[d] + t * t * to[d];
        }
    }
    return n;
}

/* Draws a letter whose origin is (x, y). */
static void draw_letter(eg_raster *raster, double x, double y, double unit, double width,
                        const char *letter)
{
    while (*letter) {
        const char kind = *letter++;
        double points[STROKE_MOST][2] = {{0}}, curve[STROKE_MOST * PIECES + 1][2];
        size_t count = 0;
        for (; *letter && *letter != ' '; letter += 2, count++) {
            points[count][0] = x + unit * (letter[0] - 'a');
            points[count][1] = y - unit * (letter[1] - 'e');
        }
        if (*letter == ' ') letter++;
        if (kind == '/') {
            eg_raster_stroke(raster, count, (const double(*)[2])points, width, true);
        } else {
            const size_t n = smooth(count, (const double(*)[2])points, kind == '@', curve);
            eg_raster_stroke(raster, n, (const double(*)[2])curve, width, kind == '~');
        }
    }
}

void eg_font_draw(eg_raster *raster, double x, double y, double size, bool bold, const char *text)
{
    const double unit = UNIT * size, width = unit * (bold ? BOLD : WEIGHT);
    const double line = floor(y) - 0.5; /* in the middle of pixels, where it is sharp */
    while (*text) {
        const char *letter = letter_of(eg_utf8_next(&text));
        draw_letter(raster, x, line, unit, width, letter);
        x += unit * (letter_width(letter) + BETWEEN);
    }
}
