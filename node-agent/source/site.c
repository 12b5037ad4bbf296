/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolves addresses with elfutils (libdwfl), and survives files that change meanwhile. */
#include "node-agent/source/site.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/segment-read.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/wildcard.h"
#include "pathmap/model/pattern.h"
#include "tree/data/clock.h"

/* Most open files. */
#define OPEN_FILES 8

/* Most memory of the sites, with their hash tables. */
#define SITES_BYTES (16u << 20)

/* The place of a call, the same in all processes that run the file. */
struct place {
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	uint64_t address;
};

struct site {
	struct place place;
	char text[SITE_TEXT];
	bool first; /* of this text: it is in `by_text` */
	UT_hash_handle by_place, by_text;
};

#define SITES_MOST (SITES_BYTES / sizeof(struct site))

/* A file that is open. */
struct code {
	uint8_t build_id[MODULE_BUILD_ID_MAX]; /* the one asked for */
	bool used;
	Dwfl *dwfl; /* NULL: it is missing, or not the file that was run */
	Dwfl_Module *module;
	GElf_Addr bias; /* as libdwfl has mapped it */
};

/* Functions that were asked for last: those of all processes of a program are the same. As many as
 * a command may ask for, one in each file of a process: of fewer, those that are looked for again
 * would be gone, and there would be no end of it. */
#define FUNCTIONS_KEPT 4096u

struct function_key {
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	char name[SITE_TEXT];
};

struct function {
	struct function_key key;
	uint64_t address; /* 0: it has none */
	UT_hash_handle hh;
};

/* Likewise of patterns: all symbols of a file are compared with one. */
#define PATTERNS_KEPT 8

struct functions {
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	char pattern[SITE_TEXT];
	size_t n; /* of which there are the first ones */
	struct site_function found[SITE_FUNCTIONS];
};

struct sites {
	struct functions patterns[PATTERNS_KEPT];
	unsigned n_patterns;		 /* so far: the oldest goes for another one */
	struct function *functions;	 /* the first one is the oldest */
	struct site *by_place, *by_text; /* likewise */
	struct code files[OPEN_FILES];
	unsigned next;	   /* the file to close next for another one */
	unsigned holds;	   /* of sites_hold() */
	uint64_t until_ns; /* when not to look for functions any more; 0: never */
	bool late;	   /* some were left out for that */
};

struct sites *sites_new(void)
{
	return memory_new(1, sizeof(struct sites));
}

void sites_free(struct sites *sites)
{
	struct site *site, *next;
	struct function *f, *behind;

	if (!sites)
		return;
	sites_rest(sites);
	HASH_ITER(hh, sites->functions, f, behind)
	{
		HASH_DEL(sites->functions, f);
		free(f);
	}
	HASH_CLEAR(by_text, sites->by_text);
	HASH_ITER(by_place, sites->by_place, site, next)
	{
		HASH_DELETE(by_place, sites->by_place, site);
		free(site);
	}
	free(sites);
}

/* ---- files ---- */

static void code_close(struct code *code)
{
	if (code->dwfl)
		dwfl_end(code->dwfl);
	*code = (struct code){0};
}

void sites_hold(struct sites *sites)
{
	if (sites)
		sites->holds++;
}

void sites_release(struct sites *sites)
{
	if (sites)
		sites->holds--;
}

void sites_rest(struct sites *sites)
{
	if (!sites || sites->holds > 0)
		return;
	for (unsigned i = 0; i < OPEN_FILES; i++)
		code_close(&sites->files[i]);
}

/* Is it the file that was run? */
static bool code_is(const struct code *code, const struct segment_module *module)
{
	const unsigned char *build_id;
	GElf_Addr address;
	int bytes;

	if (dwfl_module_getelf(code->module, &(GElf_Addr){0}) == NULL)
		return false;
	bytes = dwfl_module_build_id(code->module, &build_id, &address);
	return bytes > 0 && (uint32_t)bytes == module->build_id_bytes &&
	       memcmp(build_id, module->build_id, (size_t)bytes) == 0;
}

