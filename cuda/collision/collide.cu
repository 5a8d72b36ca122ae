// SPDX-License-Identifier: MIT
// Collision detection on the device: the stages of sim/collision/collide.c with the same narrow phase code, so that the
// contacts come out in the same order and with the same bits. The kernels in order:
//
//   reset_counts             the counters of the step
//   ...                      the broad phase: cuda/collision/broad_phase.cu, for convex bodies cuda/collision/convex.cu
//   number_spatial_cells     where each body is in space; a sort by it makes the order of solver indices
//   assign_solver_indices
//   count_nonspheres         contacts of each sphere with boundaries and convex bodies
//   ...                      those of convex bodies with each other and with boundaries: cuda/collision/convex.cu; joints:
//                            cuda/step/joints.cu; what a second look has found: cuda/collision/second_look.cu
//   count_pairs_by_group, count_pairs_by_thread    contacts of each sphere with others; neighbors are kept in short lists
//   store_total              after a scan of the counts: how many contacts there are, and whether they fit
//   list_pairs               the spheres of each contact, from the lists
//   list_crowded_pairs       the same for spheres whose list overflowed, by a second query
//   write_nonspheres, write_pairs the contact candidates
//   csr_build                sorts their numbers by the solver index of their owner
//
// What does not depend on each other runs on side streams: see collide_enqueue.
#include "cuda/collision/narrow_phase.h"
#include "cuda/csr.h"
#include "cuda/hooks.h"

#include <algorithm>

// Clears the counters of a step. One thread.
static __global__ void reset_counts(Counts *counts) {
    counts->retry = counts->spheres = counts->bodies = counts->contacts = counts->levels = counts->warm_started = 0;
    counts->found = counts->asleep = counts->walls = 0;
    counts->high_degree = counts->colors = counts->uncolored = counts->lost = 0;
    for (int k = 0; k < SAND_MAX_OUTLETS; k++) counts->left[k] = counts->left_mass[k] = 0;
    counts->crowded = counts->mesh_overflow[2] = counts->convex_pairs = counts->further_pieces = counts->missing = 0;
    counts->blocks_done = 0;
    counts->min_extent = ~0ull;
    counts->max_extent = counts->deepest = counts->deepest_wall = 0;
    counts->diagonal_sum = counts->kinetic = counts->potential = 0;
    counts->iterations = counts->curve = 0;
    counts->end = SAND_END_NONE;
    counts->evidence = SandEvidence{};
    counts->seconds = counts->complementarity = counts->least_energy = 0;
}

// --- solver indices ---------------------------------------------------------------------------------------

// The cell of each body in the grid of all levels, by its first sphere; other spheres sort behind. Numbers the spheres for
// that sort.
static __global__ void number_spatial_cells(const SandCollision *collision, uint32_t *cell, int *number, int64_t capacity) {
    const SandBroadPhase *g = &collision->broad_phase;
    EACH(i, capacity) {
        number[i] = (int)i;
        bool first = i < g->sphere_count && g->sorted[i].sub == 0;
        cell[i] = first ? (uint32_t)grid_cell_of(&g->spatial_grid, g->sorted[i].center) : 0xffffffffu;
    }
}

// Numbers the bodies for the solver. `placed` are the sorted positions of their first spheres, by their cells in space;
// NULL: the sorted order has them in that order already.
static __global__ void assign_solver_indices(SandCollision *collision, const int *placed, const Counts *counts) {
    const SandBroadPhase *g = &collision->broad_phase;
    int convex = collision->convex_phase.sphere_count - counts->further_pieces;
    int spheres = collision->body_count - convex; // bodies that are made of spheres
    EACH(solver_index, spheres) {
        int body = g->sorted[placed ? placed[solver_index] : solver_index].body;
        collision->body[solver_index] = body;
        collision->solver_index[body] = (int)solver_index;
    }
}

// --- contacts ---------------------------------------------------------------------------------------------

