// SPDX-License-Identifier: MIT
// Compounds: mass, center and inertia against closed forms; contacts against those of the pieces as bodies of their own;
// keys that tell pieces apart; and what is refused.
#include "sim/collision/collide.h"
#include "sim/core/random.h"
#include "sim/world/world_key.h"
#include "tests/lab/compound_lab.h"

// --- mass -------------------------------------------------------------------------------------------------

static SandShape compound_of(const SandPiece *pieces, int count) {
    SandShape shape;
    SandError error = {""};
    if (!sand_shape_compound(&shape, pieces, count, NULL, &error)) fail_msg("%s", error.text);
    return shape;
}

static void near_vector(SandVec3 got, SandVec3 want, double tolerance) {
    if (!(v3_length(v3_sub(got, want)) <= tolerance))
        fail_msg("(%.12g, %.12g, %.12g) is not (%.12g, %.12g, %.12g)", got.x, got.y, got.z, want.x, want.y, want.z);
}

static void two_halves_are_the_whole(void **state) {
    (void)state;
    SandShape box;
    SandPiece halves[2] = {lab_box_piece(v3_make(0.25, 0.3, 0.2), v3_make(-0.25, 0, 0), v3_make(0, 0, 0)),
                           lab_box_piece(v3_make(0.2, 0.25, 0.3), v3_make(0.25, 0, 0), v3_make(0, 0, 0))};
    // The second half is the first one turned, so that its axes are others: z goes to y, y to x, x to z.
    halves[1].pose.rotation = q_unit((SandQuat){0.5, -0.5, -0.5, -0.5});
    assert_true(sand_shape_box(&box, v3_make(0.5, 0.3, 0.2), NULL));
    SandShape whole = compound_of(halves, 2);
    NEAR(whole.volume, box.volume, 1e-15);
    near_vector(whole.inertia, box.inertia, 1e-15);
    near_vector(whole.from_input.position, v3_make(0, 0, 0), 1e-15);
    near_vector(whole.half, box.half, 1e-12);
    NEAR(whole.bound, box.bound, 1e-14);
    for (int k = 0; k < 2; k++) sand_shape_free(&halves[k].shape);
    sand_shape_free(&whole);
    sand_shape_free(&box);
}

// An L of two boxes of one by one, the upright of height 2 above the end of the foot: by the sums of plane geometry.
static void an_l_has_its_inertia(void **state) {
    (void)state;
    SandPiece pieces[2] = {lab_box_piece(v3_make(1.5, 0.5, 0.5), v3_make(11.5, 5, 0.5), v3_make(0, 0, 0)),
                           lab_box_piece(v3_make(0.5, 0.5, 1), v3_make(10.5, 5, 2), v3_make(0, 0, 0))};
    SandShape l = compound_of(pieces, 2);
    // Foot: volume 3 about (11.5, 0.5); upright: volume 2 about (10.5, 2). Together 5 about (11.1, 1.1).
    double xx = 3 * (9 / 12. + 0.16) + 2 * (1 / 12. + 0.36), zz = 3 * (1 / 12. + 0.36) + 2 * (4 / 12. + 0.81);
    double xz = 3 * 0.4 * -0.6 + 2 * -0.6 * 0.9, yy = 5 / 12.;
    // Principal moments: about y, and those of the symmetric matrix of the other two.
    double ix = yy + zz, iz = xx + yy, mean = 0.5 * (ix + iz), root = sqrt(0.25 * (ix - iz) * (ix - iz) + xz * xz);
    double found[3] = {l.inertia.x, l.inertia.y, l.inertia.z}, wanted[3] = {mean - root, mean + root, xx + zz};
    NEAR(l.volume, 5, 1e-13);
    SandVec3 center = pose_apply_inverse(l.from_input, v3_make(0, 0, 0));
    near_vector(center, v3_make(11.1, 5, 1.1), 1e-12);
    for (int k = 0; k < 3; k++) {
        double nearest = INFINITY;
        for (int i = 0; i < 3; i++) nearest = fmin(nearest, fabs(found[i] - wanted[k]));
        NEAR(nearest, 0, 1e-12);
    }
    for (int k = 0; k < 2; k++) sand_shape_free(&pieces[k].shape);
    sand_shape_free(&l);
}

