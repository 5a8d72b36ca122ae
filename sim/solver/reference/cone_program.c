// SPDX-License-Identifier: MIT
// Assembles the cone program of cone_program.h: the directions of every contact, then E for a problem with bodies or N for a
// stored matrix, then the scaling.
#include "sim/solver/reference/cone_program.h"

#include "sim/core/array.h"
#include "sim/solver/contact_result.h"

#include <string.h>

void sand_cone_program_free(SandConeProgram *p) {
    SAND_FREE_ARRAYS(&p->first, &p->contact, &p->cone_of, &p->direction, &p->r, &p->begin, &p->row, &p->value);
    *p = (SandConeProgram){0};
}

// Writes the directions of a contact's columns and returns their number. Tangents and polygon corners are the same as in
// sim/solver/kernel/friction.inl.
static int directions(const SandContact *c, const SandSolveDef *def, SandVec3 *out) {
    SandVec3 n = c->normal;
    double sign = n.z < 0 ? -1 : 1, a = -1 / (sign + n.z), b = n.x * n.y * a;
    SandVec3 t1 = v3_make(1 + sign * n.x * n.x * a, sign * b, -sign * n.x), t2 = v3_make(b, sign + n.y * n.y * a, -n.y);
    SandSection section = c->mu == 0 ? SAND_POINT : sand_friction_table[def->friction].section;
    switch (section) {
    case SAND_POINT: out[0] = n; return 1;
    case SAND_DISC: {
        // Scales the slope mu to 1, in the cone and in its dual.
        double root = sqrt(c->mu);
        out[0] = v3_scale(1 / root, n);
        out[1] = v3_scale(root, t1);
        out[2] = v3_scale(root, t2);
        return 3;
    }
    case SAND_SQUARE:
        for (int s = 0; s < 4; s++) out[s] = v3_madd(v3_madd(n, s & 1 ? c->mu : -c->mu, t1), s & 2 ? c->mu : -c->mu, t2);
        return 4;
    case SAND_POLYGON:
        for (int s = 0; s < def->facets; s++) {
            double angle = 6.283185307179586 * s / def->facets;
            out[s] = v3_madd(v3_madd(n, c->mu * cos(angle), t1), c->mu * sin(angle), t2);
        }
        return def->facets;
    }
    return 0;
}

// The columns of a block of a joint, each a half-line of its own: one for a limit, two that oppose each other for a row that
// is bounded on no side. False for a row that is bounded on both.
static bool joint_directions(const SandContact *c, const SandJointRows *j, SandVec3 *out, int *count) {
    SandVec3 n = c->normal;
    double sign = n.z < 0 ? -1 : 1, a = -1 / (sign + n.z), b = n.x * n.y * a;
    const SandVec3 axes[3] = {n, v3_make(1 + sign * n.x * n.x * a, sign * b, -sign * n.x),
                              v3_make(b, sign + n.y * n.y * a, -n.y)};
    *count = 0;
    for (int k = 0; k < 3; k++) {
        double low = k ? -j->across : j->low, high = k ? j->across : j->high;
        if ((low < 0 && low > -INFINITY) || (high > 0 && high < INFINITY)) return false;
        if (high > 0) out[(*count)++] = axes[k];
        if (low < 0) out[(*count)++] = v3_neg(axes[k]);
    }
    return true;
}

// --- E, for a problem with bodies -------------------------------------------------------------------------

// The square root of a body's M^-1: that of the inverse mass, and the Cholesky factor L, L L' = inverse inertia.
typedef struct InverseMassRoot {
    double mass, xx, yx, zx, yy, zy, zz;
} InverseMassRoot;

static InverseMassRoot root_of(const SandProblemBody *b) {
    const double *j = b->inverse_inertia; // xx, yy, zz, xy, xz, yz
    InverseMassRoot l = {.mass = sqrt(b->inverse_mass)};
    l.xx = sqrt(fmax(j[0], 0));
    if (l.xx > 0) {
        l.yx = j[3] / l.xx;
        l.zx = j[4] / l.xx;
    }
    l.yy = sqrt(fmax(j[1] - l.yx * l.yx, 0));
    if (l.yy > 0) l.zy = (j[5] - l.zx * l.yx) / l.yy;
    l.zz = sqrt(fmax(j[2] - l.zx * l.zx - l.zy * l.zy, 0));
    return l;
}

