// StableHLO's ops on elements of tensors: each one linalg.generic, that takes in constants and broadcasts.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/stablehlo/ops.h"
#include "upstream/arith.h"
#include "upstream/tensor.h"

enum { MostOperands = 64 };

// The op, and where its operands' parts stand among the generic's inputs: -1 for a constant, which the body builds.
typedef struct Elementwise {
  MlirOperation op;
  intptr_t numOperands;
  int counts[MostOperands], inputs[MostOperands][2];
  MlirAttribute constants[MostOperands][2];
  MlirRegion region; // of map; null: the op itself
} Elementwise;

static bool buildBody(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results) {
  const Elementwise *e = generic->data;
  HloValue operands[MostOperands], result;
  for (intptr_t i = 0; i < e->numOperands; ++i) {
    operands[i].count = e->counts[i];
    for (int part = 0; part < e->counts[i]; ++part)
      operands[i].parts[part] =
          e->inputs[i][part] < 0 ? tileBuildConstant(&h->b, e->constants[i][part]) : arguments[e->inputs[i][part]];
  }
  if (mlirRegionIsNull(e->region))
    result = hloScalarOp(h, e->op, operands);
  else if (!hloConvertBody(h, e->region, e->numOperands, operands, &result))
    return false;
  for (int part = 0; part < result.count; ++part)
    results[part] = result.parts[part];
  return result.count == generic->numOutputs;
}

// An input for each part; of a scalar that was read from a tensor of rank 0, that tensor.
static bool addOperand(Hlo *h, HloGeneric *generic, Elementwise *e, intptr_t i, MlirValue old) {
  HloSource source = hloSource(h, old);
  intptr_t rank = generic->parallel;
  e->counts[i] = source.value.count;
  for (int part = 0; part < source.value.count; ++part) {
    MlirValue value = source.value.parts[part];
    MlirOperation op = tileDefiningOp(value);
    e->inputs[i][part] = -1;
    if (source.isScalar && arithConstantOpIsA(op)) {
      e->constants[i][part] = arithConstantOpGetValue(op);
      continue;
    }
    if (source.isScalar && tensorExtractOpIsA(op) &&
        mlirShapedTypeGetRank(mlirValueGetType(tensorExtractOpGetTensor(op))) == 0)
      value = tensorExtractOpGetTensor(op);
    e->inputs[i][part] = (int)generic->numInputs;
    hloAddInput(generic, value, source.isScalar ? hloFirst(h, rank, 0) : hloMapOf(h, rank, source.rank, source.dims));
  }
  return source.value.count > 0;
}

// The sizes of the result are those of every operand that is no scalar.
static void sizesOf(Hlo *h, MlirOperation op, intptr_t rank, MlirValue *sizes) {
  bool isFirst = true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    for (intptr_t d = 0; d < rank && hloShape(operand).rank == rank; ++d) {
      MlirValue size = hloSizeOf(h, operand, d);
      if (!isFirst)
        hloAssertSame(h, sizes[d], size);
      else
        sizes[d] = size;
    }
    isFirst &= hloShape(operand).rank != rank;
  }
}

bool hloElementwise(Hlo *h, MlirOperation op) {
  MlirValue result = tileOnlyResult(op), built[2];
  MlirExtShape shape = hloShape(result);
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirRegion none = {NULL};
  Elementwise e = {
      .op = op, .numOperands = count, .region = stablehloMapOpIsA(op) ? stablehloMapOpGetComputation(op) : none};
  if (shape.rank == 0) {
    HloValue operands[MostOperands], value;
    for (intptr_t i = 0; i < count; ++i)
      operands[i] = hloGet(h, mlirOperationGetOperand(op, i));
    if (mlirRegionIsNull(e.region))
      value = hloScalarOp(h, op, operands);
    else if (!hloConvertBody(h, e.region, count, operands, &value))
      return false;
    hloSet(h, result, value);
    return value.count > 0;
  }
  HloGeneric generic = {.parallel = shape.rank, .body = buildBody, .data = &e};
  for (intptr_t i = 0; i < count; ++i)
    if (!addOperand(h, &generic, &e, i, mlirOperationGetOperand(op, i)))
      return false;
  MlirValue sizes[HloMaxRank];
  bool isOpen = !mlirShapedTypeHasStaticShape(mlirValueGetType(result));
  if (isOpen)
    sizesOf(h, op, shape.rank, sizes);
  HloValue value = {hloIsComplex(shape.element) ? 2 : 1, {{NULL}}};
  for (int part = 0; part < value.count; ++part)
    hloAddOutput(&generic, hloEmptyOf(h, hloElement(shape.element), shape.rank, shape.sizes, sizes),
                 hloIdentity(h, shape.rank));
  if (!hloBuildGeneric(h, &generic, built))
    return false;
  for (int part = 0; part < value.count && isOpen; ++part)
    hloNoteSizes(h, built[part], shape.rank, sizes);
  memcpy(value.parts, built, sizeof built);
  hloSet(h, result, value);
  return true;
}
