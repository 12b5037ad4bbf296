/* SPDX-License-Identifier: BSD-3-Clause */
/* Where `evspace map discover` looks, shared by its parts. */
#ifndef EVSPACE_DISCOVER_H
#define EVSPACE_DISCOVER_H

#include "consumers/cli/command.h"
#include "consumers/client/evspace-client.h"
#include "consumers/deploy/finding.h"

/** Each of these looks into one kind of thing and fills in @f. Returns EXIT_FINE, or the exit code
 * with @e: what is wrong, and what to do. */

/** A run, from the segments in $EVSPACE_DIR; NULL: the only live one. ENOENT: none is live. */
int discover_segments(struct finding *f, const char *run, struct error *e);

/** A run, from the agents that the entry reaches (look->connect; look->run, NULL: the only one). */
int discover_agents(struct finding *f, const struct evspace_options *look, struct error *e);

/** The user's virtual machine of PVM. */
int discover_pvm(struct finding *f, struct error *e);

/** Is there a virtual machine, judging by files? */
bool discover_pvm_is_there(void);

/** A job of Slurm, or one of its steps: "42", "42.0". */
int discover_slurm(struct finding *f, const char *job, struct error *e);

/** @n lists of hosts from the user, as "w[0-7]" or "w[0-7].example.org". */
int discover_ssh(struct finding *f, const char *const *hosts, size_t n, struct error *e);

/** Run `evspace map discover`, whose words are from "discover" on. Returns its exit code. */
int discover_main(int argc, char **argv);

#endif
