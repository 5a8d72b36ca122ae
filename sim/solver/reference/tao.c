// SPDX-License-Identifier: MIT
// BLMVM and TRON, by the Toolkit for Advanced Optimization (TAO) of PETSc ([Q] sections 3.2 and 3.3, on its dual, eq. 13).
//
// blmvm. Idea: a quasi-Newton method. The last few steps, and the changes of the gradient along them, stand for the
// curvature (limited-memory BFGS); gradients are projected on the bounds, and so is the line search (Benson and Moré 2001).
// Weakness: it learns N only from the steps it takes, so that many digits take many products.
//
// tron. Idea: projected gradients choose a face of the set; the Newton step on it, within a trust region, comes from
// conjugate gradients preconditioned by an incomplete factorization of N there; a projected line search ends it (Lin and
// Moré 1999).
// Weakness: conjugate gradients restart on each face, whose submatrix of N has to be extracted and factorized again. In a
// jam with many facets it may creep, however accurately the faces are solved. The paper found it slow, and it crashed there
// at 1,600 pebbles.
//
// A cone given by its edges has z >= 0 for every unknown, so that both serve for pyramids and polyhedra. One iteration is
// one product with N, or with its submatrix on a face; all but the latter are matrix-free products of the cone program. TAO
// owns the loop and is asked to stop at an iterate; conjugate gradients also stop with the budget.
#include "sim/solver/reference/reference.h"
#include "sim/solver/reference/kkt.h"
#include "sim/core/array.h"

#include <math.h>
#include <petsctao.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tron {
    SandSparse *n;
    Mat assembled;            // PETSc's view of n, which shares its arrays
    Mat hessian;              // shell matrix that counts its products
    double accuracy, first;   // of the conjugate gradients: relative tolerance, and their first residual
    bool incomplete_cholesky; // precondition by an incomplete Cholesky factorization
} Tron;

// The bound-constrained problem: minimize 1/2 x'Nx + r'x over x >= 0, where z = unit x. The unit makes numbers near 1, which
// TAO's built-in tolerances assume.
typedef struct BoundProblem {
    SandConeProgram program;
    int contacts, columns;
    double unit;
    SAND_ARRAY(double) vectors;
    double *x, *measured_x, *r, *base, *base_gradient, *work; // in vectors; measured_x: x at the last measured iterate
    SandIterationMonitor *monitor;
    int products, measured_products; // so far, and at the last measured iterate
    double objective;                // at the last measured iterate, minus that of the base
    bool rebase;                     // the next point that is evaluated becomes the base
    bool not_finite;                 // a number is no longer finite
    int memory;                      // of blmvm: steps kept
    Tron *tron;                      // NULL: blmvm
    // PETSc objects, which live while tao_run does.
    Tao tao;
    Vec solution, low, high;
} BoundProblem;

enum { VECTORS = 5 }; // over the columns; one more over the rows

// --- PETSc ------------------------------------------------------------------------------------------------

static pthread_mutex_t petsc_mutex = PTHREAD_MUTEX_INITIALIZER; // PETSc is not thread-safe
static bool started;
static char petsc_message[256]; // PETSc's last error message

static PetscErrorCode keep_petsc_message(MPI_Comm comm, int line, const char *function, const char *file,
                                         PetscErrorCode code, PetscErrorType kind, const char *text, void *context) {
    (void)comm;
    (void)line;
    (void)function;
    (void)file;
    (void)context;
    if (kind == PETSC_ERROR_INITIAL) snprintf(petsc_message, sizeof petsc_message, "%.*s", (int)strcspn(text, "\n"), text);
    return code;
}

static bool petsc_ok(PetscErrorCode code, SandError *error) {
    return !code || sand_fail(error, "PETSc gave up (error %d): %s", (int)code, petsc_message);
}

// Finalizes PETSc at exit, unless another thread is still solving: then the process is ending abruptly.
static void petsc_finish(void) {
    if (pthread_mutex_trylock(&petsc_mutex)) return;
    PetscPopErrorHandler();
    PetscFinalize();
    started = false;
    pthread_mutex_unlock(&petsc_mutex);
}

