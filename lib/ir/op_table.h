// The op table: one row per op is the single source of truth for registration, parser, printer, verifier, builders,
// accessors, reference pages and the interpreter's switch. This header knows rows as text; it needs no MLIR library.
//
// A dialect's rows stand in dialects/NAME/ops.def, each
//
//   TESSERA_OP(Mma, "mma",                                        // C name: tileMmaOpCreate, TileOp_Mma
//     .summary     = "Multiplies two tiles and adds a third",
//     .operands    = "lhs: tile, rhs: tile, accumulator: tile",   // name: (optional|variadic)? constraint
//     .results     = "result: tile",                              // … or "result: like accumulator": type inferred
//     .attributes  = "precision: optional precision, atom: optional string",
//     .format      = "$lhs `,` $rhs `,` $accumulator (`precision` $precision^)? (`atom` $atom^)? attr-dict `:` "
//                    "type($lhs) `,` type($rhs) `->` type($result)",
//     .traits      = "pure",
//     .effects     = "",                                          // "read view, write buffer": operands by name
//     .description = "…prose for the reference page…",
//     .example     = "%d = tile.mma %a, %b, %c : …",
//     HOOKS(.verify = verifyMma, .fold = foldMma))
//
// Constraints are names, looked up in the dialect's table of constraints (TileConstraint). Attribute entries are
// `name: (optional)? kind` or `name: kind = default text`; a default is not printed and need not be given.
//
// Format language (MLIR's declarative assembly format, as far as we need it):
//   `literal`            punctuation or keyword
//   $operand $attribute  the operand(s); the attribute in its kind's short form; $region; $symbol attribute as @name
//   type($value)         type, or types of a variadic separated by commas
//   attr-dict, attr-dict-with-keyword
//   functional-type($values, $results)
//   ( … $anchor^ … )?    optional group: printed when the anchor is present; the first element decides when parsing
//   ( … ) : ( … )?       not supported
//   custom<Name>($a, $b) directive: a pair of C functions in the dialect's table of directives (TileDirective)
// Refused at registration, by op and place: an unknown name, a value or type neither given nor inferable, a variadic
// followed by one that could begin the same way, an optional group that starts with something not optional to parse,
// something named twice, an attr-dict missing or doubled.
#ifndef TESSERA_IR_OP_TABLE_H
#define TESSERA_IR_OP_TABLE_H

#include "lib/capi/op.h"

typedef struct TileOpRow {
  const char *cName; // "Mma"
  const char *name;  // "mma", without the dialect
  const char *summary;
  const char *operands, *results, *attributes, *regions;
  const char *format; // null: hooks.parse and hooks.print
  const char *traits, *effects;
  const char *description, *example;
  MlirExtOpHooks hooks;
} TileOpRow;

// What a value of an operand or result may be.
typedef struct TileConstraint {
  const char *name;             // "tile"
  bool (*isMet)(MlirType type); // null: anything
  const char *description;      // "a tile (a ranked tensor of static shape)": for messages and reference pages
  MlirType (*unique)(
      MlirContext context); // when only one type meets it (index, i1, !tile.token): never printed; or null
} TileConstraint;

// How an attribute kind is checked, parsed and printed in a format. Null parse/print: the generic attribute form.
typedef struct TileAttributeKind {
  const char *name; // "string", "i64 array", "combine"
  bool (*isMet)(MlirAttribute attribute);
  const char *description;
  bool (*parse)(MlirExtParser parser, MlirAttribute *attribute);
  void (*print)(MlirExtPrinter printer, MlirAttribute attribute);
} TileAttributeKind;

typedef struct TileParse TileParse; // the operands, types and attributes parsed so far
typedef struct TileDirective {
  const char *name; // "Indices" for custom<Indices>($view, $indices)
  bool (*parse)(TileParse *parse, MlirExtParser parser, MlirExtOpState state);
  void (*print)(MlirOperation op, MlirExtPrinter printer);
  // True when the directive prints anything: lets it anchor an optional group. May be null.
  bool (*isPresent)(MlirOperation op);
} TileDirective;

typedef struct TileDialectTable {
  const char *name; // "tile"
  intptr_t numRows;
  const TileOpRow *rows;
  const TileConstraint *constraints; // end with name == null; lib/ir adds builtin ones (any, index, integer, …)
  const TileAttributeKind *kinds;    // end with name == null; lib/ir adds builtin ones (string, i64, unit, symbol, …)
  const TileDirective *directives;   // end with name == null
} TileDialectTable;

#endif
