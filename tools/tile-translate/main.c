// tile-translate: a module of any level -> LLVM IR, an object file, a program. --help lists the flags.
// A file is written wholly or not at all: beside its place, then renamed.
#include "lib/pipelines/session.h"
#include "lib/pipelines/statistics.h"
#include "lib/support/file.h"
#include "lib/target/target.h"
#include "tools/tile-translate/options.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

//===--- translating ----------------------------------------------------------===//

// Remembers the entries and brings the module to the target's level, unless it is there already.
static bool lower(TileSession *session, const TileTarget *target, const TileForm *form, const TranslateOptions *options,
                  TileTranslation *translation, tessera_error_t *error) {
  const char *pipeline = form->pipeline ? form->pipeline : target->pipeline;
  translation->module = mlirModuleGetOperation(session->module);
  translation->chip = options->chip;
  if (!options->pipeline && tileTargetIsLowered(target, translation->module))
    return true;
  translation->pipeline = options->pipeline ? options->pipeline : pipeline;
  bool ok = tileEntriesCollect(session->module, &translation->entries, error) &&
            tileSessionRun(session, translation->pipeline, error);
  translation->fallbackOps = tileFallbackOps();
  return ok;
}

static bool translate(const TranslateOptions *options, const TileTarget *target, const TileForm *form,
                      TileArtifact *artifact, tessera_error_t *error) {
  TileSession session;
  TileTranslation translation = {.pipeline = NULL};
  bool ok = tileSessionOpen(&session, options->file, error) &&
            lower(&session, target, form, options, &translation, error) && form->emit(&translation, artifact, error);
  tileEntriesDestroy(&translation.entries);
  tileSessionClose(&session);
  return ok;
}

//===--- writing --------------------------------------------------------------===//

static bool writeArtifact(const TileArtifact *artifact, const char *path, tessera_error_t *error) {
  if (strcmp(path, "-") != 0)
    return tessera_file_write(path, &(tessera_bytes_t){artifact->data, artifact->size}, 1, error);
  bool ok = fwrite(artifact->data, 1, artifact->size, stdout) == artifact->size && fflush(stdout) == 0;
  return ok || tessera_fail(error, "standard output: cannot be written");
}

static bool writeStatistics(const TranslateOptions *options, double compileMs, tessera_error_t *error) {
  tessera_json_t *json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  tessera_json_number(json, "compile_ms", compileMs);
  tileStatisticsWrite(json);
  tessera_json_begin_object(json, "manifest");
  tessera_json_string(json, "file", options->file);
  tessera_json_string(json, "form", options->form);
  tessera_json_string(json, "target", options->target);
  tessera_json_string(json, "chip", options->chip);
  tessera_json_string(json, "pipeline", options->pipeline);
  tessera_json_end(json);
  tessera_json_end(json);
  bool ok = tessera_json_write(json, options->stats, error);
  tessera_json_destroy(json);
  return ok;
}

//===--- the tool -------------------------------------------------------------===//

static bool run(const TranslateOptions *options, tessera_error_t *error) {
  const TileTarget *target = tileTargetFind(options->target, error);
  const TileForm *form = target ? tileTargetForm(target, options->form, error) : NULL;
  if (!form || (options->chip && !target->checkChip(options->chip, error)))
    return false;
  if (form->isBinary && strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO))
    return tessera_fail(error, "--tile-to-%s is binary, not for a terminal: give -o FILE", form->name);
  TileArtifact artifact = {NULL};
  double start = milliseconds();
  bool ok = translate(options, target, form, &artifact, error);
  double compileMs = milliseconds() - start;
  ok = ok && writeArtifact(&artifact, options->output, error) &&
       (!options->stats || writeStatistics(options, compileMs, error));
  tileArtifactDestroy(&artifact);
  return ok;
}

int main(int argc, char **argv) {
  TranslateOptions options;
  tessera_error_t error;
  bool ok = translateOptionsParse(argc, argv, &options, &error);
  if (ok && options.help)
    translateOptionsPrintHelp();
  else
    ok = ok && run(&options, &error);
  if (!ok)
    fprintf(stderr, "tile-translate: error: %s\n", error.text);
  return ok ? 0 : 1;
}
