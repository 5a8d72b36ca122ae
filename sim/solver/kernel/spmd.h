// SPDX-License-Identifier: MIT
// The SPMD core: the macros in which every solver is written once for the CPU and for CUDA. docs/spmd.md explains them with
// pictures. All workers (threads of a pool, or all threads of a kernel launch) execute the same function together:
//
//        worker 0          worker 1          worker 2
//      SAND_FOR share    SAND_FOR share    SAND_FOR share       each takes its share of the contacts
//      ------------------- sum_total -------------------        a barrier; the totals are the same for everyone
//      SAND_FOR share    SAND_FOR share    SAND_FOR share
//      ------------------ sand_barrier -----------------
//
// Loops. n of SAND_FOR is a multiple of SAND_LANES; SAND_CONTACT(op, i) is the handle of contact i inside such a loop.
//   SAND_FOR(w, i, n)                      contacts
//   SAND_FOR_SUM(w, i, n, &sum)            the same, with SAND_ADD(sum, ref, k, value) and SAND_MAX(...) inside
//   SAND_FOR_BACKWARDS(w, i, n, &sum)      as SAND_FOR_SUM; on a GPU from the end, whose data is still in the cache
//   SAND_FOR_GRADIENTS(w, i, op, v, &sum)  as SAND_FOR_SUM, with SAND_GRADIENT(op, ref): the gradient of contact i from the
//                                          body velocities v (layout_soa.inl, layout_aos.inl)
//   SAND_FOR_IMPULSES(w, i, op, &sum)      as SAND_FOR_SUM, with SAND_STORE_IMPULSE(op, ref, x) inside for every contact:
//                                          x goes where gather_bodies reads impulses (gather.inl)
//   SAND_FOR_GRADIENTS_IMPULSES(w, i, op, v, &sum)
//                                          both of them
//   SAND_FOR_GRADIENTS_AT(w, i, op, v, x, &sum)
//                                          as SAND_FOR_GRADIENTS, with SAND_RESIDUAL(op, ref, x_i, g_i): its share of the
//                                          residual of x (contact_residual)
//   SAND_FOR_STEPS(w, i, op, x, g, alpha, p)
//                                          as SAND_FOR_IMPULSES, with SAND_STEP(op, ref, x_i, g_i, alpha, p): the
//                                          projected step from x against g (contact_step)
//   SAND_FOR_EACH(w, i, n)                 anything else: any n, no SIMD
//   SAND_FOR_BODIES(w, i, lane, n)         bodies, SAND_THREADS_PER_BODY workers per body; vec4_over_lanes adds up theirs
//   SAND_FOR_BODIES_SUM(w, i, lane, n, &s) the same, with SAND_ADD_ONE(sum, k, value) inside
// Agreement.
//   sand_barrier(w)                        everyone arrives, then everyone goes on
//   sum_total(w, &sum)                     a barrier; then sum.total[k] is the same for everyone
//   worker_agree(w, flag)                  a barrier; everyone gets the flag of the first worker
//   if (worker_decides(w)) ...             scalar work that one thread per block does for the others on a GPU
//   worker_learn(w, &value)                where the others find its result, until the next decision
//   worker_state(w)                        SAND_WORKER_STATE doubles that deciding workers keep for the whole solve
// Ranks.
//   SAND_RANKS                             1: the workers may be those of one rank of several, which holds a part of the
//                                          problem; sums are those over all ranks, exchange_ghosts (ghosts.inl) fetches
//                                          bodies. On the CPU every chunk of contacts is then padded (op_contacts_end,
//                                          body_first_end)
//   worker_begin_exchange(w, ranks, m, n)  sends messages to other ranks, after a barrier
//   worker_end_exchange(w, ranks)          waits for those that come, and is a barrier; they are read by SAND_RECEIVED(&x)
//   SAND_FOR_NUMBERS(w, i, c, n, size)     messages: numbers c below `size` of items i
// Memory.
//   SAND_FIXED(&x), vec4_load_fixed        loads of what does not change during a solve (the read-only cache of a GPU)
//   SAND_RESTRICT                          restrict
//   SAND_GATHER_ORDER                      1: the gather visits bodies in the order op->order
//   SAND_UNROLL(n)                         unroll hint: several loads in flight on a GPU, nothing on the CPU
//   SAND_UNCOORDINATED                     1: workers may update the same numbers at the same time where a method says so:
//                                          SAND_RUNS(w, i, n, least) distributes runs, worker_add and vec4_load_now are
//                                          atomic
//
// Guarantee: sums do not depend on the number of threads. On the CPU each SIMD lane has its own partial sum, folded into a
// double every SAND_STRIP tiles and added up over fixed chunks in their order; on the GPU each thread's part is
// added over lanes, warps and blocks in a fixed order. One sum is open at a time.
//
// Solver code stays in the common subset of C17 and CUDA C++. A CUDA translation unit includes cuda/solver/spmd_cuda.h
// first, which defines SAND_SPMD_CUDA and the same macros for a persistent cooperative kernel.
#pragma once
#include "sim/solver/kernel/variant.h"

#ifndef SAND_SPMD_CUDA
#include "sim/solver/kernel/spmd_cpu.h"
#endif
