// sparse-fold-constants: what is done to constant sparse tensors is done at compile time, so that a program holds them
// as its ops want them and no run packs or sorts anything.
//
// Expects: sparse ops on tensors, before convert-sparse-to-tile. Leaves: sparse.assemble of constant components in
// place of pack, convert and transpose of constant matrices of static shape, with integers of 8 to 64 bits, f16, bf16,
// f32 or f64; a dense constant in place of unpack. Constant factors of sparse.spmm in csr, csc and bsr stand so that
// the lines that they store are those of the product: x · w becomes x · (wᵀ)ᵀ. Weights that do not fit their windows,
// and entries at one place where they may not be, are errors at the op. What is no constant stays. Cost: sorting the
// entries.
#include "dialects/sparse/ops.h"
#include "lib/ir/pass.h"
#include "lib/transforms/sparsify/constants.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "upstream/func.h"

// Evaluates the op on its constant operand. False after a diagnostic; *value stays null where the op is kept.
static bool evaluate(MlirOperation op, SparseConstant *constant, MlirValue *value) {
  MlirType type = tileOnlyResultType(op);
  MlirAttribute duplicates = sparseConvertOpIsA(op) ? sparseConvertOpGetDuplicates(op) : mlirAttributeGetNull();
  bool mayAdd = mlirAttributeIsNull(duplicates) || !tileStringEquals(mlirStringAttrGetValue(duplicates), "error");
  if (sparseTransposeOpIsA(op))
    sparseConstantTranspose(constant);
  if (!sparseConstantMerge(op, constant, mayAdd))
    return false;
  TileBuilder builder = tileBuilderBefore(op);
  if (sparseUnpackOpIsA(op)) {
    MlirAttribute dense = sparseConstantToDense(constant);
    if (!mlirAttributeIsNull(dense))
      *value = tileBuildConstant(&builder, dense);
    return true;
  }
  MlirAttribute components[SPARSE_MAX_COMPONENTS];
  MlirValue values[SPARSE_MAX_COMPONENTS];
  intptr_t count = sparseConstantStore(op, constant, type, components);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = tileBuildConstant(&builder, components[i]);
  if (count)
    *value = tileOnlyResult(sparseAssembleOpCreate(&builder, type, count, values, 0, NULL));
  return count > 0;
}

// Erases an unused op and the constants that only this op used.
static void eraseUnused(MlirOperation op) {
  MlirValue operands[SPARSE_MAX_COMPONENTS];
  intptr_t count = mlirOperationGetNumOperands(op);
  if (!mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(op))) || count > SPARSE_MAX_COMPONENTS)
    return;
  for (intptr_t i = 0; i < count; ++i)
    operands[i] = mlirOperationGetOperand(op, i);
  mlirOperationDestroy(op);
  for (intptr_t i = 0; i < count; ++i) {
    bool isAgain = false;
    for (intptr_t j = 0; j < i; ++j)
      isAgain |= mlirValueEqual(operands[i], operands[j]);
    if (!isAgain)
      sparseEraseUnused(tileDefiningOp(operands[i]));
  }
}

static bool fold(MlirOperation op, MlirExtPass pass) {
  SparseConstant constant = {.entries = NULL};
  MlirValue value = {NULL};
  bool ok = true;
  bool isOne = sparsePackOpIsA(op) || sparseConvertOpIsA(op) || sparseTransposeOpIsA(op) || sparseUnpackOpIsA(op);
  if (!isOne)
    return true;
  if (sparseConstantRead(tileOnlyOperand(op), &constant))
    ok = evaluate(op, &constant, &value);
  sparseConstantFree(&constant);
  if (mlirValueIsNull(value))
    return ok;
  MlirOperation from = tileDefiningOp(tileOnlyOperand(op));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), value);
  mlirOperationDestroy(op);
  eraseUnused(from);
  mlirExtPassAddStatistic(pass, 0, 1);
  return true;
}

//===--- factors of products --------------------------------------------------===//

