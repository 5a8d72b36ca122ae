#version 450 core
// Depth only.
void main() {}
