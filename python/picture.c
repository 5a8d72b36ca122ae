// SPDX-License-Identifier: MIT
// The off-screen renderer behind a few functions that exchange plain bytes.
#include "python/picture.h"

#include "app/render/context.h"
#include "app/render/renderer.h"
#include "sandglass/query.h"
#include "sim/core/suggestion.h"

#include <glad/gl.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// One for the process, as there is one context at a time. It stays open until the process ends: a driver takes longer to
// start than to draw.
static struct {
    Context *context;
    Renderer *renderer;
} stage;

struct SandPicture {
    RenderScene scene;
};

SandPictureDef sand_default_picture(void) {
    RendererDef look = renderer_default();
    return (SandPictureDef){.width = 640,
                            .height = 480,
                            .view = camera_preset_names[0],
                            .quality = renderer_quality_names[look.quality],
                            .color = render_color_names[0],
                            .map = colormap_names[0],
                            .samples = look.samples,
                            .exposure = look.exposure};
}

// --- the stage ----------------------------------------------------------------------------------------------

static bool leave(SandError *error) { return context_bind(stage.context, false, error); }

// Opens the stage, or takes it to the calling thread.
static bool enter(SandError *error) {
    if (stage.renderer) return context_bind(stage.context, true, error);
    ContextDef off_screen = context_default();
    stage.context = context_create(&off_screen, error);
    stage.renderer = stage.context ? renderer_create(error) : NULL;
    if (stage.renderer) return true;
    context_free(stage.context);
    stage.context = NULL;
    return false;
}

const char *sand_picture_renderer(void) { return stage.context ? context_renderer(stage.context) : ""; }

// --- pictures -----------------------------------------------------------------------------------------------

SandPicture *sand_picture_create(const SandSimulation *sim, SandVec3 lower, SandVec3 upper, const SandStudio *studio,
                                 SandError *error) {
    const SandWorld *world = sand_simulation_world(sim);
    SandStudio plain = sand_default_studio();
    SandPicture *p = calloc(1, sizeof *p);
    if (!p) return sand_fail(error, "out of memory for a picture"), NULL;
    if (render_scene_init(&p->scene, world, lower, upper, error) &&
        render_scene_dress(&p->scene, world, studio ? studio : &plain, error))
        return p;
    sand_picture_free(p);
    return NULL;
}

void sand_picture_free(SandPicture *p) {
    if (!p) return;
    render_scene_free(&p->scene);
    free(p);
}

// Returns the index of a word in a list that NULL ends, or -1 with a sentence.
static int find(const char *what, const char *word, const char *const *names, SandError *error) {
    SandSuggestion known = sand_suggestion(word);
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], word) == 0) return i;
        sand_suggestion_add(&known, names[i]);
    }
    return sand_fail(error, "%s %.60s: there is no such %s; %s", what, word, what, sand_suggestion_text(&known)), -1;
}

static bool read_look(const SandPictureDef *def, RendererDef *look, SandError *error) {
    enum { MOST = 16384, MOST_SAMPLES = 4 };
    int quality = find("quality", def->quality, renderer_quality_names, error);
    if (quality < 0) return false;
    if (def->width < 1 || def->height < 1 || def->width > MOST || def->height > MOST)
        return sand_fail(error, "a picture of %d x %d pixels: expected 1 to %d", def->width, def->height, MOST);
    if (def->samples < 1 || def->samples > MOST_SAMPLES)
        return sand_fail(error, "samples %d: expected 1 to %d along a side of a pixel", def->samples, MOST_SAMPLES);
    *look = renderer_default();
    look->quality = (RendererQuality)quality;
    look->samples = def->samples;
    look->exposure = def->exposure;
    return true;
}

// Brings the instances of the picture up to date.
static bool update(SandPicture *p, SandSimulation *sim, const SandPictureDef *def, SandError *error) {
    const SandWorld *world = sand_simulation_world(sim);
    int color = def->values ? COLOR_GIVEN : find("color", def->color, render_color_names, error);
    int map = color < 0 ? -1 : find("color map", def->map, colormap_names, error);
    if (map < 0) return false;
    if (def->has_range && !(def->low < def->high && (color != COLOR_BY_RESIDUAL || def->low > 0)))
        return sand_fail(error, "range %g to %g: expected the smaller one first, and above 0 for residuals", def->low,
                         def->high);
    p->scene.map = (ColorMap)map;
    p->scene.given = def->values;
    p->scene.followed = def->followed;
    p->scene.chains = def->chains;
    p->scene.limits = (RenderRange){def->has_range ? RANGE_SET : RANGE_OF_SCENE, def->low, def->high};
    return render_scene_update(&p->scene, world, sim, world->time, (RenderColor)color, error);
}

// OpenGL has the bottom row first.
static void read_pixels(int width, int height, unsigned char *pixels) {
    size_t stride = 3 * (size_t)width;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, renderer_framebuffer(stage.renderer));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    for (int y = 0; y < height; y++)
        glReadPixels(0, height - 1 - y, width, 1, GL_RGB, GL_UNSIGNED_BYTE, pixels + stride * (size_t)y);
}

static bool check_driver(SandError *error) {
    int count = context_error_count(stage.context);
    return !count ||
           sand_fail(error, "the driver reported %d errors, the first: %.300s", count, context_error(stage.context));
}

