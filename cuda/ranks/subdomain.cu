// SPDX-License-Identifier: MIT
// Which bodies a rank holds in a step: sizing the grids with the other ranks, owners, ghosts (cuda/ranks/subdomain.h).
#include "cuda/backend.h"
#include "cuda/ranks/subdomain.h"

#include "sim/collision/broad_phase.inl"
#include "cuda/csr.h"
#include "cuda/collision/level_tally.h"
#include "sim/ranks/cut_chunks.h"

#include <algorithm>
#include <limits.h>
#include <numeric>
#include <string.h>

int subdomain_spheres(const SandDevice *device) { return device->body_total * subdomain_of(device)->most_spheres; }

int subdomain_chunks(const SandDevice *device) {
    const DeviceSubdomain *p = subdomain_of(device);
    return p->first_chunk[p->ranks->rank + 1] - p->first_chunk[p->ranks->rank];
}

// Finds a number in the ascending list by bisection, with one thread.
static __global__ void find_number(const int *numbers, int count, int number, int *found) {
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        *(numbers[middle] < number ? &low : &high) = numbers[middle] < number ? middle + 1 : middle;
    }
    *found = low < count && numbers[low] == number ? low : INT_MAX;
}

bool subdomain_find(SandDevice *device, int number, int *body) {
    find_number<<<1, 1, 0, device->stream>>>(device->number.data, device->body_total, number, device->message_counts.data);
    return download(device, body, device->message_counts.data, 1) && device_wait(device);
}

bool subdomain_check(const SandDevice *device, const SandWorld *w, SandError *error) {
    const char *what = device->convex_total      ? "bodies other than spheres"
                       : !device->single_spheres ? "bodies of several spheres"
                       : w->joint_count          ? "joints"
                       : device->rolls           ? "rolling friction"
                       : w->squeeze.rate != 0    ? "a box that is squeezed"
                                                 : NULL;
    return !what || sand_fail(error, "ranks on GPUs cannot do %s yet; try --backend mpi, on CPUs", what);
}

// --- grids --------------------------------------------------------------------------------------------------

// Uploads the grids to the device.
static bool upload_grid(SandDevice *device) {
    SandBroadPhase *g = &device->collision.broad_phase;
    const SandBroadPhase *from = &subdomain_of(device)->grid;
    g->ranks = subdomain_of(device)->ranks; // kernels only ask whether there are any
    g->sphere_count = from->sphere_count;
    g->level_count = from->level_count;
    g->cell_count = from->cell_count;
    g->spatial_grid = from->spatial_grid;
    memcpy(g->levels, from->levels, sizeof g->levels);
    g->starts = device->cell_starts.data + 1;
    return device_check(
        device,
        cudaMemcpyAsync(&device->device_collision.data->broad_phase, g, sizeof *g, cudaMemcpyHostToDevice, device->stream),
        "copying to the GPU");
}

// Decodes a number of a ReachBox whose bits are those of ordered_bits (find_boxes).
static double from_bits(double bits) {
    unsigned long long b;
    memcpy(&b, &bits, sizeof b);
    return from_ordered(b);
}

static SandLevelBounds level_bounds_of(const LevelTally *t, int level) {
    const unsigned long long *low = t->low[level], *high = t->high[level];
    SandVec3 lowest = v3_make(INFINITY, INFINITY, INFINITY);
    if (!t->count[level]) return {0, lowest, v3_neg(lowest)};
    return {t->count[level], v3_make(from_ordered(low[0]), from_ordered(low[1]), from_ordered(low[2])),
            v3_make(from_ordered(high[0]), from_ordered(high[1]), from_ordered(high[2]))};
}

