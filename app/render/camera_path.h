// Views in the world's coordinates, and a smooth way of the camera through several of them.
#pragma once
#include "sandglass/error.h"
#include "sandglass/math.h"

typedef struct CameraView {
    SandVec3 eye, target; // m
    bool orthographic;
    double angle;  // rad, from bottom to top; perspective
    double height; // m, from bottom to top; orthographic
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

// Views that a person keeps to come back to.
enum { BOOKMARKS = 8 };
typedef struct Bookmarks {
    bool kept[BOOKMARKS];
    CameraView views[BOOKMARKS];
} Bookmarks;

// Puts a key in its place, or in the place of the key at the same time.
bool camera_path_add(CameraPath *path, const CameraKey *key, SandError *error);

// The view at an instant; before the first key and after the last it stands still. It goes through every key, turns round
// the target rather than through it, never swings beyond two keys, and starts and stops gently. `count` must not be 0.
CameraView camera_path_at(const CameraPath *path, double time);
