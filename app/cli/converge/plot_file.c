// SPDX-License-Identifier: MIT
// Saving a plot by the ending of its file: a PNG is drawn off-screen in an OpenGL context of its own, SVG and CSV need none.
#include "app/cli/converge/plot_file.h"

#include "app/render/context.h"

#include <string.h>

static bool save_png(const Plot *plot, const char *path, SandError *error) {
    enum { WIDTH = 1400, HEIGHT = 900 };
    ContextDef off_screen = context_default();
    Context *context = context_create(&off_screen, error);
    Interface *interface = context ? interface_create(NULL, error) : NULL;
    bool ok = interface != NULL;
    if (ok) {
        interface_begin(interface, WIDTH, HEIGHT, 1.4, 0.01);
        ok = plot_save_png(plot, interface, path, WIDTH, HEIGHT, error);
        interface_end(interface, 0);
    }
    interface_free(interface);
    context_free(context);
    return ok;
}

bool plot_file_save(const Plot *plot, const char *path, SandError *error) {
    const char *dot = strrchr(path, '.');
    if (dot && !strcmp(dot, ".svg")) return plot_save_svg(plot, path, 1000, 640, error);
    if (dot && !strcmp(dot, ".csv")) return plot_save_csv(plot, path, error);
    return save_png(plot, path, error);
}
