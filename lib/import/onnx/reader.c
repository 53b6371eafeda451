// Reads a model with nanopb: every field is a callback (onnx.options), one function gets them all. Lists grow in memory
// of the model; texts and raw data stay where they are. See model.h.
#include "lib/import/onnx/model.h"

#include "lib/import/onnx/onnx.pb.h"

#include <pb_decode.h>
#include <stdlib.h>
#include <string.h>

//===--- memory and texts -----------------------------------------------------===//

typedef struct OnnxChunk {
  struct OnnxChunk *next;
  size_t used, size;
  _Alignas(16) char data[];
} OnnxChunk;

enum { ChunkBytes = 1 << 16, ReserveBytes = 1 << 18 }; // the reserve: a hundred values with all their elements

static OnnxChunk *chunkCreate(OnnxChunk *next, size_t size) {
  OnnxChunk *chunk = calloc(1, sizeof *chunk + size);
  if (chunk)
    *chunk = (OnnxChunk){.next = next, .size = size};
  return chunk;
}

static bool hasRoom(const OnnxChunk *chunk, size_t size) { return chunk && chunk->size - chunk->used >= size; }

void *onnxModelAllocate(OnnxModel *model, size_t size) {
  size = (size + 15) & ~(size_t)15;
  OnnxChunk *chunk = model->memory;
  if (!hasRoom(chunk, size))
    chunk = chunkCreate(model->memory, size > ChunkBytes ? size : ChunkBytes);
  if (chunk)
    model->memory = chunk;
  model->isFull = model->isFull || !chunk;
  if (!chunk && size <= OnnxSmall && hasRoom(model->reserve, size))
    chunk = model->reserve;
  if (!chunk)
    return NULL;
  void *memory = chunk->data + chunk->used;
  chunk->used += size;
  return memory;
}

OnnxModel *onnxModelCreate(tessera_error_t *error) {
  OnnxModel *model = calloc(1, sizeof *model);
  if (model)
    model->reserve = chunkCreate(NULL, ReserveBytes);
  if (model && model->reserve)
    return model;
  tessera_fail(error, "out of memory");
  free(model);
  return NULL;
}

void onnxModelDestroy(OnnxModel *model) {
  if (!model)
    return;
  for (OnnxChunk *chunk = model->memory, *next; chunk; chunk = next) {
    next = chunk->next;
    free(chunk);
  }
  free(model->reserve);
  free(model);
}

bool onnxTextEquals(OnnxText a, OnnxText b) {
  return a.length == b.length && (!a.length || !memcmp(a.data, b.data, a.length));
}
bool onnxTextIs(OnnxText text, const char *word) { return onnxTextEquals(text, (OnnxText){word, strlen(word)}); }

// A new last item of a list, zeroed. Null where memory has run out.
static void *grow(OnnxModel *model, void **items, int64_t *count, int64_t *capacity, size_t bytes) {
  if (*count == *capacity) {
    int64_t more = *capacity ? 2 * *capacity : 4;
    void *grown = onnxModelAllocate(model, (size_t)more * bytes);
    if (!grown)
      return NULL;
    if (*count)
      memcpy(grown, *items, (size_t)*count * bytes);
    *items = grown;
    *capacity = more;
  }
  return (char *)*items + (size_t)(*count)++ * bytes;
}
#define APPEND(list, count, capacity) grow(to->model, (void **)&(list), &(count), &(capacity), sizeof *(list))

//===--- fields ---------------------------------------------------------------===//

enum { MaxDepth = 64 }; // of messages within messages: graphs in attributes of nodes

// What a message's fields go to. nanopb hands out the address of the message: its first member.
typedef struct Target {
  char message[64]; // nanopb's struct, one byte for each field, none of them used
  OnnxModel *model;
  void *object;
  int depth;
} Target;

static const char fullText[] = "memory has run out";

