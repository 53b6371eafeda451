// Shared by the files of this folder only: the tables that dialect.c puts together.
#pragma once

#include "dialects/sparse/sparse.h"
#include "lib/capi/dialect.h"
#include "lib/ir/op_table.h"
#include "lib/ir/support.h"

// known.c: #sparse.attribute, and what ops carry under our name.
bool sparseKnownParse(MlirExtParser parser, MlirExtAttributeList list);
void sparseKnownPrint(MlirExtPrinter printer, intptr_t count, const MlirAttribute *values);
bool sparseKnownVerify(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *values);
bool sparseVerifyOpAttribute(MlirOperation op, MlirNamedAttribute attribute);

// micro_tiles.c: #sparse.micro_tiles, and whether an op may carry it.
bool sparseMicroTilesParse(MlirExtParser parser, MlirExtAttributeList list);
void sparseMicroTilesPrint(MlirExtPrinter printer, intptr_t count, const MlirAttribute *values);
bool sparseMicroTilesVerify(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *values);
bool sparseVerifyMicroTiles(MlirOperation op, MlirAttribute attribute);
// Is the type a list of i32 or i64? False after a diagnostic.
bool sparseVerifyList(MlirOperation op, const char *name, MlirType type);

// encodings.c. Number `seen` of the key `name` is 1 (an axis: 0) to `most`.
bool sparseVerifyRange(MlirExtEmitter emitter, const SparseFormat *format, const char *name, int64_t seen,
                       int64_t most);
// One definition for each format, by which an encoding is known; then #sparse.attribute and #sparse.micro_tiles.
extern const MlirExtParametricDefinition sparseAttributeDefinitions[];
extern const MlirExtParametricDefinition *const sparseKnownDefinition;
extern const MlirExtParametricDefinition *const sparseMicroTilesDefinition;
extern const intptr_t sparseNumAttributeDefinitions;

// constraints.c; end with name == null.
extern const TileConstraint sparseConstraints[];
extern const TileAttributeKind sparseAttributeKinds[];
