// Floats of 8 bits and fewer, and integers of 4 bits. Triton converts f8E4M3FN and f8E5M2 by an op of its own. What it
// does not have (scales, floats of 4 bits, i4) are codes in bytes, which ops move, choose, and convert to integers and
// back. tile-expand-float-conversions{tiles=tt} has made such of other conversions. See tile_to_tt.c.
#include "lib/conversion/tile_to_tt/ttir_export.h"

#include "upstream/arith.h"
#include "upstream/math.h"

enum { TowardZero = 3 }; // arith's roundingmode

//===--- types ----------------------------------------------------------------------------===//

static bool isOwn(MlirType element) {
  return mlirTypeIsAFloat8E4M3FN(element) || mlirTypeIsAFloat8E5M2(element) || tileElementWidth(element) >= 16 ||
         mlirTypeIsAInteger(element);
}

static bool isCode(MlirType element) {
  unsigned width = tileElementWidth(element);
  return mlirTypeIsAInteger(element) ? width == 4 : mlirTypeIsAFloat(element) && !isOwn(element);
}

MlirType ttirElement(MlirType old) {
  if (!mlirTypeIsAFloat(old) && !mlirTypeIsAInteger(old))
    return (MlirType){NULL};
  return isCode(old) ? mlirIntegerTypeGet(mlirTypeGetContext(old), 8) : old;
}

static MlirType oldElement(MlirValue old) { return exportElement(mlirValueGetType(old)); }

//===--- conversions ----------------------------------------------------------------------===//

static MlirValue with(ExportKernel *k, TileUpstream kind, MlirValue x, int64_t number) {
  return tileBuildBinary(&k->b, kind, x, exportFill(k, mlirValueGetType(x), number));
}

// The sign of a code of 4 bits.
static MlirValue extended(ExportKernel *k, MlirValue code) {
  return with(k, ArithOp_ShRSI, with(k, ArithOp_ShLI, code, 4), 4);
}

static bool convert(ExportKernel *k, MlirOperation op, TileUpstream kind) {
  MlirValue x = exportGet(k, tileOnlyOperand(op));
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  bool fromCode = isCode(oldElement(tileOnlyOperand(op))), toCode = isCode(oldElement(tileOnlyResult(op)));
  if (mlirValueIsNull(x) || mlirTypeIsNull(type))
    return false;
  switch (kind) {
  case ArithOp_Bitcast:
    return exportSetResult(k, op, mlirTypeEqual(mlirValueGetType(x), type) ? x : ttBitcastOpBuild(&k->b, type, x));
  case ArithOp_ExtSI:
    return exportSetResult(k, op, ttirResize(k, fromCode ? extended(k, x) : x, type, true));
  case ArithOp_ExtUI:
    return exportSetResult(k, op, ttirResize(k, x, type, false));
  case ArithOp_TruncI:
    x = ttirResize(k, x, type, false);
    return exportSetResult(k, op, toCode ? with(k, ArithOp_AndI, x, 15) : x);
  default: { // floats of 8 bits become wider, or f32 becomes narrower toward zero
    MlirAttribute rounding = kind == ArithOp_TruncF ? ttirI32(k, TtRounding_TowardZero) : mlirAttributeGetNull();
    return exportSetResult(k, op, tileOnlyResult(ttFpToFpOpCreate(&k->b, type, x, rounding)));
  }
  }
}

static bool isByte(MlirType element) { return tileElementWidth(element) == 8; }

static bool isPair(MlirType narrow, MlirType wide) { return tileElementWidth(narrow) == 4 && isByte(wide); }

//===--- codes in pairs -------------------------------------------------------------------===//

