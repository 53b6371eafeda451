// Each block sums its part; after all blocks have met, each takes all sums. Then a block gives its sum's place back.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void grid(const float *x, float *parts, float *out, int n) {
  cg::grid_group grid = cg::this_grid();
  __shared__ float own[64];
  float sum = 0;
  for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
    sum += x[i];
  own[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (unsigned i = 0; i < blockDim.x; ++i)
      sum += own[i];
    parts[blockIdx.x] = sum;
  }
  grid.sync();
  float total = 0;
  for (unsigned i = 0; i < gridDim.x; ++i)
    total += parts[i];
  for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
    out[i] = x[i] / total;
  grid.sync();
  if (threadIdx.x == 0)
    parts[blockIdx.x] = 0;
}
