// Tiles of a kernel's operands: views, loads, stores, reductions and local buffers. See kernel.h.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/packed_elements.h"
#include "lib/analysis/tiling.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
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

static MlirAttribute list(const TileKernelEmission *e, intptr_t count, const int64_t *values) {
  return mlirDenseI64ArrayGet(e->body.context, count, values);
}

static MlirValue buildView(TileKernelEmission *e, const OperandTile *t, MlirValue memref, const char *pad) {
  MlirType type = viewType(e, t, mlirShapedTypeGetElementType(mlirValueGetType(memref)), pad);
  return tileViewOpBuild(&e->body, type, memref, t->numFixed, t->fixedIndex, list(e, t->numFixed, t->fixed));
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

//===--- packed elements ----------------------------------------------------===//

static bool isPacked(const TileKernelEmission *e, int index) {
  const TileOperand *operand = &e->structured->operands[index];
  return operand->isTensor && !mlirValueIsNull(tilePackedBytesOf(operand->value));
}

// The elements of the two bytes, which begin with bit `first` of the pair.
static MlirValue elementsOfPairs(TileKernelEmission *e, MlirValue low, MlirValue high, MlirValue first,
                                 MlirType element) {
  enum { PairBits = 16, ByteBits = 8 };
  MlirType pair = mlirIntegerTypeGet(e->body.context, PairBits), type = mlirValueGetType(low);
  MlirType words = mlirTypeIsARankedTensor(type) ? tileTypeWithElement(type, pair) : pair;
  high =
      arithShLIOpBuild(&e->body, arithExtUIOpBuild(&e->body, words, high), tileBuildInteger(&e->body, words, ByteBits));
  MlirValue whole = arithOrIOpBuild(&e->body, arithExtUIOpBuild(&e->body, words, low), high);
  MlirType integer = mlirIntegerTypeGet(e->body.context, tileElementWidth(element));
  MlirType codes = mlirTypeIsARankedTensor(type) ? tileTypeWithElement(type, integer) : integer;
  MlirValue bits = arithTruncIOpBuild(&e->body, codes, arithShRUIOpBuild(&e->body, whole, first));
  if (mlirTypeEqual(integer, element))
    return bits;
  return arithBitcastOpBuild(&e->body, mlirTypeIsARankedTensor(type) ? tileTypeWithElement(type, element) : element,
                             bits);
}

// The byte of bit `bit` of a row, or its next one in the row.
static MlirValue byteOfBit(TileKernelEmission *e, MlirValue bit, bool isNext, int64_t rowBytes) {
  MlirType type = mlirValueGetType(bit);
  bool isTile = mlirTypeIsARankedTensor(type);
  MlirValue numbers[3];
  for (int i = 0; i < 3; ++i) {
    MlirValue number = tileBuildIndex(&e->body, (int64_t[]){8, 1, rowBytes - 1}[i]);
    numbers[i] = isTile ? tileKernelSplat(e, number, type) : number;
  }
  MlirValue byte = arithDivUIOpBuild(&e->body, bit, numbers[0]);
  return isNext ? arithMinUIOpBuild(&e->body, arithAddIOpBuild(&e->body, byte, numbers[1]), numbers[2]) : byte;
}

static MlirValue shiftOfBit(TileKernelEmission *e, MlirValue bit) {
  MlirType type = mlirValueGetType(bit), pair = mlirIntegerTypeGet(e->body.context, 16);
  bool isTile = mlirTypeIsARankedTensor(type);
  MlirValue eight = tileBuildIndex(&e->body, 8);
  MlirValue within = arithRemUIOpBuild(&e->body, bit, isTile ? tileKernelSplat(e, eight, type) : eight);
  return arithIndexCastOpBuild(&e->body, isTile ? tileTypeWithElement(type, pair) : pair, within);
}

// One place of the rows, or places that do not begin with a byte: two bytes for each element.
static MlirValue loadPairs(TileKernelEmission *e, const OperandTile *t, MlirValue memref, MlirType element) {
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(memref)), last = t->numKept - 1;
  int64_t rowBytes = mlirShapedTypeGetDimSize(mlirValueGetType(memref), rank - 1);
  bool isFixed = t->numFixed && t->fixed[t->numFixed - 1] == rank - 1;
  MlirType byte = mlirShapedTypeGetElementType(mlirValueGetType(memref)), index = mlirIndexTypeGet(e->body.context);
  MlirType bytes = tileTileTypeGet(t->numKept, t->shape, byte, mlirAttributeGetNull());
  MlirType places = tileTileTypeGet(1, &t->shape[isFixed ? 0 : last], index, mlirAttributeGetNull());
  int64_t width = tileElementWidth(element);
  MlirValue bit, parts[2], none = {NULL};
  if (isFixed) {
    bit = tileBuildMul(&e->body, t->fixedIndex[t->numFixed - 1], tileBuildIndex(&e->body, width));
  } else {
    MlirType i64 = mlirIntegerTypeGet(e->body.context, 64);
    MlirValue first = tileBuildMul(&e->body, t->tileIndex[last], tileBuildIndex(&e->body, t->steps[last]));
    bit = tileIotaOpBuild(&e->body, places, none, mlirIntegerAttrGet(i64, 0));
    bit = arithMulIOpBuild(&e->body, bit, tileKernelSplat(e, tileBuildIndex(&e->body, t->strides[last]), places));
    bit = arithAddIOpBuild(&e->body, bit, tileKernelSplat(e, first, places));
    bit = arithMulIOpBuild(&e->body, bit, tileKernelSplat(e, tileBuildIndex(&e->body, width), places));
  }
  for (int i = 0; i < 2; ++i) {
    OperandTile part = *t;
    MlirValue at = byteOfBit(e, bit, i, rowBytes);
    if (isFixed) {
      part.fixedIndex[t->numFixed - 1] = at;
      parts[i] = tileLoadOpBuild(&e->body, bytes, buildView(e, &part, memref, NULL), part.numKept, part.tileIndex);
      continue;
    }
    part.tileIndex[last] = at;
    part.strides[last] = part.steps[last] = 1;
    parts[i] = tileGatherOpBuild(&e->body, bytes, buildView(e, &part, memref, NULL), part.numKept, part.tileIndex, none,
                                 none, mlirStringAttrGet(e->body.context, tileString("drop")));
  }
  MlirValue shift = shiftOfBit(e, bit);
  MlirType words = t->numKept ? tileTypeWithElement(bytes, mlirIntegerTypeGet(e->body.context, 16)) : (MlirType){NULL};
  if (isFixed && t->numKept)
    shift = tileKernelSplat(e, shift, words);
  if (!isFixed && last) {
    int64_t axes[MaxDims];
    for (intptr_t i = 0; i < last; ++i)
      axes[i] = i;
    shift = tileKernelBroadcast(e, shift, words, last, axes);
  }
  return elementsOfPairs(e, parts[0], parts[1], shift, element);
}

