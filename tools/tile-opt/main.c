// mlir-opt with our dialects, passes and pipelines; and what looks at a pipeline pass by pass: --tile-validate-each has
// every pass judged (validate.h), --tile-write-differences tells what each did (passes.h).
#include "lib/capi/pass.h"
#include "lib/capi/tool.h"
#include "lib/machine/machine.h"
#include "lib/pipelines/nesting.h"
#include "lib/pipelines/register.h"
#include "lib/support/file.h"
#include "lib/support/guard.h"
#include "tools/tile-opt/passes.h"
#include "tools/tile-opt/validate.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void printStatistic(const char *pass, const char *name, uint64_t value, void *userData) {
  fprintf(userData, "%s: %" PRIu64 " %s\n", pass, value, name);
}

//===--- validation -----------------------------------------------------------===//

typedef struct Flags {
  const bool *statistics;
  MlirExtToolText *each, *entry, *seed, *size, *timeout, *traffic, *reduced, *differences;
  char plugins[4096]; // as given
} Flags;

static void addFlags(Flags *flags, int argc, char **argv) {
  flags->statistics = mlirExtToolAddFlag("tile-pass-statistics", "Print what our passes counted at the end");
  flags->each = mlirExtToolAddText("tile-validate-each", "interpret|cpu|emulate:CHIP",
                                   "Judge the program before and after every pass; name the pass that breaks it");
  flags->entry = mlirExtToolAddText("tile-validate-entry", "name", "The function that judges run (default: main)");
  flags->seed = mlirExtToolAddText("tile-validate-seed", "number", "Of the judges' inputs (default: 0)");
  flags->size = mlirExtToolAddText("tile-validate-size", "number", "Of dynamic dimensions of inputs (default: 5)");
  flags->timeout =
      mlirExtToolAddText("tile-validate-timeout", "seconds", "Of processor time for one judgement (default: 60)");
  flags->traffic = mlirExtToolAddText("tile-validate-traffic", "percent",
                                      "Blame a pass too that raises counted traffic by more (emulate:CHIP counts)");
  flags->reduced = mlirExtToolAddText("tile-reduce-on-failure", "file",
                                      "Shrink the case and write it there (default: reproducer.mlir)");
  flags->differences = mlirExtToolAddText("tile-write-differences", "file",
                                          "Write what each pass did to the ops as JSON (default: differences.json)");
  mlirExtToolAddText("tile-machine-path", "dir", TILE_MACHINE_PATH_HELP); // taken already: the help lists it
  for (int i = 1; i < argc; ++i)
    if (strstr(argv[i], "-plugin=") && strlen(flags->plugins) + strlen(argv[i]) + 2 < sizeof flags->plugins) {
      strcat(flags->plugins, " ");
      strcat(flags->plugins, argv[i]);
    }
}

static const char *textOr(MlirExtToolText *flag, const char *otherwise) {
  const char *text = mlirExtToolTextGet(flag);
  return text && *text ? text : otherwise;
}

static bool readNumber(MlirExtToolText *flag, const char *name, const char *otherwise, double least, double *number,
                       tessera_error_t *error) {
  const char *text = textOr(flag, otherwise);
  char *end;
  *number = strtod(text, &end);
  return (!*end && end != text && *number >= least) ||
         tessera_fail(error, "--%s=%s: expected a number from %g", name, text, least);
}

// Where to; null: not asked for.
static const char *differencesFile(const Flags *flags) {
  return mlirExtToolTextGet(flags->differences) ? textOr(flags->differences, "differences.json") : NULL;
}

static const char *reproducerFile(const Flags *flags) {
  return mlirExtToolTextGet(flags->reduced) ? textOr(flags->reduced, "reproducer.mlir") : NULL;
}

static bool isWanted(void *userData) {
  const Flags *flags = userData;
  return mlirExtToolTextGet(flags->each) || mlirExtToolTextGet(flags->differences);
}

static bool readOptions(const Flags *flags, ValidateOptions *options, tessera_error_t *error) {
  double seed, size, timeout;
  *options = (ValidateOptions){.target = textOr(flags->each, "interpret"),
                               .entry = textOr(flags->entry, NULL),
                               .traffic = -1,
                               .reduced = reproducerFile(flags),
                               .plugins = flags->plugins};
  if (!readNumber(flags->seed, "tile-validate-seed", "0", 0, &seed, error) ||
      !readNumber(flags->size, "tile-validate-size", "5", 0, &size, error) ||
      !readNumber(flags->timeout, "tile-validate-timeout", "60", 1, &timeout, error))
    return false;
  if (mlirExtToolTextGet(flags->traffic) &&
      !readNumber(flags->traffic, "tile-validate-traffic", "0", 0, &options->traffic, error))
    return false;
  options->seed = (int64_t)seed;
  options->size = (int64_t)size;
  options->timeout = (int)timeout;
  return validateCheckOptions(options, error);
}

