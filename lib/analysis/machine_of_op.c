// Finds the machine of an op. See machine_of_op.h.
#include "lib/analysis/machine_of_op.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"

#include <stdlib.h>

static bool isMachine(MlirAttribute attribute) {
  return !mlirAttributeIsNull(attribute) && tileAttributeIsAMachine(attribute);
}

MlirAttribute tileMachineStated(MlirOperation op) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op)) {
    MlirAttribute attribute = tileKernelOpIsA(op) ? tileKernelOpGetMachine(op) : tileOpGetMachine(op);
    if (isMachine(attribute))
      return attribute;
  }
  return mlirAttributeGetNull();
}

TileMachine *tileMachineOfChip(MlirContext context, MlirStringRef chip, MlirAttribute *around, TileError *error) {
  MlirStringRef known = isMachine(*around) ? tileMachineAttrGetName(*around) : tileString("");
  if (chip.length == known.length && !memcmp(chip.data, known.data, chip.length))
    return tileMachineAttrLoad(*around, error);
  char *name = strndup(chip.data, chip.length);
  TileMachine *machine = name ? tileMachineLoad(name, NULL, NULL, 0, error) : NULL;
  free(name);
  if (machine) // the attribute of an unknown machine would be a second error
    *around = tileMachineAttrGet(context, chip, mlirAttributeGetNull());
  return machine;
}

TileMachine *tileMachineOfHost(TileError *error) {
  TileMachine *machine = tileMachineLoad("native", NULL, NULL, 0, NULL);
  return machine ? machine : tileMachineLoad("x86-64-v4", NULL, NULL, 0, error);
}

TileMachine *tileMachineOf(MlirOperation op, MlirExtPass pass, MlirAttribute *attribute) {
  MlirStringRef chip = mlirExtPassGetString(pass, "chip");
  MlirAttribute found = tileMachineStated(op);
  TileError error = {.text = "out of memory"};
  TileMachine *machine = chip.length ? tileMachineOfChip(mlirOperationGetContext(op), chip, &found, &error)
                         : mlirAttributeIsNull(found) ? tileMachineOfHost(&error)
                                                      : tileMachineAttrLoad(found, &error);
  if (!machine)
    tileError(op, "%s", error.text);
  if (attribute)
    *attribute = found;
  return machine;
}

TileMachine *tileNamedMachineOf(MlirOperation kernel, MlirExtPass pass, MlirAttribute *attribute) {
  if (mlirExtPassGetString(pass, "chip").length || !mlirAttributeIsNull(tileMachineStated(kernel)))
    return tileMachineOf(kernel, pass, attribute);
  tileError(kernel, "has no machine; the kernel, the module or the option chip must name one");
  return NULL;
}
