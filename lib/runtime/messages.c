// messages.c - reads the messages of kernels. Expects: no kernel that may still write. Leaves: the buffer empty.
#include "lib/runtime/messages.h"

#include "lib/support/device_printf.h"

#include <string.h>

void tessera_messages_begin(void *buffer, size_t bytes) {
  *(tessera_messages_t *)buffer = (tessera_messages_t){sizeof(tessera_messages_t), bytes, buffer};
}

bool tessera_messages_are_there(const void *buffer) {
  return ((const tessera_messages_t *)buffer)->used > sizeof(tessera_messages_t);
}

// One record; false when it is the first assertion that failed.
static bool take(const tessera_message_t *message, FILE *to, bool failed, tessera_error_t *out_error) {
  const char *text = (const char *)(message + 1);
  if (message->kind == TESSERA_MESSAGE_PRINT)
    tessera_device_printf(to, text, text + (message->length + 7) / 8 * 8, false);
  else if (!failed)
    return tessera_fail(out_error, "assertion failed: %s", text);
  return true;
}

bool tessera_messages_take(void *buffer, FILE *to, tessera_error_t *out_error) {
  const tessera_messages_t *head = buffer;
  bool failed = false;
  uint64_t at = sizeof *head, end = head->used < head->bytes ? head->used : head->bytes;
  while (at + sizeof(tessera_message_t) <= end) {
    const tessera_message_t *message = (const tessera_message_t *)((const char *)buffer + at);
    if (!message->bytes || message->bytes > end - at)
      break; // the first that found no room
    failed |= !take(message, to, failed, out_error);
    at += message->bytes;
  }
  if (head->used > head->bytes)
    fprintf(to, "[%llu bytes of messages were lost: the buffer has %llu]\n", (unsigned long long)(head->used - at),
            (unsigned long long)head->bytes);
  fflush(to);
  size_t bytes = head->bytes;
  memset(buffer, 0, end);
  tessera_messages_begin(buffer, bytes);
  return !failed;
}
