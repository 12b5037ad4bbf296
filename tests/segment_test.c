/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests segments: what is written is read, reserves, refusals, writers that are killed. */
#include "node-agent/segment/element-writer.h"
#include "node-agent/source/row-names.h"
#include "node-agent/segment/segment-table.h"
#include "node-agent/segment/segment.h"
#include "node-agent/segment/segment-read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/segments.h"
#include "tests/tap.h"
#include "tree/data/names-comm.h"

enum { KILLS = 50 };

/* --- what is written is read --- */

static void header_is_read(void)
{
	struct segment w = segments_full(), r;
	const struct segment_header *h;
	struct error e;

	CU_ASSERT_EQUAL_FATAL(segment_open(&r, segments_dir, segments_name(&w), &e), 0);
	h = r.header;
	CU_ASSERT_EQUAL(h->rank, 2);
	CU_ASSERT_EQUAL(h->world_size, 4);
	CU_ASSERT_EQUAL(h->world, 99);
	CU_ASSERT_EQUAL(h->pid, (uint32_t)getpid());
	CU_ASSERT_STRING_EQUAL(h->run, "run");
	CU_ASSERT_STRING_EQUAL(h->job, "job");
	CU_ASSERT_TRUE(h->host[0] != '\0');
	CU_ASSERT_TRUE(strncmp(h->program, program_invocation_short_name, 100) == 0);
	CU_ASSERT_TRUE(segment_alive(&r));
	CU_ASSERT_EQUAL(w.device, r.device);
	CU_ASSERT_EQUAL(w.inode, r.inode);
	segment_close(&r);
	segment_close(&r);
	segment_close(&w);
	segment_close(NULL);
}

static void tables_are_read(void)
{
	struct segment w = segments_full(), r;
	const struct segment_element *element;
	struct element_range range;
	struct tuple out[SEGMENTS_CAPACITY];
	struct error e;

	CU_ASSERT_EQUAL_FATAL(segment_open(&r, segments_dir, segments_name(&w), &e), 0);
	CU_ASSERT_EQUAL(segment_threads(&r), 1);
	CU_ASSERT_EQUAL(segment_thread(&r, 0)->tid, 4711);
	CU_ASSERT_PTR_NULL(segment_thread(&r, 1));
	CU_ASSERT_PTR_NULL(segment_thread(&r, UINT32_MAX));
	CU_ASSERT_EQUAL(segment_elements(&r), 3);
	CU_ASSERT_EQUAL(segment_element(&r, 0)->thread, SEGMENT_NO_THREAD);
	element = segment_element(&r, 1);
	CU_ASSERT_EQUAL(element->channel, CHANNEL_P2P);
	element_read(segment_ring(&r, element), element->capacity, 0, UINT64_MAX, out,
		     SEGMENTS_CAPACITY, &range);
	CU_ASSERT_EQUAL(range.count, SEGMENTS_CAPACITY - 1);
	CU_ASSERT_EQUAL(range.lost, 2 * SEGMENTS_CAPACITY + 1);
	CU_ASSERT_EQUAL(out[range.count - 1].bytes, 3 * SEGMENTS_CAPACITY - 1);
	segment_close(&r);
	segment_close(&w);
}

static void members_are_read(void)
{
	struct segment w = segments_full(), r;
	struct error e;
	int32_t *members;

	CU_ASSERT_EQUAL_FATAL(segment_open(&r, segments_dir, segments_name(&w), &e), 0);
	CU_ASSERT_EQUAL(segment_comms(&r), 3);
	CU_ASSERT_EQUAL(segment_member(&r, segment_comm(&r, 0), 3), 3);
	CU_ASSERT_EQUAL(segment_member(&r, segment_comm(&r, 0), 4), -1);
	CU_ASSERT_EQUAL(segment_member(&r, segment_comm(&r, 1), 0), -1);
	CU_ASSERT_EQUAL(segment_member(&r, segment_comm(&r, 2), 0), 3);
	CU_ASSERT_EQUAL(segment_member(&r, segment_comm(&r, 2), 1), 1);
	/* the same list again, and that of the world, take no room */
	members = segment_members_take(&w, 2);
	members[0] = 3;
	members[1] = 1;
	CU_ASSERT_EQUAL(segment_members_keep(&w, members, 2), segment_comm(&r, 2)->members);
	members = segment_members_take(&w, 4);
	for (int i = 0; i < 4; i++)
		members[i] = i;
	CU_ASSERT_EQUAL(segment_members_keep(&w, members, 4), SEGMENT_MEMBERS_WORLD);
	CU_ASSERT_EQUAL(atomic_load(&w.header->members), 2);
	segment_comm_add(&w, 101, 99, 7, SEGMENT_MEMBERS_UNKNOWN);
	CU_ASSERT_EQUAL(segment_comms(&r), 3);
	segment_close(&r);
	segment_close(&w);
}

