/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a name for a run, and makes and locks its folder. */
#include "consumers/run/claim.h"

#include <errno.h>
#include <signal.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "node-agent/store/store.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* Names tried for one program and second. */
#define TRIES 100

/* "app-142305": the program's name, without what a run's name may not have, and the time. */
static char *name_default(const char *program)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "._-";
	const char *slash = strrchr(program, '/');
	char name[40], when[16];
	time_t now = time(NULL);
	struct tm local;

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : program);
	for (char *c = name; *c; c++)
		if (!strchr(good, *c))
			*c = '_';
	strftime(when, sizeof(when), "%H%M%S", localtime_r(&now, &local));
	return memory_format("%s%s-%s", name[0] == '.' ? "_" : "", name, when);
}

/* Make the run's folder and lock it. Returns 0, or -1 with errno: EBUSY if another process has
 * it. */
static int folder_take(struct claim *claim, struct error *e)
{
	const struct settings *s = &claim->settings;

	if (settings_folder(s, e))
		return -1;
	claim->folder = open(s->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (claim->folder < 0)
		return errorf(e, "%s: %s", s->dir, strerror(errno));
	if (!flock(claim->folder, LOCK_EX | LOCK_NB))
		return 0;
	claim_fini(claim);
	errno = EBUSY;
	return errorf(e, "another evspace run has a run named %s: give this one another --run NAME",
		      s->run);
}

/* How many processes of an earlier run of this name there are; -1 with EBUSY if it is live. */
static int left_by(const struct store *store, const char *name, struct error *e)
{
	const struct store_segment *s;
	const struct store_refusal *r;
	int n = 0, alive = 0;

	TAILQ_FOREACH (s, &store->segments, link) {
		n += !strcmp(s->run, name);
		alive += s->alive && !strcmp(s->run, name);
	}
	TAILQ_FOREACH (r, &store->refusals, link)
		n += !strcmp(r->run, name) && r->pid > 0 && kill(r->pid, 0) < 0 && errno == ESRCH;
	if (!alive)
		return n;
	errno = EBUSY;
	return errorf(e,
		      "a run named %s is living (%d process%s): give this one another --run NAME, "
		      "or end that one first",
		      name, alive, plural((uint64_t)alive, "es"));
}

/* Look into the folder, which we have locked; @replace: remove what an ended run left. */
static int folder_clear(const struct claim *claim, bool replace, struct error *e)
{
	const char *name = claim->settings.run;
	struct store store;
	int left;

	if (store_init(&store, claim->settings.base, false, e))
		return -1;
	left = left_by(&store, name, e);
	if (left > 0 && replace) {
		store_purge(&store, name, 0, false);
		fprintf(stderr, "evspace run: removed what an ended run named %s left\n", name);
	}
	store_fini(&store);
	if (left <= 0 || replace)
		return left;
	errno = EBUSY;
	return errorf(e, "an ended run is named %s", name);
}

/* Make the folder ours. */
static int folder_claim(struct claim *claim, bool replace, struct error *e)
{
	int left = 1, saved;

	/* clearing may remove the folder and its lock: then make both again */
	for (int tries = 0; tries < 3 && left > 0; tries++) {
		claim_fini(claim);
		if (folder_take(claim, e))
			return -1;
		left = folder_clear(claim, replace, e);
	}
	if (left >= 0)
		return 0;
	saved = errno;
	claim_fini(claim);
	errno = saved;
	return -1;
}

static int claim_named(struct claim *claim, const struct preload_options *options, bool replace,
		       struct error *e)
{
	if (preload_settings(options, &claim->settings, e)) {
		errno = EINVAL;
		return -1;
	}
	if (strstr(claim->settings.base, "%n")) {
		errno = EINVAL;
		return errorf(e,
			      "EVSPACE_DIR=%s: agents alone have a name to put for %%n; say the "
			      "folder of one node",
			      claim->settings.base);
	}
	return folder_claim(claim, replace, e);
}

int claim_take(struct claim *claim, const struct preload_options *options, const char *program,
	       struct error *e)
{
	struct preload_options named = *options;
	const char *set = getenv("EVSPACE_RUN");
	char *first, *name;
	int rc = -1, tries;

	claim->folder = -1;
	if (options->flags.said[FLAG_RUN] || (set && *set))
		return claim_named(claim, options, true, e);
	first = name_default(program);
	for (tries = 1; tries < TRIES; tries++) {
		name = tries == 1 ? memory_copy(first) : memory_format("%s-%d", first, tries);
		named.flags.said[FLAG_RUN] = name;
		rc = claim_named(claim, &named, false, e);
		free(name);
		if (!rc || errno != EBUSY)
			break;
	}
	free(first);
	return rc;
}

void claim_drop(struct claim *claim)
{
	if (claim->folder >= 0)
		rmdir(claim->settings.dir);
	claim_fini(claim);
}

void claim_fini(struct claim *claim)
{
	int saved = errno;

	if (claim->folder >= 0)
		close(claim->folder);
	claim->folder = -1;
	errno = saved;
}
