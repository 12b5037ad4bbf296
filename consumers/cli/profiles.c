/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace profile: shows, saves and removes profiles. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/cli/command.h"
#include "consumers/cli/options.h"
#include "consumers/cli/profile.h"
#include "pathmap/base/memory.h"

static const char profiles_help[] =
	"usage: evspace profile [--json]\n"
	"       evspace profile save NAME [options]\n"
	"       evspace profile remove NAME\n"
	"\n"
	"A profile remembers where to look and as whom: `evspace --profile NAME\n"
	"heartbeat`, or EVSPACE_PROFILE=NAME for all commands of a shell. Options of a\n"
	"command and variables such as EVSPACE_CONNECT override it. Without arguments,\n"
	"all profiles are shown. save writes a profile anew, with the given settings\n"
	"alone. Profiles are files in $XDG_CONFIG_HOME/evspace/profiles (else\n"
	"~/.config/evspace/profiles) with lines such as `connect front:7440;`. No secrets\n"
	"are in them: keys stay where they are.\n"
	"\n"
	"examples:\n"
	"  evspace profile save lab --connect front:7440 --tls certs --identity alice\n"
	"  evspace --profile lab heartbeat\n"
	"  evspace profile remove lab\n";

struct profiles {
	struct common common;
	struct profile said;	/* borrowed texts */
	struct profile profile; /* to save */
	bool any;		/* a setting was given */
};

static const struct option_row profiles_rows[] = {
	{"connect", "ADDR", OPTION_TEXT, .at = offsetof(struct profiles, said.connect),
	 .help = "HOST:PORT or unix:PATH of the entry agent"},
	{"tls", "DIR", OPTION_TEXT, .at = offsetof(struct profiles, said.tls),
	 .help = "certificates made by evspace-certs"},
	{"identity", "NAME", OPTION_TEXT, .at = offsetof(struct profiles, said.identity),
	 .help = "NAME.pem and NAME.key there"},
	{"entry", "NAME", OPTION_TEXT, .at = offsetof(struct profiles, said.entry),
	 .help = "node whose agent must answer, where HOST is not its name"},
	{"run", "NAME", OPTION_TEXT, .at = offsetof(struct profiles, said.run),
	 .help = "which run"},
	{"rate", "HZ|max", OPTION_TEXT, .at = offsetof(struct profiles, said.rate),
	 .help = "how often to look, in waves per second"},
	{0},
};

static const struct usage profiles_usage = {
	.help = profiles_help, .own = profiles_rows, .takes = OPTIONS_JSON, .words_max = INT_MAX};

/* Make folders absolute, as the profile will be used from elsewhere. */
static int settings_take(struct profiles *p)
{
	struct error e;

	for (const char *const *name = profile_settings; *name; name++) {
		const char *said = *profile_setting(&p->said, *name);
		char **setting = profile_setting(&p->profile, *name);

		if (!said)
			continue;
		p->any = true;
		*setting = strcmp(*name, "tls") == 0 ? realpath(said, NULL) : memory_copy(said);
		if (!*setting)
			errorf(&e, "%s: %s", said, strerror(errno));
		else if (profile_check(*name, *setting, &e) == 0)
			continue;
		fprintf(stderr, "evspace profile: --%s: %s\n", *name, e.text);
		return -1;
	}
	return 0;
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
	json_t *o = json_pack("{s:o}", "profile", json_text(name));

	for (size_t i = 0; profile_settings[i]; i++) {
		const char *value = *profile_setting(p, profile_settings[i]);

		json_object_set_new(o, profile_settings[i], json_text(value));
	}
	json_print(o, stdout);
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

	if (save && !p->any) {
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
	static const char *const actions[] = {"save", "remove"};
	int action = n ? options_word("evspace profile", words[0], actions, 2) : -1;

	if (n == 0 && !p->any)
		return profiles_show(p->common.json);
	if (action >= 0 && n == 2 && !p->common.json && (!p->any || action == 0))
		return profiles_change(p, words[0], words[1]);
	if (action >= 0 || n == 0)
		fprintf(stderr,
			"evspace profile: write evspace profile save NAME --connect ADDR ..., "
			"or evspace profile remove NAME\n");
	return EXIT_USAGE;
}

int profile_main(int argc, char **argv)
{
	struct profiles p = {.any = false};
	int code = options_parse(argc, argv, &profiles_usage, &p, &p.common);

	if (code < 0 && settings_take(&p) < 0)
		code = EXIT_USAGE;
	if (code < 0)
		code = profiles_act(&p, p.common.words, p.common.n_words);
	profile_fini(&p.profile);
	return code;
}
