/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace doctor: checks what EventSpace needs on this host, and measures the cost of waves. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "consumers/cli/json.h"
#include "consumers/cli/command.h"
#include "consumers/map/map.h"
#include "consumers/cli/options.h"
#include "consumers/cli/preload.h"
#include "consumers/cli/subprocess.h"
#include "pathmap/base/folder-base.h"
#include "node-agent/segment/folder.h"
#include "node-agent/store/store.h"
#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"
#include "tree/link/tls.h"

/* With less than these, something will fail sooner or later. */
#define SPACE_LEAST	  (64u << 20)
#define DESCRIPTORS_LEAST 4096u
#define EXPIRY_SOON_DAYS  30

static const char doctor_help[] =
	"usage: evspace doctor [options]\n"
	"\n"
	"Check what this host has for EventSpace: the folder of the elements and its\n"
	"space, the clock, the collectors, MPI and PVM, limits, certificates, an agent\n"
	"that answers. Each line begins with ok, warn or fail, and says what to do. Exit\n"
	"code 1 if anything fails.\n"
	"\n"
	"It also measures, in a few seconds, what waves of sixteen agents cost here, and\n"
	"writes that to $XDG_CONFIG_HOME/evspace/cost (else ~/.config/evspace/cost), by\n"
	"which evspace map show and suggest predict. With --nodes, that is said of these\n"
	"nodes of maps alone: run it on a host of each kind, with one such file.\n"
	"\n"
	"examples:\n"
	"  evspace doctor\n"
	"  evspace doctor --nodes 'w[0-63]'\n"
	"  evspace doctor --json | jq -r 'select(.state == \"fail\").remedy'\n";

enum state { STATE_OK, STATE_WARN, STATE_FAIL };
static const char *const states[] = {"ok", "warn", "fail"};

struct doctor {
	struct common common;
	const char *nodes;
	unsigned found[3]; /* by state */
};

/* The finding of one check; what to do is "" if there is nothing to do. */
struct doctor_finding {
	enum state state;
	struct error text, remedy;
};

/* Checks one thing, and sets *f. */
typedef void check(struct doctor *doctor, struct doctor_finding *f);

/* ---- the checks ---- */

static void folder_check(struct doctor *doctor, struct doctor_finding *f)
{
	struct error passed;
	char base[256];
	int fd;

	(void)doctor;
	if (folder_base(base, sizeof(base), &passed) == 1) {
		f->state = STATE_WARN;
		f->text = passed;
		errorf(&f->remedy,
		       "have root or its owner remove it; EVSPACE_DIR names another folder");
		return;
	}
	if (folder_base_path(base, sizeof(base), &f->text) == NULL) {
		f->state = STATE_FAIL;
		errorf(&f->remedy, "name a shorter folder in EVSPACE_DIR");
		return;
	}
	fd = folder_open(AT_FDCWD, base, base, &f->text);
	if (fd >= 0) {
		close(fd);
		errorf(&f->text, "%s is yours alone", base);
	} else if (errno == ENOENT) {
		errorf(&f->text, "%s will be made by the first agent or program", base);
	} else {
		f->state = STATE_FAIL;
		errorf(&f->remedy, "remove it, or name another folder in EVSPACE_DIR");
	}
}

static void space_check(struct doctor *doctor, struct doctor_finding *f)
{
	const char *dir = getenv("EVSPACE_DIR");
	char left[UNIT_TEXT];
	struct statvfs fs;
	uint64_t bytes;

	(void)doctor;
	/* a folder that does not exist yet will be in /dev/shm */
	if (dir == NULL || statvfs(dir, &fs) < 0) {
		dir = "/dev/shm";
		if (statvfs(dir, &fs) < 0) {
			f->state = STATE_FAIL;
			errorf(&f->text, "%s: %s", dir, strerror(errno));
			errorf(&f->remedy, "mount a tmpfs there, or name a folder in EVSPACE_DIR");
			return;
		}
	}
	bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	errorf(&f->text, "%s has %s left", dir, unit_bytes(left, bytes));
	if (bytes >= SPACE_LEAST)
		return;
	f->state = STATE_WARN;
	errorf(&f->remedy,
	       "evspace purge --all, or mount -o remount,size=1G %s; without "
	       "room programs run uncollected",
	       dir);
}

static void clock_check(struct doctor *doctor, struct doctor_finding *f)
{
	(void)doctor;
	if (clock_kind() == CLOCK_TICKS_TSC) {
		errorf(&f->text, "the time stamp counter is invariant");
		return;
	}
	f->state = STATE_WARN;
	errorf(&f->text, clock_trusts_tsc(CLOCK_SOURCES)
				 ? "no invariant time stamp counter: CLOCK_MONOTONIC is used"
				 : "the kernel has found the time stamp counter unstable: "
				   "CLOCK_MONOTONIC is used");
	errorf(&f->remedy, "each event costs some 40 ns more; in a virtual machine, have the host "
			   "pass invtsc through");
}