// A product sums up lines of the sparse factor: rows of the left one, columns of the right one. Null: the type's lines
// are those, or it stores no lines; else the type of its transpose.
static MlirType turnedType(MlirType type, bool areRows) {
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  SparseStorage storage = sparseEncodingGetStorage(encoding);
  if (storage.scheme != SparseScheme_Segments || sparseEncodingMayRepeat(encoding) || (storage.major == 0) == areRows)
    return (MlirType){NULL};
  MlirContext context = mlirTypeGetContext(type);
  const int64_t shape[] = {mlirShapedTypeGetDimSize(type, 1), mlirShapedTypeGetDimSize(type, 0)};
  MlirAttribute turned = storage.hasCells
                             ? sparseEncodingMake(context, "bsr",
                                                  (SparseKeyValue[]){{"block",
                                                                      {sparseEncodingGetSize(encoding, "block", 1),
                                                                       sparseEncodingGetSize(encoding, "block", 0)}},
                                                                     {NULL}})
                             : sparseEncodingMake(context, storage.major ? "csc" : "csr", (SparseKeyValue[]){{NULL}});
  return mlirRankedTensorTypeGet(2, shape, mlirShapedTypeGetElementType(type), turned);
}

// Turns a constant factor whose lines would be sorted whenever the program runs.
static bool turnFactor(MlirOperation op, MlirExtPass pass) {
  bool isLeft = !mlirAttributeIsNull(sparseTypeGetEncoding(sparseSpmmOpGetLhsType(op)));
  bool isTurned = isLeft ? sparseSpmmOpHasTransposeLhs(op) : sparseSpmmOpHasTransposeRhs(op);
  MlirValue lhs = sparseSpmmOpGetLhs(op), rhs = sparseSpmmOpGetRhs(op), factor = isLeft ? lhs : rhs;
  MlirType type = turnedType(mlirValueGetType(factor), isLeft != isTurned);
  SparseConstant constant = {.entries = NULL};
  if (mlirTypeIsNull(type))
    return true;
  if (!sparseConstantRead(factor, &constant)) {
    sparseConstantFree(&constant);
    return true;
  }
  MlirAttribute components[SPARSE_MAX_COMPONENTS];
  MlirValue values[SPARSE_MAX_COMPONENTS];
  sparseConstantTranspose(&constant);
  intptr_t count = sparseConstantMerge(op, &constant, true) ? sparseConstantStore(op, &constant, type, components) : 0;
  sparseConstantFree(&constant);
  TileBuilder b = tileBuilderBefore(op);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = tileBuildConstant(&b, components[i]);
  if (!count)
    return false;
  MlirValue turned = tileOnlyResult(sparseAssembleOpCreate(&b, type, count, values, 0, NULL));
  MlirAttribute flag = isTurned ? mlirAttributeGetNull() : mlirUnitAttrGet(b.context);
  MlirOperation made = sparseSpmmOpCreate(&b, isLeft ? turned : lhs, isLeft ? rhs : turned, sparseSpmmOpGetInit(op),
                                          sparseSpmmOpGetSemiring(op), isLeft ? flag : sparseSpmmOpGetTransposeLhs(op),
                                          isLeft ? sparseSpmmOpGetTransposeRhs(op) : flag);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), tileOnlyResult(made));
  mlirOperationDestroy(op);
  eraseUnused(tileDefiningOp(factor));
  mlirExtPassAddStatistic(pass, 0, 1);
  return true;
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps ops = tileCollect(function, NULL);
  TileOps found = {NULL};
  bool ok = true;
  for (intptr_t i = 0; i < ops.count; ++i)
    if (sparseOpKind(ops.items[i]) != SparseOp_None && !sparseAssembleOpIsA(ops.items[i]))
      tileOpsAppend(&found, ops.items[i]);
  for (intptr_t i = 0; i < found.count && ok; ++i)
    ok = sparseSpmmOpIsA(found.items[i]) ? turnFactor(found.items[i], pass) : fold(found.items[i], pass);
  tileOpsFree(&found);
  tileOpsFree(&ops);
  return ok;
}

const MlirExtPassDefinition sparseFoldConstantsPass = {
    .argument = "sparse-fold-constants",
    .summary = "Pack, unpack, convert and transpose constant sparse tensors at compile time",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"folds: ops on constants done", NULL},
    .dialects = (const char *const[]){"arith", NULL},
    .registerDialects = sparseRegisterDialect,
    .run = run,
};
