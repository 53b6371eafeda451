// Kernels as HIP and CUDA C++ keep loops and branches; instructions are calls of helpers, functions have names.
// RUN: tile-translate %s --tile-to-cuda-source | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: tile-translate %s --tile-to-hip-source | FileCheck %s --check-prefixes=CHECK,HIP

// CUDA: // Kernels in CUDA C++
// HIP: // Kernels in HIP
// HIP: #include <hip/hip_runtime.h>
// A file has the helpers that it uses, and no others.
// CHECK: #define bits(T, value)
// CUDA-NOT: atomic_add
// HIP-NOT: atomic_add
// CHECK: __device__ __forceinline__ float exp_f32(float n0) {
// CHECK: return x{{[0-9]+}};
// The text of the kernel and the launch are comments.
// CHECK: // tile.kernel private @elementwise_0(
// CHECK: //   {{.*}} = math.exp {{.*}}
// CHECK: // Launch: grid ({{[0-9]+}}, 1, 1), block ({{[0-9]+}}, 1, 1), dynamic shared memory 0 bytes.
// CHECK: extern "C" __global__ void __launch_bounds__({{[0-9]+}}) elementwise_0(float *a0, float *a1) {
// CHECK: threadIdx.x;
// CUDA: load_masked(f
// HIP: buffer_load(
// CHECK: exp_f32(
func.func @exponentials(%x: tensor<1001xf32>) -> tensor<1001xf32> {
  %e = math.exp %x : tensor<1001xf32>
  return %e : tensor<1001xf32>
}

// CHECK: extern "C" __global__ void __launch_bounds__({{.*}}) matmul_0(f16 *a0, f16 *a1, float *a2) {
// CUDA: __shared__ __align__({{[0-9]+}}) char matmul_0_shared[
// CUDA: copy_async_cg_16(
// CUDA: copy_async_commit();
// CUDA: #pragma unroll 1
// CUDA-NEXT: for (uint{{32|64}}_t [[I:i[0-9]+]] = 0; [[I]] < {{[0-9]+}}; [[I]] += 1) {
// CUDA: __syncthreads();
// CUDA: mma_m16n8k16_f32_f16(
// HIP: matrix_core(
// CHECK: }
func.func @product(%a: tensor<64x256xf16>, %b: tensor<256x64xf16>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%a, %b : tensor<64x256xf16>, tensor<256x64xf16>)
    outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m : tensor<64x64xf32>
}
