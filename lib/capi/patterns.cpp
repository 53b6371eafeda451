// Pattern sets that upstream exports to C++ only, by name: one row each.
#include "lib/capi/patterns.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Dialect/X86Vector/Transforms.h"

using namespace mlir;

namespace {
using Populate = void (*)(RewritePatternSet &set, StringRef option, unsigned benefit);
struct Row {
  const char *name;
  Populate populate;
};

// Math sets take the ops to rewrite; none given means all.
auto listedIn(StringRef list) {
  return [list](StringRef name) {
    SmallVector<StringRef> names;
    list.split(names, ',');
    return list.empty() || llvm::is_contained(names, name);
  };
}

// The enumerator called `option`, or the first one.
template <typename Enum> Enum pick(StringRef option, std::initializer_list<std::pair<StringRef, Enum>> all) {
  auto *found = llvm::find_if(all, [&](const auto &entry) { return entry.first == option; });
  return (found == all.end() ? all.begin() : found)->second;
}
vector::VectorContractLowering contractLowering(StringRef option) {
  using Enum = vector::VectorContractLowering;
  return pick<Enum>(option, {{"outerproduct", Enum::OuterProduct},
                             {"dot", Enum::Dot},
                             {"parallel", Enum::ParallelArith},
                             {"llvm", Enum::LLVMIntr}});
}
vector::VectorMultiReductionLowering reductionLowering(StringRef option) {
  using Enum = vector::VectorMultiReductionLowering;
  return pick<Enum>(option, {{"innerreduction", Enum::InnerReduction}, {"innerparallel", Enum::InnerParallel}});
}
vector::VectorTransposeLowering transposeLowering(StringRef option) {
  using Enum = vector::VectorTransposeLowering;
  return pick<Enum>(option, {{"eltwise", Enum::EltWise},
                             {"shuffle1d", Enum::Shuffle1D},
                             {"shuffle16x16", Enum::Shuffle16x16},
                             {"llvm", Enum::LLVMIntr}});
}
std::optional<unsigned> maxRank(StringRef option) {
  unsigned rank;
  return option.getAsInteger(10, rank) ? std::nullopt : std::optional(rank);
}
vector::VectorTransformsOptions transferSplit(StringRef option) {
  using Enum = vector::VectorTransferSplit;
  auto split = pick<Enum>(option, {{"vectortransfer", Enum::VectorTransfer}, {"forceinbounds", Enum::ForceInBounds}});
  return vector::VectorTransformsOptions().setVectorTransferSplit(split);
}
x86vector::avx2::LoweringOptions avx2Transposes() {
  auto transposes = x86vector::avx2::TransposeLoweringOptions().lower4x8xf32().lower8x8xf32();
  return x86vector::avx2::LoweringOptions().setTransposeOptions(transposes);
}
SmallVector<StringRef> split(StringRef list) {
  SmallVector<StringRef> names;
  list.split(names, ',', -1, /*KeepEmpty=*/false);
  return names;
}

#define SET(name, call) {name, [](RewritePatternSet &set, StringRef option, unsigned benefit) { call; }}
const Row rows[] = {
    SET("math-polynomial-approximation", populateMathPolynomialApproximationPatterns(set, listedIn(option), benefit)),
    SET("math-f32-expansion", populateMathF32ExpansionPatterns(set, listedIn(option), benefit)),
    SET("math-algebraic-simplification", populateMathAlgebraicSimplificationPatterns(set)),
    SET("math-uplift-to-fma", populateUpliftToFMAPatterns(set)),
    SET("math-expansion", math::populateExpansionPatterns(set, split(option))),
    SET("arith-expand", arith::populateArithExpandOpsPatterns(set)),
    SET("memref-expand-strided-metadata", memref::populateExpandStridedMetadataPatterns(set)),
    SET("memref-fold-alias", memref::populateFoldMemRefAliasOpPatterns(set)),
    SET("vector-contract", vector::populateVectorContractLoweringPatterns(set, contractLowering(option), benefit)),
    SET("vector-outerproduct", vector::populateVectorOuterProductLoweringPatterns(set, benefit)),
    SET("vector-multi-reduction",
        vector::populateVectorMultiReductionLoweringPatterns(set, reductionLowering(option), benefit)),
    SET("vector-broadcast", vector::populateVectorBroadcastLoweringPatterns(set, benefit)),
    SET("vector-mask-op", vector::populateVectorMaskOpLoweringPatterns(set, benefit)),
    SET("vector-mask-side-effects", vector::populateVectorMaskLoweringPatternsForSideEffectingOps(set)),
    SET("vector-mask-materialize", vector::populateVectorMaskMaterializationPatterns(set, option != "i64", benefit)),
    SET("vector-masked-emulation", vector::populateVectorMaskedLoadStoreEmulationPatterns(set, benefit)),
    SET("vector-shape-cast", vector::populateVectorShapeCastLoweringPatterns(set, benefit)),
    SET("vector-transpose", vector::populateVectorTransposeLoweringPatterns(set, transposeLowering(option), benefit)),
    SET("vector-transpose-avx2",
        x86vector::avx2::populateSpecializedTransposeLoweringPatterns(set, avx2Transposes(), benefit)),
    SET("vector-transfer", vector::populateVectorTransferLoweringPatterns(set, maxRank(option), benefit)),
    SET("vector-transfer-permutation", vector::populateVectorTransferPermutationMapLoweringPatterns(set, benefit)),
    SET("vector-transfer-drop-unit-dims", vector::populateVectorTransferDropUnitDimsPatterns(set, benefit)),
    SET("vector-transfer-full-partial", vector::populateVectorTransferFullPartialPatterns(set, transferSplit(option))),
    SET("vector-flatten-transfer", vector::populateFlattenVectorTransferPatterns(set, UINT_MAX, benefit)),
    SET("vector-cast-away-leading-one", vector::populateCastAwayVectorLeadingOneDimPatterns(set, benefit)),
    SET("vector-drop-inner-unit-dims-xfer", vector::populateDropInnerMostUnitDimsXferOpPatterns(set, benefit)),
    SET("vector-gather", vector::populateVectorGatherLoweringPatterns(set, benefit)),
    SET("vector-gather-to-loads", vector::populateVectorGatherToConditionalLoadPatterns(set, benefit)),
    SET("vector-scan", vector::populateVectorScanLoweringPatterns(set, benefit)),
    SET("vector-step", vector::populateVectorStepLoweringPatterns(set, benefit)),
    SET("vector-interleave", vector::populateVectorInterleaveLoweringPatterns(set, 1, benefit)),
    SET("vector-bitcast", vector::populateVectorBitCastLoweringPatterns(set, 1, benefit)),
    SET("vector-sink", vector::populateSinkVectorOpsPatterns(set, benefit)),
    SET("vector-reduction-to-contract", vector::populateVectorReductionToContractPatterns(set, benefit)),
    SET("vector-narrow-type", vector::populateVectorNarrowTypeRewritePatterns(set, benefit)),
    SET("vector-strided-slice", vector::populateVectorInsertExtractStridedSliceTransforms(set, benefit)),
    SET("vector-to-vector-canonicalization", vector::populateVectorToVectorCanonicalizationPatterns(set, benefit)),
};
#undef SET
} // namespace

bool mlirExtPopulatePatterns(MlirRewritePatternSet patterns, const char *name, const char *option, unsigned benefit) {
  for (const Row &row : rows)
    if (StringRef(row.name) == name)
      return row.populate(*unwrap(patterns), option ? option : "", benefit), true;
  return false;
}

const char *const *mlirExtPatternSetNames(void) {
  static const auto names = [] {
    std::array<const char *, std::size(rows) + 1> list = {};
    llvm::transform(rows, list.begin(), [](const Row &row) { return row.name; });
    return list;
  }();
  return names.data();
}

void mlirExtPopulateElementwiseFusion(MlirRewritePatternSet patterns, bool (*mayFuse)(MlirOperation, intptr_t)) {
  linalg::populateElementwiseOpsFusionPatterns(*unwrap(patterns), [mayFuse](OpOperand *operand) {
    return mayFuse(wrap(operand->getOwner()), operand->getOperandNumber());
  });
}
