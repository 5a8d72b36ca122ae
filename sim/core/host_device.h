// Text for both machines: a function marked SAND_HOST_DEVICE is plain C on the CPU and is compiled for the device by nvcc.
// SAND_HOST_DEVICE_NOINLINE is for large ones with many callers, of which the device is to have one copy.
#pragma once

#ifdef __CUDACC__
#define SAND_HOST_DEVICE static __host__ __device__ inline
#define SAND_HOST_DEVICE_NOINLINE static inline __host__ __device__ __noinline__
#else
#define SAND_HOST_DEVICE static inline
#define SAND_HOST_DEVICE_NOINLINE static inline
#endif
