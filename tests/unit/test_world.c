// SPDX-License-Identifier: MIT
// The world: properties of a body, the tables of pairs, what is refused, energies, momenta and the hash.
#include "sim/core/array.h"
#include "sandglass/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

static const double PI = 3.14159265358979323846;

static void assert_near(double got, double want, double tolerance, int line) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("line %d: got %.17g, wanted %.17g within %g", line, got, want, tolerance);
}
#define NEAR(got, want, tolerance) assert_near(got, want, tolerance, __LINE__)

static int add_material(SandWorld *world, const char *name, double mu) {
    SandMaterial m = {.density = 1000, .mu = mu};
    snprintf(m.name, sizeof m.name, "%s", name);
    return sand_world_add_material(world, &m, NULL);
}

// Shapes 0 sphere, 1 box; material 0.
static SandWorld small_world(void) {
    SandWorld world;
    SandShape shape;
    sand_world_init(&world);
    assert_int_equal(sand_world_add_material(&world, &(SandMaterial){.name = "quartz", .density = 2600, .mu = 0.5}, NULL),
                     0);
    assert_true(sand_shape_sphere(&shape, NULL));
    assert_int_equal(sand_world_add_shape(&world, &shape, NULL), 0);
    assert_true(sand_shape_box(&shape, v3_make(1, 2, 3), NULL));
    assert_int_equal(sand_world_add_shape(&world, &shape, NULL), 1);
    return world;
}

static void the_friction_table_is_complete_and_symmetric(void **state) {
    (void)state;
    SandWorld w;
    sand_world_init(&w);
    double mu[5] = {0.1, 0.2, 0.4, 0, 0.8};
    for (int n = 0; n < 5; n++) {
        char name[8];
        snprintf(name, sizeof name, "m%d", n);
        assert_int_equal(add_material(&w, name, mu[n]), n);
        if (n == 1) sand_world_set_pair(&w, 1, 0, &(SandPair){.mu = 0.9}); // stays when more materials are added
        for (int a = 0; a <= n; a++)
            for (int b = 0; b <= n; b++) {
                double want = n > 0 && a + b == 1 ? 0.9 : sqrt(mu[a] * mu[b]);
                NEAR(sand_world_pair(&w, a, b)->mu, want, 1e-16);
                assert_true(sand_world_pair(&w, a, b)->mu == sand_world_pair(&w, b, a)->mu);
            }
    }
    assert_int_equal(sand_world_add_material(&w, &(SandMaterial){.name = "m1", .density = 1000, .mu = 0}, NULL), -1);
    assert_int_equal(sand_world_add_material(&w, &(SandMaterial){.name = "bad", .density = 0, .mu = 0}, NULL), -1);
    assert_int_equal(sand_world_add_material(&w, &(SandMaterial){.name = "bad", .density = 1, .mu = NAN}, NULL), -1);
    for (int n = 5; n <= SAND_MAX_MATERIALS; n++) { // the last is one too many
        char name[8];
        snprintf(name, sizeof name, "m%d", n);
        assert_int_equal(add_material(&w, name, 0.5), n < SAND_MAX_MATERIALS ? n : -1);
    }
    sand_world_free(&w);
}

static void bodies_have_mass_and_inertia(void **state) {
    (void)state;
    SandWorld w = small_world();
    SandBodyDef def = sand_default_body();
    def.scale = 0.1;
    assert_int_equal(sand_world_add_body(&w, &def, NULL), 0);
    double mass = 2600 * 4 * PI / 3 * 1e-3;
    NEAR(w.mass[0], mass, 1e-12);
    NEAR(w.inertia[0].y, 0.4 * mass * 0.01, 1e-13);
    def.shape = 1; // a box of 4 by 8 by 12 m
    def.scale = 2;
    def.mass = 12;
    assert_int_equal(sand_world_add_body(&w, &def, NULL), 1);
    NEAR(w.mass[1], 12, 0);
    NEAR(w.inertia[1].x, 64 + 144, 1e-12);
    sand_world_free(&w);
}

// A law out of range is refused in a material, and found in a pair.
static void refuse_laws(SandPair pair, const char *word) {
    SandMaterial m = {.name = "a", .density = 1000, .mu = 0.5};
    SandWorld w;
    SandError error = {""};
    sand_world_init(&w);
    assert_int_equal(sand_world_add_material(&w, &m, NULL), 0);
    m.mu = pair.mu;
    m.restitution = pair.restitution;
    m.cohesion = pair.cohesion;
    m.rolling = pair.rolling;
    m.spinning = pair.spinning;
    assert_false(sand_world_set_material(&w, 0, &m, &error));
    assert_non_null(strstr(error.text, word));
    assert_true(w.materials[0].restitution == 0 && sand_world_check(&w, &error));
    sand_world_set_pair(&w, 0, 0, &pair);
    assert_false(sand_world_check(&w, &error));
    assert_non_null(strstr(error.text, word));
    sand_world_free(&w);
}

