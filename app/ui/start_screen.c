// SPDX-License-Identifier: MIT
// A grid of scenes that scrolls, below a row with what else there is to open. Thumbnails are files beside the scenes, drawn
// by docs/draw_thumbnails; a scene without one is a dark card.
#include "app/ui/start_screen.h"

#include <glad/gl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/io/png.h"
#include "app/ui/cimgui.h"
#include "app/ui/interface.h"
#include "sandglass/scene.h"
#include "sim/core/array.h"

static const ImU32 INK = 0xfff1ece9u, FAINT = 0xffbaada4u, AMBER = 0xff34b1f2u, DARK = 0xff1e1814u, SLOT = 0xff2c241fu;
static const float THUMB = 13, RATIO = 9.f / 16, LINES = 3, GAP = 0.8f; // sizes in units of the text

struct StartScreen {
    SandSceneEntry *scenes;
    int count, pictures;
    unsigned *textures; // 0: there is no picture
    Box *places;
    RecentFiles recent;
    char last[RECENT_PATH];
};

static unsigned load_picture(const char *scene) {
    char path[4400];
    int width, height;
    snprintf(path, sizeof path, "%s/pictures/%s.png", sand_scenes_folder(), scene);
    unsigned char *pixels = png_read(path, &width, &height);
    if (!pixels) return 0;
    unsigned texture;
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glTextureStorage2D(texture, 1, GL_RGBA8, width, height);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTextureSubImage2D(texture, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTextureParameteri(texture, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTextureParameteri(texture, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTextureParameteri(texture, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    free(pixels);
    return texture;
}

StartScreen *start_screen_create(const Settings *settings, SandError *error) {
    StartScreen *s = calloc(1, sizeof *s);
    if (!s) return sand_fail(error, "out of memory for the start screen"), NULL;
    s->recent = settings->recent;
    snprintf(s->last, sizeof s->last, "%s", settings->last);
    if (!sand_scenes_list(&s->scenes, &s->count, error)) return free(s), NULL;
    s->textures = calloc((size_t)s->count + 1, sizeof *s->textures);
    s->places = calloc((size_t)s->count + 1, sizeof *s->places);
    if (!s->textures || !s->places)
        return start_screen_free(s), sand_fail(error, "out of memory for the start screen"), NULL;
    for (int i = 0; i < s->count; i++) s->pictures += (s->textures[i] = load_picture(s->scenes[i].name)) != 0;
    return s;
}

void start_screen_free(StartScreen *s) {
    if (!s) return;
    if (s->textures) glDeleteTextures(s->count, s->textures);
    sand_free(s->scenes);
    free(s->textures);
    free(s->places);
    free(s);
}

static StartChoice choose(StartKind kind, const char *name) {
    StartChoice choice = {.kind = kind};
    snprintf(choice.name, sizeof choice.name, "%s", name);
    return choice;
}

static const char *short_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Continue, the demo and the files that were opened before.
static void draw_head(const StartScreen *s, StartChoice *choice) {
    char text[RECENT_PATH + 32];
    float em = igGetFontSize();
    interface_begin_title();
    igPushStyleColor_U32(ImGuiCol_Text, AMBER);
    igTextUnformatted("Sandglass", NULL);
    igPopStyleColor(1);
    interface_end_title();
    if (*s->last) {
        snprintf(text, sizeof text, "Continue: %s", short_name(s->last));
        if (igButton(text, (ImVec2){0, 0})) *choice = choose(START_SCENE, s->last);
        igSameLine(0, -1);
    }
    if (igButton("The demo", (ImVec2){0, 0})) *choice = choose(START_DEMO, "");
    for (int i = 0; i < s->recent.count; i++) {
        const char *name = short_name(s->recent.paths[i]);
        ImVec2 free;
        igSameLine(0, -1);
        igGetContentRegionAvail(&free);
        if (free.x < card_text_width(name) + 2 * em) {
            igSpacing();
            break; // the panel lists all
        }
        igPushID_Int(i);
        if (igButton(name, (ImVec2){0, 0})) *choice = choose(START_SCENE, s->recent.paths[i]);
        igPopID();
    }
    igPushStyleColor_U32(ImGuiCol_Text, FAINT);
    igTextUnformatted("Click a scene. Esc, or a click beside them, opens the hourglass.", NULL);
    igPopStyleColor(1);
    igSpacing();
}

static void draw_cell(StartScreen *s, int index, float wide, StartChoice *choice) {
    const SandSceneEntry *scene = &s->scenes[index];
    ImDrawList *list = igGetWindowDrawList();
    float em = igGetFontSize(), high = RATIO * wide, whole = high + (1.4f + LINES * 1.3f) * em, widest;
    ImVec2 at;
    igGetCursorScreenPos(&at);
    igPushID_Int(index);
    if (igInvisibleButton("##scene", (ImVec2){wide, whole}, 0)) *choice = choose(START_SCENE, scene->name);
    igPopID();
    s->places[index] = igIsItemVisible() ? (Box){at.x, at.y, at.x + wide, at.y + whole} : (Box){0};
    bool hovered = igIsItemHovered(0);
    ImVec2 corner = {at.x + wide, at.y + high};
    if (s->textures[index])
        ImDrawList_AddImage(list, (ImTextureID)(uintptr_t)s->textures[index], at, corner, (ImVec2){0, 0}, (ImVec2){1, 1},
                            0xffffffffu);
    else
        ImDrawList_AddRectFilled(list, at, corner, SLOT, 0.3f * em, 0);
    if (hovered) ImDrawList_AddRect(list, at, corner, AMBER, 0, 0, 0.15f * em);
    ImDrawList_AddText_Vec2(list, (ImVec2){at.x, roundf(corner.y + 0.2f * em)}, hovered ? AMBER : INK, scene->name, NULL);
    ImDrawList_PushClipRect(list, at, (ImVec2){at.x + wide, at.y + whole}, true);
    card_lines(list, scene->about, at.x, corner.y + 1.5f * em, wide, FAINT, &widest);
    ImDrawList_PopClipRect(list);
}

StartChoice start_screen_draw(StartScreen *s, int width, int height) {
    StartChoice choice = {.kind = START_NOTHING};
    float em = igGetFontSize(), gap = GAP * em;
    ImDrawList_AddRectFilled(igGetBackgroundDrawList_Nil(), (ImVec2){0, 0}, (ImVec2){(float)width, (float)height}, DARK, 0,
                             0);
    igSetNextWindowPos((ImVec2){0, 0}, ImGuiCond_Always, (ImVec2){0, 0});
    igSetNextWindowSize((ImVec2){(float)width, (float)height}, ImGuiCond_Always);
    igBegin("##start", NULL,
            ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                ImGuiWindowFlags_NoSavedSettings);
    draw_head(s, &choice);
    ImVec2 free;
    igGetContentRegionAvail(&free);
    int columns = (int)fmaxf(1, floorf((free.x + gap) / (THUMB * em + gap)));
    float wide = floorf((free.x - (float)(columns - 1) * gap) / (float)columns);
    for (int i = 0; i < s->count; i++) {
        if (i % columns) igSameLine(0, gap);
        draw_cell(s, i, wide, &choice);
    }
    bool beside =
        choice.kind == START_NOTHING && igIsMouseClicked_Bool(0, false) && !igIsAnyItemHovered() && igIsWindowHovered(0);
    igEnd();
    return beside ? choose(START_ON, "") : choice;
}

Box start_screen_place(const StartScreen *s, const char *scene) {
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->scenes[i].name, scene)) return s->places[i];
    return (Box){0};
}

int start_screen_pictures(const StartScreen *s) { return s->pictures; }
