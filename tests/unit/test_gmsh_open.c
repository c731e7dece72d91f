/* The reader of Gmsh files: what it takes from every form of the format. What it refuses is in
 * test_gmsh_malformed.c. */
#include "test.h"

#include "mesh/gmsh/file.h"
#include "mesh/gmsh/types.h"

#include "gmsh_bytes.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>

static eg_gmsh_file *open_text(eg_context *ctx, const char *text)
{
    eg_gmsh_file *file = NULL;
    TEST_OK(ctx, eg_gmsh_open_bytes(ctx, "m", text, strlen(text), &file));
    return file;
}

/* --- the sample in every form ----------------------------------------------------------------- */

static int node_number(int tag)
{
    int number = 0;
    while (sample_tag[number] != tag)
        number++;
    return number;
}

/* Every element of the sample but the point stands in a block of its shape, entity and groups. */
static void check_elements(const eg_gmsh_file *file)
{
    int64_t total = 0;
    for (int i = 0; i < file->block_count; i++)
        total += file->blocks[i].count;
    assert_int_equal(total, SAMPLE_ELEMENTS - 1);
    assert_int_equal(file->block_count, 6);
    for (int i = 1, in_block = 0, b = 0; i < SAMPLE_ELEMENTS; i++) {
        const sample_element *e = &sample_elements[i];
        if (in_block == file->blocks[b].count) {
            in_block = 0;
            b++;
        }
        const eg_gmsh_block *block = &file->blocks[b];
        assert_int_equal(block->tag[in_block], e->tag);
        assert_int_equal(eg_gmsh_type(block->shape, block->order), e->type);
        assert_int_equal(block->np, e->node_count);
        for (int k = 0; k < e->node_count; k++)
            assert_int_equal(block->nodes[in_block * block->np + k], node_number(e->node[k]));
        const eg_gmsh_entity *entity = &file->entities[block->entity];
        assert_int_equal(entity->dim, e->dim);
        assert_int_equal(entity->tag, e->entity);
        assert_int_equal(entity->parent, -1);
        assert_int_equal(entity->physical_count, 1 + (e->group[1] != 0));
        for (int k = 0; k < entity->physical_count; k++)
            assert_int_equal(entity->physical[k], e->group[k]);
        in_block++;
    }
}

static void check_rest(const eg_gmsh_file *file)
{
    static const eg_gmsh_name names[] = {{0, 2, "corner"},
                                         {1, 5, "wall"},
                                         {1, 6, "two sides"},
                                         {1, 8,
                                          "b\xc3\xb6"
                                          "den"},
                                         {2, 9, "fluid"}};
    assert_int_equal(file->name_count, EG_COUNT(names));
    for (size_t i = 0; i < EG_COUNT(names); i++) {
        assert_int_equal(file->names[i].dim, names[i].dim);
        assert_int_equal(file->names[i].tag, names[i].tag);
        assert_string_equal(file->names[i].name, names[i].name);
    }
    assert_int_equal(file->node_count, SAMPLE_NODES);
    for (int i = 0; i < SAMPLE_NODES; i++) {
        assert_int_equal(file->node_tag[i], sample_tag[i]);
        assert_memory_equal(&file->x[3 * i], sample_x[i], sizeof sample_x[i]);
    }
    assert_int_equal(file->link_count, 1);
    const eg_gmsh_link *link = file->links;
    assert_int_equal(link->dim, 1);
    assert_int_equal(link->entity_tag, 2);
    assert_int_equal(link->master_tag, 4);
    assert_non_null(link->affine);
    assert_memory_equal(link->affine, sample_affine, sizeof sample_affine);
    assert_int_equal(link->count, 2); /* of the third pair no node is there */
    assert_int_equal(link->pair[0], node_number(100));
    assert_int_equal(link->pair[1], node_number(7));
    assert_int_equal(link->pair[2], node_number(40));
    assert_int_equal(link->pair[3], node_number(12));
}

/* A block's place is where its first element stands. */
static void check_places(const gmsh_bytes *b, const eg_gmsh_file *file)
{
    for (int i = 0; i < file->block_count; i++) {
        const char *at = b->data;
        const eg_gmsh_block *block = &file->blocks[i];
        for (int64_t line = 1; !b->binary && line < block->place; line++)
            at = strchr(at, '\n') + 1;
        if (!b->binary) {
            assert_int_equal(strtol(at, NULL, 10), block->tag[0]);
            continue;
        }
        at += block->place;
        const int low = b->swapped ? (b->version == 22 ? 4 : b->size_bytes) - 1 : 0;
        assert_int_equal(at[low], block->tag[0]);
    }
}

