// Rows that must be refused, each by its message; what is derived without being written; and concurrent compilation.
#include "lib/ir/op_spec.h"
#include "test/check.h"
#include "test/ir/probe/probe.h"
#include <pthread.h>

static MlirType uniqueToken(MlirContext context) { return mlirNoneTypeGet(context); }
static bool parseNothing(TileParse *parse, MlirExtParser parser, MlirExtOpState state) { return true; }
static void printNothing(MlirOperation op, MlirExtPrinter printer) {}
static const TileConstraint constraints[] = {{"token", NULL, "a token", uniqueToken}, {NULL}};
static const TileAttributeKind kinds[] = {
    {"mode", NULL, "", .keywords = (const char *const[]){"fast", "slow", NULL}},
    {"pace", NULL, "", .keywords = (const char *const[]){"calm", "fast", NULL}},
    {NULL},
};
static const TileDirective directives[] = {{"Nothing", parseNothing, printNothing, NULL}, {NULL}};

// What compiling a table of these rows says; "" when nothing is wrong.
static const char *compileRows(intptr_t count, const TileOpRow *rows, char *text, size_t capacity) {
  TileDialectTable table = {.name = "t",
                            .numRows = count,
                            .rows = rows,
                            .constraints = constraints,
                            .kinds = kinds,
                            .directives = directives};
  TileArena arena = {0};
  TileSpecError error = {text, capacity};
  TileOpSpec spec;
  bool ok = true;
  text[0] = 0;
  for (intptr_t i = 0; ok && i < count; ++i)
    ok = tileSpecCompileText(&arena, &table, i, &spec, &error) && tileSpecResolve(&spec, &error);
  tileArenaFree(&arena);
  return text;
}

// The row says `message` after "t.x: "; an empty one when it is accepted.
#define SAYS(message, ...)                                                                                             \
  do {                                                                                                                 \
    TileOpRow row = {.cName = "X", .name = "x", __VA_ARGS__};                                                          \
    char text[512];                                                                                                    \
    compileRows(1, &row, text, sizeof text);                                                                           \
    const char *wanted = *message ? "t.x: " message : "";                                                              \
    CHECK(!strcmp(text, wanted), "\n  wanted: %s\n  but got: %s", wanted, text);                                       \
  } while (0)

static void columns(void) {
  SAYS("");
  SAYS("operands: expected 'name: …', but got '2lhs: any'", .operands = "2lhs: any");
  SAYS("operands: expected 'name: …', but got ''", .operands = "a: any, , b: any");
  SAYS("operands: 'a' is the name of two things", .operands = "a: any, a: any");
  SAYS("attributes: 'a' is the name of two things", .operands = "a: any", .attributes = "a: i64");
  SAYS("operands: 'a' has no constraint", .operands = "a");
  SAYS("operands: 'a' has no constraint", .operands = "a: optional");
  SAYS("operands: 'a' has the unknown constraint 'tyle'", .operands = "a: tyle");
  SAYS("results: 'r' has the unknown constraint 'big tile'", .results = "r: optional big tile");
  SAYS("operands: 'a' follows the unknown rule 'i7'", .operands = "a: as i7 of b, b: any");
  SAYS("operands: 'a': expected 'as RULE of NAME'", .operands = "a: as i1, b: any");
  SAYS("operands: the type of 'a' follows 'c', which names no operand or result", .operands = "a: like c");
  SAYS("operands: the type of 'a' follows itself", .operands = "a: like a");
  SAYS("operands: the type of 'a' follows the variadic 'b'", .operands = "a: like b, b: variadic any");
  SAYS("operands: 'a' is there with 'c', which names no operand, result or attribute",
       .operands = "a: optional any with c");
  SAYS("operands: 'a' is not optional, so it cannot depend on 'b'", .operands = "a: any with b, b: optional any");
  SAYS("operands: 'a': did not expect 'now'", .operands = "a: optional any with b now, b: optional any");
  SAYS("attributes: 'a' has no kind", .attributes = "a");
  SAYS("attributes: 'a' has no kind", .attributes = "a: = 3");
  SAYS("attributes: 'a' has the unknown kind 'i65'", .attributes = "a: i65");
  SAYS("attributes: 'a' has no default after =", .attributes = "a: i64 =");
  SAYS("attributes: 'a' is optional and has a default", .attributes = "a: optional i64 = 3");
  SAYS("regions: 'a' is variadic but not the last region", .regions = "a: variadic, b");
  SAYS("regions: 'a': did not expect 'any'", .regions = "a: any");
  SAYS("traits: unknown trait 'pur'", .traits = "pur");
  SAYS("effects: expected read, write, allocate or free, but got 'reads'", .operands = "a: any", .effects = "reads a");
  SAYS("effects: 'b' names no operand or result", .operands = "a: any", .effects = "read b");
  SAYS("effects: the op has effects, but its traits say it has none", .operands = "a: any", .effects = "read a",
       .traits = "pure");
}

