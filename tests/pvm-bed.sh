# SPDX-License-Identifier: BSD-3-Clause
# Sourced after tap.sh: a virtual machine of PVM of this test alone, on hosts that are namespaces.
#
#	pvm_begin			# makes hosts v1, v2, v3 where that is allowed, else one: v1
#	pvm_on v2 COMMAND [ARG...]	# run a command there
#	pvm_agents			# an agent on each of three hosts, after bed.sh
#	pvm_end				# nothing is left
#
# $pvm_hosts says how many there are. Each has its own network, name and folder for pvmd's files;
# /dev/shm and this test's folder are the same for all.

pvm_dir=$tap_dir/pvm
pvm_hosts=1

pvm_log() {
	cat "$pvm_dir"/v*/pvml.* 2>/dev/null
}

# pvm_exec HOST COMMAND [ARG...]: instead of this shell, so that its process id is the command's.
pvm_exec() {
	local host=$1

	shift
	if [ "$pvm_hosts" -gt 1 ]; then
		exec nsenter -t "$(cat "$pvm_dir/$host/pid")" -n -u -m --wd="$PWD" -- "$@"
	else
		exec "$@"
	fi
}

# pvm_on HOST COMMAND [ARG...]
pvm_on() {
	(pvm_exec "$@")
}

# What pvmd calls instead of rsh: "-x -l USER HOST COMMAND" or so.
pvm_rsh_make() {
	cat >"$pvm_dir/rsh" <<-END
		#!/bin/bash
		while [ \$# -gt 0 ]; do
			case \$1 in -l | -p) shift 2 ;; -*) shift ;; *) break ;; esac
		done
		host=\$1
		shift
		exec nsenter -t "\$(cat "$pvm_dir/\$host/pid")" -n -u -m -- env PVM_ROOT=$PVM_ROOT \
			PVM_ARCH=$PVM_ARCH PVM_TMP=$PVM_TMP PVM_VMID=$PVM_VMID PVM_ALLOW_ROOT=1 \
			/bin/sh -c "\$*"
	END
	chmod +x "$pvm_dir/rsh"
}

# Hold a namespace of its own open, with its files where PVM_TMP is. Its pid is in a file.
pvm_host_hold() {
	mkdir -p "$pvm_dir/$1"
	unshare -n -u -m bash -c 'hostname "$1" && mount --bind "$2/$1" "$3" &&
		mount --bind "$2/hosts" /etc/hosts && ip link set lo up && echo $$ >"$2/$1/pid.new" &&
		mv "$2/$1/pid.new" "$2/$1/pid" && exec sleep infinity' \
		hold "$1" "$pvm_dir" "$PVM_TMP" </dev/null >"$pvm_dir/$1.log" 2>&1 &
	echo $! >>"$pvm_dir/holders"
	disown
}

# A bridge in a namespace of its own, and a wire from it to each host.
pvm_wires_make() {
	local i switch

	unshare -n sleep infinity </dev/null >/dev/null 2>&1 &
	switch=$!
	echo "$switch" >>"$pvm_dir/holders"
	disown
	for ((i = 0; i < 100; i++)); do
		[ "$(readlink "/proc/$switch/ns/net")" != "$(readlink /proc/self/ns/net)" ] &&
			nsenter -t "$switch" -n ip link add br0 type bridge 2>/dev/null && break
		sleep 0.02
	done
	nsenter -t "$switch" -n ip link set br0 up || return
	for i in 1 2 3; do
		nsenter -t "$switch" -n ip link add "p$i" type veth peer name eth0 \
			netns "$(cat "$pvm_dir/v$i/pid")" &&
			nsenter -t "$switch" -n ip link set "p$i" master br0 up &&
			pvm_on "v$i" ip addr add "10.77.0.$i/24" dev eth0 &&
			pvm_on "v$i" ip link set eth0 up || return
	done
}

pvm_hosts_make() {
	local i

	unshare -n -u -m true 2>/dev/null && command -v ip >/dev/null || return
	printf '127.0.0.1 localhost\n10.77.0.1 v1\n10.77.0.2 v2\n10.77.0.3 v3\n' >"$pvm_dir/hosts"
	for i in 1 2 3; do
		pvm_host_hold "v$i"
	done
	for i in 1 2 3; do
		pvm_until test -s "$pvm_dir/v$i/pid" || return
	done
	pvm_hosts=3
	pvm_wires_make || { pvm_hosts=1; return 1; }
}

