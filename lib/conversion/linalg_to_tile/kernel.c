// Kernel and launch of one structured op. See kernel.h.
#include "lib/conversion/linalg_to_tile/kernel.h"

#include "dialects/tile/tile.h"
#include "lib/capi/op.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

//===--- types --------------------------------------------------------------===//

MlirType tileOperandElementType(const TileOperand *operand) {
  MlirType type = mlirValueGetType(operand->value);
  return operand->isTensor ? mlirShapedTypeGetElementType(type) : type;
}

static MlirType typeOverAxes(const TileKernelEmission *e, MlirType element, bool withReductions) {
  int64_t shape[MaxDims];
  int rank = 0;
  for (int i = 0; i < e->structured->numDims; i++)
    if (e->structured->dims[i].axis >= 0 && (withReductions || !e->structured->dims[i].isReduction))
      shape[rank++] = e->structured->dims[i].tile;
  return tileTileTypeGet(rank, shape, element, mlirAttributeGetNull());
}

MlirType tileKernelTileType(const TileKernelEmission *e, MlirType element) { return typeOverAxes(e, element, true); }

MlirType tileKernelOutputTileType(const TileKernelEmission *e, MlirType element) {
  return typeOverAxes(e, element, false);
}

static MlirType memrefType(MlirType tensor) {
  int64_t sizes[MaxDims];
  intptr_t rank = mlirShapedTypeGetRank(tensor);
  for (intptr_t i = 0; i < rank; i++)
    sizes[i] = mlirShapedTypeGetDimSize(tensor, i);
  return mlirMemRefTypeContiguousGet(mlirShapedTypeGetElementType(tensor), rank, sizes, mlirAttributeGetNull());
}

//===--- begin --------------------------------------------------------------===//

// A name no other symbol of the module has: kernel_0_softmax, kernel_1_matmul, …
static MlirAttribute freshName(MlirOperation op, const char *kind) {
  MlirContext context = mlirOperationGetContext(op);
  for (int i = 0;; i++) {
    char name[96];
    snprintf(name, sizeof name, "%s_%d", kind, i);
    MlirAttribute symbol = mlirFlatSymbolRefAttrGet(context, tileString(name));
    if (mlirOperationIsNull(mlirExtSymbolLookup(op, symbol)))
      return mlirStringAttrGet(context, tileString(name));
  }
}

static intptr_t parameterTypes(const TileStructured *s, MlirType *types) {
  intptr_t count = 0;
  for (int i = 0; i < s->numInputs; i++)
    types[count++] = s->operands[i].isTensor ? memrefType(mlirValueGetType(s->operands[i].value))
                                             : mlirValueGetType(s->operands[i].value);
  for (int i = 0; i < s->numCaptures; i++)
    types[count++] = mlirValueGetType(s->captures[i]);
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; i++)
    types[count++] = memrefType(mlirValueGetType(s->operands[i].value));
  return count;
}

static MlirBlock createKernel(TileKernelEmission *e, const char *kind) {
  const TileStructured *s = e->structured;
  MlirOperation function = tileParentOfName(s->op, "func.func");
  MlirType types[MaxOperands + MaxCaptures];
  MlirLocation locations[MaxOperands + MaxCaptures];
  intptr_t count = parameterTypes(s, types);
  for (intptr_t i = 0; i < count; i++)
    locations[i] = e->host.location;
  MlirBlock block = mlirBlockCreate(count, types, locations);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  MlirType type = mlirFunctionTypeGet(e->host.context, count, types, 0, NULL);
  TileAttributeEntry attributes[] = {{"sym_name", freshName(s->op, kind)},
                                     {"sym_visibility", mlirStringAttrGet(e->host.context, tileString("private"))},
                                     {"function_type", mlirTypeAttrGet(type)},
                                     {0}};
  TileBuilder outside = tileBuilderAfter(function);
  outside.location = e->host.location;
  e->kernel = tileBuild(&outside, "tile.kernel", 0, NULL, 0, NULL, attributes, 1, &region);
  return block;
}

static void bindParameters(TileKernelEmission *e, MlirBlock block) {
  const TileStructured *s = e->structured;
  intptr_t at = 0;
  for (int i = 0; i < s->numInputs; i++)
    e->parameters[i] = mlirBlockGetArgument(block, at++);
  for (int i = 0; i < s->numCaptures; i++)
    e->parameters[s->numInputs + s->numOutputs + i] = mlirBlockGetArgument(block, at++);
  for (int i = 0; i < s->numOutputs; i++)
    e->parameters[s->numInputs + i] = mlirBlockGetArgument(block, at++);
}

