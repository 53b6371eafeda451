// Three steps of a mean of three neighbours, in place in shared memory; the ends stay.
extern "C" __global__ void stencil(float *x, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  if (t < n)
    s[t] = x[t];
  __syncthreads();
  for (int step = 0; step < 3; ++step) {
    float mean = t > 0 && t < n - 1 ? (s[t - 1] + s[t] + s[t + 1]) / 3 : t < n ? s[t] : 0;
    __syncthreads();
    if (t < n)
      s[t] = mean;
    __syncthreads();
  }
  if (t < n)
    x[t] = s[t];
}
