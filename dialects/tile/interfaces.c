// What the Tile ops tell upstream's passes: memory effects, ranges of integers, and how a launch becomes one on
// memrefs.
#include "dialects/tile/discardable.h"
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_format.h"
#include "lib/support/integer.h"
#include "upstream/memref.h"

#include <stdio.h>
#include <stdlib.h>

//===--- memory effects -------------------------------------------------------===//

// Memory effects that a row's text cannot say: they depend on types, attributes or on what is in flight.
// Why: CSE, dead code elimination and code motion ask here what may be merged, dropped or moved.
// Expects: a verified op. Leaves: effects on values where a value stands for the memory, on all memory where none does.

static void readsOperand(MlirOperation op, MlirExtEffects effects, intptr_t operand) {
  mlirExtEffectsAdd(effects, op, MlirExtEffect_Read, operand, -1);
}

static void writesOperand(MlirOperation op, MlirExtEffects effects, intptr_t operand) {
  mlirExtEffectsAdd(effects, op, MlirExtEffect_Write, operand, -1);
}

// Orders this op against every access to memory.
static void ordersMemory(MlirExtEffects effects) {
  mlirExtEffectsAddOn(effects, MlirExtEffect_Read, MlirExtResource_Order);
  mlirExtEffectsAddOn(effects, MlirExtEffect_Write, MlirExtResource_Order);
}

static intptr_t positionOf(MlirOperation op, const char *name) {
  intptr_t begin, count;
  tileOpOperands(op, name, &begin, &count);
  return begin;
}

//===--- structure ----------------------------------------------------------===//

// Launches on tensors are values: equal ones merge, dead ones vanish. On memrefs, ins are read, outs read and written.
// A launch without outs can be there only for what its kernel prints or asserts.
void tileLaunchOpEffects(MlirOperation op, MlirExtEffects effects) {
  intptr_t outputs = positionOf(op, "outputs");
  if (outputs == mlirOperationGetNumOperands(op))
    mlirExtEffectsAddOn(effects, MlirExtEffect_Write, MlirExtResource_Debug);
  for (intptr_t i = positionOf(op, "inputs"); i < mlirOperationGetNumOperands(op); ++i) {
    if (!mlirTypeIsAMemRef(tileOperandType(op, i)))
      continue;
    readsOperand(op, effects, i);
    if (i >= outputs)
      writesOperand(op, effects, i);
  }
}

//===--- memory -------------------------------------------------------------===//

// Memory is a view, buffer or memref; addresses in a tile may point anywhere.
static void accesses(MlirOperation op, MlirExtEffects effects, intptr_t memory, bool reads, bool writes) {
  intptr_t operand = tileTypeIsATile(tileOperandType(op, memory)) ? -1 : memory;
  if (reads)
    mlirExtEffectsAdd(effects, op, MlirExtEffect_Read, operand, -1);
  if (writes)
    mlirExtEffectsAdd(effects, op, MlirExtEffect_Write, operand, -1);
}

void tileStoreOpEffects(MlirOperation op, MlirExtEffects effects) {
  accesses(op, effects, 1, tileHas(op, "combine"), true);
}

// A gather along an axis of a tile reads no memory.
void tileGatherOpEffects(MlirOperation op, MlirExtEffects effects) {
  if (!tileHas(op, "axis"))
    accesses(op, effects, 0, true, false);
}

void tileScatterOpEffects(MlirOperation op, MlirExtEffects effects) {
  accesses(op, effects, 1, tileHas(op, "combine"), true);
}

void tilePrintOpEffects(MlirOperation op, MlirExtEffects effects) {
  mlirExtEffectsAddOn(effects, MlirExtEffect_Write, MlirExtResource_Debug);
  for (intptr_t i = 0; i < tilePrintOpGetNumValues(op); ++i)
    if (mlirTypeIsAMemRef(tileOperandType(op, i)))
      readsOperand(op, effects, i);
}

// An ordered atomic publishes or receives what other memory holds.
static void accessesAtomically(MlirOperation op, MlirExtEffects effects, bool reads, bool writes) {
  accesses(op, effects, positionOf(op, "memory"), reads, writes);
  if (!tileKeywordIs(op, "order", "relaxed"))
    ordersMemory(effects);
}

