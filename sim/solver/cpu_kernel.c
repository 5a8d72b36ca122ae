// The solver kernels on the CPU. Compiled once per variant (sim/solver/kernel/variant.h): the build defines SAND_REAL,
// SAND_ROWS, SAND_RADIAL, SAND_LOCAL, and SAND_KERNEL_NAME, the name of the table of functions at the end.
#include "sim/solver/cpu_kernel.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/solver/adjacency.h"
#include "sim/solver/kernel/driver.inl"
#include "sim/solver/kernel/pack.inl"

#include <stdlib.h>
#include <string.h>

#ifndef SAND_KERNEL_NAME // opened alone
#define SAND_KERNEL_NAME sand_kernel_f64_local_full
#endif

// The per-contact arrays lie one after the other in one allocation: where each begins, in multiples of the padded contact
// count.
enum {
    PLACE_CONSTANTS,
    PLACE_IMPULSE = CONTACT_CONSTANTS,
    PLACE_RECORD = PLACE_IMPULSE + 4,
    PLACE_ARM_A = SAND_RADIAL || SAND_LAYOUT_AOS ? PLACE_RECORD + 4 : PLACE_RECORD,
    PLACE_ARM_B = PLACE_ARM_A + 4,
    PLACE_BOUND = SAND_RADIAL ? PLACE_ARM_A : PLACE_ARM_B + 4,
    PLACE_DE_SAXCE = PLACE_BOUND + 1,
    PLACE_END = SAND_LOCAL ? PLACE_DE_SAXCE + 1 : PLACE_BOUND,
};

struct SandSolverWorkspace {
    Op op;
    SolveState run;
    SandAdjacency adjacency;
    // Arrays that the const pointers in op look into.
    real *contacts; // PLACE_
    real *vectors, *mass, *inertia, *batch_step, *matrix;
    int *a, *b;
    Body *free, *body, *scratch, *measured, *segment_sum;
    size_t contacts_capacity, vectors_capacity, mass_capacity, inertia_capacity, batch_capacity, matrix_capacity;
    size_t a_capacity, b_capacity;
    size_t free_capacity, body_capacity, scratch_capacity, measured_capacity, segment_sum_capacity;
    // While the thread pool works on it.
    int method;
    const SandProblem *problem;
    SandSolution *solution;
    const SandVec3 *x;
    SandVec3 *y;
    double *each;
};

static SandSolverWorkspace *kernel_create(SandError *error) {
    SandSolverWorkspace *t = calloc(1, sizeof *t);
    if (!t) sand_fail(error, "out of memory for a solver");
    return t;
}

static void kernel_destroy(SandSolverWorkspace *t) {
    if (!t) return;
    void *arrays[] = {t->contacts, t->vectors, t->mass, t->inertia, t->batch_step, t->matrix,     t->a,
                      t->b,        t->free,    t->body, t->scratch, t->measured,   t->segment_sum};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sand_free(arrays[k]);
    sand_adjacency_free(&t->adjacency);
    free(t);
}

// --- packing the problem --------------------------------------------------------------------------------

// Mean diagonal of N_ii where N is a matrix.
static double matrix_diagonal(const SandProblem *p, int i) {
    const SandMatrix *m = p->matrix;
    for (int e = m->first[i]; e < m->first[i + 1]; e++) {
        const double *b = m->block + 9 * e;
        double d = SAND_ROWS == 3 && p->contacts[i].mu > 0 ? (b[0] + b[4] + b[8]) / 3 : b[0];
        if (m->column[e] == i && d > 0) return d;
    }
    return 1;
}

static bool load_matrix(SandSolverWorkspace *t, SandError *error) {
    const SandMatrix *m = t->problem->matrix;
    Op *op = &t->op;
    op->is_matrix = m != NULL;
    if (!m) return true;
    int entries = 9 * m->first[t->problem->contact_count];
    if (!SAND_GROW(t->matrix, t->matrix_capacity, entries + 1, "matrix", error)) return false;
    for (int k = 0; k < entries; k++) t->matrix[k] = (real)m->block[k];
    op->matrix_first = m->first;
    op->matrix_column = m->column;
    op->matrix_block = t->matrix;
    return true;
}

