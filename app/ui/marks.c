// SPDX-License-Identifier: MIT
// Drawing the marks: outline of the picked body by its shape, an arrow for each contact force, a coil for the mouse spring.
#include "app/ui/marks.h"

#include <math.h>

#include "app/ui/cimgui.h"

static const ImU32 OUTLINE = 0xff34b1f2u, HALO = 0xb0100c08u, FORCE = 0xff5a4de6u, SPRING = 0xffe9b456u;

// A world point in pixels of the window, as it is at the shown time. False: it is behind the camera.
static bool to_pixels(const MarksView *view, SandVec3 point, ImVec2 *out) {
    SandVec3 right, up, forward, p = v3_sub(point, view->origin);
    camera_axes(view->camera, &right, &up, &forward);
    if (!view->camera->orthographic && v3_dot(v3_sub(p, view->camera->eye), forward) <= view->camera->near) return false;
    double x, y;
    camera_project(view->camera, p, &x, &y);
    *out =
        (ImVec2){(float)(view->left + 0.5 * view->width + x * view->height), (float)(0.5 * view->height - y * view->height)};
    return true;
}

// The radius in pixels of a sphere's outline.
static float sphere_pixels(const MarksView *view, SandVec3 center, double radius) {
    const Camera *camera = view->camera;
    if (camera->orthographic) return (float)(radius / camera->height * view->height);
    SandVec3 to = v3_sub(v3_sub(center, view->origin), camera->eye);
    double beyond = v3_dot(to, to) - radius * radius;
    return beyond > 0 ? (float)(radius / sqrt(beyond) / (2 * tan(0.5 * camera->angle)) * view->height) : 0;
}

static void stroke(const MarksView *view, SandVec3 from, SandVec3 to, ImU32 color, float width) {
    ImVec2 a, b;
    if (to_pixels(view, from, &a) && to_pixels(view, to, &b))
        ImDrawList_AddLine(igGetBackgroundDrawList_Nil(), a, b, color, width);
}

// A bright line on a dark one: visible on sand and on shadow.
static void line(const MarksView *view, SandVec3 from, SandVec3 to, ImU32 color, float width) {
    stroke(view, from, to, HALO, width + 2.5f * width);
    stroke(view, from, to, color, width);
}

static void circle(const MarksView *view, SandVec3 center, double radius, float width) {
    enum { CORNERS = 64 };
    ImVec2 middle, corners[CORNERS + 1];
    float pixels = sphere_pixels(view, center, radius) + width;
    if (!to_pixels(view, center, &middle)) return;
    for (int k = 0; k <= CORNERS; k++) {
        float angle = 6.2831853f * (float)k / CORNERS;
        corners[k] = (ImVec2){middle.x + pixels * cosf(angle), middle.y + pixels * sinf(angle)};
    }
    ImDrawList *list = igGetBackgroundDrawList_Nil();
    ImDrawList_AddPolyline(list, corners, CORNERS + 1, HALO, 0, 2.5f * width);
    ImDrawList_AddPolyline(list, corners, CORNERS + 1, OUTLINE, 0, width);
}

// The edges of a box, or the rims and sides of a cylinder, in the frame of the body.
static void edges(const MarksView *view, const PickedBody *picked, SandVec3 center, float width) {
    enum { RIM = 32 };
    SandVec3 h = picked->half;
    for (int k = 0; k < (picked->kind == SAND_BOX ? 4 : RIM); k++) {
        bool box = picked->kind == SAND_BOX;
        double a = (box ? 0.25 + 0.5 * k : 2.0 * k / RIM) * 3.14159265358979,
               b = a + (box ? 0.5 : 2.0 / RIM) * 3.14159265358979;
        double stretch = box ? sqrt(2) : 1;
        SandVec3 p = v3_make(stretch * h.x * cos(a), stretch * h.y * sin(a), h.z),
                 q = v3_make(stretch * h.x * cos(b), stretch * h.y * sin(b), h.z);
        for (int side = -1; side <= 1; side += 2) {
            SandVec3 from = v3_make(p.x, p.y, side * p.z), to = v3_make(q.x, q.y, side * q.z);
            line(view, v3_add(center, q_rotate(picked->rotation, from)), v3_add(center, q_rotate(picked->rotation, to)),
                 OUTLINE, width);
        }
        if (box || k % (RIM / 4) == 0)
            line(view, v3_add(center, q_rotate(picked->rotation, p)),
                 v3_add(center, q_rotate(picked->rotation, v3_make(p.x, p.y, -p.z))), OUTLINE, width);
    }
}

// Whether a face of an edge is turned to the eye, in the frame of the body.
static bool is_seen(const SolidEdge *edge, const float normal[3], SandVec3 extent, SandVec3 eye, bool parallel) {
    SandVec3 to_eye = parallel ? eye : v3_sub(eye, solid_place(&edge->from, extent));
    return v3_dot(solid_normal(&edge->from, normal, extent), to_eye) > 0;
}

