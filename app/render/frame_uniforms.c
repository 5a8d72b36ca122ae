// SPDX-License-Identifier: MIT
// From a render scene, a camera and the settings to the uniforms of a frame.
#include "app/render/frame_uniforms.h"

#include <math.h>
#include <string.h>

const RendererLevel renderer_levels[QUALITY_COUNT] = {[QUALITY_LOW] = {768, 1, false, 0, 5, 0, 2},
                                                      [QUALITY_MEDIUM] = {1792, 5, true, 2.5, 6, 2, 2},
                                                      [QUALITY_HIGH] = {4096, 16, true, 0, 14, 4, 1}};

// Radiances of the lights at strength 1, and the factor of light before the tone curve at exposure 1.
static const double KEY_LIGHT = 3.3, FILL_LIGHT = 0.50, EXPOSURE = 0.62;

static void set4(float *to, double x, double y, double z, double w) {
    to[0] = (float)x;
    to[1] = (float)y;
    to[2] = (float)z;
    to[3] = (float)w;
}

// The view of the sun: orthographic, fitted to the box that is shown.
static void aim_light(FrameUniforms *f, const RenderScene *scene, const SandStudio *studio, int shadow_size) {
    SandVec3 sun = v3_unit_or(studio->key_direction, v3_make(0, 0, 1));
    SandVec3 x = v3_perpendicular(sun), y = v3_cross(sun, x), axes[3] = {x, y, sun};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double bottom = fmin(scene->lower.z, scene->floor);
    for (int k = 0; k < 8; k++) {
        SandVec3 c = v3_make(k & 1 ? scene->upper.x : scene->lower.x, k & 2 ? scene->upper.y : scene->lower.y,
                             k & 4 ? scene->upper.z : bottom);
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], v3_dot(axes[a], c));
            high[a] = fmax(high[a], v3_dot(axes[a], c));
        }
    }
    double scale[3], texel = 0;
    for (int a = 0; a < 3; a++) {
        double slack = 0.04 * (high[a] - low[a]) + scene->grain;
        low[a] -= slack;
        high[a] += slack;
        scale[a] = (a < 2 ? 2 : 1) / (high[a] - low[a]);
        double pixel = (high[a] - low[a]) / shadow_size, off = v3_dot(axes[a], scene->followed);
        if (a < 2) texel = fmax(texel, pixel);
        if (a < 2) off = pixel * round(off / pixel); // by whole texels, so that edges do not shimmer
        low[a] += off;
        high[a] += off;
    }
    memset(f->light, 0, sizeof f->light);
    for (int a = 0; a < 3; a++) {
        double axis[3] = {axes[a].x, axes[a].y, axes[a].z};
        for (int c = 0; c < 3; c++) f->light[4 * c + a] = (float)(scale[a] * axis[c]);
        f->light[12 + a] = (float)(a < 2 ? -scale[a] * 0.5 * (low[a] + high[a]) : -scale[a] * low[a]);
    }
    f->light[15] = 1;
    set4(f->light_scale, scale[0], scale[1], scale[2], texel);
    set4(f->sun, sun.x, sun.y, sun.z, 0.5 * texel * scale[2]);
}

// Softness of shadow edges in texels, times 256: half a grain, but no wider than the taps can fill.
static int32_t softness(const FrameUniforms *f, const RenderScene *scene) {
    double texels = 0.45 * scene->grain / f->light_scale[3];
    return (int32_t)(256 * fmin(fmax(texels, 1.5), 7));
}

static void set_color(float *to, double factor, SandVec3 color, double w) {
    set4(to, factor * color.x, factor * color.y, factor * color.z, w);
}

// Light and backdrop. The ground sends a little of both lights back up.
static void set_studio(FrameUniforms *f, const SandStudio *studio) {
    SandVec3 key = v3_scale(KEY_LIGHT * studio->key_strength, studio->key_color);
    SandVec3 fill = v3_scale(FILL_LIGHT * studio->fill_strength, studio->fill_color);
    set_color(f->key, 1, key, EXPOSURE * studio->exposure);
    set_color(f->fill, 1, fill, 0);
    set_color(f->bounce, 1, v3_add(v3_scale(0.05, key), v3_scale(0.15, fill)), 0);
    set_color(f->horizon, 1, studio->horizon, 0);
    set_color(f->zenith, 1, studio->zenith, 0);
    set_color(f->ground, 1, studio->ground_color, studio->ground_roughness);
    if (studio->ground == SAND_GROUND_SWEEP) return;
    SandVec3 glow = v3_make(studio->ground_color.x * key.x, studio->ground_color.y * key.y, studio->ground_color.z * key.z);
    set_color(f->bounce, 1, v3_add(v3_scale(0.30, glow), v3_scale(0.30, fill)), 0);
}

FrameUniforms frame_uniforms(const RenderScene *scene, const Camera *camera, const RendererDef *def, int width, int height) {
    const RendererLevel *level = &renderer_levels[def->quality];
    FrameUniforms f;
    double aspect = (double)width / height;
    double half = camera->orthographic ? 0.5 * camera->height : tan(0.5 * camera->angle);
    double size = 0.5 * v3_length(v3_sub(scene->upper, scene->lower));
    camera_matrices(camera, aspect, f.view, f.projection);
    SandStudio studio = scene->dressed ? scene->studio : sand_default_studio();
    aim_light(&f, scene, &studio, level->shadow_size);
    studio.exposure *= def->exposure;
    set_studio(&f, &studio);
    double haze_from = v3_length(v3_sub(camera->eye, camera->target)) + 0.4 * size;
    set_color(f.ground_too, 1, studio.ground_accent, camera->orthographic ? 0 : studio.haze / fmax(size, 1e-9));
    set4(f.air, studio.clouds, studio.hills, haze_from, 0);
    // In the coordinates of the render scene; without a cut nothing is beyond the plane.
    set_color(f.cut, def->cut ? 1 : 0, def->cut_normal,
              def->cut ? def->cut_offset - v3_dot(def->cut_normal, scene->origin) : 1);
    set4(f.shift, camera->shift_x, camera->shift_y, level->smooth_from * def->samples, 0);
    double least = scene->chain_range > 0 ? def->chain_least / scene->chain_range : 0;
    set4(f.chain, fmax(def->chain_threshold, least), def->chain_scale, 0, 0);
    set4(f.eye, camera->eye.x, camera->eye.y, camera->eye.z, camera->orthographic ? 0 : 1);
    set4(f.lens, half * aspect, half, camera->near, camera->far);
    set4(f.size, width, height, 1.0 / width, 1.0 / height);
    set4(f.moment, scene->back, fmin(3.5 * scene->grain, 0.2 * size), scene->floor, size);
    int32_t quality[4] = {level->shadow_taps, level->ambient_samples, level->ambient_side, level->ambient_scale};
    int32_t mode[4] = {scene->chains, def->transparent, softness(&f, scene), level->fine};
    memcpy(f.quality, quality, sizeof quality);
    int32_t style[4] = {(int32_t)studio.floor, scene->chains || scene->color != COLOR_BY_BODY, (int32_t)studio.ground,
                        (int32_t)studio.sky};
    memcpy(f.mode, mode, sizeof mode);
    memcpy(f.style, style, sizeof style);
    return f;
}
