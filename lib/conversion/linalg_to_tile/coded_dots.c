// Scaled sums of products of integers, rows of i8 by codes (lib/analysis/low_bit/dots.h): W4A8 and its kin in one
// kernel.
//   dots[m, n, g] = sum over t, k of x[m, g, t, k] · (code[n, g, k; t] + zero[n, g])
//   c[m, n] += f(dots[m, n, g], …)                       for each g in order
//
// A program owns a block of rows by a block of columns. It packs its rows of x so that what meets one part of 64 bytes
// of codes lies together. For 16 columns at a time it lays what f reads by groups; then it makes the codes of every
// part of a byte, as unsigned bytes, and multiplies them by x: tile.reduce of the products of four neighbours,
// vpdpbusd.
//   few rows    lanes run along k: a vector has the sums of four neighbours each. The lanes of 16 columns are added up
//   at
//               once, which gives a vector along n. Codes are made in registers; more rows than one share them in L1.
//   many rows   lanes run along n: codes are turned by words of four neighbours, once for all rows, and a word of x is
//               spread over the lanes. Up to 16 rows have their sums in registers.
// Both are exact. Then f is computed as the program has it.
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
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/tensor.h"

enum {
  Square = 16, // columns at a time, and lanes of i32
  Bytes = TileDotsVector,
  MostColumns = 128, // of a program; of many rows, which cost more to pack, more
  MostWide = 512,
  MostRows = 128,
  UnknownRows = 64,
  Four = 4,
  Words = Bytes / Four, // of a vector
  ManyRows = 8,
  MostTogether = 16,  // rows that share what is loaded of the codes
  MostUnrolled = 8,   // vectors of codes of one group
  MostKept = 32 << 10 // bytes of unpacked codes
};

//===--- the op of the kernel -------------------------------------------------------------------===//

// Both ops as one: the dims of the sum, then the parts, what lies side by side in x, and bytes of codes.
typedef struct Program {
  const TileScaledDots *scaled;
  const TileDots *d;
  TileStructured s;         // the whole
  int m, n, g, t, k, bytes; // dimensions; t -1: none
  int codes, x;             // operands
  int ofDots[MaxOperands];  // operand for each input of the dots
  int64_t rows, columns;
  int64_t piece, pieces, groupsAtOnce; // bytes of a group in one vector of codes, vectors of a group, groups in one
  int64_t vectors, together;           // vectors and parts of a group; rows at once, 1 of few rows
  bool isOneRow, areKept;              // codes are made once for all rows
  bool isZeroUniform;                  // zeros, with 128 for signed codes, are the number `zero` everywhere
  int64_t zero;
  MlirValue packed, sums, unpacked, results; // buffers
  MlirValue laid[MaxOperands];               // of operands over n and g: groups × columns; null: read as they lie
  MlirValue first[2], here[2], row, column;
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
  return !epilogue || tileStructuredAddEpilogue(&p->s, epilogue);
}

// Rows that are multiplied together, so that few of the last ones are padding.
static int64_t rowsTogether(int64_t rows) {
  int64_t best = ManyRows;
  for (int64_t some = ManyRows; some <= MostTogether; ++some)
    if (tessera_round_up(rows, some) <= tessera_round_up(rows, best))
      best = some;
  return best;
}

// Columns of a program: packing its rows costs less beside many, but each core has several programs.
static int64_t columnsOf(const Program *p, int64_t rows) {
  enum { ProgramsPerCore = 4 };
  int64_t cores = tessera_max(1, p->s.target->search.cores), blocks = tessera_ceil_div(rows, p->rows);
  int64_t share = p->s.dims[p->n].extent * blocks / (ProgramsPerCore * cores) / Square * Square;
  return p->rows < ManyRows ? MostColumns : tessera_max(MostColumns, tessera_min(MostWide, share));
}

static void setSizes(Program *p) {
  const TileSearchTarget *target = &p->s.target->search;
  int64_t l2 = target->levels[target->numLevels > 1 ? 1 : 0].bytes, rows = p->s.dims[p->m].extent;
  int64_t depth = p->d->groups * p->d->run * p->d->parts;
  p->isOneRow = rows == 1;
  if (mlirShapedTypeIsDynamicSize(rows))
    rows = UnknownRows;
  p->rows = tessera_max(1, tessera_min(tessera_min(rows, MostRows), l2 / 2 / depth));
  p->together = p->rows >= ManyRows ? rowsTogether(p->rows) : 1;
  p->rows = p->rows < rows ? p->rows / p->together * p->together : tessera_round_up(p->rows, p->together);
  p->columns = tessera_min(columnsOf(p, rows), tessera_round_up(p->s.dims[p->n].extent, Square));
  p->piece = tessera_min(p->d->run, Bytes);
  p->pieces = p->d->run / p->piece;
  p->groupsAtOnce = Bytes / p->piece;
  p->vectors = p->pieces * p->d->parts;
  p->areKept = !p->isOneRow && p->vectors * Square * Bytes <= MostKept;
  if (!p->areKept)
    p->together = 1;
  p->s.dims[p->m].tile = p->rows;
  p->s.dims[p->m].axis = 0;
  p->s.dims[p->n].tile = p->columns;
  p->s.dims[p->n].axis = 1;
}

