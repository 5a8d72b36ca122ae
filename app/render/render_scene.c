#include "app/render/render_scene.h"

#include <stdlib.h>
#include <string.h>

#include "sim/world/render_instance.inl"
#include "sim/core/array.h"

const char *const picture_color_names[PICTURE_COLOR_COUNT + 1] = {"body", "speed", "contacts", "force", "residual", NULL};

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
    sand_free(picture->places);
    sand_free(picture->values);
    *picture = (Picture){0};
}

// --- for each frame -----------------------------------------------------------------------------------------

static double mean_mass(const SandWorld *world) {
    double sum = 0;
    for (int i = 0; i < world->body_count; i++) sum += world->mass[i];
    return world->body_count ? sum / world->body_count : 1;
}

static double largest_sphere(const SandWorld *world) {
    double largest = 0;
    for (int i = 0; i < world->body_count; i++) {
        const SandShape *shape = &world->shapes[world->shape[i]];
        for (int k = 0; k < shape->sphere_count; k++) largest = fmax(largest, world->scale[i] * shape->spheres[k].radius);
    }
    return largest;
}

// Places, mean mass and the largest ball stay as long as no body is added: one who draws a million bodies of another machine
// goes through none.
static bool find_places(Picture *picture, const SandWorld *world, SandError *error) {
    double last = world->body_count ? world->mass[world->body_count - 1] : 0;
    if (picture->places && picture->body_count == world->body_count && picture->last_mass == last) return true;
    if (!SAND_GROW(picture->places, picture->place_capacity, world->body_count + 1, "places of instances", error))
        return false;
    picture->counts = sand_instance_places(world, picture->places);
    picture->mass = mean_mass(world), picture->last_mass = last;
    picture->largest = largest_sphere(world);
    picture->body_count = world->body_count;
    return true;
}

