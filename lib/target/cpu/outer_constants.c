// Globals of constants become places for their addresses, loads of these places what took the globals' addresses.
// See outer_constants.h.
#include "lib/target/cpu/outer_constants.h"

#include "lib/ir/builder.h"
#include "lib/support/grow.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

#include <stdlib.h>
#include <string.h>

enum { LeastBytes = 1024, PlaceBytes = 8 };

// The data of a constant that may be taken, whose address is only taken in functions. False for any other global.
static bool readWeight(MlirOperation global, TileCpuWeight *weight) {
  MlirAttribute value = llvmGlobalOpGetValue(global), alignment = llvmGlobalOpGetAlignment(global);
  if (!llvmGlobalOpHasConstant(global) || mlirAttributeIsNull(value) || !mlirAttributeIsAElements(value))
    return false;
  weight->data = tileElementsBytes(value, &weight->bytes);
  weight->alignment = mlirAttributeIsNull(alignment) ? PlaceBytes : (size_t)mlirIntegerAttrGetValueInt(alignment);
  return weight->data && weight->bytes > LeastBytes;
}

static char *textOf(MlirStringRef text) { return strndup(text.data, text.length); }

static void makePlace(MlirOperation global) {
  MlirContext context = mlirOperationGetContext(global);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  llvmGlobalOpSetGlobalType(global, mlirTypeAttrGet(i64));
  llvmGlobalOpSetValue(global, mlirIntegerAttrGet(i64, 0));
  llvmGlobalOpSetAlignment(global, mlirIntegerAttrGet(i64, PlaceBytes));
  llvmGlobalOpSetLinkage(global, mlirLLVMLinkageAttrGet(context, MlirLLVMLinkageExternal));
  llvmGlobalOpSetConstant(global, mlirAttributeGetNull());
  llvmGlobalOpSetUnnamedAddr(global, mlirAttributeGetNull());
}

// What was the address of the constant is now what the place holds.
static void loadPlace(MlirOperation address) {
  MlirValue place = tileOnlyResult(address);
  TileBuilder b = tileBuilderAfter(address);
  MlirValue data = llvmLoadOpBuild(&b, mlirValueGetType(place), place);
  mlirValueReplaceAllUsesExcept(place, data, 1, (MlirOperation[]){tileDefiningOp(data)});
}

static bool add(TileCpuWeights *weights, TileCpuWeight weight, tessera_error_t *error) {
  TileCpuWeight *grown = weight.symbol ? tessera_grow(weights->items, weights->count, sizeof *grown) : NULL;
  if (!grown) {
    free(weight.symbol);
    return tessera_fail(error, "out of memory");
  }
  weights->items = grown;
  weights->items[weights->count++] = weight;
  return true;
}

static bool isPlace(const TileCpuWeights *weights, MlirOperation address) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(llvmAddressOfOpGetGlobalName(address));
  for (int i = 0; i < weights->count; ++i)
    if (tileStringEquals(name, weights->items[i].symbol))
      return true;
  return false;
}

// An initializer cannot load.
static bool isInGlobal(MlirOperation address) { return llvmGlobalOpIsA(mlirOperationGetParentOperation(address)); }

static bool takeGlobals(const TileOps *globals, bool (*isWanted)(const TileCpuWeight *weight, void *userData),
                        void *userData, TileCpuWeights *weights, tessera_error_t *error) {
  bool ok = true;
  for (intptr_t i = 0; i < globals->count && ok; ++i) {
    TileCpuWeight weight;
    if (!readWeight(globals->items[i], &weight) || (isWanted && !isWanted(&weight, userData)))
      continue;
    weight.symbol = textOf(mlirStringAttrGetValue(llvmGlobalOpGetSymName(globals->items[i])));
    ok = add(weights, weight, error);
    if (ok)
      makePlace(globals->items[i]);
  }
  return ok;
}

bool tileCpuTakeWeights(MlirOperation module, bool (*isWanted)(const TileCpuWeight *weight, void *userData),
                        void *userData, TileCpuWeights *weights, tessera_error_t *error) {
  *weights = (TileCpuWeights){NULL};
  TileOps globals = tileCollectOps(module, llvmGlobalOpIsA), addresses = tileCollectOps(module, llvmAddressOfOpIsA);
  bool ok = true, isLoadable = true;
  for (intptr_t i = 0; i < addresses.count; ++i)
    isLoadable &= !isInGlobal(addresses.items[i]);
  if (isLoadable)
    ok = takeGlobals(&globals, isWanted, userData, weights, error);
  for (intptr_t i = 0; i < addresses.count; ++i)
    if (isPlace(weights, addresses.items[i]))
      loadPlace(addresses.items[i]);
  tileOpsFree(&globals);
  tileOpsFree(&addresses);
  return ok;
}

void tileCpuFreeWeights(TileCpuWeights *weights) {
  for (int i = 0; i < weights->count; ++i)
    free(weights->items[i].symbol);
  free(weights->items);
  *weights = (TileCpuWeights){NULL};
}
