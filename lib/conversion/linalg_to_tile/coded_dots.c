// Scaled sums of products of integers, rows of i8 by codes (lib/analysis/low_bit/dots.h): W4A8 and its kin in one
// kernel.
//   dots[m, n, g] = sum over t, k of x[m, g, t, k] · (code[n, g, k; t] + zero[n, g])
//   c[m, n] += f(dots[m, n, g], …)                       for each g in order
//
// A program owns a block of rows by a block of columns. templates/ has its parts: pack_rows_of_dots.mlir, then
// dots_of_few_rows.mlir or dots_of_many_rows.mlir; here is what their hooks build. Codes become unsigned bytes, which
// are multiplied by x: tile.reduce of the products of four neighbours, vpdpbusd. Then f is computed as the program has
// it.
//
// Zeros do not change along k: they are multiplied by the sum of x of the group. Signed codes get 128 added and lose it
// as a zero. Expects: a structured op without a schedule that tileStructuredMatchScaledDots takes. Leaves: its kernel
// and launch, and the op of the dots without a user. Sizes: the rows of x fill half of L2.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/fusion.h"
#include "lib/analysis/low_bit/dots.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"
#include "lib/conversion/linalg_to_tile/templates.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/tensor.h"

#include <assert.h>

enum {
  Square = 16, // lanes of i32, and columns that are turned at a time
  Bytes = TileDotsVector,
  MostColumns = 128, // of a program; of many rows, which cost more to pack, more
  MostWide = 512,
  MostRows = 128,
  UnknownRows = 64,
  Four = 4,
  Words = Bytes / Four, // of a vector
  FewRows = 4,
  ManyRows = 8,
  MostVectors = 24,     // of sums: rows that share what is loaded of the codes, times vectors of columns
  MostTogether = 16,    // of these rows
  ManyColumns = 32,     // columns that share a word of a row, of many rows
  MostTurned = 32 << 10 // bytes of a round's turned codes
};

//===--- the op of the kernel -------------------------------------------------------------------===//

// Both ops as one: the dims of the sum, then the parts, what lies side by side in x, and bytes of codes.
typedef struct Program {
  TileKernelEmission *e;
  const TileScaledDots *scaled;
  const TileDots *d;
  TileStructured s;         // the whole
  int m, n, g, t, k, bytes; // dimensions; t -1: none
  int codes, x;             // operands
  int ofDots[MaxOperands];  // operand for each input of the dots
  int64_t rows, columns;
  int64_t piece, pieces, groupsAtOnce; // bytes of a group in one vector of codes, vectors of a group, groups in one
  int64_t together;                    // rows at once; 1: few rows, one after the other
  int64_t side;                        // columns at once
  bool isZeroUniform;                  // zeros, with 128 for signed codes, are the number `zero` everywhere
  int64_t zero;
  MlirValue packed, sums, unpacked, results; // buffers
  MlirValue laid[MaxOperands];               // of operands over n and g: groups × columns; null: read as they lie
  MlirValue first[2], here[2];
} Program;

