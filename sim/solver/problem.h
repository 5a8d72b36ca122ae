// The contact problem of one step, in double and on no particular machine: what is solved, frozen and raced.
//   minimize q(g) = 1/2 g' N g + r' g over g in K,  N = D' M^-1 D,  r = b + D' M^-1 Q
// It stands alone: bodies here are those of the step in the order of their cells, with their velocities before
// contact; boundaries are bodies of infinite mass behind them.
#pragma once
#include "sim/core/error.h"
#include "sim/solver/solver.h"
#include "sim/core/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandContact {
    int a, b;        // bodies; a < b, and contacts are sorted by a
    SandVec3 normal; // unit, from a to b
    SandVec3 arm_a;  // contact point (mid-gap) minus the center of mass of a
    SandVec3 arm_b;
    double gap; // m, signed
    double mu;
} SandContact;

typedef struct SandProblemBody {
    double inverse_mass;       // 0: moves as told (a boundary)
    double inverse_inertia[6]; // world frame: xx, yy, zz, xy, xz, yz
    SandVec3 velocity;         // free velocity M^-1 Q: after the step's forces, before contact
    SandVec3 spin;
    double radius; // of a sphere, else 0
} SandProblemBody;

// N of a problem that was stored as a matrix, in a frame of each contact whose first axis is its normal; symmetric. Such a
// problem has bodies in name only: contact i pushes body i against one that stands still, with no arms, and the velocity
// of body i is minus that of the contact. What its impulses do to the bodies is told by the matrix.
typedef struct SandMatrix {
    int *first, *column; // blocks first[i] .. first[i+1]-1 of row i, in the order of their columns
    double *block;       // 9 numbers each, by rows
    size_t first_capacity, column_capacity, block_capacity;
} SandMatrix;

typedef struct SandProblem {
    SandMatrix *matrix; // NULL: N comes from the bodies
    char note[96];      // what a person should know of how it was read; empty: nothing
    int body_count;     // dynamic bodies first, then boundaries
    int dynamic_count;
    int contact_count;
    bool radial;     // every moving body is a sphere: an arm is its radius plus half the gap, along the normal
    double step;     // s
    double recovery; // m/s
    SandProblemBody *bodies;
    SandContact *contacts;
    SandVec3 *start; // warm start impulses, world frame, on b
    size_t body_capacity, contact_capacity, start_capacity;
} SandProblem;

void sand_problem_free(SandProblem *problem);
bool sand_problem_copy(SandProblem *to, const SandProblem *from,
                       SandError *error); // `to` keeps its arrays where they are large enough

// Block e of the matrix times x.
static inline SandVec3 sand_matrix_apply(const SandMatrix *m, int e, SandVec3 x) {
    const double *b = m->block + 9 * e;
    return v3_make(b[0] * x.x + b[1] * x.y + b[2] * x.z, b[3] * x.x + b[4] * x.y + b[5] * x.z,
                   b[6] * x.x + b[7] * x.y + b[8] * x.z);
}

// Saves a problem to a file and reads it back to the same bits.
bool sand_problem_save(const SandProblem *problem, const char *path, SandError *error);
bool sand_problem_load(SandProblem *problem, const char *path, SandError *error);

// A stored problem of any kind: one that was saved, or an FCLIB file in HDF5 (fclib.h). Whether the file at this path is
// one is seen from its first bytes.
bool sand_problem_is_stored(const char *path);
bool sand_problem_open(SandProblem *problem, const char *path, SandError *error);

// How good a solution is; the same for every solver.
typedef struct SandMetrics {
    double residual;        // m/s, ||eps||_2 of [H] eq. 24
    double residual_rms;    // m/s, a contact
    double objective;       // J, q(g)
    double complementarity; // J, largest |g_i . (N g + r)_i|
} SandMetrics;

// One point of the curve of a solve.
typedef struct SandCurvePoint {
    int iteration;
    double seconds, residual, objective;
} SandCurvePoint;

typedef struct SandSolution {
    SandStatus status;
    int iterations; // products with N
    double seconds;
    SandMetrics metrics;
    SandVec3 *impulse;  // contact_count, world frame, on b; feasible
    SandVec3 *velocity; // body_count, after contact
    SandVec3 *spin;
    size_t impulse_capacity, velocity_capacity, spin_capacity;
    bool want_curve;   // set by the caller: record the curve
    bool want_metrics; // set by the caller: fill metrics even where the method does not need them
    const int *stop;   // set by the caller, or NULL: the solve ends soon after another thread made it other than 0
    int curve_count;
    SandCurvePoint *curve;
    size_t curve_capacity;
} SandSolution;
void sand_solution_free(SandSolution *solution);

// A solver on the CPU: a team of threads and the work arrays of one solve, kept from step to step.
typedef struct SandCpu SandCpu;
SandCpu *sand_cpu_create(int threads, SandPrecision precision, SandError *error);
void sand_cpu_free(SandCpu *cpu);
struct SandThreadPool *sand_cpu_thread_pool(SandCpu *cpu);
// Solves from problem->start. The solution's arrays grow as needed and are kept by the caller.
bool sand_cpu_solve(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, SandSolution *solution,
                    SandError *error);
// How far each contact is from its law at these impulses, m/s: the squares sum up to the square of metrics.residual.
// Impulses of the last solve: bounds of friction that were frozen then are still those.
// `each` has room for contact_count.
bool sand_cpu_residuals(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, const SandVec3 *impulse,
                        double *each, SandError *error);

#ifdef __cplusplus
}
#endif
