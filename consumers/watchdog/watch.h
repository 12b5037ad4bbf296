/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace watch: its state, shared by the command (watch.c), what it starts (watch-start.c) and
 * what it keeps (watch-save.c). */
#ifndef EVSPACE_WATCH_H
#define EVSPACE_WATCH_H

#include <sys/types.h>

#include "consumers/colop/colop-live.h"
#include "consumers/watchdog/alarm.h"
#include "consumers/watch/events-order.h"
#include "consumers/watch/heartbeat.h"
#include "consumers/watchdog/score.h"

/** What may be watched for. */
enum watch_kind { WATCH_DESYNC, WATCH_STUCK, WATCH_LATE, WATCH_SLOWER, WATCH_KINDS };

/** Most ranks that are said to be slower at a time. */
#define WATCH_SLOW 3

struct watch {
	struct heartbeat heartbeat; /* the looks; its common options; its words: the command */
	struct toll *toll;	    /* what they cost */
	bool on[WATCH_KINDS];
	bool stacks;		       /* keep those of all ranks, too */
	bool check;		       /* exit code 1 if something was seen */
	const char *pathmap, *run;     /* for evspace run */
	char *name;		       /* of the run */
	const char *save;	       /* folder for what is kept; NULL: evspace-watch-RUN */
	char *folder;		       /* the same, once it is made */
	uint64_t last_ns;	       /* how far back events are kept */
	struct evspace_client *stream; /* of events; NULL: not needed */
	bool drained;		       /* it has ended, and all of it was read */
	bool deaf;		       /* it cannot be read any more */
	struct events_order order;
	struct colop_live *late; /* who is late; NULL: nobody asks */
	struct scores *scores;
	struct score_slow slow[WATCH_SLOW]; /* who is slow now */
	size_t n_slow;
	int64_t newest_ns;  /* the last end of an event */
	uint64_t scored_ns; /* CLOCK_MONOTONIC, of an archive by its events */
	struct alarm alarms[WATCH_KINDS];
	unsigned seen; /* alarms so far */
	pid_t program; /* evspace run */
	pid_t agent;   /* one of our own; 0: none */
};

/** Connect to the agent, or start one for as long as it takes; then start the program. Returns -1
 * to go on, or the exit code after a message. */
int watch_start(struct watch *watch);

/** Has the program ended? Then *@code is its exit code. @wait: until it has. */
bool watch_ended(struct watch *watch, bool wait, int *code);

/** End what was started beside the program. */
void watch_stop(struct watch *watch);

/** Is an archive watched, and no program? */
bool watch_replays(const struct watch *watch);

/** Say of an archive what would have been said of its program. Returns the exit code.
 * (watch-replay.c) */
int watch_replay(struct watch *watch, const char *command);

/** Say what is seen at @now_ns, and what is over. @last: nothing more will be known. */
void watch_alarms(struct watch *watch, uint64_t now_ns, bool last);

/** If what is watched for needs events, too, read them. Returns -1, or, after a message, the exit
 * code if nothing is read without them. (watch-stream.c) */
int watch_stream_open(struct watch *watch);
void watch_stream_close(struct watch *watch);

/** Take what has come. */
void watch_stream_take(struct watch *watch);

/** Take the stream's wave, by the time of its events, and find out who is slow, now and then, or
 * now. */
void watch_stream_wave(struct watch *watch);
void watch_find_slow(struct watch *watch);

/** Write on @out who is slower than others, or than before. */
void watch_say_slow(const struct watch *watch, FILE *out);

/** Write the stacks of the living ranks, as agents read them: each thread is stopped for a moment.
 * (watch-stacks.c) */
void watch_stacks(const struct watch *watch, FILE *out);

/** Keep what is known now: @text, which was found, all threads, and the last events of all, in
 * files of their own. */
void watch_save(struct watch *watch, const char *kind, const char *text);

#endif
