// SPDX-License-Identifier: MIT
// The problem of a rank: its chunks, and the ghosts that it exchanges with its neighbors; then the report of a step for all
// ranks, and reading back (cuda/ranks/subdomain.h).
#include "cuda/ranks/subdomain.h"

#include "sim/core/array.h"
#include "cuda/step/solved_motion.h"
#include "sim/ranks/rank_report.h"
#include "sim/step/energy_bound.inl"

#include <algorithm>
#include <math.h>
#include <numeric>

// --- chunks -------------------------------------------------------------------------------------------------

// Finds the first body of each own chunk by solver index; chunks without bodies are left as they are. The last entry is the
// end of own bodies. Own bodies have consecutive solver indices, chunk by chunk.
static __global__ void find_chunk_bodies(const SandCollision *collision, const uint16_t *chunk_of, int first_chunk,
                                         int chunks, int *chunk_body, const Counts *counts) {
    int bodies = counts->bodies;
    auto chunk_at = [&](int64_t k) { // -1: of another rank
        bool own = k >= 0 && k < bodies && !collision->is_ghost[collision->body[k]];
        return own ? chunk_of[collision->body[k]] - first_chunk : -1;
    };
    EACH(k, bodies) {
        int chunk = chunk_at(k);
        if (chunk < 0) continue;
        if (chunk_at(k - 1) != chunk) chunk_body[chunk] = (int)k;
        if (chunk_at(k + 1) < 0) chunk_body[chunks] = (int)k + 1;
    }
}

static __global__ void find_chunk_contacts(const int *chunk_body, const int *first, int *chunk_contact, int chunks) {
    EACH(c, chunks + 1) chunk_contact[c] = first[chunk_body[c]];
}

// Finds the ranges of bodies and contacts of each own chunk, and of all of them.
static bool divide_chunks(SandDevice *device, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    int me = p->ranks->rank, chunks = subdomain_chunks(device), contacts[2];
    size_t n = (size_t)chunks + 1;
    std::vector<int> bodies(n, device->host_counts->bodies);
    bodies[n - 1] = 0;
    if (!upload(device, device->chunk_body, bodies.data(), n) || !reserve(device, device->chunk_contact, n))
        return device_fail(device, error);
    LAUNCH(device, find_chunk_bodies, device->body_total, device->device_collision.data, device->chunk_of.data,
           p->first_chunk[me], chunks, device->chunk_body.data, device->counts);
    if (!download(device, bodies.data(), device->chunk_body.data, n) || !device_wait(device))
        return device_fail(device, error);
    p->own_end = bodies[n - 1];
    p->own_begin = p->own_end ? *std::min_element(bodies.begin(), bodies.end() - 1) : 0;
    for (size_t c = n - 1; c-- > 0;)
        bodies[c] = std::min(bodies[c], bodies[c + 1]); // an empty chunk begins where the next does
    bool ok = upload(device, device->chunk_body, bodies.data(), n);
    LAUNCH(device, find_chunk_contacts, chunks + 1, device->chunk_body.data, device->first.data, device->chunk_contact.data,
           chunks);
    ok = ok && download(device, &contacts[0], device->chunk_contact.data, 1) &&
         download(device, &contacts[1], device->chunk_contact.data + chunks, 1) && device_wait(device);
    p->own_contacts = contacts[1] - contacts[0];
    return ok || device_fail(device, error);
}

// Contacts of what rests have been left out: finds the ranges of own chunks among the others, and points the solve to them.
bool subdomain_divide(SandDevice *device) {
    int chunks = subdomain_chunks(device);
    if (!sleep_divide_enqueue(device)) return false;
    if (device->left_out) return true;
    if (!reserve(device, device->chunk_solved, (size_t)chunks + 1)) return false;
    LAUNCH(device, find_chunk_contacts, chunks + 1, device->chunk_body.data, device->problem.first,
           device->chunk_solved.data, chunks);
    device->rank_problem.chunk_first = device->chunk_solved.data;
    return device_check(device, cudaGetLastError(), "leaving out what rests");
}

