# SPDX-License-Identifier: BSD-3-Clause
# Sourced after tap.sh: two clusters of hosts with sshd, a gateway, a router, and who looks from outside.
#
#	cluster_begin [A [B]]		# A hosts behind the gateway ga (4), B behind the router (3)
#	cluster_on HOST COMMAND [ARG...]
#	cluster_join			# hosts of A and B reach each other, too; nobody else does
#	cluster_address HOST		# the one of /etc/hosts
#	cluster_power_off HOST		# everything on it dies at once
#	cluster_far HOST MS PERCENT MBIT	# it is far away: round trip, loss, rate (10.81.0.0/24 only)
#	cluster_cut HOST; cluster_mend HOST	# its wire there; nobody is told
#	cluster_aside NAME COMMAND...	# begin now what waits for long; cluster_has_come NAME is its case
#	cluster_end			# nothing is left
#
#	outside 10.81.0.0/24:	out, front, ga, router
#	A 10.81.1.0/24:		ga, a0 a1 ...	(no way from outside but through ga)
#	B 10.81.2.0/24:		router, b0 b1 ...	(the router forwards)
#
# A host is a network, UTS, process and mount namespace: its own name, addresses, /tmp, /var/tmp,
# /run and /dev/shm; /root and the rest of the disk are shared, as homes in clusters often are.
# $cluster_dir holds all; ssh -F $cluster_dir/ssh/config gets from host to host. $cluster_why says
# why there cannot be any.

cluster_dir=$tap_dir/cluster
cluster_why=
cluster_hosts=()

# Can there be hosts? Else cluster_why says why not.
cluster_allowed() {
	if [ "$(id -u)" -ne 0 ]; then
		cluster_why="hosts are made by root only"
	elif ! [ -x /usr/sbin/sshd ]; then
		cluster_why="sshd is missing (Debian package openssh-server)"
	elif ! command -v ip nsenter ssh ssh-keygen >/dev/null; then
		cluster_why="iproute2, util-linux and openssh-client are needed"
	elif ! unshare -n -u -m -p -f --mount-proc mount -t tmpfs none /mnt 2>/dev/null; then
		cluster_why="namespaces are not allowed here"
	fi
	[ -z "$cluster_why" ]
}

# What runs as a host's first process: private folders, but for those of the build and of the test.
cluster_init_make() {
	cat >"$cluster_dir/init" <<-'END'
		#!/bin/bash
		# init HOST DIR SHARED...
		host=$1 dir=$2
		shift
		set -e
		hostname "$host"
		ip link set lo up
		mount -t tmpfs none /mnt
		n=0
		for folder; do
			n=$((n + 1))
			mkdir "/mnt/$n"
			mount --bind "$folder" "/mnt/$n"
		done
		for folder in /tmp /var/tmp /dev/shm /run; do
			mount -t tmpfs -o mode=1777 none "$folder"
		done
		n=0
		for folder; do
			n=$((n + 1))
			mkdir -p "$folder"
			mount --move "/mnt/$n" "$folder"
		done
		mkdir -m 755 -p /run/sshd
		mount --bind "$dir/hosts" /etc/hosts
		touch "$dir/$host/ready"
		set +e
		# It also reaps what loses its parent.
		sleep infinity &
		while :; do wait; done
	END
	chmod +x "$cluster_dir/init"
}

cluster_host_make() {
	mkdir -p "$cluster_dir/$1"
	unshare -n -u -m -p -f --kill-child=KILL --mount-proc "$cluster_dir/init" "$1" "$cluster_dir" \
		"$top_srcdir" "$top_builddir" </dev/null >"$cluster_dir/$1/log" 2>&1 &
	echo $! >"$cluster_dir/$1/holder"
	disown
	cluster_hosts+=("$1")
}

# cluster_until COMMAND...: wait until it succeeds, two minutes at most.
cluster_until() {
	local end=$((SECONDS + 120))

	while [ "$SECONDS" -lt "$end" ]; do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	echo "gave up waiting for: $*"
	return 1
}

# What the command says of its own goes to $words, which is $cluster_dir but aside.
words=$cluster_dir
cluster_aside() {
	local name=$1

	shift
	mkdir "$cluster_dir/aside-$name"
	(
		words=$cluster_dir/aside-$name
		"$@" >"$words/case" 2>&1
		echo $? >"$words/code.new" && mv "$words/code.new" "$words/code"
	) &
	disown
}

cluster_has_come() {
	cluster_until test -e "$cluster_dir/aside-$1/code" || return
	cat "$cluster_dir/aside-$1/case"
	return "$(cat "$cluster_dir/aside-$1/code")"
}

