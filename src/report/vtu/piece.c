/* Reads a piece of a VTU file: cells become elements with nodes of their own in this library's
 * order. */
#include "report/vtu/file.h"

#include <math.h>
#include <string.h>

#define COMPONENTS_MOST 64
#define ARRAYS_MOST 1024

/* A <Piece> of a file. */
typedef struct piece {
    eg_vtu_file *file;
    int node;
    int64_t points, cells;
    int64_t *offsets, *types; /* [cells] */
    int64_t *connectivity;    /* [offsets[cells - 1]] */
    double *x;                /* [points][3] */
    eg_lagrange_orders orders;
    eg_snapshot *s; /* what it becomes */
} piece;

static void piece_free(piece *p)
{
    eg_context *ctx = p->file->xml.ctx;
    eg_release(ctx, &p->offsets);
    eg_release(ctx, &p->types);
    eg_release(ctx, &p->connectivity);
    eg_release(ctx, &p->x);
    eg_lagrange_free(&p->orders);
    eg_snapshot_destroy(&p->s);
}

static eg_status count_components(const eg_xml *xml, int node, int *out)
{
    const int64_t one = 1;
    int64_t count;
    const eg_status status = eg_xml_count(xml, node, "NumberOfComponents", &one, &count);
    if (status != EG_OK) return status;
    if (count < 1 || count > COMPONENTS_MOST)
        return eg_xml_fail(xml, node, "NumberOfComponents=\"%lld\" is not from 1 to %d",
                           (long long)count, COMPONENTS_MOST);
    *out = (int)count;
    return EG_OK;
}

/* --- cells ----------------------------------------------------------------------------------- */

static eg_status take_cell_array(piece *p, int cells, const char *name, int64_t count,
                                 int64_t **out)
{
    const int node = eg_vtu_find_array(&p->file->xml, cells, name);
    if (node < 0) return eg_xml_fail(&p->file->xml, cells, "<Cells> has no array \"%s\"", name);
    return eg_vtu_take_integers(p->file, node, count, out);
}

static eg_status take_cells(piece *p)
{
    eg_status status = EG_OK;
    const eg_xml *xml = &p->file->xml;
    const int cells = eg_xml_child(xml, p->node, -1, "Cells");
    if (p->cells == 0) return EG_OK;
    if (cells < 0) return eg_xml_fail(xml, p->node, "<Piece> has no <Cells>");
    EG_TRY(take_cell_array(p, cells, "offsets", p->cells, &p->offsets));
    EG_TRY(take_cell_array(p, cells, "types", p->cells, &p->types));
    for (int64_t i = 0; i < p->cells; i++)
        if (p->offsets[i] < (i > 0 ? p->offsets[i - 1] : 0))
            return eg_xml_fail(xml, cells, "the offset of cell %lld is %lld: offsets must grow",
                               (long long)i, (long long)p->offsets[i]);
    EG_TRY(take_cell_array(p, cells, "connectivity", p->offsets[p->cells - 1], &p->connectivity));
    for (int64_t i = 0; i < p->offsets[p->cells - 1]; i++)
        if (p->connectivity[i] < 0 || p->connectivity[i] >= p->points)
            return eg_xml_fail(xml, cells, "a cell has the point %lld, but there are only %lld",
                               (long long)p->connectivity[i], (long long)p->points);
done:
    return status;
}

/* The shape and degree of a cell. */
static eg_status describe_cell(const piece *p, int64_t cell, eg_shape *shape, int *degree)
{
    const eg_xml *xml = &p->file->xml;
    const int64_t nodes = p->offsets[cell] - (cell > 0 ? p->offsets[cell - 1] : 0);
    bool linear;
    if (!eg_lagrange_shape(p->types[cell], &linear, shape))
        return eg_xml_fail(xml, p->node,
                           "cell %lld is of VTK's type %lld; triangles (5, 69), quadrilaterals (9, "
                           "70), tetrahedra (10, 71) and hexahedra (12, 72) are read",
                           (long long)cell, (long long)p->types[cell]);
    *degree = eg_lagrange_degree(*shape, nodes);
    if (*degree == 0 || (linear && *degree > 1))
        return eg_xml_fail(xml, p->node, "cell %lld, a %s%s, has %lld nodes: no degree %s so many",
                           (long long)cell, linear ? "linear " : "",
                           eg_shape_get_info(*shape)->name, (long long)nodes,
                           linear ? "of it has" : "up to that of our elements has");
    return EG_OK;
}

