// SPDX-License-Identifier: MIT
// Batches of worlds on CUDA: what the table of the backend has of them (SandBackend.batch_...).
#pragma once
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

SandBatchDevice *cuda_batch_create(SandHostState *const *hosts, int count, SandError *error);
void cuda_batch_free(SandBatchDevice *batch);
const SandBackend *cuda_batch_member(SandBatchDevice *batch, int world);
bool cuda_batch_step(SandBatchDevice *batch, const int *worlds, int count, const SandSolveDef *const *solves,
                     SandStepReport *reports, SandError *error);

#ifdef __cplusplus
}
#endif
