#include "picture.h"

#include <stdlib.h>
#include <string.h>

#include "sim/memory.h"

const char *const picture_color_names[PICTURE_COLOR_COUNT + 1] = {"body", "speed", "contacts", "force", NULL};

static void copy3(float *to, SandVec3 v) { to[0] = (float)v.x, to[1] = (float)v.y, to[2] = (float)v.z; }
static void copy4(float *to, SandQuat q) { to[0] = (float)q.x, to[1] = (float)q.y, to[2] = (float)q.z, to[3] = (float)q.w; }

// --- once for a world ---------------------------------------------------------------------------------------

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// The median size of the bodies, from at most a thousand of them.
static double typical_size(const SandWorld *world) {
    enum { MOST = 1000 };
    double sizes[MOST];
    int step = world->body_count / MOST + 1, n = 0;
    for (int i = 0; i < world->body_count && n < MOST; i += step)
        sizes[n++] = world->scale[i] * world->shapes[world->shape[i]].bound;
    if (n == 0) return 1;
    qsort(sizes, (size_t)n, sizeof *sizes, compare);
    return sizes[n / 2];
}

// The ground is the scene's own floor, or a table on which the lowest thing of the scene stands.
static double find_floor(const Picture *picture, const SandWorld *world) {
    for (int b = 0; b < world->boundary_count; b++)
        if (surface_is_floor(world, b)) return world->boundaries[b].pose.position.z - picture->origin.z;
    double lowest = INFINITY;
    for (int k = 0; k < picture->surface_count; k++) {
        const PictureSurface *s = &picture->surfaces[k];
        SandPose pose = {{0, 0, 0}, q_identity()};
        if (!s->in_world) {
            pose = sand_boundary_pose(&world->boundaries[s->boundary], world->time);
            pose.position = v3_sub(pose.position, picture->origin);
        }
        for (uint32_t i = s->first; i < s->first + s->count; i++) {
            const float *p = picture->vertices[picture->indices[i]].position;
            lowest = fmin(lowest, pose_apply(pose, v3_make(p[0], p[1], p[2])).z);
        }
    }
    return isfinite(lowest) ? lowest : picture->lower.z;
}

// A patch of ground is shown whole, also where the view's box ends before it.
static void show_ground(Picture *picture) {
    for (int k = 0; k < picture->surface_count; k++) {
        const PictureSurface *s = &picture->surfaces[k];
        if (s->look != LOOK_EARTH) continue;
        for (uint32_t i = s->first; i < s->first + s->count; i++) {
            const float *p = picture->vertices[picture->indices[i]].position;
            picture->lower =
                v3_make(fmin(picture->lower.x, p[0]), fmin(picture->lower.y, p[1]), fmin(picture->lower.z, p[2]));
            picture->upper =
                v3_make(fmax(picture->upper.x, p[0]), fmax(picture->upper.y, p[1]), fmax(picture->upper.z, p[2]));
        }
    }
}

bool picture_init(Picture *picture, const SandWorld *world, SandVec3 view_lower, SandVec3 view_upper, SandError *error) {
    static _Atomic unsigned last_version;
    *picture = (Picture){.version = ++last_version};
    picture->origin = v3_scale(0.5, v3_add(view_lower, view_upper));
    picture->lower = v3_sub(view_lower, picture->origin);
    picture->upper = v3_sub(view_upper, picture->origin);
    picture->grain = typical_size(world);
    for (int b = 0; b < world->boundary_count; b++)
        if (!surface_add(picture, world, b, error)) return picture_free(picture), false;
    picture->floor = find_floor(picture, world);
    show_ground(picture);
    return true;
}

void picture_free(Picture *picture) {
    sand_free(picture->balls.items);
    sand_free(picture->rocks.items);
    sand_free(picture->boxes.items);
    sand_free(picture->cylinders.items);
    sand_free(picture->vertices);
    sand_free(picture->indices);
    sand_free(picture->surfaces);
    sand_free(picture->values);
    *picture = (Picture){0};
}

// --- for each frame -----------------------------------------------------------------------------------------

static double mean_mass(const SandWorld *world) {
    double sum = 0;
    for (int i = 0; i < world->body_count; i++) sum += world->mass[i];
    return world->body_count ? sum / world->body_count : 1;
}

// A range that stays the same for a scene, so that a colour means the same in every frame.
static double color_range(const Picture *picture, const SandWorld *world) {
    double height = picture->upper.z - picture->lower.z, g = v3_length(world->gravity);
    switch (picture->color) {
    case PICTURE_SPEED: return 0.25 * sqrt(2 * g * height) + 1e-9; // a quarter of the speed of a fall from top to bottom
    case PICTURE_CONTACTS: return 12;
    case PICTURE_FORCE: return mean_mass(world) * g * (2 + 0.5 * height / (2 * picture->grain)) + 1e-9; // a column's weight
    default: return 1;
    }
}

