// SPDX-License-Identifier: MIT
// Compounds: rigid unions of convex pieces. Their volume, center of mass and inertia are the sums of those of the pieces, by
// the parallel axis theorem, or those of a solid that is given.
#include "sim/core/array.h"
#include "sim/core/within.h"
#include "sim/geometry/convex.inl"
#include "sim/geometry/principal.h"

// --- moments ----------------------------------------------------------------------------------------------

// Adds a solid of this volume about its center, with these second moments about it: parallel axes.
static void add_moments(SandMoments *sum, double volume, SandVec3 center, SandMat3 second) {
    SandVec3 c = center;
    sum->one += volume;
    sum->x += volume * c.x;
    sum->y += volume * c.y;
    sum->z += volume * c.z;
    sum->xx += second.m[0][0] + volume * c.x * c.x;
    sum->yy += second.m[1][1] + volume * c.y * c.y;
    sum->zz += second.m[2][2] + volume * c.z * c.z;
    sum->xy += second.m[0][1] + volume * c.x * c.y;
    sum->xz += second.m[0][2] + volume * c.x * c.z;
    sum->yz += second.m[1][2] + volume * c.y * c.z;
}

// The integrals of x x, y y and z z that principal moments of inertia are made of.
static SandVec3 second_of(SandVec3 inertia) {
    double half = 0.5 * (inertia.x + inertia.y + inertia.z);
    return v3_make(half - inertia.x, half - inertia.y, half - inertia.z);
}

static SandMoments moments_of_pieces(const SandPiece *pieces, int count, SandVec3 origin) {
    SandMoments sum = {0};
    for (int k = 0; k < count; k++) {
        const SandShape *s = &pieces[k].shape;
        double scale = pieces[k].scale, cube = scale * scale * scale;
        SandVec3 second = v3_scale(cube * scale * scale, second_of(s->inertia));
        add_moments(&sum, cube * s->volume, v3_sub(pieces[k].pose.position, origin),
                    m3_rotated_diagonal(q_matrix(pieces[k].pose.rotation), second));
    }
    return sum;
}

static SandMoments moments_of_solid(const SandSolid *s, SandVec3 origin) {
    SandMoments sum = {0};
    SandVec3 diagonal = second_of(s->moments), products = s->products;
    SandMat3 second = {{{diagonal.x, -products.x, -products.y},
                        {-products.x, diagonal.y, -products.z},
                        {-products.y, -products.z, diagonal.z}}};
    add_moments(&sum, s->volume, v3_sub(s->center, origin), second);
    return sum;
}

// --- pieces -----------------------------------------------------------------------------------------------

static bool check_piece(const SandPiece *p, int number, SandError *error) {
    SandQuat q = p->pose.rotation;
    double turn = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (p->shape.kind == SAND_CLUMP || p->shape.kind == SAND_COMPOUND || !(p->shape.volume > 0))
        return sand_fail(error, "piece %d of the compound is a %s; a piece is a sphere or convex", number,
                         sand_shape_kind_name(p->shape.kind));
    if (!sand_within(p->scale) || p->scale <= 0)
        return sand_fail(error, "piece %d of the compound has scale %g; it must be above 0, at most %g", number, p->scale,
                         SAND_FARTHEST);
    return (sand_vector_within(p->pose.position) && isfinite(turn) && turn >= 1e-12) ||
           sand_fail(error,
                     "piece %d of the compound: its position and rotation must be finite, and the rotation not of "
                     "length 0",
                     number);
}

// A core of one point, rounded by 1: a sphere as a convex body.
static bool round_point(SandShape *sphere, SandError *error) {
    size_t capacity = 0;
    sphere->core = NULL;
    if (!SAND_GROW(sphere->core, capacity, 1, "a convex shape", error)) return false;
    sphere->core->corner_count = 1;
    sphere->core->corners[0] = v3_make(0, 0, 0);
    sphere->half = v3_make(1, 1, 1);
    sphere->rounding = 1;
    sphere->sphere_count = 0;
    sphere->spheres = NULL;
    return true;
}