static void check_sample(const gmsh_bytes *b)
{
    eg_context *ctx = test_context();
    eg_gmsh_file *file = NULL;
    TEST_OK(ctx, eg_gmsh_open_bytes(ctx, "sample", b->data, b->length, &file));
    assert_string_equal(file->path, "sample");
    assert_int_equal(file->version, b->version);
    assert_int_equal(file->binary, b->binary);
    assert_int_equal(file->swapped, b->swapped);
    check_rest(file);
    check_elements(file);
    check_places(b, file);
    assert_string_equal(test_log, "");
    eg_gmsh_close(&file);
    assert_null(file);
    test_context_free(&ctx);
}

static void test_gmsh_open__every_form_of_a_file_says_the_same(void **state)
{
    (void)state;
    gmsh_for_each_sample(check_sample);
}

/* --- elements --------------------------------------------------------------------------------- */

/* A file with one element of a type, its nodes numbered backwards. */
static void put_one_element(gmsh_bytes *b, int type, int dim, int np)
{
    const bool old = b->version == 22;
    gmsh_put_format(b);
    gmsh_put_text(b, "$Nodes\n");
    if (old) {
        gmsh_put_count(b, np);
    } else {
        for (int i = 0; i < 4; i++)
            gmsh_put_size(b, (uint64_t[]){1, (uint64_t)np, 1, (uint64_t)np}[i]);
        gmsh_put_newline(b);
        for (int i = 0; i < 3; i++)
            gmsh_put_int(b, (int[]){dim, 1, 0}[i]);
        gmsh_put_size(b, (uint64_t)np);
        gmsh_put_newline(b);
        for (int i = 0; i < np; i++) {
            gmsh_put_size(b, (uint64_t)i + 1);
            gmsh_put_newline(b);
        }
    }
    for (int i = 0; i < np; i++) {
        if (old) gmsh_put_int(b, i + 1);
        for (int d = 0; d < 3; d++)
            gmsh_put_real(b, i + 0.1 * d);
        gmsh_put_newline(b);
    }
    gmsh_put_end(b, "Nodes");
    gmsh_put_text(b, "$Elements\n");
    if (old) {
        gmsh_put_count(b, 1);
        for (int i = 0; i < 3; i++) /* text: tag, type, tags; binary: type, elements, tags */
            gmsh_put_int(b, (int[]){b->binary ? type : 77, b->binary ? 1 : type, 0}[i]);
        if (b->binary) gmsh_put_int(b, 77);
    } else {
        for (int i = 0; i < 4; i++)
            gmsh_put_size(b, (uint64_t[]){1, 1, 77, 77}[i]);
        gmsh_put_newline(b);
        for (int i = 0; i < 3; i++)
            gmsh_put_int(b, (int[]){dim, 1, type}[i]);
        gmsh_put_size(b, 1);
        gmsh_put_newline(b);
        gmsh_put_size(b, 77);
    }
    for (int i = 0; i < np; i++)
        gmsh_put_size(b, (uint64_t)(np - i));
    gmsh_put_newline(b);
    gmsh_put_end(b, "Elements");
}

static void check_one_element(int form, eg_shape shape, int order)
{
    int8_t lattice[EG_GMSH_NODES_MAX][3];
    const int np = eg_gmsh_nodes(shape, order, lattice);
    gmsh_bytes b = {.version = form & 1 ? 22 : 41, .binary = form & 2, .size_bytes = 8};
    eg_context *ctx = test_context();
    eg_gmsh_file *file = NULL;
    put_one_element(&b, eg_gmsh_type(shape, order), eg_shape_get_info(shape)->dim, np);
    TEST_OK(ctx, eg_gmsh_open_bytes(ctx, "m", b.data, b.length, &file));
    assert_int_equal(file->block_count, 1);
    const eg_gmsh_block *block = file->blocks;
    assert_int_equal(block->shape, shape);
    assert_int_equal(block->order, order);
    assert_int_equal(block->np, np);
    assert_int_equal(block->count, 1);
    assert_int_equal(block->tag[0], 77);
    for (int i = 0; i < np; i++)
        assert_int_equal(block->nodes[i], np - 1 - i);
    if (form & 1) /* no tags, no entity */
        assert_int_equal(block->entity, -1);
    else
        assert_int_equal(file->entities[block->entity].physical_count, 0);
    eg_gmsh_close(&file);
    test_context_free(&ctx);
    gmsh_bytes_free(&b);
}

