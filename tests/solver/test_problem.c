// SPDX-License-Identifier: MIT
// The contact problem and its file: a saved problem loads bit-identical and solves to the same bits, and whatever is wrong
// with a file is reported in one sentence.
#include "tests/lab/solver/frozen.h"
#include "sim/core/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

static SandProblem problems[2]; // clumps on terrain, and spheres in a turning drum
static char path[64];

static int make_problems(void **state) {
    (void)state;
    problems[0] = frozen_scene("clumps", 60, 200, 5);
    problems[1] = frozen_scene("drum", 200, 60, 5);
    assert_true(problems[0].contact_count > 20 && problems[1].contact_count > 100);
    strcpy(path, "/tmp/sandglass-problem-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    return 0;
}

static int free_problems(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) sand_problem_free(&problems[k]);
    remove(path);
    return 0;
}

static void assert_same_problem(const SandProblem *a, const SandProblem *b) {
    assert_int_equal(a->body_count, b->body_count);
    assert_int_equal(a->dynamic_count, b->dynamic_count);
    assert_int_equal(a->contact_count, b->contact_count);
    assert_int_equal(a->radial, b->radial);
    assert_int_equal(a->bounces, b->bounces);
    assert_memory_equal(&a->step, &b->step, sizeof a->step);
    assert_memory_equal(&a->recovery, &b->recovery, sizeof a->recovery);
    // The structs have no padding.
    assert_memory_equal(a->bodies, b->bodies, (size_t)a->body_count * sizeof *a->bodies);
    assert_memory_equal(a->contacts, b->contacts, (size_t)a->contact_count * sizeof *a->contacts);
    assert_memory_equal(a->start, b->start, (size_t)a->contact_count * sizeof *a->start);
}

// ---- round trip ----

static void file_keeps_every_bit(void **state) {
    (void)state;
    SandProblem loaded = {0};
    SandError error;
    // Later loads reuse the arrays of the first.
    for (int k = 0; k < 4; k++) {
        const SandProblem *p = &problems[k % 2];
        if (!sand_problem_save(p, path, &error)) fail_msg("%s", error.text);
        if (!sand_problem_load(&loaded, path, &error)) fail_msg("%s", error.text);
        assert_same_problem(p, &loaded);
    }
    sand_problem_free(&loaded);
}

// A problem with bodies and no contacts, and an empty one.
static void empty_problems_are_kept_and_solved(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        SandProblem p = frozen_copy(&problems[k]), loaded = {0};
        SandSolution s = {.want_curve = true};
        SandSolveDef def = sand_default_solve();
        SandError error;
        p.contact_count = 0;
        if (k) p.body_count = p.dynamic_count = 0;
        if (!sand_problem_save(&p, path, &error) || !sand_problem_load(&loaded, path, &error)) fail_msg("%s", error.text);
        assert_same_problem(&p, &loaded);
        SandCpu *cpu = sand_cpu_create(2, SAND_FLOAT, &error);
        for (def.solver = 0; def.solver < sand_solver_count(); def.solver++) {
            sand_solve_choose(&def, def.solver);
            def.friction = sand_solver_can(def.solver, SAND_FRICTION_CONE) ? SAND_FRICTION_CONE : SAND_FRICTIONLESS;
            if (!sand_cpu_solve(cpu, &loaded, &def, &s, &error)) fail_msg("%s", error.text);
            assert_true(s.status >= 0 && s.metrics.residual == 0 && s.metrics.objective == 0);
            for (int i = 0; i < loaded.body_count; i++)
                assert_memory_equal(&s.velocity[i], &loaded.bodies[i].velocity, sizeof(SandVec3));
        }
        sand_cpu_free(cpu);
        sand_solution_free(&s);
        sand_problem_free(&loaded);
        sand_problem_free(&p);
    }
}