// Rows of whole bytes are cast. `t` is in memory's order.
static MlirValue loadPacked(TileKernelEmission *e, const OperandTile *t, int index) {
  enum { ByteBits = 8 };
  MlirValue memref = e->parameters[index];
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(memref)), last = t->numKept - 1;
  MlirType element = tileOperandElementType(&e->structured->operands[index]);
  int64_t width = tileElementWidth(element);
  bool isFixed = t->numFixed && t->fixed[t->numFixed - 1] == rank - 1;
  if (isFixed || t->strides[last] != 1 || t->shape[last] * width % ByteBits || t->steps[last] * width % ByteBits)
    return loadPairs(e, t, memref, element);
  OperandTile bytes = *t;
  bytes.shape[last] = t->shape[last] * width / ByteBits;
  bytes.steps[last] = t->steps[last] * width / ByteBits;
  MlirType byte = mlirShapedTypeGetElementType(mlirValueGetType(memref));
  MlirType type = tileTileTypeGet(t->numKept, bytes.shape, byte, mlirAttributeGetNull());
  MlirValue packed =
      tileLoadOpBuild(&e->body, type, buildView(e, &bytes, memref, NULL), bytes.numKept, bytes.tileIndex);
  return tileBitcastOpBuild(&e->body, tileTileTypeGet(t->numKept, t->shape, element, mlirAttributeGetNull()), packed);
}