// Contacts are counted by items, two a sphere: its contacts with other spheres, then those with all else. One sphere more
// stands for nothing; after it come an item for each convex body, one for what a second look has found, where there are
// convex bodies, and one for each joint.
enum { PAIR_ITEM, WALL_ITEM, ITEMS_PER_SPHERE };
static __host__ __device__ int64_t item_of(int64_t sphere, int which) { return sphere * ITEMS_PER_SPHERE + which; }

// Two spheres that touch, by their positions in the sorted order.
struct SpherePair {
    int p, q;
};

// The count keeps the first neighbors of each sphere, so that they are not searched for a second time. Spheres with more are
// listed as crowded, in any order.
enum { NEIGHBOR_SLOTS = 16 };
static __device__ void push_crowded(int *crowded, int sphere, Counts *counts) {
    crowded[atomicAdd(&counts->crowded, 1)] = sphere;
}

// Counts and lists the neighbors of the spheres of the finest level, a thread each. Where all pairs count the question is
// left out of the kernel.
template <int FILTER>
static __global__ void __launch_bounds__(128)
    count_pairs_by_thread(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
                          CullArrays cull, int *neighbors, int *count, int *crowded, Counts *counts) {
    SandFinder finder = finder_of(&w, collision, search);
    const SandBroadPhase *g = &collision->broad_phase;
    EACH(t, thread_query_end(g)) {
        int i = (int)t, level = grid_level_of(g, i), found = 0, *mine = neighbors + NEIGHBOR_SLOTS * t;
        CullSphere own = cull_sphere(cull, i);
        for (int k = 0; k < g->level_count; k++) {
            if (!grid_looks_in(level, k)) continue;
            query_by_thread(g, cell_range_of(g, level, i, k), cull.bounds, own.bounds, [&](int j) {
                if (!neighbor_touches<FILTER>(&finder, search, cull, i, own, j)) return;
                if (found < NEIGHBOR_SLOTS) mine[found] = j;
                found++;
            });
        }
        count[item_of(i, PAIR_ITEM)] = found;
        if (found > NEIGHBOR_SLOTS) push_crowded(crowded, i, counts);
    }
}

// The same for the spheres of all other levels, a group each.
template <int FILTER>
static __global__ void __launch_bounds__(QUERY_BLOCK_THREADS, QUERY_BLOCKS)
    count_pairs_by_group(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
                         CullArrays cull, int *neighbors, int *count, int *crowded, int64_t spheres, Counts *counts) {
    SandFinder finder = finder_of(&w, collision, search);
    int begin = thread_query_end(&collision->broad_phase);
    EACH(t, QUERY_THREADS * (spheres + 1 - begin)) {
        QueryGroup group = query_group(t, begin);
        int found = 0;
        int *mine = neighbors + NEIGHBOR_SLOTS * group.sphere;
        if (group.sphere < collision->broad_phase.sphere_count)
            found = find_neighbors<FILTER>(&finder, search, cull, group, [&](int k, int j) {
                if (k < NEIGHBOR_SLOTS) mine[k] = j;
            });
        if (group.lane > 0) continue;
        count[item_of(group.sphere, PAIR_ITEM)] = found;
        if (found > NEIGHBOR_SLOTS) push_crowded(crowded, (int)group.sphere, counts);
    }
}

// The contacts of a sphere with all but spheres; those of a ghost are others'. Without convex bodies in the world their code
// is left out of the kernel.
template <bool CONVEX>
static __device__ void contacts_beside_spheres(const SandFinder *finder, SandSink *sink, const SandSphereProxy *sphere) {
    if (finder->collision->is_ghost && finder->collision->is_ghost[sphere->body]) return;
    if constexpr (CONVEX)
        nonsphere_contacts(finder, sink, sphere);
    else
        sphere_boundaries(finder, sink, sphere);
}

