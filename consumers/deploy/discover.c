/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace map discover: writes a pathmap of what is running, for the user to edit and for
 * agents. */
#include "consumers/deploy/discover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consumers/cli/json.h"
#include "consumers/cli/options.h"
#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"
#include "tree/data/names-comm.h"

static const char discover_help[] =
	"usage: evspace map discover [options] [DIR]\n"
	"\n"
	"Find what runs, and write its pathmap: application.map, cluster.map and\n"
	"mapping.map in DIR, for evspace deploy, evspace agent --pathmap and evspace map\n"
	"apply, and for you to edit. Comments in mapping.map say which process is where,\n"
	"on which cores, and in which communicators. Without DIR they are printed.\n"
	"Existing files are not overwritten.\n"
	"\n"
	"Without options it looks for these, in this order: the only live run of this\n"
	"host; the job of Slurm that this shell is in; your virtual machine of PVM.\n"
	"\n"
	"examples:\n"
	"  evspace map discover maps\n"
	"  evspace map discover --ssh 'w[0-7]' maps && evspace deploy up maps\n"
	"  evspace map discover --connect front:7440 --identity control now\n"
	"  evspace map apply now --connect front:7440 --identity control\n"
	"  evspace map discover --slurm 42 maps && evspace deploy up maps --job 42\n";

/* Most lists of hosts for --ssh. */
#define HOSTS_MOST 64

struct discover {
	struct common common;
	const char *run, *job, *folder;
	const char *hosts[HOSTS_MOST];
	size_t n_hosts;
	bool pvm, force;
	unsigned port;
};

static int hosts_take(void *into, const char *value, struct error *e)
{
	struct discover *d = into;

	if (d->n_hosts == HOSTS_MOST)
		return errorf(e, "more than %d lists", HOSTS_MOST);
	d->hosts[d->n_hosts++] = value;
	return 0;
}

static int folder_take(void *into, const char *value, struct error *e)
{
	struct discover *d = into;

	if (*value != '/' && strncmp(value, "~/", 2) != 0)
		return errorf(e, "'%.60s' is not a folder; write it from / or ~/ on", value);
	if (strpbrk(value, " \t\n;{}#\"\\"))
		return errorf(e, "blanks and ; { } # \" cannot be in it");
	d->folder = value;
	return 0;
}

static const struct option_row discover_rows[] = {
	{"run", "NAME", OPTION_TEXT, .at = offsetof(struct discover, run),
	 .help = "a run on this host, live or ended (evspace runs), from its segments; with "
		 "--connect on all hosts that the entry agent there reaches: its maps with "
		 "the ranks where they are, everything else in them as it was"},
	{"pvm", .at = offsetof(struct discover, pvm),
	 .help = "the hosts and tasks of your virtual machine of PVM"},
	{"slurm", "JOB", OPTION_TEXT, .at = offsetof(struct discover, job),
	 .help = "the nodes of a job of Slurm, and where the tasks of its step are (of "
		 "several say which: 42.0; of none, how srun would deal them out)"},
	{"ssh", "HOSTS", .take = hosts_take,
	 .help = "hosts that you reach by ssh, as w[0-7] or w[0-7].example.org, whatever runs "
		 "there; the first is where consumers connect; may be repeated"},
	{"folder", "PATH", .take = folder_take,
	 .help = "pvm, slurm: what all hosts share, for evspace deploy (~/.evspace)"},
	{"port", "N", OPTION_COUNT, .at = offsetof(struct discover, port), .most = 65535,
	 .help = "of the agents (7440)"},
	{"force", .at = offsetof(struct discover, force), .help = "overwrite what is in DIR"},
	{0},
};

static const struct usage discover_usage = {.help = discover_help,
					    .own = discover_rows,
					    .takes = OPTIONS_LOOK | OPTIONS_JSON,
					    .words_max = 1};

/* ---- looking ---- */

/* Look for something without options. */
static int look_around(struct finding *f, struct error *e)
{
	const char *job = getenv("SLURM_JOB_ID");
	int code = discover_segments(f, NULL, e);
	struct error none;

	if (code == EXIT_FINE || errno != ENOENT)
		return code;
	if (job)
		return discover_slurm(f, job, e);
	if (discover_pvm_is_there())
		return discover_pvm(f, e);
	none = *e;
	errorf(e,
	       "nothing is found: %s, this shell is in no job of Slurm, and you have no virtual "
	       "machine of PVM; start the program with evspace run, or say --connect or --slurm "
	       "JOB",
	       none.text);
	return EXIT_BAD_NEWS;
}

