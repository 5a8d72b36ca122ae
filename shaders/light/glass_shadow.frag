#version 450 core
// SPDX-License-Identifier: MIT
// The key light's path through a layer of glass; layers add up by blending.
#include "common/frame.glsl"
in vec3 position;
in vec3 normal;
in float round;
layout(location = 0) out float out_path;

void main() {
    float facing = abs(dot(normalize(normal), frame.sun.xyz));
    // Panes are faint, their edges are not.
    float thick = round < -1.5 ? 3.0 : round < 0.0 ? 0.6 : 1.0;
    // It fades towards the edge of the map, whose value the ground beyond has.
    vec2 off = abs((frame.light * vec4(position, 1.0)).xy);
    out_path = 0.05 * thick / max(facing, 0.12) * (1.0 - smoothstep(0.85, 0.98, max(off.x, off.y)));
}
