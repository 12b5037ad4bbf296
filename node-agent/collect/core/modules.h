/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the files of code of this process on record, so that its call sites can be resolved outside.
 */
#ifndef EVSPACE_MODULES_H
#define EVSPACE_MODULES_H

#include <stdint.h>

#include "node-agent/segment/segment.h"

/** Put all that are loaded now on record. Not part of the path: it makes system calls. */
void modules_note_all(struct segment *s);

/**
 * Put the one that @address is in on record, unless it is: a library that was loaded later. No lock
 * and no system call (glibc 2.35 and later; before, such libraries stay unknown).
 */
void modules_note(struct segment *s, uintptr_t address);

#endif
