#version 450 core
// SPDX-License-Identifier: MIT
// The surface of a boundary, placed at the time of the frame.
#include "common/frame.glsl"
layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in float in_turn;
layout(location = 0) uniform bool for_shadow;
layout(location = 1) uniform vec4 rotation;
layout(location = 2) uniform vec3 place;
out vec3 position;
out vec3 normal;
out vec3 local; // in the boundary's own frame
out float round;

void main() {
    position = place + turn(rotation, in_position);
    normal = turn(rotation, in_normal);
    local = in_position;
    round = in_turn;
    gl_Position = for_shadow ? frame.light * vec4(position, 1.0) : frame.projection * frame.view * vec4(position, 1.0);
}
