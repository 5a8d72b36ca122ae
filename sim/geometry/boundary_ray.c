// SPDX-License-Identifier: MIT
// Rays against boundaries, in their local frames: planes, boxes and spheres in closed form, surfaces of revolution segment
// by segment, meshes along the cells that the ray crosses. Also the nearest point of a boundary, from its touches.
#include "sim/geometry/boundary_ray.h"

#include "sim/geometry/boundary_distance.inl"
#include "sim/geometry/shape_ray.inl"

// What a ray has met so far.
typedef struct Meeting {
    double distance;
    SandVec3 normal;
} Meeting;

static const double SLACK = 1e-10; // of the size of a surface: pieces overlap by it, so that no ray slips between two

// Takes a point of the surface that is nearer, if the ray comes to it from the side that the normal points to.
static void meet(Meeting *m, double t, SandVec3 normal, SandVec3 d) {
    if (!(t >= 0 && t < m->distance) || !(v3_dot(normal, d) < 0)) return;
    m->distance = t;
    m->normal = normal;
}

// --- planes, boxes, spheres ---------------------------------------------------------------------------------

static void meet_plane(Meeting *m, SandVec3 from, SandVec3 d) { meet(m, -from.z / d.z, v3_make(0, 0, 1), d); }

static SandVec3 box_face(SandVec3 half, SandVec3 point) {
    SandVec3 normal;
    uint32_t feature;
    box_distance(half, point, &normal, &feature);
    return normal;
}

// A vessel is met where the ray leaves it, an obstacle where it enters.
static void meet_solid(Meeting *m, const SandBoundary *b, SandVec3 from, SandVec3 d) {
    bool inside = b->side == SAND_INSIDE, is_box = b->kind == SAND_BOX_WALLS;
    RayRange range = is_box ? box_range(b->half, from, d) : ray_in_ball(v3_make(0, 0, 0), b->radius, from, d);
    if (range.from > range.to) return;
    double t = inside ? range.to : range.from;
    SandVec3 point = v3_madd(from, t, d);
    SandVec3 out = is_box ? box_face(b->half, point) : v3_unit_or(point, v3_make(0, 0, 1));
    meet(m, t, inside ? v3_neg(out) : out, d);
}

// --- surfaces of revolution ---------------------------------------------------------------------------------

// Takes the point of the ray at t, if it lies on the segment; `rho` is its distance from the axis, along the cone.
static void meet_segment(Meeting *m, const SandProfileSegment *s, SandVec3 from, SandVec3 d, double t, double slack) {
    SandVec3 p = v3_madd(from, t, d);
    double rho = sqrt(p.x * p.x + p.y * p.y), on = (rho - s->rho) * s->along_rho + (p.z - s->z) * s->along_z;
    double off = (p.z - s->z) * s->along_rho - (rho - s->rho) * s->along_z; // from the line: else on the mirrored cone
    if (!(on >= -slack && on <= s->length + slack && fabs(off) <= 1e3 * slack)) return;
    SandVec3 radial = rho > 0 ? v3_make(p.x / rho, p.y / rho, 0) : v3_make(0, 0, 0);
    SandVec3 normal = v3_madd(v3_make(0, 0, s->along_rho), -s->along_z, radial);
    meet(m, t, v3_unit_or(normal, v3_make(0, 0, 1)), d);
}

// The cone of a segment: (along_z rho)^2 = (along_rho (z - z_0) + along_z rho_0)^2, a quadratic in t.
static void meet_cone(Meeting *m, const SandProfileSegment *s, SandVec3 from, SandVec3 d, double slack) {
    double az = s->along_z * s->along_z, g = s->along_rho * (from.z - s->z) + s->along_z * s->rho,
           slope = s->along_rho * d.z;
    double a = az * (d.x * d.x + d.y * d.y) - slope * slope, b = az * (from.x * d.x + from.y * d.y) - g * slope;
    double c = az * (from.x * from.x + from.y * from.y) - g * g, root = b * b - a * c;
    if (root < 0) return;
    double q = -(b + copysign(sqrt(root), b)); // no digits are lost, also where the ray is parallel to a line of the cone
    meet_segment(m, s, from, d, q / a, slack);
    meet_segment(m, s, from, d, c / q, slack);
}

static void meet_revolution(Meeting *m, const SandBoundary *b, SandVec3 from, SandVec3 d) {
    double size = 0;
    for (int i = 0; i < b->profile_count; i++) size = fmax(size, fmax(b->segments[i].rho, fabs(b->segments[i].z)));
    for (int i = 0; i + 1 < b->profile_count; i++) {
        const SandProfileSegment *s = &b->segments[i];
        if (fabs(s->along_z) < 1e-12) // a flat ring
            meet_segment(m, s, from, d, (s->z - from.z) / d.z, SLACK * size);
        else
            meet_cone(m, s, from, d, SLACK * size);
    }
}

// --- meshes -------------------------------------------------------------------------------------------------

static void meet_face(Meeting *m, const SandMeshPlane *plane, SandVec3 from, SandVec3 d, double slack) {
    double t = (plane->offset - v3_dot(plane->normal, from)) / v3_dot(plane->normal, d);
    if (!(t >= 0 && t < m->distance)) return;
    SandVec3 p = v3_madd(from, t, d);
    for (int k = 0; k < 3; k++)
        if (v3_dot(plane->away[k], p) - plane->border[k] > slack) return;
    meet(m, t, plane->normal, d);
}

// A walk of a ray from cell to cell.
typedef struct CellWalk {
    int at[3], step[3];
    double next[3], delta[3]; // where the ray leaves the cell along each axis, and how far from one cell to the next
} CellWalk;

