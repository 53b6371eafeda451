// What CUDA C++ and HIP have without an #include, for clang without a toolkit: types, ids, barriers, shuffles, votes,
// atomics, half floats, cooperative groups, the functions of the host that launch kernels (declared only). Functions of
// math come from clang's own headers. lib/import/cuda/compile.c gives this text to clang in front of the user's.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __TESSERA_BOTH __host__ __device__ inline __attribute__((always_inline))
#define __TESSERA_DEVICE static __device__ inline __attribute__((always_inline))

//===--- vectors -------------------------------------------------------------------------------------===//

#define __TESSERA_VECTORS(T, name, a2, a4)                                                                             \
  struct name##1 { T x; };                                                                                             \
  struct __attribute__((aligned(a2))) name##2 { T x, y; };                                                             \
  struct name##3 { T x, y, z; };                                                                                       \
  struct __attribute__((aligned(a4))) name##4 { T x, y, z, w; };                                                       \
  __TESSERA_BOTH name##1 make_##name##1(T x) { return {x}; }                                                           \
  __TESSERA_BOTH name##2 make_##name##2(T x, T y) { return {x, y}; }                                                   \
  __TESSERA_BOTH name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                           \
  __TESSERA_BOTH name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
__TESSERA_VECTORS(signed char, char, 2, 4)
__TESSERA_VECTORS(unsigned char, uchar, 2, 4)
__TESSERA_VECTORS(short, short, 4, 8)
__TESSERA_VECTORS(unsigned short, ushort, 4, 8)
__TESSERA_VECTORS(int, int, 8, 16)
__TESSERA_VECTORS(unsigned, uint, 8, 16)
__TESSERA_VECTORS(long, long, 16, 16)
__TESSERA_VECTORS(unsigned long, ulong, 16, 16)
__TESSERA_VECTORS(long long, longlong, 16, 16)
__TESSERA_VECTORS(unsigned long long, ulonglong, 16, 16)
__TESSERA_VECTORS(float, float, 8, 16)
__TESSERA_VECTORS(double, double, 16, 16)

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};

//===--- ids -----------------------------------------------------------------------------------------===//

