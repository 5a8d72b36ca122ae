// SPDX-License-Identifier: MIT
// The contacts of convex bodies: with spheres, with each other, and with boundaries; one source for CPU and GPU. Start at
// convex_contacts and touch_convex_bodies.
//
// A boundary whose allowed side is convex (a plane, the inside of a box) is touched by corners, and by the rims of a
// cylinder: no edge or face can reach it first. A solid box or sphere and the triangles of a mesh are convex bodies
// themselves, and touch as such. A surface of revolution with a neck or an outside is touched by corners, and by the point
// of each edge that is nearest to it; where such a surface would touch the middle of a face, that is not found.
#pragma once
#include "sim/collision/contact_finder.inl"
#include "sim/geometry/boundary_convex.inl"
#include "sim/geometry/shape_distance.inl"

// --- spheres ----------------------------------------------------------------------------------------------

// Tests a sphere against a convex body, or piece k of a compound, by the nearest point of its surface.
SAND_HOST_DEVICE_NOINLINE void touch_convex_body(const SandFinder *finder, SandSink *sink, const SandSphereProxy *sphere,
                                                 int convex_body, int k) {
    const SandWorld *w = finder->world;
    PlacedPiece p = shape_piece(&w->shapes[w->shape[convex_body]], w->scale[convex_body], w->rotation[convex_body], k);
    SandVec3 apart = v3_sub(v3_sub(sphere->center, w->position[convex_body]), p.arm);
    SandVec3 velocity = v3_add(w->velocity[convex_body], v3_cross(w->spin[convex_body], p.arm));
    double bound = p.shape->bound * p.scale;
    double mu = sand_world_pair(w, w->material[sphere->body], w->material[convex_body])->mu;
    double speed = v3_length(v3_sub(velocity, sphere->velocity)) + turning_speed(w, convex_body, bound, v3_length(p.arm)) +
                   sphere->turning + finder->fall;
    double reach = fmax(fmax(w->envelope, sphere->impact_margin), w->step * (1 + mu) * speed);
    if (v3_length(apart) > bound + sphere->radius + reach) return;
    SandVec3 outward;
    uint32_t feature; // not in the key: a sphere touches a convex piece once
    double gap = sand_shape_distance(p.shape, p.scale, q_unrotate(p.rotation, apart), &outward, &feature) - sphere->radius;
    if (gap > reach) return;
    SandVec3 normal = v3_neg(q_rotate(p.rotation, outward)); // from the sphere to the convex body
    add_pair(finder, sink, sphere->body, sphere->sub, convex_body, k, normal,
             v3_madd(sphere->center, sphere->radius + 0.5 * gap, normal), gap);
}

// Tests a sphere against the convex bodies around it.
SAND_HOST_DEVICE_NOINLINE void touch_convex_bodies(const SandFinder *finder, SandSink *sink, const SandSphereProxy *sphere) {
    const SandBroadPhase *g = &finder->collision->convex_phase;
    for (int k = 0; k < g->level_count; k++) {
        SandCellRange range = cell_range_around(g, sphere, k);
        for (int r = 0; r < range.rows; r++) {
            SandCellRow row = cell_row(g, &range, r);
            for (int half = 0; half < 2; half++)
                for (int j = row.run[half].begin; j < row.run[half].end; j++)
                    if (proxies_near(sphere, &g->sorted[j]))
                        touch_convex_body(finder, sink, sphere, g->sorted[j].body, g->sorted[j].sub);
        }
    }
}

// --- pairs ------------------------------------------------------------------------------------------------

