// SPDX-License-Identifier: MIT
// The solve of a rank (cuda/solver/rank_problem.h). Everything that may fail, or that makes CUDA wait for other kernels of
// the process, comes before the agreement of all ranks: memory is reserved, kernels are loaded, streams are empty. After it
// the kernels of all ranks run at the same time and wait for each other through their hosts.
#include "cuda/backend.h"

#include "cuda/device.h"
#include "sim/core/hash.h"
#include "sim/solver/cpu_kernel.h"

#include <algorithm>

// --- the kernel -------------------------------------------------------------------------------------------

static const char *const known_methods = "p-spg-fb, spg-fb, jacobi, apgd, p-apgd, admm and admm-spectral";

// Supports the circular cone alone. A problem without friction is solved as one with mu = 0, because a rank without
// frictional contacts does not know whether others have some.
const SolverKernel *rank_kernel(const SandSolveDef *def, bool radial, bool joints, bool rolls, SandError *error) {
    const SolverKernel *kernel = radial ? &kernel_world_radial_ranks : &kernel_world_full_ranks;
    if (!sand_solve_check_ranks(def, error)) return NULL;
    if (joints) return sand_fail(error, "joints do not run on several ranks of CUDA"), nullptr;
    if (rolls) return sand_fail(error, "rolling friction does not run on several ranks of CUDA"), nullptr;
    if (def->friction != SAND_FRICTION_CONE)
        return sand_fail(error, "the friction model %s does not run on several ranks of CUDA; the cone does",
                         sand_friction_table[def->friction].name),
               nullptr;
    if (!kernel->has(def->solver))
        return sand_fail(error, "%s does not run on several ranks of CUDA; %s do", sand_solver_table[def->solver].name,
                         known_methods),
               nullptr;
    return kernel;
}

// --- memory of the host that the device sees --------------------------------------------------------------

template <class T> static bool reserve_mapped(SandDevice *device, T **data, size_t *capacity, size_t count) {
    if (count <= *capacity) return true;
    size_t wanted = count + count / 4;
    cudaFreeHost(*data);
    *data = NULL;
    *capacity = 0;
    void *fresh = NULL;
    if (!device_check(device, cudaHostAlloc(&fresh, wanted * sizeof(T), cudaHostAllocMapped | cudaHostAllocPortable),
                      "messages to other ranks"))
        return false;
    *data = (T *)fresh;
    *capacity = wanted;
    return true;
}

static bool reserve_mail(SandDevice *device) {
    const RankProblem &rank = device->rank_problem;
    size_t box = device->mailbox ? 1 : 0;
    return reserve_mapped(device, &device->mailbox, &box, 1) &&
           reserve_mapped(device, &device->outgoing, &device->outgoing_capacity,
                          MAIL_NUMBERS * (size_t)rank.send_count + 1) &&
           reserve_mapped(device, &device->incoming, &device->incoming_capacity,
                          MAIL_NUMBERS * (size_t)rank.receive_count + 1);
}

void rank_free(SandDevice *device) {
    cudaFreeHost(device->mailbox);
    cudaFreeHost(device->outgoing);
    cudaFreeHost(device->incoming);
    sand_subproblem_free(&device->subproblem);
}

// --- the solve --------------------------------------------------------------------------------------------

static RankView view_of(const SandDevice *device) {
    const RankProblem &rank = device->rank_problem;
    const int *first = rank.first_chunk + rank.ranks->rank;
    RankView view = {};
    view.mailbox = device->mailbox;
    view.ranks = rank.ranks->count;
    view.bodies = rank.bodies;
    view.first_chunk = first[0];
    view.chunks = first[1] - first[0];
    view.chunk_first = rank.chunk_first;
    view.send_count = rank.send_count;
    view.receive_count = rank.receive_count;
    view.send = rank.send;
    view.receive = rank.receive;
    view.outgoing = device->outgoing;
    view.incoming = device->incoming;
    return view;
}

// A hash of everything that decides which sums and exchanges a solve makes. Ranks that differ in it would wait for each
// other forever.
static uint64_t key_of(const RankProblem &rank, const SandSolveDef *def, bool want_curve, bool want_metrics) {
    const double numbers[] = {(double)def->solver,     def->budget_ms,       def->tolerance,      def->accuracy,
                              (double)def->iterations, (double)rank.bodies,  (double)rank.chunks, (double)want_curve,
                              (double)want_metrics,    (double)def->relative};
    return sand_hash_bytes(sand_hash_bytes(SAND_HASH_BEGIN, numbers, sizeof numbers), def->params, sizeof def->params);
}

// Computes the sums of own chunks that the solve needs before it starts, and waits until all enqueued work is done.
static bool prepare(SandDevice *device, const SandSolveDef *def, const RankView &view, SandError *error) {
    if (device->rank_problem.chunks > RANK_CHUNKS)
        return sand_fail(error, "%d chunks of contacts are more than the %d that CUDA sums over ranks",
                         device->rank_problem.chunks, RANK_CHUNKS);
    bool ok = device_check(device, device->kernel->begin_rank(device->arrays, *def, view, device->counts, device->stream),
                           "summing chunks") &&
              download(device, device->host_counts, device->counts, 1) && device_wait(device);
    return ok || device_fail(device, error);
}

static void share_facts(SandDevice *device, RankView *view) {
    const RankProblem &rank = device->rank_problem;
    mailbox_add(device->mailbox, rank.ranks, rank.first_chunk, RANK_FACTS, 0);
    view->diagonal_sum = device->mailbox->total[RANK_DIAGONALS];
    view->contacts = device->rank_contacts = device->mailbox->total[RANK_CONTACTS];
}