#ifdef __HIP__
extern "C" __device__ __attribute__((const)) __SIZE_TYPE__ __ockl_get_local_size(unsigned);
extern "C" __device__ __attribute__((const)) __SIZE_TYPE__ __ockl_get_num_groups(unsigned);
#define __TESSERA_THREAD_ID(d) __builtin_amdgcn_workitem_id_##d()
#define __TESSERA_BLOCK_ID(d) __builtin_amdgcn_workgroup_id_##d()
#define __TESSERA_x 0
#define __TESSERA_y 1
#define __TESSERA_z 2
#define __TESSERA_BLOCK_SIZE(d) (unsigned)__ockl_get_local_size(__TESSERA_##d)
#define __TESSERA_GRID_SIZE(d) (unsigned)__ockl_get_num_groups(__TESSERA_##d)
#else
#define __TESSERA_THREAD_ID(d) __nvvm_read_ptx_sreg_tid_##d()
#define __TESSERA_BLOCK_ID(d) __nvvm_read_ptx_sreg_ctaid_##d()
#define __TESSERA_BLOCK_SIZE(d) __nvvm_read_ptx_sreg_ntid_##d()
#define __TESSERA_GRID_SIZE(d) __nvvm_read_ptx_sreg_nctaid_##d()
#endif
#define __TESSERA_ID(d, read)                                                                                          \
  __declspec(property(get = __get_##d)) unsigned d;                                                                    \
  static __device__ inline __attribute__((always_inline)) unsigned __get_##d() { return read(d); }
#define __TESSERA_IDS(name, read)                                                                                      \
  struct __tessera_##name {                                                                                            \
    __TESSERA_ID(x, read)                                                                                              \
    __TESSERA_ID(y, read)                                                                                              \
    __TESSERA_ID(z, read)                                                                                              \
    __device__ operator dim3() const { return dim3(x, y, z); }                                                         \
    __device__ operator uint3() const { return {x, y, z}; }                                                            \
  };                                                                                                                   \
  extern const __device__ __attribute__((weak)) __tessera_##name name;
__TESSERA_IDS(threadIdx, __TESSERA_THREAD_ID)
__TESSERA_IDS(blockIdx, __TESSERA_BLOCK_ID)
__TESSERA_IDS(blockDim, __TESSERA_BLOCK_SIZE)
__TESSERA_IDS(gridDim, __TESSERA_GRID_SIZE)
#ifdef __HIP__
#define warpSize __builtin_amdgcn_wavefrontsize()
#else
#define warpSize 32
#endif

//===--- math: clang's headers --------------------------------------------------------------------------===//

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#ifdef __HIP__
#include <__clang_cuda_math_forward_declares.h>
#include <__clang_hip_libdevice_declares.h>

#include <__clang_hip_math.h>

#include <__clang_hip_cmath.h>
#else
#define CUDA_VERSION 12000
#define CUDART_VERSION 12000
#include <__clang_cuda_math_forward_declares.h>

#include <__clang_cuda_libdevice_declares.h>
// Of clang's header of device functions, what the next two name.
__TESSERA_DEVICE long long __float2ll_rn(float v) { return (long long)__builtin_rintf(v); }
__TESSERA_DEVICE int __isfinited(double v) { return __builtin_isfinite(v); }
__TESSERA_DEVICE int __isnand(double v) { return __builtin_isnan(v); }
__TESSERA_DEVICE int __isinfd(double v) { return __builtin_isinf(v); }
__TESSERA_DEVICE int __isfinitef(float v) { return __builtin_isfinite(v); }
__TESSERA_DEVICE int __finitef(float v) { return __builtin_isfinite(v); }
__TESSERA_DEVICE int __isnanf(float v) { return __builtin_isnan(v); }
__TESSERA_DEVICE int __isinff(float v) { return __builtin_isinf(v); }
__TESSERA_DEVICE int __signbitd(double v) { return __builtin_signbit(v); }
__TESSERA_DEVICE int __signbitf(float v) { return __builtin_signbit(v); }

#include <__clang_cuda_math.h>

#include <__clang_cuda_cmath.h>
#endif

//===--- integers, conversions, fast functions -------------------------------------------------------------------===//

__TESSERA_DEVICE int __popc(unsigned v) { return __builtin_popcount(v); }
__TESSERA_DEVICE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
__TESSERA_DEVICE int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
__TESSERA_DEVICE int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
__TESSERA_DEVICE int __ffs(int v) { return __builtin_ffs(v); }
__TESSERA_DEVICE int __ffsll(long long v) { return __builtin_ffsll(v); }
__TESSERA_DEVICE unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
__TESSERA_DEVICE unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
__TESSERA_DEVICE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
__TESSERA_DEVICE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
__TESSERA_DEVICE int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
__TESSERA_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
__TESSERA_DEVICE int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
__TESSERA_DEVICE unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
__TESSERA_DEVICE float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
__TESSERA_DEVICE float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
__TESSERA_DEVICE long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
__TESSERA_DEVICE double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
__TESSERA_DEVICE int __float2int_rn(float v) { return (int)__builtin_rintf(v); }
__TESSERA_DEVICE int __float2int_rz(float v) { return (int)v; }
__TESSERA_DEVICE int __float2int_rd(float v) { return (int)__builtin_floorf(v); }
__TESSERA_DEVICE int __float2int_ru(float v) { return (int)__builtin_ceilf(v); }
__TESSERA_DEVICE unsigned __float2uint_rn(float v) { return (unsigned)__builtin_rintf(v); }
__TESSERA_DEVICE unsigned __float2uint_rz(float v) { return (unsigned)v; }
__TESSERA_DEVICE float __int2float_rn(int v) { return (float)v; }
__TESSERA_DEVICE float __uint2float_rn(unsigned v) { return (float)v; }
#ifndef __HIP__
__TESSERA_DEVICE float __saturatef(float v) { return v < 0 ? 0 : v > 1 ? 1 : v == v ? v : 0; }
__TESSERA_DEVICE float __fadd_rn(float a, float b) {
#pragma clang fp contract(off)
  return a + b;
}
__TESSERA_DEVICE float __fmul_rn(float a, float b) {
#pragma clang fp contract(off)
  return a * b;
}
__TESSERA_DEVICE double __dmul_rn(double a, double b) {
#pragma clang fp contract(off)
  return a * b;
}
__TESSERA_DEVICE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__TESSERA_DEVICE float __fdiv_rn(float a, float b) { return a / b; }
__TESSERA_DEVICE float __fdividef(float a, float b) { return a / b; }
__TESSERA_DEVICE float __frcp_rn(float v) { return 1 / v; }
__TESSERA_DEVICE float __fsqrt_rn(float v) { return sqrtf(v); }
__TESSERA_DEVICE float __expf(float v) { return __nv_fast_expf(v); }
__TESSERA_DEVICE float __exp10f(float v) { return __nv_fast_exp10f(v); }
__TESSERA_DEVICE float __logf(float v) { return __nv_fast_logf(v); }
__TESSERA_DEVICE float __log2f(float v) { return __nv_fast_log2f(v); }
__TESSERA_DEVICE float __log10f(float v) { return __nv_fast_log10f(v); }
__TESSERA_DEVICE float __sinf(float v) { return __nv_fast_sinf(v); }
__TESSERA_DEVICE float __cosf(float v) { return __nv_fast_cosf(v); }
__TESSERA_DEVICE float __tanf(float v) { return __nv_fast_tanf(v); }
__TESSERA_DEVICE float __powf(float a, float b) { return __nv_fast_powf(a, b); }
__TESSERA_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
__TESSERA_DEVICE void __nanosleep(unsigned ns) { __nvvm_nanosleep(ns); }
__TESSERA_DEVICE void __trap() { __builtin_trap(); }
#endif
extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
extern "C" __device__ inline void __assert_fail(const char *message, const char *file, unsigned line,
                                                const char *function) {
  __assertfail(message, file, line, function, sizeof(char));
}
#include <assert.h>

//===--- barriers and fences ------------------------------------------------------------------------------===//

#ifdef __HIP__
__TESSERA_DEVICE void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__TESSERA_DEVICE void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
__TESSERA_DEVICE void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__TESSERA_DEVICE void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
__TESSERA_DEVICE void __syncwarp(unsigned long long = ~0ull) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
__TESSERA_DEVICE unsigned __lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
#else
__TESSERA_DEVICE int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
__TESSERA_DEVICE int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
__TESSERA_DEVICE int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
__TESSERA_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
__TESSERA_DEVICE void __threadfence() { __nvvm_membar_gl(); }
__TESSERA_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }
__TESSERA_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
__TESSERA_DEVICE unsigned __lane_id() { return __nvvm_read_ptx_sreg_laneid(); }
__TESSERA_DEVICE unsigned __activemask() {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}
#endif