static void state_line(void)
{
	struct segment w = segments_full();
	struct segment_thread *t = (void *)((char *)w.header + w.layout.threads_at);
	struct tuple out;

	CU_ASSERT_EQUAL(segment_state(t, &out), 0);
	t->state.since = 1234;
	t->state.bytes = 77;
	t->state.whom = element_word(3, 5);
	t->state.what = element_word(8, element_half(9, TUPLE_COMPLETION));
	CU_ASSERT_EQUAL_FATAL(segment_state(t, &out), 1);
	CU_ASSERT_EQUAL(out.start, 1234);
	CU_ASSERT_EQUAL(out.end, 0);
	CU_ASSERT_EQUAL(out.bytes, 77);
	CU_ASSERT_EQUAL(out.peer, 3);
	CU_ASSERT_EQUAL(out.seq_or_tag, 5);
	CU_ASSERT_EQUAL(out.comm, 8);
	CU_ASSERT_EQUAL(out.op, 9);
	CU_ASSERT_EQUAL(out.flags, TUPLE_COMPLETION | TUPLE_RUNNING);
	segment_close(&w);
}

static void control_page(void)
{
	struct segment w = segments_full(), r;
	struct segment_control *control;
	struct error e;

	CU_ASSERT_EQUAL_FATAL(segment_open(&r, segments_dir, segments_name(&w), &e), 0);
	control = segment_control_map(&r);
	CU_ASSERT_PTR_NOT_NULL_FATAL(control);
	atomic_store(&control->mode[CHANNEL_WAIT], MODE_OFF);
	CU_ASSERT_EQUAL(((char *)w.header)[SEGMENT_PAGE + CHANNEL_WAIT], MODE_OFF);
	segment_control_unmap(control);
	segment_control_unmap(NULL);
	/* another file has taken its place */
	unlink(r.path);
	close(open(r.path, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
	CU_ASSERT_PTR_NULL(segment_control_map(&r));
	CU_ASSERT_EQUAL(errno, ESTALE);
	segment_close(&r);
	segment_close(&w);
}

/* Twice as many as fit come, and go. */
static void freed_make_way(void)
{
	struct segment w = segments_full(), r;
	struct names *names = names_new(0);
	struct row_comms taken = {.seen = 0};
	const struct name_comm *comm;
	struct error e;
	uint32_t most = w.layout.comms_max;
	int32_t *members = segment_members_take(&w, 2);
	uint32_t pair;

	members[0] = 2;
	members[1] = 0;
	pair = segment_members_keep(&w, members, 2);
	CU_ASSERT_EQUAL_FATAL(segment_open(&r, segments_dir, segments_name(&w), &e), 0);
	for (uint32_t i = 0; i < 2 * most; i++) {
		segment_comm_add(&w, 1000 + i, 99, 2, pair);
		if (i % 2)
			CU_ASSERT_EQUAL(row_comms_take(&r, names, &taken), 0);
		segment_comm_leave(&w, 1000 + i);
	}
	segment_comm_leave(&w, 12345);
	CU_ASSERT_EQUAL(segment_comms(&w), most);
	CU_ASSERT_EQUAL(atomic_load(&w.header->note) & SEGMENT_NOTE_COMMS, 0);
	for (uint32_t i = 0; i < 2 * most; i++) {
		comm = names_comm_find(names, 1000 + i);
		CU_ASSERT_TRUE(comm && comm->size == 2 && comm->members && comm->members[0] == 2);
	}
	/* those that are there stay */
	for (uint32_t i = 0; i < 3; i++)
		CU_ASSERT_TRUE(segment_comm(&w, i)->id < 1000);
	segment_close(&r);
	segment_close(&w);
	names_free(names);
}

static void reserves_end(void)
{
	struct segment w = segments_full();
	char notes[256];
	int elements = 0;

	CU_ASSERT_PTR_NOT_NULL(segment_thread_add(&w, 2));
	CU_ASSERT_PTR_NULL(segment_thread_add(&w, 3));
	while (segment_element_add(
		&w, &(struct segment_element){.thread = 1, .capacity = SEGMENTS_CAPACITY}))
		elements++;
	CU_ASSERT_EQUAL(elements, 2 * CHANNEL_PROGRAMS - 2);
	CU_ASSERT_EQUAL(atomic_load(&w.header->note) & ~SEGMENT_NOTE_CLOCK,
			SEGMENT_NOTE_THREADS | SEGMENT_NOTE_ELEMENTS);
	while (segment_members_take(&w, 1000))
		;
	for (uint32_t id = 1; id < 1000; id++)
		segment_comm_add(&w, id, 0, 1, SEGMENT_MEMBERS_UNKNOWN);
	CU_ASSERT_TRUE(atomic_load(&w.header->note) & SEGMENT_NOTE_COMMS);
	CU_ASSERT_EQUAL(segment_comms(&w), w.layout.comms_max);
	segment_notes(SEGMENT_NOTE_THREADS | SEGMENT_NOTE_COMMS, "", notes, sizeof(notes));
	CU_ASSERT_PTR_NOT_NULL(strstr(notes, "threads"));
	CU_ASSERT_PTR_NOT_NULL(strstr(notes, "; more communicators"));
	CU_ASSERT_STRING_EQUAL(segment_notes(0, "a", notes, sizeof(notes)), "");
	segment_overflow_write(&w);
	segment_overflow_write(&w);
	CU_ASSERT_EQUAL(element_head(segment_ring(&w, segment_element(&w, 0))), 2);
	segment_close(&w);
}

/* --- refusals when it is made --- */

/* The only file in @path is an empty one whose name ends so. */
static bool only_refusal(const char *path, const char *reason)
{
	DIR *d = opendir(path);
	const struct dirent *entry;
	int others = 0, found = 0;
	char end[64];

	snprintf(end, sizeof(end), ".refused-%s", reason);
	while (d && (entry = readdir(d))) {
		const char *dot = strstr(entry->d_name, ".refused-");

		if (entry->d_name[0] == '.')
			continue;
		if (dot && strcmp(dot, end) == 0)
			found++;
		else
			others++;
	}
	if (d)
		closedir(d);
	return found == 1 && others == 0;
}

static void refused(struct segment_plan plan, int error, const char *reason)
{
	struct segment s;
	struct error e = {""};

	segments_folder_empty(segments_dir);
	CU_ASSERT_EQUAL(segment_create(&s, &plan, &e), -1);
	CU_ASSERT_EQUAL(errno, error);
	CU_ASSERT_TRUE(e.text[0] != '\0');
	CU_ASSERT_TRUE(only_refusal(plan.dir, reason));
}

static void over_the_quota(void)
{
	struct segment_plan plan = segments_plan();
	struct segment first, second;
	struct error e;

	plan.quota = 4096;
	refused(plan, EDQUOT, "quota");
	/* all segments of the user count, this one too */
	plan.quota = 0;
	segments_folder_empty(segments_dir);
	CU_ASSERT_EQUAL_FATAL(segment_create(&first, &plan, &e), 0);
	plan.rank = 3;
	plan.quota = first.size + first.size / 2;
	CU_ASSERT_EQUAL(segment_create(&second, &plan, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "EVSPACE_QUOTA"));
	plan.quota = 2 * first.size;
	CU_ASSERT_EQUAL_FATAL(segment_create(&second, &plan, &e), 0);
	segment_close(&first);
	segment_close(&second);
}

/* A limit on file sizes ends a program that writes beyond it: here the program must not notice. */
static void file_size_limit(void)
{
	struct rlimit old, low;

	getrlimit(RLIMIT_FSIZE, &old);
	low = old;
	low.rlim_cur = 8192;
	setrlimit(RLIMIT_FSIZE, &low);
	refused(segments_plan(), EFBIG, "limits");
	setrlimit(RLIMIT_FSIZE, &old);
}

static void folder_of_others(void)
{
	struct segment_plan plan = segments_plan();
	struct segment s;
	struct error e;

	chmod(segments_dir, 0777);
	refused(plan, EACCES, "denied");
	chmod(segments_dir, 0700);
	plan.dir = "/nowhere/at/all";
	CU_ASSERT_EQUAL(segment_create(&s, &plan, &e), -1);
	CU_ASSERT_EQUAL(errno, ENOENT);
}

static void memory_full(void)
{
	struct segment_plan plan = segments_plan();
	char small[128], run[160];

	snprintf(small, sizeof(small), "%s/small", segments_base);
	snprintf(run, sizeof(run), "%s/run", small);
	if (mkdir(small, 0700) < 0 || mount("none", small, "tmpfs", 0, "size=32k") < 0) {
		tap_skip("only root may mount a small file system");
		rmdir(small);
		return;
	}
	mkdir(run, 0700);
	plan.dir = run;
	plan.quota = UINT64_MAX;
	refused(plan, ENOSPC, "no-space");
	umount(small);
	rmdir(small);
}

static void name_is_taken(void)
{
	struct segment_plan plan = segments_plan();
	struct segment w = segments_full(), again;
	struct error e;

	CU_ASSERT_EQUAL(segment_create(&again, &plan, &e), -1);
	CU_ASSERT_EQUAL(errno, EEXIST);
	CU_ASSERT_EQUAL(access(w.path, F_OK), 0);
	segment_close(&w);
}

/* --- a writer that is killed --- */

/* Writes until it is killed. Numbers go up in `bytes`. */
static void write_for_ever(void)
{
	struct segment_plan plan = segments_plan();
	struct segment s;
	struct error e;
	struct segment_count *count;
	struct segment_element *element;
	struct element_writer w;
	struct tuple t = {.op = 1};

	if (segment_create(&s, &plan, &e) < 0)
		_exit(1);
	segment_thread_add(&s, 1);
	count = &segment_counts_of(&s, 0)[CHANNEL_P2P];
	element = segment_element_add(&s, &(struct segment_element){.channel = CHANNEL_P2P,
								    .capacity = SEGMENTS_CAPACITY});
	element_writer_init(&w, (void *)((char *)s.header + element->ring_at), SEGMENTS_CAPACITY);
	for (t.bytes = 0;; t.bytes++) {
		atomic_store_explicit(&count->calls, t.bytes + 1, memory_order_relaxed);
		element_write(&w, &t);
	}
}

static int is_segment(const struct dirent *entry)
{
	return strstr(entry->d_name, SEGMENT_SUFFIX) != NULL;
}

/* Everything but the tuple in the making is there, and the counts add up. */
static void dead_is_read(const char *name)
{
	struct segment r;
	struct element_range range = {0, 0, 0};
	struct tuple out[SEGMENTS_CAPACITY];
	const struct segment_element *element;
	uint64_t head, events;
	struct error e;

	CU_ASSERT_EQUAL_FATAL(segment_open(&r, segments_dir, name, &e), 0);
	CU_ASSERT_FALSE(segment_alive(&r));
	element = segment_element(&r, 1);
	if (element) {
		head = element_head(segment_ring(&r, element));
		events = atomic_load(&segment_count(&r, 0, CHANNEL_P2P)->calls);
		element_read(segment_ring(&r, element), element->capacity, 0, UINT64_MAX, out,
			     SEGMENTS_CAPACITY, &range);
		CU_ASSERT_EQUAL(range.lost + range.count, head);
		CU_ASSERT_TRUE(events == head || events == head + 1);
		for (uint32_t i = 0; i < range.count; i++)
			CU_ASSERT_EQUAL(out[i].bytes, range.first + i);
	}
	segment_close(&r);
}

static void killed(void)
{
	unsigned seed = 1;

	for (int i = 0; i < KILLS; i++) {
		struct dirent **names;
		int status, n;
		pid_t pid;

		segments_folder_empty(segments_dir);
		pid = fork();
		if (pid == 0)
			write_for_ever();
		do {
			n = scandir(segments_dir, &names, is_segment, alphasort);
			if (n == 0)
				free(names);
		} while (n == 0 && waitpid(pid, &status, WNOHANG) == 0);
		CU_ASSERT_EQUAL_FATAL(n, 1);
		/* a random moment, from its first instructions on */
		for (volatile int spin = rand_r(&seed) % 200000; spin > 0; spin--)
			;
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		dead_is_read(names[0]->d_name);
		free(names[0]);
		free(names);
	}
}

static CU_TestInfo read_cases[] = {
	{"the header is read as it was written", header_is_read},
	{"threads, elements and rings", tables_are_read},
	{"communicators and their members", members_are_read},
	{"the state line", state_line},
	{"the control page", control_page},
	{"communicators that are freed make way", freed_make_way},
	{"reserves end in a note", reserves_end},
	CU_TEST_INFO_NULL,
};

static CU_TestInfo refusal_cases[] = {
	{"over the quota", over_the_quota},
	{"over the file size limit", file_size_limit},
	{"a folder that others may write to", folder_of_others},
	{"shared memory is full", memory_full},
	{"the name is taken", name_is_taken},
	CU_TEST_INFO_NULL,
};

static CU_TestInfo death_cases[] = {
	{"a writer killed 50 times: all is there", killed},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{"segment", segments_folder_make, segments_folder_remove, NULL, NULL, read_cases},
		{"refusal", segments_folder_make, segments_folder_remove, NULL, NULL,
		 refusal_cases},
		{"death", segments_folder_make, segments_folder_remove, NULL, NULL, death_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
