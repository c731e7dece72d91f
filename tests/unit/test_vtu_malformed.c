/* Files that are no VTU, or damaged, are refused with the line and the reason, whatever is in them. */
#ifdef EG_HAVE_ZLIB

#include "snapshots.h"

#include <zlib.h>

#include "report/vtu/file.h"
#include "report/vtu/vtu.h"

/* A triangle and its field. */
static const char whole[] =
    "<?xml version=\"1.0\"?>\n"
    "<VTKFile type=\"UnstructuredGrid\" version=\"2.1\" byte_order=\"LittleEndian\">\n"
    "<UnstructuredGrid>\n"
    "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\">0.5</DataArray></FieldData>\n"
    "<Piece NumberOfPoints=\"3\" NumberOfCells=\"1\">\n"
    "<PointData>\n"
    "<DataArray type=\"Float64\" Name=\"u\" format=\"ascii\">1 2 3</DataArray>\n"
    "</PointData>\n"
    "<CellData>\n"
    "<DataArray type=\"Int64\" Name=\"element\" format=\"ascii\">7</DataArray>\n"
    "</CellData>\n"
    "<Points>\n"
    "<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 0 1 0"
    "</DataArray>\n"
    "</Points>\n"
    "<Cells>\n"
    "<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0 1 2</DataArray>\n"
    "<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">3</DataArray>\n"
    "<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">5</DataArray>\n"
    "</Cells>\n"
    "</Piece>\n"
    "</UnstructuredGrid>\n"
    "</VTKFile>\n";

/* Bytes in a block of exactly their size, so that the address sanitizer sees its end. */
static eg_status read_bytes(eg_context *ctx, const char *data, size_t length, eg_snapshot **out)
{
    eg_vtu_file file;
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, data, length);
    eg_status status = eg_vtu_open(ctx, "f", copy, length, &file);
    if (status == EG_OK && file.type != EG_VTU_GRID)
        status = eg_fail(ctx, EG_ERROR_INPUT, "f:1: error: it is no grid");
    if (status == EG_OK) status = eg_vtu_read_grid(&file, out);
    eg_vtu_close(&file);
    free(copy);
    return status;
}

/* What stands for `old` in the file above, and what is then wrong. */
typedef struct damage {
    const char *old, *new, *message;
} damage;

