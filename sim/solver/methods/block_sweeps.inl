// SPDX-License-Identifier: MIT
// Gauss-Seidel sweeps block by block, with momentum around them, BLOCK-SWEEPS.
// Idea: the contacts of a cube of some diameters are swept together, while their bodies are in the nearest memory; blocks of
// one color of cubes share no body and are swept at once (sim/solver/blocks.h). Sweeps over-relax, and Nesterov's momentum
// goes around them, without a product of its own: velocities are linear in the impulses and are extrapolated with them.
// Both leave a rough residual, so that the last passes of a budget relax less and have little momentum.
// Weakness: that of sweeps: what is wrong over long distances takes many of them. A solve that ends before its budget is
// used up has no such last passes. No bound of its convergence is known.
//
// A pass extrapolates, and sweeps every block some times; of p sweeps, an iteration has the p-th part of the colors.
#ifndef SAND_METHOD_BLOCK_SWEEPS_INL
#define SAND_METHOD_BLOCK_SWEEPS_INL
#include "sim/solver/methods/block_correction.inl"
#include "sim/solver/methods/gauss_seidel.inl"

#include <limits.h>

enum { BLOCK_SWEEPS, BLOCK_OMEGA, BLOCK_EDGE, BLOCK_FINISH, BLOCK_FIRST }; // parameters
enum { BLOCK_LAST = 3 }; // vector of the impulses before the last extrapolation; the sweeps have 0 to 2

// A pass of the finish: two sweeps that damp what is rough, and little momentum.
enum { BLOCK_FINISH_SWEEPS = 2 };
enum { BLOCK_REFRESH = 50 }; // passes after which velocities are computed anew, without the rounding of the sweeps
#define BLOCK_DAMPING ((real)0.7)
#define BLOCK_FINISH_MOMENTUM 0.5

// Where Nesterov's sequence is entered: momentum begins with 0.85 and not with none. The last step's impulses are a start
// from which all that is left is slow.
#define BLOCK_THETA 0.1

// A solve whose steps, squared, are below this part of the first is not looked at for growth (Solve.calm).
#define BLOCK_CALM 0.25

// Steps that grow by more than this since momentum began leave this part of the greatest momentum.
#define BLOCK_GROWTH 4.0
#define BLOCK_LESS 0.67

// Of a pass, in the metric of the diagonal: how far it went against its momentum (O'Donoghue and Candes' measure for a
// restart), and how far it went, squared.
typedef struct BlockSums {
    double back, step;
} BlockSums;

typedef struct block_sweeps_State {
    gauss_seidel_State sweep;
    int done, finish;  // iterations; the finish begins with this one
    int passes;        // since the start
    int due;           // the next correction is after this iteration
    int planned, left; // sweeps of this pass, and those still to come
    bool finishes;     // this pass is one of the finish
    real omega;        // of the passes before the finish
    double theta;      // of Nesterov's sequence
    double most;       // momentum
    double least;      // step of a pass since momentum began
    double first;      // step of the first pass
    real momentum;     // of this pass
    bool swapped;      // SAND_BLOCK_WARPS: the impulses of this pass go where those of the start were
    int turn;          // SAND_BLOCK_WARPS: queues of blocks since the start
} block_sweeps_State;

