// detect, sread and swrite: lists of run-time micro-tiles and matrices packed by them. After PIT (SOSP 2023), whose
// index is built by atomics in any order; here which micro-tiles hold something is marked first and the marks packed as
// csr, so that lists ascend and sums repeat bit by bit. A coordinate of no slice reads zeros and writes nothing.
// Cost: detect once over the matrix; sread and swrite once over what is listed.
#include "dialects/sparse/ops.h"
#include "lib/conversion/sparse_to_tile/lowerings.h"

enum {
  ROWS_AT_ONCE = 8, // whose columns one look at the list serves
  PACKED_WORDS = 7,
  ROW_TILE = 64,      // elements of a row at a time
  MARKED_TILE = 256,  // those of a group of rows that are looked at together
  UNITS_AT_ONCE = 64, // micro-tiles of a group that a program marks, where these lie along a row
  MOST_TOGETHER = 16  // columns of a micro-tile, for rows to be looked at whole
};

//===--- detect -----------------------------------------------------------------===//

// The micro-tiles of a matrix.
typedef struct MicroTiles {
  int64_t axis, by;
  MlirValue sizes[2], extent[2], count[2]; // of the matrix; of one of them; how many along each axis
} MicroTiles;

static MicroTiles microTilesOf(SparseLowering *lowering) {
  TileBuilder *b = &lowering->builder;
  MicroTiles tiles = {.axis = sparseDetectOpGetAxisValue(lowering->op), .by = sparseDetectOpGetByValue(lowering->op)};
  MlirAttribute lines = sparseDetectOpGetLines(lowering->op); // null: all
  int64_t axis = tiles.axis, other = 1 - axis;
  for (intptr_t i = 0; i < 2; ++i)
    tiles.sizes[i] = sparseSize(lowering, 0, i);
  tiles.extent[axis] = tileBuildIndex(b, tiles.by);
  tiles.extent[other] = lines.ptr ? tileBuildIndex(b, mlirIntegerAttrGetValueInt(lines)) : tiles.sizes[other];
  tiles.count[axis] = tileBuildCeilDiv(b, tiles.sizes[axis], tiles.extent[axis]);
  tiles.count[other] = lines.ptr ? tileBuildCeilDiv(b, tiles.sizes[other], tiles.extent[other]) : tileBuildIndex(b, 1);
  return tiles;
}

// Groups by micro-tiles, i32: 1 where there is something. Rows of a dense matrix are looked at whole where micro-tiles
// are columns; otherwise element by element, or by the tiles that #sparse.mask stores.
static MlirValue markTiles(SparseLowering *lowering, const MicroTiles *tiles, MlirType type) {
  TileBuilder *b = &lowering->builder;
  MlirAttribute encoding = sparseTypeGetEncoding(tileOperandType(lowering->op, 0));
  MlirValue cells = lowering->operands[0].values[0]; // a mask is the first component
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(cells));
  bool isFloat = mlirTypeIsAFloat(element), isWhole = !encoding.ptr && tiles->axis == 1 && tiles->by <= MOST_TOGETHER;
  int64_t units = isWhole ? MARKED_TILE / tiles->by : UNITS_AT_ONCE;
  const SparseWord words[] = {sparseTypeWord("E", element),
                              sparseTextWord("ZERO", isFloat ? "0.0" : "0"),
                              sparseTextWord("DIFFERS", isFloat ? "arith.cmpf une," : "arith.cmpi ne,"),
                              sparseNumberWord("HEIGHT", encoding.ptr ? sparseEncodingGetSize(encoding, "tile", 0) : 1),
                              sparseNumberWord("WIDTH", encoding.ptr ? sparseEncodingGetSize(encoding, "tile", 1) : 1),
                              sparseNumberWord("UNITS", units),
                              sparseNumberWord("BY", tiles->by),
                              sparseNumberWord("COLUMNS", units * tiles->by),
                              sparseTextWord("PLACE", tiles->axis ? "%line, %u" : "%u, %line"),
                              {NULL}};
  const MlirValue shape[] = {tiles->count[1 - tiles->axis], tiles->count[tiles->axis]};
  const MlirValue grid[] = {tiles->count[0], tileBuildCeilDiv(b, tiles->count[1], tileBuildIndex(b, units))};
  const MlirValue inputs[] = {cells,          tiles->sizes[0], tiles->sizes[1], tiles->extent[0], tiles->extent[1],
                              tiles->count[1]};
  const MlirValue rows[] = {cells, tiles->sizes[0], tiles->extent[0]};
  return sparseLaunch(lowering, isWhole ? "mark_columns" : "mark_tiles", words, 2, grid, isWhole ? 3 : 6,
                      isWhole ? rows : inputs, sparseEmpty(lowering, type, 2, shape));
}