// Sizes the grids for the spheres of all ranks, from the extents of own spheres, which device->tally has.
static bool size_grids(SandDevice *device, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    SandBroadPhase *g = &p->grid;
    LevelTally tally;
    SandLevelBounds bounds[SAND_MAX_LEVELS];
    if (!download(device, &tally, device->tally.data, 1) || !download(device, &g->sphere_count, &device->counts->spheres, 1))
        return device_fail(device, error);
    if (!subdomain_meet(device, error)) return false;
    SandExtents mine = {g->sphere_count, g->sphere_count ? tally.least : 1e300, g->sphere_count ? tally.most : 0};
    SandExtents all = sand_extents_of_ranks(p->ranks, mine);
    if (all.count > INT32_MAX / 2)
        return sand_fail(error, "more than %d spheres: the grid cannot number them", INT32_MAX / 2);
    device->grid_spheres = all.count;
    p->most = all.most;
    g->level_count = 0;
    g->cell_count = 0;
    if (all.count) grid_choose_levels(g, all.least, all.most);
    device->check_impacts = g->level_count > 1;
    if (!upload_grid(device)) return device_fail(device, error);
    tally_levels_enqueue(device);
    if (!download(device, &tally, device->tally.data, 1)) return device_fail(device, error);
    if (!subdomain_meet(device, error)) return false;
    for (int k = 0; k < SAND_MAX_LEVELS; k++) bounds[k] = level_bounds_of(&tally, k);
    sand_level_bounds_of_ranks(p->ranks, g->level_count, bounds);
    if (all.count) sand_broad_phase_fit(g, (int)all.count, bounds);
    tally_place_levels(g, &tally);
    p->chunks = (int)std::max((int64_t)1, std::min((int64_t)RANK_CHUNKS, all.count / RANK_CHUNK_BODIES));
    return upload_grid(device) || device_fail(device, error);
}

// Restricts each level to the layers of cells that a query of a held sphere may visit: whole layers, since own bodies are a
// slab. A ghost reaches into what own bodies reach, so that its spheres lie at most 2 (p->most + p->widest) beyond that, and
// a query looks another p->most plus the largest extent of the level further. Returns the number of cells.
static int64_t keep_cells(DeviceSubdomain *p) {
    SandBroadPhase *g = &p->grid;
    int64_t cells = 0;
    for (int k = 0; k < g->level_count; k++) {
        SandGridLevel *l = &g->levels[k];
        double beyond = 3 * p->most + 2 * p->widest + l->largest;
        grid_keep_layers(l, p->all.low[2] - beyond, p->all.high[2] + beyond, &cells);
    }
    return g->cell_count = cells;
}

// Clears the table of cells, and uploads the grids that it belongs to.
static bool clear_cells(SandDevice *device) {
    return device_check(device, cudaMemsetAsync(device->cell_counts.data, 0, device->cell_counts.bytes, device->stream),
                        "clearing the cells") &&
           upload_grid(device);
}

// Allocates the table of cells for the search for impacts. It cannot be a part of the arena, which was divided before the
// number of cells was known.
static bool reserve_impact_cells(SandDevice *device) {
    size_t n = (size_t)keep_cells(subdomain_of(device)) + 2;
    if (!reserve(device, device->impact_starts, n) || !reserve(device, device->impact_counts, n) ||
        !reserve_scratch(device, device->scratch, (int64_t)n))
        return false;
    device->cell_starts = {device->impact_starts.data, n * sizeof(int)};
    device->cell_counts = {device->impact_counts.data, n * sizeof(int)};
    return clear_cells(device);
}

// --- reach --------------------------------------------------------------------------------------------------

static __device__ int chunk_at(const SandBroadPhase *g, SandVec3 center, int chunks) {
    const SandGridLevel *l = &g->spatial_grid;
    int64_t all = (int64_t)l->cells[0] * l->cells[1] * l->cells[2], cell = grid_cell_of(l, center) - l->cell_begin;
    return (int)(cell * chunks / all);
}

