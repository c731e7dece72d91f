/* What the reader of Gmsh files refuses, where it says the fault is, and what memory it takes
 * before it knows. Files that are well formed but no mesh are in test_gmsh_assemble.c. */
#include "test.h"

#include "mesh/gmsh/file.h"

#include "gmsh_bytes.h"

#include <math.h>
#include <time.h>

/* --- memory: the most that was ever taken at once --------------------------------------------- */

typedef struct meter {
    size_t now, most;
} meter;

#define MEMORY_LEAST ((size_t)1 << 18) /* which a file of any length may take */
#define METER_HEAD 16                  /* keeps blocks aligned; their size stands there */

static void *meter_reallocate(void *user, void *block, size_t bytes)
{
    meter *m = user;
    char *old = block ? (char *)block - METER_HEAD : NULL;
    size_t before = 0;
    if (old) memcpy(&before, old, sizeof before);
    char *moved = bytes < SIZE_MAX - METER_HEAD ? realloc(old, bytes + METER_HEAD) : NULL;
    if (!moved) return NULL;
    memcpy(moved, &bytes, sizeof bytes);
    m->now += bytes - before;
    if (m->now > m->most) m->most = m->now;
    return moved + METER_HEAD;
}

static void meter_release(void *user, void *block)
{
    meter *m = user;
    size_t bytes = 0;
    if (!block) return;
    memcpy(&bytes, (char *)block - METER_HEAD, sizeof bytes);
    m->now -= bytes;
    free((char *)block - METER_HEAD);
}

/* What refusing any of the files here may take: a second of this process and 100 MiB. */
#define MEMORY_MOST ((size_t)100 << 20)
#if defined(__has_feature) && !defined(__SANITIZE_ADDRESS__)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SECONDS_MOST 10.0
#else
#define SECONDS_MOST 1.0
#endif

/* Failures are told one by one, and fail the test at its end. */
static int failures;

#define report(...) (failures++, print_error(__VA_ARGS__), print_error("\n"))

static int begin_test(void **state)
{
    (void)state;
    failures = 0;
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    return failures > 0;
}

/* Opens bytes that must be refused, with a message that has all of `parts`, and with no more memory
 * than a multiple of the bytes. */
static void expect_refusal(const char *bytes, size_t length, const char *place, const char *part)
{
    meter m = {0};
    eg_context *ctx = NULL;
    eg_gmsh_file *file = NULL;
    eg_context_options options = eg_context_defaults();
    options.allocator =
        (eg_allocator){.reallocate = meter_reallocate, .release = meter_release, .user = &m};
    assert_int_equal(eg_context_create(&options, &ctx), EG_OK);
    const size_t before = m.most;
    char *copy = malloc(length + 1); /* of exactly its size, for the address sanitizer */
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    const clock_t start = clock();
    eg_status status = eg_gmsh_open_bytes(ctx, "m", copy, length, &file);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    const char *message = eg_context_error(ctx);
    if (status != EG_ERROR_INPUT || !strstr(message, part) ||
        strncmp(message, place, strlen(place)) != 0)
        report("expected \"%s … %s\", but: %s: %s", place, part, eg_status_text(status),
               status == EG_OK ? "" : message);
    assert_null(file);
    if (seconds > SECONDS_MOST || m.most > MEMORY_MOST)
        report("%g s and %zu bytes for a file of %zu: %s", seconds, m.most, length, message);
    if (m.most - before > 64 * length + MEMORY_LEAST)
        report("%zu bytes for a file of %zu: %s", m.most - before, length, message);
    free(copy);
    eg_context_destroy(&ctx);
    assert_int_equal(m.now, 0);
}

/* --- text ------------------------------------------------------------------------------------- */

typedef struct edit {
    const char *find, *replace; /* once in the file */
    const char *place, *message;
} edit;

static void expect_edits(const char *base, size_t count, const edit *edits)
{
    eg_context *ctx = test_context();
    eg_gmsh_file *file = NULL;
    TEST_OK(ctx, eg_gmsh_open_bytes(ctx, "m", base, strlen(base), &file));
    eg_gmsh_close(&file);
    test_context_free(&ctx);
    for (size_t i = 0; i < count; i++) {
        const edit *e = &edits[i];
        const char *at = strstr(base, e->find);
        if (!at || strstr(at + 1, e->find)) fail_msg("\"%s\" is not there once", e->find);
        gmsh_bytes b = {0};
        gmsh_put(&b, base, (size_t)(at - base));
        gmsh_put_text(&b, e->replace);
        gmsh_put_text(&b, at + strlen(e->find));
        expect_refusal(b.data, b.length, e->place, e->message);
        gmsh_bytes_free(&b);
    }
}

static const char text_41[] =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"                       /* 1 */
    "$PhysicalNames\n2\n1 5 \"wall\"\n2 9 \"fluid\"\n"             /* 4 */
    "$EndPhysicalNames\n"                                          /* 8 */
    "$Entities\n0 1 1 0\n1 0 0 0 1 1 0 1 5 0\n"                    /* 9 */
    "1 0 0 0 1 1 0 1 9 1 1\n$EndEntities\n"                        /* 12 */
    "$PartitionedEntities\n1\n1\n3 1\n0 1 0 0\n"                   /* 14 */
    "6 1 1 1 1 0 0 0 1 1 0 1 5 0\n$EndPartitionedEntities\n"       /* 19 */
    "$Nodes\n2 4 1 4\n1 1 1 3\n1\n2\n3\n"                          /* 21 */
    "0 0 0 0\n1 0 0 .5\n1 1 0 nan\n2 1 0 1\n4\n0 1 0\n$EndNodes\n" /* 27 */
    "$Elements\n4 5 1 5\n1 1 1 2\n1 1 2\n2 2 3\n2 1 2 2\n"         /* 34 */
    "3 1 2 3\n4 1 3 4\n2 1 3 0\n1 6 1 1\n5 3 4\n$EndElements\n"    /* 40 */
    "$Periodic\n1\n1 1 6\n16 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\n"    /* 46 */
    "1\n4 2\n$EndPeriodic\n";                                      /* 50 */

