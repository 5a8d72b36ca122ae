// SPDX-License-Identifier: MIT
// The separating axis theorem by a warp: sim/geometry/convex_sat.inl with a lane for each face, edge or pair of edges. Few
// pairs of a pile overlap, and one thread would take longer for such a pair than all the others for theirs. Whatever one
// thread decides in the order of faces or edges is decided in that order here too, by all lanes alike, so that CPU and GPU
// agree to the bit. Included after sim/geometry/convex_distance.inl; all lanes of a warp call these together.
#pragma once

enum { WARP = 32 };

static __device__ int warp_lane() { return (int)threadIdx.x % WARP; }
static __device__ double from_lane(double v, int lane) { return __shfl_sync(ALL_LANES, v, lane); }

// Returns the first number of all lanes whose value is the largest, to all of them.
static __device__ int warp_first_most(double most, int number) {
    for (int s = WARP / 2; s; s /= 2) {
        double other = __shfl_xor_sync(ALL_LANES, most, s);
        int its = __shfl_xor_sync(ALL_LANES, number, s);
        if (!(other > most || (other == most && its < number))) continue;
        most = other;
        number = its;
    }
    return number;
}

// convex_support of a polytope.
static __device__ SandVec3 warp_support(const Convex *c, SandVec3 d, int *corner) {
    SandVec3 local = m3_apply_transposed(c->rotation, d);
    double most = -INFINITY;
    int best = 0;
    for (int k = warp_lane(); k < c->corner_count; k += WARP) {
        double along = v3_dot(local, c->corners[k]);
        if (!(along > most)) continue;
        most = along;
        best = k;
    }
    *corner = warp_first_most(most, best);
    return convex_corner(c, *corner);
}

// convex_separation
static __device__ double warp_separation(const Convex *a, const Convex *b, SandVec3 n) {
    int corner;
    SandVec3 from = warp_support(a, n, &corner), to = warp_support(b, v3_neg(n), &corner);
    return v3_dot(n, v3_sub(to, from));
}

// face_along
static __device__ int warp_face_along(const Convex *c, SandVec3 local) {
    double most = -INFINITY;
    int best = 0;
    for (int f = warp_lane(); f < c->face_count; f += WARP) {
        double along = v3_dot(local, c->faces[f].normal);
        if (!(along > most)) continue;
        most = along;
        best = f;
    }
    return warp_first_most(most, best);
}

// try_face
static __device__ void warp_try_face(FaceSearch *search, int f) {
    if (face_bound(search, f) <= search->best) return;
    int corner;
    take_face(search, f, warp_support(search->b, v3_neg(convex_face_normal(search->a, f)), &corner));
}

// best_face: a lane asks what its face separates by at most, and all lanes together try those that are worth it.
static __device__ double warp_best_face(const Convex *a, const Convex *b, SandVec3 way, double floor, int *face) {
    int corner, along = warp_face_along(a, m3_apply_transposed(a->rotation, way));
    FaceSearch search = face_search(a, b, warp_support(b, v3_neg(way), &corner), floor);
    if (a->face_count) warp_try_face(&search, along);
    for (int base = 0; base < a->face_count; base += WARP) {
        int f = base + warp_lane();
        bool worth = f < a->face_count && !(face_bound(&search, f) <= search.best);
        for (unsigned left = __ballot_sync(ALL_LANES, worth); left; left &= left - 1)
            warp_try_face(&search, base + __ffs((int)left) - 1);
    }
    *face = search.face;
    return search.best;
}

// Edges of a body, in their order.
struct EdgeList {
    int count;
    uint8_t edge[SAND_MAX_EDGES];
};

// Appends the edges of the lanes that have one to keep. What the list had before must not be needed any more.
static __device__ void warp_append(EdgeList *list, int *count, int edge, bool keep) {
    unsigned votes = __ballot_sync(ALL_LANES, keep);
    if (keep) list->edge[*count + __popc(votes & ((1u << warp_lane()) - 1))] = (uint8_t)edge;
    *count += __popc(votes);
    __syncwarp();
}

// Lists the edges of which a corner is beyond: few, so that what follows takes one turn of the warp for all of them.
static __device__ int warp_edges_beyond(const EdgeSearch *search, EdgeList *list) {
    const Convex *a = search->a;
    int lane = warp_lane(), count = 0;
    uint64_t beyond = 0;
    for (int base = 0; base < a->corner_count; base += WARP) {
        bool is = base + lane < a->corner_count && corner_is_beyond(search, base + lane);
        beyond |= (uint64_t)__ballot_sync(ALL_LANES, is) << base;
    }
    for (int base = 0; base < a->edge_count; base += WARP) {
        int e = base + lane;
        warp_append(list, &count, e,
                    e < a->edge_count && ((beyond >> a->edges[e].from | beyond >> a->edges[e].to) & 1) != 0);
    }
    return count;
}

