/* SPDX-License-Identifier: BSD-3-Clause */
/* Records the code files of this process, so that agents can resolve its call sites. */
#ifndef EVSPACE_MODULES_H
#define EVSPACE_MODULES_H

#include <stdint.h>

#include "node-agent/segment/segment.h"

/** Record all that are loaded now. Not part of the path: it makes system calls. */
void modules_note_all(struct segment *s);

/** Record the one that @address is in, if it is new: a library that was loaded later. Takes no
 * lock and makes no system call (glibc 2.35 and later; before, such libraries stay unknown). */
void modules_note(struct segment *s, uintptr_t address);

#endif
