// SPDX-License-Identifier: MIT
// Culling of sphere pairs in float. Most candidates of a query are far away, and most of the others clearly touch or clearly
// do not. Float bounds decide those from a few bytes; only the pairs that rounding leaves undecided are tested in double, so
// that the result is always that of the exact narrow phase (sim/collision/narrow_phase.inl). Included after
// sim/collision/broad_phase.inl.
#pragma once

// Where a sphere may be in the step: center and extent. Rounding makes the extent larger, never smaller.
static __device__ float4 cull_bounds(const SandSphereProxy *b) {
    double rounding = 4e-7 * (fabs(b->center.x) + fabs(b->center.y) + fabs(b->center.z));
    return make_float4((float)b->center.x, (float)b->center.y, (float)b->center.z,
                       (float)((b->extent + rounding) * (1 + 1e-6)));
}
static __device__ bool cull_bounds_overlap(float4 p, float4 q) {
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z, horizon = p.w + q.w;
    return !(x * x + y * y + z * z > horizon * horizon); // a NaN overlaps, and is tested in double
}

static __device__ float4 cull_motion(const SandSphereProxy *b) {
    return make_float4((float)b->velocity.x, (float)b->velocity.y, (float)b->velocity.z, (float)b->turning);
}
// Radius and impact margin. The margin is rounded down; where it is at its maximum it is infinite, since no impact raises
// it any more.
static __device__ float2 cull_size(const SandSphereProxy *b) {
    bool most = b->impact_margin >= SAND_MAX_IMPACT_MARGIN * b->radius;
    return make_float2((float)b->radius, most ? INFINITY : __double2float_rd(b->impact_margin));
}

// An interval that holds the exact value of a number that was computed from rounded ones.
struct Range {
    float least, most;
};
static __device__ Range range_around(float v, float rounding) { return {v - rounding, v + rounding}; }

// The distance of two points or velocities, and the size of the numbers it was computed from, which its rounding error is
// proportional to.
struct Separation {
    float distance, size;
};
static __device__ Separation separation_of(float4 p, float4 q) {
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
    return {sqrtf(x * x + y * y + z * z), fabsf(p.x) + fabsf(p.y) + fabsf(p.z) + fabsf(q.x) + fabsf(q.y) + fabsf(q.z)};
}

// How fast two spheres move relative to each other, their rotating surfaces included.
static __device__ Range cull_speed(float4 p, float4 q) {
    Separation separation = separation_of(p, q);
    float speed = separation.distance + p.w + q.w;
    return range_around(speed, 1e-6f * (speed + separation.size));
}

static __device__ Range cull_gap(float4 p, float4 q, float radii) {
    Separation separation = separation_of(p, q);
    return range_around(separation.distance - radii, 2e-7f * separation.size + 1e-6f * (separation.distance + radii));
}

// One sphere of CullArrays.
struct CullSphere {
    float4 bounds, motion;
    float2 size;
};
static __device__ CullSphere cull_sphere(const CullArrays &s, int i) { return {s.bounds[i], s.motion[i], s.size[i]}; }

enum CullResult { CULL_APART, CULL_TOUCHING, CULL_UNDECIDED };

// Whether two spheres of different bodies touch, as spheres_touch decides it in double; rounding leaves a few undecided.
static __device__ CullResult cull_touch(const CullSphere &p, const CullSphere &q, const SandWorld &w,
                                        const SearchParams &search) {
    Range gap = cull_gap(p.bounds, q.bounds, p.size.x + q.size.x), speed = cull_speed(p.motion, q.motion);
    float margin = fmaxf(fminf(p.size.y, (float)SAND_MAX_IMPACT_MARGIN * p.size.x),
                         fminf(q.size.y, (float)SAND_MAX_IMPACT_MARGIN * q.size.x));
    float least = (float)(w.step * (1 + search.least_mu)) * (speed.least + (float)search.fall);
    float most = (float)(w.step * (1 + search.largest_mu)) * (speed.most + (float)search.fall);
    least = fmaxf(fmaxf((float)w.envelope, margin), least);
    most = fmaxf(fmaxf((float)w.envelope, margin), most);
    if (gap.least > most * (1 + 2e-6f)) return CULL_APART;
    return gap.most < least * (1 - 2e-6f) ? CULL_TOUCHING : CULL_UNDECIDED;
}

// Whether an impact over this travel would not raise the margin of a sphere.
static __device__ bool cull_adds_no_margin(float travel, float2 size) {
    return fminf(travel - (float)SAND_IMPACT_SLOP * size.x, (float)SAND_MAX_IMPACT_MARGIN * size.x) * (1 + 4e-6f) < size.y;
}
// Whether an impact between two spheres would raise the margin of neither of them.
static __device__ bool cull_no_impact(const CullSphere &p, const CullSphere &q, double horizon) {
    float travel = (float)horizon * cull_speed(p.motion, q.motion).most * (1 + 2e-6f);
    return cull_adds_no_margin(travel, p.size) && cull_adds_no_margin(travel, q.size);
}
