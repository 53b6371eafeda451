// Running a program on the interpreter, and comparing what compiled code gave with it or with files.
//
//   JudgedRun judged;                       // --check-against, before the program runs: it may change its arguments
//   bool ok = judgedPrepare(&judged, options, &data, &error) && … run … && judgedCompare(&judged, options, &data,
//   &error); tessera_run_check_destroy(&judged.check);
#ifndef TESSERA_TOOLS_TILE_RUN_JUDGED_H
#define TESSERA_TOOLS_TILE_RUN_JUDGED_H

#include "lib/interpreter/interpreter.h"
#include "lib/support/run_check.h"
#include "tools/tile-run/program.h"

typedef struct JudgedRun {
  tessera_run_check_t check;
  TileInterpretation outcome;
} JudgedRun;

// --target=interpret: fills data->results and memref arguments.
bool judgedRun(const Program *program, const tessera_run_options_t *options, tessera_run_data_t *data,
               tessera_error_t *error);

bool judgedPrepare(JudgedRun *judged, const tessera_run_options_t *options, const tessera_run_data_t *data,
                   tessera_error_t *error);
// Prints the largest error of each output and where it is. False, with the error, only when they cannot be compared:
// judged->check.right says whether they agree.
bool judgedCompare(JudgedRun *judged, const tessera_run_options_t *options, const tessera_run_data_t *data,
                   tessera_error_t *error);

#endif
