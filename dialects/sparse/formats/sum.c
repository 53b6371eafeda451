// #sparse.sum: two to four parts that add up.
#include "dialects/sparse/definitions.h"

const SparseFormat sparseSumFormat = {
    .name = "sum",
    .scheme = SparseScheme_Parts,
    .keys = {{"parts", SparseKey_Parts, SparseKeyRequired}},
};