static int look(const struct discover *d, struct finding *f, struct error *e)
{
	struct evspace_options options = d->common.look;

	if (d->pvm + (d->job != NULL) + (d->run != NULL) + (d->n_hosts > 0) > 1) {
		errorf(e, "--run, --pvm, --slurm and --ssh exclude each other");
		return EXIT_USAGE;
	}
	options.run = d->run ? d->run : options.run;
	if (d->pvm)
		return discover_pvm(f, e);
	if (d->job)
		return discover_slurm(f, d->job, e);
	if (d->n_hosts)
		return discover_ssh(f, d->hosts, d->n_hosts, e);
	if (options.connect)
		return discover_agents(f, &options, e);
	return options.run ? discover_segments(f, options.run, e) : look_around(f, e);
}

/* ---- writing ---- */

enum { FILES = 3 };

/* Shown instead of a cluster.map whose addresses are invented. */
static const char hidden_words[] =
	"# Not shown: only control may see where hosts are (--identity control).\n";

static const char *const file_names[FILES] = {"application.map", "cluster.map", "mapping.map"};

/* A file of the pathmap being written. */
struct draft {
	char *path, *new;
	bool there;  /* it existed before */
	bool placed; /* the new file is in place */
};

static int draft_write(const struct draft *d, const char *text, struct error *e)
{
	FILE *out = fopen(d->new, "we");
	int rc = 0;

	if (!out || fputs(text, out) == EOF || fflush(out) == EOF || fsync(fileno(out)) < 0)
		rc = errorf(e, "cannot write %s: %s", d->path, strerror(errno));
	if (out && fclose(out) == EOF && rc == 0)
		rc = errorf(e, "cannot write %s: %s", d->path, strerror(errno));
	return rc;
}

/* Write all files before the first is put in place. */
static int drafts_place(struct draft drafts[FILES], char *const texts[FILES], struct error *e)
{
	for (size_t i = 0; i < FILES; i++)
		if (draft_write(&drafts[i], texts[i], e) < 0)
			return -1;
	for (size_t i = 0; i < FILES; i++) {
		if (rename(drafts[i].new, drafts[i].path) < 0)
			return errorf(e, "cannot write %s: %s", drafts[i].path, strerror(errno));
		drafts[i].placed = true;
	}
	return 0;
}

/* Remove what was begun: files that were not there before, and the folder. */
static void drafts_undo(const struct draft drafts[FILES], const char *made)
{
	for (size_t i = 0; i < FILES; i++) {
		unlink(drafts[i].new);
		if (drafts[i].placed && !drafts[i].there)
			unlink(drafts[i].path);
	}
	if (made)
		rmdir(made);
}

static int files_write(const char *dir, char *const texts[FILES], bool force, struct error *e)
{
	struct draft drafts[FILES];
	const struct draft *first = NULL;
	bool made = mkdir(dir, 0777) == 0;
	int rc = 0;

	if (!made && errno != EEXIST)
		return errorf(e, "cannot make the folder %s: %s", dir, strerror(errno));
	for (size_t i = 0; i < FILES; i++) {
		drafts[i] = (struct draft){.path = memory_format("%s/%s", dir, file_names[i]),
					   .new = memory_format("%s/%s.new", dir, file_names[i])};
		drafts[i].there = access(drafts[i].path, F_OK) == 0;
		first = drafts[i].there && !first ? &drafts[i] : first;
	}
	if (first && !force)
		rc = errorf(e, "%s is there already; --force overwrites it", first->path);
	else if ((rc = drafts_place(drafts, texts, e)) < 0)
		drafts_undo(drafts, made ? dir : NULL);
	for (size_t i = 0; i < FILES; i++) {
		free(drafts[i].path);
		free(drafts[i].new);
	}
	return rc;
}

static json_t *processes_json(const struct finding *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->n_processes; i++) {
		const struct finding_process *p = &f->processes[i];

		json_array_append_new(
			list, json_pack("{so so so so so}", "name", json_text(p->name), "node",
					json_text(f->nodes[p->node].name), "program",
					json_text(p->program), "cpus", json_text(p->cpus), "pid",
					p->pid ? json_integer(p->pid) : json_null()));
	}
	return list;
}

static json_t *comms_json(const struct finding *f)
{
	json_t *list = json_array();

	for (size_t i = 0; f->comms && i < names_comm_count(f->comms); i++) {
		const struct name_comm *c = names_comm_at(f->comms, i);
		json_t *members = c->members || c->world ? json_array() : json_null();

		for (uint32_t k = 0; k < c->size && (c->members || c->world); k++)
			json_array_append_new(members,
					      json_integer(c->members ? c->members[k] : (int)k));
		json_array_append_new(list, json_pack("{so sb sI so}", "id", json_comm(c->id),
						      "world", c->world, "size",
						      (json_int_t)c->size, "members", members));
	}
	return list;
}

