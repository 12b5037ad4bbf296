/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes a program collect: the preloaded library, and the variables that its collector
 * reads. */
#ifndef EVSPACE_PRELOAD_H
#define EVSPACE_PRELOAD_H

#include <stdbool.h>

#include "consumers/cli/options.h"
#include "node-agent/collect/core/settings.h"
#include "pathmap/base/error.h"

struct pathmap;

/** Settings that collectors read from their environment. */
enum flag {
	FLAG_DIR,
	FLAG_RUN,
	FLAG_CAPACITY, /* from here to FLAG_THREADS_ONLY an application map may set it, too */
	FLAG_ELEMENTS,
	FLAG_LIFETIMES,
	FLAG_MODES,
	FLAG_PROPERTIES, /* of elements by name */
	FLAG_RANKS,
	FLAG_STEER, /* collectives that run over trees of the map */
	FLAG_THREADS_ONLY,
	FLAG_RESERVE,
	FLAG_THREADS,
	FLAG_QUOTA,
	FLAGS
};

/** Settings of the command line; NULL: not given. Borrowed texts. */
struct flags {
	const char *said[FLAGS];
};

/** Names of the variables, by enum flag, ended by NULL. */
extern const char *const flag_variables[FLAGS + 1];

/** The flags as options of a command, stored in a struct flags; without --run, whose meaning
 * differs between commands. */
extern const struct option_row flag_rows[];

/** A user's settings of collecting. */
struct preload_options {
	struct flags flags;
	const struct pathmap *map; /* for settings without flag and variable; NULL: none */
	bool whole; /* all ranks of the program are started so: what all must do alike may be set */
};

/**
 * Find the MPI collector: $EVSPACE_LIB, else in the build tree of this evspace, else where `make
 * install` put it. Returns 0 with its path in @buf, and after a colon that of the PVM collector
 * next to it, or -1 with @e: the places that were tried.
 */
int preload_library(char *buf, size_t n, struct error *e);

/** The value of LD_PRELOAD with @library before the libraries in @before (NULL: none), and not
 * twice. Returns it for the caller to free(). */
char *preload_value(const char *library, const char *before);

/**
 * Put EVSPACE_DIR (made absolute), EVSPACE_RUN and the others into the environment: from flags,
 * else variables, else the map. Sets *@settings to what collectors will read from that. Returns 0,
 * or -1 (EINVAL) with @e if one is wrong, which says what is valid.
 */
int preload_settings(const struct preload_options *options, struct settings *settings,
		     struct error *e);

/**
 * The pathmap in @dir; or the one that was applied (evspace map apply) at its entry agent since
 * that started with it, if the agent is on this host: then says so for @command ("run").
 * Diagnostics go to stderr. Returns NULL with errno and @e.
 */
struct pathmap *preload_pathmap(const char *command, const char *dir, struct error *e);

/** Say on stderr for @command if the usual folder of all runs is not used, and why. */
void preload_folder_tell(const char *command);

/** Pass LD_PRELOAD and the variables on to tasks that a PVM program spawns: adds them to PVM_EXPORT
 * (pvm_spawn(3)). */
void preload_export(void);

#endif
