// SPDX-License-Identifier: MIT
// Small-vector algebra, one source for every precision and device. The including file defines
//   SAND_VEC          name of the vector type
//   SAND_SCALAR       its component type
//   SAND_VF(name)     name of a function, for example v3_##name
//   SAND_MA(a, b, c)  a b + c, fused or not
//   SAND_VEC_INLINE   storage and inlining of a function (static inline, or with __host__ __device__ for CUDA)
// and includes this file once for each instantiation; all five are undefined again at the end.

#ifndef SAND_VEC // opened alone: math.h instantiates it
#include "sandglass/math.h"
#else

typedef struct SAND_VEC {
    SAND_SCALAR x, y, z;
} SAND_VEC;

SAND_VEC_INLINE SAND_VEC SAND_VF(make)(SAND_SCALAR x, SAND_SCALAR y, SAND_SCALAR z) {
    SAND_VEC r;
    r.x = x;
    r.y = y;
    r.z = z;
    return r;
}
SAND_VEC_INLINE SAND_VEC SAND_VF(add)(SAND_VEC a, SAND_VEC b) { return SAND_VF(make)(a.x + b.x, a.y + b.y, a.z + b.z); }
SAND_VEC_INLINE SAND_VEC SAND_VF(sub)(SAND_VEC a, SAND_VEC b) { return SAND_VF(make)(a.x - b.x, a.y - b.y, a.z - b.z); }
SAND_VEC_INLINE SAND_VEC SAND_VF(scale)(SAND_SCALAR s, SAND_VEC a) { return SAND_VF(make)(s * a.x, s * a.y, s * a.z); }
// a + s b
SAND_VEC_INLINE SAND_VEC SAND_VF(madd)(SAND_VEC a, SAND_SCALAR s, SAND_VEC b) {
    return SAND_VF(make)(SAND_MA(s, b.x, a.x), SAND_MA(s, b.y, a.y), SAND_MA(s, b.z, a.z));
}
SAND_VEC_INLINE SAND_SCALAR SAND_VF(dot)(SAND_VEC a, SAND_VEC b) { return SAND_MA(a.z, b.z, SAND_MA(a.y, b.y, a.x * b.x)); }
SAND_VEC_INLINE SAND_VEC SAND_VF(cross)(SAND_VEC a, SAND_VEC b) {
    return SAND_VF(make)(SAND_MA(a.y, b.z, -(a.z * b.y)), SAND_MA(a.z, b.x, -(a.x * b.z)), SAND_MA(a.x, b.y, -(a.y * b.x)));
}

#undef SAND_VEC
#undef SAND_SCALAR
#undef SAND_VF
#undef SAND_MA
#undef SAND_VEC_INLINE

#endif
