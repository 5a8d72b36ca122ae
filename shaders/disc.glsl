// A ball as the sun sees it: a disc, with the depth of the ball's surface. The ball is placed in the sun's view, with its
// radius in meters; the pixel is one of a target of this size. 0 beside it, which no test of depths lets pass.
float disc_depth(vec2 pixel, vec2 size, vec4 ball) {
    vec2 at = (2.0 * pixel / size - 1.0 - ball.xy) / (ball.w * frame.light_scale.xy); // -1 to 1
    float inside = 1.0 - dot(at, at);
    return inside < 0.0 ? 0.0 : ball.z + ball.w * frame.light_scale.z * sqrt(inside);
}
