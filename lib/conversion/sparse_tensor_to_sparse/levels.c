// One format in both dialects. See levels.h.
#include "lib/conversion/sparse_tensor_to_sparse/levels.h"

#include "lib/ir/pass.h"
#include "lib/ir/support.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/Dialect/SparseTensor.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

enum { MaxLevels = 8 };

//===--- level lists ----------------------------------------------------------===//

// How a level is indexed: dimension `dim`, divided by `by` or its rest; by 1: itself.
typedef struct Index {
  intptr_t dim;
  int64_t by;
  bool isRest;
} Index;

typedef struct Levels {
  MlirAttribute encoding;
  intptr_t count;
  MlirSparseTensorLevelType types[MaxLevels];
  Index indices[MaxLevels];
} Levels;

static bool readIndex(MlirAffineExpr expression, Index *index) {
  bool isQuotient = mlirAffineExprIsAFloorDiv(expression);
  *index = (Index){.by = 1, .isRest = mlirAffineExprIsAMod(expression)};
  if (isQuotient || index->isRest) {
    MlirAffineExpr by = mlirAffineBinaryOpExprGetRHS(expression);
    expression = mlirAffineBinaryOpExprGetLHS(expression);
    if (!mlirAffineExprIsAConstant(by))
      return false;
    index->by = mlirAffineConstantExprGetValue(by);
  }
  if (!mlirAffineExprIsADim(expression))
    return false;
  index->dim = mlirAffineDimExprGetPosition(expression);
  return true;
}

static bool readLevels(MlirType tensor, Levels *levels) {
  if (!sparseTensorIsEncoded(tensor))
    return false;
  levels->encoding = mlirRankedTensorTypeGetEncoding(tensor);
  levels->count = mlirSparseTensorEncodingGetLvlRank(levels->encoding);
  MlirAffineMap map = mlirSparseTensorEncodingAttrGetDimToLvl(levels->encoding);
  if (levels->count > MaxLevels || !mlirAttributeIsNull(mlirSparseTensorEncodingAttrGetExplicitVal(levels->encoding)) ||
      !mlirAttributeIsNull(mlirSparseTensorEncodingAttrGetImplicitVal(levels->encoding)))
    return false;
  for (intptr_t i = 0; i < levels->count; ++i) {
    levels->types[i] = mlirSparseTensorEncodingAttrGetLvlType(levels->encoding, i);
    levels->indices[i] = (Index){i, 1, false};
    if (!mlirAffineMapIsNull(map) && !readIndex(mlirAffineMapGetResult(map, i), &levels->indices[i]))
      return false;
  }
  return true;
}

static bool isLevel(const Levels *levels, intptr_t i, uint64_t format, uint64_t properties) {
  enum { AllProperties = 7, AllFormats = 0xff0000 };
  MlirSparseTensorLevelType type = levels->types[i];
  return (type & AllFormats) == format && (type & AllProperties) == properties;
}
static bool isDense(const Levels *levels, intptr_t i) { return isLevel(levels, i, MLIR_SPARSE_TENSOR_LEVEL_DENSE, 0); }
static bool isIndex(const Levels *levels, intptr_t i, intptr_t dim, int64_t by, bool isRest) {
  Index index = levels->indices[i];
  return index.dim == dim && index.by == by && index.isRest == isRest;
}

//===--- from upstream --------------------------------------------------------===//

// Widths of upstream in bits, 0 for its index type, as ours; narrow ones only within windows.
static int widthOf(int theirs, int narrowest) { return theirs == 0 ? 64 : theirs < narrowest ? narrowest : theirs; }
static int positionWidth(const Levels *levels) {
  return widthOf(mlirSparseTensorEncodingAttrGetPosWidth(levels->encoding), 32);
}
static int coordinateWidth(const Levels *levels) {
  return widthOf(mlirSparseTensorEncodingAttrGetCrdWidth(levels->encoding), 32);
}

static const MlirAttribute none = {NULL};