static void collector_check(struct doctor *doctor, struct doctor_finding *f)
{
	char path[4096];

	(void)doctor;
	if (preload_library(path, sizeof(path), &f->text) == 0) {
		char *pvm = strchr(path, ':');

		if (pvm != NULL)
			*pvm = '\0';
		errorf(&f->text, "%.900s%s", path, pvm != NULL ? ", and that for PVM" : "");
		return;
	}
	f->state = STATE_FAIL;
	errorf(&f->remedy, "make install, or name libevspace-mpi.so in EVSPACE_LIB");
}

static void mpi_check(struct doctor *doctor, struct doctor_finding *f)
{
	static const char *const starters[] = {"mpirun.openmpi", "mpirun.mpich", "mpirun",
					       "mpiexec",	 "srun",	 "pvm"};
	char path[PATH_MAX];
	size_t length = 0;

	(void)doctor;
	for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++) {
		if (subprocess_find(starters[i], path, sizeof(path)))
			length += (size_t)snprintf(f->text.text + length,
						   sizeof(f->text.text) - length, "%s%s",
						   length > 0 ? ", " : "", starters[i]);
	}
	if (length > 0)
		return;
	f->state = STATE_WARN;
	errorf(&f->text, "no mpirun, mpiexec, srun or pvm in PATH");
	errorf(&f->remedy, "install openmpi-bin, mpich or pvm, if programs are started from here");
}

static void descriptors_check(struct doctor *doctor, struct doctor_finding *f)
{
	struct rlimit limit;

	(void)doctor;
	getrlimit(RLIMIT_NOFILE, &limit);
	errorf(&f->text, "%llu open files, at most %llu", (unsigned long long)limit.rlim_cur,
	       (unsigned long long)limit.rlim_max);
	if (limit.rlim_cur >= DESCRIPTORS_LEAST)
		return;
	f->state = limit.rlim_cur < 256 ? STATE_FAIL : STATE_WARN;
	errorf(&f->remedy,
	       "ulimit -n %u where agents are started, if they will have hundreds of children or "
	       "consumers",
	       DESCRIPTORS_LEAST);
}

static void inotify_check(struct doctor *doctor, struct doctor_finding *f)
{
	static const char path[] = "/proc/sys/fs/inotify/max_user_instances";
	FILE *in = fopen(path, "r");
	unsigned most = 0;

	(void)doctor;
	if (in != NULL) {
		if (fscanf(in, "%u", &most) != 1)
			most = 0;
		fclose(in);
	}
	if (most > 0) {
		errorf(&f->text, "%u inotify instances a user", most);
		return;
	}
	f->state = STATE_WARN;
	errorf(&f->text, "%s: no inotify", path);
	errorf(&f->remedy, "mount /proc, or have a kernel with inotify");
}

/* When does one certificate of the folder expire? */
static void certificate_check(struct doctor_finding *f, const char *dir, const char *key)
{
	const char *file = strrchr(key, '/') + 1;
	char *name = memory_copy_bytes(file, strlen(file) - strlen(".key"));
	size_t length = strlen(f->text.text);
	struct error e;
	struct tls *tls = tls_new(dir, name, &e);
	long days = tls != NULL ? tls_expires_in(tls) / 86400 : 0;

	if (tls == NULL) {
		f->state = STATE_FAIL;
		errorf(&f->remedy, "%.900s", e.text);
	} else if (days < EXPIRY_SOON_DAYS && f->state == STATE_OK) {
		f->state = STATE_WARN;
		errorf(&f->remedy, "make %s anew with evspace-certs", name);
	}
	snprintf(f->text.text + length, sizeof(f->text.text) - length, "%s%s %s",
		 length > 0 ? ", " : "", name, tls == NULL ? "cannot be used" : "");
	length = strlen(f->text.text);
	if (tls != NULL)
		snprintf(f->text.text + length, sizeof(f->text.text) - length, "for %ld day%s",
			 days, plural((uint64_t)days, "s"));
	tls_free(tls);
	free(name);
}