// --- neighbors ----------------------------------------------------------------------------------------------

// Marks both bodies of each contact between an own body and a ghost with the rank that owns the ghost. That rank holds the
// same contact, so both make the same list of the bodies that they exchange.
static __global__ void mark_holders(const SandCollision *collision, const int *order, const uint8_t *owner,
                                    unsigned long long *mask, const Counts *counts) {
    EACH(i, counts->contacts) {
        const SandContactCandidate *c = &collision->contacts[order[i]];
        if (c->b < 0) continue;
        int a = collision->body[c->index_a], b = collision->body[c->b];
        if (collision->is_ghost[a] == collision->is_ghost[b]) continue;
        unsigned long long other = 1ull << owner[collision->is_ghost[a] ? a : b];
        atomicOr(&mask[c->index_a], other);
        atomicOr(&mask[c->b], other);
    }
}

// Counts the bodies sent to each rank in counts[0 .. ranks - 1], and those received from each behind these.
static __global__ void count_holders(const SandCollision *collision, const unsigned long long *mask, int ranks, int *counts,
                                     const Counts *step) {
    EACH(k, step->bodies)
        for (unsigned long long m = mask[k]; m; m &= m - 1)
            atomicAdd(&counts[(collision->is_ghost[collision->body[k]] ? ranks : 0) + __ffsll((long long)m) - 1], 1);
}

static __global__ void choose_exchanged(const SandCollision *collision, const unsigned long long *mask, int rank,
                                        bool is_ghost, int *chosen, int bodies) {
    EACH(k, bodies + 1)
        chosen[k] = k < bodies && (mask[k] >> rank & 1) && (bool)collision->is_ghost[collision->body[k]] == is_ghost;
}

static __global__ void list_exchanged(const int *chosen, const int *place, int *list, int bodies) {
    EACH(k, bodies)
        if (chosen[k]) list[place[k]] = (int)k;
}

// Lists the bodies that are sent to a rank, or, with is_ghost, received from it, in the order of solver indices, which is
// the same on both sides. Arrays of the broad phase serve as scratch: it is done.
static bool list_bodies(SandDevice *device, int rank, bool is_ghost, int *list) {
    int bodies = device->host_counts->bodies, *chosen = device->sphere_count.data, *place = device->sphere_number.data;
    LAUNCH(device, choose_exchanged, bodies + 1, device->device_collision.data,
           (const unsigned long long *)device->mask.data, rank, is_ghost, chosen, bodies);
    bool ok = device_check(
        device,
        scan_sum(device->scratch.bytes.data, device->scratch.bytes.capacity, chosen, place, bodies + 1, device->stream),
        "ghosts");
    LAUNCH(device, list_exchanged, bodies, chosen, place, list, bodies);
    return ok && device_check(device, cudaGetLastError(), "ghosts");
}

static bool find_neighbors(SandDevice *device, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    RankProblem *problem = &device->rank_problem;
    int ranks = p->ranks->count, counts[2 * SAND_CHUNKS];
    size_t bodies = (size_t)device->host_counts->bodies;
    unsigned long long *mask = (unsigned long long *)device->mask.data;
    bool ok =
        reserve(device, device->message_counts, 2 * SAND_CHUNKS) &&
        device_check(device, cudaMemsetAsync(device->message_counts.data, 0, sizeof counts, device->stream), "ghosts") &&
        device_check(device, cudaMemsetAsync(mask, 0, bodies * sizeof *mask, device->stream), "ghosts");
    LAUNCH(device, mark_holders, device->contact_capacity, device->device_collision.data, device->candidate_order.data,
           device->owner.data, mask, device->counts);
    LAUNCH(device, count_holders, device->body_total, device->device_collision.data, mask, ranks,
           device->message_counts.data, device->counts);
    if (!ok || !download(device, counts, device->message_counts.data, 2 * (size_t)ranks) || !device_wait(device))
        return device_fail(device, error);
    problem->send_count = std::accumulate(counts, counts + ranks, 0);
    problem->receive_count = std::accumulate(counts + ranks, counts + 2 * ranks, 0);
    problem->neighbor_count = 0;
    if (!reserve(device, device->send, (size_t)problem->send_count + 1) ||
        !reserve(device, device->receive, (size_t)problem->receive_count + 1))
        return device_fail(device, error);
    int sent = 0, received = 0;
    for (int r = 0; r < ranks; r++) {
        if (!counts[r] && !counts[ranks + r]) continue;
        problem->neighbors[problem->neighbor_count++] = {r, sent, counts[r], received, counts[ranks + r]};
        if (!list_bodies(device, r, false, device->send.data + sent) ||
            !list_bodies(device, r, true, device->receive.data + received))
            return device_fail(device, error);
        sent += counts[r];
        received += counts[ranks + r];
    }
    return true;
}

