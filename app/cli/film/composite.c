// SPDX-License-Identifier: MIT
// See composite.h for the steps; `draw_part` is what every rank does for a picture.
#include "app/cli/film/composite.h"

#if defined(SAND_WINDOW) && defined(SAND_HAVE_MPI)

#include <stdlib.h>
#include <string.h>

#include "app/render/depth_tiles.h"
#include "app/render/visible.h"
#include "app/engine/backends.h"
#include "mpi/backend.h"
#include "sim/core/array.h"
#include "sim/core/limits.h"

// What all ranks must know of a picture.
typedef struct Order {
    FrameUniforms frame;
    RendererDef look;
    SandInstanceDef instances;
    SandInstanceCounts all; // of the world
    RenderColor color;
    bool chains;
    double chain_range; // N
    bool fit;           // the range of colors is that of the values of this frame
    int bodies;         // of the world
    int shapes;         // of the world
    int width, height;
    double largest; // m, radius
} Order;

// Instances are kept apart as a picture orders them: by the kind of shape, and stones by shape, s at SAND_FIRST_STONE + s.

struct Composite {
    SandMpi *mpi;
    SandDevice *device; // whose bodies are drawn
    Order order;
    Context *context;   // of a rank that follows, which opens it for its first picture
    Renderer *renderer; // its own, or that of rank 0's pictures
    Renderer *owned;
    RenderScene part;   // the bodies of this rank
    RenderScene *whole; // rank 0: what is filled
    const SandWorld *world;
    SAND_ARRAY(float) depths, nearest, shadow; // samples of the camera; pixels; texels of the sun
    DepthPyramid pyramid;
    DepthTiles tiles;                        // of this rank's shadows
    SAND_ARRAY(DepthTile) received;          // rank 0: those of the others
    SAND_ARRAY(int) tally;                   // visible instances of each kind
    SAND_ARRAY(int) tallies, first;          // rank 0: those of all ranks; where the instances of each kind of a rank begin
    SAND_ARRAY(SandInstance) instances;      // rank 0: those of all ranks
    SAND_ARRAY(RenderLink) links, all_links; // force chains of this rank; of all of them
    int link_count;
    CompositeCost cost;
};

// --- this rank's bodies -------------------------------------------------------------------------------------

static size_t pixels_of(const Order *o) { return (size_t)o->width * (size_t)o->height; }
static size_t texels_of(const Order *o) {
    return (size_t)renderer_shadow_size(&o->look) * (size_t)renderer_shadow_size(&o->look);
}
static int kinds_of(const Order *o) { return SAND_FIRST_STONE + o->shapes; }

// A rank that follows has no context until the first picture: most runs draw none.
static bool open_context(Composite *c, SandError *error) {
    ContextDef off_screen = context_default();
    if (c->renderer) return true;
    if (!c->context && !(c->context = context_create(&off_screen, error))) return false;
    c->renderer = c->owned = renderer_create(error);
    return c->renderer != NULL;
}

// Ensures the capacity of what has a size that the order tells.
static bool reserve(Composite *c, SandError *error) {
    const Order *o = &c->order;
    size_t samples = pixels_of(o) * (size_t)(o->look.samples * o->look.samples);
    return SAND_RESERVE(c->depths, samples, "depths", error) && SAND_RESERVE(c->nearest, pixels_of(o), "depths", error) &&
           SAND_RESERVE(c->shadow, texels_of(o), "depths", error) &&
           SAND_RESERVE(c->tally, kinds_of(o), "kinds of bodies", error);
}

// A range of the contacts that this rank holds.
static RenderContacts contacts_of(const SandHostState *state, int first, int end) {
    return (RenderContacts){.problem = &state->problem,
                            .solution = &state->solution,
                            .body = state->collision.body,
                            .first = first,
                            .count = end - first};
}

