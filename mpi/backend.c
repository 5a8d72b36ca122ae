// SPDX-License-Identifier: MIT
// The backend `mpi`: steps are those of the CPU on the subdomain of a rank (mpi/steps.h). Reads, checkpoints and pictures
// need all ranks, while only rank 0 calls them: it requests a collective service, which the others serve at their next
// agreement.
#include "mpi/backend.h"
#include "mpi/communicator.h"
#include "mpi/steps.h"
#include "sim/solver/cpu_kernel.h"
#include "sim/core/array.h"
#include "sim/step/checkpoint_file.h"
#include "sim/step/cpu_backend.h"

#include <stdio.h>
#include <string.h>

// The collective services. Where two are requested at once, the larger number is served first: a picture is drawn before
// other ranks go on.
enum {
    SERVICE_SHARED,     // all bodies and impulses to every host
    SERVICE_STATE,      // all bodies and impulses to the host of rank 0
    SERVICE_STEP,       // contacts of the last step to the host of rank 0
    SERVICE_BODIES,     // all bodies to the host of rank 0
    SERVICE_CHECKPOINT, // all ranks write a checkpoint
    SERVICE_BODY = 6,   // one body to every rank; rank 0 puts it into its world
    SERVICE_PICTURE = 7 // all ranks draw a picture
};

static struct {
    const SandCheckpointRequest *request; // of rank 0; NULL on others
    SandError fault;                      // why it was not written; empty: it was
} checkpoint;

static struct {
    int number;
    SandBodyState state;
} requested_body;

static struct {
    SandMpiDraw *draw;
    void *user;
    SandDevice *device; // whose bodies are drawn
} picture;

static int find_own(const SandOwnBodies *own, int number) {
    for (int i = 0; i < own->world.body_count; i++)
        if (sand_own_global_id(own, i) == number && sand_own_has(own, i)) return i;
    return -1;
}

// Shares the state of the body that rank 0 requests: a sum over all ranks, of which only the owner has numbers other than
// zero.
static void give_body(const SandOwnBodies *own) {
    enum { WORDS = sizeof(SandBodyState) / sizeof(int64_t) };
    int64_t words[WORDS] = {0};
    sand_mpi_broadcast(&requested_body.number, sizeof requested_body.number);
    int i = find_own(own, requested_body.number);
    const SandWorld *w = &own->world;
    if (i >= 0) memcpy(words, &(SandBodyState){w->position[i], w->velocity[i], w->spin[i], w->rotation[i]}, sizeof words);
    sand_mpi_sum(words, WORDS);
    memcpy(&requested_body.state, words, sizeof words);
}

static bool serve(void *device, int service, SandError *error) {
    SandOwnBodies own = sand_cpu_backend_own(device);
    switch (service) {
    case SERVICE_SHARED: return sand_cpu_backend_read(device, error);
    case SERVICE_STATE: return sand_cpu_backend_gather_state(device, error);
    case SERVICE_STEP: return sand_cpu_backend_read_step(device, error);
    case SERVICE_BODIES: return sand_cpu_backend_gather(device, error);
    case SERVICE_CHECKPOINT: return sand_cpu_backend_write_checkpoint(device, checkpoint.request, &checkpoint.fault, error);
    case SERVICE_BODY: return give_body(&own), true;
    default: return picture.device = device, picture.draw(picture.user, &own, error);
    }
}

void sand_mpi_on_draw(SandMpiDraw *draw, void *user) {
    picture.draw = draw;
    picture.user = user;
}

bool sand_mpi_residuals(const double **each, SandError *error) {
    return sand_mpi_told(sand_cpu_backend_residuals(picture.device, each, error), error);
}

bool sand_mpi_move_ghosts(SandError *error) {
    return sand_mpi_told(sand_cpu_backend_move_ghosts(picture.device, error), error);
}

bool sand_mpi_draw(SandError *error) { return sand_mpi_request(SERVICE_PICTURE, error); }

