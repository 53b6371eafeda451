// Recognizes a module's level and writes the passes that are left. See rest.h.
#include "lib/pipelines/rest.h"

#include "dialects/tile/ops.h"
#include "lib/ir/support.h"
#include "lib/pipelines/pipeline.h"
#include "upstream/func.h"
#include "upstream/gpu.h"

#include <string.h>

//===--- questions --------------------------------------------------------------===//

typedef struct Level {
  bool tensors;   // outside of kernels
  bool functions; // or kernels that are not llvm's yet
  bool device;    // code of a GPU
} Level;

static bool isTensor(MlirType type) { return mlirTypeIsARankedTensor(type) || mlirTypeIsAUnrankedTensor(type); }

static bool handlesTensors(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (isTensor(mlirValueGetType(mlirOperationGetOperand(op, i))))
      return true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (isTensor(mlirValueGetType(mlirOperationGetResult(op, i))))
      return true;
  return false;
}

static MlirWalkResult look(MlirOperation op, void *userData) {
  Level *level = userData;
  if (tileKernelOpIsA(op) || tileFuncOpIsA(op)) {
    level->functions = true;
    return MlirWalkResultSkip;
  }
  if (gpuGPUModuleOpIsA(op)) {
    level->device = true;
    return MlirWalkResultSkip;
  }
  level->functions |= funcFuncOpIsA(op);
  level->tensors |= handlesTensors(op);
  return MlirWalkResultAdvance;
}

static Level levelOf(MlirOperation module) {
  Level level = {false, false, false};
  mlirOperationWalk(module, look, &level, MlirWalkPreOrder);
  return level;
}

//===--- the rest ---------------------------------------------------------------===//

char *tilePipelineRest(MlirOperation module, const char *chip, tessera_error_t *error) {
  Level level = levelOf(module);
  const char *pipeline = chip ? tilePipelineOfChip(chip) : "tile-to-cpu-pipeline";
  if (!pipeline || (level.device && !chip)) {
    tessera_fail(error, "nothing makes code for %s of this level", chip ? chip : "the CPU");
    return NULL;
  }
  TilePipelineCall call = {
      .pipeline = pipeline,
      .values = {{"chip", chip}, {"bufferized", level.tensors ? NULL : "true"}},
  };
  bool isDone = !level.tensors && !chip && !level.functions;
  return isDone ? strdup("builtin.module()") : tilePipelineCallPrint(&call, error);
}
