// run_options.c - parses the flags of run_options.h. Every error names the flag, the value and what is accepted.
#include "lib/support/run_options.h"

#include "lib/support/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

//===--- choices -----------------------------------------------------------------===//

enum { LastColumn = 118 };

#define CHOICE(name, value, summary) const char tessera_summary_of_##name[] = summary;
#include "lib/support/choices.def"
#undef CHOICE

static const struct {
  const char *name, *value, *summary;
} rows[] = {
#define CHOICE(name, value, summary) {#name, value, tessera_summary_of_##name},
#include "lib/support/choices.def"
#undef CHOICE
};

const char *tessera_choice_name(int64_t choice) {
  return choice >= 0 && choice < TesseraChoices ? rows[choice].name : NULL;
}

bool tessera_choices_take(tessera_choices_t *choices, const char *argument) {
  for (int i = 0; i < TesseraChoices; ++i) {
    size_t length = strlen(rows[i].name);
    if (strncmp(argument, "--", 2) == 0 && strncmp(argument + 2, rows[i].name, length) == 0 &&
        argument[2 + length] == '=') {
      choices->values[i] = argument + 2 + length + 1;
      return true;
    }
  }
  return false;
}

int tessera_choices_first(const tessera_choices_t *choices) {
  int first = 0;
  while (first < TesseraChoices && !choices->values[first])
    ++first;
  return first;
}

bool tessera_choices_check(const tessera_choices_t *choices, const char *passes, tessera_error_t *out_error) {
  int first = tessera_choices_first(choices);
  return !passes || first == TesseraChoices ||
         tessera_fail(out_error, "--%s=%s: applies only to the target's own pipeline, not to --pass-pipeline",
                      rows[first].name, choices->values[first]);
}

// Words in lines that begin at `column`; `at` is where the first one begins.
static void print_words(FILE *stream, const char *text, int at, int column) {
  while (*text) {
    int length = (int)strcspn(text, " ");
    if (at > column && at + 1 + length > LastColumn) {
      fprintf(stream, "\n%*s", column, "");
      at = column;
    } else if (at > column) {
      fputc(' ', stream);
      ++at;
    }
    fwrite(text, 1, (size_t)length, stream);
    at += length;
    text += length;
    text += *text == ' ';
  }
  fputc('\n', stream);
}

void tessera_choices_print_help(FILE *stream, int column) {
  for (int i = 0; i < TesseraChoices; ++i) {
    int used = fprintf(stream, "  --%s=%s", rows[i].name, rows[i].value);
    fprintf(stream, "%*s", used < column ? column - used : 2, "");
    print_words(stream, rows[i].summary, column, column);
  }
}

//===--- all flags ---------------------------------------------------------------===//

static const char ahead_of_choices[] =
    "  --entry=NAME          function to call (default: main)\n"
    "  --target=NAME         what runs the program: cpu (default), interpret, emulate:CHIP, cuda or rocm. Given more\n"
    "                        than once: the first target gives the outputs, the others are compared with them\n"
    "  --pass-pipeline=TEXT  passes instead of the target's own pipeline\n";
static const char after_choices[] =
    "  --weights=FILE        the model's weights, by their names: .safetensors, .npz, .onnx or .pt2\n"
    "  --in=FILE             one .npy per argument, in order, or a .npz with the next ones (default: random data)\n"
    "  --size=N              size of every dynamic dimension of the random arguments (default: 128); given more than\n"
    "                        once: one size for each dynamic dimension, in order\n"
    "  --out=FILE            one .npy per result, then per memref argument, in order, or a .npz for all the rest\n"
    "  --check-against=WHAT  interpret: compare with the interpreter by its error bounds; FILE.npy, one per output,\n"
    "                        in order, or FILE.npz: compare with rtol and atol; a mismatch exits 1\n"
    "  --rtol=X, --atol=X    |seen - expected| <= atol + rtol * |expected| (default for files: 1e-5 and 1e-8)\n"
    "  --seed=N              seed of the random data (default: 0)\n"
    "  --max-steps=N         element steps after which the interpreter stops the program (default: 2^33)\n"
    "  --repeat=N            timed calls (default: 1)\n"
    "  --threads=N           threads that grids run on (default: all cores)\n"
    "  --timeout=S           seconds after which the run ends with an error (default: none)\n"
    "  --stats=FILE.json     time, launches, fallback_ops, statistics by kernel and by pass, a manifest\n"
    "  --predict             with emulate:CHIP: adds predicted cycles to --stats, from the machine description alone\n"
    "  --allow-races         with emulate:CHIP: races are warnings, and the run goes on\n"
    "  --trace=FILE.json     what ran when, on which thread; opens in https://ui.perfetto.dev\n"
    "  --help                this text\n";