// A dumbbell: two balls of radius 0.5 at 2 apart, joined by a rod, with the theorem of Huygens and Steiner.
static void a_dumbbell_has_its_inertia(void **state) {
    (void)state;
    SandShape ball, rod;
    assert_true(sand_shape_sphere(&ball, NULL) && sand_shape_cylinder(&rod, 0.1, 1, NULL));
    SandVec3 none = v3_make(0, 0, 0);
    SandPiece pieces[3] = {lab_piece(ball, 0.5, v3_make(-1, 0, 0), none), lab_piece(ball, 0.5, v3_make(1, 0, 0), none),
                           lab_piece(rod, 1, none, v3_make(0, 0.5 * PI, 0))};
    SandShape s = compound_of(pieces, 3);
    double v = 4 * PI / 3 * 0.125, r = PI * 0.01;
    double along = 2 * 0.4 * v * 0.25 + r * 0.005, across = 2 * v * (0.1 + 1) + r * (0.0025 + 1 / 12.);
    NEAR(s.volume, 2 * v + r, 1e-14);
    NEAR(fmin(s.inertia.x, fmin(s.inertia.y, s.inertia.z)), along, 1e-14);
    NEAR(fmax(s.inertia.x, fmax(s.inertia.y, s.inertia.z)), across, 1e-14);
    NEAR(s.inertia.x + s.inertia.y + s.inertia.z, along + 2 * across, 1e-13);
    NEAR(s.bound, 1.5, 1e-12);
    sand_shape_free(&ball);
    sand_shape_free(&rod);
    sand_shape_free(&s);
}

static void a_solid_is_taken_in_place_of_the_sum(void **state) {
    (void)state;
    SandPiece piece = lab_box_piece(v3_make(1, 1, 1), v3_make(3, 0, 0), v3_make(0, 0, 0));
    SandSolid solid = {5, {3.5, 0.25, 0}, {4, 5, 6}, {0.5, 0, 0}};
    SandShape s;
    assert_true(sand_shape_compound(&s, &piece, 1, &solid, NULL));
    double mean = 4.5, root = sqrt(0.25 + 0.25); // of the matrix (4 0.5; 0.5 5)
    NEAR(s.volume, 5, 0);
    near_vector(pose_apply_inverse(s.from_input, v3_make(0, 0, 0)), v3_make(3.5, 0.25, 0), 1e-13);
    NEAR(fmin(s.inertia.x, s.inertia.y), mean - root, 1e-13);
    NEAR(fmax(s.inertia.x, s.inertia.y), mean + root, 1e-13);
    NEAR(s.inertia.z, 6, 1e-13);
    SandVec3 corner = pose_apply(s.pieces[0].pose, s.pieces[0].shape.core->corners[0]);
    near_vector(pose_apply_inverse(s.from_input, corner), v3_make(2, -1, -1), 1e-12);
    sand_shape_free(&piece.shape);
    sand_shape_free(&s);
}

// --- contacts ---------------------------------------------------------------------------------------------

enum { MOST = 4096, GROUND = 7 };
#define ENVELOPE 0.12

// Contacts of a world without their names: where, in which direction and how near.
typedef struct Touches {
    int count;
    SandContactCandidate of[MOST];
} Touches;

// The contacts of a body of the world with all that is none of its own pieces; normals point away from it.
static void find_touches(SandWorld *world, int first, int end, Touches *found) {
    SandThreadPool *pool = sand_thread_pool_create(1, NULL);
    SandCollision collision = {0};
    SandError error = {""};
    if (!sand_collide(&collision, world, pool, &error)) fail_msg("%s", error.text);
    found->count = 0;
    for (int k = 0; k < collision.contact_count; k++) {
        SandContactCandidate c = collision.contacts[k];
        int a = collision.body[c.index_a], b = c.b < 0 ? -1 : collision.body[c.b];
        bool is_a = a >= first && a < end, is_b = b >= first && b < end;
        if (is_a == is_b || c.gap > ENVELOPE) continue; // a sphere is a contact of a boundary from farther away
        if (is_b) c.normal = v3_neg(c.normal);
        assert_true(found->count < MOST);
        found->of[found->count++] = c;
    }
    sand_collision_free(&collision);
    sand_thread_pool_free(pool);
}

