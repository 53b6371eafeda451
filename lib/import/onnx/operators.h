// The table of operators: operators.def has a row for each operator and range of opsets.
#pragma once

#include "lib/import/onnx/elementwise_operators.h"
#include "lib/import/onnx/node.h"

typedef struct OnnxOperator {
  const char *domain; // "" for ONNX's own
  const char *name;
  int since, until;       // opsets of the domain; until 0: the newest
  int least, most;        // inputs; most -1: any number
  const char *types;      // kinds that the first input may have: f float, i signed, u unsigned, b bool,
                          // n those of onnxTypeIsCode, ? other;
                          // s: inputs may be sequences and optionals; null: any tensor
  const char *attributes; // that the emitter reads or that change nothing; others are refused
  bool (*emit)(Node *node);
  int kind; // what emitters of several operators ask
} OnnxOperator;

enum { OnnxOldestOpset = 6, OnnxNewestOpset = 28 };

// Null: unknown. `isKnown`: there is a row of another opset.
const OnnxOperator *onnxOperatorFind(OnnxText domain, OnnxText name, int64_t opset, bool *isKnown);
int onnxOperatorKind(const Node *node); // of the node's row

// The emitters, by file.
#define ONNX_OPERATOR(domain, name, since, until, least, most, types, attributes, emit, kind) bool emit(Node *node);
#include "lib/import/onnx/operators.def"
#undef ONNX_OPERATOR
