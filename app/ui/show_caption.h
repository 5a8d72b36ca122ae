// SPDX-License-Identifier: MIT
// The caption of a demo in large type, its invitation, and the dark between its scenes. Drawn between interface_begin and
// interface_end. What else is on the picture stays above the margin at its bottom that the caption has.
#pragma once
#include "app/engine/playlist.h"
#include "app/render/camera.h"
#include "app/ui/card.h"

typedef struct ShowView {
    double width, height; // pixels, of the picture
    bool playing_along;   // a visitor may do what the scene invites to
    double seconds;       // by which the invitation pulses
} ShowView;

// Text of 28 pixels and titles of 48 in a picture of 1080 lines, upright or not.
double show_scale(double width, double height);
// Pixels at the bottom of a picture that captions of up to two lines need, at that scale.
double show_margin(double width, double height);
double show_head(const Show *show, double width, double height); // and at its top, for the invitation of the scene
// Aims the camera of the present scene so that what it shows is above the caption and below the invitation. `width`: of the
// picture that the camera fills, in a picture of `view`. False, with a sentence: there is no such camera.
bool show_aim(const Show *show, const ShowView *view, const RenderScene *scene, double width, Camera *camera,
              SandError *error);
// Draws over the picture; returns the box of the caption.
Box show_draw(const Show *show, const ShowView *view);