static bool readText(const Target *to, pb_istream_t *stream, OnnxText *text) {
  const char *at = stream->state;
  if (!text)
    PB_RETURN_ERROR(stream, fullText);
  // A field of another wire type lies in a buffer of nanopb's own.
  if (at < to->model->start || at + stream->bytes_left > to->model->start + to->model->size)
    PB_RETURN_ERROR(stream, "a text is coded as a number");
  *text = (OnnxText){at, stream->bytes_left};
  return pb_read(stream, NULL, stream->bytes_left);
}

static bool readNumber(pb_istream_t *stream, int64_t *number) { return pb_decode_varint(stream, (uint64_t *)number); }

static bool readEnum(pb_istream_t *stream, int *number) {
  int64_t read;
  bool ok = readNumber(stream, &read);
  if (ok)
    *number = read >= 0 && read < 1000 ? (int)read : -1;
  return ok;
}

static bool readReal(pb_istream_t *stream, float *real) { return pb_decode_fixed32(stream, real); }

typedef enum Coding { Varint, Fixed32, Fixed64 } Coding;

// A repeated field comes packed, all in one, or one by one: nanopb's stream ends with what there is.
static bool readNumbers(const Target *to, pb_istream_t *stream, OnnxNumbers *numbers, Coding coding) {
  size_t each = coding == Varint ? 1 : coding == Fixed32 ? 4 : 8;
  // The room for a packed list at once; varints shrink.
  if (!numbers->capacity && stream->bytes_left >= 4 * each) {
    numbers->capacity = (int64_t)(stream->bytes_left / each);
    numbers->items = onnxModelAllocate(to->model, (size_t)numbers->capacity * sizeof *numbers->items);
    if (!numbers->items)
      PB_RETURN_ERROR(stream, fullText);
  }
  bool ok = true;
  while (ok && stream->bytes_left) {
    int64_t number = 0;
    ok = coding == Varint    ? readNumber(stream, &number)
         : coding == Fixed32 ? pb_decode_fixed32(stream, &number)
                             : pb_decode_fixed64(stream, &number);
    int64_t *item = ok ? APPEND(numbers->items, numbers->count, numbers->capacity) : NULL;
    if (ok && !item)
      PB_RETURN_ERROR(stream, fullText);
    if (ok)
      *item = number;
  }
  return ok;
}

static bool appendText(const Target *to, pb_istream_t *stream, OnnxTexts *texts) {
  return readText(to, stream, APPEND(texts->items, texts->count, texts->capacity));
}

static bool readMessage(const Target *around, pb_istream_t *stream, const pb_msgdesc_t *message, void *object) {
  if (around->depth >= MaxDepth)
    PB_RETURN_ERROR(stream, "messages nest too deep");
  if (!object)
    PB_RETURN_ERROR(stream, fullText);
  Target to = {.model = around->model, .object = object, .depth = around->depth + 1};
  return pb_decode(stream, message, to.message);
}

static bool readOpset(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxOpset *opset = to->object;
  return tag == onnx_OperatorSetIdProto_domain_tag ? readText(to, stream, &opset->domain)
                                                   : readNumber(stream, &opset->version);
}

static bool readPair(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxText *pair = to->object;
  return readText(to, stream, &pair[tag == onnx_StringStringEntryProto_value_tag]);
}

static bool readExternal(const Target *to, pb_istream_t *stream, OnnxTensor *tensor) {
  OnnxText pair[2] = {{""}, {""}};
  bool ok = readMessage(to, stream, &onnx_StringStringEntryProto_msg, pair);
  OnnxText *key = APPEND(tensor->keys.items, tensor->keys.count, tensor->keys.capacity);
  OnnxText *value = APPEND(tensor->values.items, tensor->values.count, tensor->values.capacity);
  if (!key || !value)
    PB_RETURN_ERROR(stream, fullText);
  *key = pair[0];
  *value = pair[1];
  return ok;
}