static CellWalk begin_walk(const SandTriangleMesh *mesh, SandVec3 from, SandVec3 d, double t) {
    CellWalk w;
    const double f[3] = {from.x, from.y, from.z}, v[3] = {d.x, d.y, d.z};
    const double low[3] = {mesh->lower.x, mesh->lower.y, mesh->lower.z};
    for (int k = 0; k < 3; k++) {
        double cell = floor((f[k] + t * v[k] - low[k]) / mesh->cell);
        w.at[k] = (int)fmin(fmax(cell, 0), mesh->dim[k] - 1);
        w.step[k] = v[k] > 0 ? 1 : -1;
        w.delta[k] = v[k] == 0 ? INFINITY : mesh->cell / fabs(v[k]);
        double side = low[k] + mesh->cell * (w.at[k] + (v[k] > 0)); // where it leaves this cell
        w.next[k] = v[k] == 0 ? INFINITY : (side - f[k]) / v[k];
    }
    return w;
}

// Goes on to the next cell; false: out of the grid, or the nearest face is in a cell that has been passed.
static bool walk_on(CellWalk *w, const SandTriangleMesh *mesh, double nearest) {
    int k = w->next[0] <= w->next[1] ? (w->next[0] <= w->next[2] ? 0 : 2) : (w->next[1] <= w->next[2] ? 1 : 2);
    if (nearest <= w->next[k]) return false;
    w->next[k] += w->delta[k];
    w->at[k] += w->step[k];
    return w->at[k] >= 0 && w->at[k] < mesh->dim[k];
}

static void meet_mesh(Meeting *m, const SandTriangleMesh *mesh, SandVec3 from, SandVec3 d) {
    SandVec3 half = v3_scale(0.5, v3_sub(mesh->upper, mesh->lower)), off = v3_sub(from, v3_add(mesh->lower, half));
    double slack = SLACK * v3_length(half);
    RayRange range = box_range(v3_add(half, v3_make(slack, slack, slack)), off, d);
    if (range.from > range.to || range.to < 0) return;
    CellWalk w = begin_walk(mesh, from, d, fmax(range.from, 0));
    do {
        int cell = (w.at[2] * mesh->dim[1] + w.at[1]) * mesh->dim[0] + w.at[0];
        for (int i = mesh->cell_start[cell]; i < mesh->cell_start[cell + 1]; i++)
            meet_face(m, &mesh->planes[mesh->cell_faces[i] / 8], from, d, slack);
    } while (walk_on(&w, mesh, m->distance));
}

// --- any of them --------------------------------------------------------------------------------------------

double sand_boundary_ray(const SandBoundary *b, const SandPose *pose, SandVec3 from, SandVec3 d, SandVec3 *normal) {
    SandVec3 local = pose_apply_inverse(*pose, from), along = q_unrotate(pose->rotation, d);
    Meeting m = {INFINITY, {0, 0, 0}};
    switch (b->kind) {
    case SAND_PLANE: meet_plane(&m, local, along); break;
    case SAND_BOX_WALLS:
    case SAND_SPHERE_WALL: meet_solid(&m, b, local, along); break;
    case SAND_REVOLUTION: meet_revolution(&m, b, local, along); break;
    case SAND_MESH: meet_mesh(&m, b->mesh, local, along); break;
    }
    *normal = q_rotate(pose->rotation, m.normal);
    return m.distance;
}

// --- the nearest point --------------------------------------------------------------------------------------

enum { MOST_TOUCHES = 256 };

// The signed distance with the normal to the allowed side, in the local frame.
typedef struct Foot {
    double distance;
    SandVec3 normal;
} Foot;

static Foot solid_foot(const SandBoundary *b, SandVec3 point) {
    Foot foot = {v3_length(point) - b->radius, v3_unit_or(point, v3_make(0, 0, 1))};
    uint32_t feature;
    if (b->kind == SAND_BOX_WALLS) foot.distance = box_distance(b->half, point, &foot.normal, &feature);
    return b->side == SAND_INSIDE ? (Foot){-foot.distance, v3_neg(foot.normal)} : foot;
}

// Of a surface of revolution and of a mesh, whose touches have the nearest point among them: those of a sphere that is large
// enough for an open vessel to push it back (revolution_touch).
static Foot touching_foot(const SandBoundary *b, SandVec3 point) {
    SandTouch touches[MOST_TOUCHES];
    bool is_mesh = b->kind == SAND_MESH;
    double away = is_mesh ? sand_mesh_distance(b->mesh, point) : revolution_distance(b, point);
    double radius = (!is_mesh && away < 0 ? 2.1 : 1 + 1e-9) * fabs(away) + 1e-12, best = INFINITY;
    int count = local_touch(b, point, radius, 0, touches, MOST_TOUCHES);
    Foot foot = {INFINITY, {0, 0, 1}};
    for (int k = 0; k < count && k < MOST_TOUCHES; k++) {
        double to = touches[k].gap + radius;
        if (!(fabs(to - away) < best)) continue;
        best = fabs(to - away);
        foot = (Foot){to, v3_neg(touches[k].normal)};
    }
    return foot;
}

bool sand_boundary_nearest(const SandBoundary *b, const SandPose *pose, SandVec3 point, double reach, double *distance,
                           SandVec3 *nearest, SandVec3 *normal) {
    SandVec3 local = pose_apply_inverse(*pose, point);
    Foot foot = {local.z, {0, 0, 1}};
    if (b->kind == SAND_BOX_WALLS || b->kind == SAND_SPHERE_WALL) foot = solid_foot(b, local);
    if (b->kind == SAND_REVOLUTION || b->kind == SAND_MESH) foot = touching_foot(b, local);
    *distance = foot.distance;
    *normal = q_rotate(pose->rotation, foot.normal);
    *nearest = v3_madd(point, -foot.distance, *normal);
    return foot.distance < reach;
}
