# SPDX-License-Identifier: BSD-3-Clause
# Agents and consumers of an older release, of a foreign one, of the other byte order, and on hosts with
# other clocks: what can work works, exactly; what cannot is named on both sides.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

# Who is in another time namespace has a parent that passes no signals on.
tap_cleanup() {
	pkill -f "$bed_dir/maps"
	pkill -f "$EVSPACE_DIR/far"
	bed_end
}

mkdir -p "$bed_dir/pids" "$bed_dir/maps"
EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR
unset EVSPACE_TLS EVSPACE_CONNECT EVSPACE_RUN EVSPACE_PROFILE
run=$EVSPACE_DIR/run
oldest=$(sed -n 's/^#define WIRE_OLDEST[^0-9]*\([0-9]*\)u.*/\1/p' "$top_srcdir/tree/wire/wire.h")
newest=$(sed -n 's/^#define WIRE_VERSION[^0-9]*\([0-9]*\)u.*/\1/p' "$top_srcdir/tree/wire/wire.h")
layout=$(sed -n 's/^#define TUPLE_LAYOUT \([0-9]*\).*/\1/p' "$top_srcdir/tree/data/tuple.h")

# The map's sockets are those that others connect to; a proxy is in between.
maps_make() {
	cat >"$bed_dir/maps/application.map" <<-END
		application writer {
			ranks rank[0-1];
			view total { select /**/p2p; read stream; all reduce sum of bytes; }
			view spread { select /**/p2p; read stream; node histogram of bytes; all histogram of bytes; }
			view cells { select /**/p2p; read stream; node matrix; all matrix; }
			view samples { read sample; }
			view thin { read stream; element filter entropy; }
			view top { select /**/p2p; read stream; node slowest 5; all slowest 5; }
		}
	END
	cat >"$bed_dir/maps/cluster.map" <<-END
		node front { address unix:$bed_dir/front; }
		cluster A { nodes a[0-1]; address unix:$bed_dir/a[0-1]; }
	END
	printf 'entry front;\nplace rank0 on a0;\nplace rank1 on a1;\n' >"$bed_dir/maps/mapping.map"
}

agent() {
	bed_start "$1" "${@:2}" evspace agent --pathmap "$bed_dir/maps" --node "$1" --listen "unix:$bed_dir/$1.real"
	bed_until bed_ready "$1" && grep -q 'ready on' "$bed_dir/$1.err" || { cat "$bed_dir/$1.err"; return 1; }
}

# proxy NODE VERSION OLDEST LAYOUT [swap]: how others see the agent from now on.
proxy() {
	local node=$1

	shift
	[ ! -e "$bed_dir/pids/proxy-$node" ] || proxy_end "$node"
	bed_start "proxy-$node" setsid "$top_builddir/tests/version-proxy" "$bed_dir/$node" "$bed_dir/$node.real" "$@"
	bed_until grep -q here "$bed_dir/proxy-$node.out"
}

# The connections that it carries end with it.
proxy_end() {
	local pid

	pid=$(bed_pid "proxy-$1")
	kill -KILL -- "-$pid" && bed_until bed_gone "$pid"
}

proxies() {
	local node

	for node in front a0 a1; do
		proxy "$node" "$@" || return
	done
}

writes() {
	rm -rf "$run"
	bed_start writer "$top_builddir/tests/writer" "$run" 2 200 2000
	bed_until eval '[ "$(find "$run" -name "*.seg" | wc -l)" = 2 ]'
}

# exact VIEW [OPTION...]: every tuple comes, by what the segments hold in the end.
exact() {
	local writer

	writer=$(bed_pid writer)
	bed_start checker "$top_builddir/tests/checker" -c "unix:$bed_dir/front" -d "$run" -w "$1" -v -r 20 "${@:2}" a0 a1
	bed_until eval '[ "$(grep -c "^wave" "$bed_dir/checker.out")" -ge 3 ]'
	# what it has and what the segments hold are compared when nothing comes any more
	kill -STOP "$writer"
	kill -TERM "$(bed_pid checker)"
	bed_until bed_gone "$(bed_pid checker)"
	kill -CONT "$writer"
	! grep '^fault' "$bed_dir/checker.out" && grep -q '[1-9][0-9]* of them whole' "$bed_dir/checker.out" ||
		{ tail -n 5 "$bed_dir/checker.out"; return 1; }
}

# says CODE TEXT COMMAND...: as tap_says, of the front agent.
says() {
	tap_says "$1" "$2" env EVSPACE_CONNECT="unix:$bed_dir/front" "${@:3}"
}

