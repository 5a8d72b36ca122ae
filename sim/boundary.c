#include "boundary.h"

#include "memory.h"
#include "mesh.h"
#include "revolution.h"
#include "shape.h"

// ---------------------------------------------------------------------------------------------------------------
// Making

static void start(SandBoundary *b, SandBoundaryKind kind, SandSide side) {
    *b = (SandBoundary){.kind = kind, .side = side, .pose.rotation = q_identity()};
}

// The shortest turn that brings +z to the unit vector n.
static SandQuat turn_z_to(SandVec3 n) {
    if (n.z < -1 + 1e-12) return (SandQuat){0, 1, 0, 0};
    return q_unit((SandQuat){1 + n.z, -n.y, n.x, 0});
}

bool sand_boundary_plane(SandBoundary *b, SandVec3 point, SandVec3 normal, SandError *error) {
    start(b, SAND_PLANE, SAND_INSIDE);
    if (!v3_finite(point)) return sand_fail(error, "point: it is not finite");
    double length = v3_length(normal);
    if (!isfinite(length) || length < 1e-150) return sand_fail(error, "normal: it must be finite and not 0");
    b->pose = (SandPose){point, turn_z_to(v3_scale(1 / length, normal))};
    return true;
}

bool sand_boundary_box(SandBoundary *b, SandVec3 half, SandSide side, SandError *error) {
    start(b, SAND_BOX_WALLS, side);
    if (!v3_finite(half) || half.x <= 0 || half.y <= 0 || half.z <= 0)
        return sand_fail(error, "half: %g %g %g must be finite and above 0", half.x, half.y, half.z);
    b->half = half;
    return true;
}

bool sand_boundary_sphere(SandBoundary *b, double radius, SandSide side, SandError *error) {
    start(b, SAND_SPHERE_WALL, side);
    if (!isfinite(radius) || radius <= 0) return sand_fail(error, "radius: %g must be finite and above 0", radius);
    b->radius = radius;
    return true;
}

bool sand_boundary_revolution(SandBoundary *b, const double (*profile)[2], int count, SandSide side, SandError *error) {
    start(b, SAND_REVOLUTION, side);
    if (sand_revolution_make(b, profile, count, error)) return true;
    sand_boundary_free(b);
    return false;
}

bool sand_boundary_mesh_file(SandBoundary *b, const char *path, SandError *error) {
    start(b, SAND_MESH, SAND_OUTSIDE);
    b->mesh = sand_mesh_read_obj(path, error);
    return b->mesh != NULL;
}

bool sand_boundary_terrain(SandBoundary *b, const double *heights, int nx, int ny, SandVec3 half, SandError *error) {
    start(b, SAND_MESH, SAND_OUTSIDE);
    b->mesh = sand_mesh_terrain(heights, nx, ny, half, error);
    return b->mesh != NULL;
}

void sand_boundary_free(SandBoundary *b) {
    sand_free(b->profile);
    sand_free(b->pieces);
    sand_mesh_free(b->mesh);
    *b = (SandBoundary){0};
}

// ---------------------------------------------------------------------------------------------------------------
// Motion

// How long it has moved by this time.
static double time_moved(const SandMotion *m, double time) {
    double moved = fmax(time - m->start, 0);
    return m->stop > m->start ? fmin(moved, m->stop - m->start) : moved;
}

static SandVec3 unit_axis(const SandMotion *m) { return v3_unit_or(m->axis, v3_make(0, 0, 1)); }

// The axis of turning travels with the boundary, so the turn comes first and the shift after it.
SandPose sand_boundary_pose(const SandBoundary *b, double time) {
    if (!b->moves) return b->pose;
    const SandMotion *m = &b->motion;
    double moved = time_moved(m, time);
    SandQuat turn = q_exp(v3_scale(m->rate * moved, unit_axis(m)));
    SandVec3 arm = q_rotate(turn, v3_sub(b->pose.position, m->center));
    SandPose pose = {v3_madd(v3_add(m->center, arm), moved, m->velocity), q_unit(q_mul(turn, b->pose.rotation))};
    return pose;
}

void sand_boundary_velocity(const SandBoundary *b, double time, double step, SandVec3 *velocity, SandVec3 *spin) {
    *velocity = *spin = v3_make(0, 0, 0);
    if (!b->moves) return;
    SandVec3 from = sand_boundary_pose(b, time).position, to = sand_boundary_pose(b, time + step).position;
    double moved = time_moved(&b->motion, time + step) - time_moved(&b->motion, time);
    *velocity = v3_scale(1 / step, v3_sub(to, from)); // the chord, not the tangent: it lands on the arc
    *spin = v3_scale(b->motion.rate * moved / step, unit_axis(&b->motion));
}

// ---------------------------------------------------------------------------------------------------------------
// Touches. Each kind works in its local frame; the plane alone needs no more than its normal.

static int put(SandTouch *touches, int room, int count, SandVec3 normal, double gap, uint32_t feature) {
    if (count < room) touches[count] = (SandTouch){normal, gap, feature};
    return count + 1;
}

static bool turned(SandQuat q) { return q.x != 0 || q.y != 0 || q.z != 0; }

// The third column of the rotation matrix: where the local z axis points.
static SandVec3 z_axis(SandQuat q) {
    return v3_make(2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y));
}

