/* The sections [mesh.boundary.NAME] of a case: parts of a mesh's boundary that get a name of their own
 * by where they lie. */
#include "mesh/build.h"

#include <stdio.h>
#include <string.h>

/* The longest name, and room for a key of it. */
enum { NAME_BYTES = 64, KEY_BYTES = NAME_BYTES + 32 };

/* The expression that says where boundary `name` is. */
static eg_status find_where(const eg_case *cas, const eg_mesh *mesh, const char *name,
                            const eg_expression **where)
{
    char key[KEY_BYTES];
    if (strlen(name) > NAME_BYTES)
        return eg_case_fail(cas, "mesh.boundary", -1, "names of boundaries have at most %d bytes",
                            NAME_BYTES);
    snprintf(key, sizeof key, "mesh.boundary.%s.where", name);
    if (!eg_case_has(cas, key)) {
        snprintf(key, sizeof key, "mesh.boundary.%s", name);
        return eg_case_fail(cas, key, -1,
                            "it needs the key \"where\", an expression that is true at the centres "
                            "of its faces");
    }
    *where = eg_case_expression(cas, key);
    for (int v = mesh->dim; v < EG_VARIABLE_COUNT; v++)
        if (eg_expression_uses(*where, EG_VARIABLE_X + v))
            return eg_case_fail(cas, key, -1, "the boundary of this mesh may not depend on %c",
                                "xyzt"[v]);
    return EG_OK;
}

/* Gives the faces of the boundary at which `where` is true number `boundary`, and returns their
 * number; those below `first` had their names before. */
static eg_status move_faces(const eg_case *cas, eg_mesh *mesh, const eg_expression *where,
                            int boundary, int first, int64_t *moved)
{
    *moved = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            int32_t *behind = &mesh->neighbour[(int64_t)e * mesh->face_stride + f];
            double at[EG_VARIABLE_COUNT] = {0};
            char place[EG_PLACE_BYTES], key[KEY_BYTES];
            if (*behind >= 0) continue;
            eg_mesh_face_centre(mesh, e, f, at + EG_VARIABLE_X);
            if (eg_expression_evaluate(where, at) == 0) continue;
            if (-1 - *behind >= first && -1 - *behind != boundary) {
                snprintf(key, sizeof key, "mesh.boundary.%s.where", mesh->boundary[boundary]);
                return eg_case_fail(cas, key, -1,
                                    "the face at %s belongs to boundary \"%s\" as well",
                                    eg_mesh_place(mesh->dim, at + EG_VARIABLE_X, place),
                                    mesh->boundary[-1 - *behind]);
            }
            *behind = -1 - boundary;
            ++*moved;
        }
    }
    return EG_OK;
}

/* The number of a boundary of this name, a new one if there is none. */
static eg_status find_or_add(eg_mesh *mesh, const char *name, int *number)
{
    eg_status status = EG_OK;
    char **names = NULL;
    *number = eg_mesh_find_boundary(mesh, name);
    if (*number >= 0) return EG_OK;
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->boundary_count + 1, &names));
    EG_TRY(eg_copy_string(mesh->ctx, name, &names[mesh->boundary_count]));
    for (int b = 0; b < mesh->boundary_count; b++)
        names[b] = mesh->boundary[b];
    eg_release(mesh->ctx, &mesh->boundary);
    mesh->boundary = names;
    names = NULL;
    *number = mesh->boundary_count++;
done:
    eg_release(mesh->ctx, &names);
    return status;
}

/* Drops boundaries that have lost all their faces. */
static eg_status drop_empty(eg_mesh *mesh)
{
    eg_status status = EG_OK;
    const int64_t slots = (int64_t)mesh->element_count * mesh->face_stride;
    int32_t *number = NULL;
    int count = 0;
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->boundary_count + 1, &number));
    for (int64_t i = 0; i < slots; i++)
        if (mesh->neighbour[i] < 0) number[-1 - mesh->neighbour[i]] = 1;
    for (int b = 0; b < mesh->boundary_count; b++) {
        char *name = mesh->boundary[b];
        mesh->boundary[b] = NULL;
        if (number[b]) {
            number[b] = count;
            mesh->boundary[count++] = name;
        } else {
            eg_release(mesh->ctx, &name);
        }
    }
    mesh->boundary_count = count;
    for (int64_t i = 0; i < slots; i++)
        if (mesh->neighbour[i] < 0) mesh->neighbour[i] = -1 - number[-1 - mesh->neighbour[i]];
done:
    eg_release(mesh->ctx, &number);
    return status;
}

eg_status eg_mesh_name_boundaries(const eg_case *cas, eg_mesh *mesh)
{
    eg_status status = EG_OK;
    const int first = mesh->boundary_count;
    const char *name;
    for (size_t i = 0; (name = eg_case_name_at(cas, "mesh.boundary", i)); i++) {
        const eg_expression *where = NULL;
        int64_t moved = 0;
        int number = 0;
        char key[KEY_BYTES];
        EG_TRY(find_where(cas, mesh, name, &where));
        EG_TRY(find_or_add(mesh, name, &number));
        EG_TRY(move_faces(cas, mesh, where, number, first, &moved));
        snprintf(key, sizeof key, "mesh.boundary.%s.where", name);
        if (moved == 0)
            EG_TRY(
                eg_case_fail(cas, key, -1, "it is true at the centre of no face of the boundary"));
    }
    if (eg_case_name_at(cas, "mesh.boundary", 0)) EG_TRY(drop_empty(mesh));
done:
    return status;
}
