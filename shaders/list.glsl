// All instances, for whoever is no vertex.
layout(std430, binding = 0) readonly buffer Instances { Instance instances[]; };
