// What the files of this folder share: the tables that dialect.c puts together. Not for others.
#pragma once

#include "dialects/tile/tile.h"
#include "lib/capi/dialect.h"
#include "lib/ir/assembly_parts.h"
#include "lib/ir/op_table.h"
#include "lib/ir/support.h"

enum { TILE_MAX_RANK = 8 }; // axes of a view or buffer: what lib/layout can say

// types.c, attrs.c. A type or attribute is known by its definition's address in these arrays.
extern const MlirExtParametricDefinition tileTypeDefinitions[];
extern const MlirExtParametricDefinition tileAttributeDefinitions[];
extern const intptr_t tileNumTypeDefinitions, tileNumAttributeDefinitions;
enum { TileLayoutAttribute, TileMachineAttribute, TileScheduleAttribute, TileQuantizedAttribute };

// quantized.c
bool tileQuantizedParse(MlirExtParser parser, MlirExtAttributeList list);
void tileQuantizedPrint(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters);
bool tileQuantizedVerify(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters);
bool tileQuantizedVerifyEncoding(MlirExtEmitter emitter, MlirAttribute self, intptr_t rank, const int64_t *shape,
                                 MlirType element);

// constraints.c, forms.c; end with name == null.
extern const TileConstraint tileConstraints[];
extern const TileAttributeKind tileAttributeKinds[];
extern const TileDirective tileDirectives[];
