// Softmax of a row for each block: shuffles within a warp, shared memory between warps.
template <class F> __device__ float ofBlock(float *s, float value, float nothing, F combine) {
  for (int k = warpSize / 2; k > 0; k /= 2)
    value = combine(value, __shfl_xor_sync(~0u, value, k));
  int warp = threadIdx.x / warpSize, lane = threadIdx.x % warpSize, warps = blockDim.x / warpSize;
  if (lane == 0)
    s[warp] = value;
  __syncthreads();
  float all = nothing;
  for (int i = 0; i < warps; ++i)
    all = combine(all, s[i]);
  __syncthreads();
  return all;
}

__global__ void softmax(const float *x, float *y, int columns) {
  __shared__ float s[32];
  const float *row = x + blockIdx.x * columns;
  float largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    largest = fmaxf(largest, row[i]);
  largest = ofBlock(s, largest, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += expf(row[i] - largest);
  sum = ofBlock(s, sum, 0, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[blockIdx.x * columns + i] = expf(row[i] - largest) / sum;
}