// Takes the place of the pass manager.
static bool runPasses(MlirOperation op, MlirStringRef pipeline, void *userData) {
  const Flags *flags = userData;
  if (mlirExtToolTextGet(flags->differences) && mlirExtToolTextGet(flags->each)) {
    fputs("tile-opt: error: --tile-write-differences and --tile-validate-each: one of them at a time\n", stderr);
    return false;
  }
  if (mlirExtToolTextGet(flags->differences))
    return passesWriteDifferences(op, pipeline, differencesFile(flags));
  ValidateOptions options;
  tessera_error_t error;
  if (readOptions(userData, &options, &error))
    return validateEach(op, pipeline, &options);
  fprintf(stderr, "tile-opt: error: %s\n", error.text);
  return false;
}

//===--- input and output ------------------------------------------------------===//

// No other file that is asked for may be the output.
static bool checkOutput(const Flags *flags, MlirStringRef output) {
  const struct {
    const char *name, *path;
  } others[] = {{"tile-write-differences", differencesFile(flags)}, {"tile-reduce-on-failure", reproducerFile(flags)}};
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%.*s", (int)output.length, output.data);
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
    if (others[i].path && tessera_file_is_same(path, others[i].path)) {
      fprintf(stderr, "tile-opt: error: -o %s and --%s=%s name one file; each requires a file of its own\n", path,
              others[i].name, others[i].path);
      return false;
    }
  return true;
}

static bool checkInput(MlirStringRef text, MlirStringRef name, MlirStringRef output, void *userData) {
  tessera_nesting_t found;
  if (!checkOutput(userData, output))
    return false;
  if (tessera_nesting_check(text.data, text.length, &found))
    return true;
  fprintf(stderr, "%.*s:%d:%d: error: %s\n", (int)name.length, name.data, found.line, found.column, found.text);
  return false;
}

static void beginPasses(void *userData) { tessera_guard_has_read(); }

static bool writeOutput(MlirStringRef path, MlirStringRef content, void *userData) {
  char *name = strndup(path.data, path.length);
  tessera_error_t error = {"out of memory"};
  bool ok = name && tessera_file_write(name, &(tessera_bytes_t){content.data, content.length}, 1, &error);
  if (!ok)
    fprintf(stderr, "tile-opt: error: %s\n", error.text);
  free(name);
  return ok;
}

// A pipeline is a flag's value, which upstream's tool parses.
static bool checkFlags(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    tessera_nesting_t found;
    if (tessera_nesting_check(argv[i], strlen(argv[i]), &found))
      continue;
    fprintf(stderr, "tile-opt: error: %.40s…: %s\n", argv[i], found.text);
    return false;
  }
  return true;
}

//===--- the tool -------------------------------------------------------------===//

int main(int argc, char **argv) {
  int status;
  if (!tileMachineTakeFlag(&argc, argv) || !checkFlags(argc, argv))
    return 1;
  if (tessera_guard_bytecode("tile-opt", argc, argv, true, &status)) {
    if (status) // MLIR's reader does not always say so
      fputs("tile-opt: error: the bytecode could not be read or processed\n", stderr);
    return status;
  }
  mlirExtToolWhenOutOfMemory(tessera_guard_out_of_memory);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tesseraRegisterAllDialects(registry);
  tesseraRegisterAllPasses();
  Flags flags = {.plugins = ""};
  addFlags(&flags, argc, argv);
  const MlirExtOptHooks hooks = {&flags, checkInput, beginPasses, isWanted, runPasses, writeOutput};
  tessera_files_t files;
  tessera_error_t error;
  tessera_files_begin(&files);
  status = mlirExtOptMain(argc, argv, "tile-opt: Tessera's optimizer driver\n", registry, &hooks);
  if (!tessera_files_end(&files, !status, &error) && !status) {
    fprintf(stderr, "tile-opt: error: %s\n", error.text);
    status = 1;
  }
  if (*flags.statistics)
    mlirExtStatisticsForEach(printStatistic, stderr);
  mlirDialectRegistryDestroy(registry);
  return status;
}
