// Each row's sum and running sums, by groups of threads: tiles of a warp, then the block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

__global__ void groups(const half2 *x, float *sums, float *scans, int n) {
  __shared__ float partial[32];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const half2 *row = x + (size_t)blockIdx.x * n;
  float total = 0;
  for (int i = block.thread_rank(); i < n; i += block.size()) {
    float2 v = __half22float2(__hfma2(row[i], __float2half2_rn(2.0f), __half2half2((half)1.0f)) - __float2half2_rn(1.0f));
    total += v.x + v.y;
  }
  float before = cg::exclusive_scan(warp, total);
  total = cg::reduce(warp, total, cg::plus<float>());
  if (warp.thread_rank() == 0)
    partial[warp.meta_group_rank()] = total;
  block.sync();
  float sum = 0, first = 0;
  for (unsigned w = 0; w < warp.meta_group_size(); ++w) {
    first += w < warp.meta_group_rank() ? partial[w] : 0;
    sum += partial[w];
  }
  scans[blockIdx.x * block.size() + block.thread_rank()] = first + before;
  auto quad = cg::tiled_partition<4>(block);
  float most = cg::reduce(quad, (float)block.thread_rank(), cg::greater<float>());
  bool isRight = quad.all(most == (block.thread_rank() | 3)) && quad.ballot(quad.thread_rank() == 2) == 4;
  if (cg::this_grid().thread_rank() == blockIdx.x * block.size())
    sums[blockIdx.x] = isRight ? sum : 0;
}
