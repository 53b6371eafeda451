// #sparse.csc: entries column by column.
#include "dialects/sparse/definitions.h"

const SparseFormat sparseCscFormat = {
    .name = "csc",
    .scheme = SparseScheme_Segments,
    .major = 1,
    .keys = {{"positions", SparseKey_IntegerType, 32}, {"coordinates", SparseKey_IntegerType, 32}},
};