SAND_KERNEL void block_sweeps_start(Worker *w, Solve *s, block_sweeps_State *m) {
    const Op *op = s->op;
    m->sweep.omega = m->sweep.lambda = 1;
    gauss_seidel_set_order(s, &m->sweep, GAUSS_SEIDEL_SEQUENTIAL);
    Relaxation how = SAND_RADIAL ? RELAX_SPHERES : SAND_METRICS ? RELAX_METRIC : RELAX_BLOCK;
    gauss_seidel_relax_by(w, s, &m->sweep, gauss_seidel_rows_or(s, how));
    // The mean diagonal of a contact that rolls is too short along some axes: to over-relax would overshoot there.
    m->omega = (real)s->params[BLOCK_OMEGA];
    if (SAND_ROLLING && m->omega > 1) m->omega = 1;
    if (!s->again) m->done = 0;
    // A short budget has a shorter finish.
    int most = s->budget / (2 * BLOCK_FINISH_SWEEPS), passes = (int)s->params[BLOCK_FINISH];
    m->finish = s->budget - BLOCK_FINISH_SWEEPS * (passes < most ? passes : most);
    m->left = m->passes = m->turn = 0;
    m->due = s->params[BLOCK_FIRST] > 0 && !s->again ? (int)s->params[BLOCK_FIRST] : INT_MAX;
    m->theta = BLOCK_THETA;
    m->most = 1;
    m->least = INFINITY;
    m->swapped = true;
#if SAND_BLOCK_TILES
    SAND_FOR_EACH(w, q, op_block_count(op)) {
        for (int t = op->block_tile_first[q]; t < op->block_tile_first[q + 1]; t++)
            block_tile_pack(op, t, op_body_entries(op) + q, solve_vector(s, 0));
    }
#elif SAND_BLOCK_WARPS
    part_pack(w, op, solve_vector(s, 0));
#else
    copy(w, op, solve_vector(s, 0), solve_vector(s, BLOCK_LAST));
#endif
    SAND_FOR_EACH(w, k, op_body_entries(op)) op->last[k] = op->body[k];
    sand_barrier(w);
}

// Adds up what the blocks saw of the last pass.
SAND_INLINE BlockSums block_sums(Worker *w, const Op *op) {
    BlockSums sums = {0, 0};
#ifdef SAND_SPMD_CUDA
    Sum sum;
    sum_open(w, &sum, 2, 0);
    SAND_FOR_EACH(w, q, op_block_count(op)) {
        SAND_ADD_ONE(sum, 0, (real)op->block_sum[2 * q]);
        SAND_ADD_ONE(sum, 1, (real)op->block_sum[2 * q + 1]);
    }
    sum_total(w, &sum);
    sums.back = sum.total[0];
    sums.step = sum.total[1];
#else
    (void)w;
    for (int q = 0; q < op_block_count(op); q++) {
        sums.back += op->block_sum[2 * q];
        sums.step += op->block_sum[2 * q + 1];
    }
#endif
    return sums;
}

// Momentum begins anew where a pass went back. Where steps grow, momentum drives a sweep that turns errors around, and has
// less from then on: without any, the objective falls.
SAND_INLINE void block_restart(Worker *w, Solve *s, block_sweeps_State *m) {
    BlockSums sums = block_sums(w, s->op);
    if (m->passes == 1) m->first = sums.step;
    s->calm = sums.step < BLOCK_CALM * m->first;
    bool grows = sums.step > BLOCK_GROWTH * m->least;
    if (grows) m->most *= BLOCK_LESS;
    if (grows || sums.back > 0) {
        m->theta = 1;
        m->least = sums.step;
    }
    if (sums.step < m->least) m->least = sums.step;
}

// Velocities of the extrapolated impulses. A radius stays as it is.
SAND_HOT void block_extrapolate(Worker *w, const Op *op, real momentum) {
    SAND_FOR_EACH(w, k, op_body_entries(op)) {
        Vec4 v = vec4_load(op->body[k].v), turn = vec4_load(op->body[k].w);
        Vec4 last_v = vec4_load(op->last[k].v), last_turn = vec4_load(op->last[k].w);
        vec4_store(op->body[k].v, vec4_madd(v, momentum, vec4_sub(v, last_v)));
        vec4_store(op->body[k].w, vec4_madd(turn, momentum, vec4_sub(turn, last_turn)));
        vec4_store(op->last[k].v, v);
        vec4_store(op->last[k].w, turn);
    }
    sand_barrier(w);
}

