// SPDX-License-Identifier: MIT
// The contacts of convex bodies on the device, as sim/collision/collide.c finds them on the CPU, in the same order and with
// the same bits. What two convex bodies, or a body and a triangle of a mesh, have to do with each other is found pair by
// pair. Each kernel leaves to the next only the pairs that need it, in lists of any order, so that the threads of a warp do
// the same: of the pairs in a pile that are near each other a third are close, and of these one in ten overlaps, which takes
// longest. The kernels in order:
//
//   count_near, count_triangles, list_near    pairs that are near each other
//   reject_far                     lists the close ones, which the line between the centers does not show to be apart
//   find_distances                 of these, by GJK; lists those that touch and those that overlap
//   find_depths                    of the latter, by the separating axis theorem; lists those that touch
//   find_points                    where they touch
//   count_convex, write_convex     contacts of each body: with others, then with boundaries
#include "cuda/collision/narrow_phase.h"
#include "cuda/collision/convex_depth.h"

enum { CONVEX_THREADS = 64 };

// --- pairs ------------------------------------------------------------------------------------------------

// Calls visit(pair) with the triangles of meshes that a sorted proxy may touch.
template <class Visit> static __device__ void each_triangle(const SandFinder *finder, int i, Visit visit) {
    const SandWorld *w = finder->world;
    const SandSphereProxy *proxy = &finder->collision->convex_phase.sorted[i];
    for (int b = 0; b < w->boundary_count; b++) {
        if (w->boundaries[b].kind != SAND_MESH) continue;
        double reach = convex_boundary_reach(finder, proxy, b);
        if (reach < 0) continue;
        Convex c = convex_at_origin(w, proxy);
        MeshView view = mesh_view(finder, &c, proxy->body, b, reach);
        MeshCells cells;
        if (!mesh_view_cells(&view, &cells)) continue;
        for (int f = mesh_view_next(&view, &cells); f >= 0; f = mesh_view_next(&view, &cells)) visit(NearPair{i, -1, b, f});
    }
}

// Calls visit(pair) with all that a sorted proxy may touch, in the order of its contacts: other proxies, then triangles.
template <class Visit> static __device__ void each_near(const SandFinder *finder, int i, Visit visit) {
    ConvexNeighbors near = convex_neighbors(finder, grid_level_of(&finder->collision->convex_phase, i), i);
    for (int j = neighbors_next(&near); j >= 0; j = neighbors_next(&near)) visit(NearPair{i, j, -1, -1});
    each_triangle(finder, i, visit);
}

// Counts the proxies that each may touch, a group of threads each. The first are kept, so that few are searched for a second
// time.
enum { NEAR_SLOTS = 32 };
static __global__ void __launch_bounds__(QUERY_BLOCK_THREADS, QUERY_BLOCKS)
    count_near(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
               const float4 *bounds, NearPair *slots, int *count, int64_t convex) {
    SandFinder finder = finder_of(&w, collision, search);
    const SandBroadPhase *g = &collision->convex_phase;
    EACH(t, QUERY_THREADS * (convex + 1)) {
        QueryGroup group = query_group(t, 0);
        int i = (int)group.sphere, found = 0;
        NearPair *mine = slots + NEAR_SLOTS * group.sphere;
        if (i < g->sphere_count) {
            int level = grid_level_of(g, i);
            query_by_group(
                group, g, level, bounds, bounds[i], [&](int k) { return grid_looks_in(level, k); },
                [&](int j) {
                    bool near = j >= 0 && convex_pair_reach(&finder, &g->sorted[i], &g->sorted[j]) >= 0;
                    unsigned votes = group_vote(group, near);
                    int at = found + __popc(votes & ((1u << group.lane) - 1));
                    if (near && at < NEAR_SLOTS) mine[at] = {i, j, -1, -1};
                    found += __popc(votes);
                });
        }
        if (group.lane == 0) count[i] = found;
    }
}

// Adds the triangles of meshes.
static __global__ void __launch_bounds__(CONVEX_THREADS)
    count_triangles(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
                    NearPair *slots, int *count) {
    SandFinder finder = finder_of(&w, collision, search);
    EACH(i, collision->convex_phase.sphere_count) {
        int found = count[i];
        NearPair *mine = slots + NEAR_SLOTS * i;
        each_triangle(&finder, (int)i, [&](NearPair pair) {
            if (found < NEAR_SLOTS) mine[found] = pair;
            found++;
        });
        count[i] = found;
    }
}

