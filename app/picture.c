#include "picture.h"

#include <stdlib.h>
#include <string.h>

#include "sim/memory.h"

const char *const picture_color_names[PICTURE_COLOR_COUNT + 1] = {"body", "speed", "contacts", "force", "residual", NULL};

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
    sand_free(picture->own.data);
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

// A column's weight on the grain at its foot.
static double column_weight(const Picture *picture, const SandWorld *world) {
    double height = picture->upper.z - picture->lower.z;
    return mean_mass(world) * v3_length(world->gravity) * (2 + 0.5 * height / (2 * picture->grain)) + 1e-9;
}

// A range that stays the same for a scene, so that a colour means the same in every frame.
static void choose_range(Picture *picture, const SandWorld *world) {
    double height = picture->upper.z - picture->lower.z, g = v3_length(world->gravity);
    picture->range = 1, picture->least = 0;
    switch (picture->color) {
    case PICTURE_SPEED: picture->range = 0.25 * sqrt(2 * g * height) + 1e-9; break; // of a fall from top to bottom
    case PICTURE_CONTACTS: picture->range = 12; break;
    case PICTURE_FORCE: picture->range = column_weight(picture, world); break;
    case PICTURE_RESIDUAL: // down from the speed that a step of free fall gives, which is what an unsolved contact is off by
        picture->range = pow(10, ceil(log10(g > 0 ? g * world->step : 0.1)));
        picture->least = 1e-4 * picture->range;
        break;
    default: break;
    }
}

// Sums over the contacts of each body, in the last step: their number, their forces, or the squares of their residuals.
static bool sum_contacts(Picture *picture, const SandWorld *world, SandSimulation *sim, SandError *error) {
    memset(picture->values, 0, (size_t)world->body_count * sizeof *picture->values);
    if (!sim || world->step_index == 0) return true;
    const SandProblem *problem = sand_simulation_problem(sim);
    const SandSolution *solution = sand_simulation_solution(sim);
    const int *body = sand_simulation_order(sim);
    const double *residual = NULL;
    if (picture->color == PICTURE_RESIDUAL && !(residual = sand_simulation_residuals(sim, error))) return false;
    for (int i = 0; i < problem->contact_count; i++) {
        const SandContact *c = &problem->contacts[i];
        double force = v3_length(solution->impulse[i]) / problem->step;
        double add = residual ? residual[i] * residual[i] : picture->color == PICTURE_FORCE ? force : force > 0;
        picture->values[body[c->a]] += (float)add;
        if (c->b < problem->dynamic_count) picture->values[body[c->b]] += (float)add;
    }
    for (int k = 0; residual && k < world->body_count; k++) picture->values[k] = sqrtf(picture->values[k]);
    return true;
}

static double place_on_map(const Picture *picture, double value) {
    double at = value / picture->range;
    if (picture->least > 0) at = value > picture->least ? 1 - log(at) / log(picture->least / picture->range) : 0;
    return fmin(1, at);
}

// Each body's place on the colour map.
static bool fill_values(Picture *picture, const SandWorld *world, SandSimulation *sim, SandError *error) {
    if (!SAND_GROW(picture->values, picture->value_room, world->body_count, "colours", error)) return false;
    choose_range(picture, world);
    if (picture->color == PICTURE_SPEED)
        for (int i = 0; i < world->body_count; i++) picture->values[i] = (float)v3_length(world->velocity[i]);
    else if (!sum_contacts(picture, world, picture->color == PICTURE_BODY ? NULL : sim, error))
        return false;
    for (int i = 0; i < world->body_count; i++) picture->values[i] = (float)place_on_map(picture, picture->values[i]);
    return true;
}

static bool is_shown(const SandWorld *world, int body, double time) {
    return !world->gone[body] && world->enter[body] <= time + 1e-9 * world->step;
}

// The list that a body's pieces go to.
static PictureList *list_of(Picture *picture, const SandShape *shape) {
    switch (shape->kind) {
    case SAND_BOX: return &picture->boxes;
    case SAND_CYLINDER: return &picture->cylinders;
    case SAND_CLUMP: return picture->color == PICTURE_BODY ? &picture->rocks : &picture->balls;
    default: return &picture->balls;
    }
}

