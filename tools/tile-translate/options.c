// Parses tile-translate's flags; every complaint names the flag. See options.h.
#include "tools/tile-translate/options.h"

#include "dialects/foreign/cuda_tile/bytecode.h"
#include "lib/machine/machine.h"
#include "lib/pipelines/read_text.h"
#include "lib/support/file.h"
#include "lib/target/target.h"

#include <string.h>

// The value of `--name=value` if `argument` is that flag.
static const char *valueOf(const char *argument, const char *name) {
  size_t length = strlen(name);
  return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1 : NULL;
}

static bool takeText(const char *argument, TranslateOptions *options) {
  const struct {
    const char *flag, **value;
  } flags[] = {{"--target", &options->target},   {"--chip", &options->chip},
               {"--cpu", &options->chip},        {"--pass-pipeline", &options->pipeline},
               {"--stats", &options->stats},     {"-o", &options->output},
               {"--weights", &options->weights}, {"--prepared-weights", &options->prepared}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i) {
    const char *value = valueOf(argument, flags[i].flag);
    if (value) {
      *flags[i].value = value;
      return true;
    }
  }
  return false;
}

static bool takeForm(const char *name, TranslateOptions *options, tessera_error_t *error) {
  if (options->form)
    return tessera_fail(error, "two forms asked for: --tile-to-%s and --tile-to-%s", options->form, name);
  options->form = name;
  return true;
}

static bool takeFile(const char *name, TranslateOptions *options, tessera_error_t *error) {
  if (name[0] == '-' && name[1])
    return tessera_fail(error, "unknown flag '%s' (--help lists them)", name);
  if (options->file)
    return tessera_fail(error, "two files given: '%s' and '%s'", options->file, name);
  options->file = name;
  return true;
}

static bool takeElementBytes(const char *value, TranslateOptions *options, tessera_error_t *error) {
  static const char sizes[] = "1248";
  if (strlen(value) != 1 || !strchr(sizes, *value))
    return tessera_fail(error, "--element-bytes=%s: expected 1, 2, 4 or 8", value);
  options->elementBytes = *value - '0';
  return true;
}

// A machine file of a GPU: a target of programs.
static bool isChip(const char *name) {
  TileMachine *machine = tileMachineLoad(name, NULL, NULL, 0, NULL);
  const char *kind = machine ? tileMachineGetText(machine, "kind") : NULL;
  bool is = kind && strcmp(kind, "gpu") == 0;
  tileMachineDestroy(machine);
  return is;
}

static bool takeChip(const char *name, TranslateOptions *options, tessera_error_t *error) {
  enum { Most = sizeof options->chips / sizeof *options->chips };
  if (options->numChips == Most)
    return tessera_fail(error, "--target=%s: a program is for at most %d GPUs", name, (int)Most);
  options->chips[options->numChips++] = name;
  return true;
}

// Behind --tile-to-cuda-tile: nothing, or `=13.N`.
static bool takeCudaTile(const char *version, TranslateOptions *options, tessera_error_t *error) {
  bool ok = !*version || (strncmp(version, "=13.", 4) == 0 && version[4] && !version[5]);
  options->cudaTile = !ok ? 0 : *version ? version[4] - '0' : CudaTileOldest;
  return (options->cudaTile >= CudaTileOldest && options->cudaTile <= CudaTileNewest) ||
         tessera_fail(error,
                      "--tile-to-cuda-tile%s: no version of CUDA Tile IR that can be written; accepted: 13.%d to "
                      "13.%d",
                      version, CudaTileOldest, CudaTileNewest);
}

