#include "sim/step/part.h"

#include "sim/collision/broad_phase.inl"
#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/step/body_records.h"
#include "sim/step/rest.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct SandPart {
    const SandRanks *ranks;
    SandHostState *host; // settings of the world; bodies as of the last upload or read
    SandHostState state; // the bodies that this rank holds
    bool fresh;          // the bodies are still those of the host
    bool known;          // the host has the bodies of the last step
    uint64_t settings;   // that the impulses of the last step belong to
    // Of each held body.
    int *id, *rank;
    uint8_t *foreign;
    int *local; // of each body of the world: which one it is of those held, or -1
    // Who owns what.
    SandHolding holding;
    int *owner;       // of each held body, by solver index
    int64_t *cells;   // bodies in front of each cell of the order of solver indices
    int64_t *cell_of; // of each own body
    int64_t cell_count, sphere_cells;
    int64_t work[SAND_CHUNKS]; // of each chunk in the last step
    int work_chunks;           // how many there were; 0: none is known
    // Bodies on their way.
    SandMail own, movers, ghosts, news;
    SandRecords records;
    SandNear near;
    SandReach reach;
    double *margins;
    size_t id_capacity, rank_capacity, foreign_capacity, local_capacity, owner_capacity, cell_capacity, margin_capacity,
        joint_capacity, apart_capacity, cell_of_capacity;
};

SandPart *sand_part_create(const SandRanks *ranks, SandError *error) {
    SandPart *p = calloc(1, sizeof *p);
    if (!p) return sand_fail(error, "out of memory for a rank"), NULL;
    p->ranks = ranks;
    p->holding.ranks = ranks;
    return p;
}

void sand_part_free(SandPart *p) {
    if (!p) return;
    SandWorld *w = &p->state.world;
    void *arrays[] = {w->position, w->rotation, w->velocity, w->spin,  w->mass,    w->inertia, w->scale,     w->shape,
                      w->material, w->enter,    w->gone,     w->rest,  w->joints,  w->apart,   p->id,        p->rank,
                      p->foreign,  p->local,    p->owner,    p->cells, p->margins, p->cell_of, p->state.lift};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sand_free(arrays[k]);
    sand_collision_free(&p->state.collision);
    sand_warm_start_free(&p->state.warm_start);
    sand_problem_free(&p->state.problem);
    sand_solution_free(&p->state.solution);
    sand_mail_free(&p->own);
    sand_mail_free(&p->movers);
    sand_mail_free(&p->ghosts);
    sand_mail_free(&p->news);
    sand_mail_free(&p->near.mail);
    sand_reach_free(&p->near.reach);
    sand_reach_free(&p->reach);
    sand_records_free(&p->records);
    free(p);
}

bool sand_part_known(const SandPart *p) { return p->fresh || p->known; }
SandHostState *sand_part_host(SandPart *p) { return p->host; }
SandHostState *sand_part_state(SandPart *p) { return &p->state; }
const SandHolding *sand_part_holding(const SandPart *p) { return &p->holding; }
int sand_part_body(const SandPart *p, int body) { return p->id[body]; }
int sand_part_local(const SandPart *p, int body) { return p->local[body] < 0 ? INT_MAX : p->local[body]; }
const SandRanks *sand_part_ranks(const SandPart *p) { return p->ranks; }

// Waits for all ranks, before they do something together.
static bool agree(const SandPart *p, SandError *error) { return p->ranks->agree(p->ranks->user, 0, error); }

// --- the host -----------------------------------------------------------------------------------------------

// The members of a warm start that are the same for all bodies.
static void copy_facts(SandWarmStart *to, const SandWarmStart *from) {
    to->step = from->step;
    to->bounces = from->bounces;
    to->rolls = from->rolls;
}

bool sand_part_upload(SandPart *p, SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    if (w->squeeze.rate != 0) return sand_fail(error, "several ranks cannot squeeze a box yet");
    p->host = host;
    p->fresh = true;
    p->work_chunks = 0;
    p->settings = host->warm_start.settings;
    return SAND_GROW(p->local, p->local_capacity, w->body_count + 1, "bodies", error);
}