//===--- tiles ----------------------------------------------------------------------------------===//

static MlirType tileOf(TileKernelEmission *e, int rank, const int64_t *shape, MlirType element) {
  (void)e;
  return tileTileTypeGet(rank, shape, element, mlirAttributeGetNull());
}

static MlirValue reshaped(TileKernelEmission *e, MlirValue tile, int rank, const int64_t *shape) {
  return tileReshapeOpBuild(&e->body, tileOf(e, rank, shape, tileTypeGetElement(mlirValueGetType(tile))), tile);
}

static MlirType i32(TileKernelEmission *e) { return mlirIntegerTypeGet(e->body.context, 32); }

// The op with an axis for these two dimensions (-1: none), whose tiles have these sizes.
static TileStructured view(const Program *p, MlirBlock body, int first, int64_t size, int second, int64_t other) {
  TileStructured v = tileStructuredOver(&p->s, first, second);
  v.body = body;
  for (int d = 0; d < v.numDims; ++d)
    v.dims[d].tile = d == first ? size : d == second ? other : 1;
  return v;
}

// The current 16 columns as a number of a tile; the current row; the rows together as a number of a tile.
static MlirValue squareOfColumns(TileKernelEmission *e, const Program *p) {
  MlirValue at = tileBuildAdd(&e->body, p->first[1], p->column);
  at = arithDivUIOpBuild(&e->body, at, tileBuildIndex(&e->body, Square));
  return tileKernelAssumeTile(e, at, p->n, Square);
}

static MlirValue rowOf(TileKernelEmission *e, const Program *p) {
  return tileKernelAssumeTile(e, tileBuildAdd(&e->body, p->first[0], p->row), p->m, 1);
}

static MlirValue tileOfRows(TileKernelEmission *e, const Program *p) {
  MlirValue at = tileBuildAdd(&e->body, p->first[0], p->row);
  at = arithDivUIOpBuild(&e->body, at, tileBuildIndex(&e->body, p->together));
  return tileKernelAssumeTile(e, at, p->m, p->together);
}

// `count` elements of a buffer's row, from `column` on, as a tile without an axis for the row.
static MlirValue loadRow(TileKernelEmission *e, MlirValue buffer, int64_t count, MlirValue row, MlirValue column) {
  MlirValue tile = tileKernelLoadBuffer(e, tileKernelSlice(e, buffer, 1, count, row, column));
  return reshaped(e, tile, 1, &count);
}

static void storeRow(TileKernelEmission *e, MlirValue tile, MlirValue buffer, int64_t count, MlirValue row,
                     MlirValue column) {
  int64_t shape[2] = {1, count};
  tileStoreOpBuild(&e->body, reshaped(e, tile, 2, shape), tileKernelSlice(e, buffer, 1, count, row, column), 0, NULL);
}

static MlirValue recast(TileKernelEmission *e, MlirValue tile, int rank, const int64_t *shape, unsigned width) {
  return tileBitcastOpBuild(&e->body, tileOf(e, rank, shape, mlirIntegerTypeGet(e->body.context, width)), tile);
}

//===--- x --------------------------------------------------------------------------------------===//

// Row of the buffer that has the words of x for vector `vector` of codes; rows follow each other.
static MlirValue placeOfX(TileKernelEmission *e, const Program *p, MlirValue vector) {
  return tileBuildAdd(&e->body, tileBuildMul(&e->body, vector, tileBuildIndex(&e->body, p->rows)), p->row);
}

// The vector of codes that begins the group, or has the group in it.
static MlirValue vectorOfGroup(TileKernelEmission *e, const Program *p, MlirValue group) {
  MlirValue pieces = tileBuildIndex(&e->body, p->pieces), atOnce = tileBuildIndex(&e->body, p->groupsAtOnce);
  return p->groupsAtOnce == 1 ? tileBuildMul(&e->body, group, pieces) : arithDivUIOpBuild(&e->body, group, atOnce);
}

