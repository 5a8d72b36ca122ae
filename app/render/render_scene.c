// SPDX-License-Identifier: MIT
// From a world to a render scene. render_scene_init builds what is constant (surfaces, ground, ranges), render_scene_update
// writes the instances of a frame: on the host, or in a slot of the device that holds the bodies.
#include "app/render/render_scene.h"

#include <stdlib.h>
#include <string.h>

#include "sim/world/render_instance.inl"
#include "sim/core/array.h"
#include "sim/solver/contact_result.h"
#include "sim/world/period.inl"
#include "app/render/scenery.h"
#include "app/render/vessel_frame.h"

const char *const render_color_names[RENDER_COLOR_COUNT + 1] = {"body", "speed", "contacts", "force", "residual", NULL};

static void copy4(float *to, SandQuat q) {
    to[0] = (float)q.x;
    to[1] = (float)q.y;
    to[2] = (float)q.z;
    to[3] = (float)q.w;
}

// --- once for a world ---------------------------------------------------------------------------------------

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Median radius of the bodies, from at most a thousand of them.
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

// The ground: the scene's own floor, or a table below the lowest thing of the scene.
static double find_floor(const RenderScene *render_scene, const SandWorld *world) {
    for (int b = 0; b < world->boundary_count; b++)
        if (surface_is_floor(world, b)) return world->boundaries[b].pose.position.z - render_scene->origin.z;
    double lowest = INFINITY;
    for (int k = 0; k < render_scene->surface_count; k++) {
        const RenderSurface *s = &render_scene->surfaces.data[k];
        if (s->body >= 0 || s->beyond) continue;
        SandPose pose = {{0, 0, 0}, q_identity()};
        if (!s->in_world) {
            pose = sand_boundary_pose(&world->boundaries[s->boundary], world->time);
            pose.position = v3_sub(pose.position, render_scene->origin);
        }
        for (uint32_t i = s->first; i < s->first + s->count; i++) {
            const float *p = render_scene->vertices.data[render_scene->indices.data[i]].position;
            lowest = fmin(lowest, pose_apply(pose, v3_make(p[0], p[1], p[2])).z);
        }
    }
    return isfinite(lowest) ? lowest : render_scene->lower.z;
}

// Ground meshes are shown whole, even beyond the box of the view.
static void show_ground(RenderScene *render_scene) {
    for (int k = 0; k < render_scene->surface_count; k++) {
        const RenderSurface *s = &render_scene->surfaces.data[k];
        if (s->look != LOOK_EARTH) continue;
        for (uint32_t i = s->first; i < s->first + s->count; i++) {
            const float *p = render_scene->vertices.data[render_scene->indices.data[i]].position;
            render_scene->lower = v3_make(fmin(render_scene->lower.x, p[0]), fmin(render_scene->lower.y, p[1]),
                                          fmin(render_scene->lower.z, p[2]));
            render_scene->upper = v3_make(fmax(render_scene->upper.x, p[0]), fmax(render_scene->upper.y, p[1]),
                                          fmax(render_scene->upper.z, p[2]));
        }
    }
}

bool render_scene_init(RenderScene *render_scene, const SandWorld *world, SandVec3 view_lower, SandVec3 view_upper,
                       SandError *error) {
    static _Atomic unsigned last_version;
    *render_scene = (RenderScene){.version = ++last_version};
    render_scene->origin = v3_scale(0.5, v3_add(view_lower, view_upper));
    render_scene->lower = v3_sub(view_lower, render_scene->origin);
    render_scene->upper = v3_sub(view_upper, render_scene->origin);
    render_scene->grain = typical_size(world);
    for (int b = 0; b < world->boundary_count; b++)
        if (!surface_add(render_scene, world, b, error)) return render_scene_free(render_scene), false;
    render_scene->floor = find_floor(render_scene, world);
    show_ground(render_scene);
    return true;
}

bool render_scene_dress(RenderScene *render_scene, const SandWorld *world, const SandStudio *studio, SandError *error) {
    render_scene->studio = *studio;
    render_scene->dressed = true;
    if (!vessel_frame_add(render_scene, world, studio->frame, error) || !scenery_add(render_scene, world, error))
        return false;
    render_scene->floor = find_floor(render_scene, world);
    return true;
}