# pvm_until COMMAND...: wait until it succeeds, two minutes at most.
pvm_until() {
	local end=$((SECONDS + 120))

	while [ "$SECONDS" -lt "$end" ]; do
		"$@" >/dev/null 2>&1 && return
		sleep 0.02
	done
	echo "gave up waiting for: $*"
	return 1
}

pvm_ready() {
	[ -s "$(pvm_file pvmd)" ]
}

pvm_file() {
	local folder=$PVM_TMP

	[ "$pvm_hosts" -gt 1 ] && folder=$pvm_dir/v1
	echo "$folder/$1.$(id -u).$PVM_VMID"
}

pvm_begin() {
	local paths=$tap_dir:$top_builddir:/usr/bin

	export PVM_ROOT=/usr/lib/pvm3 PVM_ARCH=LINUX64 PVM_ALLOW_ROOT=1 PVM_VMID=evs$$
	export PVM_TMP=$pvm_dir/tmp
	unset PVM_EXPORT PVMEPID PVMSOCK
	mkdir -p "$PVM_TMP"
	pvm_hosts_make || pvm_hosts=1
	if [ "$pvm_hosts" -gt 1 ]; then
		pvm_rsh_make
		export PVM_RSH=$pvm_dir/rsh
		printf '* ep=%s wd=%s\nv1\nv2\nv3\n' "$paths" "$tap_dir" >"$pvm_dir/machine"
	else
		printf '* ep=%s wd=%s\n%s\n' "$paths" "$tap_dir" "$(hostname)" >"$pvm_dir/machine"
	fi
	# what tasks know of us, they know from who has spawned them
	pvm_on v1 env -u EVSPACE_DIR -u EVSPACE_RUN -u EVSPACE_CAPACITY pvmd "$pvm_dir/machine" \
		</dev/null >"$pvm_dir/pvmd.log" 2>&1 &
	disown
	pvm_until pvm_ready || { cat "$pvm_dir/pvmd.log"; pvm_log; return 1; }
}

# pvm_tell COMMAND: to PVM's console.
pvm_tell() {
	echo "$1" | pvm_on v1 pvm 2>/dev/null
}

# Tasks that a failed case has left.
pvm_reset() {
	pvm_tell reset >/dev/null
}

# A cluster of the three hosts; each agent has the tasks that are on its host.
pvm_agents() {
	local host maps=$tap_dir/maps

	mkdir "$maps" && echo 'application pvm { ranks any; }' >"$maps/application.map" &&
		echo 'cluster P { nodes v[1-3]; address 10.77.0.[1-3]:7480; }' >"$maps/cluster.map" &&
		echo 'entry v1; tree by-cluster;' >"$maps/mapping.map" &&
		evspace map check "$maps" || return
	export EVSPACE_TLS=$tap_dir/tls EVSPACE_CONNECT=v1:7480
	{ "$top_srcdir/deploy/certs" init "$EVSPACE_TLS" &&
		"$top_srcdir/deploy/certs" agent "$EVSPACE_TLS" 'v[1-3]' &&
		"$top_srcdir/deploy/certs" observe "$EVSPACE_TLS" observe; } >"$tap_dir/certs" 2>&1 ||
		{ cat "$tap_dir/certs"; return 1; }
	for host in v1 v2 v3; do
		bed_start "agent-$host" pvm_exec "$host" evspace agent --pathmap "$maps" --node "$host"
		pvm_until grep -q 'ready on' "$bed_dir/agent-$host.err" ||
			{ cat "$bed_dir/agent-$host.err"; return 1; }
	done
}

pvm_end() {
	local pid

	pvm_ready && pvm_tell halt >/dev/null
	pvm_until eval '! pvm_ready'
	while read -r pid; do
		kill -KILL "$pid" 2>/dev/null
	done < <(cat "$pvm_dir/holders" 2>/dev/null)
	return 0
}
