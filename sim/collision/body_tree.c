// SPDX-License-Identifier: MIT
// Building the hierarchy of the bodies: keys along the Z-order curve, a radix sort, boxes from the leaves up.
#include "sim/collision/body_tree.h"

#include "sim/world/period.inl"

#include <string.h>

enum { AXIS_BITS = 21, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 6 }; // 63 bits of a key

void sand_body_tree_free(SandBodyTree *t) {
    SAND_FREE_ARRAYS(&t->items, &t->unsorted, &t->keys[0], &t->keys[1], &t->order[0], &t->order[1], &t->boxes);
    *t = (SandBodyTree){0};
}

// --- the bodies ---------------------------------------------------------------------------------------------

static bool add_item(SandBodyTree *t, SandVec3 center, double bound, int body, SandError *error) {
    if (!SAND_RESERVE(t->unsorted, t->count + 1, "a hierarchy of bodies", error)) return false;
    t->unsorted.data[t->count++] = (SandTreeItem){center, bound, body};
    return true;
}

// Along one axis, which images of a body reach into the box: bit 0 the one that is shifted down, bit 1 the one shifted up.
static int sides(bool repeats, double at, double bound, double lower, double upper) {
    return repeats ? (at + bound > upper) | (at - bound < lower) << 1 : 0;
}

static bool add_images(SandBodyTree *t, const SandWorld *w, int body, double bound, SandError *error) {
    SandVec3 at = w->position[body], period = sand_world_period(w);
    int across[3] = {sides(w->periodic[0], at.x, bound, w->lower.x, w->upper.x),
                     sides(w->periodic[1], at.y, bound, w->lower.y, w->upper.y),
                     sides(w->periodic[2], at.z, bound, w->lower.z, w->upper.z)};
    for (int k = 1; k < 27; k++) {
        int shift[3] = {k % 3, k / 3 % 3, k / 9}; // 0: none, 1: down, 2: up
        bool reaches = true;
        for (int a = 0; a < 3; a++) reaches = reaches && (!shift[a] || across[a] >> (shift[a] - 1) & 1);
        if (!reaches) continue;
        const double sign[3] = {0, -1, 1};
        SandVec3 by = {sign[shift[0]] * period.x, sign[shift[1]] * period.y, sign[shift[2]] * period.z};
        if (!add_item(t, v3_add(at, by), bound, body, error)) return false;
    }
    return true;
}

static bool list_items(SandBodyTree *t, const SandWorld *w, SandError *error) {
    const double rounding = 1 + 1e-9; // boxes are a little larger than what is in them
    bool repeats = sand_world_repeats(w);
    t->count = 0;
    if (!SAND_RESERVE(t->unsorted, w->body_count, "a hierarchy of bodies", error)) return false;
    for (int i = 0; i < w->body_count; i++) {
        if (!sand_world_active(w, i)) continue;
        double bound = rounding * w->scale[i] * w->shapes[w->shape[i]].bound;
        if (!add_item(t, w->position[i], bound, i, error)) return false;
        if (repeats && !add_images(t, w, i, bound, error)) return false;
    }
    return true;
}

// --- sorting ------------------------------------------------------------------------------------------------

// Spreads 21 bits, two zeros behind each.
static uint64_t spread(uint64_t x) {
    x = (x | x << 32) & 0x001f00000000ffffull;
    x = (x | x << 16) & 0x001f0000ff0000ffull;
    x = (x | x << 8) & 0x100f00f00f00f00full;
    x = (x | x << 4) & 0x10c30c30c30c30c3ull;
    return (x | x << 2) & 0x1249249249249249ull;
}

static uint64_t coordinate(double x, double low, double size) {
    const double most = (1 << AXIS_BITS) - 1;
    double part = size > 0 ? (x - low) / size * most : 0;
    return spread((uint64_t)(part > 0 ? part < most ? part : most : 0)); // what is not a number goes to 0
}

