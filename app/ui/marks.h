// SPDX-License-Identifier: MIT
// Marks over the picture: the outline of the picked body, arrows of its contact forces, and the spring of a dragged one.
// They are lines on top of everything, so that a body in the middle of a heap is found as well.
#pragma once
#include "app/engine/picked_body.h"
#include "app/render/camera.h"
#include "app/render/solid_mesh.h"

typedef struct MarksView {
    const Camera *camera;
    const SolidMeshes *meshes; // of the bodies in the picture
    SandVec3 origin;           // of the coordinates of the camera, in the world
    double back;               // s, from the state of the picked body back to the time that is shown
    int left, width, height;   // pixels, of the part of the window that the camera fills
} MarksView;

// Draws between interface_begin and interface_end, below the panel.
void marks_draw(const PickedBody *picked, const MarksView *view);
