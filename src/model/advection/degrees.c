/* The degree of each element as a case gives it: an expression of its centre, or a list in a file.
 *
 * The list has a whole number for each element, in the order of the elements' global numbers, which is
 * that of the elements in a file that `eagre mesh generate` writes. Every rank reads the whole file and
 * keeps what belongs to its own elements and ghosts. */
#define _GNU_SOURCE
#include "model/advection/degrees.h"

#include "model/advection/operator.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES 65536
#define WORD_BYTES 16 /* longer words are no degrees; messages show this much of them */

/* --- an expression -------------------------------------------------------------------------------- */

static eg_status evaluate(const eg_case *cas, const eg_mesh *mesh, int most, uint8_t *degrees)
{
    const eg_expression *degree = eg_case_expression(cas, "advection.degree");
    for (int32_t e = 0; e < mesh->element_count + mesh->ghost_count; e++) {
        double at[EG_VARIABLE_COUNT] = {0}, nodes[EG_MAX_VERTICES * 3];
        const int corners = eg_mesh_element_nodes(mesh, e, nodes);
        for (int i = 0; i < corners; i++)
            for (int d = 0; d < mesh->dim; d++)
                at[d] += nodes[i * mesh->dim + d] / corners;
        const double value = eg_expression_evaluate(degree, at);
        if (isnan(value))
            return eg_case_fail(cas, "advection.degree", -1,
                                "it is not a number at (%g, %g, %g), the centre of an element",
                                at[0], at[1], at[2]);
        degrees[e] = (uint8_t)fmin(fmax(floor(value + 0.5), 0), most);
    }
    return EG_OK;
}

/* --- a file ---------------------------------------------------------------------------------------- */

/* A file that is being read word by word. */
typedef struct reader {
    const eg_case *cas;
    const char *path;
    int file;
    char piece[PIECE_BYTES];
    size_t used, length; /* of the piece */
    bool ended;
    int64_t line;    /* of the character that comes next */
    int64_t at_line; /* of the word */
    char word[WORD_BYTES + 1];
    size_t word_length; /* the whole of it, also where it is longer */
} reader;

static eg_status fail_read(const reader *r, const char *what, int error)
{
    return eg_case_fail(r->cas, "advection.degree_file", -1, "cannot %s %s: %s", what, r->path,
                        strerror(error));
}

static eg_status open_file(reader *r)
{
    struct stat info;
    /* O_NONBLOCK: a pipe under that name is refused below and must not hang the open. */
    r->file = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (r->file < 0) return fail_read(r, "open", errno);
    if (fstat(r->file, &info) != 0) return fail_read(r, "examine", errno);
    if (!S_ISREG(info.st_mode))
        return eg_case_fail(r->cas, "advection.degree_file", -1, "%s is not a regular file",
                            r->path);
    return EG_OK;
}

/* The next character, EOF behind the last. */
static eg_status next_character(reader *r, int *c)
{
    while (r->used == r->length && !r->ended) {
        const ssize_t got = read(r->file, r->piece, sizeof r->piece);
        if (got < 0 && errno != EINTR) return fail_read(r, "read", errno);
        r->used = 0;
        r->length = got > 0 ? (size_t)got : 0;
        r->ended = got == 0;
    }
    *c = r->ended ? EOF : (unsigned char)r->piece[r->used++];
    if (*c == '\n') r->line++;
    return EG_OK;
}

/* The next word that is not in a comment, of length 0 behind the last. */
static eg_status next_word(reader *r)
{
    eg_status status = EG_OK;
    bool comment = false;
    int c;
    r->word_length = 0;
    do {
        EG_TRY(next_character(r, &c));
        if (c == '#') comment = true;
        if (c == '\n') comment = false;
    } while (c != EOF && (comment || isspace(c)));
    r->at_line = r->line;
    while (c != EOF && !isspace(c) && c != '#') {
        if (r->word_length < WORD_BYTES) r->word[r->word_length] = (char)(isprint(c) ? c : '?');
        r->word_length++;
        EG_TRY(next_character(r, &c));
    }
    if (c == '#') r->used--; /* a comment begins: next time */
    r->word[r->word_length < WORD_BYTES ? r->word_length : WORD_BYTES] = '\0';
done:
    return status;
}

/* The number that a word is: -1 if it is none. */
static int number_of(const reader *r)
{
    int value = 0;
    if (r->word_length > 3) return -1;
    for (size_t i = 0; i < r->word_length; i++) {
        if (!isdigit((unsigned char)r->word[i])) return -1;
        value = 10 * value + (r->word[i] - '0');
    }
    return value;
}

