// Constants whose data stay in a file: an ml_program.global that says where its bytes are, and who loads it.
//
//   ml_program.global private @"encoder.bias"(#ml_program.extern : tensor<384xf32>) : tensor<384xf32>
//       {tile.source = {bytes = 1536 : i64, checksum = "00ab…", file = "model.onnx", offset = 94445 : i64}}
//   %bias = ml_program.global_load_const @"encoder.bias" : tensor<384xf32>
//
// Importers write such globals; tile-bind-weights and the interpreter read them. The file's name is relative to the
// working directory.
#pragma once

#include "lib/ir/builder.h"
#include "lib/support/files/mapped_weights.h"

// The attribute tile.source. tileWeightsIsSource: has it the right entries? tileWeightsSourceOf: its numbers; the name
// of the file is the attribute's own.
MlirAttribute tileWeightsSource(MlirContext context, const tessera_weights_source_t *source);
bool tileWeightsIsSource(MlirAttribute attribute);
bool tileWeightsSourceOf(MlirAttribute attribute, tessera_weights_source_t *source);

// At the builder's place, a private global of that type without data. The symbol is `name`, or one like it where the
// module has that already.
MlirOperation tileWeightsBuildGlobal(TileBuilder *builder, MlirSymbolTable symbols, MlirStringRef name, MlirType type,
                                     MlirAttribute source);
// Is this an ml_program.global without data of its own?
bool tileWeightsIsExtern(MlirOperation op);
// The data of such a global as a dense_resource, which holds the file. Null after a diagnostic at the global: no
// source, a source of another size than the type, a file that is missing or has changed.
MlirAttribute tileWeightsRead(MlirOperation global);
