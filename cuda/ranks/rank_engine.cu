// SPDX-License-Identifier: MIT
// CUDA as the engine of a rank (sim/ranks/rank_engine.h): which GPU a rank takes, and its reads.
#include "cuda/backend.h"
#include "cuda/ranks/subdomain.h"

#include <string.h>

// Counts the ranks that use the GPU of this one. GPUs are compared by their names, which are unique, not by their numbers:
// where Slurm shows each rank one GPU alone, all ranks number it 0. Collective.
static bool count_sharers(const SandRanks *ranks, int *sharers, SandError *error) {
    struct Name {
        uint8_t bytes[16];
    };
    std::vector<Name> names((size_t)ranks->count);
    std::vector<int> first((size_t)ranks->count + 1);
    for (int r = 0; r <= ranks->count; r++) first[(size_t)r] = r;
    const Name *mine = &names[(size_t)ranks->rank];
    if (!sand_cuda_name(names[(size_t)ranks->rank].bytes, error) || !ranks->agree(ranks->user, 0, error)) return false;
    ranks->allgather(ranks->user, names.data(), first.data(), sizeof(Name));
    *sharers = 0;
    for (const Name &name : names) *sharers += !memcmp(&name, mine, sizeof name);
    return true;
}

static void free_rank(SandDevice *device) {
    subdomain_free_messages(subdomain_of(device));
    sand_forces_free(&subdomain_of(device)->forces);
    sand_inlets_free(&subdomain_of(device)->inlets);
    delete subdomain_of(device);
    device->holder = NULL;
}

static void repeats(SandDevice *device, bool again) { device->left_out = again; }

static bool report(SandDevice *device, SandStepReport *r, SandError *error) {
    subdomain_stepped(device);
    return subdomain_report(device, r, error);
}

static int probe_blocks(const SandDevice *device, int) { return subdomain_chunks(device); }

static bool measured(SandDevice *device, SandProbeBatch *batch, SandError *error) {
    return sand_probes_merge(batch, subdomain_of(device)->ranks, error);
}

static const DeviceHooks hooks_of_rank = {
    .marks_chunks = true,
    .free = free_rank,
    .check = subdomain_check,
    .upload = subdomain_upload,
    .begin = subdomain_move,
    .place = subdomain_place,
    .share = subdomain_share,
    .warm_start = subdomain_recall,
    .laws = subdomain_laws,
    .divide = subdomain_divide,
    .bound = subdomain_bound,
    .integrated = subdomain_energies,
    .repeats = repeats,
    .report = report,
    .probe_blocks = probe_blocks,
    .find = subdomain_find,
    .measured = measured,
};

// Makes a device one of several ranks, before anything is uploaded; `sharers` ranks share its GPU.
static bool join(SandDevice *device, const SandRanks *ranks, int sharers, SandError *error) {
    if (ranks->count > SAND_CHUNKS)
        return sand_fail(error, "%d ranks are too many: at most %d are supported", ranks->count, SAND_CHUNKS);
    DeviceSubdomain *subdomain = new DeviceSubdomain();
    subdomain->ranks = ranks;
    subdomain->near_spheres = 1024;
    device->hooks = &hooks_of_rank;
    device->holder = subdomain;
    device->is_rank = true;
    device->sharers = sharers;
    device->memory /= (size_t)sharers;
    device->collision.broad_phase.ranks = ranks;
    return true;
}

static SandDevice *create(const SandDeviceDef *def, const SandRanks *ranks, int rank_here, SandError *error) {
    int devices = sand_cuda_devices(error), sharers;
    if (!devices || !sand_cuda_use(rank_here % devices, error) || !count_sharers(ranks, &sharers, error)) return NULL;
    SandDevice *device = sand_cuda_backend()->create(def, error);
    if (!device || join(device, ranks, sharers, error)) return device;
    sand_cuda_backend()->destroy(device);
    return NULL;
}

static int ghosts(SandDevice *device) { return device->rank_problem.receive_count; }
static bool broken(const SandDevice *device) { return device->broken; }
static bool knows(const SandDevice *device) { return subdomain_of(device)->known; }
static bool gather_bodies(SandDevice *device, SandError *error) { return subdomain_gather(device, false, error); }
static bool gather_impulses(SandDevice *device, SandError *error) { return subdomain_gather(device, true, error); }
// Contacts are not read back, and a picture, a file or a checkpoint takes all bodies.
extern "C" const SandRankEngine *sand_cuda_rank_engine(void) {
    static const SandRankEngine engine = {
        .name = "mpi:cuda",
        .backend = sand_cuda_backend,
        .create = create,
        .ghosts = ghosts,
        .broken = broken,
        .knows = knows,
        .read_curve = read_curve,
        .share_state = subdomain_read,
        .gather_bodies = gather_bodies,
        .gather_impulses = gather_impulses,
    };
    return &engine;
}