/* Open @path if it is a regular file: opening a fifo must not block. */
static int file_open(const char *path)
{
	int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void code_open(struct code *code, const struct segment_module *module)
{
	/* search only on this host: elfutils' standard search may ask servers on the network */
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_build_id_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	int fd = file_open(module->path);

	memcpy(code->build_id, module->build_id, sizeof(code->build_id));
	code->used = true;
	if (fd < 0)
		return;
	code->dwfl = dwfl_begin(&callbacks);
	if (code->dwfl) {
		dwfl_report_begin(code->dwfl);
		code->module = dwfl_report_offline(code->dwfl, module->path, module->path, fd);
		dwfl_report_end(code->dwfl, NULL, NULL);
	}
	/* libdwfl owns the descriptor if it has a module */
	if (!code->module)
		close(fd);
	if (!code->module || !code_is(code, module) ||
	    dwfl_module_getelf(code->module, &code->bias) == NULL) {
		if (code->dwfl)
			dwfl_end(code->dwfl);
		code->dwfl = NULL;
	}
}

static struct code *code_find(struct sites *sites, const struct segment_module *module)
{
	struct code *code;

	for (unsigned i = 0; i < OPEN_FILES; i++) {
		code = &sites->files[i];
		if (code->used &&
		    memcmp(code->build_id, module->build_id, sizeof(code->build_id)) == 0)
			return code;
	}
	code = &sites->files[sites->next++ % OPEN_FILES];
	code_close(code);
	code_open(code, module);
	return code;
}

/* ---- functions ---- */

/* What a guarded call looks for. */
struct function_search {
	struct sites *sites;
	const struct segment_module *module;
	const char *name; /* or a pattern: then `found` has room */
	struct site_function *found;
	size_t most, n;
};

static void search_take(struct function_search *s, const char *name, uint64_t address)
{
	if (s->n < s->most) {
		s->found[s->n].address = address;
		snprintf(s->found[s->n].name, SITE_FUNCTION, "%s", name);
	}
	s->n++;
}

static bool search_wants(const struct function_search *s, const char *name)
{
	if (!wildcard_is(s->name))
		return s->n == 0 && strcmp(name, s->name) == 0;
	/* the compiler's own begin like that */
	return name[0] != '_' && strlen(name) < SITE_FUNCTION && wildcard_match(s->name, name);
}

static int search_answer(void *arg)
{
	struct function_search *s = arg;
	const struct code *code = code_find(s->sites, s->module);
	int n = code->dwfl ? dwfl_module_getsymtab(code->module) : 0;

	for (int i = 1; i < n; i++) {
		GElf_Sym symbol;
		GElf_Addr at;
		const char *name =
			dwfl_module_getsym_info(code->module, i, &symbol, &at, NULL, NULL, NULL);

		if (name && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
		    symbol.st_shndx != SHN_UNDEF && search_wants(s, name))
			search_take(s, name, at - code->bias);
	}
	return 0;
}

bool sites_limit(struct sites *sites, uint64_t until_ns)
{
	bool late = sites->late;

	sites->until_ns = until_ns;
	sites->late = false;
	return late;
}

/* Returns false if there is no time for it. */
static bool search_do(struct function_search *s)
{
	if (s->sites->until_ns && clock_mono_ns() >= s->sites->until_ns) {
		s->sites->late = true;
		return false;
	}
	/* as of question_ask() */
	if (segment_guarded(search_answer, s) == 0)
		return true;
	memset(s->sites->files, 0, sizeof(s->sites->files));
	s->n = 0;
	return true;
}

size_t sites_functions(struct sites *sites, const struct segment_module *module,
		       const char *pattern, const struct site_function **found)
{
	struct function_search s = {sites, module, pattern, NULL, SITE_FUNCTIONS, 0};
	struct functions *f;

	if (module->build_id_bytes == 0 || strlen(pattern) >= sizeof(f->pattern))
		return 0;
	for (unsigned i = 0; i < sites->n_patterns && i < PATTERNS_KEPT; i++) {
		f = &sites->patterns[i];
		*found = f->found;
		if (memcmp(f->build_id, module->build_id, sizeof(f->build_id)) == 0 &&
		    strcmp(f->pattern, pattern) == 0)
			return f->n;
	}
	f = &sites->patterns[sites->n_patterns++ % PATTERNS_KEPT];
	*found = s.found = f->found;
	f->pattern[0] = '\0';
	if (!search_do(&s))
		return 0;
	memcpy(f->build_id, module->build_id, sizeof(f->build_id));
	snprintf(f->pattern, sizeof(f->pattern), "%s", pattern);
	f->n = s.n;
	return f->n;
}

uint64_t sites_function(struct sites *sites, const struct segment_module *module, const char *name)
{
	struct site_function found = {.address = 0};
	struct function_search s = {sites, module, name, &found, 1, 0};
	struct function_key key = {.name = ""};
	struct function *f;

	if (module->build_id_bytes == 0 || !name[0] || strlen(name) >= sizeof(key.name))
		return 0;
	memcpy(key.build_id, module->build_id, sizeof(key.build_id));
	snprintf(key.name, sizeof(key.name), "%s", name);
	HASH_FIND(hh, sites->functions, &key, sizeof(key), f);
	if (f)
		return f->address;
	if (!search_do(&s))
		return 0;
	if (HASH_COUNT(sites->functions) >= FUNCTIONS_KEPT) {
		f = sites->functions;
		HASH_DEL(sites->functions, f);
	} else {
		f = memory_new(1, sizeof(*f));
	}
	f->key = key;
	f->address = found.address;
	HASH_ADD(hh, sites->functions, key, sizeof(f->key), f);
	return f->address;
}

/* ---- texts ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What a guarded call resolves. */
struct question {
	struct sites *sites;
	const struct segment_module *module;
	uint64_t address;
	char text[SITE_TEXT];
};

static int question_answer(void *arg)
{
	struct question *q = arg;
	const struct code *code = code_find(q->sites, q->module);
	GElf_Addr at;
	GElf_Off offset = 0;
	Dwfl_Line *line;
	GElf_Sym symbol;
	const char *name;
	int number = 0;

	if (!code->dwfl)
		return 1;
	/* the call is before its return address, which may be of another line */
	at = q->address + code->bias - 1;
	line = dwfl_module_getsrc(code->module, at);
	name = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	if (name && number > 0) {
		snprintf(q->text, sizeof(q->text), "%.80s:%d", base_name(name), number);
		return 0;
	}
	name = dwfl_module_addrinfo(code->module, at, &offset, &symbol, NULL, NULL, NULL);
	if (!name || !*name)
		return 1;
	snprintf(q->text, sizeof(q->text), "%.80s+0x%" PRIx64, name, (uint64_t)offset + 1);
	return 0;
}

static void question_ask(struct question *q)
{
	int rc = 1;

	if (q->module->build_id_bytes > 0)
		rc = segment_guarded(question_answer, q);
	/* a file shrank while libdwfl read it, so its state is undefined: never use it again */
	if (rc < 0)
		memset(q->sites->files, 0, sizeof(q->sites->files));
	if (rc)
		snprintf(q->text, sizeof(q->text), "%.80s+0x%" PRIx64,
			 q->module->path[0] ? base_name(q->module->path) : "?", q->address);
	for (char *c = q->text; *c; c++)
		if (!name_char(*c) && *c != '?')
			*c = '_';
}

/* Remove the oldest sites when there are too many. */
static void sites_make_room(struct sites *sites)
{
	struct site *oldest = sites->by_place;

	if (HASH_CNT(by_place, sites->by_place) < SITES_MOST)
		return;
	HASH_DELETE(by_place, sites->by_place, oldest);
	if (oldest->first)
		HASH_DELETE(by_text, sites->by_text, oldest);
	free(oldest);
}

const char *sites_find(struct sites *sites, const struct segment_module *module, uint64_t address)
{
	struct question q = {.sites = sites, .module = module, .address = address};
	struct place place = {.address = address};
	struct site *site, *same;
	size_t length;

	memcpy(place.build_id, module->build_id, sizeof(place.build_id));
	HASH_FIND(by_place, sites->by_place, &place, sizeof(place), site);
	if (site)
		return site->text;
	question_ask(&q);
	sites_make_room(sites);
	site = memory_new(1, sizeof(*site));
	site->place = place;
	snprintf(site->text, sizeof(site->text), "%s", q.text);
	HASH_ADD(by_place, sites->by_place, place, sizeof(site->place), site);
	HASH_FIND(by_text, sites->by_text, site->text, strlen(site->text), same);
	length = strlen(site->text);
	site->first = same == NULL;
	if (same)
		snprintf(site->text + length, sizeof(site->text) - length, "+0x%" PRIx64, address);
	else
		HASH_ADD_KEYPTR(by_text, sites->by_text, site->text, length, site);
	return site->text;
}
