/* VTU: what is written comes back to the last bit, other people's files are read in all their forms,
 * and what is damaged is refused with a place and a reason. */
#ifdef EG_HAVE_ZLIB

#include "snapshots.h"

#include <zlib.h>

#include "comma.h"
#include "report/vtu/file.h"
#include "report/vtu/vtu.h"

/* --- writing and reading --------------------------------------------------------------------- */

typedef struct fixture {
    eg_context *ctx;
    eg_comm *comm;
    char folder[PATH_MAX];
    char path[PATH_MAX + 64];
} fixture;

static fixture *fixture_new(void)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->ctx = test_context();
    TEST_OK(f->ctx, eg_comm_self(f->ctx, &f->comm));
    test_directory_create(f->folder);
    return f;
}

static void fixture_free(fixture *f)
{
    eg_comm_destroy(&f->comm);
    test_context_free(&f->ctx);
    test_directory_remove(f->folder);
    free(f);
}

static const char *path_of(fixture *f, const char *name)
{
    snprintf(f->path, sizeof f->path, "%s/%s", f->folder, name);
    return f->path;
}

static void check_round_trip(fixture *f, const eg_snapshot *s)
{
    eg_snapshot *again = NULL;
    char *path = NULL;
    TEST_OK(f->ctx, eg_vtu_write(s, f->comm, path_of(f, "a"), &path));
    assert_string_equal(path, path_of(f, "a.vtu"));
    TEST_OK(f->ctx, eg_vtu_read(f->ctx, path, &again));
    test_same_snapshot(s, again);
    eg_snapshot_destroy(&again);
    eg_release(f->ctx, &path);
}

static void test_vtu__comes_back_to_the_last_bit(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    uint64_t seed = 2;
    for (size_t i = 0; i < EG_COUNT(test_shapes); i++)
        for (int degree = 0; degree <= 8; degree += 2) {
            eg_mesh *mesh = test_bent_box(f->ctx, test_shapes[i], degree / 3 + 1, 2, false);
            test_source fields[] = {
                test_source_new(mesh, EG_BASIS_LOBATTO, degree, degree / 2, 2, &seed),
                test_source_new(mesh, EG_BASIS_MODAL, 1, 1, 1, &seed)};
            const eg_snapshot_values views[] = {fields[0].view, fields[1].view};
            eg_snapshot *s = NULL;
            TEST_OK(f->ctx, eg_snapshot_create_values(mesh, 12, 1.0 / 3, views, 2, &s));
            s->arrays[2].values[0] = NAN;
            s->arrays[2].values[1] = -0.0;
            s->arrays[2].values[2] = 5e-324;
            check_round_trip(f, s);
            eg_snapshot_destroy(&s);
            test_source_free(&fields[0]);
            test_source_free(&fields[1]);
            eg_mesh_destroy(&mesh);
        }
    fixture_free(f);
}

/* Several blocks of every array, and names and units that XML does not take as they are. */
static void test_vtu__comes_back_from_many_blocks_with_any_name(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    uint64_t seed = 9;
    eg_snapshot *s = NULL;
    double *values;
    eg_mesh *mesh = test_bent_box(f->ctx, EG_SHAPE_HEX, 1, 12, false);
    test_source field = test_source_new(mesh, EG_BASIS_LOBATTO, 4, 4, 1, &seed);
    TEST_OK(f->ctx, eg_snapshot_create_values(mesh, 0, -1e300, &field.view, 1, &s));
    assert_true(s->first_node[s->element_count] * 8 > 1 << 20);
    TEST_OK(f->ctx, eg_snapshot_append(s, "<a & 'b' \"c\"> ü", "< & \" µm", &values));
    check_round_trip(f, s);
    eg_snapshot_destroy(&s);
    test_source_free(&field);
    eg_mesh_destroy(&mesh);
    fixture_free(f);
}

