/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of steered collectives that a process knows: those of its start, and those that an
 * agent has put into the run's folder since (node-agent/control/steering.h). No MPI. */
#ifndef EVSPACE_STEER_SET_H
#define EVSPACE_STEER_SET_H

#include "node-agent/collect/mpi/steer-tree.h"

/** Rules of one text. Communicators share them; they are never changed. */
struct steer_set {
	struct steer_rules rules;
	int64_t name;	/* of the text, not below 0: the same text has the same in all processes */
	unsigned users; /* private */
};

/** Begin with the rules of @text; later ones will be in the folder @folder, which need not exist.
 * Returns false if they are not valid, or there is no memory. */
bool steer_sets_begin(const char *text, const char *folder);

/** The rules of the start. To be given back. */
struct steer_set *steer_set_start(void);

/** The newest rules that this process has seen; looks for newer ones, by one system call if there
 * are none. Any thread may call it; errno stays. To be given back. */
struct steer_set *steer_set_newest(void);

/** Give it back. NULL is fine. */
void steer_set_drop(struct steer_set *set);

#endif