// --- agreement ----------------------------------------------------------------------------------------------

static __global__ void ask_for_retry(Counts *counts) { counts->retry |= RETRY_RANKS; }

static __global__ void count_walls(const SandCollision *collision, const int *order, Counts *counts) {
    EACH(i, counts->contacts)
        if (collision->contacts[order[i]].b < 0) atomicAdd(&counts->walls, 1);
}

static __global__ void forget_walls(Counts *counts) { counts->walls = 0; }

// Reserves memory for copies of all contacts with boundaries. Ranks agree whether to repeat a step (subdomain_share) before
// they pack the problem: a rank that found this memory too small while packing would repeat the step alone.
static bool reserve_walls(SandDevice *device) {
    int walls = 0;
    LAUNCH(device, count_walls, device->contact_capacity, device->device_collision.data, device->candidate_order.data,
           device->counts);
    if (!download(device, &walls, &device->counts->walls, 1) || !device_wait(device)) return false;
    if (walls > device->wall_capacity) device->wall_capacity = 5 * (int64_t)walls / 4 + 1000;
    forget_walls<<<1, 1, 0, device->stream>>>(device->counts);
    return device_check(device, cudaGetLastError(), "contacts with boundaries");
}

// Frees the arrays of migration and of the search for impacts, where memory is scarce. The next step allocates them again.
static void release_moved(SandDevice *device) {
    device_wait(device);
    release(device, device->reach);
    release(device, device->margin);
    release(device, device->messages_out);
    release(device, device->messages_in);
    release(device, device->impact_starts);
    release(device, device->impact_counts);
}

// Counts the bodies of all ranks that take part. Collective.
static bool count_bodies(SandDevice *device, int *count, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    int64_t bodies = p->own_end - p->own_begin;
    *count = (int)device->grid_spheres;
    if (device->single_spheres) return true;
    if (!subdomain_meet(device, error)) return false;
    p->ranks->sum(p->ranks->user, &bodies, 1);
    *count = (int)bodies;
    return true;
}

bool subdomain_share(SandDevice *device, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    RankProblem *problem = &device->rank_problem;
    if (!download(device, device->host_counts, device->counts, 1)) return device_fail(device, error);
    if (!subdomain_meet(device, error)) return false;
    int64_t facts[] = {device->host_counts->retry, device->host_counts->mesh_overflow[2]};
    p->ranks->sum(p->ranks->user, facts, 2);
    device->left_out = facts[0] || facts[1];
    if (device->left_out) {
        ask_for_retry<<<1, 1, 0, device->stream>>>(device->counts);
        return device_check(device, cudaGetLastError(), "a rank's part") || device_fail(device, error);
    }
    if (device->gives_up && !reserve_walls(device)) return device_fail(device, error);
    if (!divide_chunks(device, error) || !find_neighbors(device, error)) return false;
    if (!count_bodies(device, &problem->bodies, error)) return false;
    problem->ranks = p->ranks;
    problem->chunks = p->chunks;
    problem->first_chunk = p->first_chunk;
    problem->chunk_first = device->chunk_contact.data;
    problem->send = device->send.data;
    problem->receive = device->receive.data;
    if (device->gives_up) release_moved(device);
    return true;
}

