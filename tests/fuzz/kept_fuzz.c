/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: the input is the file of an applied map that an agent finds when it starts again. It
 * starts in any case, by that map or by its own files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/map/active-map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/dev/shm/evspace-fuzz-XXXXXX";
static const char *const names[] = {"application.map", "cluster.map", "mapping.map", "agent-n0.map",
				    "agent-n0.map.new"};
static const char *const texts[] = {
	"application a { ranks rank[0-3]; view v { select /**/p2p; read latest; } }\n",
	"cluster c { nodes n[0-3]; address 10.0.0.[1-4]:7440; }\n",
	"entry n0;\nplace rank[0-3] on n[0-3];\n",
};

static void file_write(const char *name, const void *bytes, size_t n)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
}

static void files_remove(void)
{
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

static void folder_make(void)
{
	if (!mkdtemp(dir))
		abort();
	atexit(files_remove);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		file_write(names[i], texts[i], strlen(texts[i]));
}

/* The next text of the input, without its end; the input moves behind it. */
static char *text_take(const uint8_t **data, size_t *size)
{
	size_t n = strnlen((const char *)*data, *size);
	char *text = strndup((const char *)*data, n);

	if (!text)
		abort();
	n += n < *size;
	*data += n;
	*size -= n;
	return text;
}

/* A file as an agent writes it: generations, and the texts and names of the input ("": its own
 * file's text). */
#define TEXTS 9
#define NODES 8

static void kept_write(const uint8_t *data, size_t size)
{
	char *in[TEXTS + NODES], *out[TEXTS];
	Evspace__MapTexts three[3];
	Evspace__Map map = EVSPACE__MAP__INIT;
	Evspace__MapKept kept = EVSPACE__MAP_KEPT__INIT;
	uint8_t *packed;

	map.generation = data[0] < 255 ? data[0] : UINT64_MAX;
	map.before = data[1];
	data += 2;
	size -= 2;
	for (size_t i = 0; i < TEXTS + NODES; i++)
		in[i] = text_take(&data, &size);
	for (size_t i = 0; i < TEXTS; i++)
		out[i] = in[i][0] ? in[i] : (char *)(uintptr_t)texts[i % 3];
	for (size_t i = 0; i < 3; i++) {
		evspace__map_texts__init(&three[i]);
		three[i].application = out[3 * i];
		three[i].cluster = out[3 * i + 1];
		three[i].mapping = out[3 * i + 2];
	}
	map.texts = &three[0];
	map.previous = &three[1];
	kept.map = &map;
	kept.started = &three[2];
	kept.nodes = in + TEXTS;
	kept.n_nodes = NODES;
	kept.behind = in + TEXTS + NODES / 2;
	kept.n_behind = NODES / 2;
	kept.since = &three[1];
	packed = malloc(evspace__map_kept__get_packed_size(&kept) + 1);
	if (!packed)
		abort();
	file_write(names[3], packed, evspace__map_kept__pack(&kept, packed));
	free(packed);
	for (size_t i = 0; i < TEXTS + NODES; i++)
		free(in[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	struct active_map *c;
	struct error e;

	if (!made)
		folder_make();
	made = true;
	if (size < 3)
		return 0;
	if (data[0] % 4)
		kept_write(data + 1, size - 1);
	else
		file_write(names[3], data, size);
	c = active_map_open(dir, "n0", dir, stderr, &e);
	if (!c || !c->map || c->generation < 1) {
		fprintf(stderr, "broken: it does not start: %s\n", e.text);
		abort();
	}
	active_map_free(c);
	return 0;
}
