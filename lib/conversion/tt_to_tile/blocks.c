// Descriptors and block pointers: a tensor in memory, cut into views whose tiles begin at any element.
#include "lib/conversion/tt_to_tile/triton.h"

#include "dialects/foreign/tt/ops.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "upstream/arith.h"
#include "upstream/memref.h"

//===--- making -------------------------------------------------------------------===//

static bool getIndices(Triton *t, intptr_t count, MlirValue (*at)(MlirOperation op, intptr_t i), MlirOperation op,
                       MlirValue *indices) {
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue value = tritonPlain(t, at(op, i));
    int64_t number;
    if (mlirValueIsNull(value))
      return false;
    indices[i] = tritonIndex(t, value);
    if (tileConstantIndex(indices[i], &number) && number == INT64_MIN) // stands for an open one in upstream's types
      return tileError(op, "takes the number %lld, expected one that memory can have", (long long)number);
  }
  return true;
}

// The elements of a block, whose integers may have a sign.
static MlirType elementOf(Triton *t, MlirType block) {
  MlirType element = ttTypeGetElement(block);
  return mlirTypeIsAInteger(element) ? mlirIntegerTypeGet(t->b.context, mlirIntegerTypeGetWidth(element)) : element;
}

static bool begin(Triton *t, MlirOperation op, MlirValue base, MlirType block, TritonValue *value) {
  *value = tritonGet(t, base);
  if (value->kind != Triton_Pointer)
    return value->kind != Triton_None && tileError(op, "is of a pointer that is not defined on every way here");
  if (!mlirValueIsNull(value->base) &&
      !mlirTypeEqual(mlirShapedTypeGetElementType(mlirValueGetType(value->base)), elementOf(t, block)))
    tritonToAddress(t, value);
  value->kind = Triton_Block;
  value->block = tritonAllocate(t, sizeof *value->block);
  value->block->block = block;
  value->block->rank = tritonShape(block).rank;
  value->block->padding = TtPadding_Zero;
  return true;
}

static bool makeDescriptor(Triton *t, MlirOperation op) {
  MlirType block = ttDescriptorTypeGetBlock(ttMakeTensorDescOpGetResultType(op));
  TritonValue value;
  if (!begin(t, op, ttMakeTensorDescOpGetBase(op), block, &value) ||
      !getIndices(t, value.block->rank, ttMakeTensorDescOpGetShape, op, value.block->sizes) ||
      !getIndices(t, value.block->rank, ttMakeTensorDescOpGetStrides, op, value.block->strides))
    return false;
  value.block->padding = ttMakeTensorDescOpGetPaddingValue(op);
  tritonSet(t, ttMakeTensorDescOpGetResult(op), value);
  return true;
}

static bool makeBlockPointer(Triton *t, MlirOperation op) {
  MlirType block = ttPointerTypeGetPointee(ttMakeTensorPtrOpGetResultType(op));
  TritonValue value;
  if (!begin(t, op, ttMakeTensorPtrOpGetBase(op), block, &value) ||
      !getIndices(t, value.block->rank, ttMakeTensorPtrOpGetShape, op, value.block->sizes) ||
      !getIndices(t, value.block->rank, ttMakeTensorPtrOpGetStrides, op, value.block->strides))
    return false;
  value.block->hasOffsets = true;
  for (intptr_t i = 0; i < value.block->rank; ++i)
    if (mlirValueIsNull(value.offsets[i] = tritonPlain(t, ttMakeTensorPtrOpGetOffsets(op, i))))
      return false;
  tritonSet(t, ttMakeTensorPtrOpGetResult(op), value);
  return true;
}

static bool advance(Triton *t, MlirOperation op) {
  TritonValue value = tritonGet(t, ttAdvanceOpGetPtr(op));
  if (value.kind != Triton_Block)
    return value.kind != Triton_None && tileError(op, "moves a pointer that is not defined on every way here");
  for (intptr_t i = 0; i < value.block->rank; ++i) {
    MlirValue by = tritonPlain(t, ttAdvanceOpGetOffsets(op, i));
    if (mlirValueIsNull(by))
      return false;
    value.offsets[i] = tileBuildBinary(&t->b, ArithOp_AddI, value.offsets[i], by);
  }
  tritonSet(t, ttAdvanceOpGetResult(op), value);
  return true;
}

//===--- memory ---------------------------------------------------------------------===//