// --- after the step -----------------------------------------------------------------------------------------

// Two sums over the bodies of each chunk, in an order that does not depend on ranks: `terms` adds those of body k to the two
// that it gets. A thread block for each chunk; all of its threads call it.
template <class Terms> static __device__ void sum_chunk(const int *chunk_body, Terms terms, double *sums) {
    __shared__ double parts[2][BLOCK_THREADS];
    double first = 0, second = 0;
    for (int k = chunk_body[blockIdx.x] + (int)threadIdx.x; k < chunk_body[blockIdx.x + 1]; k += BLOCK_THREADS)
        terms(k, &first, &second);
    parts[0][threadIdx.x] = first;
    parts[1][threadIdx.x] = second;
    __syncthreads();
    if (threadIdx.x >= 2) return;
    double sum = 0;
    for (int t = 0; t < BLOCK_THREADS; t++) sum += parts[threadIdx.x][t];
    sums[2 * blockIdx.x + threadIdx.x] = sum;
}

// Adds up the two sums of the chunks of all ranks, in their order. Collective.
static bool add_chunks(SandDevice *device, double *first, double *second, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    int begin = p->first_chunk[p->ranks->rank], chunks = subdomain_chunks(device);
    std::vector<double> sums(2 * (size_t)p->chunks);
    if (chunks && !download(device, &sums[2 * (size_t)begin], device->chunk_energy.data, 2 * (size_t)chunks))
        return device_fail(device, error);
    if (!subdomain_meet(device, error)) return false;
    p->ranks->allgather(p->ranks->user, sums.data(), p->first_chunk, 2 * sizeof(double));
    *first = *second = 0;
    for (size_t c = 0; c < (size_t)p->chunks; c++) {
        *first += sums[2 * c];
        *second += sums[2 * c + 1];
    }
    return true;
}

// The work of the impulses on the bodies of each chunk (sim/step/energy_bound.inl).
static __global__ void __launch_bounds__(BLOCK_THREADS)
    sum_work(const __grid_constant__ SandWorld w, const SandCollision *collision, const SandProblemBody *free,
             const VelocityChange *change, const int *chunk_body, double *sums) {
    auto terms = [&](int k, double *along, double *square) {
        BodyMotion motion = solved_motion(free, change, k);
        SandImpulseWork one = body_work(&w, collision->body[k], &free[k], motion.velocity, motion.spin);
        *along += one.along;
        *square += one.square;
    };
    sum_chunk(chunk_body, terms, sums);
}

bool subdomain_bound(SandDevice *device, SandError *error) {
    int chunks = subdomain_chunks(device);
    SandImpulseWork work;
    if (device->left_out) return true;
    if (!reserve(device, device->chunk_energy, 2 * (size_t)RANK_CHUNKS)) return device_fail(device, error);
    if (chunks)
        sum_work<<<chunks, BLOCK_THREADS, 0, device->stream>>>(
            device->world, device->device_collision.data, device->bodies.data, (const VelocityChange *)device->arrays.body,
            device->chunk_body.data, device->chunk_energy.data);
    if (!add_chunks(device, &work.along, &work.square, error)) return false;
    double kept = kept_share(work);
    bool ok = device_check(
        device, cudaMemcpyAsync(&device->counts->kept, &kept, sizeof kept, cudaMemcpyHostToDevice, device->stream),
        "the bound on the energy");
    return (ok && device_wait(device)) || device_fail(device, error);
}

static __global__ void __launch_bounds__(BLOCK_THREADS)
    sum_energies(const __grid_constant__ SandWorld w, const SandCollision *collision, const int *chunk_body, double *sums) {
    auto terms = [&](int k, double *kinetic, double *potential) {
        int body = collision->body[k];
        if (w.gone[body]) return;
        *kinetic += sand_body_kinetic_energy(&w, body);
        *potential += sand_body_potential_energy(&w, body);
    };
    sum_chunk(chunk_body, terms, sums);
}