cluster_host_ready() {
	local holder pid

	[ -e "$cluster_dir/$1/ready" ] && holder=$(cat "$cluster_dir/$1/holder") || return
	# there is no end of line in this file
	read -r pid _ <"/proc/$holder/task/$holder/children"
	[ -n "$pid" ] && echo "$pid" >"$cluster_dir/$1/pid"
}

cluster_pid() {
	cat "$cluster_dir/$1/pid"
}

# cluster_exec HOST COMMAND [ARG...]: instead of this shell.
cluster_exec() {
	local host=$1

	shift
	exec nsenter -t "$(cluster_pid "$host")" -n -u -m -p --wd=/ -- "$@"
}

cluster_on() {
	(cluster_exec "$@")
}

# cluster_address HOST: the one that it is known by.
cluster_address() {
	awk -v host="$1" '$2 == host { print $1 }' "$cluster_dir/hosts"
}

# Programs over both clusters: the gateway forwards between their hosts, and for nobody outside.
cluster_join() {
	local host

	cluster_route router 10.81.0.4 10.81.1.0/24 &&
		cluster_on ga sysctl -q -w net.ipv4.ip_forward=1 &&
		cluster_on ga ip rule add iif eth0 from 10.81.0.0/24 to 10.81.1.0/24 unreachable || return
	for host in "${cluster_hosts[@]}"; do
		[[ $host != a* ]] || cluster_route "$host" 10.81.1.1 || return
	done
}

# wire HOST NETWORK NUMBER: an interface of the host in that network.
cluster_wire() {
	local wires

	wires=$(cluster_pid wires)
	nsenter -t "$wires" -n ip link add "$1-$2" type veth peer name "eth$2" \
		netns "$(cluster_pid "$1")" &&
		nsenter -t "$wires" -n ip link set "$1-$2" master "net$2" up &&
		nsenter -t "$(cluster_pid "$1")" -n ip addr add "10.81.$2.$3/24" dev "eth$2" &&
		nsenter -t "$(cluster_pid "$1")" -n ip link set "eth$2" up
}

# cluster_route HOST GATEWAY [NETWORK]
cluster_route() {
	nsenter -t "$(cluster_pid "$1")" -n ip route add "${3:-default}" via "$2"
}

cluster_wires_make() {
	local a=$1 b=$2 i

	for i in 0 1 2; do
		nsenter -t "$(cluster_pid wires)" -n ip link add "net$i" type bridge &&
			nsenter -t "$(cluster_pid wires)" -n ip link set "net$i" up || return
	done
	cluster_wire router 0 1 && cluster_wire router 2 1 &&
		cluster_on router sysctl -q -w net.ipv4.ip_forward=1 &&
		cluster_wire out 0 2 && cluster_route out 10.81.0.1 &&
		cluster_wire front 0 3 && cluster_route front 10.81.0.1 &&
		cluster_wire ga 0 4 && cluster_wire ga 1 1 && cluster_route ga 10.81.0.1 || return
	for ((i = 0; i < a; i++)); do
		cluster_wire "a$i" 1 $((10 + i)) || return
	done
	for ((i = 0; i < b; i++)); do
		cluster_wire "b$i" 2 $((10 + i)) && cluster_route "b$i" 10.81.2.1 || return
	done
}

cluster_hosts_file() {
	local a=$1 b=$2 i

	echo '127.0.0.1 localhost'
	echo '10.81.0.1 router'
	echo '10.81.0.2 out'
	echo '10.81.0.3 front'
	echo '10.81.0.4 ga'
	for ((i = 0; i < a; i++)); do
		echo "10.81.1.$((10 + i)) a$i"
	done
	for ((i = 0; i < b; i++)); do
		echo "10.81.2.$((10 + i)) b$i"
	done
}

