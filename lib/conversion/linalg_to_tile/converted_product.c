// Products whose weights are converted in the body (lib/analysis/low_bit/converted.h): the kernel converts a block of
// weights into a local buffer, once for all rows of x, and multiplies from there.
//   out[m, n] += sum over g, t, k of x[m, g, t, k] · f(code[n, g, k], shift[t], scale[n, g], …)
//
// A program owns a block of rows by a block of columns. For each part of k it packs its rows of x as f32; then for each
// register tile's columns it converts the weights as f32 and multiplies register tiles of all rows. Sums stay in a
// buffer of f32 until the last part; then the start value is added, and the epilogue applied. Weights that lie along k
// are not transposed: lanes run along k in both buffers, and the lanes of each sum are added up at the end of a part.
// Weights that lie along n are rows of columns, as in a packed product. Expects: a structured op without a schedule, on
// a CPU, of more than one row. Leaves: its kernel and launch. Sizes follow from the machine: a part of the weights
// fills a quarter of L2, the rows of x half of it. Parts divide the reduction dimensions, so that no weight is
// converted past an edge of k; without such parts the reductions take over. Source: Ladder (OSDI 2024): a conversion
// stands on the hop where it is cheapest, here from memory to L2.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/tiling.h"
#include "lib/conversion/linalg_to_tile/converted_table.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"
#include "lib/support/integer.h"
#include "upstream/arith.h"

//===--- sizes --------------------------------------------------------------------------------===//

enum {
  LeastColumns = 64,
  MostColumns = 512,
  MostDepth = 1024,
  MostRows = 128,
  UnknownRows = 64,
  MostSquare = 8,
  MostConverted = 5,
  Lanes = 16
};

typedef struct Sizes {
  int64_t rows, columns;                 // of a program
  int64_t registerRows, registerColumns; // of a register tile
  int64_t depth;                         // of a part of k
  int64_t inside[MaxDims];               // of each dimension of `depth`: its indices in one part
} Sizes;

// Lanes along k: a vector of 16 for each sum of rows × columns, and the columns' vectors beside them. Columns fill no
// vector. Codes that are converted one by one (two rows by MXFP8 take 1.4 ms by 4 columns, 2.9 by 8) are read from
// fewer columns at a time than codes that are looked up.
static void setSquareTile(const TileStructured *s, int64_t rows, int64_t columns, int64_t most, Sizes *sizes) {
  const TileSearchTarget *target = &s->target->search;
  int64_t registers = target->vectorRegisters * target->vectorBytes / (Lanes * (int64_t)sizeof(float)), side = 2;
  while ((side + 1) * (side + 1) + side + 2 <= registers)
    ++side;
  sizes->registerRows = rows < side ? rows : side;
  if (rows > side && tessera_ceil_div(rows, side) * side > tessera_ceil_div(rows, side - 1) * (side - 1))
    sizes->registerRows = side - 1;
  sizes->registerColumns = tessera_min(most, (registers - 1) / (sizes->registerRows + 1));
  // Tiles without an edge need no tests.
  int64_t even = sizes->registerColumns;
  while (!mlirShapedTypeIsDynamicSize(columns) && even * 2 > sizes->registerColumns && columns % even)
    --even;
  if (even * 2 > sizes->registerColumns)
    sizes->registerColumns = even;
}

// Vectors along n: rows of an eighth of the registers.
static void setWideTile(const TileStructured *s, int64_t rows, Sizes *sizes) {
  int64_t registers = s->target->search.vectorRegisters, vectors = registers / 8;
  int64_t most = (registers - vectors - 1) / vectors;
  sizes->registerRows = tessera_ceil_div(rows, tessera_ceil_div(rows, most));
  sizes->registerColumns = vectors * s->target->search.vectorBytes / (int64_t)sizeof(float);
}

// A program's columns: each program packs its rows of x again, so there are as many columns as a quarter of L2 has sums
// for, if every core still gets some programs. `rows`: of a program.
static int64_t columnsOf(const TileStructured *s, int64_t columns, int64_t rows) {
  enum { ProgramsPerCore = 4 };
  const TileSearchTarget *target = &s->target->search;
  int64_t l2 = target->levels[target->numLevels > 1 ? 1 : 0].bytes, size = LeastColumns;
  if (mlirShapedTypeIsDynamicSize(columns))
    return size;
  int64_t most = tessera_min(l2 / 4 / (rows * (int64_t)sizeof(float)), columns / (ProgramsPerCore * target->cores));
  while (size < MostColumns && size * 2 <= most)
    size *= 2;
  return size;
}

