// The solver kernels on the CPU. Compiled once per variant (sim/solver/kernel/variant.h): the build defines SAND_REAL,
// SAND_ROWS, SAND_RADIAL, SAND_LOCAL, SAND_JOINTS, SAND_ROLLING, and SAND_KERNEL_NAME, the name of the table of functions at
// the end.
#include "sim/solver/cpu_kernel.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/solver/accuracy.h"
#include "sim/solver/adjacency.h"
#include "sim/solver/cells.h"
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
    OFFSET_CONSTANTS,
    OFFSET_IMPULSE = CONTACT_CONSTANTS,
    OFFSET_RECORD = OFFSET_IMPULSE + IMPULSE_SIZE,
    OFFSET_ARM_A = SAND_RADIAL || SAND_LAYOUT_AOS ? OFFSET_RECORD + 4 : OFFSET_RECORD,
    OFFSET_ARM_B = OFFSET_ARM_A + 4,
    OFFSET_BOUND = SAND_RADIAL ? OFFSET_ARM_A : OFFSET_ARM_B + 4,
    OFFSET_DE_SAXCE = OFFSET_BOUND + 1,
    OFFSET_END = SAND_LOCAL ? OFFSET_DE_SAXCE + 1 : OFFSET_BOUND,
};

struct SandSolverWorkspace {
    Op op;
    SolveState run;
    SandAdjacency adjacency;
    SandCells cells;
    // Arrays that the const pointers in op look into.
    real *contacts; // OFFSET_
    real *vectors, *mass, *inertia, *batch_step, *matrix;
    real *bounce; // of each contact, where contacts have one
    int *a, *b;
    real *place;  // the field and the moments of the bodies behind it
    real *coarse; // parts, matrices and vectors of the cells
    Body *free, *body, *scratch, *measured, *segment_sum;
    size_t contacts_capacity, vectors_capacity, mass_capacity, inertia_capacity, batch_capacity, matrix_capacity;
    size_t a_capacity, b_capacity, bounce_capacity, place_capacity, coarse_capacity;
    size_t free_capacity, body_capacity, scratch_capacity, measured_capacity, segment_sum_capacity;
    // While the thread pool works on it.
    int method;
    bool frictionless; // by the model, whatever the contacts say
    const SandProblem *problem;
    SandSolution *solution;
    const SandVec3 *x;
    SandVec3 *y;
    double *each;
    SandRecession recession;
};

static SandSolverWorkspace *kernel_create(SandError *error) {
    SandSolverWorkspace *workspace = calloc(1, sizeof *workspace);
    if (!workspace) sand_fail(error, "out of memory for a solver");
    return workspace;
}

static void kernel_destroy(SandSolverWorkspace *workspace) {
    if (!workspace) return;
    void *arrays[] = {workspace->contacts,    workspace->vectors, workspace->mass,    workspace->inertia,
                      workspace->batch_step,  workspace->matrix,  workspace->a,       workspace->b,
                      workspace->free,        workspace->body,    workspace->scratch, workspace->measured,
                      workspace->segment_sum, workspace->place,   workspace->coarse,  workspace->bounce};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sand_free(arrays[k]);
    sand_adjacency_free(&workspace->adjacency);
    sand_cells_free(&workspace->cells);
    free(workspace);
}

// --- packing the problem --------------------------------------------------------------------------------

// The diagonal block of contact i where N is a matrix.
static const double *matrix_block(const SandMatrix *m, int i) {
    for (int e = m->first[i]; e < m->first[i + 1]; e++)
        if (m->column[e] == i) return m->block + (size_t)(m->rows * m->rows) * (size_t)e;
    return NULL;
}

// Its mean diagonal over the rows of forces.
static double matrix_diagonal(const SandProblem *p, int i) {
    const double *b = matrix_block(p->matrix, i);
    int next = p->matrix->rows + 1;
    double d = SAND_ROWS == 3 && p->contacts[i].mu > 0 ? (b[0] + b[next] + b[2 * next]) / 3 : b[0];
    return d > 0 ? d : 1;
}

