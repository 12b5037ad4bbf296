/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits: the runs, and the users whose runs, that the roles of a certificate are for
 * (docs/rights.md).
 */
#ifndef EVSPACE_LIMITS_H
#define EVSPACE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

/** Names; of each kind none means that all may be seen. Both kinds must fit. */
struct limits {
	char **users, **runs;
	size_t n_users, n_runs;
};

/**
 * Add what "user=NAME" or "run=NAME" says; *@limits is made when it is NULL. Returns 0, or -1 when
 * it says something else.
 */
int limits_add(struct limits **limits, const char *text);

/** NULL is fine. */
void limits_free(struct limits *limits);

/** May the run of that name be seen, as far as its name goes? NULL: there are no limits. */
bool limits_run(const struct limits *limits, const char *run);

/** Is the user of that name and number in the list? An empty list means everybody. */
bool limits_user(char *const *users, size_t n, const char *name, unsigned uid);

/** Is this process's user? */
bool limits_own_user(char *const *users, size_t n);

/** The name of this process's user, "" if it has none. */
const char *limits_own_name(void);

#endif