// A column's weight on the grain at its foot.
static double column_weight(const Picture *picture, const SandWorld *world) {
    double height = picture->upper.z - picture->lower.z;
    return picture->mass * v3_length(world->gravity) * (2 + 0.5 * height / (2 * picture->grain)) + 1e-9;
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

// How another machine finds a body's value. The residual is the host's.
static const SandShade shades[PICTURE_COLOR_COUNT] = {
    [PICTURE_SPEED] = SAND_SHADE_SPEED, [PICTURE_CONTACTS] = SAND_SHADE_CONTACTS, [PICTURE_FORCE] = SAND_SHADE_FORCE};

// Sums over the contacts of each body, in the last step: their number, their forces, or the squares of their residuals.
static bool sum_contacts(Picture *picture, const SandWorld *world, SandSimulation *sim, SandError *error) {
    memset(picture->values, 0, (size_t)world->body_count * sizeof *picture->values);
    if (!sim || world->step_index == 0) return true;
    const SandProblem *problem = sand_simulation_problem(sim);
    const SandSolution *solution = sand_simulation_solution(sim);
    const int *body = sand_simulation_order(sim);
    const double *residual = NULL;
    if (picture->color == PICTURE_RESIDUAL && !(residual = sand_simulation_residuals(sim, error))) return false;
    for (int i = 0; i < sand_simulation_solved(sim); i++) {
        const SandContact *c = &problem->contacts[i];
        float add = residual ? (float)(residual[i] * residual[i])
                             : instance_contact_value(shades[picture->color], solution->impulse[i], problem->step);
        picture->values[body[c->a]] += add;
        if (c->b < problem->dynamic_count) picture->values[body[c->b]] += add;
    }
    for (int k = 0; residual && k < world->body_count; k++) picture->values[k] = sqrtf(picture->values[k]);
    return true;
}

// What a body's value is, before it is placed on the colour map.
static bool fill_values(Picture *picture, const SandWorld *world, SandSimulation *sim, SandError *error) {
    if (!SAND_GROW(picture->values, picture->value_capacity, world->body_count, "colours", error)) return false;
    if (picture->color == PICTURE_SPEED)
        for (int i = 0; i < world->body_count; i++) picture->values[i] = instance_speed(world, i);
    else if (!sum_contacts(picture, world, picture->color == PICTURE_BODY ? NULL : sim, error))
        return false;
    return true;
}

// The contacts that carry a force, each as a link. The force is shown by the link's width.
static void fill_links(Picture *picture, const SandWorld *world, const SandSimulation *sim) {
    const SandProblem *problem = sand_simulation_problem(sim);
    const SandSolution *solution = sand_simulation_solution(sim);
    const int *body = sand_simulation_order(sim);
    for (int i = 0; i < sand_simulation_solved(sim); i++) {
        const SandContact *c = &problem->contacts[i];
        double force = v3_dot(solution->impulse[i], c->normal) / problem->step;
        if (!(force > 0.01 * picture->chain_range)) continue; // too thin to be seen
        PictureLink link = {.value = (float)fmin(1, force / picture->chain_range)};
        link.half_width = (float)(0.35 * picture->grain * sqrt(link.value));
        int a = body[c->a];
        bool wall = c->b >= problem->dynamic_count;
        SandVec3 from = v3_sub(world->position[a], picture->origin);
        instance_copy3(link.from, from);
        instance_copy3(link.from_velocity, world->velocity[a]);
        instance_copy3(link.to, wall ? v3_add(from, c->arm_a) : v3_sub(world->position[body[c->b]], picture->origin));
        instance_copy3(link.to_velocity, world->velocity[wall ? a : body[c->b]]);
        picture->links.items[picture->links.count++] = link;
    }
}

// The lists as they lie one after the other, from `at` on; NULL: nowhere on the host.
static void place_lists(Picture *picture, SandInstance *at) {
    const SandInstanceCounts *c = &picture->counts;
    bool rocks = picture->color == PICTURE_BODY; // else the balls of clumps are drawn as all others, which lie before them
    picture->spheres.count = c->spheres + (rocks ? 0 : c->pieces);
    picture->rocks.count = rocks ? c->pieces : 0;
    picture->boxes.count = c->boxes, picture->cylinders.count = c->cylinders;
    PictureList *lists[] = {&picture->spheres, &picture->rocks, &picture->boxes, &picture->cylinders};
    for (int k = 0; k < 4; k++) {
        lists[k]->items = at;
        if (at) at += lists[k]->count;
    }
    picture->links = (PictureLinks){(PictureLink *)at, 0};
}

// Makes room in the store for all lists.
static bool pack_problem(Picture *picture, const SandSimulation *sim, SandError *error) {
    size_t links = sim && picture->chains ? (size_t)sand_simulation_solved(sim) : 0;
    size_t bytes = sand_instance_total(picture->counts) * sizeof(SandInstance) + links * sizeof(PictureLink);
    PictureStore *store = picture->store ? picture->store : &picture->own;
    store->away = false;
    if (bytes > store->capacity) {
        // What is given may be too small; then the picture's own memory serves, and who gave it sees how much was needed.
        store->bytes = bytes;
        store = &picture->own;
        if (bytes > store->capacity && !sand_grow(&store->data, &store->capacity, bytes + bytes / 2, 1, "instances", error))
            return false;
    }
    store->bytes = bytes;
    place_lists(picture, store->data);
    return true;
}

static SandInstanceDef describe(const Picture *picture) {
    return (SandInstanceDef){.origin = picture->origin,
                             .time = picture->time,
                             .grain = picture->grain,
                             .shade = shades[picture->color],
                             .range = picture->range,
                             .least = picture->least};
}

static bool take_on_host(Picture *picture, const SandWorld *world, SandSimulation *sim, SandError *error) {
    bool contacts = picture->chains || (picture->color != PICTURE_BODY && picture->color != PICTURE_SPEED);
    if (sim && !(contacts ? sand_simulation_fetch_contacts(sim, error) : sand_simulation_fetch(sim, error))) return false;
    if (!fill_values(picture, world, sim, error) || !pack_problem(picture, sim, error)) return false;
    SandInstanceDef def = describe(picture);
    SandInstance *first = picture->spheres.items;
    for (int i = 0; i < world->body_count; i++)
        instance_write(world, i, &def, instance_place_on_map(&def, picture->values[i]), first + picture->places[i]);
    if (sim && picture->chains && world->step_index > 0) fill_links(picture, world, sim);
    return true;
}

void picture_close_slot(PictureStore *store) {
    if (store->slot) store->backend->slot_free(store->slot);
    store->slot = NULL, store->backend = NULL, store->away = false;
}

// The bodies stay where they are, and their instances are written there. False where that is not to be had.
static bool take_away(Picture *picture, SandSimulation *sim) {
    SandError refused; // the host serves then
    PictureStore *store = picture->store;
    const SandBackend *backend = sim ? sand_simulation_backend(sim) : NULL;
    if (!store || !store->takes_slots || !backend) return false;
    if (picture->color == PICTURE_RESIDUAL || picture->chains) return false;
    if (store->backend != backend) picture_close_slot(store);
    if (!store->slot) store->slot = backend->slot_create(&refused);
    store->backend = backend;
    SandInstanceDef def = describe(picture);
    if (!store->slot || !sand_simulation_instances(sim, &def, store->slot, &refused)) return false;
    store->bytes = sand_instance_total(picture->counts) * sizeof(SandInstance);
    store->away = true;
    place_lists(picture, NULL);
    return true;
}

void picture_clear(Picture *picture) {
    picture->spheres.count = picture->rocks.count = picture->boxes.count = picture->cylinders.count = 0;
    picture->links.count = 0;
}

bool picture_read(Picture *picture, SandError *error) {
    const PictureStore *store = picture->store;
    PictureStore *own = &picture->own;
    if (!store || !store->away || picture->spheres.items) return true;
    if (!sand_grow(&own->data, &own->capacity, store->bytes + 1, 1, "instances", error) ||
        !store->backend->slot_read(store->slot, own->data, store->bytes, error))
        return false;
    place_lists(picture, own->data);
    return true;
}

bool picture_take(Picture *picture, const SandWorld *world, SandSimulation *sim, double time, PictureColor color,
                  SandError *error) {
    static _Atomic uint64_t last_stamp;
    picture->stamp = ++last_stamp;
    picture->time = time;
    picture->back = world->time - time;
    picture->color = color;
    if (!find_places(picture, world, error)) return false;
    picture->chain_range = 2 * column_weight(picture, world);
    choose_range(picture, world);
    if (!take_away(picture, sim) && !take_on_host(picture, world, sim, error)) return false;

    for (int k = 0; k < picture->surface_count; k++) {
        PictureSurface *s = &picture->surfaces[k];
        SandPose pose = {picture->origin, q_identity()};
        if (!s->in_world) pose = sand_boundary_pose(&world->boundaries[s->boundary], time);
        instance_copy3(s->position, v3_sub(pose.position, picture->origin));
        copy4(s->rotation, pose.rotation);
    }
    return true;
}
