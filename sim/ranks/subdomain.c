// SPDX-License-Identifier: MIT
// The bodies of a rank in a step: taken from the host, migrated to new owners, sent as ghosts, merged with those received,
// and read back to the host.
#include "sim/ranks/subdomain.h"

#include "sim/collision/broad_phase.inl"
#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/geometry/convex.inl"
#include "sim/ranks/body_records.h"
#include "sim/ranks/near_proxies.h"
#include "sim/ranks/owners.h"
#include "sim/ranks/rank_report.h"
#include "sim/step/forces.h"
#include "sim/step/sleep.h"
#include "sim/world/body_arrays.h"

#include <limits.h>
#include <stdlib.h>

struct SandSubdomain {
    const SandRanks *ranks;
    SandHostState *host; // settings of the world; bodies as of the last upload or read
    SandHostState state; // of the held bodies; it stays from step to step, but for bodies that come and go
    bool fresh;          // no step since the upload: the bodies are still on the host
    bool known;          // every host has read the bodies of the last step
    uint64_t settings;   // hash of the settings with which the impulses of the last step were found
    // Of each held body.
    SAND_ARRAY(int) global_id, rank;
    SAND_ARRAY(int) order; // solver index in the last step, among the bodies of all ranks; -1: none
    SAND_ARRAY(uint8_t) is_ghost;
    SAND_ARRAY(int) local_id; // of each body of the world: 1 + its index among the held bodies; 0: it is not held
    SAND_ARRAY(int) numbered; // bodies whose local_id is not 0, to clear these without a pass over the world
    int numbered_count;
    SAND_ARRAY(uint8_t) joined; // of each body of the world: a joint holds it
    SandKeptRows rows;          // of the warm start: the contacts that own bodies owned in the last step
    SandWarmStart spare;        // the next warm start is filled here, then swapped with that of the state
    // The partition of the bodies of all ranks.
    SandPartition partition;
    SandOwners owners;
    SAND_ARRAY(int) owner; // rank of each held body, by solver index
    // Migration and ghosts.
    SAND_ARRAY(int) stay; // own bodies that do not migrate
    int stay_count;
    SAND_ARRAY(int) border; // those of them that other ranks may need as ghosts
    int border_count;
    SAND_ARRAY(int) from; // of each held body of the step: its index in `stay`, or -1 - its index in `records`
    SandMessages migrants, ghosts, gathered;
    SandRecords records; // bodies received from other ranks
    SandNearProxies near;
    SandGhostSearch search;
    SAND_ARRAY(double) margins;
    size_t joint_capacity, apart_capacity;
    SandForceArrays forces; // on held bodies
};

SandSubdomain *sand_subdomain_create(const SandRanks *ranks, SandError *error) {
    SandSubdomain *p = calloc(1, sizeof *p);
    if (!p) return sand_fail(error, "out of memory for a rank"), NULL;
    p->ranks = ranks;
    p->partition.ranks = ranks;
    sand_near_proxies_init(&p->near);
    return p;
}

void sand_subdomain_free(SandSubdomain *p) {
    if (!p) return;
    SandWorld *w = &p->state.world;
    SAND_FREE_ARRAYS(&p->global_id, &p->rank, &p->order, &p->is_ghost, &p->local_id, &p->numbered, &p->joined, &p->owner,
                     &p->stay, &p->border, &p->from, &p->margins);
    sand_forces_free(&p->forces);
    sand_free(w->joints);
    sand_free(w->apart);
    sand_free(p->state.lift);
    sand_bodies_free(w);
    sand_collision_free(&p->state.collision);
    sand_warm_start_free(&p->state.warm_start);
    sand_warm_start_free(&p->spare);
    sand_problem_free(&p->state.problem);
    sand_solution_free(&p->state.solution);
    sand_owners_free(&p->owners);
    sand_messages_free(&p->migrants);
    sand_messages_free(&p->ghosts);
    sand_messages_free(&p->gathered);
    sand_near_proxies_free(&p->near);
    sand_ghost_search_free(&p->search);
    sand_records_free(&p->records);
    free(p);
}

