// Inclusive sums of rows of at most blockDim.x integers, in dynamic shared memory, with two halves by turns.
extern __shared__ int s[];

__device__ void step(int *to, const int *from, int t, int k) { to[t] = t >= k ? from[t] + from[t - k] : from[t]; }

__global__ void scan(const int *x, int *y, int n) {
  int t = threadIdx.x, width = blockDim.x, row = blockIdx.x;
  int *from = s, *to = s + width;
  from[t] = t < n ? x[row * n + t] : 0;
  __syncthreads();
  for (int k = 1; k < width; k *= 2) {
    step(to, from, t, k);
    __syncthreads();
    int *other = from;
    from = to;
    to = other;
  }
  if (t < n)
    y[row * n + t] = from[t];
}
