// messages.h - what kernels say to the host where the driver has no way for it (AMD's): a buffer in memory that both
// reach. Device code (lib/target/rocdl/messages.ll) adds records; the host reads them when the device is done.
//
//   tessera_messages_begin(buffer, bytes);                 // before the device knows of it
//   if (!tessera_messages_take(buffer, stdout, &error)) …  // each time it is done: prints, and is empty again
#pragma once

#include "lib/support/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// At the buffer's begin. Records follow, each at a multiple of 8 bytes.
typedef struct tessera_messages_t {
  uint64_t used;  // bytes asked for so far, this head included; more than |bytes|: the last records were lost
  uint64_t bytes; // of the buffer
  void *self;     // its address, for the device's copy of it
} tessera_messages_t;

enum { TESSERA_MESSAGE_PRINT, TESSERA_MESSAGE_FAILED };

// Behind it the text with its zero, to a multiple of 8 bytes; then, of a print, 8 bytes for each conversion in the
// text.
typedef struct tessera_message_t {
  uint64_t bytes;  // of the record, this head included
  uint32_t kind;   // of the enum
  uint32_t length; // of the text, its zero included
} tessera_message_t;

void tessera_messages_begin(void *buffer, size_t bytes);
bool tessera_messages_are_there(const void *buffer);
// Writes the texts of prints to |to|. False when an assertion failed: the error is that of the first.
bool tessera_messages_take(void *buffer, FILE *to, tessera_error_t *out_error);
