// SPDX-License-Identifier: MIT
// A checkpoint that all ranks write into one file, with the bytes that a single process would write. Each rank writes its
// block of the bodies, which are ordered by global_id, and the contacts that it owns, which are ordered by solver index and
// need no exchange.
#include "sim/ranks/subdomain.h"

#include "sim/core/array.h"

#include <string.h>

// --- the request --------------------------------------------------------------------------------------------

// The request of rank 0, on every rank.
typedef struct Asked {
    SandMessages messages;
    const char *path;          // into the message
    SandCheckpointNotes notes; // likewise
} Asked;

// Puts path and notes one behind the other, each with its terminating zero, padded to a multiple of eight bytes.
static bool put_texts(SandMessages *messages, const SandCheckpointRequest *r, SandError *error) {
    const char zeros[8] = "";
    const char *texts[] = {r->path, r->notes->origin, r->notes->progress};
    for (int k = 0; k < 3; k++)
        if (!sand_messages_put(messages, 0, texts[k], strlen(texts[k]) + 1, error)) return false;
    return sand_messages_put(messages, 0, zeros, (8 - messages->sent_bytes[0] % 8) % 8, error);
}

static bool share_request(Asked *asked, const SandRanks *ranks, const SandCheckpointRequest *request, SandError *error) {
    if (ranks->rank == 0 && !put_texts(&asked->messages, request, error)) return false;
    if (!sand_messages_share(&asked->messages, ranks, error)) return false;
    char *text = (char *)asked->messages.received;
    asked->path = text;
    asked->notes.origin = text += strlen(text) + 1;
    asked->notes.progress = text + strlen(text) + 1;
    return true;
}

// --- what a rank writes -------------------------------------------------------------------------------------

// The contacts of the last step that a rank writes: those of a range of solver indices.
typedef struct Owned {
    const SandWarmStart *warm;
    SandRange indices; // rows of `warm`
    int before, all;   // bodies with a solver index: of lower ranks, of all ranks
    bool local;        // `warm` is that of the subdomain, not of the host
} Owned;

typedef struct Share {
    SandCheckpoint settings; // owns its arrays
    SandCheckpoint state;    // borrows arrays of settings, host and subdomain
    SandCheckpointShare share;
    SAND_ARRAY(int) index, first;
} Share;

static void free_share(Share *s) {
    sand_checkpoint_free(&s->settings);
    SAND_FREE_ARRAYS(&s->index, &s->first);
}

// A host that is up to date has all contacts: each rank then writes those of an equal range of solver indices. Otherwise it
// writes those that it owns.
static Owned find_owned(SandSubdomain *subdomain) {
    const SandPartition *h = sand_subdomain_partition(subdomain);
    const SandRanks *ranks = sand_subdomain_ranks(subdomain);
    const SandWarmStart *warm = &sand_subdomain_host(subdomain)->warm_start;
    if (!sand_subdomain_known(subdomain))
        return (Owned){.warm = &sand_subdomain_state(subdomain)->warm_start,
                       .indices = {h->below, h->below + sand_partition_owned(h)},
                       .before = h->first_body[ranks->rank],
                       .all = h->bodies,
                       .local = true};
    int all = warm->body_count, first = sand_block_first(all, ranks->count, ranks->rank);
    return (Owned){
        .warm = warm, .indices = {first, sand_block_first(all, ranks->count, ranks->rank + 1)}, .before = first, .all = all};
}

// Sets the range of this rank's contacts among those of all ranks.
static void number_contacts(Share *s, const SandRanks *ranks, int own) {
    int64_t counts[SAND_MAX_RANKS] = {0}, before = 0;
    counts[ranks->rank] = own;
    ranks->sum(ranks->user, counts, ranks->count);
    for (int r = 0; r < ranks->rank; r++) before += counts[r];
    s->share.contacts = (SandRange){(int)before, (int)before + own};
    for (int r = ranks->rank; r < ranks->count; r++) before += counts[r];
    s->share.contact_count = (int)before;
}

// Fills the index of the first contact of each body; the last rank also has the entry for the end.
static void fill_firsts(Share *s, const SandRanks *ranks, const Owned *o) {
    const int *first = o->warm->first + o->indices.first;
    int own = o->indices.end - o->indices.first, more = ranks->rank == ranks->count - 1;
    for (int k = 0; k < own + more; k++) s->first.data[k] = first[k] - first[0] + s->share.contacts.first;
    s->share.firsts = (SandRange){o->before, o->before + own + more};
}

