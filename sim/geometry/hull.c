// SPDX-License-Identifier: MIT
// Quickhull (Barber, Dobkin and Huhdanpaa 1996), the farthest point of all first, so that what lies within the tolerance of
// a face is never added. Triangles in one plane are merged afterwards: contact manifolds are clipped polygons, and a box
// must have six faces.
#include "sim/geometry/hull.h"

#include "sim/core/array.h"
#include "sim/core/within.h"

#include <string.h>

typedef struct Triangle {
    int corner[3]; // points, counter-clockwise from outside
    SandVec3 normal;
    double offset;
    int group;  // face of the polytope, -1: not yet
    bool alive; // on the hull
} Triangle;

typedef struct Builder {
    const SandVec3 *points;
    int point_count;
    double tolerance; // m
    SAND_ARRAY(Triangle) triangles;
    int triangle_count;
    SAND_ARRAY(int) owner;       // of each point: a triangle that it is outside of, -1: inside or on the hull
    SAND_ARRAY(double) distance; // m, and how far
    SandError *error;
} Builder;

// --- triangles --------------------------------------------------------------------------------------------

static double height(const Builder *b, const Triangle *t, int point) {
    return v3_dot(t->normal, b->points[point]) - t->offset;
}

static bool add_triangle(Builder *b, int p, int q, int r) {
    if (!SAND_RESERVE(b->triangles, b->triangle_count + 1, "triangles of a hull", b->error)) return false;
    Triangle *t = &b->triangles.data[b->triangle_count++];
    SandVec3 n = v3_cross(v3_sub(b->points[q], b->points[p]), v3_sub(b->points[r], b->points[p]));
    *t = (Triangle){.corner = {p, q, r}, .group = -1, .alive = true};
    t->normal = v3_unit_or(n, v3_make(0, 0, 1));
    t->offset = v3_dot(t->normal, b->points[p]);
    return true;
}

// Gives a point to the triangle, from `first` on, that it is farthest outside of.
static void assign(Builder *b, int point, int first) {
    b->owner.data[point] = -1;
    b->distance.data[point] = b->tolerance;
    for (int k = first; k < b->triangle_count; k++) {
        if (!b->triangles.data[k].alive) continue;
        double h = height(b, &b->triangles.data[k], point);
        if (h <= b->distance.data[point]) continue;
        b->owner.data[point] = k;
        b->distance.data[point] = h;
    }
}

// Whether some triangle that `visible` marks has the directed edge.
static bool has_edge(const Builder *b, const bool *visible, int from, int to) {
    for (int k = 0; k < b->triangle_count; k++)
        for (int i = 0; visible[k] && i < 3; i++)
            if (b->triangles.data[k].corner[i] == from && b->triangles.data[k].corner[(i + 1) % 3] == to) return true;
    return false;
}

// Replaces the triangles that a point sees by a fan from it to their horizon.
static bool add_point(Builder *b, int point) {
    int before = b->triangle_count;
    bool *visible = NULL;
    size_t capacity = 0;
    if (!SAND_GROW(visible, capacity, before, "triangles of a hull", b->error)) return false;
    for (int k = 0; k < before; k++)
        visible[k] = b->triangles.data[k].alive && height(b, &b->triangles.data[k], point) > b->tolerance;
    bool ok = true;
    for (int k = 0; k < before && ok; k++)
        for (int i = 0; visible[k] && i < 3 && ok; i++) {
            int from = b->triangles.data[k].corner[i], to = b->triangles.data[k].corner[(i + 1) % 3],
                now = b->triangle_count;
            b->triangle_count = before; // look only at the old ones
            bool inner = has_edge(b, visible, to, from);
            b->triangle_count = now;
            if (!inner) ok = add_triangle(b, from, to, point);
        }
    for (int k = 0; k < before; k++) b->triangles.data[k].alive = b->triangles.data[k].alive && !visible[k];
    for (int p = 0; p < b->point_count && ok; p++)
        if (b->owner.data[p] >= 0 && visible[b->owner.data[p]]) assign(b, p, before);
    sand_free(visible);
    return ok;
}

// --- the first tetrahedron --------------------------------------------------------------------------------