bool sand_subdomain_known(const SandSubdomain *p) { return p->fresh || p->known; }
SandHostState *sand_subdomain_host(SandSubdomain *p) { return p->host; }
SandHostState *sand_subdomain_state(SandSubdomain *p) { return &p->state; }
const SandPartition *sand_subdomain_partition(const SandSubdomain *p) { return &p->partition; }
int sand_subdomain_global_id(const SandSubdomain *p, int body) { return p->global_id.data[body]; }
int sand_subdomain_local_id(const SandSubdomain *p, int body) {
    return p->local_id.data[body] ? p->local_id.data[body] - 1 : INT_MAX;
}
const SandRanks *sand_subdomain_ranks(const SandSubdomain *p) { return p->ranks; }
const SandMessages *sand_subdomain_ghosts(const SandSubdomain *p) { return &p->ghosts; }
uint64_t sand_subdomain_settings(const SandSubdomain *p) { return p->settings; }

// Waits for all ranks, before a collective operation.
static bool agree(const SandSubdomain *p, SandError *error) { return p->ranks->agree(p->ranks->user, 0, error); }

// --- the host -----------------------------------------------------------------------------------------------

// Marks the bodies that joints hold. They are ghosts on all other ranks, since take_joints needs both ends of every joint.
static bool mark_joined(SandSubdomain *p, SandError *error) {
    const SandWorld *w = &p->host->world;
    SAND_FREE_ARRAYS(&p->joined);
    if (!SAND_RESERVE(p->joined, w->body_count + 1, "bodies", error)) return false;
    for (int k = 0; k < w->joint_count; k++) {
        p->joined.data[w->joints[k].b] = 1;
        if (w->joints[k].a >= 0) p->joined.data[w->joints[k].a] = 1;
    }
    return true;
}

bool sand_subdomain_upload(SandSubdomain *p, SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    if (w->squeeze.rate != 0) return sand_fail(error, "several ranks cannot squeeze a box yet");
    p->host = host;
    p->fresh = true;
    p->owners.work_chunks = 0;
    p->settings = host->warm_start.settings;
    return SAND_RESERVE(p->local_id, w->body_count + 1, "bodies", error) && mark_joined(p, error);
}

SandOwnBodies sand_subdomain_own(const SandSubdomain *p) {
    int me = p->ranks->rank, all = p->host->world.body_count;
    int first = sand_block_first(all, p->ranks->count, me), end = sand_block_first(all, p->ranks->count, me + 1);
    if (p->fresh) return (SandOwnBodies){.world = sand_bodies_view(&p->host->world, first, end - first), .first = first};
    const int *contacts = p->state.collision.first + p->partition.below;
    return (SandOwnBodies){.world = p->state.world,
                           .global_id = p->global_id.data,
                           .is_ghost = p->is_ghost.data,
                           .state = &p->state,
                           .first_contact = contacts[0],
                           .end_contact = contacts[sand_partition_owned(&p->partition)]};
}

// Sets the local_id of held bodies, and clears that of the bodies held before. The time grows with the held bodies, not with
// those of the world.
static bool number_local(SandSubdomain *p, int count, SandError *error) {
    if (!SAND_RESERVE(p->numbered, count + 1, "bodies", error)) return false;
    for (int k = 0; k < p->numbered_count; k++) p->local_id.data[p->numbered.data[k]] = 0;
    p->numbered_count = count;
    for (int i = 0; i < count; i++) {
        p->numbered.data[i] = p->global_id.data[i];
        p->local_id.data[p->global_id.data[i]] = i + 1;
    }
    return true;
}

// Packs all own bodies into the message for rank `to`: rank 0, or this rank itself if the message is then shared with all.
static bool pack_own(SandSubdomain *p, int to, SandError *error) {
    SandRecordSource from = {&p->state, p->global_id.data, p->order.data};
    int count = p->state.world.body_count;
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        if (!p->is_ghost.data[i]) bytes += sand_record_bytes(&from, i);
    sand_messages_begin(&p->gathered);
    if (!sand_messages_reserve(&p->gathered, to, bytes, error)) return false;
    for (int i = 0; i < count; i++)
        if (!p->is_ghost.data[i] && !sand_record_put(&p->gathered, to, &from, i, error)) return false;
    return true;
}

