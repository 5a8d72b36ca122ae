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
    int body[2][SAND_BLOCK_LANES];
    int contact[SAND_BLOCK_LANES]; // of the kernel; -1: none
} BlockTile;

SAND_INLINE Vec block_lanes_vec(const BlockLanes *component, int l) {
    return vec_make(component[0][l], component[1][l], component[2][l]);
}
SAND_INLINE void block_lanes_set(BlockLanes *component, int l, Vec v) {
    component[0][l] = v.x;
    component[1][l] = v.y;
    component[2][l] = v.z;
}

// A lane without contact: it refers to the body that never moves, and its impulse stays zero.
SAND_INLINE void block_tile_clear(const Op *op, BlockTile *tile, int l) {
    for (int side = 0; side < 2; side++) {
        tile->body[side][l] = op->body_count - 1;
        tile->arm[side][l] = tile->mass[side][l] = tile->turn[side][l] = 0;
    }
    block_lanes_set(tile->normal, l, vec_make(0, 0, 1));
    block_lanes_set(tile->x, l, vec_make(0, 0, 0));
    block_lanes_set(tile->last, l, vec_make(0, 0, 0));
    tile->bias[l] = tile->mu[l] = tile->diagonal[l] = tile->per_across[l] = tile->per_difference[l] = 0;
    tile->ratio[l] = tile->factor[l] = 1;
}

SAND_INLINE void block_tile_set(const Op *op, BlockTile *tile, int l, ContactRef ref, const real *x) {
    real along = contact_normal_diagonal(op, ref), across = spheres_across(op, ref, along);
    for (int side = 0; side < 2; side++) {
        int k = (side ? op->b : op->a)[contact_index(ref)];
        tile->body[side][l] = k;
        tile->arm[side][l] = contact_constant(op, ref, side ? CONTACT_LENGTH_B : CONTACT_LENGTH_A);
        tile->mass[side][l] = k < op->dynamic_count ? op->inverse_mass[k] : (real)0;
        tile->turn[side][l] = k < op->dynamic_count ? op->inverse_inertia[k] * tile->arm[side][l] : (real)0;
    }
    block_lanes_set(tile->normal, l, contact_normal(op, ref));
    block_lanes_set(tile->x, l, row_load(x, ref));
    block_lanes_set(tile->last, l, row_load(x, ref));
    tile->bias[l] = contact_bias(op, ref);
    tile->mu[l] = contact_mu(op, ref);
    tile->diagonal[l] = contact_diagonal(op, ref);
    tile->per_across[l] = 1 / across;
    tile->per_difference[l] = 1 / across - 1 / along;
    tile->ratio[l] = across / along;
    tile->factor[l] = cone_factor_by(tile->mu[l], tile->ratio[l]);
}

// Packs tile t with the impulses x.
SAND_INLINE void block_tile_pack(const Op *op, Index t, const real *x) {
    BlockTile *tile = (BlockTile *)op->block_tiles + t;
    for (int l = 0; l < SAND_BLOCK_LANES; l++) {
        int i = tile->contact[l] = op->block_tile[SAND_BLOCK_LANES * t + l];
        if (i < 0)
            block_tile_clear(op, tile, l);
        else
            block_tile_set(op, tile, l, contact_ref(op, i), x);
    }
}

// What the lanes read of their bodies: the difference of velocities, and arms times spins, added up.
typedef struct BlockMotion {
    BlockLanes u[3], s[3];
} BlockMotion;

SAND_INLINE void block_lanes_load(BlockLanes *to, int q, const Vec4 *contact) {
    Vec4 component[4];
    vec4_transpose(contact, component);
    for (int c = 0; c < 3; c++) vec4_store(to[c] + q, component[c]);
}

SAND_INLINE void block_tile_fetch(const BlockTile *tile, const Body *body, BlockMotion *m) {
    for (int q = 0; q < SAND_BLOCK_LANES; q += 4) {
        Vec4 u[4], s[4];
        for (int j = 0; j < 4; j++) {
            const Body *a = &body[tile->body[0][q + j]], *b = &body[tile->body[1][q + j]];
            u[j] = vec4_sub(vec4_load(b->v), vec4_load(a->v));
            s[j] = vec4_madd(tile->arm[0][q + j] * vec4_load(a->w), tile->arm[1][q + j], vec4_load(b->w));
        }
        block_lanes_load(m->u, q, u);
        block_lanes_load(m->s, q, s);
    }
}

// Moves the bodies of a tile by the changes f of its impulses and their n x f.
SAND_INLINE void block_tile_apply(const BlockTile *tile, const Op *op, Body *body, const BlockLanes *f,
                                  const BlockLanes *t) {
    for (int q = 0; q < SAND_BLOCK_LANES; q += 4) {
        Vec4 force[4], twist[4], zero = vec4_zero();
        Vec4 rows[4] = {vec4_load(f[0] + q), vec4_load(f[1] + q), vec4_load(f[2] + q), zero};
        Vec4 turns[4] = {vec4_load(t[0] + q), vec4_load(t[1] + q), vec4_load(t[2] + q), zero};
        vec4_transpose(rows, force);
        vec4_transpose(turns, twist);
        for (int j = 0; j < 4; j++) {
            if (tile->contact[q + j] < 0) continue;
            Body *a = &body[tile->body[0][q + j]], *b = &body[tile->body[1][q + j]];
            vec4_store(a->v, vec4_madd(vec4_load(a->v), -tile->mass[0][q + j], force[j]));
            vec4_store(a->w, vec4_madd(vec4_load(a->w), -tile->turn[0][q + j], twist[j]));
            if (tile->body[1][q + j] >= op->dynamic_count) continue;
            vec4_store(b->v, vec4_madd(vec4_load(b->v), tile->mass[1][q + j], force[j]));
            vec4_store(b->w, vec4_madd(vec4_load(b->w), -tile->turn[1][q + j], twist[j]));
        }
    }
}

// Relaxes the impulses of a tile; in the first sweep of a pass extrapolates them before, and adds to back[l] and step[l] how
// far that went back and how far it went (BlockSums).
SAND_INLINE void block_tile_relax(BlockTile *SAND_RESTRICT tile, const Op *op, real omega, bool first, real momentum,
                                  real *SAND_RESTRICT back, real *SAND_RESTRICT step) {
    BlockMotion m;
    BlockLanes f[3], t[3];
    block_tile_fetch(tile, op->body, &m);
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
    block_tile_apply(tile, op, op->body, f, t);
}

// Stores the impulses of a tile where the driver reads them.
SAND_INLINE void block_tile_store(const BlockTile *tile, const Op *op, real *x) {
    for (int l = 0; l < SAND_BLOCK_LANES; l++)
        if (tile->contact[l] >= 0) row_store(x, contact_ref(op, tile->contact[l]), block_lanes_vec(tile->x, l));
}

// Adds t times the change to the impulses of tile t, and to those before the last extrapolation.
SAND_INLINE void block_tile_add(const Op *op, Index k, const real *change, real t) {
    BlockTile *tile = (BlockTile *)op->block_tiles + k;
    for (int l = 0; l < SAND_BLOCK_LANES; l++) {
        if (tile->contact[l] < 0) continue;
        Vec d = vec_scale(t, row_load(change, contact_ref(op, tile->contact[l])));
        block_lanes_set(tile->x, l, vec_add(block_lanes_vec(tile->x, l), d));
        block_lanes_set(tile->last, l, vec_add(block_lanes_vec(tile->last, l), d));
    }
}
#endif // SAND_BLOCK_TILES
