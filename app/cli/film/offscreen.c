// SPDX-License-Identifier: MIT
// Off-screen drawing. Instances go through a triple buffer as in the window, so that device memory is shared here too.
#include "app/cli/film/offscreen.h"

#include "app/cli/film/composite.h"
#include "app/engine/beside.h"

#include "app/cli/options/picture_options.h"

bool offscreen_plan(Offscreen *offscreen, const Options *options, SandError *error) {
    const OptionValue *values = options->values;
    offscreen->width = values[OPTION_SIZE].width;
    offscreen->height = values[OPTION_SIZE].height;
    offscreen->color = (RenderColor)values[OPTION_COLOR].integer;
    offscreen->map = (ColorMap)values[OPTION_COLORMAP].integer;
    offscreen->chains = values[OPTION_CHAINS].given;
    offscreen->look = renderer_default();
    offscreen->look.quality = (RendererQuality)values[OPTION_QUALITY].integer;
    return options->verb == VERB_BENCH || picture_options(options, &offscreen->look, &offscreen->limits, error);
}

static bool init_scene(RenderScene *render_scene, const SandSimulation *sim, const SandScene *scene, SandError *error) {
    const SandWorld *world = sand_simulation_world(sim);
    return render_scene_init(render_scene, world, scene->view_lower, scene->view_upper, error) &&
           render_scene_dress(render_scene, world, &scene->studio, error);
}

bool offscreen_init_scene(Offscreen *offscreen, const Session *session, SandError *error) {
    const SandScene *scene = &session->scene;
    return init_scene(&offscreen->render_scene, session->sim, scene, error) &&
           (!offscreen->beside || init_scene(&offscreen->beside_scene, offscreen->beside, scene, error));
}

bool offscreen_open(Offscreen *offscreen, SandError *error) {
    ContextDef off_screen = context_default();
    offscreen->context = context_create(&off_screen, error);
    offscreen->renderer = offscreen->context ? renderer_create(error) : NULL;
    offscreen->split = offscreen->renderer ? split_create(error) : NULL;
    offscreen->buffer = offscreen->split ? triple_buffer_create_gl(false, error) : NULL;
    return offscreen->buffer != NULL;
}

bool offscreen_view(const Offscreen *offscreen, Camera *camera, const char *text, SandError *error) {
    const RenderScene *scene = &offscreen->render_scene;
    return camera_parse(camera, text, &scene->studio, scene->origin, scene->lower, scene->upper,
                        (double)(offscreen->beside ? offscreen_area(offscreen).half : offscreen->width) / offscreen->height,
                        error);
}

SplitArea offscreen_area(const Offscreen *offscreen) { return split_area(0, offscreen->width, offscreen->height); }
unsigned offscreen_framebuffer(const Offscreen *offscreen) {
    return split_framebuffer(offscreen->split, offscreen->renderer);
}

// Writes the instances to a slot and acquires it at once: writer and reader are the same thread.
static bool update_through_buffer(Offscreen *offscreen, SandSimulation *sim, double time, SandError *error) {
    RenderScene *scene = &offscreen->render_scene;
    scene->store = triple_buffer_store(offscreen->buffer);
    if (!render_scene_update(scene, sand_simulation_world(sim), sim, time, offscreen->color, error)) return false;
    triple_buffer_publish(offscreen->buffer);
    while (!triple_buffer_acquire(offscreen->buffer)) {} // the last frame is still being drawn
    return triple_buffer_fetch(offscreen->buffer, &scene->buffer, error);
}

static bool update_scene(Offscreen *offscreen, SandSimulation *sim, double time, const Camera *camera, SandError *error) {
    RenderScene *scene = &offscreen->render_scene;
    scene->map = offscreen->map;
    scene->chains = offscreen->chains;
    scene->limits = offscreen->limits;
    scene->sun_depths = NULL;
    if (!composite_wanted(sim)) return update_through_buffer(offscreen, sim, time, error);
    return (offscreen->composite || composite_create(&offscreen->composite, error)) &&
           composite_update(offscreen->composite, offscreen, sim, time, camera, error);
}

// The second run goes through plain memory, which the renderer copies.
static bool update_beside(Offscreen *offscreen, double time, SandError *error) {
    RenderScene *scene = &offscreen->beside_scene;
    if (!offscreen->beside) return true;
    beside_match(scene, &offscreen->render_scene);
    return render_scene_update(scene, sand_simulation_world(offscreen->beside), offscreen->beside, time, offscreen->color,
                               error);
}

bool offscreen_draw(Offscreen *offscreen, SandSimulation *sim, double time, const Camera *camera, SandError *error) {
    SplitDef def = {.scenes = {&offscreen->render_scene, offscreen->beside ? &offscreen->beside_scene : NULL},
                    .area = offscreen_area(offscreen)};
    bool drawn = update_scene(offscreen, sim, time, camera, error) && update_beside(offscreen, time, error) &&
                 split_draw(offscreen->split, offscreen->renderer, &def, camera, &offscreen->look, offscreen->width,
                            offscreen->height, error);
    if (drawn) triple_buffer_drawn(offscreen->buffer);
    return drawn;
}

bool offscreen_check_errors(const Offscreen *offscreen, SandError *error) {
    int count = context_error_count(offscreen->context);
    return !count ||
           sand_fail(error, "the driver reported %d errors, the first: %.300s", count, context_error(offscreen->context));
}

void offscreen_close(Offscreen *offscreen) {
    composite_free(offscreen->composite);
    triple_buffer_free(offscreen->buffer);
    split_free(offscreen->split);
    if (offscreen->renderer) renderer_free(offscreen->renderer);
    context_free(offscreen->context);
    render_scene_free(&offscreen->render_scene);
    render_scene_free(&offscreen->beside_scene);
}
