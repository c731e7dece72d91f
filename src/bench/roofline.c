/* Draws the roofline of a device as SVG: necessary GFLOP/s over operational intensity in flop/byte,
 * both logarithmic; measured ceilings as lines with their figures, one colour and marker per series.
 *
 * Text stays text, colours follow the reader's light or dark scheme, and every marker carries its
 * figures as a tooltip. */
#include "bench/bench.h"
#include "bench/label.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 1120.0
#define HEIGHT 708.0
#define LEFT 88.0
#define RIGHT 34.0
#define TOP 140.0
#define BOTTOM 72.0
#define SERIES_MAX 16
#define COLOURS EG_PALETTE_COUNT
#define LABEL_HEIGHT 12.0
#define LABEL_CHAR 6.3 /* width of a character of a label */

typedef struct chart {
    const eg_bench_result *results;
    size_t result_count;
    eg_bench_ceilings ceilings; /* the best of all results */
    const char *series[SERIES_MAX];
    int series_count;
    double x0, x1, y0, y1; /* log10 of the range */
    eg_text *svg;
    eg_label_map map;
} chart;

static const char style[] =
    "<style>\n" EG_STYLE_LIGHT
    ".grid{stroke:#dde1e6;stroke-width:1}.minor{stroke:#eceff2;stroke-width:1}\n"
    ".title{font-size:23px;font-weight:600}.sub{font-size:14px;fill:#59636e}\n"
    ".axis{font-size:15px}.tick{font-size:13px;fill:#424a53}\n"
    ".roof{stroke:#1f2328;stroke-width:2.4;fill:none;stroke-linecap:round}\n"
    ".dash{stroke:#59636e;stroke-width:1.6;fill:none;stroke-dasharray:7 5}\n"
    ".ceiling{font-size:13.5px;font-weight:600}.ceiling2{font-size:13px;fill:#59636e}\n"
    ".legend{font-size:14px}.label{font-size:10.5px}\n"
    ".trace{fill:none;stroke-width:1.4;opacity:.45}\n"
    ".mark{stroke:#ffffff;stroke-width:1}\n" EG_STYLE_SERIES_LIGHT
    "@media screen and (prefers-color-scheme: dark){\n" EG_STYLE_DARK
    ".grid{stroke:#2b323b}.minor{stroke:#1d242c}.sub,.ceiling2{fill:#9aa4af}\n"
    ".tick{fill:#c3ccd5}.roof{stroke:#e6edf3}.dash{stroke:#9aa4af}.mark{stroke:#0d1117}"
    "\n" EG_STYLE_SERIES_DARK "}\n</style>\n";

/* Escapes for XML; what is not printable ASCII is left out (vendors' names come in any encoding). */
static eg_status put_escaped(eg_text *svg, const char *s)
{
    eg_status status = EG_OK;
    for (; *s; s++) {
        const char *entity = *s == '&' ? "&amp;" : *s == '<' ? "&lt;" : *s == '>' ? "&gt;" : NULL;
        if (entity) {
            EG_TRY(eg_text_puts(svg, entity));
        } else if (*s >= 0x20 && *s < 0x7f) {
            EG_TRY(eg_text_add(svg, s, 1));
        }
    }
done:
    return status;
}

static bool on_chart(const eg_bench_point *p)
{
    return p->flops > 0 && p->bytes > 0 && isfinite(p->gflops) && p->gflops > 0;
}

static double intensity(const eg_bench_point *p)
{
    return p->flops / p->bytes;
}

static double px(const chart *c, double log_x)
{
    return LEFT + (log_x - c->x0) / (c->x1 - c->x0) * (WIDTH - LEFT - RIGHT);
}

static double py(const chart *c, double log_y)
{
    return HEIGHT - BOTTOM - (log_y - c->y0) / (c->y1 - c->y0) * (HEIGHT - TOP - BOTTOM);
}

static int series_of(chart *c, const char *name)
{
    for (int i = 0; i < c->series_count; i++) {
        if (strcmp(c->series[i], name) == 0) return i;
    }
    if (c->series_count < SERIES_MAX) c->series[c->series_count++] = name;
    return c->series_count - 1;
}

static void raise_to(double *ceiling, double value)
{
    if (isfinite(value) && value > 0 && !(*ceiling >= value)) *ceiling = value;
}

