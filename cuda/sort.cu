// SPDX-License-Identifier: MIT
// The one file that includes CUB, whose templates take long to compile.
#include "cuda/sort.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

cudaError_t sort_pairs(void *scratch, size_t bytes, const uint32_t *keys, uint32_t *sorted_keys, const int *values,
                       int *sorted_values, int64_t n, int bits, cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values, n, 0, bits, stream);
}

cudaError_t scan_sum(void *scratch, size_t bytes, const int *in, int *out, int64_t n, cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, n, stream);
}

size_t sort_scratch(int64_t n) {
    size_t bytes = 0;
    uint32_t *keys = NULL;
    int *values = NULL;
    cub::DeviceRadixSort::SortPairs(NULL, bytes, keys, keys, values, values, n, 0, 32);
    return bytes;
}

size_t scan_scratch(int64_t n) {
    size_t bytes = 0;
    int *values = NULL;
    cub::DeviceScan::ExclusiveSum(NULL, bytes, values, values, n);
    return bytes;
}