// The codes with groups and what lies side by side as one axis.
static MlirValue collapsedCodes(TileBuilder *b, const TileDots *d) {
  MlirValue codes = d->s.operands[d->codes].value;
  MlirType type = mlirValueGetType(codes), i64 = mlirIntegerTypeGet(b->context, 64);
  int64_t shape[2] = {mlirShapedTypeGetDimSize(type, 0), d->groups * d->run};
  MlirAttribute axes[3], groups[2];
  for (int i = 0; i < 3; ++i)
    axes[i] = mlirIntegerAttrGet(i64, i);
  groups[0] = mlirArrayAttrGet(b->context, 1, axes);
  groups[1] = mlirArrayAttrGet(b->context, 2, axes + 1);
  MlirType flat = mlirRankedTensorTypeGet(2, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  return tensorCollapseShapeOpBuild(b, flat, codes, mlirArrayAttrGet(b->context, 2, groups));
}

static int addDim(TileStructured *s, int64_t extent) {
  s->dims[s->numDims] = (TileDim){.isReduction = true, .extent = extent, .tile = 1, .panels = 1, .axis = -1};
  return s->numDims++;
}

// Adds the inputs of the dots; x takes the place of the dots themselves.
static void addInputs(Program *p) {
  const TileDots *d = p->d;
  TileStructured *s = &p->s;
  int to[MaxDims];
  TileOperand output = s->operands[s->numInputs];
  to[d->m] = p->m;
  to[d->n] = p->n;
  to[d->g] = p->g;
  to[d->k] = p->k;
  if (d->t >= 0)
    to[d->t] = p->t;
  for (int i = 0; i < d->s.numInputs; ++i) {
    p->ofDots[i] = i == d->x ? p->scaled->input : s->numInputs++;
    s->operands[p->ofDots[i]] = d->s.operands[i];
    tileOperandRenumber(&s->operands[p->ofDots[i]], to, d->s.numDims);
  }
  s->operands[s->numInputs] = output;
  p->codes = p->ofDots[d->codes];
  p->x = p->ofDots[d->x];
}

static bool unite(Program *p, const TileStructured *sum, const TileEpilogue *epilogue) {
  const TileDots *d = p->d;
  if (sum->numInputs + d->s.numInputs + (epilogue ? epilogue->elementwise->numInputs : 0) > MaxOperands - 1 ||
      sum->numDims + 3 > MaxDims)
    return false;
  TileBuilder host = tileBuilderBefore(sum->op);
  p->s = tileStructuredCopy(sum, d->s.numInputs);
  p->m = p->scaled->m;
  p->n = p->scaled->n;
  p->g = p->scaled->g;
  p->t = d->t >= 0 ? addDim(&p->s, d->parts) : -1;
  p->k = addDim(&p->s, d->run);
  p->bytes = addDim(&p->s, d->groups * d->run);
  addInputs(p);
  TileOperand *codes = &p->s.operands[p->codes];
  *codes = (TileOperand){.value = collapsedCodes(&host, d), .isTensor = true, .rank = 2};
  tileOperandSetAxis(codes, 0, p->n);
  tileOperandSetAxis(codes, 1, p->bytes);
  tileStructuredNoteExtents(&p->s);
  return true;
}

// Rows that are multiplied together, so that few of the last ones are padding. 1: row after row. Then codes are made
// again for each row, which pays for few rows, if the codes of 16 columns stay in L1, and where the turned codes of a
// round would leave it.
static int64_t rowsTogether(const Program *p, int64_t rows) {
  int64_t codes = Square * p->d->groups * p->d->run, best = ManyRows;
  if (rows == 1 || p->pieces * p->d->parts * p->side * Bytes > MostTurned ||
      (rows <= FewRows && codes <= p->s.target->search.levels[0].bytes))
    return 1;
  if (rows < ManyRows)
    return rows;
  for (int64_t some = ManyRows; some <= MostTogether && some * p->side <= MostVectors * Square; ++some)
    if (tessera_round_up(rows, some) <= tessera_round_up(rows, best))
      best = some;
  return best;
}

// Columns of a program: packing its rows costs less beside many, but each core has several programs.
static int64_t columnsOf(const Program *p, int64_t rows) {
  enum { ProgramsPerCore = 4 };
  int64_t cores = tessera_max(1, p->s.target->search.cores), blocks = tessera_ceil_div(rows, p->rows);
  int64_t share = p->s.dims[p->n].extent * blocks / (ProgramsPerCore * cores) / ManyColumns * ManyColumns;
  return p->rows < ManyRows ? MostColumns : tessera_max(MostColumns, tessera_min(MostWide, share));
}

static void setSizes(Program *p) {
  const TileSearchTarget *target = &p->s.target->search;
  int64_t l2 = target->levels[target->numLevels > 1 ? 1 : 0].bytes, rows = p->s.dims[p->m].extent;
  int64_t depth = p->d->groups * p->d->run * p->d->parts;
  if (mlirShapedTypeIsDynamicSize(rows))
    rows = UnknownRows;
  p->rows = tessera_max(1, tessera_min(tessera_min(rows, MostRows), l2 / 2 / depth));
  p->piece = tessera_min(p->d->run, Bytes);
  p->pieces = p->d->run / p->piece;
  p->groupsAtOnce = Bytes / p->piece;
  p->side = tessera_round_up(p->s.dims[p->n].extent, Square) % ManyColumns ? Square : ManyColumns;
  p->together = rowsTogether(p, p->rows);
  if (p->together == 1)
    p->side = Square;
  p->rows = p->rows < rows ? p->rows / p->together * p->together : tessera_round_up(p->rows, p->together);
  p->columns = tessera_min(columnsOf(p, rows), tessera_round_up(p->s.dims[p->n].extent, p->side));
  tileProductSetTile(&p->s, p->m, 0, p->rows, 1);
  tileProductSetTile(&p->s, p->n, 1, p->columns, 1);
}

static void readZero(Program *p) {
  p->isZeroUniform = true;
  p->zero = p->d->isSigned ? INT8_MIN : 0;
  for (int i = 0; i < p->d->numZeros; ++i) {
    int64_t zero;
    p->isZeroUniform = p->isZeroUniform && tileConstantIndex(p->d->zeros[i], &zero);
    if (p->isZeroUniform)
      p->zero += p->d->isSubtracted[i] ? -zero : zero;
  }
}

static bool hasSums(const Program *p) { return p->d->numZeros || p->d->isSigned; }

//===--- tiles ----------------------------------------------------------------------------------===//

static MlirType tileOf(int rank, const int64_t *shape, MlirType element) {
  return tileTileTypeGet(rank, shape, element, mlirAttributeGetNull());
}

static MlirType i32(const Program *p) { return mlirIntegerTypeGet(p->e->body.context, 32); }

static MlirValue reshaped(Program *p, MlirValue tile, int rank, const int64_t *shape) {
  return tileReshapeOpBuild(&p->e->body, tileOf(rank, shape, tileTypeGetElement(mlirValueGetType(tile))), tile);
}

static MlirValue recast(Program *p, MlirValue tile, int rank, const int64_t *shape, unsigned width) {
  return tileBitcastOpBuild(&p->e->body, tileOf(rank, shape, mlirIntegerTypeGet(p->e->body.context, width)), tile);
}

// Tiles have an axis for these two dimensions (-1: none) from here on, of these sizes; the body is this one.
static void over(Program *p, TileStructured *view, MlirBlock body, int first, int64_t size, int second, int64_t other) {
  *view = tileStructuredOver(&p->s, first, second);
  view->body = body;
  for (int d = 0; d < view->numDims; ++d)
    view->dims[d].tile = d == first ? size : d == second ? other : 1;
  p->e->structured = view;
}

// The tile of `size` along m or n that begins with row or column `at` of the program.
static void setIndex(Program *p, int dim, MlirValue at, int64_t size) {
  at = tileBuildAdd(&p->e->body, p->first[dim == p->n], at);
  at = arithDivUIOpBuild(&p->e->body, at, tileBuildIndex(&p->e->body, size));
  p->e->index[dim] = tileKernelAssumeTile(p->e, at, dim, size);
}

static void setGroup(Program *p, MlirValue group) {
  p->e->index[p->g] = tileKernelAssumeBelow(p->e, group, p->d->groups);
}

// The tile of vector `vector` of the codes of 16 columns.
static void overCodes(Program *p, TileStructured *view, MlirValue column, MlirValue vector) {
  over(p, view, p->d->s.body, p->n, Square, p->bytes, Bytes);
  setIndex(p, p->n, column, Square);
  p->e->index[p->bytes] = tileKernelAssumeBelow(p->e, vector, p->d->groups * p->d->run / Bytes);
}

// What f computes on: the rows together, if they are several, by 16 columns.
static void overTerms(Program *p, TileStructured *view, MlirValue row, MlirValue column, MlirValue group) {
  if (p->together > 1)
    over(p, view, p->s.body, p->m, p->together, p->n, p->side);
  else
    over(p, view, p->s.body, p->n, Square, -1, 0);
  setIndex(p, p->m, row, p->together);
  setIndex(p, p->n, column, p->side);
  setGroup(p, group);
}

static MlirType termType(const Program *p, MlirType element) {
  int64_t shape[2] = {p->together, p->side};
  return p->together > 1 ? tileOf(2, shape, element) : tileOf(1, shape + 1, element);
}

// `count` elements of a buffer's row, from `column` on (null: 0), as a tile without an axis for the row.
static MlirValue loadRow(Program *p, MlirValue buffer, int64_t count, MlirValue row, MlirValue column) {
  return reshaped(p, tileKernelLoadBuffer(p->e, tileKernelSlice(p->e, buffer, 1, count, row, column)), 1, &count);
}

//===--- x --------------------------------------------------------------------------------------===//

// Bytes of a row, a group, a piece and a part.
static MlirValue buildX(Program *p, const MlirValue *at) {
  TileStructured view;
  over(p, &view, p->s.body, p->k, p->piece, -1, 0);
  setIndex(p, p->m, at[0], 1);
  setGroup(p, at[1]);
  p->e->index[p->k] = tileKernelAssumeBelow(p->e, at[2], p->pieces);
  if (p->t >= 0)
    p->e->index[p->t] = tileKernelAssumeBelow(p->e, at[3], p->d->parts);
  return tileKernelLoad(p->e, p->x, NULL, false);
}

// Keeps the sum of a row's group, if zeros need it; of one zero for all, times this zero.
static MlirValue buildKeep(Program *p, const MlirValue *at) {
  if (!hasSums(p))
    return (MlirValue){NULL};
  MlirValue sum = tileKernelFold(p->e, tileUpstreamName(ArithOp_AddI), at[2], i32(p), 1, (int64_t[]){0});
  if (p->isZeroUniform)
    sum = arithMulIOpBuild(&p->e->body, sum, tileBuildInteger(&p->e->body, i32(p), p->zero));
  MlirValue one = tileKernelSplat(p->e, sum, tileOf(2, (int64_t[]){1, 1}, i32(p)));
  tileStoreOpBuild(&p->e->body, one, tileKernelSlice(p->e, p->sums, 1, 1, at[0], at[1]), 0, NULL);
  return (MlirValue){NULL};
}

// The row of the buffer that has the words of x for a vector of codes.
static MlirValue placeOfX(Program *p, MlirValue vector, MlirValue row) {
  MlirValue rows = tileBuildIndex(&p->e->body, p->rows);
  return tileBuildAdd(&p->e->body, tileBuildMul(&p->e->body, vector, rows), row);
}

//===--- what f reads ---------------------------------------------------------------------------===//

static bool isLaid(const Program *p, int operand) {
  const TileOperand *o = &p->s.operands[operand];
  return operand != p->codes && operand != p->x && o->isTensor && tileOperandUses(o, p->n) &&
         tileOperandUses(o, p->g) && !tileOperandUses(o, p->m);
}

// Copies, by groups, of what lies by columns.
static MlirValue buildBegin(Program *p, const MlirValue *at) {
  TileStructured view;
  MlirValue none = {NULL};
  over(p, &view, p->s.body, p->g, p->d->groups, p->n, p->side);
  setIndex(p, p->n, at[0], p->side);
  p->e->index[p->g] = tileBuildIndex(&p->e->body, 0);
  for (int i = 0; i < p->s.numInputs; ++i) {
    if (mlirValueIsNull(p->laid[i]))
      continue;
    MlirValue whole = tileKernelSlice(p->e, p->laid[i], p->d->groups, p->side, none, none);
    tileStoreOpBuild(&p->e->body, tileKernelLoadMatrix(p->e, i, (int[2]){p->g, p->n}), whole, 0, NULL);
  }
  return none;
}

static MlirValue loadNumbers(Program *p, int operand) {
  MlirValue none = {NULL};
  if (mlirValueIsNull(p->laid[operand]))
    return tileKernelLoad(p->e, operand, NULL, false);
  MlirValue columns = loadRow(p, p->laid[operand], p->side, p->e->index[p->g], none);
  MlirType type = termType(p, tileTypeGetElement(mlirValueGetType(columns)));
  return p->together > 1 ? tileKernelBroadcast(p->e, columns, type, 1, (int64_t[]){0}) : columns;
}

//===--- codes ----------------------------------------------------------------------------------===//

static bool isTable(const Program *p, int input) {
  return p->t >= 0 && input != p->d->x && tileOperandUses(&p->d->s.operands[input], p->d->t);
}

// 16 columns × 64 codes as unsigned bytes: part `part` of the current bytes (overCodes).
static MlirValue buildCodes(Program *p, int64_t part) {
  MlirType type = tileOf(2, (int64_t[]){Square, Bytes}, mlirIntegerTypeGet(p->e->body.context, 8));
  TileBodyMap map = {0};
  size_t size;
  for (int i = 0; i < p->d->s.numInputs; ++i) {
    MlirValue argument = mlirBlockGetArgument(p->d->s.body, i);
    if (i == p->d->codes)
      tileBodyMapSet(&map, argument, tileKernelLoad(p->e, p->codes, NULL, false));
    else if (isTable(p, i))
      tileBodyMapSet(
          &map, argument,
          tileBuildInteger(&p->e->body, type, (int8_t)tileOperandConstantBytes(&p->d->s.operands[i], &size)[part]));
  }
  MlirValue codes = tileKernelCloneValue(p->e, &map, p->d->code);
  return p->d->isSigned ? arithXOrIOpBuild(&p->e->body, codes, tileBuildInteger(&p->e->body, type, INT8_MIN)) : codes;
}

// sums + unsigned · signed bytes, by fours: rows × lanes.
static MlirValue addFours(Program *p, MlirValue sums, MlirValue codes, MlirValue x, int64_t rows, int64_t lanes) {
  int64_t shape[3] = {rows, lanes, Four};
  MlirType wide = tileOf(3, shape, i32(p));
  codes = arithExtUIOpBuild(&p->e->body, wide, reshaped(p, codes, 3, shape));
  x = arithExtSIOpBuild(&p->e->body, wide, reshaped(p, x, 3, shape));
  MlirValue own = tileKernelFold(p->e, tileUpstreamName(ArithOp_AddI), arithMulIOpBuild(&p->e->body, codes, x),
                                 tileOf(2, shape, i32(p)), 1, (int64_t[]){2});
  return arithAddIOpBuild(&p->e->body, sums, own);
}

//===--- sums -----------------------------------------------------------------------------------===//

// Zeros, and 128 for signed codes, as a tile.
static MlirValue buildZero(Program *p) {
  const TileStructured *before = p->e->structured;
  TileStructured view = *before;
  MlirType type = termType(p, i32(p));
  MlirValue sum = tileBuildInteger(&p->e->body, type, p->d->isSigned ? INT8_MIN : 0);
  TileBodyMap map = {0};
  view.body = p->d->s.body;
  p->e->structured = &view;
  for (int i = 0; i < p->d->s.numInputs; ++i) {
    MlirValue argument = mlirBlockGetArgument(p->d->s.body, i);
    if (i != p->d->x && i != p->d->codes && !isTable(p, i) && !mlirOpOperandIsNull(mlirValueGetFirstUse(argument)))
      tileBodyMapSet(&map, argument, loadNumbers(p, p->ofDots[i]));
  }
  for (int i = 0; i < p->d->numZeros; ++i) {
    MlirValue zero = tileKernelCloneValue(p->e, &map, p->d->zeros[i]);
    if (!mlirTypeEqual(mlirValueGetType(zero), type))
      zero = arithExtSIOpBuild(&p->e->body, type, zero);
    sum = p->d->isSubtracted[i] ? arithSubIOpBuild(&p->e->body, sum, zero) : arithAddIOpBuild(&p->e->body, sum, zero);
  }
  p->e->structured = before;
  return sum;
}

// The zero times the sums of the rows' x in this group; 0 where there is none.
static MlirValue buildZeros(Program *p, MlirValue row) {
  MlirType type = termType(p, i32(p));
  if (!hasSums(p))
    return tileBuildInteger(&p->e->body, type, 0);
  MlirValue x = tileKernelLoadBuffer(p->e, tileKernelSlice(p->e, p->sums, p->together, 1, row, p->e->index[p->g]));
  x = reshaped(p, x, 1, &p->together);
  if (p->together > 1)
    x = tileKernelBroadcast(p->e, x, type, 1, (int64_t[]){1});
  else
    x = tileKernelSplat(p->e, tileKernelFold(p->e, tileUpstreamName(ArithOp_AddI), x, i32(p), 1, (int64_t[]){0}), type);
  return p->isZeroUniform ? x : arithMulIOpBuild(&p->e->body, buildZero(p), x);
}

// f for one group.
static MlirValue buildTerm(Program *p, MlirValue dots) {
  TileBodyMap map = {0};
  for (int i = 0; i < (int)mlirBlockGetNumArguments(p->s.body) - 1; ++i) {
    MlirValue argument = mlirBlockGetArgument(p->s.body, i);
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(argument)))
      tileBodyMapSet(&map, argument, i == p->scaled->input ? dots : loadNumbers(p, i));
  }
  return tileKernelCloneValue(p->e, &map, p->scaled->folded);
}

