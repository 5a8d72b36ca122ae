// SPDX-License-Identifier: MIT
// Screen-space passes: ambient occlusion, light, tone mapping. As compute shaders, since a data-center GPU has few raster
// units; or as full-screen triangles, which are faster in the software renderer. Both are compiled from the same GLSL and
// give the same picture. The caller binds the uniform block Frame.
#pragma once
#include "app/render/targets.h"

typedef struct Lighting Lighting;
Lighting *lighting_create(bool compute, SandError *error);
void lighting_free(Lighting *lighting);

// The caller has disabled depth writes and set the viewport to the inner targets. These do not restore the depth test.
void lighting_ambient(const Lighting *lighting, const Targets *targets);          // before any light
void lighting_light(const Lighting *lighting, const Targets *targets, bool set);  // to `light` and `kind`
void lighting_direct(const Lighting *lighting, const Targets *targets, bool set); // encoded, to `out`; only with one sample
// From `light`, `kind` and `glass` to `out`. `twice`: encode twice, a fault that a test must notice.
void lighting_tone(const Lighting *lighting, const Targets *targets, int samples, bool twice);
