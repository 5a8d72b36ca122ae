// SPDX-License-Identifier: MIT
// What the ground is made of, without seams: color and normal at a point in units of the scene's size. Numbers as in SandGround.
#define GROUND_SWEEP 0
#define GROUND_PLANKS 1
#define GROUND_SOIL 2
#define GROUND_SLABS 3
#define GROUND_GLOSS 4
#define GROUND_TILES 5
#define GROUND_SNOW 6

// 1 where a pattern of this frequency is resolved, `wide` being the width of a pixel.
float resolved(float frequency, float wide) { return clamp(1.4 - 3.0 * frequency * wide, 0.0, 1.0); }

uint cell_number(vec2 cell, uint seed) {
    uvec2 u = uvec2(ivec2(cell) + 32768);
    return u.x * 73856093u ^ u.y * 19349663u ^ seed * 83492791u;
}

vec3 planks(vec2 p, float wide, out vec3 normal) {
    const float BOARD = 0.34;
    float row = floor(p.y / BOARD), in_row = p.y / BOARD - row;
    float at = p.x + 7.3 * hash(cell_number(vec2(row, 0.0), 1u)), length_of = 5.5;
    float board = floor(at / length_of), along = at / length_of - board;
    uint number = cell_number(vec2(board, row), 2u);
    float h = hash(number), k = hash(number + 77u);
    // Cathedral grain: rings of a tree cut lengthwise, far apart in the middle of a board.
    vec2 q = vec2(at * 1.3 + 9.0 * h, (in_row - 0.5) * BOARD * 6.5 + 0.5 * (k - 0.5));
    float ring = 6.0 * sqrt(0.02 + q.y * q.y * 3.0 + 0.03 * q.x) + 0.55 * noise(vec3(q.x * 1.2, q.y * 4.0, h * 40.0));
    float late = fract(ring * 2.2);
    late = late * late * resolved(40.0, wide) + 0.33 * (1.0 - resolved(40.0, wide));
    float fiber = noise(vec3(at * 5.0, p.y * 150.0, h * 9.0)), pore = smoothstep(0.74, 0.86, noise(vec3(at * 14.0, p.y * 330.0, k * 7.0)));
    float fine = resolved(150.0, wide);
    vec3 c = mix(frame.ground.rgb, frame.ground_too.rgb, 0.36 * late + 0.22 * fine * (fiber - 0.3) + 0.35 * fine * pore);
    c *= 0.80 + 0.34 * h + 0.14 * noise(vec3(p * 2.0, 3.0));
    vec2 gap = vec2(min(along, 1.0 - along) * length_of, min(in_row, 1.0 - in_row) * BOARD);
    float seam = max(1.0 - smoothstep(0.0, 0.0018 + wide, gap.x), 1.0 - smoothstep(0.0, 0.0018 + wide, gap.y)) * resolved(12.0, wide);
    normal = normalize(vec3(0.02 * (fiber - 0.5) * fine, 0.05 * (fiber - 0.5) * fine + 0.10 * seam * sign(in_row - 0.5), 1.0));
    return c * (1.0 - 0.72 * seam);
}

// A pebble of the cell, where it has one: at most one, larger ones rarer. q: the point, in cells.
void pebble(vec2 q, vec2 cell, float cells, float share, float fine, inout vec3 c, inout vec3 normal) {
    uint n = cell_number(cell, uint(cells));
    if (hash(n) > share) return;
    float size = 0.14 + 0.30 * hash(n + 5u) * hash(n + 6u);
    vec2 off = q - cell - 0.2 - 0.6 * vec2(hash(n + 1u), hash(n + 2u));
    off *= mat2(1.0, 0.5 * hash(n + 3u) - 0.25, 0.3, 0.8 + 0.5 * hash(n + 4u));
    off += 0.05 * (noise(vec3(q * 3.0, hash(n) * 30.0)) - 0.5);
    float r = length(off) / size;
    // Its shadow, away from the sun.
    float thrown = length(off + 0.55 * size * normalize(frame.sun.xy + vec2(1e-5))) / size;
    c *= 1.0 - 0.45 * fine * smoothstep(1.15, 0.75, thrown) * smoothstep(0.85, 1.05, r);
    if (r >= 1.0) return;
    float cover = fine * smoothstep(1.0, 0.9, r);
    vec3 stone = frame.ground_too.rgb * (0.55 + 0.9 * hash(n + 7u)) * (0.7 + 0.6 * noise(vec3(off * 9.0, hash(n) * 20.0)));
    c = mix(c, stone, cover);
    normal = normalize(mix(normal, vec3(off / size * 0.85, sqrt(max(1.0 - 0.72 * r * r, 0.05))), cover));
}

// Pebbles of three sizes, those of the nine cells around the point each. One loop, whose end is a number that the compiler
// does not know: unrolled it is 27 times this code, in every program that draws ground.
void pebbles(vec2 p, float wide, inout vec3 c, inout vec3 normal) {
    int count = 27 + min(frame.style.z, 0);
    for (int k = 0; k < count; k++) {
        int kind = k / 9, at = k - 9 * kind;
        float cells = kind == 0 ? 46.0 : kind == 1 ? 17.0 : 5.5, share = kind == 0 ? 0.30 : kind == 1 ? 0.20 : 0.10;
        vec2 q = (kind == 2 ? p + 3.7 : p) * cells;
        float fine = resolved(cells * 1.5, wide);
        if (fine > 0.0) pebble(q, floor(q) + vec2(at % 3 - 1, at / 3 - 1), cells, share, fine, c, normal);
    }
}