// What the output starts from and the sums, for 16 columns, and the result of them.
static MlirValue buildEnd(Program *p, const MlirValue *at) {
  TileStructured view;
  over(p, &view, p->s.body, p->m, p->rows, p->n, p->side);
  setIndex(p, p->n, at[0], p->side);
  MlirValue sum = tileProductAddInitial(p->e, tileKernelLoadBuffer(p->e, p->results));
  tileKernelStore(p->e, p->s.numInputs, tileKernelResult(p->e, sum));
  return (MlirValue){NULL};
}

//===--- few rows -------------------------------------------------------------------------------===//

// Takes a row, a column and a vector of codes, whose parts are made in registers.
static MlirValue buildProductsOfRow(Program *p, const MlirValue *at) {
  TileStructured view;
  MlirType whole = tileOf(2, (int64_t[]){Square, Bytes}, mlirIntegerTypeGet(p->e->body.context, 8));
  MlirValue sums = at[3];
  overCodes(p, &view, at[1], at[2]);
  for (int64_t part = 0; part < p->d->parts; ++part) {
    MlirValue codes = buildCodes(p, part), word = tileBuildIndex(&p->e->body, part * Words);
    MlirValue x = loadRow(p, p->packed, Words, placeOfX(p, at[2], at[0]), word);
    x = tileKernelBroadcast(p->e, recast(p, x, 1, (int64_t[]){Bytes}, 8), whole, 1, (int64_t[]){0});
    sums = addFours(p, sums, codes, x, Square, Words);
  }
  return sums;
}

