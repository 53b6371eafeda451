// One tile of 16 x 8 x 16 by inline PTX: cp.async, ldmatrix, mma.sync.
#include <cuda_fp16.h>

__device__ unsigned shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void mma(const half *a, const half *b, float *d) {
  __shared__ __align__(16) half as[16 * 16], bs[16 * 8];
  int lane = threadIdx.x;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(as + 8 * lane)), "l"(a + 8 * lane));
  if (lane < 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(shared(bs + 8 * lane)), "l"(b + 8 * lane));
  asm volatile("cp.async.commit_group;\n");
  asm volatile("cp.async.wait_group 0;\n");
  __syncwarp();
  unsigned ar[4], br[2], id;
  float sum[4] = {};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(ar[0]), "=r"(ar[1]), "=r"(ar[2]), "=r"(ar[3])
               : "r"(shared(as + (lane % 16) * 16 + lane / 16 * 8)));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(br[0]), "=r"(br[1])
               : "r"(shared(bs + (lane % 16) * 8)));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(ar[0]), "r"(ar[1]), "r"(ar[2]), "r"(ar[3]), "r"(br[0]), "r"(br[1]));
  asm("mov.u32 %0, %%laneid;" : "=r"(id));
  for (int i = 0; i < 4; ++i)
    d[(id / 4 + i / 2 * 8) * 8 + id % 4 * 2 + i % 2] = sum[i];
}
