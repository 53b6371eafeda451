// Tiles of a kernel's operands: views, loads, stores, reductions and local buffers. See kernel.h.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "upstream/arith.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

//===--- tiles of operands --------------------------------------------------===//

// The tile of one operand: which dimensions are fixed, what its view keeps, and where it stands in memory order.
typedef struct OperandTile {
  intptr_t numFixed, numKept;
  int64_t fixed[MaxDims], shape[MaxDims];
  int64_t steps[MaxDims], strides[MaxDims];
  MlirValue fixedIndex[MaxDims], tileIndex[MaxDims];
  int dims[MaxDims]; // iteration dimension of each kept axis
  bool swapped;      // two axes, the tile's in the other order than memory's
} OperandTile;

// The dimension whose tile runs along axis i of the operand, or -1.
static int tiledDim(const TileStructured *s, const TileOperand *operand, int axis) {
  for (int d = 0; d < s->numDims; ++d)
    if (operand->factors[axis][d] && s->dims[d].axis >= 0)
      return d;
  return -1;
}

static int64_t stepOf(const TileDim *dim) { return dim->step ? dim->step : dim->tile; }

// The element at which the current tile begins along axis i: the map's result, each dimension at its tile's origin.
static MlirValue buildAffine(TileKernelEmission *e, const TileOperand *operand, int axis) {
  const TileStructured *s = e->structured;
  MlirValue sum = {NULL};
  for (int d = 0; d < s->numDims; ++d) {
    int64_t factor = operand->factors[axis][d] * (s->dims[d].axis >= 0 ? stepOf(&s->dims[d]) : 1);
    if (!factor)
      continue;
    MlirValue term = e->index[d];
    if (factor != 1)
      term = tileBuildMul(&e->body, term, tileBuildIndex(&e->body, factor));
    sum = mlirValueIsNull(sum) ? term : tileBuildAdd(&e->body, sum, term);
  }
  MlirValue constant = tileBuildIndex(&e->body, operand->constants[axis]);
  if (mlirValueIsNull(sum))
    return constant;
  return operand->constants[axis] ? tileBuildAdd(&e->body, sum, constant) : sum;
}

static OperandTile describeTile(TileKernelEmission *e, const TileOperand *operand) {
  const TileStructured *s = e->structured;
  OperandTile t = {0};
  for (int i = 0; i < operand->rank; ++i) {
    int dim = tiledDim(s, operand, i);
    if (dim < 0) {
      t.fixed[t.numFixed] = i;
      t.fixedIndex[t.numFixed++] = buildAffine(e, operand, i);
      continue;
    }
    bool isPlain = operand->results[i] == dim; // else the index is an element's number
    t.dims[t.numKept] = dim;
    t.shape[t.numKept] = s->dims[dim].tile;
    t.steps[t.numKept] = isPlain ? stepOf(&s->dims[dim]) : 1;
    t.strides[t.numKept] = operand->factors[i][dim];
    t.tileIndex[t.numKept++] = isPlain ? e->index[dim] : buildAffine(e, operand, i);
  }
  return t;
}

static MlirType viewType(TileKernelEmission *e, const OperandTile *t, MlirType element, const char *pad) {
  int64_t swapped[2] = {1, 0};
  TileViewSpec spec = {.rank = t->numKept,
                       .shape = t->shape,
                       .element = element,
                       .steps = t->steps,
                       .strides = t->strides,
                       .order = t->swapped ? swapped : NULL,
                       .pad = pad};
  return tileViewTypeGet(e->body.context, &spec);
}

static MlirValue buildView(TileKernelEmission *e, const OperandTile *t, MlirValue memref, const char *pad) {
  MlirValue operands[1 + MaxDims] = {memref};
  memcpy(operands + 1, t->fixedIndex, (size_t)t->numFixed * sizeof *operands);
  TileAttributeEntry attributes[] = {{"fixed", mlirDenseI64ArrayGet(e->body.context, t->numFixed, t->fixed)}, {0}};
  MlirType type = viewType(e, t, mlirShapedTypeGetElementType(mlirValueGetType(memref)), pad);
  return tileBuildValue(&e->body, tileViewOpName, type, 1 + t->numFixed, operands, attributes);
}

static MlirValue buildTranspose(TileKernelEmission *e, MlirValue tile, intptr_t rank, const int64_t *permutation,
                                const int64_t *shape) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(tile));
  TileAttributeEntry attributes[] = {{"permutation", mlirDenseI64ArrayGet(e->body.context, rank, permutation)}, {0}};
  return tileBuildValue(&e->body, tileTransposeOpName, tileTileTypeGet(rank, shape, element, mlirAttributeGetNull()), 1,
                        &tile, attributes);
}

