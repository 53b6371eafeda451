// #sparse.mask: a dense matrix and which of its tiles are not zero.
#include "dialects/sparse/definitions.h"

const SparseFormat sparseMaskFormat = {
    .name = "mask",
    .scheme = SparseScheme_Tiles,
    .cell = "tile",
    .keys = {{"tile", SparseKey_Sizes, SparseKeyRequired}, {"axis", SparseKey_Number, 1}},
};