// Takes a row, a column and a round; adds the groups' terms in order.
static MlirValue buildTermsOfRow(Program *p, const MlirValue *at) {
  MlirValue result = at[4], group = tileBuildMul(&p->e->body, at[2], tileBuildIndex(&p->e->body, p->groupsAtOnce));
  MlirType row = tileOf(2, (int64_t[]){1, Square}, i32(p));
  for (int64_t i = 0; i < p->groupsAtOnce; ++i) {
    TileStructured view;
    overTerms(p, &view, at[0], at[1], tileBuildAdd(&p->e->body, group, tileBuildIndex(&p->e->body, i)));
    MlirAttribute offsets = mlirDenseI64ArrayGet(p->e->body.context, 2, (int64_t[]){i, 0});
    MlirValue dots = p->groupsAtOnce > 1 ? tileSliceOpBuild(&p->e->body, row, at[3], 0, NULL, offsets) : at[3];
    dots = arithAddIOpBuild(&p->e->body, reshaped(p, dots, 1, (int64_t[]){Square}), buildZeros(p, at[0]));
    result = arithAddFOpBuild(&p->e->body, result, buildTerm(p, dots));
  }
  return result;
}

//===--- many rows ------------------------------------------------------------------------------===//

// Takes a column, a vector of codes and the vector's place in the round; lays words of each column below each other.
// Asks for the codes of the next round: rows that are many hide the wait, but no prefetcher of the hardware follows 16
// columns that are read so slowly.
static MlirValue buildTurn(Program *p, const MlirValue *at) {
  MlirValue none = {NULL}, next = tileBuildAdd(&p->e->body, at[1], tileBuildIndex(&p->e->body, p->pieces));
  for (int64_t column = 0; column < p->side; column += Square) {
    TileStructured view;
    MlirValue first = tileBuildIndex(&p->e->body, column);
    overCodes(p, &view, tileBuildAdd(&p->e->body, at[0], first), at[1]);
    for (int64_t part = 0; part < p->d->parts; ++part) {
      MlirValue row = tileBuildMul(&p->e->body, at[2], tileBuildIndex(&p->e->body, p->d->parts * Words));
      row = tileBuildAdd(&p->e->body, row, tileBuildIndex(&p->e->body, part * Words));
      MlirValue words = recast(p, buildCodes(p, part), 2, (int64_t[]){Square, Words}, 32);
      MlirValue place = tileKernelSlice(p->e, p->unpacked, Words, Square, row, column ? first : none);
      tileStoreOpBuild(&p->e->body, tileKernelSwapped(p->e, words), place, 0, NULL);
    }
    p->e->index[p->bytes] = next;
    tileKernelPrefetch(p->e, p->codes, false);
  }
  return none;
}

