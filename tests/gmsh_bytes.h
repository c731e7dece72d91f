/* Gmsh files made in memory, in every form that the format has, and one small mesh to put into
 * them. Include test.h first.
 *
 *     gmsh_bytes b = {.version = 41, .binary = true, .size_bytes = 8};
 *     gmsh_put_sample(&b);
 *     … b.data, b.length …
 *     gmsh_bytes_free(&b);
 * */
#ifndef EG_TEST_GMSH_BYTES_H
#define EG_TEST_GMSH_BYTES_H

typedef struct gmsh_bytes {
    int version; /* 22 or 41 */
    bool binary;
    bool swapped; /* not this machine's order of bytes */
    int size_bytes;
    bool parametric; /* nodes have parameters */
    char *data;
    size_t length;
} gmsh_bytes;

static inline void gmsh_bytes_free(gmsh_bytes *b)
{
    free(b->data);
    b->data = NULL;
    b->length = 0;
}

static inline void gmsh_put(gmsh_bytes *b, const void *bytes, size_t length)
{
    b->data = realloc(b->data, b->length + length + 1);
    assert_non_null(b->data);
    memcpy(b->data + b->length, bytes, length);
    b->length += length;
    b->data[b->length] = '\0';
}

static inline void gmsh_put_text(gmsh_bytes *b, const char *text)
{
    gmsh_put(b, text, strlen(text));
}

static inline void gmsh_put_value(gmsh_bytes *b, const void *value, size_t bytes)
{
    char copy[8];
    for (size_t i = 0; i < bytes; i++)
        copy[i] = ((const char *)value)[b->swapped ? bytes - 1 - i : i];
    gmsh_put(b, copy, bytes);
}

static inline void gmsh_put_int(gmsh_bytes *b, int32_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%d ", value);
    if (b->binary)
        gmsh_put_value(b, &value, sizeof value);
    else
        gmsh_put_text(b, text);
}

/* A size; in version 2.2 an integer. */
static inline void gmsh_put_size(gmsh_bytes *b, uint64_t value)
{
    char text[32];
    uint32_t narrow = (uint32_t)value;
    snprintf(text, sizeof text, "%llu ", (unsigned long long)value);
    if (!b->binary)
        gmsh_put_text(b, text);
    else if (b->size_bytes == 4 || b->version == 22)
        gmsh_put_value(b, &narrow, sizeof narrow);
    else
        gmsh_put_value(b, &value, sizeof value);
}

static inline void gmsh_put_real(gmsh_bytes *b, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g ", value);
    if (b->binary)
        gmsh_put_value(b, &value, sizeof value);
    else
        gmsh_put_text(b, text);
}

static inline void gmsh_put_newline(gmsh_bytes *b)
{
    if (!b->binary) gmsh_put_text(b, "\n");
}

/* A line with a count, which is text in version 2.2. */
static inline void gmsh_put_count(gmsh_bytes *b, int count)
{
    char text[32];
    snprintf(text, sizeof text, "%d\n", count);
    gmsh_put_text(b, text);
}

static inline void gmsh_put_end(gmsh_bytes *b, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "%s$End%s\n", b->binary ? "\n" : "", name);
    gmsh_put_text(b, text);
}

static inline void gmsh_put_format(gmsh_bytes *b)
{
    char text[64];
    snprintf(text, sizeof text, "$MeshFormat\n%s %d %d\n", b->version == 22 ? "2.2" : "4.1",
             b->binary, b->size_bytes);
    gmsh_put_text(b, text);
    if (b->binary) gmsh_put_int(b, 1);
    gmsh_put_end(b, "MeshFormat");
}

/* --- a mesh ----------------------------------------------------------------------------------- */
/* A square beside two triangles. Curves run below, to the right, above and to the left; the one to
 * the right is a copy of that to the left. The first curve is in two groups, and a point is in
 * one. */

#define SAMPLE_NODES 6
static const int sample_tag[SAMPLE_NODES] = {7, 3, 100, 12, 13, 40};
static const double sample_x[SAMPLE_NODES][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0.1, 0},
                                                 {0, 1, 0}, {1, 1, 0}, {2, 1.1, -1e-30}};
static const double sample_affine[16] = {1, 0, 0, 2, 0, 1, 0, 0.1, 0, 0, 1, 0, 0, 0, 0, 1};

typedef struct sample_element {
    int tag, type, dim, entity;
    int group[2]; /* 0: none */
    int node_count, node[4];
} sample_element;