all_works() {
	says 0 tuples evspace view thin --rate 4 --count 2 && exact events && exact total && exact total -f && exact spread && exact spread -f &&
		says 0 '"answered":2,' evspace view latest --rate 4 --count 2 --json && grep -q '"/A/a0/rank0/t0' "$tap_dir/said" &&
		says 0 rank1 evspace heartbeat --rate 4 --count 2 --json &&
		says 0 '"node":"front"' evspace status --json &&
		says 0 '"type":"class"\|"type":"host"' evspace collect --json --run run &&
		says 0 '^/A/a1 .*[KM]iB' evspace view cells --rate 4 --count 2 && says 0 MPI_Send evspace view top --rate 4 --count 2 &&
		says 0 '^/A/a1 ' evspace deploy status "$bed_dir/maps"
}

old_consumer_new_agents() {
	proxy front "$oldest" "$oldest" "$layout" && proxy a0 "$newest" "$oldest" "$layout" &&
		proxy a1 "$newest" "$oldest" "$layout" && all_works
}

# Both ends say both ranges, and what helps.
foreign_consumer() {
	proxy front 99 98 "$layout" &&
		says 3 "the agent speaks versions 98 to 99 of the wire protocol, this side $oldest to $newest; use the same release" \
			evspace status &&
		bed_until grep -q "the peer speaks versions 98 to 99 of the wire protocol, this side $oldest to $newest; use the same release" \
			"$bed_dir/front.err" || { tail -n 3 "$bed_dir/front.err"; return 1; }
}

older_than_old() {
	proxy front 1 1 "$layout" && says 3 "speaks versions 1 to 1 of the wire protocol, this side $oldest to $newest" evspace status
}

other_tuples() {
	proxy front "$newest" "$oldest" 77 && says 3 'has tuple layout 77, this side 1; use the same release' evspace status
}

# One agent of a foreign release: it is named, with why; the others answer.
foreign_leaf() {
	proxy front "$newest" "$oldest" "$layout" && proxy a1 99 98 "$layout" &&
		says 1 '^/A/a1 .*NOT THERE: the agent speaks versions 98 to 99 of the wire protocol, this side .*use the same release' \
			evspace deploy status "$bed_dir/maps" &&
		says 0 '"answered":1,"missing":\[.*a1' evspace view latest --count 2 --json
	proxy a1 "$newest" "$oldest" "$layout"
}

# What an entry of the version before would not look at is not sent to it; hosts below need not know of it.
defined_by() {
	local defines

	defines=$(sed -n 's/^#define WIRE_DEFINES[^0-9]*\([0-9]*\)u.*/\1/p' "$top_srcdir/tree/wire/wire.h")
	proxy front "$((defines - 1))" "$oldest" "$layout" &&
		says 3 "agent \"front\" speaks version $((defines - 1)) of the wire protocol, and takes no view's text (from version $defines on)" \
			evspace view --define 'use latest' --count 1 &&
		proxies "$oldest" "$oldest" "$layout" && proxy front "$newest" "$oldest" "$layout" &&
		says 0 '"answered":2,' evspace view --define 'read latest; thread reduce last' --rate 4 --count 2 --json
}

# A host that would not know that samples are wanted is not asked for them: it is named, with what helps.
sampled_by() {
	local samples

	samples=$(sed -n 's/^#define WIRE_SAMPLES[^0-9]*\([0-9]*\)u.*/\1/p' "$top_srcdir/tree/wire/wire.h")
	proxy front "$newest" "$oldest" "$layout" && proxy a0 "$newest" "$oldest" "$layout" &&
		proxy a1 "$((samples - 1))" "$oldest" "$layout" &&
		says 0 "/A/a1 .*it takes no samples; put this release there (wire version $samples)" evspace view samples --rate 4 --count 2 &&
		says 0 '"answered":1,' evspace view samples --rate 4 --count 2 --json && ! grep -q MPI_Send "$tap_dir/said" &&
		says 0 'sampled_out":[1-9]' evspace events --view thin --backlog --count 400 --json &&
		proxy a1 "$newest" "$oldest" "$layout" && says 0 '"answered":2,' evspace view samples --rate 4 --count 2 --json
}

# A host whose parent would not know what a meeting is does not send any.
met_by() {
	local meets

	meets=$(sed -n 's/^#define WIRE_MEETS[^0-9]*\([0-9]*\)u.*/\1/p' "$top_srcdir/tree/wire/wire.h")
	proxy front "$newest" "$oldest" "$layout" && proxy a0 "$newest" "$oldest" "$layout" && proxy a1 "$((meets - 1))" "$oldest" "$layout" &&
		says 0 "/A/a1 .*does not understand what stage \"meet\" makes; use this release there (wire version $meets)" \
			evspace view meet --rate 4 --count 2 &&
		proxy a1 "$newest" "$oldest" "$layout" && says 0 '"answered":2,' evspace view meet --rate 4 --count 2 --json
}

# Likewise the tree that a consumer chooses.
chosen_by() {
	local chooses

	chooses=$(sed -n 's/^#define WIRE_CHOOSES[^0-9]*\([0-9]*\)u.*/\1/p' "$top_srcdir/tree/wire/wire.h")
	proxy front "$((chooses - 1))" "$oldest" "$layout" &&
		says 3 "agent \"front\" speaks version $((chooses - 1)) of the wire protocol, and takes no tree that a consumer chooses (from" \
			evspace view latest --concurrency sequential --count 1 &&
		proxies "$oldest" "$oldest" "$layout" && proxy front "$newest" "$oldest" "$layout" &&
		says 0 '"answered":2,' evspace view latest --concurrency sequential --rate 4 --count 2 --json
}

