// Dialects, types and attributes defined in C.
#pragma once

#include "lib/capi/assembly.h"
#include "lib/capi/op.h"

// A parameterized type or attribute. Its parameters are attributes (a type travels as a TypeAttr), uniqued as a list.
// `parse` starts after the mnemonic and appends the parameters; `print` writes what follows the mnemonic.
typedef struct MlirExtParametricDefinition {
  const char *name; // mnemonic: "layout" for #tile.layout
  bool (*parse)(MlirExtParser parser, MlirExtAttributeList parameters);
  void (*print)(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters);
  bool (*verify)(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters);
  // Attributes only: VerifiableTensorEncoding. With it, tensor<…, #x> is checked whenever it is made.
  bool (*verifyEncoding)(MlirExtEmitter emitter, MlirAttribute self, intptr_t rank, const int64_t *shape,
                         MlirType element);
  bool memrefElement; // types only: MemRefElementTypeInterface
  const char *alias;  // printed once on top as `#alias = …` / `!alias = …`; null for never
  bool (*wantsAlias)(intptr_t count, const MlirAttribute *parameters); // whether this one pays; null for always
} MlirExtParametricDefinition;

typedef struct MlirExtDialectDefinition {
  const char *name;
  intptr_t numOps, numTypes, numAttributes;
  const MlirExtOpDefinition *ops;
  const MlirExtParametricDefinition *types, *attributes;
  const char *const *dependents;                            // null-terminated names of dialects to load with this one
  void (*registerDependents)(MlirDialectRegistry registry); // makes them known to the registry; may be null
  MlirOperation (*materializeConstant)(MlirAttribute value, MlirType type, MlirLocation location); // null op: cannot
  bool (*verifyOpAttribute)(MlirOperation op, MlirNamedAttribute attribute); // discardable attributes `name.x`
  bool inlinable;
} MlirExtDialectDefinition;

MLIR_EXT_BEGIN
// `definition` and all it points to must live as long as the process.
void mlirExtDialectRegistryInsert(MlirDialectRegistry registry, const MlirExtDialectDefinition *definition);
// A dialect that is defined when a program or a pass first needs it: `define` gives the definition, or null, and the
// dialect is then unknown. `key` tells apart dialects of one name. `base` has the name and what the dialect depends on;
// it is copied.
typedef const MlirExtDialectDefinition *(*MlirExtDefineDialect)(const void *key, const MlirExtDialectDefinition *base);
void mlirExtDialectRegistryInsertLate(MlirDialectRegistry registry, const void *key,
                                      const MlirExtDialectDefinition *base, MlirExtDefineDialect define);
// Inserts upstream's dialects by name; asserts that they exist. `names` ends with null.
void mlirExtDialectRegistryInsertNamed(MlirDialectRegistry registry, const char *const *names);
// Loads every upstream dialect that mlirExtDialectRegistryInsertNamed knows. Code outside passes calls this function
// before it builds ops of these dialects.
void mlirExtContextLoadNamedDialects(MlirContext context);

// Gets verify; null (after a diagnostic at an unknown location) when the parameters are wrong.
MlirType mlirExtTypeGet(MlirContext context, const MlirExtParametricDefinition *definition, intptr_t count,
                        const MlirAttribute *parameters);
MlirAttribute mlirExtAttributeGet(MlirContext context, const MlirExtParametricDefinition *definition, intptr_t count,
                                  const MlirAttribute *parameters);
bool mlirExtTypeIsA(MlirType type, const MlirExtParametricDefinition *definition);
bool mlirExtAttributeIsA(MlirAttribute attribute, const MlirExtParametricDefinition *definition);
intptr_t mlirExtTypeGetNumParameters(MlirType type);
MlirAttribute mlirExtTypeGetParameter(MlirType type, intptr_t index);
intptr_t mlirExtAttributeGetNumParameters(MlirAttribute attribute);
MlirAttribute mlirExtAttributeGetParameter(MlirAttribute attribute, intptr_t index);
MLIR_EXT_END