static bool fill_warm_start(Share *s, SandSubdomain *subdomain, SandError *error) {
    Owned o = find_owned(subdomain);
    const SandWarmStart *warm = o.warm;
    const SandRanks *ranks = sand_subdomain_ranks(subdomain);
    SandWarmStart *to = &s->state.warm_start;
    int bodies = o.indices.end - o.indices.first, from = 0, own = 0;
    if (!(warm->step > 0)) return true; // on all ranks
    from = warm->first[o.indices.first];
    own = warm->first[o.indices.end] - from;
    if (!SAND_RESERVE(s->first, bodies + 1, "checkpoint", error) || !ranks->agree(ranks->user, 0, error)) return false;
    number_contacts(s, ranks, own);
    fill_firsts(s, ranks, &o);
    *to = *warm;
    to->settings = sand_subdomain_settings(subdomain);
    to->world_count = o.local ? s->state.body_count : warm->world_count;
    to->body_count = o.all;
    to->solver_index = s->index.data;
    to->first = s->first.data;
    if (!own) return true;
    to->key = warm->key + from; // they name bodies by global_id
    to->impulse = warm->impulse + from;
    if (warm->bounces) to->approach = warm->approach + from;
    if (warm->rolls) s->share.torque = warm->impulse + warm->first[warm->body_count] + from;
    return true;
}

// Borrows the bodies of the block from the host, to which they have just been read back.
static void fill_bodies(Share *s, const SandWorld *w) {
    int first = s->share.bodies.first;
#define BORROW(type, name) s->state.name = w->name + first;
    SAND_BODY_STATE(BORROW)
#undef BORROW
}

static bool fill_share(Share *s, SandSubdomain *subdomain, const SandCheckpointRequest *request, SandError *error) {
    const SandRanks *ranks = sand_subdomain_ranks(subdomain);
    const SandWorld *w = &sand_subdomain_host(subdomain)->world;
    SandRange block = {sand_block_first(w->body_count, ranks->count, ranks->rank),
                       sand_block_first(w->body_count, ranks->count, ranks->rank + 1)};
    s->share = (SandCheckpointShare){.leads = ranks->rank == 0, .bodies = block};
    if (!SAND_RESERVE(s->index, block.end - block.first + 1, "checkpoint", error) ||
        !sand_checkpoint_save_settings(&s->settings, w, error) ||
        !sand_subdomain_read_block(subdomain, s->index.data, error))
        return false;
    if (ranks->rank == 0) sand_checkpoint_mark(&s->settings, w); // rank 0 always has every body
    s->state = s->settings;
    if (ranks->rank == 0) s->state.counters = *request->counters;
    fill_bodies(s, w);
    return fill_warm_start(s, subdomain, error);
}

// --- writing ------------------------------------------------------------------------------------------------

// The checksum of the file: the sum of those of all shares, modulo 2^64. The two halves are summed apart, because sums over
// ranks are of signed numbers, which must not overflow.
static uint64_t sum_checksums(const SandRanks *ranks, uint64_t checksum) {
    int64_t halves[2] = {(int64_t)(checksum & 0xffffffff), (int64_t)(checksum >> 32)};
    ranks->sum(ranks->user, halves, 2);
    return (uint64_t)halves[0] + ((uint64_t)halves[1] << 32);
}

// Rank 0 creates a file, all ranks write their shares, and rank 0 puts it in the place of the one before, or drops it where
// a rank could not write.
static bool write_shares(const Share *s, const Asked *asked, const SandRanks *ranks, SandError *fault, SandError *error) {
    bool lead = ranks->rank == 0, well = !lead || sand_checkpoint_create(asked->path, fault), all_well;
    SandCheckpointSum sum = {0};
    if (!sand_ranks_check(ranks, well, &all_well, fault, error)) return false;
    if (!all_well) return true;
    well = sand_checkpoint_put(&s->state, &asked->notes, &s->share, asked->path, &sum, fault);
    if (!sand_ranks_check(ranks, well, &all_well, fault, error)) return false;
    sum.checksum = sum_checksums(ranks, sum.checksum);
    if (lead && !(all_well && sand_checkpoint_finish(asked->path, sum, fault))) sand_checkpoint_drop(asked->path);
    return true;
}

bool sand_subdomain_write_checkpoint(SandSubdomain *subdomain, const SandCheckpointRequest *request, SandError *fault,
                                     SandError *error) {
    const SandRanks *ranks = sand_subdomain_ranks(subdomain);
    Asked asked = {0};
    Share share = {0};
    *fault = (SandError){""};
    bool ok = share_request(&asked, ranks, request, error) && fill_share(&share, subdomain, request, error) &&
              write_shares(&share, &asked, ranks, fault, error);
    sand_messages_free(&asked.messages);
    free_share(&share);
    return ok;
}