static void test_gmsh_open__all_shapes_and_orders_are_read(void **state)
{
    (void)state;
    int count = 0;
    for (int form = 0; form < 4; form++) {
        for (int s = 0; s < EG_SHAPE_COUNT; s++) {
            for (int order = 1; order <= EG_GMSH_ORDER_MAX; order++) {
                if (!eg_gmsh_type((eg_shape)s, order)) continue;
                check_one_element(form, (eg_shape)s, order);
                count++;
            }
        }
    }
    assert_int_equal(count, 4 * 49); /* there is no hexahedron of order 10 */
}

static void test_gmsh_open__types_are_known_by_one_name_or_none(void **state)
{
    (void)state;
    for (int type = -1; type < 200; type++) {
        const char *advice = NULL;
        eg_gmsh_type_info info = {0};
        const bool read = eg_gmsh_find_type(type, &info);
        const bool named = eg_gmsh_type_name(type, &advice) != NULL;
        assert_false(read && named);
        assert_non_null(advice);
        /* Gmsh has the types 1 to 140 but for three of high orders. */
        if (type >= 1 && type <= 140 && (type < 76 || type > 78)) assert_true(read || named);
        if (type < 1 || type > 140) assert_false(read || named);
    }
}

#define HEAD_22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define NODES_22 "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n"

static void test_gmsh_open__elements_of_22_are_gathered_by_type_and_entity(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_gmsh_file *file = open_text(ctx, HEAD_22 NODES_22 "$Elements\n6\n"
                                                         "1 2 2 7 1 1 2 3\n"  /* a */
                                                         "2 1 2 7 1 1 2\n"    /* b: a line */
                                                         "3 2 2 7 1 1 3 4\n"  /* a */
                                                         "4 2 2 8 1 1 2 4\n"  /* c: a group */
                                                         "5 2 2 7 2 2 3 4\n"  /* d: an entity */
                                                         "6 2 2 -7 1 1 2 4\n" /* a */
                                                         "$EndElements\n");
    assert_int_equal(file->block_count, 4);
    static const int64_t counts[] = {3, 1, 1, 1}, places[] = {13, 14, 16, 17};
    for (int b = 0; b < 4; b++) {
        assert_int_equal(file->blocks[b].count, counts[b]);
        assert_int_equal(file->blocks[b].place, places[b]);
    }
    static const int64_t tags[] = {1, 3, 6};
    assert_memory_equal(file->blocks[0].tag, tags, sizeof tags);
    static const int32_t nodes[] = {0, 1, 2, 0, 2, 3, 0, 1, 3};
    assert_memory_equal(file->blocks[0].nodes, nodes, sizeof nodes);
    assert_int_equal(file->entities[file->blocks[3].entity].tag, 2);
    eg_gmsh_close(&file);
    test_context_free(&ctx);
}

static void
test_gmsh_open__what_22_writes_twice_is_one_only_in_another_group_of_its_entity(void **state)
{
    (void)state;
    static const struct {
        const char *second;
        int elements, groups;
    } cases[] = {
        {"2 2 2 8 1 1 2 3", 1, 2},  /* another group */
        {"1 2 2 8 1 1 2 3", 1, 2},  /* and the same tag */
        {"2 2 2 8 1 3 2 1", 1, 2},  /* seen from behind */
        {"2 2 2 -8 1 1 2 3", 1, 2}, /* which the sign may tell */
        {"2 2 2 7 1 1 2 3", 2, 1},  /* the same group: an element upon another */
        {"2 2 2 8 2 1 2 3", 2, 1},  /* another entity */
        {"2 2 2 8 1 1 2 4", 2, 1},  /* other nodes */
        {"2 2 2 8 1 1 1 4", 2, 1},  /* of the same sum */
        {"2 2 2 0 1 1 2 3", 2, 1},  /* no group */
        {"2 1 2 8 1 1 2", 2, 1},    /* another type */
    };
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        char text[512];
        eg_context *ctx = test_context();
        snprintf(text, sizeof text,
                 HEAD_22 NODES_22 "$Elements\n2\n1 2 2 7 1 1 2 3\n%s\n$EndElements\n",
                 cases[i].second);
        eg_gmsh_file *file = open_text(ctx, text);
        int64_t elements = 0;
        for (int b = 0; b < file->block_count; b++)
            elements += file->blocks[b].count;
        assert_int_equal(elements, cases[i].elements);
        const eg_gmsh_entity *entity = &file->entities[file->blocks[0].entity];
        assert_int_equal(entity->physical_count, cases[i].groups);
        assert_int_equal(entity->physical[0], 7);
        if (cases[i].groups > 1) assert_int_equal(entity->physical[1], 8);
        eg_gmsh_close(&file);
        test_context_free(&ctx);
    }
}