static MlirValue loadTile(TileKernelEmission *e, const OperandTile *t, int index, const char *pad) {
  MlirValue memref = e->parameters[index];
  if (isPacked(e, index) && !t->swapped)
    return loadPacked(e, t, index);
  if (isPacked(e, index)) {
    OperandTile rows = *t;
    swapAxes(&rows);
    rows.swapped = false;
    return tileKernelSwapped(e, loadPacked(e, &rows, index));
  }
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(memref));
  MlirType type = tileTileTypeGet(t->numKept, t->shape, element, mlirAttributeGetNull());
  return tileLoadOpBuild(&e->body, type, buildView(e, t, memref, pad), t->numKept, t->tileIndex);
}

static MlirValue buildTranspose(TileKernelEmission *e, MlirValue tile, intptr_t rank, const int64_t *permutation,
                                const int64_t *shape) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(tile));
  return tileTransposeOpBuild(&e->body, tileTileTypeGet(rank, shape, element, mlirAttributeGetNull()), tile,
                              list(e, rank, permutation));
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
  return tileKernelBroadcast(e, tile, typeOver(e, mlirShapedTypeGetElementType(type), overOutput), count, axes);
}

MlirValue tileKernelBroadcast(TileKernelEmission *e, MlirValue value, MlirType tile, intptr_t count,
                              const int64_t *axes) {
  return tileOnlyResult(tileBroadcastOpCreate(&e->body, tile, value, list(e, count, axes)));
}

MlirValue tileKernelCast(TileKernelEmission *e, MlirValue tile, MlirType element) {
  MlirType type = mlirValueGetType(tile), from = tileTypeGetElement(type);
  if (mlirTypeEqual(from, element))
    return tile;
  bool isWider = tileMemoryBits(element) > tileMemoryBits(from);
  return tileBuildCast(&e->body, isWider ? ArithOp_ExtF : ArithOp_TruncF, tile, tileTypeWithElement(type, element));
}

MlirValue tileKernelSwapped(TileKernelEmission *e, MlirValue matrix) {
  MlirType type = mlirValueGetType(matrix);
  const int64_t order[2] = {1, 0}, shape[2] = {mlirShapedTypeGetDimSize(type, 1), mlirShapedTypeGetDimSize(type, 0)};
  return buildTranspose(e, matrix, 2, order, shape);
}

MlirValue tileKernelSplat(TileKernelEmission *e, MlirValue scalar, MlirType tile) {
  return mlirTypeIsARankedTensor(tile) ? tileKernelBroadcast(e, scalar, tile, 0, NULL) : scalar;
}

MlirValue tileKernelLoad(TileKernelEmission *e, int index, const char *pad, bool overOutput) {
  const TileOperand *operand = &e->structured->operands[index];
  if (!operand->isTensor)
    return tileKernelSplat(e, e->parameters[index], typeOver(e, mlirValueGetType(e->parameters[index]), overOutput));
  OperandTile t = describeTile(e, operand);
  MlirValue tile = sortAxes(e, &t, loadTile(e, &t, index, pad));
  return spread(e, &t, tile, overOutput);
}

void tileKernelPrefetch(TileKernelEmission *e, int index, bool isWritten) {
  if (isPacked(e, index))
    return;
  OperandTile t = describeTile(e, &e->structured->operands[index]);
  MlirValue view = buildView(e, &t, e->parameters[index], NULL);
  MlirAttribute write = isWritten ? mlirUnitAttrGet(e->body.context) : mlirAttributeGetNull();
  tilePrefetchOpCreate(&e->body, view, t.numKept, t.tileIndex, write);
}

