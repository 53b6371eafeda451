// A model's program on the CPU, compiled once. See kept.h.
#include "lib/execution/kept.h"

#include "lib/pipelines/kept_program.h"
#include "lib/pipelines/pass_statistics.h"
#include "lib/target/target.h"

static bool load(Run *run, const char *path, const char *entry) {
  if (!tessera_program_load(&run->program, path, entry, NULL)) {
    tessera_program_unload(&run->program);
    return false;
  }
  run->entry = run->program.entry;
  return true;
}

// The code and, where it cannot be made, why. `isProgramWrong`: because of the program.
static bool compile(Run *run, const char *path, TileArtifact *artifact, tessera_trace_t *trace, bool *isProgramWrong,
                    tessera_error_t *error) {
  TileTranslation translation = {
      .module = mlirModuleGetOperation(run->session.module), .pipeline = run->pipeline, .output = path};
  const TileCodeTarget *target = tileTargetFind("cpu", error);
  const TileForm *form = target ? tileTargetForm(target, "program", error) : NULL;
  bool ok = form && tileEntriesCollect(run->session.module, &translation.entries, error) &&
            tileSessionRun(&run->session, run->pipeline, error);
  *isProgramWrong = !ok;
  translation.fallbackOps = tileFallbackOps();
  tessera_trace_phase(trace, "code generation");
  ok = ok && form->emit(&translation, artifact, error);
  tileEntriesDestroy(&translation.entries);
  return ok;
}

static void copyModule(Run *run, const TileSession *parsed) {
  mlirModuleDestroy(run->session.module);
  run->session.module = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(parsed->module)));
}

bool runTakeKept(Run *run, const TileSession *parsed, const tessera_run_options_t *options, tessera_trace_t *trace,
                 bool *isDone, tessera_error_t *error) {
  TileKeptProgram kept;
  TileArtifact artifact = {NULL};
  bool isProgramWrong = false;
  *isDone = false;
  if (options->stats || options->trace || options->pipeline)
    return true;
  *isDone = tileKeptProgramFind(&kept, parsed, run->pipeline, NULL, "tile-run") && load(run, kept.path, options->entry);
  if (*isDone || !kept.isWanted)
    return true;
  *isDone = compile(run, kept.path, &artifact, trace, &isProgramWrong, error) &&
            tileKeptProgramStore(&kept, artifact.data, artifact.size, "tile-run") &&
            load(run, kept.path, options->entry);
  tileArtifactDestroy(&artifact);
  if (!*isDone && !isProgramWrong)
    copyModule(run, parsed);
  return !isProgramWrong;
}
