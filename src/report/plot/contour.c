/* Finds contour lines by marching squares between the centres of pixels, and how far pixels are
 * from them. Where a line enters and leaves a square follows from the values at the ends of the
 * side; in a square with four such places the value in the middle tells which belong together. Where
 * values change by less than FLAT of their range from pixel to pixel there are none: around a level
 * that a field rests at, zero often, they would show rounding. */
#include "report/plot/contour.h"

#include <math.h>

#define FLAT 1e-5

/* What lines are drawn into. */
typedef struct distances {
    int width, height;
    double far;
    float *of; /* [height][width] */
} distances;

/* Brings the pixels near a piece from a to b up to date. */
static void draw_piece(const distances *d, const double a[2], const double b[2])
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
    const int left = (int)fmax(ceil(fmin(a[0], b[0]) - d->far), 0);
    const int top = (int)fmax(ceil(fmin(a[1], b[1]) - d->far), 0);
    const int right = (int)fmin(floor(fmax(a[0], b[0]) + d->far), d->width - 1);
    const int bottom = (int)fmin(floor(fmax(a[1], b[1]) + d->far), d->height - 1);
    for (int j = top; j <= bottom; j++)
        for (int i = left; i <= right; i++) {
            const double x = i - a[0], y = j - a[1];
            const double along = square > 0 ? fmin(fmax((x * dx + y * dy) / square, 0), 1) : 0;
            const double distance = hypot(x - along * dx, y - along * dy);
            float *known = &d->of[(size_t)j * (size_t)d->width + (size_t)i];
            if (distance < *known) *known = (float)distance;
        }
}

/* The lines of a level in the square whose first corner is the pixel (column, row): values v around
 * it, from there to the right and on. */
static void draw_square(const distances *d, int column, int row, const double v[4], double level)
{
    static const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    double at[4][2];
    int count = 0, first = 0; /* the corner before the first place */
    for (int i = 0; i < 4; i++) {
        const int j = (i + 1) % 4;
        if ((v[i] < level) == (v[j] < level)) continue;
        const double part = (level - v[i]) / (v[j] - v[i]);
        if (count == 0) first = i;
        at[count][0] = column + corner[i][0] + part * (corner[j][0] - corner[i][0]);
        at[count++][1] = row + corner[i][1] + part * (corner[j][1] - corner[i][1]);
    }
    if (count == 2) draw_piece(d, at[0], at[1]);
    if (count < 4) return;
    /* The middle is on one side with the corner before the first place, or with the next. */
    const bool before = (0.25 * (v[0] + v[1] + v[2] + v[3]) < level) == (v[first] < level);
    draw_piece(d, at[0], at[before ? 1 : 3]);
    draw_piece(d, at[2], at[before ? 3 : 1]);
}

/* The values around a square; false: one of its corners has none. */
static bool get_square(const eg_plot_image *image, int column, int row, double v[4])
{
    const size_t width = (size_t)image->width, at = (size_t)row * width + (size_t)column;
    const size_t corners[4] = {at, at + 1, at + width + 1, at + width};
    for (int i = 0; i < 4; i++) {
        if (image->element[corners[i]] < 0) return false;
        v[i] = image->value[corners[i]];
        if (!isfinite(v[i])) return false;
    }
    return true;
}

/* The first level that is not below a value. */
static int find_level(int count, const double *levels, double value)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (levels[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How much the values of a picture differ. */
static double range_of(const eg_plot_image *image)
{
    const size_t pixels = (size_t)image->width * (size_t)image->height;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < pixels; i++) {
        if (image->element[i] < 0 || !isfinite(image->value[i])) continue;
        low = fmin(low, image->value[i]);
        high = fmax(high, image->value[i]);
    }
    return high > low ? high - low : 0;
}

eg_status eg_plot_contour(const eg_plot_image *image, int count, const double *levels, double far,
                          float **out)
{
    eg_status status = EG_OK;
    const size_t pixels = (size_t)image->width * (size_t)image->height;
    const double flat = FLAT * range_of(image);
    distances d = {.width = image->width, .height = image->height, .far = far};
    EG_TRY(eg_new(image->ctx, pixels, out));
    d.of = *out;
    for (size_t i = 0; i < pixels; i++)
        d.of[i] = (float)far;
    for (int row = 0; row + 1 < image->height; row++)
        for (int column = 0; column + 1 < image->width; column++) {
            double v[4];
            if (!get_square(image, column, row, v)) continue;
            const double low = fmin(fmin(v[0], v[1]), fmin(v[2], v[3]));
            const double high = fmax(fmax(v[0], v[1]), fmax(v[2], v[3]));
            if (high - low <= flat) continue;
            for (int k = find_level(count, levels, low); k < count && levels[k] <= high; k++)
                draw_square(&d, column, row, v, levels[k]);
        }
done:
    return status;
}
