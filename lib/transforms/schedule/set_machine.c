// tile-set-machine{chip=NAME otherwise=NAME}: says once, on the module, which machine the program is for.
//
// Expects: any module. Leaves: its attribute tile.machine, which the passes after this one read
// (lib/analysis/machine_of_op.h has the rule): the chip; without one what the module says already; without that
// `otherwise`; without that nothing, which is this host. A module that describes the chip itself, with other figures,
// keeps its description. With `forget` the attribute goes where it is a chip's name alone: code is made, and other
// tools may read the module.
#include "lib/transforms/schedule/schedule.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/builtin.h"

static void forget(MlirOperation module, MlirAttribute attribute) {
  if (!mlirAttributeIsNull(attribute) && mlirDictionaryAttrGetNumElements(tileMachineAttrGetOverrides(attribute)) == 0)
    tileOpRemoveMachine(module);
}

static bool run(MlirOperation module, MlirExtPass pass) {
  MlirStringRef chip = mlirExtPassGetString(pass, "chip");
  MlirAttribute attribute = tileOpGetMachine(module);
  if (mlirExtPassGetBool(pass, "forget")) {
    forget(module, attribute);
    return true;
  }
  if (!chip.length && mlirAttributeIsNull(attribute))
    chip = mlirExtPassGetString(pass, "otherwise");
  if (!chip.length)
    return true;
  TileError error = {.text = "out of memory"};
  TileMachine *machine = tileMachineOfChip(mlirOperationGetContext(module), chip, &attribute, &error);
  if (!machine)
    return tileError(module, "%s", error.text);
  tileMachineDestroy(machine);
  tileOpSetMachine(module, attribute);
  return true;
}

const MlirExtPassDefinition tileSetMachinePass = {
    .argument = "tile-set-machine",
    .summary = "Say on the module which machine the program is for",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            TILE_CHIP_OPTION,
            {"otherwise", "the machine if neither the option nor the module names one; default: this host",
             MlirExtOption_String, ""},
            {"forget", "remove the machine again, unless the module describes it", MlirExtOption_Bool, "false"},
            {NULL}},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