bool subdomain_energies(SandDevice *device) {
    DeviceSubdomain *p = subdomain_of(device);
    int chunks = subdomain_chunks(device);
    if (device->left_out || !chunks) return true;
    if (!reserve(device, device->chunk_energy, 2 * (size_t)RANK_CHUNKS)) return false;
    sum_energies<<<chunks, BLOCK_THREADS, 0, device->stream>>>(device->world, device->device_collision.data,
                                                               device->chunk_body.data, device->chunk_energy.data);
    return device_check(device, cudaGetLastError(), "energies");
}

void subdomain_stepped(SandDevice *device) {
    subdomain_of(device)->arrived = 0;
    if (device->gives_up) release(device, device->arrived);
}

// Merges the bodies that ranks have lost, the lowest numbers first.
static bool report_lost(SandDevice *device, SandStepReport *r, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    int64_t more = r->lost_more;
    if (!sand_rank_lists(&p->messages, p->ranks, r->lost, (size_t)r->lost_count * sizeof *r->lost, error)) return false;
    p->ranks->sum(p->ranks->user, &more, 1);
    SandLost *all = (SandLost *)(void *)p->messages.received;
    int count = (int)(p->messages.received_bytes / sizeof *all);
    std::sort(all, all + count, [](const SandLost &a, const SandLost &b) { return a.body < b.body; });
    r->lost_count = std::min(count, (int)SAND_MAX_LOST);
    r->lost_more = (int)more + count - r->lost_count;
    std::copy(all, all + r->lost_count, r->lost);
    return true;
}

// Counts the contacts of own chunks that were solved, where some rest.
static bool count_solved(SandDevice *device, int64_t *solved) {
    const int *first = device->chunk_solved.data;
    int ends[2];
    bool ok = download(device, &ends[0], first, 1) && download(device, &ends[1], first + subdomain_chunks(device), 1) &&
              device_wait(device);
    *solved = ends[1] - ends[0];
    return ok;
}

bool subdomain_report(SandDevice *device, SandStepReport *r, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    const Counts *c = device->host_counts;
    SandRankCounts counts = {};
    counts.bodies = p->own_end - p->own_begin;
    counts.contacts = counts.solved = p->own_contacts;
    if (device->world.sleep_speed > 0 && !count_solved(device, &counts.solved)) return device_fail(device, error);
    counts.warm_started = c->warm_started;
    counts.asleep = c->asleep;
    counts.held = (int64_t)device->bytes;
    for (int k = 0; k < SAND_MAX_OUTLETS; k++) {
        counts.left[k] = c->left[k];
        counts.mass[k] = (int64_t)c->left_mass[k];
    }
    if (!subdomain_meet(device, error) || !sand_rank_report(p->ranks, &counts, r, error)) return false;
    for (int k = 0; k < SAND_MAX_OUTLETS; k++) {
        r->left[k] = (int)counts.left[k];
        r->left_mass[k] = device->mass_unit * (double)counts.mass[k];
    }
    std::copy(p->entered, p->entered + SAND_MAX_INLETS, r->entered);
    return add_chunks(device, &r->kinetic, &r->potential, error) && report_lost(device, r, error);
}

// --- reading ------------------------------------------------------------------------------------------------

enum { READ_AT_ONCE = 1 << 18 }; // bodies in one copy to the host, whose buffer must fit a GPU that is nearly full

// Appends to `out` the own bodies among held bodies `first` to `first` + `some` - 1.
static __global__ void list_own(const __grid_constant__ SandWorld w, const int *number, const uint8_t *is_ghost, int first,
                                int64_t some, SandReadBody *out, int *count) {
    EACH(k, some) {
        int64_t i = first + k;
        if (is_ghost[i]) continue;
        SandReadBody *to = &out[atomicAdd(count, 1)];
#define READ(type, name) to->entry.name = w.name[i];
        SAND_BODY_STATE(READ)
#undef READ
        to->number = number[i];
        to->index = -1;
    }
}

// The ranks that receive what is read back.
enum Reader { RANK_0, ALL_RANKS };

