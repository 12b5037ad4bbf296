/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: documents of MIR as they come: they end where they end however the bytes are cut,
 * and each is read, or what is wrong with it is said. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/mir/answer.h"
#include "consumers/mir/framing.h"
#include "consumers/mir/request.h"

mir_request_function mir_request_read;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool true_always, const char *what)
{
	if (!true_always) {
		fprintf(stderr, "broken: %s\n", what);
		abort();
	}
}

/* Its entities are nested in what came before them. */
static void request_check(const struct mir_request *r)
{
	for (size_t i = 0; i < r->n_entities; i++) {
		must(r->entities[i].id.text && r->entities[i].id.text[0], "an id");
		must(r->entities[i].within <= i, "a nest before what is in it");
	}
	for (size_t i = 0; i < r->n_metrics; i++)
		must(r->metrics[i].text != NULL, "a name");
	must(r->kind != MIR_CTRLREQ || r->n_probes > 0, "a probe");
}

static void answer(const struct framed *framed, bool lenient, FILE *out)
{
	struct mir_request *r = mir_request_read(framed->text, framed->n, lenient);

	if (r->n_faults > 0)
		answer_errors(out, r);
	else
		request_check(r);
	request_free(r);
}

/* All documents, each with a 0 behind it. */
static char *documents(const uint8_t *data, size_t bytes, size_t step, size_t *n)
{
	struct framing framing = {.text = NULL};
	struct framed framed;
	char *text = NULL;
	FILE *out = open_memstream(&text, n);

	must(out != NULL, "memory");
	for (size_t at = 0; at < bytes; at += step) {
		size_t left = bytes - at;

		framing_add(&framing, (const char *)data + at, left < step ? left : step);
		while (framing_next(&framing, left <= step, &framed)) {
			fwrite(framed.text, 1, framed.n, out);
			fputc(0, out);
			must(framed.n > 0 && !memchr(framed.text, 0, framed.n), "a document");
		}
	}
	framing_fini(&framing);
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static FILE *out;
	size_t n, n_pieces;
	char *whole, *pieces;

	if (!out)
		out = fopen("/dev/null", "w");
	if (bytes < 2)
		return 0;
	whole = documents(data + 1, bytes - 1, bytes, &n);
	pieces = documents(data + 1, bytes - 1, 1 + data[0] / 2 % 16, &n_pieces);
	must(n == n_pieces && memcmp(whole, pieces, n) == 0,
	     "the same documents however they are cut");
	for (const char *at = whole; at < whole + n; at += strlen(at) + 1)
		answer(&(struct framed){at, strlen(at), false}, data[0] & 1, out);
	free(whole);
	free(pieces);
	return 0;
}
