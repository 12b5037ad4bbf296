/* SPDX-License-Identifier: BSD-3-Clause */
/* A SIGBUS handler for faults in the segment; passes others on to the handler before it. */
#include "node-agent/collect/core/collect-fault.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node-agent/collect/core/collect.h"

/* What takes the place of "seg" in the segment's file name. */
#define WORD "refused-cut-off"

static struct sigaction before;
static char word[sizeof(collect.segment->path) + sizeof(WORD)];

/* The segment whose faults are caught: collect.segment, but set before that is. */
static const struct segment *_Atomic guarded;
static atomic_bool lost;

bool collect_fault_replace(const struct segment *s)
{
	const int access = PROT_READ | PROT_WRITE;
	const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;

	/* cppcheck-suppress [invalidFunctionArg, leakReturnValNotUsed] */
	return mmap(s->header, s->size, access, kind, -1, 0) != MAP_FAILED;
}

/* The address of the header stays valid: other threads may be about to read it. */
static bool forsake(const void *address)
{
	const struct segment *s = guarded;
	uintptr_t at = (uintptr_t)address, begin = s ? (uintptr_t)s->header : 0;

	if (!begin || at < begin || at - begin >= s->size)
		return false;
	lost = true;
	collect_finish();
	return collect_fault_replace(s);
}

/* The default action, for a signal that was sent and for a fault. */
static void pass_default(int number, const siginfo_t *info)
{
	const struct sigaction again = {.sa_handler = SIG_DFL};
	bool sent = info->si_code <= 0;

	if (sent && before.sa_handler == SIG_IGN)
		return;
	sigaction(number, &again, NULL);
	/* a fault repeats with the access, and ends the program even if SIGBUS is ignored */
	if (sent)
		raise(number);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction once = {.sa_handler = SIG_DFL};

	if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
		pass_default(number, info);
		return;
	}
	if (before.sa_flags & SA_RESETHAND)
		sigaction(number, &once, NULL);
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(number, info, context);
	else
		before.sa_handler(number);
}

static void caught(int number, siginfo_t *info, void *context)
{
	int saved = errno, fd;

	if (info->si_code != BUS_ADRERR || !forsake(info->si_addr)) {
		pass_on(number, info, context);
		return;
	}
	fd = open(word, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	errno = saved;
}

static void word_make(const char *path)
{
	const char *end = strrchr(path, '.');

	snprintf(word, sizeof(word), "%.*s" WORD, end ? (int)(end + 1 - path) : 0, path);
}

bool collect_fault_lost(void)
{
	return lost;
}

void collect_fault_forget(void)
{
	guarded = NULL;
}

void collect_fault_catch(const struct segment *s)
{
	static bool catching;
	struct sigaction action;

	word_make(s->path);
	lost = false;
	guarded = s;
	if (catching || sigaction(SIGBUS, NULL, &before) < 0)
		return;
	/* keep the stack and the mask of the handler before */
	action = before;
	action.sa_flags &= SA_ONSTACK | SA_RESTART | SA_NODEFER;
	if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
		action.sa_flags = SA_ONSTACK | SA_RESTART;
	action.sa_flags |= SA_SIGINFO;
	action.sa_sigaction = caught;
	catching = sigaction(SIGBUS, &action, NULL) == 0;
}
