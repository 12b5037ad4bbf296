/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes a client's waves to the recorder, for views of the monitors. */
#include "consumers/client/client-monitor.h"

#include <string.h>

#include "consumers/client/client.h"

static const struct client_recorder *recorder;

void client_recorder_set(const struct client_recorder *r)
{
	recorder = r;
}

int client_monitor_check(struct error *e)
{
	if (recorder)
		return 0;
	return errorf(e, "this program cannot be monitored: only the command evspace records what "
			 "it does itself; leave `monitored` out");
}

int client_monitor_begin(struct evspace_client *c, struct error *e)
{
	const Evspace__Hello *entry = c->connection->link ? link_hello(c->connection->link) : NULL;
	const char *host = NULL;
	char here[64];

	if (!c->monitored)
		return 0;
	/* of several agents on this host, the one that it talks to shows it, if that is here */
	clock_boot_id(here, sizeof(here));
	if (entry && here[0] && strcmp(entry->boot_id, here) == 0)
		host = entry->name;
	c->monitor = recorder->begin(host, e);
	if (!c->monitor)
		return -1;
	span_init(&c->span, recorder->tracer(c->monitor), c->view, c->run);
	c->cpu_us = clock_cpu_us();
	return 0;
}

void client_monitor_wave(struct evspace_client *c, const struct frame *frame, uint64_t asked_ns)
{
	const Evspace__Answer *a = frame->header->answer;
	uint64_t now = span_since(&c->span), cpu;

	if (!now)
		return;
	cpu = clock_cpu_us();
	span_write(&c->span, &(struct trace){
				     .op = OP_EVSPACE_WAVE,
				     .flags = a->n_missing ? TUPLE_FAILED : 0,
				     .since_ns = asked_ns ? asked_ns : now,
				     .bytes = frame->bytes,
				     .peer = 1,
				     .wave = a->wave,
			     });
	span_write(&c->span, &(struct trace){
				     .op = OP_EVSPACE_CPU,
				     .since_ns = now - (cpu - c->cpu_us) * 1000,
				     .peer = TUPLE_NO_PEER,
				     .wave = a->wave,
			     });
	c->cpu_us = cpu;
}

void client_monitor_end(struct evspace_client *c)
{
	span_fini(&c->span);
	if (c->monitor)
		recorder->end(c->monitor);
}
