/* What tests of pictures of meshes share: drawing them, the paths of their SVG files, and meshes to
 * draw. */
#ifndef EG_TEST_MESH_PICTURES_H
#define EG_TEST_MESH_PICTURES_H

#include "meshes.h"
#include "svg.h"

#include "report/mesh/drawing.h"

static inline void write_picture(const eg_mesh *mesh, const eg_mesh_picture_options *options,
                                 eg_text *out)
{
    TEST_OK(mesh->ctx, eg_mesh_picture_write(mesh, options, out));
}

/* The SVG of a mesh, well-formed. */
static inline eg_text draw_svg(const eg_mesh *mesh, const char *title)
{
    eg_text svg = eg_text_new(mesh->ctx);
    write_picture(mesh, &(eg_mesh_picture_options){.title = title}, &svg);
    assert_well_formed(eg_text_string(&svg));
    assert_null(strstr(eg_text_string(&svg), "nan"));
    assert_null(strstr(eg_text_string(&svg), "inf\""));
    return svg;
}

/* --- paths ------------------------------------------------------------------------------------ */

/* A piece of a path: three numbers of control points, or a line as such a curve. In pixels. */
typedef struct piece {
    double p[4][2];
    bool line;
} piece;

enum { PIECES_MOST = 40000 };

/* The pieces of all paths of a class, in their order. */
static inline size_t read_paths(const char *svg, const char *class, piece *pieces)
{
    char wanted[64];
    size_t count = 0;
    const double unit = attribute(svg, "width") / strtod(strstr(svg, "viewBox=\"0 0 ") + 13, NULL);
    snprintf(wanted, sizeof wanted, " %s\"", class);
    for (const char *s = strstr(svg, "<path"); s; s = strstr(s + 1, "<path")) {
        const char *found = strstr(s, wanted), *d = strstr(s, " d=\"") + 4;
        if (!found || found > d) continue;
        double at[2] = {0};
        while (*d != '"') {
            const char letter = *d++;
            const int points = letter == 'c' ? 3 : 1;
            piece q = {.line = letter == 'l'};
            if (letter == 'z') continue;
            assert_true(letter == 'm' || letter == 'l' || letter == 'c');
            for (int i = 0; i <= points; i++)
                for (int k = 0; k < 2; k++)
                    q.p[i][k] = i == 0 ? at[k] : at[k] + unit * strtod(d, (char **)&d);
            memcpy(at, q.p[points], sizeof at);
            if (letter == 'm') continue;
            if (letter == 'l') {
                memcpy(q.p[3], q.p[1], sizeof at);
                for (int i = 1; i < 3; i++)
                    for (int k = 0; k < 2; k++)
                        q.p[i][k] = q.p[0][k] + i / 3.0 * (q.p[3][k] - q.p[0][k]);
            }
            assert_true(count < PIECES_MOST);
            pieces[count++] = q;
        }
    }
    return count;
}

static inline void piece_at(const piece *q, double t, double x[2])
{
    const double s = 1 - t;
    for (int k = 0; k < 2; k++)
        x[k] = s * s * s * q->p[0][k] + 3 * s * s * t * q->p[1][k] + 3 * s * t * t * q->p[2][k] +
               t * t * t * q->p[3][k];
}

static piece pieces[PIECES_MOST];

/* --- meshes ----------------------------------------------------------------------------------- */

static inline eg_status ring(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const double r = 1 + X[2 * i], angle = 1.5 * acos(-1) * X[2 * i + 1];
        x[2 * i] = r * cos(angle);
        x[2 * i + 1] = r * sin(angle);
    }
    return EG_OK;
}

static inline eg_status bend(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const double r = 1 + X[3 * i], angle = 1.2 * X[3 * i + 1];
        x[3 * i] = r * cos(angle);
        x[3 * i + 1] = r * sin(angle);
        x[3 * i + 2] = X[3 * i + 2];
    }
    return EG_OK;
}

