// IR written as text: a template is a .mlir file beside its user, with typed parameters. The build generates a header
// for each folder of templates (tools/tessera-templates): FOLDER/*.mlir give FOLDER.h, with one struct and one function
// for each file. A parameter that is misspelled, or has another type, does not compile.
//
//   // The entries of a line, added up.                        lib/…/kernels/add_line.mlir
//   //   type $E = f32, $P = i32                               each parameter with a sample
//   //   integer $COLUMNS = 32
//   //   op $ADD = arith.addf
//   tile.func private @finish($E, index) -> $E                 a hook: the caller's C function builds what it is
//   tile.kernel @kernel(%pos: memref<?x$P>, …) {
//     …
//     %sum = $ADD %acc, %x : $E
//     %result = tile.call @finish(%sum, %terms) : ($E, index) -> $E
//
//   #include "lib/…/kernels.h"
//   TileTemplateUse use = tileUseAddLine((TileAddLine){.E = f32, .P = i32, .COLUMNS = 64, .ADD = ArithOp_AddF,
//                                                      .finish = {buildFinish, &data}});
//   MlirModule module = tileTemplateParse(location, &use);
//
// A hook is a function without a body: tile.func where a kernel calls it, func.func on the host.
// Kinds: `type` (MlirType), `attribute` (MlirAttribute; a symbol is one), `integer` (int64_t) and `op` (an
// operation that is chosen at run time: TileUpstream). No parameter is a piece of text. Two forms of a part are two
// templates, two values of a parameter, or a hook. The test ir/templates parses every template with its samples; the
// generator refuses a name that is not declared.
#pragma once

#include "lib/ir/upstream.h"

// Builds the ops that replace a call of the hook. Returns the value of type `result` that replaces the call's result.
// For a hook without a result, `result` and the returned value are null.
typedef struct TileHook {
  MlirValue (*build)(TileBuilder *builder, MlirType result, const MlirValue *operands, const void *data);
  const void *data;
} TileHook;

typedef enum TileParameterKind {
  TileParameter_Type,
  TileParameter_Attribute,
  TileParameter_Integer,
  TileParameter_Op,
  TileParameter_Hook
} TileParameterKind;

typedef struct TileParameter {
  const char *name;
  TileParameterKind kind;
  const char *sample; // null for hooks
} TileParameter;

typedef union TileParameterValue {
  MlirType type;
  MlirAttribute attribute;
  int64_t integer;
  TileUpstream op; // ArithOp_AddF
  TileHook hook;
} TileParameterValue;

typedef struct TileTemplate {
  const char *file; // "lib/conversion/sparse_to_tile/kernels/compute/spmm_csr.mlir"
  const char *name; // "spmm_csr"
  const unsigned char *text;
  size_t length;
  const TileParameter *parameters;
  int numParameters;
} TileTemplate;

enum { TileMaxParameters = 32 };

// A template and a value for each parameter, made by the generated functions tileUse….
typedef struct TileTemplateUse {
  const TileTemplate *from;
  TileParameterValue values[TileMaxParameters];
} TileTemplateUse;

// A module of the template's operations, at this location, with hooks built. The caller owns it. Null: a diagnostic.
MlirModule tileTemplateParse(MlirLocation location, const TileTemplateUse *use);
// The template's first operation that is no hook: a kernel or a function, detached. Null after a diagnostic.
MlirOperation tileTemplateMake(MlirLocation location, const TileTemplateUse *use);
// Inserts `op` into the module as a private symbol `name`, renamed if the name is taken. Returns a reference to it.
MlirAttribute tileTemplateInsert(MlirOperation module, MlirOperation op, const char *name);
// Copies the body of the template's function to the builder's place. `operands` replace the arguments; what the
// function returns comes back in `results`. False after a diagnostic.
bool tileTemplateInline(TileBuilder *builder, const TileTemplateUse *use, const MlirValue *operands,
                        MlirValue *results);

// The operation's text, which the caller frees; null: out of memory. Kernels with equal texts are the same kernel.
char *tileTemplatePrint(MlirOperation op);

// All templates of the library, and the text of one with the samples as its parameters (freed by the caller; null: out
// of memory).
extern const TileTemplate tileTemplates[];
extern const int tileTemplatesCount;
char *tileTemplateSample(const TileTemplate *from);
