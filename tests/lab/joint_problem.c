#include "tests/lab/joint_problem.h"

#include "sim/core/array.h"
#include "sim/core/random.h"

#include <math.h>
#include <string.h>

static SandVec3 random_vector(SandRandom *random, double size) {
    double x = sand_random_signed(random), y = sand_random_signed(random), z = sand_random_signed(random);
    return v3_make(size * x, size * y, size * z);
}

static SandVec3 random_unit(SandRandom *random) {
    for (;;) {
        SandVec3 v = random_vector(random, 1);
        double l = v3_length(v);
        if (l > 0.1 && l <= 1) return v3_scale(1 / l, v);
    }
}

static SandProblemBody random_body(SandRandom *random) {
    double mass = pow(10, 1.0 * sand_random_signed(random)) * 5;
    SandVec3 inverse = v3_make(10 / mass, (20 + 10 * sand_random_signed(random)) / mass, 40 / mass);
    SandMat3 m = m3_rotated_diagonal(q_matrix(sand_random_rotation(random)), inverse);
    return (SandProblemBody){
        .inverse_mass = 1 / mass,
        .inverse_inertia = {m.m[0][0], m.m[1][1], m.m[2][2], m.m[0][1], m.m[0][2], m.m[1][2]},
        .velocity = random_vector(random, 1),
        .spin = random_vector(random, 2),
    };
}

// What the blocks of joints are, in turn: bilateral, limit, motor and spring along the axis, with and without the others.
static SandJointRows random_rows(SandRandom *random, int kind) {
    SandJointRows j = {.angular = kind % 2, .low = -INFINITY, .high = INFINITY, .across = INFINITY};
    j.bias = random_vector(random, 0.3);
    switch (kind / 2) {
    case 0: break;                             // ball, fixed
    case 1: j.low = j.high = 0; break;         // slider, hinge: free along the axis
    case 2: j.low = 0, j.across = 0; break;    // limit
    case 3: j.low = -0.2, j.high = 0.3; break; // motor
    default: j.compliance = 0.5, j.across = 0;
    } // spring
    return j;
}

SandProblem joint_problem(int seed) {
    SandRandom random = sand_random((uint64_t)seed + 11);
    SandProblem p = {.body_count = JOINT_PROBLEM_BODIES,
                     .dynamic_count = JOINT_PROBLEM_BODIES - 1,
                     .contact_count = JOINT_PROBLEM_CONTACTS,
                     .step = 0.01,
                     .recovery = {1, 0.001, 0.3}};
    enum { BLOCKS = 10 };
    SAND_GROW(p.bodies, p.body_capacity, p.body_count, "bodies", NULL);
    SAND_GROW(p.contacts, p.contact_capacity, p.contact_count, "contacts", NULL);
    SAND_GROW(p.start, p.start_capacity, p.contact_count, "contacts", NULL);
    sand_problem_reserve_joints(&p, BLOCKS, NULL);
    for (int k = 0; k < p.dynamic_count; k++) p.bodies[k] = random_body(&random);
    p.bodies[p.dynamic_count] = (SandProblemBody){.velocity = {0.1, 0, 0}, .spin = {0, 0.2, 0}};
    for (int i = 0; i < p.contact_count; i++) {
        int a = i / 2, b = a + 1 + (int)((double)(p.body_count - 1 - a) * sand_random_unit(&random));
        SandVec3 arm_a = random_vector(&random, 0.4), arm_b = random_vector(&random, 0.4);
        SandVec3 normal = random_unit(&random);
        double gap = -0.004 * sand_random_unit(&random);
        p.contacts[i] =
            (SandContact){.a = a, .b = b, .normal = normal, .arm_a = arm_a, .arm_b = arm_b, .gap = gap, .mu = 0.3};
        p.start[i] = random_vector(&random, 0.1);
        int block = i * BLOCKS / p.contact_count;
        bool joint = i == 0 || block != (i - 1) * BLOCKS / p.contact_count;
        if (!joint) continue;
        p.joint[i] = block;
        p.joints[block] = random_rows(&random, block);
        p.contacts[i].gap = p.contacts[i].mu = 0;
        if (p.joints[block].angular) p.contacts[i].arm_a = p.contacts[i].arm_b = v3_make(0, 0, 0);
    }
    return p;
}