static bool load_matrix(SandSolverWorkspace *workspace, SandError *error) {
    const SandMatrix *m = workspace->problem->matrix;
    Op *op = &workspace->op;
    op->is_matrix = m != NULL;
    if (!m) return true;
    int blocks = m->first[workspace->problem->contact_count], kept = MATRIX_ROWS;
    if (!SAND_GROW(workspace->matrix, workspace->matrix_capacity, kept * kept * blocks + 1, "matrix", error)) return false;
    for (int e = 0; e < blocks; e++) // without the rows of torques where the kernel has none
        for (int k = 0; k < kept * kept; k++)
            workspace->matrix[kept * kept * e + k] = (real)m->block[m->rows * (m->rows * e + k / kept) + k % kept];
    op->matrix_first = m->first;
    op->matrix_column = m->column;
    op->matrix_mirror = m->mirror;
    op->matrix_block = workspace->matrix;
    return true;
}

#if SAND_JOINTS
// The mean diagonal of a block of bilateral rows of a matrix. The axes of a contact are the first, the third and the second
// of its frame (basis_of).
static double load_matrix_rows(const SandProblem *p, int i, double *numbers) {
    const double *b = matrix_block(p->matrix, i);
    const int axis[3] = {0, 2, 1};
    double sum = 0, rows = 0;
    for (int k = 0; k < 3; k++) {
        double d = b[axis[k] * (p->matrix->rows + 1)];
        bool exists = k ? numbers[JOINT_ACROSS] > 0 : numbers[JOINT_LOW] < numbers[JOINT_HIGH];
        numbers[JOINT_DIAGONAL + k] = d > 0 ? d : 1;
        if (exists) sum += numbers[JOINT_DIAGONAL + k];
        if (exists) rows++;
    }
    return rows > 0 ? sum / rows : 1;
}

static double load_joint(const SandProblem *p, int i, const SandContact *c, const SandJointRows *joint, double *numbers) {
    double d = joint_pack(p->bodies, c, joint, numbers);
    return p->matrix ? load_matrix_rows(p, i, numbers) : d;
}

#if SAND_ROLLING
// The arm of the torques of contact i; a matrix has no torques about normals.
static double load_arm(const SandProblem *p, int i, double d) {
    if (!p->matrix) return rolling_arm(p->bodies, &p->contacts[i], d);
    const double *b = matrix_block(p->matrix, i);
    double turning = (b[4 * 7] + b[5 * 7]) / 2;
    return turning > 0 ? sqrt(d / turning) : 1;
}
#endif

// Packs contact i, which may be a block of a joint, and returns the mean diagonal of its N_ii.
static double load_contact(SandSolverWorkspace *workspace, const PackTarget *target, int64_t i) {
    const SandProblem *p = workspace->problem;
    const SandJointRows *joint = sand_problem_joint(p, (int)i);
    SandContact c = p->contacts[i];
    double numbers[JOINT_CONSTANTS] = {0};
    if (workspace->frictionless) c.mu = 0;
    double d = joint       ? load_joint(p, (int)i, &c, joint, numbers)
               : p->matrix ? matrix_diagonal(p, (int)i)
                           : contact_mean_diagonal(p->bodies, &c, 1, 1);
    pack_contact(target, i, &c, d, p->start[i]);
    pack_joint(target, i, numbers);
#if SAND_ROLLING
    pack_rolling(target, i, &c, joint ? 1 : load_arm(p, (int)i, d), p->start[p->contact_count + i]);
#endif
    return d;
}
#else
static double load_contact(SandSolverWorkspace *workspace, const PackTarget *target, int64_t i) {
    const SandProblem *p = workspace->problem;
    const SandContact *c = &p->contacts[i];
    double d = p->matrix ? matrix_diagonal(p, (int)i) : contact_mean_diagonal(p->bodies, c, 1, 1);
    pack_contact(target, i, c, d, p->start[i]);
    return d;
}
#endif