static const edit edits_41[] = {
    /* the format */
    {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n", "", "m:1: in $PhysicalNames",
     "stands before $MeshFormat, not behind it"},
    {"4.1 0 8", "4.0 0 8", "m:2: in $MeshFormat",
     "version 4 of the format, but 2.2 and 4.1 are read: convert it with \"gmsh m -save -format "
     "msh41 -o new.msh\""},
    {"4.1 0 8", "3 0 8", "m:2: in $MeshFormat", "version 3"},
    {"4.1 0 8", "nan 0 8", "m:2: in $MeshFormat", "the version of the format is nan"},
    {"4.1 0 8", "4.1 2 8", "m:2: in $MeshFormat", "whether the file is binary is 2"},
    {"4.1 0 8", "4.1 1 8", "m: byte 20: in $MeshFormat", "the integer 1 of a binary file does not"},
    {"4.1 0 8", "4.1 0 16", "m:2: in $MeshFormat", "the size of the data is 16: it is 8 or 4"},
    {"4.1 0 8", "4.1 0", "m:2: in $MeshFormat", "the line ends where the size of the data is"},
    {"4.1 0 8", "4.1 0 8 1", "m:2: in $MeshFormat", "\"1\" stands where the line should end"},
    {"$EndMeshFormat", "$EndMeshFormats", "m:3: in $MeshFormat",
     "\"$EndMeshFormats\" stands where $EndMeshFormat is expected"},
    /* the names */
    {"$PhysicalNames\n2", "$PhysicalNames\n3", "m:8: in $PhysicalNames, name 3",
     "\"$EndPhysicalNames\" stands where the dimension of a physical group is expected"},
    {"$PhysicalNames\n2", "$PhysicalNames\n1", "m:7: in $PhysicalNames",
     "\"2\" stands where $EndPhysicalNames is expected: do the counts agree?"},
    {"1 5 \"wall\"", "4 5 \"wall\"", "m:6: in $PhysicalNames, name 1",
     "the dimension of a physical group is 4: it is one of 0 to 3"},
    {"1 5 \"wall\"", "1 0 \"wall\"", "m:6: in $PhysicalNames, physical group 0", "not positive"},
    {"1 5 \"wall\"", "2 9 \"wall\"", "m:7: in $PhysicalNames, physical group 9",
     "the group of dimension 2 has two names"},
    {"\"wall\"", "wall", "m:6: in $PhysicalNames, physical group 5", "a name in quotes"},
    {"\"wall\"", "\"wall\" 1", "m:6: in $PhysicalNames, physical group 5", "a name in quotes"},
    {"\"wall\"", "\"wall", "m:6: in $PhysicalNames, physical group 5", "a name in quotes"},
    {"\"wall\"", "\"\"", "m:6: in $PhysicalNames, physical group 5", "the name is empty"},
    {"\"wall\"", "\"wa\x01ll\"", "m:6: in $PhysicalNames, physical group 5",
     "the control character 0x01"},
    /* the entities */
    {"0 1 1 0\n1 0 0 0 1 1 0 1 5", "0 1 99999999999999 0\n1 0 0 0 1 1 0 1 5", "m:13: in $Entities",
     "\"$EndEntities\" stands where the tag of an entity is expected"},
    {"0 1 1 0\n1 0 0 0 1 1 0 1 5", "0 -1 1 0\n1 0 0 0 1 1 0 1 5", "m:10: in $Entities",
     "the number of curves is -1: it is out of range"},
    {"0 1 1 0\n1 0 0 0 1 1 0 1 5 0", "0 2 1 0\n1 0 0 0 1 1 0 1 5 0\n1 0 0 0 1 1 0 0 0",
     "m:12: in $Entities, curve 1", "given twice"},
    {"1 0 0 0 1 1 0 1 9 1 1", "1 0 0 0 1 1 0 1 0 1 1", "m:12: in $Entities, surface 1",
     "0 cannot be the tag of a physical group"},
    {"1 0 0 0 1 1 0 1 9 1 1", "1 0 0 0 1 1 0 7777777777777777777 9 1 1",
     "m:12: in $Entities, surface 1", "7777777777777777777 tags are announced, but only"},
    {"1 0 0 0 1 1 0 1 9 1 1", "1 0 0 0 1 1 0 1 9 4611686018427387905 1",
     "m:12: in $Entities, surface 1", "4611686018427387905 tags are announced, but only"},
    {"1 0 0 0 1 1 0 1 9 1 1", "1 0 0 0 1 1 0 1 9 2 1", "m:12: in $Entities, surface 1",
     "the line ends where an entity around it is expected"},
    {"$EndEntities\n", "", "m:13: in $Entities",
     "\"$PartitionedEntities\" stands where $EndEntities is expected"},
    {"6 1 1 1 1 0", "6 1 4 1 1 0", "m:19: in $PartitionedEntities, curve 6",
     "its parent, curve 4, is not in $Entities"},
    {"6 1 1 1 1 0", "6 5 1 1 1 0", "m:19: in $PartitionedEntities, curve 6",
     "the dimension of its parent is 5"},
    /* the nodes */
    {"2 4 1 4", "2 5 1 4", "m:33: in $Nodes", "5 nodes are announced, but the blocks have 4"},
    {"2 4 1 4", "2 3 1 4", "m:30: in $Nodes, block 2",
     "the block has 1, but 0 of the 3 announced are left"},
    {"2 4 1 4", "1 4 1 4", "m:30: in $Nodes", "4 nodes are announced, but the blocks have 3"},
    {"2 4 1 4", "2 4611686018427387904 1 4", "m:22: in $Nodes",
     "4611686018427387904 nodes are announced, but only"},
    {"2 4 1 4", "2 60 1 4", "m:22: in $Nodes", "60 nodes are announced, but only"},
    {"2 4 1 4", "60 4 1 4", "m:22: in $Nodes", "60 blocks are announced, but only"},
    {"2 4 1 4", "2 99999999999999999999 1 4", "m:22: in $Nodes",
     "\"99999999999999999999\" stands where their number in all is expected"},
    {"2 4 1 4", "9223372036854775807 4 1 4", "m:22: in $Nodes",
     "9223372036854775807 blocks are announced"},
    {"1 1 1 3", "1 1 1 9223372036854775807", "m:23: in $Nodes, block 1",
     "the block has 9223372036854775807, but 4 of the 4 announced are left"},
    {"1 1 1 3", "1 1 2 3", "m:23: in $Nodes, block 1", "whether there are parameters is 2"},
    {"1 1 1 3", "4 1 1 3", "m:23: in $Nodes, block 1", "the dimension of the entity is 4"},
    {"1 1 1 3", "2 1 1 3", "m:27: in $Nodes, node 1", "the line ends where its parameter"},
    {"1\n2\n3\n0 0", "1\n-2\n3\n0 0", "m:25: in $Nodes, block 1",
     "the tag of a node is -2: it is out of range"},
    {"1\n2\n3\n0 0", "1\n0\n3\n0 0", "m:25: in $Nodes, block 1",
     "the tag of a node is 0: tags are positive"},
    {"1\n2\n3\n0 0", "1\n1\n3\n0 0", "m:21: in $Nodes, node 1",
     "the tag is given twice, at (0, 0, 0) and at (1, 0, 0)"},
    {"1\n2\n3\n0 0", "1\n5555555555555\n5555555555555\n0 0", "m:21: in $Nodes, node 5555555555555",
     "the tag is given twice, at (1, 0, 0) and at (1, 1, 0)"},
    {"1\n2\n3\n0 0", "1\n2\n0 0", "m:26: in $Nodes, block 1",
     "the tag of a node is 0: tags are positive"},
    {"1 0 0 .5", "1 0", "m:28: in $Nodes, node 2", "the line ends where its z is expected"},
    {"1 0 0 .5", "1 0 0 .5 7", "m:28: in $Nodes, node 2", "\"7\" stands where the line should end"},
    {"1 0 0 .5", "1 nan 0 .5", "m:28: in $Nodes, node 2", "its y is nan: it is not finite"},
    {"1 0 0 .5", "1 0 -inf .5", "m:28: in $Nodes, node 2", "its z is -inf: it is not finite"},
    {"1 0 0 .5", "1 0 1e309 .5", "m:28: in $Nodes, node 2", "its z is 1e309: it is not finite"},
    {"1 0 0 .5", "1 0 0 nano", "m:28: in $Nodes, node 2", "\"nano\" stands where its parameter"},
    {"1 0 0 .5", "1 0,5 0 .5", "m:28: in $Nodes, node 2", "\"0,5\" stands where its y is"},
    {"1 0 0 .5", "1 0x1p3 0 .5", "m:28: in $Nodes, node 2", "\"0x1p3\" stands where its y is"},
    {"1 0 0 .5", "1 1d0 0 .5", "m:28: in $Nodes, node 2", "\"1d0\" stands where its y is"},
    /* the elements */
    {"$Elements\n4 5", "$Elements\n4 6", "m:45: in $Elements",
     "6 elements are announced, but the blocks have 5"},
    {"$Elements\n4 5", "$Elements\n5 5", "m:45: in $Elements, block 5",
     "\"$EndElements\" stands where the dimension of the entity is expected"},
    {"$Elements\n4 5", "$Elements\n4 2305843009213693953", "m:35: in $Elements",
     "2305843009213693953 elements are announced, but only"},
    {"$Elements\n4 5", "$Elements\n4 80", "m:35: in $Elements", "80 elements are announced, but"},
    {"2 1 2 2", "2 1 2 1537228672809129302", "m:39: in $Elements, block 2", "the block has"},
    {"2 1 2 2", "2 1 6 2", "m:39: in $Elements, block 2",
     "elements of type 6 (a prism) cannot be read: make a mesh of tetrahedra or of hexahedra"},
    {"2 1 2 2", "2 1 7 2", "m:39: in $Elements, block 2", "type 7 (a pyramid)"},
    {"2 1 2 2", "2 1 16 2", "m:39: in $Elements, block 2",
     "(an incomplete (serendipity) quadrilateral) cannot be read: make the mesh with "
     "Mesh.SecondOrderIncomplete = 0"},
    {"2 1 2 2", "2 1 0 2", "m:39: in $Elements, block 2", "type 0 (unknown to Gmsh)"},
    {"2 1 2 2", "2 1 -5 2", "m:39: in $Elements, block 2", "type -5 (unknown to Gmsh)"},
    {"2 1 2 2", "2 1 2147483648 2", "m:39: in $Elements, block 2", "out of range"},
    {"2 1 2 2", "2 1 4 2", "m:39: in $Elements, block 2",
     "elements of type 4 cannot lie in surface 1"},
    {"2 1 2 2", "4 1 2 2", "m:39: in $Elements, block 2", "the dimension of the entity is 4"},
    {"2 1 2 2", "2 8 2 2", "m:39: in $Elements, block 2",
     "its entity, surface 8, is not in $Entities"},
    {"2 1 2 2", "2 1 2 -2", "m:39: in $Elements, block 2", "their number in the block is -2"},
    {"3 1 2 3", "3 1 2 99", "m:40: in $Elements, element 3", "its node 99 is not in $Nodes"},
    {"3 1 2 3", "3 1 2 -3", "m:40: in $Elements, element 3", "the tag of a node is -3"},
    {"3 1 2 3", "3 1 2 0", "m:40: in $Elements, element 3", "the tag of a node is 0"},
    {"3 1 2 3", "3 1 2", "m:40: in $Elements, element 3",
     "the line ends where the tag of a node is expected"},
    {"3 1 2 3", "3 1 2 3 4", "m:40: in $Elements, element 3", "\"4\" stands where the line should"},
    {"3 1 2 3", "3 1 2 3.5", "m:40: in $Elements, element 3", "\"3.5\" stands where the tag of"},
    {"3 1 2 3", "0 1 2 3", "m:40: in $Elements, record 1", "the tag of an element is 0"},
    {"3 1 2 3", "2 1 2 3", "m:40: in $Elements, element 2",
     "the tag is given twice, once among the elements from here on"},
    {"3 1 2 3", "4 1 2 3", "m:40: in $Elements, element 4", "the tag is given twice"},
    {"$EndElements", "$EndNodes", "m:45: in $Elements", "\"$EndNodes\" stands where $EndElements"},
    /* periodic entities */
    {"1 1 6\n16", "4 1 6\n16", "m:48: in $Periodic, link 1", "the dimension of a periodic entity"},
    {"1 1 6\n16", "1 6 6\n16", "m:48: in $Periodic, curve 6 and its master curve 6",
     "an entity cannot be a copy of itself"},
    {"1 1 6\n16", "1 1 6\n15", "m:49: in $Periodic, curve 1 and its master curve 6",
     "has 15 values: it has none or 16"},
    {"16 1 0 0 0 0 1", "16 1 0 0 inf 0 1", "m:49: in $Periodic, curve 1 and its master curve 6",
     "a value of the affine mapping is inf"},
    {"1\n4 2\n", "4611686018427387905\n4 2\n", "m:51: in $Periodic, curve 1 and its master curve 6",
     "4611686018427387905 pairs of nodes are announced, but only"},
    {"1\n4 2\n", "1\n4\n", "m:51: in $Periodic, curve 1 and its master curve 6",
     "the line ends where the tag of a node is"},
    {"1\n4 2\n", "1\n4 0\n", "m:51: in $Periodic, curve 1 and its master curve 6",
     "the tag of a node is 0"},
    /* sections */
    {"$EndPeriodic\n", "$EndPeriodic\nmore\n", "m:53: ", "\"more\" stands outside of all sections"},
    {"$EndPeriodic\n", "$EndPeriodic\n$EndNodes\n",
     "m:53: ", "$EndNodes ends a section that was not begun"},
    {"$EndPeriodic\n", "$EndPeriodic\n$Comments\n\n", "m:53: in $Comments",
     "no line $EndComments follows"},
    {"$EndPeriodic\n", "$EndPeriodic\n$Nodes\n$EndNodes\n", "m:53: in $Nodes",
     "the section is there twice"},
    {"$EndPeriodic\n", "$EndPeriodic\n$Elements\n$EndElements\n", "m:53: in $Elements",
     "the section is there twice"},
    {"$EndPeriodic\n", "$EndPeriodic\n$MeshFormat\n4.1 0 8\n$EndMeshFormat\n",
     "m:53: in $MeshFormat", "the section is there twice"},
    {"$Nodes", "$Node", "m:21: in $Node", "no line $EndNode follows"},
    {"$Elements", "$Nodes", "m:34: in $Nodes", "the section is there twice"},
};

