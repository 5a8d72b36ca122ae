// SPDX-License-Identifier: MIT
// The picture of a frame: one render scene, or two side by side through one camera, each in its half of the picture.
#pragma once
#include "app/render/renderer.h"

// Where the halves are, in pixels from the left edge: the first begins at `left`, the second ends at `right`, and each is
// `half` wide. Between them is a divider.
typedef struct SplitArea {
    int left, right, half;
} SplitArea;
SplitArea split_area(double left, double right, int height); // halves of this part of a picture of this height
int split_left(const SplitArea *area, int side);             // where a half begins: 0 for the first, 1 for the second
double split_middle(const SplitArea *area);                  // of the divider

typedef struct SplitDef {
    const RenderScene *scenes[2]; // the second NULL: the first alone fills the picture
    SplitArea area;               // of the two halves; what it leaves free is plain
} SplitDef;

typedef struct Split Split;

Split *split_create(SandError *error); // needs the context current, as all functions but split_area do
void split_free(Split *split);

// Draws a picture of this size with the renderer.
bool split_draw(Split *split, Renderer *renderer, const SplitDef *def, const Camera *camera, const RendererDef *look,
                int width, int height, SandError *error);
// Whether the last draw gave exactly this picture.
bool split_has(const Split *split, const Renderer *renderer, const SplitDef *def, const Camera *camera,
               const RendererDef *look, int width, int height);

void split_show(const Split *split, const Renderer *renderer, int width, int height); // copies it to the window
unsigned split_framebuffer(const Split *split, const Renderer *renderer);             // holds the picture, to read from
unsigned split_texture(const Split *split, const Renderer *renderer);                 // the same as a texture
unsigned split_overdraw(Split *split, Renderer *renderer); // the same, to draw over; split_has is false then