//===--- shuffles and votes ---------------------------------------------------------------------------------===//

// Words of 4 bytes move; a wider value takes two.
template <class T, class Move>
static __device__ inline __attribute__((always_inline)) T __tessera_by_words(T value, Move move) {
  static_assert(sizeof(T) <= 8, "a shuffle moves values of at most 8 bytes");
  int words[2] = {0, 0};
  __builtin_memcpy(words, &value, sizeof(T));
  words[0] = move(words[0]);
  if (sizeof(T) > 4)
    words[1] = move(words[1]);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

#ifdef __HIP__
__TESSERA_DEVICE int __tessera_read(int lane, int value) { return __builtin_amdgcn_ds_bpermute(lane << 2, value); }
template <class T> __TESSERA_DEVICE T __shfl(T v, int lane, int width = warpSize) {
  int self = (int)__lane_id(), from = (self & ~(width - 1)) + (lane & (width - 1));
  return __tessera_by_words(v, [=](int word) { return __tessera_read(from, word); });
}
template <class T> __TESSERA_DEVICE T __shfl_up(T v, unsigned delta, int width = warpSize) {
  int self = (int)__lane_id(), from = self - (int)delta;
  from = from < (self & ~(width - 1)) ? self : from;
  return __tessera_by_words(v, [=](int word) { return __tessera_read(from, word); });
}
template <class T> __TESSERA_DEVICE T __shfl_down(T v, unsigned delta, int width = warpSize) {
  int self = (int)__lane_id(), from = (self & (width - 1)) + (int)delta >= width ? self : self + (int)delta;
  return __tessera_by_words(v, [=](int word) { return __tessera_read(from, word); });
}
template <class T> __TESSERA_DEVICE T __shfl_xor(T v, int mask, int width = warpSize) {
  int self = (int)__lane_id(), from = self ^ mask;
  from = from >= ((self + width) & ~(width - 1)) ? self : from;
  return __tessera_by_words(v, [=](int word) { return __tessera_read(from, word); });
}
template <class T> __TESSERA_DEVICE T __shfl_sync(unsigned long long, T v, int lane, int width = warpSize) {
  return __shfl(v, lane, width);
}
template <class T> __TESSERA_DEVICE T __shfl_up_sync(unsigned long long, T v, unsigned delta, int width = warpSize) {
  return __shfl_up(v, delta, width);
}
template <class T> __TESSERA_DEVICE T __shfl_down_sync(unsigned long long, T v, unsigned delta, int width = warpSize) {
  return __shfl_down(v, delta, width);
}
template <class T> __TESSERA_DEVICE T __shfl_xor_sync(unsigned long long, T v, int mask, int width = warpSize) {
  return __shfl_xor(v, mask, width);
}
__TESSERA_DEVICE unsigned long long __ballot(int predicate) {
#if __AMDGCN_WAVEFRONT_SIZE == 32 || defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
  return __builtin_amdgcn_ballot_w32(predicate != 0);
#else
  return __builtin_amdgcn_ballot_w64(predicate != 0);
#endif
}
__TESSERA_DEVICE int __any(int predicate) { return __ballot(predicate) != 0; }
__TESSERA_DEVICE int __all(int predicate) { return __ballot(!predicate) == 0; }
__TESSERA_DEVICE unsigned long long __ballot_sync(unsigned long long mask, int p) { return __ballot(p) & mask; }
__TESSERA_DEVICE int __any_sync(unsigned long long mask, int p) { return (__ballot(p) & mask) != 0; }
__TESSERA_DEVICE int __all_sync(unsigned long long mask, int p) { return (__ballot(!p) & mask) == 0; }
#else
#define __TESSERA_SHUFFLE(name, builtin, Amount, clamp)                                                                \
  template <class T> __TESSERA_DEVICE T name(unsigned mask, T v, Amount amount, int width = 32) {                      \
    return __tessera_by_words(                                                                                         \
        v, [=](int word) { return builtin(mask, word, (int)amount, ((32 - width) << 8) | clamp); });                   \
  }
__TESSERA_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 31)
__TESSERA_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned, 0)
__TESSERA_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned, 31)
__TESSERA_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 31)
__TESSERA_DEVICE int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p != 0); }
__TESSERA_DEVICE int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p != 0); }
__TESSERA_DEVICE int __uni_sync(unsigned mask, int p) { return __nvvm_vote_uni_sync(mask, p != 0); }
__TESSERA_DEVICE unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p != 0); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
template <class T> __TESSERA_DEVICE unsigned __match_any_sync(unsigned mask, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a match compares values of 4 or 8 bytes");
  if constexpr (sizeof(T) == 4)
    return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(unsigned, value));
  else
    return __nvvm_match_any_sync_i64(mask, __builtin_bit_cast(unsigned long long, value));
}
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__TESSERA_DEVICE unsigned __reduce_add_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_add(v, mask); }
__TESSERA_DEVICE int __reduce_add_sync(unsigned mask, int v) { return __nvvm_redux_sync_add(v, mask); }
__TESSERA_DEVICE unsigned __reduce_min_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_umin(v, mask); }
__TESSERA_DEVICE int __reduce_min_sync(unsigned mask, int v) { return __nvvm_redux_sync_min(v, mask); }
__TESSERA_DEVICE unsigned __reduce_max_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_umax(v, mask); }
__TESSERA_DEVICE int __reduce_max_sync(unsigned mask, int v) { return __nvvm_redux_sync_max(v, mask); }
__TESSERA_DEVICE unsigned __reduce_and_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_and(v, mask); }
__TESSERA_DEVICE unsigned __reduce_or_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_or(v, mask); }
__TESSERA_DEVICE unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_xor(v, mask); }
#endif
#endif