static void load_contacts(SandSolverWorkspace *t, Worker *w) {
    const SandProblem *p = t->problem;
    int64_t n = t->op.n;
    real *constant = t->contacts + PLACE_CONSTANTS * n, *record = t->contacts + PLACE_RECORD * n;
    real *arm_a_record = t->contacts + PLACE_ARM_A * n, *arm_b_record = t->contacts + PLACE_ARM_B * n;
    PackTarget target = {t->a, t->b, constant, record, arm_a_record, arm_b_record, t->vectors};
    Sum sum;
    sum_open(w, &sum, 1, 0);
    for (int chunk = w->first_chunk; chunk < w->last_chunk; chunk++) {
        double diagonals = 0;
        int64_t end = sand_chunk_begin(chunk + 1, n / SAND_LANES) * SAND_LANES;
        for (int64_t i = sand_chunk_begin(chunk, n / SAND_LANES) * SAND_LANES; i < end; i++) {
            SandContact none = {.a = t->op.body_count - 1, .b = t->op.body_count - 1};
            const SandContact *c = i < p->contact_count ? &p->contacts[i] : &none;
            double d = i >= p->contact_count ? 1
                       : p->matrix           ? matrix_diagonal(p, (int)i)
                                             : contact_mean_diagonal(p->bodies, c, 1, 1);
            if (i < p->contact_count) diagonals += d;
            pack_contact(&target, i, c, d, i < p->contact_count ? p->start[i] : v3_make(0, 0, 0));
#if SAND_LOCAL
            t->op.de_saxce[i] = 0; // left from another problem
#endif
        }
        sand_partials(w, chunk)[0] = diagonals;
    }
    sum_total(w, &sum);
    if (worker_is_first(w)) op_scale(&t->op, sum.total[0]);
}

static void load_bodies(SandSolverWorkspace *t, Worker *w) {
    const SandProblem *p = t->problem;
    SAND_FOR_EACH(w, k, t->op.body_count) {
        Body body = {{0}, {0}};
        if (k < p->body_count) {
            const SandProblemBody *b = &p->bodies[k];
            body = pack_body(b);
            t->mass[k] = (real)b->inverse_mass;
            for (int j = 0; j < SAND_INERTIA_SIZE; j++) t->inertia[SAND_INERTIA_SIZE * k + j] = (real)b->inverse_inertia[j];
        }
        t->free[k] = t->body[k] = t->measured[k] = body;
        t->scratch[k] = (Body){{0}, {0, 0, 0, body.w[3]}};
    }
}

static void load_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *t = argument;
    load_contacts(t, w);
    load_bodies(t, w);
}

// Lists the contacts of each body, for the gather.
static bool load_adjacency(SandSolverWorkspace *t, SandError *error) {
    Op *op = &t->op;
    SandAdjacency *lists = &t->adjacency;
    if (!sand_adjacency_build(lists, t->problem, error) ||
        !SAND_GROW(t->segment_sum, t->segment_sum_capacity, lists->segment_count, "high-degree bodies", error))
        return false;
    op->first = lists->first;
    op->second = lists->second;
    op->list = lists->list;
    op->high_degree_count = lists->high_degree_count;
    op->segment_count = lists->segment_count;
    op->high_degree = lists->high_degree;
    op->high_degree_segment = lists->high_degree_segment;
    op->segment_body = lists->segment_body;
    op->segment_sum = t->segment_sum;
    return true;
}

// Colors the contacts. In the batch a body counts as often as it has contacts there: then the batch cannot overshoot.
static bool load_colors(SandSolverWorkspace *t, SandError *error) {
    const SandProblem *p = t->problem;
    Op *op = &t->op;
    SandAdjacency *lists = &t->adjacency;
    if (!sand_adjacency_color(lists, p, error) ||
        !SAND_GROW(t->batch_step, t->batch_capacity, p->contact_count + 1, "colors", error))
        return false;
    for (int e = lists->color_first[lists->color_count]; e < lists->color_first[lists->color_count + 1]; e++) {
        const SandContact *c = &p->contacts[lists->color_list[e]];
        int times_a = sand_adjacency_degree(lists, c->a);
        int times_b = c->b < p->dynamic_count ? sand_adjacency_degree(lists, c->b) : 1;
        t->batch_step[e - lists->color_first[lists->color_count]] =
            (real)(1 / contact_mean_diagonal(p->bodies, c, times_a > SAND_HIGH_DEGREE ? times_a : 1,
                                             times_b > SAND_HIGH_DEGREE ? times_b : 1));
    }
    op->color_count = lists->color_count;
    op->color_first = lists->color_first;
    op->color_list = lists->color_list;
    op->batch_step = t->batch_step;
    return true;
}

