// SPDX-License-Identifier: MIT
// How a problem is packed into the arrays of a kernel: contacts in tiles, bodies, the contacts of each body, colors and
// cells. Part of cpu_kernel.c.
#pragma once
#include "sim/solver/cpu_kernel.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/solver/adjacency.h"
#include "sim/solver/blocks.h"
#include "sim/solver/cells.h"
#include "sim/solver/chunks.h"
#include "sim/solver/kernel/driver.inl"
#include "sim/solver/kernel/pack.inl"
#include "sim/solver/subproblem.h"

#include <stdlib.h>
#include <string.h>

// The per-contact arrays lie one after the other in one allocation: where each begins, in multiples of the padded contact
// count.
enum {
    OFFSET_CONSTANTS,
    OFFSET_IMPULSE = CONTACT_CONSTANTS,
    OFFSET_RECORD = OFFSET_IMPULSE + IMPULSE_SIZE,
    OFFSET_ARM_A = SAND_LAYOUT_AOS ? OFFSET_RECORD + 4 : OFFSET_RECORD,
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
    SandBlocks blocks;
#if SAND_BLOCK_TILES
    SAND_ARRAY(BlockTile) block_tiles; // op.block_tiles
#endif
    SAND_ARRAY(double) block_sum; // op.block_sum
    SAND_ARRAY(Body) last;        // op.last
    // Arrays that the const pointers in op look into.
    SAND_ARRAY(real) contacts; // OFFSET_
    SAND_ARRAY(real) vectors, mass, inertia, batch_step, matrix;
    SAND_ARRAY(real) bounce; // of each contact, where contacts have one
    SAND_ARRAY(int) a, b;
    SAND_ARRAY(int) contact_at;       // of each contact of the problem: which one it is of the kernel
    SAND_ARRAY(int) first, first_end; // of each body: op.first, op.first_end
    SAND_ARRAY(int) order;            // op.order
    SandSpans spans;                  // of the kernel's contacts
    SAND_ARRAY(real) place;           // the field and the moments of the bodies behind it
    SAND_ARRAY(real) coarse;          // parts, matrices and vectors of the cells
    SAND_ARRAY(Body) free, body, scratch, measured, segment_sum;
    Ghosts ghosts;
    SandMessage messages[SAND_CHUNKS]; // of ghosts
    SAND_ARRAY(real) exchanged;        // what is sent to other ranks, then what is received
    const SandSubproblem *subproblem;  // that the problem is of several ranks; NULL: this process has all of it
    // While the thread pool works on it.
    int method;
    bool frictionless;          // by the model, whatever the contacts say
    const SandProblem *problem; // that is loaded; of several ranks what this one holds
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
    SAND_FREE_ARRAYS(&workspace->contacts, &workspace->vectors, &workspace->mass, &workspace->inertia,
                     &workspace->batch_step, &workspace->matrix, &workspace->a, &workspace->b, &workspace->free,
                     &workspace->body, &workspace->scratch, &workspace->measured, &workspace->segment_sum, &workspace->place,
                     &workspace->coarse, &workspace->bounce, &workspace->exchanged, &workspace->contact_at,
                     &workspace->first, &workspace->first_end, &workspace->order, &workspace->block_sum, &workspace->last);
#if SAND_BLOCK_TILES
    SAND_FREE_ARRAYS(&workspace->block_tiles);
#endif
    sand_adjacency_free(&workspace->adjacency);
    sand_cells_free(&workspace->cells);
    sand_blocks_free(&workspace->blocks);
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
    if (!SAND_RESERVE(workspace->matrix, kept * kept * blocks + 1, "matrix", error)) return false;
    for (int e = 0; e < blocks; e++) // without the rows of torques where the kernel has none
        for (int k = 0; k < kept * kept; k++)
            workspace->matrix.data[kept * kept * e + k] = (real)m->block[m->rows * (m->rows * e + k / kept) + k % kept];
    op->matrix_first = m->first;
    op->matrix_column = m->column;
    op->matrix_mirror = m->mirror;
    op->matrix_block = workspace->matrix.data;
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

// Packs contact i of the problem, which may be a block of a joint, as contact `to` of the kernel; returns the mean diagonal
// of its N_ii.
static double load_contact(SandSolverWorkspace *workspace, const PackTarget *target, int64_t i, int64_t to) {
    const SandProblem *p = workspace->problem;
    const SandJointRows *joint = sand_problem_joint(p, (int)i);
    SandContact c = p->contacts[i];
    double numbers[JOINT_CONSTANTS] = {0};
    if (workspace->frictionless) c.mu = 0;
    double d = joint       ? load_joint(p, (int)i, &c, joint, numbers)
               : p->matrix ? matrix_diagonal(p, (int)i)
                           : contact_mean_diagonal(p->bodies, &c, 1, 1);
    if (!joint) c.gap = sand_recovery_gap(p->recovery, c.gap, p->step);
    pack_contact(target, to, &c, d, p->start[i]);
    pack_joint(target, to, numbers);
#if SAND_ROLLING
    pack_rolling(target, to, &c, joint ? 1 : load_arm(p, (int)i, d), p->start[p->contact_count + i]);
#endif
    return d;
}
#else
static double load_contact(SandSolverWorkspace *workspace, const PackTarget *target, int64_t i, int64_t to) {
    const SandProblem *p = workspace->problem;
    SandContact c = p->contacts[i];
    double d = p->matrix ? matrix_diagonal(p, (int)i) : contact_mean_diagonal(p->bodies, &c, 1, 1);
    c.gap = sand_recovery_gap(p->recovery, c.gap, p->step);
    pack_contact(target, to, &c, d, p->start[i]);
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

// What the layout keeps of a packed contact so that no iteration computes it again.
static void load_derived(SandSolverWorkspace *workspace, int64_t i) {
#if !SAND_LAYOUT_AOS
    const Op *op = &workspace->op;
    real *constant = workspace->contacts.data + OFFSET_CONSTANTS * op->n;
    ContactRef ref = contact_ref(op, i);
    constant[contact_number(ref, CONTACT_CONSTANTS, CONTACT_GAP_BIAS)] = gap_bias(op, contact_half_gap(op, ref));
    constant[contact_number(ref, CONTACT_CONSTANTS, CONTACT_STEP_FACTOR)] = cone_factor_by(contact_mu(op, ref), op->ratio);
#if SAND_RADIAL
    const SandProblem *p = workspace->problem;
    for (int side = 0; side < 2; side++) {
        int k = side ? workspace->b.data[i] : workspace->a.data[i];
        real radius = k < p->body_count ? (real)p->bodies[k].radius : 0; // padding refers to a body behind the others
        constant[contact_number(ref, CONTACT_CONSTANTS, side ? CONTACT_LENGTH_B : CONTACT_LENGTH_A)] =
            contact_half_gap(op, ref) + radius;
    }
#endif
#else
    (void)workspace, (void)i;
#endif
}

// The contacts of the whole problem.
static double all_contacts(const SandSolverWorkspace *workspace) {
    const SandSubproblem *s = workspace->subproblem;
    return s ? s->all_contacts : workspace->problem->contact_count;
}

static void load_contacts(SandSolverWorkspace *workspace, Worker *w) {
    const SandProblem *p = workspace->problem;
    int64_t n = workspace->op.n;
    real *constant = workspace->contacts.data + OFFSET_CONSTANTS * n, *record = workspace->contacts.data + OFFSET_RECORD * n;
    real *arm_a_record = workspace->contacts.data + OFFSET_ARM_A * n,
         *arm_b_record = workspace->contacts.data + OFFSET_ARM_B * n;
    PackTarget target = {workspace->a.data,
                         workspace->b.data,
                         constant,
                         record,
                         arm_a_record,
                         arm_b_record,
                         workspace->vectors.data,
                         p->bounces ? workspace->bounce.data : NULL};
    Sum sum;
    sum_open(w, &sum, 2, 0);
    for (int s = w->first_span; s < w->last_span; s++) {
        SandSpan span = sand_span(w, s, n / SAND_LANES);
        double diagonals = 0, bare = 0;
        for (int64_t i = span.begin * SAND_LANES; i < span.end * SAND_LANES; i++) {
            int64_t e = i - span.begin * SAND_LANES;
            if (e < span.count) {
                diagonals += load_contact(workspace, &target, span.first + e, i);
                bare += contact_has_friction(&workspace->op, contact_ref(&workspace->op, i)) ? 0 : 1;
            } else {
                load_padding(workspace, &target, i);
            }
            load_derived(workspace, i);
#if SAND_LOCAL
            workspace->op.de_saxce[i] = 0; // left from another problem
#endif
        }
        sand_partials(w, s)[0] = diagonals;
        sand_partials(w, s)[1] = bare;
    }
    sum_total(w, &sum);
    if (!worker_is_first(w)) return;
    op_scale(&workspace->op, all_contacts(workspace), sum.total[0]);
    workspace->op.bare = sum.total[1] > 0;
}

static void load_bodies(SandSolverWorkspace *workspace, Worker *w) {
    const SandProblem *p = workspace->problem;
    SAND_FOR_EACH(w, k, op_body_entries(&workspace->op)) {
        Body body = {{0}, {0}};
        if (k == p->body_count) workspace->mass.data[k] = 0; // the last one, which never moves
        if (k < p->body_count) {
            const SandProblemBody *b = &p->bodies[k];
            body = pack_body(b);
            workspace->mass.data[k] = (real)b->inverse_mass;
            for (int j = 0; j < SAND_INERTIA_SIZE; j++)
                workspace->inertia.data[SAND_INERTIA_SIZE * k + j] = (real)b->inverse_inertia[j];
        }
        workspace->free.data[k] = workspace->body.data[k] = workspace->measured.data[k] = body;
        workspace->scratch.data[k] = (Body){{0}, {0, 0, 0, body.w[3]}};
    }
}

// What bodies follow each other by: how many contacts they own, and how many they have besides. On a rank of several those
// of the ranges that are gathered apart stay apart (gather_around_exchange).
static int gather_key(const Op *op, int k) {
    const Ghosts *g = op->ghosts;
    int range = g ? (k >= g->first_own) + (k >= g->first_inner) + (k >= g->end_inner) + (k >= g->end_own) : 0;
    int owned = op->first_end[k] - op->first[k], others = op->second[k + 1] - op->second[k];
    const int most = SAND_HIGH_DEGREE + 1; // more are gathered otherwise
    return (range * (most + 1) + (owned < most ? owned : most)) * (most + 1) + (others < most ? others : most);
}

// Sorts the bodies for the gather, a few at a time: neighbors have contacts in common, which are then still in the cache.
static void load_order(SandSolverWorkspace *workspace, Worker *w) {
    enum { FEW = 64 };
    const Op *op = &workspace->op;
    int count = op->dynamic_count;
    SAND_FOR_EACH(w, block, (count + FEW - 1) / FEW) {
        int begin = (int)block * FEW, end = begin + FEW < count ? begin + FEW : count, key[FEW];
        for (int k = begin; k < end; k++) {
            int e = k, own = gather_key(op, k);
            for (; e > begin && key[e - 1 - begin] > own; e--) {
                key[e - begin] = key[e - 1 - begin];
                workspace->order.data[e] = workspace->order.data[e - 1];
            }
            key[e - begin] = own;
            workspace->order.data[e] = k;
        }
    }
}

static void load_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    load_contacts(workspace, w);
    load_bodies(workspace, w);
    load_order(workspace, w);
}

// Finds a place for every contact: chunks are padded to whole tiles.
static bool lay_out_contacts(SandSolverWorkspace *workspace, SandError *error) {
    const SandProblem *p = workspace->problem;
    SandSpans *spans = &workspace->spans;
    if (workspace->subproblem)
        *spans = workspace->subproblem->spans;
    else
        sand_spans_of_problem(spans, p, &workspace->adjacency);
    workspace->op.n = sand_spans_contacts(spans);
    if (!SAND_RESERVE(workspace->contact_at, p->contact_count + 1, "contacts", error)) return false;
    for (int s = 0; s < spans->count; s++)
        for (int e = 0; e < spans->span[s].count; e++)
            workspace->contact_at.data[spans->span[s].first + e] = (int)spans->span[s].begin * SAND_LANES + e;
    return true;
}

// Lists the contacts of each body as those of the kernel. Those that a body owns lie together in one chunk.
static bool place_lists(SandSolverWorkspace *workspace, SandError *error) {
    SandAdjacency *a = &workspace->adjacency;
    if (!SAND_RESERVE(workspace->first, a->body_count + 1, "contacts", error) ||
        !SAND_RESERVE(workspace->first_end, a->body_count + 1, "contacts", error) ||
        !SAND_RESERVE(workspace->order, a->body_count + 1, "contacts", error))
        return false;
    for (int k = 0; k < a->body_count; k++) {
        int count = a->first.data[k + 1] - a->first.data[k];
        workspace->first.data[k] = count ? workspace->contact_at.data[a->first.data[k]] : 0;
        workspace->first_end.data[k] = workspace->first.data[k] + count;
    }
    for (int e = 0; e < a->second.data[a->body_count]; e++) a->list.data[e] = workspace->contact_at.data[a->list.data[e]];
    return true;
}

// Lists the contacts of each body, for the gather.
static bool load_adjacency(SandSolverWorkspace *workspace, SandError *error) {
    Op *op = &workspace->op;
    SandAdjacency *adjacency = &workspace->adjacency;
    if (!sand_adjacency_build(adjacency, workspace->problem, error) ||
        !SAND_RESERVE(workspace->segment_sum, adjacency->segment_count, "high-degree bodies", error))
        return false;
    if (!lay_out_contacts(workspace, error) || !place_lists(workspace, error)) return false;
    op->first = workspace->first.data;
    op->first_end = workspace->first_end.data;
    op->order = workspace->order.data;
    op->second = adjacency->second.data;
    op->list = adjacency->list.data;
    op->high_degree_count = adjacency->high_degree_count;
    op->segment_count = adjacency->segment_count;
    op->high_degree = adjacency->high_degree.data;
    op->high_degree_segment = adjacency->high_degree_segment.data;
    op->segment_body = adjacency->segment_body.data;
    op->segment_sum = workspace->segment_sum.data;
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

// How often a body counts in the batch: as often as it has contacts there. Then the batch cannot overshoot.
static int batch_times(const SandSolverWorkspace *workspace, int k) {
    const SandSubproblem *s = workspace->subproblem;
    if (k >= workspace->op.dynamic_count) return 1;
    int degree = s ? s->degree.data[k] : sand_adjacency_degree(&workspace->adjacency, k);
    return degree > SAND_HIGH_DEGREE ? degree : 1;
}

// Colors the contacts.
static bool load_colors(SandSolverWorkspace *workspace, SandError *error) {
    const SandProblem *p = workspace->problem;
    Op *op = &workspace->op;
    SandAdjacency *adjacency = &workspace->adjacency;
    bool colored = workspace->subproblem ? sand_subproblem_color(workspace->subproblem, adjacency, error)
                                         : sand_adjacency_color(adjacency, p, error);
    if (!colored || !SAND_RESERVE(workspace->batch_step, p->contact_count + 1, "colors", error)) return false;
    int batch = adjacency->color_first.data[adjacency->color_count],
        end = adjacency->color_first.data[adjacency->color_count + 1];
    for (int e = batch; e < end; e++) {
        const SandContact *c = &p->contacts[adjacency->color_list.data[e]];
        workspace->batch_step.data[e - batch] =
            (real)(1 / batch_diagonal(p, adjacency->color_list.data[e], batch_times(workspace, c->a),
                                      batch_times(workspace, c->b)));
    }
    for (int e = 0; e < end; e++) adjacency->color_list.data[e] = workspace->contact_at.data[adjacency->color_list.data[e]];
    op->color_count = adjacency->color_count;
    op->color_first = adjacency->color_first.data;
    op->color_list = adjacency->color_list.data;
    op->batch_step = workspace->batch_step.data;
    return true;
}

// Cuts the contacts into blocks, when they and their bodies are loaded. No method that needs them is for several ranks.
static bool load_blocks(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandSolveDef *def, SandError *error) {
    Op *op = &workspace->op;
    SandBlocks *blocks = &workspace->blocks;
    SandBlockContacts contacts = {(int)op->n, op->a, op->b};
    double diameters = sand_solve_param(def, "edge");
    if (!(diameters > 0)) diameters = SAND_BLOCK_EDGE_CPU;
    if (!sand_blocks_build(blocks, pool, workspace->problem, contacts, diameters, error) ||
        !SAND_RESERVE(workspace->last, op_body_entries(op), "bodies", error) ||
        !SAND_RESERVE(workspace->block_sum, 2 * blocks->count, "blocks", error))
        return false;
#if SAND_BLOCK_TILES
    if (!SAND_RESERVE(workspace->block_tiles, blocks->tile_first[blocks->count], "blocks", error)) return false;
    op->block_tiles = workspace->block_tiles.data;
    size_t spares = (size_t)blocks->count; // bodies behind the others, one for each block
    if (!SAND_RESERVE(workspace->body, (size_t)op_body_entries(op) + spares, "bodies", error)) return false;
    op->body = workspace->body.data;
#endif
    op->block_tile = blocks->tile;
    op->block_tile_first = blocks->tile_first;
    op->block_color_count = SAND_BLOCK_COLORS;
    op->block_color_first = blocks->color_first;
    op->block_sum = workspace->block_sum.data;
    op->last = workspace->last.data;
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
    if (!SAND_RESERVE(workspace->place, (8 + COARSE_MOMENTS) * bodies, "cells", error) ||
        !SAND_RESERVE(workspace->coarse, numbers, "cells", error))
        return false;
    for (int k = 0; k < p->dynamic_count; k++)
        pack_vec4(workspace->place.data + 4 * k, sand_cell_place(&cells->grid, p->bodies[k].position), 0);
    op->place = workspace->place.data;
    op->field = workspace->place.data + 4 * bodies;
    op->moments = workspace->place.data + 8 * bodies;
    op->cell_first = cells->first.data;
    op->cell_list = cells->list.data;
    op->cell_parts = workspace->coarse.data;
    op_set_cells(op, &cells->grid);
    return true;
}

// Finds a range of own bodies that no other rank waits for. Solver indices follow space, so that bodies at the border to a
// lower rank are among the first own bodies, those at the border to a higher rank among the last, and the range lies
// between.
static void find_inner(Ghosts *g, const SandSubproblem *s) {
    const SandPartition *h = s->partition;
    g->first_own = g->first_inner = h->below;
    g->end_own = g->end_inner = h->below + sand_partition_owned(h);
    int middle = h->below + sand_partition_owned(h) / 2;
    for (int e = 0; e < s->send_count; e++) {
        int k = s->send[e];
        if (k < middle && k >= g->first_inner) g->first_inner = k + 1;
        if (k >= middle && k < g->end_inner) g->end_inner = k;
    }
}

// Prepares the exchange of ghosts: one message for each neighbor.
static bool load_ghosts(SandSolverWorkspace *workspace, SandError *error) {
    const SandSubproblem *s = workspace->subproblem;
    Ghosts *g = &workspace->ghosts;
    workspace->op.ghosts = s ? g : NULL;
    if (!s) return true;
    size_t numbers = GHOST_SIZE * ((size_t)s->send_count + (size_t)s->receive_count) + 1, body = GHOST_SIZE * sizeof(real);
    if (!SAND_RESERVE(workspace->exchanged, numbers, "ghosts", error)) return false;
    *g = (Ghosts){.ranks = s->partition->ranks,
                  .degree = s->degree.data,
                  .send_count = s->send_count,
                  .receive_count = s->receive_count,
                  .send = s->send,
                  .receive = s->receive,
                  .outgoing = workspace->exchanged.data,
                  .incoming = workspace->exchanged.data + GHOST_SIZE * s->send_count,
                  .message_count = s->neighbor_count,
                  .messages = workspace->messages};
    find_inner(g, s);
    for (int j = 0; j < s->neighbor_count; j++) {
        const SandNeighbor *n = &s->neighbors[j];
        workspace->messages[j] = (SandMessage){.rank = n->rank,
                                               .send = g->outgoing + GHOST_SIZE * n->first_send,
                                               .receive = g->incoming + GHOST_SIZE * n->first_receive,
                                               .send_bytes = body * (size_t)n->send_count,
                                               .receive_bytes = body * (size_t)n->receive_count};
    }
    return true;
}

static bool kernel_load(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandProblem *p,
                        const SandSubproblem *subproblem, const SandSolveDef *def, SandError *error) {
    Op *op = &workspace->op;
    workspace->subproblem = subproblem;
    op->contact_count = p->contact_count;
    op->body_count = p->body_count + 1;
    op->dynamic_count = p->dynamic_count;
    op->two_per_step = (real)(2 / p->step);
    op_set_recovery(op, p->recovery);
    op->ratio = (real)sand_solve_param(def, "ratio");
    workspace->problem = p;
    workspace->frictionless = def->friction == SAND_FRICTIONLESS;
    if (!load_adjacency(workspace, error)) return false;
    size_t n = (size_t)op->n + 1, bodies = (size_t)op_body_entries(op),
           vectors = (size_t)sand_solver_table[def->solver].vectors + 1;
    size_t for_bounds = (size_t)sand_solver_table[sand_solver_default].vectors + 1; // their method has vectors as well
    if (SAND_LOCAL && vectors < for_bounds) vectors = for_bounds;
    if (!SAND_RESERVE(workspace->contacts, n * OFFSET_END, "contacts", error) ||
        !SAND_RESERVE(workspace->vectors, n * ROW_SIZE * vectors, "solver vectors", error) ||
        !SAND_RESERVE(workspace->a, n, "contacts", error) || !SAND_RESERVE(workspace->b, n, "contacts", error) ||
        !SAND_RESERVE(workspace->mass, bodies, "bodies", error) ||
        !SAND_RESERVE(workspace->inertia, bodies * SAND_INERTIA_SIZE, "bodies", error) ||
        !SAND_RESERVE(workspace->free, bodies, "bodies", error) || !SAND_RESERVE(workspace->body, bodies, "bodies", error) ||
        !SAND_RESERVE(workspace->measured, bodies, "bodies", error) ||
        !SAND_RESERVE(workspace->scratch, bodies, "bodies", error) ||
        !SAND_RESERVE(workspace->bounce, p->bounces ? n : 0, "contacts", error) || !load_matrix(workspace, error) ||
        !load_ghosts(workspace, error))
        return false;
    op->a = workspace->a.data;
    op->b = workspace->b.data;
    op->constant = workspace->contacts.data + OFFSET_CONSTANTS * op->n;
    op->bounce = p->bounces ? workspace->bounce.data : NULL;
    op->impulse = workspace->contacts.data + OFFSET_IMPULSE * op->n;
#if SAND_LAYOUT_AOS
    op->record = workspace->contacts.data + OFFSET_RECORD * op->n;
#endif
#if !SAND_RADIAL
    op->arm_a_record = workspace->contacts.data + OFFSET_ARM_A * op->n;
    op->arm_b_record = workspace->contacts.data + OFFSET_ARM_B * op->n;
#endif
#if SAND_LOCAL
    op->bound = workspace->contacts.data + OFFSET_BOUND * op->n;
    op->de_saxce = workspace->contacts.data + OFFSET_DE_SAXCE * op->n;
    op_set_friction(op, def, sand_solver_can(def->solver, SAND_FRICTION_CONE));
#endif
    op->inverse_mass = workspace->mass.data;
    op->inverse_inertia = workspace->inertia.data;
    op->free = workspace->free.data;
    op->still = &workspace->free.data[op->body_count - 1];
    op->body = workspace->body.data;
    op->scratch = workspace->scratch.data;
    op->measured = workspace->measured.data;
    op->vectors = workspace->vectors.data;
    op->vector_stride = op->n * ROW_SIZE;
    workspace->run.request.reference = workspace->vectors.data + (vectors - 1) * (size_t)op->n * ROW_SIZE;
    op->color_count = op->cells[0] = op->block_color_count = 0;
    if (sand_solve_needs_cells(def, op->dynamic_count) && !load_cells(workspace, error)) return false;
    if (sand_solve_needs_colors(def) && !load_colors(workspace, error)) return false;
    // From here on ranks wait for each other.
    const SandRanks *ranks = subproblem ? subproblem->partition->ranks : NULL;
    if (ranks && !ranks->agree(ranks->user, subproblem->key, error)) return false;
    sand_thread_pool_run_spans(pool, &workspace->spans, load_work, workspace);
    if (sand_solver_table[def->solver].needs & SAND_NEEDS_BLOCKS) return load_blocks(workspace, pool, def, error);
    return true;
}
