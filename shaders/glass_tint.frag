#version 450 core
// Glass, first: every layer takes its tint from what is behind, more where one looks along it. The order is of no matter.
#include "frame.glsl"
in vec3 position;
in vec3 normal;
in float round;
layout(location = 0) out vec4 out_light;
layout(location = 3) uniform bool marks;

void main() {
    vec3 to_eye = frame.eye.w > 0.5 ? normalize(frame.eye.xyz - position) : to_world(vec3(0.0, 0.0, 1.0));
    float path = 1.0 / max(abs(dot(normalize(normal), to_eye)), 0.12);
    vec3 tint = exp(-vec3(0.034, 0.019, 0.022) * path);
    if (marks) tint *= mix(0.86, 1.0, smoothstep(0.03, 0.04, abs(fract(round * 12.0) - 0.5)));
    out_light = vec4(tint, 1.0);
}
