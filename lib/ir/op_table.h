// The op table: one row per op is the single source of truth for registration, parser, printer, verifier, builders,
// accessors, reference pages and the interpreter's switch. This header knows rows as text; it needs no MLIR library.
//
// A dialect's rows stand in dialects/NAME/ops.def, each
//
//   TESSERA_OP(Mma, "mma",                                        // C name: tileMmaOpCreate, TileOp_Mma
//     .summary     = "Multiplies two tiles and adds a third",
//     .operands    = "lhs: tile, rhs: tile, accumulator: tile",
//     .results     = "result: like accumulator",
//     .attributes  = "precision: optional precision, atom: optional string",
//     .format      = "$lhs `,` $rhs `,` $accumulator (`precision` $precision^)? (`atom` $atom^)? attr-dict `:` "
//                    "type($lhs) `,` type($rhs) `->` type($result)",
//     .traits      = "pure",
//     .effects     = "",                                          // "read view, write buffer": operands by name
//     .description = "…prose for the reference page…",
//     .example     = "%d = tile.mma %a, %b, %c : …",
//     HOOKS(.verify = verifyMma, .fold = foldMma))
//
// They become a table in one C file of the dialect, which lib/ir/op_dialect.h compiles and registers:
//
//   #define TESSERA_OP TESSERA_OP_ROW
//   #define HOOKS TESSERA_HOOKS
//   static const TileOpRow rows[] = {
//   #include "dialects/tile/ops.def"
//   };
//
// Columns are lists separated by commas; an empty or missing column is an empty list. NAMEs are [a-zA-Z][a-zA-Z0-9_]*.
//
// operands, results   NAME: (optional | variadic)? CONSTRAINT? (like OTHER | as RULE of OTHER)? (with X | unless X)?
//   CONSTRAINT   a name of the dialect's table of constraints or a builtin one (below); missing only before like, as.
//   like OTHER   the type is that of OTHER, an operand or result (elementwise if both are variadic): need not be in the
//                format, is verified, and makes a result inferable (builders take no type) when OTHER is an operand.
//   as RULE of OTHER   the same with a type derived from OTHER's by a TileTypeRule: "mask: optional as i1 of result".
//   with X, unless X   for optional values: present exactly when the operand, result or attribute X is present
//                (absent), as in "use: optional index with barrier", "token: optional token unless barrier". The
//                verifier checks this. The parser learns from it whether an optional result exists if the format
//                does not print the result's type.
//   With more than one optional or variadic operand the inherent attribute operandSegmentSizes (and its trait) is added
//   without being written; resultSegmentSizes likewise.
// attributes          NAME: (optional)? KIND (with X | unless X)?   or   NAME: KIND = default text
//   KIND is a name of the dialect's table of kinds or a builtin one (below). A default is the attribute in its kind's
//   short form; it is not printed and need not be given: an absent attribute means the default, accessors return it.
//   `unit` is always optional. The traits `symbol` and `function` add their own attributes (sym_name, sym_visibility,
//   function_type, arg_attrs, res_attrs) if the column lacks them.
// regions             NAME: (optional | variadic)?    at most one optional or variadic, as the last. An optional region
//   is there as an op's region without blocks: the op always has as many regions as the column says.
// traits              pure, no memory effect, recursive memory effects, terminator, return like, isolated from above,
//   no terminator, single block, implicit terminator NAME (single block; NAME of this dialect, not printed when it has
//   neither operands nor attributes), same operands and result type, symbol, symbol table, function, loop like,
//   view like, commutative, constant like, affine scope
// effects             (read | write | allocate | free) NAME    an operand's or result's name, or `memory` (anything),
//   `debug` (printing), `order` (accesses nothing, but no access may move across: state read and write). Optional ones
//   count when present. Effects that depend on the op: hooks.effects, column empty. No effects column, no hook and no
//   `pure` means: unknown effects.
//
// properties          what passes ask of an op by lib/ir/op_query.h, so that they need no lists of ops:
//   elementwise          each element of a result depends on the operands' elements at that place only
//   moves elements       each element of the result is an element of an operand, unchanged
//   exchanges elements   on a GPU, elements may have to pass between threads through shared memory
//   divides integers     stops the program, or has no meaning, where the second operand is 0
//   function             computed by many instructions: exp, not sqrt, which machines have
//   same memory as NAME  the result stands for memory of operand NAME (when the operand is memory)
//
// Builtin constraints: any, index*, integer, signless integer, float, scalar (index, integer, float), i1*, i8*, i16*,
//   i32*, i64*, f16*, bf16*, f32*, f64*, tensor, tile (ranked tensor of static shape), i1 tile, index tile, integer
//   tile, float tile, tile or scalar, memref, vector, function, none*. Those with * have one type only, which is never
//   printed.
// Builtin kinds: unit, bool, i32, i64, index, f32, f64, string, keyword (a StringAttr printed bare: any identifier, may
//   hold dots: arith.addf), symbol (FlatSymbolRefAttr, printed @name), symbol name (StringAttr, printed @name), type,
//   type array, array, string array, keyword array ([shared, local]), i64 array (DenseI64ArrayAttr, printed [1, 2]),
//   i32 array, integer (any type), float (any type), elements, affine map, dictionary, any.
// Builtin rules: i1 (same shape, element i1), index (element index), i32 (element i32), element (the element type of a
//   shaped type, any other type itself).
// Lists of keywords are kinds: {"combine", "how to combine", .keywords = (const char *[]){"add", "max", NULL}} makes a
//   StringAttr that must be one of them, printed bare.
//
// Format language (MLIR's declarative assembly format, as far as we need it):
//   `literal`            punctuation or keyword; one of -> ( ) { } [ ] < > , : = ? + - * / | ... or an identifier
//   ` `  ``  `\n`        a space, no space, a new line when printing; nothing to parse. By itself the printer sets
//                        spaces as upstream's: none before , ) ] > } and none around ( [ < { opened after a name, so
//                        "`axes` $axes" prints `axes [1]` (the kind prints the bracket) and "`sizes` ` ` `[` $sizes
//                        `]`" prints `sizes [%m]`
//   $operand $attribute $region   the operand(s), variadic ones separated by commas; the attribute in its kind's short
//                        form; the region(s)
//   type($value)         type, or types of a variadic separated by commas. For an optional value: inside a group
//   attr-dict, attr-dict-with-keyword    every attribute that the format does not name
//   functional-type($values, $results)   `(types) -> type`; also functional-type(operands, results): all of them
//   common-type(operands, results)   the type that all operands and results have; `(types) -> type` where they differ
//   ( … $anchor^ … )?    optional group: printed when the anchor (an operand, type, attribute, region or directive) is
//                        present; the first element decides when parsing: a literal, or an optional operand, region,
//                        type($optional) or an attribute of kind unit, keywords, integer, string, symbol. After a
//                        first literal the anchor must follow, except a variadic one: `[` $indices^ `]` takes `[]`.
//                        A unit attribute prints nothing in a group that begins with a literal: (`reverse` $reverse^)?
//                        and its own name otherwise: ($reverse^)?. Groups nest. Optional attributes and those with a
//                        default must stand in a group (the anchor, or `with` the anchor).
//   ( … ) : ( … )?       not supported
//   custom<Name>($a, $b) directive: a pair of C functions in the dialect's table of directives (TileDirective); it
//                        counts as naming $a, $b and type($c): it must parse them (lib/ir/op_format.h says how)
//   custom<MixedSizes>($dynamic, $static)   builtin: [0, %k] for an operand list of index values beside an i64 array
//                        holding kDynamic (INT64_MIN) where an operand stands
// Hooks: .verify runs after the row's own checks, .inferTypes after operands and attributes met the row's constraints
// and kinds, so both may rely on them. Effects, folds and the rest see verified ops only.
// Hook .expand inserts, before the op, ops that conversions know (arith, math, memref, scf, tile) and that compute the
// same. It sets results[i] to the value that replaces result i. The dialect lists the dialects of these ops as
// dependents. tile-expand-ops, the first pass of every pipeline, calls the hook.
// Registration refuses these, and names the op and the place: an unknown name; a value or type that is neither given
// nor inferable; a variadic before another element that could begin the same way; an optional group whose first element
// is not optional to parse; a name that occurs twice; an attr-dict that is missing or doubled.
#pragma once