static const damage damages[] = {
    {"<?xml", "hello <?xml", "f:1: error: text outside of <VTKFile>"},
    {"<?xml version=\"1.0\"?>", "<?xml", "f:1: error: a \"<?\" that does not end"},
    {"<?xml version=\"1.0\"?>", "<!DOCTYPE VTKFile>", "f:1: error: \"<!\" begins a comment"},
    {"<?xml version=\"1.0\"?>", "<!-- ", "f:1: error: a comment that does not end"},
    {"<?xml version=\"1.0\"?>", "<html/>", "f:1: error: the file begins with <html>"},
    {"</VTKFile>\n", "", "f:22: error: the file ends within <VTKFile> of line 2"},
    {"</VTKFile>\n", "</VTKFile><a/>", "f:22: error: an element behind the end of <VTKFile>"},
    {"</VTKFile>\n", "</VTKFile></a>", "f:22: error: the end of an element that did not begin"},
    {"</Piece>", "</Peace>", "f:20: error: <Piece> of line 5 does not end here"},
    {"</Piece>", "</Piece", "f:20: error: a tag that does not end"},
    {"<Piece ", "<Piece a=1 ", "f:5: error: the attribute a has no value in quotes"},
    {"<Piece ", "<Piece a=\"1 ", "f:5: error: the tag <Piece> does not end"},
    {"<Piece ", "<Piece a=\"<\" ", "f:5: error: the value of the attribute a does not end"},
    {"<Piece ", "<Piece NumberOfCells=\"1\" ", "f:5: error: two attributes NumberOfCells"},
    {"<Piece ", "<Piece a=\"&nbsp;\" ", "f:5: error: \"&\" begins no entity"},
    {"<Piece ", "<Piece a=\"&#0;\" ", "f:5: error: \"&\" begins no entity"},
    {"<Piece ", "<Piece a=\"&#xD800;\" ", "f:5: error: \"&\" begins no entity"},
    {"<Piece ", "<Piece a=\"&#1114112;\" ", "f:5: error: \"&\" begins no entity"},
    {"<Piece ", "<Piece a=\"&#x;\" ", "f:5: error: \"&\" begins no entity"},
    {"<Piece ", "<Piece a=\"&#12a;\" ", "f:5: error: \"&\" begins no entity"},
    {"<Piece ", "<Piece a=\"\xff\" ", "f:5: error: a byte 0xff that is no text"},
    {"<Piece ", "<Piece a=\"\x01\" ", "f:5: error: a byte 0x01 that is no text"},
    {"<Piece ", "<3 ", "f:5: error: an element has no name"},
    {"<Cells>", "<Cells>x<a/>y", "f:15: error: a second text within <Cells>"},
    {"=\"UnstructuredGrid\" v", "=\"PolyData\" v", "f:2: error: type=\"PolyData\" is not read"},
    {"type=\"UnstructuredGrid\" v", "v", "f:2: error: <VTKFile> has no attribute type"},
    {"LittleEndian", "BigEndian", "f:2: error: byte_order=\"BigEndian\", but this machine's is"},
    {"byte_order", "header_type=\"Int8\" byte_order",
     "f:2: error: header_type=\"Int8\" is neither"},
    {"byte_order", "compressor=\"vtkLZ4DataCompressor\" byte_order",
     "f:2: error: compressor=\"vtkLZ4DataCompressor\" is not read"},
    {"NumberOfCells=\"1\"", "", "f:5: error: <Piece> has no attribute NumberOfCells"},
    {"NumberOfCells=\"1\"", "NumberOfCells=\"-1\"", "f:5: error: NumberOfCells=\"-1\" is no whole"},
    {"NumberOfCells=\"1\"", "NumberOfCells=\"\"", "f:5: error: NumberOfCells=\"\" is no whole"},
    {"NumberOfCells=\"1\"", "NumberOfCells=\"9223372036854775807\"", "is no whole number"},
    {"NumberOfCells=\"1\"", "NumberOfCells=\"99999999999\"", "more than a file of this size"},
    {"NumberOfPoints=\"3\"", "NumberOfPoints=\"4\"",
     "f:13: error: the array \"\" has only 9 values"},
    {"NumberOfPoints=\"3\"", "NumberOfPoints=\"2\"", "f:15: error: a cell has the point 2, but"},
    {"1 2 3<", "1 2 3 4<", "f:7: error: the array \"u\" has more than its 3 values"},
    {"1 2 3<", "1 2 x<", "f:7: error: \"x\" in the array \"u\" is no number"},
    {"1 2 3<", "1 2 3,<", "f:7: error: \"3,\" in the array \"u\" is no number"},
    {"Name=\"u\"", "", "f:7: error: <DataArray> has no attribute Name"},
    {"Name=\"u\" format", "Name=\"u\" NumberOfComponents=\"0\" format", "is not from 1 to"},
    {"Name=\"u\" format", "Name=\"u\" NumberOfComponents=\"65\" format", "is not from 1 to"},
    {"format=\"ascii\">1", "format=\"EBCDIC\">1", "f:7: error: format=\"EBCDIC\" is none of"},
    {"format=\"ascii\">1", "format=\"binary\">1", "\"u\" end too early, or are no base64"},
    {"format=\"ascii\">1", "format=\"appended\">1",
     "f:7: error: <DataArray> has no attribute offset"},
    {"format=\"ascii\">1", "format=\"appended\" offset=\"5\">1", "offset=\"5\" is behind the end"},
    {"\"Float64\" Name=\"u\"", "\"String\" Name=\"u\"", "f:7: error: type=\"String\" is not read"},
    {"</PointData>", "<DataArray Name=\"u\" type=\"Int8\">1 2 3</DataArray></PointData>",
     "f:8: error: a second array \"u\""},
    {">7<", ">-7<", "f:5: error: cell 0 has the number -7"},
    {">7<", ">7.5<", "f:10: error: \"7.5\" in the array \"element\" is no whole number"},
    {">0.5<", "><", "f:4: error: the array \"TimeValue\" has only 0 values, not 1"},
    {"NumberOfComponents=\"3\"", "NumberOfComponents=\"2\"", "f:13: error: points have 3"},
    {"0 0 0 1", "0 0 inf 1", "f:13: error: point 0 lies at (0, 0, inf)"},
    {"0 0 0 1", "0 0 0.5 1", "f:13: error: cells of two dimensions must lie in a plane"},
    {"<Points>", "<Pints></Pints><Points>", NULL}, /* what is not known does no harm */
    {"<Points>\n", "<Points><Array/></Points><Points>", "f:5: error: <Piece> has no <Points>"},
    {"\"connectivity\"", "\"conectivity\"", "f:15: error: <Cells> has no array \"connectivity\""},
    {">0 1 2<", ">0 1 -2<", "f:15: error: a cell has the point -2"},
    {">0 1 2<", ">0 1 99999999999999999999<", "\"99999999999999999999\" in the array"},
    {"\"Int64\" Name=\"connectivity\"", "\"Float64\" Name=\"connectivity\"", "must have whole"},
    {">3<", ">-3<", "f:15: error: the offset of cell 0 is -3: offsets must grow"},
    {">3<", ">4<", "f:16: error: the array \"connectivity\" has only 3 values, not 4"},
    {">5<", ">22<", "f:5: error: cell 0 is of VTK's type 22"},
    {">5<", ">9<", "f:5: error: cell 0, a linear quadrilateral, has 3 nodes"},
    {">5<", ">70<", "f:5: error: cell 0, a quadrilateral, has 3 nodes"},
};

