// The entry of the interpreter (interpreter.h): arrays to values, the call, values back to arrays.
#include "lib/interpreter/interpreter.h"

#include "dialects/tile/quantized.h"
#include "lib/interpreter/machine/arrays.h"
#include "lib/interpreter/sparse/entries.h"
#include "lib/interpreter/tile/products_under_way.h"
#include "lib/interpreter/tile/tile_quantized.h"
#include "lib/support/signature.h"
#include "upstream/func.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

//===--- arrays in and out --------------------------------------------------------===//

// Elements of fewer than 8 bits lie packed in arrays; a program that has been lowered takes the bytes.
static bool isPacked(const tessera_array_t *array, const Format *format) {
  return array->packing.type && format->width == (unsigned)array->packing.type->bits;
}

static Element readAnswer(const tessera_array_t *array, const Format *format, int64_t i) {
  if (!isPacked(array, format))
    return interpretReadElement(array, format, i);
  return format->isFloat ? elementOfFloat(tessera_packed_number(array, i), 0)
                         : elementOfInteger(tessera_packed_get(array, i));
}

static bool valueOfAnswer(const tessera_answer_t *answer, MlirType type, InterpretValue *value) {
  Format format = interpretFormatOfElement(answer->array.element);
  if (!interpretFormatOf(interpretElementTypeOf(type), &format))
    return false;
  if (!interpretTypeIsShaped(type)) {
    *value = valueOfElement(interpretReadElement(&answer->array, &format, 0));
    return true;
  }
  int64_t sizes[TESSERA_MAX_RANK], count = answer->array.count;
  memcpy(sizes, answer->array.shape, sizeof sizes);
  if (isPacked(&answer->array, &format)) {
    sizes[answer->array.rank - 1] = answer->array.packing.columns;
    count = tessera_array_elements(&answer->array);
  }
  Array *array = interpretArrayCreate(answer->array.rank, sizes);
  for (int64_t i = 0; array && i < count; ++i) {
    arrayElements(array)[i] = readAnswer(&answer->array, &format, i);
    arrayElements(array)[i].bound = answer->bounds ? answer->bounds[i] : 0;
  }
  *value = (InterpretValue){.object = array ? &array->object : NULL};
  return array != NULL;
}

static bool fillElements(Machine *machine, MlirOperation entry, const char *what, int number, const Element *elements,
                         const Format *format, tessera_answer_t *answer) {
  tessera_array_t *array = &answer->array;
  bool packs = isPacked(array, format);
  int64_t count = packs ? tessera_array_elements(array) : array->count;
  if (packs)
    memset(array->data, 0, (size_t)array->count);
  for (int64_t i = 0; i < count; ++i) {
    if (elementIsMissing(elements[i]))
      return interpretFail(machine, entry, "returns %s %d, whose element %lld %s", what, number, (long long)i,
                           elements[i].bound == ELEMENT_POISON ? "is poison" : "was never written");
    if (packs)
      tessera_packed_set(array, i,
                         format->isFloat ? (int64_t)interpretFormatToBits(format, elements[i].f) : elements[i].i);
    else
      interpretWriteElement(array, format, i, elements[i]);
    answer->bounds[i] = elements[i].bound;
  }
  return true;
}

static bool fillAnswer(Machine *machine, MlirOperation entry, const char *what, int number, InterpretValue value,
                       const Format *format, tessera_answer_t *answer) {
  if (!value.object)
    return fillElements(machine, entry, what, number, &value.scalar, format, answer);
  Array *array = interpretArrayCopy(arrayOf(value));
  bool ok = array ? fillElements(machine, entry, what, number, arrayElements(array), format, answer)
                  : interpretOutOfMemory(machine, entry);
  if (array)
    valueRelease(valueOfObject(&array->object));
  return ok;
}

