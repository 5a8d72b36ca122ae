// How several threads together look for what is near a ball: what tells at a glance that two are far apart, the candidates
// in a row of cells, and the mates, who share out rows and what is near in them. After sim/grid.inl.
#pragma once

// Where a ball may be in the step, in few bytes: most candidates are far away, and only those that are near in these numbers
// are looked at as they are. Rounding makes it larger, never smaller.
static __device__ float4 near_make(const SandGridBall *b) {
    double rounding = 4e-7 * (fabs(b->center.x) + fabs(b->center.y) + fabs(b->center.z));
    return make_float4((float)b->center.x, (float)b->center.y, (float)b->center.z,
                       (float)((b->extent + rounding) * (1 + 1e-6)));
}
static __device__ bool near_meets(float4 p, float4 q) {
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z, reach = p.w + q.w;
    return !(x * x + y * y + z * z > reach * reach); // what is not a number is looked at
}

static __device__ float4 move_make(const SandGridBall *b) {
    return make_float4((float)b->velocity.x, (float)b->velocity.y, (float)b->velocity.z, (float)b->turning);
}
// The room is rounded down; where it is the most there is, it is infinite: no strike gives more.
static __device__ float2 size_make(const SandGridBall *b) {
    bool most = b->room >= SAND_ROOM * b->radius;
    return make_float2((float)b->radius, most ? INFINITY : __double2float_rd(b->room));
}

// The least and greatest value that a number may have which was computed with rounded ones.
struct Range {
    float least, most;
};
static __device__ Range range_around(float v, float rounding) { return {v - rounding, v + rounding}; }

// How fast two balls move relative to each other, their turning surfaces included.
static __device__ Range sight_speed(float4 p, float4 q) {
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z, speed = sqrtf(x * x + y * y + z * z) + p.w + q.w;
    float all = fabsf(p.x) + fabsf(p.y) + fabsf(p.z) + fabsf(q.x) + fabsf(q.y) + fabsf(q.z);
    return range_around(speed, 1e-6f * (speed + all));
}

static __device__ Range sight_gap(float4 p, float4 q, float radii) {
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z, distance = sqrtf(x * x + y * y + z * z);
    float all = fabsf(p.x) + fabsf(p.y) + fabsf(p.z) + fabsf(q.x) + fabsf(q.y) + fabsf(q.z);
    return range_around(distance - radii, 2e-7f * all + 1e-6f * (distance + radii));
}

// What sight tells of two balls.
enum Seen { SEEN_APART, SEEN_TOUCHING, UNSEEN };

// Whether two balls of different bodies touch, as balls_touch finds out. Rounding leaves a few in doubt.
static __device__ Seen sight_touch(const Sight &s, const SandWorld &w, const Search &search, int i, int j) {
    float2 p = s.size[i], q = s.size[j];
    Range gap = sight_gap(s.near[i], s.near[j], p.x + q.x), speed = sight_speed(s.move[i], s.move[j]);
    float room = fmaxf(fminf(p.y, (float)SAND_ROOM * p.x), fminf(q.y, (float)SAND_ROOM * q.x));
    float least = (float)(w.step * (1 + search.least_mu)) * (speed.least + (float)search.fall);
    float most = (float)(w.step * (1 + search.largest_mu)) * (speed.most + (float)search.fall);
    least = fmaxf(fmaxf((float)w.envelope, room), least), most = fmaxf(fmaxf((float)w.envelope, room), most);
    if (gap.least > most * (1 + 2e-6f)) return SEEN_APART;
    return gap.most < least * (1 - 2e-6f) ? SEEN_TOUCHING : UNSEEN;
}

// Whether a strike between two balls would give neither of them more room than it has.
static __device__ bool sight_harmless(float travel, float2 size) {
    return fminf(travel - (float)SAND_LATE * size.x, (float)SAND_ROOM * size.x) * (1 + 4e-6f) < size.y;
}
static __device__ bool sight_no_strike(const Sight &s, double reach, int i, int j) {
    float travel = (float)reach * sight_speed(s.move[i], s.move[j]).most * (1 + 2e-6f);
    return sight_harmless(travel, s.size[i]) && sight_harmless(travel, s.size[j]);
}

