// SPDX-License-Identifier: MIT
// The surfaces of boundaries as triangles. Vessels are glass, so that their contents are visible; ground is matte.
#include <string.h>

#include "app/render/surface.h"
#include "sim/core/array.h"
#include "sim/geometry/mesh.h"
#include "sim/geometry/revolution.h"

enum { AROUND = 64, SMOOTH = 4, MOST_CORNERS = 96 };

static const double PI = 3.14159265358979323846;

// --- primitives -------------------------------------------------------------------------------------------

bool surface_vertex(RenderScene *scene, SandVec3 position, SandVec3 normal, double turn, SandError *error) {
    if (scene->vertex_count == scene->vertices.capacity &&
        !SAND_RESERVE(scene->vertices, 2 * scene->vertex_count + 64, "vertices", error))
        return false;
    scene->vertices.data[scene->vertex_count++] = (RenderVertex){{(float)position.x, (float)position.y, (float)position.z},
                                                                 {(float)normal.x, (float)normal.y, (float)normal.z},
                                                                 (float)turn};
    return true;
}

bool surface_triangle(RenderScene *scene, uint32_t a, uint32_t b, uint32_t c, SandError *error) {
    if (scene->index_count + 3 > scene->indices.capacity &&
        !SAND_RESERVE(scene->indices, 2 * scene->index_count + 96, "triangles", error))
        return false;
    uint32_t *to = scene->indices.data + scene->index_count;
    to[0] = a;
    to[1] = b;
    to[2] = c;
    scene->index_count += 3;
    return true;
}

RenderSurface *surface_open(RenderScene *scene, int boundary, RenderLook look, SandError *error) {
    if (!SAND_RESERVE(scene->surfaces, scene->surface_count + 1, "surfaces", error)) return NULL;
    RenderSurface *s = &scene->surfaces.data[scene->surface_count++];
    *s = (RenderSurface){.first = scene->index_count, .look = look, .boundary = boundary, .body = -1};
    return s;
}

static bool add_polygon(RenderScene *scene, const SandVec3 *corners, int count, SandVec3 normal, SandError *error) {
    uint32_t first = scene->vertex_count;
    for (int i = 0; i < count; i++)
        if (!surface_vertex(scene, corners[i], normal, -1, error)) return false;
    for (int i = 2; i < count; i++)
        if (!surface_triangle(scene, first, first + (uint32_t)i - 1, first + (uint32_t)i, error)) return false;
    return true;
}

// The edges of a pane of glass: strips along its sides, which catch the light.
static bool add_edges(RenderScene *scene, const SandVec3 *corners, int count, SandVec3 normal, double width,
                      SandError *error) {
    for (int i = 0; i < count; i++) {
        SandVec3 a = corners[i], b = corners[(i + 1) % count], along = v3_sub(b, a);
        if (v3_length(along) < width) continue;
        SandVec3 middle = {0, 0, 0};
        for (int k = 0; k < count; k++) middle = v3_madd(middle, 1.0 / count, corners[k]);
        SandVec3 in = v3_unit_or(v3_cross(normal, along), normal);
        if (v3_dot(in, v3_sub(middle, a)) < 0) in = v3_neg(in);
        SandVec3 strip[4] = {a, b, v3_madd(b, width, in), v3_madd(a, width, in)};
        uint32_t first = scene->vertex_count;
        for (int k = 0; k < 4; k++)
            if (!surface_vertex(scene, strip[k], normal, -2, error)) return false;
        if (!surface_triangle(scene, first, first + 1, first + 2, error) ||
            !surface_triangle(scene, first, first + 2, first + 3, error))
            return false;
    }
    return true;
}

// --- planes -------------------------------------------------------------------------------------------------

static SandVec3 plane_normal(const SandBoundary *b) { return q_rotate(b->pose.rotation, v3_make(0, 0, 1)); }

bool surface_is_floor(const SandWorld *world, int boundary) {
    const SandBoundary *b = &world->boundaries[boundary];
    return b->kind == SAND_PLANE && !b->moves && plane_normal(b).z > 0.99;
}