//===--- memory -------------------------------------------------------------------------------------------===//

__TESSERA_DEVICE size_t __cvta_generic_to_shared(const void *p) {
  return (size_t)(const __attribute__((address_space(3))) void *)p;
}
__TESSERA_DEVICE size_t __cvta_generic_to_global(const void *p) {
  return (size_t)(const __attribute__((address_space(1))) void *)p;
}
template <class T> __TESSERA_DEVICE T __ldg(const T *p) { return *p; }
template <class T> __TESSERA_DEVICE T __ldcg(const T *p) { return *p; }
template <class T> __TESSERA_DEVICE T __ldca(const T *p) { return *p; }
template <class T> __TESSERA_DEVICE T __ldcs(const T *p) { return *p; }
template <class T> __TESSERA_DEVICE void __stcg(T *p, T v) { *p = v; }
template <class T> __TESSERA_DEVICE void __stcs(T *p, T v) { *p = v; }

// Relaxed, as CUDA's are; the scope is the device's, of …_block the block's, of …_system the whole machine's.
#define __TESSERA_ATOMICS(suffix, scope)                                                                               \
  template <class T> __TESSERA_DEVICE T atomicAdd##suffix(T *p, decltype(T() + T(), T()) v) {                          \
    return __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, scope);                                                   \
  }                                                                                                                    \
  template <class T> __TESSERA_DEVICE T atomicSub##suffix(T *p, decltype(T() + T(), T()) v) {                          \
    return __scoped_atomic_fetch_sub(p, v, __ATOMIC_RELAXED, scope);                                                   \
  }                                                                                                                    \
  template <class T> __TESSERA_DEVICE T atomicMin##suffix(T *p, decltype(T() + T(), T()) v) {                          \
    return __scoped_atomic_fetch_min(p, v, __ATOMIC_RELAXED, scope);                                                   \
  }                                                                                                                    \
  template <class T> __TESSERA_DEVICE T atomicMax##suffix(T *p, decltype(T() + T(), T()) v) {                          \
    return __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, scope);                                                   \
  }                                                                                                                    \
  template <class T> __TESSERA_DEVICE T atomicAnd##suffix(T *p, decltype(T() + T(), T()) v) {                          \
    return __scoped_atomic_fetch_and(p, v, __ATOMIC_RELAXED, scope);                                                   \
  }                                                                                                                    \
  template <class T> __TESSERA_DEVICE T atomicOr##suffix(T *p, decltype(T() + T(), T()) v) {                           \
    return __scoped_atomic_fetch_or(p, v, __ATOMIC_RELAXED, scope);                                                    \
  }                                                                                                                    \
  template <class T> __TESSERA_DEVICE T atomicXor##suffix(T *p, decltype(T() + T(), T()) v) {                          \
    return __scoped_atomic_fetch_xor(p, v, __ATOMIC_RELAXED, scope);                                                   \
  }                                                                                                                    \
  template <class T> __TESSERA_DEVICE T atomicExch##suffix(T *p, decltype(T() + T(), T()) v) {                         \
    T old;                                                                                                             \
    __scoped_atomic_exchange(p, &v, &old, __ATOMIC_RELAXED, scope);                                                    \
    return old;                                                                                                        \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  __TESSERA_DEVICE T atomicCAS##suffix(T *p, decltype(T() + T(), T()) expected, decltype(T() + T(), T()) v) {          \
    __scoped_atomic_compare_exchange(p, &expected, &v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);              \
    return expected;                                                                                                   \
  }
