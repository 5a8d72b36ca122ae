// Draws a picture through a camera, by OpenGL 4.5: ray-cast balls, meshes, shadow, ambient occlusion, glass, tone.
// All functions want the context current on the calling thread. Open renderer.c and read renderer_draw for the passes.
#pragma once
#include "app/render/camera.h"
#include "app/render/render_scene.h"

typedef enum RendererQuality { QUALITY_LOW, QUALITY_MEDIUM, QUALITY_HIGH, QUALITY_COUNT } RendererQuality;
extern const char *const renderer_quality_names[QUALITY_COUNT + 1]; // ended by NULL

// Whether compute shaders light the picture (lighting.h) and draw small balls where balls are culled (splat.h). A processor
// has no use for that.
typedef enum RendererCompute { COMPUTE_ON_GPU, COMPUTE_ALWAYS, COMPUTE_NEVER } RendererCompute;

typedef struct RendererDef {
    RendererQuality quality;       // shadow size and softness, samples of the ambient occlusion
    int samples;                   // along a side of a pixel; 2 draws four times as much and smooths meshes and glass
    bool transparent;              // neither ground nor sky, and an alpha channel
    bool no_shadow, double_encode; // faults that a test must notice
    bool no_culling;               // every ball is drawn, seen or not
    RendererCompute compute;       // the picture is the same, but not the time it takes
} RendererDef;
RendererDef renderer_default(void);

typedef struct Renderer Renderer;

Renderer *renderer_create(SandError *error);
void renderer_free(Renderer *renderer);

// Draws into the renderer's own picture of this size.
bool renderer_draw(Renderer *renderer, const RenderScene *render_scene, const Camera *camera, const RendererDef *def,
                   int width, int height, SandError *error);

// Draws a little of everything, so that no scene that comes later makes the driver think. Call it before the first frame.
bool renderer_warm(Renderer *renderer, const RendererDef *def, SandError *error); // warm.c

// Whether that is what was drawn last, to the pixel: then it need not be drawn again.
bool renderer_has(const Renderer *renderer, const RenderScene *render_scene, const Camera *camera, const RendererDef *def,
                  int width, int height);

void renderer_show(const Renderer *renderer, int width, int height); // copies it to the window's framebuffer
unsigned renderer_framebuffer(const Renderer *renderer);             // where it is, to read from; rows from the bottom up
unsigned renderer_overdraw(Renderer *renderer); // the same, to draw over; then the renderer no longer has what it drew
// Depth of the last picture's inner target, 1 at the near plane, 0 nowhere; for tests and picking. Rows from the bottom up.
void renderer_read_depth(const Renderer *renderer, int x, int y, int width, int height, float *depth);
