// SPDX-License-Identifier: MIT
// A hierarchy of the active bodies for questions to a world: bodies sorted along a Z-order curve, a few to a leaf, and boxes
// around them in a complete binary tree without pointers: node k has the children 2 k and 2 k + 1, the root is node 1. Where
// the world repeats, a body that reaches across a border is in it again on the other side.
#pragma once
#include "sandglass/query.h"
#include "sim/core/array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandTreeItem {
    SandVec3 center; // m, of the body or of its image
    double bound;    // m, radius about the center that contains it
    int body;
} SandTreeItem;

typedef struct SandTreeBox {
    SandVec3 lower, upper; // m; of no body: lower is INFINITY, upper -INFINITY
} SandTreeBox;

enum { SAND_TREE_LEAF = 4 }; // bodies

typedef struct SandBodyTree {
    int count;  // items
    int leaves; // a power of two
    SAND_ARRAY(SandTreeItem) items;
    SAND_ARRAY(SandTreeItem) unsorted;
    SAND_ARRAY(uint64_t) keys[2];
    SAND_ARRAY(int) order[2];
    SAND_ARRAY(SandTreeBox) boxes;
} SandBodyTree;

void sand_body_tree_free(SandBodyTree *tree);
bool sand_body_tree_build(SandBodyTree *tree, const SandWorld *world, SandError *error);

// The answers to one question each (sandglass/query.h), of a tree of the bodies as they are; poses of boundaries are those
// of the time. The direction of a ray has length 1.
SandHit sand_tree_raycast(const SandBodyTree *tree, const SandWorld *world, const SandRay *ray);
SandHit sand_tree_closest(const SandBodyTree *tree, const SandWorld *world, SandVec3 point, double reach);
// Appends the bodies that a shape overlaps to `found`, in no order, some twice where the world repeats. -1: out of memory.
typedef SAND_ARRAY(int) SandFoundBodies;
int sand_tree_overlap(const SandBodyTree *tree, const SandWorld *world, const SandShape *shape, double scale, SandPose pose,
                      SandFoundBodies *found, SandError *error);

#ifdef __cplusplus
}
#endif
