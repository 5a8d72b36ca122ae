// SPDX-License-Identifier: MIT
// Algebraic multigrid with a projected smoother ([P] section 3.4, eq. 22-24).
// Idea: Gauss-Seidel relaxation removes local errors quickly and those of the whole pile slowly. The slow ones are removed
// on a coarser level, a smaller problem in some of the unknowns, chosen by how strongly N couples them (the classical
// coarsening of Ruge and Stueben), from which the others are interpolated; that level has a coarser one in turn.
// Weakness: the paper found that it does not pay, and neither does it here. Interpolation assumes that errors of neighbors
// are alike, as in heat conduction; impulses in a pile are not, many of them lie on their bounds, and with redundant
// contacts the levels may converge to different solutions. And N and its coarse versions have to be assembled.
//
// The paper restricts it to bounds that do not depend on the unknowns: frictionless and box. A cone given by its edges has
// z >= 0 for every unknown, so that it also serves for pyramids and polyhedra; box is not a cone program and is left out.
// The coarsest level has a handful of unknowns and is relaxed to convergence. Additions to the paper: unknowns on their
// bound are excluded from the coarsening, which is renewed now and then (the last paragraph of its section 3.4 asks for
// that), and a correction is shortened to the minimum of the objective along it, so that no cycle increases the objective.
#include "sim/solver/reference/reference.h"
#include "sim/solver/reference/kkt.h"
#include "sim/core/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 20, COARSEST = 5, COARSEST_SWEEPS = 50, LEVEL_VECTORS = 5 };

// One level: minimize 1/2 x'Nx + r'x over x >= low.
typedef struct Level {
    int size;
    SandSparse *n;           // N, upper and lower triangle
    SandSparse *restriction; // to the next level; its transpose is P of eq. 22. NULL: this is the coarsest level
    int *coarse;             // of each unknown: its index on the next level, FINE or UNDECIDED
    double *vectors, *x, *r, *low, *gradient, *correction;
    size_t coarse_capacity, vectors_capacity;
} Level;

typedef struct Amg {
    SandConeProgram program;
    Level level[MOST_LEVELS];
    int contacts, cycles;
    int sweeps, visits, renewal;
    double strength;
    bool rejects; // a correction that leaves its bound is dropped, else projected
} Amg;

enum { AMG_SWEEPS, AMG_VISITS, AMG_STRENGTH, AMG_RENEWAL, AMG_OUTSIDE };

#define FOR_ENTRIES(e, a, column) for (int e = (a)->begin[column]; e < (a)->begin[(column) + 1]; e++)

// --- coarsening -------------------------------------------------------------------------------------------

enum { UNDECIDED = -1, FINE = -2 };

// Bucket queue of the undecided unknowns by weight: how many others would depend on this one if it were coarse.
typedef struct WeightQueue {
    int *numbers, *weight, *head, *next, *previous;
    int top;
    size_t capacity;
} WeightQueue;

static void queue_insert(WeightQueue *q, int i) {
    int w = q->weight[i];
    q->next[i] = q->head[w];
    q->previous[i] = -1;
    if (q->head[w] >= 0) q->previous[q->head[w]] = i;
    q->head[w] = i;
    if (w > q->top) q->top = w;
}

static void queue_remove(WeightQueue *q, int i) {
    if (q->previous[i] >= 0) q->next[q->previous[i]] = q->next[i];
    if (q->previous[i] < 0) q->head[q->weight[i]] = q->next[i];
    if (q->next[i] >= 0) q->previous[q->next[i]] = q->previous[i];
}

// Returns an unknown of the largest weight, or -1.
static int queue_first(WeightQueue *q) {
    while (q->top >= 0 && q->head[q->top] < 0) q->top--;
    return q->top >= 0 ? q->head[q->top] : -1;
}

// Smallest coupling that counts as strong for unknown i; 0 if it is excluded or has no neighbor to depend on.
static double strong_threshold(const Level *l, int i, double strength) {
    double largest = 0;
    if (l->coarse[i] == FINE) return 0;
    FOR_ENTRIES(e, l->n, i) {
        int j = l->n->row[e];
        if (j != i && l->coarse[j] != FINE) largest = fmax(largest, fabs(l->n->value[e]));
    }
    return strength * largest;
}