static bool kernel_load(SandSolverWorkspace *t, SandThreadPool *pool, const SandProblem *p, const SandSolveDef *def,
                        SandError *error) {
    Op *op = &t->op;
    op->contact_count = p->contact_count;
    op->n = ((int64_t)p->contact_count + SAND_LANES - 1) / SAND_LANES * SAND_LANES;
    op->body_count = p->body_count + 1;
    op->dynamic_count = p->dynamic_count;
    op->per_half = (real)(2 / p->step);
    op->recovery = (real)p->recovery;
    op->ratio = (real)sand_solve_param(def, "ratio");
    t->problem = p;
    size_t n = (size_t)op->n + 1, bodies = (size_t)op->body_count,
           vectors = (size_t)sand_solver_table[def->solver].vectors + 1;
    size_t for_bounds = (size_t)sand_solver_table[sand_solver_default].vectors + 1; // their method has vectors as well
    if (SAND_LOCAL && vectors < for_bounds) vectors = for_bounds;
    if (!SAND_GROW(t->contacts, t->contacts_capacity, n * PLACE_END, "contacts", error) ||
        !SAND_GROW(t->vectors, t->vectors_capacity, n * ROW_SIZE * vectors, "solver vectors", error) ||
        !SAND_GROW(t->a, t->a_capacity, n, "contacts", error) || !SAND_GROW(t->b, t->b_capacity, n, "contacts", error) ||
        !SAND_GROW(t->mass, t->mass_capacity, bodies, "bodies", error) ||
        !SAND_GROW(t->inertia, t->inertia_capacity, bodies * SAND_INERTIA_SIZE, "bodies", error) ||
        !SAND_GROW(t->free, t->free_capacity, bodies, "bodies", error) ||
        !SAND_GROW(t->body, t->body_capacity, bodies, "bodies", error) ||
        !SAND_GROW(t->measured, t->measured_capacity, bodies, "bodies", error) ||
        !SAND_GROW(t->scratch, t->scratch_capacity, bodies, "bodies", error) || !load_adjacency(t, error) ||
        !load_matrix(t, error))
        return false;
    op->a = t->a;
    op->b = t->b;
    op->constant = t->contacts + PLACE_CONSTANTS * op->n;
    op->impulse = t->contacts + PLACE_IMPULSE * op->n;
#if SAND_RADIAL || SAND_LAYOUT_AOS
    op->record = t->contacts + PLACE_RECORD * op->n;
#endif
#if !SAND_RADIAL
    op->arm_a_record = t->contacts + PLACE_ARM_A * op->n;
    op->arm_b_record = t->contacts + PLACE_ARM_B * op->n;
#endif
#if SAND_LOCAL
    op->bound = t->contacts + PLACE_BOUND * op->n;
    op->de_saxce = t->contacts + PLACE_DE_SAXCE * op->n;
    op_set_friction(op, def, sand_solver_can(def->solver, SAND_CONE));
#endif
    op->inverse_mass = t->mass;
    op->inverse_inertia = t->inertia;
    op->free = t->free;
    op->still = &t->free[op->body_count - 1];
    op->body = t->body;
    op->scratch = t->scratch;
    op->measured = t->measured;
    op->vectors = t->vectors;
    op->distance = op->n * ROW_SIZE;
    t->run.request.reference = t->vectors + (vectors - 1) * (size_t)op->n * ROW_SIZE;
    sand_thread_pool_run(pool, load_work, t);
    op->color_count = 0;
    return !sand_solve_needs_colors(def) || load_colors(t, error);
}

// --- solving ----------------------------------------------------------------------------------------------

static SandVec3 world_impulse(const Op *op, ContactRef ref, Row r) {
    Vec g = contact_impulse(op, ref, r);
    return v3_make(g.x, g.y, g.z);
}

static void solve_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *t = argument;
    solve_run(w, &t->run, &t->run.request, &t->op, t->method, t->run.request.most_iterations);
    // Back to double: impulses, and free velocities plus what the impulses changed.
    const Op *op = &t->op;
    const Solve *solve = &t->run.solve;
    SandSolution *s = t->solution;
    SAND_FOR_EACH(w, i, op->contact_count)
    s->impulse[i] = world_impulse(op, contact_ref(op, i), solve_best(op, solve, contact_ref(op, i)));
    SAND_FOR_EACH(w, k, t->problem->body_count) {
        const SandProblemBody *free = &t->problem->bodies[k];
        Body change = {{0}, {0}};
        if (k < op->dynamic_count) change = op->body[k];
        s->velocity[k] = v3_add(free->velocity, v3_make(change.v[0], change.v[1], change.v[2]));
        s->spin[k] = v3_add(free->spin, v3_make(change.w[0], change.w[1], change.w[2]));
    }
}

static SandMetrics metrics_of(Measure m, size_t contacts) {
    return (SandMetrics){m.residual, contacts ? m.residual / sqrt((double)contacts) : 0, m.objective, m.complementarity};
}

