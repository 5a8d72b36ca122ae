// SPDX-License-Identifier: MIT
// Quality levels, and the uniforms of a frame: camera, key light and its shadow map, studio, cut and force chains.
#pragma once
#include <stdint.h>

#include "app/render/renderer.h"

typedef struct RendererLevel {
    int shadow_size, shadow_taps;
    bool fine;           // smooth silhouettes, all passes in linear light
    double smooth_from;  // pixels: balls of a smaller radius have no smooth silhouette
    int ambient_samples; // per texel
    int ambient_side;    // texels averaged along a side; 0: two, without regard to edges
    int ambient_scale;   // pixels per texel, along a side
} RendererLevel;
extern const RendererLevel renderer_levels[QUALITY_COUNT];

// The uniform block Frame of shaders/common/frame.glsl.
typedef struct FrameUniforms {
    float view[16], projection[16], light[16];
    float light_scale[4], eye[4], lens[4], size[4], sun[4], moment[4];
    float key[4], fill[4], bounce[4], horizon[4], zenith[4], cut[4], shift[4], chain[4], ground[4], ground_too[4], air[4];
    int32_t quality[4], mode[4], style[4];
} FrameUniforms;

// Fills the uniforms of a frame of this many pixels. The struct has no padding, so that two can be compared byte by byte.
FrameUniforms frame_uniforms(const RenderScene *scene, const Camera *camera, const RendererDef *def, int width, int height);