// Writes one body's part of a column of E: the root of M^-1 times the impulse and its moment.
static void write_body(const SandProblem *p, int body, SandVec3 arm, SandVec3 impulse, bool rotates, bool angular, int *row,
                       double *value) {
    InverseMassRoot l = root_of(&p->bodies[body]);
    SandVec3 t = angular ? impulse : v3_cross(arm, impulse);
    if (angular) impulse = v3_make(0, 0, 0);
    double numbers[6] = {l.mass * impulse.x,      l.mass * impulse.y,
                         l.mass * impulse.z,      l.xx * t.x + l.yx * t.y + l.zx * t.z,
                         l.yy * t.y + l.zy * t.z, l.zz * t.z};
    for (int k = 0; k < (rotates ? 6 : 3); k++) {
        row[k] = 6 * body + k;
        value[k] = numbers[k];
    }
}

// Assembles E = M^-1/2 D, with a row for the spring of each block of a joint behind those of the bodies.
static bool assemble_root(SandConeProgram *m, const SandProblem *p, SandError *error) {
    m->rows = 6 * p->dynamic_count + p->joint_count;
    if (!SAND_RESERVE(m->begin, m->columns + 1, "columns of a cone program", error) ||
        !SAND_RESERVE(m->row, 13 * (size_t)m->columns, "entries of a cone program", error) ||
        !SAND_RESERVE(m->value, 13 * (size_t)m->columns, "entries of a cone program", error))
        return false;
    int entry = 0;
    for (int cone = 0; cone < m->cones; cone++)
        for (int j = m->first.data[cone]; j < m->first.data[cone + 1]; j++) {
            const SandContact *c = &p->contacts[m->contact.data[cone]];
            // A normal impulse does not rotate a sphere: its three angular rows are left out.
            const SandJointRows *joint = sand_problem_joint(p, m->contact.data[cone]);
            bool rotates = !p->radial || v3_dot(m->direction.data[j], c->normal) != v3_length(m->direction.data[j]) ||
                           sand_cone_program_size(m, cone) > 1 || joint;
            bool angular = joint && joint->angular, moves_b = c->b < p->dynamic_count;
            m->begin.data[j] = entry;
            write_body(p, c->a, c->arm_a, v3_neg(m->direction.data[j]), rotates, angular, m->row.data + entry,
                       m->value.data + entry);
            entry += rotates ? 6 : 3;
            if (moves_b)
                write_body(p, c->b, c->arm_b, m->direction.data[j], rotates, angular, m->row.data + entry,
                           m->value.data + entry);
            if (moves_b) entry += rotates ? 6 : 3;
            if (!joint || !(joint->compliance > 0)) continue;
            m->row.data[entry] = 6 * p->dynamic_count + p->joint[m->contact.data[cone]];
            m->value.data[entry++] = sqrt(joint->compliance) * v3_dot(m->direction.data[j], c->normal);
        }
    m->begin.data[m->columns] = entry;
    return true;
}

// r of a contact: the free relative velocity plus the stabilization term.
static SandVec3 contact_r(const SandProblem *p, int i) {
    const SandContact *c = &p->contacts[i];
    const SandProblemBody *a = &p->bodies[c->a], *b = &p->bodies[c->b];
    const SandJointRows *joint = sand_problem_joint(p, i);
    if (joint && joint->angular) return v3_add(v3_sub(b->spin, a->spin), joint->bias);
    SandVec3 u = v3_sub(v3_add(b->velocity, v3_cross(b->spin, c->arm_b)), v3_add(a->velocity, v3_cross(a->spin, c->arm_a)));
    if (joint) return v3_add(u, joint->bias);
    return v3_madd(u, sand_contact_bias(p, i), c->normal);
}

// --- N, for a problem without bodies ----------------------------------------------------------------------