// How far apart two convex bodies, or pieces, may be for a contact in this step (m); negative: too far, whatever their
// shapes, kept apart by a joint, or of one body.
SAND_HOST_DEVICE double convex_pair_reach(const SandFinder *finder, const SandSphereProxy *p, const SandSphereProxy *q) {
    const SandWorld *w = finder->world;
    if (!proxies_near(p, q) || p->body == q->body || sand_world_apart(w, p->body, q->body)) return -1;
    double mu = sand_world_pair(w, w->material[p->body], w->material[q->body])->mu;
    double speed = v3_length(v3_sub(q->velocity, p->velocity)) + p->turning + q->turning + finder->fall;
    double reach = fmax(w->envelope, w->step * (1 + mu) * speed);
    return v3_length(v3_sub(q->center, p->center)) > p->radius + q->radius + reach ? -1 : reach;
}

// Two convex bodies, or pieces, placed about the center of the first body. That is the one of lower index, so that the order
// in which they are found makes no difference.
typedef struct ConvexPair {
    int body_a, body_b;
    Convex a, b;
} ConvexPair;

// The convex body of a proxy, or its piece of one, with the origin at the center of the body.
SAND_HOST_DEVICE Convex convex_at_origin(const SandWorld *w, const SandSphereProxy *p) {
    return convex_piece(&w->shapes[w->shape[p->body]], w->scale[p->body], w->rotation[p->body], v3_make(0, 0, 0), p->sub);
}

SAND_HOST_DEVICE ConvexPair convex_pair(const SandWorld *w, const SandSphereProxy *p, const SandSphereProxy *q) {
    const SandSphereProxy *first = p->body < q->body ? p : q, *second = p->body < q->body ? q : p;
    int a = first->body, b = second->body;
    ConvexPair pair = {.body_a = a, .body_b = b};
    pair.a = convex_at_origin(w, first);
    pair.b = convex_piece(&w->shapes[w->shape[b]], w->scale[b], w->rotation[b], v3_sub(w->position[b], w->position[a]),
                          second->sub);
    return pair;
}

// Emits the contacts of the bodies of p and q, which touch like this.
SAND_HOST_DEVICE void add_convex_pair(const SandFinder *finder, SandSink *sink, const SandSphereProxy *p,
                                      const SandSphereProxy *q, const Manifold *m) {
    const SandSphereProxy *a = p->body < q->body ? p : q, *b = p->body < q->body ? q : p;
    for (int k = 0; k < m->count; k++)
        add_pair(finder, sink, a->body, m->point[k].of_a ^ piece_mark(a->sub), b->body,
                 m->point[k].of_b ^ piece_mark(b->sub), m->normal,
                 v3_add(finder->world->position[a->body], m->point[k].point), m->point[k].gap);
}

// A walk over the convex proxies that may touch a sorted one, in the order of its contacts.
typedef struct ConvexNeighbors {
    const SandFinder *finder;
    int level, proxy;    // whose they are
    int searched;        // level
    SandCellRange range; // in it
    SandCellRow row;
    int next_row, half, next; // proxy of a half of the row
    double reach;             // of the last pair: convex_pair_reach
} ConvexNeighbors;

SAND_HOST_DEVICE ConvexNeighbors convex_neighbors(const SandFinder *finder, int level, int i) {
    ConvexNeighbors n = {.finder = finder, .level = level, .proxy = i, .searched = -1};
    n.half = 2;
    return n;
}

// Goes on to the next row that is not searched yet; false at the end.
SAND_HOST_DEVICE bool neighbors_next_row(ConvexNeighbors *n) {
    const SandBroadPhase *g = &n->finder->collision->convex_phase;
    while (n->next_row >= n->range.rows) {
        do n->searched++;
        while (n->searched < g->level_count && !grid_looks_in(n->level, n->searched));
        if (n->searched >= g->level_count) return false;
        n->range = cell_range_of(g, n->level, n->proxy, n->searched);
        n->next_row = 0;
    }
    n->row = cell_row(g, &n->range, n->next_row++);
    return true;
}

