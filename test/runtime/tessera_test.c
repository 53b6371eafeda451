// tessera_test.c - the public header's example: a program written by hand as the compiler writes it (a result from the
// arena, a grid, local memory, a failure) called 10,000 times without leaving anything behind.
#include "lib/runtime/tessera.h"

#include "test/check.h"

// %result[i] = %x[i] * %by, in blocks of 64, through a local buffer. args = {result, x, by}.
static void scale_kernel(void **args, int64_t begin, int64_t end) {
  const tessera_memref_1d_t *result = args[0], *x = args[1];
  float by = *(float *)args[2];
  for (int64_t block = begin; block < end; ++block) {
    float *local = tessera_local_alloc(64 * sizeof *local);
    for (int64_t i = 0; i < 64 && block * 64 + i < x->sizes[0]; ++i)
      local[i] = ((float *)x->aligned)[x->offset + (block * 64 + i) * x->strides[0]] * by;
    for (int64_t i = 0; i < 64 && block * 64 + i < x->sizes[0]; ++i)
      ((float *)result->aligned)[block * 64 + i] = local[i];
    tessera_local_free(local);
  }
}

static void _mlir_ciface_scale(tessera_memref_1d_t *result, tessera_memref_1d_t *x, float by) {
  int64_t n = x->sizes[0];
  if (by == 0)
    tessera_raise_message("scale.mlir:3: assertion failed: the factor is not zero");
  void *memory = _mlir_memref_to_llvm_alloc((size_t)n * sizeof(float));
  *result = (tessera_memref_1d_t){memory, memory, 0, {n}, {1}};
  tessera_launch(scale_kernel, (void *[]){result, x, &by}, (n + 63) / 64, "scale");
}

static void call_scale(void **args) { _mlir_ciface_scale(args[0], args[1], *(float *)args[2]); }

static void check_scale(int64_t n, float by) {
  static float numbers[3 * 1000];
  for (int i = 0; i < 3000; ++i)
    numbers[i] = (float)(i % 17) - 3;
  tessera_memref_1d_t result, x = {numbers, numbers, 1, {n}, {3}}; // a strided view
  tessera_error_t error = {""};
  CHECK(tessera_call(call_scale, (void *[]){&result, &x, &by}, &error), "%s", error.text);
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i)
    wrong += ((float *)result.aligned)[i] != numbers[1 + 3 * i] * by;
  CHECK(wrong == 0, "%lld of %lld wrong", (long long)wrong, (long long)n);
  tessera_release(result.allocated);
}

static void check_failure(void) {
  tessera_memref_1d_t result = {0}, x = {0};
  tessera_error_t error = {""};
  float by = 0;
  CHECK(!tessera_call(call_scale, (void *[]){&result, &x, &by}, &error));
  CHECK_CONTAINS(error.text, "scale.mlir:3: assertion failed");
  x.sizes[0] = -1; // a dynamic size gone wrong
  by = 1;
  CHECK(!tessera_call(call_scale, (void *[]){&result, &x, &by}, &error));
  CHECK_CONTAINS(error.text, "a program asked for a buffer of -4 bytes");
}

int main(void) {
  _Static_assert(sizeof(tessera_memref_2d_t) == 7 * 8, "a descriptor as MLIR lays it out");
  tessera_arena_t *arena = tessera_arena_create(), *outer = tessera_arena_enter(arena);
  int64_t launches = tessera_launch_count();
  for (int k = 0; k < 10000; ++k)
    check_scale(k % 7 == 0 ? 999 : k % 131, (float)(1 + k % 5));
  check_failure();
  tessera_arena_statistics_t statistics = tessera_arena_statistics(arena);
  CHECK(statistics.live == 0 && statistics.bad_releases == 0 && statistics.allocations == 10000);
  // One block for each size class met: 64 to 256 by 64, 320 to 512 by 64, 640, 4096.
  CHECK(statistics.blocks == 10, "%lld blocks", (long long)statistics.blocks);
  CHECK(tessera_launch_count() - launches == 10000);
  tessera_arena_enter(outer);
  tessera_arena_destroy(arena);
  return checkResult(20000);
}