vec3 soil(vec2 p, float wide, out vec3 normal) {
    vec4 low = sloped_noise(vec3(p * 1.6, 1.0)), middle = sloped_noise(vec3(p * 7.0, 4.0)), fine = sloped_noise(vec3(p * 34.0, 7.0));
    float f = resolved(34.0, wide), m = resolved(7.0, wide), grain = noise(vec3(p * 170.0, 2.0));
    vec2 slope = 0.20 * low.xy + 0.34 * m * middle.xy + 0.30 * f * fine.xy;
    normal = normalize(vec3(-0.40 * slope, 1.0));
    vec3 c = frame.ground.rgb * (0.66 + 0.28 * low.w + 0.26 * m * (middle.w - 0.5) + 0.22 + 0.22 * f * (fine.w - 0.5) +
                                 0.35 * resolved(170.0, wide) * (grain - 0.5));
    pebbles(p, wide, c, normal);
    return c;
}

vec3 slabs(vec2 p, float wide, out vec3 normal) {
    const float SLAB = 0.85;
    vec2 q = p / SLAB + 0.37, cell = floor(q), gap = min(q - cell, 1.0 - (q - cell)) * SLAB;
    float h = hash(cell_number(cell, 9u));
    float seam = (1.0 - smoothstep(0.004, 0.006 + wide, min(gap.x, gap.y))) * resolved(8.0, wide);
    float cloud = 0.6 * noise(vec3(p * 2.3, 1.0)) + 0.4 * noise(vec3(p * 8.0, 5.0)), f = resolved(60.0, wide);
    float pore = smoothstep(0.78, 0.86, noise(vec3(p * 60.0, 2.0))) * f, grain = noise(vec3(p * 210.0, 3.0));
    float stain = smoothstep(0.55, 0.8, noise(vec3(p * 1.1, 12.0) + 0.4 * cloud));
    vec3 c = frame.ground.rgb * (0.70 + 0.22 * h + 0.34 * cloud) * (1.0 - 0.28 * stain) * (1.0 + 0.25 * resolved(210.0, wide) * (grain - 0.5));
    // A crack that wanders.
    float crack = abs(noise(vec3(p * 1.9, 21.0)) - 0.5 + 0.10 * (noise(vec3(p * 9.0, 22.0)) - 0.5));
    float cracked = (1.0 - smoothstep(0.0, 0.004 + 1.5 * wide, crack)) * step(0.55, noise(vec3(p * 0.7, 23.0))) * resolved(12.0, wide);
    normal = vec3(0.0, 0.0, 1.0);
    return mix(c, frame.ground_too.rgb, clamp(0.9 * seam + 0.55 * pore + 0.6 * cracked, 0.0, 1.0));
}

vec3 gloss(vec2 p, float wide, out vec3 normal) {
    normal = vec3(0.0, 0.0, 1.0);
    return mix(frame.ground.rgb, frame.ground_too.rgb, noise(vec3(p * 3.0, 1.0)));
}

vec3 tiles(vec2 p, float wide, out vec3 normal) {
    vec2 fine = abs(fract(p * 10.0 + 0.5) - 0.5) / 10.0, bold = abs(fract(p * 2.0 + 0.5) - 0.5) / 2.0;
    float thin = (1.0 - smoothstep(0.0006, 0.0010 + wide, min(fine.x, fine.y))) * resolved(30.0, wide);
    float wider = (1.0 - smoothstep(0.0014, 0.0019 + wide, min(bold.x, bold.y))) * resolved(8.0, wide);
    normal = vec3(0.0, 0.0, 1.0);
    vec3 c = frame.ground.rgb * (0.95 + 0.08 * noise(vec3(p * 2.0, 1.0)));
    return mix(c, frame.ground_too.rgb, max(0.30 * thin, 0.55 * wider));
}

vec3 snow(vec2 p, float wide, out vec3 normal) {
    vec4 low = sloped_noise(vec3(p * vec2(1.1, 2.0), 1.0)), middle = sloped_noise(vec3(p * vec2(5.0, 9.0), 4.0));
    vec4 fine = sloped_noise(vec3(p * 60.0, 7.0));
    float f = resolved(60.0, wide);
    normal = normalize(vec3(-0.14 * low.xy - 0.05 * resolved(9.0, wide) * middle.xy - 0.08 * f * fine.xy, 1.0));
    float glint = smoothstep(0.86, 0.93, noise(vec3(p * 420.0, 3.0))) * resolved(300.0, wide);
    return mix(frame.ground.rgb, frame.ground_too.rgb, middle.w) * (0.96 + 0.06 * f * fine.w) + 0.35 * glint;
}

vec3 ground_color(vec2 p, float wide, out vec3 normal) {
    normal = vec3(0.0, 0.0, 1.0);
    switch (frame.style.z) {
    case GROUND_PLANKS: return planks(p, wide, normal);
    case GROUND_SOIL: return soil(p, wide, normal);
    case GROUND_SLABS: return slabs(p, wide, normal);
    case GROUND_GLOSS: return gloss(p, wide, normal);
    case GROUND_TILES: return tiles(p, wide, normal);
    case GROUND_SNOW: return snow(p, wide, normal);
    default: return vec3(1.0);
    }
}