// The tensor as a memref of its sizes and strides. A stride that is constant stands in the type.
static MlirValue tensorOf(Triton *t, const TritonValue *value) {
  const TritonBlock *block = value->block;
  int64_t open = mlirShapedTypeGetDynamicSize(), sizes[TtMaxRank], strides[TtMaxRank], offset = open;
  MlirValue given[TtMaxRank];
  intptr_t count = 0;
  for (intptr_t i = 0; i < block->rank; ++i) {
    sizes[i] = open;
    if (!tileConstantIndex(block->strides[i], &strides[i])) {
      strides[i] = mlirShapedTypeGetDynamicStrideOrOffset();
      given[count++] = block->strides[i];
    }
  }
  bool isAddress = mlirValueIsNull(value->base);
  MlirAttribute layout = mlirStridedLayoutAttrGet(
      t->b.context, isAddress ? 0 : mlirShapedTypeGetDynamicStrideOrOffset(), block->rank, strides);
  MlirType type = mlirMemRefTypeGet(elementOf(t, block->block), block->rank, sizes, layout, mlirAttributeGetNull());
  if (isAddress)
    return tileMemrefAtOpBuild(&t->b, type, value->value, block->rank, block->sizes, count, given);
  return memrefReinterpretCastOpBuild(&t->b, type, value->base, 1, &value->value, block->rank, block->sizes, count,
                                      given, mlirDenseI64ArrayGet(t->b.context, 1, &offset),
                                      mlirDenseI64ArrayGet(t->b.context, block->rank, sizes),
                                      mlirDenseI64ArrayGet(t->b.context, block->rank, strides));
}

// Tiles of `shape` that begin at any element.
static MlirValue viewOf(Triton *t, const TritonValue *value, const int64_t *shape) {
  MlirValue tensor = tensorOf(t, value);
  intptr_t rank = value->block->rank;
  int64_t ones[TtMaxRank];
  for (intptr_t i = 0; i < rank; ++i)
    ones[i] = 1;
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(tensor));
  TileViewSpec spec = {.rank = rank, .shape = shape, .element = element, .steps = ones};
  spec.pad = value->block->padding == TtPadding_Nan ? "nan" : NULL;
  MlirType type = tileViewTypeGet(t->b.context, &spec);
  return tileViewOpBuild(&t->b, type, tensor, 0, NULL, mlirDenseI64ArrayGet(t->b.context, 0, NULL));
}

// The view, and where its tile begins. `at`: null for a block pointer.
static bool place(Triton *t, MlirOperation op, MlirValue old, MlirValue (*at)(MlirOperation op, intptr_t i),
                  TritonValue *value, MlirValue *view, MlirValue *indices) {
  *value = tritonGet(t, old);
  if (value->kind != Triton_Block)
    return value->kind != Triton_None && tileError(op, "goes through a pointer that is not defined on every way here");
  *view = viewOf(t, value, tritonShape(value->block->block).sizes);
  if (at)
    return getIndices(t, value->block->rank, at, op, indices);
  for (intptr_t i = 0; i < value->block->rank; ++i)
    indices[i] = tritonIndex(t, value->offsets[i]);
  return true;
}

static MlirType blockType(const TritonValue *value, MlirValue view) {
  MlirExtShape shape = tritonShape(value->block->block);
  return tritonTile(shape.rank, shape.sizes, tileTypeGetElement(mlirValueGetType(view)));
}

static bool loadBlock(Triton *t, MlirOperation op, MlirValue pointer, MlirValue (*at)(MlirOperation op, intptr_t i),
                      MlirValue result) {
  TritonValue value;
  MlirValue view, indices[TtMaxRank];
  if (!place(t, op, pointer, at, &value, &view, indices))
    return false;
  MlirValue loaded = tileLoadOpBuild(&t->b, blockType(&value, view), view, value.block->rank, indices);
  tritonSetFull(t, result, loaded);
  return true;
}

static bool storeBlock(Triton *t, MlirOperation op, MlirValue pointer, MlirValue (*at)(MlirOperation op, intptr_t i),
                       MlirValue source, const char *combine) {
  TritonValue value;
  MlirValue view, indices[TtMaxRank], stored = tritonPlain(t, source);
  if (mlirValueIsNull(stored) || !place(t, op, pointer, at, &value, &view, indices))
    return false;
  stored = tritonReshaped(t, stored, blockType(&value, view));
  MlirOperation store = tileStoreOpBuild(&t->b, stored, view, value.block->rank, indices);
  if (combine)
    tileStoreOpSetCombine(store, tritonWord(t, combine));
  return true;
}

