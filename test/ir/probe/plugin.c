// The dialect `probe` as a plugin: ops with effects that no pass of ours knows.
#include "test/ir/probe/probe.h"

typedef struct DialectPluginInfo {
  uint32_t apiVersion;
  const char *name, *version;
  void (*registerDialects)(void *registry);
} DialectPluginInfo;

static void registerDialects(void *registry) {
  mlirExtDialectRegistryInsert((MlirDialectRegistry){registry}, probeDialect());
}

DialectPluginInfo mlirGetDialectPluginInfo(void);
DialectPluginInfo mlirGetDialectPluginInfo(void) { return (DialectPluginInfo){1, "probe", "0.1", registerDialects}; }