MlirValue ttirPacked(ExportKernel *k, MlirValue codes) {
  MlirExtShape shape = exportShape(mlirValueGetType(codes));
  int64_t sizes[ExportMaxRank + 1];
  intptr_t last = shape.rank - 1;
  for (intptr_t i = 0; i < last; ++i)
    sizes[i] = shape.sizes[i];
  sizes[last] = shape.sizes[last] / 2;
  sizes[last + 1] = 2;
  MlirType half = exportSized(k, shape.rank, sizes, shape.element);
  MlirOperation parts = ttSplitOpBuild(
      &k->b, half, half, ttReshapeOpBuild(&k->b, exportSized(k, shape.rank + 1, sizes, shape.element), codes));
  MlirValue low = ttSplitOpGetOutLHS(parts), high = with(k, ArithOp_ShLI, ttSplitOpGetOutRHS(parts), 4);
  return tileBuildBinary(&k->b, ArithOp_OrI, low, high);
}

static MlirValue unpacked(ExportKernel *k, MlirValue bytes, MlirType type) {
  MlirExtShape shape = exportShape(mlirValueGetType(bytes));
  int64_t sizes[ExportMaxRank + 1];
  for (intptr_t i = 0; i < shape.rank; ++i)
    sizes[i] = shape.sizes[i];
  sizes[shape.rank] = 2;
  MlirValue both = ttJoinOpBuild(&k->b, exportSized(k, shape.rank + 1, sizes, shape.element),
                                 with(k, ArithOp_AndI, bytes, 15), with(k, ArithOp_ShRUI, bytes, 4));
  return ttReshapeOpBuild(&k->b, type, both);
}

// Elements as others, a byte as two of 4 bits, or the other way.
static bool asOthers(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileBitcastOpGetInput(op));
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : exportType(k, op, tileOnlyResultType(op));
  if (mlirTypeIsNull(type))
    return false;
  MlirType from = oldElement(tileBitcastOpGetInput(op)), to = oldElement(tileOnlyResult(op));
  intptr_t rank = exportRank(type);
  MlirType i8 = exportInteger(k, 8), bytes = exportShaped(k, mlirValueGetType(x), i8);
  bool isPacked = isPair(to, from), packs = isPair(from, to);
  if ((isPacked || packs) && rank > 0 && rank < ExportMaxRank) {
    if (isPacked && !mlirTypeEqual(mlirValueGetType(x), bytes))
      x = ttBitcastOpBuild(&k->b, bytes, x);
    x = isPacked ? unpacked(k, x, type) : ttirPacked(k, x);
  } else if (tileElementWidth(from) != tileElementWidth(to))
    return tileError(op, "makes elements of another width, which has no conversion to tt");
  return exportSetResult(k, op, mlirTypeEqual(mlirValueGetType(x), type) ? x : ttBitcastOpBuild(&k->b, type, x));
}

//===--- ops ------------------------------------------------------------------------------===//

static bool hasCodes(MlirOperation op) {
  bool found = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    found = found || isCode(oldElement(mlirOperationGetOperand(op, i)));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    found = found || isCode(oldElement(mlirOperationGetResult(op, i)));
  return found;
}

bool ttirFloats(void *kernel, MlirOperation op, bool *isKnown) {
  ExportKernel *k = kernel;
  TileUpstream kind = tileUpstreamKind(op);
  *isKnown = true;
  if (tileOpKind(op) == TileOp_Bitcast)
    return asOthers(k, op);
  bool isFromByte = kind == ArithOp_ExtF && isByte(oldElement(tileOnlyOperand(op)));
  MlirAttribute rounding = kind == ArithOp_TruncF ? tileOpAttribute(op, "roundingmode") : mlirAttributeGetNull();
  bool isCut = !mlirAttributeIsNull(rounding) && mlirIntegerAttrGetValueInt(rounding) == TowardZero;
  if (kind == ArithOp_Bitcast || ((isFromByte || isCut) && !hasCodes(op)))
    return convert(k, op, kind);
  bool isComputed = arithOpKind(op) != ArithOp_None || mathOpKind(op) != MathOp_None;
  *isKnown = isComputed && kind != ArithOp_Select && hasCodes(op);
  if (!*isKnown)
    return true;
  if (kind == ArithOp_ExtSI || kind == ArithOp_ExtUI || kind == ArithOp_TruncI)
    return convert(k, op, kind);
  return tileError(op, "computes with floats or integers that TTIR does not have");
}