// Each body's number of contacts, or the sum of the forces on it, in the last step.
static void count_contacts(Picture *picture, const SandWorld *world, const SandSimulation *sim) {
    memset(picture->values, 0, (size_t)world->body_count * sizeof *picture->values);
    const SandProblem *problem = sand_simulation_problem(sim);
    const SandSolution *solution = sand_simulation_solution(sim);
    const int *body = sand_simulation_order(sim);
    if (world->step_index == 0) return;
    for (int i = 0; i < problem->contact_count; i++) {
        const SandContact *c = &problem->contacts[i];
        double force = v3_length(solution->impulse[i]) / problem->step;
        if (!(force > 0)) continue;
        float add = picture->color == PICTURE_FORCE ? (float)force : 1;
        picture->values[body[c->a]] += add;
        if (c->b < problem->dynamic_count) picture->values[body[c->b]] += add;
    }
}

static void fill_values(Picture *picture, const SandWorld *world, const SandSimulation *sim) {
    picture->range = color_range(picture, world);
    bool contacts = picture->color == PICTURE_CONTACTS || picture->color == PICTURE_FORCE;
    if (contacts && sim) count_contacts(picture, world, sim);
    for (int i = 0; i < world->body_count; i++) {
        double value = picture->color == PICTURE_SPEED ? v3_length(world->velocity[i])
                       : contacts && sim               ? picture->values[i]
                                                       : 0;
        picture->values[i] = (float)fmin(1, value / picture->range);
    }
}

static bool fill_body(Picture *picture, const SandWorld *world, int body, SandError *error) {
    const SandShape *shape = &world->shapes[world->shape[body]];
    double scale = world->scale[body];
    bool large = scale * shape->bound > 4 * picture->grain;
    PictureLook look = shape->kind == SAND_CLUMP ? LOOK_ROCK : shape->kind != SAND_SPHERE || large ? LOOK_METAL : LOOK_SAND;
    PictureInstance it = {.tag = (uint32_t)body | (uint32_t)look << 28, .value = picture->values[body]};
    copy3(it.center, v3_sub(world->position[body], picture->origin));
    copy4(it.rotation, world->rotation[body]);
    copy3(it.velocity, world->velocity[body]);
    copy3(it.spin, world->spin[body]);

    PictureList *list = shape->kind == SAND_BOX                               ? &picture->boxes
                        : shape->kind == SAND_CYLINDER                        ? &picture->cylinders
                        : look == LOOK_ROCK && picture->color == PICTURE_BODY ? &picture->rocks
                                                                              : &picture->balls;
    int pieces = shape->ball_count ? shape->ball_count : 1;
    if ((size_t)(list->count + pieces) > list->room &&
        !SAND_GROW(list->items, list->room, list->count + pieces + list->count / 2, "instances", error))
        return false;
    if (!shape->ball_count) {
        copy3(it.offset, v3_scale(scale, shape->half));
        list->items[list->count++] = it;
    }
    for (int k = 0; k < shape->ball_count; k++) {
        copy3(it.offset, v3_scale(scale, shape->balls[k].center));
        it.radius = (float)(scale * shape->balls[k].radius);
        list->items[list->count++] = it;
    }
    return true;
}

bool picture_take(Picture *picture, const SandWorld *world, const SandSimulation *sim, double time, PictureColor color,
                  SandError *error) {
    static _Atomic uint64_t last_stamp;
    picture->stamp = ++last_stamp;
    picture->time = time;
    picture->back = world->time - time;
    picture->color = color;
    picture->balls.count = picture->rocks.count = picture->boxes.count = picture->cylinders.count = 0;
    if (!SAND_GROW(picture->values, picture->value_room, world->body_count, "colours", error)) return false;
    fill_values(picture, world, sim);
    for (int i = 0; i < world->body_count; i++)
        if (!world->gone[i] && world->enter[i] <= time + 1e-9 * world->step && !fill_body(picture, world, i, error))
            return false;

    for (int k = 0; k < picture->surface_count; k++) {
        PictureSurface *s = &picture->surfaces[k];
        SandPose pose = {picture->origin, q_identity()};
        if (!s->in_world) pose = sand_boundary_pose(&world->boundaries[s->boundary], time);
        copy3(s->position, v3_sub(pose.position, picture->origin));
        copy4(s->rotation, pose.rotation);
    }
    return true;
}
