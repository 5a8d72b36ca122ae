// SPDX-License-Identifier: MIT
// Meshes of pieces of scenery: in the world, or in the frame of the body that carries them.
#include "app/render/scenery.h"

#include <math.h>

#include "app/render/surface.h"
#include "sim/geometry/mesh.h"

enum { AROUND = 32, ALONG = 12 }; // sides of a rod; those of the tube of a ring

static const double PI = 3.14159265358979323846;

// Linear, as in shaders/common/look.glsl.
static SandVec3 color_of(SandLook look) {
    switch (look) {
    case SAND_LOOK_CHROME: return v3_make(0.86, 0.87, 0.89);
    case SAND_LOOK_STEEL: return v3_make(0.50, 0.51, 0.52);
    case SAND_LOOK_METAL: return v3_make(0.26, 0.29, 0.33);
    case SAND_LOOK_GRAPHITE: return v3_make(0.055, 0.057, 0.062);
    case SAND_LOOK_WOOD: return v3_make(0.30, 0.155, 0.070);
    case SAND_LOOK_BRASS: return v3_make(0.78, 0.52, 0.19);
    case SAND_LOOK_RUBBER: return v3_make(0.022, 0.022, 0.024);
    case SAND_LOOK_PAINT: return v3_make(0.115, 0.135, 0.062);
    case SAND_LOOK_BRICK: return v3_make(0.36, 0.095, 0.050);
    case SAND_LOOK_BLACK: return v3_make(0.024, 0.025, 0.028);
    case SAND_LOOK_CONCRETE: return v3_make(0.33, 0.32, 0.30);
    default: return v3_make(0.45, 0.42, 0.38);
    }
}

static bool add_quad(RenderScene *scene, const SandVec3 corner[4], SandVec3 normal, SandError *error) {
    uint32_t first = scene->vertex_count;
    for (int k = 0; k < 4; k++)
        if (!surface_vertex(scene, corner[k], normal, 0, error)) return false;
    return surface_triangle(scene, first, first + 1, first + 2, error) &&
           surface_triangle(scene, first, first + 2, first + 3, error);
}

// A block about `middle` with these half edges.
static bool add_block(RenderScene *scene, SandVec3 middle, const SandVec3 edge[3], SandError *error) {
    for (int face = 0; face < 6; face++) {
        SandVec3 out = v3_scale(face % 2 ? 1 : -1, edge[face / 2]), u = edge[(face / 2 + 1) % 3],
                 v = edge[(face / 2 + 2) % 3];
        SandVec3 at = v3_add(middle, out);
        SandVec3 corner[4] = {v3_sub(v3_sub(at, u), v), v3_sub(v3_add(at, u), v), v3_add(v3_add(at, u), v),
                              v3_add(v3_sub(at, u), v)};
        if (!add_quad(scene, corner, v3_unit_or(out, v3_make(0, 0, 1)), error)) return false;
    }
    return true;
}

static bool add_box(RenderScene *scene, const SandScenery *p, SandError *error) {
    SandVec3 half = v3_scale(0.5, v3_sub(p->to, p->from));
    const SandVec3 edge[3] = {v3_make(half.x, 0, 0), v3_make(0, half.y, 0), v3_make(0, 0, half.z)};
    return add_block(scene, v3_scale(0.5, v3_add(p->from, p->to)), edge, error);
}

// The directions across a piece from one end to the other; one of them is level where it can be.
static void across(SandVec3 along, double turn, SandVec3 *u, SandVec3 *v) {
    SandVec3 axis = v3_unit_or(along, v3_make(0, 0, 1));
    *u = fabs(axis.z) > 0.999 ? v3_make(1, 0, 0) : v3_unit_or(v3_cross(axis, v3_make(0, 0, 1)), v3_make(1, 0, 0));
    *v = v3_cross(axis, *u);
    SandVec3 turned = v3_add(v3_scale(cos(turn), *u), v3_scale(sin(turn), *v));
    *v = v3_cross(axis, turned);
    *u = turned;
}

static bool add_bar(RenderScene *scene, const SandScenery *p, SandError *error) {
    SandVec3 half = v3_scale(0.5, v3_sub(p->to, p->from)), u, v;
    across(half, p->turn, &u, &v);
    const SandVec3 edge[3] = {half, v3_scale(0.5 * p->width, u), v3_scale(0.5 * p->width, v)};
    return add_block(scene, v3_add(p->from, half), edge, error);
}

