// SPDX-License-Identifier: MIT
// Checks of a world: what a caller gave, or changed between two steps, becomes a sentence here and not a crash in a step.
// Numbers must be finite, and what enters a distance must stay so far below the range of double that squares and quotients
// of it are finite as well.
#include "sim/world/world_check.h"

#include "sim/core/within.h"
#include "sim/geometry/mesh.h"
#include "sim/world/joint.h"

#define MOST_BOXES 1e3    // lengths of the box's diagonal that a body may travel in a step
#define MOST_FRICTION 1e6 // without dimension, and in m: beyond it float has no friction cone but a half space
#define MOST_RATE 1e9     // rad/s, of a boundary
#define LEAST_SIZE 1e-12  // m, of a body
#define MOST_PERIODS 0.25 // of an oscillation, in a step: it passes its two ends and its middle

static bool check_pair(const SandWorld *world, int a, int b, SandError *error) {
    const SandPair *pair = sand_world_pair(world, a, b);
    const char *first = world->materials[a].name, *second = world->materials[b].name;
    if (!isfinite(pair->mu) || pair->mu < 0 || pair->mu > MOST_FRICTION)
        return sand_fail(error, "the friction of %s and %s is %g; it must be finite and not below 0, nor above %g", first,
                         second, pair->mu, MOST_FRICTION);
    if (!(pair->restitution >= 0 && pair->restitution <= 1))
        return sand_fail(error, "the restitution of %s and %s is %g; it must be from 0 to 1", first, second,
                         pair->restitution);
    if (!isfinite(pair->cohesion) || pair->cohesion < 0)
        return sand_fail(error, "the cohesion of %s and %s is %g N; it must be finite and not below 0", first, second,
                         pair->cohesion);
    if (!isfinite(pair->rolling) || pair->rolling < 0 || !isfinite(pair->spinning) || pair->spinning < 0)
        return sand_fail(error,
                         "the rolling friction of %s and %s is %g m and their spinning friction %g m; both must be finite "
                         "and not below 0",
                         first, second, pair->rolling, pair->spinning);
    return true;
}

// The world's box, which the limits of other numbers are measured by.
static bool check_box(const SandWorld *world, SandError *error) {
    SandVec3 low = world->lower, high = world->upper, size = v3_sub(high, low);
    if (!v3_finite(size) || size.x <= 0 || size.y <= 0 || size.z <= 0)
        return sand_fail(error, "the world's upper corner must lie above its lower corner on every axis");
    double farthest = fmax(v3_length(low), v3_length(high));
    return farthest <= SAND_FARTHEST ||
           sand_fail(error, "a corner of the world's box is %g m away; it must be within %g m", farthest, SAND_FARTHEST);
}

// The farthest that anything may move in a step (m).
static double longest_way(const SandWorld *world) { return MOST_BOXES * v3_length(v3_sub(world->upper, world->lower)); }

static bool check_time(const SandWorld *world, SandError *error) {
    if (!isfinite(world->time)) return sand_fail(error, "the time %g s must be finite", world->time);
    if (!v3_finite(world->gravity)) return sand_fail(error, "gravity must be finite");
    double fall = v3_length(world->gravity) * world->step * world->step;
    return fall <= longest_way(world) ||
           sand_fail(error, "gravity (%g, %g, %g) m/s^2 moves a body %g m in a step of %g s, far out of the world",
                     world->gravity.x, world->gravity.y, world->gravity.z, fall, world->step);
}

// One setting of SAND_WORLD_SETTINGS.
static bool check_setting(const char *name, double value, double least, double most, const char *unit, SandError *error) {
    return (value >= least && value <= most) ||
           sand_fail(error, "%s is %g%s%s, and must be from %g to %g", name, value, *unit ? " " : "", unit, least, most);
}