__TESSERA_ATOMICS(, __MEMORY_SCOPE_DEVICE)
__TESSERA_ATOMICS(_block, __MEMORY_SCOPE_WRKGRP)
__TESSERA_ATOMICS(_system, __MEMORY_SCOPE_SYSTEM)

__TESSERA_DEVICE unsigned atomicInc(unsigned *p, unsigned limit) {
  unsigned old = *(volatile unsigned *)p, seen;
  do {
    seen = old;
    old = atomicCAS(p, seen, seen >= limit ? 0 : seen + 1);
  } while (old != seen);
  return old;
}

#ifndef __HIP__
// cp.async: the words of cuda_pipeline_primitives.h.
template <int N> __TESSERA_DEVICE void __tessera_copy_async(void *to, const void *from) {
  auto *shared = (__attribute__((address_space(3))) void *)to;
  auto *global = (const __attribute__((address_space(1))) void *)from;
  if constexpr (N == 4)
    __nvvm_cp_async_ca_shared_global_4(shared, global);
  else if constexpr (N == 8)
    __nvvm_cp_async_ca_shared_global_8(shared, global);
  else
    __nvvm_cp_async_cg_shared_global_16(shared, global);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define __pipeline_memcpy_async(to, from, size) __tessera_copy_async<size>(to, from)
#define __pipeline_commit() __nvvm_cp_async_commit_group()
#define __pipeline_wait_prior(n) __nvvm_cp_async_wait_group(n)
#endif
#endif

//===--- half floats ----------------------------------------------------------------------------------------===//

typedef _Float16 half;
typedef _Float16 __half;
typedef __bf16 __nv_bfloat16;
typedef __bf16 nv_bfloat16;
typedef __bf16 __hip_bfloat16;
struct __attribute__((aligned(4))) half2 {
  half x, y;
};
typedef half2 __half2;
__TESSERA_BOTH half __float2half(float v) { return (half)v; }
__TESSERA_BOTH half __float2half_rn(float v) { return (half)v; }
__TESSERA_BOTH float __half2float(half v) { return (float)v; }
__TESSERA_BOTH __bf16 __float2bfloat16(float v) { return (__bf16)v; }
__TESSERA_BOTH float __bfloat162float(__bf16 v) { return (float)v; }
__TESSERA_BOTH half2 make_half2(half x, half y) { return {x, y}; }
__TESSERA_BOTH half2 __floats2half2_rn(float x, float y) { return {(half)x, (half)y}; }
__TESSERA_BOTH half2 __halves2half2(half x, half y) { return {x, y}; }
__TESSERA_BOTH half __low2half(half2 v) { return v.x; }
__TESSERA_BOTH half __high2half(half2 v) { return v.y; }
__TESSERA_BOTH float2 __half22float2(half2 v) { return {(float)v.x, (float)v.y}; }
__TESSERA_BOTH half __hadd(half a, half b) { return a + b; }
__TESSERA_BOTH half __hsub(half a, half b) { return a - b; }
__TESSERA_BOTH half __hmul(half a, half b) { return a * b; }
__TESSERA_BOTH half __hdiv(half a, half b) { return a / b; }
template <class T> __TESSERA_BOTH T __hmul_rn(T a, T b) {
#pragma clang fp contract(off)
  return a * b;
}
__TESSERA_DEVICE half __hfma(half a, half b, half c) { return __builtin_fmaf16(a, b, c); }
__TESSERA_BOTH half2 __hadd2(half2 a, half2 b) { return {(half)(a.x + b.x), (half)(a.y + b.y)}; }
__TESSERA_BOTH half2 __hmul2(half2 a, half2 b) { return {(half)(a.x * b.x), (half)(a.y * b.y)}; }
__TESSERA_BOTH half2 __hsub2(half2 a, half2 b) { return {(half)(a.x - b.x), (half)(a.y - b.y)}; }
__TESSERA_BOTH half2 __h2div(half2 a, half2 b) { return {(half)(a.x / b.x), (half)(a.y / b.y)}; }
__TESSERA_BOTH half2 __hneg2(half2 a) { return {(half)-a.x, (half)-a.y}; }
__TESSERA_DEVICE half2 __hfma2(half2 a, half2 b, half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
__TESSERA_BOTH half2 __half2half2(half a) { return {a, a}; }
__TESSERA_BOTH half2 __float2half2_rn(float a) { return {(half)a, (half)a}; }
__TESSERA_BOTH half2 __float22half2_rn(float2 a) { return {(half)a.x, (half)a.y}; }
__TESSERA_BOTH half2 __lows2half2(half2 a, half2 b) { return {a.x, b.x}; }
__TESSERA_BOTH half2 __highs2half2(half2 a, half2 b) { return {a.y, b.y}; }
__TESSERA_BOTH half2 __lowhigh2highlow(half2 a) { return {a.y, a.x}; }
__TESSERA_BOTH half2 __low2half2(half2 a) { return {a.x, a.x}; }
__TESSERA_BOTH half2 __high2half2(half2 a) { return {a.y, a.y}; }
__TESSERA_BOTH float __low2float(half2 a) { return (float)a.x; }
__TESSERA_BOTH float __high2float(half2 a) { return (float)a.y; }
__TESSERA_BOTH half2 operator+(half2 a, half2 b) { return __hadd2(a, b); }
__TESSERA_BOTH half2 operator-(half2 a, half2 b) { return __hsub2(a, b); }
__TESSERA_BOTH half2 operator*(half2 a, half2 b) { return __hmul2(a, b); }
__TESSERA_BOTH half2 operator-(half2 a) { return __hneg2(a); }
__TESSERA_BOTH half2 &operator+=(half2 &a, half2 b) { return a = a + b; }
__TESSERA_BOTH half2 &operator*=(half2 &a, half2 b) { return a = a * b; }
__TESSERA_BOTH half __hneg(half a) { return -a; }
__TESSERA_BOTH half __habs(half a) { return a < (half)0 ? -a : a; }
__TESSERA_BOTH half __hmax(half a, half b) { return a != a || a < b ? b : a; }
__TESSERA_BOTH half __hmin(half a, half b) { return a != a || b < a ? b : a; }
__TESSERA_BOTH half2 __hmax2(half2 a, half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
__TESSERA_BOTH half2 __hmin2(half2 a, half2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
__TESSERA_BOTH bool __hgt(half a, half b) { return a > b; }
__TESSERA_BOTH bool __hge(half a, half b) { return a >= b; }
__TESSERA_BOTH bool __hlt(half a, half b) { return a < b; }
__TESSERA_BOTH bool __hle(half a, half b) { return a <= b; }
__TESSERA_BOTH bool __heq(half a, half b) { return a == b; }
__TESSERA_BOTH bool __hne(half a, half b) { return a < b || a > b; }
__TESSERA_BOTH bool __hisnan(half a) { return a != a; }
__TESSERA_DEVICE half hexp(half a) { return (half)expf((float)a); }
__TESSERA_DEVICE half hlog(half a) { return (half)logf((float)a); }
__TESSERA_DEVICE half hsqrt(half a) { return (half)sqrtf((float)a); }
__TESSERA_DEVICE half hrsqrt(half a) { return (half)rsqrtf((float)a); }
__TESSERA_DEVICE half hrcp(half a) { return (half)(1 / (float)a); }
__TESSERA_DEVICE half2 h2exp(half2 a) { return {hexp(a.x), hexp(a.y)}; }
__TESSERA_BOTH short __half_as_short(half a) { return __builtin_bit_cast(short, a); }
__TESSERA_BOTH unsigned short __half_as_ushort(half a) { return __builtin_bit_cast(unsigned short, a); }
__TESSERA_BOTH half __short_as_half(short a) { return __builtin_bit_cast(half, a); }
__TESSERA_BOTH half __ushort_as_half(unsigned short a) { return __builtin_bit_cast(half, a); }
__TESSERA_BOTH int __half2int_rz(half a) { return (int)a; }
__TESSERA_BOTH half __int2half_rn(int a) { return (half)(float)a; }
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __bf16 x, y;
};
typedef __nv_bfloat162 nv_bfloat162;
__TESSERA_BOTH __bf16 __float2bfloat16_rn(float v) { return (__bf16)v; }
__TESSERA_BOTH __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {(__bf16)x, (__bf16)y}; }
__TESSERA_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {(__bf16)a.x, (__bf16)a.y}; }
__TESSERA_BOTH __nv_bfloat162 __halves2bfloat162(__bf16 x, __bf16 y) { return {x, y}; }
__TESSERA_BOTH float2 __bfloat1622float2(__nv_bfloat162 a) { return {(float)a.x, (float)a.y}; }
__TESSERA_BOTH __bf16 __hadd(__bf16 a, __bf16 b) { return a + b; }
__TESSERA_BOTH __bf16 __hmul(__bf16 a, __bf16 b) { return a * b; }

extern "C" __device__ int printf(const char *, ...);

//===--- cooperative groups -----------------------------------------------------------------------------------===//

// All blocks meet: the first adds what is missing to 2^31, the others 1, so that the upper bit turns when all have come.
static __device__ unsigned __tessera_grid_arrived;
__TESSERA_DEVICE void __tessera_grid_sync() {
  __syncthreads();
  if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
    unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    bool isFirst = blockIdx.x + blockIdx.y + blockIdx.z == 0;
    unsigned before = __scoped_atomic_fetch_add(&__tessera_grid_arrived, isFirst ? 0x80000000u - (blocks - 1) : 1u,
                                                __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
    while (!((before ^ __scoped_atomic_load_n(&__tessera_grid_arrived, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE)) >> 31))
      ;
  }
  __syncthreads();
}

namespace cooperative_groups {
struct grid_group {
  __device__ __attribute__((always_inline)) static void sync() { __tessera_grid_sync(); }
  __device__ static bool is_valid() { return true; }
  __device__ static unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  __device__ static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  __device__ static unsigned long long num_threads() { return num_blocks() * (blockDim.x * blockDim.y * blockDim.z); }
  __device__ static unsigned long long size() { return num_threads(); }
  __device__ static unsigned long long thread_rank() {
    return block_rank() * (blockDim.x * blockDim.y * blockDim.z) +
           ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
  }
};
__TESSERA_DEVICE grid_group this_grid() { return {}; }

struct thread_block {
  __device__ static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ static unsigned size() { return num_threads(); }
  __device__ static unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  __device__ static dim3 group_index() { return blockIdx; }
  __device__ static dim3 thread_index() { return threadIdx; }
  __device__ static dim3 group_dim() { return blockDim; }
  __device__ static dim3 dim_threads() { return blockDim; }
  __device__ __attribute__((always_inline)) static void sync() { __syncthreads(); }
};
__TESSERA_DEVICE thread_block this_thread_block() { return {}; }

// N neighbouring threads of one warp.
template <unsigned N, class Parent = void> struct thread_block_tile {
  static_assert(N && !(N & (N - 1)) && N <= 64, "a tile has a power of two of threads, at most a warp's");
  thread_block_tile() = default;
  template <class Other> __device__ thread_block_tile(const thread_block_tile<N, Other> &) {}
  __device__ static unsigned num_threads() { return N; }
  __device__ static unsigned size() { return N; }
  __device__ static unsigned thread_rank() { return thread_block::thread_rank() % N; }
  __device__ static unsigned meta_group_rank() { return thread_block::thread_rank() / N; }
  __device__ static unsigned meta_group_size() { return (thread_block::num_threads() + N - 1) / N; }
#ifdef __HIP__
  __device__ static unsigned long long __mask() {
    return (N == 64 ? ~0ull : (1ull << (N % 64)) - 1) << (__lane_id() & ~(N - 1));
  }
#else
  __device__ static unsigned __mask() { return (N == 32 ? ~0u : (1u << (N % 32)) - 1) << (__lane_id() & ~(N - 1)); }
#endif
  __device__ __attribute__((always_inline)) static void sync() { __syncwarp(__mask()); }
  template <class T> __device__ T shfl(T v, int rank) const { return __shfl_sync(__mask(), v, rank, (int)N); }
  template <class T> __device__ T shfl_up(T v, unsigned by) const { return __shfl_up_sync(__mask(), v, by, (int)N); }
  template <class T> __device__ T shfl_down(T v, unsigned by) const {
    return __shfl_down_sync(__mask(), v, by, (int)N);
  }
  template <class T> __device__ T shfl_xor(T v, unsigned by) const {
    return __shfl_xor_sync(__mask(), v, (int)by, (int)N);
  }
  __device__ auto ballot(int p) const { return (__ballot_sync(__mask(), p) & __mask()) >> (__lane_id() & ~(N - 1)); }
  __device__ int any(int p) const { return ballot(p) != 0; }
  __device__ int all(int p) const { return ballot(!p) == 0; }
};
template <unsigned N, class Parent> __TESSERA_DEVICE thread_block_tile<N, Parent> tiled_partition(const Parent &) {
  return {};
}
template <class Group> __TESSERA_DEVICE void sync(const Group &group) { group.sync(); }
template <class Group> __TESSERA_DEVICE auto thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> __TESSERA_DEVICE auto group_size(const Group &group) { return group.size(); }

template <class T = void> struct plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T = void> struct less { // the lesser one, as in CUDA
  __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T = void> struct greater {
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T = void> struct bit_and {
  __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T = void> struct bit_or {
  __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T = void> struct bit_xor {
  __device__ T operator()(T a, T b) const { return a ^ b; }
};
template <unsigned N, class Parent, class T, class Combine>
__TESSERA_DEVICE T reduce(const thread_block_tile<N, Parent> &tile, T v, Combine combine) {
  for (unsigned by = N / 2; by; by /= 2)
    v = combine(v, tile.shfl_xor(v, by));
  return v;
}
template <unsigned N, class Parent, class T, class Combine = plus<T>>
__TESSERA_DEVICE T inclusive_scan(const thread_block_tile<N, Parent> &tile, T v, Combine combine = {}) {
  for (unsigned by = 1; by < N; by *= 2) {
    T before = tile.shfl_up(v, by);
    v = tile.thread_rank() >= by ? combine(before, v) : v;
  }
  return v;
}
template <unsigned N, class Parent, class T>
__TESSERA_DEVICE T exclusive_scan(const thread_block_tile<N, Parent> &tile, T v) {
  T before = tile.shfl_up(inclusive_scan(tile, v), 1);
  return tile.thread_rank() ? before : T();
}

// Each thread copies its part at once; what others copied is seen behind the group's barrier.
template <class Group, class T>
__TESSERA_DEVICE void memcpy_async(const Group &group, T *to, const T *from, size_t bytes) {
  for (size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size())
    to[i] = from[i];
}
template <class Group> __TESSERA_DEVICE void wait(const Group &group) { group.sync(); }
} // namespace cooperative_groups

//===--- the host's functions: declared, never called here ----------------------------------------------------===//

enum cudaError_t { cudaSuccess = 0, hipSuccess = 0 };
typedef cudaError_t hipError_t;
typedef struct __tessera_stream *cudaStream_t, *hipStream_t;
typedef struct __tessera_event *cudaEvent_t, *hipEvent_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice,
  hipMemcpyDeviceToHost,
  hipMemcpyDeviceToDevice
};
#define __TESSERA_HOST(api)                                                                                            \
  extern "C" api##Error_t api##MemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, api##Stream_t = nullptr);     \
  extern "C" api##Error_t api##Memcpy(void *, const void *, size_t, cudaMemcpyKind);                                   \
  extern "C" api##Error_t api##Memset(void *, int, size_t);                                                            \
  extern "C" api##Error_t api##Free(void *);                                                                           \
  extern "C" api##Error_t api##DeviceSynchronize(void);                                                                \
  extern "C" api##Error_t api##StreamSynchronize(api##Stream_t);                                                       \
  extern "C" api##Error_t api##GetLastError(void);                                                                     \
  extern "C" const char *api##GetErrorString(api##Error_t);                                                            \
  extern "C" api##Error_t api##EventCreate(api##Event_t *);                                                            \
  extern "C" api##Error_t api##EventRecord(api##Event_t, api##Stream_t = nullptr);                                     \
  extern "C" api##Error_t api##EventSynchronize(api##Event_t);                                                         \
  extern "C" api##Error_t api##EventElapsedTime(float *, api##Event_t, api##Event_t);                                  \
  template <class T> api##Error_t api##Malloc(T **, size_t);                                                           \
  template <class T> api##Error_t api##MallocManaged(T **, size_t, unsigned = 1);                                      \
  extern "C" api##Error_t api##ConfigureCall(dim3, dim3, size_t = 0, api##Stream_t = nullptr);
__TESSERA_HOST(cuda)
__TESSERA_HOST(hip)
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void * = nullptr);
extern "C" unsigned __hipPushCallConfiguration(dim3, dim3, size_t = 0, hipStream_t = nullptr);
