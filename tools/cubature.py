#!/usr/bin/env python3
"""Refines fully symmetric cubature rules and writes them as a table for the library.

    tools/cubature.py table
        reads tools/cubature/*.txt, writes src/element/rules_table.c and docs/reference/cubature.md
    tools/cubature.py import SHAPE DEGREE SOURCE POINTS
        refines published figures and prints them in the form of tools/cubature/*.txt
    tools/cubature.py reduce SHAPE FROM DEGREE
        makes a rule of DEGREE with fewer points of the rule of degree FROM in tools/cubature/*.txt

POINTS is a file of published figures, a point and its weight a line, in the coordinates of the
reference triangle (-1,-1) (1,-1) (-1,1) or tetrahedron (-1,-1,-1) (1,-1,-1) (-1,1,-1) (-1,-1,1).
SOURCE is a key of docs/references.bib. Only Python's standard library (3.10 or later) is needed.

Method. A rule is a list of orbits: a weight and the free barycentric coordinates of one point, the
permutations of which are the other points. A fully symmetric rule integrates every polynomial of
degree p if and only if it integrates the symmetric ones (Sobolev), which are the polynomials in the
elementary symmetric functions e2, e3 (and e4 on the tetrahedron) of the barycentric coordinates. So
there is one equation for each product e2^i e3^j e4^k of degree at most p; the right-hand sides are
exact rationals. They are solved by Gauss-Newton with so many digits that the condition of this
basis does no harm. Where there are more unknowns than equations the solutions form a manifold,
along which a new rule is moved until its least barycentric coordinate and its least weight are as
large as they get. To reduce a rule is to leave out one orbit and to solve again from there, as long
as this gives positive weights and interior points for some orbit [xiao2010]."""

import itertools
import math
import pathlib
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

DIGITS = 150
RIDGE = Decimal(10) ** -75  # tells zero singular values from small ones
TOLERANCE = Decimal(10) ** -60  # of the equations, relative to their right-hand sides
getcontext().prec = DIGITS

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A kind of orbit is named by how often each of its values repeats: "211" is (a, a, b, 1-2a-b).
KINDS = {"triangle": ["3", "21", "111"], "tetrahedron": ["4", "31", "22", "211", "1111"]}
VERTICES = {"triangle": 3, "tetrahedron": 4}


def multiplicities(kind):
    return [int(digit) for digit in kind]


def orbit_size(kind):
    size = math.factorial(sum(multiplicities(kind)))
    for m in multiplicities(kind):
        size //= math.factorial(m)
    return size


class Orbit:
    """The weight of each point, relative to the volume, and the free coordinates."""

    def __init__(self, kind, weight, free):
        self.kind, self.weight, self.free = kind, weight, free
        assert len(free) == len(kind) - 1

    def values(self):
        """One barycentric coordinate for each digit of the kind; the last one follows."""
        m = multiplicities(self.kind)
        rest = 1 - sum((n * a for n, a in zip(m, self.free)), Decimal(0))
        return self.free + [rest / m[-1]]

    def coordinates(self):
        return [a for n, a in zip(multiplicities(self.kind), self.values()) for _ in range(n)]


class Rule:
    def __init__(self, shape, degree, source, orbits):
        self.shape, self.degree, self.source = shape, degree, source
        order = KINDS[shape].index
        self.orbits = sorted(orbits, key=lambda o: (order(o.kind), o.values()))

    def count(self):
        return sum(orbit_size(o.kind) for o in self.orbits)

    def unknowns(self):
        return [x for o in self.orbits for x in [o.weight] + o.free]

    def moved(self, step):
        """The rule with `step` added to its unknowns."""
        steps = iter(step)
        orbits = [
            Orbit(o.kind, o.weight + next(steps), [a + next(steps) for a in o.free])
            for o in self.orbits
        ]
        result = Rule(self.shape, self.degree, self.source, [])
        result.orbits = orbits  # in the order of the unknowns
        return result

    def least_coordinate(self):
        return min(min(o.values()) for o in self.orbits)

    def least_weight(self):
        """Relative to the mean weight."""
        return min(o.weight for o in self.orbits) * self.count()


# --- equations ---------------------------------------------------------------------------------


def multiply(p, q):
    product = {}
    for (a, x), (b, y) in itertools.product(p.items(), q.items()):
        c = tuple(i + j for i, j in zip(a, b))
        product[c] = product.get(c, 0) + x * y
    return product