static SandTreeBox grown(SandTreeBox box, SandVec3 lower, SandVec3 upper) {
    return (SandTreeBox){{fmin(box.lower.x, lower.x), fmin(box.lower.y, lower.y), fmin(box.lower.z, lower.z)},
                         {fmax(box.upper.x, upper.x), fmax(box.upper.y, upper.y), fmax(box.upper.z, upper.z)}};
}

static const SandTreeBox nobody = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void find_keys(SandBodyTree *t) {
    SandTreeBox all = nobody;
    for (int i = 0; i < t->count; i++) all = grown(all, t->unsorted.data[i].center, t->unsorted.data[i].center);
    SandVec3 size = v3_sub(all.upper, all.lower);
    for (int i = 0; i < t->count; i++) {
        SandVec3 c = t->unsorted.data[i].center;
        t->keys[0].data[i] = coordinate(c.x, all.lower.x, size.x) | coordinate(c.y, all.lower.y, size.y) << 1 |
                             coordinate(c.z, all.lower.z, size.z) << 2;
        t->order[0].data[i] = i;
    }
}

// One pass of the radix sort, which keeps the order of equal digits: equal keys stay in the order of their bodies.
static void sort_digit(SandBodyTree *t, int pass) {
    int begin[DIGITS + 1] = {0}, shift = pass * DIGIT_BITS, from = pass % 2, to = 1 - from;
    for (int i = 0; i < t->count; i++) begin[(t->keys[from].data[i] >> shift & (DIGITS - 1)) + 1]++;
    for (int d = 0; d < DIGITS; d++) begin[d + 1] += begin[d];
    for (int i = 0; i < t->count; i++) {
        int at = begin[t->keys[from].data[i] >> shift & (DIGITS - 1)]++;
        t->keys[to].data[at] = t->keys[from].data[i];
        t->order[to].data[at] = t->order[from].data[i];
    }
}

// --- boxes --------------------------------------------------------------------------------------------------

static SandTreeBox leaf_box(const SandBodyTree *t, int leaf) {
    SandTreeBox box = nobody;
    for (int i = leaf * SAND_TREE_LEAF; i < (leaf + 1) * SAND_TREE_LEAF && i < t->count; i++) {
        SandVec3 c = t->items.data[i].center;
        double bound = t->items.data[i].bound;
        SandVec3 reach = {bound + 1e-15 * fabs(c.x), bound + 1e-15 * fabs(c.y), bound + 1e-15 * fabs(c.z)};
        box = grown(box, v3_sub(c, reach), v3_add(c, reach));
    }
    return box;
}

static void find_boxes(SandBodyTree *t) {
    SandTreeBox *boxes = t->boxes.data;
    for (int leaf = 0; leaf < t->leaves; leaf++) boxes[t->leaves + leaf] = leaf_box(t, leaf);
    for (int k = t->leaves - 1; k >= 1; k--) boxes[k] = grown(boxes[2 * k], boxes[2 * k + 1].lower, boxes[2 * k + 1].upper);
}

static bool reserve(SandBodyTree *t, SandError *error) {
    const char *what = "a hierarchy of bodies";
    size_t n = (size_t)t->count + 1;
    for (t->leaves = 1; (int64_t)t->leaves * SAND_TREE_LEAF < t->count;) t->leaves *= 2;
    return SAND_RESERVE(t->items, n, what, error) && SAND_RESERVE(t->keys[0], n, what, error) &&
           SAND_RESERVE(t->keys[1], n, what, error) && SAND_RESERVE(t->order[0], n, what, error) &&
           SAND_RESERVE(t->order[1], n, what, error) && SAND_RESERVE(t->boxes, 2 * (size_t)t->leaves, what, error);
}

bool sand_body_tree_build(SandBodyTree *t, const SandWorld *world, SandError *error) {
    if (!list_items(t, world, error) || !reserve(t, error)) return t->count = 0, false;
    find_keys(t);
    for (int pass = 0; pass < PASSES; pass++) sort_digit(t, pass);
    for (int i = 0; i < t->count; i++) t->items.data[i] = t->unsorted.data[t->order[PASSES % 2].data[i]];
    find_boxes(t);
    return true;
}
