// SPDX-License-Identifier: MIT
// Ray casting for picking, and the mouse gestures.
#include "app/ui/input.h"

#include <math.h>

void input_init(Input *input) { *input = (Input){.picked = -1}; }

void input_ray(const Camera *camera, double aspect, double x, double y, SandVec3 *from, SandVec3 *direction) {
    SandVec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    double sx = (2 * x - 1) * aspect, sy = 2 * y - 1; // in units of half the height
    if (camera->orthographic) {
        double half = 0.5 * camera->height;
        *from = v3_madd(v3_madd(camera->eye, sx * half, right), sy * half, up);
        *direction = forward;
    } else {
        double half = tan(0.5 * camera->angle);
        *from = camera->eye;
        *direction = v3_unit_or(v3_madd(v3_madd(forward, sx * half, right), sy * half, up), forward);
    }
}

// The distance at which a ray enters a ball, or infinity.
static double enter_ball(SandVec3 center, double radius, SandVec3 from, SandVec3 direction) {
    SandVec3 to = v3_sub(center, from);
    double along = v3_dot(to, direction), off2 = v3_dot(to, to) - along * along, r2 = radius * radius;
    return off2 > r2 ? INFINITY : along - sqrt(r2 - off2);
}

// Whether the picture leaves out a body with this center.
static bool is_cut(const RenderScene *render_scene, const RendererDef *look, SandVec3 center) {
    return look->cut && v3_dot(look->cut_normal, v3_add(center, render_scene->origin)) > look->cut_offset;
}

// A ray on its way through the bodies, and the nearest that it met.
typedef struct Pick {
    const RenderScene *scene;
    const RendererDef *look;
    SandVec3 from, direction;
    double nearest; // m along the ray
    int body;       // -1: none
} Pick;

// The rotation of a body a time s before that of its instance: turned by exp(-s w).
static SandQuat rotation_before(const SandInstance *it, double s) {
    SandQuat q = {it->rotation[3], it->rotation[0], it->rotation[1], it->rotation[2]};
    return q_mul(q_exp(v3_make(-s * it->spin[0], -s * it->spin[1], -s * it->spin[2])), q);
}

// Tests the bodies of a list, which have a mesh, or are balls (-1).
static void pick_among(Pick *pick, const SandInstance *items, int count, int mesh) {
    double s = pick->scene->back;
    for (int i = 0; i < count; i++) {
        const SandInstance *it = &items[i];
        // Where it is at the time that is shown.
        SandQuat q = rotation_before(it, s);
        SandVec3 center = v3_make(it->center[0] - s * it->velocity[0], it->center[1] - s * it->velocity[1],
                                  it->center[2] - s * it->velocity[2]);
        SandVec3 offset = v3_make(it->offset[0], it->offset[1], it->offset[2]);
        SandVec3 from = q_unrotate(q, v3_sub(pick->from, center)), direction = q_unrotate(q, pick->direction);
        double distance = mesh < 0 ? enter_ball(offset, it->radius, from, direction)
                                   : solid_enter(&pick->scene->meshes, mesh, offset, from, direction);
        if (distance <= 0 || distance >= pick->nearest || is_cut(pick->scene, pick->look, center)) continue;
        pick->nearest = distance;
        pick->body = (int)(it->tag & 0x0fffffffu);
    }
}

int input_pick(const RenderScene *render_scene, const RendererDef *look, SandVec3 from, SandVec3 direction,
               SandVec3 *point) {
    Pick pick = {render_scene, look, from, direction, INFINITY, -1};
    pick_among(&pick, render_scene->spheres.items, render_scene->spheres.count, -1);
    pick_among(&pick, render_scene->rocks.items, render_scene->rocks.count, -1);
    const SandInstance *solids[2] = {render_scene->parts.items, render_scene->stones.items};
    for (int k = 0; k < render_scene->group_count; k++) {
        const RenderGroup *group = &render_scene->groups.data[k];
        bool stone = k >= render_scene->part_groups;
        pick_among(&pick, solids[stone], group->count, group->mesh);
        solids[stone] += group->count;
    }
    if (pick.body >= 0) *point = v3_madd(from, pick.nearest, direction);
    return pick.body;
}

