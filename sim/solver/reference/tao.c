// BLMVM and TRON, by the Toolkit for Advanced Optimization (TAO) of PETSc ([Q] sections 3.2 and 3.3, on its dual, eq. 13).
//
// blmvm. Idea: a quasi-Newton method. The last few steps, and what they did to the gradient, stand for the curvature
// (limited-memory BFGS); gradients are projected on the bounds, and so is the line search (Benson and Moré 2001).
// Weakness: N is known only by what was met on the way, so that many digits take many products.
//
// tron. Idea: projected gradients choose a face of the set; Newton's step on it, within a trust region, comes from
// conjugate gradients with incomplete factors of N there; a projected line search ends it (Lin and Moré 1999).
// Weakness: conjugate gradients begin anew on each face, where N has to be taken apart and factorized again. In a jam with
// many facets it may creep, however well they are solved. The paper found it slow, and had it crash at 1,600 pebbles.
//
// Where a cone is given by its edges every unknown has z >= 0, so that both serve for pyramids and polyhedra. One iteration
// is one product with N, or with its part on a face; all but the latter are the program's own and need no matrix. TAO
// has the loop, and is asked to end at an iterate; conjugate gradients end with the budget.
#include "sim/solver/reference/assembled.h"
#include "sim/solver/reference/kkt.h"
#include "sim/core/array.h"

#include <math.h>
#include <petsctao.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

typedef struct Tron {
    cholmod_common common;
    cholmod_sparse *n;
    Mat assembled;          // the same, in the same memory
    Mat hessian;            // whose products are counted
    double accuracy, first; // of the conjugate gradients: what is asked, and their first residual
    bool factors;
} Tron;

// Minimizes 1/2 x'Nx + r'x over x >= 0, where z = unit x: TAO has limits that suppose numbers near 1.
typedef struct Bounded {
    SandConeProgram program;
    int contacts, columns;
    double unit;
    double *vectors, *x, *seen, *r, *base, *base_gradient, *work; // seen: x at the last look
    size_t vectors_capacity;
    SandWatch *watch;
    int products, looked; // until now, and at the last look
    double objective;     // at the last look, above that of the base
    bool fresh;           // the next point becomes the base
    double left;          // how far the conditions of the minimum are from holding, where no line search succeeds; of 1
    bool broken;          // numbers are no longer finite
    int memory;
    Tron *tron; // NULL: blmvm
    // Those of PETSc live while it runs.
    Tao tao;
    Vec solution, low, high;
} Bounded;

enum { VECTORS = 5 }; // over the columns, and one over the rows

// --- PETSc ------------------------------------------------------------------------------------------------

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; // PETSc knows of no threads
static bool started;
static char complaint[256]; // what PETSc said last

static PetscErrorCode hear(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                           PetscErrorType kind, const char *text, void *context) {
    (void)comm, (void)line, (void)function, (void)file, (void)context;
    if (kind == PETSC_ERROR_INITIAL) snprintf(complaint, sizeof complaint, "%.*s", (int)strcspn(text, "\n"), text);
    return code;
}

static bool told(PetscErrorCode code, SandError *error) {
    return !code || sand_fail(error, "PETSc gave up (error %d): %s", (int)code, complaint);
}

// Not when a solve is under way in another thread: then the program is ending in a hurry.
static void finish(void) {
    if (pthread_mutex_trylock(&one_at_a_time)) return;
    PetscPopErrorHandler();
    PetscFinalize();
    started = false;
    pthread_mutex_unlock(&one_at_a_time);
}

// MPI comes along with PETSc. It is to have no process beside ours and no signals, and PETSc no signals and no file of
// options.
static PetscErrorCode start(void) {
    static char *words[] = {"sandglass", "-no_signal_handler", "-skip_petscrc", NULL};
    char **list = words;
    int count = 3;
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_opal_signal", "", 0);
    PETSC_MPI_THREAD_REQUIRED = MPI_THREAD_SERIALIZED;
    PetscCall(PetscInitialize(&count, &list, NULL, NULL));
    PetscCall(PetscOptionsClear(NULL)); // and none of the environment
    PetscCall(PetscPushErrorHandler(hear, NULL));
    return 0;
}

static bool tao_prepare(SandError *error) {
    pthread_mutex_lock(&one_at_a_time);
    bool ok = started || told(start(), error);
    if (ok && !started) started = atexit(finish) == 0;
    pthread_mutex_unlock(&one_at_a_time);
    return ok;
}

// --- what TAO asks for ------------------------------------------------------------------------------------