static void test_vtu__damage_is_named_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(damages); i++) {
        const damage *d = &damages[i];
        eg_context *ctx = test_context();
        eg_text text = eg_text_new(ctx);
        eg_snapshot *s = NULL;
        const char *at = strstr(whole, d->old);
        assert_non_null(at);
        TEST_OK(ctx, eg_text_add(&text, whole, (size_t)(at - whole)));
        TEST_OK(ctx, eg_text_puts(&text, d->new));
        TEST_OK(ctx, eg_text_puts(&text, at + strlen(d->old)));
        if (d->message)
            TEST_FAILS(ctx, EG_ERROR_INPUT, d->message,
                       read_bytes(ctx, text.data, text.length, &s));
        else
            TEST_OK(ctx, read_bytes(ctx, text.data, text.length, &s));
        assert_int_equal(!s, d->message != NULL);
        eg_snapshot_destroy(&s);
        eg_text_free(&text);
        test_context_free(&ctx);
    }
}

/* A file of eagre's own in memory. */
static char *written(eg_context *ctx, size_t *length)
{
    char folder[PATH_MAX], base[PATH_MAX + 8], *path = NULL, *data = NULL;
    uint64_t seed = 8;
    eg_comm *comm = NULL;
    eg_snapshot *s = NULL;
    eg_mesh *mesh = test_mixed_mesh(ctx, 2);
    test_source field = test_source_new(mesh, EG_BASIS_LOBATTO, 2, 1, 2, &seed);
    test_directory_create(folder);
    snprintf(base, sizeof base, "%s/a", folder);
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_snapshot_create_values(mesh, 1, 2, &field.view, 1, &s));
    TEST_OK(ctx, eg_vtu_write(s, comm, base, &path));
    TEST_OK(ctx, eg_file_read(ctx, path, &data, length));
    eg_release(ctx, &path);
    eg_snapshot_destroy(&s);
    eg_comm_destroy(&comm);
    test_source_free(&field);
    eg_mesh_destroy(&mesh);
    test_directory_remove(folder);
    return data;
}