// near_edges, as a list.
static __device__ void warp_near_edges(const Convex *a, const Convex *b, SandVec3 n, double depth, EdgeList *list) {
    int corner, count = 0;
    EdgeSearch search = edge_search(a, b, n, warp_support(b, v3_neg(n), &corner), depth);
    int beyond = warp_edges_beyond(&search, list);
    for (int base = 0; base < beyond; base += WARP) {
        bool has = base + warp_lane() < beyond;
        int e = has ? list->edge[base + warp_lane()] : 0;
        __syncwarp(); // the list is overwritten from its beginning
        warp_append(list, &count, e, has && edge_is_near(&search, e));
    }
    if (warp_lane() == 0) list->count = count;
    __syncwarp();
}

// Finds the axis across edge i of a and edge k of b; false where they have none.
static __device__ bool edge_pair_axis(const Convex *a, const Convex *b, SandVec3 center, int i, int k, ConvexAxis *found) {
    GaussEdge p = gauss_edge_in(a, i, b), q = gauss_edge(b, k);
    *found = {0, {0, 0, 0}, -1, -1, i, k};
    return arcs_cross(&p, &q) && edge_axis(center, &p, &q, found);
}

static __device__ ConvexAxis axis_from_lane(const ConvexAxis &axis, int lane) {
    ConvexAxis other = axis_none();
    other.distance = from_lane(axis.distance, lane);
    other.normal = v3_make(from_lane(axis.normal.x, lane), from_lane(axis.normal.y, lane), from_lane(axis.normal.z, lane));
    other.edge_a = __shfl_sync(ALL_LANES, axis.edge_a, lane);
    other.edge_b = __shfl_sync(ALL_LANES, axis.edge_b, lane);
    return other;
}

// improve_by_edges: a lane looks at a pair, and all lanes together measure those that are worth it. The lists are in shared
// memory.
static __device__ void warp_improve_by_edges(const Convex *a, const Convex *b, EdgeList *of_a, EdgeList *of_b,
                                             ConvexAxis *axis) {
    double depth = edge_depth(a, b, axis);
    warp_near_edges(a, b, axis->normal, depth, of_a);
    warp_near_edges(b, a, v3_neg(axis->normal), depth, of_b);
    SandVec3 center = m3_apply_transposed(b->rotation, v3_sub(a->center, b->center));
    int pairs = of_a->count * of_b->count;
    for (int base = 0; base < pairs; base += WARP) {
        int pair = base + warp_lane();
        ConvexAxis mine = axis_none();
        bool worth = pair < pairs &&
                     edge_pair_axis(a, b, center, of_a->edge[pair / of_b->count], of_b->edge[pair % of_b->count], &mine);
        for (unsigned left = __ballot_sync(ALL_LANES, worth); left; left &= left - 1) {
            ConvexAxis found = axis_from_lane(mine, __ffs((int)left) - 1);
            if (found.distance <= axis->distance) continue;
            found.normal = m3_apply(b->rotation, found.normal);
            found.distance = warp_separation(a, b, found.normal);
            if (found.distance > axis->distance) *axis = found;
        }
    }
}

// convex_sat
static __device__ void warp_sat(const Convex *a, const Convex *b, bool touching, EdgeList lists[2], ConvexGap *gap) {
    SandVec3 way = sat_way(a, b, gap);
    int of_a, of_b;
    double on_a = warp_best_face(a, b, way, -INFINITY, &of_a), on_b = warp_best_face(b, a, v3_neg(way), on_a, &of_b);
    ConvexAxis axis = face_axis(a, b, of_a, on_a, of_b, on_b);
    warp_improve_by_edges(a, b, &lists[0], &lists[1], &axis);
    if (!axis_found(&axis)) {
        axis.normal = convex_any_normal(a, b);
        axis.distance = warp_separation(a, b, axis.normal);
    }
    axis_improve(&axis, gap, warp_separation(a, b, gap->normal));
    gap->distance = axis.distance;
    gap->normal = axis.normal;
    if (touching) return;
    if (axis.edge_a < 0) {
        gap->on_a = warp_support(a, axis.normal, &gap->corner_a[0]);
        gap->on_b = warp_support(b, v3_neg(axis.normal), &gap->corner_b[0]);
    }
    axis_witness(a, b, &axis, gap);
}
