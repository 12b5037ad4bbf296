/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries out a command here, passes it on to child agents, and joins their answers. */
#include "tree/scope/fanout-command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/utf8.h"
#include "tree/scope/fanout.h"

/* The deadline of a command that has none. */
#define DEADLINE_MS 1000u

/* Texts from child agents are cut at this. */
#define TEXT_MOST 255

struct fanout_command {
	struct fanout fanout; /* first: callbacks cast it to the command */
	const struct fanout_command_host *host;
	Evspace__SwitchAsk *ask; /* a copy, without its place */
	char run[64];
	struct classes *classes;
	Evspace__Host *here; /* what was done here; NULL: this is not a leaf */
	size_t n_leaves;
};

/* ---- results ---- */

static char *leaf_name(const struct plan_place *p)
{
	return memory_format("/%s/%s", p->cluster[0] ? p->cluster : "-", p->node);
}

static Evspace__Host *host_new(const struct plan_place *p, const char *text)
{
	Evspace__Host *h = memory_new(1, sizeof(*h));

	evspace__host__init(h);
	h->name = leaf_name(p);
	h->text = memory_copy_bytes(text, strnlen(text, TEXT_MOST));
	return h;
}

/* Copy @from except for its texts. */
static void host_count(Evspace__Host *h, const Evspace__Host *from)
{
	h->processes = from->processes;
	h->changed = from->changed;
	h->switched = from->switched;
	h->discarded = from->discarded;
	h->written = from->written;
	h->held = from->held;
	h->lost = from->lost;
	h->why = from->why;
}

/* A leaf without a result has not answered. */
static void *command_miss(const struct fanout_branch *b, const struct plan_place *p,
			  enum missing_why why, const char *text, const char *behind)
{
	Evspace__Host *h = host_new(p, why == MISSING_REFUSED ? text : "");

	(void)b;
	(void)behind;
	h->why = why;
	return h;
}

/* If the entry has nothing of the run, the hosts that have say its name. */
static void command_run(struct fanout_command *c, const char *run)
{
	if (!c->run[0] && c->host->is_run(run))
		snprintf(c->run, sizeof(c->run), "%s", run);
}

static void command_carry(struct fanout *f)
{
	struct fanout_command *c = (struct fanout_command *)f;
	Evspace__Host said = EVSPACE__HOST__INIT;
	struct fanout_command_said words = {"", ""};

	if (!f->place->leaf)
		return;
	said.name = leaf_name(f->place);
	c->host->carry(c->host->arg, c->ask, f->place, c->classes, &said, &words);
	command_run(c, words.run);
	c->here = host_new(f->place, said.text);
	host_count(c->here, &said);
	free(said.name);
}

Evspace__Host **fanout_command_hosts(const struct fanout_command *c, size_t *n)
{
	Evspace__Host **list = memory_new(c->n_leaves + 1, sizeof(*list));

	*n = 0;
	if (c->here)
		list[(*n)++] = c->here;
	for (size_t i = 0; i < c->fanout.n_branches; i++) {
		const struct seats *seats = &c->fanout.branches[i].seats;

		for (size_t k = 0; k < seats->n; k++) {
			if (seats->list[k].said)
				list[(*n)++] = seats->list[k].said;
		}
	}
	return list;
}

static void command_answer(struct fanout_command *c)
{
	Evspace__Switched switched = EVSPACE__SWITCHED__INIT;

	switched.scope = c->fanout.number;
	switched.run = c->run;
	switched.hosts = fanout_command_hosts(c, &switched.n_hosts);
	switched.n_classes = classes_count(c->classes);
	switched.classes = classes_wire(c->classes, NULL);
	if (link_send(c->fanout.up, &WIRE_FRAME(SWITCHED, switched, &switched), NULL) < 0 &&
	    errno == EMSGSIZE)
		link_send_error(
			c->fanout.up, c->fanout.number, EMSGSIZE,
			"the results of the command do not fit into a frame; select fewer hosts");
	free(switched.classes);
	free(switched.hosts);
}

static void command_end(struct fanout *f)
{
	struct fanout_command *c = (struct fanout_command *)f;

	if (f->up)
		command_answer(c);
	c->host->done(c->host->arg, c);
}

/* ---- children ---- */

