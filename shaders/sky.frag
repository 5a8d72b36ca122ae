#version 450 core
// The backdrop where there is nothing else, straight to the screen.
#include "frame.glsl"
#include "sky.glsl"
#include "tone.glsl"
layout(location = 0) out vec4 out_color;

void main() {
    vec3 start, way;
    view_ray(gl_FragCoord.xy, start, way);
    bool clear = frame.mode.y != 0;
    out_color = clear ? vec4(0.0) : vec4(encode(tone(backdrop(normalize(to_world(way))))), 1.0);
}