// Packs one piece, at e->index; returns it as words if zeros need their sum.
static MlirValue packPiece(TileKernelEmission *e, const Program *p, MlirValue piece, int64_t part) {
  MlirValue vector = tileBuildAdd(&e->body, vectorOfGroup(e, p, e->index[p->g]), piece), none = {NULL};
  MlirValue word = tileBuildIndex(&e->body, part * Words);
  int64_t words = p->piece / Four;
  if (p->groupsAtOnce > 1) {
    MlirValue in = arithRemUIOpBuild(&e->body, e->index[p->g], tileBuildIndex(&e->body, p->groupsAtOnce));
    word = tileBuildAdd(&e->body, word, tileBuildMul(&e->body, in, tileBuildIndex(&e->body, words)));
  }
  e->index[p->k] = piece;
  if (p->t >= 0)
    e->index[p->t] = tileBuildIndex(&e->body, part);
  MlirValue tile = tileKernelLoad(e, p->x, NULL, false);
  storeRow(e, recast(e, tile, 1, &words, 32), p->packed, words, placeOfX(e, p, vector), word);
  if (mlirValueIsNull(p->sums))
    return none;
  return arithExtSIOpBuild(&e->body, tileOf(e, 1, &p->piece, i32(e)), tile);
}

static MlirValue packParts(TileKernelEmission *e, const Program *p, MlirValue piece, MlirValue sum) {
  for (int64_t part = 0; part < p->d->parts; ++part) {
    MlirValue own = packPiece(e, p, piece, part);
    if (!mlirValueIsNull(own))
      sum = arithAddIOpBuild(&e->body, sum, own);
  }
  return sum;
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

// Keeps the sum of a row's group; of one zero for all, times this zero.
static void packGroup(TileKernelEmission *e, const Program *p) {
  MlirValue sum = tileBuildInteger(&e->body, tileOf(e, 1, &p->piece, i32(e)), 0);
  TileKernelLoop loop;
  if (p->pieces == 1) {
    sum = packParts(e, p, tileBuildIndex(&e->body, 0), sum);
  } else {
    MlirValue piece = tileKernelOpenLoop(e, tileBuildIndex(&e->body, p->pieces), 1, 1, &sum, &loop);
    sum = packParts(e, p, tileKernelAssumeBelow(e, piece, p->pieces), sum);
    tileKernelCloseLoop(e, &loop);
  }
  if (mlirValueIsNull(p->sums))
    return;
  sum = tileKernelFold(e, tileUpstreamName(ArithOp_AddI), sum, i32(e), 1, (int64_t[]){0});
  if (p->isZeroUniform)
    sum = arithMulIOpBuild(&e->body, sum, tileBuildInteger(&e->body, i32(e), p->zero));
  MlirValue one = tileKernelSplat(e, sum, tileOf(e, 2, (int64_t[]){1, 1}, i32(e)));
  tileStoreOpBuild(&e->body, one, tileKernelSlice(e, p->sums, 1, 1, p->row, e->index[p->g]), 0, NULL);
}

static void packRows(TileKernelEmission *e, Program *p) {
  TileStructured v = view(p, p->s.body, p->k, p->piece, -1, 0);
  TileKernelLoop overRows, overGroups;
  TileKernelScope scope = tileKernelEnter(e, &v);
  p->row = tileKernelOpenLoop(e, p->here[0], 1, 0, NULL, &overRows);
  e->index[p->m] = rowOf(e, p);
  e->index[p->g] = tileKernelOpenLoop(e, tileBuildIndex(&e->body, p->d->groups), 1, 0, NULL, &overGroups);
  e->index[p->g] = tileKernelAssumeBelow(e, e->index[p->g], p->d->groups);
  packGroup(e, p);
  tileKernelCloseLoop(e, &overGroups);
  tileKernelCloseLoop(e, &overRows);
  tileKernelLeave(e, &scope);
}

static bool hasPaddedRows(const Program *p) {
  int64_t extent = p->s.dims[p->m].extent;
  return p->together > 1 && (mlirShapedTypeIsDynamicSize(extent) || extent % p->together);
}

static void storeZeros(TileKernelEmission *e, MlirValue buffer, int64_t columns, MlirValue row) {
  MlirValue none = {NULL}, zeros = tileBuildInteger(&e->body, tileOf(e, 2, (int64_t[]){1, columns}, i32(e)), 0);
  tileStoreOpBuild(&e->body, zeros, tileKernelSlice(e, buffer, 1, columns, row, none), 0, NULL);
}

// Zeros in the rows behind the last one, which are multiplied with it.
static void padRows(TileKernelEmission *e, Program *p) {
  TileKernelLoop overRows, overVectors;
  int64_t vectors = p->d->groups * p->d->run / Bytes;
  MlirValue together = tileBuildIndex(&e->body, p->together);
  MlirValue all = tileBuildMul(&e->body, tileBuildCeilDiv(&e->body, p->here[0], together), together);
  MlirValue number = tileKernelOpenLoop(e, tileBuildSub(&e->body, all, p->here[0]), 1, 0, NULL, &overRows);
  p->row = tileBuildAdd(&e->body, p->here[0], number);
  MlirValue vector = tileKernelOpenLoop(e, tileBuildIndex(&e->body, vectors), 1, 0, NULL, &overVectors);
  storeZeros(e, p->packed, p->d->parts * Words, placeOfX(e, p, vector));
  tileKernelCloseLoop(e, &overVectors);
  if (!mlirValueIsNull(p->sums))
    storeZeros(e, p->sums, p->d->groups, p->row);
  tileKernelCloseLoop(e, &overRows);
}

//===--- what f reads ---------------------------------------------------------------------------===//

static bool isLaid(const Program *p, int operand) {
  const TileOperand *o = &p->s.operands[operand];
  return operand != p->codes && operand != p->x && o->isTensor && tileOperandUses(o, p->n) &&
         tileOperandUses(o, p->g) && !tileOperandUses(o, p->m);
}

// Copies of the current columns, by groups, of what lies by columns.
static void layOperands(TileKernelEmission *e, Program *p) {
  TileStructured v = view(p, p->s.body, p->g, p->d->groups, p->n, Square);
  TileKernelScope scope = tileKernelEnter(e, &v);
  MlirValue none = {NULL};
  int dims[2] = {p->g, p->n};
  e->index[p->n] = squareOfColumns(e, p);
  e->index[p->g] = tileBuildIndex(&e->body, 0);
  for (int i = 0; i < tileStructuredNumOwnInputs(&p->s); ++i) {
    if (mlirValueIsNull(p->laid[i]))
      continue;
    MlirValue whole = tileKernelSlice(e, p->laid[i], p->d->groups, Square, none, none);
    tileStoreOpBuild(&e->body, tileKernelLoadMatrix(e, i, dims), whole, 0, NULL);
  }
  tileKernelLeave(e, &scope);
}

// A tile of what f computes on: 16 columns, of several rows an axis for these before.
static MlirType termType(TileKernelEmission *e, const Program *p, MlirType element) {
  int64_t shape[2] = {p->together, Square};
  return p->together > 1 ? tileOf(e, 2, shape, element) : tileOf(e, 1, shape + 1, element);
}

static MlirValue overRows(TileKernelEmission *e, const Program *p, MlirValue columns) {
  MlirType type = termType(e, p, tileTypeGetElement(mlirValueGetType(columns)));
  return p->together > 1 ? tileKernelBroadcast(e, columns, type, 1, (int64_t[]){0}) : columns;
}

static MlirValue loadNumbers(TileKernelEmission *e, const Program *p, int operand) {
  MlirValue none = {NULL};
  return mlirValueIsNull(p->laid[operand]) ? tileKernelLoad(e, operand, NULL, false)
                                           : overRows(e, p, loadRow(e, p->laid[operand], Square, e->index[p->g], none));
}

//===--- codes ----------------------------------------------------------------------------------===//

static bool isTable(const Program *p, int input) {
  return p->t >= 0 && input != p->d->x && tileOperandUses(&p->d->s.operands[input], p->d->t);
}

// 16 columns × 64 codes as unsigned bytes: part `part` of the bytes at e->index[p->bytes].
static MlirValue buildCodes(TileKernelEmission *e, const Program *p, int64_t part) {
  TileStructured v = view(p, p->d->s.body, p->n, Square, p->bytes, Bytes);
  const TileStructured *before = e->structured;
  MlirType type = tileOf(e, 2, (int64_t[]){Square, Bytes}, mlirIntegerTypeGet(e->body.context, 8));
  TileBodyMap map = {0};
  size_t size;
  e->structured = &v;
  for (int i = 0; i < p->d->s.numInputs; ++i) {
    MlirValue argument = mlirBlockGetArgument(p->d->s.body, i);
    if (i == p->d->codes)
      tileBodyMapSet(&map, argument, tileKernelLoad(e, p->codes, NULL, false));
    else if (isTable(p, i))
      tileBodyMapSet(
          &map, argument,
          tileBuildInteger(&e->body, type, (int8_t)tileOperandConstantBytes(&p->d->s.operands[i], &size)[part]));
  }
  MlirValue codes = tileKernelCloneValue(e, &map, p->d->code);
  if (p->d->isSigned)
    codes = arithXOrIOpBuild(&e->body, codes, tileBuildInteger(&e->body, type, INT8_MIN));
  e->structured = before;
  return codes;
}

// Bytes as sums of fours see them.
static MlirValue inFours(TileKernelEmission *e, MlirValue bytes, int64_t rows, bool isUnsigned) {
  int64_t shape[3] = {rows, Square, Four};
  MlirValue fours = reshaped(e, bytes, 3, shape);
  MlirType wide = tileOf(e, 3, shape, i32(e));
  return isUnsigned ? arithExtUIOpBuild(&e->body, wide, fours) : arithExtSIOpBuild(&e->body, wide, fours);
}

// sums + unsigned · signed bytes: rows × 16 lanes.
static MlirValue addFours(TileKernelEmission *e, MlirValue sums, MlirValue codes, MlirValue x, int64_t rows) {
  MlirValue products = arithMulIOpBuild(&e->body, inFours(e, codes, rows, true), inFours(e, x, rows, false));
  MlirType lanes = tileOf(e, 2, (int64_t[]){rows, Square}, i32(e));
  MlirValue own = tileKernelFold(e, tileUpstreamName(ArithOp_AddI), products, lanes, 1, (int64_t[]){2});
  return mlirValueIsNull(sums) ? own : arithAddIOpBuild(&e->body, sums, own);
}

// sums + codes · x: 16 columns × 16 lanes.
static MlirValue addVector(TileKernelEmission *e, const Program *p, MlirValue sums, MlirValue codes, MlirValue vector,
                           int64_t part) {
  MlirType whole = tileOf(e, 2, (int64_t[]){Square, Bytes}, mlirIntegerTypeGet(e->body.context, 8));
  int64_t bytes = Bytes;
  MlirValue x = loadRow(e, p->packed, Words, placeOfX(e, p, vector), tileBuildIndex(&e->body, part * Words));
  x = tileKernelBroadcast(e, recast(e, x, 1, &bytes, 8), whole, 1, (int64_t[]){0});
  return addFours(e, sums, codes, x, Square);
}

// Calls addVector for each part of the vector of codes.
static MlirValue addParts(TileKernelEmission *e, Program *p, MlirValue sums, MlirValue first, MlirValue piece) {
  MlirValue vector = tileBuildAdd(&e->body, first, piece), none = {NULL};
  e->index[p->bytes] = tileKernelAssumeBelow(e, vector, p->d->groups * p->d->run / Bytes);
  for (int64_t part = 0; part < p->d->parts; ++part) {
    MlirValue codes;
    if (p->areKept) {
      MlirValue at = tileBuildMul(&e->body, piece, tileBuildIndex(&e->body, p->d->parts * Square));
      at = tileBuildAdd(&e->body, at, tileBuildIndex(&e->body, part * Square));
      codes = tileKernelLoadBuffer(e, tileKernelSlice(e, p->unpacked, Square, Words, at, none));
      codes = recast(e, codes, 2, (int64_t[]){Square, Bytes}, 8);
    } else {
      codes = buildCodes(e, p, part);
    }
    sums = addVector(e, p, sums, codes, vector, part);
  }
  return sums;
}

// The sums of the group's (groups') products, for each of 16 columns and lanes.
static MlirValue sumOfLanes(TileKernelEmission *e, Program *p, MlirValue first) {
  MlirValue sums = {NULL};
  TileKernelLoop loop;
  if (p->vectors <= MostUnrolled) {
    for (int64_t piece = 0; piece < p->pieces; ++piece)
      sums = addParts(e, p, sums, first, tileBuildIndex(&e->body, piece));
    return sums;
  }
  sums = tileBuildInteger(&e->body, tileOf(e, 2, (int64_t[]){Square, Square}, i32(e)), 0);
  MlirValue piece = tileKernelOpenLoop(e, tileBuildIndex(&e->body, p->pieces), 1, 1, &sums, &loop);
  sums = addParts(e, p, sums, first, tileKernelAssumeBelow(e, piece, p->pieces));
  tileKernelCloseLoop(e, &loop);
  return sums;
}

// Unpacks the codes of the group (the groups) for all rows.
static void keepCodes(TileKernelEmission *e, const Program *p, MlirValue first) {
  MlirValue none = {NULL};
  int64_t square[2] = {Square, Words};
  for (int64_t piece = 0; piece < p->pieces; ++piece) {
    MlirValue vector = tileBuildAdd(&e->body, first, tileBuildIndex(&e->body, piece));
    e->index[p->bytes] = tileKernelAssumeBelow(e, vector, p->d->groups * p->d->run / Bytes);
    for (int64_t part = 0; part < p->d->parts; ++part) {
      MlirValue at = tileBuildIndex(&e->body, (piece * p->d->parts + part) * Square);
      MlirValue place = tileKernelSlice(e, p->unpacked, Square, Words, at, none);
      MlirValue codes = recast(e, buildCodes(e, p, part), 2, square, 32);
      if (p->together > 1) // words of each column below each other
        codes = tileKernelSwapped(e, codes);
      tileStoreOpBuild(&e->body, codes, place, 0, NULL);
    }
  }
}

// Asks for the codes of the next group (groups): rows that are many hide the wait, but no prefetcher of the hardware
// follows 16 columns that are read so slowly.
static void prefetchCodes(TileKernelEmission *e, const Program *p, MlirValue first) {
  TileStructured v = view(p, p->d->s.body, p->n, Square, p->bytes, Bytes);
  TileKernelScope scope = tileKernelEnter(e, &v);
  for (int64_t piece = 0; piece < p->pieces; ++piece) {
    e->index[p->bytes] = tileBuildAdd(&e->body, first, tileBuildIndex(&e->body, p->pieces + piece));
    tileKernelPrefetch(e, p->codes, false);
  }
  tileKernelLeave(e, &scope);
}

//===--- sums -----------------------------------------------------------------------------------===//

// Zeros, and 128 for signed codes, as a tile.
static MlirValue buildZero(TileKernelEmission *e, const Program *p) {
  const TileStructured *before = e->structured;
  TileStructured v = *before;
  MlirType type = termType(e, p, i32(e));
  MlirValue sum = tileBuildInteger(&e->body, type, p->d->isSigned ? INT8_MIN : 0);
  TileBodyMap map = {0};
  v.body = p->d->s.body;
  e->structured = &v;
  for (int i = 0; i < p->d->s.numInputs; ++i) {
    MlirValue argument = mlirBlockGetArgument(p->d->s.body, i);
    if (i != p->d->x && i != p->d->codes && !isTable(p, i) && !mlirOpOperandIsNull(mlirValueGetFirstUse(argument)))
      tileBodyMapSet(&map, argument, loadNumbers(e, p, p->ofDots[i]));
  }
  for (int i = 0; i < p->d->numZeros; ++i) {
    MlirValue zero = tileKernelCloneValue(e, &map, p->d->zeros[i]);
    if (!mlirTypeEqual(mlirValueGetType(zero), type))
      zero = arithExtSIOpBuild(&e->body, type, zero);
    sum = p->d->isSubtracted[i] ? arithSubIOpBuild(&e->body, sum, zero) : arithAddIOpBuild(&e->body, sum, zero);
  }
  e->structured = before;
  return sum;
}

// The zero times the sum of the row's x in this group; null where there is none.
static MlirValue buildZeros(TileKernelEmission *e, const Program *p) {
  MlirType type = termType(e, p, i32(e));
  if (mlirValueIsNull(p->sums))
    return p->sums;
  MlirValue x = tileKernelLoadBuffer(e, tileKernelSlice(e, p->sums, p->together, 1, p->row, e->index[p->g]));
  x = reshaped(e, x, 1, &p->together);
  if (p->together > 1)
    x = tileKernelBroadcast(e, x, type, 1, (int64_t[]){1});
  else
    x = tileKernelSplat(e, tileKernelFold(e, tileUpstreamName(ArithOp_AddI), x, i32(e), 1, (int64_t[]){0}), type);
  return p->isZeroUniform ? x : arithMulIOpBuild(&e->body, buildZero(e, p), x);
}

// f for one group; row `number` of what addTerms turned.
static MlirValue buildTerm(TileKernelEmission *e, const Program *p, MlirValue dots) {
  const TileStructured *s = e->structured;
  TileBodyMap map = {0};
  for (int i = 0; i < (int)mlirBlockGetNumArguments(s->body) - 1; ++i) {
    MlirValue argument = mlirBlockGetArgument(s->body, i);
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(argument)))
      tileBodyMapSet(&map, argument, i == p->scaled->input ? dots : loadNumbers(e, p, i));
  }
  return tileKernelCloneValue(e, &map, p->scaled->folded);
}

