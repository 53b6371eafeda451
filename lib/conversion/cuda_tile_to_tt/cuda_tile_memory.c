// Pointers and what is read and written through them; tokens, which are nothing; what is printed and asserted.
#include "lib/conversion/cuda_tile_to_tt/cuda_tile_kernel.h"

#include "upstream/arith.h"
#include "upstream/scf.h"

//===--- pointers -------------------------------------------------------------------------===//

static bool setPointer(CudaTileKernel *k, MlirOperation op, MlirValue value) {
  cudaTileSet(k, tileOnlyResult(op), value);
  return true;
}

// One offset may move a tile of pointers, and one pointer go to many places: tt wants tiles of one shape.
static bool offset(CudaTileKernel *k, MlirOperation op) {
  MlirValue pointer = cudaTileGet(k, cudaTileOffsetOpGetPtr(op)), by = cudaTileGet(k, cudaTileOffsetOpGetOffset(op));
  if (mlirValueIsNull(pointer) || mlirValueIsNull(by))
    return false;
  MlirType element = cudaTileElement(mlirValueGetType(by));
  by = mlirTypeIsARankedTensor(mlirValueGetType(by))
           ? by
           : cudaTileSplat(k, by, cudaTileShaped(mlirValueGetType(pointer), element));
  return setPointer(k, op, ttAddPtrOpBuild(&k->b, pointer, by));
}

//===--- accesses -------------------------------------------------------------------------===//

static int placeOf(MlirAttribute word, const char *kind) {
  const char *const *words = cudaTileWordsOf(kind);
  int at = 0;
  while (words[at] && !cudaTileWordIs(word, words[at]))
    ++at;
  return at;
}

CudaTileOrder cudaTileOrderOf(CudaTileKernel *k, MlirAttribute semantics, MlirAttribute scope) {
  static const int64_t semantics_[] = {TtSemantic_Relaxed, TtSemantic_Relaxed, TtSemantic_Acquire, TtSemantic_Release,
                                       TtSemantic_AcquireRelease};
  static const int64_t scopes[] = {TtScope_Cta, TtScope_Gpu, TtScope_System};
  return (CudaTileOrder){
      .isWeak = cudaTileWordIs(semantics, "weak"),
      .semantic = cudaTileI32(k, semantics_[placeOf(semantics, "semantics")]),
      .scope = cudaTileI32(k, mlirAttributeIsNull(scope) ? TtScope_Gpu : scopes[placeOf(scope, "scope")])};
}

int64_t cudaTileAtomicMode(MlirAttribute word) {
  static const int64_t modes[] = {TtRmw_And, TtRmw_Or,  TtRmw_Xor,  TtRmw_Add,  TtRmw_FAdd,
                                  TtRmw_Max, TtRmw_Min, TtRmw_UMax, TtRmw_UMin, TtRmw_Xchg};
  return modes[placeOf(word, "atomic")];
}

MlirValue cudaTileRead(CudaTileKernel *k, MlirType type, MlirValue pointer, MlirValue mask, MlirValue other,
                       CudaTileOrder order) {
  if (order.isWeak)
    return ttLoadOpBuild(&k->b, pointer, mask, other);
  MlirValue loaded = ttAtomicLoadOpBuild(&k->b, type, pointer, mask, order.semantic, order.scope);
  return mlirValueIsNull(other) ? loaded : arithSelectOpBuild(&k->b, mask, loaded, other);
}

void cudaTileWrite(CudaTileKernel *k, MlirValue pointer, MlirValue value, MlirValue mask, CudaTileOrder order) {
  if (order.isWeak)
    ttStoreOpBuild(&k->b, pointer, value, mask);
  else
    ttAtomicStoreOpBuild(&k->b, pointer, value, mask, order.semantic, order.scope);
}

static bool optional(CudaTileKernel *k, MlirValue old, MlirValue *value) {
  *value = mlirValueIsNull(old) ? old : cudaTileGet(k, old);
  return mlirValueIsNull(old) == mlirValueIsNull(*value);
}

static bool load(CudaTileKernel *k, MlirOperation op) {
  MlirValue pointer = cudaTileGet(k, cudaTileLoadPtrTkoOpGetSource(op)), mask, other;
  if (mlirValueIsNull(pointer) || !optional(k, cudaTileLoadPtrTkoOpGetMask(op), &mask) ||
      !optional(k, cudaTileLoadPtrTkoOpGetPaddingValue(op), &other))
    return false;
  CudaTileOrder order =
      cudaTileOrderOf(k, cudaTileLoadPtrTkoOpGetMemoryOrderingSemantics(op), cudaTileLoadPtrTkoOpGetMemoryScope(op));
  MlirType type = cudaTileConvertType(cudaTileLoadPtrTkoOpGetResultType(op));
  cudaTileSet(k, cudaTileLoadPtrTkoOpGetResult(op), cudaTileRead(k, type, pointer, mask, other, order));
  return true;
}