// Returns the point that is farthest from `from`, from the line along the unit vector `along` (mode 1), or from the plane of
// the unit normal `along` (mode 2).
static int farthest(const Builder *b, SandVec3 from, SandVec3 along, int mode, double *most) {
    int best = 0;
    *most = -1;
    for (int i = 0; i < b->point_count; i++) {
        SandVec3 d = v3_sub(b->points[i], from);
        double t = v3_dot(d, along);
        double away = mode == 0 ? v3_length(d) : mode == 1 ? v3_length(v3_madd(d, -t, along)) : fabs(t);
        if (away <= *most) continue;
        *most = away;
        best = i;
    }
    return best;
}

static bool first_tetrahedron(Builder *b) {
    double size, width, depth;
    SandVec3 none = v3_make(0, 0, 0);
    int p[4];
    p[0] = farthest(b, b->points[0], none, 0, &size);
    SandVec3 origin = b->points[p[0]];
    p[1] = farthest(b, origin, none, 0, &size);
    SandVec3 along = v3_unit_or(v3_sub(b->points[p[1]], origin), none);
    p[2] = farthest(b, origin, along, 1, &width);
    SandVec3 normal = v3_unit_or(v3_cross(along, v3_sub(b->points[p[2]], origin)), none);
    p[3] = farthest(b, origin, normal, 2, &depth);
    b->tolerance = SAND_HULL_TOLERANCE * size;
    if (!(depth > 1e-6 * size))
        return sand_fail(b->error, "the %d points lie in one plane and enclose nothing", b->point_count);
    bool below = v3_dot(normal, v3_sub(b->points[p[3]], origin)) < 0;
    int q = below ? p[1] : p[2], r = below ? p[2] : p[1];
    bool ok = add_triangle(b, p[0], q, r) && add_triangle(b, p[0], r, p[3]) && add_triangle(b, r, q, p[3]) &&
              add_triangle(b, q, p[0], p[3]);
    for (int i = 0; i < b->point_count && ok; i++) assign(b, i, 0);
    return ok;
}

// How many corners the hull has so far: one with c corners has 2 c - 4 triangles.
static int corners_so_far(const Builder *b) {
    int alive = 0;
    for (int k = 0; k < b->triangle_count; k++) alive += b->triangles.data[k].alive;
    return alive / 2 + 2;
}

static bool all_triangles(Builder *b, int at_most) {
    for (;;) {
        int next = -1;
        if (at_most >= 0 && corners_so_far(b) >= at_most) return true;
        for (int i = 0; i < b->point_count; i++)
            if (b->owner.data[i] >= 0 && (next < 0 || b->distance.data[i] > b->distance.data[next])) next = i;
        if (next < 0) return true;
        if (!add_point(b, next)) return false;
        b->owner.data[next] = -1;
    }
}

// --- merging ----------------------------------------------------------------------------------------------

static double area(const Builder *b, const Triangle *t) {
    const SandVec3 *p = b->points;
    return v3_length(v3_cross(v3_sub(p[t->corner[1]], p[t->corner[0]]), v3_sub(p[t->corner[2]], p[t->corner[0]])));
}

// Whether two triangles share an edge.
static bool neighbors(const Triangle *s, const Triangle *t) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (s->corner[i] == t->corner[(k + 1) % 3] && s->corner[(i + 1) % 3] == t->corner[k]) return true;
    return false;
}

// Whether a triangle lies in the plane of another.
static bool coplanar(const Builder *b, const Triangle *plane, const Triangle *t) {
    for (int i = 0; i < 3; i++)
        if (fabs(height(b, plane, t->corner[i])) > 4 * b->tolerance) return false;
    return v3_dot(plane->normal, t->normal) > 0;
}

