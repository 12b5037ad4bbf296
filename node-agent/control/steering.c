/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes rules of steered collectives to files of runs, each whole at once. */
#include "node-agent/control/steering.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/folder.h"
#include "pathmap/model/steering.h"

static int folder_write(int dir, const char *text)
{
	char unfinished[64];
	ssize_t n = (ssize_t)strlen(text), written = -1;
	int fd;

	snprintf(unfinished, sizeof(unfinished), ".%s.%d", STEERING_FILE, (int)getpid());
	(void)unlinkat(dir, unfinished, 0);
	fd = openat(dir, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	written = write(fd, text, (size_t)n);
	close(fd);
	if (written == n && renameat(dir, unfinished, dir, STEERING_FILE) == 0)
		return 0;
	if (written >= 0 && written < n)
		errno = ENOSPC;
	(void)unlinkat(dir, unfinished, 0);
	return -1;
}

static void run_write(const struct store *store, const char *run, const char *text,
		      struct fanout_command_said *said)
{
	int base = folder_open(AT_FDCWD, store->base, store->base, NULL);
	int dir = base < 0 ? -1 : folder_open(base, run, run, NULL);

	/* a run that is gone needs none */
	if ((dir < 0 || folder_write(dir, text) < 0) && errno != ENOENT)
		snprintf(said->why, sizeof(said->why),
			 "run %s cannot be told how to steer collectives: %s", run,
			 strerror(errno));
	if (dir >= 0)
		close(dir);
	if (base >= 0)
		close(base);
}

void steering_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		    const struct plan_place *place, struct fanout_command_said *said)
{
	const struct store *store = here->store;
	const char *text = ask->steered->rules, *before = "";
	const struct store_segment *s;
	const struct store_refusal *r;

	if (strlen(text) > STEER_TEXT_MAX) {
		snprintf(said->why, sizeof(said->why), "rules of steered collectives are too long");
		return;
	}
	/* segments of a run mostly follow each other */
	TAILQ_FOREACH (s, &store->segments, link) {
		if (!s->alive || !source_holds(here, place, s) || strcmp(s->run, before) == 0)
			continue;
		run_write(store, s->run, text, said);
		before = s->run;
	}
	TAILQ_FOREACH (r, &store->refusals, link) {
		if (!r->unwanted || strcmp(r->run, before) == 0)
			continue;
		run_write(store, r->run, text, said);
		before = r->run;
	}
}