// A cube that a sphere or a body may reach in the step: center and half the side; extent 0: it takes no part.
struct Reaching {
    SandVec3 center;
    double extent;
};
struct SphereReach { // of own proxies
    const SandCollision *collision;
    __device__ Reaching operator()(int64_t i) const {
        const SandSphereProxy *s = &collision->broad_phase.spheres[i];
        return {s->center, s->extent};
    }
};
struct BodyReach { // of own bodies
    const SandVec3 *position;
    const float *reach;
    const uint8_t *is_ghost, *owner;
    int me, earlier; // this rank; bodies from `earlier` on have just migrated here
    __device__ Reaching operator()(int64_t i) const {
        return {position[i], subdomain_has(is_ghost, owner, me, earlier, i) ? reach[i] : 0};
    }
};

static __global__ void clear_boxes(ReachBox *boxes) {
    for (int a = 0; a < 3; a++) {
        ((unsigned long long *)boxes[threadIdx.x].low)[a] = ~0ull;
        ((unsigned long long *)boxes[threadIdx.x].high)[a] = 0;
    }
}

static __device__ void box_add(ReachBox *box, const double *low, const double *high) {
    for (int a = 0; a < 3; a++) {
        unsigned long long l = ordered_bits(low[a]), h = ordered_bits(high[a]);
        if (((volatile unsigned long long *)box->low)[a] > l) atomicMin((unsigned long long *)&box->low[a], l);
        if (((volatile unsigned long long *)box->high)[a] < h) atomicMax((unsigned long long *)&box->high[a], h);
    }
}

// Boxes around what own spheres or bodies reach, REACH_BOXES of them by chunk. Their numbers are ordered_bits, for integer
// atomics.
template <class Reach>
static __global__ void find_boxes(const SandCollision *collision, Reach reach, int64_t count, int chunks, ReachBox *boxes) {
    EACH(i, count) {
        Reaching r = reach(i);
        if (r.extent <= 0) continue;
        int layer = chunk_at(&collision->broad_phase, r.center, chunks) * REACH_BOXES / chunks;
        double low[3] = {r.center.x - r.extent, r.center.y - r.extent, r.center.z - r.extent};
        double high[3] = {r.center.x + r.extent, r.center.y + r.extent, r.center.z + r.extent};
        box_add(&boxes[layer], low, high);
    }
}

static __device__ bool overlaps(const ReachBox *box, const double *low, const double *high) {
    bool yes = true;
    for (int a = 0; a < 3; a++) yes = yes && low[a] <= box->high[a] && high[a] >= box->low[a];
    return yes;
}

// Sets in mask[i] a bit for each other rank that sphere or body i reaches, and counts them for each rank. A rank has
// REACH_BOXES boxes, then one around all of these, for a quick test.
template <class Reach>
static __global__ void find_reached(Reach reach, int64_t count, const ReachBox *boxes, int ranks, int me, uint64_t *mask,
                                    int *counts) {
    EACH(i, count) {
        Reaching r = reach(i);
        double low[3] = {r.center.x - r.extent, r.center.y - r.extent, r.center.z - r.extent};
        double high[3] = {r.center.x + r.extent, r.center.y + r.extent, r.center.z + r.extent};
        uint64_t found = 0;
        for (int k = 0; k < ranks && r.extent > 0; k++) {
            const ReachBox *of_rank = boxes + k * (REACH_BOXES + 1);
            if (k == me || !overlaps(&of_rank[REACH_BOXES], low, high)) continue;
            bool reaches = false;
            for (int l = 0; l < REACH_BOXES && !reaches; l++) reaches = overlaps(&of_rank[l], low, high);
            if (!reaches) continue;
            found |= 1ull << k;
            atomicAdd(&counts[k], 1);
        }
        mask[i] = found;
    }
}