static void test_gmsh_malformed__text_of_41_is_refused_where_it_is_wrong(void **state)
{
    (void)state;
    expect_edits(text_41, EG_COUNT(edits_41), edits_41);
}

static const char text_22[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 "
    "0\n$EndNodes\n"
    "$Elements\n4\n1 15 2 0 1 1\n2 1 2 5 1 1 2\n3 2 2 9 1 1 2 3\n4 2 2 9 1 1 3 4\n$EndElements\n"
    "$Periodic\n1\n1 1 6\nAffine 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\n1\n4 2\n$EndPeriodic\n";

static const edit edits_22[] = {
    {"2.2 0 8", "2.2 0 4", "m:2: in $MeshFormat", "the size of the data is 4: it is 8"},
    {"2.2 0 8", "2.1 0 8", "m:2: in $MeshFormat", "version 2.1 of the format"},
    {"2.2 0 8", "2.2 1 8", "m: byte 20: in $MeshFormat", "the integer 1 of a binary file does not"},
    {"$Nodes\n4", "$Nodes\n5", "m:10: in $Nodes, record 5",
     "\"$EndNodes\" stands where the tag of a node is expected"},
    {"$Nodes\n4", "$Nodes\n3", "m:9: in $Nodes", "\"4\" stands where $EndNodes is expected"},
    {"$Nodes\n4", "$Nodes\n2147483647", "m:5: in $Nodes", "2147483647 nodes are announced, but"},
    {"$Nodes\n4", "$Nodes\n-4", "m:5: in $Nodes", "the number of nodes is -4: it is out of range"},
    {"3 1 1 0", "3 1 1", "m:8: in $Nodes, node 3", "the line ends where its z is expected"},
    {"3 1 1 0", "3 1 1 0 0", "m:8: in $Nodes, node 3", "\"0\" stands where the line should end"},
    {"3 1 1 0", "2 1 1 0", "m:4: in $Nodes, node 2",
     "the tag is given twice, at (1, 0, 0) and at (1, 1, 0)"},
    {"3 1 1 0", "-3 1 1 0", "m:8: in $Nodes, record 3",
     "the tag of a node is -3: tags are positive"},
    {"3 1 1 0", "3000000000 1 1 0", "m:8: in $Nodes, record 3",
     "is 3000000000: it is out of range"},
    {"3 1 1 0", "3 1 1 1e999", "m:8: in $Nodes, node 3", "its z is 1e999: it is not finite"},
    {"$Elements\n4", "$Elements\n5", "m:17: in $Elements, record 5",
     "\"$EndElements\" stands where the tag of an element is expected"},
    {"$Elements\n4", "$Elements\n3", "m:16: in $Elements", "\"4\" stands where $EndElements is"},
    {"$Elements\n4", "$Elements\n1152921504606846977", "m:12: in $Elements",
     "1152921504606846977 elements are announced, but only"},
    {"3 2 2 9 1 1 2 3", "3 2 -1 9 1 1 2 3", "m:15: in $Elements, element 3",
     "the number of its tags is -1: it is negative"},
    {"3 2 2 9 1 1 2 3", "3 2 2000000000 9 1 1 2 3", "m:15: in $Elements, element 3",
     "2000000000 tags are announced, but only"},
    {"3 2 2 9 1 1 2 3", "3 2 3 9 1 1 2 3", "m:15: in $Elements, element 3",
     "the line ends where the tag of a node is expected"},
    {"3 2 2 9 1 1 2 3", "3 2 1 9 1 1 2 3", "m:15: in $Elements, element 3",
     "\"3\" stands where the line should end"},
    {"3 2 2 9 1 1 2 3", "3 141 2 9 1 1 2 3", "m:15: in $Elements, element 3",
     "elements of type 141 (unknown to Gmsh) cannot be read"},
    {"3 2 2 9 1 1 2 3", "3 11 2 9 1 1 2 3", "m:15: in $Elements, element 3",
     "the line ends where the tag of a node is expected"},
    {"3 2 2 9 1 1 2 3", "3 2 2 9 1 1 2 5", "m:15: in $Elements, element 3",
     "its node 5 is not in $Nodes"},
    {"3 2 2 9 1 1 2 3", "3 2 2 9 1 1 2 3\n5 2 2 9 1 1 2 4", "m:17: in $Elements", "\"4\" stands"},
    {"3 2 2 9 1 1 2 3", "4 2 2 9 1 1 2 3", "m:15: in $Elements, element 4",
     "the tag is given twice"},
    {"3 2 2 9 1 1 2 3", "2 2 2 9 1 1 2 3", "m:15: in $Elements, element 2",
     "the tag is given twice"},
    {"1 15 2 0 1 1\n", "2 15 2 0 1 1\n", "m:13: in $Elements, element 2",
     "the tag is given twice, here and to another element"},
    {"$Elements\n4\n1 15 2 0 1 1\n", "$Elements\n5\n1 15 2 0 1 1\n1 15 2 0 1 2\n",
     "m:14: in $Elements, element 1", "the tag is given twice, here and to another element"},
    /* the same element in another group, under a tag that yet another one has */
    {"$Elements\n4\n1 15 2 0 1 1\n2 1 2 5 1 1 2\n",
     "$Elements\n5\n1 15 2 0 1 1\n2 1 2 5 1 1 2\n3 1 2 6 1 2 1\n", "m:15: in $Elements, element 3",
     "the tag is given twice, here and to another element"},
    {"1 15 2 0 1 1\n", "1 15 2 0 1 8\n", "m:13: in $Elements, element 1", "its node 8 is not in"},
    {"2 1 2 5 1 1 2", "2 1 2 -2147483648 1 1 2", "m:14: in $Elements, element 2",
     "-2147483648 cannot be the tag of a physical group"},
    {"Affine 1 0", "Affin 1 0", "m:21: in $Periodic, curve 1 and its master curve 6",
     "\"Affin\" stands where the number of pairs of nodes is expected"},
    {"Affine 1 0", "Affine 1", "m:21: in $Periodic, curve 1 and its master curve 6",
     "the line ends where a value of the affine mapping is expected"},
    {"\n1\n4 2\n", "\n2\n4 2\n", "m:24: in $Periodic, curve 1 and its master curve 6",
     "\"$EndPeriodic\" stands where the tag of a node is expected"},
    {"$Periodic\n1\n", "$Periodic\n2\n", "m:24: in $Periodic, link 2",
     "\"$EndPeriodic\" stands where the dimension of a periodic entity is expected"},
};

static void test_gmsh_malformed__text_of_22_is_refused_where_it_is_wrong(void **state)
{
    (void)state;
    expect_edits(text_22, EG_COUNT(edits_22), edits_22);
}

static void test_gmsh_malformed__what_is_no_gmsh_file_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *message;
    } cases[] = {
        {"", "m:1: ", "the file ends without a section $MeshFormat"},
        {"\n\n", "m:3: ", "the file ends without a section $MeshFormat"},
        {"Point(1) = {0, 0, 0};\n", "m:1: ",
         "\"Point(1)\" stands outside of all sections, where \"$\" and a name are expected"},
        {"\xef\xbb\xbf$MeshFormat\n", "m:1: ", "begins with the byte-order mark of UTF-8"},
        {"\xff\xfe$", "m:1: ", "begins with the byte-order mark of UTF-16"},
        {"\xfe\xff", "m:1: ", "begins with the byte-order mark of UTF-16"},
        {"\x1f\x8b\x08\x01", "m:1: ", "\"????\" stands outside of all sections"},
        {"$NOD\n1\n1 0 0 0\n$ENDNOD\n", "m:2: ", "version 1 of the format"},
        {"$MeshFormat", "m:1: in $MeshFormat", "the file ends where the version of the format is"},
        {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n", "m:4: ", "ends without a section $Nodes"},
        {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n0 0 0 0\n$EndNodes\n",
         "m:7: ", "ends without a section $Elements"},
        {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Elements\n0 0 0 0\n$EndElements\n",
         "m:4: in $Elements", "the section stands before $Nodes, not behind it"},
        {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Periodic\n0\n$EndPeriodic\n", "m:4: in $Periodic",
         "the section stands before $Nodes, not behind it"},
        {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PartitionedEntities\n", "m:4: in $Part",
         "the section stands before $Entities, not behind it"},
        {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n0 0 0 0\n$EndNodes\n$Elements\n0 0 0 0\n"
         "$EndElements\n$Entities\n",
         "m:10: in $Entities", "the section stands behind $Elements, not before it"},
    };
    for (size_t i = 0; i < EG_COUNT(cases); i++)
        expect_refusal(cases[i].text, strlen(cases[i].text), cases[i].place, cases[i].message);
}

