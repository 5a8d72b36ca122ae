// SPDX-License-Identifier: MIT
// Cutting the contacts of a problem into blocks: a grid over the centers of the moving bodies, a counting sort of the
// contacts by cell, color after color, and tiles, block by block.
#include "sim/solver/blocks.h"

#include "sim/core/array.h"
#include "sim/core/thread_pool.h"

#include <math.h>
#include <string.h>

enum {
    CELLS_A_CONTACT = 1, // most cells of the grid for each contact: more would be empty
    SAMPLE = 4096,       // contacts from which the diameter is taken
};

void sand_blocks_free(SandBlocks *b) {
    void *arrays[] = {b->list, b->first, b->cell, b->cell_first, b->tile, b->tile_first, b->place, b->use, b->loose};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sand_free(arrays[k]);
    *b = (SandBlocks){0};
}

typedef struct Box {
    double low[3], high[3];
} Box;

static void box_add(Box *box, int axis, double x) {
    if (x < box->low[axis]) box->low[axis] = x;
    if (x > box->high[axis]) box->high[axis] = x;
}

static Box box_of(const SandProblem *p) {
    Box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int k = 0; k < p->dynamic_count; k++) {
        SandVec3 x = p->bodies[k].position;
        box_add(&box, 0, x.x);
        box_add(&box, 1, x.y);
        box_add(&box, 2, x.z);
    }
    return box;
}

// The diameter of the bodies: the mean distance of their centers over the surface of contact, which any shape has. Positions
// are not asked: contacts across the border of a periodic world are far apart in them. 0: there are no contacts.
static double mean_diameter(const SandProblem *p) {
    double sum = 0, count = 0;
    for (int i = 0, each = p->contact_count / SAMPLE + 1; i < p->contact_count; i += each) {
        const SandContact *c = &p->contacts[i];
        if (sand_problem_joint(p, i)) continue;
        double own = v3_length(c->arm_a);
        sum += own + (c->b < p->dynamic_count ? v3_length(c->arm_b) : own);
        count++;
    }
    return count > 0 ? sum / count : 0;
}

static SandBlockGrid choose_grid(const SandProblem *p, double diameters) {
    Box box = box_of(p);
    SandVec3 low = v3_make(box.low[0], box.low[1], box.low[2]), high = v3_make(box.high[0], box.high[1], box.high[2]);
    return sand_block_grid(low, high, p->dynamic_count, diameters * mean_diameter(p),
                           (double)CELLS_A_CONTACT * p->contact_count);
}

static int cell_count(const SandBlocks *b) { return sand_block_cells(&b->grid); }

// What the workers share.
typedef struct Cut {
    SandBlocks *b;
    const SandProblem *p;
    SandBlockContacts contacts;
} Cut;

// The part of n items that a worker has.
typedef struct Share {
    int begin, end;
} Share;
static Share share_of(const SandWorker *w, int n) {
    return (Share){(int)sand_chunk_begin(w->first_chunk, n), (int)sand_chunk_begin(w->last_chunk, n)};
}

static void place_bodies(const SandWorker *w, const Cut *cut) {
    SandBlocks *b = cut->b;
    Share share = share_of(w, cut->p->dynamic_count);
    for (int k = share.begin; k < share.end; k++) {
        b->place[k] = sand_block_cell(&b->grid, cut->p->bodies[k].position);
        b->use[k] = (SandBlockUse){0};
    }
}

static void order_contacts(const SandWorker *w, const Cut *cut) {
    SandBlocks *b = cut->b;
    const int *first = cut->contacts.a, *second = cut->contacts.b;
    int moving = cut->p->dynamic_count;
    Share share = share_of(w, cut->contacts.count);
    for (int i = share.begin; i < share.end; i++) {
        int own = first[i], other = second[i] < moving ? second[i] : own;
        b->cell[i] = own < moving ? sand_block_order(&b->grid, &b->place[own], &b->place[other]) : -1;
    }
}

// Names the blocks: the cells that have contacts.
static void list_blocks(SandBlocks *b) {
    int cells = cell_count(b), each = cells / 8, q = 0;
    for (int c = 0; c <= cells; c++) {
        if (c % each == 0 && c / each < SAND_BLOCK_COLORS) b->color_first[c / each] = q;
        if (b->cell_first[c + 1] > b->cell_first[c]) b->first[q++] = b->cell_first[c];
    }
    b->count = b->color_first[SAND_BLOCK_COLORS] = q;
    b->first[q] = b->cell_first[cells + 1];
}

// Lists the contacts by cell.
static void sort_contacts(const Cut *cut) {
    SandBlocks *b = cut->b;
    int cells = cell_count(b);
    memset(b->cell_first, 0, ((size_t)cells + 3) * sizeof *b->cell_first);
    int *count = b->cell_first + 2, *next = b->cell_first + 1; // every begin moves one up
    for (int i = 0; i < cut->contacts.count; i++)
        if (b->cell[i] >= 0) count[b->cell[i]]++;
    for (int c = 0; c <= cells; c++) b->cell_first[c + 2] += b->cell_first[c + 1];
    for (int i = 0; i < cut->contacts.count; i++)
        if (b->cell[i] >= 0) b->list[next[b->cell[i]]++] = i;
    list_blocks(b);
}

// The tiles that a batch of contacts is put in. A block of more contacts than they hold has several batches.
typedef struct Batch {
    int number, first; // its first tile among the loose ones
    uint64_t full;     // bit t: tile `first` + t has no lane left
    int count[64];     // contacts of each tile
    int tiles;
} Batch;

