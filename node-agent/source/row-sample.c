/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of samples: they have their run's threads sampled for as long as they are there. */
#include "node-agent/source/row-private.h"
#include "node-agent/source/sampler.h"

void rows_sample(struct rows *r)
{
	struct sampling sampling;
	struct error e;

	if (!r->samples || r->sampled || !r->run[0])
		return;
	r->sampled = sampling_parse(&sampling, r->open->sample, true, &e) == 0 &&
		     sampler_want(r->host->sampler, r->run, &sampling, &e) == 0;
	if (!r->sampled)
		rows_complain(r, &e);
	else
		r->refused = 0;
}

void rows_sample_end(struct rows *r, bool lost)
{
	if (r->sampled)
		sampler_unwant(r->host->sampler, r->run, lost);
}