/* Nodes in another order are the same element if its sides are the same: of the 24 orders of a
 * quadrilateral's nodes that holds for 8, the other 16 cross over. */
static void test_gmsh_open__what_22_writes_twice_is_one_only_if_its_sides_are_the_same(void **state)
{
    (void)state;
    int same = 0;
    for (int order = 0; order < 24; order++) {
        int left[4] = {1, 2, 3, 4}, n[4];
        for (int i = 0, rest = order; i < 4; rest /= 4 - i, i++) {
            n[i] = left[rest % (4 - i)];
            for (int k = rest % (4 - i); k < 3; k++)
                left[k] = left[k + 1];
        }
        char text[512];
        eg_context *ctx = test_context();
        snprintf(text, sizeof text,
                 HEAD_22 NODES_22
                 "$Elements\n2\n1 3 2 7 1 1 2 3 4\n2 3 2 8 1 %d %d %d %d\n$EndElements\n",
                 n[0], n[1], n[2], n[3]);
        eg_gmsh_file *file = open_text(ctx, text);
        const bool opposite = abs(n[0] - n[2]) == 2; /* as 1 and 3, 2 and 4 are */
        assert_int_equal(file->block_count, opposite ? 1 : 2);
        same += opposite;
        eg_gmsh_close(&file);
        test_context_free(&ctx);
    }
    assert_int_equal(same, 8);
}

static void test_gmsh_open__a_point_stands_in_a_file_of_22_once_for_each_of_its_groups(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_gmsh_file *file =
        open_text(ctx, HEAD_22 NODES_22
                  "$Elements\n3\n1 15 2 5 1 2\n1 15 2 6 1 2\n2 2 2 7 1 1 2 3\n$EndElements\n");
    assert_int_equal(file->block_count, 1);
    eg_gmsh_close(&file);
    test_context_free(&ctx);
}

/* --- entities --------------------------------------------------------------------------------- */

#define HEAD_41 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES_41 "$Nodes\n1 4 1 4\n2 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n"

static void test_gmsh_open__parts_have_the_groups_of_their_parents_and_seams_have_none(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_gmsh_file *file = open_text(
        ctx, HEAD_41
        "$Entities\n0 1 1 0\n1 0 0 0 1 1 0 1 5 0\n1 0 0 0 1 1 0 2 9 10 1 1\n$EndEntities\n"
        "$PartitionedEntities\n2\n1\n77 1\n0 2 2 0\n"
        "1 1 1 1 2 0 0 0 1 1 0 1 5 0\n"
        "8 2 1 2 1 2 0 0 0 1 1 0 2 9 10 0\n"
        "1 2 1 1 1 0 0 0 1 1 0 2 9 10 1 1\n"
        "2 2 1 1 2 0 0 0 1 1 0 0 1 8\n"
        "$EndPartitionedEntities\n" NODES_41 "$Elements\n5 4 1 4\n2 1 3 0\n"
        "1 1 1 1\n1 1 2\n1 8 1 1\n2 1 3\n2 1 2 1\n3 1 2 3\n2 2 2 1\n4 1 3 4\n$EndElements\n");
    assert_int_equal(file->entity_count, 6);
    assert_int_equal(file->block_count, 4);
    static const int counts[] = {1, 0, 2, 2}, parents[] = {0, 1, 1, 1}, dims[] = {1, 1, 2, 2};
    for (int b = 0; b < 4; b++) {
        const eg_gmsh_entity *entity = &file->entities[file->blocks[b].entity];
        assert_int_equal(entity->dim, dims[b]);
        assert_int_equal(entity->physical_count, counts[b]);
        assert_int_equal(entity->parent, parents[b]);
    }
    /* The last names no groups of its own: those of its parent are its. */
    const eg_gmsh_entity *last = &file->entities[file->blocks[3].entity];
    assert_int_equal(last->physical[0], 9);
    assert_int_equal(last->physical[1], 10);
    eg_gmsh_close(&file);
    test_context_free(&ctx);
}

/* --- sections and lines ----------------------------------------------------------------------- */

