// Prints pipelines that are data. See pipeline.h.
#include "lib/pipelines/pipeline.h"

#include "lib/ir/canonicalize.h"
#include "lib/ir/support.h"
#include "lib/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>

//===--- values ----------------------------------------------------------------===//

static const MlirExtPassOption options[] = {
    [TilePipeline_Chip] = TILE_PIPELINE_CHIP(""),
    [TilePipeline_Buckets] = TILE_PIPELINE_BUCKETS,
    [TilePipeline_Bufferized] = TILE_PIPELINE_BUFFERIZED,
    [TilePipeline_Fast] = TILE_PIPELINE_FAST(""),
    [TilePipeline_Policy] = TILE_PIPELINE_CHOICE(policy),
    [TilePipeline_Fusion] = TILE_PIPELINE_CHOICE(fusion),
    [TilePipeline_Persistent] = TILE_PIPELINE_CHOICE(persistent),
    [TilePipeline_Sparsity] = TILE_PIPELINE_CHOICE(sparsity),
    [TilePipeline_Into] = TILE_PIPELINE_INTO,
};

typedef struct Printer {
  const TilePipelineConstants *constants;
  MlirExtPass options;
  MlirStringCallback append;
  void *userData;
  const char *open; // the op whose passes are being printed; null: the module
  bool begun;       // is a comma due?
} Printer;

static MlirStringRef valueOf(const Printer *printer, TilePipelineOption option) {
  bool isConstant = option == TilePipeline_Conversion || option == TilePipeline_DefaultChip;
  if (option == TilePipeline_Source)
    return tileString(printer->constants && printer->constants->source ? "true" : "");
  if (option == TilePipeline_None || (isConstant && !printer->constants))
    return tileString("");
  if (isConstant)
    return tileString(option == TilePipeline_Conversion ? printer->constants->conversion : printer->constants->chip);
  if (options[option].kind == MlirExtOption_Bool)
    return tileString(mlirExtPassGetBool(printer->options, options[option].name) ? "true" : "false");
  return mlirExtPassGetString(printer->options, options[option].name);
}

static bool isGiven(const Printer *printer, TilePipelineOption option) {
  MlirStringRef value = valueOf(printer, option);
  return value.length && !tileStringEquals(value, "false");
}

// Words, numbers and lists of them: what can stand in the text of a pipeline as it is.
static bool isPlain(MlirStringRef value) {
  for (size_t i = 0; i < value.length; ++i)
    if ((unsigned char)value.data[i] <= ' ' || strchr("{}()'\"", value.data[i]))
      return false;
  return true;
}

//===--- printing --------------------------------------------------------------===//

static void print(Printer *printer, MlirStringRef text) { printer->append(text, printer->userData); }

static void printText(Printer *printer, const char *text) { print(printer, tileString(text)); }

static void close(Printer *printer) {
  if (printer->open)
    printText(printer, ")");
  printer->open = NULL;
}