static void test_vtu__comes_back_without_elements_or_fields(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    eg_snapshot *s = NULL;
    double *values;
    TEST_OK(f->ctx, eg_snapshot_allocate(f->ctx, 2, 0, &s));
    TEST_OK(f->ctx, eg_snapshot_place_nodes(s));
    TEST_OK(f->ctx, eg_snapshot_append(s, "u", NULL, &values));
    TEST_OK(f->ctx, eg_new(f->ctx, 0, &s->value_degree));
    check_round_trip(f, s);
    eg_snapshot_destroy(&s);
    eg_mesh *mesh = test_bent_box(f->ctx, EG_SHAPE_TRI, 2, 1, false);
    TEST_OK(f->ctx, eg_snapshot_create_values(mesh, 0, 0, NULL, 0, &s));
    check_round_trip(f, s);
    eg_snapshot_destroy(&s);
    eg_mesh_destroy(&mesh);
    fixture_free(f);
}

static void test_vtu__is_the_same_file_every_time(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    eg_snapshot *s = NULL;
    char *data[2];
    size_t length[2];
    eg_mesh *mesh = test_bent_box(f->ctx, EG_SHAPE_TET, 2, 2, false);
    TEST_OK(f->ctx, eg_snapshot_create_values(mesh, 3, 0.5, NULL, 0, &s));
    for (int i = 0; i < 2; i++) {
        TEST_OK(f->ctx, eg_vtu_write(s, f->comm, path_of(f, i ? "b" : "a"), NULL));
        TEST_OK(f->ctx,
                eg_file_read(f->ctx, path_of(f, i ? "b.vtu" : "a.vtu"), &data[i], &length[i]));
    }
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(data[0], data[1], length[0]);
    eg_release(f->ctx, &data[0]);
    eg_release(f->ctx, &data[1]);
    eg_snapshot_destroy(&s);
    eg_mesh_destroy(&mesh);
    fixture_free(f);
}

static void test_vtu__a_file_that_cannot_be_written_says_so(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    eg_snapshot *s = NULL, *none = NULL;
    TEST_OK(f->ctx, eg_snapshot_allocate(f->ctx, 2, 0, &s));
    TEST_OK(f->ctx, eg_snapshot_place_nodes(s));
    TEST_FAILS(f->ctx, EG_ERROR_IO, "nowhere/a.vtu",
               eg_vtu_write(s, f->comm, path_of(f, "nowhere/a"), NULL));
    TEST_FAILS(f->ctx, EG_ERROR_INPUT, "nowhere.vtu",
               eg_vtu_read(f->ctx, path_of(f, "nowhere.vtu"), &none));
    assert_null(none);
    eg_snapshot_destroy(&s);
    fixture_free(f);
}

/* --- the order of nodes ---------------------------------------------------------------------- */

static void test_lagrange__orders_are_permutations_with_the_vertices_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(test_shapes); i++)
        for (int degree = 1; degree <= EG_DEGREE_MAX; degree++) {
            const eg_shape shape = test_shapes[i];
            const int np = eg_mode_count(shape, degree);
            int order[1331];
            bool seen[1331] = {false};
            eg_lagrange_order(shape, degree, EG_LAGRANGE_21, order);
            for (int k = 0; k < np; k++) {
                assert_in_range(order[k], 0, np - 1);
                assert_false(seen[order[k]]);
                seen[order[k]] = true;
            }
            for (int v = 0; v < eg_shape_get_info(shape)->vertices; v++)
                assert_int_equal(order[v], eg_mesh_vertex_node(shape, degree, v));
            assert_int_equal(eg_lagrange_degree(shape, np), degree);
        }
    assert_int_equal(eg_lagrange_degree(EG_SHAPE_TRI, 7), 0);
    assert_int_equal(eg_lagrange_degree(EG_SHAPE_TET, 15), 0);
}