static MlirType typeOver(const TileKernelEmission *e, MlirType element, bool overOutput) {
  return overOutput ? tileKernelOutputTileType(e, element) : tileKernelTileType(e, element);
}

// Brings the operand's axes into the order of the iteration dimensions.
static MlirValue sortAxes(TileKernelEmission *e, OperandTile *t, MlirValue tile) {
  int64_t permutation[MaxDims], shape[MaxDims];
  int dims[MaxDims];
  intptr_t n = 0;
  bool sorted = true;
  for (int d = 0; d < e->structured->numDims; ++d)
    for (intptr_t i = 0; i < t->numKept; ++i)
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
  for (intptr_t i = 0; i < t->numKept; ++i)
    if (t->dims[i] == dim)
      return true;
  return false;
}

// Adds the axes that the operand does not have.
static MlirValue spread(TileKernelEmission *e, const OperandTile *t, MlirValue tile, bool overOutput) {
  int64_t axes[MaxDims];
  intptr_t count = 0, axis = 0;
  for (int d = 0; d < e->structured->numDims; ++d) {
    const TileDim *dim = &e->structured->dims[d];
    if (dim->axis < 0 || (overOutput && dim->isReduction))
      continue;
    if (!holds(t, d))
      axes[count++] = axis;
    ++axis;
  }
  if (count == 0)
    return tile;
  MlirType type = mlirValueGetType(tile);
  if (!mlirTypeIsARankedTensor(type))
    return tileKernelSplat(e, tile, typeOver(e, type, overOutput));
  TileAttributeEntry attributes[] = {{"axes", mlirDenseI64ArrayGet(e->body.context, count, axes)}, {0}};
  MlirType result = typeOver(e, mlirShapedTypeGetElementType(type), overOutput);
  return tileBuildValue(&e->body, tileBroadcastOpName, result, 1, &tile, attributes);
}

MlirValue tileKernelSplat(TileKernelEmission *e, MlirValue scalar, MlirType tile) {
  if (!mlirTypeIsARankedTensor(tile))
    return scalar;
  TileAttributeEntry attributes[] = {{"axes", mlirDenseI64ArrayGet(e->body.context, 0, NULL)}, {0}};
  return tileBuildValue(&e->body, tileBroadcastOpName, tile, 1, &scalar, attributes);
}

MlirValue tileKernelLoad(TileKernelEmission *e, int index, const char *pad, bool overOutput) {
  const TileOperand *operand = &e->structured->operands[index];
  if (!operand->isTensor)
    return tileKernelSplat(e, e->parameters[index], typeOver(e, mlirValueGetType(e->parameters[index]), overOutput));
  OperandTile t = describeTile(e, operand);
  MlirValue operands[1 + MaxDims] = {buildView(e, &t, e->parameters[index], pad)};
  memcpy(operands + 1, t.tileIndex, (size_t)t.numKept * sizeof *operands);
  MlirType type = tileTileTypeGet(t.numKept, t.shape, tileOperandElementType(operand), mlirAttributeGetNull());
  MlirValue tile = tileBuildValue(&e->body, tileLoadOpName, type, 1 + t.numKept, operands, NULL);
  return spread(e, &t, sortAxes(e, &t, tile), overOutput);
}

void tileKernelPrefetch(TileKernelEmission *e, int index) {
  OperandTile t = describeTile(e, &e->structured->operands[index]);
  MlirValue operands[1 + MaxDims] = {buildView(e, &t, e->parameters[index], NULL)};
  memcpy(operands + 1, t.tileIndex, (size_t)t.numKept * sizeof *operands);
  TileAttributeEntry attributes[] = {{"write", mlirUnitAttrGet(e->body.context)}, {0}};
  tileBuild(&e->body, tilePrefetchOpName, 1 + t.numKept, operands, 0, NULL, attributes, 0, NULL);
}

MlirValue tileKernelInitial(TileKernelEmission *e, int index) {
  MlirAttribute constant = e->structured->operands[index].initial;
  if (mlirAttributeIsNull(constant))
    return tileKernelLoad(e, index, NULL, true);
  return tileKernelConstant(e, constant, tileKernelOutputTileType(e, mlirAttributeGetType(constant)));
}