// Every solver, in both precisions and with another number of threads: the same bits from the file as from the scene.
static void loaded_problem_solves_to_the_same_bits(void **state) {
    (void)state;
    SandError error;
    for (int k = 0; k < 2; k++)
        for (int precision = SAND_FLOAT; precision <= SAND_DOUBLE; precision++) {
            const SandProblem *p = &problems[k];
            SandProblem loaded = {0};
            if (!sand_problem_save(p, path, &error) || !sand_problem_load(&loaded, path, &error)) fail_msg("%s", error.text);
            SandCpu *one = sand_cpu_create(1, precision, &error), *three = sand_cpu_create(3, precision, &error);
            for (int solver = 0; solver < sand_solver_count(); solver++) {
                const int orders = strcmp(sand_solver_table[solver].name, "gauss-seidel") ? 1 : 3;
                for (int order = 0; order < orders; order++)
                    for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++) {
                        if (!sand_solver_can(solver, friction)) continue;
                        SandSolution a = {0}, b = {0};
                        SandSolveDef def = sand_default_solve();
                        sand_solve_choose(&def, solver);
                        def.iterations = 9;
                        def.presolve = 3;
                        def.friction = friction;
                        if (orders > 1) def.params[sand_param_find(&sand_solver_table[solver], "order")] = order;
                        if (!sand_cpu_solve(one, p, &def, &a, &error)) fail_msg("%s", error.text);
                        if (!sand_cpu_solve(three, &loaded, &def, &b, &error)) fail_msg("%s", error.text);
                        assert_int_equal(a.status, b.status);
                        assert_int_equal(a.iterations, b.iterations);
                        assert_memory_equal(&a.metrics, &b.metrics, sizeof a.metrics);
                        assert_memory_equal(a.impulse, b.impulse, (size_t)p->contact_count * sizeof *a.impulse);
                        assert_memory_equal(a.velocity, b.velocity, (size_t)p->body_count * sizeof *a.velocity);
                        assert_memory_equal(a.spin, b.spin, (size_t)p->body_count * sizeof *a.spin);
                        sand_solution_free(&a);
                        sand_solution_free(&b);
                    }
            }
            sand_cpu_free(one);
            sand_cpu_free(three);
            sand_problem_free(&loaded);
        }
}

// ---- files that are wrong ----

typedef struct Bytes {
    unsigned char *data;
    size_t size;
} Bytes;

static Bytes saved_bytes(const SandProblem *p) {
    SandError error;
    if (!sand_problem_save(p, path, &error)) fail_msg("%s", error.text);
    FILE *f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    Bytes b = {NULL, (size_t)ftell(f)};
    rewind(f);
    b.data = malloc(b.size + 64);
    assert_int_equal(fread(b.data, 1, b.size, f), b.size);
    fclose(f);
    return b;
}

static void write_bytes(const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
}

// Loading fails with one line that names the file and gives a reason.
static void assert_refused(const char *file) {
    SandProblem p = {0};
    SandError error = {""};
    assert_false(sand_problem_load(&p, file, &error));
    assert_non_null(strstr(error.text, file));
    assert_true(strlen(error.text) > strlen(file) + 10);
    assert_null(strchr(error.text, '\n'));
    sand_problem_free(&p);
}

// Where the head of a file of version 5 ends; of an older one without joints it is all.
enum { HEAD5 = 88 };

// Takes some bytes out of others.
static void cut(Bytes *b, size_t at, size_t size) {
    memmove(b->data + at, b->data + at + size, b->size - at - size);
    b->size -= size;
}

// Bounces and pulls are kept, and how penetrations are undone. A file of version 3 has none: contacts end two numbers
// earlier, the head one, and no number of joints follows it.
static void bounces_and_pulls_are_kept(void **state) {
    (void)state;
    enum { NUMBERS = 23, OLD = 16 };
    SandError error = {""};
    SandProblem p = frozen_copy(&problems[0]), loaded = {0};
    for (int i = 0; i < p.contact_count; i++) p.contacts[i].bounce = 0.5 * i, p.contacts[i].pull = 0.1 + i;
    p.bounces = true;
    p.recovery.fall = 9.81;
    Bytes b = saved_bytes(&p);
    if (!sand_problem_load(&loaded, path, &error)) fail_msg("%s", error.text);
    assert_same_problem(&p, &loaded);

    size_t head = b.size - (size_t)p.contact_count * NUMBERS * 8;
    for (int i = 0; i < p.contact_count; i++)
        memmove(b.data + head + (size_t)i * OLD * 8, b.data + head + (size_t)i * NUMBERS * 8, OLD * 8);
    b.data[14] = '3';
    b.size = head + (size_t)p.contact_count * OLD * 8;
    cut(&b, HEAD5, 16);
    write_bytes(b.data, b.size);
    if (!sand_problem_load(&loaded, path, &error)) fail_msg("%s", error.text);
    assert_same_problem(&problems[0], &loaded);
    sand_problem_free(&p);
    sand_problem_free(&loaded);
    free(b.data);
}