// What the colors of this rank's bodies show; it has all of their contacts.
static bool find_values(Composite *c, const SandOwnBodies *own, SandError *error) {
    c->part.color = c->order.color;
    if (!own->state) return render_scene_values(&c->part, &own->world, NULL, error);
    RenderContacts contacts = contacts_of(own->state, 0, own->state->problem.contact_count);
    if (c->order.color == COLOR_BY_RESIDUAL && !sand_mpi_residuals(c->device, &contacts.residual, error)) return false;
    return render_scene_values(&c->part, &own->world, &contacts, error);
}

// The force chains of the contacts that this rank's bodies own, without those that are too weak to be drawn.
static bool find_links(Composite *c, const SandOwnBodies *own, SandError *error) {
    c->link_count = 0;
    if (!c->order.chains || !own->state) return true;
    RenderContacts contacts = contacts_of(own->state, own->first_contact, own->end_contact);
    c->part.origin = c->order.instances.origin;
    c->part.grain = c->order.instances.grain;
    c->part.chain_range = c->order.chain_range;
    if (!sand_mpi_move_ghosts(c->device, error) || !SAND_RESERVE(c->links, contacts.count + 1, "force chains", error))
        return false;
    int count = render_scene_links(&c->part, &own->world, &contacts, c->links.data);
    for (int k = 0; k < count; k++)
        if (c->links.data[k].value >= c->order.frame.chain[0]) c->links.data[c->link_count++] = c->links.data[k];
    return true;
}

// Fits the range of colors to the same sample of bodies as one process does. Every rank adds the values of its own to zeros.
static void fit_range(Composite *c, const SandOwnBodies *own) {
    int64_t bits[RENDER_SAMPLES] = {0};
    float sample[RENDER_SAMPLES];
    int step = render_sample_step(c->order.bodies), count = (c->order.bodies + step - 1) / step;
    for (int i = 0; i < own->world.body_count; i++) {
        int number = sand_own_global_id(own, i);
        if (sand_own_has(own, i) && number % step == 0)
            memcpy(&bits[number / step], &c->part.values.data[i], sizeof *sample);
    }
    sand_mpi_sum(bits, count);
    for (int k = 0; k < count; k++) memcpy(&sample[k], &bits[k], sizeof *sample);
    c->part.range = c->order.instances.range;
    c->part.least = c->order.instances.least;
    c->part.logarithmic = c->order.instances.logarithmic;
    render_scene_fit_range(&c->part, sample, count);
    c->order.instances.range = c->part.range;
    c->order.instances.least = c->part.least;
}

// Keeps the farthest sample of each pixel. The nearest of those over all ranks is no nearer than the farthest sample of all
// bodies together would be: what it hides is hidden.
static void reduce_samples(Composite *c) {
    int side = c->order.look.samples, width = c->order.width * side;
    for (int y = 0; y < c->order.height; y++)
        for (int x = 0; x < c->order.width; x++) {
            float farthest = 1;
            for (int k = 0; k < side * side; k++) {
                float depth = c->depths.data[(size_t)(y * side + k / side) * (size_t)width + (size_t)(x * side + k % side)];
                farthest = depth < farthest ? depth : farthest;
            }
            c->nearest.data[(size_t)y * (size_t)c->order.width + (size_t)x] = farthest;
        }
}

// Draws the bodies of this rank, and reads their depths back.
static bool draw_depths(Composite *c, SandError *error) {
    const Order *o = &c->order;
    int side = o->look.samples;
    c->part.largest = o->largest;
    if (!renderer_draw_depths(c->renderer, &c->part, &o->frame, &o->look, o->width, o->height, error)) return false;
    renderer_read_depth(c->renderer, 0, 0, o->width * side, o->height * side, c->depths.data);
    renderer_read_shadow(c->renderer, c->shadow.data);
    reduce_samples(c);
    return true;
}