static int messages_of(const SandDevice *device, SandMessage *messages) {
    const RankProblem &rank = device->rank_problem;
    const size_t body = MAIL_NUMBERS * sizeof(float);
    for (int j = 0; j < rank.neighbor_count; j++) {
        const SandNeighbor &n = rank.neighbors[j];
        messages[j] = {n.rank, device->outgoing + MAIL_NUMBERS * (size_t)n.first_send,
                       device->incoming + MAIL_NUMBERS * (size_t)n.first_receive, body * (size_t)n.send_count,
                       body * (size_t)n.receive_count};
    }
    return rank.neighbor_count;
}

// Launches the solve and serves it until it ends.
static bool launch(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, const RankView &view) {
    const RankProblem &rank = device->rank_problem;
    SandMessage messages[SAND_CHUNKS];
    MailRoute route = {rank.ranks, rank.first_chunk, messages, messages_of(device, messages)};
    device->mailbox->request = device->mailbox->answer = 0;
    int blocks = std::max(1, device->processors / std::max(1, device->sharers));
    cudaError_t code = device->kernel->solve_rank(device->arrays, *def, device->world.step, device->recovery, device->counts,
                                                  want_metrics, want_curve, view, blocks, device->stream);
    if (code == cudaSuccess) code = mailbox_serve(device->mailbox, route, device->stream);
    device->broken = code != cudaSuccess; // the others wait for it
    return device_check(device, code, "solving");
}

bool rank_solve(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, SandError *error) {
    const RankProblem &rank = device->rank_problem;
    if (!reserve_mail(device)) return device_fail(device, error);
    RankView view = view_of(device);
    if (!prepare(device, def, view, error) ||
        !rank.ranks->agree(rank.ranks->user, key_of(rank, def, want_curve, want_metrics), error))
        return false;
    share_facts(device, &view);
    return launch(device, def, want_curve, want_metrics, view) || device_fail(device, error);
}

// --- the subproblem of a standalone problem -----------------------------------------------------------------

// The first contact of each own chunk, and the end.
static std::vector<int> chunks_of(const SandSubproblem &subproblem) {
    std::vector<int> first;
    for (int k = 0; k < subproblem.spans.count; k++)
        if (subproblem.spans.span[k].chunk != SAND_HALO) first.push_back(subproblem.spans.span[k].first);
    first.push_back(subproblem.problem->contact_count);
    return first;
}

static bool upload_subproblem(SandDevice *device) {
    const SandSubproblem &subproblem = device->subproblem;
    const SandPartition *partition = subproblem.partition;
    RankProblem &rank = device->rank_problem;
    std::vector<int> chunks = chunks_of(subproblem);
    bool ok = upload(device, device->rank_chunks, chunks.data(), chunks.size()) &&
              upload(device, device->rank_send, (const int *)subproblem.send, (size_t)subproblem.send_count) &&
              upload(device, device->rank_receive, (const int *)subproblem.receive, (size_t)subproblem.receive_count) &&
              device_wait(device);
    rank = RankProblem();
    rank.ranks = partition->ranks;
    rank.bodies = partition->bodies;
    rank.chunks = partition->first_chunk[partition->ranks->count];
    rank.first_chunk = partition->first_chunk;
    rank.chunk_first = device->rank_chunks.data;
    rank.send = device->rank_send.data;
    rank.receive = device->rank_receive.data;
    rank.send_count = subproblem.send_count;
    rank.receive_count = subproblem.receive_count;
    rank.neighbor_count = subproblem.neighbor_count;
    std::copy(subproblem.neighbors, subproblem.neighbors + subproblem.neighbor_count, rank.neighbors);
    return ok;
}

// The velocities after the solve: free velocities plus the change by all impulses.
static bool read_velocities(SandDevice *device, const SandProblem *p, SandSolution *s) {
    size_t count = (size_t)p->dynamic_count;
    std::vector<float> change(8 * count);
    if (!download(device, change.data(), (const float *)device->arrays.body, 8 * count) || !device_wait(device))
        return false;
    for (size_t k = 0; k < count; k++) {
        const float *v = &change[8 * k], *w = v + 4;
        s->velocity[k] = v3_add(p->bodies[k].velocity, v3_make(v[0], v[1], v[2]));
        s->spin[k] = v3_add(p->bodies[k].spin, v3_make(w[0], w[1], w[2]));
    }
    return true;
}

static bool solve_subproblem(SandDevice *device, const SandProblem *p, const SandSolveDef *def, SandSolution *s,
                             SandError *error) {
    const SandBackend *cuda = sand_cuda_backend();
    SandStepReport report;
    return cuda->upload_problem(device, p, def, error) &&
           cuda->solve(device, def, s->want_curve, s->want_metrics, NULL, error) && cuda->finish(device, &report, error) &&
           cuda->read_solution(device, s, error) && (read_velocities(device, p, s) || device_fail(device, error));
}

extern "C" bool sand_cuda_solve_subproblem(SandDevice *device, SandProblem *problem, const SandPartition *partition,
                                           int sharers, const SandSolveDef *def, SandSolution *solution, SandError *error) {
    if (!sand_solve_check_ranks(def, error) || !sand_solution_reserve(solution, problem, def, error) ||
        !sand_subproblem_share(&device->subproblem, problem, partition, false, error))
        return false;
    if (!upload_subproblem(device)) return device_fail(device, error);
    device->sharers = sharers;
    device->is_rank = true;
    bool ok = solve_subproblem(device, problem, def, solution, error);
    device->is_rank = false;
    return ok;
}
