// The sum of each block's elements, by halves in shared memory.
__global__ void reduce(const float *x, float *sums, int n) {
  __shared__ float s[128];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (t < k)
      s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = s[0];
}