/* Degree 4 has nodes of every kind; test_vtk asks VTK for the rest. */
static void test_lagrange__orders_are_those_of_vtk(void **state)
{
    (void)state;
    static const int triangle[] = {0, 4, 14, 1, 2, 3, 8, 11, 13, 12, 9, 5, 6, 7, 10};
    static const int quadrilateral[] = {0, 2, 8, 6, 1, 5, 7, 3, 4};
    static const int tetrahedron[] = {0,  3,  9,  19, 1,  2,  6,  8,  7,  4,
                                      10, 16, 12, 17, 15, 18, 11, 14, 13, 5};
    static const int hexahedron[] = {0,  2,  8, 6,  18, 20, 26, 24, 1,  5,  7, 3,  19, 23,
                                     25, 21, 9, 11, 17, 15, 12, 14, 10, 16, 4, 22, 13};
    int order[35];
    eg_lagrange_order(EG_SHAPE_TRI, 4, EG_LAGRANGE_21, order);
    assert_memory_equal(order, triangle, sizeof triangle);
    eg_lagrange_order(EG_SHAPE_QUAD, 2, EG_LAGRANGE_21, order);
    assert_memory_equal(order, quadrilateral, sizeof quadrilateral);
    eg_lagrange_order(EG_SHAPE_TET, 3, EG_LAGRANGE_21, order);
    assert_memory_equal(order, tetrahedron, sizeof tetrahedron);
    eg_lagrange_order(EG_SHAPE_HEX, 2, EG_LAGRANGE_21, order);
    assert_memory_equal(order, hexahedron, sizeof hexahedron);
    eg_lagrange_order(EG_SHAPE_HEX, 2, EG_LAGRANGE_OLD, order);
    assert_int_equal(order[18], hexahedron[19]);
    assert_int_equal(order[19], hexahedron[18]);
}

/* --- other people's files -------------------------------------------------------------------- */

/* How a file has its arrays. */
typedef struct form {
    bool text;       /* as numbers */
    bool appended;   /* else in their elements, as base64 */
    bool raw;        /* appended bytes as they are, else as base64 */
    bool compressed; /* by zlib, in blocks of 16 bytes */
    bool narrow;     /* Float32, Int32 and 32 bits in front of arrays; else 64 bits each */
} form;

/* What is being written: elements, and appended bytes. */
typedef struct sheet {
    form form;
    eg_text xml, appended;
} sheet;

static void put_base64(eg_text *out, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < count ? bytes[i + k] : 0u);
        const char four[] = {digits[bits >> 18 & 63], digits[bits >> 12 & 63],
                             i + 1 < count ? digits[bits >> 6 & 63] : '=',
                             i + 2 < count ? digits[bits & 63] : '='};
        TEST_OK(out->ctx, eg_text_add(out, four, 4));
    }
}

static void add_number(const sheet *s, eg_text *out, uint64_t value)
{
    const uint32_t narrow = (uint32_t)value;
    if (s->form.narrow)
        TEST_OK(out->ctx, eg_text_add(out, (const char *)&narrow, sizeof narrow));
    else
        TEST_OK(out->ctx, eg_text_add(out, (const char *)&value, sizeof value));
}

/* Splits bytes into what stands in front of them and what they become. */
static void pack(const sheet *s, const char *bytes, size_t count, eg_text *front, eg_text *data)
{
    const size_t block = 16, blocks = (count + block - 1) / block;
    if (!s->form.compressed) {
        add_number(s, front, count);
        TEST_OK(data->ctx, eg_text_add(data, bytes, count));
        return;
    }
    add_number(s, front, blocks);
    add_number(s, front, block);
    add_number(s, front, count % block);
    for (size_t b = 0; b < blocks; b++) {
        unsigned char packed[64];
        uLongf length = sizeof packed;
        const size_t left = count - b * block;
        assert_int_equal(compress(packed, &length, (const Bytef *)bytes + b * block,
                                  left < block ? left : block),
                         Z_OK);
        add_number(s, front, length);
        TEST_OK(data->ctx, eg_text_add(data, (const char *)packed, length));
    }
}

