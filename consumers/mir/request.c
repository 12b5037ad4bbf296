/* SPDX-License-Identifier: BSD-3-Clause */
/* A request of MIR as data: what is wrong with it, and its end. */
#include "consumers/mir/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"

const char *const request_functions[MIR_FUNCTIONS] = {[MIR_AVERAGE] = "AVERAGE",
						      [MIR_MAXIMUM] = "MAXIMUM",
						      [MIR_MINIMUM] = "MINIMUM",
						      [MIR_SUM] = "SUM",
						      [MIR_VARIANCE] = "VARIANCE"};
const char *const request_levels[MIR_LEVELS] = {[MIR_SITE] = "site",
						[MIR_NODE] = "node",
						[MIR_COMMUNICATOR] = "communicator",
						[MIR_PROCESS] = "process",
						[MIR_THREAD] = "thread"};

void request_complain(struct mir_request *request, const struct mir_place *place,
		      const char *format, ...)
{
	char text[1024];
	va_list args;

	if (request->n_faults == REQUEST_FAULTS)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	request->faults[request->n_faults++] =
		(struct mir_fault){.place = *place, .text = memory_copy(text)};
}

/* Are probes that it names to be as they are, but for its action? */
static bool defines_nothing(const struct mir_request *r)
{
	return r->kind == MIR_CTRLREQ && r->n_metrics == 0 && !r->measuring.said &&
	       r->n_entities == 0;
}

bool request_only_looks(const struct mir_request *r)
{
	if (r->kind == MIR_SIRREQ || r->kind == MIR_SNAPSHOTREQ)
		return true;
	return r->action == MIR_VALUE && defines_nothing(r);
}

bool request_changes(const struct mir_request *r)
{
	return r->n_faults == 0 && (!request_only_looks(r) || r->flush || r->writes);
}

bool request_is_kept(const struct mir_request *r)
{
	if (r->kind == MIR_SIRREQ || !request_changes(r))
		return false;
	return r->flush || r->action != MIR_RESET || !defines_nothing(r);
}

bool request_is_of_defaults(const struct mir_request *r)
{
	return r->measuring.said && !r->from.text && r->n_metrics == 0 && !r->events &&
	       r->n_entities == 0;
}

static void words_free(struct mir_word *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(words[i].text);
	free(words);
}

void request_free(struct mir_request *request)
{
	if (!request)
		return;
	for (size_t i = 0; i < request->n_faults; i++)
		free(request->faults[i].text);
	for (size_t i = 0; i < request->n_entities; i++)
		free(request->entities[i].id.text);
	free(request->entities);
	for (size_t i = 0; i < request->n_resources; i++)
		free(request->outs[i]);
	free(request->outs);
	words_free(request->resources, request->n_resources);
	words_free(request->metrics, request->n_metrics);
	words_free(request->probes, request->n_probes);
	free(request->from.text);
	free(request->to.text);
	free(request->measuring.destination);
	free(request->measuring.functions);
	free(request);
}