/* Collects ceilings and series, and chooses the ranges so that all points and ridges are inside. */
static void survey(chart *c)
{
    double x_min = INFINITY, x_max = -INFINITY, y_min = INFINITY, y_max = -INFINITY;
    c->ceilings = (eg_bench_ceilings){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    for (size_t r = 0; r < c->result_count; r++) {
        const eg_bench_ceilings *of = &c->results[r].ceilings;
        raise_to(&c->ceilings.copy_gbs, of->copy_gbs);
        raise_to(&c->ceilings.read_gbs, of->read_gbs);
        raise_to(&c->ceilings.cache_copy_gbs, of->cache_copy_gbs);
        raise_to(&c->ceilings.fma_gflops, of->fma_gflops);
        raise_to(&c->ceilings.tensor_gflops, of->tensor_gflops);
        for (size_t i = 0; i < c->results[r].count; i++) {
            const eg_bench_point *p = &c->results[r].points[i];
            if (!on_chart(p)) continue;
            series_of(c, p->name);
            x_min = fmin(x_min, log10(intensity(p)));
            x_max = fmax(x_max, log10(intensity(p)));
            y_min = fmin(y_min, log10(p->gflops));
            y_max = fmax(y_max, log10(p->gflops));
        }
    }
    double bandwidth = isfinite(c->ceilings.copy_gbs) ? c->ceilings.copy_gbs : c->ceilings.read_gbs;
    double top = c->ceilings.fma_gflops;
    raise_to(&top, c->ceilings.tensor_gflops);
    if (isfinite(top)) y_max = fmax(y_max, log10(top));
    if (isfinite(top) && isfinite(bandwidth)) x_max = fmax(x_max, log10(top / bandwidth));
    c->x0 = x_min - 0.12;
    c->x1 = x_max + 0.35;
    if (isfinite(bandwidth)) y_min = fmin(y_min, log10(bandwidth) + x_min);
    c->y0 = y_min - 0.15;
    c->y1 = y_max + 0.16;
}

/* Grid lines and tick labels of one axis at 1, 2 and 5 times the powers of ten. */
static eg_status put_ticks(chart *c, bool horizontal)
{
    static const int steps[] = {1, 2, 5};
    eg_status status = EG_OK;
    double lo = horizontal ? c->x0 : c->y0, hi = horizontal ? c->x1 : c->y1;
    bool all = hi - lo < 3.2;
    for (int decade = (int)floor(lo); decade <= (int)ceil(hi); decade++) {
        for (size_t s = 0; s < EG_COUNT(steps); s++) {
            double value = steps[s] * pow(10, decade), at = log10(value);
            if (at < lo || at > hi) continue;
            char text[32];
            const char *line = s == 0 ? "grid" : "minor";
            snprintf(text, sizeof text, value < 9e5 ? "%.6g" : "%.0e", value);
            bool labelled = s == 0 || all;
            if (horizontal) {
                double x = px(c, at);
                EG_TRY(eg_text_printf(c->svg,
                                      "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                                      "y2=\"%.1f\"/>\n",
                                      line, x, TOP, x, HEIGHT - BOTTOM));
                if (labelled) {
                    EG_TRY(eg_text_printf(c->svg,
                                          "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
                                          "text-anchor=\"middle\">%s</text>\n",
                                          x, HEIGHT - BOTTOM + 20, text));
                }
            } else {
                double y = py(c, at);
                EG_TRY(eg_text_printf(c->svg,
                                      "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                                      "y2=\"%.1f\"/>\n",
                                      line, LEFT, y, WIDTH - RIGHT, y));
                if (labelled) {
                    EG_TRY(eg_text_printf(c->svg,
                                          "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
                                          "text-anchor=\"end\">%s</text>\n",
                                          LEFT - 9, y + 4.5, text));
                }
            }
        }
    }
done:
    return status;
}

static eg_status put_frame(chart *c)
{
    eg_status status = EG_OK;
    const eg_device_info *device = &c->results[0].device;
    EG_TRY(eg_text_printf(c->svg,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                          "width=\"%.0f\" height=\"%.0f\" role=\"img\">\n<title>Roofline of ",
                          WIDTH, HEIGHT, WIDTH, HEIGHT));
    EG_TRY(put_escaped(c->svg, device->name));
    EG_TRY(eg_text_puts(c->svg, "</title>\n"));
    EG_TRY(eg_text_puts(c->svg, style));
    EG_TRY(eg_text_puts(c->svg, "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n"));
    EG_TRY(eg_text_printf(c->svg, "<text class=\"title\" x=\"%.0f\" y=\"40\">", LEFT));
    EG_TRY(put_escaped(c->svg, device->name));
    EG_TRY(eg_text_printf(c->svg, "</text>\n<text class=\"sub\" x=\"%.0f\" y=\"64\">", LEFT));
    EG_TRY(put_escaped(c->svg, device->spec));
    EG_TRY(eg_text_printf(c->svg,
                          ", double precision, necessary operations and bytes; ceilings measured "
                          "in the same run</text>\n"));
    EG_TRY(eg_text_printf(c->svg,
                          "<rect class=\"plot\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                          "height=\"%.1f\"/>\n",
                          LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM));
    EG_TRY(put_ticks(c, true));
    EG_TRY(put_ticks(c, false));
    EG_TRY(eg_text_printf(c->svg,
                          "<text class=\"axis\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">"
                          "operational intensity, flop / byte</text>\n",
                          (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18));
    EG_TRY(eg_text_printf(c->svg,
                          "<text class=\"axis\" transform=\"translate(24 %.1f) rotate(-90)\" "
                          "text-anchor=\"middle\">GFLOP/s</text>\n",
                          (TOP + HEIGHT - BOTTOM) / 2));
done:
    return status;
}

/* A figure as people say it: "4.12 TB/s", "857 GFLOP/s". */
static void figure(double giga, const char *unit, char *text, size_t length)
{
    bool tera = giga >= 1000;
    double value = tera ? giga / 1000 : giga;
    int digits = value < 10 ? 2 : value < 100 ? 1 : 0;
    snprintf(text, length, "%.*f %s%s", digits, value, tera ? "T" : "G", unit);
}

/* The line y = gbs·x, from the frame up to the height of `top`, its figure written along it, above
 * or below. */
static eg_status put_bandwidth(chart *c, const char *name, double gbs, double top, bool main_line,
                               bool above)
{
    eg_status status = EG_OK;
    if (!isfinite(gbs)) return EG_OK;
    double offset = log10(gbs), x_low = fmax(c->x0, c->y0 - offset), x_high = log10(top) - offset;
    x_high = fmin(fmin(x_high, c->x1), c->y1 - offset);
    if (x_high <= x_low) return EG_OK;
    double ax = px(c, x_low), ay = py(c, x_low + offset);
    double bx = px(c, x_high), by = py(c, x_high + offset);
    char text[64], rate[32];
    figure(gbs, "B/s", rate, sizeof rate);
    snprintf(text, sizeof text, "%s %s", name, rate);
    EG_TRY(eg_text_printf(c->svg,
                          "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                          main_line ? "roof" : "dash", ax, ay, bx, by));
    EG_TRY(eg_label_map_add_line(&c->map, ax, ay, bx, by, 1.5, true));

    /* The text is as near to the foot of the line as the markers let it be. */
    double length = hypot(bx - ax, by - ay), ux = (bx - ax) / length, uy = (by - ay) / length;
    double width = 7.6 * (double)strlen(text), apart = above ? 12 : -11;
    for (double from = 14; from + width < length; from += 8) {
        double mx = ax + from * ux + apart * uy, my = ay + from * uy - apart * ux;
        double nx = mx + width * ux, ny = my + width * uy;
        if (!eg_label_map_is_free(&c->map, mx, my, nx, ny, 7) && from + width + 8 < length)
            continue;
        EG_TRY(eg_text_printf(c->svg,
                              "<text class=\"%s\" transform=\"translate(%.1f %.1f) rotate(%.2f)\">"
                              "%s</text>\n",
                              main_line ? "ceiling" : "ceiling2", mx - 5 * uy, my + 5 * ux,
                              atan2(uy, ux) * 180 / acos(-1), text));
        EG_TRY(eg_label_map_add_line(&c->map, mx, my, nx, ny, 6, false));
        break;
    }
done:
    return status;
}

/* The level of a unit, from where the bandwidth reaches it to the right edge. Its figure stands above
 * the line, or below it for a unit that faster ones' points may pass. */
static eg_status put_rate(chart *c, const char *name, double gflops, double gbs, bool below)
{
    eg_status status = EG_OK;
    if (!isfinite(gflops)) return EG_OK;
    double from = isfinite(gbs) ? fmax(c->x0, log10(gflops / gbs)) : c->x0;
    double ax = px(c, fmin(from, c->x1)), bx = WIDTH - RIGHT, y = py(c, log10(gflops));
    char text[64], rate[32];
    figure(gflops, "FLOP/s", rate, sizeof rate);
    snprintf(text, sizeof text, "%s %s", name, rate);
    EG_TRY(eg_text_printf(c->svg,
                          "<line class=\"roof\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n"
                          "<text class=\"ceiling\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">"
                          "%s</text>\n",
                          ax, y, bx, y, bx - 8, below ? y + 18 : y - 7, text));
    EG_TRY(eg_label_map_add_line(&c->map, ax, y, bx, y, 1.5, true));
    double width = 7.8 * (double)strlen(text);
    EG_TRY(eg_label_map_add_box(
        &c->map, (eg_box){bx - 8 - width, below ? y + 3 : y - 20, bx, below ? y + 22 : y - 3}));
done:
    return status;
}

static eg_status put_ceilings(chart *c)
{
    eg_status status = EG_OK;
    const eg_bench_ceilings *roof = &c->ceilings;
    double top = roof->fma_gflops;
    raise_to(&top, roof->tensor_gflops);
    if (!isfinite(top)) top = INFINITY;
    /* From cache the lines stand so far left of the ridge that the levels must start there. */
    bool has_cache = false, has_read = false;
    for (int i = 0; i < c->series_count; i++) {
        has_cache = has_cache || strstr(c->series[i], "-cache");
        has_read =
            has_read || strcmp(c->series[i], "matvec") == 0 || strcmp(c->series[i], "dot") == 0;
    }
    double cache = has_cache ? roof->cache_copy_gbs : NAN, widest = roof->copy_gbs;
    raise_to(&widest, cache);
    raise_to(&widest, roof->read_gbs);
    bool read_apart = has_read && !(fabs(log(roof->read_gbs / roof->copy_gbs)) < 0.15);
    EG_TRY(put_bandwidth(c, "copy", roof->copy_gbs, top, true, true));
    if (read_apart) EG_TRY(put_bandwidth(c, "read", roof->read_gbs, top, false, false));
    EG_TRY(put_bandwidth(c, "copy in cache", cache, top, false, true));
    EG_TRY(put_rate(c, "FMA", roof->fma_gflops, widest, isfinite(roof->tensor_gflops)));
    EG_TRY(put_rate(c, "FP64 tensor", roof->tensor_gflops, widest, false));
done:
    return status;
}

static eg_status put_marker(eg_text *svg, int series, double x, double y, double r)
{
    const int colour = series % COLOURS;
    switch ((series + series / COLOURS) % 4) {
    case 0:
        return eg_text_printf(svg, "<circle class=\"mark f%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"",
                              colour, x, y, r);
    case 1:
        return eg_text_printf(svg,
                              "<rect class=\"mark f%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                              "height=\"%.1f\"",
                              colour, x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
    case 2:
        return eg_text_printf(svg, "<path class=\"mark f%d\" d=\"M%.1f %.1fl%.1f %.1fh%.1fz\"",
                              colour, x, y - 1.2 * r, 1.2 * r, 2.1 * r, -2.4 * r);
    default:
        return eg_text_printf(svg,
                              "<path class=\"mark f%d\" d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f "
                              "%.1fz\"",
                              colour, x, y - 1.3 * r, 1.3 * r, 1.3 * r, -1.3 * r, 1.3 * r, -1.3 * r,
                              -1.3 * r);
    }
}

static eg_status put_legend(chart *c)
{
    eg_status status = EG_OK;
    double x = LEFT + 4, y = 93;
    for (int i = 0; i < c->series_count; i++) {
        const double width = 44 + 7.8 * (double)strlen(c->series[i]);
        if (x + width > WIDTH - RIGHT) { /* a second row */
            x = LEFT + 4;
            y += 22;
        }
        EG_TRY(put_marker(c->svg, i, x, y, 6));
        EG_TRY(eg_text_puts(c->svg, "/>\n"));
        EG_TRY(
            eg_text_printf(c->svg, "<text class=\"legend\" x=\"%.1f\" y=\"%.1f\">", x + 13, y + 5));
        EG_TRY(put_escaped(c->svg, c->series[i]));
        EG_TRY(eg_text_puts(c->svg, "</text>\n"));
        x += width;
    }
done:
    return status;
}

/* The thin line that joins the points of a series. */
static eg_status put_trace(chart *c, int series)
{
    eg_status status = EG_OK;
    double last_x = NAN, last_y = NAN;
    EG_TRY(eg_text_printf(c->svg, "<polyline class=\"trace t%d\" points=\"", series % COLOURS));
    for (size_t r = 0; r < c->result_count; r++) {
        for (size_t i = 0; i < c->results[r].count; i++) {
            const eg_bench_point *p = &c->results[r].points[i];
            if (!on_chart(p) || series_of(c, p->name) != series) continue;
            double x = px(c, log10(intensity(p))), y = py(c, log10(p->gflops));
            EG_TRY(eg_text_printf(c->svg, "%.1f,%.1f ", x, y));
            if (isfinite(last_x)) {
                EG_TRY(eg_label_map_add_line(&c->map, last_x, last_y, x, y, 1, true));
            }
            last_x = x;
            last_y = y;
        }
    }
    EG_TRY(eg_text_puts(c->svg, "\"/>\n"));
done:
    return status;
}

/* Nothing may be written over a marker. */
static eg_status reserve(chart *c, const eg_bench_point *p)
{
    double x = px(c, log10(intensity(p))), y = py(c, log10(p->gflops));
    return eg_label_map_add_box(&c->map, (eg_box){x - 6, y - 6, x + 6, y + 6});
}

static eg_status put_point(chart *c, const eg_bench_point *p)
{
    eg_status status = EG_OK;
    double x = px(c, log10(intensity(p))), y = py(c, log10(p->gflops));
    EG_TRY(put_marker(c->svg, series_of(c, p->name), x, y, 5));
    EG_TRY(eg_text_puts(c->svg, "><title>"));
    EG_TRY(put_escaped(c->svg, p->name));
    EG_TRY(eg_text_puts(c->svg, " "));
    EG_TRY(put_escaped(c->svg, p->size));
    EG_TRY(eg_text_printf(c->svg, ": %.4g GFLOP/s, %.4g GB/s", p->gflops, p->gbs));
    if (isfinite(p->fraction)) {
        EG_TRY(eg_text_printf(c->svg, ", %.2f of its bound", p->fraction));
    }
    EG_TRY(eg_text_printf(c->svg, "</title></%s>\n",
                          series_of(c, p->name) % 4 == 0   ? "circle"
                          : series_of(c, p->name) % 4 == 1 ? "rect"
                                                           : "path"));
done:
    return status;
}

/* The first word of the size, where there is room. */
static eg_status put_label(chart *c, const eg_bench_point *p)
{
    eg_status status = EG_OK;
    double x = px(c, log10(intensity(p))), y = py(c, log10(p->gflops));
    char text[sizeof p->size];
    snprintf(text, sizeof text, "%s", p->size);
    text[strcspn(text, " ")] = '\0';
    eg_box box;
    bool placed = false;
    double width = LABEL_CHAR * (double)strlen(text) + 4;
    EG_TRY(eg_label_map_place(&c->map, x, y, width, LABEL_HEIGHT, 6, &box, &placed));
    if (!placed) goto done;
    EG_TRY(eg_text_printf(c->svg,
                          "<text class=\"label f%d\" x=\"%.1f\" y=\"%.1f\" "
                          "text-anchor=\"middle\">",
                          series_of(c, p->name) % COLOURS, (box.left + box.right) / 2,
                          box.bottom - 2.5));
    EG_TRY(put_escaped(c->svg, text));
    EG_TRY(eg_text_puts(c->svg, "</text>\n"));
done:
    return status;
}

static eg_status for_points(chart *c, eg_status (*visit)(chart *c, const eg_bench_point *p))
{
    eg_status status = EG_OK;
    for (size_t r = 0; r < c->result_count; r++) {
        for (size_t i = 0; i < c->results[r].count; i++) {
            const eg_bench_point *p = &c->results[r].points[i];
            if (on_chart(p)) EG_TRY(visit(c, p));
        }
    }
done:
    return status;
}

eg_status eg_bench_roofline(eg_context *ctx, const eg_bench_result *results, size_t count,
                            eg_text *svg)
{
    eg_status status = EG_OK;
    const eg_box frame = {LEFT + 2, TOP + 2, WIDTH - RIGHT - 2, HEIGHT - BOTTOM - 2};
    chart c = {
        .results = results, .result_count = count, .svg = svg, .map = eg_label_map_new(ctx, frame)};
    survey(&c);
    if (c.series_count == 0) {
        status = eg_fail(ctx, EG_ERROR_ARGUMENT,
                         "no benchmark that ran has both operations and bytes, so there is nothing "
                         "to put on a roofline; run gemm, chain, matvec, dot or advection");
        goto done;
    }
    EG_TRY(for_points(&c, reserve));
    EG_TRY(put_frame(&c));
    EG_TRY(put_ceilings(&c));
    EG_TRY(put_legend(&c));
    for (int s = 0; s < c.series_count; s++)
        EG_TRY(put_trace(&c, s));
    EG_TRY(for_points(&c, put_point));
    EG_TRY(for_points(&c, put_label));
    EG_TRY(eg_text_puts(svg, "</svg>\n"));
done:
    eg_label_map_free(&c.map);
    return status;
}
