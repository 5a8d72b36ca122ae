// The separating axis theorem by a warp: sim/geometry/convex_sat.inl with a lane for each face, edge or pair of edges. Few
// pairs of a pile overlap, and one thread would take longer for such a pair than all the others for theirs. Whatever one
// thread decides in the order of faces or edges is decided in that order here too, by all lanes alike, so that CPU and GPU
// agree to the bit. Included after sim/geometry/convex_distance.inl; all lanes of a warp call these together.
#pragma once

enum { WARP = 32 };

static __device__ int warp_lane() { return (int)threadIdx.x % WARP; }
static __device__ double from_lane(double v, int lane) { return __shfl_sync(ALL_LANES, v, lane); }

// face_along: the first of the faces that face most along a direction.
static __device__ int warp_face_along(const Convex *c, SandVec3 local) {
    double most = -INFINITY;
    int best = 0;
    for (int f = warp_lane(); f < c->face_count; f += WARP) {
        double along = v3_dot(local, c->faces[f].normal);
        if (!(along > most)) continue;
        most = along;
        best = f;
    }
    for (int s = WARP / 2; s; s /= 2) {
        double other = __shfl_xor_sync(ALL_LANES, most, s);
        int face = __shfl_xor_sync(ALL_LANES, best, s);
        if (!(other > most || (other == most && face < best))) continue;
        most = other;
        best = face;
    }
    return best;
}

// try_face with a face for each lane that has one, in the order of the lanes.
static __device__ void warp_try_faces(FaceSearch *search, int f, bool has) {
    double bound = has ? face_bound(search, f) : -INFINITY, separation = -INFINITY;
    bool worth = has && !(bound <= search->best);
    if (worth) separation = face_separation(search->a, search->b, f);
    for (unsigned left = __ballot_sync(ALL_LANES, worth); left; left &= left - 1) {
        int lane = __ffs((int)left) - 1, face = __shfl_sync(ALL_LANES, f, lane);
        double most = from_lane(bound, lane), found = from_lane(separation, lane);
        if (most <= search->best || found <= search->best) continue;
        search->best = found;
        search->face = face;
    }
}

static __device__ double warp_best_face(const Convex *a, const Convex *b, SandVec3 way, double floor, int *face) {
    FaceSearch search = face_search(a, b, way, floor);
    int lane = warp_lane(), along = warp_face_along(a, m3_apply_transposed(a->rotation, way));
    if (a->face_count) warp_try_faces(&search, along, lane == 0);
    for (int base = 0; base < a->face_count; base += WARP) warp_try_faces(&search, base + lane, base + lane < a->face_count);
    *face = search.face;
    return search.best;
}

// Edges of a body, in their order.
struct EdgeList {
    int count;
    uint8_t edge[SAND_MAX_EDGES];
};

// near_edges, as a list.
static __device__ void warp_near_edges(const Convex *a, const Convex *b, SandVec3 n, double depth, EdgeList *list) {
    EdgeSearch search = edge_search(a, b, n, depth);
    int lane = warp_lane(), count = 0;
    uint64_t beyond = 0;
    for (int base = 0; base < a->corner_count; base += WARP) {
        bool is = base + lane < a->corner_count && corner_is_beyond(&search, base + lane);
        beyond |= (uint64_t)__ballot_sync(ALL_LANES, is) << base;
    }
    for (int base = 0; base < a->edge_count; base += WARP) {
        int e = base + lane;
        bool near = e < a->edge_count && ((beyond >> a->edges[e].from | beyond >> a->edges[e].to) & 1) != 0;
        near = near && edge_is_near(&search, e);
        unsigned votes = __ballot_sync(ALL_LANES, near);
        if (near) list->edge[count + __popc(votes & ((1u << lane) - 1))] = (uint8_t)e;
        count += __popc(votes);
    }
    if (lane == 0) list->count = count;
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

// improve_by_edges. The lists are in shared memory.
static __device__ void warp_improve_by_edges(const Convex *a, const Convex *b, EdgeList *of_a, EdgeList *of_b,
                                             ConvexAxis *axis) {
    double depth = edge_depth(a, b, axis);
    warp_near_edges(a, b, axis->normal, depth, of_a);
    warp_near_edges(b, a, v3_neg(axis->normal), depth, of_b);
    SandVec3 center = m3_apply_transposed(b->rotation, v3_sub(a->center, b->center));
    int pairs = of_a->count * of_b->count;
    for (int base = 0; base < pairs; base += WARP) {
        int pair = base + warp_lane();
        ConvexAxis found = axis_none();
        bool worth = pair < pairs &&
                     edge_pair_axis(a, b, center, of_a->edge[pair / of_b->count], of_b->edge[pair % of_b->count], &found);
        double across = found.distance; // of the edges themselves
        worth = worth && !(across <= axis->distance);
        if (worth) axis_measure(a, b, &found);
        for (unsigned left = __ballot_sync(ALL_LANES, worth); left; left &= left - 1) {
            int lane = __ffs((int)left) - 1;
            double least = from_lane(across, lane);
            ConvexAxis other = axis_from_lane(found, lane);
            if (!(least <= axis->distance) && other.distance > axis->distance) *axis = other;
        }
    }
}

// convex_sat.
static __device__ void warp_sat(const Convex *a, const Convex *b, bool touching, EdgeList lists[2], ConvexGap *gap) {
    SandVec3 way = sat_way(a, b, gap);
    int of_a, of_b;
    double on_a = warp_best_face(a, b, way, -INFINITY, &of_a), on_b = warp_best_face(b, a, v3_neg(way), on_a, &of_b);
    ConvexAxis axis = face_axis(a, b, of_a, on_a, of_b, on_b);
    warp_improve_by_edges(a, b, &lists[0], &lists[1], &axis);
    sat_finish(a, b, touching, axis, gap);
}