// Moves the visible instances to the front, and counts those of each kind.
static bool select_visible(Composite *c, SandError *error) {
    const Order *o = &c->order;
    SandInstance *from = c->part.spheres.items, *to = from;
    if (!depth_pyramid_make(&c->pyramid, c->nearest.data, o->width, o->height, error)) return false;
    for (int kind = 0; kind < kinds_of(o); kind++) {
        int count = kind < SAND_FIRST_STONE ? c->part.counts.of[kind] : c->part.stone_counts.data[kind - SAND_FIRST_STONE];
        c->tally.data[kind] = 0;
        for (int k = 0; k < count; k++, from++) {
            if (!instance_visible(from, kind >= SAND_FIRST_STONE, &o->frame, o->look.samples, &c->pyramid)) continue;
            *to++ = *from;
            c->tally.data[kind]++;
        }
    }
    return true;
}

// --- what comes to rank 0 -----------------------------------------------------------------------------------

// Brings the items of all ranks to rank 0, one rank behind the other. `first` gets where those of each rank begin, and the
// end.
static bool gather(SandMpi *mpi, const void *items, int count, size_t item_bytes, void **to, size_t *capacity, int *first,
                   SandError *error) {
    int ranks = sand_mpi_count(mpi);
    int64_t counts[SAND_MAX_RANKS] = {0}, all = 0;
    counts[sand_mpi_rank(mpi)] = count;
    sand_mpi_sum(counts, ranks);
    for (int r = 0; r <= ranks; r++) {
        first[r] = (int)(all < INT32_MAX / 2 ? all : INT32_MAX / 2);
        if (r < ranks) all += counts[r];
    }
    bool ok = all < INT32_MAX / 2 || sand_fail(error, "a picture of %lld items is too large", (long long)all);
    if (sand_mpi_rank(mpi) == 0) ok = ok && sand_grow(to, capacity, (size_t)all + 1, item_bytes, "a picture", error);
    if (!sand_mpi_together(mpi, ok, error)) return false;
    sand_mpi_gather_at_0(mpi, items, item_bytes, *to, first);
    return true;
}

// The nearest depth of the bodies of all ranks in each texel of the shadow map.
static bool gather_shadows(Composite *c, SandError *error) {
    int first[SAND_MAX_RANKS + 1], side = renderer_shadow_size(&c->order.look);
    bool lead = sand_mpi_rank(c->mpi) == 0;
    if (!sand_mpi_together(c->mpi, lead || depth_tiles_pack(&c->tiles, c->shadow.data, side, error), error) ||
        !gather(c->mpi, c->tiles.items, lead ? 0 : c->tiles.count, sizeof(DepthTile), (void **)&c->received.data,
                &c->received.capacity, first, error))
        return false;
    if (lead) depth_tiles_merge(c->received.data, first[sand_mpi_count(c->mpi)], c->shadow.data, side);
    c->cost.shadow_bytes += (int64_t)first[sand_mpi_count(c->mpi)] * (int64_t)sizeof(DepthTile);
    return true;
}

// Finds where the instances of each kind of each rank begin.
static void place_kinds(Composite *c, const int *first) {
    int kinds = kinds_of(&c->order);
    for (int r = 0; r < sand_mpi_count(c->mpi); r++) {
        int at = first[r];
        for (int kind = 0; kind < kinds; kind++) {
            c->first.data[r * kinds + kind] = at;
            at += c->tallies.data[r * kinds + kind];
        }
    }
}

// Brings the visible instances of all ranks to rank 0, with their tallies.
static bool gather_instances(Composite *c, SandError *error) {
    int kinds = kinds_of(&c->order), ranks = sand_mpi_count(c->mpi), first[SAND_MAX_RANKS + 1], count = 0;
    for (int kind = 0; kind < kinds; kind++) count += c->tally.data[kind];
    bool ok = SAND_RESERVE(c->first, ranks * kinds, "kinds of bodies", error);
    if (!sand_mpi_together(c->mpi, ok, error) ||
        !gather(c->mpi, c->tally.data, kinds, sizeof *c->tally.data, (void **)&c->tallies.data, &c->tallies.capacity, first,
                error) ||
        !gather(c->mpi, c->part.spheres.items, count, sizeof(SandInstance), (void **)&c->instances.data,
                &c->instances.capacity, first, error))
        return false;
    if (sand_mpi_rank(c->mpi) == 0) place_kinds(c, first);
    c->cost.instances += first[ranks];
    return true;
}

