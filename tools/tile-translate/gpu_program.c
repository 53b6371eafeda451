// Lowers a module for several GPUs. See gpu_program.h.
#include "tools/tile-translate/gpu_program.h"

#include "dialects/tile/discardable.h"
#include "lib/ir/support.h"
#include "lib/pipelines/pass_statistics.h"
#include "lib/pipelines/pipeline.h"
#include "upstream/gpu.h"

#include <stdlib.h>
#include <string.h>

typedef struct Way {
  const char *pipeline, *forms[MaxForms + 1]; // the first form must come, others where their tools are
} Way;
static const Way ways[] = {{"tile-to-nvvm-pipeline", {"ptx", "cubin"}}, {"tile-to-rocdl-pipeline", {"hsaco"}}};

static const Way *wayOf(const char *chip) {
  const char *pipeline = tilePipelineOfChip(chip);
  for (size_t i = 0; i < sizeof ways / sizeof *ways && pipeline; ++i)
    if (strcmp(ways[i].pipeline, pipeline) == 0)
      return &ways[i];
  return NULL;
}

//===--- the host's parts -------------------------------------------------------------===//

// Takes away what is the device's: the gpu.module, whose code is in the image, and the machine, if it is described.
static tessera_text_t hostOf(MlirModule module) {
  tessera_text_t text = {NULL};
  tileOpRemoveMachine(mlirModuleGetOperation(module));
  TileOps devices = tileCollectOps(mlirModuleGetOperation(module), gpuGPUModuleOpIsA);
  for (intptr_t i = 0; i < devices.count; ++i)
    mlirOperationDestroy(devices.items[i]);
  tileOpsFree(&devices);
  mlirOperationPrint(mlirModuleGetOperation(module), tileTextAppend, &text);
  return text;
}

// Gives each part the number of its host's part among those that differ; `program->variants` gets their modules.
static bool numberVariants(GpuProgram *program, tessera_error_t *error) {
  tessera_text_t texts[MaxGpus];
  int count = 0;
  bool ok = true;
  for (int i = 0; i < program->options->numChips; ++i) {
    GpuPart *part = &program->parts[i];
    tessera_text_t text = hostOf(part->module);
    ok &= !text.failed;
    for (part->variant = 0; part->variant < count; ++part->variant)
      if (text.size == texts[part->variant].size && memcmp(text.data, texts[part->variant].data, text.size) == 0)
        break;
    if (part->variant < count) {
      tessera_text_free(&text);
      continue;
    }
    program->variants[count].module = mlirModuleGetOperation(part->module);
    texts[count++] = text;
  }
  for (int i = 0; i < count; ++i)
    tessera_text_free(&texts[i]);
  program->translation.variants = program->variants;
  program->translation.numVariants = count;
  return ok || tessera_fail(error, "out of memory");
}

static void collectImages(GpuProgram *program) {
  int count = 0;
  for (int v = 0; v < program->translation.numVariants; ++v) {
    int first = count;
    for (int i = 0; i < program->options->numChips; ++i)
      for (int k = 0; k < program->parts[i].numImages && program->parts[i].variant == v; ++k)
        program->records[count++] = program->parts[i].images[k].record;
    program->variants[v].images = (tessera_images_t){count - first, program->records + first};
  }
}

//===--- one chip ---------------------------------------------------------------------===//

static bool makeImages(GpuPart *part, const Way *way, const char *chip, tessera_error_t *error) {
  for (int k = 0; way->forms[k]; ++k) {
    const TileCodeTarget *target = tileTargetOfForm(way->forms[k], error);
    const TileForm *form = target ? tileTargetForm(target, way->forms[k], error) : NULL;
    if (!form)
      return false;
    if (k && form->hasTools && !form->hasTools(&part->missing))
      return true;
    TileImage *image = &part->images[part->numImages++];
    if (!tileImageCreate(mlirModuleGetOperation(part->module), chip, way->forms[k], image, error))
      return false;
  }
  return true;
}

static bool lowerFor(GpuProgram *program, int index, const TileSession *session, tessera_error_t *error) {
  const char *chip = program->options->chips[index];
  const Way *way = wayOf(chip);
  GpuPart *part = &program->parts[index];
  if (!way)
    return tessera_fail(error, "--target=%s: no pipeline makes code for it", chip);
  TilePipelineCall call = {.pipeline = way->pipeline,
                           .before = "tile-add-into-entries",
                           .choices = &program->options->choices,
                           .values = {{"chip", chip}}};
  char *pipeline = tilePipelineCallPrint(&call, error);
  if (!pipeline)
    return false;
  part->module = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(session->module)));
  TileSession copy = {session->context, part->module};
  bool ok = tileSessionRun(&copy, pipeline, error);
  if (index)
    free(pipeline);
  else
    program->pipeline = pipeline;
  return ok && makeImages(part, way, chip, error);
}

bool gpuProgramTakesChoices(const TranslateOptions *options, tessera_error_t *error) {
  for (int i = 0; i < options->numChips; ++i) {
    const Way *way = wayOf(options->chips[i]);
    if (way && !tilePipelineTakesChoices(way->pipeline, &options->choices, error))
      return false;
  }
  return true;
}

bool gpuProgramLower(GpuProgram *program, const TileSession *session, tessera_error_t *error) {
  if (!tileEntriesCollect(session->module, &program->translation.entries, error))
    return false;
  for (int i = 0; i < program->options->numChips; ++i)
    if (!lowerFor(program, i, session, error))
      return false;
  program->translation.module = mlirModuleGetOperation(program->parts[0].module);
  program->translation.chip = program->options->chip;
  program->translation.pipeline = program->pipeline;
  program->translation.fallbackOps = tileFallbackOps();
  if (!numberVariants(program, error))
    return false;
  collectImages(program);
  return true;
}

//===--- the listing ----------------------------------------------------------------------===//

void gpuProgramWrite(const GpuProgram *program, tessera_json_t *json) {
  tessera_json_begin_object(json, "device_code");
  for (int i = 0; i < program->options->numChips; ++i) {
    const GpuPart *part = &program->parts[i];
    tessera_json_begin_object(json, program->options->chips[i]);
    for (int k = 0; k < part->numImages; ++k) {
      char key[64];
      snprintf(key, sizeof key, "%s_bytes", part->images[k].record.form);
      tessera_json_integer(json, key, part->images[k].record.size);
    }
    if (part->missing.text[0])
      tessera_json_string(json, "missing", part->missing.text);
    tileArtifactWriteKernels(&part->images[part->numImages - 1].artifact, json);
    tessera_json_end(json);
  }
  tessera_json_end(json);
}

void gpuProgramForgetModules(GpuProgram *program) {
  for (int i = 0; i < program->options->numChips; ++i) {
    if (!mlirModuleIsNull(program->parts[i].module))
      mlirModuleDestroy(program->parts[i].module);
    program->parts[i].module = (MlirModule){NULL};
  }
}

void gpuProgramDestroy(GpuProgram *program) {
  gpuProgramForgetModules(program);
  tileEntriesDestroy(&program->translation.entries);
  free(program->pipeline);
  for (int i = 0; i < program->options->numChips; ++i)
    for (int k = 0; k < program->parts[i].numImages; ++k)
      tileImageDestroy(&program->parts[i].images[k]);
}