// Clips a polygon to normal . x >= offset. Returns the new number of corners.
static int cut(SandVec3 *corners, int count, SandVec3 normal, double offset) {
    SandVec3 kept[MOST_CORNERS];
    int n = 0;
    for (int i = 0; i < count; i++) {
        SandVec3 a = corners[i], b = corners[(i + 1) % count];
        double da = v3_dot(normal, a) - offset, db = v3_dot(normal, b) - offset;
        if (da >= 0 && n < MOST_CORNERS) kept[n++] = a;
        if ((da < 0) != (db < 0) && n < MOST_CORNERS) kept[n++] = v3_madd(a, da / (da - db), v3_sub(b, a));
    }
    memcpy(corners, kept, (size_t)n * sizeof *corners);
    return n;
}

// A wall extends to the other walls, within the box that is shown.
static bool add_wall(RenderScene *scene, const SandWorld *world, int boundary, SandError *error) {
    const SandBoundary *b = &world->boundaries[boundary];
    SandVec3 n = plane_normal(b), t = v3_perpendicular(n), s = v3_cross(n, t);
    SandVec3 point = v3_sub(b->pose.position, scene->origin);
    double size = 2 * v3_length(v3_sub(scene->upper, scene->lower));
    // Centered at the projection of the middle of the box.
    SandVec3 middle = v3_scale(v3_dot(n, point), n);
    SandVec3 corners[MOST_CORNERS] = {
        v3_madd(v3_madd(middle, size, t), size, s), v3_madd(v3_madd(middle, -size, t), size, s),
        v3_madd(v3_madd(middle, -size, t), -size, s), v3_madd(v3_madd(middle, size, t), -size, s)};
    int count = 4;
    double slack = 0.03 * size / 2;
    for (int axis = 0; axis < 3; axis++) {
        SandVec3 e = v3_make(axis == 0, axis == 1, axis == 2);
        count = cut(corners, count, e, v3_dot(e, scene->lower) - slack);
        count = cut(corners, count, v3_neg(e), -v3_dot(e, scene->upper) - slack);
    }
    for (int k = 0; k < world->boundary_count; k++) {
        const SandBoundary *other = &world->boundaries[k];
        if (k == boundary || other->kind != SAND_PLANE || other->moves) continue;
        SandVec3 m = plane_normal(other);
        if (fabs(v3_dot(m, n)) < 1 - 1e-6)
            count = cut(corners, count, m, v3_dot(m, v3_sub(other->pose.position, scene->origin)));
    }
    if (count < 3) return true;
    // What lies on a slope should be seen to lie on something; an upright wall must not hide what is behind it.
    bool slope = plane_normal(b).z > 0.3;
    RenderSurface *surface = surface_open(scene, boundary, slope ? LOOK_EARTH : LOOK_GLASS, error);
    if (!surface) return false;
    surface->in_world = !b->moves;
    if (b->moves) {
        // In the frame of the boundary, so that it moves along.
        for (int i = 0; i < count; i++) corners[i] = pose_apply_inverse(b->pose, v3_add(corners[i], scene->origin));
        n = v3_make(0, 0, 1);
    }
    bool added =
        add_polygon(scene, corners, count, n, error) && (slope || add_edges(scene, corners, count, n, 0.0022 * size, error));
    surface->count = scene->index_count - surface->first;
    return added;
}

// --- boxes --------------------------------------------------------------------------------------------------

static bool add_box(RenderScene *scene, int boundary, const SandBoundary *b, SandError *error) {
    RenderSurface *surface = surface_open(scene, boundary, b->side == SAND_INSIDE ? LOOK_GLASS : LOOK_EARTH, error);
    if (!surface) return false;
    for (int face = 0; face < 6; face++) {
        int k = face / 2;
        double sign = face % 2 ? 1 : -1;
        double n[3] = {0}, u[3] = {0}, v[3] = {0}, half[3] = {b->half.x, b->half.y, b->half.z};
        n[k] = sign;
        u[(k + 1) % 3] = half[(k + 1) % 3];
        v[(k + 2) % 3] = half[(k + 2) % 3];
        SandVec3 normal = v3_make(n[0], n[1], n[2]), middle = v3_scale(half[k], normal);
        SandVec3 du = v3_make(u[0], u[1], u[2]), dv = v3_scale(sign, v3_make(v[0], v[1], v[2]));
        SandVec3 corners[4] = {v3_sub(v3_sub(middle, du), dv), v3_sub(v3_add(middle, du), dv),
                               v3_add(v3_add(middle, du), dv), v3_add(v3_sub(middle, du), dv)};
        if (!add_polygon(scene, corners, 4, normal, error)) return false;
        if (b->side == SAND_INSIDE && !add_edges(scene, corners, 4, normal, 0.008 * v3_length(b->half), error)) return false;
    }
    surface->count = scene->index_count - surface->first;
    return true;
}

