// Compiled rows: the text of lib/ir/op_table.h as arrays and indices. Two functions make them, one after the other:
//   1. tileSpecCompileText   columns and format; knows text only and links without MLIR (the generator uses it)
//   2. tileSpecResolve       turns names of constraints, kinds, rules and directives into pointers; refuses types that
//                            cannot be known and formats that can be read in two ways
// All of it lives in the dialect's arena and never changes afterwards, so all threads may read it.
#pragma once

#include "lib/ir/op_arena.h"
#include "lib/ir/op_table.h"
#include <stddef.h>

// Operands and results of one op, as columns count them.
enum { TileMaxValues = 64 };

typedef enum TileArity { TileArity_One, TileArity_Optional, TileArity_Variadic } TileArity;

typedef enum TilePlaceKind {
  TilePlace_None,
  TilePlace_Operand,
  TilePlace_Result,
  TilePlace_Attribute,
  TilePlace_Region,
} TilePlaceKind;
// An entry of a column.
typedef struct TilePlace {
  TilePlaceKind kind;
  int index;
} TilePlace;

// `with X` (isUnless false) or `unless X`. Kind None: the row does not specify the presence.
typedef struct TilePresence {
  TilePlace place;
  bool isUnless;
} TilePresence;

typedef struct TileValueSpec {
  const char *name;
  TileArity arity;
  const char *constraintName; // null: any
  const char *ruleName;       // null: like
  TilePlace like;             // None: not specified
  TilePresence presence;
  bool typeInFormat;                // the format (or a directive) says the type
  const TileConstraint *constraint; // step 2; null: any
  const TileTypeRule *rule;         // step 2
} TileValueSpec;

typedef struct TileAttributeSpec {
  const char *name;
  const char *kindName;
  const char *defaultText; // null: none
  bool defaultIsEmpty;     // []
  int slot;                // number among the op's inherent attributes
  bool isOptional;         // may be absent, a default included
  bool isUnit;
  bool inFormat;
  TilePresence presence;
  const TileAttributeKind *kind; // step 2
} TileAttributeSpec;

typedef struct TileRegionSpec { // a successor too
  const char *name;
  TileArity arity;
} TileRegionSpec;

typedef struct TileEffectSpec {
  MlirExtEffect effect;
  TilePlace place; // None: any memory, or `resource`
  MlirExtResource resource;
} TileEffectSpec;

typedef enum TileElementKind {
  TileElement_Literal,
  TileElement_Space, // text "", " " or "\n"
  TileElement_Operand,
  TileElement_Attribute,
  TileElement_Region,
  TileElement_OperandType,
  TileElement_ResultType,
  TileElement_AttrDict,
  TileElement_FunctionalType,
  TileElement_Group,
  TileElement_Custom,
} TileElementKind;

typedef struct TileElement {
  TileElementKind kind;
  const char *text;   // literal (a space stands before it), space, directive's name
  size_t length;      // of a literal or space
  const char *source; // where it stands in the format, for messages
  int index;          // of the operand, attribute, region; FunctionalType: operand or -1 for all
  int second;         // FunctionalType: result or -1 for all
  int count;          // Group: number of elements that follow and belong to it, nested ones included
  int anchor;         // Group: position of the anchor in `elements`
  bool withKeyword;   // AttrDict
  bool isCommon;      // FunctionalType: one type stands for all when all are equal
  bool isRequired;    // optional operand or attribute that must follow once its group has begun
  bool isSilent;      // a unit attribute that its group's literal stands for
  // Spacing, decided once: see op_print.c.
  bool isPunctuation, opens, closes;
  int numArguments; // Custom
  TilePlace *arguments;
  const TileDirective *directive; // step 2; null: MixedSizes
} TileElement;

