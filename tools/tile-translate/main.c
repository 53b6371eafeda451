// tile-translate: a module of any level -> LLVM IR, an object file, a program. --help lists the flags.
// A file is written wholly or not at all: beside its place, then renamed.
#include "lib/capi/tool.h"
#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "lib/pipelines/bind_by_name.h"
#include "lib/pipelines/pass_statistics.h"
#include "lib/pipelines/pipeline.h"
#include "lib/pipelines/session.h"
#include "lib/support/clock.h"
#include "lib/support/file.h"
#include "lib/support/guard.h"
#include "lib/support/version.h"
#include "lib/target/cuda_tile/tile_ir_write.h"
#include "lib/target/prepared_weights.h"
#include "lib/target/target.h"
#include "tools/tile-translate/drawing.h"
#include "tools/tile-translate/gpu_program.h"
#include "tools/tile-translate/keep.h"
#include "tools/tile-translate/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

//===--- translating ----------------------------------------------------------===//

// Remembers the entries and brings the module to the target's level, unless it is there already.
static bool lower(TileSession *session, const TileCodeTarget *target, const char *pipeline,
                  const TranslateOptions *options, TileTranslation *translation, tessera_error_t *error) {
  translation->module = mlirModuleGetOperation(session->module);
  translation->chip = options->chip;
  translation->wantsFigures = options->stats != NULL;
  if (!options->pipeline && tileTargetIsLowered(target, translation->module))
    return true;
  translation->pipeline = pipeline;
  bool ok = (options->pipeline || tileSessionTakeSparseEntries(session, NULL, error)) &&
            tileEntriesCollect(session->module, &translation->entries, error) &&
            (!options->pipeline || tileSessionExpandEntries(session, error)) &&
            tileSessionRun(session, translation->pipeline, error);
  translation->fallbackOps = tileFallbackOps();
  return ok;
}

// The user's passes or the target's pipeline for the chip asked for, to be freed; null after an error.
static char *choosePipeline(const TileCodeTarget *target, const TileForm *form, const TranslateOptions *options,
                            tessera_error_t *error) {
  if (options->pipeline)
    return strdup(options->pipeline);
  TilePipelineCall call = {
      .pipeline = target->pipeline,
      .choices = &options->choices,
      .values = {{"chip", options->chip ? options->chip : target->defaultChip},
                 {"into", form->hasInto ? "true" : NULL}},
  };
  return tilePipelineCallPrint(&call, error);
}

static bool openFile(TileSession *session, const TranslateOptions *options, tessera_error_t *error) {
  return tileSessionOpen(session, options->file, options->chip, error) &&
         (!options->weights || tileBindWeightsByName(session->module, options->weights, error));
}

static void giveWeights(TileTranslation *translation, const TranslateOptions *options, TilePrepared *prepared) {
  translation->output = options->output;
  translation->embedsWeights = options->embedsWeights;
  translation->hasLines = options->lines;
  translation->prepared = options->prepared ? prepared : NULL;
}

// The file of prepared weights is written while the module still holds them. It gets its name with the artifact.
static bool emitWithWeights(const TileForm *form, const TileTranslation *translation, const TranslateOptions *options,
                            TileArtifact *artifact, tessera_error_t *error) {
  if (!translation->prepared)
    return form->emit(translation, artifact, error);
  bool ok = tilePreparedOpen(translation->prepared, options->prepared, error) &&
            form->emit(translation, artifact, error) && tilePreparedWrite(translation->prepared, error);
  tilePreparedClose(translation->prepared);
  return ok;
}

// As below, for GPUs: each chip's pipeline on a copy of the module.
static bool translateForGpus(GpuProgram *program, TileSession *session, const TileForm *form, TileArtifact *artifact,
                             tessera_error_t *error) {
  TilePrepared prepared;
  tessera_guard_doing("passes");
  bool ok = tileSessionTakeSparseEntries(session, NULL, error) && gpuProgramLower(program, session, error);
  tessera_guard_doing("code generation");
  giveWeights(&program->translation, program->options, &prepared);
  ok = ok && emitWithWeights(form, &program->translation, program->options, artifact, error);
  gpuProgramForgetModules(program);
  return ok;
}