static eg_status read_degrees(reader *r, int64_t count, int most, uint8_t *degrees)
{
    static const char key[] = "advection.degree_file";
    eg_status status = EG_OK;
    for (int64_t i = 0;; i++) {
        EG_TRY(next_word(r));
        if (r->word_length == 0) {
            if (i < count)
                return eg_case_fail(r->cas, key, -1,
                                    "%s has %" PRId64 " degrees, and the mesh has %" PRId64
                                    " elements: give each of them a degree",
                                    r->path, i, count);
            return EG_OK;
        }
        const int value = number_of(r);
        const char *more = r->word_length > WORD_BYTES ? "…" : "";
        if (i == count)
            return eg_case_fail(r->cas, key, -1,
                                "%s:%" PRId64 ": \"%s%s\" is one degree too many: the mesh has "
                                "%" PRId64 " elements",
                                r->path, r->at_line, r->word, more, count);
        if (value < 0 || value > most)
            return eg_case_fail(r->cas, key, -1,
                                "%s:%" PRId64 ": \"%s%s\" is no degree for element %" PRId64
                                ": write a whole number from 0 to space.degree = %d",
                                r->path, r->at_line, r->word, more, i, most);
        degrees[i] = (uint8_t)value;
    }
done:
    return status;
}

static eg_status read_file(const eg_case *cas, const eg_mesh *mesh, int most, uint8_t *degrees)
{
    eg_context *ctx = mesh->ctx;
    reader *r = NULL;
    uint8_t *all = NULL;
    char *path = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_case_path(cas, "advection.degree_file", &path));
    EG_TRY(eg_new(ctx, 1, &r));
    *r = (reader){.cas = cas, .path = path, .file = -1, .line = 1};
    EG_TRY(eg_new(ctx, (size_t)mesh->global_count, &all));
    EG_TRY(open_file(r));
    EG_TRY(read_degrees(r, mesh->global_count, most, all));
    for (int32_t e = 0; e < mesh->element_count + mesh->ghost_count; e++)
        degrees[e] = all[mesh->global[e]];
done:
    if (r && r->file >= 0) close(r->file);
    eg_release(ctx, &all);
    eg_release(ctx, &r);
    eg_release(ctx, &path);
    return status;
}

/* --- both ------------------------------------------------------------------------------------------ */

eg_status eg_degrees_check(const eg_case *cas)
{
    if (eg_case_given(cas, "advection.degree") && eg_case_given(cas, "advection.degree_file"))
        return eg_case_fail(cas, "advection.degree_file", -1,
                            "degrees are given twice, here and by advection.degree: leave one of "
                            "the two out");
    if (eg_case_given(cas, "advection.degree") &&
        eg_expression_uses(eg_case_expression(cas, "advection.degree"), EG_VARIABLE_T))
        return eg_case_fail(cas, "advection.degree", -1,
                            "degrees do not change in time: write an expression of x, y, z, or "
                            "have them adapted by adapt.enabled = true");
    return EG_OK;
}

eg_status eg_degrees_from_case(const eg_case *cas, const eg_mesh *mesh, int most, uint8_t **out)
{
    eg_status status = EG_OK;
    const bool by_file = eg_case_given(cas, "advection.degree_file");
    *out = NULL;
    if (!by_file && !eg_case_given(cas, "advection.degree")) return EG_OK;
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->element_count + (size_t)mesh->ghost_count + 1, out));
    EG_TRY(by_file ? read_file(cas, mesh, most, *out) : evaluate(cas, mesh, most, *out));
done:
    if (status != EG_OK) eg_release(mesh->ctx, out);
    return status;
}

/* J is of degree 2 along each direction of a hexahedron that is no parallelepiped, and ∫J divides the
 * rate of a constant: the fewest points that do for polynomials of degree 0 are not exact for it. */
static eg_status check_constants(const eg_case *cas)
{
    eg_advection_quadrature rule;
    bool chosen;
    eg_status status = EG_OK;
    EG_TRY(eg_advection_quadrature_from_case(cas, &rule, &chosen));
    if (rule.extra <= eg_advection_least_extra(rule.lobatto))
        EG_TRY(eg_case_fail(cas, "advection.extra_points", -1,
                            "degree 0 on hexahedra that are not parallelepipeds would lose mass "
                            "with so few points: there it is %d at least",
                            eg_advection_least_extra(rule.lobatto) + 1));
done:
    return status;
}

eg_status eg_degrees_check_mesh(const eg_case *cas, const eg_mesh *mesh)
{
    const int most = (int)eg_case_integer(cas, "space.degree");
    /* Adaptation has a least degree of its own. */
    const bool stay = !eg_case_boolean(cas, "adapt.enabled");
    uint8_t *degrees = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_degrees_from_case(cas, mesh, most, &degrees));
    for (int32_t e = 0; stay && e < mesh->element_count; e++) {
        /* J is of degree 2 there: were it not among an element's polynomials mass would be lost. */
        const int degree = degrees ? degrees[e] : most;
        if (degree > 1 || mesh->shape[e] != EG_SHAPE_HEX || eg_mesh_is_affine(mesh, e)) continue;
        if (degree == 0) {
            EG_TRY(check_constants(cas));
            continue;
        }
        EG_TRY(eg_case_fail(cas,
                            eg_case_given(cas, "advection.degree")        ? "advection.degree"
                            : eg_case_given(cas, "advection.degree_file") ? "advection.degree_file"
                                                                          : "space.degree",
                            -1,
                            "degree 1 on hexahedra that are not parallelepipeds would lose mass: "
                            "there it is 0, or 2 and more"));
    }
done:
    eg_release(mesh->ctx, &degrees);
    return status;
}
