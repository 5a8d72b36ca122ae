// SPDX-License-Identifier: MIT
// Filling the parts and tiles of a block by a warp, whose lanes call these together (cuda/solver/blocks.cu). Apart from the
// kernels, so that a test without a GPU can run it with lanes that take turns (tests/unit/test_warp_parts.cpp).
#pragma once
#include "sim/solver/kernel/block_parts.h"

static_assert(sizeof(unsigned long long) == 8, "a mask of the tiles of a part");

enum { TABLE_SIZE = 512, NO_BODY = -1 };

// What a warp knows of the part it fills: the bodies, in a hash table, and the tiles.
struct PartTable {
    unsigned long long used[SAND_PART_BODIES]; // of each body: tiles that have it
    int body[TABLE_SIZE];
    uint16_t local[TABLE_SIZE];    // its number in the part
    int waiting[SAND_PART_BODIES]; // first lane whose contact has the body and is in no tile yet
    int tile_size[SAND_PART_TILES];
    int bodies;
    int busy; // tiles of contacts that are not idle
};

struct PartArrays {
    const int *a, *b;         // bodies of each contact
    int *list;                // contacts by cell, idle ones behind the others
    uint32_t *place;          // key of each; then its tile and lane
    const int *first, *color; // blocks
    uint32_t *header, *body;
    int *tile_end, *contact;
    uint32_t *pair;
    int *first_part; // of each moving body: the first part that has it, by where it begins
};

static __device__ int table_slot(const PartTable *t, int body) {
    int slot = (int)((uint32_t)body * 2654435761u >> 23);
    while (t->body[slot] != body && t->body[slot] != NO_BODY) slot = (slot + 1) % TABLE_SIZE;
    return slot;
}
static __device__ bool table_has(const PartTable *t, int body) { return t->body[table_slot(t, body)] == body; }
static __device__ uint32_t table_local(const PartTable *t, int body) { return t->local[table_slot(t, body)]; }

static __device__ void table_add(PartTable *t, int body) {
    int slot = (int)((uint32_t)body * 2654435761u >> 23);
    for (;; slot = (slot + 1) % TABLE_SIZE) {
        int before = atomicCAS(&t->body[slot], NO_BODY, body);
        if (before == body) return;
        if (before == NO_BODY) break;
    }
    int local = atomicAdd(&t->bodies, 1);
    t->local[slot] = (uint16_t)local;
    t->used[local] = 0;
}

static __device__ void table_clear(PartTable *t, int lane) {
    for (int k = lane; k < TABLE_SIZE; k += 32) t->body[k] = NO_BODY;
    for (int k = lane; k < SAND_PART_TILES; k += 32) t->tile_size[k] = 0;
    if (lane == 0) t->bodies = 0;
    __syncwarp();
}

// How many of the next contacts, one a lane, have bodies that fit into the part beside those it has.
static __device__ int count_fitting(const PartTable *t, bool present, int a, int b, int lane) {
    int fresh = present ? !table_has(t, a) + !table_has(t, b) : 0;
    for (int s = 1; s < 32; s *= 2) {
        int before = __shfl_up_sync(ALL_LANES, fresh, s);
        if (lane >= s) fresh += before;
    }
    return __popc(__ballot_sync(ALL_LANES, present && t->bodies + fresh <= SAND_PART_BODIES));
}

// The contacts that lanes put in tiles, one each.
struct TileContact {
    bool pending;
    int a, b; // numbers in the part; b is that of a where b does not move
};

// Puts the contacts of the lanes in tiles, in rounds: in each, those that share no body with one of a lower lane. Returns
// the tile and the place in it; -1: there was no room.
static __device__ int fill_tiles(PartTable *t, TileContact c, unsigned long long *full, int lane) {
    int found = -1;
    while (__any_sync(ALL_LANES, c.pending)) {
        if (c.pending) t->waiting[c.a] = t->waiting[c.b] = 32;
        __syncwarp();
        if (c.pending) {
            atomicMin(&t->waiting[c.a], lane);
            atomicMin(&t->waiting[c.b], lane);
        }
        __syncwarp();
        bool turn = c.pending && t->waiting[c.a] == lane && t->waiting[c.b] == lane;
        unsigned long long available = turn ? ~(t->used[c.a] | t->used[c.b] | *full) : 0;
        int tile = available ? __ffsll((long long)available) - 1 : SAND_PART_TILES;
        unsigned same = __match_any_sync(ALL_LANES, tile);
        int at = tile < SAND_PART_TILES ? t->tile_size[tile] + __popc(same & ((1u << lane) - 1)) : 32;
        __syncwarp();
        if (at < 32) {
            found = tile << 16 | at;
            t->used[c.a] |= 1ull << tile;
            if (c.b != c.a) t->used[c.b] |= 1ull << tile;
            if (lane == 31 - __clz((int)same) || at == 31) t->tile_size[tile] = at + 1;
        }
        if (at < 32 || (turn && !available)) c.pending = false;
        unsigned filled = __ballot_sync(ALL_LANES, at == 31);
        for (; filled; filled &= filled - 1) *full |= 1ull << __shfl_sync(ALL_LANES, tile, __ffs((int)filled) - 1);
        __syncwarp();
    }
    return found;
}

