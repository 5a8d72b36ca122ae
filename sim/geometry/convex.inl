// SPDX-License-Identifier: MIT
// A convex body placed in space, as the distance and manifold code sees it; one source for CPU and GPU. It is a core,
// rounded by a radius: a polytope (box, hull, triangle), a segment (capsule), a point (sphere), or a cylinder, whose rims
// are sharp circles. All of it is in one frame with world axes, whose origin is near both bodies of a pair, so that no
// digits are lost. There are only sums, products, quotients and square roots, which IEEE 754 rounds correctly: CPU and GPU
// give the same bits.
#pragma once
#include "sandglass/geometry.h"
#include "sim/geometry/manifold.h"

typedef struct Convex {
    const SandVec3 *corners; // local frame, at scale 1
    const SandEdge *edges;
    const SandFace *faces;
    const uint8_t *loop, *sides;
    int corner_count, edge_count, face_count; // 0 corners: a cylinder
    int piece;                                // of a compound: which it is, else 0
    double scale;
    double radius;     // m, rounding of the core
    double rim, half;  // m, cylinder: radius and half height
    double bound;      // m, of the core, about the center
    SandMat3 rotation; // local to common frame
    SandVec3 center;   // m, common frame
} Convex;

// Returns a body of this shape, which is convex, at this scale, in the common frame.
SAND_HOST_DEVICE Convex convex_make(const SandShape *shape, double scale, SandQuat rotation, SandVec3 center) {
    Convex c = {.scale = scale, .radius = scale * shape->rounding, .rotation = q_matrix(rotation), .center = center};
    c.bound = scale * shape->bound - c.radius;
    const SandPolytope *core = shape->core;
    if (!core) { // a cylinder
        c.rim = scale * shape->half.x;
        c.half = scale * shape->half.z;
        return c;
    }
    c.corners = core->corners;
    c.edges = core->edges;
    c.faces = core->faces;
    c.loop = core->loop;
    c.sides = core->sides;
    c.corner_count = core->corner_count;
    c.edge_count = core->edge_count;
    c.face_count = core->face_count;
    return c;
}

// How many proxies a body of this shape has: one for each sphere, or one for each convex piece.
SAND_HOST_DEVICE int shape_proxies(const SandShape *shape) {
    return shape->sphere_count ? shape->sphere_count : shape->piece_count ? shape->piece_count : 1;
}

// A convex body, or a piece of a compound, and where it is in its body.
typedef struct PlacedPiece {
    const SandShape *shape;
    double scale;
    SandQuat rotation; // local to world
    SandVec3 arm;      // m, from the center of the body to its own, world frame
} PlacedPiece;

// Returns piece `k` of a body of this shape, scale and rotation; the body itself where it is no compound.
SAND_HOST_DEVICE PlacedPiece shape_piece(const SandShape *shape, double scale, SandQuat rotation, int k) {
    PlacedPiece whole = {shape, scale, rotation, {0, 0, 0}};
    if (!shape->piece_count) return whole;
    const SandPiece *piece = &shape->pieces[k];
    PlacedPiece placed = {&piece->shape, scale * piece->scale, q_mul(rotation, piece->pose.rotation),
                          q_rotate(rotation, v3_scale(scale, piece->pose.position))};
    return placed;
}

// Returns it in the common frame, where the center of its body is `center`.
SAND_HOST_DEVICE Convex convex_piece(const SandShape *shape, double scale, SandQuat rotation, SandVec3 center, int k) {
    PlacedPiece p = shape_piece(shape, scale, rotation, k);
    Convex c = convex_make(p.shape, p.scale, p.rotation, shape->piece_count ? v3_add(center, p.arm) : center);
    c.piece = k;
    return c;
}

