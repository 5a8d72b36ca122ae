#include "hands.h"

#include <math.h>

void hands_init(Hands *h) { *h = (Hands){.picked = -1}; }

void hands_ray(const Camera *camera, double aspect, double x, double y, SandVec3 *from, SandVec3 *direction) {
    SandVec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    double sx = (2 * x - 1) * aspect, sy = 2 * y - 1; // in half heights of the picture
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

int hands_pick(const Picture *picture, SandVec3 from, SandVec3 direction, SandVec3 *point) {
    int body = -1;
    double nearest = INFINITY;
    for (int i = 0; i < picture->balls.count; i++) {
        const PictureInstance *ball = &picture->balls.items[i];
        SandQuat q = {ball->rotation[3], ball->rotation[0], ball->rotation[1], ball->rotation[2]};
        SandVec3 offset = v3_make(ball->offset[0], ball->offset[1], ball->offset[2]);
        SandVec3 center = v3_add(v3_make(ball->center[0], ball->center[1], ball->center[2]), q_rotate(q, offset));
        SandVec3 to = v3_sub(center, from);
        double along = v3_dot(to, direction), off2 = v3_dot(to, to) - along * along,
               r2 = (double)ball->radius * ball->radius;
        if (along <= 0 || off2 > r2) continue;
        double distance = along - sqrt(r2 - off2);
        if (distance <= 0 || distance >= nearest) continue;
        nearest = distance;
        body = (int)(ball->tag & 0x0fffffffu);
    }
    if (body >= 0) *point = v3_madd(from, nearest, direction);
    return body;
}

static SandVec3 to_world(const Frame *frame, SandVec3 p) { return v3_add(p, frame->picture.origin); }

void hands_press(Hands *h, Engine *engine, const Frame *frame, const Camera *camera, double aspect, double x, double y,
                 bool pan, bool grab) {
    h->x = x, h->y = y;
    h->mode = pan ? HANDS_PAN : HANDS_ORBIT;
    SandVec3 from, direction, point, right, up, forward;
    hands_ray(camera, aspect, x, y, &from, &direction);
    h->picked = frame ? hands_pick(&frame->picture, from, direction, &point) : -1;
    if (h->picked < 0 || !grab) return;
    camera_axes(camera, &right, &up, &forward);
    h->depth = v3_dot(v3_sub(point, camera->eye), forward);
    h->mode = HANDS_DRAG;
    Act act = {.kind = ACT_GRAB, .body = h->picked, .vector = to_world(frame, point)};
    engine_ask(engine, &act);
}

void hands_move(Hands *h, Engine *engine, const Frame *frame, Camera *camera, double aspect, double x, double y) {
    double dx = x - h->x, dy = y - h->y;
    h->x = x, h->y = y;
    if (dx == 0 && dy == 0) return;
    if (h->mode == HANDS_ORBIT) camera_orbit(camera, -4 * dx, -3 * dy);
    if (h->mode == HANDS_PAN) camera_pan(camera, -dx * aspect, -dy);
    if (h->mode != HANDS_DRAG || !frame) return;
    // In the plane through the held point that faces the camera.
    SandVec3 from, direction, right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    hands_ray(camera, aspect, x, y, &from, &direction);
    double along = (h->depth - v3_dot(v3_sub(from, camera->eye), forward)) / v3_dot(direction, forward);
    Act act = {.kind = ACT_DRAG, .vector = to_world(frame, v3_madd(from, along, direction))};
    engine_ask(engine, &act);
}

void hands_release(Hands *h, Engine *engine) {
    if (h->mode == HANDS_DRAG) engine_ask(engine, &(Act){.kind = ACT_RELEASE});
    h->mode = HANDS_IDLE;
}

void hands_fly(Camera *camera, double right, double up, SandVec3 way, double seconds, double size) {
    // There is no flying without perspective.
    camera->orthographic = false;
    camera->near = fmin(camera->near, 1e-3 * size);
    camera_look(camera, right * camera->angle, up * camera->angle);
    camera_fly(camera, v3_scale(0.35 * size * seconds, way));
}

void hands_throw(Engine *engine, const Frame *frame, const Camera *camera, double aspect, double x, double y) {
    if (!frame) return;
    SandVec3 from, direction, size = v3_sub(frame->picture.upper, frame->picture.lower);
    hands_ray(camera, aspect, x, y, &from, &direction);
    double radius = fmin(4 * frame->picture.grain, 0.08 * v3_length(size)),
           start = v3_length(v3_sub(camera->target, camera->eye));
    // It starts between the camera and what it looks at, near enough to be seen, and crosses the scene in a second.
    Act act = {.kind = ACT_THROW,
               .vector = to_world(frame, v3_madd(from, 0.35 * start, direction)),
               .direction = v3_scale(0.8 * start, direction),
               .number = radius};
    engine_ask(engine, &act);
}
