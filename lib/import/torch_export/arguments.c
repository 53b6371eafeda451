// A node's arguments, as the JSON of the file gives them: {"name": "dim", "arg": {"as_int": 1}}. See operators.h.
#include "lib/import/torch_export/state.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"

#include <math.h>
#include <string.h>

OnnxType torchType(int64_t code) {
  static const OnnxType types[] = {[1] = Onnx_U8,     [2] = Onnx_I8,    [3] = Onnx_I16,  [4] = Onnx_I32,
                                   [5] = Onnx_I64,    [6] = Onnx_F16,   [7] = Onnx_F32,  [8] = Onnx_F64,
                                   [12] = Onnx_Bool,  [13] = Onnx_BF16, [28] = Onnx_U16, [29] = Onnx_F8E4M3FN,
                                   [30] = Onnx_F8E5M2};
  return code >= 0 && code < (int64_t)(sizeof types / sizeof *types) ? types[code] : 0;
}

const char *torchString(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

//===--- finding ----------------------------------------------------------------===//

static const json_t *argument(const Aten *aten, const char *name) {
  for (size_t i = 0; i < json_array_size(aten->inputs); ++i) {
    const json_t *input = json_array_get(aten->inputs, i);
    if (strcmp(torchString(input, "name"), name) == 0) {
      const json_t *found = json_object_get(input, "arg");
      return json_object_get(found, "as_none") ? NULL : found;
    }
  }
  return NULL;
}

bool torchHas(const Aten *aten, const char *name) { return argument(aten, name) != NULL; }

static OnnxValue *named(Aten *aten, const json_t *tensor, const char *name) {
  OnnxValue *none = NULL;
  const char *of = torchString(tensor, "name");
  TorchValue *value = torchLookUp(aten->torch, of);
  if (!value || !value->tensor)
    return onnxError(&aten->node, "argument '%s': tensor '%.200s' is not defined before this node", name, of), none;
  return value->tensor;
}

static const json_t *tensorOf(const json_t *given) {
  const json_t *tensor = json_object_get(given, "as_tensor");
  return tensor ? tensor : json_object_get(json_object_get(given, "as_optional_tensor"), "as_tensor");
}

OnnxValue *torchOptional(Aten *aten, const char *name) {
  const json_t *tensor = tensorOf(argument(aten, name));
  return tensor ? named(aten, tensor, name) : NULL;
}

OnnxValue *torchTensor(Aten *aten, const char *name) {
  OnnxValue *none = NULL;
  const json_t *tensor = tensorOf(argument(aten, name));
  return tensor ? named(aten, tensor, name) : (onnxError(&aten->node, "argument '%s' is no tensor", name), none);
}

int torchTensors(Aten *aten, const char *name, OnnxValue **items) {
  const json_t *given = argument(aten, name), *list = json_object_get(given, "as_tensors");
  bool areOptional = !list;
  list = list ? list : json_object_get(given, "as_optional_tensors");
  size_t count = json_array_size(list);
  if (!json_is_array(list) || count > OnnxMaxInputs) {
    onnxError(&aten->node, "argument '%s' is no list of at most %d tensors", name, OnnxMaxInputs);
    return -1;
  }
  for (size_t i = 0; i < count; ++i) {
    const json_t *item = json_array_get(list, i);
    item = areOptional ? json_object_get(item, "as_tensor") : item;
    items[i] = item ? named(aten, item, name) : NULL;
    if (item && !items[i])
      return -1;
  }
  return (int)count;
}

//===--- numbers ----------------------------------------------------------------===//

// A number as files write it: of JSON, a truth value, or the text of one that JSON lacks.
static bool realOf(const json_t *number, double *real) {
  if (json_is_string(number)) {
    const char *text = json_string_value(number);
    *real = strcmp(text, "Infinity") == 0 ? INFINITY : strcmp(text, "-Infinity") == 0 ? -INFINITY : NAN;
    return true;
  }
  *real = json_is_boolean(number) ? json_is_true(number) : json_number_value(number);
  return json_is_boolean(number) || json_is_number(number);
}

static const json_t *numberOf(const json_t *given) {
  static const char *const kinds[] = {"as_int", "as_float", "as_bool"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    const json_t *number = json_object_get(given, kinds[i]);
    if (number)
      return number;
  }
  return json_object_get(json_object_get(given, "as_sym_float"), "as_float");
}

int64_t torchInt(const Aten *aten, const char *name, int64_t otherwise) {
  const json_t *number = numberOf(argument(aten, name));
  return json_is_integer(number)   ? json_integer_value(number)
         : json_is_boolean(number) ? json_is_true(number)
                                   : otherwise;
}

double torchReal(const Aten *aten, const char *name, double otherwise) {
  double real;
  return realOf(numberOf(argument(aten, name)), &real) ? real : otherwise;
}

bool torchIsFloat(const Aten *aten, const char *name) {
  const json_t *given = argument(aten, name), *tensor = tensorOf(given);
  TorchValue *value = tensor ? torchLookUp(aten->torch, torchString(tensor, "name")) : NULL;
  return value && value->tensor ? onnxIsFloat(value->tensor->type) : json_object_get(given, "as_float") != NULL;
}

bool torchReals(const Aten *aten, const char *name, int count, double *items) {
  const json_t *list = json_object_get(argument(aten, name), "as_floats");
  bool are = json_array_size(list) == (size_t)count;
  for (int i = 0; i < count && are; ++i)
    are = realOf(json_array_get(list, (size_t)i), &items[i]);
  return are;
}

const char *torchText(const Aten *aten, const char *name, const char *otherwise) {
  const json_t *given = argument(aten, name);
  return json_is_string(json_object_get(given, "as_string")) ? torchString(given, "as_string") : otherwise;
}

OnnxType torchDtype(const Aten *aten, const char *name, OnnxType otherwise) {
  const json_t *code = json_object_get(argument(aten, name), "as_scalar_type");
  return json_is_integer(code) ? torchType(json_integer_value(code)) : otherwise;
}

// {"as_int": 3} or {"as_name": "sym_size_int"}.
static MlirValue sizeOf(Aten *aten, const json_t *size, const char *name) {
  const json_t *number = json_object_get(size, "as_int");
  if (json_is_integer(number))
    return tileBuildIndex(aten->node.b, json_integer_value(number));
  TorchValue *value = torchLookUp(aten->torch, torchString(size, "as_name"));
  if (value && !value->tensor)
    return value->number;
  onnxError(&aten->node, "argument '%s': number '%.200s' is not defined before this node", name,
            torchString(size, "as_name"));
  return (MlirValue){NULL};
}

MlirValue torchIndex(Aten *aten, const char *name) {
  const json_t *given = argument(aten, name), *symbol = json_object_get(given, "as_sym_int");
  symbol = symbol ? symbol : json_object_get(given, "as_sym_bool");
  if (!given)
    return (MlirValue){NULL};
  if (json_is_boolean(json_object_get(given, "as_bool")))
    return tileBuildIndex(aten->node.b, json_is_true(json_object_get(given, "as_bool")));
  return sizeOf(aten, symbol ? symbol : given, name);
}

bool torchSizes(Aten *aten, const char *name, int most, MlirValue *items, int *count) {
  const json_t *given = argument(aten, name), *list = json_object_get(given, "as_ints");
  bool areSymbols = !list;
  list = list ? list : json_object_get(given, "as_sym_ints");
  *count = given ? 0 : -1;
  if (given && !list) {
    *count = 1;
    items[0] = torchIndex(aten, name);
    return !mlirValueIsNull(items[0]);
  }
  if (json_array_size(list) > (size_t)most)
    return onnxError(&aten->node, "argument '%s' has %zu numbers; at most %d are accepted", name, json_array_size(list),
                     most);
  for (size_t i = 0; i < json_array_size(list); ++i, ++*count) {
    const json_t *item = json_array_get(list, i);
    items[i] = areSymbols ? sizeOf(aten, item, name) : tileBuildIndex(aten->node.b, json_integer_value(item));
    if (mlirValueIsNull(items[i]))
      return false;
  }
  return true;
}

bool torchInts(Aten *aten, const char *name, int most, int64_t *items, int *count) {
  MlirValue sizes[OnnxMaxRank * 2];
  if (!torchSizes(aten, name, most < OnnxMaxRank * 2 ? most : OnnxMaxRank * 2, sizes, count))
    return false;
  for (int i = 0; i < *count; ++i)
    if (!tileConstantIndex(sizes[i], &items[i]))
      return onnxError(&aten->node, "argument '%s' is no constant", name);
  return true;
}

bool torchAxis(Aten *aten, const char *name, int64_t otherwise, int rank, int *axis) {
  return onnxAxis(&aten->node, torchInt(aten, name, otherwise), rank, axis);
}

OnnxValue *torchOperand(Aten *aten, const char *name, OnnxType type) {
  const json_t *given = argument(aten, name), *number = numberOf(given);
  Node *node = &aten->node;
  double real;
  if (realOf(number, &real)) {
    if (!json_is_integer(number) || !onnxIsInteger(type))
      return onnxScalarValue(node, type, type == Onnx_Bool ? real != 0 : real);
    MlirValue exact = tileBuildInteger(node->b, onnxElementType(node, type), json_integer_value(number));
    return onnxOfElements(node, type, 0, NULL, &exact, 1);
  }
  if (json_object_get(given, "as_sym_int")) {
    MlirValue index = torchIndex(aten, name);
    return mlirValueIsNull(index) ? NULL : onnxCast(node, onnxOfIndex(node, index), type);
  }
  OnnxValue *tensor = torchTensor(aten, name);
  return tensor ? onnxCast(node, tensor, type) : NULL;
}
