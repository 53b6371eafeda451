// tile-skip-padding: kernels of convolutions read their image, and no padded copy of it.
//
//   %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0]      tile.launch @conv ins(%x, %w)
//   tile.launch @conv ins(%p, %w)
//
// Why: the copy costs a pass over memory and an allocation, and its zeros are multiplied. In the kernel a row of the
//   image is at `row + tap`. Taps whose row is padding add nothing: the loop over taps leaves them out. Along the tile
//   the view itself pads: its index becomes smaller by the padding, and reads outside the image give zero.
// Expects: kernels and launches on tensors, as convert-linalg-to-tile leaves them.
// Leaves: the same results. A launch reads past tensor.pad if the padding is constant, zero, of f32, and read by
//   launches alone; if each launch of the kernel has such a padding; and if the kernel only multiplies the tiles that
//   it loads from the padded tensor, and sums up from +0. Taps are left out if the other factor is a constant without
//   infinities and nan, whose products with zero are zero.
// Cost: a walk over the module, and one pass over the constants that are factors.
#include "lib/transforms/fuse/fuse.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/support/array.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MaxRank = TESSERA_MAX_RANK, MaxTaps = 4 };

//===--- paddings -----------------------------------------------------------------===//

typedef struct Padding {
  MlirType source; // of the tensor that is padded
  intptr_t rank;
  int64_t low[MaxRank], high[MaxRank];
} Padding;

// A question for the size of a known dimension.
static bool asksSizeOf(MlirOperation op, int64_t *dim) {
  if (memrefDimOpIsA(op))
    return tileConstantIndex(memrefDimOpGetIndex(op), dim);
  return tensorDimOpIsA(op) && tileConstantIndex(tensorDimOpGetIndex(op), dim);
}

static bool asksSize(MlirOperation op) {
  int64_t dim;
  return asksSizeOf(op, &dim);
}

// By launches alone, so that the copy may go.
static bool isReadByLaunches(MlirValue value) {
  bool is = true;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    is = is && (asksSize(mlirOpOperandGetOwner(use)) || tileLaunchOpIsA(mlirOpOperandGetOwner(use)));
  return is;
}

static bool isRead(MlirValue value) {
  bool is = false;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    is = is || !asksSize(mlirOpOperandGetOwner(use));
  return is;
}

static bool readPadding(MlirValue value, Padding *padding) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !tensorPadOpIsA(op) || !isReadByLaunches(value) || tensorPadOpGetNumLow(op) ||
      tensorPadOpGetNumHigh(op))
    return false;
  *padding = (Padding){.source = tensorPadOpGetSourceType(op)};
  padding->rank = mlirShapedTypeGetRank(padding->source);
  for (intptr_t d = 0; d < padding->rank && d < MaxRank; ++d) {
    padding->low[d] = mlirDenseI64ArrayGetElement(tensorPadOpGetStaticLow(op), d);
    padding->high[d] = mlirDenseI64ArrayGetElement(tensorPadOpGetStaticHigh(op), d);
    if (padding->low[d] < 0 || padding->high[d] < 0)
      return false;
  }
  MlirOperation yield = mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
  return padding->rank <= MaxRank && mlirTypeIsAF32(mlirShapedTypeGetElementType(padding->source)) &&
         mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(padding->source)) &&
         tileIsPlusZero(tensorYieldOpGetValue(yield));
}

static bool isSame(const Padding *a, const Padding *b) {
  return mlirTypeEqual(a->source, b->source) && memcmp(a->low, b->low, sizeof a->low) == 0 &&
         memcmp(a->high, b->high, sizeof a->high) == 0;
}

static bool isPadded(const Padding *padding, intptr_t d) { return padding->low[d] || padding->high[d]; }

//===--- taps: rows of the image that a loop walks -------------------------------------------===//

// Index `base` + `scale` * the induction variable of `loop`, of dimension `dim`. A null base is 0.
typedef struct Tap {
  MlirOperation loop;
  MlirValue base;
  int64_t scale;
  intptr_t dim;
} Tap;

// What the kernel does with one parameter.
typedef struct Reading {
  MlirValue parameter;
  Padding padding;
  Tap taps[MaxTaps];
  intptr_t numTaps;
  MlirValue factors[MaxTaps]; // parameters that the padded one is multiplied by
  intptr_t numFactors;
} Reading;