static bool kernel_solve(SandSolverWorkspace *t, SandThreadPool *pool, const SandProblem *p, const SandSolveDef *def,
                         SandSolution *s, SandError *error) {
    size_t contacts = (size_t)p->contact_count, bodies = (size_t)p->body_count;
    if (!SAND_GROW(s->impulse, s->impulse_capacity, contacts, "impulses", error) ||
        !SAND_GROW(s->velocity, s->velocity_capacity, bodies, "velocities", error) ||
        !SAND_GROW(s->spin, s->spin_capacity, bodies, "velocities", error))
        return false;
    if (s->want_curve && !SAND_GROW(s->curve, s->curve_capacity, def->iterations + 1, "residual curve", error)) return false;
    SolveState *run = &t->run;
    solve_state_init(run, def, s->want_metrics, s->want_curve ? s->curve : NULL);
    run->request.stop = s->stop;
    t->method = def->solver;
    t->problem = p;
    t->solution = s;
    sand_thread_pool_run(pool, solve_work, t);

    s->status = run->solve.status;
    s->iterations = run->iterations;
    s->seconds = run->seconds;
    s->curve_count = run->curve_count;
    s->metrics = metrics_of(run->measure, contacts);
    return true;
}

// --- measuring impulses from elsewhere --------------------------------------------------------------------

static Row row_of_world(const Op *op, ContactRef ref, SandVec3 v) {
#if SAND_LOCAL
    return basis_in(basis_of(contact_normal(op, ref)), vec_make((real)v.x, (real)v.y, (real)v.z));
#elif SAND_ROWS == 3
    return (void)op, (void)ref, vec_make((real)v.x, (real)v.y, (real)v.z);
#else
    return vec_dot(vec_make((real)v.x, (real)v.y, (real)v.z), contact_normal(op, ref));
#endif
}

// Takes block vectors that are given as world vectors into the first vector; the padding is zero.
static void load_impulses(SandSolverWorkspace *t, SandWorker *w) {
    const Op *op = &t->op;
    SAND_FOR_EACH(w, i, op->n)
    row_store(t->vectors, contact_ref(op, i),
              row_of_world(op, contact_ref(op, i), i < op->contact_count ? t->x[i] : v3_make(0, 0, 0)));
    sand_barrier(w);
}

static void measure_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *t = argument;
    load_impulses(t, w);
    Measure m = measure(w, &t->op, t->vectors);
    if (worker_is_first(w)) t->run.measure = m;
}

static void kernel_measure(SandSolverWorkspace *t, SandThreadPool *pool, const SandVec3 *x, SandMetrics *metrics) {
    t->x = x;
    sand_thread_pool_run(pool, measure_work, t);
    *metrics = metrics_of(t->run.measure, (size_t)t->op.contact_count);
}

static void residuals_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *t = argument;
    const Op *op = &t->op;
    load_impulses(t, w);
    gather_bodies_of(w, op, t->vectors, op->free, op->measured);
    SAND_FOR_EACH(w, i, op->contact_count) {
        ContactRef ref = contact_ref(op, i);
        t->each[i] = residual_of(
            op, contact_measured(op, ref, row_load(t->vectors, ref), contact_gradient_from(op, op->measured, ref)));
    }
}

static void kernel_residuals(SandSolverWorkspace *t, SandThreadPool *pool, const SandVec3 *x, double *each) {
    t->x = x;
    t->each = each;
    sand_thread_pool_run(pool, residuals_work, t);
}

// --- for tests --------------------------------------------------------------------------------------------

static void product_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *t = argument;
    const Op *op = &t->op;
    load_impulses(t, w);
    gather_bodies_of(w, op, t->vectors, op->still, op->scratch);
    SAND_FOR_EACH(w, i, op->contact_count) {
        ContactRef ref = contact_ref(op, i);
        t->y[i] = world_impulse(op, ref, contact_without_bias(op, ref, contact_gradient_from(op, op->scratch, ref)));
    }
}

static void kernel_product(SandSolverWorkspace *t, SandThreadPool *pool, const SandVec3 *x, SandVec3 *y) {
    t->x = x;
    t->y = y;
    sand_thread_pool_run(pool, product_work, t);
}

static void kernel_project(SandSolverWorkspace *t, const SandVec3 *x, SandVec3 *y) {
    const Op *op = &t->op;
    for (int64_t i = 0; i < op->contact_count; i++) {
        ContactRef ref = contact_ref(op, i);
        y[i] = world_impulse(op, ref, contact_project(op, ref, row_of_world(op, ref, x[i])));
    }
}

const SandSolverKernel SAND_KERNEL_NAME = {
    .create = kernel_create,
    .destroy = kernel_destroy,
    .load = kernel_load,
    .solve = kernel_solve,
    .measure = kernel_measure,
    .residuals = kernel_residuals,
    .product = kernel_product,
    .project = kernel_project,
};
