# SPDX-License-Identifier: BSD-3-Clause
# Sourced after tap.sh and bed.sh: agents on hosts that are network namespaces where that is allowed,
# else on loopback addresses; a program that writes known numbers, and who compares.
#
#	hosts_begin			# front over m over ga (a0 a1) and gb (b0 b1); certificates
#	hosts_agent NODE		# start its agent (hosts_ready NODE: it is)
#	hosts_write RATE SECONDS	# tests/writer, rank i on leaf i
#	hosts_checker NAME VIEW [OPTION...]	# tests/checker in the background
#	hosts_cut NODE, hosts_mend NODE, hosts_slow NODE	# its wire; only if $hosts_real
#	hosts_clean			# they end, and had no errors of sanitizers
#	hosts_end
#
# With hosts_loopback=1 it is loopback addresses in any case.
# $hosts_nodes and $hosts_leaves are the nodes' names; $hosts_real is 1 with namespaces, else 0.

hosts_nodes=(front m ga gb a0 a1 b0 b1)
hosts_leaves=(a0 a1 b0 b1)
hosts_real=0
hosts_dir=$bed_dir/hosts

# Hold a network namespace open. Its pid is in a file.
hosts_hold() {
	unshare -n bash -c 'ip link set lo up && echo $$ >"$1.new" && mv "$1.new" "$1" &&
		exec sleep infinity' hold "$hosts_dir/$1" </dev/null >"$hosts_dir/$1.log" 2>&1 &
	echo $! >>"$hosts_dir/holders"
	disown
}

hosts_in() {
	local host=$1

	shift
	nsenter -t "$(cat "$hosts_dir/$host")" -n -- "$@"
}

# A bridge in a namespace of its own, and a wire from it to each host; `eye` is for consumers.
hosts_wires() {
	local i=0 host

	hosts_in switch ip link add br0 type bridge && hosts_in switch ip link set br0 up || return
	for host in "${hosts_nodes[@]}" eye; do
		i=$((i + 1))
		hosts_in switch ip link add "p-$host" type veth peer name eth0 \
			netns "$(cat "$hosts_dir/$host")" &&
			hosts_in switch ip link set "p-$host" master br0 up &&
			hosts_in "$host" ip addr add "10.78.0.$i/24" dev eth0 &&
			hosts_in "$host" ip link set eth0 up || return
	done
}

hosts_make() {
	local host

	unshare -n true 2>/dev/null && command -v ip tc nsenter >/dev/null || return
	for host in "${hosts_nodes[@]}" eye switch; do
		hosts_hold "$host"
	done
	for host in "${hosts_nodes[@]}" eye switch; do
		bed_until test -s "$hosts_dir/$host" || return
	done
	hosts_wires >>"$hosts_dir/wires.log" 2>&1
}

# hosts_address NUMBER: of the node with that number, from 1.
hosts_address() {
	if [ "$hosts_real" = 1 ]; then
		echo "10.78.0.$1:7440"
	else
		echo "127.78.$hosts_net.$1:7440"
	fi
}

hosts_maps() {
	local i=0 node

	mkdir -p "$bed_dir/maps"
	cat >"$bed_dir/maps/application.map" <<-END
		application writer {
			ranks rank[0-3];
			view total { select /**/p2p; read stream; node reduce sum of bytes; all reduce sum of bytes; }
			view of-b { select /B/**/p2p; read stream; all reduce sum of bytes; }
			view spread { select /**/p2p; read stream; node histogram of bytes; all histogram of bytes; }
		}
	END
	{
		echo "cluster A { nodes a[0-1]; address $(hosts_address '[5-6]'); }"
		echo "cluster B { nodes b[0-1]; address $(hosts_address '[7-8]'); }"
		for node in front m ga gb; do
			i=$((i + 1))
			echo "node $node { address $(hosts_address $i); }"
		done
	} >"$bed_dir/maps/cluster.map"
	cat >"$bed_dir/maps/mapping.map" <<-END
		entry front;
		place rank[0-3] on a[0-1] b[0-1];
		tree by-hand { m { ga { a[0-1]; } gb { b[0-1]; } } }
		alternate gb for ga;
		alternate ga front for m;
	END
}