static MlirValue rowOfTurned(TileKernelEmission *e, const Program *p, MlirValue turned, int64_t number) {
  int64_t offsets[2] = {number, 0}, size = Square;
  MlirType row = tileOf(e, 2, (int64_t[]){1, Square}, i32(e));
  if (p->groupsAtOnce > 1)
    turned = tileSliceOpBuild(&e->body, row, turned, 0, NULL, mlirDenseI64ArrayGet(e->body.context, 2, offsets));
  MlirValue dots = reshaped(e, turned, 1, &size), zeros = buildZeros(e, p);
  return mlirValueIsNull(zeros) ? dots : arithAddIOpBuild(&e->body, dots, zeros);
}

// result + the terms of the groups at once, from `group` on, in order.
static MlirValue addTerms(TileKernelEmission *e, Program *p, MlirValue first, MlirValue group, MlirValue result) {
  TileStructured v = view(p, p->s.body, p->n, Square, -1, 0);
  int64_t lanes = Square / p->groupsAtOnce, shape[3] = {p->groupsAtOnce, lanes, Square};
  TileKernelScope scope = tileKernelEnter(e, &p->s);
  e->index[p->m] = rowOf(e, p);
  e->index[p->n] = squareOfColumns(e, p);
  MlirValue sums = tileKernelSwapped(e, sumOfLanes(e, p, first));
  MlirValue turned = tileKernelFold(e, tileUpstreamName(ArithOp_AddI), reshaped(e, sums, 3, shape),
                                    tileOf(e, 2, (int64_t[]){p->groupsAtOnce, Square}, i32(e)), 1, (int64_t[]){1});
  e->structured = &v;
  for (int64_t i = 0; i < p->groupsAtOnce; ++i) {
    e->index[p->g] = tileBuildAdd(&e->body, group, tileBuildIndex(&e->body, i));
    e->index[p->g] = tileKernelAssumeBelow(e, e->index[p->g], p->d->groups);
    result = arithAddFOpBuild(&e->body, result, buildTerm(e, p, rowOfTurned(e, p, turned, i)));
  }
  tileKernelLeave(e, &scope);
  return result;
}

