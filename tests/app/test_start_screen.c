// SPDX-License-Identifier: MIT
// The start screen, off-screen, in windows of several sizes: every scene has a thumbnail and can be clicked, and so can what
// was open last and the demo; a click beside everything goes on. With a folder as argument the pictures are left there to be
// looked at.
#include "tests/lab/lab.h"

#include <glad/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/io/png.h"
#include "app/render/context.h"
#include "app/ui/interface.h"
#include "app/ui/start_screen.h"
#include "sandglass/scene.h"
#include "sim/core/array.h"

static const char *pictures;

typedef struct Stage {
    Context *context;
    Interface *interface;
    StartScreen *screen;
    unsigned texture, framebuffer;
    int width, height;
} Stage;

static void set_up(Stage *s, const Settings *settings, int width, int height) {
    SandError error = {""};
    ContextDef def = context_default();
    def.software = true;
    *s = (Stage){.context = context_create(&def, &error), .width = width, .height = height};
    if (!s->context) fail_msg("%s", error.text);
    s->interface = interface_create(NULL, &error);
    s->screen = s->interface ? start_screen_create(settings, &error) : NULL;
    if (!s->screen) fail_msg("%s", error.text);
    glCreateTextures(GL_TEXTURE_2D, 1, &s->texture);
    glTextureStorage2D(s->texture, 1, GL_RGBA8, width, height);
    glCreateFramebuffers(1, &s->framebuffer);
    glNamedFramebufferTexture(s->framebuffer, GL_COLOR_ATTACHMENT0, s->texture, 0);
}

static void tear_down(Stage *s) {
    start_screen_free(s->screen);
    interface_free(s->interface);
    glDeleteFramebuffers(1, &s->framebuffer);
    glDeleteTextures(1, &s->texture);
    assert_int_equal(context_error_count(s->context), 0);
    context_free(s->context);
}

static StartChoice draw(Stage *s) {
    interface_begin(s->interface, s->width, s->height, 1, 0.05);
    StartChoice choice = start_screen_draw(s->screen, s->width, s->height);
    interface_end(s->interface, s->framebuffer);
    return choice;
}

static StartChoice click(Stage *s, double x, double y) {
    StartChoice choice = {.kind = START_NOTHING};
    for (int k = 0; k < 4 && choice.kind == START_NOTHING; k++) {
        interface_mouse(s->interface, x, y, k == 1);
        choice = draw(s);
    }
    return choice;
}

static void keep(Stage *s) {
    char path[512];
    SandError error;
    size_t row = 4 * (size_t)s->width;
    if (!pictures) return;
    unsigned char *pixels = malloc(row * (size_t)s->height), *turned = malloc(row * (size_t)s->height);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, s->framebuffer);
    glReadPixels(0, 0, s->width, s->height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (int y = 0; y < s->height; y++) memcpy(turned + row * (size_t)y, pixels + row * (size_t)(s->height - 1 - y), row);
    snprintf(path, sizeof path, "%s/start_%d.png", pictures, s->width);
    assert_true(png_write(path, s->width, s->height, 4, turned, &error));
    free(pixels);
    free(turned);
}

static void scenes_are_chosen(void **state) {
    (void)state;
    static const int sizes[][2] = {{1280, 720}, {800, 600}, {1920, 1080}};
    Settings settings = settings_default();
    snprintf(settings.last, sizeof settings.last, "/home/me/my heap.yaml");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        Stage s;
        set_up(&s, &settings, sizes[k][0], sizes[k][1]);
        for (int n = 0; n < 3; n++) assert_int_equal(draw(&s).kind, START_NOTHING);
        keep(&s);
        Box drum = start_screen_place(s.screen, "drum");
        assert_false(box_is_empty(drum));
        assert_true(drum.left >= 0 && drum.right <= s.width && drum.right - drum.left > 150);
        StartChoice choice = click(&s, 0.5 * (drum.left + drum.right), 0.5 * (drum.top + drum.bottom));
        assert_int_equal(choice.kind, START_SCENE);
        assert_string_equal(choice.name, "drum");
        choice = click(&s, 40, 52);
        assert_int_equal(choice.kind, START_SCENE);
        assert_string_equal(choice.name, "/home/me/my heap.yaml");
        assert_int_equal(click(&s, 260, 52).kind, START_DEMO);
        assert_int_equal(click(&s, s.width - 60, 20).kind, START_ON);
        tear_down(&s);
    }
}

static void every_scene_has_a_thumbnail(void **state) {
    (void)state;
    SandSceneEntry *entries;
    SandError error;
    int count;
    Settings settings = settings_default();
    Stage s;
    set_up(&s, &settings, 640, 480);
    assert_true(sand_scenes_list(&entries, &count, &error));
    for (int i = 0; i < count; i++) {
        char path[4400];
        int width, height;
        snprintf(path, sizeof path, "%s/pictures/%s.png", sand_scenes_folder(), entries[i].name);
        unsigned char *pixels = png_read(path, &width, &height);
        if (!pixels) fail_msg("%s has no thumbnail: docs/draw_thumbnails draws it", entries[i].name);
        assert_true(width == 256 && height == 144);
        free(pixels);
    }
    assert_int_equal(start_screen_pictures(s.screen), count);
    sand_free(entries);
    tear_down(&s);
}

int main(int count, char **arguments) {
    if (count > 1) pictures = arguments[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(scenes_are_chosen), cmocka_unit_test(every_scene_has_a_thumbnail)};
    return cmocka_run_group_tests_name("start_screen", tests, NULL, NULL);
}