// Stores the number of pairs, and asks for a retry where they do not fit. One thread.
static __global__ void store_near(const int *total, int64_t capacity, Counts *counts) {
    counts->convex_pairs = *total;
    counts->convex_close = counts->convex_touching = counts->convex_overlapping = 0;
    if (*total < 0 || *total > capacity) counts->retry |= RETRY_CONTACTS;
}

static __global__ void __launch_bounds__(CONVEX_THREADS)
    list_near(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
              const NearPair *slots, const int *first, NearPair *pairs, const Counts *counts) {
    if (counts->retry & RETRY_CONTACTS) return;
    SandFinder finder = finder_of(&w, collision, search);
    EACH(i, collision->convex_phase.sphere_count) {
        int at = first[i], found = first[i + 1] - at;
        if (found > NEAR_SLOTS)
            each_near(&finder, (int)i, [&](NearPair pair) { pairs[at++] = pair; });
        else
            for (int k = 0; k < found; k++) pairs[at + k] = slots[NEAR_SLOTS * i + k];
    }
}

// The pairs of a step and what is known of them. Work lists are filled in any order: what is found is stored by pair.
struct PairWork {
    const NearPair *pairs;
    ConvexGap *gaps;
    Manifold *manifolds;
    int *close, *touching, *overlapping; // numbers of pairs; ~k where the cores of an overlapping pair only touch
};

// A pair, placed: two bodies, or a body and a triangle in the frame of its mesh.
struct PlacedPair {
    Convex a, b;
    double reach; // m, how far apart they may be for a contact
    SandVec3 at;  // m, of a body before a triangle: its center in the frame of the mesh
    TriangleBody triangle;
};

static __device__ void place_triangle(const SandFinder *finder, NearPair pair, PlacedPair *to) {
    const SandSphereProxy *proxy = &finder->collision->convex_phase.sorted[pair.proxy];
    Convex c = convex_at_origin(finder->world, proxy);
    to->reach = convex_boundary_reach(finder, proxy, pair.boundary);
    MeshView view = mesh_view(finder, &c, proxy->body, pair.boundary, to->reach);
    to->at = view.at;
    to->a = view.body;
    to->b = triangle_body(view.mesh, pair.face, view.at, &to->triangle);
}

static __device__ void place_pair(const SandFinder *finder, NearPair pair, PlacedPair *to) {
    if (pair.other < 0) return place_triangle(finder, pair, to);
    const SandSphereProxy *sorted = finder->collision->convex_phase.sorted;
    const SandSphereProxy *p = &sorted[pair.proxy], *q = &sorted[pair.other];
    ConvexPair bodies = convex_pair(finder->world, p, q);
    to->a = bodies.a;
    to->b = bodies.b;
    to->reach = convex_pair_reach(finder, p, q);
}

static __global__ void __launch_bounds__(CONVEX_THREADS)
    reject_far(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, PairWork work,
               Counts *counts) {
    if (counts->retry & RETRY_CONTACTS) return;
    SandFinder finder = finder_of(&w, collision, search);
    EACH(k, counts->convex_pairs) {
        PlacedPair at;
        place_pair(&finder, work.pairs[k], &at);
        work.manifolds[k].count = 0;
        if (convex_far_apart(&at.a, &at.b, convex_far(&at.a, &at.b, at.reach))) continue;
        work.close[atomicAdd(&counts->convex_close, 1)] = (int)k;
    }
}

// Keeps the gap of pair k where its bodies touch.
static __device__ void store_gap(PairWork work, int k, const PlacedPair *at, const ConvexGap *gap, Counts *counts) {
    if (!convex_touch(&at->a, &at->b, at->reach, gap)) return;
    work.gaps[k] = *gap;
    work.touching[atomicAdd(&counts->convex_touching, 1)] = k;
}

static __global__ void __launch_bounds__(CONVEX_THREADS, 12)
    find_distances(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, PairWork work,
                   Counts *counts) {
    if (counts->retry & RETRY_CONTACTS) return;
    SandFinder finder = finder_of(&w, collision, search);
    EACH(n, counts->convex_close) {
        int k = work.close[n];
        PlacedPair at;
        ConvexGap gap;
        bool touching;
        place_pair(&finder, work.pairs[k], &at);
        double far = convex_far(&at.a, &at.b, at.reach);
        if (convex_gjk(&at.a, &at.b, convex_way(&at.a, &at.b), far, &gap, &touching)) {
            store_gap(work, k, &at, &gap, counts);
        } else {
            work.gaps[k] = gap;
            work.overlapping[atomicAdd(&counts->convex_overlapping, 1)] = touching ? ~k : k;
        }
    }
}

