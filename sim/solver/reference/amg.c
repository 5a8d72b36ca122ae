// Algebraic multigrid with a projected smoother ([P] section 3.4, eq. 22-24).
// Idea: relaxing one unknown after the other removes errors between neighbors quickly and those of the whole pile slowly.
// The slow ones are removed on a smaller problem of some of the unknowns, chosen by how strongly N couples them (Ruge and
// Stueben's classical coarsening), from which the others are interpolated; that one has a smaller one in turn.
// Weakness: the paper found that it does not pay, and here it is seen. Interpolation takes errors of neighbors to be
// alike, as they are in heat conduction; impulses in a pile are not, many of them lie on their bounds, and where contacts
// are redundant the grids may draw at different solutions. And N and its coarse forms have to be assembled.
//
// The paper has it for bounds that do not depend on the unknowns: frictionless and box. Where a cone is given by its edges
// every unknown has z >= 0, so that it serves for pyramids and polyhedra; box is not among the cone programs and is left
// out. The coarsest grid has a handful of unknowns and is relaxed to its end. Added to the paper: unknowns on their bound
// are left out of the coarsening, which is renewed now and then (its last paragraph asks for that), and a correction is
// shortened to where the objective is least along it, so that no cycle makes it rise.
#include "sim/solver/reference/assembled.h"
#include "sim/solver/reference/kkt.h"
#include "sim/core/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

enum { MOST_LEVELS = 20, COARSEST = 5, COARSEST_SWEEPS = 50, LEVEL_VECTORS = 5 };

// Minimize 1/2 x'Nx + r'x over x >= low.
typedef struct Level {
    int size;
    cholmod_sparse *n;           // both halves
    cholmod_sparse *restriction; // to the next level, its transpose interpolates; NULL: this is the coarsest
    int *coarse;                 // of each unknown: its number on the next level, or FINE
    double *vectors, *x, *r, *low, *gradient, *move;
    size_t coarse_capacity, vectors_capacity;
} Level;

typedef struct Amg {
    SandConeProgram program;
    cholmod_common common;
    Level level[MOST_LEVELS];
    int contacts, cycles;
    int sweeps, visits, renewal;
    double strength;
    bool rejects;
} Amg;

enum { AMG_SWEEPS, AMG_VISITS, AMG_STRENGTH, AMG_RENEWAL, AMG_OUTSIDE };

static int entries_begin(const cholmod_sparse *a, int column) { return ((const int *)a->p)[column]; }
static int entry_row(const cholmod_sparse *a, int entry) { return ((const int *)a->i)[entry]; }
static double entry(const cholmod_sparse *a, int entry) { return ((const double *)a->x)[entry]; }

#define FOR_ENTRIES(e, a, column) for (int e = entries_begin(a, column); e < entries_begin(a, (column) + 1); e++)

// --- coarsening -------------------------------------------------------------------------------------------

enum { UNDECIDED = -1, FINE = -2 };

// The undecided unknowns by their weight: how many others would gain if this one were on the coarse grid.
typedef struct Ranks {
    int *numbers, *weight, *head, *next, *last;
    int top;
    size_t capacity;
} Ranks;

static void rank_insert(Ranks *q, int i) {
    int w = q->weight[i];
    q->next[i] = q->head[w], q->last[i] = -1;
    if (q->head[w] >= 0) q->last[q->head[w]] = i;
    q->head[w] = i;
    if (w > q->top) q->top = w;
}

static void rank_remove(Ranks *q, int i) {
    if (q->last[i] >= 0) q->next[q->last[i]] = q->next[i];
    if (q->last[i] < 0) q->head[q->weight[i]] = q->next[i];
    if (q->next[i] >= 0) q->last[q->next[i]] = q->last[i];
}

// One of the heaviest, or -1.
static int rank_first(Ranks *q) {
    while (q->top >= 0 && q->head[q->top] < 0) q->top--;
    return q->top >= 0 ? q->head[q->top] : -1;
}

// How strong a coupling must be for i to depend on another; 0 for one that is left out or has nobody to depend on.
static double least_coupling(const Level *l, int i, double strength) {
    double largest = 0;
    if (l->coarse[i] == FINE) return 0;
    FOR_ENTRIES(e, l->n, i) {
        int j = entry_row(l->n, e);
        if (j != i && l->coarse[j] != FINE) largest = fmax(largest, fabs(entry(l->n, e)));
    }
    return strength * largest;
}

