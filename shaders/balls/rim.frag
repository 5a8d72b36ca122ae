#version 450 core
// SPDX-License-Identifier: MIT
// The edge of a ball's silhouette, one pixel wide, blended by pixel coverage.
#include "common/frame.glsl"
#include "common/instance.glsl"
#include "common/noise.glsl"
#include "common/look.glsl"
#include "balls/cast.glsl"
#include "balls/ball.glsl"
#include "light/sky.glsl"
#ifndef DIRECT
#include "light/environment.glsl"
#include "light/place.glsl"
#endif
#include "light/light.glsl"
flat in Ball ball;
layout(binding = 2) uniform sampler2D ambient;
layout(depth_less) out float gl_FragDepth;
layout(location = 0) out vec4 out_light;
layout(location = 1) out vec4 out_kind;

void main() {
    Hit hit = meet(gl_FragCoord.xy, ball.place);
    if (hit.coverage <= 0.0 || hit.coverage >= 1.0) discard;
    gl_FragDepth = min(depth_of(hit.position.z), gl_FragCoord.z);
    vec3 normal = to_world(hit.normal);
    uint look;
    vec3 color = color_of(ball, hit.position, hit.pixels, look);
    // Ambient occlusion sampled slightly inside the ball.
    vec2 inwards = -normalize(hit.normal.xy + vec2(1e-6)) * min(2.0, hit.pixels);
    float open = texture(ambient, (gl_FragCoord.xy + inwards) * frame.size.zw).r;
    vec3 c = lit(gl_FragCoord.xy, color, look, world_position(hit.position), normal, open);
    out_light = vec4(c, hit.coverage);
    out_kind = vec4(look == LOOK_DATA ? 1.0 : 0.0, 1.0, 0.0, hit.coverage);
}
