// SPDX-License-Identifier: MIT
// The contact problem of one step, in double precision and independent of any device: it is what gets solved, frozen to a
// file and raced.
//   minimize q(g) = 1/2 g' N g + r' g over g in K,  N = D' M^-1 D,  r = b + D' M^-1 Q
// It is self-contained: its bodies are copies of those of the step, in broad-phase cell order (the solver index), with their
// free velocities; boundaries follow as bodies of infinite mass. Also here: the solution, its metrics, and the CPU solver.
#pragma once
#include "sandglass/error.h"
#include "sandglass/solver.h"
#include "sandglass/math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandContact {
    int a, b;        // bodies; a < b, and contacts are sorted by a
    SandVec3 normal; // unit, from a to b
    SandVec3 arm_a;  // contact point (middle of the gap) minus the center of mass of a
    SandVec3 arm_b;
    double gap;               // m, signed: negative for a penetration
    double mu;                // coefficient of friction
    double rolling, spinning; // m: the largest torques about the tangents and about the normal, over the normal impulse
    double bounce;            // m/s, added to the least normal velocity that the gap asks for: of an impact, else 0
    double pull; // N s, cohesion over the step. It is part of the free velocities; the contact's own impulse is that of the
                 // solution minus this along the normal (sand_contact_impulse)
} SandContact;

// Rows of a joint. A joint is made of blocks of three rows (docs/problem.md), and each is a contact of the problem whose
// normal is the axis of the block, with gap and mu of zero and these rows in place of a friction cone. Impulses and relative
// velocities are those at the end of the arms, or, of an angular block, angular ones; the arms are then zero.
typedef struct SandJointRows {
    bool angular;
    double low, high;  // N s or N m s: interval of the impulse along the axis. From -INFINITY to INFINITY: bilateral; a half
                       // line: a limit; finite: a motor; both zero: there is no such row
    double across;     // the same of each row across the axis, from -across to across: INFINITY, or 0 where there is none
    SandVec3 bias;     // m/s or rad/s, world frame: added to the relative velocity, b minus a
    double compliance; // added to the diagonal of N along the axis: velocity over impulse of an implicit spring; 0: rigid
} SandJointRows;

typedef struct SandProblemBody {
    double inverse_mass;       // 0: kinematic (a boundary)
    double inverse_inertia[6]; // world frame: xx, yy, zz, xy, xz, yz
    SandVec3 velocity;         // free velocity M^-1 Q: after the step's forces, before contact
    SandVec3 spin;
    double radius;     // of a sphere, else 0
    SandVec3 position; // m, center of mass; only differences matter. All zero where unknown
    double unused;     // pads to a multiple of 16 bytes, in which a GPU copies records
} SandProblemBody;

// N of a problem that is stored as a matrix, in contact frames whose first axis is the normal. Such a problem has bodies in
// name only: contact i joins body i to one body at rest, without arms, and velocity and spin of body i are minus the
// relative ones of the contact. Rows of bilateral constraints are blocks of joints, which are not angular. The effect of the
// impulses on the bodies comes from the matrix.
typedef struct SandMatrix {
    int *first, *column; // blocks first[i] .. first[i+1]-1 of row i, sorted by column (block CSR); with block (i, k) there
                         // is block (k, i), and every (i, i)
    int *mirror;         // of each block (i, k): the index of block (k, i)
    int rows;            // of a block: 3, or 6, force and torque, where contacts roll
    double *block;       // rows^2 numbers each, row-major
    double asymmetry;    // size of the skew part over that of the symmetric part; 0: symmetric, bit for bit. Otherwise only
                         // the methods with SAND_UNSYMMETRIC solve it
    size_t first_capacity, column_capacity, mirror_capacity, block_capacity;
} SandMatrix;