static bool depends(const double *least, int i, double coupling) { return least[i] > 0 && fabs(coupling) >= least[i]; }

// Chooses the coarse unknowns: the heaviest, then those that depend on it become fine, and what these depend on weighs more.
static int choose(Level *l, const double *least, Ranks *q) {
    int chosen = 0, i;
    for (i = 0; i < l->size; i++) {
        q->weight[i] = 0;
        FOR_ENTRIES(e, l->n, i) {
            int j = entry_row(l->n, e);
            if (j != i) q->weight[i] += depends(least, j, entry(l->n, e));
        }
        if (least[i] > 0) rank_insert(q, i);
        if (least[i] <= 0) l->coarse[i] = FINE;
    }
    while ((i = rank_first(q)) >= 0) {
        rank_remove(q, i);
        l->coarse[i] = chosen++;
        FOR_ENTRIES(e, l->n, i) {
            int j = entry_row(l->n, e);
            if (l->coarse[j] != UNDECIDED || !depends(least, j, entry(l->n, e))) continue;
            rank_remove(q, j);
            l->coarse[j] = FINE;
            FOR_ENTRIES(f, l->n, j) {
                int k = entry_row(l->n, f);
                if (l->coarse[k] != UNDECIDED || !depends(least, j, entry(l->n, f))) continue;
                rank_remove(q, k);
                q->weight[k]++;
                rank_insert(q, k);
            }
        }
    }
    return chosen;
}

// Column i of the restriction: the weights of eq. 22, from row i of N e = 0. What couples to fine unknowns is given to the
// coarse ones of the same sign. Writes at `at` and returns where it ended; unknowns that are left out have an empty column.
static int interpolate(const Level *l, const double *least, int i, int at, int *row, double *value) {
    if (l->coarse[i] >= 0) {
        row[at] = l->coarse[i], value[at] = 1;
        return at + 1;
    }
    if (least[i] <= 0) return at;
    double diagonal = 0, all[2] = {0, 0}, coarse[2] = {0, 0}; // of couplings below and above zero
    FOR_ENTRIES(e, l->n, i) {
        int j = entry_row(l->n, e);
        double v = entry(l->n, e);
        if (j == i) diagonal = v;
        if (j == i || (l->coarse[j] == FINE && least[j] <= 0)) continue;
        all[v > 0] += v;
        if (l->coarse[j] >= 0 && depends(least, i, v)) coarse[v > 0] += v;
    }
    if (coarse[1] == 0) diagonal += all[1];
    FOR_ENTRIES(e, l->n, i) {
        int j = entry_row(l->n, e);
        double v = entry(l->n, e);
        if (j == i || l->coarse[j] < 0 || !depends(least, i, v)) continue;
        row[at] = l->coarse[j], value[at++] = -all[v > 0] / coarse[v > 0] * v / diagonal;
    }
    return at;
}

static bool make_restriction(Amg *m, Level *l, const double *least, int chosen, SandError *error) {
    size_t most = (size_t)l->size;
    for (int i = 0; i < l->size; i++)
        if (l->coarse[i] == FINE) FOR_ENTRIES(e, l->n, i) most += l->coarse[entry_row(l->n, e)] >= 0;
    l->restriction = cholmod_allocate_sparse((size_t)chosen, (size_t)l->size, most, 0, 1, 0, CHOLMOD_REAL, &m->common);
    if (!l->restriction) return sand_cholmod_told(m->common.status, "coarsening", error);
    int at = 0, *begin = l->restriction->p;
    for (int i = 0; i < l->size; i++) {
        begin[i] = at;
        at = interpolate(l, least, i, at, l->restriction->i, l->restriction->x);
    }
    begin[l->size] = at;
    return true;
}

static bool level_capacity(Level *l, SandError *error) {
    size_t n = (size_t)(l->size = (int)l->n->ncol);
    if (!SAND_GROW(l->vectors, l->vectors_capacity, LEVEL_VECTORS * n + 1, "multigrid vectors", error) ||
        !SAND_GROW(l->coarse, l->coarse_capacity, n + 1, "multigrid vectors", error))
        return false;
    double **vector[LEVEL_VECTORS] = {&l->x, &l->r, &l->low, &l->gradient, &l->move};
    for (size_t k = 0; k < LEVEL_VECTORS; k++) *vector[k] = l->vectors + k * n;
    return true;
}