//===--- many rows ------------------------------------------------------------------------------===//

// The words of 16 columns' codes in row `at` of the buffer, and the words of x of the rows: as bytes.
static MlirValue wordsOfCodes(TileKernelEmission *e, const Program *p, MlirValue at) {
  MlirValue none = {NULL}, words = loadRow(e, p->unpacked, Words, at, none);
  words = tileKernelBroadcast(e, words, termType(e, p, i32(e)), 1, (int64_t[]){0});
  return recast(e, words, 2, (int64_t[]){p->together, Bytes}, 8);
}

static MlirValue wordsOfX(TileKernelEmission *e, const Program *p, MlirValue row, MlirValue word) {
  MlirValue words = tileKernelLoadBuffer(e, tileKernelSlice(e, p->packed, p->together, 1, row, word));
  words = tileKernelBroadcast(e, reshaped(e, words, 1, &p->together), termType(e, p, i32(e)), 1, (int64_t[]){1});
  return recast(e, words, 2, (int64_t[]){p->together, Bytes}, 8);
}

// The dots of the rows together by 16 columns, of group `inside` among those at once.
static MlirValue sumOfWords(TileKernelEmission *e, const Program *p, MlirValue first, int64_t inside) {
  int64_t words = p->piece / Four, begin = inside * words;
  MlirValue sums = buildZeros(e, p), parts = tileBuildIndex(&e->body, p->d->parts);
  if (mlirValueIsNull(sums))
    sums = tileBuildInteger(&e->body, termType(e, p, i32(e)), 0);
  TileKernelLoop loop;
  MlirValue number = tileKernelOpenLoop(e, tileBuildIndex(&e->body, p->vectors), 1, 1, &sums, &loop);
  number = tileKernelAssumeBelow(e, number, p->vectors);
  MlirValue piece = arithDivUIOpBuild(&e->body, number, parts), part = arithRemUIOpBuild(&e->body, number, parts);
  MlirValue row = placeOfX(e, p, tileBuildAdd(&e->body, first, piece));
  for (int64_t word = begin; word < begin + words; ++word) {
    MlirValue at = tileBuildMul(&e->body, number, tileBuildIndex(&e->body, Words));
    at = tileBuildAdd(&e->body, at, tileBuildIndex(&e->body, word));
    MlirValue of = tileBuildMul(&e->body, part, tileBuildIndex(&e->body, Words));
    of = tileBuildAdd(&e->body, of, tileBuildIndex(&e->body, word));
    sums = addFours(e, sums, wordsOfCodes(e, p, at), wordsOfX(e, p, row, of), p->together);
  }
  tileKernelCloseLoop(e, &loop);
  return sums;
}

