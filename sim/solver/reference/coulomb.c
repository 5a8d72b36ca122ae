// SPDX-License-Identifier: MIT
// Coulomb's law in the frames of the contacts: see coulomb.h.
#include "sim/solver/reference/coulomb.h"

#include "sim/core/array.h"
#include "sim/solver/contact_result.h"

#include <float.h>
#include <string.h>

void sand_coulomb_free(SandCoulomb *m) {
    SAND_FREE_ARRAYS(&m->a, &m->b, &m->root, &m->own, &m->r, &m->mu, &m->axis);
    *m = (SandCoulomb){0};
}

// --- setup ------------------------------------------------------------------------------------------------

// The Cholesky factor L of a body's inverse inertia, L L' = J^-1, as L' : upper triangle xx, xy, xz, yy, yz, zz.
static void inertia_root(const double *j, double *l) {
    l[0] = sqrt(fmax(j[0], 0));
    l[1] = l[0] > 0 ? j[3] / l[0] : 0;
    l[2] = l[0] > 0 ? j[4] / l[0] : 0;
    l[3] = sqrt(fmax(j[1] - l[1] * l[1], 0));
    l[4] = l[3] > 0 ? (j[5] - l[1] * l[2]) / l[3] : 0;
    l[5] = sqrt(fmax(j[2] - l[2] * l[2] - l[4] * l[4], 0));
}

// Writes one body's part of a contact's columns of E: the root of M^-1 times the impulse and its moment.
static void write_columns(const SandProblemBody *body, SandVec3 arm, double sign, const SandVec3 *axis, double *out) {
    double l[6], mass = sqrt(body->inverse_mass);
    inertia_root(body->inverse_inertia, l);
    for (int k = 0; k < 3; k++, out += 6) {
        SandVec3 d = v3_scale(sign, axis[k]), t = v3_cross(arm, d);
        out[0] = mass * d.x;
        out[1] = mass * d.y;
        out[2] = mass * d.z;
        out[3] = l[0] * t.x + l[1] * t.y + l[2] * t.z;
        out[4] = l[3] * t.y + l[4] * t.z;
        out[5] = l[5] * t.z;
    }
}