// N of the next level, eq. 23.
static bool make_next(Amg *m, Level *l, Level *next, SandError *error) {
    cholmod_sparse *product = cholmod_ssmult(l->restriction, l->n, 0, 1, 0, &m->common);
    cholmod_sparse *interpolation = cholmod_transpose(l->restriction, 1, &m->common);
    if (product && interpolation) next->n = cholmod_ssmult(product, interpolation, 0, 1, 0, &m->common);
    cholmod_free_sparse(&product, &m->common);
    cholmod_free_sparse(&interpolation, &m->common);
    if (!next->n) return sand_cholmod_told(m->common.status, "coarsening", error);
    if (!level_capacity(next, error)) return false;
    for (int i = 0; i < next->size; i++) next->coarse[i] = UNDECIDED;
    return true;
}

// Makes the next level of l; *made says whether it is worth having.
static bool coarsen(Amg *m, Level *l, Level *next, bool *made, SandError *error) {
    int n = l->size, widest = 0;
    for (int i = 0; i < n; i++) {
        int entries = entries_begin(l->n, i + 1) - entries_begin(l->n, i);
        if (entries > widest) widest = entries;
    }
    Ranks q = {.top = -1};
    double *least = NULL;
    size_t least_capacity = 0;
    *made = false;
    bool ok = SAND_GROW(q.numbers, q.capacity, 3 * (size_t)n + 2 * (size_t)widest + 1, "multigrid", error) &&
              SAND_GROW(least, least_capacity, n + 1, "multigrid", error);
    if (ok) {
        q.weight = q.numbers, q.next = q.weight + n, q.last = q.next + n, q.head = q.last + n;
        for (int k = 0; k < 2 * widest + 1; k++) q.head[k] = -1;
        for (int i = 0; i < n; i++) least[i] = least_coupling(l, i, m->strength);
        int chosen = choose(l, least, &q);
        *made = chosen > 0 && chosen < 0.9 * n;
        ok = !*made || (make_restriction(m, l, least, chosen, error) && make_next(m, l, next, error));
    }
    sand_free(q.numbers);
    sand_free(least);
    return ok;
}

// --- cycles -----------------------------------------------------------------------------------------------

static void sweep(Level *l, bool back) {
    for (int k = 0; k < l->size; k++) {
        int i = back ? l->size - 1 - k : k;
        double gradient = l->r[i], diagonal = 0;
        FOR_ENTRIES(e, l->n, i) {
            int j = entry_row(l->n, e);
            gradient += entry(l->n, e) * l->x[j];
            if (j == i) diagonal = entry(l->n, e);
        }
        if (diagonal > 0) l->x[i] = fmax(l->low[i], l->x[i] - gradient / diagonal);
    }
}

// Row i of N times x.
static double times(const Level *l, int i, const double *x) {
    double sum = 0;
    FOR_ENTRIES(e, l->n, i) sum += entry(l->n, e) * x[entry_row(l->n, e)];
    return sum;
}

// The residual complementarity problem, eq. 24: what is still to be done, by the next level.
static void hand_down(Level *l, Level *next) {
    memset(next->r, 0, (size_t)next->size * sizeof *next->r);
    memset(next->x, 0, (size_t)next->size * sizeof *next->x);
    for (int i = 0; i < l->size; i++) {
        l->gradient[i] = l->r[i] + times(l, i, l->x);
        FOR_ENTRIES(e, l->restriction, i) next->r[entry_row(l->restriction, e)] += entry(l->restriction, e) * l->gradient[i];
        if (l->coarse[i] >= 0) next->low[l->coarse[i]] = l->low[i] - l->x[i];
    }
}

// Takes the next level's correction. One that leaves the bounds is projected or rejected, unknown by unknown.
static void adopt_request(Level *l, const Level *next, bool rejects) {
    double slope = 0, bend = 0;
    for (int i = 0; i < l->size; i++) {
        double move = 0;
        FOR_ENTRIES(e, l->restriction, i) move += entry(l->restriction, e) * next->x[entry_row(l->restriction, e)];
        if (l->x[i] + move < l->low[i]) move = rejects ? 0 : l->low[i] - l->x[i];
        l->move[i] = move;
        slope += move * l->gradient[i];
    }
    for (int i = 0; i < l->size; i++) bend += l->move[i] * times(l, i, l->move);
    double step = slope < 0 && bend > 0 ? fmin(1, -slope / bend) : 0;
    for (int i = 0; i < l->size; i++) l->x[i] = fmax(l->low[i], l->x[i] + step * l->move[i]);
}