MlirValue tileKernelExtent(TileKernelEmission *e, int dim) {
  const TileDim *d = &e->structured->dims[dim];
  if (!mlirShapedTypeIsDynamicSize(d->extent))
    return tileBuildIndex(&e->body, d->extent);
  MlirValue operands[2] = {e->parameters[d->operand], tileBuildIndex(&e->body, d->result)};
  return tileBuildValue(&e->body, "memref.dim", mlirIndexTypeGet(e->body.context), 2, operands, NULL);
}

static MlirValue hostExtent(TileKernelEmission *e, int dim) {
  const TileDim *d = &e->structured->dims[dim];
  if (!mlirShapedTypeIsDynamicSize(d->extent))
    return tileBuildIndex(&e->host, d->extent);
  MlirValue operands[2] = {e->structured->operands[d->operand].value, tileBuildIndex(&e->host, d->result)};
  return tileBuildValue(&e->host, "tensor.dim", mlirIndexTypeGet(e->host.context), 2, operands, NULL);
}

MlirValue tileKernelNumTiles(TileKernelEmission *e, TileBuilder *builder, int dim, MlirValue extent) {
  int64_t tile = e->structured->dims[dim].tile;
  return tile == 1 ? extent : tileBuildCeilDiv(builder, extent, tileBuildIndex(builder, tile));
}

// Programs along a dimension: ceil(extent / (tile · panels)).
static MlirValue numPrograms(TileKernelEmission *e, TileBuilder *builder, int dim, MlirValue extent) {
  int64_t block = e->structured->dims[dim].tile * e->structured->dims[dim].panels;
  return block == 1 ? extent : tileBuildCeilDiv(builder, extent, tileBuildIndex(builder, block));
}

static MlirValue programId(TileKernelEmission *e, int axis) {
  TileAttributeEntry attributes[] = {{"axis", mlirIntegerAttrGet(mlirIntegerTypeGet(e->body.context, 64), axis)}, {0}};
  return tileBuildValue(&e->body, "tile.program_id", mlirIndexTypeGet(e->body.context), 0, NULL, attributes);
}

// Sets e->index of every parallel dimension from the program ids (axis 2 carries all but the last two).
static void decodePrograms(TileKernelEmission *e) {
  int axis = 0;
  MlirValue rest = {NULL};
  MlirType index = mlirIndexTypeGet(e->body.context);
  for (int d = e->structured->numDims - 1; d >= 0; d--) {
    if (e->structured->dims[d].isReduction)
      continue;
    if (axis < 2) {
      e->index[d] = programId(e, axis++);
      continue;
    }
    if (mlirValueIsNull(rest))
      rest = programId(e, 2);
    MlirValue operands[2] = {rest, numPrograms(e, &e->body, d, tileKernelExtent(e, d))};
    e->index[d] = tileBuildValue(&e->body, "arith.remui", index, 2, operands, NULL);
    rest = tileBuildValue(&e->body, "arith.divui", index, 2, operands, NULL);
  }
}

void tileKernelBegin(TileKernelEmission *e, const TileStructured *structured, const char *kind) {
  *e = (TileKernelEmission){.structured = structured, .host = tileBuilderBefore(structured->op)};
  MlirBlock block = createKernel(e, kind);
  e->body = tileBuilderAtEnd(block, e->host.location);
  bindParameters(e, block);
  decodePrograms(e);
}

//===--- end ----------------------------------------------------------------===//

static intptr_t buildGrid(TileKernelEmission *e, MlirValue grid[3]) {
  intptr_t rank = 0;
  for (int d = e->structured->numDims - 1; d >= 0; d--) {
    if (e->structured->dims[d].isReduction)
      continue;
    MlirValue tiles = numPrograms(e, &e->host, d, hostExtent(e, d));
    if (rank < 3)
      grid[rank++] = tiles;
    else
      grid[2] = tileBuildMul(&e->host, grid[2], tiles);
  }
  if (rank == 0)
    grid[rank++] = tileBuildIndex(&e->host, 1);
  return rank;
}