static void laws_out_of_range_are_refused(void **state) {
    (void)state;
    refuse_laws((SandPair){.mu = -1}, "friction");
    refuse_laws((SandPair){.restitution = 1.1}, "restitution");
    refuse_laws((SandPair){.restitution = -0.1}, "restitution");
    refuse_laws((SandPair){.cohesion = -1}, "cohesion");
    refuse_laws((SandPair){.cohesion = INFINITY}, "cohesion");
    refuse_laws((SandPair){.rolling = NAN}, "rolling");
    refuse_laws((SandPair){.spinning = -1e-3}, "spinning");
}

// As friction: the geometric mean, unless a pair says otherwise.
static void pairs_have_the_means_of_all_laws(void **state) {
    (void)state;
    SandWorld w;
    SandError error = {""};
    SandMaterial a = {.name = "a", .density = 1000, .mu = 0.5}, b = a;
    snprintf(b.name, sizeof b.name, "b");
    sand_world_init(&w);
    assert_int_equal(sand_world_add_material(&w, &a, NULL), 0);
    assert_false(sand_world_bounces(&w) || sand_world_coheres(&w) || sand_world_rolls(&w));
    a.restitution = 0.9;
    a.cohesion = 4;
    a.rolling = 0.1;
    assert_true(sand_world_set_material(&w, 0, &a, NULL));
    assert_true(sand_world_bounces(&w) && sand_world_coheres(&w) && sand_world_rolls(&w));
    b.restitution = 0.4;
    b.cohesion = 9;
    b.rolling = 0.4;
    assert_int_equal(sand_world_add_material(&w, &b, NULL), 1);
    NEAR(sand_world_pair(&w, 1, 0)->restitution, 0.6, 1e-15);
    NEAR(sand_world_pair(&w, 0, 1)->cohesion, 6, 1e-15);
    NEAR(sand_world_pair(&w, 0, 1)->rolling, 0.2, 1e-15);
    NEAR(sand_world_pair(&w, 0, 1)->spinning, 0, 0);
    NEAR(sand_world_pair(&w, 0, 0)->cohesion, 4, 0);
    sand_world_set_pair(&w, 0, 1, &(SandPair){.mu = 0.7, .restitution = 0.1});
    NEAR(sand_world_pair(&w, 1, 0)->restitution, 0.1, 0);
    NEAR(sand_world_pair(&w, 1, 0)->mu, 0.7, 0);
    assert_true(sand_world_set_material(&w, 1, &b, NULL)); // the means again
    NEAR(sand_world_pair(&w, 0, 1)->restitution, 0.6, 1e-15);
    assert_true(sand_world_check(&w, &error));
    assert_false(sand_world_set_material(&w, 2, &b, &error) || sand_world_set_material(&w, 0, &b, &error));
    assert_non_null(strstr(error.text, "there twice"));
    sand_world_free(&w);
}

static void refuse_body(SandWorld *w, SandBodyDef def, const char *word) {
    SandError error = {""};
    assert_int_equal(sand_world_add_body(w, &def, &error), -1);
    if (!strstr(error.text, word)) fail_msg("'%s' does not speak of '%s'", error.text, word);
    assert_int_equal(w->body_count, 0);
}

static void bad_bodies_are_refused(void **state) {
    (void)state;
    SandWorld w = small_world();
    SandBodyDef good = sand_default_body(), def;
    def = good, def.shape = 2, refuse_body(&w, def, "no shape 2");
    def = good, def.material = -1, refuse_body(&w, def, "no material -1");
    def = good, def.scale = 0, refuse_body(&w, def, "size");
    def = good, def.scale = INFINITY, refuse_body(&w, def, "size");
    def = good, def.mass = -1, refuse_body(&w, def, "mass");
    def = good, def.mass = 1e200, refuse_body(&w, def, "out of range");
    def = good, def.pose.position.y = NAN, refuse_body(&w, def, "finite");
    def = good, def.spin.z = INFINITY, refuse_body(&w, def, "finite");
    def = good, def.pose.rotation = (SandQuat){0, 0, 0, 0}, refuse_body(&w, def, "rotation");
    sand_world_free(&w);
}