// --- surfaces of revolution ---------------------------------------------------------------------------------

typedef struct Profile {
    double rho, z, normal_rho, normal_z; // normal pointing away from the bodies
} Profile;

// Two coincident points are the two sides of a crease.
static bool is_crease(Profile a, Profile b) { return a.rho == b.rho && a.z == b.z; }

// Triangles between the rows of a revolved profile whose vertices begin at `first`, `step` rows and columns at a time.
static bool add_bands(RenderScene *scene, uint32_t first, const Profile *line, int count, int sides, int step,
                      SandError *error) {
    for (int i = 0, next; i + 1 < count; i = next) {
        next = i + 1;
        if (is_crease(line[i], line[next])) continue;
        while (next < i + step && next + 1 < count && !is_crease(line[next], line[next + 1])) next++;
        for (int k = 0; k < sides; k += step) {
            uint32_t a = first + (uint32_t)(i * (sides + 1) + k), b = first + (uint32_t)(next * (sides + 1) + k);
            uint32_t on = (uint32_t)step;
            if (!surface_triangle(scene, a, a + on, b + on, error) || !surface_triangle(scene, a, b + on, b, error))
                return false;
        }
    }
    return true;
}

// The vertices of a line of profile points that is revolved about a vertical axis.
static bool add_rows(RenderScene *scene, const Profile *line, int count, const double axis[2], int sides, SandError *error) {
    for (int i = 0; i < count; i++)
        for (int k = 0; k <= sides; k++) {
            double angle = 2 * PI * k / sides, c = cos(angle), s = sin(angle);
            SandVec3 at = v3_make(axis[0] + line[i].rho * c, axis[1] + line[i].rho * s, line[i].z);
            SandVec3 normal = v3_make(line[i].normal_rho * c, line[i].normal_rho * s, line[i].normal_z);
            if (!surface_vertex(scene, at, normal, (double)k / sides, error)) return false;
        }
    return true;
}

// Revolves a line of profile points about the axis.
static bool add_turned(RenderScene *scene, const Profile *line, int count, SandError *error) {
    uint32_t first = scene->vertex_count;
    return add_rows(scene, line, count, (double[2]){0, 0}, AROUND, error) &&
           add_bands(scene, first, line, count, AROUND, 1, error);
}

// Profile points with normals; a sharp corner has two, and smooth stretches are rounded by cubic Hermite segments.
static int round_profile(const double (*corner)[2], int count, Profile *out, int capacity) {
    int n = 0;
    for (int i = 0; i + 1 < count; i++) {
        double dr = corner[i + 1][0] - corner[i][0], dz = corner[i + 1][1] - corner[i][1], length = hypot(dr, dz);
        double tangent[2][2];
        for (int end = 0; end < 2; end++) {
            int at = i + end, other = end ? at + 1 : at - 1; // the neighbor beyond this end
            tangent[end][0] = dr / length;
            tangent[end][1] = dz / length;
            if (other < 0 || other >= count) continue;
            double er = end ? corner[other][0] - corner[at][0] : corner[at][0] - corner[other][0];
            double ez = end ? corner[other][1] - corner[at][1] : corner[at][1] - corner[other][1];
            double l = hypot(er, ez);
            if ((er * dr + ez * dz) / (l * length) < 0.77) continue; // sharper than 40 degrees: a crease
            double sr = er / l + dr / length, sz = ez / l + dz / length, sl = hypot(sr, sz);
            tangent[end][0] = sr / sl;
            tangent[end][1] = sz / sl;
        }
        // A straight segment needs only its ends.
        bool straight = tangent[0][0] * tangent[1][0] + tangent[0][1] * tangent[1][1] > 1 - 1e-9;
        int pieces = straight ? 1 : SMOOTH;
        for (int k = 0; k <= pieces && n < capacity; k++) {
            double t = (double)k / pieces, t2 = t * t, t3 = t2 * t;
            double h0 = 2 * t3 - 3 * t2 + 1, h1 = t3 - 2 * t2 + t, h2 = 3 * t2 - 2 * t3, h3 = t3 - t2;
            double rho =
                h0 * corner[i][0] + h1 * length * tangent[0][0] + h2 * corner[i + 1][0] + h3 * length * tangent[1][0];
            double z = h0 * corner[i][1] + h1 * length * tangent[0][1] + h2 * corner[i + 1][1] + h3 * length * tangent[1][1];
            double g0 = 6 * t2 - 6 * t, g1 = 3 * t2 - 4 * t + 1, g3 = 3 * t2 - 2 * t;
            double vr =
                g0 * corner[i][0] + g1 * length * tangent[0][0] - g0 * corner[i + 1][0] + g3 * length * tangent[1][0];
            double vz =
                g0 * corner[i][1] + g1 * length * tangent[0][1] - g0 * corner[i + 1][1] + g3 * length * tangent[1][1];
            double v = hypot(vr, vz);
            if (!(v > 0)) {
                vr = dr;
                vz = dz;
                v = length;
            }
            // The bodies are to the left along the profile. The previous segment has left the point of a smooth corner.
            if (k == 0 && n > 0 && fabs(out[n - 1].normal_rho - vz / v) + fabs(out[n - 1].normal_z + vr / v) < 1e-6)
                continue;
            out[n++] = (Profile){fmax(0, rho), z, vz / v, -vr / v};
        }
    }
    return n;
}

