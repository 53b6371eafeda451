// sparse-pack-nm: constants are packed to n of m at compile time, so that a program holds n/m of its weights.
//
// Expects: sparse.pack of constants to #sparse.nm and, where n is given, products of linalg with constant weights; the
// elements are integers, f16, bf16, f32 or f64. Leaves: sparse.assemble of constant components, and sparse products.
// Weights that hold more than n of a window are an error at the op that asks, and nothing is changed. What is no
// constant stays. Cost: linear in the weights. Layout: the table in dialects/sparse/sparse.h.
#include <stdlib.h>

#include "dialects/sparse/ops.h"
#include "lib/ir/pass.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "lib/transforms/sparsify/weights.h"
#include "upstream/func.h"

//===--- one window ---------------------------------------------------------===//

typedef struct Packed {
  SparseWindows windows;
  int64_t groups, count;      // of windows
  unsigned char *coordinates; // groups × count × n/together, `coordinateWidth` bytes each
  unsigned char *values;      // groups × count × n × lines
  size_t coordinateWidth;
} Packed;

static void seesElement(const SparseWeights *weights, int64_t row, int64_t column, void *data) {
  *(bool *)data |= !sparseWeightsIsZero(weights, row, column);
}

// Those that hold an element, then the first free ones until there are n; true for those that stay, by place. False
// where more than n hold one.
static bool choosePlaces(const SparseWeights *weights, SparseWindows w, int64_t group, int64_t window, bool *stays,
                         int64_t *seen) {
  int64_t places = w.m / w.together, units = w.n / w.together, held = 0;
  for (int64_t i = 0; i < places; ++i) {
    stays[i] = false;
    sparseWeightsVisitPlace(weights, w, group, window, i, seesElement, &stays[i]);
    held += stays[i];
  }
  *seen = held * w.together;
  for (int64_t i = 0; i < places && held < units; ++i)
    if (!stays[i]) {
      stays[i] = true;
      ++held;
    }
  return held <= units;
}

typedef struct Copy {
  const Packed *packed;
  unsigned char *to; // the place's first value
  int64_t along, line;
} Copy;

static void copyElement(const SparseWeights *weights, int64_t row, int64_t column, void *data) {
  Copy *copy = data;
  SparseWindows w = copy->packed->windows;
  int64_t along = (w.axis ? column : row) - copy->along, line = (w.axis ? row : column) - copy->line;
  memcpy(copy->to + (size_t)(along * w.lines + line) * weights->width,
         weights->bytes + (size_t)(row * weights->columns + column) * weights->stride, weights->width);
}

static void packWindow(const SparseWeights *weights, const Packed *packed, int64_t group, int64_t window,
                       const bool *stays) {
  SparseWindows w = packed->windows;
  int64_t units = w.n / w.together, unit = (group * packed->count + window) * units;
  for (int64_t place = 0; place < w.m / w.together; ++place) {
    if (!stays[place])
      continue;
    memcpy(packed->coordinates + (size_t)unit * packed->coordinateWidth, &place, packed->coordinateWidth);
    Copy copy = {packed, packed->values + (size_t)(unit * w.together * w.lines) * weights->width,
                 window * w.m + place * w.together, group * w.lines};
    sparseWeightsVisitPlace(weights, w, group, window, place, copyElement, &copy);
    ++unit;
  }
}

static bool packWindows(MlirOperation op, const SparseWeights *weights, const Packed *packed, bool *stays) {
  int64_t seen;
  for (int64_t group = 0; group < packed->groups; ++group)
    for (int64_t window = 0; window < packed->count; ++window) {
      if (!choosePlaces(weights, packed->windows, group, window, stays, &seen))
        return tileError(op,
                         "window %lld of group %lld holds %lld elements that are not zero, expected at most %lld "
                         "(sparse-prune-nm drops the others)",
                         (long long)window, (long long)group, (long long)seen, (long long)packed->windows.n);
      packWindow(weights, packed, group, window, stays);
    }
  return true;
}

//===--- one constant -------------------------------------------------------===//

