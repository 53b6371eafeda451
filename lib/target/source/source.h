// Source text of kernels: what the files of this folder share.
//
// A function is written as it stands at the structured level: loops and branches of scf become those of C, an op
// becomes what the column `source` of its row says, and an op without that column is refused. Instructions are calls
// of helpers, which are sections of the prelude of the language; a file has those that it uses.
#pragma once

#include "lib/ir/op_arena.h"
#include "lib/ir/table.h"
#include "lib/ir/upstream.h"
#include "lib/support/array.h"
#include "lib/target/target.h"

#include <stdio.h>

typedef struct SourceLanguage {
  const char *name;    // for messages: "CUDA C++"
  const char *prelude; // the name of the file with its helpers
  const char *comment; // the first lines of a file
  bool isC;            // plain C: vectors of the compiler, on which + works, memrefs, the host's functions
} SourceLanguage;

typedef struct SourceText {
  const char *text;       // a name, a literal or an expression
  const char *signedText; // of a negative number without the ending that makes it unsigned
  bool isName, isLiteral;
} SourceText;

// A memref in C: a pointer to elements, and texts for what its type leaves open. Element [i, j] is
// place[i * strides[0] + j * strides[1]].
typedef struct SourceArray {
  const char *base, *offset, *place; // the memory's start, the distance in elements, their sum
  const char *sizes[TESSERA_MAX_RANK], *strides[TESSERA_MAX_RANK];
  int rank;
} SourceArray;

// What a value is in C: one variable, or those of a memref.
typedef struct SourcePart {
  const char *type, *text;
} SourcePart;
enum { SourceMaxParts = 2 * TESSERA_MAX_RANK + 2 };

typedef struct SourceWriter {
  const SourceLanguage *language;
  TileArena arena;
  TileTable texts;   // value → SourceText
  TileTable symbols; // a type, or the name of one → its name
  TileTable arrays;  // a memref → SourceArray
  TileTable kernels; // a function of a kernel → which of its parameters it has (bool *)
  FILE *out;         // the functions
  FILE *header;      // of a project: its functions; may be null
  FILE *weights;     // of a project: constants of more than 1 KB; may be null
  uint64_t numWeightBytes;
  bool isUncalled; // of a project: nothing calls the function that is written, so its memory may be the program's
  FILE *types;     // the types that they use
  const char *const *results; // C: where the function's results go, if they are arrays; may be null
  int numValues, indent;
  bool hasLines;      // statements stand at lines of the program
  MlirStringRef file; // where the op stands that is written
  int line;           // 0: nowhere
} SourceWriter;

//===--- types and constants (c_types.c) ----------------------------------------------------------------===//

// The name of a type: "f32x4". Null after an error at the op: the language has no such type.
const char *tileSourceType(SourceWriter *w, MlirType type, MlirOperation at);
const char *tileSourceSignedType(SourceWriter *w, MlirType type, MlirOperation at);
// As above, of a value: in C a vector of conditions is one of integers as wide as what was compared.
const char *tileSourceTypeOf(SourceWriter *w, MlirValue value, MlirOperation at);
int tileSourceMaskBits(MlirValue mask);
// The text of a vector of conditions as integers of `bits` bits.
const char *tileSourceMaskText(SourceWriter *w, MlirValue mask, int bits);
const char *tileSourceWordsType(SourceWriter *w, MlirType vector); // integers of 32 bits, as many as it has lanes
bool tileSourceIsMask(MlirType type);                              // a vector of i1
int64_t tileSourceLanes(MlirType vector);                          // in C: a power of two
int64_t tileSourceNumLanes(MlirType vector);                       // of the program
const char *tileSourceElementName(SourceWriter *w, MlirType type); // "f32", "f16x2"
// A constant of a number: "1.5f". Null: not a number.
const char *tileSourceLiteral(SourceWriter *w, MlirAttribute value, MlirType type);

//===--- values (writer.c) ----------------------------------------------------------------------------===//

