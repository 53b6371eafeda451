// How often each byte occurs: counts of a block in shared memory, then added up.
__global__ void histogram(const unsigned char *x, unsigned *counts, unsigned n) {
  __shared__ unsigned s[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    s[i] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&s[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (s[i])
      atomicAdd(&counts[i], s[i]);
}