static bool take(const char *argument, TranslateOptions *options, tessera_error_t *error) {
  static const char form[] = "--tile-to-", cudaTile[] = "--tile-to-cuda-tile";
  if (strncmp(argument, cudaTile, sizeof cudaTile - 1) == 0)
    return takeCudaTile(argument + sizeof cudaTile - 1, options, error);
  if (strcmp(argument, "--tile-to-ttir") == 0)
    return options->ttir = true;
  if (strcmp(argument, "--descriptors") == 0)
    return options->descriptors = true;
  if (valueOf(argument, "--emit-project")) {
    options->output = valueOf(argument, "--emit-project");
    return takeForm("c-project", options, error);
  }
  if (strncmp(argument, form, sizeof form - 1) == 0)
    return takeForm(argument + sizeof form - 1, options, error);
  if (strcmp(argument, "--embed-weights") == 0)
    return options->embedsWeights = true;
  if (strcmp(argument, "--lines") == 0)
    return options->lines = true;
  if (strcmp(argument, "--help") == 0)
    return options->help = true;
  if (strcmp(argument, "--tile-layout-to-svg") == 0)
    return options->draw = true;
  if (strcmp(argument, "--import-onnx") == 0 || strcmp(argument, "--import-stablehlo") == 0 ||
      strcmp(argument, "--import-torch") == 0 || strcmp(argument, "--import-ttir") == 0 ||
      strcmp(argument, "--import-cuda") == 0 || strcmp(argument, "--import-cuda-tile") == 0)
    return (options->import = argument + sizeof "--import-" - 1) != NULL;
  if (valueOf(argument, "--element-bytes"))
    return takeElementBytes(valueOf(argument, "--element-bytes"), options, error);
  const char *target = valueOf(argument, "--target");
  if (target && isChip(target))
    return takeChip(target, options, error);
  return tessera_choices_take(&options->choices, argument) || takeText(argument, options) ||
         takeFile(argument, options, error);
}

// A file of prepared weights, or none at all, is a program's.
static bool checkWeights(const TranslateOptions *options, tessera_error_t *error) {
  const char *flag = options->prepared ? "--prepared-weights" : options->embedsWeights ? "--embed-weights" : NULL;
  if (flag && (!options->form || strcmp(options->form, "program") != 0))
    return tessera_fail(error, "%s: applies to --tile-to-program only", flag);
  if (options->prepared && options->embedsWeights)
    return tessera_fail(error, "--prepared-weights=%s and --embed-weights: give one of them", options->prepared);
  return !options->prepared || !tessera_file_is_same(options->output, options->prepared) ||
         tessera_fail(error, "-o %s and --prepared-weights=%s name one file", options->output, options->prepared);
}

// Choices are a form's: what reads or writes text of kernels has no pipeline.
static bool checkChoices(const TranslateOptions *options, tessera_error_t *error) {
  const char *choice = tessera_choice_name(tessera_choices_first(&options->choices));
  return tessera_choices_check(&options->choices, options->pipeline, error) &&
         (!choice || options->form || tessera_fail(error, "--%s: applies to --tile-to-FORM only", choice));
}

bool translateOptionsParse(int argc, char **argv, TranslateOptions *options, tessera_error_t *error) {
  *options = (TranslateOptions){.output = "-", .elementBytes = 2};
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "-o") == 0) {
      if (++i == argc)
        return tessera_fail(error, "-o: no file name; give -o FILE");
      options->output = argv[i];
    } else if (!take(argv[i], options, error)) {
      return false;
    }
  }
  if (options->help)
    return true;
  if (!options->file)
    return tessera_fail(error, "no input file (--help explains)");
  if (options->numChips && (!options->form || strcmp(options->form, "program") != 0 || options->pipeline))
    return tessera_fail(error,
                        "--target=%s: a GPU is a target of --tile-to-program, by its own passes; other forms take "
                        "--chip",
                        options->chips[0]);
  if (options->stats && tessera_file_is_same(options->output, options->stats))
    return tessera_fail(error, "-o %s and --stats=%s name one file; each requires a file of its own", options->output,
                        options->stats);
  if (!checkWeights(options, error) || !checkChoices(options, error))
    return false;
  static const char *const models[][2] = {{"onnx", ".onnx"}, {"torch", ".pt2"}};
  const char *end = strrchr(options->file, '.');
  for (int i = 0; i < 2 && options->import; ++i)
    if (strcmp(options->import, models[i][0]) == 0 && (!end || strcmp(end, models[i][1]) != 0))
      return tessera_fail(error, "--import-%s: %s: expected a name that ends in %s", models[i][0], options->file,
                          models[i][1]);
  bool isSource = options->form && (strstr(options->form, "-source") || strcmp(options->form, "c-project") == 0);
  if (options->lines && !isSource)
    return tessera_fail(error,
                        "--lines applies only to forms of source text: --tile-to-c-source, --tile-to-cuda-source, …");
  if (options->descriptors && !options->ttir)
    return tessera_fail(error, "--descriptors applies only to --tile-to-ttir");
  return options->form || options->draw || options->import || options->cudaTile || options->ttir ||
         tessera_fail(error, "nothing to translate to: give one --tile-to-FORM (--help lists them)");
}