// Replaces bodies and warm start of the host by the records, which must be those of all bodies of the world.
static bool fill_host(SandSubdomain *p, SandError *error) {
    const SandKeptRows none = {0};
    SandHostState *host = p->host;
    int count = p->records.count;
    if (count != host->world.body_count)
        return sand_fail(error, "the ranks sent %d bodies, not %d", count, host->world.body_count);
    if (!SAND_RESERVE(p->from, count + 1, "bodies", error)) return false;
    for (int i = 0; i < count; i++) p->from.data[i] = -1 - i;
    host->warm_start.settings = p->settings;
    return sand_bodies_merge(&host->world, p->from.data, count, &p->records, error) &&
           sand_records_to_warm_start(&p->records, &p->state.warm_start, &none, p->from.data, count, NULL, &host->warm_start,
                                      error);
}

// Fills the host from the records that were gathered.
static bool take_news(SandSubdomain *p, SandError *error) {
    sand_records_clear(&p->records);
    return sand_records_add(&p->records, p->gathered.received, p->gathered.received_bytes, error) &&
           sand_records_sort(&p->records, error) && fill_host(p, error);
}

bool sand_subdomain_read(SandSubdomain *p, SandError *error) {
    if (p->fresh || p->known) return true;
    if (!pack_own(p, p->ranks->rank, error) || !sand_messages_share(&p->gathered, p->ranks, error)) return false;
    p->known = true;
    bool ok = take_news(p, error);
    sand_messages_free(&p->gathered); // large, and rarely needed
    return ok;
}

bool sand_subdomain_gather_state(SandSubdomain *p, SandError *error) {
    if (p->fresh || p->known) return true;
    bool ok = pack_own(p, 0, error) && sand_messages_exchange(&p->gathered, p->ranks, error) &&
              (p->ranks->rank > 0 || take_news(p, error));
    sand_messages_free(&p->gathered); // as above
    return ok;
}

// Kept contacts name bodies by global_id from here on, because the next step may change local ids.
void sand_subdomain_keep(SandSubdomain *p) {
    const SandPartition *h = &p->partition;
    SandWarmStart *warm = &p->state.warm_start;
    int mine = h->first_body[p->ranks->rank], kept = warm->step > 0 ? sand_partition_owned(h) : 0;
    p->settings = sand_sleep_settings(&p->host->world);
    p->rows = (SandKeptRows){h->below, h->below + kept, mine};
    for (int i = 0; i < p->state.world.body_count; i++) {
        int index = sand_last_index(&p->state, i);
        p->order.data[i] = index < 0 ? -1 : index - h->below + mine;
    }
    for (int e = 0; warm->step > 0 && e < warm->first[warm->body_count]; e++)
        if (!(warm->key[e].other & (SAND_BOUNDARY_BIT | SAND_JOINT_BIT)))
            warm->key[e].other = (uint32_t)p->global_id.data[warm->key[e].other];
}

// --- the local world ----------------------------------------------------------------------------------------

// Copies joints, and pairs that do not collide, from the host, with local ids. Every rank holds all bodies of joints; of
// pairs it may lack a body, and leaves such pairs out.
static bool take_joints(SandSubdomain *p, SandError *error) {
    const SandWorld *all = &p->host->world;
    SandWorld *w = &p->state.world;
    if (!SAND_GROW(w->joints, p->joint_capacity, all->joint_count + 1, "joints", error) ||
        !SAND_GROW(w->apart, p->apart_capacity, all->apart_count + 1, "joints", error))
        return false;
    w->joint_count = w->apart_count = 0;
    for (int k = 0; k < all->joint_count; k++) {
        SandJoint *j = &w->joints[w->joint_count++];
        *j = all->joints[k];
        j->b = p->local_id.data[j->b] - 1;
        if (j->a >= 0) j->a = p->local_id.data[j->a] - 1;
    }
    for (int k = 0; k < all->apart_count; k++) {
        int64_t a = p->local_id.data[all->apart[k] >> 32], b = p->local_id.data[all->apart[k] & 0xffffffff];
        if (a && b) w->apart[w->apart_count++] = (uint64_t)(a - 1) << 32 | (uint64_t)(b - 1);
    }
    return true;
}