// False where the product is empty, or no part of k is large enough.
static bool findSizes(const TileStructured *s, const TileConverted *c, Sizes *sizes) {
  const TileSearchTarget *target = &s->target->search;
  int64_t l2 = target->levels[target->numLevels > 1 ? 1 : 0].bytes;
  int64_t rows = s->dims[c->m].extent;
  TileConvertedCode code;
  for (int d = 0; d < s->numDims; ++d)
    if (s->dims[d].extent == 0)
      return false;
  if (mlirShapedTypeIsDynamicSize(rows))
    rows = UnknownRows;
  if (c->isAlongColumns)
    setWideTile(s, rows, sizes);
  else
    setSquareTile(s, rows, s->dims[c->n].extent, tileConvertedFindCode(s, c, &code) ? MostSquare : MostConverted,
                  sizes);
  int64_t held = c->isAlongColumns ? l2 / 4 : target->levels[0].bytes * 2 / 3;
  int64_t most = tessera_min(MostDepth, held / (sizes->registerColumns * (int64_t)sizeof(float)));
  sizes->depth = tileConvertedPart(s, c, most, sizes->inside);
  int64_t block = tessera_min(MostRows, l2 / 2 / (sizes->depth * (int64_t)sizeof(float)));
  block = block / sizes->registerRows * sizes->registerRows;
  sizes->rows = tessera_min(tessera_ceil_div(rows, sizes->registerRows) * sizes->registerRows,
                            block < sizes->registerRows ? sizes->registerRows : block);
  int64_t columns = columnsOf(s, s->dims[c->n].extent, sizes->rows);
  sizes->columns = tessera_ceil_div(columns, sizes->registerColumns) * sizes->registerColumns;
  return sizes->depth >= TileConvertedLeastDepth;
}

//===--- the kernel ---------------------------------------------------------------------------===//

typedef struct Program {
  const TileStructured *s;
  const TileConverted *c;
  const Sizes *sizes;
  MlirValue x, weights,
      sums; // buffers: rows × depth; a register tile's columns × depth or depth × columns; rows × columns
  MlirValue first[2], here[2]; // the program's rows and columns: the first, and how many there are
  MlirValue row, column;       // of these, where the register tile begins
  TileConvertedTable *table;   // null: weights are converted one by one
  MlirValue part[MaxDims];     // number of the current part along each dimension of `depth`; null: there is one
} Program;

// Calls `body` with e->index set for each index of the current part but along the last dimension, which is a tile.
// `at`: the place of what it makes in the buffers.
typedef void (*PieceBody)(TileKernelEmission *e, const Program *p, MlirValue at);
static void convertPiece(TileKernelEmission *e, const Program *p, MlirValue at);
static void fillTable(TileKernelEmission *e, const Program *p);

static void overPiecesFrom(TileKernelEmission *e, const Program *p, int i, MlirValue at, PieceBody body) {
  int dim = p->c->depth[i];
  int64_t inside = p->sizes->inside[i], width = 1;
  MlirValue before = tileBuildIndex(&e->body, 0);
  if (p->table && body == convertPiece && i == p->table->code.level)
    fillTable(e, p);
  if (i == p->c->count - 1) {
    e->index[dim] = mlirValueIsNull(p->part[i]) ? before : p->part[i];
    body(e, p, at);
    return;
  }
  for (int j = i + 1; j < p->c->count; ++j)
    width *= p->sizes->inside[j];
  if (!mlirValueIsNull(p->part[i]))
    before = tileBuildMul(&e->body, p->part[i], tileBuildIndex(&e->body, inside));
  if (inside == 1) {
    e->index[dim] = before;
    overPiecesFrom(e, p, i + 1, at, body);
    return;
  }
  TileKernelLoop loop;
  MlirValue number = tileKernelOpenLoop(e, tileBuildIndex(&e->body, inside), 1, 0, NULL, &loop);
  e->index[dim] = tileKernelAssumeBelow(e, tileBuildAdd(&e->body, before, number), p->s->dims[dim].extent);
  MlirValue offset = tileBuildMul(&e->body, number, tileBuildIndex(&e->body, width));
  overPiecesFrom(e, p, i + 1, tileBuildAdd(&e->body, at, offset), body);
  tileKernelCloseLoop(e, &loop);
}