static void cycle(Amg *m, int depth) {
    Level *l = &m->level[depth], *next = l + 1;
    if (!l->restriction) {
        for (int k = 0; k < COARSEST_SWEEPS; k++) sweep(l, k % 2);
        return;
    }
    for (int k = 0; k < m->sweeps; k++) sweep(l, false);
    hand_down(l, next);
    for (int k = 0; k < m->visits; k++) cycle(m, depth + 1);
    adopt_request(l, next, m->rejects);
    for (int k = 0; k < m->sweeps; k++) sweep(l, true);
}

// --- the method -------------------------------------------------------------------------------------------

static void free_coarse(Amg *m) {
    for (int k = 0; k < MOST_LEVELS; k++) {
        cholmod_free_sparse(&m->level[k].restriction, &m->common);
        if (k > 0) cholmod_free_sparse(&m->level[k].n, &m->common);
    }
}

static void amg_end(void *method) {
    Amg *m = method;
    free_coarse(m);
    cholmod_free_sparse(&m->level[0].n, &m->common);
    for (int k = 0; k < MOST_LEVELS; k++) {
        sand_free(m->level[k].coarse);
        sand_free(m->level[k].vectors);
    }
    cholmod_finish(&m->common);
    sand_cone_program_free(&m->program);
    free(m);
}

// The grids, for the unknowns that are off their bounds now or want to leave them.
static bool set_up(Amg *m, SandError *error) {
    Level *finest = &m->level[0];
    free_coarse(m);
    for (int i = 0; i < finest->size; i++) {
        bool held = finest->x[i] <= finest->low[i] && finest->r[i] + times(finest, i, finest->x) > 0;
        finest->coarse[i] = held ? FINE : UNDECIDED;
    }
    bool made = true;
    for (int k = 0; made && k + 1 < MOST_LEVELS && m->level[k].size > COARSEST; k++)
        if (!coarsen(m, &m->level[k], &m->level[k + 1], &made, error)) return false;
    return true;
}

static void *amg_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    Amg *m = calloc(1, sizeof *m);
    if (!m) return sand_fail(error, "out of memory for a solver"), NULL;
    cholmod_start(&m->common);
    m->common.print = 0;
    m->contacts = problem->contact_count;
    m->sweeps = (int)def->params[AMG_SWEEPS], m->visits = (int)def->params[AMG_VISITS];
    m->strength = def->params[AMG_STRENGTH], m->renewal = (int)def->params[AMG_RENEWAL];
    m->rejects = def->params[AMG_OUTSIDE] != 0;
    Level *finest = &m->level[0];
    bool ok = sand_cone_program_make(&m->program, problem, def, error);
    if (ok && m->contacts) {
        finest->n = sand_cone_program_assemble(&m->program, &m->common, error);
        ok = finest->n && level_capacity(finest, error);
    }
    if (ok && m->contacts) {
        memcpy(finest->r, m->program.r, (size_t)finest->size * sizeof *finest->r);
        memset(finest->low, 0, (size_t)finest->size * sizeof *finest->low);
        sand_cone_program_unknowns(&m->program, problem->start, finest->x);
    }
    if (!ok) amg_end(m), m = NULL;
    return m;
}

static bool amg_step(void *method, SandStatus *status, SandError *error) {
    Amg *m = method;
    if (!m->contacts) return *status = SAND_SOLVED, true;
    if (m->cycles++ % m->renewal == 0 && !set_up(m, error)) return false;
    cycle(m, 0);
    return true;
}

static void amg_impulses(const void *method, SandVec3 *impulse) {
    const Amg *m = method;
    sand_cone_program_impulses(&m->program, m->level[0].x, m->contacts, impulse);
}

const SandAssembledMethod sand_assembled_amg = {
    .begin = amg_begin, .step = amg_step, .impulses = amg_impulses, .end = amg_end};
