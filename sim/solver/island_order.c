// SPDX-License-Identifier: MIT
// Ordering the bodies of an island for a small bandwidth, by their distance from a body at its far end (Cuthill and McKee
// 1969, without the order by degree).
#include "sim/solver/island_order.h"

#include "sim/core/array.h"

void sand_island_order_free(SandIslandOrder *o) { SAND_FREE_ARRAYS(&o->order, &o->place, &o->first, &o->neighbor); }

static bool reserve(SandIslandOrder *o, const SandProblem *p, const SandIsland *island, SandError *error) {
    static const char *const what = "an island";
    return SAND_RESERVE(o->order, island->body_count + 1, what, error) &&
           SAND_RESERVE(o->place, p->dynamic_count + 1, what, error) &&
           SAND_RESERVE(o->first, island->body_count + 2, what, error) &&
           SAND_RESERVE(o->neighbor, 2 * island->contact_count + 2, what, error);
}

// Neighbors of each body, by their numbers in the island; a pair with several points is there several times.
static void find_neighbors(SandIslandOrder *o, const SandProblem *p, const SandIsland *island) {
    int count = island->body_count;
    for (int k = 0; k < count; k++) o->place.data[island->bodies[k]] = k;
    for (int k = 0; k <= count + 1; k++) o->first.data[k] = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < island->contact_count; i++) {
            const SandContact *c = &p->contacts[island->contacts[i]];
            if (!sand_body_moves(p, c->a) || !sand_body_moves(p, c->b)) continue;
            int a = o->place.data[c->a], b = o->place.data[c->b];
            if (pass) o->neighbor.data[o->first.data[a + 1]] = b, o->neighbor.data[o->first.data[b + 1]] = a;
            int by = pass ? 1 : 2; // filling moves every begin to the one before it
            o->first.data[a + by]++;
            o->first.data[b + by]++;
        }
        for (int k = 0; !pass && k < count; k++) o->first.data[k + 2] += o->first.data[k + 1];
    }
}

// Numbers the bodies by their distance from one of them. Returns the last.
static int order_from(SandIslandOrder *o, int bodies, int root) {
    int *seen = o->place.data, count = 0; // by numbers in the island: the place of a body is not needed here
    for (int k = 0; k < bodies; k++) seen[k] = 0;
    seen[root] = 1;
    o->order.data[count++] = root;
    for (int k = 0; k < count; k++)
        for (int e = o->first.data[o->order.data[k]]; e < o->first.data[o->order.data[k] + 1]; e++)
            if (!seen[o->neighbor.data[e]]) {
                seen[o->neighbor.data[e]] = 1;
                o->order.data[count++] = o->neighbor.data[e];
            }
    return o->order.data[count - 1];
}

bool sand_island_order_find(SandIslandOrder *o, const SandProblem *problem, const SandIsland *island, SandError *error) {
    if (!reserve(o, problem, island, error)) return false;
    find_neighbors(o, problem, island);
    int end = order_from(o, island->body_count, order_from(o, island->body_count, 0));
    order_from(o, island->body_count, end);
    for (int k = 0; k < island->body_count; k++) o->place.data[island->bodies[o->order.data[k]]] = k;
    return true;
}
