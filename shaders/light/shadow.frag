#version 450 core
// SPDX-License-Identifier: MIT
// Depth only.
void main() {}
