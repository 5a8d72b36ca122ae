// SPDX-License-Identifier: MIT
// Copying bodies, warm start and contacts between host and device, each only where the other side has the newer copy.
#include "sim/step/residency.h"

#include "sim/core/assert.h"
#include "sim/step/build_problem.h"
#include "sim/step/laws.h"
#include "sim/world/body_arrays.h"

bool sand_residency_move(SandResidency *r, const SandBackend *backend, SandDevice *device, SandError *error) {
    SAND_ASSERT(!(r->newer_on_device & (SAND_STATE_BODIES | SAND_STATE_WARM_START)));
    if (!backend->upload(device, r->host, error)) return false;
    r->backend = backend;
    r->device = device;
    r->newer_on_device = 0;
    r->newer_on_host = false;
    r->host_step = r->host->world.step_index;
    return true;
}

bool sand_residency_read(SandResidency *r, unsigned parts, SandError *error) {
    SandWorld *w = &r->host->world;
    unsigned needed = parts & r->newer_on_device;
    if (needed & SAND_STATE_WARM_START) { // first: ranks on the CPU send the bodies with it
        if (!r->backend->read_warm_start(r->device, &r->host->warm_start, error)) return false;
        r->newer_on_device &= ~(unsigned)SAND_STATE_WARM_START;
    }
    if (needed & SAND_STATE_BODIES) {
        if (!r->backend->read_bodies(r->device, w, 0, w->body_count, error)) return false;
        r->host_step = w->step_index;
        r->newer_on_device &= ~(unsigned)SAND_STATE_BODIES;
    }
    return true;
}

bool sand_residency_share(SandResidency *r, SandError *error) {
    const unsigned state = SAND_STATE_BODIES | SAND_STATE_WARM_START;
    if (r->newer_on_host || !r->backend->share_state) return sand_residency_read(r, state, error);
    if (!r->backend->share_state(r->device, error)) return false;
    r->newer_on_device &= ~state;
    r->host_step = r->host->world.step_index;
    return true;
}

bool sand_residency_read_body(SandResidency *r, int body, SandBodyState *to, SandError *error) {
    SandWorld *w = &r->host->world;
    SandBodyEntry earlier = sand_body_entry(w, body);
    bool newer = r->newer_on_device & SAND_STATE_BODIES;
    bool ok = !newer || r->backend->read_bodies(r->device, w, body, 1, error);
    *to = (SandBodyState){w->position[body], w->velocity[body], w->spin[body], w->rotation[body]};
    sand_body_set_entry(w, body, &earlier);
    return ok;
}

// Reads all of a step at once, with the bodies after it.
static bool read_step(SandResidency *r, SandError *error) {
    if (!sand_residency_read(r, SAND_STATE_BODIES, error) || !r->backend->read_step(r->device, error))
        return r->host->problem.contact_count = 0, false;
    r->newer_on_device &= ~(unsigned)SAND_STATE_CONTACTS;
    return true;
}

bool sand_residency_read_contacts(SandResidency *r, SandThreadPool *pool, SandError *error) {
    const SandBackend *b = r->backend;
    SandHostState *host = r->host;
    SandProblem *p = &host->problem;
    if (!(r->newer_on_device & SAND_STATE_CONTACTS)) return true;
    if (b->read_step) return read_step(r, error);
    if (!sand_residency_read(r, SAND_STATE_BODIES, error) || !b->read_contacts(r->device, &host->collision, error) ||
        !sand_problem_reserve(host, error) || !b->read_problem_bodies(r->device, p->bodies, p->body_count, error) ||
        (p->joint_count && !b->read_joints(r->device, p, error)) || !b->read_start(r->device, p->start, error) ||
        !b->read_solution(r->device, &host->solution, error)) {
        p->contact_count = 0;
        return false;
    }
    sand_problem_rebuild_contacts(host, pool);
    sand_laws_rebuild(host);
    if (p->bounces && b->read_bounces && !b->read_bounces(r->device, p, error)) return p->contact_count = 0, false;
    r->newer_on_device &= ~(unsigned)SAND_STATE_CONTACTS;
    return true;
}

bool sand_residency_write(SandResidency *r, bool *uploaded, SandError *error) {
    *uploaded = r->newer_on_host;
    if (!r->newer_on_host) return true;
    if (!r->backend->upload(r->device, r->host, error)) return false;
    r->newer_on_host = false;
    r->host_step = r->host->world.step_index;
    return true;
}

void sand_residency_stepped(SandResidency *r) {
    if (r->backend->on_host) return;
    r->newer_on_device = SAND_STATE_BODIES | SAND_STATE_WARM_START | SAND_STATE_CONTACTS;
    r->host->problem.contact_count = 0; // the host has those of an earlier step
}

void sand_residency_changed(SandResidency *r) {
    if (r->backend->on_host) return;
    r->newer_on_device = 0;
    r->newer_on_host = true;
}

size_t sand_snapshot_bytes(int bodies) {
    return (size_t)bodies * (3 * sizeof(SandVec3) + sizeof(SandQuat) + sizeof(uint8_t));
}

SandWorld sand_snapshot_view(const SandWorld *world, uint8_t *bytes) {
    SandWorld view = *world;
    size_t n = (size_t)world->body_count;
    view.position = (SandVec3 *)(void *)bytes;
    view.rotation = (SandQuat *)(void *)(view.position + n);
    view.velocity = (SandVec3 *)(void *)(view.rotation + n);
    view.spin = view.velocity + n;
    view.gone = (uint8_t *)(view.spin + n);
    return view;
}