// How a step undoes penetrations. A shallow penetration is mostly what the unfinished solve of the last step left, and to
// undo all of it at once makes a pile boil: unless the solve reduces an error of the impulses to less than 1 / (1 +
// fraction), the error grows from step to step (docs/stability.md). So only a fraction of a penetration is undone in a
// step, and all of it beyond a depth.
typedef struct SandRecovery {
    double speed;    // m/s, the largest at which a penetration is pushed apart; 0: never
    double depth;    // m; what is deeper is undone in full. 0: everything
    double fraction; // of what is shallower, from 0 to 1
    double fall; // m/s^2; what is deeper is pushed apart at the speed of a fall from its own depth at most. 0: at `speed`
} SandRecovery;

// The gap that a step closes or undoes in place of this one: that of a deep penetration which is pushed apart at the speed
// of a fall, sqrt(2 fall depth). A body that is lifted so comes to rest where it no longer penetrates, and does not fly.
SAND_HOST_DEVICE double sand_recovery_gap(SandRecovery r, double gap, double step) {
    if (!(r.fall > 0 && gap < 0)) return gap;
    double deepest = -step * sqrt(-2 * r.fall * gap) - (1 - r.fraction) * r.depth;
    return gap > deepest ? gap : deepest;
}

// The least normal velocity of a contact, m/s: a gap may close in one step and no faster, a penetration is undone.
SAND_HOST_DEVICE double sand_recovery_bias(SandRecovery r, double gap, double step) {
    double deep = gap + (1 - r.fraction) * r.depth, shallow = gap < 0 ? r.fraction * gap : gap;
    double bias = (deep < shallow ? deep : shallow) / step;
    return bias > -r.speed ? bias : -r.speed;
}

typedef struct SandProblem {
    SandMatrix *matrix; // NULL: N follows from the bodies
    char note[128];     // of a stored matrix, for the user: what is solved; else empty
    int body_count;     // dynamic bodies first, then boundaries
    int dynamic_count;
    int contact_count;
    bool radial;  // every dynamic body is a sphere and no boundary spins: arms are radius + gap / 2 along the normal
    bool bounces; // contacts may have a bounce; false: none has
    double step;  // s
    SandRecovery recovery;
    SandProblemBody *bodies;
    SandContact *contacts;
    bool rolls;      // contacts may have rolling or spinning friction; false: none has
    SandVec3 *start; // warm start impulses, world frame, on b: sand_problem_vectors of them
    int joint_count; // blocks of joints among the contacts
    SandJointRows *joints;
    int *joint; // of each contact: its rows among `joints`, or -1; only where there are joints
    size_t body_capacity, contact_capacity, start_capacity, joints_capacity, joint_capacity;
} SandProblem;

// Makes room for `count` blocks of joints, and none of the contacts is one yet. contact_count must be set.
SAND_API bool sand_problem_reserve_joints(SandProblem *problem, int count, SandError *error);
// The vectors that impulses of the problem take: the force of each contact, N s, and, where contacts may roll, behind all of
// those the torque of each, N m s.
static inline int sand_problem_vectors(const SandProblem *problem) {
    return problem->rolls ? 2 * problem->contact_count : problem->contact_count;
}
// The rows of contact i where it is a block of a joint, else NULL.
static inline const SandJointRows *sand_problem_joint(const SandProblem *problem, int i) {
    return problem->joint_count && problem->joint[i] >= 0 ? &problem->joints[problem->joint[i]] : NULL;
}

SAND_API void sand_problem_free(SandProblem *problem);
// Copies a problem; arrays of `to` that are large enough are reused.
SAND_API bool sand_problem_copy(SandProblem *to, const SandProblem *from, SandError *error);

// Block e of the matrix, of three rows, times x.
static inline SandVec3 sand_matrix_apply(const SandMatrix *m, int e, SandVec3 x) {
    const double *b = m->block + 9 * e;
    return v3_make(b[0] * x.x + b[1] * x.y + b[2] * x.z, b[3] * x.x + b[4] * x.y + b[5] * x.z,
                   b[6] * x.x + b[7] * x.y + b[8] * x.z);
}

// Checks what solvers assume of a problem without a matrix: finite numbers, bodies in range and contacts in order. `name` is
// what the sentence begins with: a file, or where the arrays come from. A problem from sand_problem_load has passed.
SAND_API bool sand_problem_check(const SandProblem *problem, const char *name, SandError *error);