static MlirValue buildStart(Program *p, const MlirValue *at) {
  TileStructured view;
  overTerms(p, &view, at[0], at[1], at[2]);
  return buildZeros(p, at[0]);
}

// Takes rows, the round's first vector, the number of a part of a piece, and a group's place in the vector.
static MlirValue buildProductsOfRows(Program *p, const MlirValue *at) {
  int64_t words = p->piece / Four, bytes[2] = {p->together, p->side * Four};
  MlirType spread = termType(p, i32(p));
  MlirValue sums = at[4], parts = tileBuildIndex(&p->e->body, p->d->parts), all = tileBuildIndex(&p->e->body, Words);
  MlirValue number = tileKernelAssumeBelow(p->e, at[2], p->pieces * p->d->parts), none = {NULL};
  MlirValue vector = tileBuildAdd(&p->e->body, at[1], arithDivUIOpBuild(&p->e->body, number, parts));
  MlirValue row = placeOfX(p, vector, at[0]), part = arithRemUIOpBuild(&p->e->body, number, parts);
  MlirValue begin = tileBuildMul(&p->e->body, at[3], tileBuildIndex(&p->e->body, words));
  MlirValue ofX = tileBuildAdd(&p->e->body, tileBuildMul(&p->e->body, part, all), begin);
  MlirValue ofCodes = tileBuildAdd(&p->e->body, tileBuildMul(&p->e->body, number, all), begin);
  for (int64_t word = 0; word < words; ++word) {
    MlirValue by = tileBuildIndex(&p->e->body, word);
    MlirValue codes = loadRow(p, p->unpacked, p->side, tileBuildAdd(&p->e->body, ofCodes, by), none);
    MlirValue column = tileBuildAdd(&p->e->body, ofX, by);
    MlirValue x = tileKernelLoadBuffer(p->e, tileKernelSlice(p->e, p->packed, p->together, 1, row, column));
    codes = tileKernelBroadcast(p->e, codes, spread, 1, (int64_t[]){0});
    x = tileKernelBroadcast(p->e, reshaped(p, x, 1, &p->together), spread, 1, (int64_t[]){1});
    sums = addFours(p, sums, recast(p, codes, 2, bytes, 8), recast(p, x, 2, bytes, 8), p->together, p->side);
  }
  return sums;
}

