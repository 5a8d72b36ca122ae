// SPDX-License-Identifier: MIT
// An instance is bounded by a ball, the ball by a rectangle of pixels and its nearest depth: hidden where every pixel of the
// rectangle has something in front of that. Shaders/seen.comp culls in the same way, and draws what it should not have
// hidden in the next frame; here nothing is drawn twice.
#include "app/render/visible.h"

#include <math.h>

#include "sim/core/array.h"

static const double MARGIN = 2; // samples: smoothed edges lie outside of a body
enum { SPAN = 4 };              // texels along a side that are looked at, at most

// --- the pyramid --------------------------------------------------------------------------------------------

static float farthest_of(const DepthPyramid *p, int level, int x, int y) {
    int w = p->width[level], right = x + 1 < w ? x + 1 : x, above = y + 1 < p->height[level] ? y + 1 : y;
    const float *low = p->level[level] + (size_t)y * (size_t)w, *high = p->level[level] + (size_t)above * (size_t)w;
    return fminf(fminf(low[x], low[right]), fminf(high[x], high[right]));
}

static void fill_level(DepthPyramid *p, int level) {
    float *to = p->level[level];
    for (int y = 0; y < p->height[level]; y++)
        for (int x = 0; x < p->width[level]; x++) *to++ = farthest_of(p, level - 1, 2 * x, 2 * y);
}

bool depth_pyramid_make(DepthPyramid *p, float *depths, int width, int height, SandError *error) {
    size_t texels = 0;
    p->width[0] = width;
    p->height[0] = height;
    for (p->levels = 1; p->levels < DEPTH_LEVELS && (width > 1 || height > 1); p->levels++) {
        p->width[p->levels] = width = (width + 1) / 2;
        p->height[p->levels] = height = (height + 1) / 2;
        texels += (size_t)width * (size_t)height;
    }
    if (!SAND_GROW(p->own, p->capacity, texels + 1, "depths", error)) return false;
    p->level[0] = depths;
    texels = 0;
    for (int k = 1; k < p->levels; k++) {
        p->level[k] = p->own + texels;
        texels += (size_t)p->width[k] * (size_t)p->height[k];
        fill_level(p, k);
    }
    return true;
}

void depth_pyramid_free(DepthPyramid *p) {
    sand_free(p->own);
    *p = (DepthPyramid){0};
}

// Whether a depth is in front of any texel of a rectangle, whose ends belong to it.
static bool any_behind(const DepthPyramid *p, const int from[2], const int to[2], double near) {
    int level = 0;
    while (level + 1 < p->levels &&
           ((to[0] >> level) - (from[0] >> level) >= SPAN || (to[1] >> level) - (from[1] >> level) >= SPAN))
        level++;
    for (int y = from[1] >> level; y <= to[1] >> level; y++)
        for (int x = from[0] >> level; x <= to[0] >> level; x++)
            if (near >= p->level[level][(size_t)y * (size_t)p->width[level] + (size_t)x]) return true;
    return false;
}

// --- the bounds of an instance ------------------------------------------------------------------------------

typedef struct Bound {
    SandVec3 center; // m, in the view
    double radius;
    bool convex; // a convex body, whose edges are smoothed
} Bound;

static SandVec3 float3(const float *v) { return v3_make(v[0], v[1], v[2]); }

// At the instant of the frame, in the coordinates of the scene. The balls of a clump turn about its center, so that of one
// of them goes around all places that it may have.
static Bound bound_of(const SandInstance *it, bool hull, const FrameUniforms *f) {
    double offset = hull ? it->offset[0] : v3_length(float3(it->offset));
    return (Bound){.center = v3_madd(float3(it->center), -f->moment[0], float3(it->velocity)),
                   .radius = 1.00001 * (offset + it->radius), // floats round
                   .convex = !(it->radius > 0)};
}

static bool is_cut(const Bound *b, const FrameUniforms *f) {
    SandVec3 normal = float3(f->cut);
    double slack = 1e-5 * (fabs(f->cut[3]) + v3_length(normal) * v3_length(b->center));
    return v3_dot(normal, b->center) > f->cut[3] + slack;
}

static SandVec3 in_view(SandVec3 p, const float *m) {
    return v3_make(m[0] * p.x + m[4] * p.y + m[8] * p.z + m[12], m[1] * p.x + m[5] * p.y + m[9] * p.z + m[13],
                   m[2] * p.x + m[6] * p.y + m[10] * p.z + m[14]);
}

static bool perspective(const FrameUniforms *f) { return f->eye[3] > 0.5f; }

// Of a ball along one axis of the picture: as tangents of the angle from the middle, or in meters.
static void reach(double across, double away, double r, bool eye, double to[2]) {
    double along = sqrt(fmax(across * across + away * away - r * r, 0));
    to[0] = eye ? (across * along - away * r) / (away * along + across * r) : across - r;
    to[1] = eye ? (across * along + away * r) / (away * along - across * r) : across + r;
}

// The nearest depth that the body leaves, at this distance from the eye: the edges of convex bodies are drawn a little in
// front (shaders/solids/solid_edge.vert).
static double nearest_depth(const Bound *b, const FrameUniforms *f, double away) {
    double near = f->lens[2], far = f->lens[3], pixel = 2.0 * f->lens[1] * f->size[3];
    double size = b->radius / (pixel * (perspective(f) ? away : 1)); // in samples
    double forward = b->convex ? (3 + 1.5 * sqrt(size)) * pixel : 0;
    double depth = perspective(f) ? near / away * (1 + forward) : (far - away + forward) / (far - near);
    return depth * (1 + 4e-6) + 1e-6;
}

// The pixels that the ball may touch; false: none.
static bool find_pixels(const Bound *b, const FrameUniforms *f, int samples, const DepthPyramid *p, int from[2], int to[2]) {
    double center[2] = {b->center.x, b->center.y};
    int size[2] = {p->width[0], p->height[0]};
    for (int a = 0; a < 2; a++) {
        double ends[2];
        reach(center[a], -b->center.z, b->radius, perspective(f), ends);
        for (int k = 0; k < 2; k++)
            ends[k] = (0.5 * (ends[k] - f->shift[a]) / f->lens[a] + 0.5) * f->size[a] + (k ? MARGIN : -MARGIN);
        if (ends[1] < 0 || ends[0] >= f->size[a]) return false;
        from[a] = (int)fmax(ends[0], 0) / samples;
        to[a] = (int)fmin(fmin(ends[1], f->size[a] - 1) / samples, size[a] - 1);
    }
    return true;
}

bool instance_visible(const SandInstance *it, bool hull, const FrameUniforms *f, int samples, const DepthPyramid *p) {
    int from[2], to[2];
    Bound b = bound_of(it, hull, f);
    if (!(b.radius > 0) || is_cut(&b, f)) return false;
    b.center = in_view(b.center, f->view);
    double front = -b.center.z - b.radius, back = -b.center.z + b.radius;
    if (back < 0.999 * f->lens[2]) return false; // behind the camera
    if (front < 1.001 * f->lens[2]) return true; // at the camera: it has no bounds
    return find_pixels(&b, f, samples, p, from, to) && any_behind(p, from, to, nearest_depth(&b, f, front));
}
