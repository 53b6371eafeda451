// Facts as attributes of ops and arguments. See attributes.h.
#include "lib/transforms/sparsify/attributes.h"

#include "lib/analysis/sparsity/attribute.h"
#include "lib/ir/support.h"
#include "upstream/func.h"

#include "mlir-c/Dialect/Func.h"

static MlirAttribute attributeOf(const SparseProgram *program, MlirValue value) {
  const SparseCells *may = sparseProgramMay(program, value), *need = sparseProgramNeed(program, value);
  bool isUsed = !mlirOpOperandIsNull(mlirValueGetFirstUse(value));
  return may && isUsed ? sparseAttributeOfCells(mlirValueGetType(value), may, need) : mlirAttributeGetNull();
}

static uint64_t writeArguments(const SparseProgram *program, MlirOperation function) {
  MlirRegion region = mlirOperationGetRegion(function, 0);
  MlirBlock block = mlirRegionGetFirstBlock(region);
  uint64_t count = 0;
  for (intptr_t i = 0; !mlirBlockIsNull(block) && i < mlirBlockGetNumArguments(block); ++i) {
    MlirAttribute attribute = attributeOf(program, mlirBlockGetArgument(block, i));
    if (mlirAttributeIsNull(attribute))
      continue;
    mlirFuncSetArgAttr(function, i, tileString(sparseAttributeName), attribute);
    ++count;
  }
  return count;
}

uint64_t sparseAttributesWrite(const SparseProgram *program, MlirOperation module) {
  TileOps ops = tileCollect(module, NULL);
  uint64_t count = 0;
  for (intptr_t i = 0; i < ops.count; ++i) {
    if (funcFuncOpIsA(ops.items[i]))
      count += writeArguments(program, ops.items[i]);
    if (mlirOperationGetNumResults(ops.items[i]) != 1)
      continue;
    MlirAttribute attribute = attributeOf(program, tileOnlyResult(ops.items[i]));
    if (mlirAttributeIsNull(attribute))
      continue;
    mlirOperationSetDiscardableAttributeByName(ops.items[i], tileString(sparseAttributeName), attribute);
    ++count;
  }
  tileOpsFree(&ops);
  return count;
}

static MlirAttribute without(MlirAttribute dictionary, bool *found) {
  MlirNamedAttribute kept[64];
  intptr_t count = 0, all = mlirDictionaryAttrGetNumElements(dictionary);
  for (intptr_t i = 0; i < all && count < 64; ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(dictionary, i);
    bool isOurs = tileStringEquals(mlirIdentifierStr(entry.name), sparseAttributeName);
    *found |= isOurs;
    if (!isOurs)
      kept[count++] = entry;
  }
  return all <= 64 ? mlirDictionaryAttrGet(mlirAttributeGetContext(dictionary), count, kept) : dictionary;
}

static void removeFromArguments(MlirOperation function) {
  MlirAttribute all = funcFuncOpGetArgAttrs(function), kept[64];
  bool found = false;
  intptr_t count = mlirAttributeIsNull(all) ? 0 : mlirArrayAttrGetNumElements(all);
  for (intptr_t i = 0; i < count && i < 64; ++i)
    kept[i] = without(mlirArrayAttrGetElement(all, i), &found);
  if (found && count <= 64)
    mlirOperationSetInherentAttributeByName(function, tileString("arg_attrs"),
                                            mlirArrayAttrGet(mlirOperationGetContext(function), count, kept));
}

void sparseAttributesRemove(MlirOperation module) {
  TileOps ops = tileCollect(module, NULL);
  for (intptr_t i = 0; i < ops.count; ++i) {
    if (funcFuncOpIsA(ops.items[i]))
      removeFromArguments(ops.items[i]);
    mlirOperationRemoveDiscardableAttributeByName(ops.items[i], tileString(sparseAttributeName));
  }
  tileOpsFree(&ops);
}
