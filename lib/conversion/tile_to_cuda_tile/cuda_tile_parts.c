// Parts of tiles, elements as others, and what is assumed.
#include "lib/conversion/tile_to_cuda_tile/cuda_tile_export.h"

// Two by two, from the left: each result is a tile, so its size is a power of two.
static bool concatenate(ExportKernel *k, MlirOperation op) {
  int64_t axis = tileCatOpGetAxisValue(op);
  MlirValue all = exportGet(k, tileCatOpGetInputs(op, 0));
  for (intptr_t i = 1; i < tileCatOpGetNumInputs(op); ++i) {
    MlirValue next = exportGet(k, tileCatOpGetInputs(op, i));
    MlirExtShape shape, other;
    int64_t sizes[ExportMaxRank];
    if (mlirValueIsNull(all) || mlirValueIsNull(next))
      return false;
    mlirExtTypeGetShape(mlirValueGetType(all), &shape);
    mlirExtTypeGetShape(mlirValueGetType(next), &other);
    for (intptr_t d = 0; d < shape.rank; ++d)
      sizes[d] = shape.sizes[d] + (d == axis ? other.sizes[d] : 0);
    if (sizes[axis] & (sizes[axis] - 1))
      return tileError(op, "joins tiles to one of size %ld, expected a power of two", (long)sizes[axis]);
    all = cudaTileCatOpBuild(&k->b, exportSized(k, shape.rank, sizes, shape.element), all, next, cudaTileI64(k, axis));
  }
  return exportSetResult(k, op, all);
}

// A part that begins at a multiple of its size is one of the parts that `extract` numbers.
static bool slice(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileSliceOpGetInput(op)), indices[ExportMaxRank];
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : exportType(k, op, tileOnlyResultType(op));
  MlirAttribute offsets = tileSliceOpGetStaticOffsets(op);
  MlirExtShape shape;
  if (mlirTypeIsNull(type) || tileSliceOpGetNumOffsets(op))
    return !mlirTypeIsNull(type) &&
           tileError(op, "begins at a place known only at run time, which has no conversion to cuda_tile");
  mlirExtTypeGetShape(type, &shape);
  for (intptr_t i = 0; i < shape.rank; ++i) {
    int64_t offset = mlirDenseI64ArrayGetElement(offsets, i);
    if (offset % shape.sizes[i])
      return tileError(op, "begins at %ld along dimension %ld, expected a multiple of its size, %ld", (long)offset,
                       (long)i, (long)shape.sizes[i]);
    indices[i] = exportFill(k, exportSized(k, 0, NULL, exportInteger(k, 32)), offset / shape.sizes[i]);
  }
  return exportSetResult(k, op, cudaTileExtractOpBuild(&k->b, type, x, shape.rank, indices));
}

// Elements of 4 bits are bytes of two behind each other, and bytes such elements: lines of them are unpacked or packed.
static MlirValue repacked(ExportKernel *k, MlirValue x, MlirType type, bool unpacks) {
  MlirExtShape from = exportShape(mlirValueGetType(x)), to = exportShape(type);
  MlirType i8 = exportInteger(k, 8);
  int64_t before = 1, after = 1;
  for (intptr_t i = 0; i < from.rank; ++i) {
    before *= from.sizes[i];
    after *= to.sizes[i];
  }
  if (unpacks && !mlirTypeEqual(from.element, i8))
    x = cudaTileBitcastOpBuild(&k->b, exportShaped(k, mlirValueGetType(x), i8), x);
  x = cudaTileReshapeOpBuild(&k->b, exportSized(k, 1, &before, unpacks ? i8 : from.element), x);
  x = unpacks ? cudaTileUnpackOpBuild(&k->b, exportSized(k, 1, &after, to.element), x)
              : cudaTilePackOpBuild(&k->b, exportSized(k, 1, &after, i8), x);
  x = cudaTileReshapeOpBuild(&k->b, exportShaped(k, type, unpacks ? to.element : i8), x);
  return unpacks || mlirTypeEqual(to.element, i8) ? x : cudaTileBitcastOpBuild(&k->b, type, x);
}

static bool bitcast(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileBitcastOpGetInput(op));
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : exportType(k, op, tileOnlyResultType(op));
  if (mlirTypeIsNull(type))
    return false;
  unsigned from = tileElementWidth(mlirShapedTypeGetElementType(mlirValueGetType(x)));
  unsigned to = tileElementWidth(mlirShapedTypeGetElementType(type));
  if ((from == 8 && to == 4) || (from == 4 && to == 8))
    return exportSetResult(k, op, repacked(k, x, type, to == 4));
  if (from != to)
    return tileError(op, "makes elements of another width, which has no conversion to cuda_tile");
  return exportSetResult(k, op, cudaTileBitcastOpBuild(&k->b, type, x));
}

