// SPDX-License-Identifier: MIT
// Value noise.
float noise(vec3 p) {
    vec3 i = floor(p), f = p - i;
    f = f * f * (3.0 - 2.0 * f);
    uvec3 u = uvec3(ivec3(i) + 4096);
    uint a = u.x * 73856093u, b = u.y * 19349663u, c = u.z * 83492791u;
    uint a1 = a + 73856093u, b1 = b + 19349663u, c1 = c + 83492791u;
    vec4 low = vec4(hash(a ^ b ^ c), hash(a1 ^ b ^ c), hash(a ^ b1 ^ c), hash(a1 ^ b1 ^ c));
    vec4 high = vec4(hash(a ^ b ^ c1), hash(a1 ^ b ^ c1), hash(a ^ b1 ^ c1), hash(a1 ^ b1 ^ c1));
    vec4 at = mix(low, high, f.z);
    return mix(mix(at.x, at.y, f.x), mix(at.z, at.w, f.x), f.y);
}

// The same with its gradient: xyz; w: value.
vec4 sloped_noise(vec3 p) {
    const float STEP = 0.08;
    vec4 at = vec4(0.0);
    int count = 4 + min(frame.style.z, 0); // not unrolled: the compiler does not know the number
    for (int k = 0; k < count; k++) at[k] = noise(p + STEP * vec3(k == 0, k == 1, k == 2));
    return vec4(at.xyz - at.w, STEP * at.w) / STEP;
}
