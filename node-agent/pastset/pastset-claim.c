/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of single bytes of an element's file, which belong to the open file, not to the process. */
#include "node-agent/pastset/pastset-claim.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int lock_call(int fd, int command, unsigned part, struct flock *lock)
{
	int kind = lock->l_type;

	*lock = (struct flock){
		.l_type = (short)kind, .l_whence = SEEK_SET, .l_start = part, .l_len = 1};
	return fcntl(fd, command, lock);
}

int pastset_claim(int fd, unsigned part)
{
	struct flock lock = {.l_type = F_WRLCK};

	return lock_call(fd, F_OFD_SETLK, part, &lock);
}

void pastset_unclaim(int fd, unsigned part)
{
	struct flock lock = {.l_type = F_UNLCK};
	int saved = errno;

	(void)lock_call(fd, F_OFD_SETLK, part, &lock);
	errno = saved;
}

bool pastset_is_claimed(int fd, unsigned part)
{
	struct flock lock = {.l_type = F_WRLCK};

	return lock_call(fd, F_OFD_GETLK, part, &lock) == 0 && lock.l_type != F_UNLCK;
}
