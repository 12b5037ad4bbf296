/* SPDX-License-Identifier: BSD-3-Clause */
/* Records a client's waves where an agent of this host shows them: for whoever looks at the
 * monitors. */
#include <string.h>

#include "consumers/client/client.h"
#include "node-agent/store/monitor.h"
#include "node-agent/store/store.h"
#include "tree/data/process.h"

int client_monitor_begin(struct evspace_client *c, struct error *e)
{
	char base[200], here[64];
	struct monitor_plan plan = {.base = base, .process = PROCESS_CONSUMER, .keep = true};
	const Evspace__Hello *entry = c->link ? link_hello(c->link) : NULL;

	if (!store_base(base, sizeof(base), e))
		return -1;
	/* Of several agents on this host one shows it: the one that it talks to, if that is here.
	 */
	clock_boot_id(here, sizeof(here));
	if (entry && here[0] && strcmp(entry->boot_id, here) == 0)
		plan.host = entry->name;
	c->monitor = monitor_new(&plan);
	span_init(&c->span, monitor_tracer(c->monitor), c->view, c->run);
	c->cpu_us = clock_cpu_us();
	return monitor_want(c->monitor, e);
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
	monitor_free(c->monitor);
}