static bool readTensor(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxTensor *tensor = to->object;
  int location = 0;
  switch (tag) {
  case onnx_TensorProto_dims_tag:
    return readNumbers(to, stream, &tensor->dims, Varint);
  case onnx_TensorProto_data_type_tag:
    return readEnum(stream, &tensor->type);
  case onnx_TensorProto_float_data_tag:
    return readNumbers(to, stream, &tensor->floats, Fixed32);
  case onnx_TensorProto_int32_data_tag:
    return readNumbers(to, stream, &tensor->ints, Varint);
  case onnx_TensorProto_string_data_tag:
    return appendText(to, stream, &tensor->texts);
  case onnx_TensorProto_int64_data_tag:
    return readNumbers(to, stream, &tensor->longs, Varint);
  case onnx_TensorProto_name_tag:
    return readText(to, stream, &tensor->name);
  case onnx_TensorProto_raw_data_tag:
    tensor->hasRaw = true;
    return readText(to, stream, &tensor->raw);
  case onnx_TensorProto_double_data_tag:
    return readNumbers(to, stream, &tensor->doubles, Fixed64);
  case onnx_TensorProto_uint64_data_tag:
    return readNumbers(to, stream, &tensor->unsignedLongs, Varint);
  case onnx_TensorProto_external_data_tag:
    return readExternal(to, stream, tensor);
  default: {
    bool ok = readEnum(stream, &location);
    tensor->isExternal = location == 1;
    return ok;
  }
  }
}

static bool readDimension(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxDimension *dimension = to->object;
  return tag == onnx_TensorShapeProto_Dimension_dim_value_tag ? readNumber(stream, &dimension->value)
                                                              : readText(to, stream, &dimension->parameter);
}

static bool readShape(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxTypeInfo *type = to->object;
  OnnxDimension *dimension = APPEND(type->dims, type->rank, type->capacity);
  if (!dimension)
    PB_RETURN_ERROR(stream, fullText);
  *dimension = (OnnxDimension){.value = -1, .parameter = {""}};
  return readMessage(to, stream, &onnx_TensorShapeProto_Dimension_msg, dimension);
}

static bool readTensorType(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxTypeInfo *type = to->object;
  if (tag == onnx_TypeProto_Tensor_elem_type_tag)
    return readEnum(stream, &type->element);
  type->hasShape = true;
  return readMessage(to, stream, &onnx_TensorShapeProto_msg, type);
}

static bool readElementType(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxTypeInfo *type = to->object;
  type->of = onnxModelAllocate(to->model, sizeof *type->of);
  return readMessage(to, stream, &onnx_TypeProto_msg, type->of);
}

static bool readType(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxTypeInfo *type = to->object;
  switch (tag) {
  case onnx_TypeProto_tensor_type_tag:
    type->kind = OnnxKind_Tensor;
    return readMessage(to, stream, &onnx_TypeProto_Tensor_msg, type);
  case onnx_TypeProto_sequence_type_tag:
    type->kind = OnnxKind_Sequence;
    return readMessage(to, stream, &onnx_TypeProto_Sequence_msg, type);
  case onnx_TypeProto_optional_type_tag:
    type->kind = OnnxKind_Optional;
    return readMessage(to, stream, &onnx_TypeProto_Optional_msg, type);
  default:
    type->kind = OnnxKind_Other;
    return pb_read(stream, NULL, stream->bytes_left);
  }
}

static bool readValueInfo(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxValueInfo *info = to->object;
  return tag == onnx_ValueInfoProto_name_tag ? readText(to, stream, &info->name)
                                             : readMessage(to, stream, &onnx_TypeProto_msg, &info->type);
}

