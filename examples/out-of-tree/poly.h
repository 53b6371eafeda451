// What the plugin's files share.
#pragma once

#include "lib/capi/dialect.h"
#include "lib/capi/pass.h"
#include "lib/search/policy.h"

const MlirExtDialectDefinition *polyDialect(void); // null, after a line on stderr, when a row is wrong
bool polyHornerExpand(MlirOperation op, MlirValue *results);
extern const MlirExtPassDefinition polyExpandPass;
extern const TilePolicy polySmallBlocks;