static void test_vtu__is_refused_cut_off_anywhere(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    size_t length;
    char *data = written(ctx, &length);
    for (size_t i = 0; i + 1 < length; i++) { /* the last byte is a line end */
        eg_snapshot *s = NULL;
        TEST_FAILS(ctx, EG_ERROR_INPUT, "f:", read_bytes(ctx, data, i, &s));
        assert_null(s);
    }
    eg_release(ctx, &data);
    test_context_free(&ctx);
}

/* Another byte anywhere is refused or makes another snapshot; it harms nobody. */
static void test_vtu__survives_a_change_of_any_byte(void **state)
{
    (void)state;
    static const unsigned char changes[] = {0x01, 0x80, 0xff};
    eg_context *ctx = test_context();
    size_t length, refused = 0;
    char *data = written(ctx, &length);
    for (size_t i = 0; i < length; i++)
        for (size_t k = 0; k < EG_COUNT(changes); k++) {
            eg_snapshot *s = NULL;
            data[i] = (char)(data[i] ^ changes[k]);
            const eg_status status = read_bytes(ctx, data, length, &s);
            assert_true(status == EG_OK || status == EG_ERROR_INPUT);
            assert_int_equal(status == EG_OK, s != NULL);
            refused += status != EG_OK;
            eg_snapshot_destroy(&s);
            data[i] = (char)(data[i] ^ changes[k]);
        }
    assert_true(refused > 2 * length); /* zlib sees every change of its bytes */
    eg_release(ctx, &data);
    test_context_free(&ctx);
}

/* Adds bytes as base64, filled up with zeros to a whole group. */
static void put_base64(eg_text *out, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        uint32_t bits = 0;
        for (size_t k = i; k < i + 3; k++)
            bits = bits << 8 | (k < count ? bytes[k] : 0u);
        for (int shift = 18; shift >= 0; shift -= 6)
            TEST_OK(out->ctx, eg_text_add(out, &digits[bits >> shift & 63], 1));
    }
}

/* Adds zeros, compressed in one block. */
static void put_zeros(eg_text *out, size_t count)
{
    const size_t sizes = 4 * sizeof(uint32_t);
    uLongf length = compressBound((uLong)count);
    unsigned char *zeros = calloc(count, 1), *bytes = malloc(sizes + length);
    assert_true(zeros && bytes);
    assert_int_equal(compress(bytes + sizes, &length, zeros, (uLong)count), Z_OK);
    memcpy(bytes, (uint32_t[]){1, (uint32_t)count, 0, (uint32_t)length}, sizes);
    put_base64(out, bytes, sizes + length);
    free(zeros);
    free(bytes);
}

/* What stands in front of the array u, whose three values take 24 bytes, and how much of them. */
typedef struct front {
    const char *compressor;
    uint32_t sizes[5];
    int count;
    size_t bytes; /* behind it: of a compressed block of `unpacked` bytes, or as they are */
    size_t unpacked;
    const char *message;
} front;