// The silhouette of a convex body: the edges between faces that are seen and faces that are not.
static void outline(const MarksView *view, const PickedBody *picked, SandVec3 center, float width) {
    const SolidMeshes *m = view->meshes;
    bool stone = sand_shape_drawn(picked->kind) == SAND_DRAWN_STONE, parallel = view->camera->orthographic;
    int mesh = stone ? SOLID_STONES + picked->shape : solid_part(picked->kind, 1);
    if (mesh >= m->mesh_count) return; // of another scene
    SandVec3 extent = stone ? v3_make(picked->radius, picked->radius, picked->radius) : picked->half, right, up, forward;
    camera_axes(view->camera, &right, &up, &forward);
    SandVec3 from_body = parallel ? v3_neg(forward) : v3_sub(v3_add(view->camera->eye, view->origin), center),
             eye = q_unrotate(picked->rotation, from_body);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < m->meshes.data[mesh].edge_count; k++) {
            const SolidEdge *e = &m->edges.data[m->meshes.data[mesh].edge_first + k];
            if (is_seen(e, e->left, extent, eye, parallel) == is_seen(e, e->right, extent, eye, parallel)) continue;
            SandVec3 a = v3_add(center, q_rotate(picked->rotation, solid_place(&e->from, extent))),
                     b = v3_add(center, q_rotate(picked->rotation, solid_place(&e->to, extent)));
            stroke(view, a, b, pass ? OUTLINE : HALO, pass ? width : 2.5f * width);
        }
}

// An arrow whose tip is at the contact: the force presses on the body there. Its length grows with the root of the force, so
// that weak forces are seen beside strong ones.
static void arrow(const MarksView *view, const PickedBody *picked, const PickedForce *f, SandVec3 shift, float width) {
    double force = v3_length(f->force);
    if (!(force > 0)) return;
    SandVec3 tip = v3_add(f->point, shift),
             tail = v3_madd(tip, -2 * picked->radius * sqrt(force / picked->force_most) / force, f->force);
    ImVec2 a, b;
    line(view, tail, tip, FORCE, width);
    if (!to_pixels(view, tail, &a) || !to_pixels(view, tip, &b)) return;
    float length = hypotf(b.x - a.x, b.y - a.y), head = fminf(4.5f * width, length);
    if (length < 2) return; // it points at the eye
    ImVec2 d = {(b.x - a.x) / length, (b.y - a.y) / length};
    ImVec2 base = {b.x - head * d.x, b.y - head * d.y};
    ImDrawList_AddTriangleFilled(igGetBackgroundDrawList_Nil(), b,
                                 (ImVec2){base.x - 0.5f * head * d.y, base.y + 0.5f * head * d.x},
                                 (ImVec2){base.x + 0.5f * head * d.y, base.y - 0.5f * head * d.x}, FORCE);
}

// A coil between the held point and the mouse.
static void spring(const MarksView *view, const PickedBody *picked, SandVec3 shift, float width) {
    enum { TURNS = 9 };
    ImVec2 a, b, points[2 * TURNS + 2];
    if (!to_pixels(view, v3_add(picked->held, shift), &a) || !to_pixels(view, picked->pulled_to, &b)) return;
    float length = hypotf(b.x - a.x, b.y - a.y), side = length > 1 ? fminf(4 * width, 0.2f * length) / length : 0;
    for (int k = 0; k < 2 * TURNS + 2; k++) {
        float t = (float)k / (2 * TURNS + 1), off = k == 0 || k == 2 * TURNS + 1 ? 0 : k % 2 ? side : -side;
        points[k] = (ImVec2){a.x + t * (b.x - a.x) - off * (b.y - a.y), a.y + t * (b.y - a.y) + off * (b.x - a.x)};
    }
    ImDrawList *list = igGetBackgroundDrawList_Nil();
    ImDrawList_AddPolyline(list, points, 2 * TURNS + 2, HALO, 0, 2.5f * width);
    ImDrawList_AddPolyline(list, points, 2 * TURNS + 2, SPRING, 0, width);
    ImDrawList_AddCircleFilled(list, a, 2 * width, SPRING, 0);
    ImDrawList_AddCircleFilled(list, b, 2 * width, SPRING, 0);
}

void marks_draw(const PickedBody *picked, const MarksView *view) {
    if (picked->body < 0) return;
    float width = igGetFontSize() / 8, left = (float)view->left;
    ImDrawList *list = igGetBackgroundDrawList_Nil();
    ImDrawList_PushClipRect(list, (ImVec2){left, 0}, (ImVec2){left + (float)view->width, (float)view->height}, true);
    SandVec3 shift = v3_scale(-view->back, picked->velocity), center = v3_add(picked->center, shift);
    if (picked->kind == SAND_BOX || picked->kind == SAND_CYLINDER)
        edges(view, picked, center, width);
    else if (sand_shape_drawn(picked->kind) >= SAND_DRAWN_PART)
        outline(view, picked, center, width);
    else
        circle(view, center, picked->radius, width);
    for (int k = 0; k < picked->force_count; k++) arrow(view, picked, &picked->forces[k], shift, width);
    if (picked->is_held) spring(view, picked, shift, width);
    ImDrawList_PopClipRect(list);
}