// y = N x
static PetscErrorCode product(Bounded *m, Vec from, Vec to) {
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

// The objective is told from that of a base near by: of a difference, all digits count. Near the minimum a line search
// would else see nothing but rounding.
static PetscErrorCode evaluate(Tao tao, Vec at, PetscReal *objective, Vec gradient, void *context) {
    (void)tao;
    Bounded *m = context;
    const double *x;
    double *g, value = 0, size = 0;
    PetscCall(product(m, at, gradient));
    PetscCall(VecGetArrayRead(at, &x));
    PetscCall(VecGetArray(gradient, &g));
    for (int j = 0; j < m->columns; j++) {
        g[j] += m->r[j];
        if (m->fresh) m->base[j] = x[j], m->base_gradient[j] = g[j];
        value += 0.5 * (x[j] - m->base[j]) * (m->base_gradient[j] + g[j]);
        size += g[j] * g[j];
    }
    m->fresh = false;
    PetscCall(VecRestoreArray(gradient, &g));
    PetscCall(VecRestoreArrayRead(at, &x));
    *objective = value;
    m->broken = !isfinite(value + size);
    return m->broken ? PETSC_ERR_FP : 0;
}

// An iterate: the solution's vector is ours, and was changed in place. Without a product since the last one nothing moves
// any more.
static PetscErrorCode look(Tao tao, void *context) {
    Bounded *m = context;
    PetscCall(TaoGetSolutionStatus(tao, NULL, &m->objective, NULL, NULL, NULL, NULL));
    memcpy(m->seen, m->x, (size_t)m->columns * sizeof *m->x);
    bool more = m->products > m->looked && sand_watch_look(m->watch, m->products);
    m->looked = m->products;
    return more ? 0 : TaoSetConvergedReason(tao, TAO_CONVERGED_USER);
}

// --- tron -------------------------------------------------------------------------------------------------

static PetscErrorCode hessian_product(Mat hessian, Vec x, Vec y) {
    Bounded *m;
    PetscCall(MatShellGetContext(hessian, &m));
    return product(m, x, y);
}

// N on a face.
static PetscErrorCode hessian_part(Mat hessian, IS rows, IS columns, MatReuse reuse, Mat *part) {
    Bounded *m;
    PetscCall(MatShellGetContext(hessian, &m));
    return MatCreateSubMatrix(m->tron->assembled, rows, columns, reuse, part);
}

static PetscErrorCode hessian_stays(Tao tao, Vec x, Mat hessian, Mat preconditioner, void *context) {
    (void)tao, (void)x, (void)hessian, (void)preconditioner, (void)context;
    return 0;
}

// After each conjugate gradient.
static PetscErrorCode enough(KSP ksp, PetscInt iteration, PetscReal residual, KSPConvergedReason *reason, void *context) {
    (void)ksp;
    Bounded *m = context;
    if (iteration == 0) m->tron->first = residual;
    if (iteration > 0) m->products++;
    bool small = residual <= m->tron->accuracy * m->tron->first;
    *reason = small || !sand_watch_goes_on(m->watch, m->products) ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
    return 0;
}

static PetscErrorCode set_up_tron(Bounded *m) {
    Tron *t = m->tron;
    PetscInt n = m->columns;
    KSP ksp;
    PC preconditioner;
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, t->n->p, t->n->i, t->n->x, &t->assembled));
    PetscCall(MatCreateShell(PETSC_COMM_SELF, n, n, n, n, m, &t->hessian));
    PetscCall(MatShellSetOperation(t->hessian, MATOP_MULT, (void (*)(void))hessian_product));
    PetscCall(MatShellSetOperation(t->hessian, MATOP_CREATE_SUBMATRIX, (void (*)(void))hessian_part));
    PetscCall(TaoSetHessian(m->tao, t->hessian, t->hessian, hessian_stays, NULL));
    PetscCall(TaoGetKSP(m->tao, &ksp));
    PetscCall(KSPSetConvergenceTest(ksp, enough, m, NULL));
    PetscCall(KSPGetPC(ksp, &preconditioner));
    PetscCall(PCSetType(preconditioner, t->factors ? PCICC : PCNONE));
    // Where contacts are redundant N is singular.
    if (t->factors) PetscCall(PCFactorSetShiftType(preconditioner, MAT_SHIFT_POSITIVE_DEFINITE));
    return 0;
}

// --- both -------------------------------------------------------------------------------------------------

// TAO gives the memory of blmvm no other name.
static PetscErrorCode set_up_blmvm(Bounded *m) {
    char number[16];
    snprintf(number, sizeof number, "%d", m->memory);
    PetscCall(PetscOptionsSetValue(NULL, "-tao_blmvm_mat_lmvm_hist_size", number));
    return TaoSetFromOptions(m->tao);
}

// After a line search that failed. Unknowns just above their bound that are drawn to it promise a gain that cannot be had:
// they are put on it. Another round, from there as the base, is worth while if one was, or if this one came to something.
static PetscErrorCode settle(Bounded *m, bool *again) {
    const double near = 1e-8;
    double *x, *g = m->base_gradient;
    *again = m->objective < 0;
    m->left = 0;
    PetscCall(VecGetArray(m->solution, &x));
    memcpy(x, m->seen, (size_t)m->columns * sizeof *x);
    sand_cone_program_product(&m->program, x, g, m->work);
    m->products++;
    for (int j = 0; j < m->columns; j++) {
        g[j] += m->r[j];
        m->left = fmax(m->left, fabs(fmin(x[j], g[j])));
        if (x[j] > 0 && x[j] <= near * g[j]) x[j] = 0, *again = true;
    }
    return VecRestoreArray(m->solution, &x);
}