bool sparseWeightsPack(MlirOperation op, const SparseWeights *weights, MlirType type, MlirAttribute components[2]) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  SparseWindows w = sparseEncodingGetWindows(encoding);
  sparseTypeGetComponents(type, parts);
  Packed packed = {w, mlirShapedTypeGetDimSize(parts[0].type, 0), mlirShapedTypeGetDimSize(parts[0].type, 1)};
  packed.coordinateWidth = mlirIntegerTypeGetWidth(sparseEncodingGetType(encoding, "coordinates")) / 8;
  size_t windows = (size_t)(packed.groups * packed.count);
  size_t coordinates = windows * (size_t)(w.n / w.together) * packed.coordinateWidth;
  size_t values = windows * (size_t)(w.n * w.lines) * weights->width;
  bool *stays = calloc((size_t)(w.m / w.together), sizeof *stays);
  packed.coordinates = calloc(coordinates + 1, 1);
  packed.values = calloc(values + 1, 1);
  bool ok = stays && packed.coordinates && packed.values;
  ok = ok ? packWindows(op, weights, &packed, stays) : tileError(op, "has weights too large to pack");
  if (ok) {
    components[0] = mlirDenseElementsAttrRawBufferGet(parts[0].type, coordinates, packed.coordinates);
    components[1] = mlirDenseElementsAttrRawBufferGet(parts[1].type, values, packed.values);
  }
  free(stays);
  free(packed.coordinates);
  free(packed.values);
  return ok;
}

static MlirValue assemble(MlirOperation at, MlirType type, const MlirAttribute components[2]) {
  TileBuilder builder = tileBuilderBefore(at);
  const MlirValue values[] = {tileBuildConstant(&builder, components[0]), tileBuildConstant(&builder, components[1])};
  return tileOnlyResult(sparseAssembleOpCreate(&builder, type, 2, values, 0, NULL));
}

//===--- the pass -----------------------------------------------------------===//

enum { Packs, Products };

// An op to be replaced, checked and packed already.
typedef struct Work {
  MlirOperation op;
  bool isProduct;
  SparseWeightedProduct weighted;
  MlirType type;
  MlirAttribute components[2];
} Work;

// False: not for us, or an error that `*ok` tells.
static bool prepare(MlirOperation op, MlirExtPass pass, Work *work, bool *ok) {
  SparseWeights weights;
  intptr_t operand = 0;
  *work = (Work){.op = op};
  if (sparsePackOpIsA(op)) {
    work->type = tileOnlyResultType(op);
    if (!sparseEncodingIs(sparseTypeGetEncoding(work->type), SparseScheme_Windows))
      return false;
  } else if (mlirExtPassGetInteger(pass, "n") > 0 && sparseMatchWeightedProduct(op, &work->weighted)) {
    work->isProduct = true;
    operand = work->weighted.operand;
    work->type = sparseTypeWithEncoding(tileOperandType(op, operand),
                                        sparseNmEncoding(mlirOperationGetContext(op), pass, work->weighted.axis));
  } else {
    return false;
  }
  if (!sparseWeightsRead(mlirOperationGetOperand(op, operand), &weights))
    return false;
  return *ok = sparseWeightsPack(op, &weights, work->type, work->components);
}

static void replace(const Work *work, MlirExtPass pass) {
  MlirOperation constant = tileDefiningOp(mlirOperationGetOperand(work->op, work->weighted.operand));
  MlirValue packed = assemble(work->op, work->type, work->components);
  if (work->isProduct) {
    sparseReplaceProduct(work->op, &work->weighted, packed);
  } else {
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(work->op), packed);
    mlirOperationDestroy(work->op);
  }
  sparseEraseUnused(constant);
  mlirExtPassAddStatistic(pass, work->isProduct ? Products : Packs, 1);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  if (!sparseNmOptionsCheck(function, pass))
    return false;
  TileOps ops = tileCollect(function, NULL);
  Work *works = calloc((size_t)ops.count + 1, sizeof *works);
  intptr_t count = 0;
  bool ok = works || tileError(function, "is too large");
  for (intptr_t i = 0; i < ops.count && ok; ++i)
    count += prepare(ops.items[i], pass, &works[count], &ok);
  for (intptr_t i = 0; i < count && ok; ++i)
    replace(&works[i], pass);
  free(works);
  tileOpsFree(&ops);
  return ok;
}

const MlirExtPassDefinition sparsePackNmPass = {
    .argument = "sparse-pack-nm",
    .summary = "Pack constants to n of m at compile time",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){SPARSE_NM_OPTIONS, {NULL}},
    .statistics = (const char *const[]){"packs: constants packed", "products: products made sparse", NULL},
    .dialects = (const char *const[]){"arith", NULL},
    .registerDialects = sparseRegisterDialect,
    .run = run,
};
