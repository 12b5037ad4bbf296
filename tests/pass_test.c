/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests passes, for whom, for how long, how many, and who may stand above a node by them. */
#include "tree/link/pass.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "node-agent/control/session.h"
#include "node-agent/control/rights.h"
#include "pathmap/base/memory.h"
#include "pathmap/plan/lineage.h"
#include "tests/maps.h"
#include "tests/peers.h"
#include "tree/wire/wire-place.h"

#define PLACES 10000

static int64_t ahead; /* of the clock, seconds */

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += ahead;
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

/* The agent w0 signs; w1 checks. */
struct bed {
	struct tls *entry, *node;
	struct pass_book *book;
};

static void bed_open(struct bed *bed)
{
	struct error e = {""};

	ahead = 0;
	bed->entry = tls_new(peers_certs(), "w0", &e);
	bed->node = tls_new(peers_certs(), "w1", &e);
	CU_ASSERT_FATAL(bed->entry && bed->node);
	bed->book = pass_book_new(bed->entry);
}

static void bed_close(struct bed *bed)
{
	pass_book_free(bed->book);
	tls_free(bed->entry);
	tls_free(bed->node);
	ahead = 0;
}

static struct plan_pass bed_pass(struct bed *bed)
{
	static const char *const above[] = {"w0", "ga"};

	return pass_new(bed->book, "w1", above, 2);
}

/* "" if it counts, else why not. */
static const char *refusal(const struct bed *bed, const struct plan_pass *pass, const char *node,
			   const char *peer)
{
	static struct error e;
	const struct pass_claim claim = {
		{pass->bytes, pass->data}, pass_signer(bed->book), node, peer};
	char signer[256] = "";
	int64_t until = 0;

	e.text[0] = '\0';
	if (pass_check(bed->node, &claim, signer, sizeof(signer), &until, &e) == 0) {
		CU_ASSERT_STRING_EQUAL(signer, "w0");
		CU_ASSERT(until > time(NULL));
	}
	return e.text;
}

static void for_whom(void)
{
	struct plan_pass pass, damaged;
	struct bed bed;

	bed_open(&bed);
	pass = bed_pass(&bed);
	CU_ASSERT_STRING_EQUAL(refusal(&bed, &pass, "w1", "ga"), "");
	CU_ASSERT_STRING_EQUAL(refusal(&bed, &pass, "w1", "w2"), "its pass is not for it");
	CU_ASSERT_STRING_EQUAL(refusal(&bed, &pass, "w2", "ga"), "its pass is for another node");
	pass.data[pass.bytes - 1] ^= 1;
	CU_ASSERT_STRING_EQUAL(refusal(&bed, &pass, "w1", "ga"), "its pass is not signed by w0");
	damaged = (struct plan_pass){memory_new(WIRE_PASS_MAX + 1, 1), WIRE_PASS_MAX + 1};
	CU_ASSERT_STRING_EQUAL(refusal(&bed, &damaged, "w1", "ga"), "it has no pass");
	free(damaged.data);
	free(pass.data);
	bed_close(&bed);
}