// Packs the bodies that this rank owns, for itself.
static bool pack_own(SandPart *p, SandMail *mail, SandError *error) {
    int me = p->ranks->rank, all = p->host->world.body_count;
    int first = p->fresh ? (int)((int64_t)all * me / p->ranks->count) : 0;
    int end = p->fresh ? (int)((int64_t)all * (me + 1) / p->ranks->count) : p->state.world.body_count;
    SandRecordSource from = {.state = &p->state, .id = p->id, .shift = p->holding.first_body[me] - p->holding.below};
    if (p->fresh) from = (SandRecordSource){.state = p->host};
    size_t bytes = 0;
    for (int i = first; i < end; i++)
        if (p->fresh || !p->foreign[i]) bytes += sand_record_bytes(&from, i);
    sand_mail_begin(mail);
    if (!sand_mail_reserve(mail, me, bytes, error)) return false;
    for (int i = first; i < end; i++)
        if ((p->fresh || !p->foreign[i]) && !sand_record_put(mail, me, &from, i, error)) return false;
    return true;
}

// Notes which body of the world each record is.
static void number_records(SandPart *p) {
    for (int i = 0; i < p->host->world.body_count; i++) p->local[i] = -1;
    for (int i = 0; i < p->records.count; i++) p->local[p->records.list[i]->id] = i;
}

// The same of each held body.
static void number_held_bodies(SandPart *p) {
    for (int i = 0; i < p->host->world.body_count; i++) p->local[i] = -1;
    for (int i = 0; i < p->state.world.body_count; i++) p->local[p->id[i]] = i;
}

bool sand_part_read(SandPart *p, SandError *error) {
    SandWarmStart *warm = &p->host->warm_start;
    if (p->fresh || p->known) return true;
    sand_records_clear(&p->records);
    if (!pack_own(p, &p->news, error) || !sand_mail_share(&p->news, p->ranks, error) ||
        !sand_records_add(&p->records, p->news.received, p->news.received_bytes, error))
        return false;
    if (!sand_records_sort(&p->records, error)) return false;
    if (p->records.count != p->host->world.body_count)
        return sand_fail(error, "the ranks have %d bodies of %d", p->records.count, p->host->world.body_count);
    number_records(p);
    copy_facts(warm, &p->state.warm_start);
    warm->settings = p->settings;
    p->known = true;
    bool ok = sand_records_to_world(&p->records, &p->host->world, error) &&
              sand_records_to_warm_start(&p->records, p->local, warm, error);
    sand_mail_free(&p->news); // large, and rarely needed
    number_held_bodies(p);
    return ok;
}

void sand_part_keep(SandPart *p) { p->settings = sand_rest_settings(&p->host->world); }

// --- the local world ----------------------------------------------------------------------------------------

// Joints and pairs that do not collide, of bodies that are held. All bodies of joints are, on every rank.
static bool take_joints(SandPart *p, SandError *error) {
    const SandWorld *all = &p->host->world;
    SandWorld *w = &p->state.world;
    if (!SAND_GROW(w->joints, p->joint_capacity, all->joint_count + 1, "joints", error) ||
        !SAND_GROW(w->apart, p->apart_capacity, all->apart_count + 1, "joints", error))
        return false;
    w->joint_count = w->apart_count = 0;
    for (int k = 0; k < all->joint_count; k++) {
        SandJoint *j = &w->joints[w->joint_count++];
        *j = all->joints[k];
        j->b = p->local[j->b];
        if (j->a >= 0) j->a = p->local[j->a];
    }
    for (int k = 0; k < all->apart_count; k++) {
        int64_t a = p->local[all->apart[k] >> 32], b = p->local[all->apart[k] & 0xffffffff];
        if (a >= 0 && b >= 0) w->apart[w->apart_count++] = (uint64_t)a << 32 | (uint64_t)b;
    }
    return true;
}

// Gives the local world the settings of the host's. Its bodies stay.
static void take_settings(SandPart *p) {
    SandWorld *w = &p->state.world, old = *w;
    *w = p->host->world;
    w->body_count = old.body_count;
    w->position = old.position;
    w->rotation = old.rotation;
    w->velocity = old.velocity;
    w->spin = old.spin;
    w->mass = old.mass;
    w->inertia = old.inertia;
    w->scale = old.scale;
    w->shape = old.shape;
    w->material = old.material;
    w->enter = old.enter;
    w->gone = old.gone;
    w->rest = old.rest;
    memcpy(w->body_capacity, old.body_capacity, sizeof w->body_capacity);
    w->joints = old.joints;
    w->apart = old.apart;
    w->joint_count = w->apart_count = 0;
}

