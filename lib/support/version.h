// version.h - what made a result, for manifests: this version, the commit it was built from, the machine it runs on.
#pragma once

#include "lib/support/json.h"

#define TESSERA_VERSION "0.1.0"

// The commit this was built from; empty when built outside of git.
const char *tessera_version_commit(void);
// "version", "commit" (absent when built outside of git) and "machine" into the open object.
void tessera_version_write(tessera_json_t *json);