void tileAtomicRmwOpEffects(MlirOperation op, MlirExtEffects effects) { accessesAtomically(op, effects, true, true); }

void tileAtomicCasOpEffects(MlirOperation op, MlirExtEffects effects) { accessesAtomically(op, effects, true, true); }

// Another program may write between two atomic loads (a loop that polls): no two of them are one, hence the write.
void tileAtomicLoadOpEffects(MlirOperation op, MlirExtEffects effects) { accessesAtomically(op, effects, true, true); }

void tileAtomicWaitOpEffects(MlirOperation op, MlirExtEffects effects) { accessesAtomically(op, effects, true, true); }

void tileAtomicStoreOpEffects(MlirOperation op, MlirExtEffects effects) {
  accessesAtomically(op, effects, false, true);
}

//===--- scheduled level ----------------------------------------------------===//

void tileCopyAsyncOpEffects(MlirOperation op, MlirExtEffects effects) {
  readsOperand(op, effects, 0);
  writesOperand(op, effects, 1);
  if (mlirValueIsNull(tileOpOperand(op, "barrier")))
    return;
  readsOperand(op, effects, positionOf(op, "barrier"));
  writesOperand(op, effects, positionOf(op, "barrier"));
}

// Reads its buffers, until waited for; a buffer that accumulates is written, and its barrier signalled.
void tileMmaAsyncOpEffects(MlirOperation op, MlirExtEffects effects) {
  for (intptr_t i = 0; i < 3; ++i)
    if (tileTypeIsABuffer(tileOperandType(op, i)))
      readsOperand(op, effects, i);
  if (tileTypeIsABuffer(tileMmaAsyncOpGetAccumulatorType(op)))
    writesOperand(op, effects, 2);
  if (!mlirValueIsNull(tileOpOperand(op, "barrier")))
    writesOperand(op, effects, positionOf(op, "barrier"));
}

//===--- ranges of integers ---------------------------------------------------===//

// Integer ranges (InferIntRangeInterface) of program_id, num_programs, num_tiles, iota and assume.
// Why: index arithmetic is 64 bits wide until a range says that 32 are enough (OPS.md §9.17).
// Expects: ranges of the operands. Leaves: ranges that hold for every program of every legal launch.

// Nonnegative, so that signed and unsigned bounds are the same.
static MlirExtIntegerRange rangeOf(int64_t minimum, int64_t maximum) {
  return (MlirExtIntegerRange){(uint64_t)minimum, (uint64_t)maximum, minimum, maximum};
}

// A launch has at most INT32_MAX programs along an axis (verify_structure.c; a runtime checks what is not constant).
void tileProgramIdOpIntegerRanges(MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results) {
  results[0] = rangeOf(0, INT32_MAX - 1);
}

void tileNumProgramsOpIntegerRanges(MlirOperation op, const MlirExtIntegerRange *operands,
                                    MlirExtIntegerRange *results) {
  results[0] = rangeOf(1, INT32_MAX);
}

void tileNumTilesOpIntegerRanges(MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results) {
  results[0] = rangeOf(0, INT64_MAX);
}

//===--- iota ---------------------------------------------------------------===//

static MlirExtIntegerRange fullRange(unsigned width) {
  uint64_t ones = UINT64_MAX >> (64 - width);
  int64_t largest = (int64_t)(ones >> 1);
  return (MlirExtIntegerRange){0, ones, -largest - 1, largest};
}

// from … from + size - 1, unless that may wrap around.
void tileIotaOpIntegerRanges(MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results) {
  MlirType type = tileIotaOpGetResultType(op);
  unsigned width = tileElementWidth(tileTypeGetElement(type));
  MlirExtIntegerRange full = fullRange(width ? width : 64);
  MlirExtIntegerRange from = mlirOperationGetNumOperands(op) ? operands[0] : rangeOf(0, 0);
  int64_t dim = 0;
  tileIntegerOf(op, "dim", &dim);
  int64_t last = tileTypeGetSize(type, dim) - 1;
  bool fitsSigned = from.signedMax <= full.signedMax - last;
  bool fitsUnsigned = from.unsignedMax <= full.unsignedMax - (uint64_t)last;
  results[0] = full;
  if (fitsSigned && last <= full.signedMax) {
    results[0].signedMin = from.signedMin;
    results[0].signedMax = from.signedMax + last;
  }
  if (fitsUnsigned && (uint64_t)last <= full.unsignedMax) {
    results[0].unsignedMin = from.unsignedMin;
    results[0].unsignedMax = from.unsignedMax + (uint64_t)last;
  }
}

