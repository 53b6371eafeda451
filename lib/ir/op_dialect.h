// From a table of rows to a dialect that can be registered.
//
//   static const TileDialectTable table = {.name = "tile", .numRows = …, .rows = rows, .constraints = constraints, …};
//   const MlirExtDialectDefinition *tileDialectDefinition(char *error, size_t capacity) {
//     MlirExtDialectDefinition base = {.types = types, .numTypes = …, .attributes = …, .dependents = …};
//     return tileDialectFromTable(&table, base, error, capacity);
//   }
//   mlirExtDialectRegistryInsert(registry, definition);
#pragma once

#include "lib/capi/dialect.h"
#include "lib/ir/op_table.h"

// `base` with name and ops filled in from the table. Compiled on the first call in the process and kept (the table
// must live as long); later calls, from any thread, return the same without a lock. Null when a row is wrong: `error`
// then holds one line naming the op, the column and what is wrong:
//   tile.mma: format: no operand, result, attribute or region is named 'lsh' (at "$lsh `,` …")
const MlirExtDialectDefinition *tileDialectFromTable(const TileDialectTable *table, MlirExtDialectDefinition base,
                                                     char *error, size_t capacity);

// Position of the op's row in its table, -1 for ops not from a table: what the generated tileOpKind uses.
intptr_t tileOpRowIndex(MlirOperation op, const char *dialect);