// --- rows -----------------------------------------------------------------------------------------------------

enum { DOFS = 6 * JOINT_PROBLEM_BODIES };

// The velocity of a row as a linear function of those of all bodies.
static void jacobian(const SandProblem *p, int i, SandVec3 d, double *j) {
    const SandContact *c = &p->contacts[i];
    const SandJointRows *joint = sand_problem_joint(p, i);
    bool angular = joint && joint->angular;
    const SandVec3 arm[2] = {c->arm_a, c->arm_b};
    for (int side = 0; side < 2; side++) {
        double sign = side ? 1 : -1, *to = j + 6 * (side ? c->b : c->a);
        SandVec3 turn = angular ? d : v3_cross(arm[side], d), move = angular ? v3_make(0, 0, 0) : d;
        const double numbers[6] = {move.x, move.y, move.z, turn.x, turn.y, turn.z};
        for (int k = 0; k < 6; k++) to[k] += sign * numbers[k];
    }
}

static void through_masses(const SandProblem *p, const double *j, double *y) {
    memset(y, 0, DOFS * sizeof *y);
    for (int k = 0; k < p->dynamic_count; k++) {
        const double *m = p->bodies[k].inverse_inertia, *f = j + 6 * k;
        for (int c = 0; c < 3; c++) y[6 * k + c] = p->bodies[k].inverse_mass * f[c];
        y[6 * k + 3] = m[0] * f[3] + m[3] * f[4] + m[4] * f[5];
        y[6 * k + 4] = m[3] * f[3] + m[1] * f[4] + m[5] * f[5];
        y[6 * k + 5] = m[4] * f[3] + m[5] * f[4] + m[2] * f[5];
    }
}

static double free_velocity(const SandProblem *p, const double *j) {
    double sum = 0;
    for (int k = 0; k < p->body_count; k++) {
        const SandProblemBody *b = &p->bodies[k];
        sum += v3_dot(v3_make(j[6 * k], j[6 * k + 1], j[6 * k + 2]), b->velocity) +
               v3_dot(v3_make(j[6 * k + 3], j[6 * k + 4], j[6 * k + 5]), b->spin);
    }
    return sum;
}

static double contact_bias(const SandProblem *p, double gap) {
    SandRecovery r = p->recovery;
    double undone = gap < -r.depth ? -gap - r.depth + r.fraction * r.depth : -r.fraction * gap;
    return gap >= 0 ? gap / p->step : -fmin(undone / p->step, r.speed);
}