//===--- assumptions, prints and assertions ---------------------------------------------------===//

// The greatest power of two in a divisor.
static MlirValue assumeDivisible(ExportKernel *k, MlirValue value, int64_t divisor) {
  int64_t power = divisor & -divisor;
  CudaTileAssumption says = {.kind = CudaTileAssumption_DivBy, .divisor = power};
  return power > 1 ? cudaTileAssumeOpBuild(&k->b, value, cudaTileAssumptionAttrGet(k->b.context, &says)) : value;
}

static MlirValue assumeRange(ExportKernel *k, MlirValue value, MlirAttribute range) {
  CudaTileAssumption says = {.kind = CudaTileAssumption_Bounded,
                             .hasFirst = true,
                             .hasSecond = true,
                             .first = mlirDenseI64ArrayGetElement(range, 0),
                             .second = mlirDenseI64ArrayGetElement(range, 1)};
  return cudaTileAssumeOpBuild(&k->b, value, cudaTileAssumptionAttrGet(k->b.context, &says));
}

static void assumeSizes(ExportKernel *k, intptr_t rank, ExportSize *sizes, MlirAttribute divisors) {
  for (intptr_t i = 0; !mlirAttributeIsNull(divisors) && i < rank; ++i) {
    int64_t divisor = mlirDenseI64ArrayGetElement(divisors, i);
    if (!sizes[i].isKnown && !mlirValueIsNull(sizes[i].value) && divisor > 0)
      sizes[i].value = assumeDivisible(k, sizes[i].value, divisor);
  }
}

static bool assumeOfMemory(ExportKernel *k, MlirOperation op, MlirValue old) {
  const ExportMemory *source = exportMemory(k, old);
  if (!source)
    return false;
  ExportMemory *memory = exportNewMemory(k, tileOnlyResult(op));
  *memory = *source;
  if (!mlirAttributeIsNull(tileAssumeOpGetAlign(op)))
    memory->base = assumeDivisible(k, memory->base, mlirIntegerAttrGetValueInt(tileAssumeOpGetAlign(op)));
  assumeSizes(k, memory->rank, memory->sizes, tileAssumeOpGetSizes(op));
  assumeSizes(k, memory->rank, memory->strides, tileAssumeOpGetStrides(op));
  return true;
}

static bool assume(ExportKernel *k, MlirOperation op) {
  MlirValue old = tileAssumeOpGetValue(op);
  if (mlirTypeIsAMemRef(mlirValueGetType(old)))
    return assumeOfMemory(k, op, old);
  MlirValue value = exportGet(k, old);
  if (mlirValueIsNull(value))
    return false;
  if (!mlirAttributeIsNull(tileAssumeOpGetDivisible(op)))
    value = assumeDivisible(k, value, mlirIntegerAttrGetValueInt(tileAssumeOpGetDivisible(op)));
  if (!mlirAttributeIsNull(tileAssumeOpGetRange(op)))
    value = assumeRange(k, value, tileAssumeOpGetRange(op));
  return exportSetResult(k, op, value);
}

// A format of C's printf.
bool cudaTilePrint(ExportKernel *k, MlirStringRef message, intptr_t count, const MlirValue *values) {
  tessera_text_t text = {NULL};
  intptr_t next = 0;
  for (size_t i = 0; i < message.length; ++i) {
    if (!exportIsPlaceholder(message, i)) {
      tessera_text_append(&text, "%%", message.data[i] == '%');
      tessera_text_append(&text, message.data + i, 1);
      continue;
    }
    MlirType element = exportElement(mlirValueGetType(values[next++]));
    bool isLong = mlirTypeIsAInteger(element) && tileElementWidth(element) > 32;
    tessera_text_format(&text, "%%%s", mlirTypeIsAFloat(element) ? "f" : isLong ? "lld" : "d");
    ++i;
  }
  tessera_text_append(&text, "\n", 1);
  if (!text.failed)
    cudaTilePrintTkoOpBuild(&k->b, (MlirType){NULL}, count, values, (MlirValue){NULL}, exportWord(k, text.data));
  bool ok = !text.failed || tileErrorAt(k->b.location, "no memory for a text to print");
  tessera_text_free(&text);
  return ok;
}

bool cudaTileExportParts(void *kernel, MlirOperation op, bool *isKnown) {
  ExportKernel *k = kernel;
  *isKnown = true;
  switch (tileOpKind(op)) {
  case TileOp_Cat:
    return concatenate(k, op);
  case TileOp_Slice:
    return slice(k, op);
  case TileOp_Bitcast:
    return bitcast(k, op);
  case TileOp_Assume:
    return assume(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
