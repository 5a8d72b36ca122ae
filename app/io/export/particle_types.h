// SPDX-License-Identifier: MIT
// The types of particles of a GSD file: one for all spheres, and one for each shape and size of other bodies, since a GSD
// file says the shape of a type and not of a particle.
#pragma once
#include "sandglass/geometry.h"
#include "sim/core/array.h"

enum { TYPES_MOST = 16384 }; // beyond this many, bodies are of the type of the spheres, and drawn as the spheres around them

typedef struct ParticleType {
    int shape;
    double scale;
    uint32_t id; // in the order in which they were found; 0: spheres
} ParticleType;

typedef struct ParticleTypes {
    const SandShape *shapes;
    int shape_count;
    SAND_ARRAY(ParticleType) sorted; // by shape and scale
    uint32_t count;                  // with that of the spheres, which is there from the start
} ParticleTypes;

void particle_types_free(ParticleTypes *types);
// Whether every body is of the type of the spheres.
bool particle_types_all_spheres(const ParticleTypes *types);
// Finds the type of a body, or adds one.
bool particle_types_find(ParticleTypes *types, int shape, double scale, uint32_t *id, SandError *error);
// Writes the names, or the shapes as JSON, as rows of `*width` characters (malloc), padded by zeros. NULL: out of memory.
char *particle_types_names(const ParticleTypes *types, uint32_t *width);
char *particle_types_shapes(const ParticleTypes *types, uint32_t *width);