// Counts the contacts of each sphere with boundaries and convex bodies.
template <bool CONVEX>
static __global__ void __launch_bounds__(128)
    count_nonspheres(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, int *count,
                     Counts *counts, int64_t spheres) {
    SandFinder finder = finder_of(&w, collision, search);
    EACH(i, spheres + 1) {
        SandSink sink = {NULL, 0, counts->mesh_overflow};
        if (i < collision->broad_phase.sphere_count)
            contacts_beside_spheres<CONVEX>(&finder, &sink, &collision->broad_phase.sorted[i]);
        count[item_of(i, WALL_ITEM)] = sink.count;
    }
}

// Stores the number of contacts, and asks for a retry where they do not fit. One thread.
static __global__ void store_total(const int *first, int64_t joint_items, int64_t items, int64_t contact_capacity,
                                   SandCollision *collision, Counts *counts) {
    int total = first[items - 1];
    counts->joint_first = first[joint_items];
    counts->found = counts->contacts = collision->contact_count = total;
    if (total < 0 || total > contact_capacity) counts->retry |= RETRY_CONTACTS;
}

// Writes the two spheres of each contact from the neighbor lists; (-1, -1) where the contact is with a boundary.
enum { LIST_THREADS = 4 }; // a sphere
static __global__ void list_pairs(const SandCollision *collision, const int *neighbors, const int *first, SpherePair *pairs,
                                  const Counts *counts, int64_t spheres) {
    if (counts->retry) return;
    int convex_begin = first[item_of(spheres + 1, 0)];
    EACH(k, counts->contacts - convex_begin) pairs[convex_begin + k] = {-1, -1};
    EACH(t, LIST_THREADS * (spheres + 1)) {
        int64_t sphere = t / LIST_THREADS, item = item_of(sphere, PAIR_ITEM);
        int lane = (int)(t % LIST_THREADS);
        if (sphere > collision->broad_phase.sphere_count) continue;
        int begin = first[item], found = first[item + 1] - begin, nonspheres = first[item + 2] - begin;
        for (int k = lane; k < found && k < NEIGHBOR_SLOTS; k += LIST_THREADS)
            pairs[begin + k] = {(int)sphere, neighbors[NEIGHBOR_SLOTS * sphere + k]};
        for (int k = found + lane; k < nonspheres; k += LIST_THREADS) pairs[begin + k] = {-1, -1};
    }
}

// The same for the crowded spheres, whose neighbors are searched for a second time.
template <int FILTER>
static __global__ void __launch_bounds__(QUERY_BLOCK_THREADS, QUERY_BLOCKS)
    list_crowded_pairs(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
                       CullArrays cull, const int *first, const int *crowded, SpherePair *pairs, const Counts *counts) {
    if (counts->retry) return;
    SandFinder finder = finder_of(&w, collision, search);
    EACH(t, (int64_t)QUERY_THREADS * counts->crowded) {
        QueryGroup group = query_group(t, 0);
        group.sphere = crowded[group.sphere];
        int i = (int)group.sphere, begin = first[item_of(i, PAIR_ITEM)];
        find_neighbors<FILTER>(&finder, search, cull, group, [&](int k, int j) { pairs[begin + k] = {i, j}; });
    }
}

// Writes the contact candidates between spheres, a thread each, and leaves out those of boundaries between them.
static __global__ void __launch_bounds__(BLOCK_THREADS)
    write_pairs(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
                const SpherePair *pairs, SandContactCandidate *candidates, uint32_t *owner, Counts *counts) {
    if (counts->retry) return;
    SandFinder finder = finder_of(&w, collision, search);
    double deepest = 0;
    EACH_BLOCK(base, counts->contacts) {
        int64_t k = base + threadIdx.x;
        SandContactCandidate mine = {0};
        bool have = k < counts->contacts && pairs[k].p >= 0;
        if (have) {
            const SandSphereProxy *p = &collision->broad_phase.sorted[pairs[k].p],
                                  *q = &collision->broad_phase.sorted[pairs[k].q];
            SandSink sink = {&mine, 0, NULL};
            add_sphere_pair(&finder, &sink, p, q);
            deepest = fmax(deepest, -mine.gap);
            owner[k] = (uint32_t)mine.index_a;
        }
        write_records(candidates, base, counts->contacts, mine, have);
    }
    raise_deepest(&counts->deepest, deepest);
}