// Room for the elements of `array`, or of a scalar.
static bool createAnswer(const Array *array, MlirType type, tessera_array_t *answer, bool *isKnown,
                         tessera_error_t *error) {
  Format format;
  tessera_element_t element = TESSERA_U8;
  tessera_packing_t packing = {NULL, 0};
  int64_t sizes[TESSERA_MAX_RANK] = {0};
  char text[64];
  *isKnown = interpretElementOfType(interpretElementTypeOf(type), &format, &element);
  int rank = array ? array->rank : 0;
  for (int i = 0; i < rank; ++i)
    sizes[i] = array->sizes[i];
  if (!*isKnown && rank) {
    packing = (tessera_packing_t){tessera_packed_type(tileTypeText(interpretElementTypeOf(type), text, sizeof text)),
                                  sizes[rank - 1]};
    *isKnown = packing.type != NULL;
    if (packing.type)
      sizes[rank - 1] = tessera_packed_row_bytes(&packing);
  }
  if (!*isKnown || !tessera_array_create(element, rank, sizes, answer, error))
    return false;
  answer->packing = packing;
  return true;
}

static bool answerOfValue(Machine *machine, MlirOperation entry, int number, InterpretValue value, MlirType type,
                          tessera_answer_t *answer) {
  Format format;
  char text[128];
  bool isKnown;
  *answer = (tessera_answer_t){.bounds = NULL};
  if (!createAnswer(arrayOf(value), type, &answer->array, &isKnown, machine->error))
    return !isKnown ? interpretUnknown(machine, entry, "returns result %d of type %s, which no array can hold", number,
                                       tileTypeText(type, text, sizeof text))
                    : false;
  interpretFormatOf(interpretElementTypeOf(type), &format);
  answer->bounds = calloc((size_t)tessera_array_elements(&answer->array) + 1, sizeof *answer->bounds);
  return answer->bounds ? fillAnswer(machine, entry, "result", number, value, &format, answer)
                        : interpretOutOfMemory(machine, entry);
}

//===--- the call -----------------------------------------------------------------===//

static bool updateArgument(Machine *machine, MlirOperation entry, int number, InterpretValue value, MlirType type,
                           tessera_answer_t *argument) {
  Format format;
  if (!mlirTypeIsAMemRef(type) || !interpretFormatOf(interpretElementTypeOf(type), &format))
    return true;
  if (!argument->bounds)
    argument->bounds = calloc((size_t)tessera_array_elements(&argument->array) + 1, sizeof *argument->bounds);
  return argument->bounds ? fillAnswer(machine, entry, "memref argument", number, value, &format, argument)
                          : interpretOutOfMemory(machine, entry);
}

// A sparse argument: its components, then the sizes that its type leaves open. How many there are is added to `next`.
static bool assembleArgument(Machine *machine, MlirOperation entry, MlirType type, const tessera_answer_t *answers,
                             int *next, InterpretValue *value) {
  const Instruction at = {.op = entry};
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  InterpretValue components[SPARSE_MAX_COMPONENTS] = {{.object = NULL}};
  int64_t sizes[EntriesMaxRank];
  intptr_t count = sparseTypeGetComponents(type, parts);
  bool ok = true;
  for (intptr_t i = 0; i < count && ok; ++i)
    ok = valueOfAnswer(&answers[(*next)++], parts[i].type, &components[i]) || interpretOutOfMemory(machine, entry);
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type) && ok; ++i)
    sizes[i] = mlirShapedTypeIsDynamicDim(type, i) ? *(const int64_t *)answers[(*next)++].array.data
                                                   : mlirShapedTypeGetDimSize(type, i);
  Entries *entries = ok ? interpretEntriesAssemble(machine, &at, type, sizes, components) : NULL;
  *value = (InterpretValue){.object = entries ? &entries->object : NULL};
  for (intptr_t i = 0; i < count; ++i)
    valueRelease(components[i]);
  return entries != NULL;
}