// Saves a problem to a file, and loads it bit-identical.
SAND_API bool sand_problem_save(const SandProblem *problem, const char *path, SandError *error);
SAND_API bool sand_problem_load(SandProblem *problem, const char *path, SandError *error);

// Opens a stored problem of any format, recognized by its first bytes: one saved by sand_problem_save, an FCLIB file in
// HDF5, or a text file of Siconos; the last two need the reference methods.
SAND_API bool sand_problem_is_stored(const char *path);
SAND_API bool sand_problem_open(SandProblem *problem, const char *path, SandError *error);

// Quality of a solution, measured in the same way for every solver.
typedef struct SandMetrics {
    double residual;        // m/s, ||eps||_2 of [H] eq. 24
    double residual_rms;    // m/s, root mean square over the contacts
    double objective;       // J, q(g); under Coulomb's law without De Saxce's term
    double complementarity; // J, largest |g_i . u_i|, u = N g + r; under Coulomb's law with De Saxce's term
    double relative;        // no dimension: ||g - P_K(g - u)||_2 / ||r||_2 in SI units, a bound of Siconos' error; NAN where
                            // not all metrics were wanted
    double r_norm;          // m/s, ||r||_2; NAN as well
} SandMetrics;

// One point of the convergence curve of a solve.
typedef struct SandCurvePoint {
    int iteration;
    double seconds, residual, objective;
} SandCurvePoint;

// Points of a curve: a solve may go on for longer than it has room for.
#define SAND_CURVE_MOST 1000000
static inline int sand_curve_points(int iterations) {
    return (iterations < SAND_CURVE_MOST ? iterations : SAND_CURVE_MOST) + 1;
}

// What became of the islands of a problem: the parts whose bodies touch each other, and nothing else that moves.
typedef struct SandIslandReport {
    int count;          // with contacts; 0 where none were to be solved directly (SandSolveDef.islands)
    int solved;         // directly
    int factorizations; // that the one which took most of them took; 0: they started from their solutions
    double rms;         // m/s, the largest of those solved: the certificate. Root mean square of the residual over contacts
} SandIslandReport;

typedef struct SandSolution {
    SandStatus status;
    int iterations; // products with N
    double seconds;
    SandMetrics metrics;
    SandIslandReport islands;
    double least_energy; // J: of an infeasible problem, the energy that a solution would take at least (status.h); else 0
    SandVec3 *impulse;   // sand_problem_vectors, world frame, on b; feasible
    SandVec3 *velocity;  // body_count, after contact
    SandVec3 *spin;
    size_t impulse_capacity, velocity_capacity, spin_capacity;
    bool want_curve;   // set by the caller: record the curve
    bool want_metrics; // set by the caller: fill all metrics, even those that the method does not track
    const int *stop;   // set by the caller, may be NULL: the solve ends soon after another thread sets it to nonzero
    int curve_count;
    SandCurvePoint *curve;
    size_t curve_capacity;
    int *live; // set by the caller, may be NULL: how many points of the curve another thread may read by now, stored with
               // release while the solve runs. For that `curve` must have room for all iterations and one more before
} SandSolution;
SAND_API void sand_solution_free(SandSolution *solution);

// A solver on the CPU: a thread pool and the workspace of a solve, kept from step to step.
typedef struct SandCpu SandCpu;
SAND_API SandCpu *sand_cpu_create(int threads, SandPrecision precision, SandError *error);
SAND_API void sand_cpu_free(SandCpu *cpu);
// Solves from problem->start. The solution's arrays grow as needed and belong to the caller.
SAND_API bool sand_cpu_solve(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, SandSolution *solution,
                             SandError *error);
// Computes the residual of each contact at these impulses, m/s; the squares sum to the square of metrics.residual. The
// impulses must be those of the last solve: friction bounds that it froze still apply. `each` has contact_count elements.
SAND_API bool sand_cpu_residuals(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, const SandVec3 *impulse,
                                 double *each, SandError *error);

#ifdef __cplusplus
}
#endif
