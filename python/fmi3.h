// SPDX-License-Identifier: MIT
// What a co-simulation needs of the Functional Mock-up Interface 3.0, declared as the standard has it
// (https://fmi-standard.org): names and types are the standard's.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FMI3_EXPORT __attribute__((visibility("default")))

typedef void *fmi3Instance, *fmi3InstanceEnvironment, *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef double fmi3Float64;
typedef bool fmi3Boolean;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                                       fmi3String message);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set,
                                               fmi3Boolean get, fmi3Boolean finished, fmi3Boolean can_return,
                                               fmi3Boolean *return_early, fmi3Float64 *return_time);
