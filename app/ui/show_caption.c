// SPDX-License-Identifier: MIT
// Title and text on a dark card in the lower left corner, the invitation at the top, and a dark picture between two scenes.
#include "app/ui/show_caption.h"

#include "app/ui/cimgui.h"
#include "app/ui/interface.h"

#include <math.h>

static const ImU32 INK = 0x00f1ece9u, CARD = 0x00181410u, AMBER = 0x0034b1f2u, DARK = 0x00060504u;
static const double TEXT = 28, PICTURE = 1080, USUAL = 15; // pixels: of the text in a picture so high, and at scale 1
static const float TITLE = 48.f / 28, LINE = 1.3f, MARGIN = 1.0f, PADDING = 0.6f; // in units of the text

static ImU32 opaque(ImU32 color, double share) { return color | (ImU32)(255 * fmax(0, fmin(1, share))) << 24; }

double show_scale(double width, double height) { return fmax(0.6, TEXT / USUAL * fmin(width, height) / PICTURE); }

double show_margin(double width, double height) {
    double em = USUAL * show_scale(width, height);
    return em * (2 * MARGIN + 2 * PADDING + 1.25 * TITLE + 2 * LINE);
}

double show_head(const Show *show, double width, double height) {
    double em = TITLE * USUAL * show_scale(width, height);
    return *show_scene(show)->invite ? em * (LINE + 1.6) : 0;
}

bool show_aim(const Show *show, const ShowView *view, const RenderScene *scene, double width, Camera *camera,
              SandError *error) {
    const char *name = show_scene(show)->camera;
    double height = view->height;
    CameraArea area = {0, show_head(show, view->width, height), width, height - show_margin(view->width, height)};
    if (camera_find(&scene->studio, name) < 0 &&
        camera_frame_within(camera, name, scene->lower, scene->upper, width, height, &area))
        return true;
    if (!camera_parse(camera, name, &scene->studio, scene->origin, scene->lower, scene->upper, width / height, error))
        return false;
    if (camera->orthographic) return true;
    // A view that somebody chose: the whole of it comes to lie in the free part.
    double half = tan(0.5 * camera->angle) * height / (area.bottom - area.top);
    camera->angle = 2 * atan(half);
    camera->shift_y = half * ((area.top + area.bottom) / height - 1);
    return true;
}

static float title_width(const char *title) {
    interface_begin_title();
    float width = card_text_width(title);
    interface_end_title();
    return width;
}

static Box draw_caption(const Show *show, const ShowView *view, double share) {
    const PlaylistScene *scene = show_scene(show);
    ImDrawList *list = igGetBackgroundDrawList_Nil();
    float em = igGetFontSize(), margin = MARGIN * em, padding = PADDING * em, widest;
    float inner = (float)fmin(40 * em, view->width - 2 * (margin + padding) - 0.4 * em);
    int lines = card_lines(NULL, show->text, 0, 0, inner, 0, &widest);
    float title = *scene->title ? 1.25f * TITLE * em : 0;
    if (lines == 0 && title == 0) return (Box){0};
    float wide = fmaxf(widest, title > 0 ? title_width(scene->title) : 0) + 2 * padding + 0.4f * em;
    float high = title + LINE * em * (float)lines + 2 * padding, top = (float)view->height - margin - high;
    ImVec2 low = {margin, top}, corner = {margin + wide, top + high};
    ImDrawList_AddRectFilled(list, low, corner, opaque(CARD, 0.82 * share), 0.4f * em, 0);
    ImDrawList_AddRectFilled(list, (ImVec2){margin, top + padding}, (ImVec2){margin + 0.2f * em, top + high - padding},
                             opaque(AMBER, share), 0, 0);
    float x = roundf(margin + padding + 0.4f * em);
    if (title > 0) {
        interface_begin_title();
        ImDrawList_AddText_Vec2(list, (ImVec2){x, roundf(top + padding)}, opaque(AMBER, share), scene->title, NULL);
        interface_end_title();
    }
    card_lines(list, show->text, x, top + padding + title, inner, opaque(INK, share), &widest);
    return (Box){low.x, low.y, corner.x, corner.y};
}

static void draw_invitation(const Show *show, const ShowView *view, double share) {
    const PlaylistScene *scene = show_scene(show);
    if (!view->playing_along || !*scene->invite) return;
    ImDrawList *list = igGetBackgroundDrawList_Nil();
    double pulse = 0.8 + 0.2 * cos(3 * view->seconds);
    interface_begin_title();
    float em = igGetFontSize(), widest, inner = (float)view->width - 3 * em;
    int lines = card_lines(NULL, scene->invite, 0, 0, inner, 0, &widest);
    float left = 0.5f * ((float)view->width - widest), top = 0.7f * em;
    ImDrawList_AddRectFilled(list, (ImVec2){left - 0.6f * em, top},
                             (ImVec2){left + widest + 0.6f * em, top + (LINE * (float)lines + 0.5f) * em},
                             opaque(CARD, 0.82 * share), 0.4f * em, 0);
    card_lines(list, scene->invite, roundf(left), top + 0.35f * em, inner, opaque(AMBER, pulse * share), &widest);
    interface_end_title();
}

// What comes, while it is prepared.
static void draw_title(const Show *show, const ShowView *view) {
    const char *title = show_scene(show)->title;
    float wide = title_width(title);
    interface_begin_title();
    ImVec2 at = {roundf(0.5f * ((float)view->width - wide)), roundf(0.45f * (float)view->height)};
    ImDrawList_AddText_Vec2(igGetBackgroundDrawList_Nil(), at, opaque(AMBER, 0.9), title, NULL);
    interface_end_title();
}

Box show_draw(const Show *show, const ShowView *view) {
    double dark = show_darkness(show);
    if (dark > 0)
        ImDrawList_AddRectFilled(igGetBackgroundDrawList_Nil(), (ImVec2){0, 0},
                                 (ImVec2){(float)view->width, (float)view->height}, opaque(DARK, dark), 0, 0);
    if (dark >= 1) return draw_title(show, view), (Box){0};
    draw_invitation(show, view, 1 - dark);
    return draw_caption(show, view, 1 - dark);
}