static void addManyRows(TileKernelEmission *e, Program *p, MlirValue first, MlirValue group) {
  TileStructured v = view(p, p->s.body, p->m, p->together, p->n, Square);
  TileKernelLoop loop;
  MlirValue none = {NULL};
  TileKernelScope scope = tileKernelEnter(e, &v);
  p->row = tileKernelOpenLoop(e, p->here[0], p->together, 0, NULL, &loop);
  e->index[p->m] = tileOfRows(e, p);
  e->index[p->n] = squareOfColumns(e, p);
  for (int64_t i = 0; i < p->groupsAtOnce; ++i) {
    MlirValue place = tileKernelSlice(e, p->results, p->together, Square, p->row, none);
    e->index[p->g] = tileBuildAdd(&e->body, group, tileBuildIndex(&e->body, i));
    e->index[p->g] = tileKernelAssumeBelow(e, e->index[p->g], p->d->groups);
    MlirValue term = buildTerm(e, p, sumOfWords(e, p, first, i));
    tileStoreOpBuild(&e->body, arithAddFOpBuild(&e->body, tileKernelLoadBuffer(e, place), term), place, 0, NULL);
  }
  tileKernelCloseLoop(e, &loop);
  tileKernelLeave(e, &scope);
}

//===--- columns --------------------------------------------------------------------------------===//