/* Makes the snapshot's elements. */
static eg_status describe_elements(piece *p)
{
    eg_status status = EG_OK;
    const eg_xml *xml = &p->file->xml;
    if (p->cells > INT32_MAX)
        return eg_xml_fail(xml, p->node, "%lld cells are too many for one piece",
                           (long long)p->cells);
    EG_TRY(eg_snapshot_allocate(xml->ctx, 2, (int32_t)p->cells, &p->s));
    for (int32_t e = 0; e < p->s->element_count; e++) {
        eg_shape shape = EG_SHAPE_LINE;
        int degree = 0;
        EG_TRY(describe_cell(p, e, &shape, &degree));
        const int dim = eg_shape_get_info(shape)->dim;
        if (e == 0) p->s->dim = dim;
        if (dim != p->s->dim)
            return eg_xml_fail(
                xml, p->node,
                "cells of two and of three dimensions, %s and %s, stand in one file; "
                "write those of three alone",
                eg_shape_get_info((eg_shape)p->s->shape[0])->name, eg_shape_get_info(shape)->name);
        p->s->shape[e] = (uint8_t)shape;
        p->s->degree[e] = (uint8_t)degree;
        p->s->global[e] = e;
    }
    if (p->cells > 0) EG_TRY(eg_vtu_spend(p->file, p->node, p->offsets[p->cells - 1] * p->s->dim));
    EG_TRY(eg_snapshot_place_nodes(p->s));
done:
    return status;
}

/* --- points ---------------------------------------------------------------------------------- */

/* Gathers values of points [points][stride] for all nodes, in this library's order:
 * out [nodes][out_stride]. */
static eg_status gather(piece *p, const double *values, int stride, double *out, int out_stride)
{
    eg_status status = EG_OK;
    const eg_snapshot *s = p->s;
    const int64_t *point = p->connectivity;
    for (int32_t e = 0; e < s->element_count; e++) {
        const int *order;
        double *to = out + s->first_node[e] * out_stride;
        const int64_t np = s->first_node[e + 1] - s->first_node[e];
        EG_TRY(eg_lagrange_find(&p->orders, (eg_shape)s->shape[e], s->degree[e], &order));
        for (int64_t i = 0; i < np; i++, point++)
            to[order[i] * out_stride] = values[*point * stride];
    }
done:
    return status;
}

static eg_status check_points(const piece *p, int node)
{
    for (int64_t i = 0; i < p->points; i++) {
        const double *x = &p->x[3 * i];
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return eg_xml_fail(&p->file->xml, node, "point %lld lies at (%g, %g, %g)", (long long)i,
                               x[0], x[1], x[2]);
        if (p->s->dim == 2 && x[2] != p->x[2])
            return eg_xml_fail(&p->file->xml, node,
                               "cells of two dimensions must lie in a plane of constant z, but the "
                               "points 0 and %lld have z = %g and %g",
                               (long long)i, p->x[2], x[2]);
    }
    return EG_OK;
}

static eg_status take_points(piece *p)
{
    eg_status status = EG_OK;
    const eg_xml *xml = &p->file->xml;
    const int points = eg_xml_child(xml, p->node, -1, "Points");
    const int node = points < 0 ? -1 : eg_xml_child(xml, points, -1, "DataArray");
    int components;
    if (p->cells == 0) return EG_OK;
    if (node < 0) return eg_xml_fail(xml, p->node, "<Piece> has no <Points>");
    EG_TRY(count_components(xml, node, &components));
    if (components != 3)
        return eg_xml_fail(xml, node, "points have 3 coordinates, not %d", components);
    EG_TRY(eg_vtu_take_reals(p->file, node, 3 * p->points, &p->x));
    EG_TRY(check_points(p, node));
    for (int d = 0; d < p->s->dim; d++)
        EG_TRY(gather(p, p->x + d, 3, p->s->x + d, p->s->dim));
done:
    return status;
}

/* --- arrays ---------------------------------------------------------------------------------- */

/* The name of a component: "u", "velocity_x", "stress_5". */
static eg_status name_component(eg_text *text, const char *name, int components, int c)
{
    eg_text_clear(text);
    if (components == 1) return eg_text_puts(text, name);
    if (components == 3) return eg_text_printf(text, "%s_%c", name, "xyz"[c]);
    return eg_text_printf(text, "%s_%d", name, c);
}

/* The unit that an array's information gives; NULL: none. */
static eg_status find_unit(eg_xml *xml, int node, const char **out)
{
    int key = eg_xml_child(xml, node, -1, "InformationKey");
    *out = NULL;
    for (; key >= 0; key = eg_xml_child(xml, node, key, "InformationKey")) {
        const char *name = eg_xml_get(xml, key, "name");
        if (name && strcmp(name, "UNITS_LABEL") == 0) return eg_xml_text(xml, key, out);
    }
    return EG_OK;
}