static void test_gmsh_open__unknown_sections_are_skipped_wherever_they_stand(void **state)
{
    (void)state;
    static const char other[] = "$Comments\nanything: $Nodes 12 \xff\n$EndCommentsNot\n "
                                "$EndComments\n$Nodes\n5\n$EndNodes\n$EndComments  \n";
    for (int form = 0; form < 4; form++) {
        gmsh_bytes b = {.version = form & 1 ? 22 : 41, .binary = form & 2, .size_bytes = 8};
        gmsh_put_text(&b, other);
        gmsh_put_format(&b);
        gmsh_put_text(&b, other);
        gmsh_put_sample_names(&b);
        if (b.version == 41) gmsh_put_sample_entities(&b);
        gmsh_put_text(&b, "$NodeData\n");
        gmsh_put(&b, "\0\1\n$End\n\n$EndNode\n", 19);
        gmsh_put_text(&b, "\n$EndNodeData\n");
        gmsh_put_sample_nodes(&b);
        gmsh_put_text(&b, "\n\n  $NodeData\n$EndNodeData\n"); /* such sections may come twice */
        if (b.version == 41)
            gmsh_put_sample_elements_41(&b);
        else
            gmsh_put_sample_elements_22(&b);
        gmsh_put_sample_periodic(&b);
        gmsh_put_text(&b, other);
        eg_context *ctx = test_context();
        eg_gmsh_file *file = NULL;
        TEST_OK(ctx, eg_gmsh_open_bytes(ctx, "m", b.data, b.length, &file));
        check_rest(file);
        check_elements(file);
        eg_gmsh_close(&file);
        test_context_free(&ctx);
        gmsh_bytes_free(&b);
    }
}

/* Replaces every newline by `newline`. */
static char *with_newlines(const char *text, const char *newline)
{
    char *copy = malloc(strlen(text) * (strlen(newline) + 1) + 1), *to = copy;
    assert_non_null(copy);
    for (; *text; text++) {
        if (*text == '\n')
            to = stpcpy(to, newline);
        else
            *to++ = *text;
    }
    *to = '\0';
    return copy;
}

static void test_gmsh_open__ends_of_lines_blanks_and_blank_lines_do_not_matter(void **state)
{
    (void)state;
    static const char *const newlines[] = {"\r\n", "\n\n", " \t\n \n\t"};
    for (int version = 22; version <= 41; version += 19) {
        for (size_t i = 0; i < EG_COUNT(newlines); i++) {
            gmsh_bytes b = {.version = version, .size_bytes = 8};
            gmsh_put_sample(&b);
            char *text = with_newlines(b.data, newlines[i]);
            eg_context *ctx = test_context();
            eg_gmsh_file *file = open_text(ctx, text);
            check_rest(file);
            check_elements(file);
            eg_gmsh_close(&file);
            test_context_free(&ctx);
            free(text);
            gmsh_bytes_free(&b);
        }
    }
}

static void test_gmsh_open__periodic_links_need_no_mapping(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HEAD_22 NODES_22 "$Elements\n0\n$EndElements\n$Periodic\n1\n1 2 4\n1\n2 1\n$EndPeriodic\n",
        HEAD_41 NODES_41
        "$Elements\n0 0 0 0\n$EndElements\n$Periodic\n1\n1 2 4\n0\n1\n2 1\n$EndPeriodic\n"};
    for (size_t i = 0; i < EG_COUNT(texts); i++) {
        eg_context *ctx = test_context();
        eg_gmsh_file *file = open_text(ctx, texts[i]);
        assert_int_equal(file->link_count, 1);
        assert_null(file->links[0].affine);
        assert_int_equal(file->links[0].count, 1);
        assert_int_equal(file->links[0].pair[0], 1);
        assert_int_equal(file->links[0].pair[1], 0);
        assert_int_equal(file->block_count, 0);
        eg_gmsh_close(&file);
        test_context_free(&ctx);
    }
}

static void test_gmsh_open__tags_may_be_as_sparse_as_they_like(void **state)
{
    (void)state;
    static const char *const stride[] = {"", "00", "0000000", "000000000000000000"};
    for (size_t i = 0; i < EG_COUNT(stride); i++) {
        char text[1024];
        const char *z = stride[i];
        snprintf(text, sizeof text,
                 HEAD_41
                 "$Nodes\n1 4 1 9223372036854775807\n2 1 0 4\n2%s\n4%s\n1%s\n3%s\n0 0 0\n1 0 "
                 "0\n1 1 0\n0 1 0\n$EndNodes\n$Elements\n1 2 1 9223372036854775807\n2 1 2 "
                 "2\n8%s 2%s 4%s 1%s\n5%s 2%s 1%s 3%s\n$EndElements\n",
                 z, z, z, z, z, z, z, z, z, z, z, z);
        eg_context *ctx = test_context();
        eg_gmsh_file *file = open_text(ctx, text);
        static const int32_t nodes[] = {0, 1, 2, 0, 2, 3};
        assert_memory_equal(file->blocks[0].nodes, nodes, sizeof nodes);
        assert_int_equal(file->node_tag[3], 3 * (int64_t)pow(10, (double)strlen(z)));
        eg_gmsh_close(&file);
        test_context_free(&ctx);
    }
}

