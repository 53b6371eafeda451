// Asks the machine that this process runs on: the answers to `detect` in native.machine.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Writes the host's value for a key: `base` (the machine file of the nearest family), `needs` (its level and features,
// as cpu_feature.h names them, separated by spaces), `cores` (those this process may use), `l1.bytes`, `l2.ways`,
// `l3.line`, … (from sysfs, else cpuid), `atom.NAME` of a matrix instruction. False if the host lacks the thing or the
// value cannot be found out; the value of the base then stays.
bool tileHostDetect(const char *key, char *value, size_t capacity);
