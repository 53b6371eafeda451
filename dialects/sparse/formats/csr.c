// #sparse.csr: entries row by row. Row r has entries positions[r] to positions[r+1]-1, columns strictly ascending.
#include "dialects/sparse/definitions.h"

const SparseFormat sparseCsrFormat = {
    .name = "csr",
    .scheme = SparseScheme_Segments,
    .major = 0,
    .keys = {{"positions", SparseKey_IntegerType, 32}, {"coordinates", SparseKey_IntegerType, 32}},
};