void render_scene_free(RenderScene *render_scene) {
    SAND_FREE_ARRAYS(&render_scene->own, &render_scene->vertices, &render_scene->indices, &render_scene->surfaces,
                     &render_scene->places, &render_scene->values, &render_scene->groups, &render_scene->stone_counts);
    solid_meshes_free(&render_scene->meshes);
    *render_scene = (RenderScene){0};
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

static int parts_of(const SandInstanceCounts *c) { return sand_instance_drawn(c, SAND_DRAWN_PART); }

static void add_group(RenderScene *render_scene, int mesh, int count) {
    if (count) render_scene->groups.data[render_scene->group_count++] = (RenderGroup){mesh, count};
}

// Groups the convex bodies by mesh, as sand_instance_first orders them. There are `all` bodies in the picture: the more, the
// fewer facets has each.
static bool group_solids(RenderScene *render_scene, const SandWorld *world, const SandInstanceCounts *c, const int *stones,
                         const SandInstanceCounts *all, SandError *error) {
    SolidMeshes *meshes = &render_scene->meshes;
    render_scene->group_count = render_scene->part_groups = 0;
    if (parts_of(c) + sand_instance_drawn(c, SAND_DRAWN_STONE) == 0) return true;
    if (meshes->key == 0 || meshes->shape_count != world->shape_count)
        if (!solid_meshes_make(meshes, world->shapes, world->shape_count, error)) return false;
    if (!SAND_RESERVE(render_scene->groups, SAND_SHAPE_KINDS + world->shape_count, "groups of bodies", error)) return false;
    for (int k = SAND_FIRST_PART; k < SAND_FIRST_STONE; k++) add_group(render_scene, solid_part(k, all->of[k]), c->of[k]);
    render_scene->part_groups = render_scene->group_count;
    for (int s = 0; s < world->shape_count; s++) add_group(render_scene, SOLID_STONES + s, stones[s]);
    return true;
}

// Finds the place of every body among the instances, and how many of them there are.
static bool count_instances(RenderScene *render_scene, const SandWorld *world, SandError *error) {
    if (!SAND_RESERVE(render_scene->places, world->body_count + 1, "places of instances", error) ||
        !SAND_RESERVE(render_scene->stone_counts, world->shape_count + 1, "places of instances", error))
        return false;
    render_scene->counts = sand_instance_first(world, render_scene->places.data, render_scene->stone_counts.data);
    return true;
}

// Instance places, mean mass and largest radius are kept until a body is added: drawing a million bodies of a device must
// not loop over them on the host.
static bool find_places(RenderScene *render_scene, const SandWorld *world, SandError *error) {
    double last = world->body_count ? world->mass[world->body_count - 1] : 0;
    if (render_scene->places.data && render_scene->body_count == world->body_count && render_scene->last_mass == last)
        return true;
    if (!count_instances(render_scene, world, error) ||
        !group_solids(render_scene, world, &render_scene->counts, render_scene->stone_counts.data, &render_scene->counts,
                      error))
        return false;
    render_scene->mass = mean_mass(world);
    render_scene->last_mass = last;
    render_scene->largest = largest_sphere(world);
    render_scene->body_count = world->body_count;
    return true;
}

// Force scale: the weight of a column of grains, half as high as the scene, on the grain at its foot.
static double column_weight(const RenderScene *render_scene, const SandWorld *world) {
    double height = render_scene->upper.z - render_scene->lower.z;
    return render_scene->mass * v3_length(world->gravity) * (2 + 0.5 * height / (2 * render_scene->grain)) + 1e-9;
}

// Color range, constant for a scene, so that a color means the same in every frame.
static void choose_range(RenderScene *render_scene, const SandWorld *world) {
    double height = render_scene->upper.z - render_scene->lower.z, g = v3_length(world->gravity);
    render_scene->range = 1;
    render_scene->least = 0;
    render_scene->logarithmic = render_scene->color == COLOR_BY_RESIDUAL;
    switch (render_scene->color) {
    case COLOR_BY_SPEED:
        // A quarter of the speed of a fall from top to bottom.
        render_scene->range = 0.25 * sqrt(2 * g * height) + 1e-9;
        break;
    case COLOR_BY_CONTACTS: render_scene->range = 12; break;
    case COLOR_BY_FORCE: render_scene->range = column_weight(render_scene, world); break;
    case COLOR_BY_RESIDUAL:
        // Down from the speed that a step of free fall gives: so far is an unsolved contact off.
        render_scene->range = pow(10, ceil(log10(g > 0 ? g * world->step : 0.1)));
        render_scene->least = 1e-4 * render_scene->range;
        break;
    default: break;
    }
    if (render_scene->limits.mode == RANGE_SET) {
        render_scene->least = render_scene->limits.low;
        render_scene->range = render_scene->limits.high;
        render_scene->logarithmic = render_scene->logarithmic && render_scene->least > 0;
    }
}

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

void render_scene_fit_range(RenderScene *render_scene, float *sample, int n) {
    if (!n) return;
    qsort(sample, (size_t)n, sizeof *sample, compare_floats);
    double high = sample[(n - 1) * 99 / 100], low = sample[0];
    if (!(high > 0)) return; // nothing to show: the scene's range stays
    render_scene->range = high;
    render_scene->least = low;
    if (render_scene->logarithmic) render_scene->least = fmax(low, 1e-6 * high); // at most six decades
    if (!(render_scene->least < high)) render_scene->least = 0.5 * high;
}

// Fits the range to the values of this frame.
static void fit_range(RenderScene *render_scene, int count) {
    float sample[RENDER_SAMPLES];
    int step = render_sample_step(count), n = 0;
    for (int i = 0; i < count; i += step) sample[n++] = render_scene->values.data[i];
    render_scene_fit_range(render_scene, sample, n);
}

// How a device computes the value of a body. Residuals exist on the host only.
static const SandShade shades[RENDER_COLOR_COUNT + 1] = {
    [COLOR_BY_SPEED] = SAND_SHADE_SPEED, [COLOR_BY_CONTACTS] = SAND_SHADE_CONTACTS, [COLOR_BY_FORCE] = SAND_SHADE_FORCE};

// Per-body sums over the contacts of the last step: count, force, or squared residual.
static void sum_contacts(RenderScene *render_scene, const RenderContacts *contacts) {
    const SandProblem *problem = contacts->problem;
    const double *residual = contacts->residual;
    const int *body = contacts->body;
    for (int i = contacts->first; i < contacts->first + contacts->count; i++) {
        const SandContact *c = &problem->contacts[i];
        float add = residual ? (float)(residual[i] * residual[i])
                             : instance_contact_value(shades[render_scene->color],
                                                      sand_contact_impulse(problem, contacts->solution, i), problem->step);
        render_scene->values.data[body[c->a]] += add;
        if (c->b < problem->dynamic_count) render_scene->values.data[body[c->b]] += add;
    }
}

bool render_scene_values(RenderScene *render_scene, const SandWorld *world, const RenderContacts *contacts,
                         SandError *error) {
    if (!SAND_RESERVE(render_scene->values, world->body_count + 1, "colors", error)) return false;
    memset(render_scene->values.data, 0, (size_t)world->body_count * sizeof *render_scene->values.data);
    if (render_scene->color == COLOR_BY_SPEED)
        for (int i = 0; i < world->body_count; i++) render_scene->values.data[i] = instance_speed(world, i);
    else if (render_scene->color == COLOR_GIVEN)
        for (int i = 0; i < world->body_count; i++) render_scene->values.data[i] = (float)render_scene->given[i];
    else if (contacts && render_scene->color != COLOR_BY_BODY)
        sum_contacts(render_scene, contacts);
    for (int i = 0; render_scene->color == COLOR_BY_RESIDUAL && i < world->body_count; i++)
        render_scene->values.data[i] = sqrtf(render_scene->values.data[i]);
    return true;
}

// The contacts that the host has.
static RenderContacts contacts_of(const SandSimulation *sim) {
    return (RenderContacts){.problem = sand_simulation_problem(sim),
                            .solution = sand_simulation_solution(sim),
                            .body = sand_simulation_order(sim),
                            .count = sand_simulation_solved_contacts(sim)};
}

// The values of all bodies.
static bool fill_values(RenderScene *render_scene, const SandWorld *world, SandSimulation *sim, SandError *error) {
    if (!sim || world->step_index == 0) return render_scene_values(render_scene, world, NULL, error);
    RenderContacts contacts = contacts_of(sim);
    if (render_scene->color == COLOR_BY_RESIDUAL && !(contacts.residual = sand_simulation_residuals(sim, error)))
        return false;
    return render_scene_values(render_scene, world, &contacts, error);
}

// One link for each contact that carries a force, as wide as the force is strong.
int render_scene_links(const RenderScene *render_scene, const SandWorld *world, const RenderContacts *contacts,
                       RenderLink *to_links) {
    const SandProblem *problem = contacts->problem;
    const int *body = contacts->body;
    int count = 0;
    for (int i = contacts->first; i < contacts->first + contacts->count; i++) {
        const SandContact *c = &problem->contacts[i];
        double force = v3_dot(sand_contact_impulse(problem, contacts->solution, i), c->normal) / problem->step;
        if (!(force > 0.01 * render_scene->chain_range)) continue; // too thin to be seen
        RenderLink link = {.value = (float)fmin(1, force / render_scene->chain_range)};
        link.half_width = (float)(0.35 * render_scene->grain * sqrt(link.value));
        int a = body[c->a];
        bool wall = c->b >= problem->dynamic_count;
        SandVec3 from = v3_sub(world->position[a], render_scene->origin), to = v3_add(from, c->arm_a);
        if (!wall) to = v3_sub(period_image(world, world->position[body[c->b]], world->position[a]), render_scene->origin);
        instance_copy3(link.from, from);
        instance_copy3(link.from_velocity, world->velocity[a]);
        instance_copy3(link.to, to);
        instance_copy3(link.to_velocity, world->velocity[wall ? a : body[c->b]]);
        to_links[count++] = link;
    }
    return count;
}

// Sets the lists of these counts to consecutive ranges from `at` on; NULL: not on the host.
static void place_lists(RenderScene *render_scene, const SandInstanceCounts *c, SandInstance *at) {
    // Else the balls of clumps are drawn like all others, which precede them.
    bool rocks = render_scene->color == COLOR_BY_BODY;
    int balls = sand_instance_drawn(c, SAND_DRAWN_CLUMP);
    render_scene->spheres.count = sand_instance_drawn(c, SAND_DRAWN_SPHERE) + (rocks ? 0 : balls);
    render_scene->rocks.count = rocks ? balls : 0;
    render_scene->parts.count = parts_of(c);
    render_scene->stones.count = sand_instance_drawn(c, SAND_DRAWN_STONE);
    RenderList *lists[] = {&render_scene->spheres, &render_scene->rocks, &render_scene->parts, &render_scene->stones};
    for (int k = 0; k < 4; k++) {
        lists[k]->items = at;
        if (at) at += lists[k]->count;
    }
    render_scene->links = (RenderLinks){(RenderLink *)at, 0};
}

// Ensures capacity for all lists in the store.
static bool reserve_lists(RenderScene *render_scene, const SandSimulation *sim, SandError *error) {
    size_t links = sim && render_scene->chains ? (size_t)sand_simulation_solved_contacts(sim) : 0;
    size_t bytes = sand_instance_total(render_scene->counts) * sizeof(SandInstance) + links * sizeof(RenderLink);
    InstanceStore *store = render_scene->store ? render_scene->store : &render_scene->own;
    store->away = false;
    if (bytes > store->capacity) {
        // Falls back to the render scene's own memory where the caller's store is too small; `bytes` tells how much was
        // needed.
        store->bytes = bytes;
        store = &render_scene->own;
        if (bytes > store->capacity && !sand_grow(&store->data, &store->capacity, bytes + bytes / 2, 1, "instances", error))
            return false;
    }
    store->bytes = bytes;
    place_lists(render_scene, &render_scene->counts, store->data);
    return true;
}

bool render_scene_reserve(RenderScene *render_scene, const SandWorld *world, const SandInstanceCounts *counts,
                          const int *stones, const SandInstanceCounts *all, SandError *error) {
    InstanceStore *store = &render_scene->own;
    store->bytes = sand_instance_total(*counts) * sizeof(SandInstance);
    if (!sand_grow(&store->data, &store->capacity, store->bytes + 1, 1, "instances", error)) return false;
    render_scene->store = NULL;
    render_scene->buffer = 0;
    place_lists(render_scene, counts, store->data);
    return group_solids(render_scene, world, counts, stones, all, error);
}

// Fewer boxes, cylinders and capsules than this stand out from the bodies around them; more of them are these bodies.
enum { FEW_PARTS = 10 };

SandInstanceDef render_scene_describe(const RenderScene *render_scene, const SandWorld *world) {
    SandInstanceDef def = {.origin = render_scene->origin,
                           .time = render_scene->time,
                           .grain = render_scene->grain,
                           .metal = parts_of(&render_scene->counts) < FEW_PARTS,
                           .shade = shades[render_scene->color],
                           .range = render_scene->range,
                           .least = render_scene->least,
                           .logarithmic = render_scene->logarithmic};
    for (int i = 0; i < world->material_count; i++) def.look[i] = (uint8_t)world->materials[i].look;
    return def;
}

static bool needs_contacts(const RenderScene *render_scene) {
    RenderColor color = render_scene->color;
    return render_scene->chains || (color != COLOR_BY_BODY && color != COLOR_BY_SPEED && color != COLOR_GIVEN);
}

static bool build_on_host(RenderScene *render_scene, const SandWorld *world, SandSimulation *sim, SandError *error) {
    bool contacts = needs_contacts(render_scene);
    if (sim && !(contacts ? sand_simulation_fetch_contacts(sim, error) : sand_simulation_fetch(sim, error))) return false;
    if (!fill_values(render_scene, world, sim, error) || !reserve_lists(render_scene, sim, error)) return false;
    if (render_scene->limits.mode == RANGE_FIT && render_scene->color != COLOR_BY_BODY)
        fit_range(render_scene, world->body_count);
    SandInstanceDef def = render_scene_describe(render_scene, world);
    SandInstance *first = render_scene->spheres.items;
    for (int i = 0; i < world->body_count; i++)
        instance_write(world, i, &def, instance_place_on_map(&def, render_scene->values.data[i]),
                       first + render_scene->places.data[i]);
    if (sim && render_scene->chains && world->step_index > 0) {
        RenderContacts contacts = contacts_of(sim);
        render_scene->links.count = render_scene_links(render_scene, world, &contacts, render_scene->links.items);
    }
    return true;
}

void render_scene_close_slot(InstanceStore *store) {
    if (store->slot) store->backend->slot_free(store->slot);
    store->slot = NULL;
    store->backend = NULL;
    store->away = false;
}

// Writes the instances on the device that holds the bodies. False where that is not possible.
static bool build_on_device(RenderScene *render_scene, SandSimulation *sim) {
    SandError refused; // then the host writes them
    InstanceStore *store = render_scene->store;
    const SandBackend *backend = sim ? sand_simulation_backend(sim) : NULL;
    if (!store || !store->takes_slots || !backend || !backend->instances) return false;
    bool fits = render_scene->limits.mode == RANGE_FIT && render_scene->color != COLOR_BY_BODY;
    bool on_host = render_scene->color == COLOR_BY_RESIDUAL || render_scene->color == COLOR_GIVEN || render_scene->chains;
    if (on_host || fits) return false;
    if (store->backend != backend) render_scene_close_slot(store);
    if (!store->slot) store->slot = backend->slot_create(&refused);
    store->backend = backend;
    SandInstanceDef def = render_scene_describe(render_scene, sand_simulation_world(sim));
    if (!store->slot || !sand_simulation_instances(sim, &def, store->slot, &refused)) return false;
    store->bytes = sand_instance_total(render_scene->counts) * sizeof(SandInstance);
    store->away = true;
    place_lists(render_scene, &render_scene->counts, NULL);
    return true;
}

void render_scene_clear(RenderScene *render_scene) {
    render_scene->spheres.count = render_scene->rocks.count = render_scene->parts.count = render_scene->stones.count = 0;
    render_scene->links.count = 0;
}

bool render_scene_read_store(RenderScene *render_scene, SandError *error) {
    const InstanceStore *store = render_scene->store;
    InstanceStore *own = &render_scene->own;
    if (!store || !store->away || render_scene->spheres.items) return true;
    if (!sand_grow(&own->data, &own->capacity, store->bytes + 1, 1, "instances", error) ||
        !store->backend->slot_read(store->slot, own->data, store->bytes, error))
        return false;
    place_lists(render_scene, &render_scene->counts, own->data);
    return true;
}

bool render_scene_write_part(RenderScene *render_scene, const SandOwnBodies *bodies, const SandInstanceDef *def,
                             const SandInstanceCounts *all, SandError *error) {
    const SandWorld *world = &bodies->world;
    if (!count_instances(render_scene, world, error) ||
        !render_scene_reserve(render_scene, world, &render_scene->counts, render_scene->stone_counts.data, all, error))
        return false;
    SandInstance *first = render_scene->spheres.items;
    memset(first, 0, render_scene->own.bytes); // bodies of others are hidden
    for (int i = 0; i < world->body_count; i++) {
        SandInstance *to = first + render_scene->places.data[i];
        int spheres = world->shapes[world->shape[i]].sphere_count;
        if (!sand_own_has(bodies, i)) continue;
        instance_write(world, i, def, instance_place_on_map(def, render_scene->values.data[i]), to);
        for (int k = 0; k < (spheres ? spheres : 1); k++)
            to[k].tag = (to[k].tag & ~INSTANCE_BODY) | (uint32_t)sand_own_global_id(bodies, i);
    }
    return true;
}

static SandPose pose_of_body(const SandWorld *world, int body, double back) {
    SandQuat turned = q_exp(v3_scale(-back, world->spin[body]));
    return (SandPose){v3_madd(world->position[body], -back, world->velocity[body]),
                      q_unit(q_mul(turned, world->rotation[body]))};
}

// Boundaries, and what bodies carry, at the time that is shown.
static void place_surfaces(RenderScene *render_scene, const SandWorld *world) {
    for (int k = 0; k < render_scene->surface_count; k++) {
        RenderSurface *s = &render_scene->surfaces.data[k];
        SandPose pose = {render_scene->origin, q_identity()};
        if (s->body >= 0)
            pose = pose_of_body(world, s->body, render_scene->back);
        else if (!s->in_world)
            pose = sand_boundary_pose(&world->boundaries[s->boundary], render_scene->time);
        instance_copy3(s->position, v3_sub(pose.position, render_scene->origin));
        copy4(s->rotation, pose.rotation);
    }
}

static void set_palette(RenderScene *render_scene, const SandWorld *world) {
    render_scene->material_count = world->material_count;
    for (int i = 0; i < world->material_count; i++) {
        SandVec3 color = world->materials[i].color;
        instance_copy3(render_scene->palette[i], color);
        render_scene->palette[i][3] = v3_dot(color, color) > 0 ? 1.0f : 0.0f;
    }
}

bool render_scene_begin(RenderScene *render_scene, const SandWorld *world, double time, RenderColor color,
                        SandError *error) {
    static _Atomic uint64_t last_stamp;
    render_scene->stamp = ++last_stamp;
    render_scene->time = time;
    render_scene->back = world->time - time;
    render_scene->color = color;
    if (!find_places(render_scene, world, error)) return false;
    set_palette(render_scene, world);
    render_scene->chain_range = 2 * column_weight(render_scene, world);
    choose_range(render_scene, world);
    place_surfaces(render_scene, world);
    return true;
}

bool render_scene_update(RenderScene *render_scene, const SandWorld *world, SandSimulation *sim, double time,
                         RenderColor color, SandError *error) {
    if (!render_scene_begin(render_scene, world, time, color, error)) return false;
    if (!render_scene->carries && build_on_device(render_scene, sim)) return true;
    if (!build_on_host(render_scene, world, sim, error)) return false;
    if (render_scene->carries) place_surfaces(render_scene, world); // the bodies are on the host by now
    return true;
}
