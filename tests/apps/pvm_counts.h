/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts, at the call sites, of the PVM calls that a test program makes: the oracle for collectors.
 */
#ifndef EVSPACE_PVM_COUNTS_H
#define EVSPACE_PVM_COUNTS_H

#include <stdint.h>

/*
 * Counted are calls that communicate, probe, pack, unpack, synchronise, join and leave groups, and
 * that start, stop and watch tasks and hosts; of calls that only ask or describe, the one that made
 * the process a task. "calls", "polls" and "bytes" are as in tests/apps/counts.h:
 *
 * | calls                               | bytes                                                 |
 * |-------------------------------------|-------------------------------------------------------|
 * | send, mcast, bcast, putinfo         | the buffer as it is packed, once                      |
 * | psend                               | items x size of the type                              |
 * | recv, trecv, nrecv, precv, recvinfo | the message that came; in vain: a poll                |
 * | probe                               | 0; in vain: a poll                                    |
 * | packing and unpacking               | items x size of the type; texts with their last 0     |
 * | reduce, gather, scatter             | count x size of the type                              |
 * | all others, and what fails          | 0                                                     |
 */

/** Count a call of @op, of @bytes. */
#define COUNT(op, bytes) pvm_counts_call(#op, (uint64_t)(bytes))

/** Count a call that found nothing. */
#define COUNT_POLL() pvm_counts_poll()

void pvm_counts_call(const char *op, uint64_t bytes);
void pvm_counts_poll(void);

/**
 * Write what was counted to @dir/counts.TID, a JSON object a line as segdump --counts has them, and
 * the polls to @dir/polls.TID.
 */
void pvm_counts_write(const char *dir, int tid);

#endif