// Writes the contact candidates of spheres with boundaries and convex bodies.
template <bool CONVEX>
static __global__ void __launch_bounds__(128)
    write_nonspheres(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
                     const int *first, SandContactCandidate *candidates, uint32_t *owner, Counts *counts) {
    if (counts->retry) return;
    SandFinder finder = finder_of(&w, collision, search);
    Deepest deepest;
    EACH(i, collision->broad_phase.sphere_count) {
        int64_t item = item_of(i, WALL_ITEM);
        int begin = first[item], end = first[item + 1];
        if (begin == end) continue;
        SandSink sink = {candidates + begin, 0, counts->mesh_overflow};
        contacts_beside_spheres<CONVEX>(&finder, &sink, &collision->broad_phase.sorted[i]);
        note_written(candidates, begin, end, owner, deepest);
    }
    raise_deepest(counts, deepest);
}

// --- the stage --------------------------------------------------------------------------------------------

// Asking CUB takes too long to do it in every step.
static size_t index_scratch_bytes(SandDevice *device) {
    int64_t items = std::max(device->sphere_total, device->convex_total) + 2;
    if (items > device->indexed) {
        device->index_bytes = sort_scratch(items);
        device->indexed = items;
    }
    return device->index_bytes;
}

// Lends the buffers that are not needed once the contacts are there, but for those of messages between ranks
// (cuda/ranks/subdomain_problem.cu).
static void lend_all(SandDevice *device, Lending &parts) {
    size_t bodies = (size_t)device->world.body_count + 2, spheres = (size_t)device->sphere_total + 2,
           contacts = (size_t)device->contact_capacity + 2, cells = (size_t)device->table_cells + 2;
    size_t items = ITEMS_PER_SPHERE * spheres + (size_t)device->convex_total + (size_t)device->world.joint_count;
    lend(parts, device->pairs, 2 * contacts);
    lend(parts, device->neighbors, NEIGHBOR_SLOTS * spheres);
    lend(parts, device->crowded, spheres);
    lend(parts, device->item_count, items);
    lend(parts, device->item_first, items);
    lend(parts, device->spheres, spheres);
    lend(parts, device->sorted, spheres);
    lend(parts, device->cull_bounds, spheres);
    lend(parts, device->cull_motion, spheres);
    lend(parts, device->cull_size, spheres);
    lend(parts, device->impact_margin, spheres);
    lend(parts, device->sphere_count, bodies);
    lend(parts, device->sphere_first, bodies);
    lend(parts, device->sphere_order, spheres);
    lend(parts, device->sphere_number, spheres);
    lend(parts, device->spatial_order, spheres);
    lend(parts, device->cell_of, spheres);
    lend(parts, device->cell_sorted, spheres);
    lend(parts, device->cell_starts, cells);
    lend(parts, device->cell_counts, cells);
    lend(parts, device->index_scratch, index_scratch_bytes(device));
    lend(parts, device->chunk_of, device->hooks->marks_chunks ? bodies : 0);
    lend(parts, device->mask, device->hooks->marks_chunks ? std::max(bodies, spheres) : 0);
}

