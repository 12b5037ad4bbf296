/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how addresses are read and printed, and that names are looked up aside. */
#include <dlfcn.h>
#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tree/link/address.h"
#include "tree/link/resolver.h"

/** Reading @text and printing it gives @want; NULL: it is refused. */
static void reads(const char *text, bool listen, const char *want)
{
	struct address a;
	struct error e = {""};
	char printed[256] = "";

	if (address_parse(&a, text, listen, &e) == 0)
		address_format(&a.at[0], printed, sizeof(printed));
	else
		CU_ASSERT_TRUE(e.text[0] && (errno == EINVAL || errno == EHOSTUNREACH));
	CU_ASSERT_STRING_EQUAL(printed, want ? want : "");
	if (strcmp(printed, want ? want : "") != 0)
		tap_note("%s: %s%s", text, printed, e.text);
}

static void addresses_are_read_and_printed(void)
{
	char longest[200] = "unix:/";
	struct address a;
	size_t most = sizeof(a.path) - 1;

	reads("127.0.0.1:7440", false, "127.0.0.1:7440");
	reads("[::1]:7440", false, "[::1]:7440");
	reads("[::ffff:10.1.2.3]:7440", false, "10.1.2.3:7440");
	reads("unix:/run/agent.sock", false, "unix:/run/agent.sock");
	reads(":7440", true, "0.0.0.0:7440");
	reads("127.0.0.1:0", true, "127.0.0.1:0");
	memset(longest + 6, 'x', most - 1);
	reads(longest, true, longest);
	longest[5 + most] = 'x';
	reads(longest, true, NULL);
}

static void what_is_no_address_is_refused(void)
{
	static const char *const wrong[] = {"",
					    "w0",
					    ":7440",
					    "w0:",
					    "w0:0",
					    "127.0.0.1:65536",
					    "127.0.0.1:123456",
					    "127.0.0.1:-1",
					    "127.0.0.1:http",
					    "::1:7440",
					    "[::1:7440",
					    "[]:",
					    "unix:",
					    "no-such-host.invalid:7440"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		reads(wrong[i], false, NULL);
}

struct asked {
	struct event_base *base;
	struct resolver_wait wait;
	struct address address;
	struct error why;
	int told;
};

static void found(void *arg, const struct address *address, const struct error *why)
{
	struct asked *asked = arg;

	asked->told++;
	asked->address = *address;
	if (why)
		asked->why = *why;
	event_base_loopbreak(asked->base);
}

static void names_are_looked_up_aside(void)
{
	struct asked a = {.base = event_base_new(), .wait = {.found = found, .arg = &a}};
	struct resolver *resolver = resolver_new(a.base);
	struct address again;
	struct error e = {""};

	CU_ASSERT_EQUAL(resolver_find(resolver, "127.0.0.1:1", &again, &a.wait, &e), 1);
	CU_ASSERT_EQUAL(resolver_find(resolver, "nowhere", &again, &a.wait, &e), -1);
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_EQUAL(resolver_find(resolver, "localhost:7440", &again, &a.wait, &e), 0);
	CU_ASSERT_EQUAL(a.told, 0);
	event_base_dispatch(a.base);
	CU_ASSERT_EQUAL(a.told, 1);
	CU_ASSERT_EQUAL(resolver_find(resolver, "localhost:7440", &again, &a.wait, &e), 1);
	CU_ASSERT_EQUAL(memcmp(&a.address, &again, sizeof(again)), 0);
	/* It has just been looked up: who could not get in there is sent there again. */
	resolver_doubt(resolver, "localhost:7440");
	CU_ASSERT_EQUAL(resolver_find(resolver, "localhost:7440", &again, &a.wait, &e), 1);

	CU_ASSERT_EQUAL(resolver_find(resolver, "no-such-host.invalid:1", &again, &a.wait, &e), 0);
	event_base_dispatch(a.base);
	CU_ASSERT_EQUAL(a.told, 2);
	CU_ASSERT_EQUAL(resolver_find(resolver, "no-such-host.invalid:1", &again, &a.wait, &e), -1);
	CU_ASSERT_EQUAL(errno, EHOSTUNREACH);
	CU_ASSERT_STRING_EQUAL(e.text, a.why.text);
	/* Threads that are on their way hold nobody up, and touch nothing that is gone. */
	for (int i = 0; i < 40; i++) {
		char name[64];

		snprintf(name, sizeof(name), "no-such-host-%d.invalid:1", i);
		CU_ASSERT_EQUAL(resolver_find(resolver, name, &again, &a.wait, &e), 0);
		resolver_forget(&a.wait);
	}
	resolver_free(resolver);
	event_base_free(a.base);
	CU_ASSERT_EQUAL(a.told, 2);
}

/* ---- name servers that say nothing, or something else ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool silent = true, fickle_is_known = true;

static _Atomic time_t ahead_s;

/* The time, and how far the test has turned its clock. */
int clock_gettime(clockid_t id, struct timespec *at)
{
	int (*real)(clockid_t, struct timespec *);
	int status;

	*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	status = real(id, at);
	at->tv_sec += atomic_load(&ahead_s);
	return status;
}

/* Names that begin with "silent" are not answered for while `silent`. */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
		struct addrinfo **found_list)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	bool asks = host && !(hints->ai_flags & AI_NUMERICHOST), known;
	bool fickle = asks && strcmp(host, "fickle") == 0;

	*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	pthread_mutex_lock(&lock);
	while (silent && asks && strncmp(host, "silent", 6) == 0)
		pthread_cond_wait(&changed, &lock);
	known = fickle_is_known;
	pthread_mutex_unlock(&lock);
	if (fickle && !known)
		return EAI_AGAIN;
	return real(fickle ? "localhost" : host, port, hints, found_list);
}

