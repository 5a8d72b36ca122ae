// One source for CPU and GPU: a function marked SAND_HOST_DEVICE is plain C for a C compiler, and is compiled for host and
// device by nvcc. Such functions live in the .inl files of sim/ and in the headers of sim/core.
// SAND_HOST_DEVICE_NOINLINE is for large functions with many callers, of which device code should hold one copy.
#pragma once

#ifdef __CUDACC__
#define SAND_HOST_DEVICE static __host__ __device__ inline
#define SAND_HOST_DEVICE_NOINLINE static inline __host__ __device__ __noinline__
#else
#define SAND_HOST_DEVICE static inline
#define SAND_HOST_DEVICE_NOINLINE static inline
#endif
