# SPDX-License-Identifier: BSD-3-Clause
# Sourced after tap.sh and bed.sh: agents in a cluster behind a gateway, and a consumer far away from it.
#
#	far_begin			# hosts, certificates, agents on a0 (behind ga) and front
#	far_run RUN CAPACITY ARG...	# the wind tunnel on a0, until it ends
#	far_away			# out is 100 ms away (to and fro), with 1 % loss and 10 Mbit/s
#	far_bare BYTES			# bytes/s of a bare connection to out, in $far_bare
#	far_events NAME RUN OPTION...	# evspace events on out; $cluster_dir/NAME.{json,err}
#	far_figure NAME FIELD		# of what it says at the end
#	far_accounted NAME RUN		# all that was written came, once

far_round_ms=100
far_loss=1
far_mbit=10

far_agent() {
	cluster_on "$1" evspace agent --pathmap "$cluster_dir/maps" --node "$1" </dev/null \
		>"$cluster_dir/$1/agent" 2>&1 &
	disown
}

far_agent_ready() {
	grep -q 'ready on' "$cluster_dir/$1/agent"
}

far_begin() {
	local host

	cluster_begin 1 0 || return
	mkdir -p "$cluster_dir/maps"
	echo 'application any { ranks any; }' >"$cluster_dir/maps/application.map"
	echo 'entry front;' >"$cluster_dir/maps/mapping.map"
	cat >"$cluster_dir/maps/cluster.map" <<-END
		cluster A { nodes a0; address a0:7440; gateway ga; }
		node ga { address ga:7440; }
		node front { address front:7440; }
	END
	{ "$top_srcdir/deploy/certs" init "$cluster_dir/tls" &&
		"$top_srcdir/deploy/certs" agent "$cluster_dir/tls" a0 ga front &&
		"$top_srcdir/deploy/certs" observe "$cluster_dir/tls" observe; } \
		>"$cluster_dir/certs.log" 2>&1 || { cat "$cluster_dir/certs.log"; return 1; }
	# Each host has a /dev/shm of its own.
	export EVSPACE_TLS=$cluster_dir/tls EVSPACE_DIR=/dev/shm/evspace EVSPACE_CONNECT=front:7440
	for host in a0 ga front; do
		far_agent "$host"
	done
	for host in a0 ga front; do
		cluster_until far_agent_ready "$host" || { cat "$cluster_dir/$host/agent"; return 1; }
	done
}

far_run() {
	local run=$1 capacity=$2

	shift 2
	cluster_on a0 env -u EVSPACE_CONNECT evspace run --run "$run" --capacity "$capacity" -- \
		mpirun -np 4 "$top_builddir/tests/apps/windtunnel" "$@" </dev/null \
		>"$cluster_dir/$run.log" 2>&1 || { cat "$cluster_dir/$run.log"; return 1; }
}

far_away() {
	cluster_far out "$far_round_ms" "$far_loss" "$far_mbit"
}

# Through ssh, from the first byte on: logging in is no part of it.
far_bare() {
	far_bare=$(cluster_on out ssh -F "$cluster_dir/ssh/config" front head -c "$1" /dev/zero | {
		head -c 1 >"$cluster_dir/first"
		begin=${EPOCHREALTIME/./}
		bytes=$(wc -c)
		awk -v n="$bytes" -v us=$((${EPOCHREALTIME/./} - begin)) 'BEGIN { printf "%.0f", n / us * 1e6 }'
	})
	[ "$far_bare" -gt 0 ]
}

far_events() {
	local name=$1 run=$2

	shift 2
	cluster_on out evspace events --run "$run" --json "$@" </dev/null \
		>"$cluster_dir/$name.json" 2>"$cluster_dir/$name.err" ||
		{ cat "$cluster_dir/$name.err"; return 1; }
}

far_figure() {
	sed -n "/\"type\":\"summary\"/s/.*\"$2\":\([0-9.]*\).*/\1/p" "$cluster_dir/$1.json"
}

# per_second NAME FIELD
far_rate() {
	awk -v n="$(far_figure "$1" "$2")" -v s="$(far_figure "$1" seconds)" 'BEGIN { printf "%.1f", n / s }'
}

far_accounted() {
	cluster_on a0 "$top_builddir/tests/account" "$EVSPACE_DIR/$2" "all=$(far_figure "$1" lost)" \
		<"$cluster_dir/$1.json" && [ "$(far_figure "$1" unaccounted)" = 0 ]
}

far_lines() {
	wc -l <"$cluster_dir/$1.json"
}

far_lines_after() {
	[ "$(far_lines "$1")" -gt "$2" ]
}

# far_mend NAME: the wire to out, which was cut, is whole again; until NAME streams on.
# How long that took is in $far_resumed (s).
far_mend() {
	local lines begin

	lines=$(far_lines "$1")
	begin=${EPOCHREALTIME/./}
	cluster_mend out && cluster_until far_lines_after "$1" "$lines" || return
	far_resumed=$(awk -v us=$((${EPOCHREALTIME/./} - begin)) 'BEGIN { printf "%.1f", us / 1e6 }')
}