static const front fronts[] = {
    {"", {24}, 1, 24, 0, NULL},
    {"", {16}, 1, 24, 0, "the array \"u\" has 16 bytes, but should have 24"},
    {"", {32}, 1, 36, 0, "the array \"u\" has 32 bytes, but should have 24"},
    {"", {24}, 1, 20, 0, "the bytes of the array \"u\" end too early"},
    {"vtkZLibDataCompressor", {1, 24, 0, 11}, 4, 11, 24, NULL},
    {"vtkZLibDataCompressor", {1, 32, 24, 11}, 4, 11, 24, NULL},
    {"vtkZLibDataCompressor", {1, 24, 0, 11}, 4, 11, 16, "block 1 of the array \"u\" cannot be"},
    {"vtkZLibDataCompressor", {1, 24, 0, 11}, 4, 11, 32, "block 1 of the array \"u\" cannot be"},
    {"vtkZLibDataCompressor", {1, 24, 0, 9}, 4, 11, 24, "block 1 of the array \"u\" cannot be"},
    {"vtkZLibDataCompressor", {1, 24, 0, 50}, 4, 11, 24, "\"u\" end too early"},
    {"vtkZLibDataCompressor",
     {1, 16, 24, 11},
     4,
     11,
     24,
     "the blocks of the array \"u\" cannot be"},
    {"vtkZLibDataCompressor", {1, 16, 0, 11}, 4, 11, 24, "has 16 bytes, but should have 24"},
    {"vtkZLibDataCompressor",
     {2, 4000000000, 24, 5, 6},
     5,
     11,
     24,
     "the blocks of the array \"u\""},
    {"vtkZLibDataCompressor", {1000000, 24, 0, 11}, 4, 11, 24, "\"u\" end too early"},
    {"vtkZLibDataCompressor", {0, 24, 0, 11}, 4, 11, 24, "has 0 bytes, but should have 24"},
};

static void test_vtu__damage_in_front_of_bytes_is_named(void **state)
{
    (void)state;
    static const unsigned char zeros[64];
    for (size_t i = 0; i < EG_COUNT(fronts); i++) {
        const front *f = &fronts[i];
        unsigned char bytes[256];
        uLongf length = sizeof bytes - 32;
        const size_t sizes = (size_t)f->count * sizeof *f->sizes;
        eg_context *ctx = test_context();
        eg_text text = eg_text_new(ctx);
        eg_snapshot *s = NULL;
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes, f->sizes, sizes);
        if (f->unpacked > 0) {
            assert_int_equal(compress(bytes + sizes, &length, zeros, (uLong)f->unpacked), Z_OK);
            assert_int_equal(length, f->bytes);
        }
        TEST_OK(ctx, eg_text_printf(&text,
                                    "<VTKFile type=\"UnstructuredGrid\" compressor=\"%s\">"
                                    "<UnstructuredGrid><Piece NumberOfPoints=\"3\" "
                                    "NumberOfCells=\"1\"><PointData><DataArray type=\"Float64\" "
                                    "Name=\"u\" format=\"binary\">",
                                    f->compressor));
        put_base64(&text, bytes, sizes + f->bytes);
        TEST_OK(ctx, eg_text_puts(&text, "</DataArray>"));
        TEST_OK(ctx, eg_text_puts(&text, strstr(whole, "</PointData>")));
        if (f->message)
            TEST_FAILS(ctx, EG_ERROR_INPUT, f->message,
                       read_bytes(ctx, text.data, text.length, &s));
        else
            TEST_OK(ctx, read_bytes(ctx, text.data, text.length, &s));
        eg_snapshot_destroy(&s);
        eg_text_free(&text);
        test_context_free(&ctx);
    }
}

/* Cells that are triangles or tetrahedra of these points, by VTK's type. */
static void test_vtu__cells_that_do_not_fit_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *offsets, *types, *message;
    } cells[] = {{"3 6", "5 69", NULL},
                 {"6 6", "69 69", "cell 1, a triangle, has 0 nodes"},
                 {"6 12", "69 5", "cell 1, a linear triangle, has 6 nodes"},
                 {"3 7", "5 10", "cells of two and of three dimensions, triangle and tetrahedron"},
                 {"7 14", "69 69", "cell 0, a triangle, has 7 nodes"}};
    for (size_t i = 0; i < EG_COUNT(cells); i++) {
        const long count = strtol(strchr(cells[i].offsets, ' '), NULL, 10);
        eg_context *ctx = test_context();
        eg_text text = eg_text_new(ctx);
        eg_snapshot *s = NULL;
        TEST_OK(ctx, eg_text_puts(&text, "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid>"
                                         "<Piece NumberOfPoints=\"1\" NumberOfCells=\"2\"><Points>"
                                         "<DataArray type=\"Int8\" NumberOfComponents=\"3\">0 0 0"
                                         "</DataArray></Points><Cells>"
                                         "<DataArray type=\"Int8\" Name=\"connectivity\">"));
        for (long k = 0; k < count; k++)
            TEST_OK(ctx, eg_text_puts(&text, "0 "));
        TEST_OK(ctx, eg_text_printf(&text,
                                    "</DataArray><DataArray type=\"Int8\" Name=\"offsets\">%s"
                                    "</DataArray><DataArray type=\"Int8\" Name=\"types\">%s"
                                    "</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>",
                                    cells[i].offsets, cells[i].types));
        if (cells[i].message)
            TEST_FAILS(ctx, EG_ERROR_INPUT, cells[i].message,
                       read_bytes(ctx, text.data, text.length, &s));
        else
            TEST_OK(ctx, read_bytes(ctx, text.data, text.length, &s));
        eg_snapshot_destroy(&s);
        eg_text_free(&text);
        test_context_free(&ctx);
    }
}

