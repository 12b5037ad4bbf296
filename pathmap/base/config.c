/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and writes the files of a user's settings. */
#include "pathmap/base/config.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/base/memory.h"

const char *config_variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

static char *home_path(const char *name)
{
	const char *home = config_variable("HOME");
	struct passwd entry, *user = NULL;
	char texts[4096];

	if (home == NULL && getpwuid_r(getuid(), &entry, texts, sizeof(texts), &user) == 0 &&
	    user != NULL && *user->pw_dir == '/')
		home = user->pw_dir;
	if (home == NULL)
		home = "/nonexistent"; /* Debian's home of users without one */
	return memory_format("%s/.config/evspace/%s", home, name);
}

char *config_path(const char *name)
{
	const char *config = getenv("XDG_CONFIG_HOME");

	if (config != NULL && *config == '/')
		return memory_format("%s/evspace/%s", config, name);
	return home_path(name);
}

char *config_tls_folder(void)
{
	const char *named = config_variable("EVSPACE_TLS");

	return named != NULL ? memory_copy(named) : home_path("tls");
}

void config_folders_make(const char *path)
{
	char *folder = memory_copy(path);

	for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(folder, 0700);
		*slash = '/';
	}
	free(folder);
}

int config_write(const char *path, const char *text, size_t bytes, struct error *e)
{
	char *beside = memory_format("%s.new", path);
	int fd, result = 0;
	FILE *out;

	config_folders_make(path);
	remove(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (out == NULL || fwrite(text, 1, bytes, out) != bytes || fflush(out) != 0 ||
	    fsync(fd) < 0)
		result = -1;
	if (out != NULL && fclose(out) != 0)
		result = -1;
	if (result < 0 || rename(beside, path) < 0) {
		result = errorf(e, "%s cannot be written: %s", path, strerror(errno));
		if (fd >= 0)
			remove(beside);
	}
	free(beside);
	return result;
}
