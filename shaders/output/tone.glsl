// SPDX-License-Identifier: MIT
// Tone map and sRGB encoding.
vec3 tone(vec3 c) {
    c *= frame.key.w;
    return clamp(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), 0.0, 1.0);
}

// The power 1/2.4 of sRGB by three square roots, to 0.0007.
vec3 encode(vec3 c) {
    vec3 a = sqrt(c), b = sqrt(a), d = sqrt(b);
    return mix(12.92 * c, 0.662002687 * a + 0.68412206 * b - 0.323583601 * d - 0.022541147 * c, greaterThan(c, vec3(0.0031308)));
}

// Transmittance of a path through glass.
vec3 through_glass(float path) { return exp2(-vec3(0.049, 0.0275, 0.032) * path); }