// Copies the settings of the host's world to that of the held bodies, which keeps its bodies.
static void take_settings(SandSubdomain *p) {
    SandWorld *w = &p->state.world, old = *w;
    *w = p->host->world;
    sand_bodies_take(w, &old);
    w->joints = old.joints;
    w->apart = old.apart;
    w->joint_count = w->apart_count = 0;
}

static bool take_forces(SandSubdomain *p, SandError *error) {
    return sand_forces_take(&p->forces, &p->state.world, &p->host->world, p->global_id.data, error);
}

// Drops all bodies of the state but those listed, and moves what is known of these: ids, orders, indices of proxies.
static void keep_bodies(SandSubdomain *p, const int *list, int count) {
    SandWarmStart *warm = &p->state.warm_start;
    int *proxy = p->state.collision.solver_index;
    sand_bodies_keep(&p->state.world, list, count);
    for (int i = 0; i < count; i++) {
        p->global_id.data[i] = p->global_id.data[list[i]];
        p->order.data[i] = p->order.data[list[i]];
        proxy[i] = proxy[list[i]];
        if (warm->step > 0) warm->solver_index[i] = warm->solver_index[list[i]];
    }
}

// Plans the merge of bodies and records in ascending global_id: fills `from`.
static bool plan_merge(SandSubdomain *p, SandError *error) {
    int bodies = p->state.world.body_count, count = bodies + p->records.count, body = 0, record = 0;
    if (!sand_records_sort(&p->records, error) || !SAND_RESERVE(p->global_id, count + 1, "bodies", error) ||
        !SAND_RESERVE(p->order, count + 1, "bodies", error) || !SAND_RESERVE(p->rank, count + 1, "bodies", error) ||
        !SAND_RESERVE(p->is_ghost, count + 1, "bodies", error) || !SAND_RESERVE(p->from, count + 1, "bodies", error))
        return false;
    for (int i = 0; i < count; i++) {
        bool comes =
            body == bodies || (record < p->records.count && p->records.list.data[record]->number < p->global_id.data[body]);
        p->from.data[i] = comes ? -1 - record++ : body++;
    }
    return true;
}

// Carries out the planned merge: bodies, their ids and their ranks.
static bool merge(SandSubdomain *p, SandError *error) {
    SandCollision *c = &p->state.collision;
    SandBodyRecord *const *list = p->records.list.data;
    int count = p->state.world.body_count + p->records.count;
    for (int i = count; i-- > 0;) {
        int k = p->from.data[i];
        p->global_id.data[i] = k < 0 ? list[-1 - k]->number : p->global_id.data[k];
        p->order.data[i] = k < 0 ? list[-1 - k]->order : p->order.data[k];
        p->rank.data[i] = k < 0 ? list[-1 - k]->owner : p->ranks->rank;
        p->is_ghost.data[i] = p->rank.data[i] != p->ranks->rank;
    }
    if (!number_local(p, count, error)) return false;
    c->is_ghost = c->broad_phase.is_ghost = c->convex_phase.is_ghost = p->is_ghost.data;
    c->number = p->global_id.data;
    c->broad_phase.ranks = c->convex_phase.ranks = p->ranks;
    c->broad_phase.near = c->convex_phase.near = &p->near.near;
    return sand_bodies_merge(&p->state.world, p->from.data, count, &p->records, error);
}

