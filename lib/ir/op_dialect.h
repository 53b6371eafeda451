// From a table of rows to a dialect that can be registered.
//
//   static const TileDialectTable table = {.name = "tile", .numRows = …, .rows = rows, .constraints = constraints, …};
//   const MlirExtDialectDefinition *tileDialectDefinition(char *error, size_t capacity) {
//     MlirExtDialectDefinition base = {.types = types, .numTypes = …, .attributes = …, .dependents = …};
//     return tileDialectFromTable(&table, base, error, capacity);
//   }
//   tileDialectRegister(&table, base, registry);
#pragma once

#include "lib/capi/dialect.h"
#include "lib/ir/op_table.h"

// Returns `base` with the name and ops of the table. The first call compiles the definition and keeps it until the
// process ends, so the table must live as long. Later calls, from any thread, return the same definition without a
// lock. Returns null if a row is wrong: `error` then holds one line with the op, the column and the fault:
//   tile.mma: format: no operand, result, attribute or region is named 'lsh' (at "$lsh `,` …")
const MlirExtDialectDefinition *tileDialectFromTable(const TileDialectTable *table, MlirExtDialectDefinition base,
                                                     char *error, size_t capacity);

// The position of the op's row in its table; -1 if the op has no row. The generated tileOpKind calls this function.
intptr_t tileOpRowIndex(MlirOperation op, const char *dialect);

// Adds the dialect to the registry. If a row is wrong, prints the error instead.
void tileDialectRegister(const TileDialectTable *table, MlirExtDialectDefinition base, MlirDialectRegistry registry);