// A file of version 4 has no rolling friction: contacts end five numbers earlier.
static void files_without_rolling_friction_are_read(void **state) {
    (void)state;
    enum { NUMBERS = 23, OLD = 18 };
    SandError error = {""};
    SandProblem loaded = {0};
    int contacts = problems[0].contact_count;
    Bytes b = saved_bytes(&problems[0]);
    size_t head = b.size - (size_t)contacts * NUMBERS * 8;
    for (int i = 0; i < contacts; i++)
        memmove(b.data + head + (size_t)i * OLD * 8, b.data + head + (size_t)i * NUMBERS * 8, OLD * 8);
    b.data[14] = '4';
    b.size = head + (size_t)contacts * OLD * 8;
    cut(&b, HEAD5, 8);
    write_bytes(b.data, b.size);
    if (!sand_problem_load(&loaded, path, &error)) fail_msg("%s", error.text);
    assert_same_problem(&problems[0], &loaded);
    assert_false(loaded.rolls);
    sand_problem_free(&loaded);
    free(b.data);
}

static void files_that_are_no_problem_are_refused(void **state) {
    (void)state;
    Bytes b = saved_bytes(&problems[0]);
    unsigned char *zeros = calloc(b.size, 1);
    write_bytes(zeros, b.size);
    assert_refused(path);
    write_bytes("", 0);
    assert_refused(path);
    write_bytes("name: hourglass\nsolver: {name: jacobi}\n", 38);
    assert_refused(path);
    assert_refused("/nowhere/at/all");
    assert_refused("/tmp"); // a folder
    // Truncated anywhere, or with trailing bytes.
    for (size_t size = 0; size < b.size; size += size < 200 ? 1 : 997) {
        write_bytes(b.data, size);
        assert_refused(path);
    }
    write_bytes(b.data, b.size - 1);
    assert_refused(path);
    b.data[b.size] = 0;
    write_bytes(b.data, b.size + 1);
    assert_refused(path);
    free(zeros);
    free(b.data);
}

static void an_unwritable_path_is_reported(void **state) {
    (void)state;
    SandError error = {""};
    assert_false(sand_problem_save(&problems[0], "/nowhere/at/all", &error));
    assert_non_null(strstr(error.text, "/nowhere/at/all"));
}

// The header is a text of 16 bytes, then numbers of 8 bytes: the byte order mark, bodies, dynamic bodies, contacts, radial,
// step, and speed, depth and fraction of the recovery. Counts are integers, the others are doubles.
enum {
    MARK = 16,
    BODY_COUNT = 24,
    DYNAMIC_COUNT = 32,
    CONTACT_COUNT = 40,
    STEP = 56,
    RECOVERY = 64,
    DEPTH = 72,
    FRACTION = 80
};

static void wrong_headers_are_refused(void **state) {
    (void)state;
    Bytes b = saved_bytes(&problems[0]);
    const int64_t counts[] = {-1, INT64_MIN, INT64_MAX, 1ll << 31, 1ll << 40, 1ll << 60, 0, 1, problems[0].body_count + 1};
    const size_t places[] = {BODY_COUNT, DYNAMIC_COUNT, CONTACT_COUNT};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            int64_t was;
            memcpy(&was, b.data + places[k], 8);
            // A smaller number of dynamic bodies is refused too: contacts would then belong to a boundary.
            memcpy(b.data + places[k], &counts[c], 8);
            write_bytes(b.data, b.size);
            assert_refused(path);
            memcpy(b.data + places[k], &was, 8);
        }
    const struct {
        size_t place;
        double value;
    } numbers[] = {{MARK, 2},        {MARK, NAN},      {STEP, 0},      {STEP, -0.01}, {STEP, NAN},
                   {STEP, INFINITY}, {RECOVERY, NAN},  {RECOVERY, -1}, {DEPTH, NAN},  {DEPTH, -1},
                   {FRACTION, NAN},  {FRACTION, -0.1}, {FRACTION, 1.1}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        double was;
        memcpy(&was, b.data + numbers[k].place, 8);
        memcpy(b.data + numbers[k].place, &numbers[k].value, 8);
        write_bytes(b.data, b.size);
        assert_refused(path);
        memcpy(b.data + numbers[k].place, &was, 8);
    }
    write_bytes(b.data, b.size); // every change was undone
    SandProblem p = {0};
    assert_true(sand_problem_load(&p, path, NULL));
    sand_problem_free(&p);
    free(b.data);
}