static bool translate(const TranslateOptions *options, TileSession *session, const TileCodeTarget *target,
                      const TileForm *form, TileArtifact *artifact, TileStages *stages, tessera_error_t *error) {
  TilePrepared prepared;
  TileTranslation translation = {.pipeline = NULL, .stages = stages};
  giveWeights(&translation, options, &prepared);
  char *pipeline = choosePipeline(target, form, options, error);
  if (!pipeline)
    return false;
  tessera_guard_doing("passes");
  double start = tessera_milliseconds();
  bool ok = lower(session, target, pipeline, options, &translation, error);
  tileStagesAdd(stages, "passes", tessera_milliseconds() - start);
  tessera_guard_doing("code generation");
  ok = ok && emitWithWeights(form, &translation, options, artifact, error);
  tileEntriesDestroy(&translation.entries);
  free(pipeline);
  return ok;
}

// Reads the file; its program is kept already, or is compiled.
static bool make(GpuProgram *program, const TileCodeTarget *target, const TileForm *form, TileKeptProgram *kept,
                 TileArtifact *artifact, TileStages *stages, tessera_error_t *error) {
  const TranslateOptions *options = program->options;
  TileSession session;
  tessera_guard_doing("reading the program");
  double start = tessera_milliseconds();
  bool ok = openFile(&session, options, error);
  tileStagesAdd(stages, "reading", tessera_milliseconds() - start);
  if (ok && !keepFind(kept, &session, options, form, artifact))
    ok = options->numChips ? translateForGpus(program, &session, form, artifact, error)
                           : translate(options, &session, target, form, artifact, stages, error);
  tessera_guard_doing(NULL);
  tileSessionClose(&session);
  return ok;
}

//===--- writing --------------------------------------------------------------===//

static bool writeFolder(const TileArtifact *artifact, const char *path, tessera_error_t *error) {
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return tessera_fail(error, "%s: cannot make the folder: %s", path, strerror(errno));
  bool ok = true;
  for (int i = 0; i < artifact->numFiles && ok; ++i) {
    char name[4096];
    const TileArtifactFile *file = &artifact->files[i];
    ok = (snprintf(name, sizeof name, "%s/%s", path, file->name) < (int)sizeof name ||
          tessera_fail(error, "%s: the name is too long", path)) &&
         tessera_file_write(name, &(tessera_bytes_t){file->data, file->size}, 1, error);
  }
  return ok;
}

static bool writeArtifact(const TileArtifact *artifact, const char *path, tessera_error_t *error) {
  if (artifact->numFiles)
    return writeFolder(artifact, path, error);
  if (strcmp(path, "-") != 0)
    return tessera_file_write(path, &(tessera_bytes_t){artifact->data, artifact->size}, 1, error);
  bool ok = fwrite(artifact->data, 1, artifact->size, stdout) == artifact->size && fflush(stdout) == 0;
  return ok || tessera_fail(error, "standard output: cannot be written");
}

static bool writeStatistics(const TranslateOptions *options, const TileCodeTarget *target, const TileArtifact *artifact,
                            const GpuProgram *program, double compileMs, const TileStages *stages,
                            tessera_error_t *error) {
  tessera_json_t *json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  tessera_json_number(json, "compile_ms", compileMs);
  tessera_json_begin_object(json, "stages_ms");
  for (int i = 0; i < stages->count; ++i)
    tessera_json_number(json, stages->items[i].name, stages->items[i].ms);
  tessera_json_end(json);
  tileStatisticsWrite(json);
  tileArtifactWriteKernels(artifact, json);
  if (options->numChips)
    gpuProgramWrite(program, json);
  tessera_json_begin_object(json, "manifest");
  tessera_json_string(json, "file", options->file);
  tessera_json_string(json, "form", options->form);
  tessera_json_string(json, "target", target->name);
  tessera_json_string(json, "chip", options->chip);
  tessera_json_string(json, "pipeline", options->pipeline);
  tessera_version_write(json);
  tessera_json_end(json);
  tessera_json_end(json);
  bool ok = tessera_json_write(json, options->stats, error);
  tessera_json_destroy(json);
  return ok;
}

//===--- importing -------------------------------------------------------------===//