/* Hexahedra of degree 10 whose nodes are all the one point, with fields: some kilobytes. */
static void test_vtu__a_small_file_cannot_take_much_memory(void **state)
{
    (void)state;
    static const struct {
        int cells, fields;
        const char *message;
    } sizes[] = {{50, 1, NULL}, {1000, 8, "more than a file of this size can mean"}};
    for (size_t k = 0; k < EG_COUNT(sizes); k++) {
        const int cells = sizes[k].cells;
        eg_context *ctx = test_context();
        eg_text text = eg_text_new(ctx);
        eg_snapshot *s = NULL;
        TEST_OK(ctx, eg_text_printf(&text,
                                    "<VTKFile type=\"UnstructuredGrid\" "
                                    "compressor=\"vtkZLibDataCompressor\"><UnstructuredGrid>"
                                    "<Piece NumberOfPoints=\"1\" NumberOfCells=\"%d\">"
                                    "<PointData>",
                                    cells));
        for (int i = 0; i < sizes[k].fields; i++)
            TEST_OK(ctx,
                    eg_text_printf(&text, "<DataArray type=\"Int8\" Name=\"%d\">1</DataArray>", i));
        TEST_OK(ctx,
                eg_text_puts(&text, "</PointData><Points><DataArray NumberOfComponents=\"3\" "
                                    "type=\"Int8\">0 0 0</DataArray></Points><Cells><DataArray "
                                    "type=\"Int8\" Name=\"connectivity\" format=\"binary\">"));
        put_zeros(&text, 1331 * (size_t)cells);
        TEST_OK(ctx,
                eg_text_puts(&text, "</DataArray><DataArray type=\"Int32\" Name=\"offsets\">"));
        for (int i = 1; i <= cells; i++)
            TEST_OK(ctx, eg_text_printf(&text, "%d ", 1331 * i));
        TEST_OK(ctx, eg_text_puts(&text, "</DataArray><DataArray type=\"Int32\" Name=\"types\">"));
        for (int i = 0; i < cells; i++)
            TEST_OK(ctx, eg_text_puts(&text, "72 "));
        TEST_OK(ctx,
                eg_text_puts(&text, "</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>"));
        if (sizes[k].message)
            TEST_FAILS(ctx, EG_ERROR_INPUT, sizes[k].message,
                       read_bytes(ctx, text.data, text.length, &s));
        else
            TEST_OK(ctx, read_bytes(ctx, text.data, text.length, &s));
        eg_snapshot_destroy(&s);
        eg_text_free(&text);
        test_context_free(&ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vtu__damage_is_named_with_its_line),
        cmocka_unit_test(test_vtu__damage_in_front_of_bytes_is_named),
        cmocka_unit_test(test_vtu__cells_that_do_not_fit_are_named),
        cmocka_unit_test(test_vtu__is_refused_cut_off_anywhere),
        cmocka_unit_test(test_vtu__survives_a_change_of_any_byte),
        cmocka_unit_test(test_vtu__a_small_file_cannot_take_much_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77; /* skipped */
}

#endif
