// Pattern sets that upstream exports to C++ only, by name.
#ifndef TESSERA_CAPI_PATTERNS_H
#define TESSERA_CAPI_PATTERNS_H

#include "lib/capi/common.h"

MLIR_EXT_BEGIN
// `option`: the enumerator the set takes ("outerproduct", "shuffle16x16", …), a comma list of op names for math sets,
// or null. False if no set has that name.
bool mlirExtPopulatePatterns(MlirRewritePatternSet patterns, const char *name, const char *option, unsigned benefit);
const char *const *mlirExtPatternSetNames(void); // null-terminated
MLIR_EXT_END

#endif
