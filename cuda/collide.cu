// Detection on the device, in the order of sim/detect.c and with its texts: balls, grid, strikes, ranks, contacts. The
// contacts come out in the same order and with the same bits.
#include "cuda/narrow_phase.h"
#include "cuda/csr.h"

static __global__ void begin_step(Counts *counts) {
    counts->again = counts->spheres = counts->bodies = counts->contacts = counts->levels = counts->warm_started = 0;
    counts->high_degree = counts->colors = counts->lost = 0;
    counts->crowded = counts->trouble[2] = 0, counts->blocks_done = 0;
    counts->least = ~0ull, counts->most = counts->deepest = counts->deepest_wall = 0;
    counts->diagonals = counts->kinetic = counts->potential = 0;
    counts->status = counts->iterations = counts->curve = 0;
    counts->seconds = counts->residual = counts->objective = counts->complementarity = 0;
}

// --- ranks ------------------------------------------------------------------------------------------------

// The place of each body, by its first ball; other balls come behind.
static __global__ void number_places(const SandCollision *d, uint32_t *place, int64_t capacity) {
    const SandBroadPhase *g = &d->broad_phase;
    EACH(i, capacity) {
        bool first = i < g->sphere_count && g->sorted[i].sub == 0;
        place[i] = first ? (uint32_t)grid_cell_of(&g->places, g->sorted[i].center) : 0xffffffffu;
    }
}

// `placed` are the positions of the first balls in the sorted order, by their places; NULL: they are in that order.
static __global__ void assign_solver_indices(SandCollision *d, const int *placed, int convex_body) {
    const SandBroadPhase *g = &d->broad_phase;
    int spheres = d->body_count - (convex_body >= 0 ? 1 : 0); // bodies that are made of balls
    EACH(solver_index, spheres) {
        int body = g->sorted[placed ? placed[solver_index] : solver_index].body;
        d->body[solver_index] = body;
        d->solver_index[body] = (int)solver_index;
    }
    if (convex_body >= 0 && blockIdx.x == 0 && threadIdx.x == 0) {
        d->body[spheres] = convex_body;
        d->solver_index[convex_body] = spheres;
    }
}

// --- contacts ---------------------------------------------------------------------------------------------

// Contacts are counted in items: a ball's partners and then its walls, ball after ball; last the box or cylinder.
enum { PAIR_ITEM, WALL_ITEM, BALL_ITEMS };
static __host__ __device__ int64_t item_of(int64_t sphere, int which) { return sphere * BALL_ITEMS + which; }

// Two balls that touch, by their places in the sorted order.
struct Touching {
    int p, q;
};

// What the count has found, so that nobody need look for it again: the first partners of each ball. Balls that have more are
// noted in a list, in any order.
enum { HITS = 16 };
static __device__ void note_crowded(int *crowded, int sphere, Counts *counts) {
    crowded[atomicAdd(&counts->crowded, 1)] = sphere;
}

static __global__ void __launch_bounds__(128)
    count_pairs_alone(const __grid_constant__ SandWorld w, const SandCollision *d, Search search, CullArrays cull,
                      int *neighbor, int *count, int *crowded, Counts *counts) {
    SandFinder finder = finder_of(&w, d, search);
    const SandBroadPhase *g = &d->broad_phase;
    EACH(t, alone_end(g)) {
        int i = (int)t, level = grid_level_of(g, i), found = 0, *mine = neighbor + HITS * t;
        CullSphere own = cull_sphere(cull, i);
        for (int k = 0; k < g->level_count; k++) {
            if (!grid_looks_in(level, k)) continue;
            query_alone(g, cell_range_of(g, level, i, k), cull.near, own.near, [&](int j) {
                if (!neighbor_touches(&finder, search, cull, i, own, j)) return;
                if (found < HITS) mine[found] = j;
                found++;
            });
        }
        count[item_of(i, PAIR_ITEM)] = found;
        if (found > HITS) note_crowded(crowded, i, counts);
    }
}