static void buildLaunch(TileKernelEmission *e) {
  const TileStructured *s = e->structured;
  MlirValue operands[3 + MaxOperands + MaxCaptures];
  MlirType results[MaxOperands];
  intptr_t count = buildGrid(e, operands), grid = count;
  for (int i = 0; i < s->numInputs; i++)
    operands[count++] = s->operands[i].value;
  for (int i = 0; i < s->numCaptures; i++)
    operands[count++] = s->captures[i];
  for (int i = 0; i < s->numOutputs; i++) {
    operands[count++] = s->operands[s->numInputs + i].value;
    results[i] = tileResultType(s->op, i);
  }
  int32_t segments[3] = {(int32_t)grid, s->numInputs + s->numCaptures, s->numOutputs};
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(e->kernel, "sym_name"));
  TileAttributeEntry attributes[] = {{"kernel", mlirFlatSymbolRefAttrGet(e->host.context, name)},
                                     {"operandSegmentSizes", mlirDenseI32ArrayGet(e->host.context, 3, segments)},
                                     {0}};
  MlirOperation launch =
      tileBuild(&e->host, "tile.launch", count, operands, s->numOutputs, results, attributes, 0, NULL);
  for (int i = 0; i < s->numOutputs; i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(s->op, i), mlirOperationGetResult(launch, i));
  mlirOperationDestroy(s->op);
}

void tileKernelEnd(TileKernelEmission *e) {
  tileBuild(&e->body, "tile.return", 0, NULL, 0, NULL, NULL, 0, NULL);
  buildLaunch(e);
}

//===--- tiles of operands --------------------------------------------------===//

// The tile of one operand: which dimensions are fixed, what its view keeps, and where it stands in memory order.
typedef struct OperandTile {
  intptr_t numFixed, numKept;
  int64_t fixed[MaxDims], shape[MaxDims];
  MlirValue fixedIndex[MaxDims], tileIndex[MaxDims];
  int dims[MaxDims]; // iteration dimension of each kept axis
  bool swapped;      // two axes, the tile's in the other order than memory's
} OperandTile;

static OperandTile describeTile(TileKernelEmission *e, const TileOperand *operand) {
  OperandTile t = {0};
  for (int i = 0; i < operand->rank; i++) {
    int dim = operand->results[i];
    if (dim >= 0 && e->structured->dims[dim].axis >= 0) {
      t.dims[t.numKept] = dim;
      t.shape[t.numKept] = e->structured->dims[dim].tile;
      t.tileIndex[t.numKept++] = e->index[dim];
      continue;
    }
    t.fixed[t.numFixed] = i;
    t.fixedIndex[t.numFixed++] = dim >= 0 ? e->index[dim] : tileBuildIndex(&e->body, operand->constants[i]);
  }
  return t;
}

static MlirType viewType(TileKernelEmission *e, const OperandTile *t, MlirType element, const char *pad) {
  int64_t swapped[2] = {1, 0};
  TileViewSpec spec = {
      .rank = t->numKept, .shape = t->shape, .element = element, .order = t->swapped ? swapped : NULL, .pad = pad};
  return tileViewTypeGet(e->body.context, &spec);
}

static MlirValue buildView(TileKernelEmission *e, const OperandTile *t, MlirValue memref, const char *pad) {
  MlirValue operands[1 + MaxDims] = {memref};
  memcpy(operands + 1, t->fixedIndex, (size_t)t->numFixed * sizeof *operands);
  TileAttributeEntry attributes[] = {{"fixed", mlirDenseI64ArrayGet(e->body.context, t->numFixed, t->fixed)}, {0}};
  MlirType type = viewType(e, t, mlirShapedTypeGetElementType(mlirValueGetType(memref)), pad);
  return tileBuildValue(&e->body, "tile.view", type, 1 + t->numFixed, operands, attributes);
}

static MlirValue buildTranspose(TileKernelEmission *e, MlirValue tile, intptr_t rank, const int64_t *permutation,
                                const int64_t *shape) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(tile));
  TileAttributeEntry attributes[] = {{"permutation", mlirDenseI64ArrayGet(e->body.context, rank, permutation)}, {0}};
  return tileBuildValue(&e->body, "tile.transpose", tileTileTypeGet(rank, shape, element, mlirAttributeGetNull()), 1,
                        &tile, attributes);
}

// Brings the operand's axes into the order of the iteration dimensions.
static MlirValue sortAxes(TileKernelEmission *e, OperandTile *t, MlirValue tile) {
  int64_t permutation[MaxDims], shape[MaxDims];
  int dims[MaxDims];
  intptr_t n = 0;
  bool sorted = true;
  for (int d = 0; d < e->structured->numDims; d++)
    for (intptr_t i = 0; i < t->numKept; i++)
      if (t->dims[i] == d) {
        sorted &= i == n;
        permutation[n] = i;
        shape[n] = t->shape[i];
        dims[n++] = d;
      }
  if (sorted)
    return tile;
  memcpy(t->dims, dims, sizeof dims);
  return buildTranspose(e, tile, n, permutation, shape);
}

