// What the files of this folder share: the tables that dialect.c puts together. Not for others.
#ifndef TESSERA_DIALECTS_SPARSE_DEFINITIONS_H
#define TESSERA_DIALECTS_SPARSE_DEFINITIONS_H

#include "dialects/sparse/sparse.h"
#include "lib/capi/dialect.h"
#include "lib/ir/op_table.h"
#include "lib/ir/support.h"

// known.c: #sparse.attribute, and what ops carry under our name.
bool sparseKnownParse(MlirExtParser parser, MlirExtAttributeList list);
void sparseKnownPrint(MlirExtPrinter printer, intptr_t count, const MlirAttribute *values);
bool sparseKnownVerify(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *values);
bool sparseVerifyOpAttribute(MlirOperation op, MlirNamedAttribute attribute);

// encodings.c: one definition per SparseFormat, by which an encoding is known; then #sparse.attribute.
extern const MlirExtParametricDefinition sparseAttributeDefinitions[];
extern const intptr_t sparseNumAttributeDefinitions;

// constraints.c; end with name == null.
extern const TileConstraint sparseConstraints[];
extern const TileAttributeKind sparseAttributeKinds[];

#endif