/* In the order of a file of either version. */
static const sample_element sample_elements[] = {
    {1, 15, 0, 1, {2, 0}, 1, {7}},          {2, 1, 1, 1, {5, 8}, 2, {7, 3}},
    {4, 1, 1, 1, {5, 8}, 2, {3, 100}},      {6, 1, 1, 2, {6, 0}, 2, {100, 40}},
    {7, 1, 1, 3, {5, 0}, 2, {40, 13}},      {8, 1, 1, 3, {5, 0}, 2, {13, 12}},
    {9, 1, 1, 4, {6, 0}, 2, {12, 7}},       {10, 3, 2, 1, {9, 0}, 4, {7, 3, 13, 12}},
    {11, 2, 2, 2, {9, 0}, 3, {3, 100, 13}}, {12, 2, 2, 2, {9, 0}, 3, {100, 40, 13}},
};
#define SAMPLE_ELEMENTS ((int)(sizeof sample_elements / sizeof sample_elements[0]))

static inline void gmsh_put_sample_names(gmsh_bytes *b)
{
    gmsh_put_text(b, "$PhysicalNames\n5\n0 2 \"corner\"\n1 5 \"wall\"\n1 6 \"two sides\"\n1 8 "
                     "\"b\xc3\xb6"
                     "den\"\n2 9 \"fluid\"\n$EndPhysicalNames\n");
}

static inline void gmsh_put_sample_entity(gmsh_bytes *b, int dim, int tag, int group_a, int group_b)
{
    gmsh_put_int(b, tag);
    for (int i = 0; i < (dim == 0 ? 3 : 6); i++)
        gmsh_put_real(b, 0.5);
    gmsh_put_size(b, group_b ? 2 : 1);
    gmsh_put_int(b, group_a);
    if (group_b) gmsh_put_int(b, group_b);
    if (dim > 0) {
        gmsh_put_size(b, 2);
        gmsh_put_int(b, 1);
        gmsh_put_int(b, -2);
    }
    gmsh_put_newline(b);
}

static inline void gmsh_put_sample_entities(gmsh_bytes *b)
{
    static const int counts[] = {1, 4, 2, 0};
    gmsh_put_text(b, "$Entities\n");
    for (int dim = 0; dim < 4; dim++)
        gmsh_put_size(b, (uint64_t)counts[dim]);
    gmsh_put_newline(b);
    gmsh_put_sample_entity(b, 0, 1, 2, 0);
    gmsh_put_sample_entity(b, 1, 1, 5, 8);
    gmsh_put_sample_entity(b, 1, 2, 6, 0);
    gmsh_put_sample_entity(b, 1, 3, 5, 0);
    gmsh_put_sample_entity(b, 1, 4, -6, 0); /* seen from behind */
    gmsh_put_sample_entity(b, 2, 1, 9, 0);
    gmsh_put_sample_entity(b, 2, 2, 9, 0);
    gmsh_put_end(b, "Entities");
}

/* In version 4.1 nodes 0 to 2 lie on a curve, the others on a surface; in 2.2 on a volume, which
 * has no parameters there. */
static inline void gmsh_put_sample_nodes(gmsh_bytes *b)
{
    const bool old = b->version == 22;
    gmsh_put_text(b, old && b->parametric ? "$ParametricNodes\n" : "$Nodes\n");
    if (old) gmsh_put_count(b, SAMPLE_NODES);
    for (int i = 0; !old && i < 4; i++)
        gmsh_put_size(b, (uint64_t[]){2, SAMPLE_NODES, 3, 100}[i]);
    if (!old) gmsh_put_newline(b);
    for (int i = 0; i < SAMPLE_NODES; i++) {
        const int dim = i < 3 ? 1 : old ? 3 : 2;
        if (!old && i % 3 == 0) {
            gmsh_put_int(b, dim);
            gmsh_put_int(b, 1);
            gmsh_put_int(b, b->parametric);
            gmsh_put_size(b, 3);
            gmsh_put_newline(b);
            for (int k = i; k < i + 3; k++) {
                gmsh_put_size(b, (uint64_t)sample_tag[k]);
                gmsh_put_newline(b);
            }
        }
        if (old) gmsh_put_int(b, sample_tag[i]);
        for (int d = 0; d < 3; d++)
            gmsh_put_real(b, sample_x[i][d]);
        if (old && b->parametric) {
            gmsh_put_int(b, dim);
            gmsh_put_int(b, 1);
        }
        for (int d = 0; b->parametric && dim < 3 && d < dim; d++)
            gmsh_put_real(b, 0.25);
        gmsh_put_newline(b);
    }
    gmsh_put_end(b, old && b->parametric ? "ParametricNodes" : "Nodes");
}

/* Every element with a header of its own in binary files; an element in two groups stands there
 * twice. */