/* Compressed bytes are encoded apart from what is in front of them, others together with it. */
static void put_bytes(const sheet *s, eg_text *out, const char *bytes, size_t count, bool raw)
{
    eg_text front = eg_text_new(out->ctx), data = eg_text_new(out->ctx);
    pack(s, bytes, count, &front, &data);
    if (raw || !s->form.compressed) {
        TEST_OK(out->ctx, eg_text_add(&front, eg_text_string(&data), data.length));
        eg_text_clear(&data);
    }
    if (raw) {
        TEST_OK(out->ctx, eg_text_add(out, front.data, front.length));
    } else {
        put_base64(out, (const unsigned char *)front.data, front.length);
        if (data.length) put_base64(out, (const unsigned char *)data.data, data.length);
    }
    eg_text_free(&front);
    eg_text_free(&data);
}

/* Adds an array of whole numbers or of reals. */
static void put_array(sheet *s, const char *attributes, size_t count, const double *values,
                      bool whole)
{
    eg_text bytes = eg_text_new(s->xml.ctx);
    const bool narrow = s->form.narrow;
    TEST_OK(s->xml.ctx, eg_text_printf(&s->xml, "<DataArray type=\"%s%d\" %s ",
                                       whole ? "Int" : "Float", narrow ? 32 : 64, attributes));
    for (size_t i = 0; i < count; i++) {
        const int32_t i32 = (int32_t)values[i];
        const int64_t i64 = (int64_t)values[i];
        const float f32 = (float)values[i];
        const void *value = whole    ? narrow ? (const void *)&i32 : (const void *)&i64
                            : narrow ? (const void *)&f32
                                     : (const void *)&values[i];
        TEST_OK(s->xml.ctx, eg_text_add(&bytes, value, narrow ? 4 : 8));
    }
    if (s->form.text) {
        TEST_OK(s->xml.ctx, eg_text_puts(&s->xml, "format=\"ascii\">\n"));
        for (size_t i = 0; i < count; i++)
            TEST_OK(s->xml.ctx, eg_text_printf(&s->xml, " %.17g\n", values[i]));
        TEST_OK(s->xml.ctx, eg_text_puts(&s->xml, "<InformationKey name=\"L2_NORM_FINITE_RANGE\"/>"
                                                  "</DataArray>\n"));
    } else if (s->form.appended) {
        TEST_OK(s->xml.ctx, eg_text_printf(&s->xml, "format=\"appended\" offset=\"%zu\"/>\n",
                                           s->appended.length));
        put_bytes(s, &s->appended, eg_text_string(&bytes), bytes.length, s->form.raw);
    } else {
        TEST_OK(s->xml.ctx, eg_text_puts(&s->xml, "format=\"binary\">\n  "));
        put_bytes(s, &s->xml, eg_text_string(&bytes), bytes.length, false);
        TEST_OK(s->xml.ctx, eg_text_puts(&s->xml, "\n</DataArray>\n"));
    }
    eg_text_free(&bytes);
}

/* A triangle and a quadrilateral, linear, that share points, beside each other; a field of two
 * components and one of three. */
static const double points[] = {0, 0, 7, 1, 0, 7, 1, 1, 7, 0, 1, 7, 2, 0.5, 7};
static const double connectivity[] = {0, 1, 2, 3, 1, 4, 2}, offsets[] = {4, 7}, types[] = {9, 5};
static const double pairs[] = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50};
static const double vectors[] = {.5, 1, 0, 1.5, 2, 0, 2.5, 3, 0, 3.5, 4, 0, 4.5, 5, 0};

