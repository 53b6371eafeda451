// An ONNX model as it lies in its file: lists of what the importer asks for, made by nanopb's callbacks. Texts and data
// are not copied: they point into the mapped file, which therefore outlives the model.
//
//   OnnxModel *model = onnxModelRead(bytes, size, &error);    // null after an error
//   … model->graph->nodes …
//   onnxModelDestroy(model);
#pragma once

#include "lib/support/status.h"

typedef struct OnnxText {
  const char *data; // not null-terminated
  size_t length;
} OnnxText;
bool onnxTextIs(OnnxText text, const char *word);
bool onnxTextEquals(OnnxText a, OnnxText b);
// "%.*s" of a text, which a damaged file may make long: at most 200 characters are shown.
#define ONNX_SHOWN(text) (int)((text).length < 200 ? (text).length : 200), (text).data

// The numbers of TensorProto.DataType; the columns are in types.h.
typedef int OnnxType;

typedef struct OnnxNumbers { // a repeated number field: what it was in the file, in order
  int64_t count, capacity;
  int64_t *items; // of floats and doubles: their bits
} OnnxNumbers;

typedef struct OnnxTexts {
  int64_t count, capacity;
  OnnxText *items;
} OnnxTexts;

typedef struct OnnxTensor {
  OnnxText name;
  OnnxType type;
  OnnxNumbers dims;
  bool hasRaw, isExternal;
  OnnxText raw;
  OnnxNumbers floats, ints, longs, doubles, unsignedLongs; // one of them holds the data if there is no raw data
  OnnxTexts texts;
  OnnxTexts keys, values; // external_data
} OnnxTensor;

typedef struct OnnxDimension {
  int64_t value; // -1: not known
  OnnxText parameter;
} OnnxDimension;

typedef enum OnnxKind { OnnxKind_None, OnnxKind_Tensor, OnnxKind_Sequence, OnnxKind_Optional, OnnxKind_Other } OnnxKind;
typedef struct OnnxTypeInfo {
  OnnxKind kind;
  OnnxType element;
  bool hasShape;
  int64_t rank, capacity;
  OnnxDimension *dims;
  struct OnnxTypeInfo *of; // of a sequence or an optional
} OnnxTypeInfo;

typedef struct OnnxValueInfo {
  OnnxText name;
  OnnxTypeInfo type;
} OnnxValueInfo;

typedef enum OnnxAttributeKind {
  OnnxAttribute_Float = 1,
  OnnxAttribute_Int = 2,
  OnnxAttribute_Text = 3,
  OnnxAttribute_Tensor = 4,
  OnnxAttribute_Graph = 5,
  OnnxAttribute_Floats = 6,
  OnnxAttribute_Ints = 7,
  OnnxAttribute_Texts = 8
} OnnxAttributeKind;

typedef struct OnnxAttribute {
  OnnxText name, reference; // reference: of a function's body, the attribute of the call
  int64_t kind;             // 0: the file does not say
  int64_t number;
  float real;
  OnnxText text;
  OnnxTensor *tensor;
  struct OnnxGraph *graph;
  OnnxNumbers numbers, reals;
  OnnxTexts texts;
} OnnxAttribute;

typedef struct OnnxNode {
  OnnxText name, operator, domain;
  OnnxTexts inputs, outputs;
  int64_t numAttributes, attributesCapacity;
  OnnxAttribute *attributes;
} OnnxNode;

typedef struct OnnxGraph {
  OnnxText name;
  int64_t numNodes, nodesCapacity, numTensors, tensorsCapacity, numInputs, inputsCapacity, numOutputs, outputsCapacity,
      numInfos, infosCapacity;
  OnnxNode *nodes;
  OnnxTensor *tensors;
  OnnxValueInfo *inputs, *outputs, *infos;
  bool hasSparse;
} OnnxGraph;

typedef struct OnnxOpset {
  OnnxText domain;
  int64_t version;
} OnnxOpset;

typedef struct OnnxFunction {
  OnnxText name, domain;
  OnnxTexts inputs, outputs;
  OnnxGraph graph; // its nodes
  int64_t numDefaults, defaultsCapacity, numOpsets, opsetsCapacity;
  OnnxAttribute *defaults;
  OnnxOpset *opsets;
} OnnxFunction;

typedef struct OnnxModel {
  int64_t irVersion;
  OnnxText producer;
  OnnxGraph *graph; // never null
  int64_t numOpsets, opsetsCapacity, numFunctions, functionsCapacity;
  OnnxOpset *opsets;
  OnnxFunction *functions;
  const char *start; // of the file
  size_t size;
  struct OnnxChunk *memory;  // of all lists
  struct OnnxChunk *reserve; // for what is small when memory has run out
  bool isFull;               // memory has run out: what was read or made since is not whole
} OnnxModel;

// Null after an error that says where the file ends or what it holds instead.
OnnxModel *onnxModelRead(const void *bytes, size_t size, tessera_error_t *error);
void onnxModelDestroy(OnnxModel *model);            // null is allowed
OnnxModel *onnxModelCreate(tessera_error_t *error); // empty, for onnxModelDestroy; null after an error
// Zeroed memory that lives as long as the model. When memory has run out, the model is full: up to OnnxSmall bytes come
// from a reserve, so that the code at work may go on until the next test of isFull. Larger sizes give null.
enum { OnnxSmall = 4096 };
void *onnxModelAllocate(OnnxModel *model, size_t size);