static void certificates_check(struct doctor *doctor, struct doctor_finding *f)
{
	const char *said = doctor->common.look.tls;
	char *dir = said != NULL ? memory_copy(said) : config_tls_folder();
	char *pattern = memory_format("%s/*.key", dir);
	glob_t keys = {0};

	glob(pattern, 0, NULL, &keys);
	for (size_t i = 0; i < keys.gl_pathc; i++) {
		if (strcmp(strrchr(keys.gl_pathv[i], '/') + 1, "ca.key") != 0)
			certificate_check(f, dir, keys.gl_pathv[i]);
	}
	if (*f->text.text == '\0') {
		f->state = STATE_WARN;
		errorf(&f->text, "none in %s", dir);
		errorf(&f->remedy, "only agents of this host can be reached, by Unix sockets; for "
				   "others, evspace-certs makes them");
	}
	globfree(&keys);
	free(pattern);
	free(dir);
}

static void agent_check(struct doctor *doctor, struct doctor_finding *f)
{
	Evspace__Frame *reply;
	Evspace__StatusAsk status_ask = EVSPACE__STATUS_ASK__INIT;
	enum evspace_failure failure = EVSPACE_FINE;

	reply = options_ask_once(&doctor->common.look,
				 &WIRE_FRAME(STATUS_ASK, status_ask, &status_ask),
				 EVSPACE__FRAME__KIND_STATUS, &failure, &f->text);
	if (reply != NULL) {
		errorf(&f->text, "%.200s answers, %zu process%s", reply->status->node,
		       reply->status->n_processes, plural(reply->status->n_processes, "es"));
	} else {
		/* no agent at all is a warning; a named one that does not answer is a failure */
		f->state = doctor->common.look.connect != NULL ? STATE_FAIL : STATE_WARN;
		errorf(&f->remedy, "evspace agent & starts one; --connect says which one is meant");
	}
	if (reply != NULL)
		evspace__frame__free_unpacked(reply, NULL);
}

static void cost_check(struct doctor *doctor, struct doctor_finding *f)
{
	char *path = calibration_path();
	struct calibration c;

	if (calibrate_all(&c, "/proc/self/exe", &f->text) < 0) {
		f->state = STATE_WARN;
		free(path);
		return;
	}
	if (doctor->nodes != NULL)
		snprintf(c.nodes, sizeof(c.nodes), "%s", doctor->nodes);
	if (calibration_write(&c, path, &f->text) < 0) {
		f->state = STATE_WARN;
		errorf(&f->remedy, "predictions use built-in costs");
	} else {
		errorf(&f->text,
		       "wake-up %.1f us and %.1f us later, frame %.1f us, a byte encrypted %.2f "
		       "ns, copied %.2f ns, "
		       "a tuple read %.0f ns, a stage %.0f ns, cold caches %.1f us, %u core%s; "
		       "written to %s",
		       c.wake_us, c.latency_us, c.frame_us, c.encrypt_ns, c.copy_ns, c.read_ns,
		       c.stage_ns, c.cold_us, c.cores, plural(c.cores, "s"), path);
	}
	free(path);
}

static const struct {
	const char *name;
	check *check;
} checks[] = {
	{"folder", folder_check},   {"space", space_check},
	{"clock", clock_check},	    {"collector", collector_check},
	{"programs", mpi_check},    {"open files", descriptors_check},
	{"inotify", inotify_check}, {"certificates", certificates_check},
	{"agent", agent_check},	    {"cost", cost_check},
};

/* ---- output ---- */

static void finding_print(const struct doctor *doctor, const char *name,
			  const struct doctor_finding *f)
{
	if (doctor->common.json) {
		json_print(json_pack("{ss ss so so}", "check", name, "state", states[f->state],
				     "text", json_text(f->text.text), "remedy",
				     json_text(f->remedy.text)),
			   stdout);
	} else {
		table_say(stdout, "%-4s  %-12s  %s", states[f->state], name, f->text.text);
		if (*f->remedy.text != '\0')
			table_say(stdout, "%20s-> %s", "", f->remedy.text);
	}
}

static int nodes_take(void *into, const char *value, struct error *e)
{
	((struct doctor *)into)->nodes = value;
	return calibration_nodes_check(value, e);
}

static const struct option_row doctor_rows[] = {
	{"nodes", "LIST", .take = nodes_take,
	 .help = "what waves cost here holds for these nodes of maps: `w0`, `w[0-7] x*`"},
	{0},
};

static const struct usage doctor_usage = {
	.help = doctor_help, .own = doctor_rows, .takes = OPTIONS_LOOK | OPTIONS_JSON};

int doctor_main(int argc, char **argv)
{
	struct doctor doctor = {.common.look.patience_ms = 1};
	int code = options_parse(argc, argv, &doctor_usage, &doctor, &doctor.common);

	if (code >= 0)
		return code;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct doctor_finding f = {.state = STATE_OK};

		checks[i].check(&doctor, &f);
		doctor.found[f.state]++;
		finding_print(&doctor, checks[i].name, &f);
	}
	return doctor.found[STATE_FAIL] > 0 ? EXIT_BAD_NEWS : EXIT_FINE;
}
