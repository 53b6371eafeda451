// Entry points that an unmodified mlir-opt looks for in libtessera.so (--load-dialect-plugin, --load-pass-plugin).
// The structures mirror mlir/Tools/Plugins/{Dialect,Pass}Plugin.h: version 1 of both.
#include "lib/pipelines/register.h"

typedef struct DialectPluginInfo {
  uint32_t apiVersion;
  const char *name, *version;
  void (*registerDialects)(void *registry); // an mlir::DialectRegistry *, which is what the C handle holds
} DialectPluginInfo;

typedef struct PassPluginInfo {
  uint32_t apiVersion;
  const char *name, *version;
  void (*registerPasses)(void);
} PassPluginInfo;

static void registerDialects(void *registry) { tesseraRegisterDialects((MlirDialectRegistry){registry}); }

DialectPluginInfo mlirGetDialectPluginInfo(void);
PassPluginInfo mlirGetPassPluginInfo(void);

DialectPluginInfo mlirGetDialectPluginInfo(void) {
  return (DialectPluginInfo){1, "tessera", "0.1.0", registerDialects};
}
PassPluginInfo mlirGetPassPluginInfo(void) { return (PassPluginInfo){1, "tessera", "0.1.0", tesseraRegisterPasses}; }