// Decodes the boxes of this rank, and returns the box around all of them.
static ReachBox join_boxes(ReachBox *boxes) {
    ReachBox all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int k = 0; k < REACH_BOXES; k++)
        for (int a = 0; a < 3; a++) {
            uint64_t high;
            memcpy(&high, &boxes[k].high[a], sizeof high);
            boxes[k].low[a] = high ? from_bits(boxes[k].low[a]) : INFINITY; // empty
            boxes[k].high[a] = high ? from_bits(boxes[k].high[a]) : -INFINITY;
            all.low[a] = fmin(all.low[a], boxes[k].low[a]);
            all.high[a] = fmax(all.high[a], boxes[k].high[a]);
        }
    return all;
}

// Uses the arena as the mask of this many bodies.
static bool take_mask(SandDevice *device, int bodies) {
    size_t bytes = ((size_t)bodies + 2) * sizeof(uint64_t);
    if (!reserve(device, device->arena, bytes)) return false;
    device->mask = {(uint64_t *)device->arena.data, bytes};
    return true;
}

// Shares the boxes that own spheres or bodies reach with all ranks, and finds the ranks that each of them reaches: fills
// device->mask and message_counts. Collective.
template <class Reach> static bool share_reach(SandDevice *device, Reach reach, int64_t count, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    size_t ranks = (size_t)p->ranks->count, each = REACH_BOXES + 1;
    std::vector<ReachBox> boxes(ranks * each);
    ReachBox *mine = &boxes[(size_t)p->ranks->rank * each];
    std::vector<int> first(ranks + 1);
    std::iota(first.begin(), first.end(), 0);
    if (!reserve(device, device->boxes_of_ranks, ranks * each) || !reserve(device, device->message_counts, SAND_CHUNKS))
        return device_fail(device, error);
    clear_boxes<<<1, REACH_BOXES, 0, device->stream>>>(device->boxes_of_ranks.data);
    LAUNCH(device, find_boxes<Reach>, count, device->device_collision.data, reach, count, p->chunks,
           device->boxes_of_ranks.data);
    if (!download(device, mine, device->boxes_of_ranks.data, REACH_BOXES)) return device_fail(device, error);
    if (!subdomain_meet(device, error)) return false;
    p->all = mine[REACH_BOXES] = join_boxes(mine);
    p->ranks->allgather(p->ranks->user, boxes.data(), first.data(), each * sizeof(ReachBox));
    bool ok =
        upload(device, device->boxes_of_ranks, boxes.data(), boxes.size()) &&
        device_check(device, cudaMemsetAsync(device->message_counts.data, 0, SAND_CHUNKS * sizeof(int), device->stream),
                     "ghosts");
    LAUNCH(device, find_reached<Reach>, count, reach, count, device->boxes_of_ranks.data, (int)ranks, p->ranks->rank,
           device->mask.data, device->message_counts.data);
    return (ok && device_wait(device)) || device_fail(device, error);
}

// --- impacts ------------------------------------------------------------------------------------------------

static __global__ void set_sphere_count(SandCollision *collision, Counts *counts, int spheres) {
    collision->broad_phase.sphere_count = counts->spheres = spheres;
}

static __global__ void clear_tally(LevelTally *tally) { tally_clear(tally, threadIdx.x); }

// Appends the `near` proxies received from other ranks to the own ones.
static bool append_spheres(SandDevice *device, int own, int near) {
    device_check(device,
                 cudaMemcpyAsync(device->spheres.data + own, device->messages_in.data,
                                 (size_t)near * sizeof(SandSphereProxy), cudaMemcpyDeviceToDevice, device->stream),
                 "spheres of other ranks");
    set_sphere_count<<<1, 1, 0, device->stream>>>(device->device_collision.data, device->counts, own + near);
    clear_tally<<<1, SAND_MAX_LEVELS, 0, device->stream>>>(device->tally.data);
    tally_levels_enqueue(device);
    return device_check(device, cudaGetLastError(), "spheres of other ranks");
}