static void load_padding(SandSolverWorkspace *workspace, const PackTarget *target, int64_t i) {
    SandContact none = {.a = workspace->op.body_count - 1, .b = workspace->op.body_count - 1};
    pack_contact(target, i, &none, 1, v3_make(0, 0, 0));
#if SAND_JOINTS
    double numbers[JOINT_CONSTANTS] = {0};
    pack_joint(target, i, numbers);
#endif
#if SAND_ROLLING
    pack_rolling(target, i, &none, 1, v3_make(0, 0, 0));
#endif
}

static void load_contacts(SandSolverWorkspace *workspace, Worker *w) {
    const SandProblem *p = workspace->problem;
    int64_t n = workspace->op.n;
    real *constant = workspace->contacts + OFFSET_CONSTANTS * n, *record = workspace->contacts + OFFSET_RECORD * n;
    real *arm_a_record = workspace->contacts + OFFSET_ARM_A * n, *arm_b_record = workspace->contacts + OFFSET_ARM_B * n;
    PackTarget target = {workspace->a, workspace->b, constant,           record,
                         arm_a_record, arm_b_record, workspace->vectors, p->bounces ? workspace->bounce : NULL};
    Sum sum;
    sum_open(w, &sum, 1, 0);
    for (int chunk = w->first_chunk; chunk < w->last_chunk; chunk++) {
        double diagonals = 0;
        int64_t end = sand_chunk_begin(chunk + 1, n / SAND_LANES) * SAND_LANES;
        for (int64_t i = sand_chunk_begin(chunk, n / SAND_LANES) * SAND_LANES; i < end; i++) {
            if (i < p->contact_count)
                diagonals += load_contact(workspace, &target, i);
            else
                load_padding(workspace, &target, i);
#if SAND_LOCAL
            workspace->op.de_saxce[i] = 0; // left from another problem
#endif
        }
        sand_partials(w, chunk)[0] = diagonals;
    }
    sum_total(w, &sum);
    if (worker_is_first(w)) op_scale(&workspace->op, sum.total[0]);
}

// Entries of an array of Body.
static int64_t body_entries(const Op *op) { return op->body_count + (SAND_JOINTS ? op->n : 0); }

static void load_bodies(SandSolverWorkspace *workspace, Worker *w) {
    const SandProblem *p = workspace->problem;
    SAND_FOR_EACH(w, k, body_entries(&workspace->op)) {
        Body body = {{0}, {0}};
        if (k < p->body_count) {
            const SandProblemBody *b = &p->bodies[k];
            body = pack_body(b);
            workspace->mass[k] = (real)b->inverse_mass;
            for (int j = 0; j < SAND_INERTIA_SIZE; j++)
                workspace->inertia[SAND_INERTIA_SIZE * k + j] = (real)b->inverse_inertia[j];
        }
        workspace->free[k] = workspace->body[k] = workspace->measured[k] = body;
        workspace->scratch[k] = (Body){{0}, {0, 0, 0, body.w[3]}};
    }
}

static void load_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    load_contacts(workspace, w);
    load_bodies(workspace, w);
}

// Lists the contacts of each body, for the gather.
static bool load_adjacency(SandSolverWorkspace *workspace, SandError *error) {
    Op *op = &workspace->op;
    SandAdjacency *adjacency = &workspace->adjacency;
    if (!sand_adjacency_build(adjacency, workspace->problem, error) ||
        !SAND_GROW(workspace->segment_sum, workspace->segment_sum_capacity, adjacency->segment_count, "high-degree bodies",
                   error))
        return false;
    op->first = adjacency->first;
    op->second = adjacency->second;
    op->list = adjacency->list;
    op->high_degree_count = adjacency->high_degree_count;
    op->segment_count = adjacency->segment_count;
    op->high_degree = adjacency->high_degree;
    op->high_degree_segment = adjacency->high_degree_segment;
    op->segment_body = adjacency->segment_body;
    op->segment_sum = workspace->segment_sum;
    return true;
}

