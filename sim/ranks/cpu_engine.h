// SPDX-License-Identifier: MIT
// The CPU as the engine of a rank: its steps are those of a subdomain, and the host has current bodies only after a read.
#pragma once
#include "sim/ranks/rank_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

const SandRankEngine *sand_cpu_rank_engine(void);

#ifdef __cplusplus
}
#endif
