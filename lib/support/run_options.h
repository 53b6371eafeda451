// run_options.h - the flags that tile-run and tile-exec share: inputs, outputs, repetitions, statistics.
//
//   tessera_run_options_t options;
//   if (!tessera_run_options_parse(argc, argv, &options, &error)) …
//   options.file, options.inputs[i] …
//   tessera_run_options_destroy(&options);
//
// Strings point into argv. A flag is --name=value; anything else is the one file.
#pragma once

#include "lib/support/status.h"

#include <stdio.h>

//===--- choices -----------------------------------------------------------------===//

// The choices of a target's own pipeline (choices.def): given as flags, by Python, to pipelines.
//
//   tessera_choices_t choices = {0};
//   if (tessera_choices_take(&choices, "--sparsity=off")) …              it was one of them
//   choices.values[TesseraChoice_sparsity]                               "off"
//   if (!tessera_choices_check(&choices, pipeline, &error)) …            choices beside passes of the user's own

typedef enum tessera_choice_t {
#define CHOICE(name, value, summary) TesseraChoice_##name,
#include "lib/support/choices.def"
#undef CHOICE
  TesseraChoices, // how many there are
} tessera_choice_t;

#define CHOICE(name, value, summary) extern const char tessera_summary_of_##name[];
#include "lib/support/choices.def"
#undef CHOICE

// By their numbers; null where not given. The strings are the caller's.
typedef struct tessera_choices_t {
  const char *values[TesseraChoices];
} tessera_choices_t;

// Returns false if the argument is no `--NAME=VALUE` of a choice.
bool tessera_choices_take(tessera_choices_t *choices, const char *argument);
// The number of the first choice that is given; TesseraChoices if none is.
int tessera_choices_first(const tessera_choices_t *choices);
// False where a choice is given beside passes that replace the target's pipeline (null: none do).
bool tessera_choices_check(const tessera_choices_t *choices, const char *passes, tessera_error_t *out_error);
// A name, "sparsity"; null from TesseraChoices on.
const char *tessera_choice_name(int64_t choice);
// The lines of --help, with the texts from `column` on.
void tessera_choices_print_help(FILE *stream, int column);

//===--- all flags ---------------------------------------------------------------===//

typedef struct tessera_run_options_t {
  bool help, predict, allow_races;
  const char *file, *entry;                       // file: NULL when not given
  const char *pipeline, *stats, *trace, *weights; // NULL when not given
  tessera_choices_t choices;                      // of the target's own pipeline
  const char **targets;                           // at least one
  const char **inputs, **outputs;                 // .npy and .npz files in order
  const char **checks;                            // "interpret", or files
  int64_t *sizes;                                 // --size: one for all dynamic sizes, or one for each in order
  int64_t default_size;                           // for dynamic sizes without --size; 0: those are an error
  int num_targets, num_inputs, num_outputs, num_checks, num_sizes;
  double rtol, atol;             // negative: not given
  int64_t seed, repeat, threads; // threads 0: all
  int64_t max_steps;             // of the interpreter; 0: its default
  double timeout;                // seconds; 0: none
} tessera_run_options_t;

// The default_size that the tools set. The parser leaves default_size 0.
enum { TesseraDefaultSize = 128 };

bool tessera_run_options_parse(int argc, char **argv, tessera_run_options_t *out_options, tessera_error_t *out_error);
void tessera_run_options_destroy(tessera_run_options_t *options);
// One line per flag, for --help.
void tessera_run_options_print_help(FILE *stream);