cluster_ssh_make() {
	local host

	mkdir -m 700 "$cluster_dir/ssh"
	ssh-keygen -q -t ed25519 -N '' -f "$cluster_dir/ssh/id" || return
	cat >"$cluster_dir/ssh/config" <<-END
		Host *
		  User root
		  IdentityFile $cluster_dir/ssh/id
		  IdentitiesOnly yes
		  UserKnownHostsFile $cluster_dir/ssh/known_hosts
		  GlobalKnownHostsFile /dev/null
		  StrictHostKeyChecking yes
		  LogLevel ERROR
	END
	for host in "${cluster_hosts[@]}"; do
		ssh-keygen -q -t ed25519 -N '' -C "$host" -f "$cluster_dir/ssh/host-$host" || return
		cat >"$cluster_dir/ssh/sshd-$host" <<-END
			HostKey $cluster_dir/ssh/host-$host
			AuthorizedKeysFile $cluster_dir/ssh/id.pub
			PermitRootLogin prohibit-password
			PasswordAuthentication no
			KbdInteractiveAuthentication no
			UsePAM no
			StrictModes no
			PidFile none
			SetEnv PVM_ALLOW_ROOT=1 PVM_ROOT=/usr/lib/pvm3 PVM_ARCH=LINUX64 SLURM_CONF=$cluster_dir/slurm.conf
		END
	done
	# by name and by address
	while read -r address host; do
		[ ! -e "$cluster_dir/ssh/host-$host.pub" ] ||
			echo "$host,$address $(cut -d' ' -f1,2 "$cluster_dir/ssh/host-$host.pub")"
	done <"$cluster_dir/hosts" >"$cluster_dir/ssh/known_hosts"
}

cluster_sshd() {
	cluster_on "$1" /usr/sbin/sshd -D -e -f "$cluster_dir/ssh/sshd-$1" </dev/null \
		>"$cluster_dir/$1/sshd.log" 2>&1 &
	disown
}

cluster_listens() {
	grep -q 'listening' "$cluster_dir/$1/sshd.log"
}

cluster_begin() {
	local a=${1:-4} b=${2:-3} i host

	mkdir -p "$cluster_dir"
	cluster_hosts_file "$a" "$b" >"$cluster_dir/hosts"
	cluster_init_make
	for host in wires router out front ga; do
		cluster_host_make "$host"
	done
	for ((i = 0; i < a; i++)); do
		cluster_host_make "a$i"
	done
	for ((i = 0; i < b; i++)); do
		cluster_host_make "b$i"
	done
	for host in "${cluster_hosts[@]}"; do
		cluster_until cluster_host_ready "$host" || { cat "$cluster_dir/$host/log"; return 1; }
	done
	cluster_wires_make "$a" "$b" || return
	cluster_hosts=("${cluster_hosts[@]:2}")
	cluster_ssh_make || return
	for host in "${cluster_hosts[@]}"; do
		cluster_sshd "$host"
	done
	for host in "${cluster_hosts[@]}"; do
		cluster_until cluster_listens "$host" || { cat "$cluster_dir/$host/sshd.log"; return 1; }
	done
}

cluster_wire_ready() {
	grep -q ready "$cluster_dir/$1/wire"
}

# cluster_far HOST ROUND_TRIP_MS LOSS_PERCENT MBIT/S: its wire to the outside becomes a long one.
cluster_far() {
	local host=$1 address route card

	shift
	# Who was its neighbour goes on to call it by the same card, for half a minute in any case.
	card=$(cluster_on "$host" ip -o link show dev eth0 | sed 's/.*ether \([0-9a-f:]*\).*/\1/')
	address=$(cluster_on "$host" ip -o -4 addr show dev eth0 | awk '{ print $4 }')
	route=$(cluster_on "$host" ip route show default dev eth0 | awk '{ print $3 }')
	nsenter -t "$(cluster_pid wires)" -n ip link del "$host-0" || return
	(exec 3<"/proc/$(cluster_pid "$host")/ns/net" &&
		cluster_exec wires "$top_builddir/tests/cluster/wire" "$host-0" eth0 "$@") \
		</dev/null >"$cluster_dir/$host/wire" 2>&1 &
	disown
	cluster_until cluster_wire_ready "$host" || { cat "$cluster_dir/$host/wire"; return 1; }
	cluster_mend "$host" &&
		cluster_on "$host" ip link set eth0 address "$card" &&
		cluster_on "$host" ip addr add "$address" dev eth0 &&
		cluster_on "$host" ip link set eth0 up || return
	[ -z "$route" ] || cluster_on "$host" ip route add default via "$route"
}

cluster_cut() {
	nsenter -t "$(cluster_pid wires)" -n ip link set "$1-0" down
}

cluster_mend() {
	nsenter -t "$(cluster_pid wires)" -n ip link set "$1-0" master net0 up
}

cluster_power_off() {
	kill -KILL "$(cluster_pid "$1")"
}

cluster_end() {
	local file holder

	for file in "$cluster_dir"/*/holder; do
		[ -e "$file" ] || continue
		holder=$(cat "$file")
		kill -KILL "$holder" 2>/dev/null
		cluster_until cluster_gone "$holder"
	done
	return 0
}

cluster_gone() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

tap_cleanup() {
	cluster_end
}
