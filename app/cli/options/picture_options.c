// SPDX-License-Identifier: MIT
// Parsing of the options that decide how a picture looks, for the window and for films.
#include "app/cli/options/picture_options.h"

#include "app/render/camera.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_range(const OptionValue *value, RenderColor color, RenderRange *limits, SandError *error) {
    char rest;
    if (!value->given) return true;
    if (strcmp(value->text, "fit") == 0) return limits->mode = RANGE_FIT, true;
    limits->mode = RANGE_SET;
    if (sscanf(value->text, "%lf,%lf%c", &limits->low, &limits->high, &rest) != 2 || !isfinite(limits->low) ||
        !isfinite(limits->high) || !(limits->low < limits->high))
        return sand_fail(error, "--range %.60s: expected LOW,HIGH with the smaller one first, or fit", value->text);
    if (color == COLOR_BY_RESIDUAL && !(limits->low > 0))
        return sand_fail(error, "--range %.60s: residuals have a logarithmic color map; expected LOW above 0", value->text);
    return true;
}

// A share of the thickest link's force, or a force in newtons.
static bool read_threshold(const OptionValue *value, RendererDef *look, SandError *error) {
    char *end;
    if (!value->given) return true;
    double number = strtod(value->text, &end);
    bool newtons = strcmp(end, "N") == 0, share = *end == '\0';
    if (end == value->text || !(newtons || share) || !isfinite(number) || number < 0 || (share && number > 1))
        return sand_fail(error, "--chain-threshold %.60s: expected a share from 0 to 1, or newtons as in 20N", value->text);
    look->chain_threshold = share ? number : 0;
    look->chain_least = newtons ? number : 0;
    return true;
}

static bool read_cut(const OptionValue *value, RendererDef *look, SandError *error) {
    char rest;
    SandVec3 *n = &look->cut_normal;
    if (!value->given) return true;
    look->cut = sscanf(value->text, "%lf,%lf,%lf,%lf%c", &n->x, &n->y, &n->z, &look->cut_offset, &rest) == 4 &&
                isfinite(n->x + n->y + n->z + look->cut_offset) && v3_length(*n) > 0;
    return look->cut || sand_fail(error, "--cut %.60s: expected X,Y,Z,D, where X, Y and Z are not all zero", value->text);
}

// The camera is placed when the scene is there; what it is called is known before.
static bool check_camera(const Options *options, SandError *error) {
    Camera camera;
    SandScene scene;
    SandError none;
    SandVec3 corner = v3_make(1, 1, 1);
    bool opened = options->subject && sand_scene_open(&scene, options->subject, NULL, &none);
    bool known = camera_parse(&camera, options->values[OPTION_CAMERA].text, opened ? &scene.studio : NULL, v3_make(0, 0, 0),
                              v3_neg(corner), corner, 1, error);
    if (opened) sand_scene_free(&scene);
    return known;
}

bool picture_options(const Options *options, RendererDef *look, RenderRange *limits, SandError *error) {
    const OptionValue *values = options->values;
    look->chain_scale = values[OPTION_CHAIN_SCALE].real;
    look->exposure = values[OPTION_EXPOSURE].real;
    return check_camera(options, error) &&
           read_range(&values[OPTION_RANGE], (RenderColor)values[OPTION_COLOR].integer, limits, error) &&
           read_threshold(&values[OPTION_CHAIN_THRESHOLD], look, error) && read_cut(&values[OPTION_CUT], look, error);
}

bool samples_option(const Options *options, int *side, SandError *error) {
    const OptionValue *samples = &options->values[OPTION_SAMPLES];
    *side = (int)lround(sqrt((double)samples->integer));
    return *side * *side == samples->integer || sand_fail(error, "--samples %s: expected 1, 4, 9 or 16", samples->text);
}

bool film_options(const Options *options, FilmDef *film, SandError *error) {
    static const OptionId kinds[] = {OPTION_MP4, OPTION_WEBM, OPTION_GIF}; // in the order of FilmKind
    for (int k = 0; k < 3; k++) {
        const OptionValue *value = &options->values[kinds[k]];
        if (!value->given) continue;
        if (film->path) return sand_fail(error, "--mp4, --webm and --gif are three films; give one of them");
        film->path = value->text;
        film->kind = (FilmKind)k;
    }
    return !film->path || film_check(film, error);
}
