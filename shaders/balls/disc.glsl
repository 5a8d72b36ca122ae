// SPDX-License-Identifier: MIT
// Depth of a ball in the view of the sun, where it is a disc. `ball`: in the view of the sun, radius in meters; `pixel`: of a
// target of this size. 0 outside of the disc, which no depth test passes.
float disc_depth(vec2 pixel, vec2 size, vec4 ball) {
    vec2 at = (2.0 * pixel / size - 1.0 - ball.xy) / (ball.w * frame.light_scale.xy); // -1 to 1
    float inside = 1.0 - dot(at, at);
    return inside < 0.0 ? 0.0 : ball.z + ball.w * frame.light_scale.z * sqrt(inside);
}