static bool isSame(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

// The comma, and the op that the pass runs on.
static void begin(Printer *printer, const char *on) {
  bool stays = isSame(printer->open, on);
  if (!stays)
    close(printer);
  if (printer->begun)
    printText(printer, ",");
  if (on && !stays) {
    printText(printer, on);
    printText(printer, "(");
  }
  printer->open = on;
  printer->begun = true;
}

static bool printSettings(Printer *printer, const TilePipelineStep *step) {
  const size_t most = sizeof step->settings / sizeof *step->settings;
  bool some = false;
  for (size_t i = 0; i < most && step->settings[i].option; ++i) {
    const TilePipelineSetting *setting = &step->settings[i];
    MlirStringRef value = setting->from ? valueOf(printer, setting->from) : tileString(setting->text);
    if (!value.length)
      continue;
    if (!isPlain(value)) {
      TESSERA_LIST(list);
      tessera_list_add(&list, "option '%s': '%.*s' has a space, a quote or a bracket in it", setting->option,
                       (int)value.length, value.data);
      return mlirExtPipelineError(printer->options, tileString(list.text));
    }
    printText(printer, some ? " " : "{");
    printText(printer, setting->option);
    printText(printer, "=");
    print(printer, value);
    some = true;
  }
  if (some)
    printText(printer, "}");
  return true;
}

static bool printStage(Printer *printer, const TilePipelineStep *steps) {
  for (; steps->pass || steps->from; ++steps) {
    begin(printer, steps->on);
    print(printer, steps->pass ? tileString(steps->pass) : valueOf(printer, steps->from));
    if (isSame(steps->pass, TILE_CANONICALIZE))
      printText(printer, TILE_CANONICALIZE_OPTIONS);
    else if (!printSettings(printer, steps))
      return false;
  }
  close(printer);
  return true;
}

bool tilePipelinePrint(const TilePipelineStage *stages, const TilePipelineConstants *constants, MlirExtPass pass,
                       MlirStringCallback append, void *userData) {
  Printer printer = {.constants = constants, .options = pass, .append = append, .userData = userData};
  for (; stages->steps; ++stages) {
    bool isLeftOut = (stages->given && !isGiven(&printer, stages->given)) || isGiven(&printer, stages->without) ||
                     isGiven(&printer, stages->unless);
    if (!isLeftOut && !printStage(&printer, stages->steps))
      return false;
  }
  return true;
}

//===--- calling ---------------------------------------------------------------===//

bool tilePipelineTakesChoices(const char *pipeline, const tessera_choices_t *choices, tessera_error_t *error) {
  for (int i = 0; i < TesseraChoices; ++i)
    if (choices->values[i] && !tilePipelineHasOption(pipeline, tessera_choice_name(i)))
      return tessera_fail(error, "--%s=%s: %s does not have this choice", tessera_choice_name(i), choices->values[i],
                          pipeline ? pipeline : "the target");
  return true;
}

enum { MostValues = sizeof((TilePipelineCall *)NULL)->values / sizeof *((TilePipelineCall *)NULL)->values };

typedef struct Value {
  const char *option, *text;
} Value;

// The values that are given, and the choices that the pipeline declares.
static int collectValues(const TilePipelineCall *call, Value values[MostValues + TesseraChoices]) {
  int count = 0;
  for (int i = 0; i < TesseraChoices && call->choices; ++i)
    if (call->choices->values[i] && tilePipelineHasOption(call->pipeline, tessera_choice_name(i)))
      values[count++] = (Value){tessera_choice_name(i), call->choices->values[i]};
  for (int i = 0; i < MostValues; ++i)
    if (call->values[i].value)
      values[count++] = (Value){call->values[i].option, call->values[i].value};
  return count;
}

char *tilePipelineCallPrint(const TilePipelineCall *call, tessera_error_t *error) {
  tessera_text_t text = {NULL};
  Value values[MostValues + TesseraChoices];
  int count = collectValues(call, values);
  for (int i = 0; i < count; ++i)
    if (!isPlain(tileString(values[i].text))) {
      tessera_fail(error, "option '%s' of %s: '%s' has a space, a quote or a bracket in it", values[i].option,
                   call->pipeline, values[i].text);
      return NULL;
    }
  tessera_text_format(&text, "builtin.module(%s%s%s", call->before ? call->before : "", call->before ? "," : "",
                      call->pipeline);
  for (int i = 0; i < count; ++i)
    tessera_text_format(&text, "%s%s=%s", i ? " " : "{", values[i].option, values[i].text);
  tessera_text_format(&text, "%s", count ? "})" : ")");
  if (text.failed)
    tessera_fail(error, "out of memory");
  return tessera_text_take(&text);
}

typedef struct Maker {
  const char *isa, *pipeline, *ofGpuPrograms;
} Maker;

// Null: no pipeline makes code for the chip.
static const Maker *makerOf(const char *chip) {
  static const Maker makers[] = {{"ptx", "tile-to-nvvm-pipeline", "tile-gpu-to-nvvm-pipeline"},
                                 {"amdgcn", "tile-to-rocdl-pipeline", "tile-gpu-to-rocdl-pipeline"}};
  TileMachine *machine = chip ? tileMachineLoad(chip, NULL, NULL, 0, NULL) : NULL;
  const char *isa = machine ? tileMachineGetText(machine, "isa") : NULL;
  const Maker *maker = NULL;
  for (size_t i = 0; i < sizeof makers / sizeof *makers && isa; ++i)
    if (strcmp(makers[i].isa, isa) == 0)
      maker = &makers[i];
  tileMachineDestroy(machine);
  return maker;
}

const char *tilePipelineOfChip(const char *chip) {
  const Maker *maker = makerOf(chip);
  return maker ? maker->pipeline : NULL;
}

const char *tilePipelineOfGpuPrograms(const char *chip) {
  const Maker *maker = makerOf(chip);
  return maker ? maker->ofGpuPrograms : NULL;
}