static bool reduceBlock(Triton *t, MlirOperation op) {
  static const char *const words[] = {[TtReduceKind_Add] = "add", [TtReduceKind_Min] = "min",
                                      [TtReduceKind_Max] = "max", [TtReduceKind_And] = "and",
                                      [TtReduceKind_Or] = "or",   [TtReduceKind_Xor] = "xor"};
  int64_t kind = mlirIntegerAttrGetValueInt(ttDescriptorReduceOpGetKind(op));
  MlirType element = ttTypeGetElement(ttDescriptorTypeGetBlock(ttDescriptorReduceOpGetDescType(op)));
  const char *word = words[kind];
  if (word && mlirTypeIsAInteger(element) && mlirIntegerTypeIsUnsigned(element))
    word = kind == TtReduceKind_Min ? "umin" : kind == TtReduceKind_Max ? "umax" : word;
  if (!word)
    return tileError(op, "increments or decrements memory, which has no conversion to tile");
  return storeBlock(t, op, ttDescriptorReduceOpGetDesc(op), ttDescriptorReduceOpGetIndices,
                    ttDescriptorReduceOpGetSrc(op), word);
}

//===--- rows by number ---------------------------------------------------------------===//

static bool rowsOf(Triton *t, MlirOperation op, MlirValue descriptor, MlirValue numbers, MlirValue column,
                   MlirType tile, MlirValue *view, MlirValue *indices) {
  TritonValue value = tritonGet(t, descriptor);
  MlirValue rows = tritonFull(t, numbers), first = tritonPlain(t, column);
  if (value.kind != Triton_Block || mlirValueIsNull(rows) || mlirValueIsNull(first))
    return value.kind != Triton_None && tileError(op, "takes rows of what is no descriptor here");
  *view = viewOf(t, &value, tritonShape(tile).sizes);
  indices[0] = arithIndexCastOpBuild(
      &t->b, tritonTile(1, tritonShape(mlirValueGetType(rows)).sizes, mlirIndexTypeGet(t->b.context)), rows);
  indices[1] = tritonIndex(t, first);
  return true;
}

static bool gatherRows(Triton *t, MlirOperation op) {
  MlirType type = ttDescriptorGatherOpGetResultType(op);
  MlirValue view, indices[2];
  if (!rowsOf(t, op, ttDescriptorGatherOpGetDesc(op), ttDescriptorGatherOpGetXOffsets(op),
              ttDescriptorGatherOpGetYOffset(op), type, &view, indices))
    return false;
  tritonSetFull(
      t, ttDescriptorGatherOpGetResult(op),
      tileGatherOpBuild(&t->b, type, view, 2, indices, (MlirValue){NULL}, (MlirValue){NULL}, tritonWord(t, "drop")));
  return true;
}

static bool scatterRows(Triton *t, MlirOperation op) {
  MlirValue view, indices[2], source = tritonFull(t, ttDescriptorScatterOpGetSrc(op));
  if (mlirValueIsNull(source) || !rowsOf(t, op, ttDescriptorScatterOpGetDesc(op), ttDescriptorScatterOpGetXOffsets(op),
                                         ttDescriptorScatterOpGetYOffset(op), mlirValueGetType(source), &view, indices))
    return false;
  tileScatterOpBuild(&t->b, source, view, 2, indices, (MlirValue){NULL}, tritonWord(t, "drop"));
  return true;
}

bool tritonBlocks(void *kernel, MlirOperation op, bool *isKnown) {
  Triton *t = kernel;
  *isKnown = true;
  switch (ttOpKind(op)) {
  case TtOp_MakeTensorDesc:
    return makeDescriptor(t, op);
  case TtOp_MakeTensorPtr:
    return makeBlockPointer(t, op);
  case TtOp_Advance:
    return advance(t, op);
  case TtOp_Load: // of a block pointer: the others are known by now
    return loadBlock(t, op, ttLoadOpGetPtr(op), NULL, ttLoadOpGetResult(op));
  case TtOp_Store:
    return storeBlock(t, op, ttStoreOpGetPtr(op), NULL, ttStoreOpGetValue(op), NULL);
  case TtOp_DescriptorLoad:
    return loadBlock(t, op, ttDescriptorLoadOpGetDesc(op), ttDescriptorLoadOpGetIndices,
                     ttDescriptorLoadOpGetResult(op));
  case TtOp_DescriptorStore:
    return storeBlock(t, op, ttDescriptorStoreOpGetDesc(op), ttDescriptorStoreOpGetIndices,
                      ttDescriptorStoreOpGetSrc(op), NULL);
  case TtOp_DescriptorReduce:
    return reduceBlock(t, op);
  case TtOp_DescriptorGather:
    return gatherRows(t, op);
  case TtOp_DescriptorScatter:
    return scatterRows(t, op);
  default:
    *isKnown = false;
    return true;
  }
}
