// Products whose weights are converted in the body (lib/analysis/low_bit/converted.h): the kernel converts a block of
// weights into a local buffer, once for all rows of x, and multiplies from there.
//   out[m, n] += sum over g, t, k of x[m, g, t, k] · f(code[n, g, k], shift[t], scale[n, g], …)
//
// A program owns a block of rows by a block of columns. For each part of k it packs its rows of x as f32, converts its
// columns' weights as f32, and multiplies register tiles. Sums stay in a buffer of f32 until the last part; then the
// start value is added, and the epilogue applied. Weights that lie along k are not transposed: lanes run along k in
// both buffers, and the lanes of each sum are added up at the end of a part. Weights that lie along n are rows of
// columns, as in a packed product. Expects: a structured op without a schedule, on a CPU, of more than one row. Leaves:
// its kernel and launch. Sizes follow from the machine: a part of the weights fills a quarter of L2, the rows of x half
// of it. Parts divide the reduction dimensions, so that no weight is converted past an edge of k; without such parts
// the reductions take over. Source: Ladder (OSDI 2024): a conversion stands on the hop where it is cheapest, here from
// memory to L2.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/converted.h"
#include "lib/analysis/tiling.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"
#include "lib/support/integer.h"
#include "upstream/arith.h"
#include "upstream/tensor.h"

//===--- sizes --------------------------------------------------------------------------------===//

enum { MostColumns = 64, MostDepth = 1024, MostRows = 128, UnknownRows = 64, MostSquare = 8 };

typedef struct Sizes {
  int64_t rows, columns;                 // of a program
  int64_t registerRows, registerColumns; // of a register tile
  int64_t depth;                         // of a part of k
  int64_t inside[MaxDims];               // of each dimension of `depth`: its indices in one part
} Sizes;

// Lanes along k: a vector for each sum of rows × columns, and the columns' vectors beside them. Columns fill no vector.
static void setSquareTile(const TileStructured *s, int64_t rows, Sizes *sizes) {
  const TileSearchTarget *target = &s->target->search;
  int64_t registers = target->vectorRegisters, side = 2;
  while ((side + 1) * (side + 1) + side + 2 <= registers)
    ++side;
  sizes->registerRows = rows < side ? rows : side;
  if (rows > side && tessera_ceil_div(rows, side) * side > tessera_ceil_div(rows, side - 1) * (side - 1))
    sizes->registerRows = side - 1;
  int64_t lanes = target->vectorBytes / (int64_t)sizeof(float), most = tessera_min(MostSquare, lanes - 1);
  sizes->registerColumns = tessera_min(most, (registers - 1) / (sizes->registerRows + 1));
}

// Vectors along n: rows of an eighth of the registers.
static void setWideTile(const TileStructured *s, int64_t rows, Sizes *sizes) {
  int64_t registers = s->target->search.vectorRegisters, vectors = registers / 8;
  int64_t most = (registers - vectors - 1) / vectors;
  sizes->registerRows = tessera_ceil_div(rows, tessera_ceil_div(rows, most));
  sizes->registerColumns = vectors * s->target->search.vectorBytes / (int64_t)sizeof(float);
}

