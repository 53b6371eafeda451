// tile.launch from tensors to memrefs (BufferizableOpInterface): ins are read, outs become what is written in place.
// Why: the host's tensors are bufferized by upstream's one-shot analysis, which asks these hooks (reference:
// host-side). Expects: the kernel's symbol resolves. Leaves: the same launch on memrefs, without results. Where a
// kernel's parameter has a layout that the buffer lacks (a strided part for a contiguous parameter), the kernel takes
// the part if it is private, reads it through views only and the part's last axis is contiguous: it, or a copy of it
// where others launch it, has the part's type then. Else the launch gets a contiguous copy of the part, copied back
// when it is an output. An out that the kernel overwrites wholly, `tile.overwrites = [0]` on the
// launch, is not read: its old value costs no copy. That a grid may not have the same buffer as in and out is
// upstream's default for ops that are not elementwise.
#include "dialects/tile/discardable.h"
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_format.h"
#include "upstream/memref.h"

#include <stdio.h>
#include <stdlib.h>

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
