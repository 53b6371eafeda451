// convert-tile-to-nvvm{chip=NAME}: every scheduled tile.kernel becomes a kernel of one gpu.module for an NVIDIA chip.
//
// Expects: kernels whose tiles have layouts, for that chip (tile-assign-layouts{chip=NAME}). Leaves: gpu.module
// @kernels with per kernel an llvm.func of nvvm, llvm, and arith, math and scf on scalars (docs/gpu.md has the ABI);
// upstream's passes lower those. Cost: linear in the registers of a thread.
#include "lib/conversion/tile_to_nvvm/tile_to_nvvm.h"
#include "lib/conversion/tile_to_nvvm/nvvm.h"

static bool run(MlirOperation module, MlirExtPass pass) { return tileKernelsToGpu(module, pass, &tileNvvmVocabulary); }

const MlirExtPassDefinition tileToNvvmPass = GPU_CONVERSION("nvvm", "NVIDIA", run);
