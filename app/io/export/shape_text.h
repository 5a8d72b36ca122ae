// SPDX-License-Identifier: MIT
// Shapes as GSD describes them for pictures (particles/type_shapes): JSON.
#pragma once
#include <stdio.h>

#include "sandglass/geometry.h"

// Writes the shape at this scale: a sphere as nothing, since its diameter is that of the particle; a clump as SphereUnion; a
// convex body as ConvexPolyhedron, cylinders and capsules with corners on their round parts; a compound as Mesh.
void shape_text_write(FILE *out, const SandShape *shape, double scale);