static void test_gmsh_open__tags_beyond_the_announced_range_are_a_warning(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_gmsh_file *file = open_text(ctx, HEAD_41 NODES_41 "$Elements\n2 3 5 6\n"
                                                         "2 1 2 2\n5 1 2 3\n7 1 3 4\n"
                                                         "2 2 2 1\n8 1 2 4\n$EndElements\n");
    assert_string_equal(test_log, "m: $Elements announces tags from 5 to 6, but has 7\n");
    eg_gmsh_close(&file);
    test_context_free(&ctx);
}

/* --- what Gmsh writes ------------------------------------------------------------------------- */

/* What all forms of a mesh have in common: in version 2.2 blocks are divided otherwise, an element
 * may be seen from behind, and the seams of a partition are not there. */
typedef struct digest {
    int64_t elements[EG_SHAPE_COUNT], groups, nodes;
} digest;

static digest digest_of(const eg_gmsh_file *file)
{
    digest d = {0};
    for (int b = 0; b < file->block_count; b++) {
        const eg_gmsh_block *block = &file->blocks[b];
        const eg_gmsh_entity *entity = &file->entities[block->entity];
        if (entity->physical_count == 0) continue;
        d.elements[block->shape] += block->count;
        for (int k = 0; k < entity->physical_count; k++)
            d.groups += block->count * entity->physical[k];
        for (int64_t i = 0; i < block->count * block->np; i++)
            d.nodes += file->node_tag[block->nodes[i]] * (block->order + (int)block->shape);
    }
    return d;
}

static eg_gmsh_file *open_kept(eg_context *ctx, const char *mesh, const char *form)
{
    char path[PATH_MAX];
    eg_gmsh_file *file = NULL;
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/gmsh/%s-%s", EG_TEST_SOURCE_DIR, mesh, form);
    TEST_OK(ctx, eg_gmsh_open(ctx, path, &file));
    return file;
}

static void test_gmsh_open__gmsh_writes_the_same_mesh_in_four_forms(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        eg_shape shape;
        int elements, faces, order, links; /* links in version 2.2 */
    } meshes[] = {
        {"tri1", EG_SHAPE_TRI, 2, 4, 1, 1},       {"tri2", EG_SHAPE_TRI, 2, 4, 2, 1},
        {"tri3", EG_SHAPE_TRI, 2, 4, 3, 1},       {"quad1", EG_SHAPE_QUAD, 1, 4, 1, 1},
        {"quad2", EG_SHAPE_QUAD, 1, 4, 2, 1},     {"quad3", EG_SHAPE_QUAD, 1, 4, 3, 1},
        {"tet1", EG_SHAPE_TET, 6, 12, 1, 1},      {"tet2", EG_SHAPE_TET, 6, 12, 2, 1},
        {"hex1", EG_SHAPE_HEX, 1, 6, 1, 1},       {"hex2", EG_SHAPE_HEX, 1, 6, 2, 1},
        {"parametric", EG_SHAPE_TRI, 2, 4, 2, 1}, {"parts", EG_SHAPE_TRI, 2, 4, 1, 1},
    };
    static const char *const forms[] = {"22t", "22b", "41t", "41b"};
    for (size_t m = 0; m < EG_COUNT(meshes); m++) {
        eg_context *ctx = test_context();
        eg_gmsh_file *first = open_kept(ctx, meshes[m].name, forms[0]);
        const digest d = digest_of(first);
        assert_int_equal(d.elements[meshes[m].shape], meshes[m].elements);
        assert_int_equal(d.elements[eg_shape_get_info(meshes[m].shape)->face_shape],
                         meshes[m].faces);
        assert_int_equal(first->blocks[0].order, meshes[m].order);
        assert_int_equal(first->link_count, meshes[m].links);
        for (size_t f = 1; f < EG_COUNT(forms); f++) {
            eg_gmsh_file *file = open_kept(ctx, meshes[m].name, forms[f]);
            const digest other = digest_of(file);
            assert_memory_equal(&d, &other, sizeof d);
            assert_int_equal(file->node_count, first->node_count);
            for (int64_t i = 0; i < 3 * (int64_t)file->node_count; i++)
                assert_true(fabs(file->x[i] - first->x[i]) < 1e-15);
            assert_true(file->link_count >= first->link_count);
            eg_gmsh_close(&file);
        }
        assert_string_equal(test_log, "");
        eg_gmsh_close(&first);
        test_context_free(&ctx);
    }
}