// Fills the warm start of the merged bodies. `local`: as in sand_records_to_warm_start.
static bool merge_warm_start(SandSubdomain *p, const SandWarmStart *kept, const int *local, SandError *error) {
    SandWarmStart *warm = &p->state.warm_start, filled;
    if (!sand_records_to_warm_start(&p->records, kept, &p->rows, p->from.data, p->state.world.body_count, local, &p->spare,
                                    error))
        return false;
    filled = p->spare;
    p->spare = *warm;
    *warm = filled;
    return true;
}

// Whether this rank starts with body i of the host. Ranks take equal ranges of solver indices, and of the ids of bodies
// without one; the first step then migrates bodies to their owners.
static bool begins_with(const SandSubdomain *p, int i, int all, int indices) {
    int index = sand_last_index(p->host, i), me = p->ranks->rank;
    int place = index < 0 ? i : index, of = index < 0 ? all : indices;
    return place >= sand_block_first(of, p->ranks->count, me) && place < sand_block_first(of, p->ranks->count, me + 1);
}

// Packs the bodies that this rank starts with into a message for itself: from there they are merged like bodies received.
static bool pack_first(SandSubdomain *p, int indices, SandError *error) {
    SandRecordSource from = {.state = p->host};
    int all = p->host->world.body_count, me = p->ranks->rank;
    sand_messages_begin(&p->gathered);
    for (int i = 0; i < all; i++) {
        if (!begins_with(p, i, all, indices)) continue;
        if (!sand_world_has(&p->host->world, i)) return sand_fail(error, "rank %d lacks body %d", me, i);
        SandBodyRecord *r = sand_record_put(&p->gathered, me, &from, i, error);
        if (!r) return false;
        r->owner = me;
    }
    return true;
}

// Takes the bodies that this rank starts with from the host.
static bool take_from_host(SandSubdomain *p, SandError *error) {
    const SandWarmStart *warm = &p->host->warm_start;
    int indices = warm->step > 0 ? warm->body_count : 0, me = p->ranks->rank;
    sand_records_clear(&p->records);
    p->state.world.body_count = 0;
    p->rows = (SandKeptRows){0};
    if (!pack_first(p, indices, error) ||
        !sand_records_add(&p->records, p->gathered.sent[me], p->gathered.sent_bytes[me], error) || !plan_merge(p, error) ||
        !merge(p, error) || !merge_warm_start(p, warm, NULL, error))
        return false;
    p->rows = (SandKeptRows){0, p->state.warm_start.body_count, sand_block_first(indices, p->ranks->count, me)};
    p->fresh = false;
    sand_warm_start_free(&p->host->warm_start); // large, and read back where it is needed
    sand_messages_free(&p->gathered);           // large, and rarely needed
    return true;
}

// Takes the ghosts of the last step out of this one, as if they had left the world. keep_bodies drops them with the bodies
// that migrate.
static void forget_ghosts(SandSubdomain *p) {
    for (int i = 0; i < p->state.world.body_count; i++)
        if (p->is_ghost.data[i]) p->state.world.gone[i] = 1;
}

// Prepares the bodies that this rank owned in the last step, or after an upload those that it starts with.
static bool take_own(SandSubdomain *p, SandError *error) {
    take_settings(p);
    if (p->fresh) return take_from_host(p, error) && take_forces(p, error);
    forget_ghosts(p);
    return take_forces(p, error);
}

// --- migration and ghosts -----------------------------------------------------------------------------------

// The box of everything that an own body may reach in the step. False: the body takes no part in it.
static bool box_of(const SandSubdomain *p, int i, SandVec3 *low, SandVec3 *high) {
    const SandWorld *w = &p->state.world;
    const SandBroadPhase *g;
    const SandSphereProxy *proxy = sand_first_proxy(&p->state.collision, w, i, &g);
    int proxies = shape_proxies(&w->shapes[w->shape[i]]);
    *low = *high = w->position[i];
    for (int k = 0; proxy && k < proxies; k++) {
        SandVec3 half = v3_make(proxy[k].extent, proxy[k].extent, proxy[k].extent);
        grid_extend(low, high, v3_sub(proxy[k].center, half), v3_add(proxy[k].center, half));
    }
    return proxy != NULL;
}