static bool store(CudaTileKernel *k, MlirOperation op) {
  MlirValue pointer = cudaTileGet(k, cudaTileStorePtrTkoOpGetDestination(op)), mask;
  MlirValue value = cudaTileGet(k, cudaTileStorePtrTkoOpGetValue(op));
  if (mlirValueIsNull(pointer) || mlirValueIsNull(value) || !optional(k, cudaTileStorePtrTkoOpGetMask(op), &mask))
    return false;
  cudaTileWrite(
      k, pointer, value, mask,
      cudaTileOrderOf(k, cudaTileStorePtrTkoOpGetMemoryOrderingSemantics(op), cudaTileStorePtrTkoOpGetMemoryScope(op)));
  return true;
}

static bool readModifyWrite(CudaTileKernel *k, MlirOperation op) {
  MlirValue pointer = cudaTileGet(k, cudaTileAtomicRMWTkoOpGetPointers(op)), mask;
  MlirValue value = cudaTileGet(k, cudaTileAtomicRMWTkoOpGetArg(op));
  if (mlirValueIsNull(pointer) || mlirValueIsNull(value) || !optional(k, cudaTileAtomicRMWTkoOpGetMask(op), &mask))
    return false;
  CudaTileOrder order = cudaTileOrderOf(k, cudaTileAtomicRMWTkoOpGetMemoryOrderingSemantics(op),
                                        cudaTileAtomicRMWTkoOpGetMemoryScope(op));
  MlirAttribute mode = cudaTileI32(k, cudaTileAtomicMode(cudaTileAtomicRMWTkoOpGetMode(op)));
  MlirType type = mlirValueGetType(value);
  cudaTileSet(k, cudaTileAtomicRMWTkoOpGetResult(op),
              ttAtomicRMWOpBuild(&k->b, type, pointer, value, mask, mode, order.semantic, order.scope));
  return true;
}

// tt.atomic_cas has no mask: a condition stands around it. Without the exchange the result has no value; it is zero.
static bool compareAndSwap(CudaTileKernel *k, MlirOperation op) {
  MlirValue pointer = cudaTileGet(k, cudaTileAtomicCASTkoOpGetPointers(op)), mask;
  MlirValue expected = cudaTileGet(k, cudaTileAtomicCASTkoOpGetCmp(op)),
            value = cudaTileGet(k, cudaTileAtomicCASTkoOpGetVal(op));
  if (mlirValueIsNull(pointer) || mlirValueIsNull(expected) || mlirValueIsNull(value) ||
      !optional(k, cudaTileAtomicCASTkoOpGetMask(op), &mask))
    return false;
  MlirType type = mlirValueGetType(value);
  bool hasMask = !mlirValueIsNull(mask);
  if (hasMask && mlirTypeIsARankedTensor(type))
    return tileError(op, "has a mask for each of several elements, which has no conversion to tt");
  CudaTileOrder order = cudaTileOrderOf(k, cudaTileAtomicCASTkoOpGetMemoryOrderingSemantics(op),
                                        cudaTileAtomicCASTkoOpGetMemoryScope(op));
  TileBuilder outer = k->b, then, otherwise;
  MlirRegion regions[2];
  then = hasMask ? tileBuilderInRegion(&outer, &regions[0], 0, NULL) : outer;
  MlirValue old = ttAtomicCASOpBuild(&then, type, pointer, expected, value, order.semantic, order.scope);
  if (hasMask) {
    scfYieldOpBuild(&then, 1, &old);
    otherwise = tileBuilderInRegion(&outer, &regions[1], 0, NULL);
    MlirValue zero =
        mlirTypeIsAFloat(type) ? tileBuildFloat(&otherwise, type, 0) : tileBuildInteger(&otherwise, type, 0);
    scfYieldOpBuild(&otherwise, 1, &zero);
    old = tileOnlyResult(scfIfOpBuild(&k->b, 1, &type, mask, regions[0], regions[1]));
  }
  cudaTileSet(k, cudaTileAtomicCASTkoOpGetResult(op), old);
  return true;
}

//===--- printing ---------------------------------------------------------------------------===//

// One conversion of a printf format: flags, width and length have no meaning in TTIR.
static const char *skipConversion(const char *at, const char *end) {
  while (at < end && strchr("-+ #0123456789.hlqjzt", *at))
    ++at;
  return at;
}