// Returns the next neighbor, or -1.
SAND_HOST_DEVICE int neighbors_next(ConvexNeighbors *n) {
    const SandSphereProxy *sorted = n->finder->collision->convex_phase.sorted;
    for (;;) {
        while (n->half < 2 && n->next >= n->row.run[n->half].end)
            if (++n->half < 2) n->next = n->row.run[n->half].begin;
        if (n->half == 2) {
            if (!neighbors_next_row(n)) return -1;
            n->half = 0;
            n->next = n->row.run[0].begin;
            continue;
        }
        int j = n->next++;
        n->reach = convex_pair_reach(n->finder, &sorted[n->proxy], &sorted[j]);
        if (n->reach >= 0) return j;
    }
}

// --- boundaries by corners and edges ----------------------------------------------------------------------

// Below a surface a point of radius 0 is outside of an open vessel, or of a mesh: it is looked for as the center of a sphere
// of the depth from which it is still pushed back.
SAND_HOST_DEVICE int point_touches(const SandFinder *finder, SandSink *sink, int body, int boundary, SandVec3 point,
                                   double radius, double reach, double depth, SandTouch *touches) {
    if (finder->world->boundaries[boundary].kind != SAND_REVOLUTION) depth = 0;
    int count = find_touches(finder, sink, body, boundary, point, radius + depth, reach - depth, touches);
    for (int k = 0; k < count && depth > 0; k++) touches[k].gap += depth;
    return count;
}

// Tests a point of a core, rounded by `radius`, against a boundary.
SAND_HOST_DEVICE_NOINLINE void touch_point(const SandFinder *finder, SandSink *sink, const Convex *c, int body, int sub,
                                           int boundary, SandVec3 arm, double radius) {
    SandTouch touches[MAX_TOUCHES];
    const SandWorld *w = finder->world;
    SandVec3 velocity = v3_add(w->velocity[body], v3_cross(w->spin[body], arm)), point = v3_add(w->position[body], arm);
    double turning = turning_speed(w, body, radius, v3_length(arm));
    const SandGuard *guard = &finder->collision->guard[boundary];
    double reach = boundary_reach(finder, body, boundary, point, velocity, turning, 0);
    if (v3_dot(guard->normal, point) - guard->offset > radius + reach) return; // a fixed plane that is far away
    int count = point_touches(finder, sink, body, boundary, point, radius, reach, c->bound, touches);
    for (int k = 0; k < count; k++) add_touch(finder, sink, body, sub | c->piece << 8, boundary, point, radius, &touches[k]);
}

// Returns the part of an edge at which it is nearest to a surface of revolution; 0 or 1 where that is one of its ends. Along
// a line the distance from a convex obstacle falls and rises once; the samples are for a surface with several bends.
SAND_HOST_DEVICE_NOINLINE double nearest_on_edge_to(const SandBoundary *b, SandVec3 from, SandVec3 along) {
    enum { SAMPLES = 8, CUTS = 40 };
    double best = INFINITY, low = 0, high = 0;
    for (int k = 0; k <= SAMPLES; k++) {
        double distance = revolution_distance(b, v3_madd(from, (double)k / SAMPLES, along));
        if (distance >= best) continue;
        best = distance;
        low = fmax(k - 1., 0.) / SAMPLES;
        high = fmin(k + 1., (double)SAMPLES) / SAMPLES;
    }
    for (int k = 0; k < CUTS; k++) {
        double left = low + (high - low) / 3, right = high - (high - low) / 3;
        bool falls =
            revolution_distance(b, v3_madd(from, left, along)) > revolution_distance(b, v3_madd(from, right, along));
        low = falls ? left : low;
        high = falls ? high : right;
    }
    double t = 0.5 * (low + high);
    return t < 1e-3 ? 0 : t > 1 - 1e-3 ? 1 : t;
}