static bool disassembleResult(Machine *machine, MlirOperation entry, MlirType type, int number, InterpretValue value,
                              tessera_answer_t *answers, int *next) {
  const Instruction at = {.op = entry};
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  InterpretValue components[SPARSE_MAX_COMPONENTS] = {{.object = NULL}};
  Entries *entries = entriesOf(value);
  intptr_t count = sparseTypeGetComponents(type, parts);
  bool ok = interpretEntriesDisassemble(machine, &at, type, entries, components);
  for (intptr_t i = 0; i < count && ok; ++i)
    ok = answerOfValue(machine, entry, number, components[i], parts[i].type, &answers[(*next)++]);
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type) && ok; ++i)
    if (mlirShapedTypeIsDynamicDim(type, i))
      ok = answerOfValue(machine, entry, number, valueOfInteger(entries->sizes[i]),
                         mlirIndexTypeGet(mlirTypeGetContext(type)), &answers[(*next)++]);
  for (intptr_t i = 0; i < count; ++i)
    valueRelease(components[i]);
  return ok;
}

static bool assembleQuantized(Machine *machine, MlirOperation entry, MlirType type, const tessera_answer_t *answers,
                              int *next, InterpretValue *value) {
  TileQuantizedPart parts[TileQuantizedMaxParts];
  InterpretValue values[TileQuantizedMaxParts] = {{.object = NULL}};
  int count = (int)tileQuantizedTypeGetParts(type, parts);
  bool ok = true;
  for (int i = 0; i < count && ok; ++i)
    ok = valueOfAnswer(&answers[(*next)++], parts[i].type, &values[i]);
  Quantized *quantized = ok ? interpretQuantizedCreate(count, values) : NULL;
  for (int i = 0; i < count; ++i)
    valueRelease(values[i]);
  *value = (InterpretValue){.object = quantized ? &quantized->object : NULL};
  return quantized || interpretOutOfMemory(machine, entry);
}

static bool disassembleQuantized(Machine *machine, MlirOperation entry, MlirType type, int number, InterpretValue value,
                                 tessera_answer_t *answers, int *next) {
  TileQuantizedPart parts[TileQuantizedMaxParts];
  intptr_t count = tileQuantizedTypeGetParts(type, parts);
  bool ok = true;
  for (intptr_t i = 0; i < count && ok; ++i)
    ok = answerOfValue(machine, entry, number, quantizedOf(value)->parts[i], parts[i].type, &answers[(*next)++]);
  return ok;
}

static bool isSparse(MlirType type) { return !mlirAttributeIsNull(sparseTypeGetEncoding(type)); }

// One of the function's arguments from the next of the arrays.
static bool takeArgument(Machine *machine, MlirOperation entry, MlirType type, int number,
                         const tessera_answer_t *answers, int *next, InterpretValue *value) {
  if (isSparse(type))
    return assembleArgument(machine, entry, type, answers, next, value);
  if (tileTypeIsQuantized(type))
    return assembleQuantized(machine, entry, type, answers, next, value);
  return valueOfAnswer(&answers[(*next)++], type, value) ||
         interpretUnknown(machine, entry, "has argument %d of a type that the interpreter cannot read", number);
}

static bool giveResult(Machine *machine, MlirOperation entry, MlirType type, int number, InterpretValue value,
                       tessera_answer_t *answers, int *next) {
  if (tileTypeIsQuantized(type))
    return disassembleQuantized(machine, entry, type, number, value, answers, next);
  return isSparse(type) ? disassembleResult(machine, entry, type, number, value, answers, next)
                        : answerOfValue(machine, entry, number, value, type, &answers[(*next)++]);
}