// A warp for each pair.
static __global__ void __launch_bounds__(CONVEX_THREADS)
    find_depths(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, PairWork work,
                Counts *counts) {
    __shared__ PlacedPair placed[CONVEX_THREADS / WARP];
    __shared__ EdgeList lists[CONVEX_THREADS / WARP][2];
    if (counts->retry & RETRY_CONTACTS) return;
    SandFinder finder = finder_of(&w, collision, search);
    int lane = warp_lane(), warp = (int)threadIdx.x / WARP;
    PlacedPair *at = &placed[warp];
    EACH(t, (int64_t)WARP * counts->convex_overlapping) {
        int number = work.overlapping[t / WARP], k = number < 0 ? ~number : number;
        ConvexGap gap = work.gaps[k];
        if (lane == 0) place_pair(&finder, work.pairs[k], at);
        __syncwarp();
        if (!convex_has_cylinder(&at->a, &at->b))
            warp_sat(&at->a, &at->b, number < 0, lists[warp], &gap);
        else if (lane == 0)
            convex_depth_of_cylinder(&at->a, &at->b, &gap);
        if (lane == 0) store_gap(work, k, at, &gap, counts);
        __syncwarp();
    }
}

static __global__ void __launch_bounds__(CONVEX_THREADS, 8)
    find_points(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, PairWork work,
                const Counts *counts) {
    if (counts->retry & RETRY_CONTACTS) return;
    SandFinder finder = finder_of(&w, collision, search);
    EACH(n, counts->convex_touching) {
        int k = work.touching[n];
        NearPair pair = work.pairs[k];
        PlacedPair at;
        Manifold m;
        place_pair(&finder, pair, &at);
        if (pair.other < 0)
            triangle_points(w.boundaries[pair.boundary].mesh, pair.face, &at.a, &at.b, at.at, at.reach, &work.gaps[k], &m);
        else
            convex_touching_points(&at.a, &at.b, at.reach, &work.gaps[k], &m);
        work.manifolds[k] = m;
    }
}

// --- contacts ---------------------------------------------------------------------------------------------

// Emits the contacts of sorted proxy i with the boundaries. Those with meshes are in its pairs k to end - 1, in their order.
static __device__ void add_boundaries(const SandFinder *finder, SandSink *sink, int i, PairWork work, int k, int end) {
    const SandWorld *w = finder->world;
    const SandSphereProxy *proxy = &finder->collision->convex_phase.sorted[i];
    Convex c = convex_at_origin(w, proxy);
    for (int b = 0; b < w->boundary_count; b++) {
        SandMat3 frame = q_matrix(finder->collision->pose[b].rotation);
        for (; k < end && work.pairs[k].boundary == b; k++)
            add_manifold(finder, sink, proxy->body, c.piece, b, &work.manifolds[k], frame,
                         convex_position(finder, &c, proxy->body), (uint32_t)work.pairs[k].face, true);
        double reach = convex_boundary_reach(finder, proxy, b);
        if (reach >= 0 && w->boundaries[b].kind != SAND_MESH) touch_surface(finder, sink, proxy, &c, b, reach);
    }
}

static __global__ void __launch_bounds__(CONVEX_THREADS)
    count_convex(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
                 const int *near_first, PairWork work, int *count, Counts *counts, int64_t capacity) {
    SandFinder finder = finder_of(&w, collision, search);
    bool fit = !(counts->retry & RETRY_CONTACTS);
    EACH(i, capacity) {
        SandSink sink = {NULL, 0, counts->mesh_overflow};
        if (i < collision->convex_phase.sphere_count && fit) {
            add_boundaries(&finder, &sink, (int)i, work, 0, 0);
            for (int k = near_first[i]; k < near_first[i + 1]; k++) sink.count += work.manifolds[k].count;
        }
        count[i] = sink.count;
    }
}

static __global__ void __launch_bounds__(CONVEX_THREADS)
    write_convex(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
                 const int *near_first, PairWork work, const int *first, SandContactCandidate *candidates, uint32_t *owner,
                 Counts *counts) {
    if (counts->retry) return;
    SandFinder finder = finder_of(&w, collision, search);
    const SandBroadPhase *g = &collision->convex_phase;
    Deepest deepest;
    EACH(i, g->sphere_count) {
        int begin = first[i], end = first[i + 1], pair = near_first[i], pair_end = near_first[i + 1];
        if (begin == end) continue;
        SandSink sink = {candidates + begin, 0, counts->mesh_overflow};
        for (; pair < pair_end && work.pairs[pair].other >= 0; pair++)
            add_convex_pair(&finder, &sink, &g->sorted[i], &g->sorted[work.pairs[pair].other], &work.manifolds[pair]);
        if (sink.count < end - begin) add_boundaries(&finder, &sink, (int)i, work, pair, pair_end);
        note_written(candidates, begin, end, owner, deepest);
    }
    raise_deepest(counts, deepest);
}