static Batch batch_at(int first) {
    Batch batch = {.number = first + 1, .first = first}; // no use of a body begins with one of these
    return batch;
}

// The tiles of the batch that have body k.
static uint64_t *tiles_of(SandBlocks *b, const Batch *batch, int k) {
    if (b->use[k].batch != batch->number) b->use[k] = (SandBlockUse){0, batch->number};
    return &b->use[k].tiles;
}

// Puts contact i in the first tile that has a lane for it. False: the batch has none.
static bool put_in_tile(const Cut *cut, Batch *batch, int i) {
    SandBlocks *b = cut->b;
    int other = cut->contacts.b[i];
    uint64_t *in_a = tiles_of(b, batch, cut->contacts.a[i]);
    uint64_t *in_b = other < cut->p->dynamic_count ? tiles_of(b, batch, other) : in_a;
    uint64_t available = ~(*in_a | *in_b | batch->full);
    if (!available) return false;
    int t = __builtin_ctzll(available);
    int *tile = b->loose + (size_t)SAND_BLOCK_LANES * (size_t)(batch->first + t);
    if (t == batch->tiles) {
        for (int l = 0; l < SAND_BLOCK_LANES; l++) tile[l] = -1;
        batch->tiles++;
    }
    tile[batch->count[t]++] = i;
    if (batch->count[t] == SAND_BLOCK_LANES) batch->full |= 1ull << t;
    *in_a |= 1ull << t;
    *in_b |= 1ull << t;
    return true;
}

// Puts the contacts of block q in tiles. A tile has at least one contact, so that they fit where those of the block are.
static void fill_block(const Cut *cut, int q) {
    SandBlocks *b = cut->b;
    Batch batch = batch_at(b->first[q]);
    for (int e = b->first[q]; e < b->first[q + 1]; e++) {
        if (put_in_tile(cut, &batch, b->list[e])) continue;
        batch = batch_at(batch.first + batch.tiles);
        put_in_tile(cut, &batch, b->list[e]);
    }
    b->tile_first[q + 1] = batch.first + batch.tiles - b->first[q]; // for now their number
}

// Moves the tiles of all blocks together.
static void collect_tiles(const SandWorker *w, SandBlocks *b) {
    Share share = share_of(w, b->count);
    for (int q = share.begin; q < share.end; q++)
        memcpy(b->tile + (size_t)SAND_BLOCK_LANES * (size_t)b->tile_first[q],
               b->loose + (size_t)SAND_BLOCK_LANES * (size_t)b->first[q],
               SAND_BLOCK_LANES * (size_t)(b->tile_first[q + 1] - b->tile_first[q]) * sizeof *b->tile);
}

// Blocks of one color share no body, and so no SandBlockUse.
static void fill_tiles(SandWorker *w, const Cut *cut) {
    SandBlocks *b = cut->b;
    for (int c = 0; c < SAND_BLOCK_COLORS; c++) {
        Share share = share_of(w, b->color_first[c + 1] - b->color_first[c]);
        for (int q = share.begin; q < share.end; q++) fill_block(cut, b->color_first[c] + q);
        sand_barrier(w);
    }
    if (w->id == 0) {
        b->tile_first[0] = 0;
        for (int q = 0; q < b->count; q++) b->tile_first[q + 1] += b->tile_first[q];
    }
    sand_barrier(w);
    collect_tiles(w, b);
}

static void cut_work(SandWorker *w, void *argument) {
    const Cut *cut = argument;
    place_bodies(w, cut);
    sand_barrier(w);
    order_contacts(w, cut);
    sand_barrier(w);
    if (w->id == 0) sort_contacts(cut);
    sand_barrier(w);
    fill_tiles(w, cut);
}

static bool reserve(SandBlocks *b, int count, int moving, SandError *error) {
    size_t contacts = (size_t)count + 1, bodies = (size_t)moving + 1, cells = (size_t)cell_count(b) + 3;
    size_t blocks = contacts < cells ? contacts : cells;
    return SAND_GROW(b->list, b->list_capacity, contacts, "blocks", error) &&
           SAND_GROW(b->cell, b->cell_capacity, contacts, "blocks", error) &&
           SAND_GROW(b->tile, b->tile_capacity, SAND_BLOCK_LANES * contacts, "blocks", error) &&
           SAND_GROW(b->loose, b->loose_capacity, SAND_BLOCK_LANES * contacts, "blocks", error) &&
           SAND_GROW(b->place, b->place_capacity, bodies, "blocks", error) &&
           SAND_GROW(b->use, b->use_capacity, bodies, "blocks", error) &&
           SAND_GROW(b->cell_first, b->cell_first_capacity, cells, "blocks", error) &&
           SAND_GROW(b->first, b->first_capacity, blocks + 1, "blocks", error) &&
           SAND_GROW(b->tile_first, b->tile_first_capacity, blocks + 1, "blocks", error);
}

bool sand_blocks_build(SandBlocks *b, SandThreadPool *pool, const SandProblem *p, SandBlockContacts contacts,
                       double diameters, SandError *error) {
    Cut cut = {b, p, contacts};
    b->grid = choose_grid(p, diameters);
    if (!reserve(b, contacts.count, p->dynamic_count, error)) return false;
    sand_thread_pool_run(pool, cut_work, &cut);
    return true;
}