static eg_status take_point_array(piece *p, int node)
{
    eg_status status = EG_OK;
    eg_xml *xml = &p->file->xml;
    eg_snapshot *s = p->s;
    eg_text text = eg_text_new(xml->ctx);
    double *values = NULL, *to;
    const char *name, *unit;
    char quote[EG_QUOTE_BYTES];
    int components;
    EG_TRY(eg_xml_need(xml, node, "Name", &name));
    EG_TRY(count_components(xml, node, &components));
    EG_TRY(find_unit(xml, node, &unit));
    if (s->array_count + components > ARRAYS_MOST) {
        status = eg_xml_fail(xml, node, "more than %d arrays", ARRAYS_MOST);
        goto done;
    }
    EG_TRY(eg_vtu_spend(p->file, node, s->first_node[s->element_count] * components));
    EG_TRY(eg_vtu_take_reals(p->file, node, p->points * components, &values));
    for (int c = 0; c < components; c++) {
        EG_TRY(name_component(&text, name, components, c));
        if (eg_snapshot_find(s, eg_text_string(&text)) >= 0) {
            status = eg_xml_fail(xml, node, "a second array \"%s\"",
                                 eg_quote(quote, text.data, text.length));
            goto done;
        }
        EG_TRY(eg_snapshot_append(s, eg_text_string(&text), unit, &to));
        EG_TRY(gather(p, values + c, components, to, 1));
    }
done:
    eg_text_free(&text);
    eg_release(xml->ctx, &values);
    return status;
}

static eg_status take_point_data(piece *p)
{
    eg_status status = EG_OK;
    const eg_xml *xml = &p->file->xml;
    const int data = eg_xml_child(xml, p->node, -1, "PointData");
    if (data < 0) return EG_OK;
    int node = eg_xml_child(xml, data, -1, "DataArray");
    for (; node >= 0; node = eg_xml_child(xml, data, node, "DataArray"))
        EG_TRY(take_point_array(p, node));
done:
    return status;
}

/* Whole numbers of the cells under this name; NULL if there are none. */
static eg_status take_cell_numbers(piece *p, const char *name, int64_t **out)
{
    const eg_xml *xml = &p->file->xml;
    const int data = eg_xml_child(xml, p->node, -1, "CellData");
    const int node = data < 0 ? -1 : eg_vtu_find_array(xml, data, name);
    const char *type = node < 0 ? NULL : eg_xml_get(xml, node, "type");
    eg_status status = EG_OK;
    int components;
    *out = NULL;
    if (!type || !strstr(type, "Int")) return EG_OK;
    EG_TRY(count_components(xml, node, &components));
    if (components == 1) EG_TRY(eg_vtu_take_integers(p->file, node, p->cells, out));
done:
    return status;
}

static eg_status take_cell_data(piece *p)
{
    eg_status status = EG_OK;
    eg_context *ctx = p->file->xml.ctx;
    int64_t *global = NULL, *degree = NULL;
    bool known = true;
    EG_TRY(take_cell_numbers(p, "element", &global));
    EG_TRY(take_cell_numbers(p, "degree", &degree));
    for (int32_t e = 0; global && e < p->s->element_count; e++) {
        if (global[e] < 0) {
            status = eg_xml_fail(&p->file->xml, p->node, "cell %d has the number %lld", (int)e,
                                 (long long)global[e]);
            goto done;
        }
        p->s->global[e] = global[e];
    }
    for (int32_t e = 0; degree && e < p->s->element_count; e++)
        known = known && degree[e] >= 0 && degree[e] <= p->s->degree[e];
    if (degree && known) {
        EG_TRY(eg_new(ctx, (size_t)p->cells, &p->s->value_degree));
        for (int32_t e = 0; e < p->s->element_count; e++)
            p->s->value_degree[e] = (uint8_t)degree[e];
    }
done:
    eg_release(ctx, &global);
    eg_release(ctx, &degree);
    return status;
}

eg_status eg_vtu_read_piece(eg_vtu_file *file, int node, eg_snapshot **out)
{
    eg_status status = EG_OK;
    const eg_xml *xml = &file->xml;
    piece p = {.file = file, .node = node, .orders = {.ctx = xml->ctx, .version = file->version}};
    EG_TRY(eg_xml_count(xml, node, "NumberOfPoints", NULL, &p.points));
    EG_TRY(eg_xml_count(xml, node, "NumberOfCells", NULL, &p.cells));
    EG_TRY(eg_vtu_spend(file, node, p.points));
    EG_TRY(eg_vtu_spend(file, node, p.cells));
    EG_TRY(take_cells(&p));
    EG_TRY(describe_elements(&p));
    EG_TRY(take_points(&p));
    EG_TRY(take_point_data(&p));
    EG_TRY(take_cell_data(&p));
    *out = p.s;
    p.s = NULL;
done:
    piece_free(&p);
    return status;
}