static MlirAttribute matchCompressed(MlirContext context, const Levels *levels) {
  if (levels->count != 2 || !isDense(levels, 0) || !isLevel(levels, 1, MLIR_SPARSE_TENSOR_LEVEL_COMPRESSED, 0))
    return none;
  intptr_t major = levels->indices[0].dim;
  if (!isIndex(levels, 0, major, 1, false) || !isIndex(levels, 1, 1 - major, 1, false))
    return none;
  return sparseEncodingMake(
      context, major ? "csc" : "csr",
      (SparseKeyValue[]){{"positions", {positionWidth(levels)}}, {"coordinates", {coordinateWidth(levels)}}, {NULL}});
}

static MlirAttribute matchBlocks(MlirContext context, const Levels *levels) {
  if (levels->count != 4 || !isDense(levels, 0) || !isLevel(levels, 1, MLIR_SPARSE_TENSOR_LEVEL_COMPRESSED, 0) ||
      !isDense(levels, 2) || !isDense(levels, 3))
    return none;
  int64_t rows = levels->indices[0].by, columns = levels->indices[1].by;
  if (!isIndex(levels, 0, 0, rows, false) || !isIndex(levels, 1, 1, columns, false) ||
      !isIndex(levels, 2, 0, rows, true) || !isIndex(levels, 3, 1, columns, true))
    return none;
  return sparseEncodingMake(context, "bsr",
                            (SparseKeyValue[]){{"block", {rows, columns}},
                                               {"positions", {positionWidth(levels)}},
                                               {"coordinates", {coordinateWidth(levels)}},
                                               {NULL}});
}

static MlirAttribute matchWindows(MlirContext context, const Levels *levels) {
  if (levels->count != 3 || !isDense(levels, 0) || !isDense(levels, 1) ||
      !isLevel(levels, 2, MLIR_SPARSE_TENSOR_LEVEL_N_OUT_OF_M, 0))
    return none;
  unsigned n = mlirSparseTensorEncodingAttrGetStructuredN(levels->types[2]);
  unsigned m = mlirSparseTensorEncodingAttrGetStructuredM(levels->types[2]);
  intptr_t axis = levels->indices[1].dim;
  if (!isIndex(levels, 0, 1 - axis, 1, false) || !isIndex(levels, 1, axis, m, false) ||
      !isIndex(levels, 2, axis, m, true))
    return none;
  int width = mlirSparseTensorEncodingAttrGetCrdWidth(levels->encoding);
  return sparseEncodingMake(context, "nm",
                            (SparseKeyValue[]){{"n", {n}},
                                               {"m", {m}},
                                               {"axis", {axis}},
                                               {"coordinates",
                                                {width         ? width
                                                 : m <= 1 << 8 ? 8
                                                               : 32}},
                                               {NULL}});
}

static MlirAttribute matchEntries(MlirContext context, const Levels *levels, intptr_t rank) {
  uint64_t free = levels->types[0] & MLIR_SPARSE_PROPERTY_NON_ORDERED;
  uint64_t apart = levels->count > 1 ? levels->types[1] & MLIR_SPARSE_PROPERTY_SOA : 0;
  uint64_t several = levels->count > 1 ? MLIR_SPARSE_PROPERTY_NON_UNIQUE : 0;
  if (levels->count != rank || !isLevel(levels, 0, MLIR_SPARSE_TENSOR_LEVEL_COMPRESSED, several | free) ||
      !isIndex(levels, 0, 0, 1, false))
    return none;
  for (intptr_t i = 1; i < rank; ++i) {
    uint64_t again = i + 1 < rank ? MLIR_SPARSE_PROPERTY_NON_UNIQUE : 0;
    if (!isLevel(levels, i, MLIR_SPARSE_TENSOR_LEVEL_SINGLETON, again | free | apart) ||
        !isIndex(levels, i, i, 1, false))
      return none;
  }
  return sparseEncodingMake(
      context, "coo",
      (SparseKeyValue[]){{"coordinates", {coordinateWidth(levels)}}, {"unordered", {free != 0}}, {NULL}});
}

static MlirAttribute matchMatrix(MlirContext context, const Levels *levels) {
  MlirAttribute found = matchCompressed(context, levels);
  if (mlirAttributeIsNull(found))
    found = matchBlocks(context, levels);
  return mlirAttributeIsNull(found) ? matchWindows(context, levels) : found;
}

