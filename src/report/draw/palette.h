/* The colours of pictures, and the parts of their style sheets that all SVG files share: light, and
 * dark for readers who prefer that. */
#ifndef EG_REPORT_PALETTE_H
#define EG_REPORT_PALETTE_H

/* Each is written as the digits of "#0b62c4". Of series: */
#define EG_LIGHT_SERIES                                                                            \
    "0b62c4", "d1570a", "0a8a63", "a8328d", "b8860b", "c62828", "2a9fd6", "59636e"
#define EG_DARK_SERIES                                                                             \
    "58a6ff", "ff9a52", "3fd0a0", "e58fd3", "e3b341", "ff7b72", "79d4ff", "9aa4af"
enum { EG_PALETTE_COUNT = 8 };

#define EG_LIGHT_TEXT "1f2328"
#define EG_DARK_TEXT "e6edf3"
#define EG_LIGHT_BACK "ffffff"
#define EG_DARK_BACK "0d1117"
#define EG_LIGHT_PLOT "f7f8fa"
#define EG_DARK_PLOT "131920"
#define EG_LIGHT_FRAME "8b949e"
#define EG_DARK_FRAME "6e7681"
#define EG_LIGHT_SUBTITLE "59636e"
#define EG_DARK_SUBTITLE "9aa4af"
#define EG_LIGHT_TICK "424a53"
#define EG_DARK_TICK "c3ccd5"

/* Of texts, the background and the plot. */
#define EG_STYLE_FONT "font-family:Inter,'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif"
#define EG_STYLE_LIGHT                                                                             \
    "text{" EG_STYLE_FONT ";fill:#" EG_LIGHT_TEXT "}\n"                                            \
    ".back{fill:#" EG_LIGHT_BACK "}.plot{fill:#" EG_LIGHT_PLOT ";stroke:#" EG_LIGHT_FRAME "}\n"
#define EG_STYLE_DARK                                                                              \
    "text{fill:#" EG_DARK_TEXT "}.back{fill:#" EG_DARK_BACK "}"                                    \
    ".plot{fill:#" EG_DARK_PLOT ";stroke:#" EG_DARK_FRAME "}\n"

/* f0 to f7 fill with the colour of a series, t0 to t7 draw lines with it. */
#define EG_STYLE_OF(name, colour) ".f" name "{fill:#" colour "}.t" name "{stroke:#" colour "}"
#define EG_STYLE_OF_ALL(c0, c1, c2, c3, c4, c5, c6, c7)                                            \
    EG_STYLE_OF("0", c0)                                                                           \
    EG_STYLE_OF("1", c1)                                                                           \
    "\n" EG_STYLE_OF("2", c2) EG_STYLE_OF("3", c3) "\n" EG_STYLE_OF("4", c4)                       \
        EG_STYLE_OF("5", c5) "\n" EG_STYLE_OF("6", c6) EG_STYLE_OF("7", c7) "\n"
#define EG_STYLE_SERIES(...) EG_STYLE_OF_ALL(__VA_ARGS__)
#define EG_STYLE_SERIES_LIGHT EG_STYLE_SERIES(EG_LIGHT_SERIES)
#define EG_STYLE_SERIES_DARK EG_STYLE_SERIES(EG_DARK_SERIES)

#endif
