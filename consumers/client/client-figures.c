/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the records of stages that fold into bins, cells and classes for consumers. */
#include "consumers/client/client.h"
#include "tree/data/op.h"

int evspace_is_stream(const struct evspace_client *c)
{
	return c->reading == READ_STREAM;
}

int evspace_bin(struct evspace_client *c, struct evspace_bin *bin)
{
	const struct bin *b = client_record(c, RUN_BINS);

	if (!b)
		return 0;
	*bin = (struct evspace_bin){
		.name = client_name(c, c->at_run.run->element, NULL),
		.op = b->op ? op_name(b->op) : "",
		.comm = b->comm,
		.what = total_value_name(bin_value(b)),
		.low = bin_low(bin_place(b)),
		.high = bin_high(bin_place(b)),
		.count = b->count,
		.sum = b->sum,
		.most = b->most,
	};
	return 1;
}

int evspace_median(struct evspace_client *c, struct evspace_median *median)
{
	const struct median *m = client_record(c, RUN_MEDIANS);

	while (m && m->all == 0)
		m = client_record(c, RUN_MEDIANS);
	if (!m)
		return 0;
	*median = (struct evspace_median){
		.name = client_name(c, c->at_run.run->element, NULL),
		.op = m->bin.op ? op_name(m->bin.op) : "",
		.comm = m->bin.comm,
		.what = total_value_name(bin_value(&m->bin)),
		.value = median_value(m),
		.low = bin_low(bin_place(&m->bin)),
		.high = m->bin.most,
		.count = m->all,
	};
	return 1;
}

int evspace_cell(struct evspace_client *c, struct evspace_cell *cell)
{
	const struct cell *m = client_record(c, RUN_CELLS);

	if (!m)
		return 0;
	*cell = (struct evspace_cell){
		.name = client_name(c, c->at_run.run->element, NULL),
		.from_rank = m->named & CELL_FROM_NAMED ? -1 : (int32_t)m->from,
		.to_rank = m->named & CELL_TO_NAMED ? -1 : (int32_t)m->to,
		.calls = m->calls,
		.bytes = m->bytes,
	};
	if (m->named & CELL_FROM_NAMED)
		cell->from = client_name(c, m->from, NULL);
	if (m->named & CELL_TO_NAMED)
		cell->to = client_name(c, m->to, NULL);
	return 1;
}

int evspace_class(struct evspace_client *c, struct evspace_class *class_of)
{
	const struct count *n = client_record(c, RUN_COUNTS);

	if (!n)
		return 0;
	*class_of = (struct evspace_class){
		.name = client_name(c, c->at_run.run->element, NULL),
		.channel = n->channel == COUNT_ALL_CHANNELS ? "" : channel_name(n->channel),
		.comm = n->comm,
		.calls = n->calls,
		.bytes = n->bytes,
		.time_ns = n->time_ns,
		.skipped = n->skipped,
	};
	return 1;
}