MlirType sparseTypeFromLevels(MlirType tensor) {
  Levels levels;
  if (!readLevels(tensor, &levels))
    return (MlirType){NULL};
  MlirContext context = mlirTypeGetContext(tensor);
  intptr_t rank = mlirShapedTypeGetRank(tensor);
  MlirAttribute encoding = rank == 2 ? matchMatrix(context, &levels) : none;
  if (mlirAttributeIsNull(encoding))
    encoding = matchEntries(context, &levels, rank);
  MlirType element = mlirShapedTypeGetElementType(tensor);
  if (mlirAttributeIsNull(encoding) || (!mlirTypeIsAInteger(element) && !mlirTypeIsAFloat(element)))
    return (MlirType){NULL};
  return sparseTypeWithEncoding(tensor, encoding);
}

//===--- to upstream ----------------------------------------------------------===//

static unsigned bitsOf(MlirAttribute encoding, const char *key) {
  return mlirIntegerTypeGetWidth(sparseEncodingGetType(encoding, key));
}

static void addLevel(Levels *levels, MlirSparseTensorLevelType type, Index index) {
  levels->types[levels->count] = type;
  levels->indices[levels->count++] = index;
}

static MlirAffineExpr expressionOf(MlirContext context, Index index) {
  MlirAffineExpr dim = mlirAffineDimExprGet(context, index.dim), by = mlirAffineConstantExprGet(context, index.by);
  return index.isRest ? mlirAffineModExprGet(dim, by) : index.by == 1 ? dim : mlirAffineFloorDivExprGet(dim, by);
}

static MlirAttribute encodingOf(MlirContext context, const Levels *levels, intptr_t rank, unsigned positions,
                                unsigned coordinates) {
  MlirAffineExpr expressions[MaxLevels];
  for (intptr_t i = 0; i < levels->count; ++i)
    expressions[i] = expressionOf(context, levels->indices[i]);
  MlirAffineMap map = mlirAffineMapGet(context, rank, 0, levels->count, expressions);
  return mlirSparseTensorEncodingAttrGet(context, levels->count, levels->types, map, (MlirAffineMap){NULL},
                                         (int)positions, (int)coordinates, none, none);
}

static void addSegments(Levels *levels, const SparseStorage *s) {
  intptr_t first = s->hasCells ? 0 : s->major, second = 1 - first;
  addLevel(levels, MLIR_SPARSE_TENSOR_LEVEL_DENSE, (Index){first, s->cell[first], false});
  addLevel(levels, MLIR_SPARSE_TENSOR_LEVEL_COMPRESSED, (Index){second, s->cell[second], false});
  for (intptr_t axis = 0; s->hasCells && axis < 2; ++axis)
    addLevel(levels, MLIR_SPARSE_TENSOR_LEVEL_DENSE, (Index){axis, s->cell[axis], true});
}

static void addWindows(Levels *levels, const SparseWindows *w) {
  addLevel(levels, MLIR_SPARSE_TENSOR_LEVEL_DENSE, (Index){1 - w->axis, 1, false});
  addLevel(levels, MLIR_SPARSE_TENSOR_LEVEL_DENSE, (Index){w->axis, w->m, false});
  addLevel(levels,
           mlirSparseTensorEncodingAttrBuildLvlType(MLIR_SPARSE_TENSOR_LEVEL_N_OUT_OF_M, NULL, 0, (unsigned)w->n,
                                                    (unsigned)w->m),
           (Index){w->axis, w->m, true});
}

static void addEntries(Levels *levels, intptr_t rank, bool isUnordered) {
  for (intptr_t i = 0; i < rank; ++i) {
    enum MlirSparseTensorLevelPropertyNondefault properties[3];
    unsigned count = 0;
    if (i + 1 < rank)
      properties[count++] = MLIR_SPARSE_PROPERTY_NON_UNIQUE;
    if (isUnordered)
      properties[count++] = MLIR_SPARSE_PROPERTY_NON_ORDERED;
    if (i)
      properties[count++] = MLIR_SPARSE_PROPERTY_SOA;
    enum MlirSparseTensorLevelFormat format =
        i ? MLIR_SPARSE_TENSOR_LEVEL_SINGLETON : MLIR_SPARSE_TENSOR_LEVEL_COMPRESSED;
    addLevel(levels, mlirSparseTensorEncodingAttrBuildLvlType(format, properties, count, 0, 0), (Index){i, 1, false});
  }
}