// Returns a polytope of its own, which is not scaled or turned.
SAND_HOST_DEVICE Convex convex_polytope(const SandPolytope *core, SandMat3 rotation, SandVec3 center, double bound) {
    Convex c = {
        .corners = core->corners, .edges = core->edges, .faces = core->faces, .loop = core->loop, .sides = core->sides};
    c.corner_count = core->corner_count;
    c.edge_count = core->edge_count;
    c.face_count = core->face_count;
    c.scale = 1;
    c.bound = bound;
    c.rotation = rotation;
    c.center = center;
    return c;
}

SAND_HOST_DEVICE SandMat3 m3_identity(void) { return (SandMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }

// Returns a sphere: `origin` is a zero vector that outlives it.
SAND_HOST_DEVICE Convex convex_sphere(const SandVec3 *origin, SandVec3 center, double radius) {
    Convex c = {.corners = origin, .corner_count = 1, .scale = 1, .radius = radius, .center = center};
    c.rotation = m3_identity();
    return c;
}

SAND_HOST_DEVICE SandVec3 convex_place(const Convex *c, SandVec3 local) {
    return v3_add(c->center, m3_apply(c->rotation, v3_scale(c->scale, local)));
}
SAND_HOST_DEVICE SandVec3 convex_corner(const Convex *c, int k) { return convex_place(c, c->corners[k]); }
SAND_HOST_DEVICE SandVec3 convex_face_normal(const Convex *c, int f) { return m3_apply(c->rotation, c->faces[f].normal); }
SAND_HOST_DEVICE SandVec3 convex_axis(const Convex *c) {
    return v3_make(c->rotation.m[0][2], c->rotation.m[1][2], c->rotation.m[2][2]);
}

// The direction from the axis of a cylinder, in its own frame, in which a local direction points; x where it has none.
SAND_HOST_DEVICE SandVec3 cylinder_radial(SandVec3 d) {
    double across = sqrt(d.x * d.x + d.y * d.y);
    return across > 1e-14 * fabs(d.z) && across > 0 ? v3_make(d.x / across, d.y / across, 0) : v3_make(1, 0, 0);
}

// Returns the first corner that is farthest along a local direction. It is most of the narrow phase: without branches, since
// no processor can guess them, and in two chains, of even and odd corners, that do not wait for each other.
SAND_HOST_DEVICE int farthest_corner(const SandVec3 *corners, int count, SandVec3 d) {
    int best = 0, other = 0; // other: the even one before it
    double most = v3_dot(d, corners[0]), beside = count > 1 ? v3_dot(d, corners[1]) : -INFINITY;
    for (int k = 2; k + 1 < count; k += 2) {
        double even = v3_dot(d, corners[k]), odd = v3_dot(d, corners[k + 1]);
        best = even > most ? k : best;
        most = even > most ? even : most;
        other = odd > beside ? k : other;
        beside = odd > beside ? odd : beside;
    }
    double last = v3_dot(d, corners[count - 1]); // once more where the count is even
    best = last > most ? count - 1 : best;
    most = last > most ? last : most;
    return beside > most || (beside == most && other < best) ? other + 1 : best;
}

// Returns the farthest point of the core along `d`, and which corner it is (-1: a point of a cylinder).
SAND_HOST_DEVICE SandVec3 convex_support(const Convex *c, SandVec3 d, int *corner) {
    SandVec3 local = m3_apply_transposed(c->rotation, d);
    *corner = -1;
    if (c->corner_count == 0) {
        SandVec3 p = v3_scale(c->rim, cylinder_radial(local));
        p.z = local.z < 0 ? -c->half : c->half;
        return v3_add(c->center, m3_apply(c->rotation, p));
    }
    *corner = farthest_corner(c->corners, c->corner_count, local);
    return convex_corner(c, *corner);
}

// Returns how far the cores are apart along the unit direction n, from a to b; negative where they overlap along it.
SAND_HOST_DEVICE double convex_separation(const Convex *a, const Convex *b, SandVec3 n) {
    int corner;
    SandVec3 from = convex_support(a, n, &corner), to = convex_support(b, v3_neg(n), &corner);
    return v3_dot(n, v3_sub(to, from));
}