static __global__ void __launch_bounds__(QUERY_BLOCK_THREADS, QUERY_BLOCKS)
    count_pairs(const __grid_constant__ SandWorld w, const SandCollision *d, Search search, CullArrays cull, int *neighbor,
                int *count, int *crowded, int64_t spheres, Counts *counts) {
    SandFinder finder = finder_of(&w, d, search);
    int begin = alone_end(&d->broad_phase);
    EACH(t, QUERY_THREADS * (spheres + 1 - begin)) {
        QueryGroup group = query_group(t, begin);
        int found = 0;
        int *mine = neighbor + HITS * group.sphere;
        if (group.sphere < d->broad_phase.sphere_count)
            found = find_neighbors(&finder, search, cull, group, [&](int k, int j) {
                if (k < HITS) mine[k] = j;
            });
        if (group.place > 0) continue;
        count[item_of(group.sphere, PAIR_ITEM)] = found;
        if (found > HITS) note_crowded(crowded, (int)group.sphere, counts);
    }
}

static __global__ void __launch_bounds__(128) count_walls(const __grid_constant__ SandWorld w, const SandCollision *d,
                                                          Search search, int *count, Counts *counts, int64_t spheres) {
    SandFinder finder = finder_of(&w, d, search);
    EACH(i, spheres + 1) {
        SandSink sink = {NULL, 0, counts->trouble};
        if (i < d->broad_phase.sphere_count) wall_contacts(&finder, &sink, &d->broad_phase.sorted[i]);
        if (i == d->broad_phase.sphere_count && search.convex_body >= 0)
            convex_body_contacts(&finder, &sink, search.convex_body);
        count[item_of(i, WALL_ITEM)] = sink.count;
    }
}

static __global__ void store_total(const int *first, int64_t capacity, int64_t contact_capacity, SandCollision *d,
                                   Counts *counts) {
    int total = first[capacity - 1];
    counts->contacts = d->contact_count = total;
    if (total < 0 || total > contact_capacity) counts->again |= AGAIN_CONTACTS;
}

// Who touches, for each contact between balls, from what the count has found; nobody, where the place is a wall's.
enum { LISTERS = 4 }; // threads for a ball
static __global__ void list_pairs(const SandCollision *d, const int *neighbor, const int *first, Touching *pairs,
                                  const Counts *counts, int64_t spheres) {
    if (counts->again) return;
    EACH(t, LISTERS * (spheres + 1)) {
        int64_t sphere = t / LISTERS, item = item_of(sphere, PAIR_ITEM);
        int place = (int)(t % LISTERS);
        if (sphere > d->broad_phase.sphere_count) continue;
        int begin = first[item], found = first[item + 1] - begin, walls = first[item + 2] - begin;
        for (int k = place; k < found && k < HITS; k += LISTERS)
            pairs[begin + k] = {(int)sphere, neighbor[HITS * sphere + k]};
        for (int k = found + place; k < walls; k += LISTERS) pairs[begin + k] = {-1, -1};
    }
}

// The same of balls that have more partners than there was room for: they are looked for again.
static __global__ void __launch_bounds__(QUERY_BLOCK_THREADS, QUERY_BLOCKS)
    list_more_pairs(const __grid_constant__ SandWorld w, const SandCollision *d, Search search, CullArrays cull,
                    const int *first, const int *crowded, Touching *pairs, const Counts *counts) {
    if (counts->again) return;
    SandFinder finder = finder_of(&w, d, search);
    EACH(t, (int64_t)QUERY_THREADS * counts->crowded) {
        QueryGroup group = query_group(t, 0);
        group.sphere = crowded[group.sphere];
        int i = (int)group.sphere, begin = first[item_of(i, PAIR_ITEM)];
        find_neighbors(&finder, search, cull, group, [&](int k, int j) { pairs[begin + k] = {i, j}; });
    }
}

static __device__ void raise_deepest(double *of_all, double deepest) {
    for (int s = 16; s; s >>= 1) deepest = fmax(deepest, __shfl_down_sync(0xffffffffu, deepest, s));
    if ((threadIdx.x & 31) == 0 && deepest > 0) raise_to(of_all, deepest);
}

