/* Where a quantity is measured: lists of elements, and points on them or on their faces.
 *
 * On faces the points of the face's cubature are points of the element's reference shape like any
 * others, so that what serves in the element serves there, too; all faces of a part have one
 * number, so that one table is enough. */
#include "field/quantity_part.h"

/* The least that the cubature's degree is above that of the square of a field. */
#define EXTRA_DEGREE 4

/* --- which elements --------------------------------------------------------------------------- */

/* What is wanted. */
typedef struct selection {
    bool *boundaries; /* [boundary_count] of the mesh */
    bool *groups;     /* [group_count] of the mesh; NULL: all elements */
} selection;

/* Whether the slot at a place of a group holds an element of this rank that is wanted, and so is
 * the boundary at its face (-1: none is asked for). */
static bool takes_part(const eg_space *space, const eg_group *g, int64_t place, int face,
                       const selection *wanted)
{
    const eg_mesh *mesh = space->mesh;
    const int32_t element = g->element_of_slot[place];
    if (element >= mesh->element_count) return false;
    if (space->slot_of_element[element] != g->first_slot + place) return false; /* padding */
    if (wanted->groups && !wanted->groups[mesh->group_of[element]]) return false;
    if (!wanted->boundaries) return true;
    const int32_t next = mesh->neighbour[(int64_t)element * mesh->face_stride + face];
    return next < 0 && wanted->boundaries[-1 - next];
}

/* Fills `count`, `tiles` and `places`. */
static eg_status list_elements(const eg_space *space, const selection *wanted, eg_part *part)
{
    const eg_group *g = &space->groups[part->group];
    const int64_t slots = g->own_tiles * g->lanes;
    int32_t *places = NULL;
    eg_status status = EG_OK;

    for (int64_t place = 0; place < slots; place++)
        part->count += takes_part(space, g, place, part->face, wanted);
    if (part->count == 0) return EG_OK;
    part->tiles = (part->count + g->lanes - 1) / g->lanes;
    const size_t size = (size_t)(part->tiles * g->lanes);
    EG_TRY(eg_new(space->ctx, size, &places));
    size_t n = 0;
    for (int64_t place = 0; place < slots; place++)
        if (takes_part(space, g, place, part->face, wanted)) places[n++] = (int32_t)place;
    for (; n < size; n++)
        places[n] = places[n - 1];
    EG_TRY(eg_buffer_create(space->device, EG_I32, size, &part->places));
    EG_TRY(eg_buffer_upload(part->places, 0, size, places));
done:
    eg_release(space->ctx, &places);
    return status;
}

/* --- which points ----------------------------------------------------------------------------- */

/* The points of a cubature on the part's face. */
static eg_status create_face_points(const eg_space *space, int degree, eg_part *part)
{
    const eg_group *g = &space->groups[part->group];
    const size_t dim = (size_t)g->element->dim;
    eg_part_points *set = &part->cubature;
    eg_cubature *rule = NULL;
    double *r = NULL, *slopes = NULL;
    eg_status status = EG_OK;

    EG_TRY(eg_cubature_create(space->ctx, eg_shape_get_info(g->shape)->face_shape, degree,
                              EG_CUBATURE_BEST, &rule));
    EG_TRY(eg_new(space->ctx, dim * (size_t)rule->count, &r));
    eg_shape_face_points(g->shape, part->face, rule->count, rule->r, r);
    EG_TRY(eg_points_create(space, part->group, rule->count, r, rule->w, &set->points));
    if (g->curved) {
        const size_t size = (dim - 1) * (size_t)rule->count * (size_t)g->geometry->np;
        EG_TRY(eg_new(space->ctx, size, &slopes));
        EG_TRY(eg_group_face_slopes(g, part->face, rule->count, rule->r, slopes));
        EG_TRY(eg_space_upload(space, EG_F64, size, slopes, &set->face_slopes));
    }
done:
    eg_release(space->ctx, &slopes);
    eg_release(space->ctx, &r);
    eg_cubature_destroy(&rule);
    return status;
}