bool surface_turn(RenderScene *scene, const double (*corner)[2], int count, const double axis[2], int sides, int step,
                  uint32_t *first, SandError *error) {
    enum { CAPACITY = 512 };
    Profile line[CAPACITY];
    uint32_t begin = *first;
    count = round_profile(corner, count, line, CAPACITY);
    *first += (uint32_t)(count * (sides + 1));
    return (begin < scene->vertex_count || add_rows(scene, line, count, axis, sides, error)) &&
           add_bands(scene, begin, line, count, sides, step, error);
}

// A shell: inner wall, outer wall slightly outside of it, and a rim where it is open; then coarse walls. Rims and coarse
// walls together are the shell for the software renderer.
static bool add_shell(RenderScene *scene, RenderSurface *surface, const Profile *line, int count, double thickness,
                      SandError *error) {
    enum { MOST = 4096 };
    static _Thread_local Profile outer[MOST];
    for (int i = 0; i < count; i++) {
        outer[i] = line[i];
        outer[i].rho = fmax(0, line[i].rho + thickness * line[i].normal_rho);
        outer[i].z = line[i].z + thickness * line[i].normal_z;
        if (line[i].rho == 0) outer[i].rho = 0;
    }
    uint32_t first = scene->vertex_count, each = (uint32_t)(count * (AROUND + 1));
    if (!add_turned(scene, line, count, error) || !add_turned(scene, outer, count, error)) return false;
    surface->coarse_first = scene->index_count;
    for (int end = 0; end < 2; end++) {
        Profile in = line[end ? count - 1 : 0], out = outer[end ? count - 1 : 0];
        if (in.rho == 0) continue;
        double sign = end ? -1 : 1; // along the profile, outward from its end
        Profile rim[2] = {{in.rho, in.z, sign * in.normal_z, -sign * in.normal_rho},
                          {out.rho, out.z, sign * in.normal_z, -sign * in.normal_rho}};
        if (!add_turned(scene, rim, 2, error)) return false;
    }
    surface->count = scene->index_count - surface->first;
    if (!add_bands(scene, first, line, count, AROUND, 2, error) ||
        !add_bands(scene, first + each, outer, count, AROUND, 2, error))
        return false;
    surface->coarse_count = scene->index_count - surface->coarse_first;
    return true;
}