// Groups triangles in one plane, the largest first: its plane is the best known. Returns the number of groups.
static int group_triangles(Builder *b) {
    int groups = 0;
    for (;; groups++) {
        int seed = -1;
        for (int k = 0; k < b->triangle_count; k++)
            if (b->triangles.data[k].alive && b->triangles.data[k].group < 0 &&
                (seed < 0 || area(b, &b->triangles.data[k]) > area(b, &b->triangles.data[seed])))
                seed = k;
        if (seed < 0) return groups;
        b->triangles.data[seed].group = groups;
        for (bool grew = true; grew;) {
            grew = false;
            for (int k = 0; k < b->triangle_count; k++) {
                Triangle *t = &b->triangles.data[k];
                if (!t->alive || t->group >= 0 || !coplanar(b, &b->triangles.data[seed], t)) continue;
                for (int j = 0; j < b->triangle_count && t->group < 0; j++)
                    if (b->triangles.data[j].alive && b->triangles.data[j].group == groups &&
                        neighbors(t, &b->triangles.data[j]))
                        t->group = groups;
                grew = grew || t->group >= 0;
            }
        }
    }
}

// Returns the corner that follows `from` on the border of a group, or -1.
static int next_on_border(const Builder *b, int group, int from) {
    for (int k = 0; k < b->triangle_count; k++) {
        const Triangle *t = &b->triangles.data[k];
        for (int i = 0; t->alive && t->group == group && i < 3; i++) {
            int to = t->corner[(i + 1) % 3];
            bool inner = false;
            if (t->corner[i] != from) continue;
            for (int j = 0; j < b->triangle_count && !inner; j++)
                for (int m = 0; b->triangles.data[j].alive && b->triangles.data[j].group == group && m < 3; m++)
                    if (b->triangles.data[j].corner[m] == to && b->triangles.data[j].corner[(m + 1) % 3] == from)
                        inner = true;
            if (!inner) return to;
        }
    }
    return -1;
}

// How many groups meet in a point; where it is two, the point lies within an edge.
static int groups_at(const Builder *b, int point) {
    int seen[3], count = 0;
    for (int k = 0; k < b->triangle_count && count < 3; k++) {
        const Triangle *t = &b->triangles.data[k];
        if (!t->alive || (t->corner[0] != point && t->corner[1] != point && t->corner[2] != point)) continue;
        bool known = false;
        for (int i = 0; i < count; i++) known = known || seen[i] == t->group;
        if (!known) seen[count++] = t->group;
    }
    return count;
}

// --- the polytope -----------------------------------------------------------------------------------------

// Copies the corners, in the order of the points; `number` is the corner of each point, -1: none.
static bool copy_corners(const Builder *b, SandPolytope *hull, int *number) {
    int count = 0;
    for (int i = 0; i < b->point_count; i++) {
        number[i] = groups_at(b, i) >= 3 ? count : -1;
        if (number[i] < 0) continue;
        if (count < SAND_MAX_CORNERS) hull->corners[count] = b->points[i];
        count++;
    }
    if (count > SAND_MAX_CORNERS)
        return sand_fail(b->error, "the convex hull has %d corners; at most %d are possible", count, SAND_MAX_CORNERS);
    hull->corner_count = count;
    return true;
}

// Copies the border of a group as the loop of a face.
static bool copy_loop(const Builder *b, SandPolytope *hull, const int *number, int group, int *used) {
    int start = -1;
    for (int k = 0; k < b->triangle_count && start < 0; k++)
        for (int i = 0; b->triangles.data[k].alive && b->triangles.data[k].group == group && i < 3 && start < 0; i++)
            if (number[b->triangles.data[k].corner[i]] >= 0) start = b->triangles.data[k].corner[i];
    SandFace *face = &hull->faces[hull->face_count++];
    face->first = *used;
    face->count = 0;
    int at = start;
    for (int steps = 0; at >= 0 && steps <= b->point_count; steps++) {
        if (number[at] >= 0) {
            if (*used >= 2 * SAND_MAX_EDGES) return false;
            hull->loop[(*used)++] = (uint8_t)number[at];
            face->count++;
        }
        at = next_on_border(b, group, at);
        if (at == start) return face->count >= 3;
    }
    return false;
}