static void names_that_hang_hold_no_others_up(void)
{
	enum { SILENT = 40 };
	static const struct timeval most = {20, 0};
	struct asked a = {.base = event_base_new(), .wait = {.found = found, .arg = &a}};
	struct resolver_wait waits[SILENT] = {{.waiting = false}};
	struct resolver *resolver = resolver_new(a.base);
	struct address again;
	struct error e = {""};

	for (int i = 0; i < SILENT; i++) {
		char name[64];

		snprintf(name, sizeof(name), "silent%d:1", i);
		CU_ASSERT_EQUAL(resolver_find(resolver, name, &again, &waits[i], &e), 0);
		resolver_forget(&waits[i]);
	}
	CU_ASSERT_EQUAL(resolver_find(resolver, "localhost:1", &again, &a.wait, &e), 0);
	event_base_loopexit(a.base, &most);
	event_base_dispatch(a.base);
	CU_ASSERT_EQUAL(a.told, 1);
	CU_ASSERT_TRUE(a.address.n > 0);
	pthread_mutex_lock(&lock);
	silent = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	resolver_free(resolver);
	event_base_free(a.base);
}

/* What was found counts while nobody can say that something else is right. */
static void no_answer_is_no_news(void)
{
	struct asked a = {.base = event_base_new(), .wait = {.found = found, .arg = &a}};
	struct resolver *resolver = resolver_new(a.base);
	struct address again;
	struct error e = {""};

	CU_ASSERT_EQUAL(resolver_find(resolver, "fickle:1", &again, &a.wait, &e), 0);
	event_base_dispatch(a.base);
	CU_ASSERT_TRUE(a.address.n > 0);
	pthread_mutex_lock(&lock);
	fickle_is_known = false;
	pthread_mutex_unlock(&lock);
	resolver_doubt(resolver, "fickle:1");
	CU_ASSERT_EQUAL(resolver_find(resolver, "fickle:1", &again, &a.wait, &e), 1);
	atomic_store(&ahead_s, 6);
	CU_ASSERT_EQUAL(resolver_find(resolver, "fickle:1", &again, &a.wait, &e), 0);
	event_base_dispatch(a.base);
	CU_ASSERT_EQUAL(a.told, 2);
	CU_ASSERT_TRUE(a.address.n > 0);
	CU_ASSERT_STRING_EQUAL(a.why.text, "");
	resolver_free(resolver);
	event_base_free(a.base);
}

/* One whose places are all taken is there, one that was killed is not. */
static void a_busy_socket_is_served(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int door = socket(AF_UNIX, SOCK_STREAM, 0), fd, n = 0;
	int waits[16];

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/address-%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	CU_ASSERT_FALSE(address_is_served(at.sun_path));
	CU_ASSERT_EQUAL_FATAL(bind(door, (struct sockaddr *)&at, sizeof(at)), 0);
	CU_ASSERT_FALSE(address_is_served(at.sun_path));
	CU_ASSERT_EQUAL(listen(door, 1), 0);
	CU_ASSERT_TRUE(address_is_served(at.sun_path));
	do {
		fd = waits[n++] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	} while (n < 16 && connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	CU_ASSERT_TRUE(n < 16);
	CU_ASSERT_TRUE(address_is_served(at.sun_path));
	while (n > 0)
		close(waits[--n]);
	close(door);
	CU_ASSERT_FALSE(address_is_served(at.sun_path));
	unlink(at.sun_path);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"addresses are read and printed", addresses_are_read_and_printed},
		{"what is no address is refused", what_is_no_address_is_refused},
		{"names are looked up aside, and remembered", names_are_looked_up_aside},
		{"who listens on a socket, however busy", a_busy_socket_is_served},
		{"names that hang hold no others up", names_that_hang_hold_no_others_up},
		{"a name that was found is known while nobody answers", no_answer_is_no_news},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "address", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
