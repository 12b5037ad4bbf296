/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the limits of a certificate, and compares names with them. */
#include "tree/link/limits.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/memory.h"

static bool list_has(char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(list[i], name))
			return true;
	}
	return false;
}

static void list_add(char ***list, size_t *n, const char *name)
{
	*list = memory_room(*list, *n, sizeof(char *));
	(*list)[(*n)++] = memory_copy(name);
}

static void list_free(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

int limits_add(struct limits **limits, const char *text)
{
	bool user = !strncmp(text, "user=", 5), run = !strncmp(text, "run=", 4);

	if (!user && !run)
		return -1;
	if (!*limits)
		*limits = memory_new(1, sizeof(**limits));
	if (user)
		list_add(&(*limits)->users, &(*limits)->n_users, text + 5);
	else
		list_add(&(*limits)->runs, &(*limits)->n_runs, text + 4);
	return 0;
}

void limits_free(struct limits *limits)
{
	if (!limits)
		return;
	list_free(limits->users, limits->n_users);
	list_free(limits->runs, limits->n_runs);
	free(limits);
}

bool limits_run(const struct limits *limits, const char *run)
{
	return !limits || !limits->n_runs || list_has(limits->runs, limits->n_runs, run);
}

bool limits_user(char *const *users, size_t n, const char *name, unsigned uid)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", uid);
	return n == 0 || list_has(users, n, number) || (name[0] && list_has(users, n, name));
}

const char *limits_own_name(void)
{
	static char name[64];
	static bool asked;
	const struct passwd *user;

	/* Users come from afar on some hosts: asked once. */
	if (!asked) {
		/* cppcheck-suppress getpwuidCalled */ /* other threads look up hosts only */
		user = getpwuid(geteuid());
		snprintf(name, sizeof(name), "%s", user ? user->pw_name : "");
	}
	asked = true;
	return name;
}

bool limits_own_user(char *const *users, size_t n)
{
	return n == 0 || limits_user(users, n, limits_own_name(), (unsigned)geteuid());
}
