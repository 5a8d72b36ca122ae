#version 450 core
// SPDX-License-Identifier: MIT
// The mean of the pictures that were added up, encoded and dithered by half a step against banding.
#include "common/frame.glsl"
#include "output/tone.glsl"
layout(binding = 0) uniform sampler2D sum;
layout(location = 0) uniform float count;
layout(location = 0) out vec4 out_color;

void main() {
    vec4 total = texelFetch(sum, ivec2(gl_FragCoord.xy), 0);
    vec3 c = encode(clamp(total.rgb / max(total.a, 1e-6), 0.0, 1.0));
    uvec2 p = uvec2(gl_FragCoord.xy);
    out_color = vec4(c + (hash(p.x * 1973u + p.y * 9277u) - 0.5) / 255.0, total.a / count);
}