const SourceText *tileSourceTextOf(SourceWriter *w, MlirValue value);
void tileSourceSetText(SourceWriter *w, MlirValue value, const char *text, bool isName, bool isLiteral);
// A new name by the type: i12 for integers, x12 for floats, p12 for pointers, v12 for vectors, c12 for conditions.
const char *tileSourceNewName(SourceWriter *w, MlirValue value);
void tileSourceLine(SourceWriter *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A line in C that declares a variable and does nothing else; it is left out if no other line names the variable.
void tileSourceDeclare(SourceWriter *w, const char *type, const char *name, const char *text);
enum { SourcePureMark = 1 };
size_t tileSourceDropUnused(char *text, size_t size, int numNames);                 // the text's new size
bool tileSourceAssign(SourceWriter *w, MlirOperation op, const char *text);         // to the op's only result
bool tileSourceWriteBlock(SourceWriter *w, MlirBlock block);                        // without its terminator
bool tileSourceWriteBody(SourceWriter *w, MlirOperation function, MlirRegion body); // and the brace that ends it

//===--- lines of the program (lines.c) ---------------------------------------------------------------===//

void tileSourceEnterOp(SourceWriter *w, MlirOperation op); // the lines that follow are this op's
void tileSourcePlace(SourceWriter *w);                     // writes #line, where they are wanted

//===--- memrefs (arrays.c) ---------------------------------------------------------------------------===//

const SourceArray *tileSourceArrayOf(SourceWriter *w, MlirValue memref, MlirOperation at); // null after an error
// The variables that a value is; false after an error. A value that has no text yet gets new variables.
bool tileSourceParts(SourceWriter *w, MlirValue value, MlirOperation at, SourcePart *parts, int *count);
bool tileSourceNewParts(SourceWriter *w, MlirValue value, MlirOperation at, SourcePart *parts, int *count);
// "p3[i4 * 20 + j5]"; the indices are the operands of `op` from `first` on. Null after an error.
const char *tileSourceElement(SourceWriter *w, MlirOperation op, MlirValue memref, intptr_t first);
// Writes a copy of elements; a null target is the array at `place` whose elements lie one behind the other.
bool tileSourceCopy(SourceWriter *w, MlirOperation at, MlirValue from, MlirValue to, const char *place);
const char *tileSourceNumElements(SourceWriter *w, const SourceArray *array); // "n1 * 20"

//===--- ops (template.c, structure.c, vectors.c) -----------------------------------------------------===//

// What the op's row says of the op, with its operands; null after an error at the op.
const char *tileSourceExpand(SourceWriter *w, MlirOperation op);
int tileSourceCountUses(SourceWriter *w, MlirOperation op, MlirValue operand); // how often the text names the operand
// Ops that need more than a text: control, structures, constants, calls. Null: the row's text is enough.
typedef bool (*SourceWrite)(SourceWriter *w, MlirOperation op);
SourceWrite tileSourceStructured(SourceWriter *w, MlirOperation op);
SourceWrite tileSourceOfArray(MlirOperation op);   // ops on memrefs
SourceWrite tileSourceOfVector(MlirOperation op);  // ops on vectors
SourceWrite tileSourceOfProgram(MlirOperation op); // launches, calls and returns of the host
bool tileSourceIsPlan(MlirOperation op);           // of where buffers lie, which tile-plan-memory leaves to the call
bool tileSourceIsEnd(MlirOperation op);            // of a region: what it gives becomes assignments

//===--- the file (file.c, emit_kernels.c, emit_c.c, prelude.c) ---------------------------------------------===//

// Writes a file: the language's comment, the helpers and types that are used, and what `write` writes to `out`.
bool tileSourceWriteFile(SourceWriter *w, bool (*write)(void *userData), void *userData, TileArtifact *artifact,
                         tessera_error_t *error);
void tileSourceFreeWriter(SourceWriter *w);
// Writes a program in C; with `header` and `weights` one of a project (emit_project.c).
bool tileSourceWriteProgram(SourceWriter *w, MlirOperation module, TileArtifact *artifact, tessera_error_t *error);
bool tileSourceEmitProject(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error);

// The name of a function in the file. A function of the C library keeps its own: "select_kernel".
const char *tileSourceFunctionName(SourceWriter *w, MlirOperation function, const char *otherwise);
// The text that a kernel had as a tile kernel, as a comment.
void tileSourceWriteKernelText(SourceWriter *w, MlirOperation module, const char *kernel);
bool tileSourceNames(const char *text, size_t length, const char *name); // as a whole word
// Writes the sections of the prelude that `text` needs.
void tileSourceWritePrelude(const SourceLanguage *language, const char *text, FILE *out);
bool tileSourceHasHelper(const SourceLanguage *language, const char *name);
bool tileSourceEmitDevice(const TileTranslation *translation, const SourceLanguage *language, TileArtifact *artifact,
                          tessera_error_t *error);
