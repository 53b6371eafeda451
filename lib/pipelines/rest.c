// Recognizes a module's level and writes the passes that are left. See rest.h.
#include "lib/pipelines/rest.h"

#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "lib/pipelines/stages.h"

#include <stdio.h>

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
  if (tileOpIs(op, "tile.kernel") || tileOpIs(op, "tile.func")) {
    level->functions = true;
    return MlirWalkResultSkip;
  }
  if (tileOpIs(op, "gpu.module")) {
    level->device = true;
    return MlirWalkResultSkip;
  }
  level->functions |= tileOpIs(op, "func.func");
  level->tensors |= handlesTensors(op);
  return MlirWalkResultAdvance;
}

static Level levelOf(MlirOperation module) {
  Level level = {false, false, false};
  mlirOperationWalk(module, look, &level, MlirWalkPreOrder);
  return level;
}

// "nvvm" for ptx; null for what no pipeline makes.
static const char *dialectOf(const char *chip) {
  TileMachine *machine = tileMachineLoad(chip, NULL, NULL, 0, NULL);
  const char *isa = machine ? tileMachineGetText(machine, "isa") : NULL;
  const char *dialect = isa && strcmp(isa, "ptx") == 0 ? "nvvm" : isa && strcmp(isa, "amdgcn") == 0 ? "rocdl" : NULL;
  tileMachineDestroy(machine);
  return dialect;
}

bool tilePipelineHasChip(const char *chip) { return chip && dialectOf(chip); }

//===--- the rest ---------------------------------------------------------------===//

static void appendText(MlirStringRef text, void *userData) {
  char *pipeline = userData;
  size_t length = strlen(pipeline);
  snprintf(pipeline + length, TILE_REST_CAPACITY - length, "%.*s", (int)text.length, text.data);
}

bool tilePipelineRest(MlirOperation module, const char *chip, char pipeline[TILE_REST_CAPACITY]) {
  Level level = levelOf(module);
  const char *dialect = chip ? dialectOf(chip) : NULL;
  char conversion[64];
  if (chip ? !dialect : level.device)
    return false;
  snprintf(pipeline, TILE_REST_CAPACITY, "builtin.module(");
  if (level.tensors && chip) {
    snprintf(pipeline, TILE_REST_CAPACITY, "builtin.module(tile-to-%s-pipeline{chip=%s}", dialect, chip);
  } else if (level.tensors) {
    appendText(tileString("tile-to-cpu-pipeline"), pipeline);
  } else if (chip) {
    snprintf(conversion, sizeof conversion, "convert-tile-to-%s", dialect);
    tileGpuStagesFromBuffersAppend(conversion, tileString(chip), appendText, pipeline);
  } else if (level.functions) {
    tileCpuStagesFromBuffersAppend(false, appendText, pipeline);
  }
  appendText(tileString(")"), pipeline);
  return true;
}