// Tests the edges of a core against a surface of revolution that protrudes: by the nearest point of each.
SAND_HOST_DEVICE void touch_edges(const SandFinder *finder, SandSink *sink, const Convex *c, int body, int boundary) {
    const SandBoundary *b = &finder->world->boundaries[boundary];
    const SandPose *pose = &finder->collision->pose[boundary];
    for (int e = 0; e < c->edge_count; e++) {
        SandVec3 from = convex_corner(c, c->edges[e].from), to = convex_corner(c, c->edges[e].to);
        SandVec3 start = pose_apply_inverse(*pose, v3_add(from, finder->world->position[body]));
        SandVec3 end = pose_apply_inverse(*pose, v3_add(to, finder->world->position[body]));
        double t = nearest_on_edge_to(b, start, v3_sub(end, start));
        if (t == 0 || t == 1) continue; // a corner has it
        touch_point(finder, sink, c, body, 64 + e % 192, boundary, v3_madd(from, t, v3_sub(to, from)), c->radius);
    }
}

// One rim of a cylinder against one boundary. It touches each smooth piece (feature) of the boundary by its point of least
// gap and three more at quarter turns from there, so that a standing cylinder has a base.
typedef struct Rim {
    const SandFinder *finder;
    SandSink *sink;
    int body, sub, boundary; // sub: its first | piece << 8
    double radius, reach;
    SandVec3 center, x, y; // m, world frame; x and y span its plane, each as long as the radius
} Rim;

enum { RIM_SAMPLES = 16 }; // angles at which a rim is sampled before bisection
#define QUARTER_TURN 1.57079632679489661923

SAND_HOST_DEVICE SandVec3 rim_point(const Rim *r, double angle) {
    return v3_add(r->center, v3_add(v3_scale(cos(angle), r->x), v3_scale(sin(angle), r->y)));
}

// Finds the touch of the rim point at this angle with one piece of the boundary, and the derivative of its gap by the angle
// (up to a positive factor). False where the piece is out of reach there.
SAND_HOST_DEVICE_NOINLINE bool rim_touch(const Rim *r, double angle, uint32_t piece, SandTouch *touch, double *slope) {
    SandTouch touches[MAX_TOUCHES];
    int count =
        find_touches(r->finder, r->sink, r->body, r->boundary, rim_point(r, angle), 0, r->reach + 0.1 * r->radius, touches);
    for (int k = 0; k < count; k++) {
        if (touches[k].feature != piece) continue;
        *touch = touches[k];
        *slope = -v3_dot(touch->normal, v3_sub(v3_scale(cos(angle), r->y), v3_scale(sin(angle), r->x)));
        return true;
    }
    return false;
}

// Returns the angle of least gap between two angles, by bisection on the slope; the middle where there is no minimum between
// them.
SAND_HOST_DEVICE_NOINLINE double rim_least(const Rim *r, uint32_t piece, double low, double high) {
    double middle = 0.5 * (low + high), slope;
    SandTouch touch;
    if (rim_touch(r, low, piece, &touch, &slope) && slope > 0) return middle;
    if (rim_touch(r, high, piece, &touch, &slope) && slope < 0) return middle;
    for (int k = 0; k < 60; k++) {
        double angle = 0.5 * (low + high);
        if (!rim_touch(r, angle, piece, &touch, &slope)) return middle;
        if (slope < 0)
            low = angle;
        else
            high = angle;
    }
    return 0.5 * (low + high);
}

// Emits the contacts of a rim with one piece of the boundary.
SAND_HOST_DEVICE void rim_piece(const Rim *r, uint32_t piece) {
    double least = INFINITY, most = -INFINITY, angle = 0, slope;
    SandTouch touch;
    for (int k = 0; k < RIM_SAMPLES; k++) {
        double sample = k * (4 * QUARTER_TURN / RIM_SAMPLES), gap = INFINITY;
        if (rim_touch(r, sample, piece, &touch, &slope)) gap = touch.gap;
        most = fmax(most, gap);
        if (gap < least) {
            least = gap;
            angle = sample;
        }
    }
    // Where a rim lies flat the point of least gap is rounding noise: it then touches by the same points in every step.
    bool flat = most - least < 1e-4 * r->radius;
    if (flat) angle = 0;
    for (int quarter = 0; quarter < 4; quarter++) {
        double half = quarter == 0 ? 4 * QUARTER_TURN / RIM_SAMPLES : 0.5 * QUARTER_TURN;
        double at = angle + quarter * QUARTER_TURN;
        if (!flat) at = rim_least(r, piece, at - half, at + half);
        if (quarter == 0) angle = at;
        if (rim_touch(r, at, piece, &touch, &slope) && touch.gap <= r->reach)
            add_touch(r->finder, r->sink, r->body, r->sub + quarter, r->boundary, rim_point(r, at), 0, &touch);
    }
}