static void overPieces(TileKernelEmission *e, const Program *p, PieceBody body) {
  overPiecesFrom(e, p, 0, tileBuildIndex(&e->body, 0), body);
}

// The tiles of the op with an axis for the rows (columns) of one register tile, at p->row (p->column), and for the last
// reduction, in this order or the other one.
static TileKernelScope narrow(TileKernelEmission *e, const Program *p, bool isColumns, bool isDepthFirst,
                              TileStructured *view) {
  int k = p->c->depth[p->c->count - 1], dim = isColumns ? p->c->n : p->c->m;
  int64_t size = isColumns ? p->sizes->registerColumns : p->sizes->registerRows;
  *view = tileStructuredOver(p->s, isDepthFirst ? k : dim, isDepthFirst ? dim : k);
  view->dims[dim].tile = size;
  TileKernelScope scope = tileKernelEnter(e, view);
  MlirValue at = tileBuildAdd(&e->body, p->first[isColumns], isColumns ? p->column : p->row);
  at = arithDivUIOpBuild(&e->body, at, tileBuildIndex(&e->body, size));
  e->index[dim] = tileKernelAssumeTile(e, at, dim, size);
  return scope;
}

static void fillTable(TileKernelEmission *e, const Program *p) {
  TileStructured view;
  TileKernelScope scope = narrow(e, p, true, false, &view);
  tileConvertedTableFill(e, p->table);
  tileKernelLeave(e, &scope);
}

// Packs the rows of one register tile.
static void packPiece(TileKernelEmission *e, const Program *p, MlirValue at) {
  int last = p->c->count - 1, dims[2] = {p->c->m, p->c->depth[last]};
  TileStructured view;
  TileKernelScope scope = narrow(e, p, false, false, &view);
  MlirValue part = tileKernelSlice(e, p->x, p->sizes->registerRows, p->sizes->inside[last], p->row, at);
  tileStoreOpBuild(&e->body, tileKernelCast(e, tileKernelLoadMatrix(e, p->c->x, dims), mlirF32TypeGet(e->body.context)),
                   part, 0, NULL);
  tileKernelLeave(e, &scope);
}

static MlirValue convertOneByOne(TileKernelEmission *e, const Program *p) {
  TileBodyMap map = {0};
  for (int i = 0; i < e->structured->numInputs; ++i)
    if (i != p->c->x)
      tileKernelMapInputs(e, &map, i, i + 1);
  return tileKernelCast(e, tileKernelCloneValue(e, &map, p->c->factor), mlirF32TypeGet(e->body.context));
}

static void convertPiece(TileKernelEmission *e, const Program *p, MlirValue at) {
  int64_t depth = p->sizes->inside[p->c->count - 1], columns = p->sizes->registerColumns;
  bool isAlongColumns = p->c->isAlongColumns;
  MlirValue none = {NULL};
  TileStructured view;
  TileKernelScope scope = narrow(e, p, true, isAlongColumns, &view);
  MlirValue part = isAlongColumns ? tileKernelSlice(e, p->weights, depth, columns, at, none)
                                  : tileKernelSlice(e, p->weights, columns, depth, none, at);
  MlirValue weights = p->table ? tileConvertedTableLookUp(e, p->table) : convertOneByOne(e, p);
  tileStoreOpBuild(&e->body, weights, part, 0, NULL);
  tileKernelLeave(e, &scope);
}

// sums += x · weights, for the current register tile.
static void multiply(TileKernelEmission *e, const Program *p) {
  int64_t rows = p->sizes->registerRows, columns = p->sizes->registerColumns, depth = p->sizes->depth;
  MlirValue none = {NULL}, sums = tileKernelSlice(e, p->sums, rows, columns, p->row, p->column);
  MlirValue left = tileKernelLoadBuffer(e, tileKernelSlice(e, p->x, rows, depth, p->row, none)), right;
  int64_t sizes[2] = {p->c->isAlongColumns ? depth : columns, p->c->isAlongColumns ? columns : depth};
  right = tileKernelLoadBuffer(e, tileKernelSlice(e, p->weights, sizes[0], sizes[1], none, none));
  if (!p->c->isAlongColumns)
    right = tileKernelSwapped(e, right);
  MlirValue sum = tileMmaOpBuild(&e->body, left, right, tileKernelLoadBuffer(e, sums));
  tileStoreOpBuild(&e->body, sum, sums, 0, NULL);
}