// Bodies of `.format`; the rest of the row is the same for all.
#define FORMAT(message, text)                                                                                          \
  SAYS(message, .operands = "a: any, many: variadic any, may: optional any, i: variadic index",                        \
       .results = "r: any, rs: variadic any", .regions = "body: optional",                                             \
       .attributes = "n: i64, mode: mode, m: optional mode, p: optional pace, k: optional i64, u: unit, g: any, "      \
                     "s: optional string, t: optional string, w: keyword",                                             \
       .format = text)
#define TYPES "attr-dict `:` type($a) `,` type($r) `<` type($many) `>` (`m` type($may)^)? `->` type($rs)"

static void formats(void) {
  FORMAT("", "$a `x` $many `y` ($may^)? `z` $i (`body` $body^)? " TYPES);
  FORMAT("format: no operand, result, attribute or region is named 'b' (at \"$b `x`\")", "$b `x`");
  FORMAT("format: results have no place in a format, only their types have: 'r' (at \"$r\")", "$r");
  FORMAT("format: has no type: 'n' (at \"type($n)\")", "type($n)");
  FORMAT("format: named twice: 'a' (at \"$a\")", "$a $a");
  FORMAT("format: named twice: 'a' (at \"type($a)\")", "type($a) `,` type($a)");
  FORMAT("format: literal without an end (at \"`x\")", "$a `x");
  FORMAT("format: neither punctuation nor a keyword: '!' (at \"`!`\")", "`!`");
  FORMAT("format: not a format element (at \"a-dict\")", "a-dict");
  FORMAT("format: a second attr-dict (at \"attr-dict\")", "attr-dict attr-dict");
  FORMAT("format: attr-dict is missing", "$a `x` $many `y` ($may^)? `z` $i (`body` $body^)?");
  FORMAT("format: operand 'may' is not in it", "$a `x` $many attr-dict");
  FORMAT("format: region 'body' is not in it", "$a `x` $many `y` ($may^)? `z` $i attr-dict");
  FORMAT("format: a ) without its ( (at \") $a\")", ") $a");
  FORMAT("format: a group must end with )? (at \"(`x` $may^) $a\")", "(`x` $may^) $a");
  FORMAT("format: a group without an anchor (^) (at \"(`x` $may)?\")", "(`x` $may)?");
  FORMAT("format: an empty group (at \"()?\")", "()?");
  FORMAT("format: a second anchor (^) in a group (at \"$m^)?\")", "(`x` $may^ $m^)?");
  FORMAT("format: an anchor (^) outside of a group (at \"$a^\")", "$a^");
  FORMAT("format: a literal cannot be an anchor (^) (at \"`x`^)?\")", "(`x`^)?");
  FORMAT("format: expected ) after type($NAME (at \"type($a\")", "type($a");
  FORMAT("format: expected a comma in functional-type (at \"functional-type($a)\")", "functional-type($a)");
  FORMAT("format: on the wrong side of functional-type: 'r' (at \"functional-type($r, $r)\")",
         "functional-type($r, $r)");
  FORMAT("format: expected custom<NAME>(…) (at \"custom<Nothing>\")", "custom<Nothing>");
  FORMAT("format: unknown directive 'Something'",
         "custom<Something>($a) `x` $many `y` ($may^)? `z` $i (`body` $body^)? " TYPES);
  FORMAT("format: custom<MixedSizes> takes a variadic operand and an i64 array",
         "custom<MixedSizes>($i, $g) $a `x` $many `y` ($may^)? (`body` $body^)? " TYPES);
}

