// What the machine we run on says about itself: the answers to `detect` in native.machine.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Writes the host's value for a key: `base` (the widest x86-64 level it has), `cores` (those this process may use),
// `l1.bytes`, `l2.ways`, `l3.line`, … (from sysfs, else cpuid),
// `atom.NAME` of a dot instruction. False if it cannot tell (has not got it); the base's value then stays.
bool tileHostDetect(const char *key, char *value, size_t capacity);
