// SPDX-License-Identifier: MIT
// Making random problems with joints and rolling friction, the rows of their dense Jacobian, and a slow projected descent to
// their minimum.
#include "tests/lab/solver/joint_problem.h"

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

SandProblem rolling_problem(int seed) {
    SandProblem p = joint_problem(seed);
    SandRandom random = sand_random((uint64_t)seed + 77);
    p.rolls = true;
    SAND_GROW(p.start, p.start_capacity, sand_problem_vectors(&p), "contacts", NULL);
    for (int i = 0; i < p.contact_count; i++) {
        p.start[p.contact_count + i] = random_vector(&random, 0.02);
        if (sand_problem_joint(&p, i)) continue;
        p.contacts[i].rolling = i % 4 < 2 ? 0.05 * sand_random_unit(&random) : 0;
        p.contacts[i].spinning = i % 4 == 0 || i % 4 == 2 ? 0.02 * sand_random_unit(&random) : 0;
    }
    return p;
}

// --- rows -----------------------------------------------------------------------------------------------------

enum { DOFS = 6 * JOINT_PROBLEM_BODIES };

// The velocity of a row as a linear function of those of all bodies. `vector` is the force of a contact, or its torque.
static void jacobian(const SandProblem *p, int vector, SandVec3 d, double *j) {
    int i = vector % p->contact_count;
    const SandContact *c = &p->contacts[i];
    const SandJointRows *joint = sand_problem_joint(p, i);
    bool angular = vector >= p->contact_count || (joint && joint->angular);
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
    double most = gap < 0 && r.fall > 0 ? fmin(r.speed, sqrt(-2 * r.fall * gap)) : r.speed;
    return gap >= 0 ? gap / p->step : -fmin(undone / p->step, most);
}