static void test_gmsh_malformed__lines_and_tokens_have_a_longest_length(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after, *place, *message;
    } cases[] = {
        {"$", "\n", "m:1: ", "the line is too long: at most 127 bytes"},
        {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 1 \"",
         "\"\n$EndPhysicalNames\n", "m:6: in $PhysicalNames, physical group 1",
         "the line is too long: at most 511 bytes"},
        {"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n", " 0 0 0\n$EndNodes\n", "m:5: in $Nodes",
         "\"111111111111111111111111111111111111111111111111111111111111...\" stands where"},
        {"$MeshFormat\n", " 0 8\n$EndMeshFormat\n", "m:2: in $MeshFormat",
         "\"111111111111111111111111111111111111111111111111111111111111...\" stands where"},
        {"", "\n", "m:1: ", "...\" stands outside of all sections"},
    };
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        static const size_t lengths[] = {1100, 3 << 20}; /* the window's length lies between them */
        for (size_t k = 0; k < EG_COUNT(lengths); k++) {
            gmsh_bytes b = {0};
            char *token = malloc(lengths[k]);
            assert_non_null(token);
            memset(token, '1', lengths[k]);
            gmsh_put_text(&b, cases[i].before);
            gmsh_put(&b, token, lengths[k]);
            gmsh_put_text(&b, cases[i].after);
            expect_refusal(b.data, b.length, cases[i].place, cases[i].message);
            free(token);
            gmsh_bytes_free(&b);
        }
    }
}