// Makes the proxies of own bodies.
static bool place_own(SandDevice *device) {
    device->sphere_total = subdomain_spheres(device) + subdomain_of(device)->near_spheres;
    device->table_cells = 0;
    if (!collide_begin(device)) return false;
    place_spheres_enqueue(device, device->is_ghost.data);
    return device_check(device, cudaGetLastError(), "placing spheres");
}

// Finds the impact margins of own spheres, for impacts by own spheres and by those of other ranks, and sizes the grids again
// for the wider extents.
static bool add_impact_margins(SandDevice *device, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    int own = p->grid.sphere_count, near;
    SphereReach reach = {device->device_collision.data};
    if (!share_reach(device, reach, own, error) || !subdomain_send_spheres(device, &near, error)) return false;
    if (near > p->near_spheres) { // make the proxies again, in larger arrays
        p->near_spheres = near + near / 4 + 1024;
        if (!place_own(device)) return device_fail(device, error);
    }
    if (!reserve_impact_cells(device) || !append_spheres(device, own, near) ||
        !sort_spheres_enqueue(device, p->grid.cell_count) || !find_impacts_enqueue(device))
        return device_fail(device, error);
    set_sphere_count<<<1, 1, 0, device->stream>>>(device->device_collision.data, device->counts, own);
    widen_spheres_enqueue(device);
    return size_grids(device, error);
}

// --- owners -------------------------------------------------------------------------------------------------

// Half the side of a cube around a body that has all that its sphere reaches.
static __device__ double reach_of(SandVec3 body, const SandSphereProxy *s) {
    SandVec3 arm = v3_sub(s->center, body);
    return fmax(fabs(arm.x), fmax(fabs(arm.y), fabs(arm.z))) + s->extent;
}

// The margin that an impact has given to a sphere; 0: none did, and it has that of its own motion. `raised`: margins for
// impacts, NULL where none were looked for.
static __device__ double raised_margin(const SandSphereProxy *s, const double *raised, int k) {
    return raised && raised[k] >= s->impact_margin ? s->impact_margin : 0;
}

// What is known of the bodies of this rank.
struct OwnBodies {
    const SandVec3 *position;
    const uint8_t *is_ghost;
    const int *first;     // sphere
    const double *raised; // as in raised_margin
};

// For each own body that takes part: its chunk, its reach, the largest margin that an impact gives one of its spheres, and
// its work by the contacts that it owned in the last step, summed by chunk.
static __global__ void find_chunks(const SandCollision *collision, OwnBodies own, int count, int chunks,
                                   const int *kept_index, const int *kept_first, int kept_world, uint16_t *chunk_of,
                                   float *reach, double *margin, unsigned long long *work) {
    EACH(i, count) {
        chunk_of[i] = NO_CHUNK;
        reach[i] = 0;
        margin[i] = 0;
        if (own.is_ghost[i] || own.first[i + 1] == own.first[i]) continue;
        const SandSphereProxy *spheres = collision->broad_phase.spheres;
        int chunk = chunk_at(&collision->broad_phase, spheres[own.first[i]].center, chunks),
            k = i < kept_world ? kept_index[i] : -1;
        double most = 0;
        for (int s = own.first[i]; s < own.first[i + 1]; s++) {
            most = fmax(most, reach_of(own.position[i], &spheres[s]));
            margin[i] = fmax(margin[i], raised_margin(&spheres[s], own.raised, s));
        }
        chunk_of[i] = (uint16_t)chunk;
        reach[i] = __double2float_ru(most);
        unsigned mine = 1 + (k < 0 ? 0 : 2 * (unsigned)(kept_first[k + 1] - kept_first[k]));
        KeyGroup group = key_group((uint32_t)chunk); // bodies with near numbers are mostly in the same chunk
        unsigned all = __reduce_add_sync(group.mask, mine);
        if (group.position == 0) atomicAdd(&work[chunk], (unsigned long long)all);
    }
}

