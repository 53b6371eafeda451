// The semantics of the Tile ops: the hooks that the rows of ops.def name, and the names those rows and hooks share.
//
//   HOOKS(.verify = tileMmaOpVerify, .fold = tileMmaOpFold, .canonicalize = tileMmaOpCanonicalize)
//
// A hook is called tile<CName>Op<Hook>. What is not declared here needs no hook: the row's text says it.
// Verifiers run after the row's own checks (operand counts, constraints, attribute kinds), so they may rely on them.
#pragma once

#include "lib/capi/op.h"

#define TILE_VERIFY(name) bool tile##name##OpVerify(MlirOperation op)
#define TILE_VERIFY_REGIONS(name) bool tile##name##OpVerifyRegions(MlirOperation op)
#define TILE_FOLD(name)                                                                                                \
  bool tile##name##OpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results)
#define TILE_CANONICALIZE(name) void tile##name##OpCanonicalize(MlirRewritePatternSet patterns, MlirContext context)
#define TILE_EFFECTS(name) void tile##name##OpEffects(MlirOperation op, MlirExtEffects effects)
#define TILE_INFER_TYPES(name) bool tile##name##OpInferTypes(const MlirExtInference *inference, MlirExtTypeList types)
#define TILE_INTEGER_RANGES(name)                                                                                      \
  void tile##name##OpIntegerRanges(MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results)

//===--- structure ----------------------------------------------------------===//
bool tileCallOpVerifySymbolUses(MlirOperation op);
MlirAttribute tileCallOpCallee(MlirOperation op);
void tileCallOpCallArguments(MlirOperation op, intptr_t *begin, intptr_t *count);
bool tileLaunchOpVerifySymbolUses(MlirOperation op);
void tileLaunchOpDestinationInits(MlirOperation op, intptr_t *begin, intptr_t *count);
extern const MlirExtBufferizableHooks tileLaunchOpBufferize;

//===--- scheduled level ----------------------------------------------------===//
void tileWarpSpecializeOpRegionSuccessors(MlirOperation op, int from, MlirExtSuccessors successors);
void tileWarpSpecializeOpEntryOperands(MlirOperation op, intptr_t *begin, intptr_t *count);
