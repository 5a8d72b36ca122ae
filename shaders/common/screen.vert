#version 450 core
// SPDX-License-Identifier: MIT
// Full-screen triangle.
void main() {
    vec2 at = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
#ifdef DIRECT
    gl_Position = vec4(at, 0.0, 1.0); // depth 0: the sky
#else
    gl_Position = vec4(at, 1.0, 1.0);
#endif
}