//===--- assume -------------------------------------------------------------===//

// The operand's range cut by `range [lower, upper]` (signed). Disjoint ranges: nothing is claimed.
void tileAssumeOpIntegerRanges(MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results) {
  if (mlirTypeIsAMemRef(tileAssumeOpGetResultType(op)))
    return;
  results[0] = operands[0];
  if (!tileHas(op, "range"))
    return;
  int64_t lower = tessera_max(operands[0].signedMin, tileArrayAt(op, "range", 0));
  int64_t upper = tessera_min(operands[0].signedMax, tileArrayAt(op, "range", 1));
  if (lower > upper)
    return;
  results[0].signedMin = lower;
  results[0].signedMax = upper;
  if (lower >= 0) {
    results[0].unsignedMin = (uint64_t)lower;
    results[0].unsignedMax = (uint64_t)upper;
  }
}

//===--- bufferization --------------------------------------------------------===//

// tile.launch from tensors to memrefs (BufferizableOpInterface): ins are read, outs become what is written in place.
// Why: the host's tensors are bufferized by upstream's one-shot analysis, which asks these hooks (reference:
// host-side). Expects: the kernel's symbol resolves. Leaves: the same launch on memrefs, without results. Where a
// kernel's parameter has a layout that the buffer lacks (a strided part for a contiguous parameter), the kernel takes
// the part if it is private, reads it through views only and the part's last axis is contiguous: it, or a copy of it
// where others launch it, has the part's type then. Else the launch gets a contiguous copy of the part, copied back
// when it is an output. An out that the kernel overwrites wholly, `tile.overwrites = [0]` on the
// launch, is not read: its old value costs no copy. That a grid may not have the same buffer as in and out is
// upstream's default for ops that are not elementwise.

//===--- what is read -------------------------------------------------------===//

static bool contains(MlirAttribute array, intptr_t number) {
  if (mlirAttributeIsNull(array) || !mlirAttributeIsAArray(array))
    return false;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(array); ++i) {
    MlirAttribute element = mlirArrayAttrGetElement(array, i);
    if (mlirAttributeIsAInteger(element) && mlirIntegerAttrGetValueInt(element) == number)
      return true;
  }
  return false;
}

static bool reads(MlirOperation op, intptr_t operand) {
  intptr_t begin, count;
  tileOpOperands(op, "outputs", &begin, &count);
  return operand < begin || !contains(tileOpGetOverwrites(op), operand - begin);
}

//===--- fitting a buffer to a parameter ------------------------------------===//

typedef struct Fit {
  TileBuilder builder;
  MlirOperation op;
  MlirType signature; // of the kernel; null when the symbol does not resolve
  intptr_t grid;      // number of operands before the arguments
} Fit;

static MlirType parameterType(const Fit *fit, intptr_t operand, MlirType otherwise) {
  intptr_t index = operand - fit->grid;
  bool isKnown = !mlirTypeIsNull(fit->signature) && index >= 0 && index < mlirFunctionTypeGetNumInputs(fit->signature);
  return isKnown ? mlirFunctionTypeGetInput(fit->signature, index) : otherwise;
}

// As tileSizesCover, for a stride or an offset.
static bool covers(int64_t wanted, int64_t seen) {
  return mlirShapedTypeIsDynamicStrideOrOffset(wanted) || wanted == seen;
}

static bool isContiguous(MlirType memref) { return mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(memref)); }

