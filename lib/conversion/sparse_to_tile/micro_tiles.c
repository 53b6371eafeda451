// detect, sread and swrite: lists of run-time micro-tiles and matrices packed by them. After PIT (SOSP 2023), whose
// index is built by atomics in any order; here which micro-tiles hold something is marked first and the marks packed as
// csr, so that lists ascend and sums repeat bit by bit. A coordinate of no slice reads zeros and writes nothing.
// Cost: detect once over the matrix; sread and swrite once over what is listed.
#include "dialects/sparse/ops.h"
#include "lib/conversion/sparse_to_tile/lowerings.h"

enum {
  ROW_TILE = 64,     // elements of a row at a time
  UNITS_AT_ONCE = 64 // micro-tiles of a group that a program marks, where these lie along a row
};

//===--- detect -----------------------------------------------------------------===//

// What is looked at: elements of a dense matrix, or the tiles that #sparse.mask stores.
typedef struct Cells {
  MlirValue values;
  int64_t height, width; // of a cell
} Cells;

static Cells cellsOf(SparseLowering *lowering) {
  MlirAttribute encoding = sparseTypeGetEncoding(tileOperandType(lowering->op, 0));
  MlirValue first = lowering->operands[0].values[0];
  if (mlirAttributeIsNull(encoding))
    return (Cells){first, 1, 1};
  return (Cells){first, sparseEncodingGetSize(encoding, "tile", 0), sparseEncodingGetSize(encoding, "tile", 1)};
}

bool sparseLowerDetect(SparseLowering *lowering, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  MlirOperation op = lowering->op;
  MlirValue one = tileBuildIndex(b, 1), rows = sparseSize(lowering, 0, 0), columns = sparseSize(lowering, 0, 1);
  int64_t axis = sparseDetectOpGetAxisValue(op);
  MlirAttribute lines = sparseDetectOpGetLines(op);
  bool isWhole = mlirAttributeIsNull(lines);
  Cells cells = cellsOf(lowering);
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(cells.values));
  MlirType mark = mlirIntegerTypeGet(b->context, 32);
  const MlirValue sizes[] = {rows, columns};
  MlirValue extent[2], count[2]; // of a micro-tile; how many along each axis
  extent[axis] = tileBuildIndex(b, sparseDetectOpGetByValue(op));
  extent[1 - axis] = isWhole ? sizes[1 - axis] : tileBuildIndex(b, mlirIntegerAttrGetValueInt(lines));
  count[axis] = tileBuildCeilDiv(b, sizes[axis], extent[axis]);
  count[1 - axis] = isWhole ? one : tileBuildCeilDiv(b, sizes[1 - axis], extent[1 - axis]);
  bool isFloat = mlirTypeIsAFloat(element);
  const SparseWord words[] = {sparseTypeWord("E", element),
                              sparseTextWord("ZERO", isFloat ? "0.0" : "0"),
                              sparseTextWord("DIFFERS", isFloat ? "arith.cmpf une," : "arith.cmpi ne,"),
                              sparseNumberWord("HEIGHT", cells.height),
                              sparseNumberWord("WIDTH", cells.width),
                              sparseNumberWord("UNITS", UNITS_AT_ONCE),
                              sparseTextWord("PLACE", axis ? "%line, %u" : "%u, %line"),
                              {NULL}};
  const int64_t open[] = {mlirShapedTypeGetDynamicSize(), mlirShapedTypeGetDynamicSize()};
  MlirType marksType = mlirRankedTensorTypeGet(2, open, mark, mlirAttributeGetNull());
  const MlirValue inputs[] = {cells.values, rows, columns, extent[0], extent[1], count[1]};
  const MlirValue grid[] = {count[0], tileBuildCeilDiv(b, count[1], tileBuildIndex(b, UNITS_AT_ONCE))};
  MlirValue marks = sparseLaunch(lowering, "mark_tiles", words, 2, grid, 6, inputs,
                                 sparseEmpty(lowering, marksType, 2, (MlirValue[]){count[1 - axis], count[axis]}));
  const SparseComponent parts[] = {
      {"positions", tileResultType(op, 0)},
      {"coordinates", tileResultType(op, 1)},
      {"values", mlirRankedTensorTypeGet(1, open, mark, mlirAttributeGetNull())},
  };
  bool ok = !mlirValueIsNull(marks) && sparsePackSegments(lowering, marks, parts, result);
  result->count = 2; // how the marks themselves are packed is not asked for
  return ok;
}

//===--- sread and swrite -------------------------------------------------------===//

static void packedWords(MlirType packed, MlirValue coordinates, int64_t by, SparseWord words[6]) {
  MlirType element = mlirShapedTypeGetElementType(packed);
  words[0] = sparseTypeWord("E", element);
  words[1] = sparseZeroWord(element);
  words[2] = sparseTypeWord("I", mlirShapedTypeGetElementType(mlirValueGetType(coordinates)));
  words[3] = sparseNumberWord("BY", by);
  words[4] = sparseNumberWord("COLUMNS", ROW_TILE);
  words[5] = (SparseWord){NULL};
}

bool sparseLowerSread(SparseLowering *lowering, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  MlirType type = tileResultType(lowering->op, 0);
  const MlirValue inputs[] = {lowering->operands[0].values[0], lowering->operands[1].values[0]};
  int64_t axis = sparseSreadOpGetAxisValue(lowering->op), by = sparseSreadOpGetByValue(lowering->op);
  SparseWord words[6];
  MlirValue sizes[2], open[2];
  intptr_t count = 0;
  packedWords(type, inputs[1], by, words);
  sizes[axis] = tileBuildMul(b, sparseDenseSize(lowering, inputs[1], 0), tileBuildIndex(b, by));
  sizes[1 - axis] = sparseDenseSize(lowering, inputs[0], 1 - axis);
  for (intptr_t i = 0; i < 2; i++)
    if (mlirShapedTypeIsDynamicDim(type, i))
      open[count++] = sizes[i];
  MlirValue packed = sparseLaunch(lowering, axis ? "sread_columns" : "sread_rows", words, 1, &sizes[0], 2, inputs,
                                  sparseEmpty(lowering, type, count, open));
  *result = (SparseResult){{packed}, 1};
  return !mlirValueIsNull(packed);
}

// A program for each row of packed; where the list names rows no more than it does, should the two disagree.
bool sparseLowerSwrite(SparseLowering *lowering, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  const MlirValue inputs[] = {lowering->operands[0].values[0], lowering->operands[2].values[0]};
  int64_t axis = sparseSwriteOpGetAxisValue(lowering->op), by = sparseSwriteOpGetByValue(lowering->op);
  SparseWord words[6];
  packedWords(mlirValueGetType(inputs[0]), inputs[1], by, words);
  MlirValue grid = sparseDenseSize(lowering, inputs[0], 0);
  if (axis == 0)
    grid = tileBuildMin(b, grid, tileBuildMul(b, sparseDenseSize(lowering, inputs[1], 0), tileBuildIndex(b, by)));
  MlirValue written = sparseLaunch(lowering, axis ? "swrite_columns" : "swrite_rows", words, 1, &grid, 2, inputs,
                                   lowering->operands[1].values[0]);
  *result = (SparseResult){{written}, 1};
  return !mlirValueIsNull(written);
}
