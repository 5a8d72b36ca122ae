// SPDX-License-Identifier: MIT
// Reading back from the device: bodies, contacts, impulses and residuals, when the host asks for them. A step itself reads
// back nothing but its counters.
#include "cuda/device.h"
#include "sim/core/array.h"

#include <algorithm>

SandMetrics metrics_of(const SandDevice *device) {
    const Counts *c = device->host_counts;
    const SandEvidence &e = c->evidence;
    double contacts = device->is_rank ? device->rank_contacts : (double)c->contacts;
    SandMetrics m = {.residual = e.residual,
                     .residual_rms = contacts > 0 ? e.residual / sqrt(contacts) : 0,
                     .objective = e.objective,
                     .complementarity = c->complementarity,
                     .relative = e.relative,
                     .r_norm = e.r_norm};
    return m;
}

// Downloads bodies and contacts; the bytes are counted, since pictures should not need any.
template <class T> static bool read_back(SandDevice *device, T *host, const T *from, size_t count) {
    sand_count_downloaded(count * sizeof(T));
    return download(device, host, from, count);
}

static bool read_back_impulses(SandDevice *device, SandVec3 *host, const Impulse *from, size_t count) {
    std::vector<Impulse> rounded(count);
    if (!read_back(device, rounded.data(), from, count) || !device_wait(device)) return false;
    std::transform(rounded.begin(), rounded.end(), host, impulse_vector);
    return true;
}

bool device_arrays(SandDevice *device, const SandWorld *w, SandDeviceArrays *to, SandError *error) {
    *to = {.bodies = w->body_count,
           .contacts = device->integrated ? device->host_counts->found : 0,
           .position = device->position.data,
           .velocity = device->velocity.data,
           .spin = device->spin.data,
           .rotation = device->rotation.data,
           .impulse = (const float *)device->kept_impulse.data};
    return device_wait(device) || device_fail(device, error);
}

bool read_bodies(SandDevice *device, SandWorld *w, int first, int count, SandError *error) {
    size_t n = (size_t)count;
#define READ(type, name) &&read_back(device, w->name + first, device->name.data + first, n)
    bool ok = true SAND_BODY_STATE(READ) && device_wait(device);
#undef READ
    return ok || device_fail(device, error);
}

bool read_warm_start(SandDevice *device, SandWarmStart *cache, SandError *error) {
    cache->step = 0;
    if (device->kept_step == 0 || device->kept_spent) return true;
    size_t contacts = (size_t)device->kept_contacts, bodies = (size_t)device->kept_bodies,
           world = (size_t)device->kept_world;
    if (!SAND_GROW(cache->solver_index, cache->solver_index_capacity, world, "warm start", error) ||
        !SAND_GROW(cache->first, cache->first_capacity, bodies + 1, "warm start", error) ||
        !SAND_GROW(cache->key, cache->key_capacity, contacts, "warm start", error) ||
        !SAND_GROW(cache->impulse, cache->impulse_capacity, device->kept_rolls ? 2 * contacts : contacts, "warm start",
                   error) ||
        !SAND_GROW(cache->approach, cache->approach_capacity, device->kept_bounces ? contacts : 0, "warm start", error))
        return false;
    bool ok =
        read_back(device, cache->solver_index, device->kept_solver_index.data, world) &&
        read_back(device, cache->first, device->kept_first.data, bodies + 1) &&
        read_back(device, cache->key, device->kept_key.data, contacts) &&
        read_back_impulses(device, cache->impulse, device->kept_impulse.data, contacts) &&
        (!device->kept_rolls || read_back_impulses(device, cache->impulse + contacts, device->kept_torque.data, contacts)) &&
        (!device->kept_bounces ||
         (read_back(device, cache->approach, device->kept_approach.data, contacts) && device_wait(device)));
    cache->bounces = device->kept_bounces;
    cache->rolls = device->kept_rolls;
    cache->step = device->kept_step;
    cache->settings = device->kept_settings;
    cache->body_count = device->kept_bodies;
    cache->world_count = device->kept_world;
    return ok || device_fail(device, error);
}

bool fail_given_up(const SandDevice *device, SandError *error) {
    return sand_fail(error,
                     "the contacts of %d bodies do not fit into the memory of the GPU beside the solver, and were given up",
                     device->world.body_count);
}

