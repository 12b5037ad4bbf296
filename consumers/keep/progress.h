/* SPDX-License-Identifier: BSD-3-Clause */
/* How far long work is, on the terminal that stderr is. */
#ifndef EVSPACE_PROGRESS_H
#define EVSPACE_PROGRESS_H

#include <stdint.h>

/** Zeroed at first. */
struct read_progress {
	const char *done;
	uint64_t begun_ns, said_ns;
};

/** Show, now and then, that @n are @done ("events read"), how many a second that is, which @share
 * of all (0 or less: that is not known), and how long the rest takes. Another @done begins anew. */
void progress_show(struct read_progress *p, const char *done, uint64_t n, double share);

#endif