void tessera_run_options_print_help(FILE *stream) {
  fputs(ahead_of_choices, stream);
  tessera_choices_print_help(stream, 24);
  fputs(after_choices, stream);
}

// The value of `--name=value` if `argument` is that flag.
static const char *value_of(const char *argument, const char *name) {
  size_t length = strlen(name);
  bool is_it = strncmp(argument, name, length) == 0 && argument[length] == '=';
  return is_it ? argument + length + 1 : NULL;
}

static bool parse_integer(const char *flag, const char *text, int64_t least, int64_t most, int64_t *out_value,
                          tessera_error_t *out_error) {
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (!errno && end != text && !*end && value > most)
    return tessera_fail(out_error, "%s=%s: out of range; accepts an integer of at most %lld", flag, text,
                        (long long)most);
  if (errno || end == text || *end || value < least)
    return tessera_fail(out_error, "%s=%s: invalid value; accepts an integer of at least %lld", flag, text,
                        (long long)least);
  *out_value = value;
  return true;
}

static bool take_text(const char *argument, tessera_run_options_t *options) {
  const struct {
    const char *flag, **target;
  } flags[] = {{"--entry", &options->entry},
               {"--pass-pipeline", &options->pipeline},
               {"--weights", &options->weights},
               {"--stats", &options->stats},
               {"--trace", &options->trace}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i) {
    const char *value = value_of(argument, flags[i].flag);
    if (value) {
      *flags[i].target = value;
      return true;
    }
  }
  const char *input = value_of(argument, "--in"), *output = value_of(argument, "--out");
  const char *check = value_of(argument, "--check-against"), *target = value_of(argument, "--target");
  if (input)
    options->inputs[options->num_inputs++] = input;
  if (output)
    options->outputs[options->num_outputs++] = output;
  if (check)
    options->checks[options->num_checks++] = check;
  if (target)
    options->targets[options->num_targets++] = target;
  return input || output || check || target;
}

static bool take_size(const char *argument, tessera_run_options_t *options, bool *out_ok, tessera_error_t *out_error) {
  const char *value = value_of(argument, "--size");
  if (value)
    *out_ok = parse_integer("--size", value, 0, INT32_MAX, &options->sizes[options->num_sizes++], out_error);
  return value != NULL;
}

// Returns true if the flag is one of these; *out_ok tells whether its value is valid.
static bool take_integer(const char *argument, tessera_run_options_t *options, bool *out_ok,
                         tessera_error_t *out_error) {
  const struct {
    const char *flag;
    int64_t least, most, *target;
  } flags[] = {{"--seed", 0, INT64_MAX, &options->seed},
               {"--repeat", 1, 1000000000, &options->repeat},
               {"--threads", 0, 65536, &options->threads},
               {"--max-steps", 1, INT64_MAX, &options->max_steps}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i) {
    const char *value = value_of(argument, flags[i].flag);
    if (value) {
      *out_ok = parse_integer(flags[i].flag, value, flags[i].least, flags[i].most, flags[i].target, out_error);
      return true;
    }
  }
  return false;
}