MlirValue tileKernelInitial(TileKernelEmission *e, int index) {
  MlirAttribute constant = e->structured->operands[index].initial;
  if (mlirAttributeIsNull(constant))
    return tileKernelLoad(e, index, NULL, true);
  return tileKernelConstant(e, constant, tileKernelOutputTileType(e, mlirAttributeGetType(constant)));
}

void tileKernelStore(TileKernelEmission *e, int index, MlirValue value) {
  OperandTile t = describeTile(e, &e->structured->operands[index]);
  MlirValue view = buildView(e, &t, e->parameters[index], NULL);
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
    value = buildTranspose(e, value, t.numKept, permutation, t.shape);
  tileStoreOpBuild(&e->body, value, view, t.numKept, t.tileIndex);
}

static intptr_t reductionAxes(const TileKernelEmission *e, int64_t *axes) {
  intptr_t count = 0;
  for (int d = 0; d < e->structured->numDims; ++d)
    if (e->structured->dims[d].isReduction && e->structured->dims[d].axis >= 0)
      axes[count++] = e->structured->dims[d].axis;
  return count;
}

MlirValue tileKernelFold(TileKernelEmission *e, const char *operation, MlirValue tile, MlirType type, intptr_t count,
                         const int64_t *axes) {
  MlirAttribute named = mlirStringAttrGet(e->body.context, tileString(operation));
  return tileOnlyResult(tileReduceOpCreate(&e->body, 1, &type, 1, &tile, named, list(e, count, axes),
                                           mlirAttributeGetNull(), mlirRegionCreate()));
}

MlirValue tileKernelReduce(TileKernelEmission *e, const char *operation, MlirValue tile) {
  int64_t axes[MaxDims];
  intptr_t count = reductionAxes(e, axes);
  if (count == 0)
    return tile;
  MlirType type = tileKernelOutputTileType(e, mlirShapedTypeGetElementType(mlirValueGetType(tile)));
  return tileKernelFold(e, operation, tile, type, count, axes);
}

MlirValue tileKernelSpreadRow(TileKernelEmission *e, MlirValue row, MlirType tile) {
  int64_t axes[MaxDims];
  intptr_t count = reductionAxes(e, axes);
  bool isTile = count && mlirTypeIsARankedTensor(mlirValueGetType(row));
  return isTile ? tileKernelBroadcast(e, row, tile, count, axes) : tileKernelSplat(e, row, tile);
}

// Operand `index`'s current tile as a matrix over two tiled dimensions.
static OperandTile describeMatrix(TileKernelEmission *e, int index, const int dims[2]) {
  OperandTile t = describeTile(e, &e->structured->operands[index]);
  assert(t.numKept == 2 && "a matrix has two tiled axes");
  if (t.dims[0] != dims[0])
    swapAxes(&t);
  return t;
}

MlirValue tileKernelLoadMatrix(TileKernelEmission *e, int index, const int dims[2]) {
  OperandTile t = describeMatrix(e, index, dims);
  return loadTile(e, &t, index, NULL);
}

//===--- merged dimensions ---------------------------------------------------===//

static MlirValue buildTerm(TileKernelEmission *e, const TileTerm *term, MlirValue index) {
  if (term->divisor > 1)
    index = arithDivUIOpBuild(&e->body, index, tileBuildIndex(&e->body, term->divisor));
  if (term->modulus)
    index = arithRemUIOpBuild(&e->body, index, tileBuildIndex(&e->body, term->modulus));
  return term->factor == 1 ? index : tileBuildMul(&e->body, index, tileBuildIndex(&e->body, term->factor));
}

// The run lies inside, which no bounds of loops show.
static MlirValue assumeInside(TileKernelEmission *e, MlirValue first, int64_t size, int64_t length) {
  return mlirShapedTypeIsDynamicSize(size) ? first : tileKernelAssumeBelow(e, first, size - length + 1);
}