bed_begun() {
	maps_make
	agent front && agent a0 && agent a1 && writes
}

bed_begun >"$tap_dir/begun" 2>&1 || { sed 's/^/# /' "$tap_dir/begun"; exit 99; }
tap_case "all agents and the consumer speak the oldest version that is spoken" eval 'proxies "$oldest" "$oldest" "$layout" && all_works'
tap_case "an older consumer, newer agents" old_consumer_new_agents
tap_case "a newer version that still speaks ours" eval 'proxies 99 "$newest" "$layout" && all_works'
tap_case "agents of the other byte order" eval 'proxies "$newest" "$oldest" "$layout" swap && all_works'
tap_case "one of the other byte order among ours" eval 'proxies "$newest" "$oldest" "$layout" &&
	proxy a0 "$newest" "$oldest" "$layout" swap && all_works'
tap_case "a foreign release is named on both sides, and what helps" foreign_consumer
tap_case "so is one that is too old" older_than_old
tap_case "and other tuples" other_tuples
tap_case "an entry that is too old for a view's text is named, leaves may be" defined_by
tap_case "a host whose parent is too old for meetings is named" met_by
tap_case "a host that is too old for samples is named, and what it filters is counted" sampled_by
tap_case "... for a tree that a consumer chooses, likewise" chosen_by
tap_case "an agent of a foreign release is named, the others answer" foreign_leaf

# A package has come under an agent that runs.
replaced_program() {
	local said

	cp "$top_builddir/evspace" "$bed_dir/evspace" && bed_kill TERM a1 && rm -f "$bed_dir/a1.real" || return
	bed_start a1 "$bed_dir/evspace" agent --pathmap "$bed_dir/maps" --node a1 --listen "unix:$bed_dir/a1.real"
	bed_until bed_ready a1
	says 0 '^/A/a1 ' evspace deploy status "$bed_dir/maps" && ! grep 'has been replaced' "$tap_dir/said" || return
	cp "$top_builddir/evspace" "$bed_dir/evspace.new" && mv "$bed_dir/evspace.new" "$bed_dir/evspace" &&
		says 0 'a1 runs a program whose file has been replaced since: evspace deploy up takes the new one' \
			evspace deploy status "$bed_dir/maps" &&
		says 0 'program file has been replaced' evspace status --connect "unix:$bed_dir/a1.real" &&
		says 0 '"replaced":true' evspace status --connect "unix:$bed_dir/a1.real" --json
}
tap_case "an agent whose program has been replaced is told" replaced_program

# --- hosts with other clocks ---

# As a host that has been up for long, booted another time.
elsewhere() {
	unshare -m -f --kill-child=TERM -T --monotonic 1000000 -- bash -c '
		mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"' bash "$bed_dir/boot_id" "$@"
}

# Times of its events are of now, and as sure as the way there is short.
times_are_right() {
	local from to

	from=$(date +%s%N)
	says 0 '/A/a0/rank0' evspace events --json --count 20 --duration 20s &&
		grep '"type":"tuple"' "$tap_dir/said" | grep -c '/A/a1/rank1' || return
	to=$(date +%s%N)
	awk -F'[:,]' -v from="$from" -v to="$to" '
		/"type":"tuple"/ {
			for (i = 1; i < NF; i++) {
				if ($i == "\"start_ns\"") start = $(i + 1)
				if ($i == "\"error_ns\"") error = $(i + 1)
			}
			if (start + error + 1e9 < from || start - error > to || error > 1e9) { print; wrong = 1 }
			if (/a0/) n++
		}
		END { exit wrong || n < 5 }' "$tap_dir/said"
}

sed 's/^......../00000000/' /proc/sys/kernel/random/boot_id >"$bed_dir/boot_id"
if elsewhere true 2>/dev/null; then
	bed_kill TERM writer
	bed_kill TERM a0
	mkdir "$EVSPACE_DIR/far"
	rm -rf "$run"
	export -f elsewhere
	export bed_dir
	bed_start writer "$top_builddir/tests/writer" "$run" 2 100 2000
	bed_start far bash -c 'EVSPACE_DIR=$EVSPACE_DIR/far; elsewhere "$@"' bash "$top_builddir/tests/writer" \
		"$EVSPACE_DIR/far/run" 1 100 2000
	tap_case "a host with another clock" eval 'agent a0 env EVSPACE_DIR="$EVSPACE_DIR/far" bash -c '\''elsewhere "$@"'\'' bash &&
		says 0 rank0 evspace heartbeat --count 2 && times_are_right'
else
	tap_skip "a host with another clock" "time namespaces are not allowed here"
fi
tap_done