static bool draw(SandPicture *p, const Camera *camera, const RendererDef *look, const SandPictureDef *def,
                 unsigned char *pixels, SandError *error) {
    if (!renderer_draw(stage.renderer, &p->scene, camera, look, def->width, def->height, error)) return false;
    read_pixels(def->width, def->height, pixels);
    return check_driver(error);
}

static double aspect_of(const SandPictureDef *def) { return (double)def->width / def->height; }

static bool aim(const SandPicture *p, const SandPictureDef *def, Camera *camera, SandError *error) {
    const RenderScene *scene = &p->scene;
    if (!camera_parse(camera, def->view, &scene->studio, scene->origin, scene->lower, scene->upper, aspect_of(def), error))
        return false;
    if (def->follows) camera_shift(camera, def->followed);
    return true;
}

bool sand_picture_draw(SandPicture *p, SandSimulation *sim, const SandPictureDef *def, unsigned char *pixels,
                       SandError *error) {
    RendererDef look;
    Camera camera;
    if (!read_look(def, &look, error) || !update(p, sim, def, error) || !aim(p, def, &camera, error) || !enter(error))
        return false;
    bool drawn = draw(p, &camera, &look, def, pixels, error);
    SandError ignored;
    return leave(drawn ? error : &ignored) && drawn;
}

// --- what pixels show ---------------------------------------------------------------------------------------

// Rows of a picture that are measured together, and where their numbers go.
typedef struct Measure {
    const SandPictureDef *def;
    Camera camera;
    SandVec3 origin;
    SAND_ARRAY(SandRay) rays;
    SAND_ARRAY(SandHit) hits;
    double *depths, *normals;
    int *bodies;
} Measure;

static void aim_rays(Measure *m, int first, int rows) {
    const SandPictureDef *def = m->def;
    for (int i = 0; i < rows * def->width; i++) {
        double x = 2 * (i % def->width + 0.5) / def->width - 1, y = 1 - 2 * (first + i / def->width + 0.5) / def->height;
        SandRay *ray = &m->rays.data[i];
        camera_ray(&m->camera, aspect_of(def), x, y, &ray->from, &ray->along);
        ray->from = v3_add(ray->from, m->origin);
        ray->reach = INFINITY;
        ray->passes = -1;
    }
}

static void keep_pixel(const Measure *m, size_t to, const SandRay *ray, const SandHit *hit) {
    double normal[3] = {hit->normal.x, hit->normal.y, hit->normal.z};
    if (m->depths) m->depths[to] = m->camera.near + hit->distance / v3_length(ray->along);
    if (m->normals) memcpy(m->normals + 3 * to, normal, sizeof normal);
    if (m->bodies) m->bodies[to] = hit->body >= 0 ? hit->body : hit->boundary >= 0 ? -1 - hit->boundary : INT_MIN;
}

static bool measure_rows(Measure *m, SandSimulation *sim, SandError *error) {
    enum { TOGETHER = 1 << 18 };
    int width = m->def->width, most = TOGETHER / width;
    size_t capacity = (size_t)most * (size_t)width;
    if (!SAND_RESERVE(m->rays, capacity, "rays", error) || !SAND_RESERVE(m->hits, capacity, "rays", error)) return false;
    for (int y = 0; y < m->def->height; y += most) {
        int rows = m->def->height - y < most ? m->def->height - y : most;
        aim_rays(m, y, rows);
        if (!sand_simulation_raycast(sim, m->rays.data, rows * width, m->hits.data, error)) return false;
        for (int i = 0; i < rows * width; i++)
            keep_pixel(m, (size_t)y * (size_t)width + (size_t)i, &m->rays.data[i], &m->hits.data[i]);
    }
    return true;
}

bool sand_picture_measure(SandPicture *p, SandSimulation *sim, const SandPictureDef *def, double *depths, double *normals,
                          int *bodies, SandError *error) {
    RendererDef look;
    Measure m = {.def = def, .origin = p->scene.origin, .depths = depths, .normals = normals, .bodies = bodies};
    bool measured = read_look(def, &look, error) && aim(p, def, &m.camera, error) && measure_rows(&m, sim, error);
    SAND_FREE_ARRAYS(&m.rays, &m.hits);
    return measured;
}

// --- the path of a camera -----------------------------------------------------------------------------------

static bool read_keys(CameraPath *path, const double *keys, const double (*views)[6], int count, SandError *error) {
    for (int i = 0; i < count; i++) {
        const double *v = views[i];
        CameraKey key = {keys[i], {.eye = {v[0], v[1], v[2]}, .target = {v[3], v[4], v[5]}, .angle = 0.6}};
        if (!camera_path_add(path, &key, error)) return false;
    }
    return count > 0 || sand_fail(error, "the path of a camera needs at least one view");
}

bool sand_picture_path(const double *keys, const double (*views)[6], int count, double time, double view[6],
                       SandError *error) {
    CameraPath *path = calloc(1, sizeof *path);
    if (!path) return sand_fail(error, "out of memory for the path of a camera");
    bool ok = read_keys(path, keys, views, count, error);
    if (ok) {
        CameraView at = camera_path_at(path, time);
        const double numbers[6] = {at.eye.x, at.eye.y, at.eye.z, at.target.x, at.target.y, at.target.z};
        memcpy(view, numbers, sizeof numbers);
    }
    free(path);
    return ok;
}
