// The importer's own state: names and values of the graphs around, the mapped file. For import.c, values.c, tensors.c.
#pragma once

#include "lib/import/onnx/node.h"
#include "lib/support/files/mapped_weights.h"

typedef struct Binding {
  OnnxText name;
  OnnxValue *value;
} Binding;

// The names of a graph; those of the graph around are seen through `outer`.
typedef struct Scope {
  struct Scope *outer;
  int64_t count, capacity; // a hash table, half empty
  Binding *bindings;
  const OnnxNode *call; // of a function's body: the node that gives its attributes
  const OnnxFunction *function;
  const OnnxOpset *opsets;
  int64_t numOpsets;
} Scope;

// A file besides the model's.
typedef struct OnnxFile {
  const tessera_mapping_t *mapping;
  const char *path; // as the model names it, from the working directory
} OnnxFile;

struct Import {
  OnnxModel *model;
  const char *path;
  MlirContext context;
  MlirOperation module;
  MlirBlock entry;
  TileBuilder b; // at the place of the node
  Scope *scope;
  TileMemo *memo;
  MlirSymbolTable symbols; // of the module
  const tessera_mapping_t *mapping;
  OnnxFile *others; // of external data
  int64_t numOthers;
  int depth;          // of graphs within nodes
  int64_t numTensors; // resources so far
};

// Builds the function `main` by `build`, which gives its type, in the import's module. False after an error.
typedef bool OnnxBuild(Node *node, void *data, MlirType *type);
bool onnxBuildEntry(Import *import, OnnxBuild *build, void *data);
void onnxLoadDialects(MlirContext context); // those that importers build with
// Emits an operator of ONNX's own at the node: its inputs, attributes and opset are the node's.
bool onnxEmitOperator(Node *node, const char *name);
// A data file, mapped as long as the import runs.
const OnnxFile *onnxImportMap(Import *import, const char *path, tessera_error_t *error);
// Notes that the data of `value` lie in the file `path`, which is mapped at `start`.
void onnxNoteWeight(Node *node, OnnxValue *value, const char *path, const unsigned char *start, OnnxText name);
// The value of a tensor of the file. Null after an error.
OnnxValue *onnxValueOfTensor(Node *node, const OnnxTensor *tensor);