static MlirOperation loopOf(MlirValue value) {
  if (!mlirValueIsABlockArgument(value) || mlirBlockArgumentGetArgNumber(value) != 0)
    return (MlirOperation){NULL};
  MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
  return scfForOpIsA(loop) ? loop : (MlirOperation){NULL};
}

static bool readTerm(MlirValue value, Tap *tap) {
  MlirOperation op = tileDefiningOp(value);
  tap->scale = 1;
  if (!mlirOperationIsNull(op) && arithMulIOpIsA(op) && tileConstantIndex(arithMulIOpGetRhs(op), &tap->scale))
    value = arithMulIOpGetLhs(op);
  tap->loop = loopOf(value);
  return !mlirOperationIsNull(tap->loop) && tap->scale > 0;
}

// Whether the value can be computed before `loop`, of what is known there.
static bool isKnownBefore(MlirOperation loop, MlirValue value) {
  if (mlirValueIsABlockArgument(value)) {
    MlirOperation owner = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
    return !tileIsWithin(owner, loop);
  }
  MlirOperation op = mlirOpResultGetOwner(value);
  bool is = !tileIsWithin(op, loop);
  if (is || !(arithAddIOpIsA(op) || arithMulIOpIsA(op) || arithConstantOpIsA(op)))
    return is;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!isKnownBefore(loop, mlirOperationGetOperand(op, i)))
      return false;
  return true;
}

static bool readTap(MlirValue index, Tap *tap) {
  int64_t step;
  MlirOperation sum = tileDefiningOp(index);
  bool ok = readTerm(index, tap);
  for (int side = 0; !ok && side < 2 && !mlirOperationIsNull(sum) && arithAddIOpIsA(sum); ++side) {
    tap->base = mlirOperationGetOperand(sum, 1 - side);
    ok = readTerm(mlirOperationGetOperand(sum, side), tap) && isKnownBefore(tap->loop, tap->base);
  }
  return ok && tileConstantIndex(scfForOpGetStep(tap->loop), &step) && step == 1;
}

//===--- what the kernel does with a tile that is zero ----------------------------------------===//

// The product that the tile is a factor of, if that is all it is used for.
static MlirOperation productOf(MlirValue tile, MlirValue *factor) {
  MlirOperation user = tileHasOneUse(tile) ? mlirOpOperandGetOwner(mlirValueGetFirstUse(tile)) : (MlirOperation){NULL};
  if (mlirOperationIsNull(user) || !tileMmaOpIsA(user) || mlirValueEqual(tileMmaOpGetAccumulator(user), tile))
    return (MlirOperation){NULL};
  *factor = mlirValueEqual(tileMmaOpGetLhs(user), tile) ? tileMmaOpGetRhs(user) : tileMmaOpGetLhs(user);
  return user;
}

// Whether a round of the loop gives what it is given, but for what `product` adds.
static bool onlyAdds(MlirOperation loop, MlirOperation product) {
  if (scfForOpGetNumInitArgs(loop) != 1)
    return false;
  MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(loop));
  MlirValue sum = mlirBlockGetArgument(body, 1);
  MlirOperation last = tileDefiningOp(scfYieldOpGetResults(mlirBlockGetTerminator(body), 0));
  if (mlirOperationIsNull(last))
    return false;
  if (scfForOpIsA(last))
    return scfForOpGetNumInitArgs(last) == 1 && mlirValueEqual(scfForOpGetInitArgs(last, 0), sum) &&
           onlyAdds(last, product);
  return mlirOperationEqual(last, product) && mlirValueEqual(tileMmaOpGetAccumulator(product), sum);
}

// A sum that starts from +0 is never -0, whatever zeros are added.
static bool startsFromZero(MlirOperation loop) {
  MlirValue first = scfForOpGetInitArgs(loop, 0);
  while (mlirValueIsABlockArgument(first)) {
    loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(first));
    if (!scfForOpIsA(loop) || scfForOpGetNumInitArgs(loop) != 1)
      return false;
    first = scfForOpGetInitArgs(loop, 0);
  }
  return tileIsPlusZero(first);
}