#define REST "$a `x` $many `y` ($may^)? `z` $i (`body` $body^)? " TYPES
static void ambiguities(void) {
  FORMAT("format: ambiguous: variadic (at \"$many $a `y` ($may^)? `z\") is followed by one that could begin the same "
         "way (at \"$a `y` ($may^)? `z` $i (\")",
         "$many $a `y` ($may^)? `z` $i (`body` $body^)? " TYPES);
  FORMAT("format: ambiguous: variadic (at \"$many (`,` $may^)? $i `x\") is followed by one that could begin the same "
         "way (at \"`,` $may^)? $i `x` (`bod\")",
         "$a `x` $many (`,` $may^)? $i `x` (`body` $body^)? " TYPES);
  FORMAT(
      "format: ambiguous: an optional group (at \"$may^)? $many `z` $i (`b\") is followed by one that could begin the "
      "same way (at \"$many `z` $i (`body` $bo\")",
      "$a `x` ($may^)? $many `z` $i (`body` $body^)? " TYPES);
  FORMAT("format: ambiguous: an optional group (at \"`q` $m^)? (`q` $p^)? $a \") is followed by one that could begin "
         "the same way (at \"`q` $p^)? $a `x` $many `\")",
         "(`q` $m^)? (`q` $p^)? " REST);
  FORMAT("format: ambiguous: an optional group (at \"$m^)? ($p^)? $a `x` $man\") is followed by one that could begin "
         "the same way (at \"$p^)? $a `x` $many `y` (\")",
         "($m^)? ($p^)? " REST);
  FORMAT("format: ambiguous: an optional group (at \"$m^)? `slow` $a `x` $man\") is followed by one that could begin "
         "the same way (at \"`slow` $a `x` $many `y` \")",
         "($m^)? `slow` " REST);
  FORMAT("format: ambiguous: an optional group (at \"`q` $m^)? $w $a `x` $man\") is followed by one that could begin "
         "the same way (at \"$w $a `x` $many `y` ($ma\")",
         "(`q` $m^)? $w " REST);
  FORMAT("format: ambiguous: an optional group (at \"$s^)? ($t^)? $a `x` $man\") is followed by one that could begin "
         "the same way (at \"$t^)? $a `x` $many `y` (\")",
         "($s^)? ($t^)? " REST);
  FORMAT("format: ambiguous: attr-dict (at \"attr-dict ($body^)? `:` \") is followed by one that could begin the same "
         "way (at \"$body^)? `:` type($a) `,\")",
         "$a `x` $many `y` ($may^)? `z` $i attr-dict ($body^)? `:` type($a) `,` type($r) `<` type($many) `>` "
         "(`m` type($may)^)? `->` type($rs)");
  FORMAT("format: ambiguous: a list of types (at \"type($many) `,` type($r)\") is followed by one that could begin the "
         "same way (at \"`,` type($r) (`m` type($\")",
         "$a `x` $many `y` ($may^)? `z` $i (`body` $body^)? attr-dict `:` type($a) `<` type($many) `,` type($r) (`m` "
         "type($may)^)? `->` type($rs)");
  FORMAT("format: ambiguous: an attribute that may end with `: type` (at \"$g attr-dict `:` type($a\") is followed by "
         "one that could begin the same way (at \"`:` type($a) `,` type($r\")",
         "$a `x` $many `y` ($may^)? `z` $i (`body` $body^)? $g " TYPES);
  FORMAT("format: an optional group starts with something not optional to parse (at \"$w $m^)? $a `x` $many `y\")",
         "($w $m^)? " REST);
  FORMAT("format: an optional group starts with something not optional to parse (at \"custom<Nothing>() $m^)? \")",
         "(custom<Nothing>() $m^)? " REST);
  FORMAT("format: the anchor of a group is always there (at \"$n^)? $a `x` $many `y` (\")", "(`q` $n^)? " REST);
  FORMAT("format: the optional attribute 'm' stands outside of a group", "$m " REST);
  FORMAT("format: the optional attribute 'k' is in a group but neither its anchor nor there 'with' it",
         "(`q` $m^ $k)? " REST);
}

static void types(void) {
  SAYS("format: the type of operand 'a' is neither given nor inferable", .operands = "a: any",
       .format = "$a attr-dict");
  SAYS("format: the type of operand 'a' is neither given nor inferable", .operands = "a: like b, b: like a",
       .format = "$a $b attr-dict");
  SAYS("format: the type of result 'r' is neither given nor inferable", .results = "r: any", .format = "attr-dict");
  SAYS("format: nothing says when the optional result 'r' is there (with, unless)", .results = "r: optional token",
       .format = "attr-dict");
  SAYS("format: nothing says when the variadic result 'r' is there (with, unless)", .results = "r: variadic token",
       .format = "attr-dict");
  SAYS("", .results = "r: token", .format = "attr-dict");
  SAYS("", .results = "r: any", .format = "attr-dict", .hooks = {.inferTypes = inferDouble});
  SAYS("format: given, and hooks.parse or hooks.print too", .format = "attr-dict", .hooks = {.parse = tileTableParse});
}

//===--- what is derived ----------------------------------------------------===//
static const MlirExtOpDefinition *findOp(const MlirExtDialectDefinition *dialect, const char *name) {
  for (intptr_t i = 0; i < dialect->numOps; ++i)
    if (!strcmp(dialect->ops[i].name, name))
      return &dialect->ops[i];
  return NULL;
}