static MlirValue buildTermOfRows(Program *p, const MlirValue *at) {
  TileStructured view;
  overTerms(p, &view, at[0], at[1], at[2]);
  return buildTerm(p, at[3]);
}

//===--- the kernel -----------------------------------------------------------------------------===//

// The tiles and indices of the emission are the hook's until it returns.
static MlirValue inHook(TileBuilder *b, const void *program, const MlirValue *at,
                        MlirValue (*build)(Program *p, const MlirValue *at)) {
  Program *p = *(Program *const *)program;
  TileBuilder outer = p->e->body;
  TileKernelScope scope = tileKernelEnter(p->e, &p->s);
  p->e->body = *b;
  MlirValue value = build(p, at);
  tileKernelLeave(p->e, &scope);
  p->e->body = outer;
  return value;
}

#define HOOK(name, build)                                                                                              \
  static MlirValue name(TileBuilder *b, MlirType type, const MlirValue *at, const void *program) {                     \
    return inHook(b, program, at, build);                                                                              \
  }
HOOK(xHook, buildX)
HOOK(keepHook, buildKeep)
HOOK(beginHook, buildBegin)
HOOK(endHook, buildEnd)
HOOK(productsOfRowHook, buildProductsOfRow)
HOOK(termsOfRowHook, buildTermsOfRow)
HOOK(turnHook, buildTurn)
HOOK(startHook, buildStart)
HOOK(productsOfRowsHook, buildProductsOfRows)
HOOK(termOfRowsHook, buildTermOfRows)
#undef HOOK

