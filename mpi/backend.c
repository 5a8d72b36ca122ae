// SPDX-License-Identifier: MIT
// The table of functions of the MPI backends. Steps are those of the engine (mpi/steps.c). Reads, checkpoints and pictures
// need all ranks, while only rank 0 calls them: it requests a collective service, which the others serve at their next
// agreement.
#include "mpi/backend.h"
#include "mpi/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The collective services. Where two are requested at once, the larger number is served first: a picture is drawn before
// other ranks go on.
enum {
    SERVICE_SHARED,     // all bodies and impulses to every host
    SERVICE_IMPULSES,   // all impulses to the host of rank 0, bodies maybe with them
    SERVICE_STEP,       // contacts of the last step to the host of rank 0
    SERVICE_BODIES,     // all bodies to the host of rank 0
    SERVICE_CHECKPOINT, // all ranks write a checkpoint
    SERVICE_BODY = 6,   // one body to every rank; rank 0 puts it into its world
    SERVICE_PICTURE = 7 // all ranks draw a picture
};

static int find_own(const SandOwnBodies *own, int number) {
    for (int i = 0; i < own->world.body_count; i++)
        if (sand_own_global_id(own, i) == number && sand_own_has(own, i)) return i;
    return -1;
}

// Shares the state of the body that rank 0 requests: a sum over all ranks, of which only the owner has numbers other than
// zero.
static void give_body(SandDevice *device) {
    enum { WORDS = sizeof(SandBodyState) / sizeof(int64_t) };
    int64_t words[WORDS] = {0};
    SandOwnBodies own = device->engine->own(device->inner);
    sand_mpi_broadcast(&device->body, sizeof device->body);
    int i = find_own(&own, device->body);
    const SandWorld *w = &own.world;
    if (i >= 0) memcpy(words, &(SandBodyState){w->position[i], w->velocity[i], w->spin[i], w->rotation[i]}, sizeof words);
    sand_mpi_sum(words, WORDS);
    memcpy(&device->state, words, sizeof words);
}

static bool draw(SandDevice *device, SandError *error) {
    SandOwnBodies own = device->engine->own(device->inner);
    return device->backend->draw(device->backend->user, device, &own, error);
}

static bool serve(void *server, int service, SandError *error) {
    SandDevice *device = server;
    const SandRankEngine *engine = device->engine;
    switch (service) {
    case SERVICE_SHARED: return engine->share_state(device->inner, error);
    case SERVICE_IMPULSES: return engine->gather_impulses(device->inner, error);
    case SERVICE_STEP: return engine->gather_step(device->inner, error);
    case SERVICE_BODIES: return engine->gather_bodies(device->inner, error);
    case SERVICE_CHECKPOINT: return engine->write_checkpoint(device->inner, device->checkpoint, &device->fault, error);
    case SERVICE_BODY: return give_body(device), true;
    default: return draw(device, error);
    }
}

static bool request(SandDevice *device, int service, SandError *error) {
    return sand_mpi_request(device->mpi, device->server, service, error);
}

bool sand_mpi_residuals(SandDevice *device, const double **each, SandError *error) {
    return sand_mpi_told(device->mpi, device->engine->residuals(device->inner, each, error), error);
}

bool sand_mpi_move_ghosts(SandDevice *device, SandError *error) {
    return sand_mpi_told(device->mpi, device->engine->move_ghosts(device->inner, error), error);
}

bool sand_mpi_draw(SandDevice *device, SandError *error) { return request(device, SERVICE_PICTURE, error); }

// --- the device -----------------------------------------------------------------------------------------------

static void destroy(SandDevice *device) {
    if (!device) return;
    if (device->inner) device->engine->backend()->destroy(device->inner);
    if (device->server >= 0) sand_mpi_drop_server(device->mpi, device->server);
    free(device);
}