// Velocities of the impulses x, anew. Those of the last pass move along: a correction of one of them alone would count as
// motion, and momentum would carry it on.
SAND_HOT void block_refresh(Worker *w, const Op *op, const real *x) {
    SAND_FOR_EACH(w, k, op_body_entries(op)) body_add(&op->last[k], -1, &op->body[k]);
    gather_bodies_of(w, op, x, op->free, op->body);
    SAND_FOR_EACH(w, k, op_body_entries(op)) body_add(&op->last[k], 1, &op->body[k]);
}

// Whether a correction comes after `done` iterations.
SAND_INLINE bool block_corrects(const Solve *s, const block_sweeps_State *m, int done) {
    return done >= m->due && done + BLOCK_CORRECTION_REMAIN <= s->budget && s->op->cells[0];
}

// Plans the next pass, and moves the velocities to where it begins.
SAND_KERNEL void block_begin(Worker *w, Solve *s, block_sweeps_State *m) {
    m->finishes = m->done >= m->finish;
    int sweeps = m->finishes ? BLOCK_FINISH_SWEEPS : (int)s->params[BLOCK_SWEEPS];
    int rest = (m->finishes ? s->budget : m->finish) - m->done;
    m->planned = m->left = sweeps < rest || rest < 1 ? sweeps : rest;
    if (m->passes > 0) block_restart(w, s, m);
    m->swapped = !m->swapped;
    double momentum = nesterov_momentum(&m->theta);
    if (momentum > m->most) momentum = m->most;
    if (m->finishes && momentum > BLOCK_FINISH_MOMENTUM) momentum = BLOCK_FINISH_MOMENTUM;
    m->momentum = (real)momentum;
    if (++m->passes % BLOCK_REFRESH == 0) {
        solve_settle(w, s);
        block_refresh(w, s->op, solve_vector(s, 0));
    }
#if !SAND_BLOCK_WARPS // parts do it for the bodies that they load first
    block_extrapolate(w, s->op, m->momentum);
#endif
}

// The relaxation of the sweeps of a pass.
SAND_INLINE real block_omega(const block_sweeps_State *m) { return m->finishes ? BLOCK_DAMPING : m->omega; }

#if SAND_BLOCK_TILES
// All sweeps of a pass over block q.
SAND_HOT void block_sweep(const Solve *s, const block_sweeps_State *m, Index q) {
    const Op *op = s->op;
    BlockTile *tiles = op->block_tiles;
    int begin = op->block_tile_first[q], end = op->block_tile_first[q + 1];
    BlockLanes back = {0}, step = {0};
    for (int k = 0; k < m->planned; k++)
        for (int t = begin; t < end; t++) block_tile_relax(&tiles[t], op, block_omega(m), k == 0, m->momentum, back, step);
    BlockSums sums = {0, 0};
    for (int l = 0; l < SAND_BLOCK_LANES; l++) {
        sums.back += (double)back[l];
        sums.step += (double)step[l];
    }
    op->block_sum[2 * q] = sums.back;
    op->block_sum[2 * q + 1] = sums.step;
}
#elif SAND_BLOCK_WARPS
// What a warp asks of a pass, in registers: the state is in memory that is slow to ask again and again.
typedef struct BlockPass {
    int number, sweeps; // which one since the start; sweeps of a block
    real omega, momentum;
    bool swapped, finishes;
} BlockPass;

// All sweeps of a pass over a part of a block, whose bodies have been sent for.
SAND_INLINE void block_part(const Op *op, const BlockPass *m, int begin, PartTiles tiles, LaneBodies own, LaneSums *sums) {
    PartShared *shared = &part_shared[threadIdx.x / 32];
    real *now = op_vector(op, PART_NOW) + 4 * (int64_t)begin, *last = op_vector(op, PART_LAST) + 4 * (int64_t)begin;
    PartSweep sweep = {op_vector(op, PART_RECORD) + 4 * (int64_t)begin,
                       m->swapped ? last : now,
                       op->parts.pair + begin,
                       m->swapped ? now : last,
                       m->omega,
                       m->momentum,
                       true};
    for (int k = 0; k < m->sweeps; k++) {
        if (k > 0) __threadfence(); // the last sweep has stored what this one sends for
        part_sweep(op, &sweep, tiles, begin, shared, sums);
        sweep.first = false;
        sweep.x = sweep.to;
    }
    part_store_bodies(op, own, &shared->bodies);
}