MlirValue tileKernelLoadRun(TileKernelEmission *e, int index, const MlirValue *at, int64_t length) {
  const TileOperand *operand = &e->structured->operands[index];
  MlirValue first = tileBuildIndex(&e->body, operand->constants[0]);
  for (int i = 0; i < operand->numTerms; ++i)
    first = tileBuildAdd(&e->body, first, buildTerm(e, &operand->terms[i], at[operand->terms[i].dim]));
  first = assumeInside(e, first, mlirShapedTypeGetDimSize(mlirValueGetType(operand->value), 0), length);
  OperandTile t = {.numKept = 1, .shape = {length}, .steps = {1}, .strides = {1}, .tileIndex = {first}};
  MlirType row = tileTileTypeGet(2, (int64_t[]){1, length}, tileOperandElementType(operand), mlirAttributeGetNull());
  return tileKernelBroadcast(e, loadTile(e, &t, index, NULL), row, 1, (int64_t[]){0});
}

// groups × columns × members as rows × columns.
static MlirValue rowsOfGroups(TileKernelEmission *e, MlirValue tile, int64_t rows, int64_t columns, int64_t group) {
  int64_t turned[3] = {rows / group, group, columns}, flat[2] = {rows, columns};
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(tile));
  tile = buildTranspose(e, tile, 3, (int64_t[]){0, 2, 1}, turned);
  return tileReshapeOpBuild(&e->body, tileTileTypeGet(2, flat, element, mlirAttributeGetNull()), tile);
}

MlirValue tileKernelLoadPanel(TileKernelEmission *e, int index, MlirValue panel, MlirValue row, int64_t rows,
                              int64_t columns, int64_t group) {
  MlirType type = mlirValueGetType(e->structured->operands[index].value);
  OperandTile t = {.numFixed = 1,
                   .numKept = group > 1 ? 3 : 2,
                   .fixed = {0},
                   .shape = {rows / group, columns, group},
                   .steps = {1, columns, group},
                   .strides = {1, 1, 1}};
  if (group > 1)
    row = arithDivUIOpBuild(&e->body, row, tileBuildIndex(&e->body, group));
  t.fixedIndex[0] = tileKernelAssumeBelow(e, panel, mlirShapedTypeGetDimSize(type, 0));
  t.tileIndex[0] = assumeInside(e, row, mlirShapedTypeGetDimSize(type, 1), rows / group);
  t.tileIndex[1] = t.tileIndex[2] = tileBuildIndex(&e->body, 0);
  MlirValue tile = loadTile(e, &t, index, NULL);
  return group > 1 ? rowsOfGroups(e, tile, rows, columns, group) : tile;
}

//===--- local buffers ------------------------------------------------------===//

void tileKernelPack(TileKernelEmission *e, int index, const int dims[2], MlirValue buffer) {
  OperandTile t = describeMatrix(e, index, dims);
  if (isPacked(e, index)) {
    tileStoreOpBuild(&e->body, loadTile(e, &t, index, NULL), buffer, 0, NULL);
    return;
  }
  tileCopyOpBuild(&e->body, buildView(e, &t, e->parameters[index], NULL), buffer, 2, t.tileIndex);
}

// In a layout odd factors come last: a number of columns that is no power of two is stored in that many parts, one
// after another.
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
  MlirValue offsets[2] = {row, column}, open[2];
  int64_t fixed[2];
  intptr_t count = 0;
  for (int i = 0; i < 2; ++i) {
    fixed[i] = 0;
    if (!mlirValueIsNull(offsets[i]) && !tileConstantIndex(offsets[i], &fixed[i])) {
      fixed[i] = mlirShapedTypeGetDynamicSize();
      open[count++] = offsets[i];
    }
  }
  MlirType part = tileKernelBufferType(e, rows, columns, tileBufferTypeGetElementType(type));
  return tileSliceOpBuild(&e->body, part, buffer, count, open, list(e, 2, fixed));
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