// A row of cells as one list of candidates.
struct Candidates {
    SandGridRow row;
    int first, count; // of the first run, of both
};
static __device__ Candidates candidates_of(SandGridRow row) {
    int first = max(row.run[0].end - row.run[0].begin, 0), second = max(row.run[1].end - row.run[1].begin, 0);
    Candidates c = {row, first, first + second};
    return c;
}
static __device__ int candidate(const Candidates &c, int k) {
    return k < c.first ? c.row.run[0].begin + k : c.row.run[1].begin + k - c.first;
}

// Those of the first 64 candidates that are near a ball, as bits.
enum { NEAR_BITS = 64 };
static __device__ unsigned long long candidates_near(const Candidates &c, const float4 *near, float4 ball) {
    unsigned long long bits = 0;
    int count = min(c.count, NEAR_BITS);
#pragma unroll 4
    for (int k = 0; k < count; k++)
        if (near_meets(ball, near[candidate(c, k)])) bits |= 1ull << k;
    return bits;
}

// Several threads look together for the partners of a ball, each in a row of cells of its own.
enum { MATES = 8 };
struct Mates {
    int64_t ball;
    int place;     // of this thread among them
    unsigned mask; // of them in the warp
};
static __device__ Mates mates_of(int64_t thread) {
    int first = (int)(threadIdx.x & 31) / MATES * MATES;
    Mates m = {thread / MATES, (int)(threadIdx.x & 31) - first, ((1u << MATES) - 1) << first};
    return m;
}
// Which of the mates say yes, by their places.
static __device__ unsigned mates_vote(Mates m, bool yes) {
    return __ballot_sync(m.mask, yes) >> ((threadIdx.x & 31) - m.place);
}
// The sum over the mates up to this one.
static __device__ int mates_sum(Mates m, int v) {
    for (int s = 1; s < MATES; s *= 2) {
        int before = __shfl_up_sync(m.mask, v, s, MATES);
        if (m.place >= s) v += before;
    }
    return v;
}
static __device__ double mates_most(Mates m, double v) {
    for (int s = MATES / 2; s; s >>= 1) v = fmax(v, __shfl_xor_sync(m.mask, v, s));
    return v;
}

static __device__ Candidates candidates_from(Mates mates, const Candidates &c, int place) { // those of another mate
    Candidates o;
    for (int k = 0; k < 2; k++) o.row.run[k].begin = __shfl_sync(mates.mask, c.row.run[k].begin, place, MATES);
    o.first = __shfl_sync(mates.mask, c.first, place, MATES), o.count = __shfl_sync(mates.mask, c.count, place, MATES);
    return o;
}

// The candidates of a mate in its row of a shelf: the first mate's in row `base`, the next one's in the one after it.
static __device__ Candidates mates_candidates(Mates m, const SandGrid *g, const SandGridShelf *shelf, int base) {
    SandGridRow row = {{{0, 0}, {0, 0}}};
    if (base + m.place < shelf->rows) row = grid_row(g, shelf, base + m.place);
    return candidates_of(row);
}

// Most of the candidates near a ball lie in few of its rows. The mates share them out and look at as many at a time as they
// are: look(j) for each, in the order of the rows; j = -1 where there is none left. `bits` are those of the own row.
template <class Look>
static __device__ void look_closer(Mates mates, const Candidates &c, unsigned long long bits, Look look) {
    int mine = __popcll(bits), until = mates_sum(mates, mine);
    int total = __shfl_sync(mates.mask, until, MATES - 1, MATES);
    for (int base = 0; base < total; base += MATES) {
        int which = base + mates.place, whose = 0;
#pragma unroll
        for (int k = 0; k < MATES - 1; k++) whose += __shfl_sync(mates.mask, until, k, MATES) <= which;
        Candidates its = candidates_from(mates, c, whose);
        unsigned long long left = __shfl_sync(mates.mask, bits, whose, MATES);
        int before = __shfl_sync(mates.mask, until - mine, whose, MATES);
        for (int k = before; k < which && left; k++) left &= left - 1;
        look(which < total ? candidate(its, __ffsll((long long)left) - 1) : -1);
        __syncwarp(mates.mask);
    }
}
