// A program that a host compiles once and calls on its own arrays, over and over: what tile-run does, for those who
// load us as a library. Only plain C types in the signatures, for foreign function interfaces (python/tessera).
//
//   tessera_error_t error;
//   const char *flags[] = {"--target=emulate:sm_80", "--entry=main"};
//   TesseraProgram *program = tesseraProgramCreate(module, "matmul.mlir", 2, flags, &error);   // null: error.text says
//   TesseraArray arguments[] = {{.element = "f32", .rank = 2, .sizes = (int64_t[]){8, 8}, .data = x}};
//   if (tesseraProgramCall(program, arguments, 0, 1, &error))
//     tesseraProgramGetResult(program, 0).data …                                   // until the next call
//   tesseraProgramDestroy(program);
//
// Threads: one at a time in these functions, per process: the runtime's threads, the observer of grids and the pass
// statistics are the process's. Diagnostics go to the handlers of the module's context.
#pragma once

#include "lib/support/status.h"
#include "mlir-c/IR.h"

typedef struct TesseraProgram TesseraProgram;

// An array in C order, or the type of one (no data; a negative size is dynamic).
typedef struct TesseraArray {
  const char *element; // as MLIR prints it: "f32", "bf16", "i1"; the table is in lib/support/array.h
  int64_t rank;        // 0: one element
  const int64_t *sizes;
  void *data;
  bool isMemref; // of a type: an argument that the program may write
} TesseraArray;

// What tesseraJudge finds. As tessera_judgement_t of lib/support/judge.h.
typedef struct TesseraJudgement {
  bool right;
  int64_t wrong, at;
  double maxAbsolute, maxRelative;
} TesseraJudgement;

#ifdef __cplusplus
extern "C" {
#endif

// Compiles an entry of `module`, which stays as it is and may go before the program does; its context must stay. `name`
// stands for the file in errors and in the manifest. `flags` are those of tile-run that say what is run: --target=
// (one), --entry=, --pass-pipeline=, --threads=, --max-steps=, and those of lib/support/choices.def. Null after an
// error: an unknown flag, no such entry, an entry that takes other things than tensors, memrefs and scalars, or what
// the compiler says.
TesseraProgram *tesseraProgramCreate(MlirModule module, const char *name, intptr_t numFlags, const char *const *flags,
                                     tessera_error_t *error);
void tesseraProgramDestroy(TesseraProgram *program); // null is allowed

// The entry's types, in order. An index out of range gives a null element.
intptr_t tesseraProgramGetNumArguments(const TesseraProgram *program);
intptr_t tesseraProgramGetNumResults(const TesseraProgram *program);
TesseraArray tesseraProgramGetArgumentType(const TesseraProgram *program, intptr_t index);
TesseraArray tesseraProgramGetResultType(const TesseraProgram *program, intptr_t index);

// Calls the entry `repeat` times, each from the same arguments. `arguments`: one for each, copied; null: seeded random
// data, where no size is dynamic. What an earlier call left goes. False after an error: a type that does not fit, a
// failed assertion, whatever the target finds.
bool tesseraProgramCall(TesseraProgram *program, const TesseraArray *arguments, int64_t seed, int64_t repeat,
                        tessera_error_t *error);

// On the target `interpret`: at a tile.print with the attribute `stop = N` the callback gets N and copies of the
// values, which live until it returns (a null element: of a type that no array holds). It runs in the thread of the
// call; false ends the program with an error. Without a callback, and on other targets, such ops do nothing.
typedef bool (*TesseraStop)(int64_t number, intptr_t count, const TesseraArray *values);
void tesseraProgramOnStop(TesseraProgram *program, TesseraStop stop);

// What the last call left: arguments as the program left them, results. Borrowed until the next call; a null element
// when there was none. On the target `interpret`, bounds[i] says how far from element i another right answer may lie;
// null: all 0, or another target.
TesseraArray tesseraProgramGetArgument(const TesseraProgram *program, intptr_t index);
TesseraArray tesseraProgramGetResult(const TesseraProgram *program, intptr_t index);
const double *tesseraProgramGetArgumentBounds(const TesseraProgram *program, intptr_t index);
const double *tesseraProgramGetResultBounds(const TesseraProgram *program, intptr_t index);

// JSON objects with the keys of tile-run's --stats: what compiling counted (fallback_ops, passes); what the last call
// measured and counted, with the manifest ("" before one). Borrowed, the latter until the next call.
const char *tesseraProgramGetPassStatistics(const TesseraProgram *program);
const char *tesseraProgramGetStatistics(const TesseraProgram *program);

// Does `seen` agree with `expected`: by `bounds` of expected (null: all 0), or, where not negative, by rtol and atol?
// Integers must be equal; nan meets nan. False, with the reason, when element or sizes differ.
bool tesseraJudge(const TesseraArray *seen, const TesseraArray *expected, const double *bounds, double rtol,
                  double atol, TesseraJudgement *judgement, tessera_error_t *error);

#ifdef __cplusplus
}
#endif