// Initializes PETSc, and MPI with it. MPI must start no other process and catch no signals; PETSc must catch no signals and
// read no options file.
static PetscErrorCode petsc_start(void) {
    static char *arguments[] = {"sandglass", "-no_signal_handler", "-skip_petscrc", NULL};
    char **list = arguments;
    int count = 3;
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_opal_signal", "", 0);
    PETSC_MPI_THREAD_REQUIRED = MPI_THREAD_SERIALIZED;
    PetscCall(PetscInitialize(&count, &list, NULL, NULL));
    PetscCall(PetscOptionsClear(NULL)); // and no options from the environment
    PetscCall(PetscPushErrorHandler(keep_petsc_message, NULL));
    return 0;
}

static bool tao_prepare(SandError *error) {
    pthread_mutex_lock(&petsc_mutex);
    bool ok = started || petsc_ok(petsc_start(), error);
    if (ok && !started) started = atexit(petsc_finish) == 0;
    pthread_mutex_unlock(&petsc_mutex);
    return ok;
}

// --- callbacks of TAO -------------------------------------------------------------------------------------

// y = N x
static PetscErrorCode product(BoundProblem *m, Vec from, Vec to) {
    const double *x;
    double *y;
    PetscCall(VecGetArrayRead(from, &x));
    PetscCall(VecGetArrayWrite(to, &y));
    sand_cone_program_product(&m->program, x, y, m->work);
    m->products++;
    PetscCall(VecRestoreArrayWrite(to, &y));
    PetscCall(VecRestoreArrayRead(from, &x));
    return 0;
}

// Evaluates objective and gradient. The objective is reported relative to a base point nearby, so that all digits of the
// difference count: near the minimum a line search would otherwise see only rounding.
static PetscErrorCode evaluate(Tao tao, Vec at, PetscReal *objective, Vec gradient, void *context) {
    (void)tao;
    BoundProblem *m = context;
    const double *x;
    double *g, value = 0, size = 0;
    PetscCall(product(m, at, gradient));
    PetscCall(VecGetArrayRead(at, &x));
    PetscCall(VecGetArray(gradient, &g));
    for (int j = 0; j < m->columns; j++) {
        g[j] += m->r[j];
        if (m->rebase) {
            m->base[j] = x[j];
            m->base_gradient[j] = g[j];
        }
        value += 0.5 * (x[j] - m->base[j]) * (m->base_gradient[j] + g[j]);
        size += g[j] * g[j];
    }
    m->rebase = false;
    PetscCall(VecRestoreArray(gradient, &g));
    PetscCall(VecRestoreArrayRead(at, &x));
    *objective = value;
    m->not_finite = !isfinite(value + size);
    return m->not_finite ? PETSC_ERR_FP : 0;
}

// Convergence test: reports the iterate to the monitor. The solution vector shares our array, so x is the iterate. No
// product since the last call means that TAO no longer moves.
static PetscErrorCode monitor_iterate(Tao tao, void *context) {
    BoundProblem *m = context;
    PetscCall(TaoGetSolutionStatus(tao, NULL, &m->objective, NULL, NULL, NULL, NULL));
    memcpy(m->measured_x, m->x, (size_t)m->columns * sizeof *m->x);
    bool more = m->products > m->measured_products && sand_monitor_iterate(m->monitor, m->products);
    m->measured_products = m->products;
    return more ? 0 : TaoSetConvergedReason(tao, TAO_CONVERGED_USER);
}

// --- tron -------------------------------------------------------------------------------------------------

static PetscErrorCode hessian_product(Mat hessian, Vec x, Vec y) {
    BoundProblem *m;
    PetscCall(MatShellGetContext(hessian, &m));
    return product(m, x, y);
}

// Extracts N on a face.
static PetscErrorCode hessian_submatrix(Mat hessian, IS rows, IS columns, MatReuse reuse, Mat *submatrix) {
    BoundProblem *m;
    PetscCall(MatShellGetContext(hessian, &m));
    return MatCreateSubMatrix(m->tron->assembled, rows, columns, reuse, submatrix);
}

// The Hessian is constant.
static PetscErrorCode hessian_constant(Tao tao, Vec x, Mat hessian, Mat preconditioner, void *context) {
    (void)tao;
    (void)x;
    (void)hessian;
    (void)preconditioner;
    (void)context;
    return 0;
}