static void addRows(TileKernelEmission *e, Program *p, MlirValue first, MlirValue group) {
  TileKernelLoop loop;
  MlirValue none = {NULL};
  p->row = tileKernelOpenLoop(e, p->here[0], 1, 0, NULL, &loop);
  MlirValue result = loadRow(e, p->results, Square, p->row, none);
  storeRow(e, addTerms(e, p, first, group, result), p->results, Square, p->row, none);
  tileKernelCloseLoop(e, &loop);
}

// What the output starts from, the sums and the epilogue, for the current 16 columns.
static void storeColumns(TileKernelEmission *e, const Program *p) {
  TileStructured v = view(p, p->s.body, p->m, p->rows, p->n, Square);
  TileKernelScope scope = tileKernelEnter(e, &v);
  e->index[p->n] = squareOfColumns(e, p);
  MlirValue sum = tileProductAddInitial(e, tileKernelLoadBuffer(e, p->results));
  tileKernelStore(e, p->s.numInputs, tileKernelEpilogue(e, sum));
  tileKernelLeave(e, &scope);
}

// All groups of the current 16 columns.
static void addColumns(TileKernelEmission *e, Program *p) {
  TileKernelLoop loop;
  MlirValue none = {NULL};
  MlirType whole = tileOf(e, 2, (int64_t[]){p->rows, Square}, mlirF32TypeGet(e->body.context));
  if (!p->isOneRow)
    tileStoreOpBuild(&e->body, tileProductConstant(e, whole, 0), p->results, 0, NULL);
  MlirValue zero = tileBuildFloat(&e->body, tileOf(e, 1, (int64_t[]){Square}, mlirF32TypeGet(e->body.context)), 0);
  MlirValue result = zero, count = tileBuildIndex(&e->body, p->d->groups / p->groupsAtOnce);
  layOperands(e, p);
  p->row = tileBuildIndex(&e->body, 0);
  MlirValue number = tileKernelOpenLoop(e, count, 1, p->isOneRow, &result, &loop);
  number = tileKernelAssumeBelow(e, number, p->d->groups / p->groupsAtOnce);
  MlirValue group = tileBuildMul(&e->body, number, tileBuildIndex(&e->body, p->groupsAtOnce));
  MlirValue first = tileBuildMul(&e->body, number, tileBuildIndex(&e->body, p->pieces));
  if (p->areKept) {
    TileKernelScope scope = tileKernelEnter(e, &p->s);
    e->index[p->n] = squareOfColumns(e, p);
    keepCodes(e, p, first);
    prefetchCodes(e, p, first);
    tileKernelLeave(e, &scope);
  }
  if (p->isOneRow)
    result = addTerms(e, p, first, group, result);
  else if (p->together > 1)
    addManyRows(e, p, first, group);
  else
    addRows(e, p, first, group);
  tileKernelCloseLoop(e, &loop);
  p->row = tileBuildIndex(&e->body, 0);
  if (p->isOneRow)
    storeRow(e, result, p->results, Square, p->row, none);
  storeColumns(e, p);
}

