/* A font of strokes, drawn on a grid of 12 units from the line that letters stand on to the top of
 * capitals.
 *
 * A letter is a list of strokes, separated by spaces: "/" through the points that follow, "~" along
 * them (a quadratic B-spline, from the first point to the last) or "@" around them (the same,
 * closed). A point is two letters, x from a = 0 and y from e = 0 upwards (a is 4 below the
 * line). */
#include "report/draw/font.h"

#include "report/draw/svg.h"

#include <math.h>
#include <string.h>

#define UNIT 0.06   /* of the grid, in sizes */
#define BETWEEN 3.2 /* units between letters */
#define WEIGHT 1.35 /* units of a stroke's width */
#define BOLD 2.0
#define SPACE 2.0      /* units */
#define SMALL 0.72     /* how much smaller raised letters are */
#define RISE 5.5       /* units by which they are raised */
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
/* Signs and Greek letters. */
static const struct {
    uint32_t code;
    const char *letter;
} others[] = {
    {0xb0, "@andndqaq"},                  /* degrees */
    {0xb1, "/akgk /dhdn /aege"},          /* plus or minus */
    {0xb5, "/amaa ~aiaegegi /gmge"},      /* micro */
    {0xb7, "/ajak"},                      /* a dot in the middle */
    {0xd7, "/agfl /alfg"},                /* times */
    {0x393, "/aeaqgq"},                   /* Gamma */
    {0x394, "/aeeqieae"},                 /* Delta */
    {0x398, "@aeieiqaq /ckgk"},           /* Theta */
    {0x39b, "/aeeqie"},                   /* Lambda */
    {0x3a0, "/aeaqhqhe"},                 /* Pi */
    {0x3a3, "/hqaqekaehe"},               /* Sigma */
    {0x3a6, "/eeeq @agigioao"},           /* Phi */
    {0x3a8, "~aqajejijiq /eeeq"},         /* Psi */
    {0x3a9, "/aece ~ceakaqiqikge /geie"}, /* Omega */
    {0x3b1, "~gmeeaeamemge"},             /* alpha */
    {0x3b2, "~aaaqfqfkbk ~bkgkgeae"},     /* beta */
    {0x3b3, "/amdegm /deda"},             /* gamma */
    {0x3b4, "@aegegmam ~cmaqeqfp"},       /* delta */
    {0x3b5, "~flfmamaidi ~diaiaefeff"},   /* epsilon */
    {0x3b7, "/amae ~aiamgmgiga"},         /* eta */
    {0x3b8, "@aegegqaq /akgk"},           /* theta */
    {0x3ba, "/amae /fmai /bjge"},         /* kappa */
    {0x3bb, "/aqbqge /dkae"},             /* lambda */
    {0x3bc, "/amaa ~aiaegegi /gmge"},     /* mu */
    {0x3bd, "/amce ~cegegm"},             /* nu */
    {0x3c0, "/amhm /bmbe /fmfe"},         /* pi */
    {0x3c1, "/aaai @aegegmam"},           /* rho */
    {0x3c3, "@aegegmam /dmhm"},           /* sigma */
    {0x3c4, "/amgm ~dmdgdefe"},           /* tau */
    {0x3c6, "@aeieimam /eaeq"},           /* phi */
    {0x3c7, "/amga /gmaa"},               /* chi */
    {0x3c8, "~amaeeeieim /eaeq"},         /* psi */
    {0x3c9, "~bmaeeeej ~ejeeiehm"},       /* omega */
    {0x2013, "/ajgj"},                    /* a dash */
    {0x2026, "/aeaf /eeef /ieif"},        /* three dots */
    {0x2202, "@aegegkak ~gigqbqbp"},      /* a partial derivative */
    {0x2207, "/aqiqeeaq"},                /* nabla */
    {0x2212, "/ajgj"},                    /* minus */
    {0x221a, "/ajcjdeiq"},                /* a root */
    {0x2264, "/gnakgh /aege"},            /* at most */
    {0x2265, "/angkah /aege"},            /* at least */
};
static const char box[] = "/aegegqaqae";

static const char *letter_of(uint32_t code)
{
    if (code >= 32 && code - 32 < EG_COUNT(letters)) return letters[code - 32];
    for (size_t i = 0; i < EG_COUNT(others); i++)
        if (others[i].code == code) return others[i].letter;
    return box;
}

bool eg_font_has(uint32_t code)
{
    return eg_utf8_lowered(code) || letter_of(code) != box;
}

/* The next letter of a text, how large it is and how far above the line, in units. */
static const char *next_letter(const char **text, double *size, double *rise)
{
    const uint32_t code = eg_utf8_next(text), low = eg_utf8_lowered(code);
    *size = low ? SMALL : 1;
    *rise = low ? RISE : 0;
    return letter_of(low ? low : code);
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
    while (*text) {
        double part, rise;
        const char *letter = next_letter(&text, &part, &rise);
        width += part * (letter_width(letter) + BETWEEN);
    }
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

/* Where a letter starts, and the direction in which the text goes: to the right, or up. */
typedef struct place {
    double x, y;
    bool upwards;
} place;

static void draw_letter(eg_raster *raster, const place *at, double unit, double width,
                        const char *letter)
{
    while (*letter) {
        const char kind = *letter++;
        double points[STROKE_MOST][2] = {{0}}, curve[STROKE_MOST * PIECES + 1][2];
        size_t count = 0;
        for (; *letter && *letter != ' '; letter += 2, count++) {
            const double along = unit * (letter[0] - 'a'), above = unit * (letter[1] - 'e');
            points[count][0] = at->upwards ? at->x - above : at->x + along;
            points[count][1] = at->upwards ? at->y - along : at->y - above;
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

static void draw_text(eg_raster *raster, place at, double size, bool bold, const char *text)
{
    const double unit = UNIT * size, width = unit * (bold ? BOLD : WEIGHT);
    while (*text) {
        double part, rise;
        const char *letter = next_letter(&text, &part, &rise);
        const double along = part * unit * (letter_width(letter) + BETWEEN);
        place from = at;
        *(at.upwards ? &from.x : &from.y) -= rise * unit;
        draw_letter(raster, &from, part * unit, part < 1 ? 0.9 * width : width, letter);
        if (at.upwards)
            at.y -= along;
        else
            at.x += along;
    }
}

/* Lines that letters stand on are in the middle of pixels, where they are sharp. */
void eg_font_draw(eg_raster *raster, double x, double y, double size, bool bold, const char *text)
{
    draw_text(raster, (place){x, floor(y) - 0.5, false}, size, bold, text);
}

void eg_font_draw_upwards(eg_raster *raster, double x, double y, double size, bool bold,
                          const char *text)
{
    draw_text(raster, (place){floor(x) - 0.5, y, true}, size, bold, text);
}