static bool depends(const double *threshold, int i, double coupling) {
    return threshold[i] > 0 && fabs(coupling) >= threshold[i];
}

// Chooses the coarse unknowns and returns their number: one of the largest weight becomes coarse, the unknowns that depend
// on it become fine, and the weight of what those depend on increases.
static int choose_coarse(Level *l, const double *threshold, WeightQueue *q) {
    int chosen = 0, i;
    for (i = 0; i < l->size; i++) {
        q->weight[i] = 0;
        FOR_ENTRIES(e, l->n, i) {
            int j = l->n->row[e];
            if (j != i) q->weight[i] += depends(threshold, j, l->n->value[e]);
        }
        if (threshold[i] > 0) queue_insert(q, i);
        if (threshold[i] <= 0) l->coarse[i] = FINE;
    }
    while ((i = queue_first(q)) >= 0) {
        queue_remove(q, i);
        l->coarse[i] = chosen++;
        FOR_ENTRIES(e, l->n, i) {
            int j = l->n->row[e];
            if (l->coarse[j] != UNDECIDED || !depends(threshold, j, l->n->value[e])) continue;
            queue_remove(q, j);
            l->coarse[j] = FINE;
            FOR_ENTRIES(f, l->n, j) {
                int k = l->n->row[f];
                if (l->coarse[k] != UNDECIDED || !depends(threshold, j, l->n->value[f])) continue;
                queue_remove(q, k);
                q->weight[k]++;
                queue_insert(q, k);
            }
        }
    }
    return chosen;
}

// Writes column i of the restriction from entry `at` on and returns the end: the weights of eq. 22, from row i of N e = 0.
// Couplings to fine unknowns are distributed over the coarse ones of the same sign. Excluded unknowns get an empty column.
static int write_interpolation(const Level *l, const double *threshold, int i, int at, int *row, double *value) {
    if (l->coarse[i] >= 0) {
        row[at] = l->coarse[i];
        value[at] = 1;
        return at + 1;
    }
    if (threshold[i] <= 0) return at;
    double diagonal = 0, all[2] = {0, 0}, coarse[2] = {0, 0}; // sums of the negative and of the positive couplings
    FOR_ENTRIES(e, l->n, i) {
        int j = l->n->row[e];
        double v = l->n->value[e];
        if (j == i) diagonal = v;
        if (j == i || (l->coarse[j] == FINE && threshold[j] <= 0)) continue;
        all[v > 0] += v;
        if (l->coarse[j] >= 0 && depends(threshold, i, v)) coarse[v > 0] += v;
    }
    if (coarse[1] == 0) diagonal += all[1];
    FOR_ENTRIES(e, l->n, i) {
        int j = l->n->row[e];
        double v = l->n->value[e];
        if (j == i || l->coarse[j] < 0 || !depends(threshold, i, v)) continue;
        row[at] = l->coarse[j];
        value[at++] = -all[v > 0] / coarse[v > 0] * v / diagonal;
    }
    return at;
}

static bool make_restriction(Level *l, const double *threshold, int chosen, SandError *error) {
    size_t most = (size_t)l->size;
    for (int i = 0; i < l->size; i++)
        if (l->coarse[i] == FINE) FOR_ENTRIES(e, l->n, i) most += l->coarse[l->n->row[e]] >= 0;
    l->restriction = sand_sparse_allocate(chosen, l->size, most);
    if (!l->restriction) return sand_fail(error, "out of memory for multigrid");
    int at = 0, *begin = l->restriction->begin;
    for (int i = 0; i < l->size; i++) {
        begin[i] = at;
        at = write_interpolation(l, threshold, i, at, l->restriction->row, l->restriction->value);
    }
    begin[l->size] = at;
    return true;
}

// Allocates the vectors of a level whose N is set.
static bool level_allocate(Level *l, SandError *error) {
    size_t n = (size_t)(l->size = l->n->columns);
    if (!SAND_GROW(l->vectors, l->vectors_capacity, LEVEL_VECTORS * n + 1, "multigrid vectors", error) ||
        !SAND_GROW(l->coarse, l->coarse_capacity, n + 1, "multigrid vectors", error))
        return false;
    double **vector[LEVEL_VECTORS] = {&l->x, &l->r, &l->low, &l->gradient, &l->correction};
    for (size_t k = 0; k < LEVEL_VECTORS; k++) *vector[k] = l->vectors + k * n;
    return true;
}

