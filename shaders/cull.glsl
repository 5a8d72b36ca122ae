// What the passes of culling share: the instances, and what is known of each.
struct Instance {
    vec4 center; // radius in w
    vec4 rotation, velocity;
    uvec4 spin; // as bits: the last is the tag, which is no number of this kind
    vec4 offset;
};
layout(std430, binding = 0) readonly buffer Instances { Instance instances[]; };
layout(std430, binding = 1) buffer Flags { uint flags[]; };
layout(std430, binding = 2) buffer Blocks { uint blocks[]; }; // of each block of threads: how many it keeps, then where they go
layout(location = 0) uniform uint count;

const uint WAS_SEEN = 1u, IS_SEEN = 2u;