static PetscErrorCode minimize(Bounded *m) {
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
    PetscCall(TaoSetConvergenceTest(m->tao, look, m));
    PetscCall(m->tron ? set_up_tron(m) : set_up_blmvm(m));
    bool again;
    do {
        TaoConvergedReason reason;
        m->fresh = true, again = false;
        PetscCall(TaoSolve(m->tao));
        PetscCall(TaoGetConvergedReason(m->tao, &reason));
        if (reason == TAO_DIVERGED_LS_FAILURE) PetscCall(settle(m, &again));
    } while (again);
    return 0;
}

static void clear(Bounded *m) {
    TaoDestroy(&m->tao);
    VecDestroy(&m->solution);
    VecDestroy(&m->low);
    VecDestroy(&m->high);
    if (m->tron) MatDestroy(&m->tron->hessian);
    if (m->tron) MatDestroy(&m->tron->assembled);
}

static bool tao_run(void *method, SandWatch *watch, SandStatus *status, SandError *error) {
    Bounded *m = method;
    if (!m->contacts) return *status = SAND_SOLVED, true;
    m->watch = watch;
    pthread_mutex_lock(&one_at_a_time);
    PetscErrorCode code = minimize(m);
    bool ok = m->broken || told(code, error);
    clear(m);
    pthread_mutex_unlock(&one_at_a_time);
    if (m->broken) *status = SAND_DIVERGED;
    if (*status == SAND_BUDGET && m->left <= 1e-9) *status = SAND_SOLVED;
    return ok;
}

static void tao_end(void *method) {
    Bounded *m = method;
    if (m->tron) {
        cholmod_free_sparse(&m->tron->n, &m->tron->common);
        cholmod_finish(&m->tron->common);
        free(m->tron);
    }
    sand_cone_program_free(&m->program);
    sand_free(m->vectors);
    free(m);
}

static Bounded *tao_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    Bounded *m = calloc(1, sizeof *m);
    if (!m) return sand_fail(error, "out of memory for a solver"), NULL;
    m->contacts = problem->contact_count, m->left = INFINITY;
    bool ok = sand_cone_program_make(&m->program, problem, def, error);
    const SandConeProgram *p = &m->program;
    size_t n = (size_t)(m->columns = p->columns);
    ok = ok && SAND_GROW(m->vectors, m->vectors_capacity, VECTORS * n + (size_t)p->rows + 1, "vectors of TAO", error);
    if (!ok) return tao_end(m), NULL;
    double **vector[VECTORS] = {&m->x, &m->seen, &m->r, &m->base, &m->base_gradient};
    for (size_t k = 0; k < VECTORS; k++) *vector[k] = m->vectors + k * n;
    m->work = m->vectors + VECTORS * n;
    for (int j = 0; j < p->columns; j++) m->unit = fmax(m->unit, fabs(p->r[j]));
    if (m->unit == 0) m->unit = 1;
    sand_cone_program_unknowns(p, problem->start, m->x);
    for (int j = 0; j < p->columns; j++) m->x[j] = fmax(m->x[j], 0) / m->unit, m->r[j] = p->r[j] / m->unit;
    return m;
}

static void tao_impulses(const void *method, SandVec3 *impulse) {
    const Bounded *m = method;
    sand_cone_program_impulses(&m->program, m->x, m->contacts, impulse);
    for (int i = 0; i < m->contacts; i++) impulse[i] = v3_scale(m->unit, impulse[i]);
}

// --- the rows of the table --------------------------------------------------------------------------------

enum { BLMVM_MEMORY };

static void *blmvm_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    Bounded *m = tao_begin(problem, def, error);
    if (m) m->memory = (int)def->params[BLMVM_MEMORY];
    return m;
}

enum { TRON_ACCURACY, TRON_PRECONDITIONER };

static void *tron_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    Bounded *m = tao_begin(problem, def, error);
    if (!m || !m->contacts) return m;
    Tron *t = m->tron = calloc(1, sizeof *t);
    if (!t) return tao_end(m), sand_fail(error, "out of memory for a solver"), NULL;
    cholmod_start(&t->common);
    t->common.print = 0;
    t->accuracy = def->params[TRON_ACCURACY], t->factors = def->params[TRON_PRECONDITIONER] == 0;
    t->n = sand_cone_program_assemble(&m->program, &t->common, error);
    // PETSc wants the entries in order.
    if (t->n && !cholmod_sort(t->n, &t->common)) {
        sand_cholmod_told(t->common.status, "assembling N", error);
        cholmod_free_sparse(&t->n, &t->common);
    }
    if (!t->n) tao_end(m), m = NULL;
    return m;
}

const SandAssembledMethod sand_assembled_blmvm = {
    .begin = blmvm_begin, .impulses = tao_impulses, .end = tao_end, .run = tao_run, .prepare = tao_prepare};
const SandAssembledMethod sand_assembled_tron = {
    .begin = tron_begin, .impulses = tao_impulses, .end = tao_end, .run = tao_run, .prepare = tao_prepare};