static void makeBuffers(Program *p) {
  int64_t vectors = p->d->groups * p->d->run / Bytes;
  p->packed = tileProductBuffer(p->e, vectors * p->rows, p->d->parts * Words, i32(p));
  if (hasSums(p))
    p->sums = tileProductBuffer(p->e, p->rows, p->d->groups, i32(p));
  if (p->together > 1)
    p->unpacked = tileProductBuffer(p->e, p->pieces * p->d->parts * Words, p->side, i32(p));
  p->results = tileProductBuffer(p->e, p->rows, p->side, mlirF32TypeGet(p->e->body.context));
  for (int i = 0; i < p->s.numInputs; ++i)
    if (isLaid(p, i))
      p->laid[i] = tileProductBuffer(p->e, p->d->groups, p->side, tileOperandElementType(&p->s.operands[i]));
}

static TileTemplateUse usePacking(Program *const *p) {
  TileKernelEmission *e = (*p)->e;
  const TileDots *d = (*p)->d;
  int64_t words = (*p)->piece / Four;
  return tileUsePackRowsOfDots((TilePackRowsOfDots){.PACKED = mlirValueGetType((*p)->packed),
                                                    .PLACE = tileKernelBufferType(e, 1, words, i32(*p)),
                                                    .LINE = tileKernelBufferType(e, 1, d->parts * Words, i32(*p)),
                                                    .ROWS = (*p)->rows,
                                                    .GROUPS = d->groups,
                                                    .TOGETHER = (*p)->groupsAtOnce,
                                                    .VECTORS = d->groups * d->run / Bytes,
                                                    .PIECES = (*p)->pieces,
                                                    .PARTS = d->parts,
                                                    .BYTES = (*p)->piece,
                                                    .WORDS = words,
                                                    .WIDTH = d->parts * Words,
                                                    .x = {xHook, p},
                                                    .keep = {keepHook, p}});
}

