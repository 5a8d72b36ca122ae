#version 450 core
in vec2 at;
flat in float middle;
flat in float rise;
layout(depth_less) out float gl_FragDepth;

void main() {
    float inside = 1.0 - dot(at, at);
    if (inside < 0.0) discard;
    gl_FragDepth = min(middle + rise * sqrt(inside), gl_FragCoord.z);
}
