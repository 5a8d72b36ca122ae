// SPDX-License-Identifier: MIT
// Draws a render scene through a camera, with OpenGL 4.5: ray-cast balls, meshes, shadow, ambient occlusion, glass, tone
// map. All functions need the context current on the calling thread. For the passes read renderer_draw in renderer.c.
#pragma once
#include "app/render/camera.h"
#include "app/render/render_scene.h"

typedef enum RendererQuality { QUALITY_LOW, QUALITY_MEDIUM, QUALITY_HIGH, QUALITY_COUNT } RendererQuality;
extern const char *const renderer_quality_names[QUALITY_COUNT + 1]; // ended by NULL

// Whether compute shaders light the picture (lighting.h) and draw small balls (splat.h). The software renderer is faster
// without.
typedef enum RendererCompute { COMPUTE_ON_GPU, COMPUTE_ALWAYS, COMPUTE_NEVER } RendererCompute;

typedef struct RendererDef {
    RendererQuality quality; // shadow resolution and softness, ambient occlusion samples
    int samples;            // supersampling along a side of a pixel; 2 draws four times as much and smooths meshes and glass
    bool transparent;       // no ground and no sky, with an alpha channel
    double chain_threshold; // force chains: contacts with less than this share of RenderScene.chain_range are left out
    double chain_least;     // N, the same as a force; the larger of the two counts
    double chain_scale;     // factor of their width
    bool cut;               // hide the bodies and links beyond a plane: where cut_normal . x > cut_offset
    SandVec3 cut_normal;    // of any length
    double cut_offset;      // m, in the world, times the length of the normal
    double exposure;        // factor of the light, times that of the scene
    bool no_shadow, double_encode; // faults that a test must notice
    bool no_culling;               // draw every ball, visible or not
    RendererCompute compute;       // affects the time, not the picture
} RendererDef;
RendererDef renderer_default(void);

typedef struct Renderer Renderer;

Renderer *renderer_create(SandError *error);
void renderer_free(Renderer *renderer);

// Draws into the renderer's own target of this size.
bool renderer_draw(Renderer *renderer, const RenderScene *render_scene, const Camera *camera, const RendererDef *def,
                   int width, int height, SandError *error);

// Draws the bodies of a scene alone, with these uniforms, into depths that can be read: what one of several processes has of
// a picture.
struct FrameUniforms;
bool renderer_draw_depths(Renderer *renderer, const RenderScene *render_scene, const struct FrameUniforms *frame,
                          const RendererDef *def, int width, int height, SandError *error);

// Draws a little of everything, so that the driver compiles nothing later. Call it before the first frame.
bool renderer_warm(Renderer *renderer, const RendererDef *def, SandError *error); // warm.c

// Whether the last draw gave exactly this picture: then it need not be drawn again.
bool renderer_has(const Renderer *renderer, const RenderScene *render_scene, const Camera *camera, const RendererDef *def,
                  int width, int height);

void renderer_show(const Renderer *renderer, int width, int height); // copies the picture to the framebuffer of the window
unsigned renderer_framebuffer(const Renderer *renderer);             // holds the picture, to read from; bottom row first
unsigned renderer_overdraw(Renderer *renderer);                      // the same, to draw over; renderer_has is false then
unsigned renderer_texture(const Renderer *renderer);                 // the same as a texture
// Depth of the last picture, 1 at the near plane, 0: nothing; for tests and picking. Bottom row first.
void renderer_read_depth(const Renderer *renderer, int x, int y, int width, int height, float *depth);
// The shadow map of the last draw, 1 next to the sun, 0: nothing; the square of renderer_shadow_size.
void renderer_read_shadow(const Renderer *renderer, float *depth);
int renderer_shadow_size(const RendererDef *def);
