// SPDX-License-Identifier: MIT
// The exports of the library (sandglass/export.h): those of the program, with the texts that they need kept by themselves.
#include "sandglass/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/io/export/describe.h"
#include "app/io/export/exporter.h"

struct SandExport {
    SandSimulation *sim;
    ExportDef def;
    char path[EXPORT_PATH];
    Exporter *exporter;
    SandMessageCallback *on_message;
    void *message_user;
};

SandExportDef sand_default_export(const char *path) { return (SandExportDef){.path = path, .rate = 30}; }

// Sentences name options of the program; who calls a function has given arguments.
static void name_arguments(char *text) {
    for (char *at = text; (at = strstr(at, "--export")) != NULL;) memmove(at, at + 2, strlen(at + 2) + 1);
}

static bool refuse(SandError *error, SandError *why) {
    name_arguments(why->text);
    return sand_fail(error, "%s", why->text);
}

static void tell(void *user, const char *sentence) {
    SandExport *run = user;
    SandError said;
    sand_fail(&said, "%s", sentence);
    name_arguments(said.text);
    if (run->on_message) run->on_message(run->message_user, said.text);
}

// The box of all bodies, for a world without a view.
static void find_view(const SandWorld *w, SandVec3 *lower, SandVec3 *upper) {
    *lower = v3_make(INFINITY, INFINITY, INFINITY);
    *upper = v3_make(-INFINITY, -INFINITY, -INFINITY);
    for (int i = 0; i < w->body_count; i++) {
        double bound = w->scale[i] * w->shapes[w->shape[i]].bound;
        SandVec3 p = w->position[i];
        *lower = v3_make(fmin(lower->x, p.x - bound), fmin(lower->y, p.y - bound), fmin(lower->z, p.z - bound));
        *upper = v3_make(fmax(upper->x, p.x + bound), fmax(upper->y, p.y + bound), fmax(upper->z, p.z + bound));
    }
    if (!w->body_count) *lower = *upper = v3_make(0, 0, 0);
}

static bool is_empty(SandVec3 lower, SandVec3 upper) { return v3_length(v3_sub(upper, lower)) == 0; }

static bool describe(SandExport *run, const SandExportDef *def, SandError *error) {
    ExportOrigin origin = {def->scene, def->has_seed, def->seed, def->lower, def->upper};
    if (!sand_simulation_fetch(run->sim, error)) return false;
    if (is_empty(def->lower, def->upper)) find_view(sand_simulation_world(run->sim), &origin.lower, &origin.upper);
    return export_describe(&run->def, run->sim, &origin, error);
}

static bool open_exporter(SandExport *run, const SandExportDef *def, SandError *error) {
    run->def.path = run->path;
    run->def.rate = def->rate;
    if (!def->path || strlen(def->path) >= sizeof run->path - 100)
        return sand_fail(error, "an export needs a path, of at most %d bytes", EXPORT_PATH - 100);
    strcpy(run->path, def->path);
    if (!(def->rate > 0)) return sand_fail(error, "an export at %g frames a second: expected more than 0", def->rate);
    if (!exporter_knows(run->path, error) || !export_choose(run->def.choice, def->columns, def->contacts, error) ||
        !describe(run, def, error))
        return false;
    run->exporter = exporter_open(&run->def, tell, run, error);
    return run->exporter && exporter_write(run->exporter, run->sim, error);
}

SandExport *sand_export_open(SandSimulation *sim, const SandExportDef *def, SandError *error) {
    SandExport *run = calloc(1, sizeof *run);
    SandError why;
    if (!run) return sand_fail(error, "out of memory for an export"), NULL;
    run->sim = sim;
    run->on_message = def->on_message;
    run->message_user = def->message_user;
    if (open_exporter(run, def, &why)) return run;
    sand_export_close(run, NULL);
    return refuse(error, &why), NULL;
}

bool sand_export_step(SandExport *run, SandError *error) {
    SandError why;
    return exporter_step(run->exporter, run->sim, &why) || refuse(error, &why);
}

bool sand_export_close(SandExport *run, SandError *error) {
    SandError why;
    if (!run) return true;
    bool whole = exporter_close(run->exporter, &why) || refuse(error, &why);
    export_describe_end(&run->def);
    free(run);
    return whole;
}