static bool add_revolution(RenderScene *scene, int boundary, const SandBoundary *b, SandError *error) {
    enum { MOST = 800, CAPACITY = 4096 };
    static _Thread_local double corner[MOST][2];
    static _Thread_local Profile line[CAPACITY];
    // An upright vessel is shown as far as the view goes.
    bool upright = fabs(b->pose.rotation.w) > 0.9999 && !b->moves;
    double low = upright ? scene->lower.z + scene->origin.z - b->pose.position.z : -INFINITY;
    double high = upright ? scene->upper.z + scene->origin.z - b->pose.position.z : INFINITY;
    double margin = 0.02 * (scene->upper.z - scene->lower.z), widest = 0;
    low -= margin;
    high += margin;

    int n = 0;
    for (int i = 0; i < b->profile_count && n < MOST - 2; i++) {
        double rho = b->segments[i].rho, z = b->segments[i].z;
        if (i > 0) {
            double rho0 = b->segments[i - 1].rho, z0 = b->segments[i - 1].z;
            double limits[2] = {z > z0 ? low : high, z > z0 ? high : low};
            for (int k = 0; k < 2; k++)
                if ((z0 < limits[k]) != (z < limits[k]) && z != z0) {
                    double t = (limits[k] - z0) / (z - z0);
                    corner[n][0] = rho0 + t * (rho - rho0);
                    corner[n++][1] = limits[k];
                }
        }
        if (z >= low && z <= high) {
            corner[n][0] = rho;
            corner[n++][1] = z;
        }
    }
    if (n < 2) return true;
    for (int i = 0; i < n; i++) widest = fmax(widest, corner[i][0]);

    bool glass = b->side == SAND_INSIDE;
    RenderSurface *surface = surface_open(scene, boundary, glass ? LOOK_GLASS : LOOK_EARTH, error);
    if (!surface) return false;
    surface->marks = b->moves && b->motion.rate != 0;
    int count = round_profile(corner, n, line, CAPACITY);
    if (glass) return add_shell(scene, surface, line, count, 0.02 * widest, error);
    bool added = add_turned(scene, line, count, error);
    surface->count = scene->index_count - surface->first;
    return added;
}

static bool add_sphere(RenderScene *scene, int boundary, const SandBoundary *b, SandError *error) {
    enum { ROWS = 48 };
    Profile line[ROWS + 1];
    for (int i = 0; i <= ROWS; i++) {
        double angle = PI * ((double)i / ROWS - 0.5), c = i == 0 || i == ROWS ? 0 : cos(angle), s = sin(angle);
        line[i] = (Profile){b->radius * c, b->radius * s, c, s};
    }
    RenderSurface *surface = surface_open(scene, boundary, b->side == SAND_INSIDE ? LOOK_GLASS : LOOK_EARTH, error);
    if (!surface) return false;
    surface->marks = b->moves;
    bool added = add_turned(scene, line, ROWS + 1, error);
    surface->count = scene->index_count - surface->first;
    return added;
}

// --- meshes -------------------------------------------------------------------------------------------------

static bool add_mesh(RenderScene *scene, int boundary, const SandBoundary *b, SandError *error) {
    const SandTriangleMesh *mesh = b->mesh;
    RenderSurface *surface = surface_open(scene, boundary, LOOK_EARTH, error);
    if (!surface) return false;
    uint32_t first = scene->vertex_count;
    for (int i = 0; i < mesh->vertex_count; i++)
        if (!surface_vertex(scene, mesh->vertices[i], v3_unit_or(mesh->vertex_normals[i], v3_make(0, 0, 1)), 0, error))
            return false;
    for (int i = 0; i < mesh->face_count; i++) {
        const int *f = mesh->faces[i];
        if (!surface_triangle(scene, first + (uint32_t)f[0], first + (uint32_t)f[1], first + (uint32_t)f[2], error))
            return false;
    }
    // A patch of ground stands on a block: sides from its rim down to a common level.
    double below = mesh->lower.z - 0.02 * (mesh->upper.x - mesh->lower.x);
    for (int i = 0; i < mesh->edge_count && !mesh->closed; i++) {
        const SandMeshEdge *e = &mesh->edges[i];
        if (e->fold != SAND_FOLD_RIM) continue;
        SandVec3 a = mesh->vertices[e->from], c = mesh->vertices[e->to];
        SandVec3 side[4] = {c, a, v3_make(a.x, a.y, below), v3_make(c.x, c.y, below)};
        SandVec3 out = v3_unit_or(v3_make(e->away.x, e->away.y, 0), v3_make(0, 0, 1));
        if (!add_polygon(scene, side, 4, out, error)) return false;
    }
    surface->count = scene->index_count - surface->first;
    return true;
}

bool surface_add(RenderScene *render_scene, const SandWorld *world, int boundary, SandError *error) {
    const SandBoundary *b = &world->boundaries[boundary];
    if (b->hidden) return true;
    switch (b->kind) {
    case SAND_PLANE: return surface_is_floor(world, boundary) || add_wall(render_scene, world, boundary, error);
    case SAND_BOX_WALLS: return add_box(render_scene, boundary, b, error);
    case SAND_REVOLUTION: return add_revolution(render_scene, boundary, b, error);
    case SAND_SPHERE_WALL: return add_sphere(render_scene, boundary, b, error);
    case SAND_MESH: return add_mesh(render_scene, boundary, b, error);
    }
    return true;
}