// Makes the records the bodies of the local world.
static bool hold_records(SandPart *p, SandError *error) {
    SandCollision *c = &p->state.collision;
    int count = p->records.count;
    if (!SAND_GROW(p->id, p->id_capacity, count + 1, "bodies", error) ||
        !SAND_GROW(p->rank, p->rank_capacity, count + 1, "bodies", error) ||
        !SAND_GROW(p->foreign, p->foreign_capacity, count + 1, "bodies", error) || !sand_records_sort(&p->records, error))
        return false;
    number_records(p);
    for (int i = 0; i < count; i++) {
        p->id[i] = p->records.list[i]->id;
        p->rank[i] = p->records.list[i]->owner;
        p->foreign[i] = p->rank[i] != p->ranks->rank;
    }
    c->foreign = c->broad_phase.foreign = c->convex_phase.foreign = p->foreign;
    c->number = p->id;
    c->broad_phase.ranks = c->convex_phase.ranks = p->ranks;
    c->broad_phase.near = c->convex_phase.near = &p->near;
    return sand_records_to_world(&p->records, &p->state.world, error);
}

// Takes the bodies that this rank had in the last step, without ghosts.
static bool take_own(SandPart *p, SandError *error) {
    int me = p->ranks->rank;
    sand_records_clear(&p->records);
    if (!pack_own(p, &p->own, error) || !sand_records_add(&p->records, p->own.sent[me], p->own.sent_bytes[me], error))
        return false;
    if (p->fresh) copy_facts(&p->state.warm_start, &p->host->warm_start);
    p->fresh = false;
    for (int i = 0; i < p->records.count; i++) p->records.list[i]->owner = me;
    take_settings(p);
    return hold_records(p, error);
}

// --- owners -------------------------------------------------------------------------------------------------

static int64_t cells_of(const SandBroadPhase *g) {
    const SandGridLevel *l = &g->spatial_grid;
    return g->level_count ? (int64_t)l->cells[0] * l->cells[1] * l->cells[2] : 0;
}

// The first proxy of a body, and the grids that it is in.
static const SandSphereProxy *proxy_of(const SandPart *p, int i, const SandBroadPhase **grid) {
    const SandCollision *c = &p->state.collision;
    const SandWorld *w = &p->state.world;
    *grid = w->shapes[w->shape[i]].sphere_count ? &c->broad_phase : &c->convex_phase;
    return c->solver_index[i] < 0 ? NULL : &(*grid)->spheres[c->solver_index[i]];
}

// The cell of a body in the order of solver indices, -1: it takes no part. Convex bodies follow the others.
static int64_t find_cell(const SandPart *p, int i) {
    const SandBroadPhase *g;
    const SandSphereProxy *proxy = proxy_of(p, i, &g);
    if (!proxy) return -1;
    return (g == &p->state.collision.convex_phase ? p->sphere_cells : 0) + grid_cell_of(&g->spatial_grid, proxy->center);
}

// Counts the bodies of all ranks in front of each cell.
static bool count_cells(SandPart *p, SandError *error) {
    p->sphere_cells = cells_of(&p->state.collision.broad_phase);
    p->cell_count = p->sphere_cells + cells_of(&p->state.collision.convex_phase);
    if (!SAND_GROW(p->cells, p->cell_capacity, p->cell_count + 1, "cells", error) ||
        !SAND_GROW(p->cell_of, p->cell_of_capacity, p->state.world.body_count + 1, "cells", error) || !agree(p, error))
        return false;
    memset(p->cells, 0, (size_t)(p->cell_count + 1) * sizeof *p->cells);
    for (int i = 0; i < p->state.world.body_count; i++) {
        p->cell_of[i] = find_cell(p, i);
        if (p->cell_of[i] >= 0) p->cells[p->cell_of[i]]++;
    }
    p->ranks->sum(p->ranks->user, p->cells, p->cell_count);
    int64_t before = 0;
    for (int64_t c = 0; c <= p->cell_count; c++) {
        int64_t count = p->cells[c];
        p->cells[c] = before;
        before += count;
    }
    if (before > INT32_MAX / 2) return sand_fail(error, "%lld bodies are more than can be numbered", (long long)before);
    p->holding.bodies = (int)before;
    return true;
}

