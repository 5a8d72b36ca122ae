#version 450 core
// SPDX-License-Identifier: MIT
// The interior of a ball, ray-cast inside its quad; rim.frag draws the edge of the silhouette.
#include "common/frame.glsl"
#include "common/instance.glsl"
#include "common/noise.glsl"
#include "common/look.glsl"
#include "common/gbuffer.glsl"
#include "balls/cast.glsl"
#include "balls/ball.glsl"
flat in Ball ball;
layout(depth_less) out float gl_FragDepth;

void main() {
    Hit hit = meet(gl_FragCoord.xy, ball.place);
    if (!hides(hit, ball.place)) discard;
    gl_FragDepth = min(depth_of(hit.position.z), gl_FragCoord.z);
    uint look;
    vec3 color = color_of(ball, hit.position, hit.pixels, look);
    leave(color, look, to_world(hit.normal));
}