// The diagonal that contact i steps by in the batch, in which its bodies count times_a and times_b times. The rows of a
// joint may differ by far, and step by the largest.
static double batch_diagonal(const SandProblem *p, int i, int times_a, int times_b) {
    const SandContact *c = &p->contacts[i];
#if SAND_JOINTS
    const SandJointRows *joint = sand_problem_joint(p, i);
    double numbers[JOINT_CONSTANTS], times = times_a > times_b ? times_a : times_b;
    if (joint) return 3 * times * joint_pack(p->bodies, c, joint, numbers);
#endif
    return contact_mean_diagonal(p->bodies, c, times_a, times_b);
}

// Colors the contacts. In the batch a body counts as often as it has contacts there: then the batch cannot overshoot.
static bool load_colors(SandSolverWorkspace *workspace, SandError *error) {
    const SandProblem *p = workspace->problem;
    Op *op = &workspace->op;
    SandAdjacency *adjacency = &workspace->adjacency;
    if (!sand_adjacency_color(adjacency, p, error) ||
        !SAND_GROW(workspace->batch_step, workspace->batch_capacity, p->contact_count + 1, "colors", error))
        return false;
    for (int e = adjacency->color_first[adjacency->color_count]; e < adjacency->color_first[adjacency->color_count + 1];
         e++) {
        const SandContact *c = &p->contacts[adjacency->color_list[e]];
        int times_a = sand_adjacency_degree(adjacency, c->a);
        int times_b = c->b < p->dynamic_count ? sand_adjacency_degree(adjacency, c->b) : 1;
        workspace->batch_step[e - adjacency->color_first[adjacency->color_count]] =
            (real)(1 / batch_diagonal(p, adjacency->color_list[e], times_a > SAND_HIGH_DEGREE ? times_a : 1,
                                      times_b > SAND_HIGH_DEGREE ? times_b : 1));
    }
    op->color_count = adjacency->color_count;
    op->color_first = adjacency->color_first;
    op->color_list = adjacency->color_list;
    op->batch_step = workspace->batch_step;
    return true;
}

// Sorts the bodies by cells, for the coarse correction. A stored matrix has no bodies to speak of.
static bool load_cells(SandSolverWorkspace *workspace, SandError *error) {
    const SandProblem *p = workspace->problem;
    Op *op = &workspace->op;
    if (p->matrix) return true;
    SandCells *cells = &workspace->cells;
    if (!sand_cells_build(cells, p, error)) return false;
    size_t bodies = (size_t)p->dynamic_count + 1, count = (size_t)sand_cell_count(&cells->grid);
    size_t slots = (size_t)cells->grid.slots, nodes = (size_t)sand_cell_nodes(&cells->grid);
    size_t numbers = COARSE_ELEMENT * (slots + 1) * count + (COARSE_NEIGHBORS + COARSE_VECTORS) * nodes;
    if (!SAND_GROW(workspace->place, workspace->place_capacity, (8 + COARSE_MOMENTS) * bodies, "cells", error) ||
        !SAND_GROW(workspace->coarse, workspace->coarse_capacity, numbers, "cells", error))
        return false;
    for (int k = 0; k < p->dynamic_count; k++)
        pack_vec4(workspace->place + 4 * k, sand_cell_place(&cells->grid, p->bodies[k].position), 0);
    op->place = workspace->place;
    op->field = workspace->place + 4 * bodies;
    op->moments = workspace->place + 8 * bodies;
    op->cell_first = cells->first;
    op->cell_list = cells->list;
    op->cell_parts = workspace->coarse;
    op_set_cells(op, &cells->grid);
    return true;
}

