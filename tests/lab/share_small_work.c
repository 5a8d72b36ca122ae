// SPDX-License-Identifier: MIT
// Part of every test: threads share the work however little it is, so that small problems show what several threads do.
#include "sim/core/thread_pool.h"

__attribute__((constructor)) static void share(void) { sand_thread_pool_set_grain(1); }