static void the_whole_world_is_checked(void **state) {
    (void)state;
    SandWorld w = small_world();
    SandError error = {""};
    SandBodyDef def = sand_default_body();
    SandBoundary b;
    assert_true(sand_boundary_sphere(&b, 9, SAND_INSIDE, NULL));
    assert_int_equal(sand_world_add_boundary(&w, &b, NULL), 0);
    sand_world_add_body(&w, &def, NULL);
    def.shape = 1;
    sand_world_add_body(&w, &def, NULL);
    assert_true(sand_world_check(&w, &error));
    w.boundaries[0].side = SAND_OUTSIDE; // boxes lie on anything, and there may be several
    sand_world_add_body(&w, &def, NULL);
    assert_true(sand_world_check(&w, &error));
    w.boundaries[0].material = 3;
    strcpy(w.boundaries[0].name, "dome");
    assert_false(sand_world_check(&w, &error));
    assert_non_null(strstr(error.text, "dome"));
    sand_world_free(&w);
    w = small_world();
    w.step = 0;
    assert_false(sand_world_check(&w, &error));
    sand_world_free(&w);
}

static void energies_and_momenta_follow_the_formulas(void **state) {
    (void)state;
    SandWorld w = small_world();
    SandBodyDef def = sand_default_body();
    def.shape = 1; // inertia 13, 10, 5 in the body frame
    def.mass = 3;
    def.pose.position = v3_make(1, 0, 2);
    def.pose.rotation = q_exp(v3_make(0, 0, PI / 2)); // its x axis lies along y
    def.velocity = v3_make(0, 4, 0);
    def.spin = v3_make(0, 2, 0);
    sand_world_add_body(&w, &def, NULL);
    def.enter = 1; // inactive yet
    sand_world_add_body(&w, &def, NULL);
    NEAR(sand_world_kinetic_energy(&w), 0.5 * 3 * 16 + 0.5 * 13 * 4, 1e-12);
    NEAR(sand_world_potential_energy(&w), 3 * 9.81 * 2, 1e-12);
    NEAR(sand_world_momentum(&w).y, 12, 0);
    SandVec3 l = sand_world_angular_momentum(&w);
    NEAR(l.x, -2 * 12, 1e-12);
    NEAR(l.y, 26, 1e-12);
    NEAR(l.z, 12, 1e-12);
    w.time = 1;
    NEAR(sand_world_momentum(&w).y, 24, 0);
    sand_world_free(&w);
}

static void the_hash_sees_every_bit(void **state) {
    (void)state;
    SandWorld w = small_world();
    SandBodyDef def = sand_default_body();
    for (int i = 0; i < 3; i++) sand_world_add_body(&w, &def, NULL);
    uint64_t hash = sand_world_hash(&w);
    assert_true(hash == sand_world_hash(&w));
    double *parts[] = {&w.time, &w.position[1].z, &w.rotation[2].x, &w.velocity[0].y, &w.spin[2].z};
    for (int i = 0; i < 5; i++)
        for (int bit = 0; bit < 64; bit++) {
            uint64_t bits, flipped;
            memcpy(&bits, parts[i], 8);
            flipped = bits ^ (uint64_t)1 << bit;
            memcpy(parts[i], &flipped, 8);
            assert_true(hash != sand_world_hash(&w));
            memcpy(parts[i], &bits, 8);
        }
    w.velocity[0].x = -0.0; // two flipped signs do not cancel in the hash
    w.velocity[1].x = -0.0;
    assert_true(hash != sand_world_hash(&w));
    sand_world_free(&w);
    assert_int_equal(sand_bytes_held(), 0);
}

static void bodies_kept_apart_do_not_touch(void **state) {
    (void)state;
    SandWorld world = small_world();
    SandBodyDef def = sand_default_body();
    SandError error = {""};
    for (int k = 0; k < 4; k++) assert_int_equal(sand_world_add_body(&world, &def, NULL), k);
    assert_true(sand_world_keep_apart(&world, 2, 0, &error) && sand_world_keep_apart(&world, 0, 2, &error));
    assert_true(sand_world_keep_apart(&world, 3, 1, &error));
    assert_int_equal(world.apart_count, 2);
    assert_true(sand_world_apart(&world, 0, 2) && sand_world_apart(&world, 1, 3) && !sand_world_apart(&world, 0, 1));
    assert_false(sand_world_keep_apart(&world, 1, 1, &error) || sand_world_keep_apart(&world, -1, 1, &error));
    assert_false(sand_world_keep_apart(&world, 1, 4, &error));
    assert_non_null(strstr(error.text, "bodies 1 and 4 are no pair; the world has 4"));
    sand_world_free(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_kept_apart_do_not_touch),   cmocka_unit_test(the_friction_table_is_complete_and_symmetric),
        cmocka_unit_test(bodies_have_mass_and_inertia),     cmocka_unit_test(bad_bodies_are_refused),
        cmocka_unit_test(the_whole_world_is_checked),       cmocka_unit_test(energies_and_momenta_follow_the_formulas),
        cmocka_unit_test(pairs_have_the_means_of_all_laws), cmocka_unit_test(laws_out_of_range_are_refused),
        cmocka_unit_test(the_hash_sees_every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
