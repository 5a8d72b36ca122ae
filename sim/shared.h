// Text for both machines: a function marked SAND_SHARED is plain C on the CPU and is compiled for the device by nvcc.
#pragma once

#ifdef __CUDACC__
#define SAND_SHARED static __host__ __device__ inline
#else
#define SAND_SHARED static inline
#endif