static bool holds(const OperandTile *t, int dim) {
  for (intptr_t i = 0; i < t->numKept; i++)
    if (t->dims[i] == dim)
      return true;
  return false;
}

// Adds the axes that the operand does not have.
static MlirValue spread(TileKernelEmission *e, const OperandTile *t, MlirValue tile, bool overOutput) {
  int64_t axes[MaxDims];
  intptr_t count = 0, axis = 0;
  for (int d = 0; d < e->structured->numDims; d++) {
    const TileDim *dim = &e->structured->dims[d];
    if (dim->axis < 0 || (overOutput && dim->isReduction))
      continue;
    if (!holds(t, d))
      axes[count++] = axis;
    axis++;
  }
  if (count == 0)
    return tile;
  MlirType type = mlirValueGetType(tile);
  if (!mlirTypeIsARankedTensor(type))
    return tileKernelSplat(e, tile, typeOverAxes(e, type, !overOutput));
  TileAttributeEntry attributes[] = {{"axes", mlirDenseI64ArrayGet(e->body.context, count, axes)}, {0}};
  MlirType result = typeOverAxes(e, mlirShapedTypeGetElementType(type), !overOutput);
  return tileBuildValue(&e->body, "tile.broadcast", result, 1, &tile, attributes);
}

MlirValue tileKernelSplat(TileKernelEmission *e, MlirValue scalar, MlirType tile) {
  if (!mlirTypeIsARankedTensor(tile))
    return scalar;
  TileAttributeEntry attributes[] = {{"axes", mlirDenseI64ArrayGet(e->body.context, 0, NULL)}, {0}};
  return tileBuildValue(&e->body, "tile.broadcast", tile, 1, &scalar, attributes);
}

MlirValue tileKernelLoad(TileKernelEmission *e, int index, const char *pad, bool overOutput) {
  const TileOperand *operand = &e->structured->operands[index];
  if (!operand->isTensor)
    return tileKernelSplat(e, e->parameters[index],
                           typeOverAxes(e, mlirValueGetType(e->parameters[index]), !overOutput));
  OperandTile t = describeTile(e, operand);
  MlirValue operands[1 + MaxDims] = {buildView(e, &t, e->parameters[index], pad)};
  memcpy(operands + 1, t.tileIndex, (size_t)t.numKept * sizeof *operands);
  MlirType type = tileTileTypeGet(t.numKept, t.shape, tileOperandElementType(operand), mlirAttributeGetNull());
  MlirValue tile = tileBuildValue(&e->body, "tile.load", type, 1 + t.numKept, operands, NULL);
  return spread(e, &t, sortAxes(e, &t, tile), overOutput);
}

void tileKernelPrefetch(TileKernelEmission *e, int index) {
  OperandTile t = describeTile(e, &e->structured->operands[index]);
  MlirValue operands[1 + MaxDims] = {buildView(e, &t, e->parameters[index], NULL)};
  memcpy(operands + 1, t.tileIndex, (size_t)t.numKept * sizeof *operands);
  TileAttributeEntry attributes[] = {{"write", mlirUnitAttrGet(e->body.context)}, {0}};
  tileBuild(&e->body, "tile.prefetch", 1 + t.numKept, operands, 0, NULL, attributes, 0, NULL);
}

MlirValue tileKernelInitial(TileKernelEmission *e, int index) {
  MlirAttribute constant = e->structured->operands[index].initial;
  if (mlirAttributeIsNull(constant))
    return tileKernelLoad(e, index, NULL, true);
  MlirType type = tileKernelOutputTileType(e, mlirAttributeGetType(constant));
  if (mlirTypeIsARankedTensor(type))
    constant = mlirDenseElementsAttrSplatGet(type, constant);
  TileAttributeEntry attributes[] = {{"value", constant}, {0}};
  return tileBuildValue(&e->body, "arith.constant", type, 0, NULL, attributes);
}

void tileKernelStore(TileKernelEmission *e, int index, MlirValue value) {
  OperandTile t = describeTile(e, &e->structured->operands[index]);
  MlirValue operands[2 + MaxDims] = {value, buildView(e, &t, e->parameters[index], NULL)};
  memcpy(operands + 2, t.tileIndex, (size_t)t.numKept * sizeof *operands);
  // The value's axes follow the iteration dimensions; memory's follow the output's map.
  int64_t permutation[MaxDims];
  bool sorted = true;
  for (intptr_t i = 0; i < t.numKept; i++) {
    permutation[i] = 0;
    for (intptr_t k = 0; k < t.numKept; k++)
      permutation[i] += t.dims[k] < t.dims[i];
    sorted &= permutation[i] == i;
  }
  if (!sorted)
    operands[0] = buildTranspose(e, value, t.numKept, permutation, t.shape);
  tileBuild(&e->body, "tile.store", 2 + t.numKept, operands, 0, NULL, NULL, 0, NULL);
}