// memref.cast can make `wanted` of `seen`: sizes, strides and offset that `wanted` covers. Open strides cover any, but
// a parameter without a layout is contiguous although its strides are open.
static bool isCastable(MlirType seen, MlirType wanted) {
  intptr_t rank = mlirShapedTypeGetRank(seen);
  int64_t seenOffset, wantedOffset, *strides = malloc(sizeof *strides * 2 * (size_t)(rank + 1));
  bool fits = tileSizesCover(wanted, seen) && (!isContiguous(wanted) || isContiguous(seen)) &&
              mlirAttributeEqual(mlirMemRefTypeGetMemorySpace(seen), mlirMemRefTypeGetMemorySpace(wanted)) &&
              mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(seen, strides, &seenOffset)) &&
              mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(wanted, strides + rank, &wantedOffset)) &&
              covers(wantedOffset, seenOffset);
  for (intptr_t i = 0; fits && i < rank; ++i)
    fits = covers(strides[rank + i], strides[i]);
  free(strides);
  return fits;
}

// Memory of its own in the parameter's type, as large as `buffer`, aligned as bufferization aligns the rest.
static MlirValue allocateLike(TileBuilder *builder, MlirValue buffer, MlirType type) {
  intptr_t rank = mlirShapedTypeGetRank(type), count = 0;
  MlirValue *sizes = malloc(sizeof *sizes * (size_t)(rank + 1)), result;
  for (intptr_t i = 0; i < rank; ++i) {
    if (!mlirShapedTypeIsDynamicDim(type, i))
      continue;
    sizes[count++] = memrefDimOpBuild(builder, buffer, tileBuildIndex(builder, i));
  }
  MlirAttribute alignment = mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), 64);
  result = memrefAllocOpGetMemref(memrefAllocOpCreate(builder, type, count, sizes, 0, NULL, alignment));
  free(sizes);
  return result;
}

static void copy(TileBuilder *builder, MlirValue from, MlirValue to) { memrefCopyOpBuild(builder, from, to); }

// The buffer as the parameter wants it: itself, cast, or copied.
static MlirValue fitToParameter(Fit *fit, intptr_t operand, MlirValue buffer) {
  MlirType seen = mlirValueGetType(buffer), wanted = parameterType(fit, operand, seen);
  if (mlirTypeEqual(seen, wanted) || !mlirTypeIsAMemRef(wanted))
    return buffer;
  if (isCastable(seen, wanted))
    return memrefCastOpBuild(&fit->builder, wanted, buffer);
  MlirValue own = allocateLike(&fit->builder, buffer, wanted);
  if (reads(fit->op, operand))
    copy(&fit->builder, buffer, own);
  return own;
}

// Whether fitToParameter had to copy: then an output is copied back.
static bool isCopied(MlirValue fitted, MlirValue buffer) {
  return !mlirValueEqual(fitted, buffer) && memrefAllocOpIsA(tileDefiningOp(fitted));
}

//===--- fitting a kernel to buffers ----------------------------------------===//

static bool isPrivateWithBody(MlirOperation kernel) {
  MlirAttribute visibility = tileOpAttribute(kernel, "sym_visibility");
  return !mlirAttributeIsNull(visibility) && tileStringEquals(mlirStringAttrGetValue(visibility), "private") &&
         !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)));
}

static bool isOnlyViewed(MlirValue parameter) {
  for (MlirOpOperand use = mlirValueGetFirstUse(parameter); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (!tileViewOpIsA(mlirOpOperandGetOwner(use)))
      return false;
  return true;
}

// Shape and memory are equal, and neighbours along the last axis are neighbours in memory.
static bool isPartLike(MlirType seen, MlirType wanted) {
  intptr_t rank = mlirShapedTypeGetRank(seen);
  int64_t offset, *strides = malloc(sizeof *strides * (size_t)(rank + 1));
  bool fits = rank > 0 && isContiguous(wanted) && tileSizesCover(wanted, seen) && tileSizesCover(seen, wanted) &&
              mlirAttributeEqual(mlirMemRefTypeGetMemorySpace(seen), mlirMemRefTypeGetMemorySpace(wanted)) &&
              mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(seen, strides, &offset)) &&
              strides[rank - 1] == 1;
  free(strides);
  return fits;
}