static int plane_touch(const SandPose *pose, SandVec3 center, double radius, double reach, SandTouch *touches, int room) {
    SandVec3 up = z_axis(pose->rotation);
    double gap = v3_dot(up, v3_sub(center, pose->position)) - radius;
    return gap > reach ? 0 : put(touches, room, 0, v3_neg(up), gap, 0);
}

// Features: -x, +x, -y, +y, -z, +z.
static int box_inside_touch(SandVec3 half, SandVec3 c, double radius, double reach, SandTouch *touches, int room) {
    double range = radius + reach;
    int n = 0;
    if (c.x + half.x <= range) n = put(touches, room, n, v3_make(-1, 0, 0), c.x + half.x - radius, 0);
    if (half.x - c.x <= range) n = put(touches, room, n, v3_make(1, 0, 0), half.x - c.x - radius, 1);
    if (c.y + half.y <= range) n = put(touches, room, n, v3_make(0, -1, 0), c.y + half.y - radius, 2);
    if (half.y - c.y <= range) n = put(touches, room, n, v3_make(0, 1, 0), half.y - c.y - radius, 3);
    if (c.z + half.z <= range) n = put(touches, room, n, v3_make(0, 0, -1), c.z + half.z - radius, 4);
    if (half.z - c.z <= range) n = put(touches, room, n, v3_make(0, 0, 1), half.z - c.z - radius, 5);
    return n;
}

static double block_distance(SandVec3 half, SandVec3 point, SandVec3 *normal, uint32_t *feature) {
    SandShape block = {.kind = SAND_BOX, .half = half};
    return sand_shape_distance(&block, 1, point, normal, feature);
}

static int box_outside_touch(SandVec3 half, SandVec3 c, double radius, double reach, SandTouch *touches, int room) {
    double range = radius + reach;
    if (fabs(c.x) > half.x + range || fabs(c.y) > half.y + range || fabs(c.z) > half.z + range) return 0;
    SandVec3 out;
    uint32_t feature;
    double gap = block_distance(half, c, &out, &feature) - radius;
    return gap > reach ? 0 : put(touches, room, 0, v3_neg(out), gap, feature);
}

static int sphere_touch(const SandBoundary *b, SandVec3 c, double radius, double reach, SandTouch *touches, int room) {
    double away = v3_length(c), gap = (b->side == SAND_INSIDE ? b->radius - away : away - b->radius) - radius;
    if (gap > reach) return 0;
    SandVec3 out = v3_unit_or(c, v3_make(0, 0, 1));
    return put(touches, room, 0, b->side == SAND_INSIDE ? out : v3_neg(out), gap, 0);
}

static int local_touch(const SandBoundary *b, SandVec3 c, double radius, double reach, SandTouch *touches, int room) {
    switch (b->kind) {
    case SAND_PLANE: break; // has its own way
    case SAND_BOX_WALLS:
        return b->side == SAND_INSIDE ? box_inside_touch(b->half, c, radius, reach, touches, room)
                                      : box_outside_touch(b->half, c, radius, reach, touches, room);
    case SAND_REVOLUTION: return sand_revolution_touch(b, c, radius, reach, touches, room);
    case SAND_SPHERE_WALL: return sphere_touch(b, c, radius, reach, touches, room);
    case SAND_MESH: return sand_mesh_touch(b->mesh, c, radius, reach, touches, room);
    }
    return 0;
}

int sand_boundary_touch(const SandBoundary *b, const SandPose *pose, SandVec3 center, double radius, double reach,
                        SandTouch *touches, int room) {
    if (b->kind == SAND_PLANE) return plane_touch(pose, center, radius, reach, touches, room);
    SandVec3 local = v3_sub(center, pose->position);
    if (!turned(pose->rotation)) return local_touch(b, local, radius, reach, touches, room);

    SandMat3 r = q_matrix(pose->rotation);
    int count = local_touch(b, m3_apply_transposed(r, local), radius, reach, touches, room);
    for (int i = 0; i < count && i < room; i++) touches[i].normal = m3_apply(r, touches[i].normal);
    return count;
}

double sand_boundary_distance(const SandBoundary *b, const SandPose *pose, SandVec3 point) {
    SandVec3 local = pose_invert(*pose, point), normal;
    uint32_t feature;
    double sign = b->side == SAND_INSIDE ? -1 : 1;
    switch (b->kind) {
    case SAND_PLANE: return local.z;
    case SAND_BOX_WALLS: return sign * block_distance(b->half, local, &normal, &feature);
    case SAND_REVOLUTION: return sand_revolution_distance(b, local);
    case SAND_SPHERE_WALL: return sign * (v3_length(local) - b->radius);
    case SAND_MESH: return sand_mesh_distance(b->mesh, local);
    }
    return INFINITY;
}

bool sand_boundary_flat_or_hollow(const SandBoundary *b) {
    switch (b->kind) {
    case SAND_PLANE: return true;
    case SAND_BOX_WALLS:
    case SAND_SPHERE_WALL: return b->side == SAND_INSIDE;
    case SAND_REVOLUTION: return sand_revolution_hollow(b);
    case SAND_MESH: return false;
    }
    return false;
}