static bool kernel_load(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandProblem *p, const SandSolveDef *def,
                        SandError *error) {
    Op *op = &workspace->op;
    op->contact_count = p->contact_count;
    op->n = ((int64_t)p->contact_count + SAND_LANES - 1) / SAND_LANES * SAND_LANES;
    op->body_count = p->body_count + 1;
    op->dynamic_count = p->dynamic_count;
    op->two_per_step = (real)(2 / p->step);
    op_set_recovery(op, p->recovery);
    op->ratio = (real)sand_solve_param(def, "ratio");
    workspace->problem = p;
    workspace->frictionless = def->friction == SAND_FRICTIONLESS;
    size_t n = (size_t)op->n + 1, bodies = (size_t)body_entries(op),
           vectors = (size_t)sand_solver_table[def->solver].vectors + 1;
    size_t for_bounds = (size_t)sand_solver_table[sand_solver_default].vectors + 1; // their method has vectors as well
    if (SAND_LOCAL && vectors < for_bounds) vectors = for_bounds;
    if (!SAND_GROW(workspace->contacts, workspace->contacts_capacity, n * OFFSET_END, "contacts", error) ||
        !SAND_GROW(workspace->vectors, workspace->vectors_capacity, n * ROW_SIZE * vectors, "solver vectors", error) ||
        !SAND_GROW(workspace->a, workspace->a_capacity, n, "contacts", error) ||
        !SAND_GROW(workspace->b, workspace->b_capacity, n, "contacts", error) ||
        !SAND_GROW(workspace->mass, workspace->mass_capacity, bodies, "bodies", error) ||
        !SAND_GROW(workspace->inertia, workspace->inertia_capacity, bodies * SAND_INERTIA_SIZE, "bodies", error) ||
        !SAND_GROW(workspace->free, workspace->free_capacity, bodies, "bodies", error) ||
        !SAND_GROW(workspace->body, workspace->body_capacity, bodies, "bodies", error) ||
        !SAND_GROW(workspace->measured, workspace->measured_capacity, bodies, "bodies", error) ||
        !SAND_GROW(workspace->scratch, workspace->scratch_capacity, bodies, "bodies", error) ||
        !SAND_GROW(workspace->bounce, workspace->bounce_capacity, p->bounces ? n : 0, "contacts", error) ||
        !load_adjacency(workspace, error) || !load_matrix(workspace, error))
        return false;
    op->a = workspace->a;
    op->b = workspace->b;
    op->constant = workspace->contacts + OFFSET_CONSTANTS * op->n;
    op->bounce = p->bounces ? workspace->bounce : NULL;
    op->impulse = workspace->contacts + OFFSET_IMPULSE * op->n;
#if SAND_RADIAL || SAND_LAYOUT_AOS
    op->record = workspace->contacts + OFFSET_RECORD * op->n;
#endif
#if !SAND_RADIAL
    op->arm_a_record = workspace->contacts + OFFSET_ARM_A * op->n;
    op->arm_b_record = workspace->contacts + OFFSET_ARM_B * op->n;
#endif
#if SAND_LOCAL
    op->bound = workspace->contacts + OFFSET_BOUND * op->n;
    op->de_saxce = workspace->contacts + OFFSET_DE_SAXCE * op->n;
    op_set_friction(op, def, sand_solver_can(def->solver, SAND_FRICTION_CONE));
#endif
    op->inverse_mass = workspace->mass;
    op->inverse_inertia = workspace->inertia;
    op->free = workspace->free;
    op->still = &workspace->free[op->body_count - 1];
    op->body = workspace->body;
    op->scratch = workspace->scratch;
    op->measured = workspace->measured;
    op->vectors = workspace->vectors;
    op->vector_stride = op->n * ROW_SIZE;
    workspace->run.request.reference = workspace->vectors + (vectors - 1) * (size_t)op->n * ROW_SIZE;
    sand_thread_pool_run(pool, load_work, workspace);
    op->color_count = op->cells[0] = 0;
    if (sand_solver_table[def->solver].needs & SAND_NEEDS_CELLS && !load_cells(workspace, error)) return false;
    return !sand_solve_needs_colors(def) || load_colors(workspace, error);
}

// --- solving ----------------------------------------------------------------------------------------------

static SandVec3 world_impulse(const Op *op, ContactRef ref, Row r) {
    Vec g = contact_impulse(op, ref, r);
    return v3_make(g.x, g.y, g.z);
}