static bool reserve_all(SandDevice *device) {
    size_t bodies = (size_t)device->world.body_count + 2, spheres = (size_t)device->sphere_total + 2,
           contacts = (size_t)device->contact_capacity + 2;
    size_t cells = (size_t)device->table_cells + 2;
    size_t items = ITEMS_PER_SPHERE * spheres + (size_t)device->convex_total + (size_t)device->world.joint_count;
    size_t most = contacts > cells ? contacts : cells;
    if (items > most) most = items;
    Lending parts;
    lend_all(device, parts);
    bool ok = arena_lend_collision(device, parts) && reserve(device, device->solver_index, bodies) &&
              reserve(device, device->body, bodies) && reserve(device, device->tally, 1) &&
              reserve(device, device->keys, contacts) && reserve(device, device->first, bodies + 1) &&
              reserve_scratch(device, device->scratch, (int64_t)most) && reserve(device, device->device_collision, 1);
    return ok && convex_reserve(device) && convex_pairs_reserve(device);
}

// Points the device's SandCollision to the buffers, which may have grown.
static void bind_buffers(SandDevice *device) {
    SandCollision *host = &device->collision, *to = device->device_collision.data;
    host->broad_phase.spheres = device->spheres.data;
    host->broad_phase.sorted = device->sorted.data;
    host->broad_phase.order = device->sphere_order.data;
    host->broad_phase.starts = device->cell_starts.data + 1; // where a cell's spheres end; one more entry is in front
    host->convex_phase.spheres = device->convex_spheres.data;
    host->convex_phase.sorted = device->convex_sorted.data;
    host->convex_phase.order = device->convex_order.data;
    host->convex_phase.starts = device->convex_starts.data ? device->convex_starts.data + 1 : NULL;
    host->solver_index = device->solver_index.data;
    host->body = device->body.data;
    host->first = device->first.data;
    host->contacts = device->candidates.data;
    host->is_ghost = device->is_ghost.data;
    device_check(device, cudaMemcpyAsync(to, host, sizeof *host, cudaMemcpyHostToDevice, device->stream),
                 "copying to the GPU");
}

bool collide_begin(SandDevice *device) {
    if (!reserve_all(device)) return false;
    bind_buffers(device);
    reset_counts<<<1, 1, 0, device->stream>>>(device->counts);
    return true;
}

// Numbers the bodies for the solver so that neighbors in space have near numbers.
static bool solver_indices_enqueue(SandDevice *device, cudaStream_t stream) {
    SandCollision *collision = device->device_collision.data;
    int64_t spheres = device->sphere_total, all = device->grid_spheres;
    // Otherwise there is one level and every sphere is the first of its body, so that the sorted order will do.
    bool spatial = device->check_impacts || !device->single_spheres;
    if (spatial) {
        LAUNCH_ON(stream, number_spatial_cells, spheres, collision, device->cell_of.data, device->sphere_number.data,
                  spheres);
        if (!device_check(device,
                          sort_pairs(device->index_scratch.data, device->index_scratch.bytes, device->cell_of.data,
                                     device->cell_sorted.data, device->sphere_number.data, device->spatial_order.data,
                                     spheres, bits_for(grid_most_spatial_cells(all) + 1), stream),
                          "ordering the bodies"))
            return false;
    }
    LAUNCH_ON(stream, assign_solver_indices, spheres, collision, spatial ? device->spatial_order.data : NULL,
              device->counts);
    return convex_indices_enqueue(device, stream);
}

// The instances of a kernel for pairs, by the bits of PairFilter.
#define FOR_FILTERS(name, kernel) \
    decltype(&kernel<0>) name[] = {kernel<0>, kernel<NOT_APART>, kernel<NOT_FOREIGN>, kernel<NOT_APART | NOT_FOREIGN>}

