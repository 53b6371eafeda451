// Attributes that are sets of flags. mlir-c neither makes nor reads them.
#pragma once

#include "lib/capi/common.h"

MLIR_EXT_BEGIN
// Flags are the bits of arith::FastMathFlags and arith::IntegerOverflowFlags: #arith.fastmath<nsz,afn> is 8 + 64,
// #arith.overflow<nsw> is 1 (lib/ir/support.h names those in use).
MlirAttribute mlirExtFastMathFlagsAttrGet(MlirContext context, uint32_t flags);
// 0 for null and for any other attribute.
uint32_t mlirExtFastMathFlagsAttrGetValue(MlirAttribute attribute);
uint32_t mlirExtOverflowFlagsAttrGetValue(MlirAttribute attribute);
MLIR_EXT_END