static bool addFactor(Reading *reading, MlirValue factor) {
  MlirOperation load = tileDefiningOp(factor);
  MlirOperation view = !mlirOperationIsNull(load) && tileLoadOpIsA(load) ? tileDefiningOp(tileLoadOpGetSource(load))
                                                                         : (MlirOperation){NULL};
  if (mlirOperationIsNull(view) || !tileViewOpIsA(view) || !mlirValueIsABlockArgument(tileViewOpGetSource(view)) ||
      reading->numFactors == MaxTaps)
    return false;
  reading->factors[reading->numFactors++] = tileViewOpGetSource(view);
  return true;
}

// The memref's dimensions that the view's axes walk, in the order of the memref.
static intptr_t keptDimensions(MlirOperation view, intptr_t rank, intptr_t *kept) {
  MlirAttribute fixed = tileViewOpGetFixed(view);
  intptr_t numFixed = mlirAttributeIsNull(fixed) ? 0 : mlirDenseArrayGetNumElements(fixed), count = 0;
  for (intptr_t d = 0; d < rank; ++d) {
    bool isFixed = false;
    for (intptr_t i = 0; i < numFixed; ++i)
      isFixed = isFixed || mlirDenseI64ArrayGetElement(fixed, i) == d;
    if (!isFixed)
      kept[count++] = d;
  }
  return count;
}

static bool readLoad(Reading *reading, MlirOperation view, MlirOperation load, intptr_t firstTap) {
  MlirValue factor;
  if (!tileLoadOpIsA(load) || !mlirValueEqual(tileLoadOpGetSource(load), tileViewOpGetResult(view)))
    return false;
  MlirOperation product = productOf(tileLoadOpGetResult(load), &factor);
  if (mlirOperationIsNull(product) || !addFactor(reading, factor))
    return false;
  for (intptr_t i = firstTap; i < reading->numTaps; ++i)
    if (!tileIsWithin(product, reading->taps[i].loop) || !onlyAdds(reading->taps[i].loop, product) ||
        !startsFromZero(reading->taps[i].loop))
      return false;
  return true;
}

static bool readView(Reading *reading, MlirOperation view) {
  MlirType type = tileViewOpGetResultType(view);
  MlirAttribute fixed = tileViewOpGetFixed(view);
  intptr_t numFixed = mlirAttributeIsNull(fixed) ? 0 : mlirDenseArrayGetNumElements(fixed);
  intptr_t firstTap = reading->numTaps, kept[MaxRank];
  if (!tileStringEquals(tileViewTypeGetPad(type), "zero") || !mlirAttributeIsNull(tileViewTypeGetPacked(type)))
    return false;
  for (intptr_t i = 0; i < numFixed; ++i) {
    intptr_t d = mlirDenseI64ArrayGetElement(fixed, i);
    if (!isPadded(&reading->padding, d))
      continue;
    Tap tap = {.dim = d};
    if (reading->numTaps == MaxTaps || !readTap(tileViewOpGetIndices(view, i), &tap))
      return false;
    reading->taps[reading->numTaps++] = tap;
  }
  keptDimensions(view, reading->padding.rank, kept);
  for (intptr_t a = 0; a < tileViewTypeGetRank(type); ++a)
    if (reading->padding.low[kept[tileViewTypeGetOrder(type, a)]] % tileViewTypeGetStep(type, a))
      return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(tileViewOpGetResult(view)); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (!readLoad(reading, view, mlirOpOperandGetOwner(use), firstTap))
      return false;
  return true;
}

static bool readKernel(Reading *reading) {
  for (MlirOpOperand use = mlirValueGetFirstUse(reading->parameter); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (!asksSize(op) && !(tileViewOpIsA(op) && readView(reading, op)))
      return false;
  }
  return true;
}

//===--- what the launches pass ---------------------------------------------------------------===//

static bool isFinite(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !arithConstantOpIsA(op) ||
      !mlirTypeIsAF32(mlirShapedTypeGetElementType(mlirValueGetType(value))))
    return false;
  double splat;
  if (tileConstantFloat(value, &splat))
    return isfinite(splat);
  size_t size;
  const unsigned char *bytes = tileElementsBytes(arithConstantOpGetValue(op), &size);
  bool is = bytes != NULL;
  for (size_t i = 0; is && i + sizeof(float) <= size; i += sizeof(float)) {
    float element;
    memcpy(&element, bytes + i, sizeof element);
    is = isfinite(element);
  }
  return is;
}

typedef struct Kernel {
  MlirOperation op;
  TileOps launches;
} Kernel;

