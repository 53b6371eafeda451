// The table of formats: a row for each of SPARSE_FORMATS.
#include "lib/conversion/sparse_to_tile/formats/formats.h"

static const struct {
  const SparseFormat *format;
  const SparseFormatLowering *lowering;
} rows[] = {
#define ROW(Name, text) {&sparse##Name##Format, &sparse##Name##Lowering},
    SPARSE_FORMATS(ROW)
#undef ROW
};

const SparseFormatLowering *sparseLoweringOf(MlirType type) {
  const SparseFormat *format = sparseEncodingGetFormat(sparseTypeGetEncoding(type));
  size_t i = 0;
  while (rows[i].format != format)
    ++i;
  return rows[i].lowering;
}
