// #sparse.bsr: dense blocks, row by row of blocks. What a block has beyond the matrix is zero.
#include "dialects/sparse/definitions.h"

const SparseFormat sparseBsrFormat = {
    .name = "bsr",
    .scheme = SparseScheme_Segments,
    .major = 0,
    .cell = "block",
    .keys = {{"block", SparseKey_Sizes, SparseKeyRequired},
             {"positions", SparseKey_IntegerType, 32},
             {"coordinates", SparseKey_IntegerType, 32}},
};