// Computes N of the next level, eq. 23.
static bool make_next_level(Level *l, Level *next, SandError *error) {
    SandSparse *product = sand_sparse_multiply(l->restriction, l->n), *interpolation = sand_sparse_transpose(l->restriction);
    next->n = sand_sparse_multiply(product, interpolation);
    sand_sparse_free(product);
    sand_sparse_free(interpolation);
    if (!next->n) return sand_fail(error, "out of memory for multigrid");
    if (!level_allocate(next, error)) return false;
    for (int i = 0; i < next->size; i++) next->coarse[i] = UNDECIDED;
    return true;
}

// Creates the level below l if it would be enough smaller; *made says whether it was.
static bool coarsen(Amg *m, Level *l, Level *next, bool *made, SandError *error) {
    int n = l->size, widest = 0;
    for (int i = 0; i < n; i++) {
        int entries = l->n->begin[i + 1] - l->n->begin[i];
        if (entries > widest) widest = entries;
    }
    WeightQueue q = {.top = -1};
    double *threshold = NULL;
    size_t threshold_capacity = 0;
    *made = false;
    bool ok = SAND_GROW(q.numbers, q.capacity, 3 * (size_t)n + 2 * (size_t)widest + 1, "multigrid", error) &&
              SAND_GROW(threshold, threshold_capacity, n + 1, "multigrid", error);
    if (ok) {
        q.weight = q.numbers;
        q.next = q.weight + n;
        q.previous = q.next + n;
        q.head = q.previous + n;
        for (int k = 0; k < 2 * widest + 1; k++) q.head[k] = -1;
        for (int i = 0; i < n; i++) threshold[i] = strong_threshold(l, i, m->strength);
        int chosen = choose_coarse(l, threshold, &q);
        *made = chosen > 0 && chosen < 0.9 * n;
        ok = !*made || (make_restriction(l, threshold, chosen, error) && make_next_level(l, next, error));
    }
    sand_free(q.numbers);
    sand_free(threshold);
    return ok;
}

// --- cycles -----------------------------------------------------------------------------------------------

// The smoother: one projected Gauss-Seidel sweep.
static void sweep(Level *l, bool back) {
    for (int k = 0; k < l->size; k++) {
        int i = back ? l->size - 1 - k : k;
        double gradient = l->r[i], diagonal = 0;
        FOR_ENTRIES(e, l->n, i) {
            int j = l->n->row[e];
            gradient += l->n->value[e] * l->x[j];
            if (j == i) diagonal = l->n->value[e];
        }
        if (diagonal > 0) l->x[i] = fmax(l->low[i], l->x[i] - gradient / diagonal);
    }
}

// Row i of N times x.
static double row_product(const Level *l, int i, const double *x) {
    double sum = 0;
    FOR_ENTRIES(e, l->n, i) sum += l->n->value[e] * x[l->n->row[e]];
    return sum;
}

// Sets up the residual complementarity problem on the next level, eq. 24.
static void restrict_residual(Level *l, Level *next) {
    memset(next->r, 0, (size_t)next->size * sizeof *next->r);
    memset(next->x, 0, (size_t)next->size * sizeof *next->x);
    for (int i = 0; i < l->size; i++) {
        l->gradient[i] = l->r[i] + row_product(l, i, l->x);
        FOR_ENTRIES(e, l->restriction, i) next->r[l->restriction->row[e]] += l->restriction->value[e] * l->gradient[i];
        if (l->coarse[i] >= 0) next->low[l->coarse[i]] = l->low[i] - l->x[i];
    }
}

// Adds the next level's correction. Components that leave their bounds are projected or rejected one by one, and the whole
// is shortened to the minimum of the objective along it.
static void add_correction(Level *l, const Level *next, bool rejects) {
    double slope = 0, curvature = 0;
    for (int i = 0; i < l->size; i++) {
        double correction = 0;
        FOR_ENTRIES(e, l->restriction, i) correction += l->restriction->value[e] * next->x[l->restriction->row[e]];
        if (l->x[i] + correction < l->low[i]) correction = rejects ? 0 : l->low[i] - l->x[i];
        l->correction[i] = correction;
        slope += correction * l->gradient[i];
    }
    for (int i = 0; i < l->size; i++) curvature += l->correction[i] * row_product(l, i, l->correction);
    double step = slope < 0 && curvature > 0 ? fmin(1, -slope / curvature) : 0;
    for (int i = 0; i < l->size; i++) l->x[i] = fmax(l->low[i], l->x[i] + step * l->correction[i]);
}

