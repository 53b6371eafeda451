// The semantics of the Tile ops: the hooks that the rows of ops.def name, and the names those rows and hooks share.
//
//   HOOKS(.verify = tileMmaOpVerify, .fold = tileMmaOpFold, .canonicalize = tileMmaOpCanonicalize)
//
// A hook is called tile<CName>Op<Hook>. What is not declared here needs no hook: the row's text says it.
// Verifiers run after the row's own checks (operand counts, constraints, attribute kinds), so they may rely on them.
#ifndef TESSERA_DIALECTS_TILE_HOOKS_H
#define TESSERA_DIALECTS_TILE_HOOKS_H

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
TILE_VERIFY(Kernel);
TILE_VERIFY_REGIONS(Kernel);
TILE_VERIFY(Func);
TILE_VERIFY_REGIONS(Func);
bool tileCallOpVerifySymbolUses(MlirOperation op);
MlirAttribute tileCallOpCallee(MlirOperation op);
void tileCallOpCallArguments(MlirOperation op, intptr_t *begin, intptr_t *count);
TILE_VERIFY(Return);
TILE_VERIFY(Yield);
TILE_VERIFY(Launch);
bool tileLaunchOpVerifySymbolUses(MlirOperation op);
TILE_FOLD(Launch);
TILE_CANONICALIZE(Launch);
TILE_EFFECTS(Launch);
void tileLaunchOpDestinationInits(MlirOperation op, intptr_t *begin, intptr_t *count);
extern const MlirExtBufferizableHooks tileLaunchOpBufferize;
TILE_VERIFY(Group);
TILE_VERIFY_REGIONS(Group);
TILE_FOLD(Group);
TILE_FOLD(Transfer);
TILE_VERIFY(ProgramId);
TILE_INTEGER_RANGES(ProgramId);
TILE_VERIFY(NumPrograms);
TILE_INTEGER_RANGES(NumPrograms);
TILE_VERIFY(Assume);
TILE_FOLD(Assume);
TILE_INTEGER_RANGES(Assume);

//===--- memory -------------------------------------------------------------===//
TILE_VERIFY(View);
TILE_CANONICALIZE(View);
TILE_VERIFY(NumTiles);
TILE_FOLD(NumTiles);
TILE_INTEGER_RANGES(NumTiles);
TILE_VERIFY(InBounds);
TILE_FOLD(InBounds);
TILE_VERIFY(MemrefAt);
TILE_VERIFY(Load);
TILE_CANONICALIZE(Load);
TILE_VERIFY(Store);
TILE_EFFECTS(Store);
TILE_VERIFY(Gather);
TILE_CANONICALIZE(Gather);
TILE_EFFECTS(Gather);
TILE_VERIFY(Scatter);
TILE_CANONICALIZE(Scatter);
TILE_EFFECTS(Scatter);
TILE_VERIFY(AtomicRmw);
TILE_CANONICALIZE(AtomicRmw);
TILE_EFFECTS(AtomicRmw);
TILE_VERIFY(AtomicCas);
TILE_EFFECTS(AtomicCas);
TILE_VERIFY(AtomicLoad);
TILE_EFFECTS(AtomicLoad);
TILE_VERIFY(AtomicStore);
TILE_EFFECTS(AtomicStore);

//===--- compute ------------------------------------------------------------===//
TILE_VERIFY(Mma);
TILE_FOLD(Mma);
TILE_CANONICALIZE(Mma);
TILE_VERIFY(MmaSparse);
TILE_VERIFY(MmaScaled);
TILE_VERIFY(Reduce);
TILE_VERIFY_REGIONS(Reduce);
TILE_FOLD(Reduce);
TILE_CANONICALIZE(Reduce);
TILE_VERIFY(Scan);
TILE_VERIFY_REGIONS(Scan);
TILE_INFER_TYPES(Scan);
TILE_VERIFY(Sort);
TILE_VERIFY(Topk);
TILE_VERIFY(Histogram);
TILE_VERIFY(Random);
TILE_FOLD(Random);
TILE_VERIFY(ConvertType);

//===--- shape --------------------------------------------------------------===//
TILE_VERIFY(Iota);
TILE_INTEGER_RANGES(Iota);
TILE_VERIFY(Broadcast);
TILE_FOLD(Broadcast);
TILE_CANONICALIZE(Broadcast);
TILE_VERIFY(Reshape);
TILE_FOLD(Reshape);
TILE_VERIFY(Transpose);
TILE_FOLD(Transpose);
TILE_CANONICALIZE(Transpose);
TILE_VERIFY(Slice);
TILE_FOLD(Slice);
TILE_CANONICALIZE(Slice);
TILE_VERIFY(Insert);
TILE_FOLD(Insert);
TILE_VERIFY(Cat);
TILE_FOLD(Cat);
TILE_VERIFY(Bitcast);
TILE_FOLD(Bitcast);

//===--- scheduled level ----------------------------------------------------===//
TILE_VERIFY(Alloc);
TILE_VERIFY(Slot);
TILE_INFER_TYPES(Slot);
TILE_VERIFY(ConvertLayout);
TILE_FOLD(ConvertLayout);
TILE_VERIFY(Copy);
TILE_VERIFY(Prefetch);
TILE_VERIFY(CopyAsync);
TILE_EFFECTS(CopyAsync);
TILE_VERIFY(Join);
TILE_VERIFY(Wait);
TILE_VERIFY(BarrierArrive);
TILE_VERIFY(Fence);
TILE_VERIFY(MmaAsync);
TILE_EFFECTS(MmaAsync);
TILE_VERIFY(MmaWait);
TILE_VERIFY(WarpSpecialize);
void tileWarpSpecializeOpRegionSuccessors(MlirOperation op, int from, MlirExtSuccessors successors);
void tileWarpSpecializeOpEntryOperands(MlirOperation op, intptr_t *begin, intptr_t *count);
TILE_VERIFY(Print);
TILE_CANONICALIZE(Assert);

#endif