// The contacts between balls, a thread for each. Between them are places that are left to the walls.
static __global__ void __launch_bounds__(CUDA_THREADS)
    find_pairs(const __grid_constant__ SandWorld w, const SandCollision *d, Search search, const Touching *pairs,
               SandContactCandidate *found, uint32_t *owner, Counts *counts) {
    if (counts->again) return;
    SandFinder finder = finder_of(&w, d, search);
    double deepest = 0;
    EACH_BLOCK(base, counts->contacts) {
        int64_t k = base + threadIdx.x;
        SandContactCandidate mine = {0};
        bool have = k < counts->contacts && pairs[k].p >= 0;
        if (have) {
            const SandSphereProxy *p = &d->broad_phase.sorted[pairs[k].p], *q = &d->broad_phase.sorted[pairs[k].q];
            SandSink sink = {&mine, 0, NULL};
            add_sphere_pair(&finder, &sink, p, q);
            deepest = fmax(deepest, -mine.gap);
            owner[k] = (uint32_t)mine.index_a;
        }
        write_records(found, base, counts->contacts, mine, have);
    }
    raise_deepest(&counts->deepest, deepest);
}

static __global__ void __launch_bounds__(128)
    find_walls(const __grid_constant__ SandWorld w, const SandCollision *d, Search search, const int *first,
               SandContactCandidate *found, uint32_t *owner, Counts *counts) {
    if (counts->again) return;
    SandFinder finder = finder_of(&w, d, search);
    double deepest = 0, wall = 0; // the boxes and cylinders are bodies
    EACH(i, d->broad_phase.sphere_count + 1) {
        int64_t item = item_of(i, WALL_ITEM);
        int begin = first[item], end = first[item + 1];
        if (begin == end) continue;
        SandSink sink = {found + begin, 0, counts->trouble};
        if (i < d->broad_phase.sphere_count)
            wall_contacts(&finder, &sink, &d->broad_phase.sorted[i]);
        else
            convex_body_contacts(&finder, &sink, search.convex_body);
        for (int k = begin; k < end; k++) {
            deepest = fmax(deepest, -found[k].gap);
            if (found[k].b < 0) wall = fmax(wall, -found[k].gap);
            owner[k] = (uint32_t)found[k].index_a;
        }
    }
    raise_deepest(&counts->deepest, deepest);
    raise_deepest(&counts->deepest_wall, wall);
}

// --- the stage --------------------------------------------------------------------------------------------

static bool reserve_all(SandDevice *m) {
    size_t bodies = (size_t)m->world.body_count + 2, spheres = (size_t)m->sphere_total + 2,
           contacts = (size_t)m->contact_capacity + 2;
    size_t cells = (size_t)grid_most_cells(m->sphere_total) + 2;
    size_t items = BALL_ITEMS * spheres, most = contacts > cells ? contacts : cells;
    if (items > most) most = items;
    bool ok = reserve(m, m->sphere_count, bodies) && reserve(m, m->sphere_first, bodies) &&
              reserve(m, m->spheres, spheres) && reserve(m, m->sorted, spheres) && reserve(m, m->near, spheres) &&
              reserve(m, m->move, spheres) && reserve(m, m->size, spheres) && reserve(m, m->impact_margin, spheres) &&
              reserve(m, m->order, spheres) && reserve_iota(m, spheres) && reserve(m, m->starts, cells) &&
              reserve(m, m->starts_counted, cells) && reserve(m, m->solver_index, bodies) && reserve(m, m->body, bodies) &&
              reserve(m, m->found_count, items) && reserve(m, m->found_first, items) && reserve(m, m->cell_of, spheres) &&
              reserve(m, m->cell_sorted, spheres) && reserve(m, m->tally, 1) && reserve(m, m->found, contacts) &&
              reserve(m, m->neighbor, HITS * spheres) && reserve(m, m->crowded, spheres) &&
              reserve(m, m->pairs, 2 * contacts) && reserve(m, m->found_order, contacts) && reserve(m, m->keys, contacts) &&
              reserve(m, m->first, bodies + 1) && reserve_scratch(m, m->scratch, (int64_t)most) &&
              reserve_scratch(m, m->index_scratch, (int64_t)spheres) && reserve(m, m->collision_copy, 1);
    return ok && reserve(m, m->spatial_order, spheres);
}

