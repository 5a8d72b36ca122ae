// SPDX-License-Identifier: MIT
// The pressure of the contacts, the speed of the box that follows from it, and one step of squeezing: the box and all
// positions in it are scaled about its middle.
#include "sim/step/squeeze.h"

// A third of the trace of the contact stress: the sum over contacts of normal force times distance of the centers, over
// three times the volume. In the order of the contacts, which no number of threads changes.
static double contact_pressure(const SandHostState *host) {
    const SandProblem *p = &host->problem;
    SandVec3 size = sand_world_period(&host->world);
    double sum = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        sum += v3_dot(host->solution.impulse[i], v3_sub(c->arm_a, c->arm_b));
    }
    return sum / (3 * size.x * size.y * size.z * p->step);
}

// Above the pressure that is asked for the box widens, at half the speed at which it came there; below it shrinks, a little
// faster in each step. Hard grains carry nothing until they jam and everything once they have: the speed falls until the two
// are a few steps apart.
static void set_speed(SandSqueeze *s) {
    double speed = fmax(fabs(s->speed), 1e-9 * s->rate);
    if (s->now > s->pressure)
        s->speed = s->speed > 0 ? -0.5 * speed : -speed;
    else
        s->speed = fmin(s->rate, 1.1 * speed);
}

void sand_squeeze(SandHostState *host) {
    SandWorld *w = &host->world;
    if (w->squeeze.rate == 0) return;
    w->squeeze.now = sand_status_keeps(host->solution.status) ? contact_pressure(host) : INFINITY; // nothing carries a jam
    set_speed(&w->squeeze);
    double factor = 1 - w->step * w->squeeze.speed;
    SandVec3 middle = v3_scale(0.5, v3_add(w->lower, w->upper));
    w->lower = v3_madd(middle, factor, v3_sub(w->lower, middle));
    w->upper = v3_madd(middle, factor, v3_sub(w->upper, middle));
    for (int i = 0; i < w->body_count; i++) w->position[i] = v3_madd(middle, factor, v3_sub(w->position[i], middle));
}
