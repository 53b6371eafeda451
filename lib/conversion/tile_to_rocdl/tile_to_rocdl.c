// convert-tile-to-rocdl{chip=NAME}: every scheduled tile.kernel becomes a kernel of one gpu.module for an AMD chip.
//
// Expects: kernels whose tiles have layouts, for that chip (tile-assign-layouts{chip=NAME}). Leaves: gpu.module
// @kernels with per kernel an llvm.func of rocdl, llvm, and arith, math and scf on scalars (docs/gpu.md has the ABI);
// upstream's passes lower those. Cost: linear in the registers of a thread.
#include "lib/conversion/tile_to_rocdl/tile_to_rocdl.h"
#include "lib/conversion/tile_to_rocdl/rocdl.h"

static bool run(MlirOperation module, MlirExtPass pass) { return tileKernelsToGpu(module, pass, &tileRocdlVocabulary); }

const MlirExtPassDefinition tileToRocdlPass = GPU_CONVERSION("rocdl", "AMD", run);