// Ranks get consecutive chunks with about as much work as in the last step, and rank 0 the first.
static void cut_ranges(SandPart *p) {
    SandHolding *h = &p->holding;
    int ranks = p->ranks->count, chunks = sand_chunks_of(h->bodies), chunk = 0;
    int64_t all = 0, before = 0;
    if (p->work_chunks != chunks)
        for (int c = 0; c < chunks; c++) p->work[c] = 1;
    for (int c = 0; c < chunks; c++) all += p->work[c];
    for (int r = 0; r <= ranks; r++) {
        while (r > 0 && chunk < chunks && (chunk == 0 || r == ranks || before * ranks < all * r)) before += p->work[chunk++];
        h->first_chunk[r] = chunk;
        h->first_body[r] = sand_chunk_first_body(chunk, h->bodies);
    }
}

// A body in a cell through which ranks are cut: what its place in the cell follows from.
typedef struct Tie {
    int64_t cell, level_cell;
    int level, id;
} Tie;

static bool tie_before(const Tie *a, const Tie *b) {
    if (a->level != b->level) return a->level < b->level;
    if (a->level_cell != b->level_cell) return a->level_cell < b->level_cell;
    return a->id < b->id;
}

// Whether a rank begins inside of the cell.
static bool is_cut(const SandPart *p, int64_t cell) {
    for (int r = 1; r < p->ranks->count; r++)
        if (p->cells[cell] < p->holding.first_body[r] && p->holding.first_body[r] < p->cells[cell + 1]) return true;
    return false;
}

static Tie tie_of(const SandPart *p, int i, int64_t cell) {
    const SandBroadPhase *g;
    const SandSphereProxy *proxy = proxy_of(p, i, &g);
    int level = grid_level_of_extent(g, proxy->extent);
    return (Tie){cell, grid_cell_of(&g->levels[level], proxy->center), level, p->id[i]};
}

// Gathers the bodies of all ranks in cells that are cut.
static bool gather_ties(SandPart *p, SandError *error) {
    sand_mail_begin(&p->news);
    for (int i = 0; i < p->state.world.body_count; i++) {
        int64_t cell = p->cell_of[i];
        if (cell < 0 || !is_cut(p, cell)) continue;
        Tie tie = tie_of(p, i, cell);
        if (!sand_mail_put(&p->news, p->ranks->rank, &tie, sizeof tie, error)) return false;
    }
    return sand_mail_share(&p->news, p->ranks, error);
}

// The solver index that body i will have, exact where it matters for its owner.
static int64_t index_of(const SandPart *p, int i) {
    int64_t cell = p->cell_of[i], index = p->cells[cell];
    if (!is_cut(p, cell)) return index;
    const Tie *ties = (const Tie *)(const void *)p->news.received;
    Tie mine = tie_of(p, i, cell);
    for (size_t k = 0; k < p->news.received_bytes / sizeof *ties; k++)
        index += ties[k].cell == cell && tie_before(&ties[k], &mine);
    return index;
}

// The rank that owns body i in the coming step. One that takes no part stays where it is.
static int owner_of(const SandPart *p, int i) {
    if (p->cell_of[i] < 0) return p->ranks->rank;
    int64_t index = index_of(p, i);
    int r = 0;
    while (index >= p->holding.first_body[r + 1]) r++;
    return r;
}

// --- wandering ----------------------------------------------------------------------------------------------

// Notes in the record of body i whether it takes part in the step, and what the sort has found out: its margins, and how far
// it reaches.
static void note_reach(SandPart *p, int i) {
    SandBodyRecord *r = p->records.list[i];
    const SandBroadPhase *g;
    const SandSphereProxy *proxy = proxy_of(p, i, &g);
    r->active = sand_world_active(&p->state.world, i);
    r->low = r->high = r->position;
    for (int k = 0; proxy && k < (r->spheres ? r->spheres : 1); k++) {
        SandVec3 half = v3_make(proxy[k].extent, proxy[k].extent, proxy[k].extent);
        grid_extend(&r->low, &r->high, v3_sub(proxy[k].center, half), v3_add(proxy[k].center, half));
        if (r->spheres) sand_record_margins(r)[k] = proxy[k].impact_margin;
    }
}

