/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the kernel for the TCP connections of this host and what they have carried (sock_diag(7)).
 */
#include "tests/bench/traffic.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_BYTES (64u << 10)

/* TCP_ESTABLISHED: <netinet/tcp.h>, which has the name, has an older struct tcp_info. */
#define STATE_ESTABLISHED 1

static int ask(int fd, struct error *e)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} request = {
		.head = {.nlmsg_len = sizeof(request),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.body = {.sdiag_family = AF_INET,
			 .sdiag_protocol = IPPROTO_TCP,
			 .idiag_ext = 1 << (INET_DIAG_INFO - 1),
			 .idiag_states = 1 << STATE_ESTABLISHED},
	};

	if (send(fd, &request, sizeof(request), 0) < 0)
		return errorf(e, "cannot ask the kernel for connections: %s", strerror(errno));
	return 0;
}

static bool is_one_of(const struct inet_diag_sockid *id, const struct sockaddr_in *ends, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (id->idiag_sport == ends[i].sin_port &&
		    id->idiag_src[0] == ends[i].sin_addr.s_addr)
			return true;
	}
	return false;
}

/* What one connection has carried; kernels may know less, or more, of it than our headers. */
static uint64_t carried(const struct nlmsghdr *message)
{
	const struct inet_diag_msg *body = NLMSG_DATA(message);
	int left = (int)(message->nlmsg_len - NLMSG_LENGTH(sizeof(*body)));
	const struct rtattr *a = (const void *)(body + 1);
	struct tcp_info info = {0};

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == INET_DIAG_INFO)
			memcpy(&info, RTA_DATA(a),
			       RTA_PAYLOAD(a) < sizeof(info) ? RTA_PAYLOAD(a) : sizeof(info));
	}
	return info.tcpi_bytes_acked + info.tcpi_bytes_received;
}

/* Take one answer of the kernel. Returns 1 when it was the last, 0, or -1. */
static int take(int fd, const struct sockaddr_in *ends, size_t n, uint64_t *bytes, struct error *e)
{
	static _Alignas(struct nlmsghdr) unsigned char answer[ANSWER_BYTES];
	const struct nlmsghdr *m = (const void *)answer;
	ssize_t got = recv(fd, answer, sizeof(answer), 0);
	unsigned left = got > 0 ? (unsigned)got : 0;

	if (got <= 0)
		return errorf(e, "the kernel says nothing of connections: %s", strerror(errno));
	for (; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
		if (m->nlmsg_type == NLMSG_DONE)
			return 1;
		if (m->nlmsg_type == NLMSG_ERROR) {
			errno = EOPNOTSUPP;
			return errorf(e, "this kernel cannot say what connections have carried");
		}
		if (is_one_of(&((const struct inet_diag_msg *)NLMSG_DATA(m))->id, ends, n))
			*bytes += carried(m);
	}
	return 0;
}

int traffic_sum(const struct sockaddr_in *ends, size_t n, uint64_t *bytes, struct error *e)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), done;

	*bytes = 0;
	if (fd < 0)
		return errorf(e, "no netlink socket: %s", strerror(errno));
	done = ask(fd, e);
	while (done == 0)
		done = take(fd, ends, n, bytes, e);
	close(fd);
	return done > 0 ? 0 : -1;
}
