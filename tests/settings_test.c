/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what collectors take from the environment, and the folder that they make. */
#include "node-agent/collect/core/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/segments.h"
#include "tests/tap.h"

static struct settings settings_with(const char *name, const char *value)
{
	struct settings s;

	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
	settings_read(&s);
	unsetenv(name);
	return s;
}

static void capacities(void)
{
	static const char *const wrong[] = {"1",	   "x",	      "-5",  "99999999999",
					    "p2p",	   "p2p=",    "=5",  "p2p=5,",
					    "p2p=5,nix=3", "state=5", "5,6", "p2p=5 "};
	struct settings s = settings_with("EVSPACE_CAPACITY", "500");

	CU_ASSERT_EQUAL(s.note, 0);
	CU_ASSERT_EQUAL(s.capacity[CHANNEL_P2P], 500);
	CU_ASSERT_EQUAL(s.capacity[CHANNEL_ENV], 500);
	s = settings_with("EVSPACE_CAPACITY", "p2p=1000,collective=20");
	CU_ASSERT_EQUAL(s.note, 0);
	CU_ASSERT_EQUAL(s.capacity[CHANNEL_P2P], 1000);
	CU_ASSERT_EQUAL(s.capacity[CHANNEL_COLLECTIVE], 20);
	CU_ASSERT_EQUAL(s.capacity[CHANNEL_WAIT], 0);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		s = settings_with("EVSPACE_CAPACITY", wrong[i]);
		CU_ASSERT_EQUAL(s.note, SEGMENT_NOTE_SETTINGS);
		CU_ASSERT_EQUAL(s.capacity[CHANNEL_P2P], 0);
	}
	s = settings_with("EVSPACE_CAPACITY", "wait=0");
	CU_ASSERT_EQUAL(s.note, 0);
	CU_ASSERT_EQUAL(s.modes[CHANNEL_WAIT], MODE_OFF);
	CU_ASSERT_EQUAL(s.modes[CHANNEL_P2P], MODE_TRACE);
}

static void modes_and_splits(void)
{
	struct settings s = settings_with("EVSPACE_MODES", "p2p=count,wait=off,io=sample,env=time");

	CU_ASSERT_EQUAL(s.note, 0);
	CU_ASSERT_EQUAL(s.modes[CHANNEL_P2P], MODE_COUNT);
	CU_ASSERT_EQUAL(s.modes[CHANNEL_WAIT], MODE_OFF);
	CU_ASSERT_EQUAL(s.modes[CHANNEL_IO], MODE_SAMPLE);
	CU_ASSERT_EQUAL(s.modes[CHANNEL_ENV], MODE_TIME);
	CU_ASSERT_EQUAL(s.modes[CHANNEL_COMM], MODE_TRACE);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_MODES", "count").modes[CHANNEL_USER], MODE_COUNT);
	s = settings_with("EVSPACE_MODES", "all=count,p2p=trace");
	CU_ASSERT_EQUAL(s.note, 0);
	CU_ASSERT_EQUAL(s.modes[CHANNEL_P2P], MODE_TRACE);
	CU_ASSERT_EQUAL(s.modes[CHANNEL_USER], MODE_COUNT);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_MODES", "all=time").modes[CHANNEL_WAIT], MODE_TIME);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_MODES", "all=fast").note, SEGMENT_NOTE_SETTINGS);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_MODES", "fast").note, SEGMENT_NOTE_SETTINGS);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_MODES", "p2p=").note, SEGMENT_NOTE_SETTINGS);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_MODES", "state=off").note, SEGMENT_NOTE_SETTINGS);
	s = settings_with("EVSPACE_ELEMENTS", "p2p=site,collective=comm,wait=op");
	CU_ASSERT_EQUAL(s.note, 0);
	CU_ASSERT_EQUAL(s.split[CHANNEL_P2P], SPLIT_SITE);
	CU_ASSERT_EQUAL(s.split[CHANNEL_COLLECTIVE], SPLIT_COMM);
	CU_ASSERT_EQUAL(s.split[CHANNEL_WAIT], SPLIT_OP);
	CU_ASSERT_EQUAL(s.split[CHANNEL_ENV], SPLIT_THREAD);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_ELEMENTS", "p2p=peer").note, SEGMENT_NOTE_SETTINGS);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_RESERVE", "10000").reserve, 10000);
}