static bool readAttribute(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxAttribute *attribute = to->object;
  switch (tag) {
  case onnx_AttributeProto_name_tag:
    return readText(to, stream, &attribute->name);
  case onnx_AttributeProto_f_tag:
    return readReal(stream, &attribute->real);
  case onnx_AttributeProto_i_tag:
    return readNumber(stream, &attribute->number);
  case onnx_AttributeProto_s_tag:
    return readText(to, stream, &attribute->text);
  case onnx_AttributeProto_t_tag:
    attribute->tensor = onnxModelAllocate(to->model, sizeof *attribute->tensor);
    return readMessage(to, stream, &onnx_TensorProto_msg, attribute->tensor);
  case onnx_AttributeProto_g_tag:
    attribute->graph = onnxModelAllocate(to->model, sizeof *attribute->graph);
    return readMessage(to, stream, &onnx_GraphProto_msg, attribute->graph);
  case onnx_AttributeProto_floats_tag:
    return readNumbers(to, stream, &attribute->reals, Fixed32);
  case onnx_AttributeProto_ints_tag:
    return readNumbers(to, stream, &attribute->numbers, Varint);
  case onnx_AttributeProto_strings_tag:
    return appendText(to, stream, &attribute->texts);
  case onnx_AttributeProto_type_tag:
    return readNumber(stream, &attribute->kind);
  default:
    return readText(to, stream, &attribute->reference);
  }
}

static bool readNode(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxNode *node = to->object;
  switch (tag) {
  case onnx_NodeProto_input_tag:
    return appendText(to, stream, &node->inputs);
  case onnx_NodeProto_output_tag:
    return appendText(to, stream, &node->outputs);
  case onnx_NodeProto_name_tag:
    return readText(to, stream, &node->name);
  case onnx_NodeProto_op_type_tag:
    return readText(to, stream, &node->operator);
  case onnx_NodeProto_attribute_tag:
    return readMessage(to, stream, &onnx_AttributeProto_msg,
                       APPEND(node->attributes, node->numAttributes, node->attributesCapacity));
  default:
    return readText(to, stream, &node->domain);
  }
}

static bool readGraph(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxGraph *graph = to->object;
  switch (tag) {
  case onnx_GraphProto_node_tag:
    return readMessage(to, stream, &onnx_NodeProto_msg, APPEND(graph->nodes, graph->numNodes, graph->nodesCapacity));
  case onnx_GraphProto_name_tag:
    return readText(to, stream, &graph->name);
  case onnx_GraphProto_initializer_tag:
    return readMessage(to, stream, &onnx_TensorProto_msg,
                       APPEND(graph->tensors, graph->numTensors, graph->tensorsCapacity));
  case onnx_GraphProto_input_tag:
    return readMessage(to, stream, &onnx_ValueInfoProto_msg,
                       APPEND(graph->inputs, graph->numInputs, graph->inputsCapacity));
  case onnx_GraphProto_output_tag:
    return readMessage(to, stream, &onnx_ValueInfoProto_msg,
                       APPEND(graph->outputs, graph->numOutputs, graph->outputsCapacity));
  case onnx_GraphProto_value_info_tag:
    return readMessage(to, stream, &onnx_ValueInfoProto_msg,
                       APPEND(graph->infos, graph->numInfos, graph->infosCapacity));
  default:
    graph->hasSparse = true;
    return pb_read(stream, NULL, stream->bytes_left);
  }
}

static bool readFunction(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxFunction *function = to->object;
  OnnxTexts ignored = {0};
  switch (tag) {
  case onnx_FunctionProto_name_tag:
    return readText(to, stream, &function->name);
  case onnx_FunctionProto_input_tag:
    return appendText(to, stream, &function->inputs);
  case onnx_FunctionProto_output_tag:
    return appendText(to, stream, &function->outputs);
  case onnx_FunctionProto_attribute_tag:
    return appendText(to, stream, &ignored);
  case onnx_FunctionProto_node_tag:
    return readMessage(to, stream, &onnx_NodeProto_msg,
                       APPEND(function->graph.nodes, function->graph.numNodes, function->graph.nodesCapacity));
  case onnx_FunctionProto_opset_import_tag:
    return readMessage(to, stream, &onnx_OperatorSetIdProto_msg,
                       APPEND(function->opsets, function->numOpsets, function->opsetsCapacity));
  case onnx_FunctionProto_domain_tag:
    return readText(to, stream, &function->domain);
  default:
    return readMessage(to, stream, &onnx_AttributeProto_msg,
                       APPEND(function->defaults, function->numDefaults, function->defaultsCapacity));
  }
}

