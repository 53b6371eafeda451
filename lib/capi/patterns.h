// Pattern sets that upstream exports to C++ only, by name.
#pragma once

#include "lib/capi/common.h"

MLIR_EXT_BEGIN
// `option`: the enumerator the set takes ("outerproduct", "shuffle16x16", …), a comma list of op names for math sets,
// or null. False if no set has that name.
bool mlirExtPopulatePatterns(MlirRewritePatternSet patterns, const char *name, const char *option, unsigned benefit);
const char *const *mlirExtPatternSetNames(void); // null-terminated
// linalg's elementwise fusion; `mayFuse` is asked for operand `operand` of `consumer`, whose producer is a linalg op.
void mlirExtPopulateElementwiseFusion(MlirRewritePatternSet patterns,
                                      bool (*mayFuse)(MlirOperation consumer, intptr_t operand));
MLIR_EXT_END