// Emits the contacts of a rim with every piece of the boundary that some sample of it is near, in the order of the samples.
SAND_HOST_DEVICE void touch_rim(const Rim *r) {
    uint32_t pieces[MAX_TOUCHES];
    SandTouch touches[MAX_TOUCHES];
    int piece_count = 0;
    for (int k = 0; k < RIM_SAMPLES; k++) {
        SandVec3 point = rim_point(r, k * (4 * QUARTER_TURN / RIM_SAMPLES));
        int count = find_touches(r->finder, r->sink, r->body, r->boundary, point, 0, r->reach + 0.1 * r->radius, touches);
        for (int t = 0; t < count; t++) {
            int known = 0;
            while (known < piece_count && pieces[known] != touches[t].feature) known++;
            if (known == piece_count && piece_count < MAX_TOUCHES) pieces[piece_count++] = touches[t].feature;
        }
    }
    for (int k = 0; k < piece_count; k++) rim_piece(r, pieces[k]);
}

// --- boundaries as convex bodies --------------------------------------------------------------------------

// Emits the contacts of a body, or of a piece of it, with a boundary, of which the manifold is in a frame at `pose` with its
// origin at `origin`.
SAND_HOST_DEVICE void add_manifold(const SandFinder *finder, SandSink *sink, int body, int piece, int boundary,
                                   const Manifold *m, SandMat3 frame, SandVec3 origin, uint32_t feature, bool numbered) {
    for (int k = 0; k < m->count; k++) {
        const ManifoldPoint *p = &m->point[k];
        SandTouch touch = {m3_apply(frame, m->normal), p->gap, numbered ? feature : p->of_b};
        SandVec3 point = v3_add(origin, m3_apply(frame, p->point));
        int sub = (p->of_a & 255) ^ (p->of_a >> 8) << 6; // corners and edges of one number are told apart
        add_touch(finder, sink, body, (sub & 255) | piece << 8, boundary, v3_madd(point, -0.5 * p->gap, touch.normal), 0,
                  &touch);
    }
}

// Where the center of a convex body is in the world, or of this piece of it.
SAND_HOST_DEVICE SandVec3 convex_position(const SandFinder *finder, const Convex *c, int body) {
    return v3_add(finder->world->position[body], c->center);
}

// A body as a boundary sees it: turned into its frame, with the origin at its own center.
SAND_HOST_DEVICE Convex convex_in_frame(const Convex *c, SandMat3 frame) {
    Convex local = *c;
    local.center = v3_make(0, 0, 0);
    for (int i = 0; i < 3; i++) {
        SandVec3 column = v3_make(c->rotation.m[0][i], c->rotation.m[1][i], c->rotation.m[2][i]);
        column = m3_apply_transposed(frame, column);
        local.rotation.m[0][i] = column.x;
        local.rotation.m[1][i] = column.y;
        local.rotation.m[2][i] = column.z;
    }
    return local;
}

// A solid box or a solid sphere.
SAND_HOST_DEVICE_NOINLINE void touch_solid(const SandFinder *finder, SandSink *sink, const Convex *c, int body, int boundary,
                                           double reach) {
    const SandBoundary *b = &finder->world->boundaries[boundary];
    const SandPose *pose = &finder->collision->pose[boundary];
    SandMat3 frame = q_matrix(pose->rotation);
    Convex local = convex_in_frame(c, frame);
    SandVec3 zero = v3_make(0, 0, 0), position = convex_position(finder, c, body);
    SandVec3 at = m3_apply_transposed(frame, v3_sub(pose->position, position));
    Convex solid = boundary_solid(b, at, &zero);
    Manifold m;
    convex_manifold(&local, &solid, reach, &m);
    add_manifold(finder, sink, body, c->piece, boundary, &m, frame, position, 0, false);
}

