// How our pipelines run upstream's canonicalizer: without the patterns of LLVM 22.1 that change what a program means.
#pragma once

// The pass, and the option that leaves the patterns out. A pattern's name is the name of upstream's C++ class.
#define TILE_CANONICALIZE "canonicalize"
#define TILE_CANONICALIZE_OPTIONS "{disable-patterns='" TILE_WRONG_PATTERNS "'}"

// The forall patterns exchange the outputs of an scf.forall whose inserts have another order than its outputs.
//   https://github.com/llvm/llvm-project/issues/172981 (fixed in LLVM 23), …/issues/222143 (open)
// cmpf(sitofp(x), constant) becomes a comparison of integers. That is wrong if x overflows to nan or is rounded
// (f8E4M3FN). truncf(sitofp(x)) becomes one conversion, so one rounding takes the place of the two that
// docs/numerics.md §1 promises.
//   https://github.com/llvm/llvm-project/pull/139925
#define TILE_WRONG_PATTERNS                                                                                            \
  "(anonymous namespace)::FoldTensorCastOfOutputIntoForallOp,"                                                         \
  "(anonymous namespace)::ForallOpSingleOrZeroIterationDimsFolder,"                                                    \
  "(anonymous namespace)::TruncFSIToFPToSIToFP,"                                                                       \
  "(anonymous namespace)::TruncFUIToFPToUIToFP,"                                                                       \
  "CmpFIntToFPConst"