// All sweeps of a pass over the block that the queue has, by one warp, and on to the next.
SAND_INLINE void block_sweep(const Op *op, const BlockPass *m, BlockQueue *queue) {
    PartBodies *bodies = &part_shared[threadIdx.x / 32].bodies;
    BlockHead head = queue->head;
    LaneSums sums = {0, 0};
    uint32_t header = head.header;
    for (int begin = head.begin; begin < head.end;) {
        LaneBodies own = lane_bodies(op, begin, part_bodies_of(header));
        PartTiles tiles = part_tiles(op, begin, part_tiles_of(header));
        part_rest(op, &tiles, begin, part_tiles_of(header), m->finishes);
        bool opens = begin == head.begin;
        if (opens) {
            queue_ask(queue);
            block_wait(op, queue->near, m->number);
        }
        if (tiles.awake) part_fetch_bodies(op, own, bodies);
        if (opens) queue_advance(queue, op);
        part_extrapolate(op, own, m->momentum, tiles.awake ? bodies : NULL);
        if (tiles.awake) block_part(op, m, begin, tiles, own, &sums);
        begin += part_contacts_of(header);
        if (begin < head.end) header = op->parts.header[begin];
    }
    block_release(op, head.block, m->number);
    real back = warp_sum(sums.back), step = warp_sum(sums.step);
    if (warp_lane() > 0) return;
    op->block_sum[2 * head.block] = (double)back;
    op->block_sum[2 * head.block + 1] = (double)step;
}

// Sweeps the blocks of the colors from .. to-1, each as soon as those before it that share bodies with it are done.
SAND_HOT void block_sweep_colors(Worker *w, const Solve *s, block_sweeps_State *m, int from, int to) {
    const Op *op = s->op;
    BlockPass pass = {m->passes, m->planned, block_omega(m), m->momentum, m->swapped, m->finishes};
    int first = op->block_color_first[from];
    BlockQueue queue = queue_open(w, op, m->turn++, first, op->block_color_first[to] - first);
    while (queue.at < queue.count) block_sweep(op, &pass, &queue);
    sand_barrier(w);
}
#else
// Extrapolates the impulse of contact i and relaxes it.
SAND_INLINE void block_first(const Solve *s, const gauss_seidel_State *sweep, Index i, real momentum, BlockSums *sums) {
    const Op *op = s->op;
    real *x = solve_vector(s, 0), *last = solve_vector(s, BLOCK_LAST);
    ContactRef ref = contact_ref(op, i);
    Row before = row_load(x, ref), from = row_madd(before, momentum, row_sub(before, row_load(last, ref)));
    row_store(last, ref, before);
    row_store(x, ref, from);
    gauss_seidel_contact(s, sweep, i);
    Row to = row_load(x, ref), step = row_sub(to, from);
    sums->back -= (double)(contact_diagonal(op, ref) * row_dot(step, row_sub(to, before)));
    sums->step += (double)(contact_diagonal(op, ref) * row_dot(step, step));
}

// Sweep k of a pass relaxes contact i.
SAND_INLINE void block_contact(const Solve *s, const block_sweeps_State *m, int k, Index i, BlockSums *sums) {
    gauss_seidel_State sweep = m->sweep;
    sweep.omega = block_omega(m);
    if (k == 0)
        block_first(s, &sweep, i, m->momentum, sums);
    else
        gauss_seidel_contact(s, &sweep, i);
}