static void test_gmsh_malformed__blanks_count_to_the_length_of_a_line(void **state)
{
    (void)state;
    static const size_t lengths[] = {1100, 3 << 20};
    for (size_t k = 0; k < EG_COUNT(lengths); k++) {
        gmsh_bytes b = {0};
        char *blanks = malloc(lengths[k]);
        assert_non_null(blanks);
        memset(blanks, ' ', lengths[k]);
        gmsh_put_text(&b, "$MeshFormat");
        gmsh_put(&b, blanks, lengths[k]);
        gmsh_put_text(&b, "x\n4.1 0 8\n$EndMeshFormat\n");
        expect_refusal(b.data, b.length, "m:1: ", "the line is too long: at most 127 bytes");
        free(blanks);
        gmsh_bytes_free(&b);
    }
}

static void test_gmsh_malformed__no_entity_is_in_too_many_groups(void **state)
{
    (void)state;
    gmsh_bytes b = {.version = 22, .size_bytes = 8};
    gmsh_put_text(&b,
                  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n2 1 0 0\n$EndNodes\n"
                  "$Elements\n1000\n");
    for (int i = 1; i <= 1000; i++) {
        char line[64];
        snprintf(line, sizeof line, "%d 1 2 %d 1 1 2\n", i, i);
        gmsh_put_text(&b, line);
    }
    gmsh_put_text(&b, "$EndElements\n");
    expect_refusal(b.data, b.length, "m:76: in $Elements, element 65",
                   "it belongs to more than 64 physical groups");
    gmsh_bytes_free(&b);
}