static void add_boundary(SandWorld *world, int kind) {
    static const double can[4][2] = {{0, -2}, {3, -2}, {3, 2}, {0, 2}}, neck[4][2] = {{3, -3}, {1.2, 0}, {1.2, 0.2}, {3, 3}};
    SandBoundary b;
    double heights[121];
    for (int k = 0; k < 121; k++) heights[k] = 0.5 * sin(0.9 * (k % 11)) * cos(0.7 * (k / 11));
    bool ok = true;
    switch (kind) {
    case 0: ok = sand_boundary_plane(&b, v3_make(0, 0, 0), v3_make(0.3, 0.1, 1), NULL); break;
    case 1: ok = sand_boundary_box(&b, v3_make(2, 2, 2), SAND_INSIDE, NULL); break;
    case 2: ok = sand_boundary_box(&b, v3_make(1, 0.5, 0.8), SAND_OUTSIDE, NULL); break;
    case 3: ok = sand_boundary_sphere(&b, 2, SAND_INSIDE, NULL); break;
    case 4: ok = sand_boundary_sphere(&b, 0.8, SAND_OUTSIDE, NULL); break;
    case 5: ok = sand_boundary_revolution(&b, can, 4, SAND_INSIDE, NULL); break;
    case 6: ok = sand_boundary_revolution(&b, neck, 4, SAND_INSIDE, NULL); break;
    default: ok = sand_boundary_terrain(&b, heights, 11, 11, v3_make(5, 5, 0), NULL); break;
    }
    assert_true(ok);
    sand_world_add_boundary(world, &b, NULL);
}

// A world with something to touch: a boundary, a box, a stone and balls.
static SandWorld surroundings(int boundary) {
    SandWorld w = lab_world(0.5);
    SandShape box, stone;
    SandStoneDef def = sand_default_stone();
    w.gravity = v3_make(0, 0, 0);
    w.envelope = ENVELOPE;
    add_boundary(&w, boundary);
    assert_true(sand_shape_box(&box, v3_make(0.3, 0.4, 0.5), NULL) && sand_shape_stone(&stone, &def, NULL));
    lab_body(&w, sand_world_add_shape(&w, &box, NULL), 1, v3_make(0.9, 0.5, 0.3));
    lab_body(&w, sand_world_add_shape(&w, &stone, NULL), 0.4, v3_make(-0.8, 0.7, -0.3));
    for (int k = 0; k < 8; k++) lab_body(&w, 0, 0.15, v3_make(k & 1 ? 0.6 : -0.6, k & 2 ? 0.6 : -0.6, k & 4 ? 0.6 : -0.6));
    return w;
}

static int add_placed(SandWorld *w, int shape, double scale, SandPose input) {
    SandBodyDef def = sand_default_body();
    def.shape = shape;
    def.scale = scale;
    def.pose = sand_shape_place(&w->shapes[shape], scale, input);
    return sand_world_add_body(w, &def, NULL);
}

static bool has_touch(const Touches *all, const SandContactCandidate *c) {
    for (int k = 0; k < all->count; k++) {
        const SandContactCandidate *d = &all->of[k];
        if (v3_length(v3_sub(c->point, d->point)) < 1e-6 && v3_length(v3_sub(c->normal, d->normal)) < 1e-6 &&
            fabs(c->gap - d->gap) < 1e-7)
            return true;
    }
    return false;
}

// How the contacts of compounds compare with those of their pieces.
typedef struct Comparison {
    int contacts, others; // others: at other points
    double least;         // m, how far the nearest gaps are apart, at most
} Comparison;

static double least_gap(const Touches *t) {
    double least = 1;
    for (int k = 0; k < t->count; k++) least = fmin(least, t->of[k].gap);
    return least;
}

