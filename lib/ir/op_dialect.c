// From rows to a dialect's definition: compiles every row, hooks the engine in where the row has no hook of its own,
// and keeps the result for the life of the process, found again by the table's address.
#include "lib/ir/op_dialect.h"
#include "lib/ir/op_spec.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef struct Compiled {
  const TileDialectTable *table;
  const struct Compiled *next;
  TileArena arena;
  MlirExtDialectDefinition definition;
} Compiled;

// All dialects compiled in this process. Entries are only ever added, in front.
static _Atomic(const Compiled *) compiledDialects;

static const Compiled *find(const Compiled *first, const TileDialectTable *table) {
  while (first && first->table != table)
    first = first->next;
  return first;
}

static MlirExtOpDefinition defineOp(const TileOpSpec *spec) {
  MlirExtOpDefinition definition = {
      .name = spec->fullName,
      .traits = spec->traits,
      .inherentAttributes = spec->inherentNames,
      .hooks = spec->row->hooks,
      .data = spec,
  };
  definition.hooks.verify = tileTableVerify;
  if (spec->hasFormat) {
    definition.hooks.parse = tileTableParse;
    definition.hooks.print = tileTablePrint;
  }
  if (definition.hooks.inferTypes || spec->infersResults)
    definition.hooks.inferTypes = tileTableInferTypes;
  if (spec->numEffects)
    definition.hooks.effects = tileTableEffects;
  return definition;
}

static bool nameIsNew(const TileDialectTable *table, intptr_t row, const TileOpSpec *spec, const TileSpecError *error) {
  for (intptr_t i = 0; i < row; ++i)
    if (!strcmp(table->rows[i].name, table->rows[row].name) || !strcmp(table->rows[i].cName, table->rows[row].cName))
      return tileSpecError(error, spec, NULL, "a second op of that name or C name (%s)", table->rows[row].cName);
  return true;
}

static bool compileRows(Compiled *compiled, MlirExtOpDefinition *ops, const TileSpecError *error) {
  const TileDialectTable *table = compiled->table;
  for (intptr_t i = 0; i < table->numRows; ++i) {
    TileOpSpec *spec = tileArenaAllocate(&compiled->arena, sizeof *spec);
    if (!tileSpecCompileText(&compiled->arena, table, i, spec, error) || !nameIsNew(table, i, spec, error) ||
        !tileSpecResolve(spec, error))
      return false;
    ops[i] = defineOp(spec);
  }
  return true;
}

static Compiled *compile(const TileDialectTable *table, MlirExtDialectDefinition base, const TileSpecError *error) {
  TileArena arena = {0};
  Compiled *compiled = tileArenaAllocate(&arena, sizeof *compiled);
  MlirExtOpDefinition *ops = tileArenaAllocate(&arena, sizeof *ops * (size_t)table->numRows);
  *compiled = (Compiled){.table = table, .arena = arena, .definition = base};
  compiled->definition.name = table->name;
  compiled->definition.numOps = table->numRows;
  compiled->definition.ops = ops;
  if (compileRows(compiled, ops, error))
    return compiled;
  arena = compiled->arena; // freeing it frees `compiled` too
  tileArenaFree(&arena);
  return NULL;
}

// Two threads may compile one table at a time: the first to publish wins, the other's copy is freed.
static const Compiled *publish(Compiled *compiled) {
  const Compiled *first = atomic_load(&compiledDialects);
  for (;;) {
    const Compiled *winner = find(first, compiled->table);
    if (winner) {
      TileArena arena = compiled->arena;
      tileArenaFree(&arena);
      return winner;
    }
    compiled->next = first;
    if (atomic_compare_exchange_weak(&compiledDialects, &first, compiled))
      return compiled;
  }
}

const MlirExtDialectDefinition *tileDialectFromTable(const TileDialectTable *table, MlirExtDialectDefinition base,
                                                     char *error, size_t capacity) {
  const Compiled *known = find(atomic_load(&compiledDialects), table);
  if (known)
    return &known->definition;
  TileSpecError text = {error, capacity};
  Compiled *compiled = compile(table, base, &text);
  return compiled ? &publish(compiled)->definition : NULL;
}

static const MlirExtDialectDefinition *define(const void *table, const MlirExtDialectDefinition *base) {
  char error[512];
  const MlirExtDialectDefinition *definition = tileDialectFromTable(table, *base, error, sizeof error);
  if (!definition)
    fprintf(stderr, "error in the table of the %s dialect: %s\n", base->name, error);
  return definition;
}

void tileDialectRegister(const TileDialectTable *table, MlirExtDialectDefinition base, MlirDialectRegistry registry) {
  base.name = table->name;
  mlirExtDialectRegistryInsertLate(registry, table, &base, define);
}
