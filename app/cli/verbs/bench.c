// SPDX-License-Identifier: MIT
// `sandglass bench`: medians of the time of each stage of a step, bytes transferred, and the real-time factor.
#include <math.h>
#include <stdlib.h>

#include "sim/core/array.h"
#include "sim/core/clock.h"
#include "sim/step/backend.h"
#include "app/cli/film/offscreen.h"
#include "app/cli/commands.h"

// The figures kept of every measured step; the report has the median of each column.
enum { COLLIDE, WARM_START, BUILD, SOLVE, INTEGRATE, STEP, PICTURE, ITERATION, CONTACT_ITERATION, COLLIDE_CONTACT, COLUMNS };

typedef struct Samples {
    double *columns[COLUMNS];
    size_t capacity[COLUMNS];
    double total_ms, total_drawn_ms, total_downloaded;
    int64_t pictures;
} Samples;

static bool reserve_samples(Samples *samples, int64_t steps, SandError *error) {
    for (int k = 0; k < COLUMNS; k++)
        if (!SAND_GROW(samples->columns[k], samples->capacity[k], steps, "samples of the benchmark", error)) return false;
    return true;
}

static void free_samples(Samples *samples) {
    for (int k = 0; k < COLUMNS; k++) sand_free(samples->columns[k]);
}

// Pictures of the measured steps, with --draw: of each, or --fps of them in a simulated second. Each is waited for, so that
// its time does not count as that of the next step.
#ifdef SAND_WINDOW

typedef struct Pictures {
    bool wanted;
    double fps; // 0: one per step
    Offscreen offscreen;
    Camera camera;
} Pictures;

static bool open_pictures(Pictures *p, const Session *session, const Options *options, SandError *error) {
    p->wanted = options->values[OPTION_DRAW].given;
    if (!p->wanted) return true;
    if (options->values[OPTION_FPS].given) p->fps = options->values[OPTION_FPS].real;
    return offscreen_plan(&p->offscreen, options, error) && offscreen_init_scene(&p->offscreen, session, error) &&
           offscreen_open(&p->offscreen, error) && offscreen_view(&p->offscreen, &p->camera, "default", error);
}

// Whether a picture of the last step is due.
static bool frame_due(const Pictures *p, const SandWorld *w) {
    return p->wanted && (p->fps == 0 || floor(p->fps * w->time) > floor(p->fps * (w->time - w->step)));
}

static bool draw_picture(Pictures *p, SandSimulation *sim, double *ms, SandError *error) {
    const SandWorld *w = sand_simulation_world(sim);
    double begin = sand_seconds();
    if (!offscreen_draw(&p->offscreen, sim, w->time, &p->camera, error)) return false;
    context_finish(p->offscreen.context);
    *ms = 1e3 * (sand_seconds() - begin);
    return true;
}

// False when the driver reported an error.
static bool close_pictures(Pictures *p, SandError *error) {
    bool ok = !p->offscreen.context || offscreen_check_errors(&p->offscreen, error);
    if (p->wanted) offscreen_close(&p->offscreen);
    return ok;
}

#else

typedef struct Pictures {
    bool wanted;
} Pictures;

static bool open_pictures(Pictures *p, const Session *session, const Options *options, SandError *error) {
    (void)session;
    p->wanted = options->values[OPTION_DRAW].given;
    return !p->wanted || sand_fail(error, "--draw: this build has no pictures");
}
static bool frame_due(const Pictures *p, const SandWorld *w) { return (void)p, (void)w, false; }
static bool draw_picture(Pictures *p, SandSimulation *sim, double *ms, SandError *error) {
    (void)p, (void)sim, (void)error;
    *ms = 0;
    return true;
}
static bool close_pictures(Pictures *p, SandError *error) { return (void)p, (void)error, true; }

#endif