// A compound at a random place touches what its pieces touch as bodies of their own there, in the same points.
static void compare_with_pieces(int boundary, SandRandom *random, Comparison *sum) {
    static Touches together, apart;
    SandPiece pieces[5], copies[5];
    double scale = 0.7 + 0.6 * sand_random_unit(random);
    SandPose at = {v3_make(sand_random_signed(random), sand_random_signed(random), sand_random_signed(random)),
                   sand_random_rotation(random)};
    SandWorld one = surroundings(boundary), many = surroundings(boundary);
    int count = lab_motley(pieces, 0.5), first = one.body_count;
    lab_motley(copies, 0.5);
    add_placed(&one, lab_compound(&one, pieces, count), scale, at);
    for (int k = 0; k < count; k++) {
        SandPose piece = {v3_add(at.position, q_rotate(at.rotation, v3_scale(scale, copies[k].pose.position))),
                          q_mul(at.rotation, copies[k].pose.rotation)};
        add_placed(&many, sand_world_add_shape(&many, &copies[k].shape, NULL), scale * copies[k].scale, piece);
    }
    find_touches(&one, first, first + 1, &together);
    find_touches(&many, first, first + count, &apart);
    if (boundary != GROUND) assert_int_equal(together.count, apart.count); // a ball that is a piece touches each triangle
    sum->contacts += together.count;
    sum->least = fmax(sum->least, fabs(least_gap(&together) - least_gap(&apart)));
    for (int k = 0; k < together.count; k++) sum->others += !has_touch(&apart, &together.of[k]);
    sand_world_free(&one);
    sand_world_free(&many);
}

static void a_compound_touches_where_its_pieces_do(void **state) {
    (void)state;
    SandRandom random = sand_random(3);
    for (int boundary = 0; boundary < 8; boundary++) {
        Comparison sum = {0};
        for (int trial = 0; trial < 40; trial++) compare_with_pieces(boundary, &random, &sum);
        print_message("boundary %d: %d contacts, %d of them not those of the pieces, gaps differ by %.1e m\n", boundary,
                      sum.contacts, sum.others, sum.least);
        // Of more than four points of two faces, as of the 16 of a cap, rounding says which are taken; a ball that is a
        // piece prefers faces as other convex bodies do, by a thousandth of its size.
        assert_true(sum.contacts > 100 && sum.others < 0.04 * sum.contacts);
        if (boundary != GROUND) NEAR(sum.least, 0, 5e-4); // which a ball of its own, deep in it, no longer touches
    }
}

// --- keys -------------------------------------------------------------------------------------------------

static int64_t equal_keys(const SandCollision *c) {
    int64_t equal = 0;
    for (int k = 0; k < c->body_count; k++)
        for (int i = c->first[k]; i < c->first[k + 1]; i++)
            for (int j = c->first[k]; j < i; j++)
                equal += c->contacts[i].key.other == c->contacts[j].key.other &&
                         c->contacts[i].key.feature == c->contacts[j].key.feature;
    return equal;
}

// Two combs of `count` bars each that lie across each other: every pair of bars touches in four points.
static int64_t keys_of_combs(int count, int *contacts) {
    SandWorld w = lab_world(0.5);
    SandPiece *pieces = calloc((size_t)count, sizeof *pieces);
    SandCollision collision = {0};
    SandError error = {""};
    SandThreadPool *pool = sand_thread_pool_create(1, NULL);
    for (int comb = 0; comb < 2; comb++) {
        for (int k = 0; k < count; k++) {
            SandVec3 half = comb ? v3_make(count, 0.2, 0.2) : v3_make(0.2, count, 0.2);
            SandVec3 at = comb ? v3_make(0, k - 0.5 * count, 0) : v3_make(k - 0.5 * count, 0, 0);
            pieces[k] = lab_box_piece(half, at, v3_make(0, 0, 0));
        }
        add_placed(&w, lab_compound(&w, pieces, count), 1, (SandPose){v3_make(0, 0, 0.4 * comb), q_identity()});
    }
    lab_body(&w, 0, 0.5, v3_make(0, 0, 0.4 + 0.7));
    lab_plane(&w, v3_make(0, 0, -0.2), v3_make(0, 0, 1));
    if (!sand_collide(&collision, &w, pool, &error)) fail_msg("%s", error.text);
    *contacts = collision.contact_count;
    int64_t equal = equal_keys(&collision);
    sand_collision_free(&collision);
    sand_thread_pool_free(pool);
    sand_world_free(&w);
    free(pieces);
    return equal;
}