// Assembles N from the stored matrix. The cones are in the order of the contacts, so one index per contact finds them:
// cone_of[i] is the first cone of contact i.
static bool assemble_matrix(SandConeProgram *m, const SandProblem *p, SandError *error) {
    const SandMatrix *n = p->matrix;
    SAND_ARRAY(int) cone_of = {0};
    size_t entries = 0;
    m->rows = m->columns;
    m->square = true;
    m->symmetric = n->asymmetry == 0;
    if (!SAND_RESERVE(cone_of, p->contact_count + 1, "cones", error) ||
        !SAND_RESERVE(m->begin, m->columns + 1, "columns of a cone program", error))
        return false;
    for (int cone = m->cones - 1; cone >= 0; cone--) cone_of.data[m->contact.data[cone]] = cone;
    cone_of.data[p->contact_count] = m->cones;
#define FIRST_OF(i) m->first.data[cone_of.data[i]]
    for (int i = 0; i < p->contact_count; i++)
        for (int e = n->first[i]; e < n->first[i + 1]; e++) {
            int k = n->column[e];
            entries += (size_t)(FIRST_OF(i + 1) - FIRST_OF(i)) * (size_t)(FIRST_OF(k + 1) - FIRST_OF(k));
        }
    bool ok = entries < INT32_MAX || sand_fail(error, "N has %zu entries, too many to factorize", entries);
    ok = ok && SAND_RESERVE(m->row, entries + 1, "entries of a cone program", error) &&
         SAND_RESERVE(m->value, entries + 1, "entries of a cone program", error);
    int entry = 0;
    for (int i = 0; ok && i < p->contact_count; i++)
        for (int j = FIRST_OF(i); j < FIRST_OF(i + 1); j++) {
            m->begin.data[j] = entry;
            // The blocks of column i are the mirrors of those of row i.
            for (int e = n->first[i]; e < n->first[i + 1]; e++) {
                SandVec3 column = sand_matrix_apply(n, n->mirror[e], m->direction.data[j]);
                for (int k = FIRST_OF(n->column[e]); k < FIRST_OF(n->column[e] + 1); k++, entry++) {
                    m->row.data[entry] = k;
                    m->value.data[entry] = v3_dot(m->direction.data[k], column);
                }
            }
        }
#undef FIRST_OF
    m->begin.data[m->columns] = entry;
    SAND_FREE_ARRAYS(&cone_of);
    return ok;
}

// --- both -------------------------------------------------------------------------------------------------

// Mean diagonal of N over the columns of a cone.
static double diagonal(const SandConeProgram *m, int cone) {
    double sum = 0;
    for (int j = m->first.data[cone]; j < m->first.data[cone + 1]; j++)
        for (int e = m->begin.data[j]; e < m->begin.data[j + 1]; e++) {
            if (!m->square) sum += m->value.data[e] * m->value.data[e];
            if (m->square && m->row.data[e] == j) sum += m->value.data[e];
        }
    return sum > 0 ? sum / sand_cone_program_size(m, cone) : 1;
}

// Scales every cone so that its mean diagonal in N is 1.
static bool scale_cones(SandConeProgram *m, SandError *error) {
    SAND_ARRAY(double) scale = {0};
    if (!SAND_RESERVE(scale, m->columns + 1, "scales", error)) return false;
    for (int cone = 0; cone < m->cones; cone++)
        for (int j = m->first.data[cone]; j < m->first.data[cone + 1]; j++) scale.data[j] = 1 / sqrt(diagonal(m, cone));
    for (int j = 0; j < m->columns; j++) {
        m->direction.data[j] = v3_scale(scale.data[j], m->direction.data[j]);
        m->r.data[j] *= scale.data[j];
        for (int e = m->begin.data[j]; e < m->begin.data[j + 1]; e++)
            m->value.data[e] *= scale.data[j] * (m->square ? scale.data[m->row.data[e]] : 1);
    }
    SAND_FREE_ARRAYS(&scale);
    return true;
}

