// run_check.h - --check-against: the expected outputs of a run, and whether the outputs agree with them.
//
//   tessera_run_check_t check = {.asked = true, .right = true};
//   bool ok = tessera_run_check_read(&check, &options, &data, &error) &&   // before the run: it changes arguments
//             … run … && tessera_run_check_compare(&check, &options, &data, &error);
//   check.right …
//   tessera_run_check_destroy(&check);   // also after an error
//
// Answers may come from elsewhere as well (another target): fill check.arguments and check.results instead of reading
// them. An answer without data is not compared.
#pragma once

#include "lib/support/json.h"
#include "lib/support/judge.h"
#include "lib/support/run_data.h"

typedef struct tessera_run_check_t {
  bool asked, right;
  bool by_bounds;    // of the answers; else by --rtol and --atol (or their defaults), which come first if given
  const char *label; // in front of what is printed; may be NULL
  int num_answers;
  tessera_answer_t *arguments, *results; // one for each value; one allocation
  double max_absolute, max_relative;
} tessera_run_check_t;

// True if the option asks for the interpreter, false if it names files.
bool tessera_run_check_wants_interpreter(const tessera_run_options_t *options);
// Room for the answers, which are empty.
bool tessera_run_check_create(tessera_run_check_t *check, const tessera_signature_t *signature,
                              tessera_error_t *out_error);
// Creates and reads the files, one per output: results in order, then memref arguments.
bool tessera_run_check_read(tessera_run_check_t *check, const tessera_run_options_t *options,
                            const tessera_run_data_t *data, tessera_error_t *out_error);
// Prints the largest error of each output and where it is. False, with the error, only when they cannot be compared:
// check->right says whether they agree.
bool tessera_run_check_compare(tessera_run_check_t *check, const tessera_run_options_t *options,
                               const tessera_run_data_t *data, tessera_error_t *out_error);
// max_abs_error and max_rel_error into the open object, when a check was asked for.
void tessera_run_check_write(const tessera_run_check_t *check, tessera_json_t *json);
void tessera_run_check_destroy(tessera_run_check_t *check);