// The work of the busiest rank in a partition.
static int64_t most_work(const DeviceSubdomain *p, const std::vector<int64_t> &work, const int *first) {
    int64_t most = 0;
    for (int r = 0; r < p->ranks->count; r++)
        most = std::max(most, std::accumulate(work.begin() + first[r], work.begin() + first[r + 1], (int64_t)0));
    return most;
}

// Makes a new partition where that takes more than half a percent of the mean work off the busiest rank. Smaller gains do
// not pay for the bodies that would migrate. Where bodies fall through a border, the work of a single layer of them exceeds
// half a percent, so that the border moves along with them.
static void recut(DeviceSubdomain *p, const std::vector<int64_t> &work) {
    int first[SAND_CHUNKS + 1];
    int64_t all = std::accumulate(work.begin(), work.end(), (int64_t)0);
    sand_cut_chunks(work.data(), p->chunks, p->ranks->count, first);
    if (p->cut == p->chunks) {
        int64_t saved = most_work(p, work, p->first_chunk) - most_work(p, work, first);
        if (saved * p->ranks->count * 200 <= all) return;
    }
    std::copy(first, first + p->ranks->count + 1, p->first_chunk);
    p->cut = p->chunks;
}

// Sets the new owner of each own body, and the mask of those that migrate.
static __global__ void find_owners(const uint16_t *chunk_of, const uint8_t *rank_of_chunk, const uint8_t *is_ghost,
                                   int count, int me, uint8_t *owner, uint64_t *mask, int *counts) {
    EACH(i, count) {
        mask[i] = 0;
        if (is_ghost[i]) continue;
        owner[i] = chunk_of[i] == NO_CHUNK ? (uint8_t)me : rank_of_chunk[chunk_of[i]];
        if (owner[i] == me) continue;
        mask[i] = 1ull << owner[i];
        atomicAdd(&counts[owner[i]], 1);
    }
}

static bool choose_owners(SandDevice *device, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    size_t n = subdomain_capacity((size_t)device->body_total), chunks = (size_t)p->chunks;
    std::vector<int64_t> work(chunks);
    std::vector<uint8_t> rank_of_chunk(chunks + 1);
    if (!reserve(device, device->reach, n) || !reserve(device, device->margin, n) ||
        !reserve(device, device->chunk_work, RANK_CHUNKS) || !reserve(device, device->message_counts, SAND_CHUNKS) ||
        !device_check(device, cudaMemsetAsync(device->chunk_work.data, 0, chunks * sizeof(int64_t), device->stream),
                      "owners"))
        return device_fail(device, error);
    OwnBodies own = {device->position.data, device->is_ghost.data, device->sphere_first.data,
                     device->check_impacts ? device->impact_margin.data : NULL};
    LAUNCH(device, find_chunks, device->body_total, device->device_collision.data, own, device->body_total, p->chunks,
           device->kept_solver_index.data, device->kept_first.data, device->kept_step > 0 ? device->kept_world : 0,
           device->chunk_of.data, device->reach.data, device->margin.data, device->chunk_work.data);
    if (!download(device, (unsigned long long *)work.data(), device->chunk_work.data, chunks))
        return device_fail(device, error);
    if (!subdomain_meet(device, error)) return false;
    p->ranks->sum(p->ranks->user, work.data(), (int64_t)chunks);
    if (!device->left_out) recut(p, work); // in a repeated step bodies have migrated already, and must not do so again
    for (int r = 0; r < p->ranks->count; r++)
        for (int c = p->first_chunk[r]; c < p->first_chunk[r + 1]; c++) rank_of_chunk[(size_t)c] = (uint8_t)r;
    bool ok =
        upload(device, device->messages_in, rank_of_chunk.data(), chunks) &&
        device_check(device, cudaMemsetAsync(device->message_counts.data, 0, SAND_CHUNKS * sizeof(int), device->stream),
                     "owners");
    LAUNCH(device, find_owners, device->body_total, device->chunk_of.data, device->messages_in.data, device->is_ghost.data,
           device->body_total, p->ranks->rank, device->owner.data, device->mask.data, device->message_counts.data);
    return (ok && device_wait(device)) || device_fail(device, error);
}