bool collide_enqueue(SandDevice *m) {
    if (!reserve_all(m)) return false;
    const SandWorld &w = m->world;
    int64_t spheres = m->sphere_total;
    SandCollision *host = &m->collision, *d = m->collision_copy.data;
    host->broad_phase.spheres = m->spheres.data, host->broad_phase.sorted = m->sorted.data,
    host->broad_phase.order = m->order.data;
    host->broad_phase.starts = m->starts.data + 1; // where a cell's balls end; one more lies in front
    host->solver_index = m->solver_index.data, host->body = m->body.data, host->first = m->first.data;
    host->contacts = m->found.data;
    device_check(m, cudaMemcpyAsync(d, host, sizeof *host, cudaMemcpyHostToDevice, m->stream), "copying to the GPU");
    int together = query_blocks(m);

    begin_step<<<1, 1, 0, m->stream>>>(m->counts);
    if (!broad_phase_enqueue(m)) return false;

    // Ranks are not needed to count contacts, nor does one kind of contact need the other. What takes longest begins first.
    if (!device_fork(m, 3)) return false;
    cudaStream_t ranking = m->side_stream[0], walls = m->side_stream[1], coarse = m->side_stream[2];
    int64_t items = item_of(spheres + 1, 0) + 1; // and a last place for the total
    int *count = m->found_count.data, *first = m->found_first.data;
    Touching *pairs = (Touching *)m->pairs.data;
    count_walls<<<launch_blocks(spheres + 1, 128), 128, 0, walls>>>(w, d, m->search, count, m->counts, spheres);
    device_check(m, cudaMemsetAsync(count + items - 1, 0, sizeof(int), m->stream), "counting contacts");
    count_pairs<<<together, QUERY_BLOCK_THREADS, 0, coarse>>>(w, d, m->search, cull_arrays(m), m->neighbor.data, count,
                                                              m->crowded.data, spheres, m->counts);
    count_pairs_alone<<<launch_blocks(spheres, 128), 128, 0, m->stream>>>(w, d, m->search, cull_arrays(m), m->neighbor.data,
                                                                          count, m->crowded.data, m->counts);
    bool places = m->impact || !m->single; // else there is one level, and every ball is the first of its body
    if (places) {
        LAUNCH_ON(ranking, number_places, spheres, d, m->cell_of.data, spheres);
        if (!device_check(m,
                          sort_pairs(m->index_scratch.bytes.data, m->index_scratch.bytes.capacity, m->cell_of.data,
                                     m->cell_sorted.data, m->iota.data, m->spatial_order.data, spheres,
                                     bits_for(grid_most_places(spheres) + 1), ranking),
                          "ranking the bodies"))
            return false;
    }
    LAUNCH_ON(ranking, assign_solver_indices, spheres, d, places ? m->spatial_order.data : NULL, m->search.convex_body);
    if (!device_join(m, 1) || !device_join(m, 2)) return false;
    device_check(m, scan_sum(m->scratch.bytes.data, m->scratch.bytes.capacity, count, first, items, m->stream),
                 "counting contacts");
    store_total<<<1, 1, 0, m->stream>>>(first, items, m->contact_capacity, d, m->counts);
    if (!device_fork(m, 1)) return false;
    LAUNCH(list_pairs, LISTERS * (spheres + 1), d, m->neighbor.data, first, pairs, m->counts, spheres);
    list_more_pairs<<<together, QUERY_BLOCK_THREADS, 0, m->stream>>>(w, d, m->search, cull_arrays(m), first, m->crowded.data,
                                                                     pairs, m->counts);
    if (!device_join(m, 0)) return false; // from here on ranks are wanted
    find_walls<<<launch_blocks(spheres + 1, 128), 128, 0, m->side_stream[0]>>>(w, d, m->search, first, m->found.data,
                                                                               m->keys.data, m->counts);
    LAUNCH(find_pairs, m->contact_capacity, w, d, m->search, pairs, m->found.data, m->keys.data, m->counts);

    // By the rank of their owner: where the grid wraps around, a ball may find one that belongs to an earlier one. They
    // stay where they are; what is put in order is their numbers.
    CsrKeys owners = {m->keys.data, &m->counts->contacts, m->contact_capacity, w.body_count};
    return device_join(m, 0) && csr_count(m, owners, m->sphere_first, m->stream) &&
           csr_build(m, owners, m->sphere_first, m->first.data, m->found_order.data, m->stream) &&
           device_check(m, cudaGetLastError(), "collision detection");
}