static int ghosts(SandDevice *device) { return sand_cpu_subproblem(sand_cpu_backend_solver(device))->receive_count; }

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    static const SandMpiEngine threads = {sand_cpu_backend, ghosts, NULL};
    sand_mpi_compute_by(&threads);
    SandDevice *device = sand_cpu_backend()->create(def, error);
    if (!device || !sand_cpu_backend_join(device, sand_mpi_ranks(), error)) return sand_cpu_backend()->destroy(device), NULL;
    sand_mpi_on_request(serve, device);
    return device;
}

static const char *describe(const SandDevice *device) {
    static char text[40];
    (void)device;
    snprintf(text, sizeof text, "CPU, %d rank%s", sand_mpi_count(), sand_mpi_count() == 1 ? "" : "s");
    return text;
}

// Reads one body, without the others.
static bool read_body(SandWorld *world, int body, SandError *error) {
    requested_body.number = body;
    if (!sand_mpi_request(SERVICE_BODY, error)) return false;
    world->position[body] = requested_body.state.position;
    world->velocity[body] = requested_body.state.velocity;
    world->spin[body] = requested_body.state.spin;
    world->rotation[body] = requested_body.state.rotation;
    return true;
}

// A read of more than one body brings all of them to the host of rank 0.
static bool read_bodies(SandDevice *device, SandWorld *world, int first, int count, SandError *error) {
    if (sand_cpu_backend_knows(device)) return true;
    return count == 1 && world->body_count > 1 ? read_body(world, first, error) : sand_mpi_request(SERVICE_BODIES, error);
}

static bool read_warm_start(SandDevice *device, SandWarmStart *warm_start, SandError *error) {
    (void)warm_start;
    return sand_cpu_backend_knows(device) || sand_mpi_request(SERVICE_STATE, error);
}

static bool share_state(SandDevice *device, SandError *error) {
    return sand_cpu_backend_knows(device) || sand_mpi_request(SERVICE_SHARED, error);
}

static bool read_block(SandDevice *device, int *first, int *end, SandError *error) {
    return sand_mpi_told(sand_cpu_backend_read_block(device, first, end, error), error);
}

// A file that cannot be written is an error of this call alone; a rank that fails otherwise, for want of memory say, ends
// the run.
static bool write_checkpoint(SandDevice *device, const SandCheckpointRequest *request, SandError *error) {
    (void)device;
    checkpoint.request = request;
    bool met = sand_mpi_request(SERVICE_CHECKPOINT, error);
    checkpoint.request = NULL;
    if (!met) return sand_mpi_fail(error);
    *error = checkpoint.fault;
    return !*checkpoint.fault.text;
}

static bool read_step(SandDevice *device, SandError *error) {
    (void)device;
    return sand_mpi_request(SERVICE_STEP, error);
}

static bool read_curve(SandDevice *device, SandSolution *solution, SandError *error) {
    const SandSolution *from = sand_cpu_backend_solution(device);
    if (!SAND_GROW(solution->curve, solution->curve_capacity, from->curve_count, "residual curve", error)) return false;
    for (int k = 0; k < from->curve_count; k++) solution->curve[k] = from->curve[k];
    solution->curve_count = from->curve_count;
    return true;
}

// The functions of pictures are NULL: each rank draws its own bodies (sand_mpi_draw).
const SandBackend *sand_mpi_backend(void) {
    static const SandBackend backend = {
        .name = "mpi",
        .on_host = false,
        .fails_for_all = true,
        .create = create,
        .destroy = sand_mpi_step_destroy,
        .describe = describe,
        .upload = sand_mpi_step_upload,
        .collide = sand_mpi_step_collide,
        .warm_start = sand_mpi_step_warm_start,
        .build = sand_mpi_step_build,
        .solve = sand_mpi_step_solve,
        .integrate = sand_mpi_step_integrate,
        .finish = sand_mpi_step_finish,
        .measure = sand_mpi_step_measure,
        .read_bodies = read_bodies,
        .share_state = share_state,
        .read_block = read_block,
        .write_checkpoint = write_checkpoint,
        .read_warm_start = read_warm_start,
        .read_step = read_step,
        .read_curve = read_curve,
    };
    return &backend;
}
