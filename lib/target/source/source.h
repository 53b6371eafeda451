// Source text of kernels: what the files of this folder share.
//
// A function is written as it stands at the structured level: loops and branches of scf become those of C, an op
// becomes what the column `source` of its row says, and an op without that column is refused. Instructions are calls
// of helpers, which are sections of the prelude of the language; a file has those that it uses.
#pragma once

#include "lib/ir/op_arena.h"
#include "lib/ir/table.h"
#include "lib/ir/upstream.h"
#include "lib/target/target.h"

#include <stdio.h>

typedef struct SourceLanguage {
  const char *name;    // for messages: "CUDA C++"
  const char *prelude; // the name of the file with its helpers
  const char *comment; // the first lines of a file
  bool hasVectors;     // vectors of the compiler, on which + works
} SourceLanguage;

typedef struct SourceText {
  const char *text;       // a name, a literal or an expression
  const char *signedText; // of a negative number without the ending that makes it unsigned
  bool isName, isLiteral;
} SourceText;

typedef struct SourceWriter {
  const SourceLanguage *language;
  TileArena arena;
  TileTable texts;   // value → SourceText
  TileTable symbols; // a type, or the name of one → its name
  FILE *out;         // the functions
  FILE *types;       // the types that they use
  int numValues, indent;
} SourceWriter;

//===--- types and constants (c_types.c) ----------------------------------------------------------------===//

// The name of a type: "f32x4". Null after an error at the op: the language has no such type.
const char *tileSourceType(SourceWriter *w, MlirType type, MlirOperation at);
const char *tileSourceSignedType(SourceWriter *w, MlirType type, MlirOperation at);
const char *tileSourceElementName(SourceWriter *w, MlirType type); // "f32", "f16x2"
// A constant of a number: "1.5f". Null: not a number.
const char *tileSourceLiteral(SourceWriter *w, MlirAttribute value, MlirType type);

//===--- values (writer.c) ----------------------------------------------------------------------------===//

const SourceText *tileSourceTextOf(SourceWriter *w, MlirValue value);
void tileSourceSetText(SourceWriter *w, MlirValue value, const char *text, bool isName, bool isLiteral);
// A new name by the type: i12 for integers, x12 for floats, p12 for pointers, v12 for vectors, c12 for conditions.
const char *tileSourceNewName(SourceWriter *w, MlirValue value);
void tileSourceLine(SourceWriter *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool tileSourceAssign(SourceWriter *w, MlirOperation op, const char *text);         // to the op's only result
bool tileSourceWriteBlock(SourceWriter *w, MlirBlock block);                        // without its terminator
bool tileSourceWriteBody(SourceWriter *w, MlirOperation function, MlirRegion body); // and the brace that ends it

//===--- ops (template.c, structure.c) ----------------------------------------------------------------===//

// What the op's row says of the op, with its operands; null after an error at the op.
const char *tileSourceExpand(SourceWriter *w, MlirOperation op);
int tileSourceCountUses(SourceWriter *w, MlirOperation op, MlirValue operand); // how often the text names the operand
// Ops that need more than a text: control, structures, constants, calls. Null: the row's text is enough.
typedef bool (*SourceWrite)(SourceWriter *w, MlirOperation op);
SourceWrite tileSourceStructured(MlirOperation op);
bool tileSourceIsEnd(MlirOperation op); // of a region: what it gives becomes assignments

//===--- the file (emit_kernels.c, prelude.c) -----------------------------------------------------------------===//

// Writes the sections of the prelude that `text` needs.
void tileSourceWritePrelude(const SourceLanguage *language, const char *text, FILE *out);
bool tileSourceHasHelper(const SourceLanguage *language, const char *name);
bool tileSourceEmitDevice(const TileTranslation *translation, const SourceLanguage *language, TileArtifact *artifact,
                          tessera_error_t *error);