static void sample(Samples *samples, int64_t at, const SandSimulation *sim) {
    const SandProfile *p = sand_simulation_profile(sim);
    const SandCounters *c = sand_simulation_counters(sim);
    double iterations = fmax(c->iterations, 1), contacts = fmax(c->contacts, 1);
    samples->total_ms += p->step;
    samples->total_downloaded += (double)p->downloaded;
    samples->columns[COLLIDE][at] = p->collide;
    samples->columns[WARM_START][at] = p->warm_start;
    samples->columns[BUILD][at] = p->build;
    samples->columns[SOLVE][at] = p->solve;
    samples->columns[INTEGRATE][at] = p->integrate;
    samples->columns[STEP][at] = p->step;
    samples->columns[ITERATION][at] = 1e3 * p->solve / iterations;
    samples->columns[CONTACT_ITERATION][at] = 1e6 * p->solve / iterations / contacts;
    samples->columns[COLLIDE_CONTACT][at] = 1e6 * p->collide / contacts;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Sorts the column in place.
static double median(Samples *samples, int column, int64_t steps) {
    double *values = samples->columns[column];
    if (!steps) return 0;
    qsort(values, (size_t)steps, sizeof *values, compare);
    return steps % 2 ? values[steps / 2] : 0.5 * (values[steps / 2 - 1] + values[steps / 2]);
}

static bool take_steps(Session *session, Pictures *pictures, int64_t warmup, int64_t steps, Samples *samples,
                       SandError *error) {
    for (int64_t i = 0; i < warmup + steps; i++) {
        if (session_interrupted()) return sand_fail(error, "interrupted at step %lld", (long long)i);
        if (!session_step(session, i, warmup + steps, error)) return false;
        bool measured = i >= warmup;
        if (measured) sample(samples, i - warmup, session->sim);
        // One picture before the measurement, as a warm-up.
        bool due = measured ? frame_due(pictures, sand_simulation_world(session->sim)) : pictures->wanted && i + 1 == warmup;
        if (!due) continue;
        double ms;
        if (!draw_picture(pictures, session->sim, &ms, error)) return false;
        if (!measured) continue;
        samples->columns[PICTURE][samples->pictures++] = ms;
        samples->total_drawn_ms += ms;
    }
    return true;
}

// Arrays that are less than this part of all are not worth a line.
#define LEAST_HELD 0.02

// Prints what the GPU holds, and of what: arrays with their bytes a body, those that are parts of another in brackets.
static void print_held(const SandSimulation *sim, const SandCounters *c) {
    SandHeldArray arrays[SAND_MAX_HELD];
    int count = sand_simulation_held(sim, arrays);
    double bodies = fmax(c->bodies, 1);
    printf("  GPU memory %.1f MB: %.0f bytes a body, %.0f a contact%s", 1e-6 * (double)c->held, (double)c->held / bodies,
           (double)c->held / fmax(c->contacts, 1), count ? "; bytes a body, in brackets shared:" : " on all ranks");
    for (int k = 0; k < count && (double)arrays[k].bytes > LEAST_HELD * (double)c->held; k++)
        printf(arrays[k].lent ? " (%s %.0f)" : " %s %.0f", arrays[k].name, (double)arrays[k].bytes / bodies);
    printf("\n");
}

static void write_held(const SandSimulation *sim, Json *json) {
    SandHeldArray arrays[SAND_MAX_HELD];
    int count = sand_simulation_held(sim, arrays);
    json_open_object(json, "device_arrays");
    for (int k = 0; k < count && arrays[k].bytes; k++) json_number(json, arrays[k].name, (double)arrays[k].bytes);
    json_close_object(json);
}

static void report(const Session *session, const Penetration *penetration, Samples *samples, int64_t warmup, int64_t steps,
                   bool as_json) {
    double medians[COLUMNS];
    for (int k = 0; k < COLUMNS; k++) medians[k] = median(samples, k, k == PICTURE ? samples->pictures : steps);
    const SandWorld *world = sand_simulation_world(session->sim);
    const SandCounters *c = sand_simulation_counters(session->sim);
    double factor = 1e3 * (double)steps * world->step / samples->total_ms;
    double all_ms = samples->total_ms + samples->total_drawn_ms; // steps and pictures alternate
    bool drawn = samples->pictures > 0;

    if (as_json) {
        Json json = json_make(stdout);
        json_open_object(&json, NULL);
        session_write(session, penetration, &json);
        json_integer(&json, "warmup", warmup);
        json_integer(&json, "steps", steps);
        json_number(&json, "step_ms", medians[STEP]);
        json_number(&json, "collide_ms", medians[COLLIDE]);
        json_number(&json, "warm_start_ms", medians[WARM_START]);
        json_number(&json, "build_ms", medians[BUILD]);
        json_number(&json, "solve_ms", medians[SOLVE]);
        json_number(&json, "integrate_ms", medians[INTEGRATE]);
        json_number(&json, "iteration_us", medians[ITERATION]);
        json_number(&json, "ns_per_contact_iteration", medians[CONTACT_ITERATION]);
        json_number(&json, "collide_ns_per_contact", medians[COLLIDE_CONTACT]);
        json_number(&json, "real_time_factor", factor);
        if (drawn) {
            json_number(&json, "picture_ms", medians[PICTURE]);
            json_integer(&json, "pictures", samples->pictures);
            json_number(&json, "pictures_per_second", 1e3 * (double)samples->pictures / all_ms);
            json_number(&json, "real_time_factor_drawn", 1e3 * (double)steps * world->step / all_ms);
        }
        json_number(&json, "device_bytes", (double)c->held);
        if (c->held) write_held(session->sim, &json);
        json_number(&json, "host_bytes_per_step", samples->total_downloaded / (double)steps);
        json_close_object(&json);
        return;
    }
    printf("%s: %d bodies, %d contacts, %s, %d threads, %lld steps after %lld\n", session->scene.name, c->bodies,
           c->contacts, sand_solver_table[session->def.solve.solver].name, session->def.threads, (long long)steps,
           (long long)warmup);
    printf("  step       %10.3f ms (median), %.3g x real time\n", medians[STEP], factor);
    printf("  collide    %10.3f ms, %.1f ns a contact\n", medians[COLLIDE], medians[COLLIDE_CONTACT]);
    printf("  warm start %10.3f ms\n", medians[WARM_START]);
    printf("  build      %10.3f ms\n", medians[BUILD]);
    printf("  solve      %10.3f ms, %d iterations of %.1f us, %.2f ns a contact and iteration\n", medians[SOLVE],
           c->iterations, medians[ITERATION], medians[CONTACT_ITERATION]);
    printf("  integrate  %10.3f ms\n", medians[INTEGRATE]);
    if (drawn)
        printf("  picture    %10.3f ms; with %lld of them %.3g x real time, %.1f pictures a second\n", medians[PICTURE],
               (long long)samples->pictures, 1e3 * (double)steps * world->step / all_ms,
               1e3 * (double)samples->pictures / all_ms);
    if (sand_simulation_backend(session->sim)->instances) // a device of its own
        printf("  to host    %10.0f bytes of bodies and contacts a step\n", samples->total_downloaded / (double)steps);
    const SandTraffic *t = &sand_simulation_profile(session->sim)->traffic;
    if (t->ranks)
        printf(
            "  %d ranks, %lld ghosts; %lld exchanges and %lld allgathers in the last step, %.1f messages and %.0f bytes an "
            "iteration\n",
            t->ranks, (long long)t->ghosts, (long long)t->exchanges, (long long)t->allgathers,
            (double)t->messages / fmax(c->iterations, 1), (double)t->bytes / fmax(c->iterations, 1));
    printf("  residual %.3g m/s, %.1f %% solved, largest penetration %.3g mm, kinetic energy %.4g J\n", c->metrics.residual,
           c->solved, 1e3 * penetration->largest, sand_simulation_energy(session->sim).kinetic);
    if (c->held) print_held(session->sim, c);
    printf("  memory %.1f MB; arrays: %.0f bytes a body, %.0f a contact\n", session_memory_mb(),
           (double)sand_bytes_held() / fmax(c->bodies, 1), (double)sand_bytes_held() / fmax(c->contacts, 1));
}

Outcome bench_scene(const Options *options, SandError *error) {
    int64_t warmup = options->values[OPTION_WARMUP].integer, steps = options->values[OPTION_STEPS].integer;
    Session session;
    Samples samples = {0};
    Pictures pictures = {0};
    Outcome outcome = session_open(&session, options, "bench", error);
    if (outcome == OUTCOME_DONE) {
        Penetration penetration;
        if (reserve_samples(&samples, steps, error) && open_pictures(&pictures, &session, options, error) &&
            take_steps(&session, &pictures, warmup, steps, &samples, error) &&
            session_penetration(&session, &penetration, error)) {
            progress_end(&session.progress);
            report(&session, &penetration, &samples, warmup, steps, options->values[OPTION_JSON].given);
        } else {
            outcome = OUTCOME_FAILED;
        }
    }
    SandError complaint;
    if (!close_pictures(&pictures, &complaint) && outcome == OUTCOME_DONE) {
        *error = complaint;
        outcome = OUTCOME_FAILED;
    }
    free_samples(&samples);
    return session_close(&session, outcome, error);
}