def mean(p):
    """The mean over the simplex of a polynomial in barycentric coordinates, {exponents: factor}."""
    total = Fraction(0)
    for exponents, factor in p.items():
        n = len(exponents) - 1
        numerator = factor * math.factorial(n)
        for e in exponents:
            numerator *= math.factorial(e)
        total += Fraction(numerator, math.factorial(sum(exponents) + n))
    return total


def elementary(n, k):
    """The elementary symmetric function e_k of n coordinates."""
    subsets = itertools.combinations(range(n), k)
    return {tuple(int(i in subset) for i in range(n)): 1 for subset in subsets}


def invariants(shape, degree):
    """[(exponents of e2, e3, …), mean] of every product of at most this degree."""
    n = VERTICES[shape]
    products = [((), 0, {(0,) * n: 1})]
    for k in range(2, n + 1):
        longer = []
        for exponents, d, p in products:
            for i in range((degree - d) // k + 1):
                if i > 0:
                    p = multiply(p, elementary(n, k))
                longer.append((exponents + (i,), d + k * i, p))
        products = longer
    means = [(exponents, mean(p)) for exponents, _, p in products]
    return [(e, Decimal(m.numerator) / Decimal(m.denominator)) for e, m in means]


def elementary_values(coordinates):
    """e_2 … e_n, and the derivatives of each along every coordinate."""
    n = len(coordinates)
    e = [Decimal(1)] + [Decimal(0)] * n
    for x in coordinates:
        for k in range(n, 0, -1):
            e[k] += x * e[k - 1]
    slopes = []
    for x in coordinates:  # the derivative of e_k is e_{k-1} of the other coordinates
        others = [Decimal(1)]
        for k in range(1, n):
            others.append(e[k] - x * others[k - 1])
        slopes.append(others)
    return e[2:], [[slopes[i][k - 1] for i in range(n)] for k in range(2, n + 1)]


def equations(rule, system, jacobian=True):
    """Relative errors of the invariants and their derivatives along the unknowns, row by row."""
    errors = [Decimal(-1)] * len(system)
    rows = [[] for _ in system]
    for o in rule.orbits:
        size = orbit_size(o.kind)
        m = multiplicities(o.kind)
        first = [sum(m[:i]) for i in range(len(m))]  # a coordinate that has the i-th value
        e, slopes = elementary_values(o.coordinates())
        # Along a free value a_i its m_i coordinates rise by 1 and the last ones fall by m_i/m_last.
        slopes = [[m[i] * (s[first[i]] - s[first[-1]]) for i in range(len(o.free))] for s in slopes]
        for row, (exponents, exact) in enumerate(system):
            scale = size / exact
            powers = [power(x, k) for x, k in zip(e, exponents)]
            errors[row] += scale * o.weight * math.prod(powers)
            if not jacobian:
                continue
            gradient = [Decimal(0)] * len(o.free)
            for j, k in enumerate(exponents):
                if k > 0:
                    others = math.prod(powers[:j] + powers[j + 1 :]) * k * power(e[j], k - 1)
                    gradient = [g + others * s for g, s in zip(gradient, slopes[j])]
            rows[row].append(scale * math.prod(powers))
            rows[row].extend(scale * o.weight * g for g in gradient)
    return errors, rows


def power(x, k):
    return x**k if k > 0 else Decimal(1)  # Decimal has no 0**0


def dot(x, y):
    return sum(map(Decimal.__mul__, x, y), Decimal(0))


class RowSpace:
    """Solves J Jᵀ y = r for the rows of a Jacobian, with a ridge for rows that depend on others."""

    def __init__(self, rows):
        n = len(rows)
        self.rows = rows
        self.factor = factor = [[Decimal(0)] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                x = dot(rows[i], rows[j]) - dot(factor[i][:j], factor[j][:j])
                factor[i][j] = x / factor[j][j] if j < i else (x + RIDGE).sqrt()

    def solve(self, r):
        """The least x with J x = r, in the sense of least squares."""
        n = len(r)
        y = []
        for i in range(n):
            y.append((r[i] - dot(self.factor[i][:i], y)) / self.factor[i][i])
        for i in reversed(range(n)):
            below = [self.factor[k][i] for k in range(i + 1, n)]
            y[i] = (y[i] - dot(below, y[i + 1 :])) / self.factor[i][i]
        return [dot([row[c] for row in self.rows], y) for c in range(len(self.rows[0]))]

    def tangent(self, x):
        """The part of x along which the equations do not change."""
        across = self.solve([dot(row, x) for row in self.rows])
        return [a - b for a, b in zip(x, across)]


def residual(rule, system):
    return max(map(abs, equations(rule, system, jacobian=False)[0]))


def refine(rule, system):
    """The rule that solves the equations and lies close to `rule`; None where there is none."""
    for _ in range(30):
        errors, rows = equations(rule, system)
        if max(map(abs, errors)) < TOLERANCE:
            return rule
        step = RowSpace(rows).solve([-e for e in errors])
        if max(map(abs, step)) > Decimal("0.2"):
            return None
        rule = rule.moved(step)
    return None


# --- moving into the interior -------------------------------------------------------------------


def margins(rule):
    """What must be positive, coordinates and scaled weights, with gradients along the unknowns."""
    count, n = rule.count(), len(rule.unknowns())
    result, at = [], 0
    for o in rule.orbits:
        gradient = [Decimal(0)] * n
        scale = Decimal(count) / 20
        gradient[at] = scale
        result.append((scale * o.weight, gradient))
        m = multiplicities(o.kind)
        for i, value in enumerate(o.values()):
            if len(m) == 1:
                continue
            gradient = [Decimal(0)] * n
            for j in range(len(o.free)):
                is_last = i == len(m) - 1
                gradient[at + 1 + j] = -Decimal(m[j]) / m[-1] if is_last else Decimal(int(i == j))
            result.append((value, gradient))
        at += 1 + len(o.free)
    return result


def least_margin(rule):
    return min(value for value, _ in margins(rule))


def steepest_common_ascent(gradients):
    """The least vector of the convex hull of the gradients, along which all of them rise alike
    (Frank and Wolfe's iteration); zero where there is no common ascent."""
    gram = [[float(dot(g, h)) for h in gradients] for g in gradients]
    share = [1.0] + [0.0] * (len(gradients) - 1)
    for _ in range(2000):
        slope = [sum(x * y for x, y in zip(share, row)) for row in gram]
        square = sum(x * y for x, y in zip(share, slope))
        best = min(range(len(slope)), key=slope.__getitem__)
        gain = square - slope[best]
        if gain <= 1e-6 * square:
            break
        t = min(1.0, gain / (square - 2 * slope[best] + gram[best][best]))
        share = [x * (1 - t) for x in share]
        share[best] += t
    shares = [Decimal(x) for x in share]
    return [dot(shares, column) for column in zip(*gradients)]


def centre(rule, system):
    """Moves along the manifold of solutions while the least margin grows."""
    length = Decimal("0.01")
    while length > Decimal("1e-5"):
        tangents = RowSpace(equations(rule, system)[1])
        values = margins(rule)
        least = min(value for value, _ in values)
        close = [tangents.tangent(g) for value, g in values if value < least + length]
        direction = steepest_common_ascent(close)
        norm = dot(direction, direction).sqrt()
        if norm < Decimal("1e-3"):
            length /= 3
            continue
        trial = refine(rule.moved([length * d / norm for d in direction]), system)
        if trial is not None and least_margin(trial) > least + length * norm / 100:
            rule, length = trial, length * Decimal("1.5")
        else:
            length /= 3
    return rule


# --- removing orbits ------------------------------------------------------------------------------


def settle(rule, system):
    """Gauss-Newton with short steps from a rule far from any solution; None where it fails."""
    for _ in range(60):
        errors, rows = equations(rule, system)
        step = RowSpace(rows).solve([-e for e in errors])
        longest = max(map(abs, step))
        if longest < Decimal("0.01"):
            return refine(rule.moved(step), system)
        rule = rule.moved([x * min(Decimal(1), Decimal("0.03") / longest) for x in step])
    return None


def without_one_orbit(rule, system):
    """A solution with one orbit less, the largest orbits tried first; None where none is found."""
    for gone in sorted(rule.orbits, key=lambda o: (-orbit_size(o.kind), o.weight)):
        scale = 1 / (1 - gone.weight * orbit_size(gone.kind))
        rest = [Orbit(o.kind, o.weight * scale, o.free) for o in rule.orbits if o is not gone]
        trial = Rule(rule.shape, rule.degree, rule.source, rest)
        if len(trial.unknowns()) < len(system):
            continue
        trial = settle(trial, system)
        if trial is not None and len(trial.unknowns()) > len(system):
            trial = centre(trial, system)
        if trial is not None and least_margin(trial) > 0:
            return trial
    return None


# --- files ----------------------------------------------------------------------------------------


def recognise(shape, degree, source, lines):
    """The orbits of points and weights in reference coordinates."""
    n = VERTICES[shape]
    points = []
    for line in lines:
        numbers = [Decimal(word) for word in line.split()]
        if not numbers:
            continue
        if len(numbers) != n:
            sys.exit(f"tools/cubature.py: expected {n} numbers a line, not \"{line.strip()}\"")
        tail = [(x + 1) / 2 for x in numbers[:-1]]
        points.append((sorted([1 - sum(tail)] + tail), numbers[-1]))
    volume = sum(w for _, w in points)
    near = Decimal("1e-8")
    orbits, counts = [], []
    for coordinates, weight in points:
        for i, (other, _) in enumerate(orbits):
            if max(abs(a - b) for a, b in zip(coordinates, other)) < near:
                counts[i] += 1
                break
        else:
            orbits.append((coordinates, weight))
            counts.append(1)
    result = []
    for (coordinates, weight), count in zip(orbits, counts):
        groups = []
        for x in coordinates:
            if groups and x - groups[-1][-1] < near:
                groups[-1].append(x)
            else:
                groups.append([x])
        groups.sort(key=lambda g: -len(g))  # stable: equal lengths stay in ascending order
        kind = "".join(str(len(g)) for g in groups)
        if count != orbit_size(kind):
            sys.exit(f"tools/cubature.py: {count} points near {coordinates} are not an orbit")
        free = [sum(g) / len(g) for g in groups[:-1]]
        result.append(Orbit(kind, weight / volume, free))
    return Rule(shape, degree, source, result)


def write_rule(rule):
    lines = [f"rule {rule.degree} {rule.count()} {rule.source}"]
    for o in rule.orbits:
        lines.append(" ".join([f"{o.kind:4}"] + [f"{x:.20f}" for x in [o.weight] + o.free]))
    return "\n".join(lines) + "\n"


def read_rules(shape):
    path = ROOT / "tools" / "cubature" / f"{shape}.txt"
    rules, orbits = [], []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "rule" and len(words) == 4:
            orbits = []
            rules.append((int(words[1]), int(words[2]), words[3], orbits))
        elif rules and words[0] in KINDS[shape] and len(words) == len(words[0]) + 1:
            orbits.append(Orbit(words[0], Decimal(words[1]), [Decimal(w) for w in words[2:]]))
        else:
            sys.exit(f"{path}:{number}: expected \"rule DEGREE POINTS SOURCE\" or an orbit")
    result = []
    for degree, count, source, orbits in rules:
        rule = Rule(shape, degree, source, orbits)
        if rule.count() != count:
            sys.exit(f"{path}: the rule of degree {degree} has {rule.count()} points, not {count}")
        result.append(rule)
    return result


def checked(rule, system):
    """The refined rule, after making sure that it keeps its promises."""
    rule = refine(rule, system)
    if rule is None:
        sys.exit("tools/cubature.py: there is no solution near these figures")
    if rule.least_coordinate() <= 0 or rule.least_weight() <= 0:
        sys.exit(
            f"tools/cubature.py: degree {rule.degree}, {rule.count()} points: least coordinate "
            f"{rule.least_coordinate():.2e}, least weight {rule.least_weight():.2e}"
        )
    return rule


def import_rule(shape, degree, source, path):
    lines = pathlib.Path(path).read_text().splitlines()
    rule = recognise(shape, int(degree), source, lines)
    system = invariants(shape, rule.degree)
    rule = refine(rule, system)
    if rule is None:
        sys.exit("tools/cubature.py: there is no solution near these figures")
    if len(rule.unknowns()) > len(system):
        rule = centre(rule, system)
    print_rule(checked(rule, system), system)


def print_rule(rule, system):
    print(
        f"{rule.shape} {rule.degree}: {rule.count()} points, {len(rule.unknowns())} unknowns, "
        f"{len(system)} equations, least coordinate {rule.least_coordinate():.2e}, "
        f"least weight {rule.least_weight():.2e} of the mean",
        file=sys.stderr,
    )
    print(write_rule(rule), end="")


def reduce_rule(shape, start, degree):
    found = [rule for rule in read_rules(shape) if rule.degree == int(start)]
    if not found:
        sys.exit(f"tools/cubature.py: there is no rule of degree {start} on the {shape}")
    system = invariants(shape, int(degree))
    rule = Rule(shape, int(degree), "eagre", found[0].orbits)
    while (smaller := without_one_orbit(rule, system)) is not None:
        rule = smaller
        print(f"{rule.count()} points", file=sys.stderr, flush=True)
    print_rule(checked(rule, system), system)


# --- what the library and its manual read ---------------------------------------------------------

TABLE_HEAD = """\
/* Fully symmetric cubature rules as orbits, made by tools/cubature.py from tools/cubature/: do not
 * edit. A line is an orbit: the weight of each of its points and its free coordinates (rules.h).
 * Sources are keys of docs/references.bib, or "eagre". */
#include "element/rules.h"

/* clang-format off */
"""


def write_c(tables):
    text = TABLE_HEAD
    for shape, rules in tables.items():
        for rule in rules:
            text += f"\nstatic const double {shape}_{rule.degree}[] = {{\n"
            for o in rule.orbits:
                # The shortest decimals that name the nearest doubles.
                text += "    " + ", ".join(repr(float(x)) for x in [o.weight] + o.free) + ",\n"
            text += "};\n"
        enum = {"triangle": "EG_SHAPE_TRI", "tetrahedron": "EG_SHAPE_TET"}[shape]
        text += f"\nconst eg_rule eg_rules_{shape}[] = {{\n"
        for rule in rules:
            counts = ", ".join(str(n) for n in orbit_counts(rule))
            text += f"    {{{enum}, {rule.degree}, {rule.count()}, {{{counts}}}, "
            text += f'{shape}_{rule.degree}, "{rule.source}"}},\n'
        text += "};\n"
        text += f"const int eg_rules_{shape}_count = {len(rules)};\n"
    (ROOT / "src" / "element" / "rules_table.c").write_text(text)


def orbit_counts(rule):
    return [sum(o.kind == kind for o in rule.orbits) for kind in KINDS[rule.shape]]


PAGE_HEAD = """\
# Cubature on triangles and tetrahedra

These are the rules that eagre takes on simplices: fully symmetric, all weights positive, all points
strictly inside, few points. A degree without a rule of its own is served by the next one. Past the
last one a Gauss-Jacobi rule in collapsed coordinates serves, which exists for every degree p and
has ⌊p/2 + 1⌋² points on the triangle and ⌊p/2 + 1⌋³ on the tetrahedron: the last column.

The figures were taken from the sources named (keys of `docs/references.bib`; *eagre*: reduced from
our rule of the next degree) and refined by `tools/cubature.py` until every equation held to 60
digits. Where a rule has more unknowns than equations, the tool also moved it, among the solutions,
away from the boundary, on which several of the published rules have points. *Orbits* counts those
of 1, 3, 6 points (triangle) or 1, 4, 6, 12, 24 points (tetrahedron). *Least coordinate* is the
least barycentric coordinate of a point; *least weight* is relative to the mean weight. The test
`test_rules` checks every rule on all monomials and all orthonormal modes to 1e-13.

This page and `src/element/rules_table.c` are written by `tools/cubature.py table` from the orbits
in `tools/cubature/`.
"""


def write_page(tables):
    text = PAGE_HEAD
    for shape, rules in tables.items():
        text += f"\n## {shape.capitalize()}\n\n"
        text += "| degree | points | orbits | least coordinate | least weight | source "
        text += "| collapsed |\n|---:|---:|---|---:|---:|---|---:|\n"
        for rule in rules:
            orbits = " + ".join(str(n) for n in orbit_counts(rule))
            collapsed = (rule.degree // 2 + 1) ** (VERTICES[shape] - 1)
            coordinate, weight = float(rule.least_coordinate()), float(rule.least_weight())
            text += f"| {rule.degree} | {rule.count()} | {orbits} | {coordinate:.1e} "
            text += f"| {weight:.3f} | {rule.source} | {collapsed} |\n"
    (ROOT / "docs" / "reference" / "cubature.md").write_text(text)


def write_table():
    tables = {}
    for shape in KINDS:
        tables[shape] = []
        for rule in read_rules(shape):
            rule = checked(rule, invariants(shape, rule.degree))
            previous = tables[shape][-1] if tables[shape] else None
            if previous and (previous.degree >= rule.degree or previous.count() >= rule.count()):
                sys.exit(f"tools/cubature.py: {shape} {rule.degree} is out of order or of no use")
            tables[shape].append(rule)
    write_c(tables)
    write_page(tables)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["import", shape, degree, source, points] if shape in KINDS:
            import_rule(shape, degree, source, points)
        case ["reduce", shape, start, degree] if shape in KINDS:
            reduce_rule(shape, start, degree)
        case ["table"]:
            write_table()
        case _:
            sys.exit(__doc__)