static void put_file(sheet *s)
{
    eg_context *ctx = s->xml.ctx;
    TEST_OK(ctx, eg_text_printf(&s->xml,
                                "<?xml version='1.0'?><!-- by hand: <Piece> -->\n"
                                "<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" "
                                "byte_order=\"LittleEndian\" %s %s><UnstructuredGrid>\n"
                                "<Piece NumberOfPoints=\"5\" NumberOfCells=\"2\">\n<PointData>\n",
                                s->form.narrow ? "" : "header_type=\"UInt64\"",
                                s->form.compressed ? "compressor=\"vtkZLibDataCompressor\"" : ""));
    put_array(s, "Name=\"pair\" NumberOfComponents=\"2\"", 10, pairs, false);
    put_array(s, "Name=\"v\" NumberOfComponents=\"3\"", 15, vectors, false);
    TEST_OK(ctx, eg_text_puts(&s->xml, "</PointData><Points>\n"));
    put_array(s, "NumberOfComponents=\"3\"", 15, points, false);
    TEST_OK(ctx, eg_text_puts(&s->xml, "</Points><Cells>\n"));
    put_array(s, "Name=\"connectivity\"", 7, connectivity, true);
    put_array(s, "Name=\"offsets\"", 2, offsets, true);
    put_array(s, "Name=\"types\"", 2, types, true);
    TEST_OK(ctx, eg_text_puts(&s->xml, "</Cells></Piece></UnstructuredGrid>\n"));
    if (s->form.appended) {
        TEST_OK(ctx, eg_text_printf(&s->xml, "<AppendedData encoding=\"%s\">\n _",
                                    s->form.raw ? "raw" : "base64"));
        TEST_OK(ctx, eg_text_add(&s->xml, s->appended.data, s->appended.length));
        TEST_OK(ctx, eg_text_puts(&s->xml, "\n</AppendedData>\n"));
    }
    TEST_OK(ctx, eg_text_puts(&s->xml, "</VTKFile>\n"));
}

static void check_by_hand(const eg_snapshot *s)
{
    static const int nodes[] = {0, 1, 3, 2, 1, 4, 2}; /* in our order: r fastest */
    static const char *const names[] = {"pair_0", "pair_1", "v_x", "v_y", "v_z"};
    assert_int_equal(s->element_count, 2);
    assert_int_equal(s->dim, 2);
    assert_int_equal(s->shape[0], EG_SHAPE_QUAD);
    assert_int_equal(s->shape[1], EG_SHAPE_TRI);
    assert_int_equal(s->degree[0], 1);
    assert_int_equal(s->global[1], 1);
    assert_null(s->value_degree);
    assert_int_equal(s->array_count, 5);
    for (int a = 0; a < 5; a++)
        assert_string_equal(s->arrays[a].name, names[a]);
    for (int i = 0; i < 7; i++) {
        for (int d = 0; d < 2; d++)
            assert_true(s->x[2 * i + d] == points[3 * nodes[i] + d]);
        for (int c = 0; c < 2; c++)
            assert_true(s->arrays[c].values[i] == pairs[2 * nodes[i] + c]);
        for (int c = 0; c < 3; c++)
            assert_true(s->arrays[2 + c].values[i] == vectors[3 * nodes[i] + c]);
    }
}

static eg_status read_bytes(eg_context *ctx, const char *data, size_t length, eg_snapshot **out)
{
    eg_vtu_file file;
    eg_status status = eg_vtu_open(ctx, "f", data, length, &file);
    if (status == EG_OK) status = eg_vtu_read_grid(&file, out);
    eg_vtu_close(&file);
    return status;
}

static void test_vtu__is_read_in_all_forms(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int i = 0; i < 32; i++) {
        sheet s = {.form = {.text = i & 1,
                            .appended = i & 2,
                            .raw = i & 4,
                            .compressed = i & 8,
                            .narrow = i & 16},
                   .xml = eg_text_new(ctx),
                   .appended = eg_text_new(ctx)};
        eg_snapshot *snapshot = NULL;
        put_file(&s);
        TEST_OK(ctx, read_bytes(ctx, s.xml.data, s.xml.length, &snapshot));
        check_by_hand(snapshot);
        eg_snapshot_destroy(&snapshot);
        eg_text_free(&s.xml);
        eg_text_free(&s.appended);
    }
    test_context_free(&ctx);
}

