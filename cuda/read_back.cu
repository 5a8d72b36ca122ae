// Reading back from the device: bodies, contacts, impulses and residuals, when the host asks for them. A step itself reads
// back nothing but its counters.
#include "cuda/device.h"
#include "sim/core/array.h"

#include <algorithm>

SandMetrics metrics_of(const Counts *c) {
    SandMetrics m = {.residual = c->residual,
                     .residual_rms = c->contacts ? c->residual / sqrt((double)c->contacts) : 0,
                     .objective = c->objective,
                     .complementarity = c->complementarity};
    return m;
}

// Downloads bodies and contacts; the bytes are counted, since pictures should not need any.
template <class T> static bool read_back(SandDevice *m, T *host, const T *device, size_t count) {
    sand_count_downloaded(count * sizeof(T));
    return download(m, host, device, count);
}

static bool read_back_impulses(SandDevice *m, SandVec3 *host, const Array<Impulse> &device, size_t count) {
    std::vector<Impulse> rounded(count);
    if (!read_back(m, rounded.data(), device.data, count) || !device_wait(m)) return false;
    std::transform(rounded.begin(), rounded.end(), host, impulse_vector);
    return true;
}

bool read_bodies(SandDevice *m, SandWorld *w, int first, int count, SandError *error) {
    size_t n = (size_t)count;
    bool ok = read_back(m, w->position + first, m->position.data + first, n) &&
              read_back(m, w->rotation + first, m->rotation.data + first, n) &&
              read_back(m, w->velocity + first, m->velocity.data + first, n) &&
              read_back(m, w->spin + first, m->spin.data + first, n) &&
              read_back(m, w->gone + first, m->gone.data + first, n) && device_wait(m);
    return ok || device_fail(m, error);
}

bool read_warm_start(SandDevice *m, SandWarmStart *cache, SandError *error) {
    cache->step = 0;
    if (m->kept_step == 0) return true;
    size_t contacts = (size_t)m->kept_contacts, bodies = (size_t)m->kept_bodies, world = (size_t)m->kept_world;
    if (!SAND_GROW(cache->solver_index, cache->solver_index_capacity, world, "warm start", error) ||
        !SAND_GROW(cache->first, cache->first_capacity, bodies + 1, "warm start", error) ||
        !SAND_GROW(cache->key, cache->key_capacity, contacts, "warm start", error) ||
        !SAND_GROW(cache->impulse, cache->impulse_capacity, contacts, "warm start", error))
        return false;
    bool ok = read_back(m, cache->solver_index, m->kept_solver_index.data, world) &&
              read_back(m, cache->first, m->kept_first.data, bodies + 1) &&
              read_back(m, cache->key, m->kept_key.data, contacts) &&
              read_back_impulses(m, cache->impulse, m->kept_impulse, contacts);
    cache->step = m->kept_step;
    cache->body_count = m->kept_bodies;
    cache->world_count = m->kept_world;
    return ok || device_fail(m, error);
}

// Reads the contact candidates in their sorted order. After the integration the solver indices and rows are those kept for
// the next warm start.
bool read_contacts(SandDevice *m, SandCollision *d, SandError *error) {
    size_t bodies = (size_t)m->host_counts->bodies, contacts = (size_t)m->host_counts->contacts;
    size_t world = (size_t)m->world.body_count, walls = (size_t)m->world.boundary_count;
    if (!SAND_GROW(d->solver_index, d->solver_index_capacity, world, "bodies", error) ||
        !SAND_GROW(d->body, d->body_capacity, world, "bodies", error) ||
        !SAND_GROW(d->first, d->first_capacity, world + 2, "bodies", error) ||
        !SAND_GROW(d->contacts, d->contact_capacity, contacts, "contacts", error) ||
        !SAND_GROW(d->pose, d->pose_capacity, walls, "boundaries", error) ||
        !SAND_GROW(d->velocity, d->velocity_capacity, walls, "boundaries", error) ||
        !SAND_GROW(d->spin, d->spin_capacity, walls, "boundaries", error))
        return false;
    d->body_count = (int)bodies;
    d->contact_count = (int)contacts;
    std::copy(m->host_collision.pose, m->host_collision.pose + walls, d->pose);
    std::copy(m->host_collision.velocity, m->host_collision.velocity + walls, d->velocity);
    std::copy(m->host_collision.spin, m->host_collision.spin + walls, d->spin);
    std::vector<SandContactCandidate> candidates(contacts);
    std::vector<int> order(contacts);
    const Array<int> &solver_index = m->integrated ? m->kept_solver_index : m->solver_index,
                     &first = m->integrated ? m->kept_first : m->first;
    bool ok = read_back(m, d->solver_index, solver_index.data, world) && read_back(m, d->body, m->body.data, bodies) &&
              read_back(m, d->first, first.data, bodies + 1) &&
              read_back(m, candidates.data(), m->candidates.data, contacts) &&
              read_back(m, order.data(), m->candidate_order.data, contacts) && device_wait(m);
    for (size_t i = 0; ok && i < contacts; i++) d->contacts[i] = candidates[(size_t)order[i]];
    return ok || device_fail(m, error);
}

bool read_start(SandDevice *m, SandVec3 *start, SandError *error) {
    return read_back_impulses(m, start, m->start, (size_t)m->host_counts->contacts) || device_fail(m, error);
}

bool read_problem_bodies(SandDevice *m, SandProblemBody *bodies, int count, SandError *error) {
    return (read_back(m, bodies, m->bodies.data, (size_t)count) && device_wait(m)) || device_fail(m, error);
}

bool read_curve(SandDevice *m, SandSolution *s, SandError *error) {
    size_t curve = (size_t)m->host_counts->curve;
    if (!SAND_GROW(s->curve, s->curve_capacity, curve, "residual curve", error)) return false;
    s->curve_count = (int)curve;
    return (download(m, s->curve, m->curve.data, curve) && device_wait(m)) || device_fail(m, error);
}

// Reads the impulses of the last solve. Those of a step are kept for the warm start; those of a standalone problem are
// written here.
bool read_solution(SandDevice *m, SandSolution *s, SandError *error) {
    const Counts *c = m->host_counts;
    size_t contacts = (size_t)c->contacts;
    if (!SAND_GROW(s->impulse, s->impulse_capacity, contacts, "impulses", error)) return false;
    if (s->want_curve && !read_curve(m, s, error)) return false;
    if (m->standalone) {
        if (!reserve(m, m->kept_impulse, contacts + 1)) return device_fail(m, error);
        m->kept_step = 0;
        m->kernel->impulses(m->arrays, m->counts, m->kept_impulse.data, m->stream);
    }
    if (!read_back_impulses(m, s->impulse, m->kept_impulse, contacts)) return device_fail(m, error);
    s->status = (SandStatus)c->status;
    s->iterations = c->iterations;
    s->seconds = c->seconds;
    s->metrics = metrics_of(c);
    return true;
}
