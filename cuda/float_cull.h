// Balls at a glance: what can be told of two in float. Most candidates are far away, most of the others clearly touch or do
// not; only what rounding leaves in doubt is looked at as it is, so that the answer is that of the exact text. After
// sim/grid.inl.
#pragma once

// Where a ball may be in the step, in few bytes: most candidates are far away, and only those that are near in these numbers
// are looked at as they are. Rounding makes it larger, never smaller.
static __device__ float4 near_make(const SandSphereProxy *b) {
    double rounding = 4e-7 * (fabs(b->center.x) + fabs(b->center.y) + fabs(b->center.z));
    return make_float4((float)b->center.x, (float)b->center.y, (float)b->center.z,
                       (float)((b->extent + rounding) * (1 + 1e-6)));
}
static __device__ bool near_meets(float4 p, float4 q) {
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z, reach = p.w + q.w;
    return !(x * x + y * y + z * z > reach * reach); // what is not a number is looked at
}

static __device__ float4 move_make(const SandSphereProxy *b) {
    return make_float4((float)b->velocity.x, (float)b->velocity.y, (float)b->velocity.z, (float)b->turning);
}
// The room is rounded down; where it is the most there is, it is infinite: no strike gives more.
static __device__ float2 size_make(const SandSphereProxy *b) {
    bool most = b->impact_margin >= SAND_MAX_IMPACT_MARGIN * b->radius;
    return make_float2((float)b->radius, most ? INFINITY : __double2float_rd(b->impact_margin));
}

// The least and greatest value that a number may have which was computed with rounded ones.
struct Range {
    float least, most;
};
static __device__ Range range_around(float v, float rounding) { return {v - rounding, v + rounding}; }

// How far apart two points or velocities are, and the size of the numbers that it comes from: rounding goes with it.
struct Apart {
    float distance, size;
};
static __device__ Apart apart_of(float4 p, float4 q) {
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
    return {sqrtf(x * x + y * y + z * z), fabsf(p.x) + fabsf(p.y) + fabsf(p.z) + fabsf(q.x) + fabsf(q.y) + fabsf(q.z)};
}

// How fast two balls move relative to each other, their turning surfaces included.
static __device__ Range cull_speed(float4 p, float4 q) {
    Apart apart = apart_of(p, q);
    float speed = apart.distance + p.w + q.w;
    return range_around(speed, 1e-6f * (speed + apart.size));
}

static __device__ Range cull_gap(float4 p, float4 q, float radii) {
    Apart apart = apart_of(p, q);
    return range_around(apart.distance - radii, 2e-7f * apart.size + 1e-6f * (apart.distance + radii));
}

// What is in sight of one ball.
struct CullSphere {
    float4 near, move;
    float2 size;
};
static __device__ CullSphere cull_sphere(const CullArrays &s, int i) { return {s.near[i], s.move[i], s.size[i]}; }

// What sight tells of two balls.
enum CullResult { CULL_APART, CULL_TOUCHING, CULL_UNDECIDED };

// Whether two balls of different bodies touch, as spheres_touch finds out. Rounding leaves a few in doubt.
static __device__ CullResult cull_touch(const CullSphere &p, const CullSphere &q, const SandWorld &w, const Search &search) {
    Range gap = cull_gap(p.near, q.near, p.size.x + q.size.x), speed = cull_speed(p.move, q.move);
    float margin = fmaxf(fminf(p.size.y, (float)SAND_MAX_IMPACT_MARGIN * p.size.x),
                         fminf(q.size.y, (float)SAND_MAX_IMPACT_MARGIN * q.size.x));
    float least = (float)(w.step * (1 + search.least_mu)) * (speed.least + (float)search.fall);
    float most = (float)(w.step * (1 + search.largest_mu)) * (speed.most + (float)search.fall);
    least = fmaxf(fmaxf((float)w.envelope, margin), least), most = fmaxf(fmaxf((float)w.envelope, margin), most);
    if (gap.least > most * (1 + 2e-6f)) return CULL_APART;
    return gap.most < least * (1 - 2e-6f) ? CULL_TOUCHING : CULL_UNDECIDED;
}

// Whether a strike between two balls would give neither of them more room than it has.
static __device__ bool cull_harmless(float travel, float2 size) {
    return fminf(travel - (float)SAND_IMPACT_SLOP * size.x, (float)SAND_MAX_IMPACT_MARGIN * size.x) * (1 + 4e-6f) < size.y;
}
static __device__ bool cull_no_impact(const CullSphere &p, const CullSphere &q, double reach) {
    float travel = (float)reach * cull_speed(p.move, q.move).most * (1 + 2e-6f);
    return cull_harmless(travel, p.size) && cull_harmless(travel, q.size);
}