static void test_vtu__text_is_read_whatever_the_locale(void **state)
{
    (void)state;
    char folder[PATH_MAX];
    eg_context *ctx = test_context();
    sheet s = {.form = {.text = true}, .xml = eg_text_new(ctx), .appended = eg_text_new(ctx)};
    eg_snapshot *snapshot = NULL;
    put_file(&s);
    test_directory_create(folder);
    if (set_comma_locale(folder)) {
        TEST_OK(ctx, read_bytes(ctx, s.xml.data, s.xml.length, &snapshot));
        check_by_hand(snapshot);
        eg_snapshot_destroy(&snapshot);
        eg_text text = eg_text_new(ctx);
        TEST_OK(ctx, eg_xml_put_number(&text, 0.1));
        assert_string_equal(text.data, "0.1");
        eg_text_free(&text);
        setlocale(LC_NUMERIC, "C");
    }
    test_directory_remove(folder);
    eg_text_free(&s.xml);
    eg_text_free(&s.appended);
    test_context_free(&ctx);
}

/* Two pieces in one file, with shared arrays' names in another order; numbers go on. */
static void test_vtu__pieces_of_a_file_become_one(void **state)
{
    (void)state;
    static const char text[] =
        "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid>"
        "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\">2.5"
        "</DataArray></FieldData>"
        "<Piece NumberOfPoints=\"0\" NumberOfCells=\"0\"/>"
        "<Piece NumberOfPoints=\"3\" NumberOfCells=\"1\"><PointData>"
        "<DataArray type=\"Float64\" Name=\"a\">1 2 3</DataArray>"
        "<DataArray type=\"Float64\" Name=\"b\">nan -inf "
        "1e400</DataArray></PointData><CellData><DataArray type=\"Int8\" "
        "Name=\"degree\">1</DataArray></CellData><Points>"
        "<DataArray type=\"Float64\" NumberOfComponents=\"3\">0 0 0 1 0 0 0 1 "
        "0</DataArray></Points>"
        "<Cells><DataArray type=\"Int8\" Name=\"connectivity\">0 1 2</DataArray>"
        "<DataArray type=\"UInt16\" Name=\"offsets\">3</DataArray>"
        "<DataArray type=\"UInt8\" Name=\"types\">69</DataArray></Cells></Piece>"
        "<Piece NumberOfPoints=\"3\" NumberOfCells=\"1\"><PointData>"
        "<DataArray type=\"Float64\" Name=\"&#x62;\">4 5 6</DataArray>"
        "<DataArray type=\"Float64\" Name=\"&#97;\">7 8 "
        "9</DataArray></PointData><CellData><DataArray type=\"Int8\" "
        "Name=\"degree\">2</DataArray></CellData><Points>"
        "<DataArray type=\"Float64\" NumberOfComponents=\"3\">1 0 0 1 1 0 0 1 "
        "0</DataArray></Points>"
        "<Cells><DataArray type=\"Int8\" Name=\"connectivity\">0 1 2</DataArray>"
        "<DataArray type=\"UInt16\" Name=\"offsets\">3</DataArray>"
        "<DataArray type=\"UInt8\" Name=\"types\">5</DataArray></Cells></Piece>"
        "</UnstructuredGrid></VTKFile>";
    static const double a[] = {1, 2, 3, 7, 8, 9};
    eg_context *ctx = test_context();
    eg_snapshot *s = NULL;
    TEST_OK(ctx, read_bytes(ctx, text, strlen(text), &s));
    assert_int_equal(s->element_count, 2);
    assert_int_equal(s->global[1], 1);
    assert_true(s->time == 2.5);
    assert_null(s->value_degree); /* a triangle of degree 1 has no values of degree 2 */
    assert_memory_equal(s->arrays[0].values, a, sizeof a);
    assert_true(isnan(s->arrays[1].values[0]) && s->arrays[1].values[1] == -HUGE_VAL);
    assert_true(s->arrays[1].values[2] == HUGE_VAL && s->arrays[1].values[5] == 6);
    assert_true(s->x[6] == 1 && s->x[7] == 0 && s->x[9] == 1);
    eg_snapshot_destroy(&s);
    test_context_free(&ctx);
}