// The axes of a contact: the basis that every solver uses.
static void axes_of(SandVec3 n, SandVec3 *axes) {
    double sign = n.z < 0 ? -1 : 1, a = -1 / (sign + n.z), b = n.x * n.y * a;
    axes[0] = n;
    axes[1] = v3_make(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    axes[2] = v3_make(b, sign + n.y * n.y * a, -n.y);
}

// The rows of torque: about the normal, and about the tangents.
static double describe_torque(const SandProblem *p, bool frictionless, int i, int k, int row, DenseRows *rows) {
    const SandContact *c = &p->contacts[i];
    rows->exists[row] = !frictionless && (k ? c->rolling : c->spinning) > 0;
    rows->high[row] = rows->exists[row] ? INFINITY : 0;
    rows->low[row] = -rows->high[row];
    return 0;
}

// Bounds, bias and compliance of row k of a vector.
static double describe(const SandProblem *p, bool frictionless, int vector, int k, DenseRows *rows) {
    int i = vector % p->contact_count, row = 3 * vector + k;
    if (vector >= p->contact_count) return describe_torque(p, frictionless, i, k, row, rows);
    const SandJointRows *joint = sand_problem_joint(p, i);
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

static double mean_of(const DenseRows *rows, int vector) {
    double trace = 0, count = 0;
    for (int k = 3 * vector; k < 3 * vector + 3; k++) {
        trace += rows->n[k][k];
        count += rows->exists[k];
    }
    return count > 0 ? trace / count : 1;
}

// The mean diagonal of the three torques of a contact, whether or not it has them.
static double turning_of(const SandProblem *p, int i) {
    const double *a = p->bodies[p->contacts[i].a].inverse_inertia, *b = p->bodies[p->contacts[i].b].inverse_inertia;
    return (a[0] + a[1] + a[2] + b[0] + b[1] + b[2]) / 3;
}

DenseRows dense_rows(const SandProblem *p, bool frictionless) {
    static double j[JOINT_PROBLEM_ROWS][DOFS], mj[DOFS];
    DenseRows rows = {.count = 3 * sand_problem_vectors(p)};
    memset(j, 0, sizeof j);
    for (int row = 0; row < rows.count; row++) {
        SandVec3 axes[3];
        axes_of(p->contacts[row / 3 % p->contact_count].normal, axes);
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
        const SandJointRows *joint = row < 3 * p->contact_count ? sand_problem_joint(p, row / 3) : NULL;
        if (joint && row % 3 == 0 && rows.exists[row]) rows.n[row][row] += joint->compliance;
    }
    for (int i = 0; i < p->contact_count; i++) rows.arm[i] = sqrt(mean_of(&rows, i) / turning_of(p, i));
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

double dense_larger_cone(double n, const double *length, const double *slope, const double *weight) {
    double low = 0, high = fabs(n);
    for (int k = 0; k < 3; k++) high += weight[k] * slope[k] * length[k];
    for (int step = 0; step < 200; step++) {
        double middle = 0.5 * (low + high), rises = middle - n; // half the derivative of the squared distance
        for (int k = 0; k < 3; k++) rises -= weight[k] * slope[k] * fmax(length[k] - slope[k] * middle, 0);
        *(rises > 0 ? &high : &low) = middle;
    }
    return high <= 1e-30 ? 0 : 0.5 * (low + high);
}

static double left_of(double length, double most) { return length > most ? most / length : 1; }

// Moves the rows z of contact i to the nearest point of its set; those of torques are over the arm.
static void project(const SandProblem *p, const DenseRows *rows, DenseModel model, int i, double *z) {
    const SandContact *c = &p->contacts[i];
    if (sand_problem_joint(p, i) || model == DENSE_FRICTIONLESS) {
        for (int k = 0; k < 3; k++) z[k] = within(z[k], rows->low[3 * i + k], rows->high[3 * i + k]);
        z[3] = z[4] = z[5] = 0;
        return;
    }
    const double length[3] = {hypot(z[1], z[2]), hypot(z[4], z[5]), fabs(z[3])}, weight[3] = {1, 1, 1};
    const double slope[3] = {c->mu, c->rolling / rows->arm[i], c->spinning / rows->arm[i]};
    double left[3];
    z[0] = dense_larger_cone(z[0], length, slope, weight);
    for (int k = 0; k < 3; k++) left[k] = left_of(length[k], slope[k] * z[0]);
    z[1] *= left[0];
    z[2] *= left[0];
    z[3] *= left[2];
    z[4] *= left[1];
    z[5] *= left[1];
}

static double mean_diagonal(const SandProblem *p, const DenseRows *rows) {
    double sum = 0;
    for (int i = 0; i < p->contact_count; i++) sum += mean_of(rows, i);
    return sum / p->contact_count;
}

// The six rows of contact i among `all`, those of torques divided or multiplied by the arm; zero where there are none.
static void load_contact(const SandProblem *p, const DenseRows *rows, const double *all, int i, bool velocity, double *z) {
    double arm = velocity ? rows->arm[i] : 1 / rows->arm[i];
    for (int k = 0; k < 3; k++) {
        z[k] = all[3 * i + k];
        z[3 + k] = p->rolls ? arm * all[3 * (p->contact_count + i) + k] : 0;
    }
}

// The velocities of contact i that the impulses are complementary to.
static void load_dual(const SandProblem *p, const DenseRows *rows, DenseModel model, const double *u, int i, double *z) {
    const SandContact *c = &p->contacts[i];
    load_contact(p, rows, u, i, true, z);
    if (model != DENSE_LAW || sand_problem_joint(p, i)) return;
    z[0] += c->mu * hypot(z[1], z[2]) + (c->rolling * hypot(z[4], z[5]) + c->spinning * fabs(z[3])) / rows->arm[i];
}

double dense_rows_residual(const SandProblem *p, const DenseRows *rows, DenseModel model, const double *x) {
    double t = 1 / mean_diagonal(p, rows), sum = 0, u[JOINT_PROBLEM_ROWS];
    for (int row = 0; row < rows->count; row++) u[row] = gradient(rows, x, row);
    for (int i = 0; i < p->contact_count; i++) {
        double xi[6], ui[6], z[6];
        load_contact(p, rows, x, i, false, xi);
        load_dual(p, rows, model, u, i, ui);
        for (int k = 0; k < 6; k++) z[k] = xi[k] - t * ui[k];
        project(p, rows, model, i, z);
        for (int k = 0; k < 6; k++) sum += (xi[k] - z[k]) * (xi[k] - z[k]);
    }
    return sqrt(sum) / t;
}

// z = P(y - t (N y + r)), the torques in the metric of the arms.
static void descend(const SandProblem *p, const DenseRows *rows, const double *y, double t, double *to) {
    double u[JOINT_PROBLEM_ROWS];
    for (int row = 0; row < rows->count; row++) u[row] = gradient(rows, y, row);
    for (int i = 0; i < p->contact_count; i++) {
        double yi[6], ui[6];
        load_contact(p, rows, y, i, false, yi);
        load_contact(p, rows, u, i, true, ui);
        for (int k = 0; k < 6; k++) yi[k] -= t * ui[k];
        project(p, rows, DENSE_CONE, i, yi);
        for (int k = 0; k < 3; k++) to[3 * i + k] = yi[k];
        for (int k = 0; p->rolls && k < 3; k++) to[3 * (p->contact_count + i) + k] = rows->arm[i] * yi[3 + k];
    }
}

void dense_rows_minimize(const SandProblem *p, const DenseRows *rows, double *x) {
    double y[JOINT_PROBLEM_ROWS] = {0}, z[JOINT_PROBLEM_ROWS], trace = 0, momentum = 1;
    memset(x, 0, sizeof y);
    for (int i = 0; i < p->contact_count; i++) trace += 6 * mean_of(rows, i); // above the largest eigenvalue
    for (int round = 0; round < 200000; round++) {
        double against = 0, next = 0.5 * (1 + sqrt(1 + 4 * momentum * momentum));
        descend(p, rows, y, 1 / trace, z);
        for (int row = 0; row < rows->count; row++) against += (y[row] - z[row]) * (z[row] - x[row]);
        if (against > 0) next = momentum = 1; // O'Donoghue and Candes: the momentum leads away
        for (int row = 0; row < rows->count; row++) {
            y[row] = z[row] + (momentum - 1) / next * (z[row] - x[row]);
            x[row] = z[row];
        }
        momentum = next;
        if (round % 100 == 0 && dense_rows_residual(p, rows, DENSE_CONE, x) < 1e-12) return;
    }
}