static MlirValue passed(MlirOperation launch, intptr_t argument) { return tileLaunchOpGetInputs(launch, argument); }

static bool havePadding(const Kernel *kernel, intptr_t argument, Padding *padding) {
  for (intptr_t i = 0; i < kernel->launches.count; ++i) {
    Padding other;
    if (argument >= tileLaunchOpGetNumInputs(kernel->launches.items[i]) ||
        !readPadding(passed(kernel->launches.items[i], argument), &other) || (i && !isSame(padding, &other)))
      return false;
    *padding = other;
  }
  return kernel->launches.count > 0;
}

static bool haveFiniteFactors(const Kernel *kernel, const Reading *reading) {
  for (intptr_t i = 0; reading->numTaps && i < kernel->launches.count; ++i)
    for (intptr_t f = 0; f < reading->numFactors; ++f)
      if (!isFinite(passed(kernel->launches.items[i], mlirBlockArgumentGetArgNumber(reading->factors[f]))))
        return false;
  return true;
}

//===--- the change ---------------------------------------------------------------------------===//

static void moveBefore(MlirOperation loop, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !tileIsWithin(op, loop))
    return;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    moveBefore(loop, mlirOperationGetOperand(op, i));
  mlirOperationMoveBefore(op, loop);
}

// ceil(max(a, 0) / scale) - the first tap whose row is `a` rows further on.
static MlirValue tapsUpTo(TileBuilder *b, MlirValue a, int64_t scale) {
  return tileBuildCeilDiv(b, tileBuildMax(b, a, tileBuildIndex(b, 0)), tileBuildIndex(b, scale));
}

// The rounds of the loop whose rows lie in the image.
static void limit(const Reading *reading, const Tap *tap) {
  if (!mlirValueIsNull(tap->base))
    moveBefore(tap->loop, tap->base);
  TileBuilder b = tileBuilderBefore(tap->loop);
  MlirValue base = mlirValueIsNull(tap->base) ? tileBuildIndex(&b, 0) : tap->base;
  MlirValue first = tileBuildSub(&b, tileBuildIndex(&b, reading->padding.low[tap->dim]), base);
  MlirValue end = tileBuildAdd(&b, first, tileBuildSize(&b, reading->parameter, tap->dim));
  MlirValue from = tapsUpTo(&b, first, tap->scale);
  int64_t begin;
  bool isFromZero = tileConstantIndex(scfForOpGetLowerBound(tap->loop), &begin) && begin == 0;
  scfForOpSetLowerBound(tap->loop, isFromZero ? from : tileBuildMax(&b, scfForOpGetLowerBound(tap->loop), from));
  scfForOpSetUpperBound(tap->loop, tileBuildMin(&b, scfForOpGetUpperBound(tap->loop), tapsUpTo(&b, end, tap->scale)));
}

static void subtract(MlirOperation op, intptr_t operand, int64_t amount) {
  TileBuilder b = tileBuilderBefore(op);
  if (amount)
    mlirOperationSetOperand(op, operand,
                            tileBuildSub(&b, mlirOperationGetOperand(op, operand), tileBuildIndex(&b, amount)));
}

static void moveView(const Reading *reading, MlirOperation view) {
  MlirAttribute fixed = tileViewOpGetFixed(view);
  MlirType type = tileViewOpGetResultType(view);
  intptr_t kept[MaxRank];
  for (intptr_t i = 0; i < tileViewOpGetNumIndices(view); ++i)
    subtract(view, tileViewOpGetIndicesBegin(view) + i, reading->padding.low[mlirDenseI64ArrayGetElement(fixed, i)]);
  keptDimensions(view, reading->padding.rank, kept);
  for (MlirOpOperand use = mlirValueGetFirstUse(tileViewOpGetResult(view)); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation load = mlirOpOperandGetOwner(use);
    for (intptr_t a = 0; a < tileLoadOpGetNumIndices(load); ++a)
      subtract(load, tileLoadOpGetIndicesBegin(load) + a,
               reading->padding.low[kept[tileViewTypeGetOrder(type, a)]] / tileViewTypeGetStep(type, a));
  }
}

// What was the padded size, of `source` in place of the padded tensor.
static void answer(const Padding *padding, MlirValue source, MlirOperation question) {
  int64_t d;
  asksSizeOf(question, &d);
  TileBuilder b = tileBuilderBefore(question);
  MlirValue size = tileBuildSize(&b, source, d);
  size = tileBuildAdd(&b, size, tileBuildIndex(&b, padding->low[d] + padding->high[d]));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(question), size);
  mlirOperationDestroy(question);
}