static int command_ask(struct fanout_branch *b, Evspace__Place *place, uint32_t deadline_ms)
{
	const struct fanout_command *c = (const struct fanout_command *)b->fanout;
	Evspace__SwitchAsk ask = *c->ask;

	ask.scope = b->user.scope;
	ask.run = (char *)(uintptr_t)c->run;
	ask.deadline_ms = deadline_ms;
	ask.place = place;
	return link_send(child_link(&b->user), &WIRE_FRAME(SWITCH_ASK, switch_ask, &ask), NULL);
}

/* Returns whether the child may say this. */
static bool branch_take(struct fanout_branch *b, const Evspace__Host *from)
{
	const char *node = strrchr(from->name, '/');
	struct seat *seat = seats_vacant(&b->seats, node ? node + 1 : from->name);
	Evspace__Host *h;

	if (!seat)
		return false;
	seat->said = h = host_new(seat->place, from->text);
	host_count(h, from);
	return true;
}

static bool command_take(struct fanout_branch *b, const Evspace__Frame *frame, size_t *refused)
{
	struct fanout_command *c = (struct fanout_command *)b->fanout;
	const Evspace__Switched *s = frame->switched;

	if (frame->kind_case != EVSPACE__FRAME__KIND_SWITCHED)
		return false;
	for (size_t i = 0; i < s->n_hosts; i++)
		*refused += !branch_take(b, s->hosts[i]);
	for (size_t i = 0; i < s->n_classes; i++)
		classes_add_wire(c->classes, s->classes[i]);
	command_run(c, s->run);
	return true;
}

static void said_free(void *said)
{
	evspace__host__free_unpacked(said, NULL);
}

static const struct fanout_kind kind = {
	.leaves = true,
	.deadline_ms = DEADLINE_MS,
	.ask = command_ask,
	.take = command_take,
	.miss = command_miss,
	.here = command_carry,
	.end = command_end,
	.said_free = said_free,
};

/* ---- life ---- */

struct fanout_command *fanout_command_new(const struct fanout_command_host *host, struct link *up,
					  const Evspace__SwitchAsk *ask, struct error *e)
{
	struct fanout_asked asked = {.number = ask->scope,
				     .deadline_ms = ask->deadline_ms,
				     .awaits = ask->awaits,
				     .place = ask->place,
				     .peer = ask->peer};
	Evspace__SwitchAsk bare = *ask;
	struct fanout_command *c;

	if (!ask->place) {
		errno = EPROTO;
		errorf(e, "a switching of classes without a place");
		return NULL;
	}
	c = memory_new(1, sizeof(*c));
	bare.place = NULL;
	c->ask = (Evspace__SwitchAsk *)wire_copy_counted(&bare.base, &asked.bytes);
	if (fanout_init(&c->fanout, &kind, up, &asked, e) < 0) {
		evspace__switch_ask__free_unpacked(c->ask, NULL);
		free(c);
		return NULL;
	}
	c->host = host;
	c->fanout.signer = c->ask->signer;
	snprintf(c->run, sizeof(c->run), "%s", ask->run);
	c->n_leaves = plan_size(c->fanout.place).leaves;
	c->classes = classes_new();
	fanout_begin(&c->fanout, host->base, host->children);
	return c;
}

bool fanout_command_changed(const struct fanout_command *c)
{
	Evspace__Host **hosts;
	bool changed = false;
	size_t n;

	hosts = fanout_command_hosts(c, &n);
	for (size_t i = 0; i < n; i++)
		changed |= hosts[i]->changed > 0 || hosts[i]->switched > 0;
	free(hosts);
	return changed;
}

const char *fanout_command_outcome(const struct fanout_command *c, char *buf, size_t n)
{
	unsigned long processes = 0, answered = 0;
	char why[UTF8_QUOTED] = "";
	Evspace__Host **hosts;
	size_t n_hosts;

	hosts = fanout_command_hosts(c, &n_hosts);
	for (size_t i = 0; i < n_hosts; i++) {
		processes += hosts[i]->processes;
		answered += hosts[i]->why == 0;
		if (hosts[i]->text[0])
			utf8_quote(hosts[i]->text, why);
	}
	free(hosts);
	snprintf(buf, n, "%lu process%s on %lu of %zu host%s%s%s", processes,
		 plural(processes, "es"), answered, c->n_leaves, plural(c->n_leaves, "s"),
		 why[0] ? "; " : "", why);
	return buf;
}

void fanout_command_free(struct fanout_command *c)
{
	if (!c)
		return;
	fanout_fini(&c->fanout);
	if (c->here)
		evspace__host__free_unpacked(c->here, NULL);
	classes_free(c->classes);
	evspace__switch_ask__free_unpacked(c->ask, NULL);
	free(c);
}