static TileTemplateUse useDots(Program *const *p) {
  TileKernelEmission *e = (*p)->e;
  MlirType results = mlirValueGetType((*p)->results), f32 = mlirF32TypeGet(e->body.context);
  MlirType place = tileKernelBufferType(e, (*p)->together, (*p)->side, f32);
  int64_t rounds = (*p)->d->groups / (*p)->groupsAtOnce;
  if ((*p)->together > 1)
    return tileUseDotsOfManyRows((TileDotsOfManyRows){.RESULTS = results,
                                                      .PLACE = place,
                                                      .ROWS = (*p)->rows,
                                                      .SIDE = (*p)->together,
                                                      .COLUMNS = (*p)->side,
                                                      .ROUNDS = rounds,
                                                      .PIECES = (*p)->pieces,
                                                      .PARTS = (*p)->d->parts,
                                                      .TOGETHER = (*p)->groupsAtOnce,
                                                      .begin = {beginHook, p},
                                                      .turn = {turnHook, p},
                                                      .start = {startHook, p},
                                                      .multiply = {productsOfRowsHook, p},
                                                      .term = {termOfRowsHook, p},
                                                      .end = {endHook, p}});
  return tileUseDotsOfFewRows((TileDotsOfFewRows){.RESULTS = results,
                                                  .RESULT = place,
                                                  .ROUNDS = rounds,
                                                  .PIECES = (*p)->pieces,
                                                  .TOGETHER = (*p)->groupsAtOnce,
                                                  .LANES = Square / (*p)->groupsAtOnce,
                                                  .begin = {beginHook, p},
                                                  .multiply = {productsOfRowHook, p},
                                                  .add = {termsOfRowHook, p},
                                                  .end = {endHook, p}});
}

static void build(Program *p) {
  p->first[0] = tileProductBlockOf(p->e, p->m, p->rows, &p->here[0]);
  p->first[1] = tileProductBlockOf(p->e, p->n, p->columns, &p->here[1]);
  makeBuffers(p);
  // Rows behind the last one are multiplied with it.
  MlirValue all = p->here[0], together = tileBuildIndex(&p->e->body, p->together);
  if (p->together > 1)
    all = tileBuildMul(&p->e->body, tileBuildCeilDiv(&p->e->body, all, together), together);
  TileTemplateUse packing = usePacking(&p), dots = useDots(&p);
  bool isBuilt = tileTemplateInline(&p->e->body, &packing, (MlirValue[]){p->here[0], all, p->packed}, NULL) &&
                 tileTemplateInline(&p->e->body, &dots, (MlirValue[]){p->here[0], p->here[1], p->results}, NULL);
  assert(isBuilt && "templates are parsed when the tree is built");
  (void)isBuilt;
}

bool tileLowerScaledDots(TileStructured *s, const TileEpilogue *epilogue) {
  TileScaledDots scaled;
  if (!tileStructuredMatchScaledDots(s, &scaled))
    return false;
  Program *p = tileArenaAllocate(s->target->arena, sizeof *p);
  *p = (Program){.scaled = &scaled, .d = &scaled.dots};
  if (!unite(p, s, epilogue))
    return false;
  setSizes(p);
  readZero(p);
  TileOpKernel kernel;
  p->e = tileOpKernelBegin(&kernel, &p->s, epilogue, "coded_dots");
  build(p);
  tileKernelEnd(p->e);
  return true;
}