// Brings the force chains to rank 0. Ranks own consecutive contacts, so that they come in the order of one process.
static bool gather_links(Composite *c, SandError *error) {
    int first[SAND_MAX_RANKS + 1];
    if (!c->order.chains) return true;
    if (!gather(c->mpi, c->links.data, c->link_count, sizeof *c->links.data, (void **)&c->all_links.data,
                &c->all_links.capacity, first, error))
        return false;
    c->cost.links += first[sand_mpi_count(c->mpi)];
    if (c->whole) c->whole->links = (RenderLinks){c->all_links.data, first[sand_mpi_count(c->mpi)]};
    return true;
}

static uint32_t body_of(const SandInstance *it) { return it->tag & INSTANCE_BODY; }

// The rank whose next instance of a kind is of the lowest body; -1: there are no more.
static int lowest_rank(const Composite *c, int kind) {
    int kinds = kinds_of(&c->order), lowest = -1;
    for (int r = 0; r < sand_mpi_count(c->mpi); r++) {
        int k = r * kinds + kind;
        if (!c->tallies.data[k]) continue;
        if (lowest < 0 || body_of(&c->instances.data[c->first.data[k]]) <
                              body_of(&c->instances.data[c->first.data[lowest * kinds + kind]]))
            lowest = r;
    }
    return lowest;
}

// Merges the instances of a kind by the numbers of their bodies, in which order each rank has its own.
static SandInstance *merge_kind(Composite *c, int kind, SandInstance *to) {
    int kinds = kinds_of(&c->order), r;
    while ((r = lowest_rank(c, kind)) >= 0) {
        *to++ = c->instances.data[c->first.data[r * kinds + kind]++];
        c->tallies.data[r * kinds + kind]--;
    }
    return to;
}

// Fills the lists of the whole scene.
static bool merge(Composite *c, SandError *error) {
    int kinds = kinds_of(&c->order);
    for (int kind = 0; kind < kinds; kind++) { // of all ranks
        c->tally.data[kind] = 0;
        for (int r = 0; r < sand_mpi_count(c->mpi); r++) c->tally.data[kind] += c->tallies.data[r * kinds + kind];
    }
    const int *n = c->tally.data;
    SandInstanceCounts counts = {{0}}; // those of all stones are one kind's here
    for (int kind = 0; kind < kinds; kind++) counts.of[kind < SAND_FIRST_STONE ? kind : SAND_FIRST_STONE] += n[kind];
    if (!render_scene_reserve(c->whole, c->world, &counts, n + SAND_FIRST_STONE, &c->order.all, error)) return false;
    SandInstance *to = c->whole->spheres.items;
    for (int kind = 0; kind < kinds; kind++) to = merge_kind(c, kind, to);
    return true;
}

// --- a picture ----------------------------------------------------------------------------------------------

// From the bodies of this rank to their depths; all ranks call it.
static bool write_part(Composite *c, const SandOwnBodies *own, SandError *error) {
    if (c->order.fit) fit_range(c, own);
    return render_scene_write_part(&c->part, own, &c->order.instances, &c->order.all, error) && draw_depths(c, error);
}

