// Ordering the bodies of an island for a small bandwidth, by their distance from a body at its far end (Cuthill and McKee
// 1969, without the order by degree).
#include "sim/solver/island_order.h"

#include "sim/core/array.h"

void sand_island_order_free(SandIslandOrder *o) {
    void *arrays[] = {o->order, o->place, o->first, o->neighbor};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sand_free(arrays[k]);
}

static bool reserve(SandIslandOrder *o, const SandProblem *p, const SandIsland *island, SandError *error) {
    static const char *const what = "an island";
    return SAND_GROW(o->order, o->order_capacity, island->body_count + 1, what, error) &&
           SAND_GROW(o->place, o->place_capacity, p->dynamic_count + 1, what, error) &&
           SAND_GROW(o->first, o->first_capacity, island->body_count + 2, what, error) &&
           SAND_GROW(o->neighbor, o->neighbor_capacity, 2 * island->contact_count + 2, what, error);
}

// Neighbors of each body, by their numbers in the island; a pair with several points is there several times.
static void find_neighbors(SandIslandOrder *o, const SandProblem *p, const SandIsland *island) {
    int count = island->body_count;
    for (int k = 0; k < count; k++) o->place[island->bodies[k]] = k;
    for (int k = 0; k <= count + 1; k++) o->first[k] = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < island->contact_count; i++) {
            const SandContact *c = &p->contacts[island->contacts[i]];
            if (!sand_body_moves(p, c->a) || !sand_body_moves(p, c->b)) continue;
            int a = o->place[c->a], b = o->place[c->b];
            if (pass) o->neighbor[o->first[a + 1]] = b, o->neighbor[o->first[b + 1]] = a;
            int by = pass ? 1 : 2; // filling moves every begin to the one before it
            o->first[a + by]++;
            o->first[b + by]++;
        }
        for (int k = 0; !pass && k < count; k++) o->first[k + 2] += o->first[k + 1];
    }
}

// Numbers the bodies by their distance from one of them. Returns the last.
static int order_from(SandIslandOrder *o, int bodies, int root) {
    int *seen = o->place, count = 0; // by numbers in the island: the place of a body is not needed here
    for (int k = 0; k < bodies; k++) seen[k] = 0;
    seen[root] = 1;
    o->order[count++] = root;
    for (int k = 0; k < count; k++)
        for (int e = o->first[o->order[k]]; e < o->first[o->order[k] + 1]; e++)
            if (!seen[o->neighbor[e]]) {
                seen[o->neighbor[e]] = 1;
                o->order[count++] = o->neighbor[e];
            }
    return o->order[count - 1];
}

bool sand_island_order_find(SandIslandOrder *o, const SandProblem *problem, const SandIsland *island, SandError *error) {
    if (!reserve(o, problem, island, error)) return false;
    find_neighbors(o, problem, island);
    int end = order_from(o, island->body_count, order_from(o, island->body_count, 0));
    order_from(o, island->body_count, end);
    for (int k = 0; k < island->body_count; k++) o->place[island->bodies[o->order[k]]] = k;
    return true;
}