// Stores the impulse of contact i as vectors of the world: its force, and behind those of all contacts its torque.
static void store_world(const Op *op, Index i, Row r, SandVec3 *out) {
    ContactRef ref = contact_ref(op, i);
    out[i] = world_impulse(op, ref, r);
#if SAND_ROLLING
    Vec t = contact_torque(op, ref, r);
    out[op->contact_count + i] = v3_make(t.x, t.y, t.z);
#endif
}

// The same for its velocity: that of its torque is a spin.
static void store_world_velocity(const Op *op, Index i, Row u, SandVec3 *out) {
    store_world(op, i, u, out);
#if SAND_ROLLING
    double arm = rolling_constant(op, contact_ref(op, i), ROLLING_ARM);
    out[op->contact_count + i] = v3_scale(1 / (arm * arm), out[op->contact_count + i]);
#endif
}

static void solve_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    solve_run(w, &workspace->run, &workspace->run.request, &workspace->op, workspace->method,
              workspace->run.request.most_iterations);
    // Back to double: impulses, and free velocities plus what the impulses changed.
    const Op *op = &workspace->op;
    const Solve *solve = &workspace->run.solve;
    SandSolution *s = workspace->solution;
    SAND_FOR_EACH(w, i, op->contact_count) store_world(op, i, solve_best(op, solve, contact_ref(op, i)), s->impulse);
    SAND_FOR_EACH(w, k, workspace->problem->body_count) {
        const SandProblemBody *free = &workspace->problem->bodies[k];
        Body change = {{0}, {0}};
        if (k < op->dynamic_count) change = op->body[k];
        s->velocity[k] = v3_add(free->velocity, v3_make(change.v[0], change.v[1], change.v[2]));
        s->spin[k] = v3_add(free->spin, v3_make(change.w[0], change.w[1], change.w[2]));
    }
}

static SandMetrics metrics_of(Measure m, size_t contacts) {
    return (SandMetrics){.residual = m.residual,
                         .residual_rms = contacts ? m.residual / sqrt((double)contacts) : 0,
                         .objective = m.objective,
                         .complementarity = m.complementarity,
                         .relative = m.relative,
                         .r_norm = m.r_norm};
}

static bool kernel_solve(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandProblem *p, const SandSolveDef *def,
                         SandSolution *s, SandError *error) {
    size_t contacts = (size_t)p->contact_count, bodies = (size_t)p->body_count;
    if (!SAND_GROW(s->impulse, s->impulse_capacity, sand_problem_vectors(p), "impulses", error) ||
        !SAND_GROW(s->velocity, s->velocity_capacity, bodies, "velocities", error) ||
        !SAND_GROW(s->spin, s->spin_capacity, bodies, "velocities", error))
        return false;
    if (s->want_curve && !SAND_GROW(s->curve, s->curve_capacity, def->iterations + 1, "residual curve", error)) return false;
    SolveState *run = &workspace->run;
    double rms = sand_accuracy_rms(def, p->recovery, p->step);
    solve_state_init(run, def, rms, s->want_metrics, s->want_curve ? s->curve : NULL);
    request_resolve(&run->request, (double)contacts);
    run->request.stop = s->stop;
    run->request.live = s->live;
    workspace->method = def->solver;
    workspace->problem = p;
    workspace->solution = s;
    sand_thread_pool_run(pool, solve_work, workspace);

    s->status = sand_status_of(run->solve.end, evidence_of(&run->request, run->measure));
    s->least_energy = s->status == SAND_INFEASIBLE ? run->solve.least_energy : 0;
    s->iterations = run->iterations;
    s->seconds = run->seconds;
    s->curve_count = run->curve_count;
    s->metrics = metrics_of(run->measure, contacts);
    return true;
}

// --- measuring impulses from elsewhere --------------------------------------------------------------------

static Vec vec_of_world(SandVec3 v) { return vec_make((real)v.x, (real)v.y, (real)v.z); }

