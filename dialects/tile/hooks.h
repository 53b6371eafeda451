// The semantics of the Tile ops: the hooks that the rows of ops.def name, and the names those rows and hooks share.
//
//   HOOKS(.verify = tileMmaOpVerify, .fold = tileMmaOpFold, .canonicalize = tileMmaOpCanonicalize)
//
// A hook is called tile<CName>Op<Hook>. What is not declared here needs no hook: the row's text says it.
// Verifiers run after the row's own checks (operand counts, constraints, attribute kinds), so they may rely on them.
//
// Names used by rows and hooks. Sizes "i64 array" are DenseI64ArrayAttr; keywords ("add", "acq_rel", "shared") are
// StringAttr; `unit` is UnitAttr; integers are i64 IntegerAttr; `?` optional, `*` variadic; [s] operand segments.
//
//   op              operands                                        attributes                         results, regions
//   kernel          -                                               function's; schedule? machine? warps? (i32)
//   ordered?  body func            -                                               function's body call arguments*
//   callee (flat symbol)               results* return, yield   values*                                         - -
//   launch [s]      grid*, inputs*, outputs*                        kernel (flat symbol), cluster? (i64 array),
//                                                                   meets? (array of keywords)         results*
//   group           inputs*                                         meets? (array of keywords), schedule?   results*,
//   body transfer        source                                          device (flat symbol)               result
//   program_id, num_programs  -                                     axis                               result
//   assume          value                                           align?, sizes?, strides? (i64 arrays, kDynamic
//                                                                   for `_`), divisible?, range? (i64 array: 2) result
//   view            source, indices*                                fixed (i64 array: the dimensions that `indices`
//                                                                   fix, ascending; empty when none)   result
//   num_tiles       view                                            dim                                result
//   in_bounds       view, indices*                                  -                                  result
//   memref_at [s]   address, sizes*, strides*                       -                                  result
//   load            source (view|buffer), indices*                  -                                  result
//   store           value, destination (view|buffer), indices*      combine?                           -
//   gather [s]      source (view|memref|tile), indices*, mask?, other?   bounds, axis?                 result
//   scatter [s]     value, destination, indices*, mask?             bounds, combine?                   -
//   atomic_rmw [s]  value, memory, indices*, mask?                  kind, order, scope                 old
//   atomic_cas [s]  compare, value, memory, indices*, mask?         order, scope                       old
//   atomic_load     memory, indices*                                order, scope                       result
//   atomic_store    value, memory, indices*                         order, scope                       -
//   mma             lhs, rhs, accumulator                           precision?, atom? (string)         result
//   mma_sparse      lhs, rhs, accumulator, places                   atom? (string)                      result
//   mma_scaled      lhs, lhs_scale, rhs, rhs_scale, accumulator       block, atom? (string)              result
//   reduce          inputs*                                         axes (i64 array), operation? ("arith.addf"),
//                                                                   neutral? (array)                   results*; body?
//   scan [s]        inputs*, initial*                               axis, operation?, neutral?, reverse?, exclusive?
//                                                 results* = one like each input, then one like each initial; body?
//   sort            inputs*                                         axis, descending?                  results*
//   topk            inputs*                                         axis, descending?                  results*
//   histogram       input, mask?                                    -                                  result
//   random          seed, counter                                   -                                  result
//   convert_type    input, bits?                                    saturate?, rounding?               result
//   iota            from?                                           dim                                result
//   broadcast       input                                           axes (i64 array, empty for a scalar)  result
//   reshape, bitcast, convert_layout   input                        -                                  result
//   transpose       input                                           permutation (i64 array)            result
//   slice           input, offsets*                                 static_offsets (i64 array, kDynamic where an
//                                                                   operand stands)                    result
//   insert          input, destination, offsets*                    static_offsets                     result
//   cat             inputs*                                         axis                               result
//   alloc           -                                               offset?                            result
//   slot            buffer, use                                     -                                  result
//   copy            source, destination, indices* (the view's)      -                                  -
//   prefetch        view, indices*                                  write?                             -
//   copy_async [s]  source, destination, indices* (the view's), barrier?, use?
//                                                                   engine? (string), multicast? (i64 array)  token?
//   join            tokens*                                         -                                  token
//   wait            tokens*                                         pending?                           -
//   barrier_arrive  barrier, use, rank?                             expect?                            -
//   barrier_wait    barrier, use                                    -                                  -
//   fence           -                                               kind, scope?                       -
//   mma_async [s]   lhs, rhs, accumulator, barrier?, use?           atom (string)                      result?
//   mma_wait        input                                           pending                            result
//   warp_specialize captures*                                       names (array of strings), warps (i64 array),
//                                                                   registers? (i64 array, 0: not said)  partitions*
//   sync            -                                               -                                  -
//   print           values*                                         message (string)                   -
//   assert          condition                                       message (string)                   -
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
TILE_EFFECTS(Alloc);
TILE_VERIFY(Slot);
TILE_INFER_TYPES(Slot);
TILE_VERIFY(ConvertLayout);
TILE_FOLD(ConvertLayout);
TILE_VERIFY(Copy);
TILE_VERIFY(Prefetch);
TILE_EFFECTS(Prefetch);
TILE_VERIFY(CopyAsync);
TILE_EFFECTS(CopyAsync);
TILE_VERIFY(Join);
TILE_VERIFY(Wait);
TILE_EFFECTS(Wait);
TILE_VERIFY(BarrierArrive);
TILE_EFFECTS(BarrierArrive);
TILE_EFFECTS(BarrierWait);
TILE_VERIFY(Fence);
TILE_EFFECTS(Fence);
TILE_VERIFY(MmaAsync);
TILE_EFFECTS(MmaAsync);
TILE_VERIFY(MmaWait);
TILE_EFFECTS(MmaWait);
TILE_VERIFY(WarpSpecialize);
void tileWarpSpecializeOpRegionSuccessors(MlirOperation op, int from, MlirExtSuccessors successors);
void tileWarpSpecializeOpEntryOperands(MlirOperation op, intptr_t *begin, intptr_t *count);
TILE_EFFECTS(Sync);
TILE_VERIFY(Print);
TILE_EFFECTS(Print);
TILE_EFFECTS(Assert);
TILE_CANONICALIZE(Assert);

#endif
