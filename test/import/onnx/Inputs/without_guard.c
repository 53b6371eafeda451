// Calls the program of elementwise.onnx without tessera_call, and says whether it came back.
#include "lib/runtime/tessera.h"

#include <stdio.h>

typedef struct Results {
  tessera_memref_3d_t y;
  tessera_memref_1d_t rest;
} Results;
void _mlir_ciface_main(Results *results, const tessera_memref_3d_t *x, const tessera_memref_1d_t *i);

int main(void) {
  static float numbers[5 * 3 * 97];
  static int64_t places[7];
  tessera_memref_3d_t x = {numbers, numbers, 0, {5, 3, 97}, {3 * 97, 97, 1}};
  tessera_memref_1d_t i = {places, places, 0, {7}, {1}};
  Results results;
  _mlir_ciface_main(&results, &x, &i);
  puts("came back");
  tessera_release(results.y.allocated);
  tessera_release(results.rest.allocated);
  return 0;
}
