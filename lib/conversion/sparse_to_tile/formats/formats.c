// The table of formats.
#include "lib/conversion/sparse_to_tile/formats/formats.h"

static const SparseFormatLowering *const lowerings[] = {
    &sparseCsrLowering, &sparseCscLowering,  &sparseCooLowering, &sparseBsrLowering,
    &sparseNmLowering,  &sparseMaskLowering, &sparseSumLowering,
};

const SparseFormatLowering *sparseLoweringOf(MlirType type) {
  const char *name = sparseEncodingGetFormat(sparseTypeGetEncoding(type))->name;
  size_t i = 0;
  while (strcmp(lowerings[i]->format, name) != 0)
    ++i;
  return lowerings[i];
}