// Convergence test of the conjugate gradients: relative residual or budget.
static PetscErrorCode cg_converged(KSP ksp, PetscInt iteration, PetscReal residual, KSPConvergedReason *reason,
                                   void *context) {
    (void)ksp;
    BoundProblem *m = context;
    if (iteration == 0) m->tron->first = residual;
    if (iteration > 0) m->products++;
    bool small = residual <= m->tron->accuracy * m->tron->first;
    *reason = small || !sand_monitor_has_budget(m->monitor, m->products) ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
    return 0;
}

static PetscErrorCode set_up_tron(BoundProblem *m) {
    Tron *t = m->tron;
    PetscInt n = m->columns;
    KSP ksp;
    PC preconditioner;
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, t->n->begin, t->n->row, t->n->value, &t->assembled));
    PetscCall(MatCreateShell(PETSC_COMM_SELF, n, n, n, n, m, &t->hessian));
    PetscCall(MatShellSetOperation(t->hessian, MATOP_MULT, (void (*)(void))hessian_product));
    PetscCall(MatShellSetOperation(t->hessian, MATOP_CREATE_SUBMATRIX, (void (*)(void))hessian_submatrix));
    PetscCall(TaoSetHessian(m->tao, t->hessian, t->hessian, hessian_constant, NULL));
    PetscCall(TaoGetKSP(m->tao, &ksp));
    PetscCall(KSPSetConvergenceTest(ksp, cg_converged, m, NULL));
    PetscCall(KSPGetPC(ksp, &preconditioner));
    PetscCall(PCSetType(preconditioner, t->incomplete_cholesky ? PCICC : PCNONE));
    // N is singular where contacts are redundant.
    if (t->incomplete_cholesky) PetscCall(PCFactorSetShiftType(preconditioner, MAT_SHIFT_POSITIVE_DEFINITE));
    return 0;
}

// --- both -------------------------------------------------------------------------------------------------

// Sets the memory of blmvm, which TAO takes only from its options database.
static PetscErrorCode set_up_blmvm(BoundProblem *m) {
    char number[16];
    snprintf(number, sizeof number, "%d", m->memory);
    PetscCall(PetscOptionsSetValue(NULL, "-tao_blmvm_mat_lmvm_hist_size", number));
    return TaoSetFromOptions(m->tao);
}

// Prepares another run after a failed line search. Unknowns just above their bound that the gradient pulls to it promise a
// decrease that cannot be had: they are put on the bound. Another run, with that point as the base, is worthwhile if any
// unknown was moved, or if this run decreased the objective.
static PetscErrorCode prepare_restart(BoundProblem *m, bool *again) {
    const double near = 1e-8;
    double *x, *g = m->base_gradient;
    *again = m->objective < 0;
    PetscCall(VecGetArray(m->solution, &x));
    memcpy(x, m->measured_x, (size_t)m->columns * sizeof *x);
    sand_cone_program_product(&m->program, x, g, m->work);
    m->products++;
    for (int j = 0; j < m->columns; j++) {
        g[j] += m->r[j];
        if (x[j] > 0 && x[j] <= near * g[j]) {
            x[j] = 0;
            *again = true;
        }
    }
    return VecRestoreArray(m->solution, &x);
}

// Sets up TAO and runs it, again after every failed line search that leaves something to gain.
static PetscErrorCode minimize(BoundProblem *m) {
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, m->columns, m->x, &m->solution));
    PetscCall(VecDuplicate(m->solution, &m->low));
    PetscCall(VecDuplicate(m->solution, &m->high));
    PetscCall(VecSet(m->low, 0));
    PetscCall(VecSet(m->high, PETSC_INFINITY));
    PetscCall(TaoCreate(PETSC_COMM_SELF, &m->tao));
    PetscCall(TaoSetType(m->tao, m->tron ? TAOTRON : TAOBLMVM));
    PetscCall(TaoSetSolution(m->tao, m->solution));
    PetscCall(TaoSetVariableBounds(m->tao, m->low, m->high));
    PetscCall(TaoSetObjectiveAndGradient(m->tao, NULL, evaluate, m));
    PetscCall(TaoSetConvergenceTest(m->tao, monitor_iterate, m));
    PetscCall(m->tron ? set_up_tron(m) : set_up_blmvm(m));
    bool again;
    do {
        TaoConvergedReason reason;
        m->rebase = true;
        again = false;
        PetscCall(TaoSolve(m->tao));
        PetscCall(TaoGetConvergedReason(m->tao, &reason));
        if (reason == TAO_DIVERGED_LS_FAILURE) PetscCall(prepare_restart(m, &again));
    } while (again);
    return 0;
}