/* --- files ------------------------------------------------------------------------------------ */

/* Longer than the window through which files are read, several times, with tokens across its
 * ends. */
static void put_long_file(gmsh_bytes *b, int nodes)
{
    uint64_t seed = 1;
    eg_text text = {0};
    eg_context *ctx = NULL;
    assert_int_equal(eg_context_create(NULL, &ctx), EG_OK);
    text = eg_text_new(ctx);
    gmsh_put_text(b, HEAD_22 "$Comments\n");
    for (int i = 0; i < 1500000; i++) /* one line */
        eg_text_puts(&text, "x");
    eg_text_printf(&text, "\n$EndComments\n$Nodes\n%d\n", nodes);
    for (int i = 1; i <= nodes; i++) {
        const double x = test_random(&seed), y = test_random(&seed), z = test_random(&seed);
        eg_text_printf(&text, "%d %.17g %.17g %.17g\n", i, x, y, z);
    }
    eg_text_printf(&text, "$EndNodes\n$Elements\n%d\n", nodes - 2);
    for (int i = 1; i <= nodes - 2; i++)
        eg_text_printf(&text, "%d 2 2 1 1 %d %d %d\n", i, i, i + 2, i + 1);
    eg_text_puts(&text, "$EndElements\n");
    gmsh_put(b, text.data, text.length);
    eg_text_free(&text);
    eg_context_destroy(&ctx);
}

static void test_gmsh_open__a_long_file_says_what_its_bytes_say(void **state)
{
    (void)state;
    enum { NODES = 40000 };
    char directory[PATH_MAX], path[PATH_MAX + 16];
    gmsh_bytes b = {.version = 22};
    eg_context *ctx = test_context();
    eg_gmsh_file *a = NULL, *c = NULL;
    test_directory_create(directory);
    snprintf(path, sizeof path, "%s/long.msh", directory);
    put_long_file(&b, NODES);
    assert_true(b.length > (size_t)4 << 20);
    TEST_OK(ctx, eg_file_write_atomic(ctx, path, b.data, b.length, 0600, false));
    TEST_OK(ctx, eg_gmsh_open(ctx, path, &a));
    TEST_OK(ctx, eg_gmsh_open_bytes(ctx, path, b.data, b.length, &c));
    assert_int_equal(a->node_count, NODES);
    assert_memory_equal(a->x, c->x, 3 * NODES * sizeof *a->x);
    assert_memory_equal(a->node_tag, c->node_tag, NODES * sizeof *a->node_tag);
    assert_int_equal(a->block_count, 1);
    assert_int_equal(a->blocks[0].count, NODES - 2);
    assert_memory_equal(a->blocks[0].nodes, c->blocks[0].nodes, 3 * (NODES - 2) * sizeof(int32_t));
    assert_int_equal(a->blocks[0].place, c->blocks[0].place);
    assert_int_equal(a->blocks[0].place, 3 + 3 + 2 + NODES + 1 + 2 + 1);
    uint64_t seed = 1; /* the numbers are those that were written */
    for (int i = 0; i < 3 * NODES; i++)
        assert_true(a->x[i] == test_random(&seed));
    eg_gmsh_close(&a);
    eg_gmsh_close(&c);
    /* A line far behind in the file is named as such. */
    b.data[b.length - 3] = '\n';
    TEST_OK(ctx, eg_file_write_atomic(ctx, path, b.data, b.length, 0600, false));
    char place[64];
    snprintf(place, sizeof place, "long.msh:%d: in $Elements",
             3 + 3 + 2 + NODES + 1 + 2 + NODES - 1);
    TEST_FAILS(ctx, EG_ERROR_INPUT, place, eg_gmsh_open(ctx, path, &a));
    assert_null(a);
    test_directory_remove(directory);
    gmsh_bytes_free(&b);
    test_context_free(&ctx);
}

