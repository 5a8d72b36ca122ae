// SPDX-License-Identifier: MIT
// Friction models in the basis of a contact ([P] table 1): impulses are (normal, tangent, tangent), and a model is the
// section of its set K across the normal together with what determines the size of that section. Variants in world
// coordinates need none of this: there the circular cone is a cone around n with a projection of its own (project.inl).
#pragma once
#include "sim/solver/kernel/op.inl"

SAND_INLINE Vec cone_project(Vec x, Vec n, real mu, real cone_factor); // project.inl

// An orthonormal basis with the normal as its first vector, by a fixed formula (Duff et al. 2017).
typedef struct ContactBasis {
    Vec n, t1, t2;
} ContactBasis;

SAND_INLINE ContactBasis basis_of(Vec n) {
    real sign = n.z < 0 ? (real)-1 : (real)1, a = -1 / (sign + n.z), b = n.x * n.y * a;
    ContactBasis basis;
    basis.n = n;
    basis.t1 = vec_make(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    basis.t2 = vec_make(b, sign + n.y * n.y * a, -n.y);
    return basis;
}
// From the basis to world coordinates, and back.
SAND_INLINE Vec basis_out(ContactBasis basis, Vec x) {
    return vec_madd(vec_madd(vec_scale(x.x, basis.n), x.y, basis.t1), x.z, basis.t2);
}
SAND_INLINE Vec basis_in(ContactBasis basis, Vec v) {
    return vec_make(vec_dot(v, basis.n), vec_dot(v, basis.t1), vec_dot(v, basis.t2));
}

// A tangential vector in the coordinates of the polygon's facet that it points at: c along the outward normal (nx, ny), s
// along the facet. A regular polygon looks the same from each facet, and the nearest point of K belongs to the same facet.
typedef struct Facet {
    real nx, ny, c, s;
} Facet;

SAND_INLINE Facet facet_of(const Op *op, Vec x) {
    Facet f;
    f.nx = op->facet[0];
    f.ny = op->facet[1];
    f.c = x.y * f.nx + x.z * f.ny;
    for (int k = 1; k < op->facets; k++) {
        real nx = op->facet[2 * k], ny = op->facet[2 * k + 1], c = x.y * nx + x.z * ny;
        bool nearer = c > f.c;
        f.nx = nearer ? nx : f.nx;
        f.ny = nearer ? ny : f.ny;
        f.c = nearer ? c : f.c;
    }
    f.s = x.z * f.nx - x.y * f.ny;
    return f;
}
SAND_INLINE Vec facet_out(Facet f, real normal) {
    return vec_make(normal, f.c * f.nx - f.s * f.ny, f.c * f.ny + f.s * f.nx);
}

// a clamped to [-b, b]
SAND_INLINE real real_within(real a, real b) { return a > b ? b : a < -b ? -b : a; }

// The nearest point whose tangential part lies in the section of size r; the normal part stays.
SAND_INLINE Vec section_project(const Op *op, Vec x, real r) {
    if (op->section == SAND_SQUARE) return vec_make(x.x, real_within(x.y, r), real_within(x.z, r));
    if (op->section == SAND_DISC) {
        real t = real_sqrt(x.y * x.y + x.z * x.z), left = t > r ? r / t : (real)1;
        return vec_make(x.x, left * x.y, left * x.z);
    }
    Facet f = facet_of(op, x);
    if (f.c <= r * op->apothem) return x;
    f.c = r * op->apothem;
    f.s = real_within(f.s, r * op->edge);
    return facet_out(f, x.x);
}

// The nearest point of the cone whose section at height h has the size mu h.
SAND_INLINE Vec section_cone(const Op *op, Vec x, real mu, real cone_factor) {
    if (op->section == SAND_DISC) return cone_project(x, vec_make(1, 0, 0), mu, cone_factor);
    Facet f = facet_of(op, x);
    real slope = mu * op->apothem, side = mu * op->edge;
    if (f.c <= slope * x.x && x.x >= 0) return x; // the second condition is for mu = 0
    // On the plane of the facet, if that point belongs to the facet.
    real h = (x.x + slope * f.c) / (1 + slope * slope);
    if (h > 0 && real_abs(f.s) <= side * h) {
        f.c = slope * h;
        return facet_out(f, h);
    }
    // Otherwise on its edge, or at the tip.
    real end = f.s < 0 ? -side : side;
    h = real_max((x.x + slope * f.c + end * f.s) / (1 + slope * slope + side * side), 0);
    f.c = slope * h;
    f.s = end * h;
    return facet_out(f, h);
}

// The support function of the section of size 1 at the tangential part of x: what friction can dissipate.
SAND_INLINE real section_support(const Op *op, Vec x) {
    if (op->section == SAND_DISC) return real_sqrt(x.y * x.y + x.z * x.z);
    Facet f = facet_of(op, x);
    return f.c * op->apothem + real_abs(f.s) * op->edge;
}

// Sets up the operator for the friction model of the definition. `cone`: the solver knows the circular cone, so that
// Coulomb's law is a fixed point around it; otherwise the solver adapts its bounds inside the iteration. Called by the host.
static inline void op_set_friction(Op *op, const SandSolveDef *def, bool cone) {
    const double pi = 3.14159265358979323846;
    const SandFrictionRow *model = &sand_friction_table[def->friction];
    bool bounded = model->set == SAND_SET_CYLINDER, square = model->section == SAND_SQUARE;
    op->section = model->section;
    // With joints contacts without friction have three rows as well: a box of size zero.
    bool frictionless = SAND_JOINTS && def->friction == SAND_FRICTIONLESS;
    if (frictionless) op->section = SAND_SQUARE;
    op->set = frictionless                                   ? FRICTION_BOUNDED
              : bounded && def->bounds == SAND_BOUNDS_INSIDE ? FRICTION_INSIDE
              : bounded                                      ? FRICTION_BOUNDED
              : model->set == SAND_SET_LAW && !cone          ? FRICTION_INSIDE
                                                             : FRICTION_CONE;
    op->law = model->set == SAND_SET_LAW || (bounded && def->bounds != SAND_BOUNDS_PRESOLVE);
    // A square is a polygon around the circle, turned so that its facets face along the tangents.
    op->facets = square ? 4 : model->section == SAND_POLYGON ? def->facets : 0;
    op->apothem = op->edge = 1;
    for (int k = 0; k < op->facets; k++) {
        double angle = (square ? 2 * k : 2 * k + 1) * pi / op->facets;
        op->facet[2 * k] = (real)cos(angle);
        op->facet[2 * k + 1] = (real)sin(angle);
    }
    if (op->facets && !square) {
        op->apothem = (real)cos(pi / op->facets);
        op->edge = (real)sin(pi / op->facets);
    }
}
