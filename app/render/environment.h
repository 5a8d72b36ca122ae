// SPDX-License-Identifier: MIT
// Image-based light: what surrounds a scene (shaders/light/place.glsl) as a cube map, filtered for each of a few degrees of
// roughness, and as the spherical harmonics of its irradiance. It is drawn once for a set, not for a frame.
#pragma once
#include "app/render/frame_uniforms.h"

typedef struct Environment Environment;

Environment *environment_create(SandError *error);
void environment_free(Environment *environment);

// Draws it for the set and the light of these uniforms, which are bound, unless it is that already; then binds it. It leaves
// the GL state of renderer.c's begin().
void environment_use(Environment *environment, const FrameUniforms *frame);
