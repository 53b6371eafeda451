// Passes found by name, with typed options, statistics and dependent dialects; pipelines with options.
// mlirCreateExternalPass has neither a registered name nor options.
#pragma once

#include "lib/capi/common.h"

MLIR_EXT_HANDLE(MlirExtPass); // one running pass instance, or the options of a pipeline being built

typedef enum MlirExtOptionKind {
  MlirExtOption_Bool,
  MlirExtOption_Integer,
  MlirExtOption_String,
  MlirExtOption_IntegerList, // comma separated
} MlirExtOptionKind;

typedef struct MlirExtPassOption {
  const char *name, *help;
  MlirExtOptionKind kind;
  const char *defaultValue; // as text: "true", "8", "", "64,64"
} MlirExtPassOption;

typedef struct MlirExtPassDefinition {
  const char *argument; // "tile-bufferize-host": also the pipeline text
  const char *summary;
  const char *anchor;                                     // op the pass runs on ("builtin.module"); null or "" for any
  const MlirExtPassOption *options;                       // the last one has no name; null: none
  const char *const *statistics;                          // null-terminated "name: what it counts"
  const char *const *dialects;                            // null-terminated: upstream's dialects of ops that it makes
  void (*registerDialects)(MlirDialectRegistry registry); // the same for other dialects
  // When the pass applies: where some op under the one that it runs on has one of these names, of an op ("arith.cmpi")
  // or, with a dot at the end, of a dialect ("sparse."). Elsewhere it is not entered, and analyses stay. Null: always.
  const char *const *needs;
  bool (*run)(MlirOperation op, MlirExtPass pass); // false fails the pass
} MlirExtPassDefinition;

typedef struct MlirExtPipelineDefinition {
  const char *argument, *summary;
  const MlirExtPassOption *options; // the last one has no name; null: none
  // Writes the pipeline as text ("a,b{x=1},func.func(c)") through `append`; false after mlirExtPipelineError.
  bool (*build)(MlirExtPass options, MlirStringCallback append, void *userData);
} MlirExtPipelineDefinition;

MLIR_EXT_BEGIN
// Once per process and definition, before any pipeline is parsed; later calls do nothing. Not thread-safe.
void mlirExtPassRegister(const MlirExtPassDefinition *definition);
void mlirExtPipelineRegister(const MlirExtPipelineDefinition *definition);

// Reports why a pipeline cannot be built. Always returns false.
bool mlirExtPipelineError(MlirExtPass options, MlirStringRef message);

// Options of a running pass or of a pipeline being built. A name that is not declared, or declared
// with another kind, reads as false, 0 or nothing.
bool mlirExtPassGetBool(MlirExtPass pass, const char *name);
int64_t mlirExtPassGetInteger(MlirExtPass pass, const char *name);
MlirStringRef mlirExtPassGetString(MlirExtPass pass, const char *name);
intptr_t mlirExtPassGetIntegers(MlirExtPass pass, const char *name, const int64_t **values);

// Statistics are ours: Debian's MLIR is built without them. Counted per process and pass, thread-safe.
void mlirExtPassAddStatistic(MlirExtPass pass, intptr_t index, uint64_t amount);
typedef void (*MlirExtStatisticCallback)(const char *pass, const char *name, uint64_t value, void *userData);
void mlirExtStatisticsForEach(MlirExtStatisticCallback callback, void *userData); // sorted by pass, then declaration
void mlirExtStatisticsReset(void);
MLIR_EXT_END
