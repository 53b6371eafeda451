// Lowers a module for several GPUs. See gpu_program.h.
#include "tools/tile-translate/gpu_program.h"

#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "lib/pipelines/statistics.h"

#include <stdlib.h>
#include <string.h>

typedef struct Way {
  const char *isa, *pipeline, *form;
} Way;
static const Way ways[] = {{"ptx", "tile-to-nvvm-pipeline", "ptx"}, {"amdgcn", "tile-to-rocdl-pipeline", "hsaco"}};

static const Way *wayOf(const char *chip) {
  TileMachine *machine = tileMachineLoad(chip, NULL, NULL, 0, NULL);
  const char *isa = machine ? tileMachineGetText(machine, "isa") : NULL;
  const Way *found = NULL;
  for (size_t i = 0; i < sizeof ways / sizeof *ways && isa; ++i)
    if (strcmp(ways[i].isa, isa) == 0)
      found = &ways[i];
  tileMachineDestroy(machine);
  return found;
}

//===--- the host's parts -------------------------------------------------------------===//

typedef struct Text {
  char *data;
  size_t size;
} Text;

static void append(MlirStringRef part, void *userData) {
  Text *text = userData;
  char *data = realloc(text->data, text->size + part.length + 1);
  if (!data)
    return;
  memcpy(data + text->size, part.data, part.length);
  text->data = data;
  text->size += part.length;
}

// Takes the gpu.module away: its code is in the image.
static Text hostOf(MlirModule module) {
  Text text = {NULL, 0};
  TileOps devices = tileCollect(mlirModuleGetOperation(module), "gpu.module");
  for (intptr_t i = 0; i < devices.count; ++i)
    mlirOperationDestroy(devices.items[i]);
  tileOpsFree(&devices);
  mlirOperationPrint(mlirModuleGetOperation(module), append, &text);
  return text;
}

static bool sameHosts(GpuProgram *program, tessera_error_t *error) {
  Text first = hostOf(program->modules[0]);
  bool ok = true;
  for (int i = 1; i < program->options->numChips && ok; ++i) {
    Text other = hostOf(program->modules[i]);
    ok = (first.size == other.size && first.size && memcmp(first.data, other.data, first.size) == 0) ||
         tessera_fail(error,
                      "the host's part for %s is another than for %s (blocks or tiles of other sizes): make a "
                      "program for each",
                      program->options->chips[i], program->options->chips[0]);
    free(other.data);
  }
  free(first.data);
  return ok;
}

//===--- one chip ---------------------------------------------------------------------===//

static bool lowerFor(GpuProgram *program, int index, const TileSession *session, tessera_error_t *error) {
  const char *chip = program->options->chips[index];
  const Way *way = wayOf(chip);
  char pipeline[sizeof program->pipeline];
  if (!way)
    return tessera_fail(error, "--target=%s: no pipeline makes code for it", chip);
  snprintf(pipeline, sizeof pipeline, "builtin.module(tile-add-into-entries,%s{chip=%s})", way->pipeline, chip);
  if (!index)
    memcpy(program->pipeline, pipeline, sizeof pipeline);
  program->modules[index] = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(session->module)));
  TileSession copy = {session->context, program->modules[index]};
  return tileSessionRun(&copy, pipeline, error) &&
         tileImageCreate(mlirModuleGetOperation(copy.module), chip, way->form, &program->images[index], error);
}

bool gpuProgramLower(GpuProgram *program, const TileSession *session, tessera_error_t *error) {
  if (!tileEntriesCollect(session->module, &program->translation.entries, error))
    return false;
  for (int i = 0; i < program->options->numChips; ++i) {
    if (!lowerFor(program, i, session, error))
      return false;
    program->records[i] = program->images[i].record;
  }
  program->translation.module = mlirModuleGetOperation(program->modules[0]);
  program->translation.chip = program->options->chip;
  program->translation.pipeline = program->pipeline;
  program->translation.fallbackOps = tileFallbackOps();
  program->translation.images = (tessera_images_t){program->options->numChips, program->records};
  return sameHosts(program, error);
}

void gpuProgramDestroy(GpuProgram *program) {
  tileEntriesDestroy(&program->translation.entries);
  for (int i = 0; i < program->options->numChips; ++i) {
    tileImageDestroy(&program->images[i]);
    if (!mlirModuleIsNull(program->modules[i]))
      mlirModuleDestroy(program->modules[i]);
  }
}