bool sparseLowerDetect(SparseLowering *lowering, SparseResult *result) {
  MlirType mark = mlirIntegerTypeGet(lowering->builder.context, 32);
  const int64_t open[] = {mlirShapedTypeGetDynamicSize(), mlirShapedTypeGetDynamicSize()};
  MicroTiles tiles = microTilesOf(lowering);
  MlirValue marks = markTiles(lowering, &tiles, mlirRankedTensorTypeGet(2, open, mark, mlirAttributeGetNull()));
  const SparseComponent parts[] = {
      {"positions", tileResultType(lowering->op, 0)},
      {"coordinates", tileResultType(lowering->op, 1)},
      {"values", mlirRankedTensorTypeGet(1, open, mark, mlirAttributeGetNull())},
  };
  bool ok = !mlirValueIsNull(marks) && sparsePackSegments(lowering, marks, parts, result);
  result->count = 2; // how the marks themselves are packed is not asked for
  return ok;
}

//===--- sread and swrite -------------------------------------------------------===//

static void packedWords(MlirType packed, MlirValue coordinates, int64_t by, SparseWord words[PACKED_WORDS]) {
  MlirType element = mlirShapedTypeGetElementType(packed);
  words[0] = sparseTypeWord("E", element);
  words[1] = sparseZeroWord(element);
  words[2] = sparseTypeWord("I", mlirShapedTypeGetElementType(mlirValueGetType(coordinates)));
  words[3] = sparseNumberWord("BY", by);
  words[4] = sparseNumberWord("COLUMNS", ROW_TILE);
  words[5] = sparseNumberWord("ROWS", ROWS_AT_ONCE);
  words[6] = (SparseWord){NULL};
}

bool sparseLowerSread(SparseLowering *lowering, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  MlirType type = tileResultType(lowering->op, 0);
  const MlirValue inputs[] = {lowering->operands[0].values[0], lowering->operands[1].values[0]};
  int64_t axis = sparseSreadOpGetAxisValue(lowering->op), by = sparseSreadOpGetByValue(lowering->op);
  SparseWord words[PACKED_WORDS];
  MlirValue sizes[2], open[2];
  intptr_t count = 0;
  packedWords(type, inputs[1], by, words);
  sizes[axis] = tileBuildMul(b, sparseDenseSize(lowering, inputs[1], 0), tileBuildIndex(b, by));
  sizes[1 - axis] = sparseDenseSize(lowering, inputs[0], 1 - axis);
  for (intptr_t i = 0; i < 2; ++i)
    if (mlirShapedTypeIsDynamicDim(type, i))
      open[count++] = sizes[i];
  MlirValue grid = axis ? tileBuildCeilDiv(b, sizes[0], tileBuildIndex(b, ROWS_AT_ONCE)) : sizes[0];
  MlirValue packed = sparseLaunch(lowering, axis ? "sread_columns" : "sread_rows", words, 1, &grid, 2, inputs,
                                  sparseEmpty(lowering, type, count, open));
  *result = (SparseResult){{packed}, 1};
  return !mlirValueIsNull(packed);
}

// A program for some rows of packed, or for each one that the list names: no more than it does, should they disagree.
bool sparseLowerSwrite(SparseLowering *lowering, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  const MlirValue inputs[] = {lowering->operands[0].values[0], lowering->operands[2].values[0]};
  int64_t axis = sparseSwriteOpGetAxisValue(lowering->op), by = sparseSwriteOpGetByValue(lowering->op);
  SparseWord words[PACKED_WORDS];
  packedWords(mlirValueGetType(inputs[0]), inputs[1], by, words);
  MlirValue grid = sparseDenseSize(lowering, inputs[0], 0);
  grid = axis ? tileBuildCeilDiv(b, grid, tileBuildIndex(b, ROWS_AT_ONCE))
              : tileBuildMin(b, grid, tileBuildMul(b, sparseDenseSize(lowering, inputs[1], 0), tileBuildIndex(b, by)));
  MlirValue written = sparseLaunch(lowering, axis ? "swrite_columns" : "swrite_rows", words, 1, &grid, 2, inputs,
                                   lowering->operands[1].values[0]);
  *result = (SparseResult){{written}, 1};
  return !mlirValueIsNull(written);
}