// Appends an own body to the message for a rank, with what the sort has found: the box that it may reach, and its impact
// margins.
static bool send(SandSubdomain *p, SandMessages *messages, int rank, int i, int owner, SandError *error) {
    SandRecordSource from = {&p->state, p->global_id.data, p->order.data};
    SandBodyRecord *r = sand_record_put(messages, rank, &from, i, error);
    const SandBroadPhase *g;
    if (!r) return false;
    const SandSphereProxy *proxy = sand_first_proxy(&p->state.collision, &p->state.world, i, &g);
    r->owner = owner;
    r->active = box_of(p, i, &r->low, &r->high);
    for (int k = 0; proxy && k < r->spheres; k++) sand_record_margins(r)[k] = proxy[k].impact_margin;
    return true;
}

// Migrates bodies to new owners. The records are then those of bodies that migrated to this rank.
static bool migrate(SandSubdomain *p, SandError *error) {
    int count = p->state.world.body_count;
    if (!SAND_RESERVE(p->stay, count + 1, "bodies", error)) return false;
    p->stay_count = 0;
    sand_messages_begin(&p->migrants);
    sand_records_clear(&p->records);
    for (int i = 0; i < count; i++) {
        if (p->is_ghost.data[i]) continue;
        int owner = sand_owner_of(&p->owners, i);
        if (owner == p->ranks->rank)
            p->stay.data[p->stay_count++] = i;
        else if (!send(p, &p->migrants, owner, i, owner, error))
            return false;
    }
    return sand_messages_exchange(&p->migrants, p->ranks, error) &&
           sand_records_add(&p->records, p->migrants.received, p->migrants.received_bytes, error);
}

// Whether a box lies within the largest reach of any body (SandBroadPhase.reach) of the box of a periodic world.
static bool comes_near(const SandSubdomain *p, SandVec3 low, SandVec3 high) {
    const SandWorld *w = &p->host->world;
    double reach = p->state.collision.broad_phase.reach;
    return low.x <= w->upper.x + reach && low.y <= w->upper.y + reach && low.z <= w->upper.z + reach &&
           high.x >= w->lower.x - reach && high.y >= w->lower.y - reach && high.z >= w->lower.z - reach;
}

// The other ranks with bodies that a box may touch, itself or by one of its periodic images.
static uint64_t reached_by(const SandSubdomain *p, SandVec3 low, SandVec3 high) {
    SandVec3 period = sand_world_period(&p->host->world);
    uint64_t others = sand_ghost_search_others(&p->search, low, high);
    if (!sand_world_repeats(&p->host->world)) return others;
    for (int k = 0; k < 27; k++) {
        SandVec3 shift = v3_make((k % 3 - 1) * period.x, (k / 3 % 3 - 1) * period.y, (k / 9 - 1) * period.z);
        SandVec3 below = v3_add(low, shift), above = v3_add(high, shift);
        if (comes_near(p, below, above)) others |= sand_ghost_search_others(&p->search, below, above);
    }
    return others;
}

typedef struct Needing { // the other ranks that need a body as a ghost
    uint64_t reached;    // bits of those with bodies that its box may touch
    bool all;            // a joint holds it
} Needing;

static Needing needed_by(const SandSubdomain *p, int id, bool active, SandVec3 low, SandVec3 high) {
    return (Needing){active ? reached_by(p, low, high) : 0, p->joined.data[id]};
}

static bool needs(const SandSubdomain *p, Needing by, int rank) {
    return by.all ? rank != p->ranks->rank : rank < SAND_CHUNKS && by.reached >> rank & 1;
}

// Shares the box around everything that bodies of this rank reach. In periodic worlds there is none: images of a body may be
// anywhere.
static void bound_reach(SandSubdomain *p) {
    SandVec3 low, high, lowest = v3_make(INFINITY, INFINITY, INFINITY), highest = v3_neg(lowest);
    if (sand_world_repeats(&p->host->world)) return;
    for (int k = 0; k < p->stay_count; k++)
        if (box_of(p, p->stay.data[k], &low, &high)) grid_extend(&lowest, &highest, low, high);
    for (int k = 0; k < p->records.count; k++)
        if (p->records.list.data[k]->active)
            grid_extend(&lowest, &highest, p->records.list.data[k]->low, p->records.list.data[k]->high);
    sand_ghost_search_bound(&p->search, lowest, highest);
}

