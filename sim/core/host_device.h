// Text for both machines: a function marked SAND_SHARED is plain C on the CPU and is compiled for the device by nvcc.
// SAND_SHARED_CALL is for large ones with many callers, of which the device is to have one copy.
#pragma once

#ifdef __CUDACC__
#define SAND_SHARED static __host__ __device__ inline
#define SAND_SHARED_CALL static inline __host__ __device__ __noinline__
#else
#define SAND_SHARED static inline
#define SAND_SHARED_CALL static inline
#endif
