/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes profiles: statements of a word and a value, as in map files. */
#include "consumers/cli/profile.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/base/quantity.h"
#include "pathmap/base/config.h"
#include "pathmap/grammar/directive.h"
#include "pathmap/base/memory.h"
#include "tree/link/address.h"

#define NAME_MOST 64

const char *const profile_settings[] = {"connect", "tls", "identity", "entry", "run", "rate", NULL};

char **profile_setting(struct profile *p, const char *name)
{
	char **const values[] = {&p->connect, &p->tls, &p->identity, &p->entry, &p->run, &p->rate};

	for (size_t i = 0; profile_settings[i]; i++) {
		if (strcmp(profile_settings[i], name) == 0)
			return values[i];
	}
	return NULL;
}

void profile_fini(struct profile *p)
{
	for (size_t i = 0; profile_settings[i]; i++)
		free(*profile_setting(p, profile_settings[i]));
	*p = (struct profile){NULL};
}

/* ---- checks ---- */

static bool has_controls(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return true;
	return false;
}

int profile_check(const char *name, const char *value, struct error *e)
{
	double rate;

	if (!*value || strchr(value, '"') || has_controls(value))
		return errorf(e, "it is empty, or has quotes or control characters in it");
	if (strcmp(name, "connect") == 0)
		return address_check(value, false, e);
	if (strcmp(name, "tls") == 0 && *value != '/')
		return errorf(e, "'%.200s' is not an absolute path", value);
	if (strcmp(name, "identity") == 0 && (*value == '.' || strchr(value, '/')))
		return errorf(
			e,
			"'%.200s' is not a name: NAME.pem and NAME.key are in the folder that "
			"--tls says",
			value);
	if (strcmp(name, "rate") == 0)
		return unit_rate(value, &rate, e);
	return 0;
}

static int name_check(const char *name, struct error *e)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	if (n > 0 && n <= NAME_MOST && !name[n])
		return 0;
	errno = EINVAL;
	return errorf(e, "'%.80s' is not a name of a profile: up to %d letters, digits, - and _",
		      name, NAME_MOST);
}

/* ---- the folder ---- */

static char *profile_path(const char *name)
{
	char *folder = config_path("profiles"), *path = memory_format("%s/%s", folder, name);

	free(folder);
	return path;
}

static int name_order(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

size_t profile_names(char ***names)
{
	char *folder = config_path("profiles");
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	struct error e;
	size_t n = 0;

	*names = NULL;
	free(folder);
	while (dir && (entry = readdir(dir))) {
		if (name_check(entry->d_name, &e) < 0)
			continue;
		*names = memory_room(*names, n, sizeof(char *));
		(*names)[n++] = memory_copy(entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (n > 0)
		qsort(*names, n, sizeof(char *), name_order);
	return n;
}

void profile_names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static int profile_unknown(const char *name, struct error *e)
{
	char **names, list[600] = "";
	size_t n = profile_names(&names), used = 0;

	for (size_t i = 0; i < n && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 names[i]);
	profile_names_free(names, n);
	errno = ENOENT;
	if (n == 0)
		return errorf(e,
			      "there is no profile '%s', nor any other; make one: evspace "
			      "profile save %s --connect HOST:PORT",
			      name, name);
	return errorf(e, "there is no profile '%s'; there are: %s", name, list);
}

/* ---- reading ---- */

static void setting_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const char *name = statement->words[0].text, *value = statement->words[1].text;
	struct error e;

	if (profile_check(name, value, &e) < 0)
		reader_complain(reader, &statement->words[1], "%s", e.text);
	else
		*profile_setting(target, name) = memory_copy(value);
}

#define SETTING(how)                                                               \
	{                                                                          \
		.usage = how, .contexts = 1, .once = true, .apply = setting_apply, \
	}

static const struct directive directives[] = {
	SETTING("connect HOST:PORT;"), SETTING("tls \"/home/me/certs\";"),
	SETTING("identity observe;"),  SETTING("entry front;"),
	SETTING("run NAME;"),	       SETTING("rate 5;"),
};

static int profile_parse(struct profile *p, const char *folder, const char *name, struct error *e)
{
	static const char *const contexts[] = {"a profile", NULL};
	struct diagnostics diagnostics = {0};
	struct mapfile source;
	struct reader reader = {
		.source = &source,
		.diagnostics = &diagnostics,
		.table = directives,
		.n_table = sizeof(directives) / sizeof(directives[0]),
		.contexts = contexts,
		.map = p,
	};
	int result = 0;

	mapfile_read(&source, folder, name, &diagnostics);
	if (source.usable) {
		reader_begin(&reader, 0, p);
		reader_end(&reader);
	}
	if (diagnostics.total > 0)
		result = diagnostics_error(&diagnostics, e);
	diagnostics_fini(&diagnostics);
	mapfile_fini(&source);
	return result;
}

int profile_read(struct profile *p, const char *name, struct error *e)
{
	char *folder, *path;
	struct stat status;
	int result, found;

	*p = (struct profile){NULL};
	if (name_check(name, e) < 0)
		return -1;
	path = profile_path(name);
	folder = config_path("profiles");
	found = stat(path, &status);
	if (found < 0 && errno == ENOENT)
		result = profile_unknown(name, e);
	else if (found == 0 && !S_ISREG(status.st_mode))
		result = errorf(e, "%s is not a file, as profiles are", path);
	else
		result = profile_parse(p, folder, name, e);
	if (result < 0)
		profile_fini(p);
	free(path);
	free(folder);
	return result;
}

/* ---- writing ---- */

int profile_write(struct profile *p, const char *name, struct error *e)
{
	char *path, *text;
	int result = 0, saved;
	size_t bytes;
	FILE *out;

	if (name_check(name, e) < 0)
		return -1;
	out = open_memstream(&text, &bytes);
	if (!out)
		abort();
	fprintf(out, "# evspace --profile %s\n", name);
	for (size_t i = 0; profile_settings[i] && result == 0; i++) {
		const char *value = *profile_setting(p, profile_settings[i]);

		if (value && (result = profile_check(profile_settings[i], value, e)) == 0)
			fprintf(out, "%s \"%s\";\n", profile_settings[i], value);
	}
	if (fclose(out) == EOF)
		abort();
	path = profile_path(name);
	if (result == 0)
		result = config_write(path, text, bytes, e);
	saved = errno;
	free(path);
	free(text);
	errno = saved;
	return result;
}

int profile_remove(const char *name, struct error *e)
{
	char *path;
	int result = 0;

	if (name_check(name, e) < 0)
		return -1;
	path = profile_path(name);
	if (unlink(path) < 0)
		result = errno == ENOENT ? profile_unknown(name, e)
					 : errorf(e, "%s: %s", path, strerror(errno));
	free(path);
	return result;
}

/* ---- which ---- */

const struct profile *profile_chosen(const char *name, struct error *e)
{
	static struct profile chosen;
	const char *variable = getenv("EVSPACE_PROFILE");

	if (!name)
		name = variable;
	profile_fini(&chosen);
	if (!name || !*name)
		return &chosen;
	return profile_read(&chosen, name, e) < 0 ? NULL : &chosen;
}