// Marks what own bodies reach, both those that stayed and those that migrated here; lists those that stayed near a border.
static bool mark_reach(SandSubdomain *p, SandError *error) {
    const SandCollision *c = &p->state.collision;
    const SandGridLevel *grid = c->broad_phase.level_count ? &c->broad_phase.spatial_grid : &c->convex_phase.spatial_grid;
    SandVec3 low, high;
    if (!sand_ghost_search_begin(&p->search, p->ranks, grid, error) ||
        !SAND_RESERVE(p->border, p->stay_count + 1, "bodies", error) || !agree(p, error))
        return false;
    bound_reach(p);
    p->border_count = 0;
    for (int k = 0; k < p->stay_count; k++) {
        bool near = box_of(p, p->stay.data[k], &low, &high) && sand_ghost_search_mark(&p->search, low, high);
        if (near || p->joined.data[p->global_id.data[p->stay.data[k]]]) p->border.data[p->border_count++] = p->stay.data[k];
    }
    for (int k = 0; k < p->records.count; k++)
        if (p->records.list.data[k]->active)
            sand_ghost_search_mark(&p->search, p->records.list.data[k]->low, p->records.list.data[k]->high);
    return sand_ghost_search_share(&p->search, error);
}

// Sends own bodies as ghosts to the ranks that need them.
static bool send_ghosts(SandSubdomain *p, SandError *error) {
    int me = p->ranks->rank;
    for (int k = 0; k < p->border_count; k++) {
        SandVec3 low, high;
        bool active = box_of(p, p->border.data[k], &low, &high);
        Needing by = needed_by(p, p->global_id.data[p->border.data[k]], active, low, high);
        for (int r = 0; r < p->ranks->count; r++)
            if (needs(p, by, r) && !send(p, &p->ghosts, r, p->border.data[k], me, error)) return false;
    }
    for (int k = 0; k < p->records.count; k++) {
        SandBodyRecord *record = p->records.list.data[k];
        Needing by = needed_by(p, record->number, record->active, record->low, record->high);
        for (int r = 0; r < p->ranks->count; r++)
            if (needs(p, by, r) && !sand_messages_put(&p->ghosts, r, record, (size_t)record->bytes, error)) return false;
    }
    return true;
}

// Exchanges ghosts, and adds those received to the records.
static bool find_ghosts(SandSubdomain *p, SandError *error) {
    sand_messages_begin(&p->ghosts);
    if (p->partition.bodies && (!mark_reach(p, error) || !send_ghosts(p, error))) return false;
    return sand_messages_exchange(&p->ghosts, p->ranks, error) &&
           sand_records_add(&p->records, p->ghosts.received, p->ghosts.received_bytes, error);
}

// --- a step -------------------------------------------------------------------------------------------------

// Lists the impact margins of all held bodies that take part, sphere by sphere in the order of their proxies.
static bool list_margins(SandSubdomain *p, SandError *error) {
    const SandWorld *w = &p->state.world;
    const SandBroadPhase *g;
    int count = p->stay_count + p->records.count, spheres = 0;
    for (int i = 0; i < count; i++) {
        int body = p->from.data[i];
        SandBodyRecord *r = body < 0 ? p->records.list.data[-1 - body] : NULL;
        const SandSphereProxy *proxy = r ? NULL : sand_first_proxy(&p->state.collision, w, body, &g);
        int its = r ? (r->active ? r->spheres : 0) : proxy ? w->shapes[w->shape[body]].sphere_count : 0;
        if (!SAND_RESERVE(p->margins, spheres + its + 1, "bodies", error)) return false;
        for (int k = 0; k < its; k++) p->margins.data[spheres++] = r ? sand_record_margins(r)[k] : proxy[k].impact_margin;
    }
    return true;
}

