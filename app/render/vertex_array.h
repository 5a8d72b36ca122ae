// SPDX-License-Identifier: MIT
// Vertex arrays that read instances.
#pragma once
#include <stddef.h>

// Adds an attribute of `count` floats, at this offset in the records of a binding.
void vertex_attribute(unsigned array, unsigned index, unsigned binding, int count, size_t offset);
// Creates a vertex array with SandInstance records at binding 0, one for each instance (shaders/common/attributes.glsl).
unsigned vertex_array_of_instances(void);
