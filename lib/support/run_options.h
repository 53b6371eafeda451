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

typedef struct tessera_run_options_t {
  bool help, predict, allow_races;
  const char *file, *entry;                                                                 // file: NULL when not given
  const char *pipeline, *policy, *fusion, *persistent, *sparsity, *stats, *trace, *weights; // NULL when not given
  const char **targets;                                                                     // at least one
  const char **inputs, **outputs; // .npy and .npz files in order
  const char **checks;            // "interpret", or files
  int64_t *sizes;                 // --size: one for all dynamic sizes, or one for each in order
  int64_t default_size;           // for dynamic sizes without --size; 0: those are an error
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
extern const char tessera_run_options_help[];