// Merges the bodies that stayed with those received: held bodies, joints and warm start of the step.
static bool hold(SandSubdomain *p, SandError *error) {
    SandWarmStart *warm = &p->state.warm_start;
    SandWorld *w = &p->state.world;
    if (p->stay_count < w->body_count) keep_bodies(p, p->stay.data, p->stay_count);
    if (!plan_merge(p, error) || !list_margins(p, error) || !merge(p, error) || !take_joints(p, error) ||
        !take_forces(p, error))
        return false;
    if (w->spring.body >= 0) w->spring.body = p->local_id.data[p->host->world.spring.body] - 1;
    if (warm->step > 0 && !merge_warm_start(p, warm, p->local_id.data, error)) return false;
    uint64_t here = sand_sleep_settings(w);
    warm->settings = p->settings == sand_sleep_settings(&p->host->world) ? here : ~here;
    return true;
}

// Lists the owner of each held body by solver index, checks that this rank holds all of its own, and weighs the chunks for
// the next partition.
static bool number_held(SandSubdomain *p, SandError *error) {
    SandPartition *h = &p->partition;
    const SandCollision *c = &p->state.collision;
    int me = p->ranks->rank, own = 0;
    if (!SAND_RESERVE(p->owner, c->body_count + 1, "bodies", error)) return false;
    h->below = 0;
    for (int k = 0; k < c->body_count; k++) {
        p->owner.data[k] = p->rank.data[c->body[k]];
        h->below += p->owner.data[k] < me;
        own += p->owner.data[k] == me;
    }
    h->owner = p->owner.data;
    if (own != sand_partition_owned(h))
        return sand_fail(error, "rank %d has %d bodies, and should have %d", me, own, sand_partition_owned(h));
    if (!agree(p, error)) return false;
    sand_owners_weigh(&p->owners, c, h);
    return true;
}

// Lets bodies enter through inlets. All ranks choose the same places, in the worlds of their hosts; each then copies those
// of own bodies.
static bool enter(SandSubdomain *p, SandInletScratch *inlets, int *entered, SandThreadPool *pool, SandError *error) {
    SandWorld *w = &p->state.world, *all = &p->host->world;
    if (!all->inlet_count) return true;
    if (!sand_inlets_block(inlets, w, p->global_id.data, pool, error) || !agree(p, error)) return false;
    sand_inlets_share(inlets, w, p->ranks);
    sand_inlets_let_in(inlets, all, entered);
    for (int i = 0; i < w->body_count; i++) {
        if (!sand_inlets_wait(all, p->global_id.data[i])) continue;
        w->position[i] = all->position[p->global_id.data[i]];
        w->enter[i] = all->enter[p->global_id.data[i]];
    }
    return true;
}

bool sand_subdomain_collide(SandSubdomain *p, SandInletScratch *inlets, int *entered, SandThreadPool *pool,
                            SandError *error) {
    SandCollision *c = &p->state.collision;
    SandWorld *w = &p->state.world;
    p->known = false;
    return take_own(p, error) && enter(p, inlets, entered, pool, error) && sand_collision_sort(c, w, pool, error) &&
           sand_owners_find(&p->owners, c, w, p->global_id.data, &p->partition, error) && migrate(p, error) &&
           find_ghosts(p, error) && hold(p, error) && sand_collision_place(c, w, p->margins.data, pool, error) &&
           sand_collision_find(c, w, pool, error) && number_held(p, error);
}

bool sand_subdomain_gather_lost(SandSubdomain *p, const SandTakenOut *mine, int count, const SandTakenOut **all,
                                int *all_count, SandError *error) {
    if (!sand_rank_lists(&p->gathered, p->ranks, mine, (size_t)count * sizeof *mine, error)) return false;
    *all = (const SandTakenOut *)(const void *)p->gathered.received;
    *all_count = (int)(p->gathered.received_bytes / sizeof **all);
    return true;
}
