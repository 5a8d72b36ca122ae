// SPDX-License-Identifier: MIT
// Sorting and scanning on the device: the few forms that the backend needs, so that CUB is compiled once.
#pragma once
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

// Bytes of scratch memory that a sort of n items needs, and a scan.
size_t sort_scratch(int64_t n);
size_t scan_scratch(int64_t n);

// Sorts values by the lowest `bits` of their keys; equal keys stay in order.
cudaError_t sort_pairs(void *scratch, size_t bytes, const uint32_t *keys, uint32_t *sorted_keys, const int *values,
                       int *sorted_values, int64_t n, int bits, cudaStream_t stream);
// out[i] = in[0] + ... + in[i - 1]
cudaError_t scan_sum(void *scratch, size_t bytes, const int *in, int *out, int64_t n, cudaStream_t stream);
