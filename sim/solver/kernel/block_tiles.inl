// SPDX-License-Identifier: MIT
// Contacts of spheres in the tiles of their block (sim/solver/blocks.h), all that a sweep reads of them in one place: SIMD
// lanes relax a tile at once, since its contacts share no moving body, and a block walks through memory from end to end.
#pragma once
#include "sim/solver/blocks.h"
#include "sim/solver/kernel/local_solve.inl"

// For spheres in world coordinates on the CPU.
#define SAND_BLOCK_TILES (SAND_RADIAL && SAND_ROWS == 3 && !SAND_LOCAL && !SAND_LAYOUT_AOS)

#if SAND_BLOCK_TILES
typedef real BlockLanes[SAND_BLOCK_LANES];

typedef struct BlockTile {
    BlockLanes normal[3], bias, mu;
    BlockLanes ratio, factor;              // of the block across its normal to that along it; of the cone in that metric
    BlockLanes per_across, per_difference; // 1 / across, and 1 / across - 1 / along
    BlockLanes diagonal;
    BlockLanes arm[2], mass[2], turn[2]; // of a and b: length, inverse mass, inverse inertia times the length
    BlockLanes x[3], last[3];            // impulses, and those before the last extrapolation
    unsigned body[2][SAND_BLOCK_LANES];  // where its numbers begin in op->body
    unsigned to[2][SAND_BLOCK_LANES];    // the same, or where those of the spare begin if it does not move
} BlockTile;

SAND_INLINE Vec block_lanes_vec(const BlockLanes *component, int l) {
    return vec_make(component[0][l], component[1][l], component[2][l]);
}
SAND_INLINE void block_lanes_set(BlockLanes *component, int l, Vec v) {
    component[0][l] = v.x;
    component[1][l] = v.y;
    component[2][l] = v.z;
}

// Binds the bodies of one side. What does not move is read like any other, and pushed in the place of the spare body of the
// block: no branch is to be foretold, and nothing is written that another worker reads.
SAND_INLINE void block_tile_bind(const Op *op, BlockTile *tile, int side, const int *contact, Index spare) {
    const int *bodies = side ? op->b : op->a;
#pragma omp simd
    for (int l = 0; l < SAND_BLOCK_LANES; l++) {
        int i = contact[l] < 0 ? 0 : contact[l], k = contact[l] < 0 ? op->body_count - 1 : bodies[i];
        real arm = contact_constant(op, contact_ref(op, i), side ? CONTACT_LENGTH_B : CONTACT_LENGTH_A);
        real mass = op->inverse_mass[k], turn = op->inverse_inertia[k] * arm;
        bool moves = k < op->dynamic_count;
        tile->body[side][l] = (unsigned)BODY_NUMBERS * (unsigned)k;
        tile->to[side][l] = (unsigned)BODY_NUMBERS * (unsigned)(moves ? k : (int)spare);
        tile->arm[side][l] = arm;
        tile->mass[side][l] = moves ? mass : (real)0;
        tile->turn[side][l] = moves ? turn : (real)0;
    }
}

// Packs tile t, of the block of this spare body, with the impulses x. A lane without contact refers to the body that never
// moves, and its impulse stays zero.
SAND_INLINE void block_tile_pack(const Op *op, Index t, Index spare, const real *x) {
    BlockTile *tile = (BlockTile *)op->block_tiles + t;
    const int *contact = op->block_tile + SAND_BLOCK_LANES * t;
    for (int side = 0; side < 2; side++) block_tile_bind(op, tile, side, contact, spare);
#pragma omp simd
    for (int l = 0; l < SAND_BLOCK_LANES; l++) {
        bool exists = contact[l] >= 0;
        ContactRef ref = contact_ref(op, exists ? contact[l] : 0);
        real zero = exists ? (real)1 : (real)0, bias = contact_bias(op, ref), mu = zero * contact_mu(op, ref);
        real diagonal = contact_diagonal(op, ref), along = tile->mass[0][l] + tile->mass[1][l];
        along = exists ? along : diagonal;
        real across = mu > 0 ? (real)1.5 * diagonal - (real)0.5 * along : along, ratio = across / along;
        block_lanes_set(tile->normal, l, contact_normal(op, ref));
        block_lanes_set(tile->x, l, vec_scale(zero, row_load(x, ref)));
        block_lanes_set(tile->last, l, vec_scale(zero, row_load(x, ref)));
        tile->bias[l] = exists ? bias : (real)0;
        tile->mu[l] = mu;
        tile->diagonal[l] = zero * diagonal;
        tile->ratio[l] = ratio;
        tile->factor[l] = cone_factor_by(mu, ratio);
        tile->per_across[l] = 1 / across;
        tile->per_difference[l] = 1 / across - 1 / along;
    }
}

// What the lanes read of their bodies: the difference of velocities, and arms times spins, added up.
typedef struct BlockMotion {
    BlockLanes u[3], s[3];
} BlockMotion;

// Velocities or spins of the bodies of lanes l and l + 4.
SAND_INLINE Vec8 block_pair(const real *of, const unsigned *body, int l) {
    return vec8_join(vec4_load(of + body[l]), vec4_load(of + body[l + 4]));
}