static MlirAttribute levelsOf(MlirType tensor) {
  MlirAttribute encoding = sparseTypeGetEncoding(tensor);
  MlirContext context = mlirTypeGetContext(tensor);
  intptr_t rank = mlirShapedTypeGetRank(tensor);
  SparseStorage s = sparseEncodingGetStorage(encoding);
  Levels levels = {.count = 0};
  switch (s.scheme) {
  case SparseScheme_Segments:
    addSegments(&levels, &s);
    return encodingOf(context, &levels, rank, bitsOf(encoding, "positions"), bitsOf(encoding, "coordinates"));
  case SparseScheme_Windows:
    if (s.windows.lines != 1 || s.windows.together != 1)
      return none;
    addWindows(&levels, &s.windows);
    return encodingOf(context, &levels, rank, 0, bitsOf(encoding, "coordinates"));
  case SparseScheme_Coordinates:
    addEntries(&levels, rank, s.isUnordered);
    return encodingOf(context, &levels, rank, 0, bitsOf(encoding, "coordinates"));
  default:
    return none;
  }
}

MlirType sparseTypeToLevels(MlirType tensor) {
  MlirAttribute levels = levelsOf(tensor);
  return mlirAttributeIsNull(levels) ? (MlirType){NULL} : sparseTypeWithEncoding(tensor, levels);
}

//===--- values ---------------------------------------------------------------===//

MlirValue sparseCastTo(TileBuilder *builder, MlirValue tensor, MlirType type) {
  if (mlirTypeEqual(mlirValueGetType(tensor), type))
    return tensor;
  return tensorCastOpBuild(builder, type, tensor);
}

static MlirType tensorType(MlirType element, intptr_t rank, const int64_t *sizes) {
  return mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull());
}
#define TENSOR_TYPE(element, ...)                                                                                      \
  tensorType(element, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})
static const int64_t open = INT64_MIN; // mlirShapedTypeGetDynamicSize()

static TileUpstream elementCast(MlirType from, MlirType to) {
  if (mlirTypeIsAIndex(from) || mlirTypeIsAIndex(to))
    return ArithOp_IndexCastUI; // none is negative
  return mlirIntegerTypeGetWidth(from) < mlirIntegerTypeGetWidth(to) ? ArithOp_ExtUI : ArithOp_TruncI;
}

// Each element as one of that type.
static MlirValue castElements(TileBuilder *builder, MlirValue tensor, MlirType element) {
  MlirType type = mlirValueGetType(tensor), from = mlirShapedTypeGetElementType(type);
  int64_t sizes[MaxLevels];
  intptr_t rank = mlirShapedTypeGetRank(type);
  if (mlirTypeEqual(from, element))
    return tensor;
  for (intptr_t i = 0; i < rank; ++i)
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
  MlirType result = tensorType(element, rank, sizes);
  MlirValue operands[] = {tensor, tileBuildEmptyLike(builder, result, tensor)};
  MlirRegion region;
  TileBuilder body = tileBuilderInRegion(builder, &region, 2, (MlirType[]){from, element});
  MlirValue argument = mlirBlockGetArgument(body.block, 0);
  MlirValue cast = tileBuildCast(&body, elementCast(from, element), argument, element);
  linalgYieldOpBuild(&body, 1, &cast);
  MlirAttribute identity = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(builder->context, rank));
  MlirOperation op = linalgGenericOpBuild(builder, 1, &result, 1, &operands[0], 1, &operands[1],
                                          mlirArrayAttrGet(builder->context, 2, (MlirAttribute[]){identity, identity}),
                                          tileBuildIteratorTypes(builder, rank, 0), region);
  return tileOnlyResult(op);
}