bool sand_cone_program_make(SandConeProgram *m, const SandProblem *p, const SandSolveDef *def, SandError *error) {
    *m = (SandConeProgram){0};
    const SandFrictionRow *model = &sand_friction_table[def->friction];
    if (model->set == SAND_SET_CYLINDER) return sand_fail(error, "the set of the friction model %s is no cone", model->name);
    bool circular = model->section == SAND_DISC;
    size_t most = (size_t)p->contact_count * (size_t)(circular ? 6 : SAND_MAX_FACETS); // 6: of a joint
    if (most > INT32_MAX / 13) return sand_fail(error, "%d contacts are too many to factorize", p->contact_count);
    if (!SAND_RESERVE(m->first, most + 1, "cones", error) || !SAND_RESERVE(m->contact, most + 1, "cones", error) ||
        !SAND_RESERVE(m->cone_of, most + 1, "cones", error) ||
        !SAND_RESERVE(m->direction, most + 1, "columns of a cone program", error) ||
        !SAND_RESERVE(m->r, most + 1, "columns of a cone program", error))
        return false;
    for (int i = 0; i < p->contact_count; i++) {
        SandVec3 *d = m->direction.data + m->columns;
        const SandJointRows *joint = sand_problem_joint(p, i);
        int count = joint ? 0 : directions(&p->contacts[i], def, d);
        if (joint && !joint_directions(&p->contacts[i], joint, d, &count))
            return sand_fail(error, "%s cannot do motors, whose impulses have two bounds",
                             sand_solver_table[def->solver].name);
        SandVec3 r = contact_r(p, i);
        for (int k = 0; k < count; k++) {
            if (k == 0 || !circular || joint) {
                m->contact.data[m->cones] = i;
                m->first.data[m->cones++] = m->columns;
            }
            m->cone_of.data[m->columns] = m->cones - 1;
            m->r.data[m->columns++] = v3_dot(d[k], r);
        }
    }
    m->first.data[m->cones] = m->columns;
    return (p->matrix ? assemble_matrix(m, p, error) : assemble_root(m, p, error)) && scale_cones(m, error);
}

void sand_cone_program_product(const SandConeProgram *m, const double *x, double *y, double *work) {
    double *sum = m->square ? y : work;
    memset(sum, 0, (size_t)m->rows * sizeof *sum);
    for (int j = 0; j < m->columns; j++)
        for (int e = m->begin.data[j]; e < m->begin.data[j + 1]; e++) sum[m->row.data[e]] += m->value.data[e] * x[j];
    if (m->square) return;
    for (int j = 0; j < m->columns; j++) {
        double dot = 0;
        for (int e = m->begin.data[j]; e < m->begin.data[j + 1]; e++) dot += m->value.data[e] * work[m->row.data[e]];
        y[j] = dot;
    }
}

// The columns of a circular cone are orthogonal, so each component is a projection. The edges of a polyhedral cone are not:
// their z >= 0 are found by Gauss-Seidel sweeps on the least squares problem.
void sand_cone_program_unknowns(const SandConeProgram *m, const SandVec3 *impulse, double *z) {
    enum { SWEEPS = 30 };
    for (int begin = 0, end; begin < m->cones; begin = end) {
        int contact = m->contact.data[begin];
        for (end = begin + 1; end < m->cones && m->contact.data[end] == contact;) end++;
        SandVec3 left = impulse[contact];
        for (int j = m->first.data[begin]; j < m->first.data[end]; j++) z[j] = 0;
        for (int k = 0; k < (end - begin > 1 ? SWEEPS : 1); k++)
            for (int j = m->first.data[begin]; j < m->first.data[end]; j++) {
                SandVec3 d = m->direction.data[j];
                double next = z[j] + v3_dot(d, left) / v3_dot(d, d);
                if (end - begin > 1) next = fmax(next, 0);
                left = v3_madd(left, z[j] - next, d);
                z[j] = next;
            }
    }
}

void sand_cone_program_impulses(const SandConeProgram *m, const double *z, int contacts, SandVec3 *impulse) {
    for (int i = 0; i < contacts; i++) impulse[i] = v3_make(0, 0, 0);
    for (int cone = 0; cone < m->cones; cone++)
        for (int j = m->first.data[cone]; j < m->first.data[cone + 1]; j++) {
            SandVec3 *g = &impulse[m->contact.data[cone]];
            *g = v3_madd(*g, z[j], m->direction.data[j]);
        }
}