// A convex body as the triangles of a mesh see it: in the frame of the mesh, with the origin at the body's center.
typedef struct MeshView {
    const SandTriangleMesh *mesh;
    SandMat3 frame;
    Convex body;
    SandVec3 at; // m, the body's center in the frame of the mesh
    double reach;
} MeshView;

SAND_HOST_DEVICE MeshView mesh_view(const SandFinder *finder, const Convex *c, int body, int boundary, double reach) {
    const SandPose *pose = &finder->collision->pose[boundary];
    MeshView view = {.mesh = finder->world->boundaries[boundary].mesh, .frame = q_matrix(pose->rotation), .reach = reach};
    view.body = convex_in_frame(c, view.frame);
    view.at = m3_apply_transposed(view.frame, v3_sub(convex_position(finder, c, body), pose->position));
    return view;
}

// Begins a walk over the triangles around the body; false where there are none.
SAND_HOST_DEVICE bool mesh_view_cells(const MeshView *view, MeshCells *cells) {
    return mesh_cells_around(view->mesh, view->at, view->body.bound + view->body.radius + view->reach, cells);
}

// Returns the next triangle that the body may touch, or -1.
SAND_HOST_DEVICE int mesh_view_next(const MeshView *view, MeshCells *cells) {
    int f = mesh_cells_next(view->mesh, cells);
    while (f >= 0 && !triangle_is_near(view->mesh, f, &view->body, view->at, view->reach))
        f = mesh_cells_next(view->mesh, cells);
    return f;
}

// Emits the contacts of a body with the triangles around it.
SAND_HOST_DEVICE_NOINLINE void touch_mesh(const SandFinder *finder, SandSink *sink, const Convex *c, int body, int boundary,
                                          double reach) {
    MeshView view = mesh_view(finder, c, body, boundary, reach);
    MeshCells cells;
    Manifold m;
    if (!mesh_view_cells(&view, &cells)) return;
    for (int f = mesh_view_next(&view, &cells); f >= 0; f = mesh_view_next(&view, &cells)) {
        touch_triangle(view.mesh, f, &view.body, view.at, reach, &m);
        add_manifold(finder, sink, body, c->piece, boundary, &m, view.frame, convex_position(finder, c, body), (uint32_t)f,
                     true);
    }
}

// --- a convex body ----------------------------------------------------------------------------------------

// Emits the contacts of the rims of a cylinder with a boundary.
SAND_HOST_DEVICE_NOINLINE void touch_rims(const SandFinder *finder, SandSink *sink, const Convex *c,
                                          const SandSphereProxy *proxy, int boundary) {
    const SandWorld *w = finder->world;
    int body = proxy->body;
    SandQuat turn = shape_piece(&w->shapes[w->shape[body]], 1, w->rotation[body], c->piece).rotation;
    for (int end = 0; end < 2; end++) {
        Rim rim = {.finder = finder, .sink = sink, .body = body, .boundary = boundary, .radius = c->rim};
        rim.sub = 4 * end | c->piece << 8;
        rim.center = v3_add(proxy->center, q_rotate(turn, v3_make(0, 0, end ? c->half : -c->half)));
        rim.x = q_rotate(turn, v3_make(c->rim, 0, 0));
        rim.y = q_rotate(turn, v3_make(0, c->rim, 0));
        rim.reach = boundary_reach(finder, body, boundary, rim.center, proxy->velocity, proxy->turning, 0);
        touch_rim(&rim);
    }
}

