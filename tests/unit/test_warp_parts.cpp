// SPDX-License-Identifier: MIT
// Parts and tiles of blocks as a warp fills them on a GPU (cuda/solver/part_fill.h), on the CPU with lanes that take turns:
// every contact is in one tile, the contacts of a tile share no moving body, idle ones are apart, and a part is full where
// it ends.
#include <algorithm>
#include <climits>

extern "C" {
#include "tests/lab/lab.h"
#include "sim/core/random.h"
}
#include "tests/lab/warp_lab.h"

#include "cuda/solver/part_fill.h"

// --- a block ------------------------------------------------------------------------------------------------

// The contacts of a block, and what the warp makes of them.
static struct Block {
    int moving; // bodies before the boundaries
    std::vector<int> a, b, list, tile_end, contact, first_part;
    std::vector<uint32_t> place, header, pair, body;
    std::vector<int> busy;  // tiles that are not idle, of each part
    std::vector<bool> idle; // of each contact
    PartTable table;
} block;

// Contacts between bodies that are near each other by number, with one of high degree, and with boundaries. Idle ones
// come last.
static void make_block(int contacts, int bodies, int busy, double part_idle, uint64_t seed) {
    SandRandom random = sand_random(seed);
    size_t n = (size_t)contacts;
    block.moving = bodies;
    block.idle.assign(n, false);
    block.a.clear();
    block.b.clear();
    for (int i = 0; i < contacts; i++) {
        int a = (int)(bodies * sand_random_unit(&random)), b = a + 1 + (int)(12 * sand_random_unit(&random));
        if (i < busy) a = 0;
        block.a.push_back(a);
        block.b.push_back(b < bodies ? b : bodies + (int)(3 * sand_random_unit(&random)));
        block.idle[(size_t)i] = sand_random_unit(&random) < part_idle;
    }
    block.list.resize(n);
    for (size_t i = 0; i < n; i++) block.list[i] = (int)i;
    std::stable_partition(block.list.begin(), block.list.end(), [](int i) { return !block.idle[(size_t)i]; });
    block.place.resize(n);
    for (size_t e = 0; e < n; e++)
        block.place[e] = 14 + block.idle[(size_t)block.list[e]]; // a key: twice its cell, and idle
    block.header.assign(n, 0);
    block.pair.assign(n, 0);
    block.tile_end.assign(n, 0);
    block.contact.assign(n, -1);
    block.body.assign(2 * n, ~0u);
    block.first_part.assign((size_t)bodies, INT_MAX);
    block.busy.clear();
}

static void fill_block() {
    PartArrays p = {block.a.data(),
                    block.b.data(),
                    block.list.data(),
                    block.place.data(),
                    NULL,
                    NULL,
                    block.header.data(),
                    block.body.data(),
                    block.tile_end.data(),
                    block.contact.data(),
                    block.pair.data(),
                    block.first_part.data()};
    int lane = (int)threadIdx.x, end = (int)block.a.size();
    for (int begin = 0, next; begin < end; begin = next) {
        next = take_part(p, &block.table, begin, end, block.moving, lane);
        write_part(p, &block.table, begin, next, block.moving, lane);
        if (lane == 0) block.busy.push_back(block.table.busy);
    }
}

// --- what must be true --------------------------------------------------------------------------------------

static int body_of(int begin, uint32_t local) { return (int)block.body[2 * (size_t)begin + local]; }

// The first part of each body, by where it begins.
static void check_first_parts() {
    std::vector<int> first((size_t)block.moving, INT_MAX);
    for (int begin = 0, end = (int)block.a.size(); begin < end;) {
        uint32_t header = block.header[(size_t)begin];
        for (int j = 0; j < part_bodies_of(header); j++) {
            int k = body_of(begin, (uint32_t)j);
            if (k < block.moving) first[(size_t)k] = std::min(first[(size_t)k], begin);
        }
        begin += part_contacts_of(header);
    }
    assert_true(first == block.first_part);
}

// Checks the tile of the places from `from` to before `to`.
static void check_tile(int begin, int from, int to, std::vector<int> *seen) {
    std::vector<int> moving;
    assert_true(from < to && to <= from + 32);
    for (int e = from; e < to; e++) {
        int i = block.contact[(size_t)e], a = body_of(begin, block.pair[(size_t)e] & 0xffff),
            b = body_of(begin, block.pair[(size_t)e] >> 16);
        (*seen)[(size_t)i]++;
        assert_int_equal(a, block.a[(size_t)i]);
        assert_int_equal(b, block.b[(size_t)i]);
        assert_true(block.idle[(size_t)i] == block.idle[(size_t)block.contact[(size_t)from]]);
        moving.push_back(a);
        if (b < block.moving) moving.push_back(b);
    }
    std::sort(moving.begin(), moving.end());
    assert_true(std::adjacent_find(moving.begin(), moving.end()) == moving.end());
}

// Checks all of the block; returns its parts.
static int check_block() {
    int end = (int)block.a.size(), parts = 0;
    std::vector<int> seen(block.a.size(), 0);
    for (int begin = 0; begin < end; parts++) {
        uint32_t header = block.header[(size_t)begin];
        int contacts = part_contacts_of(header), bodies = part_bodies_of(header), tiles = part_tiles_of(header), from = 0;
        int busy = 0;
        assert_true(contacts > 0 && bodies <= SAND_PART_BODIES && tiles <= SAND_PART_TILES);
        for (int t = 0; t < tiles; t++) {
            int to = block.tile_end[(size_t)(begin + t)];
            check_tile(begin, begin + from, begin + to, &seen);
            busy += !block.idle[(size_t)block.contact[(size_t)(begin + from)]];
            from = to;
        }
        assert_int_equal(from, contacts);
        assert_int_equal(busy, block.busy[(size_t)parts]);
        begin += contacts;
        bool full = bodies > SAND_PART_BODIES - 64 || tiles == SAND_PART_TILES; // 32 contacts may bring 64 bodies
        assert_true(begin == end || full);
    }
    for (int count : seen) assert_int_equal(count, 1);
    check_first_parts();
    return parts;
}

static void tiles_share_no_body(void **) {
    static const struct {
        int contacts, bodies, busy;
        double idle;
    } kinds[] = {{1, 2, 0, 0},        {31, 9, 0, 0.5},      {32, 40, 0, 1},       {285, 100, 0, 0.3},
                 {414, 136, 20, 0.6}, {1378, 172, 60, 0.9}, {2500, 600, 90, 0.5}, {200, 40, 200, 0.1}};
    for (const auto &kind : kinds)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            make_block(kind.contacts, kind.bodies, kind.busy, kind.idle, seed);
            run_warp(fill_block);
            int parts = check_block();
            if (seed == 1) print_message("%d contacts of %d bodies: %d parts\n", kind.contacts, kind.bodies, parts);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_share_no_body)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