static TileOps usersOf(MlirValue value) {
  TileOps users = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    tileOpsAppend(&users, mlirOpOperandGetOwner(use));
  return users;
}

static void changeParameter(MlirOperation kernel, MlirValue parameter, MlirType tensor) {
  int64_t sizes[MaxRank];
  intptr_t rank = mlirShapedTypeGetRank(tensor);
  for (intptr_t d = 0; d < rank; ++d)
    sizes[d] = mlirShapedTypeGetDimSize(tensor, d);
  mlirValueSetType(parameter, mlirMemRefTypeContiguousGet(mlirShapedTypeGetElementType(tensor), rank, sizes,
                                                          mlirAttributeGetNull()));
  MlirBlock body = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  intptr_t count = mlirBlockGetNumArguments(body);
  MlirType *types = calloc((size_t)count, sizeof *types);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(body, i));
  MlirType type = mlirFunctionTypeGet(mlirOperationGetContext(kernel), count, types, 0, NULL);
  tileKernelOpSetFunctionType(kernel, mlirTypeAttrGet(type));
  free(types);
}

static void readPast(const Padding *padding, MlirOperation launch, intptr_t argument) {
  MlirOperation pad = tileDefiningOp(passed(launch, argument));
  MlirValue source = tensorPadOpGetSource(pad);
  mlirOperationSetOperand(launch, tileLaunchOpGetInputsBegin(launch) + argument, source);
  if (isRead(tensorPadOpGetResult(pad)))
    return;
  TileOps questions = usersOf(tensorPadOpGetResult(pad));
  for (intptr_t i = 0; i < questions.count; ++i)
    answer(padding, source, questions.items[i]);
  tileOpsFree(&questions);
  mlirOperationDestroy(pad);
}

static void skip(const Kernel *kernel, Reading *reading, intptr_t argument) {
  TileOps users = usersOf(reading->parameter);
  changeParameter(kernel->op, reading->parameter, reading->padding.source);
  for (intptr_t i = 0; i < reading->numTaps; ++i)
    limit(reading, &reading->taps[i]);
  for (intptr_t i = 0; i < users.count; ++i)
    if (tileViewOpIsA(users.items[i]))
      moveView(reading, users.items[i]);
    else
      answer(&reading->padding, reading->parameter, users.items[i]);
  tileOpsFree(&users);
  for (intptr_t i = 0; i < kernel->launches.count; ++i)
    readPast(&reading->padding, kernel->launches.items[i], argument);
}

//===--- the pass -----------------------------------------------------------------------------===//

static Kernel kernelOf(MlirOperation op, const TileOps *launches) {
  Kernel kernel = {.op = op};
  for (intptr_t i = 0; i < launches->count; ++i)
    if (tileLaunches(launches->items[i], op))
      tileOpsAppend(&kernel.launches, launches->items[i]);
  return kernel;
}

static uint64_t skipIn(const Kernel *kernel) {
  MlirBlock body = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel->op));
  uint64_t count = 0;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    Reading reading = {.parameter = mlirBlockGetArgument(body, i)};
    if (!havePadding(kernel, i, &reading.padding) || !readKernel(&reading) || !haveFiniteFactors(kernel, &reading))
      continue;
    skip(kernel, &reading, i);
    count += (uint64_t)kernel->launches.count;
  }
  return count;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps kernels = tileCollectOps(module, tileIsPrivateKernel), launches = tileCollectOps(module, tileLaunchOpIsA);
  for (intptr_t i = 0; i < kernels.count; ++i) {
    Kernel kernel = kernelOf(kernels.items[i], &launches);
    mlirExtPassAddStatistic(pass, 0, skipIn(&kernel));
    tileOpsFree(&kernel.launches);
  }
  tileOpsFree(&kernels);
  tileOpsFree(&launches);
  return true;
}

const MlirExtPassDefinition tileSkipPaddingPass = {
    .argument = "tile-skip-padding",
    .summary = "Let kernels of convolutions read their image instead of a padded copy",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"paddings: operands of launches that are no padded copies any more", NULL},
    .dialects = (const char *const[]){"arith", "memref", "scf", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
