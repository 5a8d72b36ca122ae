// SPDX-License-Identifier: MIT
// All instances as a storage buffer, for compute shaders.
layout(std430, binding = 0) readonly buffer Instances { Instance instances[]; };
