/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile: where to look and as whom, under a name, in a file of the user's
 * (docs/consumers.md). */
#ifndef EVSPACE_PROFILE_H
#define EVSPACE_PROFILE_H

#include <stddef.h>

#include "pathmap/base/error.h"

/** The settings of a profile; NULL: not set. Texts as options take them, owned. */
struct profile {
	char *connect;	/* HOST:PORT or unix:PATH */
	char *tls;	/* folder of certificates, absolute */
	char *identity; /* which certificate */
	char *entry;	/* node whose agent must answer */
	char *run;
	char *rate; /* waves per second, or max */
};

/** A setting by name, or NULL. profile_settings: all names, in the order in which they are written
 * and shown. */
char **profile_setting(struct profile *profile, const char *name);
extern const char *const profile_settings[];

/** Is @value valid for the setting @name? Returns 0, or -1 with @e, which says what is valid. */
int profile_check(const char *name, const char *value, struct error *e);

/** Read profile @name. Returns 0, or -1 with @e and an empty @profile: there is none (and which
 * there are), or the file is wrong ("FILE:LINE:COLUMN: ..."). */
int profile_read(struct profile *profile, const char *name, struct error *e);
void profile_fini(struct profile *profile);

/** Write it, replacing one of the same name. Returns 0, or -1 with @e. */
int profile_write(struct profile *profile, const char *name, struct error *e);

/** Remove it. Returns 0, or -1 with @e. */
int profile_remove(const char *name, struct error *e);

/** The names of all profiles, sorted. Returns how many; profile_names_free() frees them. */
size_t profile_names(char ***names);
void profile_names_free(char **names, size_t n);

/** The profile to use: @name, unless NULL; else $EVSPACE_PROFILE; else an empty one. Valid until
 * the process ends. NULL with @e. */
const struct profile *profile_chosen(const char *name, struct error *e);

#endif