// `arguments` and `results`: one for each value that the signature (lib/support/signature.h) has.
static bool callEntry(Machine *machine, MlirOperation entry, tessera_answer_t *arguments, tessera_answer_t *results) {
  MlirType type = mlirTypeAttrGetValue(tileOpAttribute(entry, "function_type"));
  int numArguments = (int)mlirFunctionTypeGetNumInputs(type), numResults = (int)mlirFunctionTypeGetNumResults(type);
  int next = 0, *first = calloc((size_t)numArguments + 1, sizeof *first); // where each argument's values begin
  InterpretValue *values = calloc((size_t)(2 * numArguments + numResults) + 1, sizeof *values);
  InterpretValue *kept = values ? values + numArguments : NULL, *given = values ? kept + numArguments : NULL;
  bool ok = (values && first) || interpretOutOfMemory(machine, entry);
  for (int i = 0; i < numArguments && ok; ++i) {
    first[i] = next;
    ok = takeArgument(machine, entry, mlirFunctionTypeGetInput(type, i), i, arguments, &next, &values[i]);
    kept[i] = valueRetain(values[i]);
  }
  const InterpretBody *body = ok ? interpretBodyOf(machine, entry, 0) : NULL;
  ok = body && interpretBodyCall(machine, entry, body, numArguments, values, numResults, given);
  for (int i = 0; i < numArguments && ok; ++i)
    ok = updateArgument(machine, entry, i, kept[i], mlirFunctionTypeGetInput(type, i), &arguments[first[i]]);
  next = 0;
  for (int i = 0; i < numResults && ok; ++i)
    ok = giveResult(machine, entry, mlirFunctionTypeGetResult(type, i), i, given[i], results, &next);
  for (int i = 0; values && i < numArguments; ++i)
    valueRelease(kept[i]);
  for (int i = 0; values && i < numResults; ++i)
    valueRelease(given[i]);
  free(first);
  free(values);
  return ok;
}

static void machineDestroy(Machine *machine) {
  interpretProductsForget(machine);
  interpretMemoryForgetTouches(machine);
  interpretForgetGlobals(machine->globals);
  interpretForgetAddresses(machine);
  interpretBodiesDestroy(machine);
  interpretPoolClear(&machine->pool);
}

// Three quarters of what a thread gets; where there is no limit, of what glibc then gives one.
static intptr_t stackRoom(void) {
  struct rlimit limit;
  const rlim_t most = 8 << 20, unlimited = 2 << 20;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return (intptr_t)(unlimited / 4 * 3);
  return (intptr_t)((limit.rlim_cur < most ? limit.rlim_cur : most) / 4 * 3);
}

// Half of the machine's memory, at most 4 GiB: a program that wants more is told so instead of being killed.
static int64_t memoryLimit(void) {
  int64_t pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE), most = INT64_C(4) << 30;
  return pages > 0 && bytes > 0 && pages / 2 < most / bytes ? pages / 2 * bytes : most;
}

bool tileInterpret(MlirOperation module, const char *entry, tessera_answer_t *arguments, tessera_answer_t *results,
                   const TileInterpretOptions *optionsOrNull, TileInterpretation *outcome, tessera_error_t *error) {
  TileInterpretOptions options = optionsOrNull ? *optionsOrNull : (TileInterpretOptions){0};
  options.stepBudget = options.stepBudget ? options.stepBudget : UINT64_C(1) << 33;
  options.print = options.print ? options.print : stdout;
  Machine machine = {.module = module, .options = &options, .error = error};
  machine.stack = __builtin_frame_address(0);
  machine.stackRoom = stackRoom();
  machine.pool.limit = memoryLimit();
  MlirOperation op = interpretFindSymbol(machine.module, tileString(entry));
  if (mlirOperationIsNull(op))
    return tessera_fail(error, "the module has no function '%s'", entry);
  bool ok = (funcFuncOpIsA(op) || interpretUnknown(&machine, op, "not interpreted yet: a function of this kind")) &&
            callEntry(&machine, op, arguments, results);
  *outcome = (TileInterpretation){.steps = machine.steps,
                                  .undecided = machine.undecided,
                                  .unknown = machine.unknown,
                                  .viewBytesRead = machine.viewBytesRead,
                                  .viewBytesWritten = machine.viewBytesWritten};
  machineDestroy(&machine);
  return ok;
}
