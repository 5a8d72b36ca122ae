#version 450 core
// One triangle over the whole target.
void main() {
    vec2 at = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
#ifdef DIRECT
    gl_Position = vec4(at, 0.0, 1.0); // behind everything, where the sky is
#else
    gl_Position = vec4(at, 1.0, 1.0);
#endif
}
