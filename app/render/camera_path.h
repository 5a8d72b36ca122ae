// SPDX-License-Identifier: MIT
// Views in world coordinates, and smooth camera motion through several of them.
#pragma once
#include "sandglass/error.h"
#include "sandglass/math.h"

typedef struct CameraView {
    SandVec3 eye, target; // m
    bool orthographic;
    double angle;  // rad, vertical field of view; perspective
    double height; // m, height of the view; orthographic
} CameraView;

typedef struct CameraKey {
    double time; // s
    CameraView view;
} CameraKey;

enum { CAMERA_KEYS = 256 };

typedef struct CameraPath {
    int count;
    CameraKey keys[CAMERA_KEYS]; // sorted by time
} CameraPath;

// Views that a user keeps, under the digits of the keyboard.
enum { BOOKMARKS = 9 };
typedef struct Bookmarks {
    bool kept[BOOKMARKS];
    CameraView views[BOOKMARKS];
} Bookmarks;

// Inserts a key by its time; replaces a key at the same time.
bool camera_path_add(CameraPath *path, const CameraKey *key, SandError *error);

// The view at a time; constant before the first key and after the last. It passes through every key, moves around the target
// rather than through it, never overshoots, and starts and stops with zero speed. `count` must not be 0.
CameraView camera_path_at(const CameraPath *path, double time);
