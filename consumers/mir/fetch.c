/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetches files by curl(1), with bounds that do not depend on what hosts say. */
#include "consumers/mir/fetch.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consumers/cli/subprocess.h"
#include "consumers/code/code.h"
#include "pathmap/base/memory.h"

#define SECONDS	     60
#define SECONDS_TEXT "60"

/* Longest name of a file. */
#define NAME_MOST 100

#define NAMES	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-"
#define LETTERS NAMES "~:/?#[]@!$&'()*,;=%"

bool fetch_is(const char *uri)
{
	return strncmp(uri, "http://", 7) == 0 || strncmp(uri, "https://", 8) == 0 ||
	       strncmp(uri, "ftp://", 6) == 0;
}

char *fetch_begin(void)
{
	const char *top = getenv("TMPDIR");
	char *folder = memory_format("%s/evspace-mir-XXXXXX", top && *top ? top : "/tmp");

	if (mkdtemp(folder))
		return folder;
	free(folder);
	return NULL;
}

void fetch_end(char *folder)
{
	DIR *dir = folder ? opendir(folder) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (folder)
		rmdir(folder);
	free(folder);
}

/* Is the host that the URI is at among those? Whoever is named before a "@" is none. */
static bool is_stated(const char *uri, const char *hosts)
{
	const char *at = strstr(uri, "://") + 3, *user;
	size_t n = strcspn(at, "/?#");

	user = memrchr(at, '@', n);
	if (user) {
		n -= (size_t)(user + 1 - at);
		at = user + 1;
	}
	while (hosts && *hosts) {
		size_t of = strcspn(hosts, ",");

		if (of == n && n > 0 && strncasecmp(hosts, at, n) == 0)
			return true;
		hosts += of + (hosts[of] == ',');
	}
	return false;
}

char *fetch_path(const char *folder, const char *uri)
{
	const char *path = strchr(strstr(uri, "://") + 3, '/'), *name;
	size_t n;

	if (!path)
		return NULL;
	n = strcspn(path, "?#");
	name = (const char *)memrchr(path, '/', n) + 1;
	n -= (size_t)(name - path);
	if (n == 0 || n > NAME_MOST || *name == '.' || strspn(name, NAMES) < n)
		return NULL;
	return memory_format("%s/%.*s", folder, (int)n, name);
}

/* What curl writes is at most so large, whatever it was told. */
static char *curl_run(const char *const *words, struct error *e)
{
	struct rlimit before, most;
	char *said;

	getrlimit(RLIMIT_FSIZE, &before);
	most = (struct rlimit){CODE_MAX, before.rlim_max};
	setrlimit(RLIMIT_FSIZE, &most);
	said = subprocess_run((char *const *)(uintptr_t)words, SECONDS + 5, e);
	setrlimit(RLIMIT_FSIZE, &before);
	return said;
}

char *fetch_file(const char *folder, const char *uri, const char *hosts, struct error *e)
{
	bool stated = strspn(uri, LETTERS) == strlen(uri) && is_stated(uri, hosts);
	char *path = stated && folder ? fetch_path(folder, uri) : NULL, *said = NULL;
	const char *const words[] = {"curl",
				     "-q",
				     "--silent",
				     "--show-error",
				     "--fail",
				     "--globoff",
				     "--proto",
				     "=http,https,ftp",
				     "--max-time",
				     SECONDS_TEXT,
				     "--max-filesize",
				     "16777216",
				     "--output",
				     path,
				     "--write-out",
				     "%{response_code}",
				     "--url",
				     uri,
				     NULL};
	struct stat file;

	if (!stated)
		errorf(e,
		       "%.200s is not read: who started evspace mir says --fetch HOST for hosts "
		       "that sources may be fetched from; or write file:///PATH",
		       uri);
	else if (!folder)
		errorf(e, "there is no room for a folder: %s", strerror(errno));
	else if (!path)
		errorf(e, "%.200s does not end with the name of a file", uri);
	else if (access(path, F_OK) == 0)
		errorf(e, "%.200s: another one has the same name; ask for it by itself", uri);
	else if (!(said = curl_run(words, e)))
		stat(path, &file) == 0 && (size_t)file.st_size >= CODE_MAX
			? errorf(e, "%.200s is larger than %zu MiB", uri, CODE_MAX >> 20)
			: error_prefix(e, "%.200s", uri);
	if (said && said[0] == '2' && access(path, R_OK) == 0) {
		free(said);
		return path;
	}
	if (said && said[0] == '2')
		errorf(e, "%.200s is empty", uri);
	else if (said)
		errorf(e, "%.200s: the answer is %.20s", uri, said);
	free(said);
	free(path);
	return NULL;
}