static void describe_ranks(SandDevice *device) {
    int ranks = sand_mpi_count(device->mpi);
    snprintf(device->about, sizeof device->about, "%s, %d rank%s", device->engine->backend()->describe(device->inner), ranks,
             ranks == 1 ? "" : "s");
}

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    const SandMpiBackend *backend = (const SandMpiBackend *)(const void *)def->backend;
    SandMpi *mpi = backend->mpi;
    SandDevice *device = calloc(1, sizeof *device);
    if (!device) return sand_fail(error, "out of memory for a simulation"), sand_mpi_fail(mpi, error), NULL;
    *device = (SandDevice){.mpi = mpi, .backend = backend, .engine = backend->engine, .server = -1};
    device->inner = device->engine->create(def, sand_mpi_ranks(mpi), sand_mpi_rank_here(mpi), error);
    bool ok = device->inner && sand_mpi_add_server(mpi, serve, device, &device->server, error);
    if (!sand_mpi_told(mpi, ok, error)) return destroy(device), NULL;
    describe_ranks(device);
    return device;
}

static const char *describe(const SandDevice *device) { return device->about; }

// --- reads ----------------------------------------------------------------------------------------------------

static bool knows(const SandDevice *device) { return device->engine->knows(device->inner); }

// Reads one body, without the others.
static bool read_body(SandDevice *device, SandWorld *world, int body, SandError *error) {
    device->body = body;
    if (!request(device, SERVICE_BODY, error)) return false;
    world->position[body] = device->state.position;
    world->velocity[body] = device->state.velocity;
    world->spin[body] = device->state.spin;
    world->rotation[body] = device->state.rotation;
    return true;
}

// A read of more than one body brings all of them to the host of rank 0.
static bool read_bodies(SandDevice *device, SandWorld *world, int first, int count, SandError *error) {
    bool one = count == 1 && world->body_count > 1 && device->engine->own;
    if (knows(device)) return true;
    return one ? read_body(device, world, first, error) : request(device, SERVICE_BODIES, error);
}

static bool read_warm_start(SandDevice *device, SandWarmStart *warm_start, SandError *error) {
    (void)warm_start;
    return knows(device) || request(device, SERVICE_IMPULSES, error);
}

static bool share_state(SandDevice *device, SandError *error) {
    return knows(device) || request(device, SERVICE_SHARED, error);
}

static bool read_block(SandDevice *device, int *first, int *end, SandError *error) {
    return sand_mpi_told(device->mpi, device->engine->read_block(device->inner, first, end, error), error);
}

// A file that cannot be written is an error of this call alone; a rank that fails otherwise, for want of memory say, ends
// the run.
static bool write_checkpoint(SandDevice *device, const SandCheckpointRequest *checkpoint, SandError *error) {
    device->checkpoint = checkpoint;
    bool met = request(device, SERVICE_CHECKPOINT, error);
    device->checkpoint = NULL;
    if (!met) return sand_mpi_fail(device->mpi, error);
    *error = device->fault;
    return !*device->fault.text;
}

static bool read_step(SandDevice *device, SandError *error) {
    if (!device->engine->gather_step)
        return sand_fail(error, "ranks on GPUs cannot read back contacts yet; --backend mpi can");
    return request(device, SERVICE_STEP, error);
}

static bool read_curve(SandDevice *device, SandSolution *solution, SandError *error) {
    return device->engine->read_curve(device->inner, solution, error);
}

// The functions of pictures are NULL: each rank draws its own bodies (sand_mpi_draw).
SandMpiBackend sand_mpi_backend(SandMpi *mpi, const SandRankEngine *engine) {
    SandBackend backend = {
        .name = engine->name,
        .on_host = false,
        .fails_for_all = true,
        .create = create,
        .destroy = destroy,
        .describe = describe,
        .read_bodies = read_bodies,
        .share_state = share_state,
        .read_block = engine->read_block ? read_block : NULL,
        .write_checkpoint = engine->write_checkpoint ? write_checkpoint : NULL,
        .read_warm_start = read_warm_start,
        .read_step = read_step,
        .read_curve = read_curve,
    };
    sand_mpi_step_rows(&backend);
    return (SandMpiBackend){.backend = backend, .mpi = mpi, .engine = engine};
}
