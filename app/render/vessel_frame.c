// SPDX-License-Identifier: MIT
// Meshes of the frame, in the boundary's own frame of reference and in units of the vessel's largest radius.
#include "app/render/vessel_frame.h"

#include <math.h>
#include <string.h>

#include "app/render/surface.h"
#include "sim/geometry/revolution.h"

// In units of the vessel's radius; the walls of the glass are 0.02 thick.
static const double GAP = 0.022, DISC_RADIUS = 1.30, DISC_HEIGHT = 0.17, COLUMN_PLACE = 1.135, COLUMN_RADIUS = 0.050,
                    KNOB_RADIUS = 0.075, KNOB_HEIGHT = 0.06;
// Degrees about the axis: the default camera looks between two columns, and the third is behind the neck.
static const double COLUMN_ANGLES[] = {-54, -174, 66};
enum { COLUMNS = 3, DISC_SIDES = 64, COLUMN_SIDES = 20, MOST_CORNERS = 32 };

// Radius and height, in shares of the whole, of a disc from the middle of its lower face to that of its upper one.
static const double disc_profile[][2] = {{0, 0},        {0.955, 0},    {0.985, 0.10}, {1, 0.30},
                                         {0.99, 0.50},  {0.955, 0.58}, {0.94, 0.62},  {0.94, 0.70},
                                         {0.925, 0.86}, {0.895, 0.97}, {0.87, 1},     {0, 1}};
// Of a column, from its foot to the middle; the upper half mirrors it.
static const double column_profile[][2] = {{1.25, 0},     {1.25, 0.016}, {0.80, 0.022}, {0.72, 0.042}, {1.05, 0.055},
                                           {1.05, 0.07},  {0.70, 0.083}, {0.60, 0.11},  {0.98, 0.27},  {0.70, 0.41},
                                           {0.60, 0.455}, {1.00, 0.47},  {1.12, 0.50}};
// Of a knob, from the disc outwards.
static const double knob_profile[][2] = {{1, 0}, {1, 0.25}, {0.92, 0.55}, {0.70, 0.85}, {0.40, 0.98}, {0, 1}};
enum {
    DISC_CORNERS = sizeof disc_profile / sizeof *disc_profile,
    COLUMN_CORNERS = sizeof column_profile / sizeof *column_profile,
    KNOB_CORNERS = sizeof knob_profile / sizeof *knob_profile,
};

// The vessel: extent along its axis, and largest radius.
typedef struct Vessel {
    int boundary;
    double low, high, radius;
} Vessel;

// A mesh being made: its step (surface_turn), and where the vertices of its next part begin.
typedef struct Mesh {
    RenderScene *scene;
    int step;
    uint32_t first;
} Mesh;

static bool find_vessel(const SandWorld *world, Vessel *vessel) {
    for (int b = 0; b < world->boundary_count; b++) {
        const SandBoundary *it = &world->boundaries[b];
        if (it->kind != SAND_REVOLUTION || it->side != SAND_INSIDE || it->profile_count < 2) continue;
        *vessel = (Vessel){.boundary = b, .low = INFINITY, .high = -INFINITY};
        for (int i = 0; i < it->profile_count; i++) {
            vessel->low = fmin(vessel->low, it->segments[i].z);
            vessel->high = fmax(vessel->high, it->segments[i].z);
            vessel->radius = fmax(vessel->radius, it->segments[i].rho);
        }
        return true;
    }
    return false;
}

// Revolves a profile that is scaled by (radius, height) and begins at this height. A negative height turns it over: the
// corners are then taken in reverse, so that outside stays to their right.
static bool turn(Mesh *mesh, const double (*profile)[2], int count, double radius, double height, double from,
                 const double axis[2], int sides, SandError *error) {
    double corner[MOST_CORNERS][2];
    for (int i = 0; i < count; i++) {
        const double *at = profile[height > 0 ? i : count - 1 - i];
        corner[i][0] = radius * at[0];
        corner[i][1] = from + height * at[1];
    }
    return surface_turn(mesh->scene, corner, count, axis, sides, mesh->step, &mesh->first, error);
}

static bool add_discs(Mesh *mesh, const Vessel *v, SandError *error) {
    const double middle[2] = {0, 0}, r = v->radius;
    // The moulding of either disc faces away from the vessel.
    return turn(mesh, disc_profile, DISC_CORNERS, DISC_RADIUS * r, DISC_HEIGHT * r, v->low - (GAP + DISC_HEIGHT) * r, middle,
                DISC_SIDES, error) &&
           turn(mesh, disc_profile, DISC_CORNERS, DISC_RADIUS * r, -DISC_HEIGHT * r, v->high + (GAP + DISC_HEIGHT) * r,
                middle, DISC_SIDES, error);
}

