// SPDX-License-Identifier: MIT
// The least translation that separates two cores of which one is a cylinder: the expanding polytope algorithm (van den
// Bergen 2001). A polytope inside the difference of the bodies grows towards the surface where it is nearest to the origin.
// What the nearest face is away is a lower bound of the depth and what the bodies overlap along its normal an upper bound,
// so that the end is certain to the tolerance. A circle bends in one direction only, so that few points are needed.
#pragma once
#include "sim/geometry/convex_gjk.inl"

enum { EPA_POINTS = 96, EPA_FACES = 2 * EPA_POINTS - 4, EPA_HORIZON = 96 };

typedef struct EpaFace {
    uint8_t corner[3]; // counter-clockwise from outside
    bool alive;
    SandVec3 normal;
    double offset; // m, of its plane: distance to the origin
} EpaFace;

typedef struct Epa {
    SimplexPoint p[EPA_POINTS];
    EpaFace face[EPA_FACES];
    int point_count, face_count;
} Epa;

SAND_HOST_DEVICE bool epa_add_face(Epa *e, int i, int j, int k) {
    int at = 0;
    while (at < e->face_count && e->face[at].alive) at++;
    if (at >= EPA_FACES) return false;
    if (at == e->face_count) e->face_count++;
    SandVec3 a = e->p[i].w, n = v3_cross(v3_sub(e->p[j].w, a), v3_sub(e->p[k].w, a));
    EpaFace face = {{(uint8_t)i, (uint8_t)j, (uint8_t)k}, true, v3_unit_or(n, v3_make(0, 0, 0)), 0};
    face.offset = v3_dot(face.normal, a);
    if (v3_dot(n, n) == 0) face.offset = INFINITY; // a sliver: it is never the nearest
    e->face[at] = face;
    return true;
}

// Starts with a tetrahedron in the difference of the bodies; the origin may be outside of it. False where it is flat.
SAND_HOST_DEVICE bool epa_start(Epa *e, const Convex *a, const Convex *b) {
    const int face[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    SandVec3 x = v3_make(0.80, 0.36, 0.48); // along no axis of symmetry that anyone would choose
    e->p[0] = simplex_support(a, b, x);
    e->p[1] = simplex_support(a, b, v3_neg(x));
    x = v3_sub(e->p[1].w, e->p[0].w);
    SandVec3 u = v3_perpendicular(v3_unit_or(x, v3_make(1, 0, 0)));
    e->p[2] = simplex_support(a, b, u);
    SimplexPoint other = simplex_support(a, b, v3_neg(u));
    double up = v3_dot(u, v3_sub(e->p[2].w, e->p[0].w)), down = v3_dot(u, v3_sub(e->p[0].w, other.w));
    if (down > up) e->p[2] = other;
    SandVec3 n = v3_unit_or(v3_cross(x, v3_sub(e->p[2].w, e->p[0].w)), v3_make(0, 0, 1));
    e->p[3] = simplex_support(a, b, n);
    other = simplex_support(a, b, v3_neg(n));
    up = v3_dot(n, v3_sub(e->p[3].w, e->p[0].w));
    down = v3_dot(n, v3_sub(e->p[0].w, other.w));
    if (down > up) e->p[3] = other;
    e->point_count = 4;
    e->face_count = 0;
    bool flip = up >= down;
    for (int f = 0; f < 4; f++) epa_add_face(e, face[f][0], face[f][flip ? 2 : 1], face[f][flip ? 1 : 2]);
    return fmax(up, down) > 1e-9 * (a->bound + b->bound);
}

SAND_HOST_DEVICE int epa_nearest(const Epa *e) {
    int best = -1;
    for (int f = 0; f < e->face_count; f++)
        if (e->face[f].alive && (best < 0 || e->face[f].offset < e->face[best].offset)) best = f;
    return best;
}

// Adds a directed edge to the horizon, or takes out its reverse: edges between two visible faces come twice.
SAND_HOST_DEVICE bool horizon_add(uint8_t (*horizon)[2], int *count, uint8_t from, uint8_t to) {
    for (int k = 0; k < *count; k++)
        if (horizon[k][0] == to && horizon[k][1] == from) {
            for (int j = k; j + 1 < *count; j++) {
                horizon[j][0] = horizon[j + 1][0];
                horizon[j][1] = horizon[j + 1][1];
            }
            (*count)--;
            return true;
        }
    if (*count >= EPA_HORIZON) return false;
    horizon[*count][0] = from;
    horizon[*count][1] = to;
    (*count)++;
    return true;
}

// Grows the polytope by a point: the faces that see it become a fan. False where there is no more room.
SAND_HOST_DEVICE bool epa_expand(Epa *e, const SimplexPoint *p, double tolerance) {
    uint8_t horizon[EPA_HORIZON][2];
    int count = 0;
    if (e->point_count >= EPA_POINTS) return false;
    for (int f = 0; f < e->face_count; f++) {
        EpaFace *face = &e->face[f];
        if (!face->alive || !(v3_dot(face->normal, p->w) - face->offset > tolerance)) continue;
        face->alive = false;
        for (int k = 0; k < 3; k++)
            if (!horizon_add(horizon, &count, face->corner[k], face->corner[(k + 1) % 3])) return false;
    }
    e->p[e->point_count] = *p;
    for (int k = 0; k < count; k++)
        if (!epa_add_face(e, horizon[k][0], horizon[k][1], e->point_count)) return false;
    e->point_count++;
    return count >= 3;
}

// Fills where the bodies touch after the translation: the point of the nearest face below the origin.
SAND_HOST_DEVICE void epa_witness(const Epa *e, const EpaFace *face, ConvexGap *gap) {
    SandVec3 at = v3_scale(face->offset, face->normal);
    SandVec3 a = v3_sub(e->p[face->corner[0]].w, at), b = v3_sub(e->p[face->corner[1]].w, at),
             c = v3_sub(e->p[face->corner[2]].w, at);
    double weight[3] = {v3_dot(face->normal, v3_cross(b, c)), v3_dot(face->normal, v3_cross(c, a)),
                        v3_dot(face->normal, v3_cross(a, b))};
    double sum = weight[0] + weight[1] + weight[2];
    Simplex s = {.count = 3};
    for (int k = 0; k < 3; k++) {
        s.p[k] = e->p[face->corner[k]];
        weight[k] = sum > 0 ? weight[k] / sum : k == 0;
    }
    gap_witness(gap, &s, weight);
}

// Finds the depth of two cores that overlap. False where their difference is flat.
SAND_HOST_DEVICE_NOINLINE bool convex_epa(const Convex *a, const Convex *b, ConvexGap *gap) {
    Epa e;
    double tolerance = 1e-11 * (a->bound + b->bound), least = INFINITY;
    if (!epa_start(&e, a, b)) return false;
    for (;;) {
        int f = epa_nearest(&e);
        if (f < 0) break;
        EpaFace face = e.face[f];
        SimplexPoint p = simplex_support(a, b, face.normal);
        double depth = v3_dot(face.normal, p.w);
        if (depth < least) { // the bodies overlap by this along the normal
            least = depth;
            gap->distance = -depth;
            gap->normal = face.normal;
            epa_witness(&e, &face, gap);
        }
        if (depth - face.offset <= tolerance || !epa_expand(&e, &p, 1e-3 * tolerance)) break;
    }
    return least < INFINITY;
}