static bool check_numbers(const SandWorld *world, SandError *error) {
#define CHECK(type, name, standard, least, most, unit) \
    if (!check_setting(#name, world->name, least, most, unit, error)) return false;
    SAND_WORLD_SETTINGS(CHECK)
#undef CHECK
    return world->envelope <= longest_way(world) ||
           sand_fail(error, "the envelope %g m is larger than the world", world->envelope);
}

static bool check_pairs(const SandWorld *world, SandError *error) {
    for (int a = 0; a < world->material_count; a++)
        for (int b = 0; b <= a; b++)
            if (!check_pair(world, a, b, error)) return false;
    return true;
}

static bool check_spring(const SandWorld *world, SandError *error) {
    const SandSpring *s = &world->spring;
    if (s->body < -1 || s->body >= world->body_count)
        return sand_fail(error, "the mouse spring: there is no body %d", s->body);
    if (s->body < 0) return true;
    if (!v3_finite(s->point) || !v3_finite(s->target) || !isfinite(s->rate) || s->rate < 0)
        return sand_fail(error, "the mouse spring: point and target must be finite, the rate finite and not below 0");
    return v3_length(s->target) <= SAND_FARTHEST ||
           sand_fail(error, "the mouse spring: its target is %g m away", v3_length(s->target));
}

static bool check_motion(const SandWorld *world, const SandBoundary *b, SandError *error) {
    const SandMotion *m = &b->motion;
    double axis = v3_length(m->axis);
    if (!v3_finite(m->velocity) || !v3_finite(m->center) || !v3_finite(m->axis) || !isfinite(m->rate) ||
        !isfinite(m->start) || !isfinite(m->stop))
        return sand_fail(error, "boundary %s: a number of its motion is not finite", b->name);
    if (m->rate != 0 && axis == 0) return sand_fail(error, "boundary %s: it turns about an axis of length 0", b->name);
    if (m->rate != 0 && !(axis > 1e-12 && axis < 1e12 && fabs(m->rate) <= MOST_RATE))
        return sand_fail(error, "boundary %s: it turns about an axis of length %g at %g rad/s", b->name, axis, m->rate);
    if (!(v3_length(m->velocity) * world->step <= longest_way(world)))
        return sand_fail(error, "boundary %s: its velocity (%g, %g, %g) m/s carries it far out of the world in a step",
                         b->name, m->velocity.x, m->velocity.y, m->velocity.z);
    return v3_length(m->center) <= SAND_FARTHEST ||
           sand_fail(error, "boundary %s: it turns about a point farther away than %g m", b->name, SAND_FARTHEST);
}

// An oscillation: what it reaches, how fast it is, and whether steps can follow it.
static bool check_oscillation(const SandWorld *world, const SandBoundary *b, SandError *error) {
    const SandMotion *m = &b->motion;
    double turns = 6.28318530717958647692 * m->frequency;
    if (!v3_finite(m->amplitude) || !isfinite(m->swing) || !isfinite(m->phase) || !isfinite(m->path))
        return sand_fail(error, "boundary %s: a number of its oscillation or of its path is not finite", b->name);
    if (!(m->frequency >= 0 && m->frequency * world->step <= MOST_PERIODS))
        return sand_fail(error,
                         "boundary %s: it oscillates at %g Hz; with a step of %g s it may at %g, a period of %g steps",
                         b->name, m->frequency, world->step, MOST_PERIODS / world->step, 1 / MOST_PERIODS);
    if (m->swing != 0 && !(v3_length(m->axis) > 1e-12 && v3_length(m->axis) < 1e12 && fabs(m->swing) * turns <= MOST_RATE))
        return sand_fail(error, "boundary %s: it swings by %g rad about an axis of length %g", b->name, m->swing,
                         v3_length(m->axis));
    return v3_length(m->amplitude) * turns * world->step <= longest_way(world) ||
           sand_fail(error, "boundary %s: its amplitude (%g, %g, %g) m carries it far out of the world in a step", b->name,
                     m->amplitude.x, m->amplitude.y, m->amplitude.z);
}

// The largest part of a surface's velocity that leads out of it.
static double leads_out(const SandBoundary *b, SandVec3 velocity) {
    SandVec3 local = q_unrotate(b->pose.rotation, velocity);
    double most = b->kind == SAND_PLANE ? fabs(local.z) : 0;
    for (int k = 0; b->kind == SAND_MESH && k < b->mesh->face_count; k++)
        most = fmax(most, fabs(v3_dot(b->mesh->normals[k], local)));
    return most;
}

static bool check_surface(const SandWorld *world, const SandBoundary *b, SandError *error) {
    SandVec3 v = b->motion.surface;
    double speed = v3_length(v);
    if (speed == 0) return true;
    if (!(speed * world->step <= longest_way(world)))
        return sand_fail(error, "boundary %s: the velocity (%g, %g, %g) m/s of its surface must be finite and less", b->name,
                         v.x, v.y, v.z);
    if (b->kind != SAND_PLANE && b->kind != SAND_MESH)
        return sand_fail(error, "boundary %s: only the surface of a plane or of a flat mesh can run", b->name);
    return leads_out(b, v) <= 1e-6 * speed ||
           sand_fail(error, "boundary %s: the velocity (%g, %g, %g) m/s of its surface must lead along it", b->name, v.x,
                     v.y, v.z);
}

static bool check_boundary(const SandWorld *world, const SandBoundary *b, SandError *error) {
    SandQuat q = b->pose.rotation;
    double turn = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (b->material < 0 || b->material >= world->material_count)
        return sand_fail(error, "boundary %s: there is no material %d", b->name, b->material);
    if (!v3_finite(b->pose.position) || !(fabs(turn - 1) < 1e-6))
        return sand_fail(error, "boundary %s: position and rotation must be finite, the rotation of length 1", b->name);
    if (!(v3_length(b->pose.position) <= SAND_FARTHEST))
        return sand_fail(error, "boundary %s: it is farther away than %g m", b->name, SAND_FARTHEST);
    if (!check_motion(world, b, error) || !check_oscillation(world, b, error) || !check_surface(world, b, error))
        return false;
    SandVec3 now = sand_boundary_pose(b, world->time).position;
    return v3_length(now) <= SAND_FARTHEST ||
           sand_fail(error, "boundary %s: at %g s its motion has carried it farther than %g m", b->name, world->time,
                     SAND_FARTHEST);
}

static bool check_boundaries(const SandWorld *world, SandError *error) {
    for (int i = 0; i < world->boundary_count; i++)
        if (!check_boundary(world, &world->boundaries[i], error)) return false;
    return true;
}

// A body must not meet itself, nor another body on two sides at once.
enum { LEAST_PERIOD = 4 }; // in diameters of the largest body

static bool check_period(const SandWorld *world, SandError *error) {
    SandVec3 period = sand_world_period(world);
    double along[3] = {period.x, period.y, period.z}, largest = 0;
    if (!sand_world_repeats(world)) return true;
    for (int i = 0; i < world->body_count; i++) {
        const SandShape *shape = &world->shapes[world->shape[i]];
        if (shape->sphere_count == 0)
            return sand_fail(error, "body %d is convex, and the world is periodic; only spheres and clumps may be", i);
        largest = fmax(largest, 2 * world->scale[i] * shape->bound);
    }
    for (int a = 0; a < 3; a++)
        if (world->periodic[a] && !(along[a] >= LEAST_PERIOD * largest))
            return sand_fail(error, "the period along %c is %g m; it must be at least %d times the largest body, of %g m",
                             "xyz"[a], along[a], LEAST_PERIOD, largest);
    return true;
}

static bool check_squeeze(const SandWorld *world, SandError *error) {
    const SandSqueeze *s = &world->squeeze;
    if (s->rate == 0) return true;
    if (!(s->rate > 0 && s->rate * world->step < 0.1))
        return sand_fail(error, "the rate of the squeeze is %g 1/s; it must be above 0 and less than 0.1 in a step",
                         s->rate);
    if (!(s->pressure > 0) || !isfinite(s->pressure))
        return sand_fail(error, "the pressure of the squeeze is %g Pa; it must be finite and above 0", s->pressure);
    if (!world->periodic[0] || !world->periodic[1] || !world->periodic[2] || world->boundary_count)
        return sand_fail(error, "only a world that repeats along x, y and z, and has no boundaries, can be squeezed");
    return true;
}

static bool check_joints(const SandWorld *world, SandError *error) {
    for (int k = 0; k < world->joint_count; k++)
        if (!sand_joint_check(world, k, error)) return false;
    return true;
}

static bool check_settings(const SandWorld *world, SandError *error) {
    return check_box(world, error) && check_numbers(world, error) && check_time(world, error) && check_pairs(world, error) &&
           check_boundaries(world, error) && check_squeeze(world, error) && check_spring(world, error) &&
           check_joints(world, error);
}

// --- bodies -------------------------------------------------------------------------------------------------

bool sand_check_indices(const SandWorld *world, int body, int shape, int material, SandError *error) {
    if (shape < 0 || shape >= world->shape_count) return sand_fail(error, "body %d: there is no shape %d", body, shape);
    if (material < 0 || material >= world->material_count)
        return sand_fail(error, "body %d: there is no material %d", body, material);
    return true;
}

bool sand_check_mass(int body, double mass, SandVec3 inertia, SandError *error) {
    double least = fmin(inertia.x, fmin(inertia.y, inertia.z));
    if (mass > 1e-30 && mass < 1e30 && least > 1e-36 && v3_length(inertia) < 1e30) return true;
    return sand_fail(error, "body %d: mass %g kg and inertia %g kg m^2 are out of range", body, mass, least);
}

static bool check_vector(int body, const char *field, const char *unit, SandVec3 v, SandError *error) {
    return v3_finite(v) ||
           sand_fail(error, "body %d: its %s (%g, %g, %g) %s is not finite", body, field, v.x, v.y, v.z, unit);
}

static bool check_rotation(int body, SandQuat q, SandError *error) {
    double turn = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (isfinite(turn) && turn >= 1e-12) return true;
    return sand_fail(error, "body %d: its rotation (%g, %g, %g, %g) must be finite and not of length 0", body, q.w, q.x, q.y,
                     q.z);
}

// Velocity and spin: neither may carry a point of the body far out of the world in one step.
static bool check_speed(const SandWorld *w, int body, double size, SandError *error) {
    double most = longest_way(w) / w->step;
    SandVec3 v = w->velocity[body], spin = w->spin[body];
    if (!(v3_length(v) <= most))
        return sand_fail(error, "body %d: its velocity (%g, %g, %g) m/s carries it far out of the world in a step", body,
                         v.x, v.y, v.z);
    return v3_length(spin) * size <= most ||
           sand_fail(error, "body %d: with its spin (%g, %g, %g) rad/s its surface goes far out of the world in a step",
                     body, spin.x, spin.y, spin.z);
}

// A body that another process has shows no mass here; that process looks at it.
bool sand_check_force(const SandWorld *w, int body, SandVec3 force, SandVec3 torque, SandError *error) {
    SandVec3 inertia = w->inertia[body];
    double most = longest_way(w) / (w->step * w->step), least = fmin(inertia.x, fmin(inertia.y, inertia.z));
    if (!check_vector(body, "force", "N", force, error) || !check_vector(body, "torque", "N m", torque, error)) return false;
    if (!sand_world_has(w, body)) return true;
    // The caller may have changed the body since the last step, and nobody has looked yet.
    if (!sand_check_indices(w, body, w->shape[body], w->material[body], error)) return false;
    if (!(v3_length(force) <= most * w->mass[body]))
        return sand_fail(error, "body %d: its force (%g, %g, %g) N carries it far out of the world in a step", body, force.x,
                         force.y, force.z);
    return v3_length(torque) * w->scale[body] * w->shapes[w->shape[body]].bound <= most * least ||
           sand_fail(error, "body %d: its torque (%g, %g, %g) N m turns its surface far out of the world in a step", body,
                     torque.x, torque.y, torque.z);
}

// A body that takes part in steps, now or later.
static bool check_present(const SandWorld *w, int body, SandError *error) {
    double size = w->scale[body] * w->shapes[w->shape[body]].bound;
    if (isnan(w->enter[body])) return sand_fail(error, "body %d: its entry time is not a number", body);
    if (!isfinite(w->scale[body]) || w->scale[body] <= 0)
        return sand_fail(error, "body %d: size %g must be finite and above 0", body, w->scale[body]);
    if (!(size >= LEAST_SIZE && size <= SAND_FARTHEST))
        return sand_fail(error, "body %d: its radius of %g m must be from %g to %g", body, size, LEAST_SIZE, SAND_FARTHEST);
    return sand_check_mass(body, w->mass[body], w->inertia[body], error) &&
           check_vector(body, "position", "m", w->position[body], error) && check_rotation(body, w->rotation[body], error) &&
           check_vector(body, "velocity", "m/s", w->velocity[body], error) &&
           check_vector(body, "spin", "rad/s", w->spin[body], error) && check_speed(w, body, size, error);
}

// A body of another process: sand_world_skip_body.
static bool is_skipped(const SandWorld *w, int body) {
    return w->mass[body] == 0 && w->scale[body] == 0 && w->rotation[body].w == 0;
}

static bool check_bodies(const SandWorld *world, bool whole, SandError *error) {
    for (int i = 0; i < world->body_count; i++) {
        if (!whole && is_skipped(world, i)) continue;
        if (!sand_check_indices(world, i, world->shape[i], world->material[i], error)) return false;
        if (!world->gone[i] && !check_present(world, i, error)) return false;
    }
    return true;
}

// The period comes last: it reads sizes and shapes of bodies.
bool sand_world_check_changes(const SandWorld *world, bool bodies, bool whole, SandError *error) {
    return check_settings(world, error) && (!bodies || check_bodies(world, whole, error)) && check_period(world, error);
}

bool sand_world_check(const SandWorld *world, SandError *error) {
    return sand_world_check_changes(world, true, false, error);
}