// --- the beginning of a step --------------------------------------------------------------------------------

// The mouse spring of the world as kernels see it pulls a held body, or, where its body is not held, none.
static bool find_pulled(SandDevice *device) {
    int *body = &device->world.spring.body;
    return *body < 0 || subdomain_find(device, *body, body);
}

bool subdomain_move(SandDevice *device, const SandWorld *, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    int64_t gives_up = device->gives_up;
    p->known = p->gathered[0] = p->gathered[1] = false;
    if (device->kept_spent) device->kept_step = 0; // the last step failed, and has used up the kept impulses
    device->kept_spent = false;
    if (!subdomain_meet(device, error)) return false;
    p->ranks->sum(p->ranks->user, &gives_up, 1);
    device->gives_up = gives_up > 0;
    if (!subdomain_push(device, error) || !subdomain_enter(device, error)) return false;
    if (!place_own(device)) return device_fail(device, error);
    if (!size_grids(device, error) || (device->check_impacts && !add_impact_margins(device, error)) ||
        !choose_owners(device, error))
        return false;
    int held = device->body_total;
    if (!subdomain_send_bodies(device, false, &held, error) || !subdomain_send_impulses(device, error)) return false;
    BodyReach reach = {device->position.data, device->reach.data, device->is_ghost.data,
                       device->owner.data,    p->ranks->rank,     device->body_total};
    if (!take_mask(device, held)) return device_fail(device, error);
    if (!share_reach(device, reach, held, error) || !subdomain_send_bodies(device, true, &held, error)) return false;
    if (!subdomain_merge(device, held)) return device_fail(device, error);
    device->sphere_total = subdomain_spheres(device);
    device->table_cells = keep_cells(p);
    return find_pulled(device) ? subdomain_rename(device, error) : device_fail(device, error);
}

// --- sorting ------------------------------------------------------------------------------------------------

// Gives all spheres of a body the largest margin that its owner has found for one of them: so every rank that holds the body
// finds the same contacts.
static __global__ void impose_margins(SandCollision *collision, const int *first, const double *margin, double envelope,
                                      int count) {
    EACH(i, count) {
        for (int k = first[i]; k < first[i + 1]; k++) {
            SandSphereProxy *s = &collision->broad_phase.spheres[k];
            if (margin[i] > s->impact_margin) proxy_set_impact_margin(s, margin[i], envelope);
        }
    }
}

// Sets the chunk of each held body, ghosts included, once proxies are placed.
static __global__ void note_chunks(const SandCollision *collision, const int *first, int count, int chunks,
                                   uint16_t *chunk_of) {
    EACH(i, count)
        chunk_of[i] = first[i + 1] == first[i] ? NO_CHUNK
                                               : (uint16_t)chunk_at(&collision->broad_phase,
                                                                    collision->broad_phase.spheres[first[i]].center, chunks);
}

bool subdomain_place(SandDevice *device) {
    DeviceSubdomain *p = subdomain_of(device);
    place_spheres_enqueue(device, NULL);
    LAUNCH(device, impose_margins, device->body_total, device->device_collision.data, device->sphere_first.data,
           device->margin.data, device->world.envelope, device->body_total);
    if (!download(device, &p->grid.sphere_count, &device->counts->spheres, 1) || !device_wait(device) ||
        !clear_cells(device))
        return false;
    tally_levels_enqueue(device);
    LAUNCH(device, note_chunks, device->body_total, device->device_collision.data, device->sphere_first.data,
           device->body_total, p->chunks, device->chunk_of.data);
    return sort_spheres_enqueue(device, p->grid.cell_count) && device_check(device, cudaGetLastError(), "sorting spheres");
}
