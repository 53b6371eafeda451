// Calls a compiled program from C: results from the program's memory, results into ours, several results, a failure.
//
//   tile-translate rows.mlir --tile-to-program -o rows.so
//   cc main.c ./rows.so $(pkg-config --cflags --libs tessera-runtime) -o main && ./main
#include "lib/runtime/tessera.h"

// What rows.so exports, as lib/runtime/manifest.h says: args[0] is the result, the rest are the arguments; the form
// _into takes the buffers of the results last.
void tessera_packed_softmax(void **args);
void tessera_packed_softmax_into(void **args);
void tessera_packed_twice(void **args);

static void print_matrix(const tessera_memref_2d_t *matrix) {
  for (int64_t i = 0; i < matrix->sizes[0]; ++i) {
    for (int64_t j = 0; j < matrix->sizes[1]; ++j)
      printf(" %.4f", ((float *)matrix->aligned)[matrix->offset + i * matrix->strides[0] + j * matrix->strides[1]]);
    printf("\n");
  }
}

int main(void) {
  float numbers[6] = {1, 2, 3, 3, 3, 3}, space[6];
  tessera_memref_2d_t x = {numbers, numbers, 0, {2, 3}, {3, 1}}, result;
  tessera_error_t error;

  // The result is new memory of the program's; we release it.
  if (!tessera_call(tessera_packed_softmax, (void *[]){&result, &x}, &error))
    return fprintf(stderr, "softmax: %s\n", error.text), 1;
  printf("softmax:\n");
  print_matrix(&result);
  tessera_release(result.allocated);

  // The result is our own memory: nothing is allocated.
  tessera_memref_2d_t out = {space, space, 0, {2, 3}, {3, 1}};
  if (!tessera_call(tessera_packed_softmax_into, (void *[]){&x, &out}, &error))
    return fprintf(stderr, "softmax_into: %s\n", error.text), 1;
  printf("softmax_into:\n");
  print_matrix(&out);

  // Several results are one struct, in order.
  struct {
    int64_t count;
    tessera_memref_1d_t doubled;
  } results;
  tessera_memref_1d_t row = {numbers, numbers, 0, {3}, {1}};
  if (!tessera_call(tessera_packed_twice, (void *[]){&results, &row}, &error))
    return fprintf(stderr, "twice: %s\n", error.text), 1;
  const float *doubled = (const float *)results.doubled.aligned + results.doubled.offset;
  printf("twice: %d elements, the last is %g\n", (int)results.count, doubled[results.count - 1]);
  tessera_release(results.doubled.allocated);

  // A failure comes back as a sentence: this buffer has no room for three columns.
  out.sizes[1] = 2;
  if (!tessera_call(tessera_packed_softmax_into, (void *[]){&x, &out}, &error))
    printf("refused: %s\n", error.text);
  return 0;
}
