/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes of ssh's diagnostics one line that says what to do. */
#include "consumers/deploy/parallel-words.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

/* What ssh says, in the order in which it is looked for, and what helps. */
static const struct {
	const char *said;
	const char *advice;
} table[] = {
	{"HOST IDENTIFICATION HAS CHANGED",
	 "wrong host key: it is not the one that your known_hosts has. If the host was installed "
	 "anew, forget the old one (ssh-keygen -R HOST); else somebody may stand in between"},
	{"Host key verification failed",
	 "its host key is not known: log in once by hand (ssh HOST) and compare it"},
	{"Permission denied", "it does not let us in: is your key there (ssh-copy-id HOST) and in "
			      "your agent (ssh-add)?"},
	{"Could not resolve hostname",
	 "no such host; say in cluster.map which it is: deploy ssh { host NAME; }"},
	{"timed out", "nobody answers there"},
	{"No route to host", "there is no way to it"},
	{"Connection refused", "no sshd listens there; another port: deploy ssh { port N; }"},
	{"eval: not found", "it has no usable /bin/sh"},
	{"head: not found", "it has no head(1); install coreutils there"},
	{"sha256sum: not found", "it has no sha256sum(1); install coreutils there"},
};

/* The last line that is not empty. */
static char *last_line(const char *said)
{
	char *text = memory_copy(said), *rest = text, *line, *last = NULL;

	while ((line = strsep(&rest, "\r\n")) != NULL)
		if (*line)
			last = line;
	last = memory_copy(last);
	free(text);
	return last;
}

char *parallel_words(const struct target *post, const char *said, const char *otherwise)
{
	char *last = last_line(said), *text;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!strstr(said, table[i].said))
			continue;
		text = memory_format("%s (ssh to %s: %s)", table[i].advice, post->host, last);
		free(last);
		return text;
	}
	if (!last)
		return memory_copy(otherwise);
	text = memory_format("%s: %s", otherwise, last);
	free(last);
	return text;
}