// Lanes q to q + 7 of what the tile reads.
SAND_INLINE void block_fetch_lanes(const BlockTile *tile, const Body *body, int q, BlockMotion *m) {
    Vec8 u[4], turn[2][4];
    for (int j = 0; j < 4; j++) {
        u[j] = block_pair(body->v, tile->body[1], q + j) - block_pair(body->v, tile->body[0], q + j);
        turn[0][j] = block_pair(body->w, tile->body[0], q + j);
        turn[1][j] = block_pair(body->w, tile->body[1], q + j);
    }
    Vec8 of_u[4], of_a[4], of_b[4];
    vec8_transpose(u, of_u);
    vec8_transpose(turn[0], of_a);
    vec8_transpose(turn[1], of_b);
    for (int c = 0; c < 3; c++) {
        vec8_store(m->u[c] + q, of_u[c]);
        vec8_store(m->s[c] + q, vec8_load(tile->arm[0] + q) * of_a[c] + vec8_load(tile->arm[1] + q) * of_b[c]);
    }
}

// Pushes the bodies of lanes q to q + 7 at this side by the changes f of the impulses and their n x f.
SAND_INLINE void block_push_lanes(const BlockTile *tile, Body *body, int q, int side, const BlockLanes *f,
                                  const BlockLanes *t) {
    Vec8 mass = vec8_load(tile->mass[side] + q), turn = -vec8_load(tile->turn[side] + q), v[4], w[4], of_v[4], of_w[4];
    if (side == 0) mass = -mass;
    for (int c = 0; c < 3; c++) {
        v[c] = mass * vec8_load(f[c] + q);
        w[c] = turn * vec8_load(t[c] + q);
    }
    v[3] = w[3] = vec8_zero();
    vec8_transpose(v, of_v);
    vec8_transpose(w, of_w);
    for (int j = 0; j < 4; j++) {
        real *low = (real *)body + tile->to[side][q + j], *high = (real *)body + tile->to[side][q + j + 4];
        vec8_store(low, vec8_load(low) + vec8_lows(of_v[j], of_w[j]));
        vec8_store(high, vec8_load(high) + vec8_highs(of_v[j], of_w[j]));
    }
}

// Relaxes the impulses of a tile; in the first sweep of a pass extrapolates them before, and adds to back[l] and step[l] how
// far that went back and how far it went (BlockSums).
SAND_INLINE void block_tile_relax(BlockTile *SAND_RESTRICT tile, const Op *op, real omega, bool first, real momentum,
                                  real *SAND_RESTRICT back, real *SAND_RESTRICT step) {
    BlockMotion m;
    BlockLanes f[3], t[3];
    for (int q = 0; q < SAND_BLOCK_LANES; q += 8) block_fetch_lanes(tile, op->body, q, &m);
#pragma omp simd
    for (int l = 0; l < SAND_BLOCK_LANES; l++) {
        Vec n = block_lanes_vec(tile->normal, l), before = block_lanes_vec(tile->x, l), from = before;
        Vec g = vec_madd(vec_sub_cross(block_lanes_vec(m.u, l), block_lanes_vec(m.s, l), n), tile->bias[l], n);
        if (first) from = vec_madd(before, momentum, vec_sub(before, block_lanes_vec(tile->last, l)));
        Vec z =
            cone_project_by(vec_madd(from, -omega * tile->per_across[l], g), omega * tile->per_difference[l] * vec_dot(g, n),
                            n, tile->mu[l], tile->ratio[l], tile->factor[l]);
        Vec d = vec_sub(z, from);
        block_lanes_set(f, l, d);
        block_lanes_set(t, l, vec_cross(n, d));
        block_lanes_set(tile->x, l, z);
        if (first) {
            block_lanes_set(tile->last, l, before);
            back[l] -= tile->diagonal[l] * vec_dot(d, vec_sub(z, before));
            step[l] += tile->diagonal[l] * vec_dot(d, d);
        }
    }
    for (int side = 0; side < 2; side++)
        for (int q = 0; q < SAND_BLOCK_LANES; q += 8) block_push_lanes(tile, op->body, q, side, f, t);
}

// Stores the impulses of tile t where the driver reads them.
SAND_INLINE void block_tile_store(const Op *op, Index t, real *x) {
    const BlockTile *tile = (const BlockTile *)op->block_tiles + t;
    const int *contact = op->block_tile + SAND_BLOCK_LANES * t;
    for (int l = 0; l < SAND_BLOCK_LANES && contact[l] >= 0; l++) // those without are the last ones
        row_store(x, contact_ref(op, contact[l]), block_lanes_vec(tile->x, l));
}

// Adds t times the change to the impulses of tile t, and to those before the last extrapolation.
SAND_INLINE void block_tile_add(const Op *op, Index k, const real *change, real t) {
    BlockTile *tile = (BlockTile *)op->block_tiles + k;
    const int *contact = op->block_tile + SAND_BLOCK_LANES * k;
    for (int l = 0; l < SAND_BLOCK_LANES && contact[l] >= 0; l++) {
        Vec d = vec_scale(t, row_load(change, contact_ref(op, contact[l])));
        block_lanes_set(tile->x, l, vec_add(block_lanes_vec(tile->x, l), d));
        block_lanes_set(tile->last, l, vec_add(block_lanes_vec(tile->last, l), d));
    }
}
#endif // SAND_BLOCK_TILES