static inline void gmsh_put_sample_elements_22(gmsh_bytes *b)
{
    gmsh_put_text(b, "$Elements\n");
    gmsh_put_count(b, SAMPLE_ELEMENTS + 2);
    for (int i = 0; i < SAMPLE_ELEMENTS; i++) {
        const sample_element *e = &sample_elements[i];
        for (int copy = 0; copy < 2 && (copy == 0 || e->group[copy]); copy++) {
            if (b->binary) {
                gmsh_put_int(b, e->type);
                gmsh_put_int(b, 1);
                gmsh_put_int(b, 4);
            }
            gmsh_put_int(b, e->tag + copy);
            if (!b->binary) {
                gmsh_put_int(b, e->type);
                gmsh_put_int(b, 4);
            }
            gmsh_put_int(b, e->group[copy]);
            gmsh_put_int(b, e->entity);
            gmsh_put_int(b, 1); /* one part, which is number 3 */
            gmsh_put_int(b, 3);
            for (int k = 0; k < e->node_count; k++)
                gmsh_put_int(b, e->node[copy ? e->node_count - 1 - k : k]);
            gmsh_put_newline(b);
        }
    }
    gmsh_put_end(b, "Elements");
}

static inline void gmsh_put_sample_elements_41(gmsh_bytes *b)
{
    gmsh_put_text(b, "$Elements\n");
    for (int i = 0; i < 4; i++)
        gmsh_put_size(b, (uint64_t[]){7, SAMPLE_ELEMENTS, 1, 12}[i]);
    gmsh_put_newline(b);
    for (int i = 0, end; i < SAMPLE_ELEMENTS; i = end) {
        const sample_element *e = &sample_elements[i];
        for (end = i + 1; end < SAMPLE_ELEMENTS && sample_elements[end].entity == e->entity &&
                          sample_elements[end].type == e->type;)
            end++;
        gmsh_put_int(b, e->dim);
        gmsh_put_int(b, e->entity);
        gmsh_put_int(b, e->type);
        gmsh_put_size(b, (uint64_t)(end - i));
        gmsh_put_newline(b);
        for (int j = i; j < end; j++) {
            gmsh_put_size(b, (uint64_t)sample_elements[j].tag);
            for (int k = 0; k < e->node_count; k++)
                gmsh_put_size(b, (uint64_t)sample_elements[j].node[k]);
            gmsh_put_newline(b);
        }
    }
    gmsh_put_end(b, "Elements");
}

/* Two pairs, and one of nodes that are not there; wholly text in version 2.2. */
static inline void gmsh_put_sample_periodic(gmsh_bytes *b)
{
    static const uint64_t pairs[][2] = {{100, 7}, {40, 12}, {41, 1000}};
    gmsh_bytes text = *b;
    text.binary = b->binary && b->version == 41;
    gmsh_put_text(&text, "$Periodic\n");
    gmsh_put_size(&text, 1);
    gmsh_put_newline(&text);
    gmsh_put_int(&text, 1);
    gmsh_put_int(&text, 2);
    gmsh_put_int(&text, 4);
    gmsh_put_newline(&text);
    if (b->version == 22)
        gmsh_put_text(&text, "Affine ");
    else
        gmsh_put_size(&text, 16);
    for (int i = 0; i < 16; i++)
        gmsh_put_real(&text, sample_affine[i]);
    gmsh_put_newline(&text);
    gmsh_put_size(&text, 3);
    gmsh_put_newline(&text);
    for (int i = 0; i < 3; i++) {
        gmsh_put_size(&text, pairs[i][0]);
        gmsh_put_size(&text, pairs[i][1]);
        gmsh_put_newline(&text);
    }
    gmsh_put_end(&text, "Periodic");
    b->data = text.data;
    b->length = text.length;
}

static inline void gmsh_put_sample(gmsh_bytes *b)
{
    gmsh_put_format(b);
    gmsh_put_sample_names(b);
    if (b->version == 41) gmsh_put_sample_entities(b);
    gmsh_put_sample_nodes(b);
    if (b->version == 41)
        gmsh_put_sample_elements_41(b);
    else
        gmsh_put_sample_elements_22(b);
    gmsh_put_sample_periodic(b);
}

/* Calls `use` with the sample in every form. */
static inline void gmsh_for_each_sample(void (*use)(const gmsh_bytes *b))
{
    for (int form = 0; form < 32; form++) {
        gmsh_bytes b = {.version = form & 1 ? 22 : 41,
                        .binary = form & 2,
                        .swapped = form & 4,
                        .size_bytes = form & 8 ? 4 : 8,
                        .parametric = form & 16};
        if ((b.swapped && !b.binary) || (b.version == 22 && b.size_bytes == 4)) continue;
        gmsh_put_sample(&b);
        use(&b);
        gmsh_bytes_free(&b);
    }
}

#endif
