/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaves word in the run's folder, as segment_create() does where it cannot make a segment. */
#include "node-agent/collect/core/door-refuse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "node-agent/collect/core/settings.h"

/* What the launcher says: of an MPI that we do not know, nothing can be asked. */
static int rank_guess(void)
{
	static const char *const names[] = {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
	const char *value;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		value = getenv(names[i]);
		if (value && *value)
			return atoi(value);
	}
	return 0;
}

void door_refuse(const char *reason)
{
	struct settings settings;
	struct error e;
	char path[sizeof(settings.dir) + 80];
	int fd, saved = errno;

	settings_read(&settings);
	if (!settings_folder(&settings, &e)) {
		snprintf(path, sizeof(path), "%s/rank%d.%d.refused-%s", settings.dir, rank_guess(),
			 (int)getpid(), reason);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
	}
	errno = saved;
}
