// SPDX-License-Identifier: MIT
// The contact graph of a problem as the solver kernels need it: which contacts each body has (CSR), the bodies with very
// many, and a coloring of the contacts. The CPU's counterpart of cuda/solver/adjacency.cu and cuda/solver/coloring.cu.
#pragma once
#include "sim/core/array.h"
#include "sim/core/limits.h"
#include "sandglass/problem.h"

typedef uint64_t SandColorSet[2]; // a bit for each color

typedef struct SandAdjacency {
    int body_count;         // moving bodies
    SAND_ARRAY(int) first;  // contacts first[k] .. first[k+1]-1 have body k as their a: contacts are sorted by a
    SAND_ARRAY(int) second; // contacts list[second[k] .. second[k+1]-1] have body k as their b
    SAND_ARRAY(int) list;

    // Bodies of more than SAND_HIGH_DEGREE contacts, whose contacts are cut into segments of that many.
    int high_degree_count, segment_count;
    SAND_ARRAY(int) high_degree; // body of each
    SAND_ARRAY(int)
    high_degree_segment; // segments high_degree_segment[j] .. high_degree_segment[j+1]-1 belong to high-degree body j
    SAND_ARRAY(int) segment_body; // high-degree body of each segment

    // Contacts color_list[color_first[c] .. color_first[c+1]-1] of one color c share no moving body. Behind the last color
    // lies the batch of the contacts of high-degree bodies, which no coloring could separate.
    int color_count;
    SAND_ARRAY(int) color_first, color_list;
    SAND_ARRAY(SandColorSet) colors_at; // scratch: bits of the colors in use at each body

} SandAdjacency;

void sand_adjacency_free(SandAdjacency *adjacency);

// Lists the contacts of each moving body and cuts those of high-degree bodies into segments. False when memory is out.
bool sand_adjacency_build(SandAdjacency *adjacency, const SandProblem *problem, SandError *error);

// Colors the contacts greedily, in their order. Two bodies outside the batch have at most SAND_HIGH_DEGREE contacts each, so
// 2 SAND_HIGH_DEGREE colors suffice. After sand_adjacency_build.
bool sand_adjacency_color(SandAdjacency *adjacency, const SandProblem *problem, SandError *error);

// The number of contacts of moving body k.
static inline int sand_adjacency_degree(const SandAdjacency *a, int k) {
    return a->first.data[k + 1] - a->first.data[k] + a->second.data[k + 1] - a->second.data[k];
}