// Saves an invalid problem and expects that loading it fails.
static void assert_not_read(const SandProblem *p) {
    SandError error;
    if (!sand_problem_save(p, path, &error)) fail_msg("%s", error.text);
    assert_refused(path);
}

static void wrong_bodies_and_contacts_are_refused(void **state) {
    (void)state;
    SandProblem p = frozen_copy(&problems[0]);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    // Every number of a body, of a contact and of its start impulse, in the first, a middle and the last one.
    for (size_t k = 0; k < 3; k++)
        for (int at = 0; at < 3; at++) {
            SandProblemBody *body = &p.bodies[at * (p.body_count - 1) / 2];
            SandContact *contact = &p.contacts[at * (p.contact_count - 1) / 2];
            SandVec3 *start = &p.start[at * (p.contact_count - 1) / 2];
            double *numbers[] = {&body->inverse_mass,
                                 &body->inverse_inertia[0],
                                 &body->inverse_inertia[5],
                                 &body->velocity.x,
                                 &body->velocity.z,
                                 &body->spin.y,
                                 &body->radius,
                                 &contact->normal.x,
                                 &contact->normal.z,
                                 &contact->arm_a.y,
                                 &contact->arm_b.z,
                                 &contact->gap,
                                 &contact->mu,
                                 &start->x,
                                 &start->z};
            for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
                double was = *numbers[n];
                *numbers[n] = bad[k];
                assert_not_read(&p);
                *numbers[n] = was;
            }
        }
    SandContact *c = &p.contacts[p.contact_count / 2], was = *c;
    const int bodies[][2] = {{-1, was.b},
                             {was.a, was.a},
                             {was.b, was.a},
                             {was.a, p.body_count},
                             {p.dynamic_count, p.body_count - 1},
                             {2000000000, 2000000001}};
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        c->a = bodies[k][0];
        c->b = bodies[k][1];
        assert_not_read(&p);
        *c = was;
    }
    c->normal = v3_scale(1.01, was.normal);
    assert_not_read(&p);
    c->normal = v3_make(0, 0, 0);
    assert_not_read(&p);
    *c = was;
    c->mu = -0.1;
    assert_not_read(&p);
    *c = was;
    p.bodies[0].inverse_mass = -1;
    assert_not_read(&p);
    p.bodies[0].inverse_mass = problems[0].bodies[0].inverse_mass;
    // Out of order.
    int last = p.contact_count - 1;
    SandContact first = p.contacts[0];
    assert_true(first.a < p.contacts[last].a);
    p.contacts[0] = p.contacts[last];
    p.contacts[last] = first;
    assert_not_read(&p);
    sand_problem_free(&p);
}

// Random bytes at random places: the file is refused with a sentence, or read and solved without a crash (a changed digit of
// a velocity is still a velocity).
static void garbled_files_do_no_harm(void **state) {
    (void)state;
    Bytes b = saved_bytes(&problems[0]);
    SandRandom random = sand_random(3);
    SandError error;
    SandCpu *cpu = sand_cpu_create(1, SAND_FLOAT, &error);
    SandSolution s = {0};
    SandSolveDef def = sand_default_solve();
    def.iterations = 3;
    int read = 0;
    for (int trial = 0; trial < 200; trial++) {
        unsigned char *copy = malloc(b.size);
        memcpy(copy, b.data, b.size);
        for (int k = 0; k < 1 + trial % 8; k++) {
            size_t at = sand_random_bits(&random) % (trial % 2 ? b.size : 72 + 14 * 8);
            copy[at] = (unsigned char)sand_random_bits(&random);
        }
        write_bytes(copy, b.size);
        SandProblem p = {0};
        if (sand_problem_load(&p, path, &error)) {
            read++;
            sand_solve_choose(&def, trial % sand_solver_count());
            def.friction = sand_solver_can(def.solver, SAND_FRICTION_CONE) ? SAND_FRICTION_CONE : SAND_FRICTIONLESS;
            // A few bytes may be rolling friction, which not every method can do.
            if (!sand_cpu_solve(cpu, &p, &def, &s, &error) && !strstr(error.text, "rolling friction"))
                fail_msg("%s", error.text);
        } else {
            assert_non_null(strstr(error.text, path));
        }
        sand_problem_free(&p);
        free(copy);
    }
    print_message("%d of 200 garbled files could be read\n", read);
    sand_solution_free(&s);
    sand_cpu_free(cpu);
    free(b.data);
}