hosts_begin() {
	mkdir -p "$bed_dir/pids" "$hosts_dir"
	EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
	export EVSPACE_DIR EVSPACE_TLS=$bed_dir/tls EVSPACE_ENTRY=${hosts_nodes[0]}
	if [ -z "${hosts_loopback-}" ] && hosts_make; then
		hosts_real=1
	else
		hosts_net=$((1 + $$ % 250))
	fi
	bed_entry=$(hosts_address 1)
	hosts_maps
	{ "$top_srcdir/deploy/certs" init "$EVSPACE_TLS" &&
		"$top_srcdir/deploy/certs" agent "$EVSPACE_TLS" "${hosts_nodes[@]}" &&
		"$top_srcdir/deploy/certs" observe "$EVSPACE_TLS" observe; } \
		>"$bed_dir/certs.log" 2>&1 || { sed 's/^/# /' "$bed_dir/certs.log"; exit 99; }
}

# hosts_start HOST NAME COMMAND...: as bed_start, on that host.
hosts_start() {
	local host=$1 name=$2

	shift 2
	if [ "$hosts_real" = 1 ]; then
		bed_start "$name" nsenter -t "$(cat "$hosts_dir/$host")" -n -- "$@"
	else
		bed_start "$name" "$@"
	fi
}

# What all agents of a node have said is in NODE.all.
hosts_agent() {
	cat "$bed_dir/$1.err" >>"$bed_dir/$1.all" 2>/dev/null
	hosts_start "$1" "$1" evspace agent --pathmap "$bed_dir/maps" --node "$1"
}

hosts_ready() {
	grep -q 'ready on' "$bed_dir/$1.err"
}

hosts_agents() {
	local node

	for node; do
		hosts_agent "$node"
	done
	for node; do
		bed_until hosts_ready "$node" || { cat "$bed_dir/$node.err"; return 1; }
	done
}

hosts_write() {
	bed_start writer "$top_builddir/tests/writer" "$EVSPACE_DIR/run" 4 "$1" "$2"
	bed_until hosts_segments
}

hosts_segments() {
	[ "$(find "$EVSPACE_DIR/run" -name '*.seg' | wc -l)" = 4 ]
}

hosts_checker() {
	local name=$1 view=$2

	shift 2
	hosts_start eye "$name" "$top_builddir/tests/checker" -c "$bed_entry" -d "$EVSPACE_DIR/run" \
		-w "$view" "$@" "${hosts_leaves[@]}"
}

# hosts_sees NAME TEXT: what the checker has said last begins with that.
hosts_sees() {
	tail -n 1 "$bed_dir/$1.out" | grep -q -e "$2"
}

hosts_cut() {
	hosts_in switch ip link set "p-$1" down
}

hosts_mend() {
	hosts_in switch ip link set "p-$1" up
	hosts_in switch tc qdisc del dev "p-$1" root 2>/dev/null
	return 0
}

# What goes to the node crawls: 200 kbit/s, up to half a second in a queue.
hosts_slow() {
	hosts_in switch tc qdisc replace dev "p-$1" root tbf rate 200kbit burst 3000 latency 500ms
}

# All agents end when they are told to, and none has reported an error of a sanitizer.
hosts_clean() {
	local node

	for node in "${hosts_nodes[@]}"; do
		kill -0 "$(bed_pid "$node")" 2>/dev/null || continue
		bed_kill TERM "$node" || { echo "$node does not end"; return 1; }
	done
	! grep -H 'Sanitizer\|runtime error' "$bed_dir"/*.err "$bed_dir"/*.all 2>/dev/null
}

hosts_end() {
	local file pid

	for file in "$bed_dir"/pids/*; do
		[ -e "$file" ] && kill -CONT "$(cat "$file")" 2>/dev/null
	done
	bed_end
	while read -r pid; do
		kill -KILL "$pid" 2>/dev/null
	done < <(cat "$hosts_dir/holders" 2>/dev/null)
	return 0
}

tap_cleanup() {
	hosts_end
}