#ifdef SAND_SPMD_CUDA
// Sweep k of a pass over the part that begins at a place, each lane a contact of a tile.
SAND_INLINE void block_part(const Solve *s, const block_sweeps_State *m, int k, int begin, int count, BlockSums *sums) {
    const Op *op = s->op;
    PartTiles tiles = part_tiles(op, begin, count);
    for (TileRange r = next_tile(&tiles); r.tile >= 0; r = next_tile(&tiles)) {
        int place = r.begin + warp_lane();
        if (place < r.end) block_contact(s, m, k, op->parts.contact[begin + place], sums);
        __syncwarp();
    }
}

// All sweeps of a pass over block q, by one warp.
SAND_HOT void block_sweep(const Solve *s, const block_sweeps_State *m, Index q) {
    const Op *op = s->op;
    BlockSums sums = {0, 0};
    for (int begin = op->parts.block_first[q], end = op->parts.block_first[q + 1]; begin < end;) {
        uint32_t header = op->parts.header[begin];
        for (int k = 0; k < m->planned; k++) block_part(s, m, k, begin, part_tiles_of(header), &sums);
        begin += part_contacts_of(header);
    }
    real back = warp_sum((real)sums.back), step = warp_sum((real)sums.step);
    if (warp_lane() > 0) return;
    op->block_sum[2 * q] = (double)back;
    op->block_sum[2 * q + 1] = (double)step;
}
#else
// All sweeps of a pass over block q.
SAND_INLINE void block_sweep(const Solve *s, const block_sweeps_State *m, Index q) {
    const Op *op = s->op;
    int begin = SAND_BLOCK_LANES * op->block_tile_first[q], end = SAND_BLOCK_LANES * op->block_tile_first[q + 1];
    BlockSums sums = {0, 0};
    for (int k = 0; k < m->planned; k++)
        for (int e = begin; e < end; e++)
            if (op->block_tile[e] >= 0) block_contact(s, m, k, op->block_tile[e], &sums);
    op->block_sum[2 * q] = sums.back;
    op->block_sum[2 * q + 1] = sums.step;
}
#endif
#endif

#if !SAND_BLOCK_WARPS
// Sweeps the blocks of a color.
SAND_INLINE void block_sweep_color(Worker *w, const Solve *s, const block_sweeps_State *m, int color) {
    int first = s->op->block_color_first[color];
    SAND_FOR_BLOCKS(w, color, q, s->op->block_color_first[color + 1] - first) { block_sweep(s, m, first + q); }
}
#endif

SAND_KERNEL void block_sweeps_step(Worker *w, Solve *s, block_sweeps_State *m) {
    const Op *op = s->op;
    if (m->left == 0 && m->passes > 0 && block_corrects(s, m, m->done)) {
        solve_settle(w, s);
        block_correct(w, op, solve_vector(s, 0), solve_vector(s, BLOCK_CHANGE), solve_vector(s, BLOCK_LAST));
        m->done++;
        m->due = 2 * m->done;
        return;
    }
    if (m->left == 0) block_begin(w, s, m);
    int share = m->planned - m->left, colors = op->block_color_count;
    int from = colors * share / m->planned, to = colors * (share + 1) / m->planned;
#if SAND_BLOCK_WARPS
    int near = to < colors ? to : colors - 1; // blocks of the last color share bodies with any
    block_sweep_colors(w, s, m, from, near);
    if (near < to && op->block_color_first[near] < op->block_color_first[to]) block_sweep_colors(w, s, m, near, to);
#else
    for (int c = from; c < to; c++) {
        block_sweep_color(w, s, m, c);
        sand_barrier(w);
    }
#endif
    s->in_tiles = SAND_BLOCK_TILES ? 1 : 0;
#if SAND_BLOCK_WARPS
    s->in_tiles = m->swapped ? PART_NOW : PART_LAST;
    s->swept = op->parts.block_first[op->block_color_first[to]];
#endif
    m->left--;
    m->done++;
}

#endif // SAND_METHOD_BLOCK_SWEEPS_INL
