// SPDX-License-Identifier: MIT
// The layout of a render instance as vertex attributes, declared once for all passes that draw instances.
#include "app/render/vertex_array.h"

#include <glad/gl.h>

#include "sim/world/render_instance.h"

void vertex_attribute(unsigned array, unsigned index, unsigned binding, int count, size_t offset) {
    glEnableVertexArrayAttrib(array, index);
    glVertexArrayAttribFormat(array, index, count, GL_FLOAT, GL_FALSE, (GLuint)offset);
    glVertexArrayAttribBinding(array, index, binding);
}

unsigned vertex_array_of_instances(void) {
    GLuint array;
    glCreateVertexArrays(1, &array);
    glVertexArrayBindingDivisor(array, 0, 1);
    vertex_attribute(array, 0, 0, 4, offsetof(SandInstance, center));
    vertex_attribute(array, 1, 0, 4, offsetof(SandInstance, rotation));
    vertex_attribute(array, 2, 0, 4, offsetof(SandInstance, velocity));
    vertex_attribute(array, 3, 0, 3, offsetof(SandInstance, spin));
    vertex_attribute(array, 5, 0, 4, offsetof(SandInstance, offset)); // and the material
    glEnableVertexArrayAttrib(array, 4);
    glVertexArrayAttribIFormat(array, 4, 1, GL_UNSIGNED_INT, offsetof(SandInstance, tag));
    glVertexArrayAttribBinding(array, 4, 0);
    return array;
}
