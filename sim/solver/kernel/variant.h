// SPDX-License-Identifier: MIT
// The variant of the solver kernels that is being compiled. The build defines these macros once per object
// (CMakeLists.txt); opened alone, in an editor or by the header check, a file is seen in the default variant below.
//
//   SAND_REAL        float or double: the precision of the solver
//   SAND_ROWS        rows per contact: 3, or 1 for a frictionless problem (normal impulses alone)
//   SAND_RADIAL      1: every moving body is a sphere and no boundary spins. The lever arm of a contact is then
//                    radius + gap / 2 along the normal, which spares two vectors per contact
//   SAND_LOCAL       1: impulses are stored in the basis of their contact (normal, tangent, tangent), for methods that look
//                    at single components and for every friction model but the circular cone. 0: in world coordinates
//   SAND_JOINTS      1: contacts may be blocks of joints (joint.inl); with three rows, local and full arms only
//   SAND_ROLLING     1: contacts may have rolling and spinning friction (rolling.inl): three more rows, of torques. With
//                    joints, in the circular cone alone
//   SAND_LAYOUT_AOS  the memory layout. 0: structure of arrays in tiles of SAND_LANES contacts (layout_soa.inl), for SIMD on
//                    the CPU. 1: one record per contact (layout_aos.inl), for the GPU, where one thread handles one contact
#pragma once
#include "sim/core/limits.h"

#ifndef SAND_REAL
#define SAND_REAL double
#endif
#ifndef SAND_ROWS
#define SAND_ROWS 3
#endif
#ifndef SAND_RADIAL
#define SAND_RADIAL 0
#endif
#ifndef SAND_LOCAL
#define SAND_LOCAL 1
#endif
#ifndef SAND_JOINTS
#define SAND_JOINTS 0
#endif
#ifndef SAND_ROLLING
#define SAND_ROLLING 0
#endif
#ifndef SAND_LAYOUT_AOS
#define SAND_LAYOUT_AOS 0
#endif

// The active-set methods are in this variant: the components of a stored impulse have a meaning of their own (normal,
// tangents), which they need. They know no torques. CUDA compiles them apart from the other methods where there is no
// friction.
#ifndef SAND_COMPONENTS
#define SAND_COMPONENTS (SAND_ROWS == 1 || (SAND_LOCAL && !SAND_ROLLING))
#endif

// A solver vector holds its rows exactly as the gather over bodies reads impulses, so it needs no separate copy of them.
#define SAND_VEC4_ROWS (SAND_LAYOUT_AOS && SAND_ROWS == 3 && !SAND_LOCAL)

// The torque of a contact on spheres, n x impulse, is stored beside the impulse for the gather over bodies: it is computed
// once and not for either body, and many contacts side by side.
#define SAND_STORED_TORQUES (SAND_RADIAL && SAND_ROWS == 3 && !SAND_LAYOUT_AOS)

// A projection on the circular cone has a root and a division in its middle. Loops over tiles do it in two halves, so that a
// processor has the first halves of many contacts in flight, and not one of them from end to end.
#define SAND_HALVED_CONES (SAND_ROWS == 3 && !SAND_LOCAL && !SAND_LAYOUT_AOS)

// Pastes tokens after expanding them.
#define SAND_JOIN_(a, b) a##b
#define SAND_JOIN(a, b) SAND_JOIN_(a, b)