void tileKernelStore(TileKernelEmission *e, int index, MlirValue value) {
  OperandTile t = describeTile(e, &e->structured->operands[index]);
  MlirValue operands[2 + MaxDims] = {value, buildView(e, &t, e->parameters[index], NULL)};
  memcpy(operands + 2, t.tileIndex, (size_t)t.numKept * sizeof *operands);
  // The value's axes follow the iteration dimensions; memory's follow the output's map.
  int64_t permutation[MaxDims];
  bool sorted = true;
  for (intptr_t i = 0; i < t.numKept; ++i) {
    permutation[i] = 0;
    for (intptr_t k = 0; k < t.numKept; ++k)
      permutation[i] += t.dims[k] < t.dims[i];
    sorted &= permutation[i] == i;
  }
  if (!sorted)
    operands[0] = buildTranspose(e, value, t.numKept, permutation, t.shape);
  tileBuild(&e->body, tileStoreOpName, 2 + t.numKept, operands, 0, NULL, NULL, 0, NULL);
}

MlirValue tileKernelReduce(TileKernelEmission *e, const char *operation, MlirValue tile) {
  int64_t axes[MaxDims];
  intptr_t count = 0;
  for (int d = 0; d < e->structured->numDims; ++d)
    if (e->structured->dims[d].isReduction && e->structured->dims[d].axis >= 0)
      axes[count++] = e->structured->dims[d].axis;
  if (count == 0)
    return tile;
  TileAttributeEntry attributes[] = {{"operation", mlirStringAttrGet(e->body.context, tileString(operation))},
                                     {"axes", mlirDenseI64ArrayGet(e->body.context, count, axes)},
                                     {0}};
  MlirType type = tileKernelOutputTileType(e, mlirShapedTypeGetElementType(mlirValueGetType(tile)));
  MlirRegion noBody = mlirRegionCreate();
  MlirOperation reduce = tileBuild(&e->body, tileReduceOpName, 1, &tile, 1, &type, attributes, 1, &noBody);
  return mlirOperationGetResult(reduce, 0);
}

// Exchanges the two axes of a tile; its view says so.
static void swapAxes(OperandTile *t) {
  OperandTile old = *t;
  for (int i = 0; i < 2; ++i) {
    t->shape[i] = old.shape[1 - i];
    t->steps[i] = old.steps[1 - i];
    t->strides[i] = old.strides[1 - i];
    t->tileIndex[i] = old.tileIndex[1 - i];
    t->dims[i] = old.dims[1 - i];
  }
  t->swapped = true;
}

MlirValue tileKernelLoadMatrix(TileKernelEmission *e, int index, const int dims[2]) {
  const TileOperand *operand = &e->structured->operands[index];
  OperandTile t = describeTile(e, operand);
  assert(t.numKept == 2 && "a matrix has two tiled axes");
  if (t.dims[0] != dims[0])
    swapAxes(&t);
  MlirValue operands[3] = {buildView(e, &t, e->parameters[index], NULL), t.tileIndex[0], t.tileIndex[1]};
  MlirType type = tileTileTypeGet(2, t.shape, tileOperandElementType(operand), mlirAttributeGetNull());
  return tileBuildValue(&e->body, tileLoadOpName, type, 3, operands, NULL);
}

//===--- merged dimensions ---------------------------------------------------===//

static MlirValue buildDivision(TileKernelEmission *e, const char *name, MlirValue value, int64_t by) {
  MlirValue operands[2] = {value, tileBuildIndex(&e->body, by)};
  return tileBuildValue(&e->body, name, mlirIndexTypeGet(e->body.context), 2, operands, NULL);
}

static MlirValue buildTerm(TileKernelEmission *e, const TileTerm *term, MlirValue index) {
  if (term->divisor > 1)
    index = buildDivision(e, arithDivUIOpName, index, term->divisor);
  if (term->modulus)
    index = buildDivision(e, arithRemUIOpName, index, term->modulus);
  return term->factor == 1 ? index : tileBuildMul(&e->body, index, tileBuildIndex(&e->body, term->factor));
}

// The run lies inside, which no bounds of loops show.
static MlirValue assumeInside(TileKernelEmission *e, MlirValue first, int64_t size, int64_t length) {
  if (mlirShapedTypeIsDynamicSize(size))
    return first;
  int64_t range[2] = {0, size - length};
  TileAttributeEntry attributes[] = {{"range", mlirDenseI64ArrayGet(e->body.context, 2, range)}, {0}};
  return tileBuildValue(&e->body, tileAssumeOpName, mlirIndexTypeGet(e->body.context), 1, &first, attributes);
}