static bool add_rod(RenderScene *scene, const SandScenery *p, SandError *error) {
    SandVec3 along = v3_sub(p->to, p->from), u, v;
    across(along, p->turn, &u, &v);
    uint32_t side = scene->vertex_count;
    for (int k = 0; k <= AROUND; k++) {
        double a = 2 * PI * k / AROUND;
        SandVec3 out = v3_add(v3_scale(cos(a), u), v3_scale(sin(a), v));
        if (!surface_vertex(scene, v3_madd(p->from, p->radius, out), out, 0, error) ||
            !surface_vertex(scene, v3_madd(p->to, p->radius, out), out, 0, error))
            return false;
    }
    for (uint32_t k = 0; k < AROUND; k++) {
        uint32_t a = side + 2 * k;
        if (!surface_triangle(scene, a, a + 1, a + 3, error) || !surface_triangle(scene, a, a + 3, a + 2, error))
            return false;
    }
    for (int end = 0; end < 2; end++) {
        SandVec3 at = end ? p->to : p->from, out = v3_unit_or(end ? along : v3_neg(along), v3_make(0, 0, 1));
        uint32_t middle = scene->vertex_count;
        if (!surface_vertex(scene, at, out, 0, error)) return false;
        for (int k = 0; k <= AROUND; k++) {
            double a = 2 * PI * k / AROUND;
            SandVec3 rim = v3_add(v3_scale(p->radius * cos(a), u), v3_scale(p->radius * sin(a), v));
            if (!surface_vertex(scene, v3_add(at, rim), out, 0, error)) return false;
            if (k && !surface_triangle(scene, middle, middle + (uint32_t)k, middle + (uint32_t)k + 1, error)) return false;
        }
    }
    return true;
}

// A tube around a closed line: of a ring a circle about the axis from `from` to `to`, of a link a stadium between the two.
static bool add_tube(RenderScene *scene, const SandScenery *p, SandError *error) {
    SandVec3 along = v3_sub(p->to, p->from), u, v, axis = v3_unit_or(along, v3_make(0, 0, 1));
    across(along, p->turn, &u, &v);
    bool link = p->kind == SAND_SCENERY_LINK;
    // The plane of the line is that of `first` and `second`; the tube is around it.
    SandVec3 first = u, second = link ? axis : v, normal = link ? v : axis;
    double straight = link ? fmax(0.5 * v3_length(along) - p->radius, 0) : 0;
    SandVec3 middle = link ? v3_madd(p->from, 0.5, along) : p->from;
    uint32_t begin = scene->vertex_count;
    for (int i = 0; i <= 2 * AROUND; i++) {
        double a = PI * i / AROUND;
        SandVec3 out = v3_add(v3_scale(cos(a), first), v3_scale(sin(a), second));
        SandVec3 at = v3_madd(v3_madd(middle, p->radius, out),
                              sin(a) > 1e-9    ? straight
                              : sin(a) < -1e-9 ? -straight
                                               : 0,
                              second);
        for (int k = 0; k <= ALONG; k++) {
            double b = 2 * PI * k / ALONG;
            SandVec3 n = v3_add(v3_scale(cos(b), out), v3_scale(sin(b), normal));
            if (!surface_vertex(scene, v3_madd(at, 0.5 * p->width, n), n, 0, error)) return false;
        }
    }
    for (uint32_t i = 0; i < 2 * AROUND; i++)
        for (uint32_t k = 0; k < ALONG; k++) {
            uint32_t a = begin + i * (ALONG + 1) + k, b = a + ALONG + 1;
            if (!surface_triangle(scene, a, a + 1, b + 1, error) || !surface_triangle(scene, a, b + 1, b, error))
                return false;
        }
    return true;
}

static bool add_piece(RenderScene *scene, const SandWorld *world, const SandScenery *piece, SandError *error) {
    RenderSurface *surface = surface_open(scene, -1, (RenderLook)piece->look, error);
    if (!surface) return false;
    bool carried = piece->body >= 0 && piece->body<world->body_count, own = v3_length(piece->color)> 0;
    SandVec3 color = own ? piece->color : color_of(piece->look);
    surface->body = carried ? piece->body : -1;
    surface->in_world = !carried;
    surface->color[0] = (float)color.x;
    surface->color[1] = (float)color.y;
    surface->color[2] = (float)color.z;
    SandScenery p = *piece;
    if (!carried) {
        p.from = v3_sub(p.from, scene->origin);
        p.to = v3_sub(p.to, scene->origin);
    }
    scene->carries |= carried;
    int at = scene->surface_count - 1;
    bool added = p.kind == SAND_SCENERY_BOX   ? add_box(scene, &p, error)
                 : p.kind == SAND_SCENERY_BAR ? add_bar(scene, &p, error)
                 : p.kind == SAND_SCENERY_ROD ? add_rod(scene, &p, error)
                                              : add_tube(scene, &p, error);
    surface = &scene->surfaces.data[at];
    surface->count = scene->index_count - surface->first;
    return added;
}