// What the kernel would take so that no buffer is copied; its own signature where it cannot.
static MlirType signatureFor(const Fit *fit, MlirOperation kernel, intptr_t count, const MlirValue *buffers) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  intptr_t numInputs = mlirFunctionTypeGetNumInputs(fit->signature);
  MlirType *types = malloc(sizeof *types * (size_t)(numInputs + 1)), signature;
  for (intptr_t i = 0; i < numInputs; ++i) {
    types[i] = mlirFunctionTypeGetInput(fit->signature, i);
    MlirType seen = fit->grid + i < count ? mlirValueGetType(buffers[fit->grid + i]) : types[i];
    if (mlirTypeIsAMemRef(seen) && mlirTypeIsAMemRef(types[i]) && !isCastable(seen, types[i]) &&
        isPartLike(seen, types[i]) && isOnlyViewed(mlirBlockGetArgument(body, i)))
      types[i] = seen;
  }
  signature = mlirFunctionTypeGet(mlirTypeGetContext(fit->signature), numInputs, types, 0, NULL);
  free(types);
  return signature;
}

static void setSignature(MlirOperation kernel, MlirType signature) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  mlirOperationSetAttributeByName(kernel, tileString("function_type"), mlirTypeAttrGet(signature));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(signature); ++i)
    mlirValueSetType(mlirBlockGetArgument(body, i), mlirFunctionTypeGetInput(signature, i));
}

typedef struct Launches {
  MlirAttribute kernel;
  intptr_t count;
} Launches;

static MlirWalkResult countLaunch(MlirOperation op, void *userData) {
  Launches *launches = userData;
  launches->count += tileLaunchOpIsA(op) && mlirAttributeEqual(tileOpAttribute(op, "kernel"), launches->kernel);
  return tileKernelOpIsA(op) ? MlirWalkResultSkip : MlirWalkResultAdvance;
}

static bool isLaunchedElsewhere(MlirOperation op, MlirOperation kernel) {
  Launches launches = {.kernel = tileOpAttribute(op, "kernel")};
  mlirOperationWalk(mlirOperationGetParentOperation(kernel), countLaunch, &launches, MlirWalkPreOrder);
  return launches.count > 1;
}

// The copy of a kernel with that signature: one made for another launch, or a new one beside it.
static MlirAttribute variantOf(MlirOperation op, MlirOperation kernel, MlirType signature) {
  MlirContext context = mlirTypeGetContext(signature);
  MlirStringRef base = mlirStringAttrGetValue(tileOpAttribute(kernel, "sym_name"));
  MlirStringRef suffix = tileString("_of_parts_");
  char *name = malloc(base.length + suffix.length + 24);
  MlirAttribute symbol = mlirAttributeGetNull();
  for (int number = 0; mlirAttributeIsNull(symbol); ++number) {
    sprintf(name, "%.*s%.*s%d", (int)base.length, base.data, (int)suffix.length, suffix.data, number);
    MlirAttribute candidate = mlirFlatSymbolRefAttrGet(context, tileString(name));
    MlirOperation variant = mlirExtSymbolLookup(op, candidate);
    MlirAttribute type =
        mlirOperationIsNull(variant) ? mlirAttributeGetNull() : tileOpAttribute(variant, "function_type");
    if (mlirOperationIsNull(variant)) {
      variant = mlirOperationClone(kernel);
      mlirOperationSetAttributeByName(variant, tileString("sym_name"), mlirStringAttrGet(context, tileString(name)));
      mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(kernel), kernel, variant);
      setSignature(variant, signature);
      symbol = candidate;
    } else if (!mlirAttributeIsNull(type) && mlirTypeEqual(mlirTypeAttrGetValue(type), signature)) {
      symbol = candidate;
    }
  }
  free(name);
  return symbol;
}

// Has the kernel take parts of buffers as they are. The launch's `kernel` may be another then.
static void fitKernel(Fit *fit, intptr_t count, const MlirValue *buffers) {
  MlirOperation kernel = mlirExtSymbolLookup(fit->op, tileOpAttribute(fit->op, "kernel"));
  if (mlirTypeIsNull(fit->signature) || !tileKernelOpIsA(kernel) || !isPrivateWithBody(kernel))
    return;
  MlirType signature = signatureFor(fit, kernel, count, buffers);
  if (mlirTypeEqual(signature, fit->signature))
    return;
  if (isLaunchedElsewhere(fit->op, kernel))
    mlirOperationSetAttributeByName(fit->op, tileString("kernel"), variantOf(fit->op, kernel, signature));
  else
    setSignature(kernel, signature);
  fit->signature = signature;
}