static double dot6(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// The contact of a problem with bodies.
static void fill_contact(SandCoulomb *m, const SandProblem *p, int i) {
    const SandContact *c = &p->contacts[i];
    const SandProblemBody *a = &p->bodies[c->a], *b = &p->bodies[c->b];
    SandVec3 n = c->normal, *axis = m->axis.data + 3 * i;
    double sign = n.z < 0 ? -1 : 1, s = -1 / (sign + n.z), t = n.x * n.y * s;
    axis[0] = n;
    axis[1] = v3_make(1 + sign * n.x * n.x * s, sign * t, -sign * n.x);
    axis[2] = v3_make(t, sign + n.y * n.y * s, -n.y);
    m->a.data[i] = c->a;
    m->b.data[i] = c->b < p->dynamic_count ? c->b : -1;
    double *root = m->root.data + 36 * (size_t)i, *own = m->own.data + 9 * (size_t)i;
    write_columns(a, c->arm_a, -1, axis, root);
    if (m->b.data[i] >= 0) write_columns(b, c->arm_b, 1, axis, root + 18);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
            own[3 * k + l] = dot6(root + 6 * k, root + 6 * l) + dot6(root + 18 + 6 * k, root + 18 + 6 * l);
    SandVec3 u = v3_sub(v3_add(b->velocity, v3_cross(b->spin, c->arm_b)), v3_add(a->velocity, v3_cross(a->spin, c->arm_a)));
    u = v3_madd(u, sand_contact_bias(p, i), n);
    for (int k = 0; k < 3; k++) m->r.data[3 * i + k] = v3_dot(axis[k], u);
}

// The contact of a problem that stores N, which is in the frames of the contacts already.
static void fill_stored(SandCoulomb *m, const SandProblem *p, int i) {
    const SandMatrix *n = p->matrix;
    SandVec3 u = v3_scale(-1, p->bodies[i].velocity), *axis = m->axis.data + 3 * i;
    axis[0] = v3_make(1, 0, 0);
    axis[1] = v3_make(0, 1, 0);
    axis[2] = v3_make(0, 0, 1);
    m->r.data[3 * i] = u.x;
    m->r.data[3 * i + 1] = u.y;
    m->r.data[3 * i + 2] = u.z;
    for (int e = n->first[i]; e < n->first[i + 1]; e++)
        if (n->column[e] == i) memcpy(m->own.data + 9 * (size_t)i, n->block + 9 * (size_t)e, 9 * sizeof *m->own.data);
}

bool sand_coulomb_make(SandCoulomb *m, const SandProblem *p, const SandSolveDef *def, SandError *error) {
    *m = (SandCoulomb){.contacts = p->contact_count, .matrix = p->matrix, .bodies = p->matrix ? 0 : p->dynamic_count};
    size_t n = (size_t)p->contact_count;
    if (!SAND_RESERVE(m->a, n + 1, "contacts", error) || !SAND_RESERVE(m->b, n + 1, "contacts", error) ||
        !SAND_RESERVE(m->root, p->matrix ? 1 : 36 * n + 1, "contacts", error) ||
        !SAND_RESERVE(m->own, 9 * n + 1, "contacts", error) || !SAND_RESERVE(m->r, 3 * n + 1, "contacts", error) ||
        !SAND_RESERVE(m->mu, n + 1, "contacts", error) || !SAND_RESERVE(m->axis, 3 * n + 1, "contacts", error))
        return false;
    double sum = 0;
    for (int i = 0; i < m->contacts; i++) {
        m->mu.data[i] = def->friction == SAND_FRICTIONLESS ? 0 : p->contacts[i].mu;
        if (p->matrix)
            fill_stored(m, p, i);
        else
            fill_contact(m, p, i);
        const double *own = m->own.data + 9 * (size_t)i;
        sum += m->mu.data[i] > 0 ? (own[0] + own[4] + own[8]) / 3 : own[0];
    }
    m->tau = sum > 0 ? m->contacts / sum : 1;
    return true;
}

// --- the operator -----------------------------------------------------------------------------------------

void sand_coulomb_move(const SandCoulomb *m, SandCoulombPoint p) {
    memset(p.e, 0, 6 * (size_t)m->bodies * sizeof *p.e);
    for (int i = 0; !m->matrix && i < m->contacts; i++) {
        const double *root = m->root.data + 36 * (size_t)i, *z = p.z + 3 * (size_t)i;
        double *a = p.e + 6 * (size_t)m->a.data[i];
        for (int k = 0; k < 6; k++) a[k] += root[k] * z[0] + root[6 + k] * z[1] + root[12 + k] * z[2];
        if (m->b.data[i] < 0) continue;
        double *b = p.e + 6 * (size_t)m->b.data[i];
        for (int k = 0; k < 6; k++) b[k] += root[18 + k] * z[0] + root[24 + k] * z[1] + root[30 + k] * z[2];
    }
}

void sand_coulomb_make_feasible(const SandCoulomb *m, SandCoulombPoint p) {
    for (int i = 0; i < m->contacts; i++) {
        double *z = p.z + 3 * (size_t)i;
        z[0] = fmax(z[0], 0);
        double side = sqrt(z[1] * z[1] + z[2] * z[2]), bound = m->mu.data[i] * z[0], scale = side > bound ? bound / side : 1;
        z[1] *= scale;
        z[2] *= scale;
    }
    sand_coulomb_move(m, p);
}

static inline double row_response(const SandCoulomb *m, SandCoulombPoint p, int i, int k) {
    const double *root = m->root.data + 36 * (size_t)i + 6 * k;
    double u = dot6(root, p.e + 6 * (size_t)m->a.data[i]);
    return m->b.data[i] < 0 ? u : u + dot6(root + 18, p.e + 6 * (size_t)m->b.data[i]);
}

static inline void matrix_response(const SandCoulomb *m, const double *z, int i, double *u) {
    const SandMatrix *n = m->matrix;
    u[0] = u[1] = u[2] = 0;
    for (int e = n->first[i]; e < n->first[i + 1]; e++) {
        const double *b = n->block + 9 * (size_t)e, *x = z + 3 * (size_t)n->column[e];
        for (int k = 0; k < 3; k++) u[k] += b[3 * k] * x[0] + b[3 * k + 1] * x[1] + b[3 * k + 2] * x[2];
    }
}

void sand_coulomb_response(const SandCoulomb *m, SandCoulombPoint p, int i, double *u) {
    if (m->matrix) {
        matrix_response(m, p.z, i, u);
        return;
    }
    for (int k = 0; k < 3; k++) u[k] = row_response(m, p, i, k);
}

void sand_coulomb_velocity(const SandCoulomb *m, SandCoulombPoint p, int i, double *u) {
    sand_coulomb_response(m, p, i, u);
    for (int k = 0; k < 3; k++) u[k] += m->r.data[3 * (size_t)i + k];
    if (!(m->proximal > 0)) return;
    const double *z = p.z + 3 * (size_t)i, *c = m->center + 3 * (size_t)i, *own = m->own.data + 9 * (size_t)i;
    for (int k = 0; k < 3; k++) u[k] += m->proximal * sand_coulomb_diagonal(own, k) * (z[k] - c[k]);
}

double sand_coulomb_residual(const SandCoulomb *m, SandCoulombPoint p) {
    double sum = 0, tau = m->tau;
    for (int i = 0; i < m->contacts; i++) {
        double u[3], mu = m->mu.data[i];
        const double *z = p.z + 3 * (size_t)i;
        sand_coulomb_velocity(m, p, i, u);
        double x = z[0] - tau * (u[0] + mu * sqrt(u[1] * u[1] + u[2] * u[2])), y1 = z[1] - tau * u[1],
               y2 = z[2] - tau * u[2];
        double side = sqrt(y1 * y1 + y2 * y2), scale = 1;
        if (side > mu * x) { // outside of the cone: onto its surface, or to the tip
            double n = fmax((x + mu * side) / (1 + mu * mu), 0);
            scale = side > 0 ? mu * n / side : 0;
            x = n;
        }
        double d0 = z[0] - x, d1 = z[1] - scale * y1, d2 = z[2] - scale * y2;
        sum += d0 * d0 + d1 * d1 + d2 * d2;
    }
    return sqrt(sum) / tau;
}

// --- one contact ------------------------------------------------------------------------------------------

// Solves the law for one contact alone, u = W z + b. Returns false if it is open. Where it slides, u_t = -slip z_t with a
// slip that solves |z_t(slip)| = mu z_n(slip): eliminating the normal leaves (S + slip) z_t = -c of two rows, and Newton's
// method on mu z_n / |z_t| - 1, which is nearly linear in the slip, needs few steps. It starts from the slip of the last
// sweep.
static bool solve_contact(const double *w, const double *b, double mu, double *slip, double *z) {
    if (b[0] >= 0 || !(w[0] > 0)) return false;
    double inverse = 1 / w[0], free = -b[0] * inverse;
    z[0] = free;
    z[1] = z[2] = 0;
    if (!(mu > 0)) return true;
    double n1 = w[1] * inverse, n2 = w[2] * inverse; // z_n = free - n1 z_1 - n2 z_2
    double s11 = w[4] - w[3] * n1, s12 = w[5] - w[3] * n2, s21 = w[7] - w[6] * n1, s22 = w[8] - w[6] * n2;
    double c1 = b[1] + w[3] * free, c2 = b[2] + w[6] * free;
    double least = 0, most = INFINITY, x = *slip;
    double det = s11 * s22 - s12 * s21;
    if (det > 1e-14 * s11 * s22 || !(x > 0)) { // sticking is tried first
        double per = det > 0 ? 1 / det : 0, t1 = (s12 * c2 - s22 * c1) * per, t2 = (s21 * c1 - s11 * c2) * per;
        double n = free - n1 * t1 - n2 * t2;
        if (det > 0 && n >= 0 && t1 * t1 + t2 * t2 <= mu * mu * n * n) {
            z[0] = n;
            z[1] = t1;
            z[2] = t2;
            *slip = 0;
            return true;
        }
    }
    if (!(x > 0)) x = sqrt(c1 * c1 + c2 * c2) / (mu * free) - 0.5 * (s11 + s22);
    if (!(x > 0)) x = 0;
    for (int k = 0; k < 50; k++) {
        double a = s11 + x, d = s22 + x, per = 1 / (a * d - s12 * s21);
        double t1 = (s12 * c2 - d * c1) * per, t2 = (s21 * c1 - a * c2) * per;
        double length = sqrt(t1 * t1 + t2 * t2), n = free - n1 * t1 - n2 * t2;
        double f = mu * n - length;
        if (isfinite(per) && n > 0 && length > 0) {
            z[0] = n;
            z[1] = t1;
            z[2] = t2;
            if (fabs(f) <= 1e-15 * length) break;
        } else {
            f = -1;
        }
        if (f < 0)
            least = x;
        else
            most = x;
        // Derivatives of z_t and z_n with respect to the slip.
        double d1 = (s12 * t2 - d * t1) * per, d2 = (s21 * t1 - a * t2) * per, dn = -n1 * d1 - n2 * d2;
        double dlength = (t1 * d1 + t2 * d2) / length, slope = (mu * dn - mu * n / length * dlength) / length;
        double next = x - (mu * n / length - 1) / slope;
        if (!(next > least && next < most)) next = isfinite(most) ? 0.5 * (least + most) : 4 * x + 0.1 * (s11 + s22);
        if (fabs(next - x) <= 1e-14 * x) break;
        x = next;
    }
    *slip = x;
    // On the cone exactly.
    double length = sqrt(z[1] * z[1] + z[2] * z[2]), scale = length > mu * z[0] ? mu * z[0] / length : 1;
    z[1] *= scale;
    z[2] *= scale;
    return true;
}

// --- Gauss-Seidel -----------------------------------------------------------------------------------------

static double relax(const SandCoulomb *m, SandCoulombPoint p, int i, double *slip) {
    double *z = p.z + 3 * (size_t)i, u[3];
    bool loose = z[0] == 0; // then so are its other components
    const double *r = m->r.data + 3 * (size_t)i;
    if (m->matrix || m->proximal > 0) {
        sand_coulomb_velocity(m, p, i, u);
        if (loose && u[0] >= 0) return 0;
    } else {
        u[0] = r[0] + row_response(m, p, i, 0);
        if (loose && u[0] >= 0) return 0;
        u[1] = r[1] + row_response(m, p, i, 1);
        u[2] = r[2] + row_response(m, p, i, 2);
    }
    const double *own = m->own.data + 9 * (size_t)i;
    double w[9], b[3], y[3] = {0, 0, 0};
    for (int k = 0; k < 9; k++) w[k] = own[k];
    for (int k = 0; k < 3; k++) w[4 * k] += m->proximal * sand_coulomb_diagonal(own, k);
    for (int k = 0; k < 3; k++) b[k] = u[k] - w[3 * k] * z[0] - w[3 * k + 1] * z[1] - w[3 * k + 2] * z[2];
    solve_contact(w, b, m->mu.data[i], slip + i, y);
    double d[3] = {y[0] - z[0], y[1] - z[1], y[2] - z[2]};
    for (int k = 0; k < 3; k++) z[k] = y[k];
    if (!m->matrix) {
        const double *root = m->root.data + 36 * (size_t)i;
        double *ea = p.e + 6 * (size_t)m->a.data[i];
        for (int k = 0; k < 6; k++) ea[k] += root[k] * d[0] + root[6 + k] * d[1] + root[12 + k] * d[2];
        if (m->b.data[i] >= 0) {
            double *eb = p.e + 6 * (size_t)m->b.data[i];
            for (int k = 0; k < 6; k++) eb[k] += root[18 + k] * d[0] + root[24 + k] * d[1] + root[30 + k] * d[2];
        }
    }
    return (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * (own[0] + own[4] + own[8]) / 3;
}

double sand_coulomb_sweep(const SandCoulomb *m, SandCoulombPoint p, double *slip) {
    double sum = 0;
    for (int i = 0; i < m->contacts; i++) sum += relax(m, p, i, slip);
    return sqrt(sum);
}
