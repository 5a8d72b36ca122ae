#version 450 core
// The inside of a ball's silhouette: pixels that it covers whole, whose edge is drawn by rim.frag; or,
// where silhouettes are not smoothed, pixels whose middle it covers.
#include "frame.glsl"
#include "look.glsl"
#include "gbuffer.glsl"
#include "cast.glsl"
layout(depth_less) out float gl_FragDepth;

void main() {
    Hit hit = meet();
    if (hit.coverage < (frame.mode.w != 0 ? 1.0 : 0.5)) discard;
    gl_FragDepth = min(depth_of(hit.position.z), gl_FragCoord.z);
    vec3 normal = to_world(hit.normal);
    uint look;
    vec3 color = color_of(hit, look);
    leave(color, look, normal);
}
