// Globals of the program: memory (memref.global), and values that loads give and stores replace (ml_program.global).
// Each begins with its initial value where the program first names it, and lives as long as the run.
#include "lib/interpreter/upstream/upstream.h"

#include "dialects/tile/extern_weights.h"
#include "upstream/ml_program.h"

#include <stdlib.h>

// The global of `op` in the list; begun if it is new. Null after a message.
static Global *globalOf(Machine *machine, const Instruction *instruction, Global **globals, MlirOperation op,
                        bool (*begin)(Machine *, const Instruction *, MlirOperation, InterpretValue *)) {
  for (Global *global = *globals; global; global = global->next)
    if (mlirOperationEqual(global->op, op))
      return global;
  InterpretValue value = {.object = NULL};
  if (!begin(machine, instruction, op, &value)) {
    interpretUnknown(machine, instruction->op, "has an initial value that the interpreter cannot read");
    return NULL;
  }
  Global *global = malloc(sizeof *global);
  if (!global) {
    valueRelease(value);
    interpretOutOfMemory(machine, instruction->op);
    return NULL;
  }
  *global = (Global){op, value, *globals};
  return *globals = global;
}

void interpretForgetGlobals(Global *globals) {
  for (Global *next; globals; globals = next) {
    next = globals->next;
    valueRelease(globals->value);
    free(globals);
  }
}

//===--- memory -----------------------------------------------------------------===//

static bool beginMemory(Machine *machine, const Instruction *instruction, MlirOperation op, InterpretValue *value) {
  MlirAttribute initial = tileOpAttribute(op, "initial_value");
  if (!mlirAttributeIsNull(initial) && !mlirAttributeIsAUnit(initial))
    return interpretValueOfAttribute(initial, value);
  Array *memory = interpretNewResult(machine, instruction, 0);
  if (memory)
    *value = valueOfObject(&memory->object);
  return memory != NULL;
}

bool interpretGetGlobal(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tileOpAttribute(instruction->op, "name"));
  MlirOperation ofBlock = interpretGpuSymbol(machine, name);
  bool isOfBlock = !mlirOperationIsNull(ofBlock);
  MlirOperation op = isOfBlock ? ofBlock : interpretFindSymbol(machine->module, name);
  Global **globals = isOfBlock ? interpretGpuMemory(machine) : &machine->globals;
  const Global *global = globalOf(machine, instruction, globals, op, beginMemory);
  if (global)
    setResult(frame, instruction, 0, valueRetain(global->value));
  return global;
}

//===--- values -----------------------------------------------------------------===//

static bool beginValue(Machine *machine, const Instruction *instruction, MlirOperation op, InterpretValue *value) {
  MlirAttribute initial = mlirOperationIsNull(op)   ? mlirAttributeGetNull()
                          : tileWeightsIsExtern(op) ? tileWeightsRead(op)
                                                    : mlProgramGlobalOpGetValue(op);
  return !mlirAttributeIsNull(initial) && interpretValueOfAttribute(initial, value);
}

static Global *valueGlobal(Machine *machine, const Instruction *instruction) {
  MlirAttribute name = tileOpAttribute(instruction->op, "global");
  MlirOperation op = {NULL};
  if (mlirAttributeIsAFlatSymbolRef(name))
    op = interpretFindSymbol(machine->module, mlirFlatSymbolRefAttrGetValue(name));
  return globalOf(machine, instruction, &machine->globals, op, beginValue);
}

bool interpretGlobalLoad(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Global *global = valueGlobal(machine, instruction);
  if (global)
    setResult(frame, instruction, 0, valueRetain(global->value));
  return global;
}

bool interpretGlobalStore(Machine *machine, Frame *frame, const Instruction *instruction) {
  Global *global = valueGlobal(machine, instruction);
  if (!global)
    return false;
  valueRelease(global->value);
  global->value = valueRetain(operandOf(frame, instruction, 0));
  return true;
}