/* --- binary ----------------------------------------------------------------------------------- */

enum { INT = 4, SIZE = 8, REAL = 9 };

typedef struct patch {
    int version;
    const char *section; /* its header with the lines of text that follow */
    int offset;          /* of a value behind that */
    int kind;
    double value; /* negative sizes stand for the largest there are */
    int shift;    /* how much further in the file the fault shows */
    const char *message;
} patch;

static const patch patches[] = {
    {41, "$MeshFormat\n4.1 1 8\n", 0, INT, 2, 0, "the integer 1 of a binary file does not follow"},
    {41, "$Entities\n", 0, SIZE, 1e15, 72, "point 1: the entity is given twice"},
    {41, "$Entities\n", 8, SIZE, -1, 0, "the number of curves is 18446744073709551615: it is out"},
    {41, "$Entities\n", 32 + 28, SIZE, 1e18, 0, "1000000000000000000 tags are announced, but only"},
    {41, "$Nodes\n", 0, SIZE, 1e18, 0, "1000000000000000000 blocks are announced, but only"},
    {41, "$Nodes\n", 0, SIZE, 1, 140, "6 nodes are announced, but the blocks have 3"},
    {41, "$Nodes\n", 8, SIZE, 5e17, 0, "500000000000000000 nodes are announced, but only"},
    {41, "$Nodes\n", 8, SIZE, 5, 152, "the block has 3, but 2 of the 5 announced are left"},
    {41, "$Nodes\n", 8, SIZE, -1, 0, "their number in all is 18446744073709551615"},
    {41, "$Nodes\n", 32, INT, 7, 0, "block 1: the dimension of the entity is 7"},
    {41, "$Nodes\n", 40, INT, 3, 0, "block 1: whether there are parameters is 3: it is 0 or 1"},
    {41, "$Nodes\n", 44, SIZE, 7, 0, "the block has 7, but 6 of the 6 announced are left"},
    {41, "$Nodes\n", 52, SIZE, 0, 0, "the tag of a node is 0: tags are positive"},
    {41, "$Nodes\n", 52, SIZE, 3, -59,
     "node 3: the tag is given twice, at (0, 0, 0) and at (1, 0, 0)"},
    {41, "$Nodes\n", 76, REAL, NAN, 0, "node 7: its x is nan: it is not finite"},
    {41, "$Nodes\n", 92, REAL, INFINITY, 0, "node 7: its z is inf: it is not finite"},
    {41, "$Elements\n", 0, SIZE, 6, 344, "10 elements are announced, but the blocks have 8"},
    {41, "$Elements\n", 8, SIZE, 5e17, 0, "500000000000000000 elements are announced, but only"},
    {41, "$Elements\n", 40, INT, 19, 0, "block 1: elements of type 19 (a pyramid) cannot be read"},
    {41, "$Elements\n", 40, INT, 1, 0, "block 1: elements of type 1 cannot lie in point 1"},
    {41, "$Elements\n", 44, SIZE, 11, 0, "the block has 11, but 10 of the 10 announced are left"},
    {41, "$Elements\n", 60, SIZE, 8, 0, "element 1: its node 8 is not in $Nodes"},
    {41, "$Elements\n", 68 + 20, SIZE, 4, 0, "element 4: the tag is given twice"},
    {41, "$Elements\n", 68 + 20, SIZE, 0, 0, "record 1: the tag of an element is 0"},
    {41, "$Periodic\n", 0, SIZE, 2, 212, "link 2: the dimension of a periodic entity is"},
    {41, "$Periodic\n", 20, SIZE, 12, 0,
     "curve 2 and its master curve 4: the affine mapping has 12 values"},
    {41, "$Periodic\n", 28, REAL, NAN, 0,
     "curve 2 and its master curve 4: a value of the affine mapping is nan"},
    {41, "$Periodic\n", 156, SIZE, 1e18, 0,
     "1000000000000000000 pairs of nodes are announced, but"},
    {22, "$MeshFormat\n2.2 1 8\n", 0, INT, 7, 0, "the integer 1 of a binary file does not follow"},
    {22, "$Nodes\n6\n", 0, INT, -1, 0, "record 1: the tag of a node is -1: tags are positive"},
    {22, "$Nodes\n6\n", 28, INT, 7, -37,
     "node 7: the tag is given twice, at (0, 0, 0) and at (1, 0, 0)"},
    {22, "$Nodes\n6\n", 4, REAL, NAN, 0, "node 7: its x is nan: it is not finite"},
    {22, "$Elements\n12\n", 0, INT, 1000, 0,
     "elements of type 1000 (unknown to Gmsh) cannot be read"},
    {22, "$Elements\n12\n", 4, INT, 0, 0, "0 elements of a type follow, but 12 of 12 are left"},
    {22, "$Elements\n12\n", 4, INT, 13, 0, "13 elements of a type follow, but 12 of 12 are left"},
    {22, "$Elements\n12\n", 8, INT, -2, 0, "the number of its tags is -2: it is negative"},
    {22, "$Elements\n12\n", 8, INT, 1e9, 0, "1000000000 tags are announced, but only"},
    {22, "$Elements\n12\n", 12, INT, 0, 0, "record 1: the tag of an element is 0"},
    {22, "$Elements\n12\n", 32, INT, 99, 0, "element 1: its node 99 is not in $Nodes"},
};