/* Is the text of this file shown? Not if addresses of hosts are invented. */
static bool is_told(const struct finding *f, size_t file)
{
	return !f->hidden || strcmp(file_names[file], "cluster.map") != 0;
}

static void print_json(const struct finding *f, char *const texts[FILES], const char *dir)
{
	json_t *o = json_pack("{so so so}", "what", json_text(f->what), "processes",
			      processes_json(f), "communicators", comms_json(f));
	json_t *nodes = json_array();

	for (size_t i = 0; i < f->n_nodes; i++)
		json_array_append_new(nodes, json_text(f->nodes[i].name));
	json_object_set_new(o, "nodes", nodes);
	if (dir)
		json_object_set_new(o, "pathmap", json_text(dir));
	for (size_t i = 0; i < FILES; i++)
		if (is_told(f, i))
			json_object_set_new(o, file_names[i], json_string(texts[i]));
	json_print(o, stdout);
}

/* @text as a word of sh, for pasting; for the caller to free(). */
static char *sh_word(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./:@%+=,-";
	char *word, *to;

	if (*text && !text[strspn(text, plain)])
		return memory_copy(text);
	to = word = memory_new(4 * strlen(text) + 3, 1);
	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			to = stpcpy(to, "'\\'");
		*to++ = *text;
	}
	*to = '\'';
	return word;
}

/* The options by which the next command finds certificates; none if it finds them itself. */
static char *tls_words(const struct finding *f, const struct discover *d)
{
	char *folder = config_tls_folder(), *word, *words;
	bool there = access(folder, F_OK) == 0;

	free(folder);
	if (!f->maps.mapping && f->engine == ENGINE_LOCAL)
		return memory_copy("");
	if (d->common.look.tls) {
		word = sh_word(d->common.look.tls);
		words = memory_format(" --tls %s", word);
		free(word);
		return words;
	}
	return memory_copy(there || f->maps.mapping ? "" : " --tls CERTIFICATES");
}

static void print_next(const struct finding *f, const struct discover *d, const char *dir)
{
	char *maps = sh_word(dir), *tls = tls_words(f, d);
	char *connect = f->maps.mapping ? sh_word(d->common.look.connect) : NULL;
	char *entry = d->common.look.entry ? sh_word(d->common.look.entry) : NULL;

	fprintf(stderr, "evspace map discover: %s: written to %s; next: ", f->what, maps);
	if (connect)
		fprintf(stderr, "evspace map apply %s --connect %s%s%s%s --identity control\n",
			maps, connect, entry ? " --entry " : "", entry ? entry : "", tls);
	else
		fprintf(stderr, "evspace deploy up %s%s%s%.*s\n", maps, tls,
			d->job ? " --job " : "", d->job ? (int)strcspn(d->job, ".") : 0,
			d->job ? d->job : "");
	free(connect);
	free(entry);
	free(tls);
	free(maps);
}

static int discover_write(const struct discover *d, struct finding *f, struct error *e)
{
	const char *dir = d->common.n_words ? d->common.words[0] : NULL;
	struct pathmap_texts maps = {0};
	int code = EXIT_BAD_NEWS;

	if (dir && f->hidden) {
		errorf(e, "only control (without limits to runs or users) may see where hosts are, "
			  "so there is no cluster.map to write: --identity control, or "
			  "leave out DIR to see the rest");
		return EXIT_BAD_NEWS;
	}
	f->port = d->port;
	if (f->engine == ENGINE_PVM || f->engine == ENGINE_SLURM)
		f->folder = memory_copy(d->folder ? d->folder : "~/.evspace");
	if (finding_texts(f, &maps, e) == 0) {
		char *const texts[FILES] = {maps.application, maps.cluster, maps.mapping};

		if (!dir || files_write(dir, texts, d->force, e) == 0) {
			code = EXIT_FINE;
			if (d->common.json)
				print_json(f, texts, dir);
			else if (dir)
				print_next(f, d, dir);
			for (size_t i = 0; !dir && !d->common.json && i < FILES; i++)
				printf("%s# --- %s\n%s", i ? "\n" : "", file_names[i],
				       is_told(f, i) ? texts[i] : hidden_words);
		}
	}
	texts_fini(&maps);
	return code;
}

int discover_main(int argc, char **argv)
{
	struct discover d = {.common.look.rate_hz = 1, .port = 7440};
	char command[] = "evspace map discover";
	struct finding f = {.what = NULL};
	struct error e = {""};
	int code;

	argv[0] = command;
	code = options_parse(argc, argv, &discover_usage, &d, &d.common);
	if (code >= 0)
		return code;
	code = look(&d, &f, &e);
	if (code == EXIT_FINE)
		code = discover_write(&d, &f, &e);
	if (code != EXIT_FINE)
		fprintf(stderr, "%s: %s\n", command, e.text);
	finding_fini(&f);
	return code;
}