#include "lib/capi/op.h"

typedef struct TileOpRow {
  const char *cName; // "Mma"
  const char *name;  // "mma", without the dialect
  const char *summary;
  const char *operands, *results, *attributes, *regions, *successors;
  const char *format; // null: hooks.parse and hooks.print
  const char *traits, *effects, *properties;
  const char *description, *example;
  const char *bytecode; // of dialects with a bytecode of their own: the opcode, and versions; null elsewhere
  const char *source;   // upstream's ops: what C, CUDA C++ and HIP say (lib/ir/upstream.def); null: they cannot
  MlirExtOpHooks hooks;
  const char *hooksText; // the generator's view of HOOKS(…); null elsewhere
} TileOpRow;

#define TESSERA_OP_ROW(cname, opname, ...) {.cName = #cname, .name = opname, __VA_ARGS__},
#define TESSERA_HOOKS(...) .hooks = {__VA_ARGS__}

typedef enum TileProperty {
  TileProperty_Elementwise = 1 << 0,
  TileProperty_MovesElements = 1 << 1,
  TileProperty_ExchangesElements = 1 << 2,
  TileProperty_Function = 1 << 3,
  TileProperty_DividesIntegers = 1 << 4,
} TileProperty;

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
  const char *const *keywords; // ends with null: a StringAttr that is one of these; the functions above stay null
} TileAttributeKind;

// Derives the type of one value from that of another ("mask: optional as i1 of result"). Null type: cannot.
typedef struct TileTypeRule {
  const char *name;
  MlirType (*derive)(MlirType type);
} TileTypeRule;

typedef struct TileParse TileParse; // the operands, types and attributes parsed so far: lib/ir/op_format.h
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
  const TileTypeRule *rules;         // end with name == null, or null
  // The dialect's own text of types within the formats of its ops; null: MLIR's.
  bool (*parseType)(MlirExtParser parser, MlirType *type);
  void (*printType)(MlirExtPrinter printer, MlirType type);
} TileDialectTable;
