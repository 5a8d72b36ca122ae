// SPDX-License-Identifier: MIT
// CSR lists by counting: a scan of the counts gives the rows, items are put into their rows by atomics in any order, and
// each row is then sorted. Keys are many and items of one key are few, so that most rows are sorted by one thread in
// registers.
#include "cuda/csr.h"

#include <limits.h>

// Counts the items of each key. Like csr_fill it goes on when RETRY_IMPACT is set: the broad phase sorts a second time, and
// csr_fill must have counted key_counts back to zero.
static __global__ void count_keys(const uint32_t *keys, const int *count, uint32_t values, int *key_counts,
                                  const Counts *counts) {
    if (counts->retry & RETRY_CONTACTS) return;
    EACH(i, *count)
        if (keys[i] < values) count_key(key_counts, keys[i]);
}

// Puts the items into their rows, in any order.
static __global__ void csr_fill(const uint32_t *keys, const int *count, uint32_t values, const int *rows, int *key_counts,
                                int *items, const Counts *counts) {
    if (counts->retry & RETRY_CONTACTS) return;
    EACH(i, *count) {
        uint32_t key = keys[i];
        if (key >= values) continue;
        KeyGroup a = key_group(key);
        int before = a.position == 0 ? atomicSub(&key_counts[key], __popc(a.mask)) - __popc(a.mask) : 0;
        items[rows[key] + __shfl_sync(a.mask, before, a.leader) + a.position] = (int)i;
    }
}

// Most rows are so short that a thread sorts them in registers, with all loads in flight at once. Rows up to WARP_ROW are
// sorted by a warp, the longest by a thread block.
enum { THREAD_ROW = 8, WARP_ROW = 256 };
// Sorts by an odd-even transposition network.
static __device__ void sort_by_thread(int *items, int n) {
    int item[THREAD_ROW];
#pragma unroll
    for (int i = 0; i < THREAD_ROW; i++) item[i] = i < n ? items[i] : INT_MAX;
#pragma unroll
    for (int round = 0; round < THREAD_ROW; round++)
#pragma unroll
        for (int i = round % 2; i + 1 < THREAD_ROW; i += 2) {
            int low = min(item[i], item[i + 1]), high = max(item[i], item[i + 1]);
            item[i] = low;
            item[i + 1] = high;
        }
#pragma unroll
    for (int i = 0; i < THREAD_ROW; i++)
        if (i < n) items[i] = item[i];
}

// Sorts by counting for each item how many are smaller.
static __device__ void sort_by_warp(int *items, int n) {
    constexpr int held = WARP_ROW / 32;
    int lane = threadIdx.x & 31, item[held], smaller[held] = {0};
    for (int h = 0; h < held; h++) item[h] = 32 * h + lane < n ? items[32 * h + lane] : INT_MAX;
    for (int h = 0; h < held; h++)
        for (int k = 0; k < min(32, n - 32 * h); k++) {
            int other = __shfl_sync(ALL_LANES, item[h], k);
            for (int own = 0; own < held; own++) smaller[own] += other < item[own];
        }
    for (int h = 0; h < held; h++)
        if (32 * h + lane < n) items[smaller[h]] = item[h];
}

// Sorts by all threads of a block: a bitonic sort in which all comparisons point the same way, so that n need not be a power
// of two.
static __device__ void sort_by_block(int *items, int n) {
    int most = 2;
    while (most < n) most *= 2;
    for (int size = 2; size <= most; size *= 2)
        for (int stride = size / 2; stride; stride /= 2) {
            __syncthreads();
            for (int t = threadIdx.x; t < most / 2; t += blockDim.x) {
                int low = t / stride * 2 * stride + t % stride;
                int high = stride == size / 2 ? low / size * size + size - 1 - low % size : low + stride;
                if (high >= n || items[low] < items[high]) continue;
                int item = items[low];
                items[low] = items[high];
                items[high] = item;
            }
        }
    __syncthreads();
}

// Rows that wait to be sorted by a whole warp or block.
struct RowQueue {
    int row[BLOCK_THREADS], count;
};
static __device__ void push_row(RowQueue *waiting) { waiting->row[atomicAdd(&waiting->count, 1)] = threadIdx.x; }

// Sorts each row.
static __global__ void __launch_bounds__(BLOCK_THREADS)
    csr_sort(const int *rows, int64_t values, int *items, const Counts *counts) {
    __shared__ RowQueue for_warp, for_block;
    if (counts->retry & RETRY_CONTACTS) return;
    EACH_BLOCK(base, values) {
        if (threadIdx.x == 0) for_warp.count = for_block.count = 0;
        __syncthreads();
        int64_t k = base + threadIdx.x;
        int begin = k < values ? rows[k] : 0, n = k < values ? rows[k + 1] - begin : 0;
        if (n > WARP_ROW)
            push_row(&for_block);
        else if (n > THREAD_ROW)
            push_row(&for_warp);
        else if (n > 1)
            sort_by_thread(items + begin, n);
        __syncthreads();
        for (int j = threadIdx.x / 32; j < for_warp.count; j += BLOCK_THREADS / 32) {
            int64_t row = base + for_warp.row[j];
            sort_by_warp(items + rows[row], rows[row + 1] - rows[row]);
        }
        for (int j = 0; j < for_block.count; j++) {
            int64_t row = base + for_block.row[j];
            sort_by_block(items + rows[row], rows[row + 1] - rows[row]);
        }
        __syncthreads();
    }
}

bool csr_count(SandDevice *device, const CsrKeys &keys, int *key_counts, cudaStream_t stream) {
    size_t bytes = ((size_t)keys.values + 1) * sizeof(int);
    if (!device_check(device, cudaMemsetAsync(key_counts, 0, bytes, stream), "counting for rows")) return false;
    LAUNCH_ON(stream, count_keys, keys.capacity, keys.key, keys.count, (uint32_t)keys.values, key_counts, device->counts);
    return device_check(device, cudaGetLastError(), "counting for rows");
}

bool csr_build(SandDevice *device, const CsrKeys &keys, int *key_counts, int *rows, int *items, cudaStream_t stream) {
    bool ok = device_check(
        device,
        scan_sum(device->scratch.bytes.data, device->scratch.bytes.capacity, key_counts, rows, keys.values + 1, stream),
        "making rows");
    if (ok && items) {
        LAUNCH_ON(stream, csr_fill, keys.capacity, keys.key, keys.count, (uint32_t)keys.values, rows, key_counts, items,
                  device->counts);
        LAUNCH_ON(stream, csr_sort, keys.values, rows, keys.values, items, device->counts);
    }
    return ok && device_check(device, cudaGetLastError(), "making rows");
}
