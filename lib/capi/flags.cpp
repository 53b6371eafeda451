// Flags of arith. See flags.h.
#include "lib/capi/flags.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

MlirAttribute mlirExtFastMathFlagsAttrGet(MlirContext context, uint32_t flags) {
  return wrap(Attribute(arith::FastMathFlagsAttr::get(unwrap(context), static_cast<arith::FastMathFlags>(flags))));
}

uint32_t mlirExtFastMathFlagsAttrGetValue(MlirAttribute attribute) {
  auto flags = dyn_cast_or_null<arith::FastMathFlagsAttr>(unwrap(attribute));
  return flags ? static_cast<uint32_t>(flags.getValue()) : 0;
}

uint32_t mlirExtOverflowFlagsAttrGetValue(MlirAttribute attribute) {
  auto flags = dyn_cast_or_null<arith::IntegerOverflowFlagsAttr>(unwrap(attribute));
  return flags ? static_cast<uint32_t>(flags.getValue()) : 0;
}