static void keys_tell_pieces_apart(void **state) {
    (void)state;
    int contacts;
    assert_int_equal(keys_of_combs(32, &contacts), 0);
    assert_true(contacts > 4 * 32 * 32 + 4 * 32);
    int64_t equal = keys_of_combs(60, &contacts);
    print_message("60 bars on 60 bars: %d contacts, %lld pairs with equal keys\n", contacts, (long long)equal);
    assert_true(contacts > 4 * 60 * 60 + 4 * 60 &&
                equal == 0); // a box names corners below 8, which no mark of its own turns into others
}

// --- worlds -----------------------------------------------------------------------------------------------

static void copies_and_keys_know_the_pieces(void **state) {
    (void)state;
    SandWorld w = lab_compounds(), copy, other = lab_compounds();
    assert_true(sand_world_copy(&copy, &w, NULL));
    assert_true(sand_world_key(&w) == sand_world_key(&copy) && sand_world_key(&w) == sand_world_key(&other));
    int compound = 1;
    assert_int_equal(w.shapes[compound].kind, SAND_COMPOUND);
    assert_ptr_not_equal(w.shapes[compound].pieces, copy.shapes[compound].pieces);
    assert_ptr_not_equal(w.shapes[compound].pieces[0].shape.core, copy.shapes[compound].pieces[0].shape.core);
    other.shapes[compound].pieces[2].pose.position.x += 1e-3;
    assert_true(sand_world_key(&w) != sand_world_key(&other));
    sand_world_free(&w);
    sand_world_free(&copy);
    sand_world_free(&other);
}

static void refuse(const SandPiece *pieces, int count, const SandSolid *solid, const char *words) {
    SandShape shape;
    SandError error = {""};
    assert_false(sand_shape_compound(&shape, pieces, count, solid, &error));
    if (!strstr(error.text, words)) fail_msg("'%s' does not speak of '%s'", error.text, words);
}

static void bad_compounds_are_refused(void **state) {
    (void)state;
    SandPiece many[SAND_MAX_PIECES + 1], clump = {.scale = 1, .pose.rotation = q_identity()}, nested = clump;
    SandShapeSphere spheres[2] = {{{0, 0, 0}, 1}, {{1, 0, 0}, 1}};
    for (int k = 0; k <= SAND_MAX_PIECES; k++)
        many[k] = lab_box_piece(v3_make(0.1, 0.1, 0.1), v3_make(k, 0, 0), v3_make(0, 0, 0));
    SandPiece bad = many[0];
    assert_true(sand_shape_clump(&clump.shape, spheres, 2, NULL));
    nested.shape = compound_of(many, SAND_MAX_PIECES);
    refuse(many, 0, NULL, "0 pieces");
    refuse(many, SAND_MAX_PIECES + 1, NULL, "257 pieces");
    refuse(&clump, 1, NULL, "piece 0 of the compound is a clump");
    refuse(&nested, 1, NULL, "is a compound");
    bad.scale = 0;
    refuse(&bad, 1, NULL, "scale 0");
    bad.scale = NAN;
    refuse(&bad, 1, NULL, "scale nan");
    bad = many[0];
    bad.pose.position.x = INFINITY;
    refuse(&bad, 1, NULL, "finite");
    bad = many[0];
    bad.pose.rotation = (SandQuat){0, 0, 0, 0};
    refuse(&bad, 1, NULL, "length 0");
    refuse(many, 2, &(SandSolid){.volume = -1}, "above 0");
    refuse(many, 2, &(SandSolid){.volume = 1, .moments = {1, 1, -1}}, "above 0");
    sand_shape_free(&clump.shape);
    sand_shape_free(&nested.shape);
    for (int k = 0; k <= SAND_MAX_PIECES; k++) sand_shape_free(&many[k].shape);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_halves_are_the_whole),
                                       cmocka_unit_test(an_l_has_its_inertia),
                                       cmocka_unit_test(a_dumbbell_has_its_inertia),
                                       cmocka_unit_test(a_solid_is_taken_in_place_of_the_sum),
                                       cmocka_unit_test(a_compound_touches_where_its_pieces_do),
                                       cmocka_unit_test(keys_tell_pieces_apart),
                                       cmocka_unit_test(copies_and_keys_know_the_pieces),
                                       cmocka_unit_test(bad_compounds_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
