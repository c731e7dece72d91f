/* Cubature on all shapes: products of Gauss rules on tensor shapes; on simplices the tabulated
 * symmetric rules, or products of Gauss-Jacobi rules in collapsed coordinates [karniadakis2005,
 * section 4.1], whose weight functions are the Jacobian of the collapse. */
#include "element/element.h"

#include <assert.h>

#include "element/rules.h"

static eg_status allocate_points(eg_cubature *c, int count)
{
    eg_status status = EG_OK;
    c->count = count;
    EG_TRY(eg_new(c->ctx, (size_t)count * (size_t)eg_shape_get_info(c->shape)->dim, &c->r));
    EG_TRY(eg_new(c->ctx, (size_t)count, &c->w));
done:
    return status;
}

/* Fills c with the n^dim products of one rule each for r, s, t: x, w [dim][n], r fastest. */
static eg_status make_products(eg_cubature *c, int n, const double *x, const double *w)
{
    int dim = eg_shape_get_info(c->shape)->dim, count = 1;
    for (int d = 0; d < dim; d++)
        count *= n;
    eg_status status = allocate_points(c, count);
    if (status != EG_OK) return status;
    for (int i = 0; i < count; i++) {
        c->w[i] = 1.0;
        for (int d = 0, rest = i; d < dim; d++, rest /= n) {
            c->r[d * count + i] = x[d * n + rest % n];
            c->w[i] *= w[d * n + rest % n];
        }
    }
    return EG_OK;
}

/* Largest number of points in one direction; coordinates of a cube of them are counted by an
 * int. */
#define POINTS_MAX 512

static eg_status check_points(const eg_cubature *c, int degree, int n)
{
    if (n <= POINTS_MAX) return EG_OK;
    return eg_fail(
        c->ctx, EG_ERROR_ARGUMENT,
        "cubature of degree %d needs %d points in each direction; at most %d are possible", degree,
        n, POINTS_MAX);
}

static eg_status make_tensor(eg_cubature *c, int degree, bool lobatto)
{
    eg_status status = EG_OK;
    double *x = NULL, *w = NULL;
    int n = lobatto ? degree / 2 + 2 : degree / 2 + 1;
    int dim = eg_shape_get_info(c->shape)->dim;
    EG_TRY(check_points(c, degree, n));
    EG_TRY(eg_new(c->ctx, (size_t)(dim * n), &x));
    EG_TRY(eg_new(c->ctx, (size_t)(dim * n), &w));
    for (int d = 0; d < dim; d++)
        EG_TRY(lobatto ? eg_gauss_lobatto(c->ctx, n, x + d * n, w + d * n)
                       : eg_gauss_legendre(c->ctx, n, x + d * n, w + d * n));
    EG_TRY(make_products(c, n, x, w));
    c->degree = lobatto ? 2 * n - 3 : 2 * n - 1;
    c->symmetric = true;
done:
    eg_release(c->ctx, &w);
    eg_release(c->ctx, &x);
    return status;
}

static eg_status make_collapsed(eg_cubature *c, int degree)
{
    eg_status status = EG_OK;
    double *x = NULL, *w = NULL;
    int n = degree / 2 + 1, dim = eg_shape_get_info(c->shape)->dim;
    EG_TRY(check_points(c, degree, n));
    EG_TRY(eg_new(c->ctx, (size_t)(dim * n), &x));
    EG_TRY(eg_new(c->ctx, (size_t)(dim * n), &w));
    for (int d = 0; d < dim; d++)
        EG_TRY(eg_gauss_jacobi(c->ctx, n, d, 0.0, x + d * n, w + d * n));
    EG_TRY(make_products(c, n, x, w));

    /* From (a, b, c) in the cube to (r, s, t): 1 + r shrinks by (1 - b)/2 (1 - c)/2, 1 + s by
     * (1 - c)/2; the rules' weight functions are 1, 1 - b, (1 - c)². */
    for (int d = 0; d < dim; d++)
        for (int i = 0; i < c->count; i++) {
            double one_plus = 1.0 + c->r[d * c->count + i];
            for (int e = d + 1; e < dim; e++)
                one_plus *= 0.5 * (1.0 - c->r[e * c->count + i]);
            c->r[d * c->count + i] = one_plus - 1.0;
            c->w[i] /= 1 << d;
        }
    c->degree = 2 * n - 1;
    c->symmetric = n == 1;
done:
    eg_release(c->ctx, &w);
    eg_release(c->ctx, &x);
    return status;
}

eg_status eg_cubature_create(eg_context *ctx, eg_shape shape, int degree, eg_cubature_kind kind,
                             eg_cubature **out)
{
    eg_status status = EG_OK;
    const eg_shape_info *info = eg_shape_get_info(shape);
    eg_cubature *c = NULL;
    *out = NULL;
    if (degree < 0)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "the degree of a cubature is at least 0, not %d",
                       degree);
    if (kind == (info->tensor ? EG_CUBATURE_COLLAPSED : EG_CUBATURE_LOBATTO))
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "a %s has no %s cubature", info->name,
                       info->tensor ? "collapsed" : "Gauss-Lobatto");

    EG_TRY(eg_new(ctx, 1, &c));
    c->ctx = ctx;
    c->shape = shape;
    eg_rule rule;
    if (info->tensor) {
        EG_TRY(make_tensor(c, degree, kind == EG_CUBATURE_LOBATTO));
    } else if (kind == EG_CUBATURE_BEST && eg_rule_find(shape, degree, &rule)) {
        EG_TRY(allocate_points(c, rule.count));
        eg_rule_expand(&rule, c->r, c->w);
        c->degree = rule.degree;
        c->symmetric = true;
    } else {
        EG_TRY(make_collapsed(c, degree));
    }
    *out = c;
    c = NULL;
done:
    eg_cubature_destroy(&c);
    return status;
}

void eg_cubature_destroy(eg_cubature **cubature)
{
    eg_cubature *c = *cubature;
    if (!c) return;
    eg_release(c->ctx, &c->r);
    eg_release(c->ctx, &c->w);
    eg_release(c->ctx, cubature);
}
