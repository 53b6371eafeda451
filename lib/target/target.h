// A target: what a module can become ahead of time, one row for each form. New ones are rows in targets.def.
//
//   const TileCodeTarget *target = tileTargetFind("cpu", &error);
//   const TileForm *form = target ? tileTargetForm(target, "object", &error) : NULL;
//   TileArtifact artifact;
//   if (form && form->emit(&program, "native", &artifact, &error)) …
//   tileArtifactDestroy(&artifact);
#pragma once

#include "lib/runtime/tessera.h"
#include "lib/support/json.h"
#include "lib/target/entry.h"

// The host's part of a program for some of its GPUs, and the code of their kernels.
typedef struct TileVariant {
  MlirOperation module;
  tessera_images_t images;
} TileVariant;

// Where the time of a translation went: wall milliseconds of each stage, in order. What is longer than MaxStages is
// cut.
enum { TileMaxStages = 12 };
typedef struct TileStages {
  struct {
    const char *name; // of a constant
    double ms;
  } items[TileMaxStages];
  int count;
} TileStages;
void tileStagesAdd(TileStages *stages, const char *name, double ms); // null: nobody asks

// What is translated: a module at the target's level, and what was known of it before it was lowered.
typedef struct TileTranslation {
  MlirOperation module;
  TileEntries entries;  // of the module before lowering; none when it came lowered
  const char *chip;     // null: the target's default
  const char *pipeline; // the passes that lowered it; null when it came lowered
  int64_t fallbackOps;
  bool wantsFigures; // of the kernels, where a tool must be asked for them
  // Of a program with device code: each host's part that differs; the first is `module`. None: no device code.
  const TileVariant *variants;
  int numVariants;
  TileStages *stages; // to be added to; null: nobody asks
  // Of a program: its file, "-" is standard output; the file of what the compiler made of constants (null: the
  // program); whether the constants that lie in files go into the program.
  const char *output;
  struct TilePrepared *prepared;
  bool embedsWeights;
  bool hasLines; // of source text: statements name the lines of the program (#line)
} TileTranslation;

// What the assembler says of a kernel; registers and bytes of a thread, but for what is shared.
typedef struct TileKernelFigures {
  char name[128];
  int64_t registers, spillBytes, sharedBytes;
  int64_t scalarRegisters, scratchBytes; // of a wave, and memory of a thread's own: AMD's only
} TileKernelFigures;

// A file of a form that is a folder; the name is a constant.
typedef struct TileArtifactFile {
  const char *name;
  void *data; // owned
  size_t size;
} TileArtifactFile;
enum { TileMaxFiles = 8 };

// Owned bytes, and what is known of the kernels in them.
typedef struct TileArtifact {
  void *data;
  size_t size;
  TileKernelFigures *figures; // null: nothing
  int numFigures;
  TileArtifactFile files[TileMaxFiles]; // of a folder, instead of `data`
  int numFiles;
  char missing[256]; // why there are no figures though they were wanted; empty
} TileArtifact;
bool tileArtifactCopy(TileArtifact *artifact, const void *data, size_t size, tessera_error_t *error);
void tileArtifactDestroy(TileArtifact *artifact);
void tileArtifactWriteKernels(const TileArtifact *artifact, tessera_json_t *json); // "kernels", or "missing"
TileKernelFigures *tileArtifactAddKernel(TileArtifact *artifact); // zeroed, to be filled; null: out of memory

typedef struct TileForm {
  const char *name, *summary; // --tile-to-NAME
  bool isBinary;              // not for a terminal
  bool isFolder;              // the artifact is files
  bool hasInto;               // entries get a second form, NAME_into: the pipeline's option `into`
  bool (*emit)(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error);
  bool (*hasTools)(tessera_error_t *error); // are the programs there that it needs? Null: it needs none
} TileForm;

typedef struct TileCodeTarget {
  const char *name;
  const char *pipeline;                    // by name: brings a module of any level to this target's, for option chip
  const char *dialect;                     // that level: "llvm"; null: no module is at the target's level
  const char *defaultChip;                 // where none is given; null: the target needs none
  int64_t staticSharedBytes;               // the most that a kernel declares; 0: all it needs
  bool (*isLowered)(MlirOperation module); // is it there already? Null: if all ops are `dialect`'s
  bool (*checkChip)(const char *chip, tessera_error_t *error); // false: the error lists the known ones
  const TileForm *forms;                                       // ends with a null name
} TileCodeTarget;

// The target of this name; null after an error that lists them.
const TileCodeTarget *tileTargetFind(const char *name, tessera_error_t *error);
const TileForm *tileTargetForm(const TileCodeTarget *target, const char *name, tessera_error_t *error);
// The first target with this form; null after an error that lists all forms.
const TileCodeTarget *tileTargetOfForm(const char *form, tessera_error_t *error);
// Calls `visit` for every form of every target: for help texts.
void tileTargetsForEach(void (*visit)(const TileCodeTarget *target, const TileForm *form, void *userData),
                        void *userData);
// Is every op of the module at the target's level already?
bool tileTargetIsLowered(const TileCodeTarget *target, MlirOperation module);
