/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes a program collect: the preloaded library, and the variables that its collector reads.
 */
#ifndef EVSPACE_PRELOAD_H
#define EVSPACE_PRELOAD_H

#include "consumers/cli/options.h"
#include "node-agent/collect/core/settings.h"
#include "pathmap/base/error.h"

struct pathmap;

/** What collectors read from their environment. */
enum flag {
	FLAG_DIR,
	FLAG_RUN,
	FLAG_CAPACITY, /* from here to … */
	FLAG_ELEMENTS,
	FLAG_LIFETIMES,
	FLAG_MODES, /* … here an application map may say it, too */
	FLAG_RESERVE,
	FLAG_THREADS,
	FLAG_QUOTA,
	FLAGS
};

/** What was said on the command line; NULL: nothing. Borrowed texts. */
struct flags {
	const char *said[FLAGS];
};

/** Names of the variables, by enum flag, ended by NULL. */
extern const char *const flag_variables[FLAGS + 1];

/** The flags as options of a command, but for --run, which means something else in each; what they
 * say goes into a struct flags. */
extern const struct option_row flag_rows[];

/** What a user says of collecting. */
struct preload_options {
	struct flags flags;
	const struct pathmap *map; /* says what neither flags nor variables say; NULL: none */
};

/**
 * Find the MPI collector: $EVSPACE_LIB, else the build tree that this evspace is from, else where
 * `make install` put it. Returns 0 with its path in @buf, and behind a colon that of the PVM
 * collector which is beside it, or -1 with the places that were tried in @e.
 */
int preload_library(char *buf, size_t n, struct error *e);

/**
 * The value of LD_PRELOAD with @library in front of what @before (NULL: nothing) has, and not
 * twice. Returns it for the caller to free().
 */
char *preload_value(const char *library, const char *before);

/**
 * Put EVSPACE_DIR (made absolute), EVSPACE_RUN and the others into the environment: flags before
 * variables before map. What collectors will read from that is in *@settings. Returns 0, or -1
 * (EINVAL) when one of them is not understood, with what would be right in @e.
 */
int preload_settings(const struct preload_options *options, struct settings *settings,
		     struct error *e);

/**
 * The pathmap in @dir, or the one that was applied (evspace map apply) at its entry agent since
 * that was started with it, if that is on this host: then this is said for @command ("run").
 * Diagnostics go to stderr. Returns NULL with errno and @e.
 */
struct pathmap *preload_pathmap(const char *command, const char *dir, struct error *e);

/** Say on stderr for @command if the usual folder of all runs is passed over, and why. */
void preload_folder_tell(const char *command);

/**
 * Have the tasks that a PVM program spawns get what is in the environment of LD_PRELOAD and of the
 * variables: by PVM_EXPORT (pvm_spawn(3)), behind what that has.
 */
void preload_export(void);

#endif