static bool readModel(const Target *to, pb_istream_t *stream, uint32_t tag) {
  OnnxModel *model = to->object;
  switch (tag) {
  case onnx_ModelProto_ir_version_tag:
    return readNumber(stream, &model->irVersion);
  case onnx_ModelProto_producer_name_tag:
    return readText(to, stream, &model->producer);
  case onnx_ModelProto_graph_tag:
    if (!model->graph)
      model->graph = onnxModelAllocate(to->model, sizeof *model->graph);
    return readMessage(to, stream, &onnx_GraphProto_msg, model->graph);
  case onnx_ModelProto_opset_import_tag:
    return readMessage(to, stream, &onnx_OperatorSetIdProto_msg,
                       APPEND(model->opsets, model->numOpsets, model->opsetsCapacity));
  default:
    return readMessage(to, stream, &onnx_FunctionProto_msg,
                       APPEND(model->functions, model->numFunctions, model->functionsCapacity));
  }
}

// The name is in onnx.options: nanopb calls this for every field of every message.
bool onnxReadField(pb_istream_t *stream, pb_ostream_t *none, const pb_field_t *field);
bool onnxReadField(pb_istream_t *stream, pb_ostream_t *none, const pb_field_t *field) {
  static const struct {
    const pb_msgdesc_t *message;
    bool (*read)(const Target *to, pb_istream_t *stream, uint32_t tag);
  } readers[] = {
      {&onnx_TensorProto_msg, readTensor},
      {&onnx_NodeProto_msg, readNode},
      {&onnx_AttributeProto_msg, readAttribute},
      {&onnx_TensorShapeProto_Dimension_msg, readDimension},
      {&onnx_TensorShapeProto_msg, readShape},
      {&onnx_TypeProto_Tensor_msg, readTensorType},
      {&onnx_TypeProto_Sequence_msg, readElementType},
      {&onnx_TypeProto_Optional_msg, readElementType},
      {&onnx_TypeProto_msg, readType},
      {&onnx_ValueInfoProto_msg, readValueInfo},
      {&onnx_StringStringEntryProto_msg, readPair},
      {&onnx_GraphProto_msg, readGraph},
      {&onnx_FunctionProto_msg, readFunction},
      {&onnx_OperatorSetIdProto_msg, readOpset},
      {&onnx_ModelProto_msg, readModel},
  };
  for (size_t i = 0; i < sizeof readers / sizeof *readers; ++i)
    if (readers[i].message == field->descriptor)
      return readers[i].read((const Target *)field->message, stream, field->tag);
  return pb_read(stream, NULL, stream->bytes_left);
}

OnnxModel *onnxModelRead(const void *bytes, size_t size, tessera_error_t *error) {
  OnnxModel *model = onnxModelCreate(error);
  if (!model)
    return NULL;
  model->start = bytes;
  model->size = size;
  pb_istream_t stream = pb_istream_from_buffer(bytes, size);
  Target to = {.model = model, .object = model};
  bool ok = pb_decode(&stream, &onnx_ModelProto_msg, to.message);
  if (model->isFull)
    ok = tessera_fail(error, "out of memory at byte %zu of %zu of the file", size - stream.bytes_left, size);
  else if (!ok)
    tessera_fail(error, "not a valid ONNX file: %s at byte %zu of %zu", PB_GET_ERROR(&stream), size - stream.bytes_left,
                 size);
  else if (!model->graph)
    ok = tessera_fail(error, "not an ONNX model: it has no graph");
  if (ok)
    return model;
  onnxModelDestroy(model);
  return NULL;
}
