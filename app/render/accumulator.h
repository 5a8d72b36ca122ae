// SPDX-License-Identifier: MIT
// The mean of several pictures in linear light: depth of field from pictures through points of a lens, motion blur from
// pictures at instants of an exposure.
#pragma once
#include "sandglass/error.h"

typedef struct Accumulator Accumulator;

Accumulator *accumulator_create(int width, int height, SandError *error); // of pictures of this size
void accumulator_free(Accumulator *accumulator);

void accumulator_clear(Accumulator *accumulator);
void accumulator_add(Accumulator *accumulator, unsigned texture);        // adds this picture
void accumulator_finish(Accumulator *accumulator, unsigned framebuffer); // writes the mean into it