static void apply_patch(gmsh_bytes *b, const patch *p, long *at)
{
    const char *header = memmem(b->data, b->length, p->section, strlen(p->section));
    assert_non_null(header);
    *at = (header - b->data) + (long)strlen(p->section) + p->offset;
    gmsh_bytes value = {.version = 41, .binary = true, .swapped = b->swapped, .size_bytes = 8};
    if (p->kind == INT)
        gmsh_put_int(&value, (int)p->value);
    else if (p->kind == SIZE)
        gmsh_put_size(&value, p->value < 0 ? UINT64_MAX : (uint64_t)p->value);
    else
        gmsh_put_real(&value, p->value);
    memcpy(b->data + *at, value.data, value.length);
    gmsh_bytes_free(&value);
}

static void test_gmsh_malformed__binary_files_are_refused_where_they_are_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(patches); i++) {
        for (int swapped = 0; swapped < 2; swapped++) {
            gmsh_bytes b = {
                .version = patches[i].version, .binary = true, .swapped = swapped, .size_bytes = 8};
            long at = 0;
            gmsh_put_sample(&b);
            apply_patch(&b, &patches[i], &at);
            char place[64];
            snprintf(place, sizeof place, "m: byte %ld: in $", at + patches[i].shift);
            expect_refusal(b.data, b.length, place, patches[i].message);
            gmsh_bytes_free(&b);
        }
    }
}

/* The header says another version, form or size of data than the file has. */
static void lie(const gmsh_bytes *b)
{
    static const char *const headers[] = {"2.2 0 8", "2.2 1 8", "4.1 0 8",
                                          "4.1 1 8", "4.1 0 4", "4.1 1 4"};
    const size_t start = strlen("$MeshFormat\n"), length = strlen(headers[0]);
    for (size_t i = 0; i < EG_COUNT(headers); i++) {
        char *copy = malloc(b->length);
        assert_non_null(copy);
        memcpy(copy, b->data, b->length);
        memcpy(copy + start, headers[i], length);
        /* The size of data means nothing in text. */
        const bool same = memcmp(copy, b->data, start + length - (b->binary ? 0 : 1)) == 0;
        if (!same) expect_refusal(copy, b->length, "m:", "in $");
        free(copy);
    }
}

static void test_gmsh_malformed__a_header_that_lies_is_refused(void **state)
{
    (void)state;
    gmsh_for_each_sample(lie);
}