static bool hasName(const MlirExtOpDefinition *op, const char *name) {
  for (const char *const *at = op->inherentAttributes; *at; ++at)
    if (!strcmp(*at, name))
      return true;
  return false;
}

static void derived(void) {
  const MlirExtDialectDefinition *dialect = probeDialect();
  if (!dialect) {
    CHECK(false, "the probe dialect is refused");
    return;
  }
  const MlirExtOpDefinition *groups = findOp(dialect, "probe.groups"), *halves = findOp(dialect, "probe.halves");
  const MlirExtOpDefinition *add = findOp(dialect, "probe.add"), *named = findOp(dialect, "probe.named");
  CHECK(groups->traits & MlirExtTrait_AttrSizedOperandSegments && hasName(groups, "operandSegmentSizes"));
  CHECK(halves->traits & MlirExtTrait_AttrSizedResultSegments && hasName(halves, "resultSegmentSizes"));
  CHECK(!(halves->traits & MlirExtTrait_AttrSizedOperandSegments) && !hasName(halves, "operandSegmentSizes"));
  CHECK(add->traits == (MlirExtTrait_Pure | MlirExtTrait_Commutative) && add->hooks.inferTypes && !add->hooks.effects);
  CHECK(named->traits & MlirExtTrait_Symbol && hasName(named, "sym_name") && hasName(named, "sym_visibility"));
  CHECK(findOp(dialect, "probe.loop")->traits & MlirExtTrait_SingleBlock);
  CHECK(!groups->hooks.inferTypes && findOp(dialect, "probe.store")->hooks.effects);
  CHECK(!findOp(dialect, "probe.bare")->hooks.parse);
}

static void builtinTables(void) {
  int unique = 0;
  for (const TileConstraint *constraint = tileBuiltinConstraints; constraint->name; ++constraint) {
    CHECK(tileConstraintIsUnique(constraint->name) == (constraint->unique != NULL), "%s", constraint->name);
    unique += constraint->unique != NULL;
  }
  CHECK(unique == 11, "%d", unique);
}

static void *compileProbe(void *result) {
  *(const MlirExtDialectDefinition **)result = probeDialect();
  return NULL;
}

// All threads get the same definition, whoever compiles first.
static void threads(void) {
  enum { NumThreads = 8 };
  pthread_t workers[NumThreads];
  const MlirExtDialectDefinition *results[NumThreads];
  for (int i = 0; i < NumThreads; ++i)
    pthread_create(&workers[i], NULL, compileProbe, &results[i]);
  for (int i = 0; i < NumThreads; ++i)
    pthread_join(workers[i], NULL);
  for (int i = 0; i < NumThreads; ++i)
    CHECK(results[i] && results[i] == results[0]);
}

static void wholeTables(void) {
  TileOpRow rows[] = {{.cName = "X", .name = "x"}, {.cName = "Y", .name = "x"}};
  TileDialectTable table = {.name = "t", .numRows = 2, .rows = rows};
  char error[256] = "";
  CHECK(!tileDialectFromTable(&table, (MlirExtDialectDefinition){0}, error, sizeof error));
  CHECK(!strcmp(error, "t.x: a second op of that name or C name (Y)"), "%s", error);
  char small[12] = "";
  CHECK(!tileDialectFromTable(&table, (MlirExtDialectDefinition){0}, small, sizeof small));
  CHECK(!strcmp(small, "t.x: a seco"), "%s", small); // cut off, never past the end
}

// Registered tables are compiled when a dialect is loaded, not before: one that is wrong is an unknown dialect then.
static void lateTables(void) {
  static const TileOpRow wrong[] = {{.cName = "X", .name = "x"}, {.cName = "Y", .name = "x"}};
  static const TileOpRow right[] = {{.cName = "X", .name = "x"}};
  static const TileDialectTable tables[] = {{.name = "late_wrong", .numRows = 2, .rows = wrong},
                                            {.name = "late_right", .numRows = 1, .rows = right}};
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  for (int i = 0; i < 2; ++i)
    tileDialectRegister(&tables[i], (MlirExtDialectDefinition){0}, registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  intptr_t before = mlirContextGetNumLoadedDialects(context);
  CHECK(mlirDialectIsNull(mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString("late_wrong"))));
  CHECK(!mlirDialectIsNull(mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString("late_right"))));
  CHECK(mlirContextGetNumLoadedDialects(context) == before + 1);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
}

int main(void) {
  threads(); // first: nobody has compiled the table yet
  columns();
  formats();
  ambiguities();
  types();
  derived();
  builtinTables();
  wholeTables();
  lateTables();
  return checkResult(100);
}
