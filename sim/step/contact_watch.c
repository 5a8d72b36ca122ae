// SPDX-License-Identifier: MIT
// Merging the touches of a step into the events of pairs. Both are sorted by pair, so that a step costs a sort of its
// contacts and one pass over both lists.
#include "sim/step/contact_watch.h"

#include "sim/solver/contact_result.h"

#include <stdlib.h>

void sand_contact_watch_free(SandContactWatch *w) {
    SAND_FREE_ARRAYS(&w->pairs, &w->merged, &w->shares);
    *w = (SandContactWatch){0};
}

// --- the touches of a step ----------------------------------------------------------------------------------

// The number of a body of the problem in the world; boundary k is -1 - k.
static int number_of(const SandHostState *host, int index) {
    int bodies = host->problem.dynamic_count;
    return index < bodies ? host->collision.body[index] : -1 - (index - bodies);
}

static uint64_t pair_of(int a, int b) {
    uint32_t second = b >= 0 ? (uint32_t)b : SAND_BOUNDARY_BIT | (uint32_t)(-1 - b);
    return (uint64_t)a << 32 | second;
}

static SandTouchShare share_of(const SandHostState *host, int i) {
    const SandContact *c = &host->problem.contacts[i];
    int a = number_of(host, c->a), b = number_of(host, c->b);
    bool in_order = b < 0 || a < b;
    SandVec3 impulse = sand_contact_impulse(&host->problem, &host->solution, i);
    return (SandTouchShare){in_order ? pair_of(a, b) : pair_of(b, a), i, in_order ? impulse : v3_neg(impulse)};
}

static int by_pair(const void *a, const void *b) {
    const SandTouchShare *x = a, *y = b;
    if (x->pair != y->pair) return x->pair < y->pair ? -1 : 1;
    return x->contact < y->contact ? -1 : x->contact > y->contact;
}

// Lists the contacts that carry an impulse, pair by pair.
static int list_shares(SandContactWatch *w, const SandHostState *host, int contacts) {
    const SandProblem *p = &host->problem;
    double least = contacts ? sand_contact_least(p, &host->solution) : 0;
    int count = 0;
    for (int i = 0; i < contacts; i++)
        if (!sand_problem_joint(p, i) && sand_contact_normal_impulse(p, &host->solution, i) > least)
            w->shares.data[count++] = share_of(host, i);
    if (count) qsort(w->shares.data, (size_t)count, sizeof *w->shares.data, by_pair);
    return count;
}

// The touch of the pair whose shares begin here, in this step alone; *end: where those of the next pair begin.
static SandContactEvent touch_of(const SandContactWatch *w, const SandHostState *host, int begin, int count, int *end) {
    const SandTouchShare *s = w->shares.data, *largest = &s[begin];
    const SandProblem *p = &host->problem;
    SandVec3 sum = {0, 0, 0};
    for (*end = begin; *end < count && s[*end].pair == s[begin].pair; ++*end) {
        sum = v3_add(sum, s[*end].impulse);
        if (v3_length(s[*end].impulse) > v3_length(largest->impulse)) largest = &s[*end];
    }
    const SandContact *c = &p->contacts[largest->contact];
    int a = number_of(host, c->a), b = number_of(host, c->b);
    bool in_order = b < 0 || a < b;
    double now = host->world.time;
    return (SandContactEvent){.a = in_order ? a : b,
                              .b = in_order ? b : a,
                              .touching = true,
                              .first = now,
                              .last = now,
                              .impulse = v3_length(sum),
                              .hardest = now,
                              .point = v3_add(p->bodies[c->a].position, c->arm_a),
                              .normal = in_order ? c->normal : v3_neg(c->normal)};
}

// --- events -------------------------------------------------------------------------------------------------

static SandContactEvent begun(SandContactEvent touch) {
    touch.begins = 1;
    return touch;
}

// A pair that was known touches in this step.
static SandContactEvent continued(SandContactEvent event, const SandContactEvent *touch) {
    bool first = !(event.last >= event.first); // since it was last asked for
    SandContactEvent to = touch->impulse > event.impulse || first ? *touch : event;
    to.begins = event.begins + !event.touching;
    to.ends = event.ends;
    to.first = first ? touch->first : event.first;
    to.last = touch->last;
    to.touching = true;
    return to;
}

static SandContactEvent parted(SandContactEvent event) {
    event.ends += event.touching;
    event.touching = false;
    return event;
}

static uint64_t pair_of_event(const SandContactEvent *e) { return pair_of(e->a, e->b); }

static void merge(SandContactWatch *w, const SandHostState *host, int shares) {
    int old = 0, begin = 0, end, count = 0;
    while (old < w->count || begin < shares) {
        uint64_t known = old < w->count ? pair_of_event(&w->pairs.data[old]) : UINT64_MAX;
        uint64_t now = begin < shares ? w->shares.data[begin].pair : UINT64_MAX;
        if (known < now) {
            w->merged.data[count++] = parted(w->pairs.data[old++]);
            continue;
        }
        SandContactEvent touch = touch_of(w, host, begin, shares, &end);
        w->merged.data[count++] = known == now ? continued(w->pairs.data[old++], &touch) : begun(touch);
        begin = end;
    }
    w->count = count;
}

bool sand_contact_watch_step(SandContactWatch *w, const SandHostState *host, int contacts, SandError *error) {
    const char *what = "the events of contacts";
    if (!SAND_RESERVE(w->shares, contacts + 1, what, error) ||
        !SAND_RESERVE(w->merged, (size_t)w->count + (size_t)contacts + 1, what, error) ||
        !SAND_RESERVE(w->pairs, (size_t)w->count + (size_t)contacts + 1, what, error))
        return false;
    merge(w, host, list_shares(w, host, contacts));
    for (int k = 0; k < w->count; k++) w->pairs.data[k] = w->merged.data[k];
    return true;
}

int sand_contact_watch_take(SandContactWatch *w, SandContactEvent *events, int capacity) {
    int count = w->count;
    if (!events || count > capacity) return count;
    w->count = 0;
    for (int k = 0; k < count; k++) {
        SandContactEvent e = events[k] = w->pairs.data[k];
        e.begins = e.ends = 0;
        e.first = INFINITY; // until it touches again
        e.last = -INFINITY;
        e.impulse = 0;
        if (e.touching) w->pairs.data[w->count++] = e;
    }
    return count;
}
