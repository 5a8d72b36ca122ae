// SPDX-License-Identifier: MIT
// Which bodies a picture may show: those that nothing drawn before hides as a whole. Free of GL, and never wrong in one
// direction: a body that shows in any pixel, by its smoothed edge or not, is visible.
#pragma once
#include "app/render/frame_uniforms.h"

enum { DEPTH_LEVELS = 16 };

// The depths of a picture, 1 at the near plane and 0 where there is nothing, and on each further level the farthest of 2 x 2
// texels of the one before.
typedef struct DepthPyramid {
    int levels, width[DEPTH_LEVELS], height[DEPTH_LEVELS];
    float *level[DEPTH_LEVELS]; // the first one of the caller, the others in `own`
    float *own;
    size_t capacity;
} DepthPyramid;
// `depths`: rows of `width`, bottom row first, which must outlive the pyramid.
bool depth_pyramid_make(DepthPyramid *pyramid, float *depths, int width, int height, SandError *error);
void depth_pyramid_free(DepthPyramid *pyramid);

// Whether an instance may be visible in a frame with this number of samples along a side of a pixel. The pyramid has a depth
// for each pixel, the farthest of its samples. `hull`: the offset of the instance is its bound.
bool instance_visible(const SandInstance *instance, bool hull, const FrameUniforms *frame, int samples,
                      const DepthPyramid *pyramid);
