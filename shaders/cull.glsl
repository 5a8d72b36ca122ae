// What the passes of culling share: what is known of each instance.
layout(std430, binding = 1) buffer Flags { uint flags[]; };
layout(std430, binding = 2) buffer Blocks { uint blocks[]; }; // of each block of threads: how many it keeps, then where they go
layout(location = 0) uniform uint count;

const uint WAS_DRAWN = 1u, IS_SEEN = 2u, LARGE = 4u; // was: in this picture, by what the last one saw