// One multigrid cycle from this level down: a V for one visit of the next level, a W for two.
static void cycle(Amg *m, int depth) {
    Level *l = &m->level[depth], *next = l + 1;
    if (!l->restriction) {
        for (int k = 0; k < COARSEST_SWEEPS; k++) sweep(l, k % 2);
        return;
    }
    for (int k = 0; k < m->sweeps; k++) sweep(l, false);
    restrict_residual(l, next);
    for (int k = 0; k < m->visits; k++) cycle(m, depth + 1);
    add_correction(l, next, m->rejects);
    for (int k = 0; k < m->sweeps; k++) sweep(l, true);
}

// --- the method -------------------------------------------------------------------------------------------

static void free_matrix(SandSparse **a) {
    sand_sparse_free(*a);
    *a = NULL;
}

static void free_coarse(Amg *m) {
    for (int k = 0; k < MOST_LEVELS; k++) {
        free_matrix(&m->level[k].restriction);
        if (k > 0) free_matrix(&m->level[k].n);
    }
}

static void amg_end(void *method) {
    Amg *m = method;
    free_coarse(m);
    free_matrix(&m->level[0].n);
    for (int k = 0; k < MOST_LEVELS; k++) {
        sand_free(m->level[k].coarse);
        sand_free(m->level[k].vectors);
    }
    sand_cone_program_free(&m->program);
    free(m);
}

// Builds the levels, for the unknowns that are off their bounds now or whose gradient pulls them off.
static bool build_levels(Amg *m, SandError *error) {
    Level *finest = &m->level[0];
    free_coarse(m);
    for (int i = 0; i < finest->size; i++) {
        bool held = finest->x[i] <= finest->low[i] && finest->r[i] + row_product(finest, i, finest->x) > 0;
        finest->coarse[i] = held ? FINE : UNDECIDED;
    }
    bool made = true;
    for (int k = 0; made && k + 1 < MOST_LEVELS && m->level[k].size > COARSEST; k++)
        if (!coarsen(m, &m->level[k], &m->level[k + 1], &made, error)) return false;
    return true;
}

static void *amg_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    Amg *m = calloc(1, sizeof *m);
    if (!m) {
        sand_fail(error, "out of memory for a solver");
        return NULL;
    }
    m->contacts = problem->contact_count;
    m->sweeps = (int)def->params[AMG_SWEEPS];
    m->visits = (int)def->params[AMG_VISITS];
    m->strength = def->params[AMG_STRENGTH];
    m->renewal = (int)def->params[AMG_RENEWAL];
    m->rejects = def->params[AMG_OUTSIDE] != 0;
    Level *finest = &m->level[0];
    bool ok = sand_cone_program_make(&m->program, problem, def, error);
    if (ok && m->contacts) {
        finest->n = sand_cone_program_assemble(&m->program, error);
        ok = finest->n && level_allocate(finest, error);
    }
    if (ok && m->contacts) {
        memcpy(finest->r, m->program.r.data, (size_t)finest->size * sizeof *finest->r);
        memset(finest->low, 0, (size_t)finest->size * sizeof *finest->low);
        sand_cone_program_unknowns(&m->program, problem->start, finest->x);
    }
    if (!ok) {
        amg_end(m);
        m = NULL;
    }
    return m;
}

static bool amg_step(void *method, SandEnd *end, SandError *error) {
    Amg *m = method;
    if (!m->contacts) {
        *end = SAND_END_EXHAUSTED;
        return true;
    }
    if (m->cycles++ % m->renewal == 0 && !build_levels(m, error)) return false;
    cycle(m, 0);
    return true;
}

static void amg_impulses(const void *method, SandVec3 *impulse) {
    const Amg *m = method;
    sand_cone_program_impulses(&m->program, m->level[0].x, m->contacts, impulse);
}

const SandAssembledMethod sand_assembled_amg = {
    .begin = amg_begin, .step = amg_step, .impulses = amg_impulses, .end = amg_end};