static void column_axis(const Vessel *v, int column, double axis[2]) {
    double angle = COLUMN_ANGLES[column] * 3.14159265358979323846 / 180;
    axis[0] = COLUMN_PLACE * v->radius * cos(angle);
    axis[1] = COLUMN_PLACE * v->radius * sin(angle);
}

static bool add_columns(Mesh *mesh, const Vessel *v, SandError *error) {
    double whole[2 * COLUMN_CORNERS - 1][2], r = v->radius, axis[2];
    for (int i = 0; i < COLUMN_CORNERS; i++) {
        int mirrored = 2 * COLUMN_CORNERS - 2 - i;
        whole[i][0] = whole[mirrored][0] = column_profile[i][0];
        whole[i][1] = column_profile[i][1];
        whole[mirrored][1] = 1 - column_profile[i][1];
    }
    for (int k = 0; k < COLUMNS; k++) {
        column_axis(v, k, axis);
        if (!turn(mesh, whole, 2 * COLUMN_CORNERS - 1, COLUMN_RADIUS * r, v->high - v->low + 2 * GAP * r, v->low - GAP * r,
                  axis, COLUMN_SIDES, error))
            return false;
    }
    return true;
}

static bool add_knobs(Mesh *mesh, const Vessel *v, SandError *error) {
    double r = v->radius, axis[2];
    for (int k = 0; k < 2 * COLUMNS; k++) {
        bool upper = k % 2;
        column_axis(v, k / 2, axis);
        double from = upper ? v->high + (GAP + DISC_HEIGHT) * r : v->low - (GAP + DISC_HEIGHT) * r;
        if (!turn(mesh, knob_profile, KNOB_CORNERS, KNOB_RADIUS * r, (upper ? 1 : -1) * KNOB_HEIGHT * r, from, axis,
                  COLUMN_SIDES, error))
            return false;
    }
    return true;
}

typedef bool (*Add)(Mesh *mesh, const Vessel *vessel, SandError *error);

// Adds a surface of some parts, and a coarser version of it.
static bool add_surface(RenderScene *scene, const Vessel *vessel, RenderLook look, const Add *parts, int count,
                        SandError *error) {
    if (!surface_open(scene, vessel->boundary, look, error)) return false;
    RenderSurface *surface = &scene->surfaces.data[scene->surface_count - 1];
    static const float walnut[3] = {0.175f, 0.080f, 0.036f}, brass[3] = {0.78f, 0.52f, 0.19f};
    memcpy(surface->color, look == LOOK_WOOD ? walnut : brass, sizeof surface->color);
    uint32_t vertices = scene->vertex_count;
    for (int step = 1; step <= 2; step++) {
        Mesh mesh = {scene, step, vertices};
        uint32_t first = scene->index_count;
        for (int k = 0; k < count; k++)
            if (!parts[k](&mesh, vessel, error)) return false;
        if (step == 1) surface->count = scene->index_count - first;
        if (step == 2) surface->coarse_first = first;
    }
    surface->coarse_count = scene->index_count - surface->coarse_first;
    return true;
}

// The box that is shown contains the frame as it stands at first.
static void extend_view(RenderScene *scene, const SandWorld *world, const RenderSurface *surface) {
    SandPose pose = sand_boundary_pose(&world->boundaries[surface->boundary], world->time);
    for (uint32_t i = surface->coarse_first; i < surface->coarse_first + surface->coarse_count; i++) {
        const float *p = scene->vertices.data[scene->indices.data[i]].position;
        SandVec3 at = v3_sub(pose_apply(pose, v3_make(p[0], p[1], p[2])), scene->origin);
        scene->lower = v3_make(fmin(scene->lower.x, at.x), fmin(scene->lower.y, at.y), fmin(scene->lower.z, at.z));
        scene->upper = v3_make(fmax(scene->upper.x, at.x), fmax(scene->upper.y, at.y), fmax(scene->upper.z, at.z));
    }
}

bool vessel_frame_add(RenderScene *scene, const SandWorld *world, SandVesselFrame kind, SandError *error) {
    static const Add turned[] = {add_discs, add_columns}, knobs[] = {add_knobs};
    Vessel vessel;
    if (kind == SAND_FRAME_NONE || !find_vessel(world, &vessel)) return true;
    RenderLook look = kind == SAND_FRAME_WOOD ? LOOK_WOOD : LOOK_BRASS;
    if (!add_surface(scene, &vessel, look, turned, 2, error) || !add_surface(scene, &vessel, LOOK_BRASS, knobs, 1, error))
        return false;
    for (int k = 1; k <= 2; k++) extend_view(scene, world, &scene->surfaces.data[scene->surface_count - k]);
    return true;
}