// The row of contact i from vectors of the world, as store_world stores them.
static Row row_of_world(const Op *op, Index i, const SandVec3 *x) {
    ContactRef ref = contact_ref(op, i);
    SandVec3 none = v3_make(0, 0, 0), v = i < op->contact_count ? x[i] : none;
#if SAND_ROLLING
    SandVec3 torque = i < op->contact_count ? x[op->contact_count + i] : none;
    ContactBasis basis = basis_of(contact_normal(op, ref));
    Vec turn = basis_in(basis, vec_of_world(v3_scale(1 / (double)rolling_constant(op, ref, ROLLING_ARM), torque)));
    return row_make(basis_in(basis, vec_of_world(v)), turn);
#elif SAND_LOCAL
    return basis_in(basis_of(contact_normal(op, ref)), vec_of_world(v));
#elif SAND_ROWS == 3
    return (void)ref, vec_of_world(v);
#else
    return vec_dot(vec_of_world(v), contact_normal(op, ref));
#endif
}

// Loads impulses given as world vectors into vector 0; the padding is zero.
static void load_impulses(SandSolverWorkspace *workspace, SandWorker *w) {
    const Op *op = &workspace->op;
    SAND_FOR_EACH(w, i, op->n)
    row_store(workspace->vectors, contact_ref(op, i), row_of_world(op, i, workspace->x));
    sand_barrier(w);
}

static void measure_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    load_impulses(workspace, w);
    Measure m = measure(w, &workspace->op, workspace->vectors, false);
    if (worker_is_first(w)) workspace->run.measure = m;
}

static void kernel_measure(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x, SandMetrics *metrics) {
    workspace->x = x;
    sand_thread_pool_run(pool, measure_work, workspace);
    *metrics = metrics_of(workspace->run.measure, (size_t)workspace->op.contact_count);
}

static void recession_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    load_impulses(workspace, w);
    SandRecession measured = measure_recession(w, &workspace->op, workspace->vectors);
    if (worker_is_first(w)) workspace->recession = measured;
}

static SandRecession kernel_recession(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x) {
    workspace->x = x;
    sand_thread_pool_run(pool, recession_work, workspace);
    return workspace->recession;
}

static void residuals_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    const Op *op = &workspace->op;
    load_impulses(workspace, w);
    gather_bodies_of(w, op, workspace->vectors, op->free, op->measured);
    SAND_FOR_EACH(w, i, op->contact_count) {
        ContactRef ref = contact_ref(op, i);
        Row u = contact_unbiased(op, ref, contact_gradient_from(op, op->measured, ref));
        workspace->each[i] = residual_of(
            op, contact_natural_map(op, ref, row_load(workspace->vectors, ref), contact_dual(op, ref, u), (real)op->tau));
    }
}

static void kernel_residuals(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x, double *each) {
    workspace->x = x;
    workspace->each = each;
    sand_thread_pool_run(pool, residuals_work, workspace);
}

// --- products and projections of world vectors ------------------------------------------------------------

static void product_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    const Op *op = &workspace->op;
    load_impulses(workspace, w);
    gather_bodies_of(w, op, workspace->vectors, op->still, op->scratch);
    SAND_FOR_EACH(w, i, op->contact_count) {
        ContactRef ref = contact_ref(op, i);
        Row y = contact_without_bias(op, ref, contact_gradient_from(op, op->scratch, ref));
        store_world_velocity(op, i, y, workspace->y);
    }
}

static void kernel_product(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x, SandVec3 *y) {
    workspace->x = x;
    workspace->y = y;
    sand_thread_pool_run(pool, product_work, workspace);
}

static void kernel_project(SandSolverWorkspace *workspace, const SandVec3 *x, SandVec3 *y) {
    const Op *op = &workspace->op;
    for (int64_t i = 0; i < op->contact_count; i++)
        store_world(op, i, contact_project(op, contact_ref(op, i), row_of_world(op, i, x)), y);
}

const SandSolverKernel SAND_KERNEL_NAME = {
    .create = kernel_create,
    .destroy = kernel_destroy,
    .load = kernel_load,
    .solve = kernel_solve,
    .measure = kernel_measure,
    .recession = kernel_recession,
    .residuals = kernel_residuals,
    .product = kernel_product,
    .project = kernel_project,
};