// The first `n` rows of `tensor`, all of each.
static MlirValue firstRows(TileBuilder *builder, MlirValue tensor, MlirValue n) {
  MlirType type = mlirValueGetType(tensor);
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t offsets[MaxLevels] = {0}, sizes[MaxLevels], strides[MaxLevels];
  for (intptr_t i = 0; i < rank; ++i) {
    sizes[i] = i ? mlirShapedTypeGetDimSize(type, i) : open;
    strides[i] = 1;
  }
  return tensorExtractSliceOpBuild(builder, tensorType(mlirShapedTypeGetElementType(type), rank, sizes), tensor, 0,
                                   NULL, 1, &n, 0, NULL, mlirDenseI64ArrayGet(builder->context, rank, offsets),
                                   mlirDenseI64ArrayGet(builder->context, rank, sizes),
                                   mlirDenseI64ArrayGet(builder->context, rank, strides));
}

// All axes as one group.
static MlirAttribute oneGroup(const TileBuilder *builder, intptr_t rank) {
  MlirAttribute axes[MaxLevels];
  for (intptr_t i = 0; i < rank; ++i)
    axes[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), i);
  MlirAttribute group = mlirArrayAttrGet(builder->context, rank, axes);
  return mlirArrayAttrGet(builder->context, 1, &group);
}

// Row-major elements of `tensor` in another shape; all its sizes but the first are known; and one row of them.
static MlirValue expand(TileBuilder *builder, MlirValue row, MlirType type) {
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t sizes[MaxLevels], inner = 1;
  for (intptr_t i = 0; i < rank; ++i) {
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
    inner *= i ? sizes[i] : 1;
  }
  bool isOpen = mlirShapedTypeIsDynamicSize(sizes[0]);
  MlirValue first = {NULL};
  if (isOpen)
    first = arithDivUIOpBuild(builder, tileBuildSize(builder, row, 0), tileBuildIndex(builder, inner));
  MlirType from = TENSOR_TYPE(mlirShapedTypeGetElementType(type), isOpen ? open : sizes[0] * inner);
  return tensorExpandShapeOpBuild(builder, type, sparseCastTo(builder, row, from), isOpen, &first,
                                  oneGroup(builder, rank), mlirDenseI64ArrayGet(builder->context, rank, sizes));
}

static MlirValue collapse(TileBuilder *builder, MlirValue tensor) {
  MlirType type = mlirValueGetType(tensor);
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t size = 1;
  if (rank == 1)
    return tensor;
  for (intptr_t i = 0; i < rank; ++i) {
    int64_t here = mlirShapedTypeGetDimSize(type, i);
    size = size == open || mlirShapedTypeIsDynamicSize(here) ? open : size * here;
  }
  MlirType flat = TENSOR_TYPE(mlirShapedTypeGetElementType(type), size);
  return tensorCollapseShapeOpBuild(builder, flat, tensor, oneGroup(builder, rank));
}

//===--- coordinates of entries -------------------------------------------------===//

// For coo: the coordinates of an entry, unless its levels say soa.
static bool standTogether(MlirType theirs) {
  Levels levels = {0};
  return readLevels(theirs, &levels) && levels.count > 1 && !(levels.types[1] & MLIR_SPARSE_PROPERTY_SOA);
}

// Row `axis` of a rank × n matrix: inserted, or taken out.
typedef struct RowSlice {
  MlirAttribute offsets, sizes, strides;
} RowSlice;

static RowSlice rowSliceAt(const TileBuilder *builder, intptr_t axis) {
  return (RowSlice){mlirDenseI64ArrayGet(builder->context, 2, (int64_t[]){axis, 0}),
                    mlirDenseI64ArrayGet(builder->context, 2, (int64_t[]){1, open}),
                    mlirDenseI64ArrayGet(builder->context, 2, (int64_t[]){1, 1})};
}

static MlirValue insertRow(TileBuilder *builder, MlirValue row, MlirValue matrix, intptr_t axis, MlirValue n) {
  RowSlice at = rowSliceAt(builder, axis);
  return tensorInsertSliceOpBuild(builder, row, matrix, 0, NULL, 1, &n, 0, NULL, at.offsets, at.sizes, at.strides);
}

static MlirValue extractRow(TileBuilder *builder, MlirType type, MlirValue matrix, intptr_t axis, MlirValue n) {
  RowSlice at = rowSliceAt(builder, axis);
  return tensorExtractSliceOpBuild(builder, type, matrix, 0, NULL, 1, &n, 0, NULL, at.offsets, at.sizes, at.strides);
}

