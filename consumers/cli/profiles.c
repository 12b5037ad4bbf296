/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace profile: shows, saves and removes profiles. */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/help.h"
#include "consumers/cli/options.h"
#include "consumers/cli/profile.h"
#include "pathmap/base/memory.h"

static const char profiles_help[] =
	"usage: evspace profile [--json]\n"
	"       evspace profile save NAME [options]\n"
	"       evspace profile remove NAME\n"
	"\n"
	"A profile remembers where to look and as who: `evspace --profile NAME heartbeat`, or\n"
	"EVSPACE_PROFILE=NAME for all commands of a shell. What a command is told by an option\n"
	"counts before that, and so do variables such as EVSPACE_CONNECT. Without a word, all\n"
	"profiles are shown. save writes one anew; what it is not told the profile does not say.\n"
	"They are files in $XDG_CONFIG_HOME/evspace/profiles (else ~/.config/evspace/profiles)\n"
	"with lines such as `connect front:7440;`. No secrets are in them: keys stay where they "
	"are.\n"
	"\n"
	"examples:\n"
	"  evspace profile save lab --connect front:7440 --tls certs --identity alice\n"
	"  evspace --profile lab heartbeat\n"
	"  evspace profile remove lab\n"
	"\n"
	"  --connect ADDR    HOST:PORT or unix:PATH of the entry agent\n"
	"  --tls DIR         certificates made by evspace-certs\n"
	"  --identity NAME   NAME.pem and NAME.key there\n"
	"  --entry NAME      node whose agent must answer, where HOST is not its name\n"
	"  --run NAME        which run\n"
	"  --rate HZ|max     how often to look, in waves per second\n"
	"  --json            one JSON object a line, with \"schema\":1\n"
	"  --help            this text\n";

enum { JSON = 1, SETTING };

static const struct option options[] = {
	{.name = "connect", .has_arg = required_argument, .val = SETTING},
	{.name = "tls", .has_arg = required_argument, .val = SETTING},
	{.name = "identity", .has_arg = required_argument, .val = SETTING},
	{.name = "entry", .has_arg = required_argument, .val = SETTING},
	{.name = "run", .has_arg = required_argument, .val = SETTING},
	{.name = "rate", .has_arg = required_argument, .val = SETTING},
	{.name = "json", .val = JSON},
	{.name = "help", .val = 'h'},
	{0},
};

struct profiles {
	struct profile profile; /* to be saved */
	bool json, said;	/* a setting was given */
};

/* The profile will be used elsewhere: a folder is the same from everywhere. */
static int setting_take(struct profiles *p, const char *name, const char *value, struct error *e)
{
	char **setting = profile_setting(&p->profile, name);

	free(*setting);
	*setting = strcmp(name, "tls") == 0 ? realpath(value, NULL) : memory_copy(value);
	p->said = true;
	if (!*setting)
		return errorf(e, "%s: %s", value, strerror(errno));
	return profile_check(name, *setting, e);
}

/* Returns -1 to go on, else the exit code. */
static int profiles_parse(int argc, char **argv, struct profiles *p)
{
	struct error e;
	int c, index = 0;

	while ((c = options_next(argc, argv, true, options, &index)) != -1) {
		switch (c) {
		case 'h':
			help_print(profiles_help);
			return EXIT_FINE;
		case JSON:
			p->json = true;
			break;
		case SETTING:
			if (setting_take(p, options[index].name, optarg, &e) == 0)
				break;
			fprintf(stderr, "evspace profile: --%s: %s\n", options[index].name, e.text);
			return EXIT_USAGE;
		default:
			return EXIT_USAGE;
		}
	}
	return -1;
}

/* ---- showing ---- */

static void profile_print(struct profile *p, const char *name)
{
	printf("%s\n", name);
	for (size_t i = 0; profile_settings[i]; i++) {
		const char *value = *profile_setting(p, profile_settings[i]);

		if (value)
			printf("  %-8s %s\n", profile_settings[i], value);
	}
}

static void profile_print_json(struct profile *p, const char *name)
{
	json_t *o = json_pack("{s:i,s:s}", "schema", 1, "profile", name);

	for (size_t i = 0; profile_settings[i]; i++) {
		const char *value = *profile_setting(p, profile_settings[i]);

		json_object_set_new(o, profile_settings[i],
				    value ? json_string(value) : json_null());
	}
	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}

static int profiles_show(bool json)
{
	int code = EXIT_FINE;
	struct error e;
	char **names;
	size_t n = profile_names(&names);

	for (size_t i = 0; i < n; i++) {
		struct profile p;

		if (profile_read(&p, names[i], &e) < 0) {
			fprintf(stderr, "evspace profile: %s\n", e.text);
			code = EXIT_BAD_NEWS;
		} else if (json) {
			profile_print_json(&p, names[i]);
		} else {
			profile_print(&p, names[i]);
		}
		profile_fini(&p);
	}
	profile_names_free(names, n);
	if (n == 0)
		fprintf(stderr, "there are no profiles; evspace profile --help\n");
	return code;
}

/* ---- the command ---- */

static int profiles_change(struct profiles *p, const char *action, const char *name)
{
	bool save = strcmp(action, "save") == 0, wrong;
	struct error e;

	if (save && !p->said) {
		fprintf(stderr,
			"evspace profile: what shall %s remember? Say --connect or another "
			"option; try --help\n",
			name);
		return EXIT_USAGE;
	}
	if ((save ? profile_write(&p->profile, name, &e) : profile_remove(name, &e)) == 0)
		return EXIT_FINE;
	wrong = errno == EINVAL || (!save && errno == ENOENT);
	fprintf(stderr, "evspace profile: %s\n", e.text);
	return wrong ? EXIT_USAGE : EXIT_BAD_NEWS;
}

static int profiles_act(struct profiles *p, char **words, int n)
{
	bool known = n > 0 && (strcmp(words[0], "save") == 0 || strcmp(words[0], "remove") == 0);

	if (n == 0 && !p->said)
		return profiles_show(p->json);
	if (known && n == 2 && !p->json && (!p->said || strcmp(words[0], "save") == 0))
		return profiles_change(p, words[0], words[1]);
	if (known || n == 0)
		fprintf(stderr,
			"evspace profile: write evspace profile save NAME --connect ADDR ..., "
			"or evspace profile remove NAME\n");
	else
		fprintf(stderr, "evspace profile: '%s' is none of save, remove\n", words[0]);
	return EXIT_USAGE;
}

int profile_main(int argc, char **argv)
{
	struct profiles p = {.json = false};
	int code = profiles_parse(argc, argv, &p);

	if (code < 0)
		code = profiles_act(&p, argv + optind, argc - optind);
	profile_fini(&p.profile);
	return code;
}