// Sends the bodies of other owners there. The records are then those that this rank owns.
static bool migrate(SandPart *p, SandError *error) {
    int stay = 0;
    sand_mail_begin(&p->movers);
    for (int i = 0; i < p->records.count; i++) {
        SandBodyRecord *r = p->records.list[i];
        note_reach(p, i);
        r->owner = owner_of(p, i);
        if (r->owner == p->ranks->rank)
            p->records.list[stay++] = r;
        else if (!sand_mail_put(&p->movers, r->owner, r, (size_t)r->bytes, error))
            return false;
    }
    p->records.count = stay;
    return sand_mail_exchange(&p->movers, p->ranks, error) &&
           sand_records_add(&p->records, p->movers.received, p->movers.received_bytes, error);
}

static bool is_joined(const SandWorld *w, int body) {
    for (int k = 0; k < w->joint_count; k++)
        if (w->joints[k].a == body || w->joints[k].b == body) return true;
    return false;
}

// Whether a box comes near the world's, as far as any body reaches out of it.
static bool comes_near(const SandPart *p, SandVec3 low, SandVec3 high) {
    const SandWorld *w = &p->host->world;
    double reach = p->state.collision.broad_phase.reach;
    return low.x <= w->upper.x + reach && low.y <= w->upper.y + reach && low.z <= w->upper.z + reach &&
           high.x >= w->lower.x - reach && high.y >= w->lower.y - reach && high.z >= w->lower.z - reach;
}

// The other ranks with bodies that an image of this one may touch, or itself.
static uint64_t reached_by(const SandPart *p, const SandBodyRecord *r) {
    SandVec3 period = sand_world_period(&p->host->world);
    uint64_t others = sand_reach_others(&p->reach, r->low, r->high);
    if (!sand_world_repeats(&p->host->world)) return others;
    for (int k = 0; k < 27; k++) {
        SandVec3 shift = v3_make((k % 3 - 1) * period.x, (k / 3 % 3 - 1) * period.y, (k / 9 - 1) * period.z);
        SandVec3 low = v3_add(r->low, shift), high = v3_add(r->high, shift);
        if (comes_near(p, low, high)) others |= sand_reach_others(&p->reach, low, high);
    }
    return others;
}

// The other ranks that must know of a body.
static uint64_t needed_by(const SandPart *p, const SandBodyRecord *r) {
    uint64_t all = p->ranks->count == 64 ? UINT64_MAX : (UINT64_C(1) << p->ranks->count) - 1;
    if (is_joined(&p->host->world, r->id)) return all & ~(UINT64_C(1) << p->ranks->rank);
    return r->active ? reached_by(p, r) : 0;
}

// Sends every body to the ranks that may touch it, and adds those that others sent to the records.
static bool find_ghosts(SandPart *p, SandError *error) {
    const SandCollision *c = &p->state.collision;
    const SandGridLevel *grid = c->broad_phase.level_count ? &c->broad_phase.spatial_grid : &c->convex_phase.spatial_grid;
    sand_mail_begin(&p->ghosts);
    if (p->holding.bodies) {
        if (!sand_reach_begin(&p->reach, p->ranks, grid, error) || !agree(p, error)) return false;
        for (int i = 0; i < p->records.count; i++)
            if (p->records.list[i]->active) sand_reach_mark(&p->reach, p->records.list[i]->low, p->records.list[i]->high);
        sand_reach_share(&p->reach);
        for (int i = 0; i < p->records.count; i++) {
            SandBodyRecord *r = p->records.list[i];
            uint64_t others = needed_by(p, r);
            for (int k = 0; k < p->ranks->count; k++)
                if (others >> k & 1 && !sand_mail_put(&p->ghosts, k, r, (size_t)r->bytes, error)) return false;
        }
    }
    return sand_mail_exchange(&p->ghosts, p->ranks, error) &&
           sand_records_add(&p->records, p->ghosts.received, p->ghosts.received_bytes, error);
}

// --- a step -------------------------------------------------------------------------------------------------