static void entriesFromLevels(TileBuilder *builder, MlirType theirs, MlirType ours, const SparseLevelTensors *stored,
                              MlirValue components[]) {
  intptr_t rank = mlirShapedTypeGetRank(ours);
  MlirType element = sparseEncodingGetType(sparseTypeGetEncoding(ours), "coordinates");
  MlirType positions = mlirShapedTypeGetElementType(mlirValueGetType(stored->levels[0]));
  MlirValue end = tensorExtractOpBuild(builder, stored->levels[0], 1, (MlirValue[]){tileBuildIndex(builder, 1)});
  MlirValue n =
      mlirTypeIsAIndex(positions) ? end : arithIndexCastUIOpBuild(builder, mlirIndexTypeGet(builder->context), end);
  components[1] = firstRows(builder, stored->values, n);
  if (rank > 1 && standTogether(theirs)) {
    MlirValue all = tileBuildSwapped(builder, firstRows(builder, stored->levels[1], n));
    components[0] = castElements(
        builder,
        sparseCastTo(builder, all, TENSOR_TYPE(mlirShapedTypeGetElementType(mlirValueGetType(all)), rank, open)),
        element);
    return;
  }
  MlirType type = TENSOR_TYPE(element, rank, open);
  components[0] = tensorEmptyOpBuild(builder, type, 1, &n);
  for (intptr_t i = 0; i < rank; ++i) {
    MlirValue row = castElements(builder, firstRows(builder, stored->levels[1 + i], n), element);
    components[0] = insertRow(builder, row, components[0], i, n);
  }
}

static void levelsFromEntries(TileBuilder *builder, MlirType theirs, const MlirValue components[],
                              SparseLevelTensors *stored) {
  intptr_t rank = mlirShapedTypeGetRank(theirs);
  MlirType indexType = mlirIndexTypeGet(builder->context);
  MlirValue n = tileBuildSize(builder, components[1], 0), ends[] = {tileBuildIndex(builder, 0), n};
  MlirValue positions = tensorFromElementsOpBuild(builder, TENSOR_TYPE(indexType, 2), 2, ends);
  MlirType element = mlirShapedTypeGetElementType(sparseLevelType(theirs, 1));
  stored->levels[0] = castElements(builder, positions, mlirShapedTypeGetElementType(sparseLevelType(theirs, 0)));
  stored->values = components[1];
  stored->count = 2;
  if (rank > 1 && standTogether(theirs)) {
    stored->levels[1] = castElements(builder, tileBuildSwapped(builder, components[0]), element);
    return;
  }
  stored->count = 1 + rank;
  MlirType own = mlirShapedTypeGetElementType(mlirValueGetType(components[0]));
  for (intptr_t i = 0; i < rank; ++i) {
    MlirValue row = extractRow(builder, TENSOR_TYPE(own, open), components[0], i, n);
    stored->levels[1 + i] = castElements(builder, row, element);
  }
}

//===--- stored tensors ---------------------------------------------------------===//

static MlirValue asComponent(TileBuilder *builder, MlirValue tensor, MlirType wanted) {
  MlirValue cast = castElements(builder, tensor, mlirShapedTypeGetElementType(wanted));
  return mlirShapedTypeGetRank(wanted) == 1 ? sparseCastTo(builder, cast, wanted) : expand(builder, cast, wanted);
}

void sparseComponentsFromLevels(TileBuilder *builder, MlirType theirs, MlirType ours, const SparseLevelTensors *stored,
                                MlirValue components[SPARSE_MAX_COMPONENTS]) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  intptr_t count = sparseTypeGetComponents(ours, parts);
  if (sparseEncodingIs(sparseTypeGetEncoding(ours), SparseScheme_Coordinates)) {
    entriesFromLevels(builder, theirs, ours, stored, components);
    return;
  }
  for (intptr_t i = 0; i < count; ++i)
    components[i] = asComponent(builder, i + 1 < count ? stored->levels[i] : stored->values, parts[i].type);
}