static bool copy_polytope(Builder *b, SandPolytope *hull, int groups) {
    int *number = NULL, used = 0;
    size_t capacity = 0;
    if (!SAND_GROW(number, capacity, b->point_count, "corners of a hull", b->error)) return false;
    memset(hull, 0, sizeof *hull);
    bool ok = copy_corners(b, hull, number), whole = ok && groups <= SAND_MAX_FACES;
    for (int g = 0; g < groups && whole; g++) whole = copy_loop(b, hull, number, g, &used);
    whole = whole && sand_polytope_connect(hull);
    sand_free(number);
    if (ok && !whole)
        return sand_fail(b->error, "the convex hull of the %d points is too thin to have faces", b->point_count);
    return ok;
}

// The plane of a face: Newell's normal, and the offset of its outermost corner, so that the face contains them all.
static void fit_plane(SandPolytope *p, SandFace *face) {
    SandVec3 n = {0, 0, 0}, origin = p->corners[p->loop[face->first]];
    for (int k = 1; k + 1 < face->count; k++) {
        SandVec3 a = v3_sub(p->corners[p->loop[face->first + k]], origin);
        n = v3_add(n, v3_cross(a, v3_sub(p->corners[p->loop[face->first + k + 1]], origin)));
    }
    face->normal = v3_unit_or(n, v3_make(0, 0, 1));
    face->offset = -INFINITY;
    for (int k = 0; k < face->count; k++)
        face->offset = fmax(face->offset, v3_dot(face->normal, p->corners[p->loop[face->first + k]]));
}

// Returns the edge that runs from one corner to another, in either direction, or -1.
static int find_edge(const SandPolytope *p, int from, int to, bool *reversed) {
    for (int e = 0; e < p->edge_count; e++) {
        *reversed = p->edges[e].from == to && p->edges[e].to == from;
        if (*reversed || (p->edges[e].from == from && p->edges[e].to == to)) return e;
    }
    return -1;
}

bool sand_polytope_connect(SandPolytope *p) {
    bool closed[SAND_MAX_EDGES] = {false}, reversed = false;
    p->edge_count = 0;
    for (int f = 0; f < p->face_count; f++) {
        SandFace *face = &p->faces[f];
        fit_plane(p, face);
        for (int k = 0; k < face->count; k++) {
            int from = p->loop[face->first + k], to = p->loop[face->first + (k + 1) % face->count];
            int e = find_edge(p, from, to, &reversed);
            if (e >= 0 && (!reversed || closed[e])) return false;
            if (e < 0 && p->edge_count >= SAND_MAX_EDGES) return false;
            if (e < 0) {
                e = p->edge_count++;
                p->edges[e] = (SandEdge){(uint8_t)from, (uint8_t)to, (uint8_t)f, (uint8_t)f};
            } else {
                p->edges[e].right = (uint8_t)f;
                closed[e] = true;
            }
            p->sides[face->first + k] = (uint8_t)e;
        }
    }
    for (int e = 0; e < p->edge_count; e++)
        if (!closed[e]) return false;
    return p->corner_count - p->edge_count + p->face_count == 2;
}

bool sand_hull_make(SandPolytope *hull, const SandVec3 *points, int count, int at_most, SandError *error) {
    if (count < 4) return sand_fail(error, "a hull needs at least four points, not %d", count);
    for (int i = 0; i < count; i++)
        if (!sand_vector_within(points[i]))
            return sand_fail(error, "point %d of the hull is not finite, or beyond %g m", i, SAND_FARTHEST);
    Builder b = {.points = points, .point_count = count, .error = error};
    bool ok = SAND_RESERVE(b.owner, count, "points of a hull", error) &&
              SAND_RESERVE(b.distance, count, "points of a hull", error) && first_tetrahedron(&b) &&
              all_triangles(&b, at_most) && copy_polytope(&b, hull, group_triangles(&b));
    SAND_FREE_ARRAYS(&b.triangles, &b.owner, &b.distance);
    return ok;
}

SandMoments sand_polytope_moments(const SandPolytope *p) {
    SandMoments m = {0};
    for (int f = 0; f < p->face_count; f++) {
        const SandFace *face = &p->faces[f];
        for (int k = 1; k + 1 < face->count; k++)
            sand_moments_add(&m, p->corners[p->loop[face->first]], p->corners[p->loop[face->first + k]],
                             p->corners[p->loop[face->first + k + 1]]);
    }
    return m;
}
