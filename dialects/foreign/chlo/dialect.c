// The dialect CHLO put together, from the constraints and verifiers of StableHLO. Tools register it, as StableHLO.
#include "dialects/foreign/chlo/ops.h"
#include "dialects/foreign/stablehlo/parts.h"
#include "dialects/foreign/stablehlo/stablehlo.h"
#include "lib/ir/op_dialect.h"

#define TESSERA_OP TESSERA_OP_ROW
#define HOOKS TESSERA_HOOKS
static const TileOpRow rows[] = {
#include "dialects/foreign/chlo/ops.def"
};

static const TileDialectTable table = {
    .name = "chlo",
    .numRows = sizeof rows / sizeof *rows,
    .rows = rows,
    .constraints = stablehloConstraints,
    .kinds = stablehloAttributeKinds,
    .directives = (const TileDirective[]){{NULL}},
};

bool chloTopKOpVerify(MlirOperation op) {
  MlirExtShape operand, values, indices;
  mlirExtTypeGetShape(chloTopKOpGetOperandType(op), &operand);
  mlirExtTypeGetShape(chloTopKOpGetValuesType(op), &values);
  mlirExtTypeGetShape(chloTopKOpGetIndicesType(op), &indices);
  int64_t k = chloTopKOpGetKValue(op);
  bool ok = operand.rank > 0 && values.rank == operand.rank && indices.rank == operand.rank &&
            mlirTypeEqual(values.element, operand.element) && mlirTypeIsAInteger(indices.element);
  if (!ok || mlirTypeIsAComplex(operand.element))
    return tileError(op, "expected values of the operand's element type and integer indices, all of one rank above 0");
  int64_t size = operand.sizes[operand.rank - 1];
  if (k < 0 || (!mlirShapedTypeIsDynamicSize(size) && k > size))
    return tileError(op, "k is %ld, expected 0 to %ld", (long)k, (long)size);
  for (intptr_t i = 0; i < operand.rank; ++i) {
    int64_t wanted = i + 1 == operand.rank ? k : operand.sizes[i];
    if (values.sizes[i] != wanted || indices.sizes[i] != wanted)
      return tileError(op, "size %ld of a result is not %ld", (long)i, (long)wanted);
  }
  return true;
}

void chloRegisterDialect(MlirDialectRegistry registry) {
  const MlirExtDialectDefinition base = {.inlinable = true};
  tileDialectRegister(&table, base, registry);
}