SparseLevelTensors sparseLevelsFromComponents(TileBuilder *builder, MlirType theirs, MlirType ours,
                                              const MlirValue components[SPARSE_MAX_COMPONENTS]) {
  SparseLevelTensors stored = {.count = 0};
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  intptr_t count = sparseTypeGetComponents(ours, parts);
  if (sparseEncodingIs(sparseTypeGetEncoding(ours), SparseScheme_Coordinates)) {
    levelsFromEntries(builder, theirs, components, &stored);
    return stored;
  }
  for (intptr_t i = 0; i + 1 < count; ++i)
    stored.levels[stored.count++] = castElements(builder, collapse(builder, components[i]),
                                                 mlirShapedTypeGetElementType(sparseLevelType(theirs, i)));
  stored.values = collapse(builder, components[count - 1]);
  return stored;
}

//===--- which of them ------------------------------------------------------------===//

// Only lists that have a format here are asked about: one level stores positions, or none (windows).
static uint64_t formatAt(const Levels *levels, int64_t level) { return levels->types[level] & 0xff0000; }
static bool isOfEntries(const Levels *levels) { return formatAt(levels, 0) == MLIR_SPARSE_TENSOR_LEVEL_COMPRESSED; }

intptr_t sparseLevelPositions(MlirType theirs, int64_t level) {
  Levels levels;
  bool has = readLevels(theirs, &levels) && level < levels.count &&
             formatAt(&levels, level) == MLIR_SPARSE_TENSOR_LEVEL_COMPRESSED;
  return has ? 0 : -1;
}

intptr_t sparseLevelCoordinates(MlirType theirs, int64_t level, intptr_t *axis) {
  Levels levels;
  *axis = -1;
  if (!readLevels(theirs, &levels) || level >= levels.count || isDense(&levels, level))
    return -1;
  if (formatAt(&levels, level) == MLIR_SPARSE_TENSOR_LEVEL_N_OUT_OF_M)
    return 0;
  if (!isOfEntries(&levels))
    return 1;
  *axis = standTogether(theirs) ? level : -1;
  return standTogether(theirs) ? 1 : 1 + level;
}

static MlirType integerOf(MlirContext context, int width) {
  return width ? mlirIntegerTypeGet(context, (unsigned)width) : mlirIndexTypeGet(context);
}

MlirType sparseLevelType(MlirType theirs, intptr_t index) {
  Levels levels = {0};
  MlirContext context = mlirTypeGetContext(theirs);
  readLevels(theirs, &levels);
  bool hasPositions = isOfEntries(&levels) || levels.count != 3;
  if (hasPositions && index == 0)
    return TENSOR_TYPE(integerOf(context, mlirSparseTensorEncodingAttrGetPosWidth(levels.encoding)), open);
  MlirType element = integerOf(context, mlirSparseTensorEncodingAttrGetCrdWidth(levels.encoding));
  return isOfEntries(&levels) && standTogether(theirs) ? TENSOR_TYPE(element, open, levels.count)
                                                       : TENSOR_TYPE(element, open);
}

//===--- both ways --------------------------------------------------------------------===//

MlirLogicalResult sparseReplaceWith(MlirPatternRewriter rewriter, MlirOperation op, intptr_t count,
                                    const MlirValue *values) {
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, count, values);
  return mlirLogicalResultSuccess();
}

typedef struct Rows {
  const SparseConversionRow *items;
  size_t count;
} Rows;

static MlirLogicalResult convertByRow(MlirOperation op, intptr_t count, const MlirValue *operands,
                                      MlirPatternRewriter rewriter, MlirExtTypeConverter converter, void *data) {
  const Rows *rows = data;
  for (size_t i = 0; i < rows->count; ++i) {
    const SparseConversionRow *row = &rows->items[i];
    if (row->isA(op))
      return row->convert(op, count, operands, rewriter, converter, NULL);
  }
  return mlirLogicalResultFailure();
}

bool sparseConvertOps(MlirOperation module, size_t count, const SparseConversionRow *rows,
                      MlirExtTypeConversion convertType, MlirExtLegalityCallback isLegal) {
  Rows all = {rows, count};
  const TileDialectConversion conversion = {
      .convertType = convertType, .isLegal = isLegal, .convert = convertByRow, .userData = &all};
  return tileConvertDialect(module, &conversion);
}
