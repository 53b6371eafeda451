// Calls both forms of the program of elementwise.onnx without tessera_call, and says what came back.
#include "lib/runtime/tessera.h"

#include <stdio.h>

enum { Numbers = 5 * 3 * 97, Places = 7 };
typedef struct Results {
  tessera_memref_3d_t y;
  tessera_memref_1d_t rest;
} Results;
void _mlir_ciface_main(Results *results, const tessera_memref_3d_t *x, const tessera_memref_1d_t *i);
void _mlir_ciface_main_into(const tessera_memref_3d_t *x, const tessera_memref_1d_t *i, const tessera_memref_3d_t *y,
                            const tessera_memref_1d_t *rest);

static float numbers[Numbers], y[Numbers + 2];
static int64_t places[Places], rest[Places];
static const tessera_memref_3d_t x = {numbers, numbers, 0, {5, 3, 97}, {3 * 97, 97, 1}};
static const tessera_memref_1d_t i = {places, places, 0, {Places}, {1}};

static void sayStatus(const char *form) {
  tessera_error_t error;
  bool failed = tessera_take_error(&error);
  printf("%s: %s%s\n", form, failed ? "failed: " : "right", failed ? error.text : "");
  if (tessera_take_error(NULL))
    puts("an error was taken twice");
}

int main(void) {
  Results results;
  memset(&results, 0x55, sizeof results);
  _mlir_ciface_main(&results, &x, &i);
  sayStatus("main");
  printf("y %s, %lld x %lld x %lld; rest %s, %lld\n", results.y.aligned ? "has data" : "has no data",
         (long long)results.y.sizes[0], (long long)results.y.sizes[1], (long long)results.y.sizes[2],
         results.rest.aligned ? "has data" : "has no data", (long long)results.rest.sizes[0]);
  tessera_release(results.y.allocated);
  tessera_release(results.rest.allocated);

  const tessera_memref_3d_t into = {y, y, 1, {5, 3, 97}, {3 * 97, 97, 1}}; // beside it, both neighbours stay
  _mlir_ciface_main_into(&x, &i, &into, &(tessera_memref_1d_t){rest, rest, 0, {Places}, {1}});
  sayStatus("main_into");
  int nan = 0, minus = 0;
  for (int k = 1; k <= Numbers; ++k)
    nan += y[k] != y[k];
  for (int k = 0; k < Places; ++k)
    minus += rest[k] == -1;
  printf("%d of %d NaN, %d of %d -1, beside them %g %g\n", nan, Numbers, minus, Places, y[0], y[Numbers + 1]);
  return 0;
}
