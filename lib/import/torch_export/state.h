// The state of an import: the parsed file and the values by name.
#pragma once

#include "lib/import/torch_export/operators.h"

typedef struct TorchValue {
  const char *name;
  OnnxValue *tensor; // null: a number
  MlirValue number;
  int64_t memory; // equal for values that may share memory
} TorchValue;

struct Torch {
  Import import; // what ONNX's helpers need
  const char *path;
  json_t *program, *graph, *names; // names: index of a name's value
  json_t *weights, *constants;     // the configurations: name of a tensor -> where its data lies
  json_t *members;                 // name of a member below the archive's folder -> its index
  const unsigned char **data;      // of the members
  size_t *sizes;
  size_t numMembers, membersCapacity;
  TorchValue *values;
  int64_t numValues, valuesCapacity, numMemories;
  int depth; // of graphs within nodes
};

TorchValue *torchLookUp(const Torch *torch, const char *name); // null: not defined
// The memory of values that share it; -1: new memory.
bool torchBind(Node *node, Torch *torch, const char *name, OnnxValue *tensor, MlirValue number, int64_t memory);
// The tensor of a weight or a constant, by its name in the module. Null after an error.
OnnxValue *torchWeight(Node *node, Torch *torch, const json_t *config, const char *folder, const char *name);
// Opens the members of the archive: false after an error.
bool torchOpenArchive(Torch *torch, tessera_error_t *error);
void torchCloseArchive(Torch *torch);
const char *torchString(const json_t *object, const char *key); // "" where there is none