// --- the stages -------------------------------------------------------------------------------------------

bool convex_pairs_reserve(SandDevice *device) {
    if (!device->convex_total) return true;
    size_t convex = (size_t)device->convex_total + 2, pairs = (size_t)device->near_capacity;
    return reserve(device, device->near_slots, NEAR_SLOTS * convex) && reserve(device, device->near_count, convex) &&
           reserve(device, device->near_first, convex) && reserve(device, device->near_pairs, pairs) &&
           reserve(device, device->near_gaps, pairs) && reserve(device, device->near_manifolds, pairs) &&
           reserve(device, device->near_close, pairs) && reserve(device, device->near_touching, pairs) &&
           reserve(device, device->near_overlapping, pairs) &&
           reserve_scratch(device, device->near_scratch, (int64_t)convex);
}

static PairWork pair_work(SandDevice *device) {
    return {device->near_pairs.data, device->near_gaps.data,     device->near_manifolds.data,
            device->near_close.data, device->near_touching.data, device->near_overlapping.data};
}

static bool has_meshes(const SandDevice *device) {
    for (const SandBoundary &boundary : device->host_boundaries)
        if (boundary.kind == SAND_MESH) return true;
    return false;
}

// Lists the pairs that are near each other.
static bool list_enqueue(SandDevice *device, cudaStream_t stream) {
    int64_t convex = device->convex_total;
    const SandWorld &w = device->world;
    const SandCollision *collision = device->device_collision.data;
    int *first = device->near_first.data, blocks = launch_blocks(convex + 1, CONVEX_THREADS);
    count_near<<<device_blocks(device, QUERY_THREADS * (convex + 1), QUERY_BLOCK_THREADS, 32), QUERY_BLOCK_THREADS, 0,
                 stream>>>(w, collision, device->search, device->convex_bounds.data, device->near_slots.data,
                           device->near_count.data, convex);
    if (has_meshes(device))
        count_triangles<<<blocks, CONVEX_THREADS, 0, stream>>>(w, collision, device->search, device->near_slots.data,
                                                               device->near_count.data);
    if (!device_check(device,
                      scan_sum(device->near_scratch.bytes.data, device->near_scratch.bytes.capacity, device->near_count.data,
                               first, convex + 1, stream),
                      "counting pairs of convex bodies"))
        return false;
    store_near<<<1, 1, 0, stream>>>(first + convex, device->near_capacity, device->counts);
    list_near<<<blocks, CONVEX_THREADS, 0, stream>>>(w, collision, device->search, device->near_slots.data, first,
                                                     device->near_pairs.data, device->counts);
    return true;
}

// Finds how the bodies of each pair meet.
static void pairs_enqueue(SandDevice *device, cudaStream_t stream) {
    const SandWorld &w = device->world;
    const SandCollision *collision = device->device_collision.data;
    int blocks = device_blocks(device, device->near_capacity, CONVEX_THREADS, 32);
    PairWork work = pair_work(device);
    reject_far<<<blocks, CONVEX_THREADS, 0, stream>>>(w, collision, device->search, work, device->counts);
    find_distances<<<blocks, CONVEX_THREADS, 0, stream>>>(w, collision, device->search, work, device->counts);
    find_depths<<<blocks, CONVEX_THREADS, 0, stream>>>(w, collision, device->search, work, device->counts);
    find_points<<<blocks, CONVEX_THREADS, 0, stream>>>(w, collision, device->search, work, device->counts);
}

bool convex_count_enqueue(SandDevice *device, int *count, cudaStream_t stream) {
    if (!device->convex_total) return true;
    if (!list_enqueue(device, stream)) return false;
    pairs_enqueue(device, stream);
    count_convex<<<launch_blocks(device->convex_total, CONVEX_THREADS), CONVEX_THREADS, 0, stream>>>(
        device->world, device->device_collision.data, device->search, device->near_first.data, pair_work(device), count,
        device->counts, device->convex_total);
    return true;
}

void convex_write_enqueue(SandDevice *device, const int *first, cudaStream_t stream) {
    if (!device->convex_total) return;
    write_convex<<<launch_blocks(device->convex_total, CONVEX_THREADS), CONVEX_THREADS, 0, stream>>>(
        device->world, device->device_collision.data, device->search, device->near_first.data, pair_work(device), first,
        device->candidates.data, device->keys.data, device->counts);
}