// The residuals of the contacts sum up to the residual that the solve reports, for every model and precision.
static void residuals_of_contacts_make_up_the_whole(void **state) {
    (void)state;
    SandError error = {""};
    for (int precision = SAND_FLOAT; precision <= SAND_DOUBLE; precision++)
        for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++) {
            SandSolveDef def = sand_default_solve();
            if (!sand_solver_can(def.solver, (SandFriction)friction)) continue;
            SandCpu *cpu = sand_cpu_create(2, precision, &error);
            SandSolution s = {.want_metrics = true};
            def.friction = (SandFriction)friction;
            def.iterations = 3; // stays far above the level of rounding
            const SandProblem *p = &problems[0];
            double *each = calloc((size_t)p->contact_count, sizeof *each), sum = 0;
            if (!sand_cpu_solve(cpu, p, &def, &s, &error) || !sand_cpu_residuals(cpu, p, &def, s.impulse, each, &error))
                fail_msg("%s", error.text);
            for (int i = 0; i < p->contact_count; i++) sum += each[i] * each[i];
            assert_true(s.metrics.residual > 0);
            if (!(fabs(sqrt(sum) - s.metrics.residual) < 1e-5 * s.metrics.residual))
                fail_msg("%s: %g in all, not %g", sand_friction_table[friction].name, sqrt(sum), s.metrics.residual);
            free(each);
            sand_solution_free(&s);
            sand_cpu_free(cpu);
        }
}

// A problem given as arrays is held to what a file is: the same check, with a name in place of the file's.
static void problems_given_as_arrays_are_checked(void **state) {
    (void)state;
    SandError error;
    SandProblemBody bodies[2] = {{.inverse_mass = 1, .inverse_inertia = {1, 1, 1}}, {.inverse_mass = 0}};
    const SandContact good = {.a = 0, .b = 1, .normal = {0, 0, -1}, .mu = 0.5};
    SandContact contact = good;
    SandVec3 start = {0, 0, 0};
    SandProblem p = {.body_count = 2, .dynamic_count = 1, .contact_count = 1, .step = 0.01, .bodies = bodies};
    p.contacts = &contact;
    p.start = &start;
    assert_true(sand_problem_check(&p, "arrays", &error));
    contact.b = 2;
    assert_false(sand_problem_check(&p, "arrays", &error));
    assert_non_null(strstr(error.text, "arrays: contact 0 joins bodies 0 and 2"));
    contact = good;
    p.step = 0;
    assert_false(sand_problem_check(&p, "arrays", &error));
    p.step = 0.01;
    p.dynamic_count = 3;
    assert_false(sand_problem_check(&p, "arrays", &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_keeps_every_bit),
        cmocka_unit_test(empty_problems_are_kept_and_solved),
        cmocka_unit_test(loaded_problem_solves_to_the_same_bits),
        cmocka_unit_test(residuals_of_contacts_make_up_the_whole),
        cmocka_unit_test(bounces_and_pulls_are_kept),
        cmocka_unit_test(files_without_rolling_friction_are_read),
        cmocka_unit_test(files_that_are_no_problem_are_refused),
        cmocka_unit_test(an_unwritable_path_is_reported),
        cmocka_unit_test(wrong_headers_are_refused),
        cmocka_unit_test(wrong_bodies_and_contacts_are_refused),
        cmocka_unit_test(garbled_files_do_no_harm),
        cmocka_unit_test(problems_given_as_arrays_are_checked),
    };
    return cmocka_run_group_tests(tests, make_problems, free_problems);
}