static bool is_same(const struct plan_pass *a, const struct plan_pass *b)
{
	return a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

/* Signatures of the same text differ. */
static void signed_once(void)
{
	struct plan_pass first, second, tomorrow;
	struct bed bed;

	bed_open(&bed);
	first = bed_pass(&bed);
	second = bed_pass(&bed);
	CU_ASSERT(is_same(&first, &second));
	ahead = PASS_DAY;
	tomorrow = bed_pass(&bed);
	CU_ASSERT_FALSE(is_same(&first, &tomorrow));
	CU_ASSERT_STRING_EQUAL(refusal(&bed, &first, "w1", "ga"), "");
	CU_ASSERT_STRING_EQUAL(refusal(&bed, &tomorrow, "w1", "ga"), "");
	free(first.data);
	free(second.data);
	free(tomorrow.data);
	bed_close(&bed);
}

static void until_when(void)
{
	struct plan_pass pass;
	struct bed bed;

	bed_open(&bed);
	pass = bed_pass(&bed);
	/* A host whose clock is behind takes it, too. */
	ahead = -3600;
	CU_ASSERT_STRING_EQUAL(refusal(&bed, &pass, "w1", "ga"), "");
	ahead = (PASS_DAYS - 1) * PASS_DAY;
	CU_ASSERT_STRING_EQUAL(refusal(&bed, &pass, "w1", "ga"), "");
	ahead = (PASS_DAYS + 1) * PASS_DAY;
	CU_ASSERT_PTR_NOT_NULL(strstr(refusal(&bed, &pass, "w1", "ga"), "its pass is over"));
	free(pass.data);
	bed_close(&bed);
}

/* A tree of 10,000 hosts, each with its pass, and the certificate: half of a frame at most. */
static void large_tree(void)
{
	static const char *const above[] = {"front.cluster.example", "gateway.cluster.example"};
	Evspace__Open open = EVSPACE__OPEN__INIT;
	struct plan_place root = {.n_children = PLACES}, *places;
	struct bed bed;
	size_t bytes;

	bed_open(&bed);
	places = memory_new(PLACES, sizeof(*places));
	root.children = memory_new(PLACES, sizeof(*root.children));
	root.node = root.cluster = root.address = memory_copy("front.cluster.example");
	for (unsigned i = 0; i < PLACES; i++) {
		places[i] = (struct plan_place){.index = i + 1, .leaf = true};
		places[i].node = memory_format("node%u.cluster.example", i);
		places[i].address = memory_format("node%u.cluster.example:7440", i);
		places[i].cluster = root.node;
		places[i].pass = pass_new(bed.book, places[i].node, above, 2);
		root.children[i] = &places[i];
	}
	open.place = wire_place_new(&root);
	open.signer = pass_signer(bed.book);
	bytes = evspace__frame__get_packed_size(&WIRE_FRAME(OPEN, open, &open));
	tap_note("%u places: %zu bytes, certificate %zu", PLACES, bytes, open.signer.len);
	CU_ASSERT(bytes < WIRE_HEADER_MAX / 2);
	wire_place_free(open.place);
	for (unsigned i = 0; i < PLACES; i++) {
		free(places[i].node);
		free(places[i].address);
		free(places[i].pass.data);
	}
	free(root.node);
	free(root.children);
	free(places);
	bed_close(&bed);
}

/* ---- superiors ---- */

static struct pathmap *superior_map(const char *mapping)
{
	struct pathmap *map =
		maps_make_of("application any { ranks any; }",
			     "cluster A { nodes w[0-2]; address w[0-2]:1; }", mapping, stderr);

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	return map;
}

static void judged_again(void)
{
	static const struct superior_pass none;
	static char self[] = "w1";
	struct pathmap *with = superior_map("entry w0; tree flat; alternate w2 for w1;");
	struct pathmap *without = superior_map("entry w0; tree flat;");
	struct active_map active_map = {.map = with, .node = self};
	struct session_host host = {.active_map = &active_map};
	struct superior_pass shown = {.pass = {0, NULL}};
	struct superior w2 = {.is = false}, other = {.is = false};
	struct peer peer = {.name = "w2", .roles = ROLE_AGENT};
	struct plan_pass pass;
	struct error e;
	struct bed bed;

	bed_open(&bed);
	host.tls = bed.node;
	CU_ASSERT(superior_is(&w2, &host, &peer));
	/* as when a map is applied */
	lineage_free(active_map.above);
	active_map.above = NULL;
	active_map.map = without;
	active_map.generation = 1;
	CU_ASSERT_FALSE(superior_is(&w2, &host, &peer));
	CU_ASSERT_EQUAL(superior_check(&w2, &host, &peer, &shown, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "it has no pass"));
	/* What it shows then is looked at, but not all the time if it is no good. */
	pass = pass_new(bed.book, "w1", (const char *const[]){"w2"}, 1);
	shown.pass = (ProtobufCBinaryData){pass.bytes, pass.data};
	CU_ASSERT_EQUAL(superior_check(&w2, &host, &peer, &shown, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "its pass has no certificate"));
	shown.signer = pass_signer(bed.book);
	CU_ASSERT_EQUAL(superior_check(&w2, &host, &peer, &shown, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "its pass has no certificate"));
	CU_ASSERT_FALSE(superior_is(&other, &host, &peer));
	CU_ASSERT_EQUAL(superior_check(&other, &host, &peer, &shown, &e), 0);
	/* It counts for as long as the pass, whatever is asked for; then it takes another one. */
	CU_ASSERT_EQUAL(superior_check(&other, &host, &peer, &none, &e), 0);
	ahead = (PASS_DAYS + 1) * PASS_DAY;
	CU_ASSERT_FALSE(superior_is(&other, &host, &peer));
	CU_ASSERT_EQUAL(superior_check(&other, &host, &peer, &none, &e), -1);
	free(pass.data);
	pass = pass_new(bed.book, "w1", (const char *const[]){"w2"}, 1);
	shown.pass = (ProtobufCBinaryData){pass.bytes, pass.data};
	shown.signer = pass_signer(bed.book);
	CU_ASSERT_EQUAL(superior_check(&other, &host, &peer, &shown, &e), 0);
	free(pass.data);
	lineage_free(active_map.above);
	pathmap_free(with);
	pathmap_free(without);
	bed_close(&bed);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"for whom they are", for_whom},
		{"each is signed once, and anew each day", signed_once},
		{"they end", until_when},
		{"those of a large tree fit", large_tree},
		{"who may stand above is judged again", judged_again},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "passes",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