// What every rank does for a picture.
static bool draw_part(void *user, SandDevice *device, const SandOwnBodies *own, SandError *error) {
    Composite *c = user;
    const Order *o = &c->order;
    c->device = device;
    sand_mpi_broadcast(&c->order, sizeof c->order);
    if (!sand_mpi_together(c->mpi, open_context(c, error) && reserve(c, error), error) ||
        !sand_mpi_together(c->mpi, find_values(c, own, error), error) ||
        !sand_mpi_together(c->mpi, find_links(c, own, error), error) ||
        !sand_mpi_together(c->mpi, write_part(c, own, error), error))
        return false;
    sand_mpi_maximum(c->nearest.data, (int64_t)pixels_of(o));
    c->cost.pictures++;
    c->cost.depth_bytes += (int64_t)(pixels_of(o) * sizeof *c->nearest.data);
    return gather_shadows(c, error) && sand_mpi_together(c->mpi, select_visible(c, error), error) &&
           gather_instances(c, error) && sand_mpi_together(c->mpi, !c->whole || merge(c, error), error) &&
           gather_links(c, error);
}

bool composite_create(Composite **composite, SandError *error) {
    Composite *c = *composite = calloc(1, sizeof *c);
    if (!c) return sand_fail(error, "out of memory for a picture of several ranks");
    c->mpi = backends_mpi();
    backends_on_threads()->draw = draw_part;
    backends_on_threads()->user = c;
    return true;
}

void composite_free(Composite *c) {
    if (!c) return;
    if (c->owned) renderer_free(c->owned);
    context_free(c->context);
    render_scene_free(&c->part);
    depth_pyramid_free(&c->pyramid);
    depth_tiles_free(&c->tiles);
    SAND_FREE_ARRAYS(&c->depths, &c->nearest, &c->shadow, &c->received, &c->tally, &c->tallies, &c->first, &c->instances,
                     &c->links, &c->all_links);
    free(c);
}

bool composite_wanted(const SandSimulation *sim) { return backends_kind(sand_simulation_backend(sim)) == BACKEND_MPI; }
CompositeCost composite_cost(const Composite *c) { return c->cost; }

// Cleared first, since it is sent with its padding.
static Order order_of(const Offscreen *offscreen, const SandWorld *world, const Camera *camera) {
    const RenderScene *scene = &offscreen->render_scene;
    int side = offscreen->look.samples;
    Order order;
    memset(&order, 0, sizeof order);
    order.frame = frame_uniforms(scene, camera, &offscreen->look, offscreen->width * side, offscreen->height * side);
    order.look = offscreen->look;
    order.instances = render_scene_describe(scene, world);
    order.all = scene->counts;
    order.color = offscreen->color;
    order.chains = scene->chains;
    order.chain_range = scene->chain_range;
    order.fit = scene->limits.mode == RANGE_FIT && offscreen->color != COLOR_BY_BODY;
    order.bodies = world->body_count;
    order.shapes = world->shape_count;
    order.width = offscreen->width;
    order.height = offscreen->height;
    order.largest = scene->largest;
    return order;
}

bool composite_update(Composite *c, Offscreen *offscreen, SandSimulation *sim, double time, const Camera *camera,
                      SandError *error) {
    RenderScene *scene = &offscreen->render_scene;
    c->world = sand_simulation_world(sim);
    if (!render_scene_begin(scene, c->world, time, offscreen->color, error)) return false;
    c->whole = scene;
    c->renderer = offscreen->renderer;
    c->order = order_of(offscreen, c->world, camera);
    if (!sand_mpi_draw(sand_simulation_device(sim), error)) return false;
    scene->range = c->order.instances.range;
    scene->least = c->order.instances.least;
    scene->sun_depths = c->shadow.data;
    return true;
}

#else

struct Composite {
    int unused;
};

bool composite_create(Composite **composite, SandError *error) { return (void)error, *composite = NULL, true; }
void composite_free(Composite *composite) { (void)composite; }

#ifdef SAND_WINDOW

bool composite_wanted(const SandSimulation *sim) { return (void)sim, false; }
CompositeCost composite_cost(const Composite *composite) { return (void)composite, (CompositeCost){0}; }
bool composite_update(Composite *composite, Offscreen *offscreen, SandSimulation *sim, double time, const Camera *camera,
                      SandError *error) {
    (void)composite, (void)offscreen, (void)sim, (void)time, (void)camera;
    return sand_fail(error, "this build has no MPI backend");
}

#endif
#endif