// The picture that the mouse is in.
static const RenderScene *scene_of(const Input *input, const EngineFrame *frame) {
    return input->side && frame->beside.on ? &frame->beside.render_scene : &frame->render_scene;
}

static SandVec3 to_world(const EngineFrame *frame, SandVec3 p) { return v3_add(p, frame->render_scene.origin); }

void input_press(Input *input, Engine *engine, const EngineFrame *frame, const Camera *camera, const RendererDef *look,
                 double aspect, double x, double y, bool pan, bool grab) {
    input->x = x;
    input->y = y;
    input->mode = pan ? INPUT_PAN : INPUT_ORBIT;
    if (!grab || !frame) return;
    SandVec3 from, direction, point, right, up, forward;
    input_ray(camera, aspect, x, y, &from, &direction);
    input->picked = input_pick(scene_of(input, frame), look, from, direction, &point);
    if (input->picked < 0) return;
    camera_axes(camera, &right, &up, &forward);
    input->depth = v3_dot(v3_sub(point, camera->eye), forward);
    input->mode = INPUT_DRAG;
    Act act = {.kind = ACT_GRAB, .body = input->picked, .vector = to_world(frame, point), .beside = input->side};
    engine_ask(engine, &act);
}

void input_move(Input *input, Engine *engine, const EngineFrame *frame, Camera *camera, double aspect, double x, double y) {
    double dx = x - input->x, dy = y - input->y;
    input->x = x;
    input->y = y;
    if (dx == 0 && dy == 0) return;
    if (input->mode == INPUT_ORBIT) camera_orbit(camera, -4 * dx, -3 * dy);
    if (input->mode == INPUT_PAN) camera_pan(camera, -dx * aspect, -dy);
    if (input->mode != INPUT_DRAG || !frame) return;
    // In the plane through the held point, parallel to the screen.
    SandVec3 from, direction, right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    input_ray(camera, aspect, x, y, &from, &direction);
    double along = (input->depth - v3_dot(v3_sub(from, camera->eye), forward)) / v3_dot(direction, forward);
    Act act = {.kind = ACT_DRAG, .vector = to_world(frame, v3_madd(from, along, direction))};
    engine_ask(engine, &act);
}

void input_click(Input *input, const EngineFrame *frame, const Camera *camera, const RendererDef *look, double aspect,
                 double x, double y) {
    SandVec3 from, direction, point;
    input_ray(camera, aspect, x, y, &from, &direction);
    input->picked = input_pick(scene_of(input, frame), look, from, direction, &point);
}

void input_release(Input *input, Engine *engine) {
    if (input->mode == INPUT_DRAG) engine_ask(engine, &(Act){.kind = ACT_RELEASE});
    input->mode = INPUT_IDLE;
}

void input_fly(Camera *camera, double right, double up, SandVec3 direction, double seconds, double size) {
    // Flying needs perspective.
    camera->orthographic = false;
    camera->near = fmin(camera->near, 1e-3 * size);
    camera_look(camera, right * camera->angle, up * camera->angle);
    camera_fly(camera, v3_scale(0.35 * size * seconds, direction));
}

Act input_aim(const RenderScene *render_scene, const Camera *camera, double aspect, double x, double y) {
    SandVec3 from, direction, size = v3_sub(render_scene->upper, render_scene->lower);
    input_ray(camera, aspect, x, y, &from, &direction);
    // Fast enough to cross the scene in a second. Where it starts is found by aim_act.
    return (Act){.kind = ACT_AIM,
                 .vector = v3_add(from, render_scene->origin),
                 .direction = v3_scale(0.8 * v3_length(v3_sub(camera->target, camera->eye)), direction),
                 .number = fmin(4 * render_scene->grain, 0.08 * v3_length(size))};
}

void input_throw(Engine *engine, const EngineFrame *frame, const Camera *camera, double aspect, double x, double y) {
    if (!frame) return;
    Act act = input_aim(&frame->render_scene, camera, aspect, x, y);
    engine_ask(engine, &act);
}