// --- ground beyond the world's -------------------------------------------------------------------------------

// The ground slopes from the rim of a terrain down to the level on which its block stands.
static bool add_foot(RenderScene *scene, int boundary, const SandBoundary *b, SandError *error) {
    const SandTriangleMesh *mesh = b->mesh;
    double wide = mesh->upper.x - mesh->lower.x, below = mesh->lower.z - 0.02 * wide;
    RenderSurface *surface = surface_open(scene, boundary, LOOK_EARTH, error);
    if (!surface) return false;
    surface->beyond = true;
    SandVec3 middle = v3_scale(0.5, v3_add(mesh->lower, mesh->upper));
    for (int i = 0; i < mesh->edge_count; i++) {
        const SandMeshEdge *e = &mesh->edges[i];
        if (e->fold != SAND_FOLD_RIM) continue;
        enum { ROWS = 8 };
        SandVec3 end[2] = {mesh->vertices[e->from], mesh->vertices[e->to]};
        uint32_t first = scene->vertex_count;
        for (int row = 0; row <= ROWS; row++) {
            double t = (double)row / ROWS, fall = t * t * (3 - 2 * t);
            for (int k = 0; k < 2; k++) {
                SandVec3 p = end[k], away = v3_make(p.x - middle.x, p.y - middle.y, 0);
                double drop = p.z - below, steep = drop * 6 * t * (1 - t) / (0.35 * wide);
                p = v3_madd(p, t * 0.5 * wide / fmax(v3_length(away), 1e-9), away);
                p.z -= fall * drop + 1e-4 * wide;
                away = v3_unit_or(away, v3_make(1, 0, 0));
                if (!surface_vertex(scene, p, v3_unit_or(v3_make(steep * away.x, steep * away.y, 1), v3_make(0, 0, 1)), 0,
                                    error))
                    return false;
            }
        }
        for (uint32_t row = 0; row < ROWS; row++) {
            uint32_t a = first + 2 * row;
            if (!surface_triangle(scene, a, a + 1, a + 3, error) || !surface_triangle(scene, a, a + 3, a + 2, error))
                return false;
        }
    }
    surface = &scene->surfaces.data[scene->surface_count - 1];
    surface->count = scene->index_count - surface->first;
    return true;
}

// A slope goes on in its plane, in place of the part that the view shows.
static bool add_slope(RenderScene *scene, int boundary, const SandBoundary *b, SandError *error) {
    SandVec3 n = q_rotate(b->pose.rotation, v3_make(0, 0, 1)),
             level = v3_unit_or(v3_cross(v3_make(0, 0, 1), n), v3_make(0, 1, 0));
    SandVec3 up = v3_cross(n, level), at = v3_sub(b->pose.position, scene->origin);
    double size = v3_length(v3_sub(scene->upper, scene->lower)), far = 40 * size;
    for (int k = 0; k < scene->surface_count; k++)
        if (scene->surfaces.data[k].boundary == boundary) scene->surfaces.data[k].count = 0;
    RenderSurface *surface = surface_open(scene, boundary, LOOK_EARTH, error);
    if (!surface) return false;
    surface->beyond = surface->in_world = true;
    at = v3_scale(v3_dot(at, n), n);
    const SandVec3 corner[4] = {v3_madd(v3_madd(at, -far, level), -far, up), v3_madd(v3_madd(at, far, level), -far, up),
                                v3_madd(v3_madd(at, far, level), far, up), v3_madd(v3_madd(at, -far, level), far, up)};
    bool added = add_quad(scene, corner, n, error);
    surface = &scene->surfaces.data[scene->surface_count - 1];
    surface->count = scene->index_count - surface->first;
    return added;
}

static bool add_ground(RenderScene *scene, const SandWorld *world, SandError *error) {
    for (int i = 0; i < world->boundary_count; i++) {
        const SandBoundary *b = &world->boundaries[i];
        double facing = q_rotate(b->pose.rotation, v3_make(0, 0, 1)).z;
        if (b->kind == SAND_MESH && b->mesh && !b->mesh->closed && !b->moves && !add_foot(scene, i, b, error)) return false;
        if (b->kind == SAND_PLANE && !b->moves && facing > 0.3 && facing <= 0.99 && !add_slope(scene, i, b, error))
            return false;
    }
    return true;
}

bool scenery_add(RenderScene *scene, const SandWorld *world, SandError *error) {
    const SandStudio *studio = &scene->studio;
    for (int i = 0; i < studio->scenery_count; i++)
        if (!add_piece(scene, world, &studio->scenery[i], error)) return false;
    bool outdoors = studio->ground == SAND_GROUND_SOIL || studio->ground == SAND_GROUND_SNOW;
    return !outdoors || add_ground(scene, world, error);
}