static void printForm(const TileCodeTarget *target, const TileForm *form, void *userData) {
  printf("  --tile-to-%-12s %s: %s\n", form->name, target->name, form->summary);
}

void translateOptionsPrintHelp(void) {
  puts("tile-translate FILE --tile-to-FORM [-o OUTPUT] [flags]: a module of any level to an artifact\n");
  tileTargetsForEach(printForm, NULL);
  puts("  --tile-layout-to-svg   the layouts in FILE as a picture, and the bank conflicts of registers on memory\n"
       "  --tile-to-ttir         tile kernels, or kernels of CUDA Tile IR, as text for Triton\n"
       "  --descriptors          of these: tiles of tile kernels' views are blocks of descriptors\n"
       "  --tile-to-cuda-tile[=13.N]  kernels of tile, Triton or CUDA Tile IR as bytecode of CUDA Tile IR 13.N\n"
       "  --emit-project=DIR     as --tile-to-c-project -o DIR\n"
       "  --lines                of source text: #line of the program's lines, for messages and debuggers\n"
       "  --import-onnx          the ONNX model FILE as linalg, in MLIR's text\n"
       "  --import-torch         the program FILE of torch.export (.pt2) as linalg\n"
       "  --import-stablehlo     the program FILE in StableHLO, as JAX prints it, as linalg\n"
       "  --import-ttir          the kernels FILE of Triton, as tile kernels and functions that launch them\n"
       "  --import-cuda-tile     the kernels FILE in bytecode of CUDA Tile IR (.tileirbc), as text\n"
       "  --import-cuda          the source FILE of CUDA C++ (.cu) or HIP (.hip), for --chip=NAME, as a gpu.module\n"
       "  --element-bytes=N      of these: 1, 2 (default), 4 or 8\n"
       "  -o FILE                where to (default: -, standard output)\n"
       "  --target=NAME          cpu, nvvm (default: the first that has the form)\n"
       "  --target=CHIP          of a program: a GPU its kernels are for (sm_80, …); may be given several times\n"
       "  --chip=NAME, --cpu=    what the code is for (default: this machine, or sm_80; a wrong one lists all)\n"
       "  --pass-pipeline=TEXT   passes instead of the target's own pipeline");
  tessera_choices_print_help(stdout, 25);
  puts(TILE_MACHINE_PATH_USAGE
       "  --weights=FILE         the model's weights, by their names: .safetensors, .npz, .onnx or .pt2\n"
       "  --prepared-weights=FILE  of a program: what the compiler makes of weights goes into FILE, which is extended\n"
       "  --embed-weights        of a program: weights go into it, instead of being mapped from the model's file\n"
       "  --stats=FILE.json      compile_ms, fallback_ops and per-pass statistics\n"
       "  --help                 this text\n\n"
       "Programs of models are kept in the folder TESSERA_CACHE, by default below ~/.cache; none: they are not kept.");
}