static void test_gmsh_malformed__binary_files_that_say_they_are_text_are_told_so(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        gmsh_bytes b = {
            .version = i < 2 ? 22 : 41, .binary = true, .swapped = i % 2, .size_bytes = 8};
        gmsh_put_sample(&b);
        b.data[strlen("$MeshFormat\n4.1 ")] = '0';
        expect_refusal(b.data, b.length, "m:3: in $MeshFormat",
                       "the file looks binary, but its header says that it is text");
        gmsh_bytes_free(&b);
    }
}

/* --- all of a file ---------------------------------------------------------------------------- */

/* Without its last byte, which is a newline, a file is still whole; no part of it is. */
static void expect_no_part(const gmsh_bytes *b)
{
    static const char header[] = "$EndElements\n"; /* behind which a file may end */
    const char *last = memmem(b->data, b->length, header, strlen(header));
    assert_non_null(last);
    const size_t whole = (size_t)(last - b->data) + strlen(header);
    for (size_t length = 0; length < b->length - 1; length++)
        if (length != whole && length != whole - 1)
            expect_refusal(b->data, length, length <= 22 || !b->binary ? "m:" : "m: byte ", "");
}

static void test_gmsh_malformed__a_truncated_file_is_refused_wherever_it_ends(void **state)
{
    (void)state;
    gmsh_for_each_sample(expect_no_part);
}

/* Whatever byte is another, the file is refused or read, and all memory comes back. */
static void change_bytes(const gmsh_bytes *b)
{
    static const unsigned char masks[] = {0x01, 0x80, 0xff};
    char *copy = malloc(b->length);
    assert_non_null(copy);
    memcpy(copy, b->data, b->length);
    eg_context *ctx = test_context();
    for (size_t i = 0; i < b->length; i++) {
        for (size_t k = 0; k < EG_COUNT(masks); k++) {
            eg_gmsh_file *file = NULL;
            copy[i] = (char)(b->data[i] ^ masks[k]);
            const eg_status status = eg_gmsh_open_bytes(ctx, "m", copy, b->length, &file);
            if (status != EG_OK) assert_int_equal(status, EG_ERROR_INPUT);
            assert_int_equal(status == EG_OK, file != NULL);
            eg_gmsh_close(&file);
        }
        copy[i] = b->data[i];
    }
    test_context_free(&ctx);
    free(copy);
}

static void test_gmsh_malformed__a_changed_byte_never_does_harm(void **state)
{
    (void)state;
    gmsh_for_each_sample(change_bytes);
}

/* Files of 10 MB that repeat the least of a section, so that each byte costs as much as it can. */
static void test_gmsh_malformed__ten_megabytes_take_no_second(void **state)
{
    (void)state;
#define HEAD_41 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define HEAD_22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define NONE_41 HEAD_41 "$Nodes\n0 0 0 0\n$EndNodes\n"
    static const struct {
        const char *head, *record, *message;
    } files[] = {
        {"", "\n", "the file ends without a section $MeshFormat"},
        {HEAD_41 "$C\n", "\n", "no line $EndC follows"},
        {HEAD_41 "$C\n", "$En\n", "no line $EndC follows"},
        {HEAD_41, "$C\n$EndC\n", "the file ends without a section $Nodes"},
        {HEAD_41 "$PhysicalNames\n99999999\n", "1 %d \"a\"\n", "the file ends where"},
        {HEAD_41 "$Entities\n99999999 0 0 0\n", "%d 0 0 0 0\n", "the file ends where"},
        {HEAD_41 "$Nodes\n999999 999999 1 1\n", "0 1 0 0\n",
         "999999 nodes are announced, but the blocks have 0"},
        {HEAD_22 "$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n500000\n", "%d 15 0 1\n",
         "stands where $EndElements is expected"},
        {NONE_41 "$Elements\n0 0 0 0\n$EndElements\n$Periodic\n99999999\n", "1 1 2\n0\n0\n",
         "the file ends where the dimension of a periodic entity is expected"},
    };
    for (size_t i = 0; i < EG_COUNT(files); i++) {
        enum { LENGTH = 10000000, LINE = 64 };
        char *text = malloc(LENGTH + LINE);
        assert_non_null(text);
        size_t length = (size_t)snprintf(text, LENGTH, "%s", files[i].head);
        for (int k = 1; length < LENGTH; k++)
            length += (size_t)snprintf(text + length, LINE, files[i].record, k);
        expect_refusal(text, length, "m:", files[i].message);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_gmsh_malformed__text_of_41_is_refused_where_it_is_wrong, begin_test, end_test),
        cmocka_unit_test_setup_teardown(
            test_gmsh_malformed__text_of_22_is_refused_where_it_is_wrong, begin_test, end_test),
        cmocka_unit_test_setup_teardown(test_gmsh_malformed__what_is_no_gmsh_file_is_refused,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(test_gmsh_malformed__lines_and_tokens_have_a_longest_length,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(test_gmsh_malformed__blanks_count_to_the_length_of_a_line,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(test_gmsh_malformed__no_entity_is_in_too_many_groups,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(
            test_gmsh_malformed__binary_files_are_refused_where_they_are_wrong, begin_test,
            end_test),
        cmocka_unit_test_setup_teardown(test_gmsh_malformed__a_header_that_lies_is_refused,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(
            test_gmsh_malformed__binary_files_that_say_they_are_text_are_told_so, begin_test,
            end_test),
        cmocka_unit_test_setup_teardown(test_gmsh_malformed__ten_megabytes_take_no_second,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(
            test_gmsh_malformed__a_truncated_file_is_refused_wherever_it_ends, begin_test,
            end_test),
        cmocka_unit_test_setup_teardown(test_gmsh_malformed__a_changed_byte_never_does_harm,
                                        begin_test, end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