typedef struct TileOpSpec {
  const TileOpRow *row;
  const TileDialectTable *table;
  const char *fullName; // "tile.mma"
  intptr_t rowIndex;
  int numOperands, numResults, numAttributes, numRegions, numSuccessors, numEffects, numElements;
  TileValueSpec *operands, *results;
  TileAttributeSpec *attributes;
  TileRegionSpec *regions, *successors;
  TileEffectSpec *effects;
  TileElement *elements;
  uint32_t traits, properties;          // MlirExtTrait, TileProperty: bits
  int sameMemory;                       // the operand whose memory the result stands for; -1: none
  const char *implicitTerminator;       // full name, or null
  int looseOperand, looseResult;        // the only optional or variadic one; -1: none or several
  bool operandSegments, resultSegments; // several: sizes are attributes
  bool statesInference;                 // trait `infers types`: rows of upstream ops only
  bool hasFormat;
  bool hasPresences;                // anything is `with` or `unless` another
  const char *const *inherentNames; // null-terminated: attributes, then segment sizes
  int numElided;                    // names that attr-dict leaves out
  const char **elided;
  // attr-dict must print at least one inherent attribute, because the format does not name it.
  bool dictHoldsInherent;
  bool infersResults; // step 2: every result's type and presence follows from operands and attributes
} TileOpSpec;

// The hash by which lib/ir/upstream.c finds an upstream op by name. The generator fills the table with this function.
static inline uint32_t tileNameHash(const char *name, size_t length) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; ++i)
    hash = (hash ^ (unsigned char)name[i]) * 16777619u;
  return hash ^ hash >> 15;
}

// A buffer of the caller for one line that says what is wrong: "tile.mma: format: …".
typedef struct TileSpecError {
  char *text;
  size_t capacity;
} TileSpecError;
// Always false. `column` may be null.
bool tileSpecError(const TileSpecError *error, const TileOpSpec *spec, const char *column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

bool tileSpecCompileText(TileArena *arena, const TileDialectTable *table, intptr_t rowIndex, TileOpSpec *spec,
                         const TileSpecError *error);
bool tileSpecCompileFormat(TileArena *arena, TileOpSpec *spec, const TileSpecError *error); // part of the above
bool tileSpecResolve(TileOpSpec *spec, const TileSpecError *error);
bool tileSpecCheckFormat(const TileOpSpec *spec, const TileSpecError *error); // part of the above: ambiguities

TilePlace tileSpecFind(const TileOpSpec *spec, const char *name, size_t length); // kind None: no such name
int tileSpecFindValue(const TileValueSpec *values, int count, const char *name); // -1: none
// Whether exactly one type meets the builtin constraint of that name, so that a format need not print the type.
bool tileConstraintIsUnique(const char *name);
// The text as the generator and messages show it: "optional", "variadic" or "".
const char *tileArityText(TileArity arity);

// The spec of an op of a table, null for any other op.
const TileOpSpec *tileSpecOf(MlirOperation op);
// The values [begin, begin + count) of a group among `total`; `sizes` is the segment attribute, null if there is none.
void tileSpecGroup(const TileValueSpec *values, int numGroups, int loose, MlirAttribute sizes, intptr_t total,
                   intptr_t group, intptr_t *begin, intptr_t *count);
void tileSpecOperandGroup(const TileOpSpec *spec, MlirOperation op, intptr_t group, intptr_t *begin, intptr_t *count);
void tileSpecResultGroup(const TileOpSpec *spec, MlirOperation op, intptr_t group, intptr_t *begin, intptr_t *count);
MlirAttribute tileSpecAttribute(const TileAttributeSpec *attribute, MlirOperation op);  // null when absent
MlirAttribute tileSpecDefault(const TileAttributeSpec *attribute, MlirContext context); // null when there is none
bool tileSpecIsMet(const TileAttributeKind *kind, MlirAttribute attribute);
bool tileSpecParseKind(const TileAttributeKind *kind, MlirExtParser parser, MlirAttribute *attribute);
void tileSpecPrintKind(const TileAttributeKind *kind, MlirExtPrinter printer, MlirAttribute attribute);

// The hooks of every op of a table. op_parse.c, op_print.c, op_verify.c.
bool tileTableParse(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state);
void tileTablePrint(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer);
bool tileTableVerify(MlirOperation op);
void tileTableEffects(MlirOperation op, MlirExtEffects effects);
bool tileTableInferTypes(const MlirExtInference *inference, MlirExtTypeList types);

// Builtin tables, ending with a null name. op_builtin.c.
extern const TileConstraint tileBuiltinConstraints[];
extern const TileAttributeKind tileBuiltinKinds[];
extern const TileTypeRule tileBuiltinRules[];