// The rank to whose message bodies are appended: this rank itself where sand_messages_share gives them to all, else rank 0.
// `deliver` sends the messages.
static int address_of(const DeviceSubdomain *p, Reader reader) { return reader == ALL_RANKS ? p->ranks->rank : 0; }
static bool deliver(const DeviceSubdomain *p, SandMessages *messages, Reader reader, SandError *error) {
    return reader == ALL_RANKS ? sand_messages_share(messages, p->ranks, error)
                               : sand_messages_exchange(messages, p->ranks, error);
}
static bool is_reader(const DeviceSubdomain *p, Reader reader) { return reader == ALL_RANKS || p->ranks->rank == 0; }

// Appends the own bodies among `some` held ones, from `first` on, to the message for rank `to`.
static bool pack_some(SandDevice *device, int to, int first, int some) {
    DeviceSubdomain *p = subdomain_of(device);
    int count = 0;
    if (!device_check(device, cudaMemsetAsync(device->message_counts.data, 0, sizeof(int), device->stream), "reading"))
        return false;
    LAUNCH(device, list_own, some, device->world, device->number.data, device->is_ghost.data, first, (int64_t)some,
           (SandReadBody *)device->messages_out.data, device->message_counts.data);
    if (!download(device, &count, device->message_counts.data, 1) || !device_wait(device)) return false;
    size_t bytes = (size_t)count * sizeof(SandReadBody), at = p->messages.sent_bytes[to];
    p->messages.sent_bytes[to] = at + bytes;
    return download(device, p->messages.sent[to] + at, device->messages_out.data, bytes) && device_wait(device);
}

static bool pack_own(SandDevice *device, int to, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    sand_messages_begin(&p->messages);
    if (!sand_messages_reserve(&p->messages, to, (size_t)device->body_total * sizeof(SandReadBody) + 1, error)) return false;
    bool ok = reserve(device, device->messages_out,
                      (size_t)std::min(device->body_total, (int)READ_AT_ONCE) * sizeof(SandReadBody) + 1) &&
              reserve(device, device->message_counts, 1);
    for (int first = 0; ok && first < device->body_total; first += READ_AT_ONCE)
        ok = pack_some(device, to, first, std::min(device->body_total - first, (int)READ_AT_ONCE));
    return ok || device_fail(device, error);
}

static bool read_own(SandDevice *device, Reader reader, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    SandWorld *w = &p->host->world;
    if (!pack_own(device, address_of(p, reader), error) || !deliver(p, &p->messages, reader, error)) return false;
    if (!is_reader(p, reader)) return true;
    return sand_read_bodies(w, &p->messages, 0, w->body_count, NULL, error);
}

// A row of the warm start: a body, and how many contacts it owned. Ranks send rows and contacts in the order of solver
// indices.
struct KeptRow {
    int number, contacts;
};

// Reads the rows and kept contacts of own bodies back from the GPU.
static bool pack_kept(SandDevice *device, std::vector<KeptRow> *rows, std::vector<KeptContact> *contacts, SandError *error) {
    const DeviceSubdomain *p = subdomain_of(device);
    size_t bodies = (size_t)device->kept_bodies, own = (size_t)(p->own_end - p->own_begin);
    std::vector<int> first(bodies + 1), body(bodies + 1), number((size_t)device->body_total + 1);
    std::vector<SandContactKey> key((size_t)p->own_contacts);
    std::vector<Impulse> impulse((size_t)p->own_contacts);
    std::vector<double> approach((size_t)p->own_contacts);
    if (!download(device, first.data(), device->kept_first.data, bodies + 1) ||
        !download(device, body.data(), device->body.data, bodies) ||
        !download(device, number.data(), device->number.data, (size_t)device->body_total) || !device_wait(device))
        return device_fail(device, error);
    int begin = first[(size_t)p->own_begin];
    if (!download(device, key.data(), device->kept_key.data + begin, key.size()) ||
        !download(device, impulse.data(), device->kept_impulse.data + begin, key.size()) ||
        (device->kept_bounces && !download(device, approach.data(), device->kept_approach.data + begin, key.size())) ||
        !device_wait(device))
        return device_fail(device, error);
    rows->reserve(own);
    for (int k = p->own_begin; k < p->own_end; k++) {
        int a = number[(size_t)body[(size_t)k]];
        rows->push_back({a, first[(size_t)k + 1] - first[(size_t)k]});
        for (size_t c = (size_t)(first[(size_t)k] - begin); c < (size_t)(first[(size_t)k + 1] - begin); c++)
            contacts->push_back({(uint32_t)a, key[c], impulse[c], approach[c]});
    }
    return true;
}