static void numbers(void)
{
	CU_ASSERT_EQUAL(settings_with("EVSPACE_QUOTA", "256M").quota, 256 << 20);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_QUOTA", "1G").quota, 1 << 30);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_QUOTA", "70000").quota, 70000);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_QUOTA", "1T").note, SEGMENT_NOTE_SETTINGS);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_QUOTA", "1T").quota, 0);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_QUOTA", "10kB").quota, 10000);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_QUOTA", "1MiB").quota, 1 << 20);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_QUOTA", "5Mb").note, SEGMENT_NOTE_SETTINGS);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_LIFETIMES", "5").lifetime_ns[0], 5000000000);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_LIFETIMES", "500ms").lifetime_ns[0], 500000000);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_THREADS", "12").threads, 12);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_THREADS", "0").note, SEGMENT_NOTE_SETTINGS);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_THREADS", "99999").threads, 0);
	CU_ASSERT_EQUAL(settings_with("EVSPACE_THREADS", "").note, 0);
}

static void runs(void)
{
	char expected[64];

	CU_ASSERT_STRING_EQUAL(settings_with("EVSPACE_RUN", "night").run, "night");
	unsetenv("SLURM_JOB_ID");
	setenv("PMIX_NAMESPACE", "prterun-h/7@1", 1);
	CU_ASSERT_STRING_EQUAL(settings_with("EVSPACE_RUN", NULL).run, "run-prterun-h-7@1");
	CU_ASSERT_STRING_EQUAL(settings_with("EVSPACE_RUN", "a/b").run, "run-prterun-h-7@1");
	CU_ASSERT_EQUAL(settings_with("EVSPACE_RUN", "..").note, SEGMENT_NOTE_SETTINGS);
	unsetenv("PMIX_NAMESPACE");
	snprintf(expected, sizeof(expected), "run-%d", (int)getppid());
	CU_ASSERT_STRING_EQUAL(settings_with("EVSPACE_RUN", NULL).run, expected);
	snprintf(expected, sizeof(expected), "/dev/shm/evspace-%u", (unsigned)geteuid());
	CU_ASSERT_STRING_EQUAL(settings_with("EVSPACE_DIR", NULL).base, expected);
	CU_ASSERT_STRING_EQUAL(settings_with("EVSPACE_DIR", "/x/y").base, "/x/y");
}

static int folder_error(const struct settings *s)
{
	struct error e = {""};
	int rc = settings_folder(s, &e), error = errno;

	CU_ASSERT_TRUE(rc == 0 || strstr(e.text, "EVSPACE_DIR"));
	return rc == 0 ? 0 : error;
}

static void folders(void)
{
	struct settings s = {.run = "r"};
	char link[128];
	struct stat st;

	snprintf(s.base, sizeof(s.base), "%s/base", segments_base);
	snprintf(s.dir, sizeof(s.dir), "%s/r", s.base);
	CU_ASSERT_EQUAL(folder_error(&s), 0);
	CU_ASSERT_EQUAL(folder_error(&s), 0);
	CU_ASSERT_TRUE(stat(s.dir, &st) == 0 && (st.st_mode & 0777) == 0700);
	chmod(s.base, 0777);
	CU_ASSERT_EQUAL(folder_error(&s), EACCES);
	chmod(s.base, 0700);
	rmdir(s.dir);
	CU_ASSERT_EQUAL(symlink("/", s.dir), 0);
	CU_ASSERT_EQUAL(folder_error(&s), ENOTDIR);
	unlink(s.dir);
	snprintf(link, sizeof(link), "%s/link", segments_base);
	CU_ASSERT_EQUAL(symlink(s.base, link), 0);
	snprintf(s.base, sizeof(s.base), "%s", link);
	CU_ASSERT_EQUAL(folder_error(&s), ENOTDIR);
	unlink(link);
	snprintf(s.base, sizeof(s.base), "%s/missing/base", segments_base);
	CU_ASSERT_EQUAL(folder_error(&s), ENOENT);
	snprintf(s.base, sizeof(s.base), "%s/base", segments_base);
	if (geteuid() == 0) {
		CU_ASSERT_EQUAL(chown(s.base, 12345, (gid_t)-1), 0);
		CU_ASSERT_EQUAL(folder_error(&s), EACCES);
	}
	rmdir(s.base);
}

static CU_TestInfo settings_cases[] = {
	{"EVSPACE_CAPACITY", capacities},
	{"EVSPACE_MODES, EVSPACE_ELEMENTS", modes_and_splits},
	{"EVSPACE_QUOTA and EVSPACE_THREADS", numbers},
	{"EVSPACE_RUN and EVSPACE_DIR", runs},
	{"folders are made, and refused when they are not ours", folders},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{"settings", segments_folder_make, segments_folder_remove, NULL, NULL,
		 settings_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