static void fill_body(Picture *picture, const SandWorld *world, int body) {
    const SandShape *shape = &world->shapes[world->shape[body]];
    double scale = world->scale[body];
    bool large = scale * shape->bound > 4 * picture->grain;
    PictureLook look = shape->kind == SAND_CLUMP ? LOOK_ROCK : shape->kind != SAND_SPHERE || large ? LOOK_METAL : LOOK_SAND;
    PictureInstance it = {.tag = (uint32_t)body | (uint32_t)look << 28, .value = picture->values[body]};
    copy3(it.center, v3_sub(world->position[body], picture->origin));
    copy4(it.rotation, world->rotation[body]);
    copy3(it.velocity, world->velocity[body]);
    copy3(it.spin, world->spin[body]);

    PictureList *list = list_of(picture, shape);
    if (!shape->ball_count) {
        copy3(it.offset, v3_scale(scale, shape->half));
        list->items[list->count++] = it;
    }
    for (int k = 0; k < shape->ball_count; k++) {
        copy3(it.offset, v3_scale(scale, shape->balls[k].center));
        it.radius = (float)(scale * shape->balls[k].radius);
        list->items[list->count++] = it;
    }
}

// The contacts that carry a force, each as a link. The force is shown by the link's width.
static void fill_links(Picture *picture, const SandWorld *world, const SandSimulation *sim) {
    const SandProblem *problem = sand_simulation_problem(sim);
    const SandSolution *solution = sand_simulation_solution(sim);
    const int *body = sand_simulation_order(sim);
    for (int i = 0; i < problem->contact_count; i++) {
        const SandContact *c = &problem->contacts[i];
        double force = v3_dot(solution->impulse[i], c->normal) / problem->step;
        if (!(force > 0.01 * picture->chain_range)) continue; // too thin to be seen
        PictureLink link = {.value = (float)fmin(1, force / picture->chain_range)};
        link.half_width = (float)(0.35 * picture->grain * sqrt(link.value));
        int a = body[c->a];
        bool wall = c->b >= problem->dynamic_count;
        SandVec3 from = v3_sub(world->position[a], picture->origin);
        copy3(link.from, from);
        copy3(link.from_velocity, world->velocity[a]);
        copy3(link.to, wall ? v3_add(from, c->arm_a) : v3_sub(world->position[body[c->b]], picture->origin));
        copy3(link.to_velocity, world->velocity[wall ? a : body[c->b]]);
        picture->links.items[picture->links.count++] = link;
    }
}

// Lays the lists out in the store, each with room for what it will get.
static bool lay_out(Picture *picture, const SandWorld *world, const SandSimulation *sim, SandError *error) {
    PictureList *lists[] = {&picture->balls, &picture->rocks, &picture->boxes, &picture->cylinders};
    enum { LISTS = sizeof lists / sizeof *lists };
    for (int k = 0; k < LISTS; k++) lists[k]->count = 0;
    for (int i = 0; i < world->body_count; i++) {
        const SandShape *shape = &world->shapes[world->shape[i]];
        if (is_shown(world, i, picture->time)) list_of(picture, shape)->count += shape->ball_count ? shape->ball_count : 1;
    }
    size_t instances = 0, links = sim && picture->chains ? (size_t)sand_simulation_problem(sim)->contact_count : 0;
    for (int k = 0; k < LISTS; k++) instances += (size_t)lists[k]->count;
    size_t bytes = instances * sizeof(PictureInstance) + links * sizeof(PictureLink);

    PictureStore *store = picture->store ? picture->store : &picture->own;
    if (bytes > store->room) {
        // What is given may be too small; then the picture's own memory serves, and who gave it sees how much was needed.
        store->bytes = bytes;
        store = &picture->own;
        if (bytes > store->room && !sand_grow(&store->data, &store->room, bytes + bytes / 2, 1, "instances", error))
            return false;
    }
    store->bytes = bytes;
    PictureInstance *at = store->data;
    for (int k = 0; k < LISTS; k++) {
        lists[k]->items = at;
        at += lists[k]->count;
        lists[k]->count = 0;
    }
    picture->links = (PictureLinks){(PictureLink *)at, 0};
    return true;
}

bool picture_take(Picture *picture, const SandWorld *world, SandSimulation *sim, double time, PictureColor color,
                  SandError *error) {
    static _Atomic uint64_t last_stamp;
    picture->stamp = ++last_stamp;
    picture->time = time;
    picture->back = world->time - time;
    picture->color = color;
    picture->chain_range = 2 * column_weight(picture, world);
    if (!fill_values(picture, world, sim, error) || !lay_out(picture, world, sim, error)) return false;
    for (int i = 0; i < world->body_count; i++)
        if (is_shown(world, i, time)) fill_body(picture, world, i);
    if (sim && picture->chains && world->step_index > 0) fill_links(picture, world, sim);

    for (int k = 0; k < picture->surface_count; k++) {
        PictureSurface *s = &picture->surfaces[k];
        SandPose pose = {picture->origin, q_identity()};
        if (!s->in_world) pose = sand_boundary_pose(&world->boundaries[s->boundary], time);
        copy3(s->position, v3_sub(pose.position, picture->origin));
        copy4(s->rotation, pose.rotation);
    }
    return true;
}
