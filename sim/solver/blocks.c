// Cutting the contacts of a problem into blocks: a grid over the centers of the moving bodies, and a counting sort of the
// contacts by cell, color after color.
#include "sim/solver/blocks.h"

#include "sim/core/array.h"

#include <math.h>

void sand_blocks_free(SandBlocks *b) {
    sand_free(b->list);
    sand_free(b->first);
    sand_free(b->cell);
    sand_free(b->cell_first);
    sand_free(b->tile);
    sand_free(b->tile_first);
    sand_free(b->used);
    sand_free(b->batch);
    *b = (SandBlocks){0};
}

typedef struct Box {
    SandVec3 low, high;
} Box;

static Box box_of(const SandProblem *p) {
    Box box = {v3_make(INFINITY, INFINITY, INFINITY), v3_make(-INFINITY, -INFINITY, -INFINITY)};
    for (int k = 0; k < p->dynamic_count; k++) {
        SandVec3 x = p->bodies[k].position;
        box.low = v3_make(fmin(box.low.x, x.x), fmin(box.low.y, x.y), fmin(box.low.z, x.z));
        box.high = v3_make(fmax(box.high.x, x.x), fmax(box.high.y, x.y), fmax(box.high.z, x.z));
    }
    return box;
}

// The diameter of the bodies: the mean distance of their centers over the surface of contact, which any shape has. Positions
// are not asked: contacts across the border of a periodic world are far apart in them. 0: there are no contacts.
static double mean_diameter(const SandProblem *p) {
    double sum = 0, count = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        if (sand_problem_joint(p, i)) continue;
        double own = v3_length(c->arm_a);
        sum += own + (c->b < p->dynamic_count ? v3_length(c->arm_b) : own);
        count++;
    }
    return count > 0 ? sum / count : 0;
}

static void choose_grid(SandBlocks *b, const SandProblem *p, Box box, double diameters) {
    b->grid = sand_block_grid(box.low, box.high, p->dynamic_count, diameters * mean_diameter(p), p->contact_count);
}

// Where contact i is in the order of the cells, color after color; behind all cells: its bodies are too far apart.
static int order_of(const SandBlocks *b, const SandProblem *p, int i) {
    const SandContact *c = &p->contacts[i];
    SandBlockCell own = sand_block_cell(&b->grid, p->bodies[c->a].position), other = own;
    if (c->b < p->dynamic_count) other = sand_block_cell(&b->grid, p->bodies[c->b].position);
    return sand_block_order(&b->grid, own, other);
}

// Names the blocks: the cells that have contacts.
static bool list_blocks(SandBlocks *b, SandError *error) {
    int cells = sand_block_cells(&b->grid), each = cells / 8;
    b->count = 0;
    for (int c = 0; c <= cells; c++) b->count += b->cell_first[c + 1] > b->cell_first[c];
    if (!SAND_GROW(b->first, b->first_capacity, b->count + 1, "blocks", error)) return false;
    int q = 0;
    for (int c = 0; c <= cells; c++) {
        if (c % each == 0 && c / each < SAND_BLOCK_COLORS) b->color_first[c / each] = q;
        if (b->cell_first[c + 1] > b->cell_first[c]) b->first[q++] = b->cell_first[c];
    }
    b->color_first[SAND_BLOCK_COLORS] = b->count;
    b->first[b->count] = b->cell_first[cells + 1];
    return true;
}

// The tiles that a batch of contacts is put in. A block of more contacts than they hold has several batches.
typedef struct Batch {
    int number, first; // its first tile
    uint64_t full;     // bit t: tile `first` + t has no lane left
    int count[64];     // contacts of each tile
    int tiles;
} Batch;

static Batch batch_after(const Batch *last) {
    Batch batch = {.number = last->number + 1, .first = last->first + last->tiles};
    return batch;
}

// The tiles of the batch that have body k.
static uint64_t *tiles_of(SandBlocks *b, const Batch *batch, int k) {
    if (b->batch[k] != batch->number) b->used[k] = 0;
    b->batch[k] = batch->number;
    return &b->used[k];
}

// Puts contact i in the first tile that has a lane for it. False: the batch has none.
static bool put_in_tile(SandBlocks *b, const SandProblem *p, Batch *batch, int i) {
    const SandContact *c = &p->contacts[i];
    uint64_t *in_a = tiles_of(b, batch, c->a), *in_b = c->b < p->dynamic_count ? tiles_of(b, batch, c->b) : in_a;
    uint64_t available = ~(*in_a | *in_b | batch->full);
    if (!available) return false;
    int t = __builtin_ctzll(available);
    int *tile = b->tile + (size_t)SAND_BLOCK_LANES * (size_t)(batch->first + t);
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

// Puts the contacts of every block in tiles. A tile has at least one contact.
static bool fill_tiles(SandBlocks *b, const SandProblem *p, SandError *error) {
    if (!SAND_GROW(b->tile, b->tile_capacity, SAND_BLOCK_LANES * (size_t)p->contact_count + 1, "blocks", error) ||
        !SAND_GROW(b->tile_first, b->tile_first_capacity, b->count + 1, "blocks", error) ||
        !SAND_GROW(b->used, b->used_capacity, p->dynamic_count + 1, "blocks", error) ||
        !SAND_GROW(b->batch, b->batch_capacity, p->dynamic_count + 1, "blocks", error))
        return false;
    for (int k = 0; k < p->dynamic_count; k++) b->batch[k] = -1;
    Batch batch = {0};
    for (int q = 0; q < b->count; q++) {
        batch = batch_after(&batch);
        b->tile_first[q] = batch.first;
        for (int e = b->first[q]; e < b->first[q + 1]; e++) {
            if (put_in_tile(b, p, &batch, b->list[e])) continue;
            batch = batch_after(&batch);
            put_in_tile(b, p, &batch, b->list[e]);
        }
    }
    b->tile_first[b->count] = batch.first + batch.tiles;
    return true;
}

bool sand_blocks_build(SandBlocks *b, const SandProblem *p, double diameters, SandError *error) {
    Box box = box_of(p);
    choose_grid(b, p, box, diameters);
    int cells = sand_block_cells(&b->grid);
    if (!SAND_GROW(b->list, b->list_capacity, p->contact_count + 1, "blocks", error) ||
        !SAND_GROW(b->cell, b->cell_capacity, p->contact_count + 1, "blocks", error) ||
        !SAND_GROW(b->cell_first, b->cell_first_capacity, cells + 3, "blocks", error))
        return false;
    for (int c = 0; c < cells + 3; c++) b->cell_first[c] = 0;
    for (int i = 0; i < p->contact_count; i++) b->cell_first[(b->cell[i] = order_of(b, p, i)) + 2]++;
    for (int c = 0; c <= cells; c++) b->cell_first[c + 2] += b->cell_first[c + 1];
    for (int i = 0; i < p->contact_count; i++) b->list[b->cell_first[b->cell[i] + 1]++] = i; // every begin moves one up
    return list_blocks(b, error) && fill_tiles(b, p, error);
}