MlirValue tileKernelReduce(TileKernelEmission *e, const char *operation, MlirValue tile) {
  int64_t axes[MaxDims];
  intptr_t count = 0;
  for (int d = 0; d < e->structured->numDims; d++)
    if (e->structured->dims[d].isReduction && e->structured->dims[d].axis >= 0)
      axes[count++] = e->structured->dims[d].axis;
  if (count == 0)
    return tile;
  TileAttributeEntry attributes[] = {{"operation", mlirStringAttrGet(e->body.context, tileString(operation))},
                                     {"axes", mlirDenseI64ArrayGet(e->body.context, count, axes)},
                                     {0}};
  MlirType type = tileKernelOutputTileType(e, mlirShapedTypeGetElementType(mlirValueGetType(tile)));
  MlirRegion noBody = mlirRegionCreate();
  MlirOperation reduce = tileBuild(&e->body, "tile.reduce", 1, &tile, 1, &type, attributes, 1, &noBody);
  return mlirOperationGetResult(reduce, 0);
}

//===--- local buffers ------------------------------------------------------===//

// Exchanges the two axes of a tile; its view says so.
static void swapAxes(OperandTile *t) {
  OperandTile old = *t;
  for (int i = 0; i < 2; i++) {
    t->shape[i] = old.shape[1 - i];
    t->tileIndex[i] = old.tileIndex[1 - i];
    t->dims[i] = old.dims[1 - i];
  }
  t->swapped = true;
}

void tileKernelPack(TileKernelEmission *e, int index, const int dims[2], MlirValue buffer) {
  OperandTile t = describeTile(e, &e->structured->operands[index]);
  assert(t.numKept == 2 && "packing takes two axes");
  if (t.dims[0] != dims[0])
    swapAxes(&t);
  MlirValue operands[4] = {buildView(e, &t, e->parameters[index], NULL), buffer, t.tileIndex[0], t.tileIndex[1]};
  tileBuild(&e->body, "tile.copy", 4, operands, 0, NULL, NULL, 0, NULL);
}

MlirType tileKernelBufferType(TileKernelEmission *e, int64_t rows, int64_t columns, MlirType element) {
  char offsets[96];
  snprintf(offsets, sizeof offsets, "offset [%lld:d1, %lld:d0]", (long long)columns, (long long)rows);
  MlirAttribute layout = tileLayoutAttrParse(e->body.context, tileString(offsets));
  return tileBufferTypeGet(2, (int64_t[]){rows, columns}, element, layout, "local", 0);
}

MlirValue tileKernelSlice(TileKernelEmission *e, MlirValue buffer, int64_t rows, int64_t columns, MlirValue row,
                          MlirValue column) {
  MlirType type = mlirValueGetType(buffer);
  if (tileBufferTypeGetSize(type, 0) == rows && tileBufferTypeGetSize(type, 1) == columns)
    return buffer;
  MlirValue operands[3] = {buffer}, offsets[2] = {row, column};
  int64_t fixed[2];
  intptr_t count = 1;
  for (int i = 0; i < 2; i++) {
    fixed[i] = 0;
    if (!mlirValueIsNull(offsets[i]) && !tileConstantIndex(offsets[i], &fixed[i])) {
      fixed[i] = mlirShapedTypeGetDynamicSize();
      operands[count++] = offsets[i];
    }
  }
  TileAttributeEntry attributes[] = {{"static_offsets", mlirDenseI64ArrayGet(e->body.context, 2, fixed)}, {0}};
  MlirType part = tileKernelBufferType(e, rows, columns, tileBufferTypeGetElementType(type));
  return tileBuildValue(&e->body, "tile.slice", part, count, operands, attributes);
}

MlirValue tileKernelLoadBuffer(TileKernelEmission *e, MlirValue buffer) {
  MlirType type = mlirValueGetType(buffer);
  int64_t shape[MaxDims];
  intptr_t rank = tileBufferTypeGetRank(type);
  for (intptr_t i = 0; i < rank; i++)
    shape[i] = tileBufferTypeGetSize(type, i);
  MlirType tile = tileTileTypeGet(rank, shape, tileBufferTypeGetElementType(type), mlirAttributeGetNull());
  return tileBuildValue(&e->body, "tile.load", tile, 1, &buffer, NULL);
}