// The axes of a contact: the basis that every solver uses.
static void axes_of(SandVec3 n, SandVec3 *axes) {
    double sign = n.z < 0 ? -1 : 1, a = -1 / (sign + n.z), b = n.x * n.y * a;
    axes[0] = n;
    axes[1] = v3_make(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    axes[2] = v3_make(b, sign + n.y * n.y * a, -n.y);
}

// Bounds, bias and compliance of row k of contact i.
static double describe(const SandProblem *p, bool frictionless, int i, int k, DenseRows *rows) {
    const SandJointRows *joint = sand_problem_joint(p, i);
    int row = 3 * i + k;
    if (joint) {
        rows->low[row] = k ? -joint->across : joint->low;
        rows->high[row] = k ? joint->across : joint->high;
        rows->exists[row] = rows->low[row] < rows->high[row];
        return v3_dot(joint->bias, rows->axis[row]);
    }
    rows->exists[row] = k == 0 || (!frictionless && p->contacts[i].mu > 0);
    rows->high[row] = rows->exists[row] ? INFINITY : 0;
    rows->low[row] = k == 0 ? 0 : -rows->high[row];
    return k == 0 ? contact_bias(p, p->contacts[i].gap) : 0;
}

DenseRows dense_rows(const SandProblem *p, bool frictionless) {
    static double j[JOINT_PROBLEM_ROWS][DOFS], mj[DOFS];
    DenseRows rows = {.count = 3 * p->contact_count};
    memset(j, 0, sizeof j);
    for (int row = 0; row < rows.count; row++) {
        SandVec3 axes[3];
        axes_of(p->contacts[row / 3].normal, axes);
        rows.axis[row] = axes[row % 3];
        double bias = describe(p, frictionless, row / 3, row % 3, &rows);
        if (!rows.exists[row]) continue;
        jacobian(p, row / 3, rows.axis[row], j[row]);
        rows.r[row] = free_velocity(p, j[row]) + bias;
    }
    for (int row = 0; row < rows.count; row++) {
        through_masses(p, j[row], mj);
        for (int k = 0; k < rows.count; k++)
            for (int c = 0; c < DOFS; c++) rows.n[k][row] += j[k][c] * mj[c];
        const SandJointRows *joint = sand_problem_joint(p, row / 3);
        if (joint && row % 3 == 0 && rows.exists[row]) rows.n[row][row] += joint->compliance;
    }
    return rows;
}

void dense_rows_of(const DenseRows *rows, const SandVec3 *world, double *x) {
    for (int row = 0; row < rows->count; row++) x[row] = v3_dot(rows->axis[row], world[row / 3]);
}

static double gradient(const DenseRows *rows, const double *x, int row) {
    double sum = rows->r[row];
    for (int k = 0; k < rows->count; k++) sum += rows->n[row][k] * x[k];
    return sum;
}

static double within(double x, double low, double high) { return fmin(fmax(x, low), high); }

void dense_rows_solve(const DenseRows *rows, double *x) {
    memset(x, 0, (size_t)rows->count * sizeof *x);
    double change = 1;
    for (int sweep = 0; sweep < 200000 && change > 1e-15; sweep++) {
        change = 0;
        for (int row = 0; row < rows->count; row++) {
            if (!rows->exists[row]) continue;
            double z = within(x[row] - gradient(rows, x, row) / rows->n[row][row], rows->low[row], rows->high[row]);
            change = fmax(change, fabs(z - x[row]));
            x[row] = z;
        }
    }
}

double dense_rows_objective(const DenseRows *rows, const double *x) {
    double sum = 0;
    for (int row = 0; row < rows->count; row++) sum += 0.5 * x[row] * (gradient(rows, x, row) + rows->r[row]);
    return sum;
}

// The nearest point of a circular cone, by its three cases.
static void project_cone(double *z, double mu) {
    double t = hypot(z[1], z[2]);
    if (t <= mu * z[0]) return;
    double normal = fmax((z[0] + mu * t) / (1 + mu * mu), 0), side = t > 0 ? mu * normal / t : 0;
    z[0] = normal;
    z[1] *= side;
    z[2] *= side;
}

static double mean_diagonal(const DenseRows *rows) {
    double sum = 0;
    for (int i = 0; i < rows->count / 3; i++) {
        double trace = 0, count = 0;
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            trace += rows->n[k][k];
            count += rows->exists[k];
        }
        sum += count > 0 ? trace / count : 1;
    }
    return sum / (rows->count / 3);
}

double dense_rows_residual(const SandProblem *p, const DenseRows *rows, bool frictionless, const double *x) {
    double t = 1 / mean_diagonal(rows), sum = 0;
    for (int i = 0; i < p->contact_count; i++) {
        double z[3];
        for (int k = 0; k < 3; k++) {
            int row = 3 * i + k;
            z[k] = within(x[row] - t * gradient(rows, x, row), rows->low[row], rows->high[row]);
            if (!sand_problem_joint(p, i) && !frictionless) z[k] = x[row] - t * gradient(rows, x, row);
        }
        if (!sand_problem_joint(p, i) && !frictionless) project_cone(z, p->contacts[i].mu);
        for (int k = 0; k < 3; k++) sum += (x[3 * i + k] - z[k]) * (x[3 * i + k] - z[k]);
    }
    return sqrt(sum) / t;
}