static bool readForText(const TranslateOptions *options, TileSession *session, tessera_error_t *error) {
  if (options->ttir)
    return tileSessionRead(session, options->file, NULL, error) &&
           tileSessionMakeTtir(session, options->descriptors, error);
  bool staysForeign = strcmp(options->import, "cuda-tile") == 0;
  return (staysForeign ? tileSessionRead : tileSessionOpen)(session, options->file, options->chip, error);
}

// The module of a file in another form, as text.
static bool import(const TranslateOptions *options, tessera_error_t *error) {
  TileSession session;
  tessera_text_t text = {NULL};
  bool ok = readForText(options, &session, error);
  if (ok)
    mlirOperationPrint(mlirModuleGetOperation(session.module), tileTextAppend, &text);
  ok = ok && (!text.failed || tessera_fail(error, "out of memory")) &&
       writeArtifact(&(TileArtifact){.data = text.data, .size = text.size}, options->output, error);
  tessera_text_free(&text);
  tileSessionClose(&session);
  return ok;
}

//===--- bytecode of CUDA Tile IR -------------------------------------------------===//

static bool writeCudaTile(const TranslateOptions *options, tessera_error_t *error) {
  TileSession session;
  TileArtifact artifact = {NULL};
  bool ok = tileSessionRead(&session, options->file, NULL, error) &&
            tileSessionMakeCudaTile(&session, options->cudaTile, error);
  if (ok && strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO))
    ok = tessera_fail(error, "--tile-to-cuda-tile is binary, not for a terminal: give -o FILE");
  ok = ok && tileIrWrite(mlirModuleGetOperation(session.module), options->cudaTile, &artifact, error) &&
       writeArtifact(&artifact, options->output, error);
  tileArtifactDestroy(&artifact);
  tileSessionClose(&session);
  return ok;
}

//===--- the tool -------------------------------------------------------------===//

static bool run(const TranslateOptions *options, tessera_error_t *error) {
  const TileCodeTarget *target =
      options->target ? tileTargetFind(options->target, error) : tileTargetOfForm(options->form, error);
  const TileForm *form = target ? tileTargetForm(target, options->form, error) : NULL;
  if (!form || (options->chip && !target->checkChip(options->chip, error)) ||
      !(options->numChips ? gpuProgramTakesChoices(options, error)
                          : tilePipelineTakesChoices(target->pipeline, &options->choices, error)))
    return false;
  if (form->isFolder && strcmp(options->output, "-") == 0)
    return tessera_fail(error, "--tile-to-%s makes a folder: give -o DIR", form->name);
  if (form->isBinary && strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO))
    return tessera_fail(error, "--tile-to-%s is binary, not for a terminal: give -o FILE", form->name);
  TileArtifact artifact = {NULL};
  GpuProgram program = {.options = options};
  TileStages stages = {.count = 0};
  double start = tessera_milliseconds();
  tessera_files_t files;
  tessera_files_begin(&files);
  TileKeptProgram kept = {.isWanted = false};
  bool ok = make(&program, target, form, &kept, &artifact, &stages, error);
  double compileMs = tessera_milliseconds() - start;
  ok = ok && writeArtifact(&artifact, options->output, error) &&
       (!options->stats || writeStatistics(options, target, &artifact, &program, compileMs, &stages, error));
  ok = tessera_files_end(&files, ok, error);
  if (ok)
    keepStore(&kept, &artifact);
  tileArtifactDestroy(&artifact);
  gpuProgramDestroy(&program);
  return ok;
}

int main(int argc, char **argv) {
  int status;
  if (!tileMachineTakeFlag(&argc, argv))
    return 1;
  if (tessera_guard_bytecode("tile-translate", argc, argv, false, &status))
    return status;
  tessera_guard_crashes("tile-translate");
  mlirExtToolWhenOutOfMemory(tessera_guard_out_of_memory);
  TranslateOptions options;
  tessera_error_t error;
  bool ok = translateOptionsParse(argc, argv, &options, &error);
  if (ok && options.help)
    translateOptionsPrintHelp();
  else if (ok && options.draw)
    ok = translateDraw(&options, &error);
  else
    ok = ok && (options.import || options.ttir ? import(&options, &error)
                : options.cudaTile             ? writeCudaTile(&options, &error)
                                               : run(&options, &error));
  if (!ok)
    fprintf(stderr, "tile-translate: error: %s\n", error.text);
  return ok ? 0 : 1;
}