static void printPart(CudaTileKernel *k, const tessera_text_t *text, intptr_t count, MlirValue *value, char how) {
  int32_t isSigned = how != 'u' && how != 'x' && how != 'X' && how != 'o';
  ttPrintOpBuild(&k->b, count, value,
                 mlirStringAttrGet(k->b.context, mlirStringRefCreate(text->size ? text->data : "", text->size)),
                 mlirBoolAttrGet(k->b.context, how == 'x' || how == 'X'),
                 mlirDenseI32ArrayGet(k->b.context, count, &isSigned));
}

// Each value has the text before it as its prefix; the end of the line is TTIR's own.
static bool printFormat(CudaTileKernel *k, MlirOperation op, MlirStringRef format, intptr_t count, MlirValue *values,
                        tessera_text_t *text) {
  intptr_t next = 0;
  const char *end = format.data + format.length;
  if (format.length && end[-1] == '\n')
    --end;
  for (const char *at = format.data; at < end; ++at) {
    if (*at != '%') {
      tessera_text_append(text, at, 1);
      continue;
    }
    at = skipConversion(at + 1, end);
    if (at < end && *at == '%') {
      tessera_text_append(text, at, 1);
      continue;
    }
    if (at == end || !strchr("diuoxXeEfFgGaA", *at) || next == count)
      return tileError(op, "has a format with %s",
                       next == count ? "more conversions than values" : "an unknown conversion");
    printPart(k, text, 1, &values[next++], *at);
    text->size = 0;
  }
  if (next < count)
    return tileError(op, "has %ld values, but a format with %ld conversions", (long)count, (long)next);
  if (text->size || count == 0)
    printPart(k, text, 0, NULL, 'd');
  return !text->failed || tileError(op, "no memory for the text");
}

static bool print(CudaTileKernel *k, MlirOperation op) {
  MlirValue values[CudaTileMaxValues];
  intptr_t count = cudaTilePrintTkoOpGetNumArgs(op);
  tessera_text_t text = {NULL};
  if (count > CudaTileMaxValues)
    return tileError(op, "prints %ld values, expected at most %d", (long)count, (int)CudaTileMaxValues);
  if (!cudaTileGetAll(k, count, cudaTilePrintTkoOpGetArgs, op, values))
    return false;
  bool ok = printFormat(k, op, mlirStringAttrGetValue(cudaTilePrintTkoOpGetStr(op)), count, values, &text);
  tessera_text_free(&text);
  return ok;
}

static bool check(CudaTileKernel *k, MlirOperation op) {
  MlirValue condition = cudaTileGet(k, cudaTileAssertOpGetCondition(op));
  if (mlirValueIsNull(condition))
    return false;
  ttAssertOpBuild(&k->b, condition, cudaTileAssertOpGetMessage(op));
  return true;
}

// What is known of a value that is no parameter is forgotten.
static bool assume(CudaTileKernel *k, MlirOperation op) {
  MlirValue old = cudaTileAssumeOpGetValue(op), value = cudaTileGet(k, old);
  cudaTileSet(k, tileOnlyResult(op), value);
  return !mlirValueIsNull(value);
}

static bool pointerCast(CudaTileKernel *k, MlirOperation op, MlirValue (*build)(TileBuilder *, MlirType, MlirValue)) {
  MlirValue value = cudaTileGet(k, tileOnlyOperand(op));
  return !mlirValueIsNull(value) && setPointer(k, op, build(&k->b, cudaTileConvertType(tileOnlyResultType(op)), value));
}

bool cudaTileMemory(void *kernel, MlirOperation op, bool *isKnown) {
  CudaTileKernel *k = kernel;
  *isKnown = true;
  switch (cudaTileOpKind(op)) {
  case CudaTileOp_MakeToken:
  case CudaTileOp_JoinTokens:
  case CudaTileOp_MemoryFenceAliasTko:
    return true;
  case CudaTileOp_GdcWaitTko:
    ttGridDependencyWaitOpBuild(&k->b);
    return true;
  case CudaTileOp_GdcLaunchDependentsTko:
    ttGridDependencyLaunchDependentsOpBuild(&k->b);
    return true;
  case CudaTileOp_Offset:
    return offset(k, op);
  case CudaTileOp_IntToPtr:
    return pointerCast(k, op, ttIntToPtrOpBuild);
  case CudaTileOp_PtrToInt:
    return pointerCast(k, op, ttPtrToIntOpBuild);
  case CudaTileOp_PtrToPtr:
    return pointerCast(k, op, ttBitcastOpBuild);
  case CudaTileOp_LoadPtrTko:
    return load(k, op);
  case CudaTileOp_StorePtrTko:
    return store(k, op);
  case CudaTileOp_AtomicRMWTko:
    return readModifyWrite(k, op);
  case CudaTileOp_AtomicCASTko:
    return compareAndSwap(k, op);
  case CudaTileOp_PrintTko:
    return print(k, op);
  case CudaTileOp_Assert:
    return check(k, op);
  case CudaTileOp_Assume:
    return assume(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