static bool fill_warm_start(SandDevice *device, const KeptRow *rows, size_t count, const KeptContact *contacts, size_t all,
                            SandError *error) {
    SandHostState *host = subdomain_of(device)->host;
    SandWarmStart *warm = &host->warm_start;
    size_t world = (size_t)host->world.body_count;
    if (!SAND_GROW(warm->solver_index, warm->solver_index_capacity, world, "warm start", error) ||
        !SAND_GROW(warm->first, warm->first_capacity, count + 1, "warm start", error) ||
        !SAND_GROW(warm->key, warm->key_capacity, all, "warm start", error) ||
        !SAND_GROW(warm->impulse, warm->impulse_capacity, all, "warm start", error) ||
        !SAND_GROW(warm->approach, warm->approach_capacity, device->kept_bounces ? all : 0, "warm start", error))
        return false;
    warm->bounces = device->kept_bounces;
    warm->rolls = false;
    warm->step = device->kept_step;
    warm->settings = device->kept_settings;
    warm->body_count = (int)count;
    warm->world_count = (int)world;
    std::fill(warm->solver_index, warm->solver_index + world, -1);
    warm->first[0] = 0;
    for (size_t k = 0; k < count; k++) {
        warm->solver_index[rows[k].number] = (int)k;
        warm->first[k + 1] = warm->first[k] + rows[k].contacts;
    }
    for (size_t c = 0; c < all; c++) {
        warm->key[c] = contacts[c].key;
        warm->impulse[c] = impulse_vector(contacts[c].impulse);
        if (warm->bounces) warm->approach[c] = contacts[c].approach;
    }
    return true;
}

static bool read_kept(SandDevice *device, Reader reader, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    std::vector<KeptRow> rows;
    std::vector<KeptContact> contacts;
    SandMessages sent = {};
    int to = address_of(p, reader);
    p->host->warm_start.step = 0;
    if (device->kept_step == 0) return true; // on all ranks
    if (!pack_kept(device, &rows, &contacts, error)) return false;
    sand_messages_begin(&p->messages);
    bool ok = sand_messages_put(&p->messages, to, rows.data(), rows.size() * sizeof(KeptRow), error) &&
              sand_messages_put(&sent, to, contacts.data(), contacts.size() * sizeof(KeptContact), error) &&
              deliver(p, &p->messages, reader, error) && deliver(p, &sent, reader, error);
    if (ok && is_reader(p, reader))
        ok = fill_warm_start(device, (const KeptRow *)(const void *)p->messages.received,
                             p->messages.received_bytes / sizeof(KeptRow), (const KeptContact *)(const void *)sent.received,
                             sent.received_bytes / sizeof(KeptContact), error);
    sand_messages_free(&sent);
    return ok;
}

bool subdomain_read(SandDevice *device, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    if (p->known) return true;
    p->known = read_own(device, ALL_RANKS, error) && read_kept(device, ALL_RANKS, error);
    sand_messages_free(&p->messages); // large, and rarely needed
    return p->known;
}

bool subdomain_gather(SandDevice *device, bool impulses, SandError *error) {
    DeviceSubdomain *p = subdomain_of(device);
    if (p->known || p->gathered[impulses]) return true;
    p->gathered[impulses] = impulses ? read_kept(device, RANK_0, error) : read_own(device, RANK_0, error);
    sand_messages_free(&p->messages); // as above
    return p->gathered[impulses];
}