/* A row of quadrilaterals below a row of pairs of triangles. */
static inline eg_mesh *mixed_mesh(eg_context *ctx, int n)
{
    static const char *const names[] = {"wall & <floor>", "lid"};
    const int count = 3 * n;
    int32_t boundary[4 * 3 * 8] = {0};
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, eg_mesh_allocate(&(eg_mesh){.ctx = ctx,
                                             .dim = 2,
                                             .vertex_count = 3 * (n + 1),
                                             .element_count = count,
                                             .interior_count = count,
                                             .global_count = count,
                                             .vertex_stride = 4,
                                             .face_stride = 4,
                                             .order = 1,
                                             .node_stride = 4},
                                  &mesh));
    for (int v = 0; v < 3 * (n + 1); v++) {
        mesh->x[2 * v] = v % (n + 1);
        mesh->x[2 * v + 1] = v / (n + 1);
    }
    for (int i = 0; i < n; i++) {
        const int v = i, w = n + 1 + i, u = 2 * n + 2 + i;
        const int corners[3][4] = {{v, v + 1, w + 1, w}, {w, w + 1, u + 1}, {w, u + 1, u}};
        for (int k = 0; k < 3; k++) {
            const int e = 3 * i + k;
            mesh->shape[e] = k == 0 ? EG_SHAPE_QUAD : EG_SHAPE_TRI;
            mesh->global[e] = e;
            for (int c = 0; c < 4; c++)
                mesh->vertices[4 * e + c] = corners[k][c];
            for (int f = 0; f < 4; f++)
                boundary[4 * e + f] = k == 2 && f == 1;
        }
    }
    TEST_OK(ctx, eg_mesh_copy_boundaries(mesh, 2, names));
    TEST_OK(ctx, eg_mesh_connect(mesh, boundary));
    return mesh;
}

/* 3 × 3 × 3 cubes without the one in the middle, whose faces are a boundary of their own. */
static inline eg_mesh *hollow_mesh(eg_context *ctx)
{
    static const char *const names[] = {"hull", "void"};
    int32_t boundary[6 * 26] = {0};
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, eg_mesh_allocate(&(eg_mesh){.ctx = ctx,
                                             .dim = 3,
                                             .vertex_count = 64,
                                             .element_count = 26,
                                             .interior_count = 26,
                                             .global_count = 26,
                                             .vertex_stride = 8,
                                             .face_stride = 6,
                                             .order = 1,
                                             .node_stride = 8},
                                  &mesh));
    for (int v = 0; v < 64; v++)
        for (int d = 0; d < 3; d++)
            mesh->x[3 * v + d] = v >> 2 * d & 3;
    for (int cube = 0, e = 0; cube < 27; cube++) {
        const int at[3] = {cube % 3, cube / 3 % 3, cube / 9};
        if (cube == 13) continue;
        for (int c = 0; c < 8; c++) {
            const double *r = eg_shape_get_info(EG_SHAPE_HEX)->r[c];
            mesh->vertices[8 * e + c] =
                at[0] + (r[0] > 0) + 4 * (at[1] + (r[1] > 0)) + 16 * (at[2] + (r[2] > 0));
        }
        mesh->shape[e] = EG_SHAPE_HEX;
        mesh->global[e] = e;
        for (int f = 0; f < 6; f++) {
            double centre[3];
            eg_mesh_face_centre(mesh, e, f, centre);
            boundary[6 * e + f] =
                fabs(centre[0] - 1.5) < 1 && fabs(centre[1] - 1.5) < 1 && fabs(centre[2] - 1.5) < 1;
        }
        e++;
    }
    TEST_OK(ctx, eg_mesh_copy_boundaries(mesh, 2, names));
    TEST_OK(ctx, eg_mesh_connect(mesh, boundary));
    return mesh;
}

/* Puts the elements of a box into two groups, left and right of x = 0.5. */
static inline void divide_mesh(eg_mesh *mesh)
{
    static const char *const names[] = {"left half", "right half"};
    TEST_OK(mesh->ctx, eg_new(mesh->ctx, (size_t)mesh->element_count, &mesh->group_of));
    TEST_OK(mesh->ctx, eg_mesh_copy_groups(mesh, 2, names));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        double centre[3];
        eg_mesh_element_centre(mesh, e, centre);
        mesh->group_of[e] = centre[0] > 0.5;
    }
}

#endif