bool collide_enqueue(SandDevice *device) {
    if (!collide_begin(device)) return false;
    const SandWorld &w = device->world;
    int64_t spheres = device->sphere_total;
    SandCollision *collision = device->device_collision.data;
    int filter = (device->is_ghost.data ? NOT_FOREIGN : 0) | (w.apart_count ? NOT_APART : 0);
    if (!device->hooks->place(device) || !convex_phase_enqueue(device)) return false;

    // Solver indices are not needed to count contacts, nor does one kind of contact need the other. What takes longest is
    // launched first.
    if (!device_fork(device, 3)) return false;
    cudaStream_t indexing = device->side_stream[0], nonspheres = device->side_stream[1], coarse = device->side_stream[2];
    int64_t convex_items = item_of(spheres + 1, 0), look_items = convex_items + device->convex_total,
            joint_items = look_items + (device->convex_total ? 1 : 0),
            items = joint_items + w.joint_count + 1; // the last for the total
    int *count = device->item_count.data, *first = device->item_first.data;
    SpherePair *pairs = (SpherePair *)device->pairs.data;
    auto count_others = device->convex_total ? count_nonspheres<true> : count_nonspheres<false>;
    count_others<<<launch_blocks(spheres + 1, 128), 128, 0, nonspheres>>>(w, collision, device->search, count,
                                                                          device->counts, spheres);
    if (!convex_count_enqueue(device, count + convex_items, nonspheres)) return false;
    look_count_enqueue(device, count + look_items, nonspheres);
    joints_count_enqueue(device, count + joint_items, nonspheres);
    device_check(device, cudaMemsetAsync(count + items - 1, 0, sizeof(int), device->stream), "counting contacts");
    FOR_FILTERS(count_by_group, count_pairs_by_group);
    count_by_group[filter]<<<query_blocks(device), QUERY_BLOCK_THREADS, 0, coarse>>>(
        w, collision, device->search, cull_arrays(device), device->neighbors.data, count, device->crowded.data, spheres,
        device->counts);
    FOR_FILTERS(count_by_thread, count_pairs_by_thread);
    count_by_thread[filter]<<<launch_blocks(spheres, 128), 128, 0, device->stream>>>(
        w, collision, device->search, cull_arrays(device), device->neighbors.data, count, device->crowded.data,
        device->counts);
    if (!solver_indices_enqueue(device, indexing)) return false;
    if (!device_join(device, 1) || !device_join(device, 2)) return false;
    device_check(device,
                 scan_sum(device->scratch.bytes.data, device->scratch.bytes.capacity, count, first, items, device->stream),
                 "counting contacts");
    store_total<<<1, 1, 0, device->stream>>>(first, joint_items, items, device->contact_capacity, collision, device->counts);
    if (!device_fork(device, 1)) return false;
    LAUNCH(device, list_pairs, LIST_THREADS * (spheres + 1), collision, device->neighbors.data, first, pairs, device->counts,
           spheres);
    FOR_FILTERS(list_crowded, list_crowded_pairs);
    list_crowded[filter]<<<query_blocks(device), QUERY_BLOCK_THREADS, 0, device->stream>>>(
        w, collision, device->search, cull_arrays(device), first, device->crowded.data, pairs, device->counts);
    if (!device_join(device, 0)) return false; // from here on solver indices are needed
    auto write_others = device->convex_total ? write_nonspheres<true> : write_nonspheres<false>;
    write_others<<<launch_blocks(spheres + 1, 128), 128, 0, device->side_stream[0]>>>(
        w, collision, device->search, first, device->candidates.data, device->keys.data, device->counts);
    convex_write_enqueue(device, first + convex_items, device->side_stream[0]);
    look_write_enqueue(device, first + look_items, device->side_stream[0]);
    joints_write_enqueue(device, first + joint_items, device->side_stream[0]);
    LAUNCH(device, write_pairs, device->contact_capacity, w, collision, device->search, pairs, device->candidates.data,
           device->keys.data, device->counts);

    // Sorted by the solver index of their owner: where the grid wraps around, a sphere may find one that belongs to an
    // earlier one. The candidates stay where they are; their numbers are sorted.
    CsrKeys owners = {device->keys.data, &device->counts->contacts, device->contact_capacity, w.body_count};
    return device_join(device, 0) && csr_count(device, owners, device->sphere_first.data, device->stream) &&
           csr_build(device, owners, device->sphere_first.data, device->first.data, device->candidate_order.data,
                     device->stream) &&
           device_check(device, cudaGetLastError(), "collision detection");
}