// Tests the side of a cylinder against a surface of revolution that protrudes: by the sphere in it whose center is the point
// of the axis that is nearest to the surface. It touches where the side does, if the surface is parallel to it there.
SAND_HOST_DEVICE void touch_side(const SandFinder *finder, SandSink *sink, const Convex *c, int body, int boundary) {
    const SandPose *pose = &finder->collision->pose[boundary];
    SandVec3 up = v3_scale(c->half, convex_axis(c)), position = convex_position(finder, c, body);
    SandVec3 start = pose_apply_inverse(*pose, v3_sub(position, up)), end = pose_apply_inverse(*pose, v3_add(position, up));
    double t = nearest_on_edge_to(&finder->world->boundaries[boundary], start, v3_sub(end, start));
    if (t > 0 && t < 1) touch_point(finder, sink, c, body, 8, boundary, v3_add(c->center, v3_scale(2 * t - 1, up)), c->rim);
}

// How far to look from a convex body for a boundary (m); negative: it is a fixed plane that is far away.
SAND_HOST_DEVICE double convex_boundary_reach(const SandFinder *finder, const SandSphereProxy *proxy, int boundary) {
    double reach = boundary_reach(finder, proxy->body, boundary, proxy->center, proxy->velocity, proxy->turning, 0);
    const SandGuard *guard = &finder->collision->guard[boundary];
    return v3_dot(guard->normal, proxy->center) - guard->offset > proxy->radius + reach ? -1 : reach;
}

// Emits the contacts of a convex body with one boundary that is no mesh.
SAND_HOST_DEVICE_NOINLINE void touch_surface(const SandFinder *finder, SandSink *sink, const SandSphereProxy *proxy,
                                             const Convex *c, int boundary, double reach) {
    const SandBoundary *b = &finder->world->boundaries[boundary];
    int body = proxy->body;
    if (boundary_is_solid(b)) {
        touch_solid(finder, sink, c, body, boundary, reach);
    } else if (c->corner_count == 0) {
        touch_rims(finder, sink, c, proxy, boundary);
        if (b->kind == SAND_REVOLUTION && !b->hollow) touch_side(finder, sink, c, body, boundary);
    } else {
        SandVec3 local = pose_apply_inverse(finder->collision->pose[boundary], proxy->center);
        if (b->kind == SAND_REVOLUTION && revolution_distance(b, local) > proxy->radius + reach) return;
        for (int k = 0; k < c->corner_count; k++)
            touch_point(finder, sink, c, body, k, boundary, convex_corner(c, k), c->radius);
        if (b->kind == SAND_REVOLUTION && !b->hollow) touch_edges(finder, sink, c, body, boundary);
    }
}

// Emits the contacts of a convex body with the boundaries.
SAND_HOST_DEVICE_NOINLINE void convex_boundaries(const SandFinder *finder, SandSink *sink, const SandSphereProxy *proxy) {
    const SandWorld *w = finder->world;
    Convex c = convex_at_origin(w, proxy);
    for (int b = 0; b < w->boundary_count; b++) {
        double reach = convex_boundary_reach(finder, proxy, b);
        if (reach < 0) continue;
        if (w->boundaries[b].kind == SAND_MESH)
            touch_mesh(finder, sink, &c, proxy->body, b, reach);
        else
            touch_surface(finder, sink, proxy, &c, b, reach);
    }
}

// Emits all contacts of sorted convex proxy i: with its neighbors in the grids, then with the boundaries.
SAND_HOST_DEVICE void convex_contacts(const SandFinder *finder, SandSink *sink, int level, int i) {
    const SandSphereProxy *sorted = finder->collision->convex_phase.sorted;
    ConvexNeighbors near = convex_neighbors(finder, level, i);
    for (int j = neighbors_next(&near); j >= 0; j = neighbors_next(&near)) {
        ConvexPair pair = convex_pair(finder->world, &sorted[i], &sorted[j]);
        Manifold m;
        convex_manifold(&pair.a, &pair.b, near.reach, &m);
        add_convex_pair(finder, sink, &sorted[i], &sorted[j], &m);
    }
    convex_boundaries(finder, sink, &sorted[i]);
}