// Reads the contact candidates in their sorted order. After the integration the solver indices and rows are those kept for
// the next warm start.
bool read_contacts(SandDevice *device, SandCollision *collision, SandError *error) {
    if (device->gives_up && device->solved) return fail_given_up(device, error);
    size_t bodies = (size_t)device->host_counts->bodies, contacts = (size_t)device->host_counts->found;
    size_t world = (size_t)device->world.body_count, boundaries = (size_t)device->world.boundary_count;
    if (!SAND_GROW(collision->solver_index, collision->solver_index_capacity, world, "bodies", error) ||
        !SAND_GROW(collision->body, collision->body_capacity, world, "bodies", error) ||
        !SAND_GROW(collision->first, collision->first_capacity, world + 2, "bodies", error) ||
        !SAND_GROW(collision->contacts, collision->contact_capacity, contacts, "contacts", error) ||
        !SAND_GROW(collision->pose, collision->pose_capacity, boundaries, "boundaries", error) ||
        !SAND_GROW(collision->velocity, collision->velocity_capacity, boundaries, "boundaries", error) ||
        !SAND_GROW(collision->spin, collision->spin_capacity, boundaries, "boundaries", error))
        return false;
    collision->body_count = (int)bodies;
    collision->contact_count = (int)contacts;
    std::copy(device->host_collision.pose, device->host_collision.pose + boundaries, collision->pose);
    std::copy(device->host_collision.velocity, device->host_collision.velocity + boundaries, collision->velocity);
    std::copy(device->host_collision.spin, device->host_collision.spin + boundaries, collision->spin);
    std::vector<SandContactCandidate> candidates(contacts);
    std::vector<int> order(contacts);
    const Array<int> &solver_index = device->integrated ? device->kept_solver_index : device->solver_index,
                     &first = device->integrated ? device->kept_first : device->first;
    bool ok = read_back(device, collision->solver_index, solver_index.data, world) &&
              read_back(device, collision->body, device->body.data, bodies) &&
              read_back(device, collision->first, first.data, bodies + 1) &&
              read_back(device, candidates.data(), device->candidates.data, contacts) &&
              read_back(device, order.data(), device->candidate_order.data, contacts) && device_wait(device);
    for (size_t i = 0; ok && i < contacts; i++) collision->contacts[i] = candidates[(size_t)order[i]];
    return ok || device_fail(device, error);
}

// Their candidates follow all others, so that a block is known by the number of its candidate.
bool read_joints(SandDevice *device, SandProblem *p, SandError *error) {
    size_t contacts = (size_t)p->contact_count, blocks = (size_t)p->joint_count;
    std::vector<int> order(contacts);
    std::vector<SandContact> block(blocks);
    std::vector<SandJointRows> rows(blocks);
    bool ok = read_back(device, order.data(), device->candidate_order.data, contacts) &&
              read_back(device, block.data(), device->block_contacts.data, blocks) &&
              read_back(device, rows.data(), device->problem_joints.data, blocks) && device_wait(device);
    for (size_t i = 0; ok && i < contacts; i++) {
        if (p->joint[i] < 0) continue;
        size_t k = (size_t)order[i] - (contacts - blocks);
        p->contacts[i] = block[k];
        p->joints[p->joint[i]] = rows[k];
    }
    return ok || device_fail(device, error);
}

bool read_start(SandDevice *device, SandVec3 *start, SandError *error) {
    if (device->gives_up && device->solved) return fail_given_up(device, error);
    size_t contacts = (size_t)device->host_counts->found;
    return (read_back_impulses(device, start, device->start.data, contacts) &&
            (!device->torques || read_back_impulses(device, start + contacts, device->start_torque.data, contacts))) ||
           device_fail(device, error);
}

bool read_bounces(SandDevice *device, SandProblem *p, SandError *error) {
    size_t contacts = (size_t)p->contact_count;
    std::vector<SandImpact> impacts(contacts);
    std::vector<int> order(contacts);
    bool ok = read_back(device, impacts.data(), device->impacts.data, contacts) &&
              read_back(device, order.data(), device->candidate_order.data, contacts) && device_wait(device);
    for (size_t i = 0; ok && i < contacts; i++) p->contacts[i].bounce = impacts[(size_t)order[i]].bounce;
    return ok || device_fail(device, error);
}

bool read_problem_bodies(SandDevice *device, SandProblemBody *bodies, int count, SandError *error) {
    return (read_back(device, bodies, device->bodies.data, (size_t)count) && device_wait(device)) ||
           device_fail(device, error);
}

bool read_curve(SandDevice *device, SandSolution *s, SandError *error) {
    size_t curve = (size_t)device->host_counts->curve;
    if (!SAND_GROW(s->curve, s->curve_capacity, curve, "residual curve", error)) return false;
    s->curve_count = (int)curve;
    return (download(device, s->curve, device->curve.data, curve) && device_wait(device)) || device_fail(device, error);
}

// Reads the impulses of the last solve. Those of a step are kept for the warm start; those of a standalone problem are
// written here.
bool read_solution(SandDevice *device, SandSolution *s, SandError *error) {
    const Counts *c = device->host_counts;
    size_t contacts = (size_t)c->found;
    if (!SAND_GROW(s->impulse, s->impulse_capacity, device->torques ? 2 * contacts : contacts, "impulses", error))
        return false;
    if (s->want_curve && !read_curve(device, s, error)) return false;
    if (device->standalone) {
        if (!reserve(device, device->kept_impulse, contacts + 1) ||
            (device->torques && !reserve(device, device->kept_torque, contacts + 1)))
            return device_fail(device, error);
        device->kept_step = 0;
        device->kernel->impulses(device->arrays, device->counts, device->kept_impulse.data,
                                 device->torques ? device->kept_torque.data : NULL, device->stream);
    }
    if (!read_back_impulses(device, s->impulse, device->kept_impulse.data, contacts) ||
        (device->torques && !read_back_impulses(device, s->impulse + contacts, device->kept_torque.data, contacts)))
        return device_fail(device, error);
    s->status = sand_status_of(c->end, c->evidence);
    s->least_energy = s->status == SAND_INFEASIBLE ? c->least_energy : 0;
    s->iterations = c->iterations;
    s->seconds = c->seconds;
    s->metrics = metrics_of(device);
    return true;
}