/* The nodes of the group's element, or for a modal basis those of EG_BASIS_LOBATTO. */
static eg_status create_nodes(const eg_space *space, eg_part *part)
{
    const eg_group *g = &space->groups[part->group];
    const bool modal = space->basis == EG_BASIS_MODAL;
    const eg_element *element = g->element;
    eg_part_points *set = &part->nodes;
    eg_element *nodal = NULL;
    eg_status status = EG_OK;

    if (modal) {
        EG_TRY(eg_element_create_bare(space->ctx, g->shape, g->degree, EG_BASIS_LOBATTO, &nodal));
        element = nodal;
    }
    EG_TRY(element->line
               ? eg_points_create_tensor(space, part->group, element->line->np, element->line->r,
                                         NULL, &set->points)
               : eg_points_create(space, part->group, element->np, element->r, NULL, &set->points));
    if (modal) EG_TRY(eg_points_interpolation(set->points, &set->interpolation));
done:
    eg_element_destroy(&nodal);
    return status;
}

static int default_degree(const eg_group *g)
{
    const int more = eg_group_jacobian_degree(g);
    return 2 * g->degree + (more > EXTRA_DEGREE ? more : EXTRA_DEGREE);
}

static eg_status create_points(const eg_space *space, int degree, eg_part *part)
{
    eg_part_points *set = &part->cubature;
    eg_status status = EG_OK;
    if (degree == 0) degree = default_degree(&space->groups[part->group]);
    if (part->face >= 0) {
        EG_TRY(create_face_points(space, degree, part));
    } else {
        EG_TRY(eg_points_create_for_fields(space, part->group, degree, &set->points));
        EG_TRY(create_nodes(space, part));
    }
    EG_TRY(eg_points_interpolation(set->points, &set->interpolation));
done:
    return status;
}

static void free_points(eg_part_points *set)
{
    eg_buffer_destroy(&set->face_slopes);
    eg_product_free(&set->interpolation);
    eg_points_destroy(&set->points);
}

/* --- all parts -------------------------------------------------------------------------------- */

/* Marks the numbers of a list [count] among `most`; `what` they are. */
static eg_status mark(eg_context *ctx, const int *list, int count, int most, const char *what,
                      bool **out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, (size_t)most, out));
    for (int i = 0; i < count; i++) {
        if (list[i] < 0 || list[i] >= most)
            return eg_fail(ctx, EG_ERROR_ARGUMENT, "there is no %s %d: the mesh has %d", what,
                           list[i], most);
        (*out)[list[i]] = true;
    }
done:
    return status;
}

eg_status eg_parts_create(const eg_quantity_options *options, eg_part **out, int *count)
{
    const eg_space *space = options->fields[0]->space;
    const eg_mesh *mesh = space->mesh;
    const bool on_faces = options->boundaries != NULL;
    eg_part *parts = NULL;
    selection wanted = {0};
    int n = 0;
    eg_status status = EG_OK;

    *out = NULL;
    *count = 0;
    if (on_faces)
        EG_TRY(mark(space->ctx, options->boundaries, options->boundary_count, mesh->boundary_count,
                    "boundary", &wanted.boundaries));
    if (options->groups)
        EG_TRY(mark(space->ctx, options->groups, options->group_count, mesh->group_count,
                    "group of elements", &wanted.groups));
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count * (on_faces ? EG_MAX_FACES : 1), &parts));
    for (int group = 0; group < space->group_count; group++) {
        const int faces = space->groups[group].element->faces;
        for (int face = on_faces ? 0 : -1; face < (on_faces ? faces : 0); face++) {
            eg_part *part = &parts[n++];
            *part = (eg_part){.group = group, .face = face};
            EG_TRY(list_elements(space, &wanted, part));
            if (part->count > 0)
                EG_TRY(create_points(space, options->degree, part));
            else
                n--;
        }
    }
    *out = parts;
    *count = n;
    parts = NULL;
done:
    eg_parts_destroy(space, &parts, n);
    eg_release(space->ctx, &wanted.groups);
    eg_release(space->ctx, &wanted.boundaries);
    return status;
}

void eg_parts_destroy(const eg_space *space, eg_part **parts, int count)
{
    for (int i = 0; *parts && i < count; i++) {
        free_points(&(*parts)[i].nodes);
        free_points(&(*parts)[i].cubature);
        eg_buffer_destroy(&(*parts)[i].places);
    }
    eg_release(space->ctx, parts);
}