//===--- the launch ---------------------------------------------------------===//

static Fit fitOf(MlirOperation op, MlirRewriterBase rewriter) {
  Fit fit = {.builder = tileBuilderBefore(op), .op = op};
  intptr_t begin;
  MlirOperation kernel = mlirExtSymbolLookup(op, tileOpAttribute(op, "kernel"));
  fit.builder.rewriter = rewriter;
  tileOpOperands(op, "grid", &begin, &fit.grid);
  if (!mlirOperationIsNull(kernel))
    fit.signature = mlirTypeAttrGetValue(tileOpAttribute(kernel, "function_type"));
  return fit;
}

// All attributes of the launch, inherent and discardable, as they are.
static void buildLaunch(TileBuilder *builder, MlirOperation op, intptr_t count, const MlirValue *operands) {
  intptr_t numAttributes = mlirOperationGetNumAttributes(op);
  MlirNamedAttribute *attributes = malloc(sizeof *attributes * (size_t)(numAttributes + 1));
  MlirOperationState state = mlirOperationStateGet(mlirIdentifierStr(mlirOperationGetName(op)), builder->location);
  for (intptr_t i = 0; i < numAttributes; ++i)
    attributes[i] = mlirOperationGetAttribute(op, i);
  mlirOperationStateAddOperands(&state, count, operands);
  mlirOperationStateAddAttributes(&state, numAttributes, attributes);
  tileBuilderInsert(builder, mlirOperationCreate(&state));
  free(attributes);
}

// Fills `buffers` (what each operand is now) and `fitted` (what the kernel gets). False when a buffer is missing.
static bool takeBuffers(Fit *fit, MlirExtBuffers state, intptr_t count, MlirValue *buffers, MlirValue *fitted) {
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue operand = mlirOperationGetOperand(fit->op, i);
    bool isTensor = mlirTypeIsATensor(mlirValueGetType(operand));
    buffers[i] = isTensor ? mlirExtBuffersGet(state, operand) : operand;
    if (mlirValueIsNull(buffers[i]))
      return false;
  }
  fitKernel(fit, count, buffers);
  for (intptr_t i = 0; i < count; ++i) {
    bool isTensor = mlirTypeIsATensor(tileOperandType(fit->op, i));
    fitted[i] = isTensor ? fitToParameter(fit, i, buffers[i]) : buffers[i];
  }
  return true;
}

// Copies back what was copied, and puts each tensor output's buffer for its result.
static void replaceResults(Fit *fit, MlirExtBuffers state, MlirValue *buffers, const MlirValue *fitted) {
  intptr_t begin, count, results = 0;
  tileOpOperands(fit->op, "outputs", &begin, &count);
  for (intptr_t i = begin; i < begin + count; ++i) {
    if (!mlirTypeIsATensor(tileOperandType(fit->op, i)))
      continue;
    if (isCopied(fitted[i], buffers[i]))
      copy(&fit->builder, fitted[i], buffers[i]);
    buffers[results++] = buffers[i];
  }
  mlirExtBuffersReplaceOp(state, fit->op, results, buffers);
}

static bool bufferize(MlirOperation op, MlirRewriterBase rewriter, MlirExtBuffers state) {
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirValue *buffers = malloc(sizeof *buffers * 2 * (size_t)(count + 1)), *fitted = buffers + count;
  Fit fit = fitOf(op, rewriter);
  bool ok = takeBuffers(&fit, state, count, buffers, fitted);
  if (ok) {
    buildLaunch(&fit.builder, op, count, fitted);
    replaceResults(&fit, state, buffers, fitted);
  }
  free(buffers);
  return ok;
}

const MlirExtBufferizableHooks tileLaunchOpBufferize = {.reads = reads, .bufferize = bufferize};