// Copies a piece, with its center of mass and principal axes in the place of the frame that it was described in.
static bool copy_piece(SandPiece *to, const SandPiece *from, SandError *error) {
    bool ok = true;
    SandPose input = {from->pose.position, q_unit(from->pose.rotation)};
    *to = *from;
    to->pose = sand_shape_place(&from->shape, from->scale, input);
    to->shape.spheres = NULL;
    if (from->shape.kind == SAND_SPHERE) return round_point(&to->shape, error);
    to->shape.core = sand_array_copy(from->shape.core, &ok);
    return ok || sand_fail(error, "out of memory for the pieces of a compound");
}

static bool copy_pieces(SandShape *shape, const SandPiece *pieces, int count, SandError *error) {
    size_t capacity = 0;
    if (!SAND_GROW(shape->pieces, capacity, count, "pieces of a compound", error)) return false;
    for (int k = 0; k < count; k++) {
        shape->piece_count = k + 1;
        if (!check_piece(&pieces[k], k, error)) return shape->piece_count = k, false;
        if (!copy_piece(&shape->pieces[k], &pieces[k], error)) return false;
    }
    return true;
}

// How far the shape reaches along an axis of its frame and against it.
static double extent_along(const SandShape *shape, SandVec3 axis) {
    SandVec3 none = v3_make(0, 0, 0);
    double low = INFINITY, high = -INFINITY;
    int corner;
    for (int k = 0; k < shape->piece_count; k++) {
        Convex c = convex_piece(shape, 1, q_identity(), none, k);
        high = fmax(high, v3_dot(axis, convex_support(&c, axis, &corner)) + c.radius);
        low = fmin(low, v3_dot(axis, convex_support(&c, v3_neg(axis), &corner)) - c.radius);
    }
    return high - low;
}

// How far a piece reaches from the center of mass: exactly where it has corners.
static double bound_of(const SandShape *shape, int k) {
    const SandPiece *p = &shape->pieces[k];
    Convex c = convex_piece(shape, 1, q_identity(), v3_make(0, 0, 0), k);
    double most = c.corner_count ? 0 : v3_length(p->pose.position) + p->scale * p->shape.bound;
    for (int i = 0; i < c.corner_count; i++) most = fmax(most, v3_length(convex_corner(&c, i)) + c.radius);
    return most;
}

// Moves the pieces to the principal frame, and derives the sizes.
static void place_pieces(SandShape *shape) {
    SandPose frame = shape->from_input;
    for (int k = 0; k < shape->piece_count; k++) {
        SandPiece *p = &shape->pieces[k];
        p->pose.position = v3_add(frame.position, q_rotate(frame.rotation, p->pose.position));
        p->pose.rotation = q_unit(q_mul(frame.rotation, p->pose.rotation));
        shape->bound = fmax(shape->bound, bound_of(shape, k));
    }
    shape->half = v3_scale(0.5, v3_make(extent_along(shape, v3_make(1, 0, 0)), extent_along(shape, v3_make(0, 1, 0)),
                                        extent_along(shape, v3_make(0, 0, 1))));
}

bool sand_shape_compound(SandShape *shape, const SandPiece *pieces, int count, const SandSolid *solid, SandError *error) {
    *shape = (SandShape){.kind = SAND_COMPOUND};
    if (count < 1 || count > SAND_MAX_PIECES)
        return sand_fail(error, "a compound has %d pieces; 1 to %d are possible", count, SAND_MAX_PIECES);
    if (!copy_pieces(shape, pieces, count, error)) return sand_shape_free(shape), false;
    SandVec3 center, origin = shape->pieces[0].pose.position; // far from it digits would be lost
    SandMat3 axes;
    SandMoments m = solid ? moments_of_solid(solid, origin) : moments_of_pieces(shape->pieces, count, origin);
    if (!sand_shape_set_moments(shape, m, origin, &center, &axes)) {
        sand_shape_free(shape);
        return sand_fail(error, "the volume and inertia of the compound must be finite and above 0");
    }
    place_pieces(shape);
    return true;
}
