/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks one question on a connection of its own, and waits for the answer. */
#include "consumers/client/client-ask.h"

#include <stdio.h>

#include "consumers/client/connection.h"
#include "consumers/client/evspace-loop.h"

struct asking {
	bool done;
	Evspace__Frame *reply;
	enum evspace_failure *failure;
	char *why;
	size_t n;
};

static void asking_answered(const struct asker *asker, Evspace__Frame **reply,
			    enum evspace_failure failure, const char *why)
{
	struct asking *a = asker->arg;

	a->done = true;
	a->reply = *reply;
	*reply = NULL;
	*a->failure = failure;
	if (!a->reply)
		snprintf(a->why, a->n, "%s", why);
}

Evspace__Frame *client_ask(const struct evspace_options *options, const Evspace__Frame *question,
			   Evspace__Frame__KindCase answer, enum evspace_failure *failure,
			   char *why, size_t n)
{
	struct asking a = {.failure = failure, .why = why, .n = n};
	const struct asker asker = {.answered = asking_answered, .arg = &a};
	struct evspace_connection *c = evspace_connect(options);
	unsigned deadline_ms = options->deadline_ms ? options->deadline_ms : 1000;

	question_new(c, question, answer, deadline_ms, &asker, NULL);
	while (!a.done)
		connection_turn(c);
	evspace_disconnect(c);
	return a.reply;
}