/* Before version 2.1 the last two upright edges of a hexahedron were the other way round. */
static void test_vtu__old_hexahedra_have_their_own_order(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int old = 0; old < 2; old++) {
        eg_text text = eg_text_new(ctx);
        eg_snapshot *s = NULL;
        TEST_OK(ctx, eg_text_printf(&text,
                                    "<VTKFile type=\"UnstructuredGrid\" version=\"%s\">"
                                    "<UnstructuredGrid><Piece NumberOfPoints=\"27\" "
                                    "NumberOfCells=\"1\"><PointData>"
                                    "<DataArray type=\"Float64\" Name=\"place\">",
                                    old ? "2.0" : "2.2"));
        for (int i = 0; i < 27; i++)
            TEST_OK(ctx, eg_text_printf(&text, "%d ", i));
        TEST_OK(ctx, eg_text_puts(&text, "</DataArray></PointData><Points><DataArray "
                                         "type=\"Float64\" NumberOfComponents=\"3\">"));
        for (int i = 0; i < 81; i++)
            TEST_OK(ctx, eg_text_puts(&text, "0 "));
        TEST_OK(ctx, eg_text_puts(&text, "</DataArray></Points><Cells>"
                                         "<DataArray type=\"Int64\" Name=\"connectivity\">"));
        for (int i = 0; i < 27; i++)
            TEST_OK(ctx, eg_text_printf(&text, "%d ", i));
        TEST_OK(ctx,
                eg_text_puts(&text, "</DataArray><DataArray type=\"Int64\" Name=\"offsets\">27"
                                    "</DataArray><DataArray type=\"Int64\" Name=\"types\">72"
                                    "</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>"));
        TEST_OK(ctx, read_bytes(ctx, text.data, text.length, &s));
        assert_true(s->arrays[0].values[17] == (old ? 19 : 18)); /* the node (2, 2, 1) */
        assert_true(s->arrays[0].values[15] == (old ? 18 : 19)); /* the node (0, 2, 1) */
        eg_snapshot_destroy(&s);
        eg_text_free(&text);
    }
    test_context_free(&ctx);
}

/* --- memory ---------------------------------------------------------------------------------- */

static eg_status write_and_read(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_comm *comm = NULL;
    eg_snapshot *s = NULL, *again = NULL;
    char *path = NULL;
    double *values;
    EG_TRY(eg_comm_self(ctx, &comm));
    EG_TRY(eg_snapshot_allocate(ctx, 2, 1, &s));
    s->shape[0] = EG_SHAPE_TRI;
    s->degree[0] = 1;
    EG_TRY(eg_snapshot_place_nodes(s));
    EG_TRY(eg_snapshot_append(s, "u", "m", &values));
    EG_TRY(eg_vtu_write(s, comm, user, &path));
    EG_TRY(eg_vtu_read(ctx, path, &again));
done:
    eg_release(ctx, &path);
    eg_snapshot_destroy(&again);
    eg_snapshot_destroy(&s);
    eg_comm_destroy(&comm);
    return status;
}

static void test_vtu__survives_every_failing_allocation(void **state)
{
    (void)state;
    char folder[PATH_MAX], base[PATH_MAX + 8];
    test_directory_create(folder);
    snprintf(base, sizeof base, "%s/a", folder);
    test_allocation_sweep(write_and_read, base);
    test_directory_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vtu__comes_back_to_the_last_bit),
        cmocka_unit_test(test_vtu__comes_back_from_many_blocks_with_any_name),
        cmocka_unit_test(test_vtu__comes_back_without_elements_or_fields),
        cmocka_unit_test(test_vtu__is_the_same_file_every_time),
        cmocka_unit_test(test_vtu__a_file_that_cannot_be_written_says_so),
        cmocka_unit_test(test_lagrange__orders_are_permutations_with_the_vertices_first),
        cmocka_unit_test(test_lagrange__orders_are_those_of_vtk),
        cmocka_unit_test(test_vtu__is_read_in_all_forms),
        cmocka_unit_test(test_vtu__text_is_read_whatever_the_locale),
        cmocka_unit_test(test_vtu__pieces_of_a_file_become_one),
        cmocka_unit_test(test_vtu__old_hexahedra_have_their_own_order),
        cmocka_unit_test(test_vtu__survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77; /* skipped */
}

#endif
