// #sparse.coo: entries with all their coordinates, in row-major order and none twice; `unordered`: in any order, and
// those at one place add up.
#include "dialects/sparse/definitions.h"

const SparseFormat sparseCooFormat = {
    .name = "coo",
    .scheme = SparseScheme_Coordinates,
    .keys = {{"coordinates", SparseKey_IntegerType, 32}, {"unordered", SparseKey_Flag}},
};
