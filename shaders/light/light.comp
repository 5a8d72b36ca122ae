#version 450 core
// SPDX-License-Identifier: MIT
// Lighting as a compute shader. DIRECT, for low quality: straight to the screen.
#include "common/frame.glsl"
#include "common/noise.glsl"
#include "common/look.glsl"
#include "common/unfold.glsl"
#include "light/sky.glsl"
#ifndef DIRECT
#include "light/environment.glsl"
#include "light/place.glsl"
#endif
#include "light/light.glsl"
#ifdef DIRECT
#include "output/tone.glsl"
#endif
#include "light/shade.glsl"
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) writeonly uniform image2D light_image;
#ifndef DIRECT
layout(binding = 1) writeonly uniform image2D kind_image;
#endif

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(light_image)))) return;
    vec2 pixel = vec2(at) + 0.5;
#ifdef DIRECT
    float depth = depth_in(pixel);
    imageStore(light_image, at, depth > 0.0 ? shown(pixel, depth) : shown_sky(pixel));
#else
    vec4 light, kind;
    look_at(pixel, light, kind);
    imageStore(light_image, at, light);
    imageStore(kind_image, at, kind);
#endif
}