static void buildPart(TileKernelEmission *e, Program *p) {
  TileKernelLoop overColumns, overRows;
  p->row = tileKernelOpenLoop(e, p->here[0], p->sizes->registerRows, 0, NULL, &overRows);
  overPieces(e, p, packPiece);
  tileKernelCloseLoop(e, &overRows);
  p->column = tileKernelOpenLoop(e, p->here[1], p->sizes->registerColumns, 0, NULL, &overColumns);
  overPieces(e, p, convertPiece);
  p->row = tileKernelOpenLoop(e, p->here[0], p->sizes->registerRows, 0, NULL, &overRows);
  multiply(e, p);
  tileKernelCloseLoop(e, &overRows);
  tileKernelCloseLoop(e, &overColumns);
}

static void buildPartsFrom(TileKernelEmission *e, Program *p, int i) {
  if (i == p->c->count) {
    buildPart(e, p);
    return;
  }
  int64_t parts = p->s->dims[p->c->depth[i]].extent / p->sizes->inside[i];
  TileKernelLoop loop;
  p->part[i] = (MlirValue){NULL};
  if (parts == 1) {
    buildPartsFrom(e, p, i + 1);
    return;
  }
  p->part[i] = tileKernelOpenLoop(e, tileBuildIndex(&e->body, parts), 1, 0, NULL, &loop);
  p->part[i] = tileKernelAssumeBelow(e, p->part[i], parts);
  buildPartsFrom(e, p, i + 1);
  tileKernelCloseLoop(e, &loop);
}

// `element`: the type of the product itself, which may not be the result's.
static void build(TileKernelEmission *e, const TileConverted *c, const Sizes *sizes, TileConvertedTable *table,
                  MlirType element) {
  const TileStructured *s = e->structured;
  MlirType f32 = mlirF32TypeGet(e->body.context);
  Program p = {.s = s, .c = c, .sizes = sizes, .table = table};
  p.x = tileProductBuffer(e, sizes->rows, sizes->depth, f32);
  p.weights = c->isAlongColumns ? tileProductBuffer(e, sizes->depth, sizes->registerColumns, f32)
                                : tileProductBuffer(e, sizes->registerColumns, sizes->depth, f32);
  p.sums = tileProductBuffer(e, sizes->rows, sizes->columns, f32);
  if (table)
    tileConvertedTableBegin(e, table, sizes->registerColumns);
  p.first[0] = tileProductBlockOf(e, c->m, sizes->rows, &p.here[0]);
  p.first[1] = tileProductBlockOf(e, c->n, sizes->columns, &p.here[1]);
  TileStructured view = tileStructuredOver(s, c->m, c->n);
  e->structured = &view;
  MlirType type = tileKernelOutputTileType(e, f32);
  MlirValue none = {NULL}, sums = tileKernelSlice(e, p.sums, sizes->rows, sizes->columns, none, none);
  tileStoreOpBuild(&e->body, tileProductConstant(e, type, 0), sums, 0, NULL);
  e->structured = s;
  buildPartsFrom(e, &p, 0);
  e->structured = &view;
  MlirValue sum = tileKernelCast(e, tileProductAddInitial(e, tileKernelLoadBuffer(e, sums)), element);
  tileKernelStore(e, s->numInputs, tileKernelResult(e, sum));
  e->structured = s;
}

bool tileLowerConverted(TileStructured *s, const TileEpilogue *epilogue) {
  if (tileStructuredGpu(s))
    return tileLowerConvertedInRegisters(s, epilogue);
  TileConverted c;
  TileConvertedTable table;
  Sizes sizes;
  if (!tileStructuredMatchConverted(s, &c) || !findSizes(s, &c, &sizes))
    return false;
  MlirType element = tileOperandElementType(&s->operands[s->numInputs]);
  tileConvertedSortDims(s, &c);
  tileProductSetTile(s, c.m, 0, sizes.rows, 1);
  tileProductSetTile(s, c.n, 1, sizes.columns, 1);
  tileProductSetTile(s, c.depth[c.count - 1], 2, sizes.inside[c.count - 1], 1);
  bool hasTable = tileConvertedTableFind(s, &c, &table);
  TileOpKernel kernel;
  TileKernelEmission *e = tileOpKernelBegin(&kernel, s, epilogue, "converted_product");
  build(e, &c, &sizes, hasTable ? &table : NULL, element);
  tileKernelEnd(e);
  return true;
}