// The tiles that have a contact.
static __device__ unsigned long long tiles_in_use(const PartTable *t, int lane) {
    unsigned low = __ballot_sync(ALL_LANES, t->tile_size[lane] > 0);
    unsigned high = __ballot_sync(ALL_LANES, t->tile_size[lane + 32] > 0);
    return low | (unsigned long long)high << 32;
}

// Takes contacts of a block from `begin` on into a part, as many as it holds; returns where it ends. Idle contacts begin
// a tile of their own: most of them stay idle, and their tiles are then passed over.
static __device__ int take_part(const PartArrays &p, PartTable *t, int begin, int end, int moving, int lane) {
    unsigned long long full = 0;
    table_clear(t, lane);
    bool idle = p.place[begin] & 1, starts_idle = idle;
    int at = begin;
    while (at < end) {
        bool present = at + lane < end;
        bool other = present && (bool)(p.place[at + lane] & 1) != idle;
        unsigned change = __ballot_sync(ALL_LANES, other);
        if (change & 1) { // the rest of the block has none
            idle = !idle;
            full = tiles_in_use(t, lane);
            if (lane == 0) t->busy = __popcll(full);
            if (full == ~0ull) break;
            continue;
        }
        present = present && (!change || lane < __ffs((int)change) - 1);
        int i = present ? p.list[at + lane] : 0, a = p.a[i], b = p.b[i];
        int fitting = count_fitting(t, present, a, b, lane);
        if (lane < fitting) {
            table_add(t, a);
            table_add(t, b);
        }
        __syncwarp();
        TileContact c = {lane < fitting, 0, 0};
        if (c.pending) c.a = c.b = (int)table_local(t, a);
        if (c.pending && b < moving) c.b = (int)table_local(t, b);
        int found = fill_tiles(t, c, &full, lane);
        // Those that found no room come behind the others, so that a part is a run of contacts.
        unsigned in = __ballot_sync(ALL_LANES, found >= 0), out = __ballot_sync(ALL_LANES, present && found < 0);
        unsigned before = (1u << lane) - 1;
        int to = at + (found >= 0 ? __popc(in & before) : __popc(in) + __popc(out & before));
        if (present) p.list[to] = i;
        if (present) p.place[to] = found >= 0 ? (uint32_t)found : (uint32_t)idle;
        at += __popc(in);
        __syncwarp();
        if (out) break;
    }
    unsigned long long all = tiles_in_use(t, lane);
    if (lane == 0 && (starts_idle || !idle)) t->busy = starts_idle ? 0 : __popcll(all);
    return at;
}

// Writes the part of the contacts begin .. end-1: its header, bodies and tiles, and the contacts in the order of the tiles.
static __device__ void write_part(const PartArrays &p, PartTable *t, int begin, int end, int moving, int lane) {
    int tiles = 0;
    if (lane == 0) {
        int sum = 0;
        for (; tiles < SAND_PART_TILES && t->tile_size[tiles]; tiles++) {
            int size = t->tile_size[tiles];
            t->tile_size[tiles] = sum; // from here on: where the tile begins
            p.tile_end[begin + tiles] = sum += size;
        }
        p.header[begin] = part_header(end - begin, t->bodies, tiles);
    }
    __syncwarp();
    for (int k = lane; k < TABLE_SIZE; k += 32) {
        int body = t->body[k];
        if (body == NO_BODY) continue;
        p.body[2 * (int64_t)begin + t->local[k]] = (uint32_t)body;
        if (body < moving) atomicMin(&p.first_part[body], begin);
    }
    for (int e = begin + lane; e < end; e += 32) {
        int i = p.list[e], to = begin + t->tile_size[p.place[e] >> 16] + (int)(p.place[e] & 0xffff);
        p.contact[to] = i;
        p.pair[to] = table_local(t, p.a[i]) | table_local(t, p.b[i]) << 16;
    }
    __syncwarp();
}