static void test_gmsh_open__bytes_are_counted_over_a_long_binary_file(void **state)
{
    (void)state;
    enum { NODES = 70000, WRONG = 69999 };
    char directory[PATH_MAX], path[PATH_MAX + 16], place[64];
    gmsh_bytes b = {.version = 22, .binary = true, .size_bytes = 8};
    eg_context *ctx = test_context();
    eg_gmsh_file *file = NULL;
    eg_text records = eg_text_new(ctx);
    gmsh_put_format(&b);
    gmsh_put_text(&b, "$Nodes\n70000\n");
    for (int32_t i = 1; i <= NODES; i++) {
        const double x[3] = {i, 0, i == WRONG ? NAN : 0};
        TEST_OK(ctx, eg_text_add(&records, (const char *)&i, sizeof i));
        TEST_OK(ctx, eg_text_add(&records, (const char *)x, sizeof x));
    }
    snprintf(place, sizeof place, "long.msh: byte %zu: in $Nodes, node 69999: its z is nan",
             b.length + 28 * (size_t)(WRONG - 1) + 20);
    gmsh_put(&b, records.data, records.length);
    test_directory_create(directory);
    snprintf(path, sizeof path, "%s/long.msh", directory);
    TEST_OK(ctx, eg_file_write_atomic(ctx, path, b.data, b.length, 0600, false));
    TEST_FAILS(ctx, EG_ERROR_INPUT, place, eg_gmsh_open(ctx, path, &file));
    test_directory_remove(directory);
    eg_text_free(&records);
    gmsh_bytes_free(&b);
    test_context_free(&ctx);
}

static void test_gmsh_open__what_is_no_file_is_an_error_and_no_hang(void **state)
{
    (void)state;
    char directory[PATH_MAX], path[PATH_MAX + 16];
    eg_context *ctx = test_context();
    eg_gmsh_file *file = NULL;
    test_directory_create(directory);
    snprintf(path, sizeof path, "%s/pipe.msh", directory);
    TEST_FAILS(ctx, EG_ERROR_IO, path, eg_gmsh_open(ctx, path, &file));
    assert_int_equal(mkfifo(path, 0600), 0);
    TEST_FAILS(ctx, EG_ERROR_IO, "not a regular file", eg_gmsh_open(ctx, path, &file));
    TEST_FAILS(ctx, EG_ERROR_IO, "not a regular file", eg_gmsh_open(ctx, directory, &file));
    assert_null(file);
    test_directory_remove(directory);
    test_context_free(&ctx);
}

static eg_status open_on(eg_context *ctx, void *user)
{
    const gmsh_bytes *b = user;
    eg_gmsh_file *file = NULL;
    eg_status status = eg_gmsh_open_bytes(ctx, "m", b->data, b->length, &file);
    assert_int_equal(status == EG_OK, file != NULL);
    eg_gmsh_close(&file);
    return status;
}

static void sweep(const gmsh_bytes *b)
{
    test_allocation_sweep(open_on, (void *)b);
}

static void test_gmsh_open__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    gmsh_for_each_sample(sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gmsh_open__every_form_of_a_file_says_the_same),
        cmocka_unit_test(test_gmsh_open__all_shapes_and_orders_are_read),
        cmocka_unit_test(test_gmsh_open__types_are_known_by_one_name_or_none),
        cmocka_unit_test(test_gmsh_open__elements_of_22_are_gathered_by_type_and_entity),
        cmocka_unit_test(
            test_gmsh_open__what_22_writes_twice_is_one_only_in_another_group_of_its_entity),
        cmocka_unit_test(
            test_gmsh_open__what_22_writes_twice_is_one_only_if_its_sides_are_the_same),
        cmocka_unit_test(
            test_gmsh_open__a_point_stands_in_a_file_of_22_once_for_each_of_its_groups),
        cmocka_unit_test(
            test_gmsh_open__parts_have_the_groups_of_their_parents_and_seams_have_none),
        cmocka_unit_test(test_gmsh_open__unknown_sections_are_skipped_wherever_they_stand),
        cmocka_unit_test(test_gmsh_open__ends_of_lines_blanks_and_blank_lines_do_not_matter),
        cmocka_unit_test(test_gmsh_open__periodic_links_need_no_mapping),
        cmocka_unit_test(test_gmsh_open__tags_may_be_as_sparse_as_they_like),
        cmocka_unit_test(test_gmsh_open__tags_beyond_the_announced_range_are_a_warning),
        cmocka_unit_test(test_gmsh_open__gmsh_writes_the_same_mesh_in_four_forms),
        cmocka_unit_test(test_gmsh_open__a_long_file_says_what_its_bytes_say),
        cmocka_unit_test(test_gmsh_open__bytes_are_counted_over_a_long_binary_file),
        cmocka_unit_test(test_gmsh_open__what_is_no_file_is_an_error_and_no_hang),
        cmocka_unit_test(test_gmsh_open__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
