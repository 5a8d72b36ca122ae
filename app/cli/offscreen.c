#include "app/cli/offscreen.h"

void stage_plan(FixedPoint *stage, const Options *options) {
    const OptionValue *values = options->values;
    stage->width = values[OPTION_SIZE].width, stage->height = values[OPTION_SIZE].height;
    stage->color = (PictureColor)values[OPTION_COLOR].integer;
    stage->map = (ColorMap)values[OPTION_COLORMAP].integer;
    stage->chains = values[OPTION_CHAINS].given;
    stage->look = renderer_default();
    stage->look.quality = (RendererQuality)values[OPTION_QUALITY].integer;
}

bool stage_see(FixedPoint *stage, const Session *session, SandError *error) {
    return picture_init(&stage->picture, sand_simulation_world(session->sim), session->scene.view_lower,
                        session->scene.view_upper, error);
}

bool stage_open(FixedPoint *stage, SandError *error) {
    ContextDef off_screen = context_default();
    stage->context = context_create(&off_screen, error);
    stage->renderer = stage->context ? renderer_create(error) : NULL;
    stage->ring = stage->renderer ? ring_create_gl(false, error) : NULL;
    return stage->ring != NULL;
}

bool stage_view(const FixedPoint *stage, Camera *camera, const char *text, SandError *error) {
    const Picture *p = &stage->picture;
    return camera_parse(camera, text, p->origin, p->lower, p->upper, (double)stage->width / stage->height, error);
}

// Writes the picture to a slot of the ring and takes that slot at once: writer and reader are one.
static bool take_picture(FixedPoint *stage, SandSimulation *sim, double time, SandError *error) {
    Picture *p = &stage->picture;
    p->map = stage->map, p->chains = stage->chains;
    p->store = ring_store(stage->ring);
    if (!picture_take(p, sand_simulation_world(sim), sim, time, stage->color, error)) return false;
    ring_publish(stage->ring);
    while (!ring_take(stage->ring)) {} // the frame before is still being drawn
    return ring_fetch(stage->ring, &p->buffer, error);
}

bool stage_draw(FixedPoint *stage, SandSimulation *sim, double time, const Camera *camera, SandError *error) {
    bool drawn = take_picture(stage, sim, time, error) &&
                 renderer_draw(stage->renderer, &stage->picture, camera, &stage->look, stage->width, stage->height, error);
    if (drawn) ring_drawn(stage->ring);
    return drawn;
}

bool stage_sound(const FixedPoint *stage, SandError *error) {
    int count = context_error_count(stage->context);
    return !count ||
           sand_fail(error, "the driver reported %d errors, the first: %.300s", count, context_error(stage->context));
}

void stage_close(FixedPoint *stage) {
    ring_free(stage->ring);
    if (stage->renderer) renderer_free(stage->renderer);
    context_free(stage->context);
    picture_free(&stage->picture);
}
