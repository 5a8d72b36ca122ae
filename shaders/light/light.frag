#version 450 core
// SPDX-License-Identifier: MIT
// Lighting as a full-screen triangle. DIRECT, for low quality: straight to the screen, without the sky, or the SKY alone.
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
layout(location = 0) out vec4 out_light;
#ifndef DIRECT
layout(location = 1) out vec4 out_kind;
#endif

void main() {
#if defined(SKY)
    out_light = shown_sky(gl_FragCoord.xy);
#elif defined(DIRECT)
    out_light = shown(gl_FragCoord.xy, depth_in(gl_FragCoord.xy));
#else
    look_at(gl_FragCoord.xy, out_light, out_kind);
#endif
}