static bool readsATable(const TileStructured *s) {
  for (MlirOperation op = mlirBlockGetFirstOperation(s->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tensorExtractOpIsA(op))
      return true;
  return false;
}

// False where no part of k is large enough, or a code past the edge would be looked up.
static bool findSizes(const TileStructured *s, const TileConverted *c, Sizes *sizes) {
  const TileSearchTarget *target = &s->target->search;
  int64_t l2 = target->levels[target->numLevels > 1 ? 1 : 0].bytes, columns = s->dims[c->n].extent;
  int64_t rows = s->dims[c->m].extent;
  if (mlirShapedTypeIsDynamicSize(rows))
    rows = UnknownRows;
  if (c->isAlongColumns)
    setWideTile(s, rows, sizes);
  else
    setSquareTile(s, rows, sizes);
  // A table is not asked for what lies past the last column.
  while (readsATable(s) && MostColumns % sizes->registerColumns)
    --sizes->registerColumns;
  sizes->columns = tessera_ceil_div(MostColumns, sizes->registerColumns) * sizes->registerColumns;
  int64_t most = tessera_min(MostDepth, l2 / 4 / (sizes->columns * (int64_t)sizeof(float)));
  sizes->depth = tileConvertedPart(s, c, most, sizes->inside);
  int64_t block = tessera_min(MostRows, l2 / 2 / (sizes->depth * (int64_t)sizeof(float)));
  block = block / sizes->registerRows * sizes->registerRows;
  sizes->rows = tessera_min(tessera_ceil_div(rows, sizes->registerRows) * sizes->registerRows,
                            block < sizes->registerRows ? sizes->registerRows : block);
  bool isWhole = !mlirShapedTypeIsDynamicSize(columns) && columns % sizes->columns == 0;
  return sizes->depth >= TileConvertedLeastDepth && (isWhole || !readsATable(s));
}

//===--- dimensions ---------------------------------------------------------------------------===//

// Renumbers them: other ones, rows, then k and columns as the weights lie.
static void sortDims(TileStructured *s, TileConverted *c) {
  int to[MaxDims], next = 0;
  for (int d = 0; d < s->numDims; ++d)
    if (!s->dims[d].isReduction && d != c->m && d != c->n)
      to[d] = next++;
  to[c->m] = next++;
  if (!c->isAlongColumns)
    to[c->n] = next++;
  for (int i = 0; i < c->count; ++i)
    to[c->depth[i]] = next++;
  if (c->isAlongColumns)
    to[c->n] = next++;
  tileStructuredRenumber(s, to);
  c->m = to[c->m];
  c->n = to[c->n];
  for (int i = 0; i < c->count; ++i)
    c->depth[i] = to[c->depth[i]];
}

static void setTile(TileStructured *s, int dim, int64_t tile, int axis) {
  s->dims[dim].tile = tile;
  s->dims[dim].axis = axis;
}

// The op as a program's tile sees it with an axis for two dimensions; the others have their tile, and no axis.
static TileStructured withAxes(const TileStructured *s, int first, int second) {
  TileStructured view = tileStructuredCopy(s, 0);
  for (int d = 0; d < view.numDims; ++d)
    view.dims[d].axis = d == first ? 0 : d == second ? 1 : -1;
  return view;
}

//===--- the kernel ---------------------------------------------------------------------------===//

typedef struct Program {
  const TileStructured *s;
  const TileConverted *c;
  const Sizes *sizes;
  MlirValue x, weights, sums;   // buffers: rows × depth; columns × depth or depth × columns; rows × columns
  MlirValue firstRow, rowsHere; // the program's rows: the first, and how many there are
  MlirValue row;                // of these, where the register tile that is packed begins
  MlirValue part[MaxDims];      // number of the current part along each dimension of `depth`; null: there is one
} Program;

// Calls `body` with e->index set for each index of the current part but along the last dimension, which is a tile.
// `at`: the place of what it makes in the buffers.
typedef void (*PieceBody)(TileKernelEmission *e, const Program *p, MlirValue at);

static void overPiecesFrom(TileKernelEmission *e, const Program *p, int i, MlirValue at, PieceBody body) {
  int dim = p->c->depth[i];
  int64_t inside = p->sizes->inside[i], width = 1;
  MlirValue before = tileBuildIndex(&e->body, 0);
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

static MlirValue asF32(TileKernelEmission *e, MlirValue tile) {
  MlirType f32 = mlirF32TypeGet(e->body.context), type = mlirValueGetType(tile);
  bool isWide = mlirTypeEqual(tileTypeGetElement(type), f32);
  return isWide ? tile : arithExtFOpBuild(&e->body, tileTypeWithElement(type, f32), tile);
}

// Packs the rows of one register tile, which begins at row `p->row` of the program's.
static void packPiece(TileKernelEmission *e, const Program *p, MlirValue at) {
  int last = p->c->count - 1, dims[2] = {p->c->m, p->c->depth[last]};
  int64_t rows = p->sizes->registerRows;
  TileStructured view = withAxes(p->s, dims[0], dims[1]);
  MlirValue program = e->index[p->c->m];
  view.dims[p->c->m].tile = rows;
  e->structured = &view;
  e->index[p->c->m] =
      arithDivUIOpBuild(&e->body, tileBuildAdd(&e->body, p->firstRow, p->row), tileBuildIndex(&e->body, rows));
  MlirValue part = tileKernelSlice(e, p->x, rows, p->sizes->inside[last], p->row, at);
  tileStoreOpBuild(&e->body, asF32(e, tileKernelLoadMatrix(e, p->c->x, dims)), part, 0, NULL);
  e->index[p->c->m] = program;
  e->structured = p->s;
}

static void convertPiece(TileKernelEmission *e, const Program *p, MlirValue at) {
  int last = p->c->count - 1, k = p->c->depth[last];
  int64_t depth = p->sizes->inside[last], columns = p->sizes->columns;
  bool isAlongColumns = p->c->isAlongColumns;
  TileStructured view = withAxes(p->s, isAlongColumns ? k : p->c->n, isAlongColumns ? p->c->n : k);
  TileBodyMap map = {0};
  MlirValue none = {NULL};
  e->structured = &view;
  for (int i = 0; i < tileStructuredNumOwnInputs(&view); ++i)
    if (i != p->c->x)
      tileKernelMapInputs(e, &map, i, i + 1, false);
  MlirValue part = isAlongColumns ? tileKernelSlice(e, p->weights, depth, columns, at, none)
                                  : tileKernelSlice(e, p->weights, columns, depth, none, at);
  tileStoreOpBuild(&e->body, asF32(e, tileKernelCloneValue(e, &map, p->c->factor)), part, 0, NULL);
  e->structured = p->s;
}

// sums += x · weights, for the register tile at (row, column).
static void multiply(TileKernelEmission *e, const Program *p, MlirValue row, MlirValue column) {
  int64_t rows = p->sizes->registerRows, columns = p->sizes->registerColumns, depth = p->sizes->depth;
  MlirValue none = {NULL}, sums = tileKernelSlice(e, p->sums, rows, columns, row, column);
  MlirValue left = tileKernelLoadBuffer(e, tileKernelSlice(e, p->x, rows, depth, row, none)), right;
  if (p->c->isAlongColumns) {
    right = tileKernelLoadBuffer(e, tileKernelSlice(e, p->weights, depth, columns, none, column));
  } else {
    MlirType type =
        tileTileTypeGet(2, (int64_t[]){depth, columns}, mlirF32TypeGet(e->body.context), mlirAttributeGetNull());
    right = tileKernelLoadBuffer(e, tileKernelSlice(e, p->weights, columns, depth, column, none));
    right = tileTransposeOpBuild(&e->body, type, right, mlirDenseI64ArrayGet(e->body.context, 2, (int64_t[]){1, 0}));
  }
  MlirValue sum = tileMmaOpBuild(&e->body, left, right, tileKernelLoadBuffer(e, sums));
  tileStoreOpBuild(&e->body, sum, sums, 0, NULL);
}

static void packPart(TileKernelEmission *e, Program *p) {
  TileKernelLoop overRows;
  p->row = tileKernelOpenLoop(e, p->rowsHere, p->sizes->registerRows, 0, NULL, &overRows);
  overPieces(e, p, packPiece);
  tileKernelCloseLoop(e, &overRows);
}

static void multiplyPart(TileKernelEmission *e, const Program *p) {
  TileKernelLoop overColumns, overRows;
  MlirValue column = tileKernelOpenLoop(e, tileBuildIndex(&e->body, p->sizes->columns), p->sizes->registerColumns, 0,
                                        NULL, &overColumns);
  MlirValue row = tileKernelOpenLoop(e, p->rowsHere, p->sizes->registerRows, 0, NULL, &overRows);
  multiply(e, p, row, column);
  tileKernelCloseLoop(e, &overRows);
  tileKernelCloseLoop(e, &overColumns);
}

static void buildPartsFrom(TileKernelEmission *e, Program *p, int i) {
  if (i == p->c->count) {
    packPart(e, p);
    overPieces(e, p, convertPiece);
    multiplyPart(e, p);
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

static void build(TileKernelEmission *e, const TileConverted *c, const Sizes *sizes) {
  const TileStructured *s = e->structured;
  MlirType f32 = mlirF32TypeGet(e->body.context);
  Program p = {.s = s, .c = c, .sizes = sizes};
  p.x = tileProductBuffer(e, sizes->rows, sizes->depth, f32);
  p.weights = c->isAlongColumns ? tileProductBuffer(e, sizes->depth, sizes->columns, f32)
                                : tileProductBuffer(e, sizes->columns, sizes->depth, f32);
  p.sums = tileProductBuffer(e, sizes->rows, sizes->columns, f32);
  MlirValue rows = tileBuildIndex(&e->body, sizes->rows);
  p.firstRow = tileBuildMul(&e->body, e->index[c->m], rows);
  p.rowsHere = tileBuildMin(&e->body, tileBuildSub(&e->body, tileKernelExtent(e, c->m), p.firstRow), rows);
  TileStructured view = withAxes(s, c->m, c->n);
  e->structured = &view;
  MlirType type = tileKernelOutputTileType(e, f32);
  MlirValue none = {NULL}, sums = tileKernelSlice(e, p.sums, sizes->rows, sizes->columns, none, none);
  tileStoreOpBuild(&e->body, tileProductConstant(e, type, 0), sums, 0, NULL);
  e->structured = s;
  buildPartsFrom(e, &p, 0);
  e->structured = &view;
  MlirValue sum = tileProductAddInitial(e, tileKernelLoadBuffer(e, sums));
  tileKernelStore(e, s->numInputs, tileKernelEpilogue(e, sum));
  e->structured = s;
}

bool tileLowerConverted(TileStructured *s, const TileEpilogue *epilogue) {
  TileConverted c;
  Sizes sizes;
  if (!tileStructuredMatchConverted(s, &c) || !findSizes(s, &c, &sizes))
    return false;
  if (epilogue)
    tileStructuredAddEpilogue(s, epilogue);
  sortDims(s, &c);
  setTile(s, c.m, sizes.rows, 0);
  setTile(s, c.n, sizes.columns, 1);
  setTile(s, c.depth[c.count - 1], sizes.inside[c.count - 1], 2);
  TileKernelEmission e;
  tileKernelBegin(&e, s, "converted_product");
  build(&e, &c, &sizes);
  tileKernelEnd(&e);
  return true;
}
