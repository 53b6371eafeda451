// Verifiers of the ops on quantized tensors. Expects: the row's own checks done. Leaves: true, or a diagnostic with
// value seen and value wanted, and false.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/quantized.h"
#include "dialects/tile/questions.h"

typedef MlirType (*TypeAt)(MlirOperation op, intptr_t index);

static bool expectParts(MlirOperation op, MlirType type, intptr_t count, TypeAt typeAt) {
  TileQuantizedPart parts[TileQuantizedMaxParts];
  intptr_t wanted = tileQuantizedTypeGetParts(type, parts);
  if (count != wanted)
    return tileError(op, "has %d parts, expected %d of %s", (int)count, (int)wanted, TILE_TYPE_TEXT(type));
  for (intptr_t i = 0; i < count; ++i)
    if (!mlirTypeEqual(typeAt(op, i), parts[i].type))
      return tileError(op, "part #%d is %s, expected %s", (int)i, TILE_TYPE_TEXT(typeAt(op, i)),
                       TILE_TYPE_TEXT(parts[i].type));
  return true;
}

TILE_VERIFY(AssembleQuantized) {
  return expectParts(op, tileAssembleQuantizedOpGetResultType(op), mlirOperationGetNumOperands(op), tileOperandType);
}

TILE_VERIFY(DisassembleQuantized) {
  return expectParts(op, tileDisassembleQuantizedOpGetInputType(op), mlirOperationGetNumResults(op), tileResultType);
}

TILE_VERIFY(Dequantize) {
  MlirType wanted = tileQuantizedTypeGetDense(tileDequantizeOpGetInputType(op)),
           seen = tileDequantizeOpGetResultType(op);
  return mlirTypeEqual(seen, wanted) || tileError(op, "result is %s, expected the input's shape and elements, %s",
                                                  TILE_TYPE_TEXT(seen), TILE_TYPE_TEXT(wanted));
}