static bool take_number(const char *argument, tessera_run_options_t *options, bool *out_ok,
                        tessera_error_t *out_error) {
  const struct {
    const char *flag;
    double *target;
  } flags[] = {{"--rtol", &options->rtol}, {"--atol", &options->atol}, {"--timeout", &options->timeout}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i) {
    const char *value = value_of(argument, flags[i].flag);
    if (value) {
      char *end;
      double number = strtod(value, &end);
      *out_ok = (end != value && !*end && number >= 0) ||
                tessera_fail(out_error, "%s=%s: invalid value; accepts a number of at least 0", flags[i].flag, value);
      *flags[i].target = number;
      return true;
    }
  }
  return false;
}

static bool take(const char *argument, tessera_run_options_t *options, tessera_error_t *out_error) {
  bool ok = true;
  if (tessera_choices_take(&options->choices, argument) || take_text(argument, options) ||
      take_size(argument, options, &ok, out_error) || take_integer(argument, options, &ok, out_error) ||
      take_number(argument, options, &ok, out_error))
    return ok;
  if (strcmp(argument, "--help") == 0) {
    options->help = true;
    return true;
  }
  if (strcmp(argument, "--allow-races") == 0) {
    options->allow_races = true;
    return true;
  }
  if (strcmp(argument, "--predict") == 0) {
    options->predict = true;
    return true;
  }
  if (argument[0] == '-' && argument[1])
    return tessera_fail(out_error, "unknown flag '%s'; --help lists the flags", argument);
  if (options->file)
    return tessera_fail(out_error, "two programs given: '%s' and '%s'; accepts one", options->file, argument);
  options->file = argument;
  return true;
}

// A second writer of a file would take the place of the first.
static bool check_written(const tessera_run_options_t *options, tessera_error_t *out_error) {
  for (int i = 0; i < options->num_outputs + 2; ++i)
    for (int k = i + 1; k < options->num_outputs + 2; ++k) {
      const char *flags[2], *paths[2];
      for (int side = 0; side < 2; ++side) {
        int at = side ? k : i, beyond = at - options->num_outputs;
        flags[side] = beyond < 0 ? "--out" : beyond == 0 ? "--stats" : "--trace";
        paths[side] = beyond < 0 ? options->outputs[at] : beyond == 0 ? options->stats : options->trace;
      }
      if (paths[0] && paths[1] && tessera_file_is_same(paths[0], paths[1]))
        return tessera_fail(out_error, "%s=%s and %s=%s name one file; each requires a file of its own", flags[0],
                            paths[0], flags[1], paths[1]);
    }
  return true;
}

bool tessera_run_options_parse(int argc, char **argv, tessera_run_options_t *out_options, tessera_error_t *out_error) {
  tessera_run_options_t options = {.entry = "main", .repeat = 1, .rtol = -1, .atol = -1};
  options.inputs = calloc((size_t)argc + 1, sizeof *options.inputs);
  options.outputs = calloc((size_t)argc + 1, sizeof *options.outputs);
  options.checks = calloc((size_t)argc + 1, sizeof *options.checks);
  options.targets = calloc((size_t)argc + 1, sizeof *options.targets);
  options.sizes = calloc((size_t)argc + 1, sizeof *options.sizes);
  bool ok = options.inputs && options.outputs && options.checks && options.targets && options.sizes;
  if (!ok)
    tessera_fail(out_error, "out of memory");
  for (int i = 1; i < argc && ok; ++i)
    ok = take(argv[i], &options, out_error);
  if (ok && !options.file && !options.help)
    ok = tessera_fail(out_error, "no program given; --help shows the usage");
  ok = ok && tessera_choices_check(&options.choices, options.pipeline, out_error) && check_written(&options, out_error);
  if (ok && !options.num_targets)
    options.targets[options.num_targets++] = "cpu";
  if (ok)
    *out_options = options;
  else
    tessera_run_options_destroy(&options);
  return ok;
}

void tessera_run_options_destroy(tessera_run_options_t *options) {
  free(options->inputs);
  free(options->outputs);
  free(options->checks);
  free(options->targets);
  free(options->sizes);
}
