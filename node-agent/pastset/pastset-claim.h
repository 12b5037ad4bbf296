/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has which part in an element, by locks that the kernel drops when their holder ends. */
#ifndef EVSPACE_PASTSET_CLAIM_H
#define EVSPACE_PASTSET_CLAIM_H

#include <stdbool.h>

#include "node-agent/pastset/pastset-layout.h"

/** The part of the writer; those below are of the readers it waits for. */
#define PASTSET_WRITER PASTSET_READERS

/** Take @part for the open file @fd. Returns 0, or -1 with errno (EAGAIN: somebody has it). */
int pastset_claim(int fd, unsigned part);

/** Give it back. */
void pastset_unclaim(int fd, unsigned part);

/** Has another open file @part? */
bool pastset_is_claimed(int fd, unsigned part);

#endif
