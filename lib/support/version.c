// version.c - the build says the commit (cmake/TesseraOptions.cmake), the system says the machine. See version.h.
#include "lib/support/version.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

// The text after "model name :" in /proc/cpuinfo; empty when there is none.
static void read_model(char *out_model, size_t size) {
  char line[512];
  FILE *file = fopen("/proc/cpuinfo", "re");
  out_model[0] = 0;
  while (file && !out_model[0] && fgets(line, sizeof line, file)) {
    char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
    if (value)
      snprintf(out_model, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
  }
  if (file)
    fclose(file);
}

#ifndef TESSERA_COMMIT
#define TESSERA_COMMIT ""
#endif

const char *tessera_version_commit(void) { return TESSERA_COMMIT; }

void tessera_version_write(tessera_json_t *json) {
  char model[256], machine[768];
  struct utsname system;
  tessera_json_string(json, "version", TESSERA_VERSION);
  if (*TESSERA_COMMIT)
    tessera_json_string(json, "commit", TESSERA_COMMIT);
  read_model(model, sizeof model);
  if (uname(&system) == 0) {
    snprintf(machine, sizeof machine, "%s %s, %s, %ld cores", system.sysname, system.machine,
             model[0] ? model : "unknown processor", sysconf(_SC_NPROCESSORS_ONLN));
    tessera_json_string(json, "machine", machine);
  }
}