static void destroy_petsc_objects(BoundProblem *m) {
    TaoDestroy(&m->tao);
    VecDestroy(&m->solution);
    VecDestroy(&m->low);
    VecDestroy(&m->high);
    if (m->tron) MatDestroy(&m->tron->hessian);
    if (m->tron) MatDestroy(&m->tron->assembled);
}

static bool tao_run(void *method, SandIterationMonitor *monitor, SandError *error) {
    BoundProblem *m = method;
    if (!m->contacts) return true;
    m->monitor = monitor;
    pthread_mutex_lock(&petsc_mutex);
    PetscErrorCode code = minimize(m);
    bool ok = m->not_finite || petsc_ok(code, error);
    destroy_petsc_objects(m);
    pthread_mutex_unlock(&petsc_mutex);
    return ok;
}

static void tao_end(void *method) {
    BoundProblem *m = method;
    if (m->tron) {
        sand_sparse_free(m->tron->n);
        free(m->tron);
    }
    sand_cone_program_free(&m->program);
    SAND_FREE_ARRAYS(&m->vectors);
    free(m);
}

static BoundProblem *tao_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    BoundProblem *m = calloc(1, sizeof *m);
    if (!m) {
        sand_fail(error, "out of memory for a solver");
        return NULL;
    }
    m->contacts = problem->contact_count;
    bool ok = sand_cone_program_make(&m->program, problem, def, error);
    const SandConeProgram *p = &m->program;
    size_t n = (size_t)(m->columns = p->columns);
    ok = ok && SAND_RESERVE(m->vectors, VECTORS * n + (size_t)p->rows + 1, "vectors of TAO", error);
    if (!ok) {
        tao_end(m);
        return NULL;
    }
    double **vector[VECTORS] = {&m->x, &m->measured_x, &m->r, &m->base, &m->base_gradient};
    for (size_t k = 0; k < VECTORS; k++) *vector[k] = m->vectors.data + k * n;
    m->work = m->vectors.data + VECTORS * n;
    for (int j = 0; j < p->columns; j++) m->unit = fmax(m->unit, fabs(p->r.data[j]));
    if (m->unit == 0) m->unit = 1;
    sand_cone_program_unknowns(p, problem->start, m->x);
    for (int j = 0; j < p->columns; j++) {
        m->x[j] = fmax(m->x[j], 0) / m->unit;
        m->r[j] = p->r.data[j] / m->unit;
    }
    return m;
}

static void tao_impulses(const void *method, SandVec3 *impulse) {
    const BoundProblem *m = method;
    sand_cone_program_impulses(&m->program, m->x, m->contacts, impulse);
    for (int i = 0; i < m->contacts; i++) impulse[i] = v3_scale(m->unit, impulse[i]);
}

// --- the rows of the table --------------------------------------------------------------------------------

enum { BLMVM_MEMORY };

static void *blmvm_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    BoundProblem *m = tao_begin(problem, def, error);
    if (m) m->memory = (int)def->params[BLMVM_MEMORY];
    return m;
}

enum { TRON_ACCURACY, TRON_PRECONDITIONER };

static void *tron_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    BoundProblem *m = tao_begin(problem, def, error);
    if (!m || !m->contacts) return m;
    Tron *t = m->tron = calloc(1, sizeof *t);
    if (!t) {
        tao_end(m);
        sand_fail(error, "out of memory for a solver");
        return NULL;
    }
    t->accuracy = def->params[TRON_ACCURACY];
    t->incomplete_cholesky = def->params[TRON_PRECONDITIONER] == 0;
    t->n = sand_cone_program_assemble(&m->program, error);
    if (!t->n) {
        tao_end(m);
        m = NULL;
    }
    return m;
}

const SandAssembledMethod sand_assembled_blmvm = {
    .begin = blmvm_begin, .impulses = tao_impulses, .end = tao_end, .run = tao_run, .prepare = tao_prepare};
const SandAssembledMethod sand_assembled_tron = {
    .begin = tron_begin, .impulses = tao_impulses, .end = tao_end, .run = tao_run, .prepare = tao_prepare};
