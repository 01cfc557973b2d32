/* paste.h -- helpers of device/ for a text: those that it uses, in the order of their needs. */
#ifndef TL_TARGET_PASTE_H
#define TL_TARGET_PASTE_H

#include "base/base.h"

/* Of those of the same name the first file's.  `file` ends in a NULL, `head` stands before all. */
void device_paste(Arena *a, const unsigned char *const *file, const unsigned char *head,
                  const char *text, Str *out);

#endif
