// Handles and conventions of the shim: what mlir-c of MLIR 22 lacks, named as upstream head names it where it does.
//
// The shim has no policy: it unwraps, calls and wraps. Every handle is a pointer valid during the callback it is given
// to, unless its Create function says otherwise. Callbacks return true for success. They run concurrently on several
// functions and in several contexts: they must be re-entrant.
#pragma once

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "mlir-c/Rewrite.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
#define MLIR_EXT_BEGIN extern "C" {
#define MLIR_EXT_END }
#else
#define MLIR_EXT_BEGIN
#define MLIR_EXT_END
#endif

#define MLIR_EXT_HANDLE(name)                                                                                          \
  typedef struct name {                                                                                                \
    void *ptr;                                                                                                         \
  } name

MLIR_EXT_HANDLE(MlirExtAttributeList); // parameters of a type or attribute being parsed
MLIR_EXT_HANDLE(MlirExtTypeList);      // result types being inferred
MLIR_EXT_HANDLE(MlirExtEmitter);       // emitError of a verifier that has no operation yet

// Sizes and element of a ranked tensor, memref or vector, at once: mlir-c's mlirShapedTypeGet… look an interface up on
// every call, too slow for verifiers that run on every op.
typedef struct MlirExtShape {
  intptr_t rank;
  const int64_t *sizes; // lives as long as the context
  MlirType element;
} MlirExtShape;

MLIR_EXT_BEGIN
bool mlirExtTypeGetShape(MlirType type, MlirExtShape *shape); // false for other types, unranked ones included
void mlirExtAttributeListAppend(MlirExtAttributeList list, MlirAttribute attribute);
void mlirExtTypeListAppend(MlirExtTypeList list, MlirType type);
// Reports at the place being parsed or verified. Always returns false, so that callers can `return` it.
bool mlirExtEmitterError(MlirExtEmitter emitter, MlirStringRef message);
MLIR_EXT_END