// Makes what was received the bodies and the warm start of the state.
static bool hold(SandPart *p, SandError *error) {
    SandWarmStart *warm = &p->state.warm_start;
    SandWorld *w = &p->state.world;
    int spheres = 0;
    if (!hold_records(p, error) || !take_joints(p, error)) return false;
    if (w->spring.body >= 0) w->spring.body = p->local[p->host->world.spring.body];
    for (int i = 0; i < p->records.count; i++) spheres += p->records.list[i]->spheres;
    if (!SAND_GROW(p->margins, p->margin_capacity, spheres + 1, "bodies", error)) return false;
    spheres = 0;
    for (int i = 0; i < p->records.count; i++) // of those that take part, in the order of their proxies
        for (int k = 0; sand_world_active(w, i) && k < p->records.list[i]->spheres; k++)
            p->margins[spheres++] = sand_record_margins(p->records.list[i])[k];
    if (warm->step > 0 && !sand_records_to_warm_start(&p->records, p->local, warm, error)) return false;
    uint64_t here = sand_rest_settings(w);
    warm->settings = p->settings == sand_rest_settings(&p->host->world) ? here : ~here;
    return true;
}

// Finds which of the held bodies are its own, by solver index, and how much there is to do.
static bool number_held(SandPart *p, SandError *error) {
    SandHolding *h = &p->holding;
    const SandCollision *c = &p->state.collision;
    int me = p->ranks->rank, own = 0;
    if (!SAND_GROW(p->owner, p->owner_capacity, c->body_count + 1, "bodies", error)) return false;
    h->below = 0;
    for (int k = 0; k < c->body_count; k++) {
        p->owner[k] = p->rank[c->body[k]];
        h->below += p->owner[k] < me;
        own += p->owner[k] == me;
    }
    h->owner = p->owner;
    if (own != sand_holding_owned(h))
        return sand_fail(error, "rank %d has %d bodies, and should have %d", me, own, sand_holding_owned(h));
    if (!agree(p, error)) return false;
    memset(p->work, 0, sizeof p->work);
    p->work_chunks = sand_chunks_of(h->bodies);
    for (int chunk = h->first_chunk[me]; chunk < h->first_chunk[me + 1]; chunk++) {
        int first = sand_chunk_first_body(chunk, h->bodies) - h->first_body[me] + h->below;
        int end = sand_chunk_first_body(chunk + 1, h->bodies) - h->first_body[me] + h->below;
        p->work[chunk] = end - first + (int64_t)2 * (c->first[end] - c->first[first]);
    }
    p->ranks->sum(p->ranks->user, p->work, SAND_CHUNKS);
    return true;
}

// Lets bodies enter. All ranks find the same places, on their hosts, and those of its own bodies each takes from there.
static bool enter(SandPart *p, SandInletScratch *inlets, int *entered, SandThreadPool *pool, SandError *error) {
    SandWorld *w = &p->state.world, *all = &p->host->world;
    if (!all->inlet_count) return true;
    if (!sand_inlets_block(inlets, w, p->id, pool, error) || !agree(p, error)) return false;
    sand_inlets_share(inlets, w, p->ranks);
    sand_inlets_let_in(inlets, all, entered);
    for (int i = 0; i < w->body_count; i++) {
        if (!sand_inlets_wait(all, p->id[i])) continue;
        w->position[i] = p->records.list[i]->position = all->position[p->id[i]];
        w->enter[i] = p->records.list[i]->enter = all->enter[p->id[i]];
    }
    return true;
}

bool sand_part_collide(SandPart *p, SandInletScratch *inlets, int *entered, SandThreadPool *pool, SandError *error) {
    SandCollision *c = &p->state.collision;
    p->known = false;
    if (!take_own(p, error) || !enter(p, inlets, entered, pool, error) ||
        !sand_collision_sort(c, &p->state.world, pool, error) || !count_cells(p, error))
        return false;
    cut_ranges(p);
    return gather_ties(p, error) && migrate(p, error) && find_ghosts(p, error) && hold(p, error) &&
           sand_collision_place(c, &p->state.world, p->margins, pool, error) &&
           sand_collision_find(c, &p->state.world, pool, error) && number_held(p, error);
}

bool sand_part_gather_lost(SandPart *p, const SandTakenOut *mine, int count, const SandTakenOut **all, int *all_count,
                           SandError *error) {
    sand_mail_begin(&p->news);
    if (!sand_mail_put(&p->news, p->ranks->rank, mine, (size_t)count * sizeof *mine, error) ||
        !sand_mail_share(&p->news, p->ranks, error))
        return false;
    *all = (const SandTakenOut *)(const void *)p->news.received;
    *all_count = (int)(p->news.received_bytes / sizeof **all);
    return true;
}
