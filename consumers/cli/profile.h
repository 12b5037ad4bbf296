/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile: where to look and as who, under a name, in a file of the user's (docs/consumers.md).
 */
#ifndef EVSPACE_PROFILE_H
#define EVSPACE_PROFILE_H

#include <stddef.h>

#include "pathmap/base/error.h"

/** What a profile may say; NULL: it does not. All are texts as options take them, and owned. */
struct profile {
	char *connect;	/* HOST:PORT or unix:PATH */
	char *tls;	/* folder of certificates, absolute */
	char *identity; /* which of them */
	char *entry;	/* node whose agent must answer */
	char *run;
	char *rate; /* waves per second, or max */
};

/** Its settings by name, in the order in which they are written and shown. NULL: no such one. */
char **profile_setting(struct profile *profile, const char *name);
extern const char *const profile_settings[];

/** Could @value be the setting @name's? Returns 0, or -1 with @e, which says what would be right.
 */
int profile_check(const char *name, const char *value, struct error *e);

/**
 * Read profile @name. Returns 0, or -1 with @e: there is none (which ones there are), or the file
 * is wrong ("FILE:LINE:COLUMN: ..."); then @profile is empty.
 */
int profile_read(struct profile *profile, const char *name, struct error *e);
void profile_fini(struct profile *profile);

/** Write it, over one that there may be. Returns 0, or -1 with @e. */
int profile_write(struct profile *profile, const char *name, struct error *e);

/** Remove it. Returns 0, or -1 with @e. */
int profile_remove(const char *name, struct error *e);

/** The names of all, sorted. Returns how many; profile_names_free() frees them. */
size_t profile_names(char ***names);
void profile_names_free(char **names, size_t n);

/**
 * The profile that counts: @name, unless NULL; else $EVSPACE_PROFILE; else an empty one. It stays
 * for as long as the process. NULL with @e.
 */
const struct profile *profile_chosen(const char *name, struct error *e);

#endif