MlirValue tileKernelLoadRun(TileKernelEmission *e, int index, const MlirValue *at, int64_t length) {
  const TileOperand *operand = &e->structured->operands[index];
  MlirValue first = tileBuildIndex(&e->body, operand->constants[0]);
  for (int i = 0; i < operand->numTerms; ++i)
    first = tileBuildAdd(&e->body, first, buildTerm(e, &operand->terms[i], at[operand->terms[i].dim]));
  first = assumeInside(e, first, mlirShapedTypeGetDimSize(mlirValueGetType(operand->value), 0), length);
  OperandTile t = {.numKept = 1, .shape = {length}, .steps = {1}, .strides = {1}};
  MlirValue operands[2] = {buildView(e, &t, e->parameters[index], NULL), first};
  MlirType element = tileOperandElementType(operand);
  MlirType run = tileTileTypeGet(1, &length, element, mlirAttributeGetNull());
  MlirType row = tileTileTypeGet(2, (int64_t[]){1, length}, element, mlirAttributeGetNull());
  MlirValue loaded = tileBuildValue(&e->body, tileLoadOpName, run, 2, operands, NULL);
  TileAttributeEntry axes[] = {{"axes", mlirDenseI64ArrayGet(e->body.context, 1, (int64_t[]){0})}, {0}};
  return tileBuildValue(&e->body, tileBroadcastOpName, row, 1, &loaded, axes);
}

MlirValue tileKernelLoadPanel(TileKernelEmission *e, int index, MlirValue panel, MlirValue row, int64_t rows,
                              int64_t columns) {
  MlirValue constant = e->structured->operands[index].value;
  MlirType type = mlirValueGetType(constant), element = mlirShapedTypeGetElementType(type);
  OperandTile t = {
      .numFixed = 1, .numKept = 2, .fixed = {0}, .shape = {rows, columns}, .steps = {1, columns}, .strides = {1, 1}};
  t.fixedIndex[0] = tileKernelAssumeBelow(e, panel, mlirShapedTypeGetDimSize(type, 0));
  MlirValue first = assumeInside(e, row, mlirShapedTypeGetDimSize(type, 1), rows);
  MlirValue operands[3] = {buildView(e, &t, e->parameters[index], NULL), first, tileBuildIndex(&e->body, 0)};
  return tileBuildValue(&e->body, tileLoadOpName, tileTileTypeGet(2, t.shape, element, mlirAttributeGetNull()), 3,
                        operands, NULL);
}

//===--- local buffers ------------------------------------------------------===//

void tileKernelPack(TileKernelEmission *e, int index, const int dims[2], MlirValue buffer) {
  OperandTile t = describeTile(e, &e->structured->operands[index]);
  assert(t.numKept == 2 && "packing takes two axes");
  if (t.dims[0] != dims[0])
    swapAxes(&t);
  MlirValue operands[4] = {buildView(e, &t, e->parameters[index], NULL), buffer, t.tileIndex[0], t.tileIndex[1]};
  tileBuild(&e->body, tileCopyOpName, 4, operands, 0, NULL, NULL, 0, NULL);
}

// In a layout odd factors come last: columns of which there is no power of two lie in as many parts, one after another.
static int64_t powerOfTwoIn(int64_t size) { return size & -size; }

MlirType tileKernelBufferType(TileKernelEmission *e, int64_t rows, int64_t columns, MlirType element) {
  return tileKernelGroupedBufferType(e, rows, columns, element, 1);
}

MlirType tileKernelGroupedBufferType(TileKernelEmission *e, int64_t rows, int64_t columns, MlirType element,
                                     int64_t group) {
  char offsets[160];
  int64_t wide = powerOfTwoIn(columns), tall = powerOfTwoIn(rows / group);
  snprintf(offsets, sizeof offsets, "offset [%lld:d0, %lld:d1, %lld:d0*%lld, %lld:d1*%lld, %lld:d0*%lld]",
           (long long)group, (long long)wide, (long long)tall, (long long)group, (long long)(columns / wide),
           (long long)wide, (long long)(rows / group / tall), (long long)(group * tall));
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
  for (int i = 0; i < 2; ++i) {
    fixed[i] = 0;
    if (!mlirValueIsNull(offsets[i]) && !tileConstantIndex(offsets[i], &fixed[i])) {
      fixed[i] = mlirShapedTypeGetDynamicSize();
      operands[count++] = offsets[i];
    }
  }
  TileAttributeEntry attributes[] = {{"static_offsets", mlirDenseI64ArrayGet(e->body.context, 2, fixed)}, {0}};
  MlirType part = tileKernelBufferType(e, rows, columns, tileBufferTypeGetElementType(type));
  return tileBuildValue(&e->body, tileSliceOpName, part, count, operands, attributes);
}

MlirValue tileKernelLoadBuffer(TileKernelEmission *e, MlirValue buffer) {
  MlirType type = mlirValueGetType(buffer);
  int64_t shape[MaxDims];
  intptr_t rank = tileBufferTypeGetRank(type);
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = tileBufferTypeGetSize(type, i);
  MlirType tile = tileTileTypeGet(rank, shape, tileBufferTypeGetElementType(type), mlirAttributeGetNull());
  return tileLoadOpBuild(&e->body, tile, buffer, 0, NULL);
}