static void makeBuffers(TileKernelEmission *e, Program *p) {
  MlirType f32 = mlirF32TypeGet(e->body.context);
  int64_t vectors = p->d->groups * p->d->run / Bytes;
  p->packed = tileProductBuffer(e, vectors * p->rows, p->d->parts * Words, i32(e));
  if (p->d->numZeros || p->d->isSigned)
    p->sums = tileProductBuffer(e, p->rows, p->d->groups, i32(e));
  if (p->areKept)
    p->unpacked = tileProductBuffer(e, p->vectors * Square, Words, i32(e));
  p->results = tileProductBuffer(e, p->rows, Square, f32);
  for (int i = 0; i < tileStructuredNumOwnInputs(&p->s); ++i)
    if (isLaid(p, i))
      p->laid[i] = tileProductBuffer(e, p->d->groups, Square, tileOperandElementType(&p->s.operands[i]));
}

static void build(TileKernelEmission *e, Program *p) {
  TileKernelLoop loop;
  p->first[0] = tileProductBlockOf(e, p->m, p->rows, &p->here[0]);
  p->first[1] = tileProductBlockOf(e, p->n, p->columns, &p->here[1]);
  makeBuffers(e, p);
  packRows(e, p);
  if (hasPaddedRows(p))
    padRows(e, p);
  p->column = tileKernelOpenLoop(e, p->here[1], Square, 0, NULL, &loop);
  addColumns(e, p);
  tileKernelCloseLoop(e, &loop);
}

bool tileLowerScaledDots(TileStructured *s, const TileEpilogue *epilogue) {
  TileScaledDots scaled;
  TileKernelEmission e;
  if (!tileStructuredMatchScaledDots(s, &scaled))
    return false;
  Program *p = tileArenaAllocate(s->target->arena, sizeof *p);
  *p = (Program){.scaled = &scaled, .d = &scaled.dots};
  if (!unite(p, s, epilogue))
    return false;
  setSizes(p);
  readZero(p);
  tileKernelBegin(&e, &p->s, "coded_dots");
  build(&e, p);
  tileKernelEnd(&e);
  return true;
}
