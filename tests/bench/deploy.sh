#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How long evspace deploy takes by ssh, for 1 host and for many, beside as many bare logins.

usage='usage: tests/bench/deploy.sh [--json] [--hosts N]
Makes N hosts (64, at most 200) as network namespaces on this machine, as root, and times: up on one,
up on all, up again, with one of them dead, down; each beside ssh HOST true on the same hosts, as many at once.'
hosts=64
. "${0%/*}/bench.sh"
bench_options "hosts" "$@"
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cluster/bed.sh"
at_once=8

cluster_allowed || { echo "tests/bench/deploy.sh: not here: $cluster_why" >&2; exit 0; }
cluster_begin 0 "$hosts" || exit 1
last=$((hosts - 1))
mkdir "$cluster_dir/maps"
echo 'application any { ranks any; }' >"$cluster_dir/maps/application.map"
echo 'entry b0;' >"$cluster_dir/maps/mapping.map"
echo "cluster B { nodes b[0-$last]; address b[0-$last]:7440; }" >"$cluster_dir/maps/cluster.map"
{ "$top_srcdir/deploy/certs" init "$cluster_dir/tls" &&
	"$top_srcdir/deploy/certs" agent "$cluster_dir/tls" "b[0-$last]"; } >"$cluster_dir/certs.log" 2>&1 || exit 1

# timed COMMAND...: seconds that it takes, in $seconds; its exit code is returned.
timed() {
	local begin=${EPOCHREALTIME/./} status

	cluster_on out "$@" >"$cluster_dir/said" 2>&1
	status=$?
	seconds=$((${EPOCHREALTIME/./} - begin))
	seconds=$((seconds / 1000000)).$(printf %03d $((seconds / 1000 % 1000)))
	return $status
}

logins() {
	timed xargs -P "$at_once" -I{} -a "$1" ssh -F "$cluster_dir/ssh/config" -oConnectTimeout=10 {} true
}

deploy() {
	timed evspace deploy "$@" --tls "$cluster_dir/tls" --ssh-config "$cluster_dir/ssh/config" \
		--parallel "$at_once"
}

# report CASE HOSTS LIMIT: what $seconds is of.
report() {
	local ratio

	ratio=$(awk -v a="$seconds" -v b="$3" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }')
	if [ "$json" ]; then
		printf '{"schema":1,"bench":"deploy","case":"%s","hosts":%d,"seconds":%s,"logins_seconds":%s,"ratio":%s}\n' \
			"$1" "$2" "$seconds" "$3" "$ratio"
	else
		printf '%-28s %3d hosts %8s s; bare logins %8s s; ratio %s\n' "$1" "$2" "$seconds" "$3" "$ratio"
	fi
}

seq -f 'b%g' 0 0 >"$cluster_dir/one"
seq -f 'b%g' 0 "$last" >"$cluster_dir/all"
failed() {
	echo "deploy $1 failed:" >&2
	tail -n 5 "$cluster_dir/said" >&2
	exit 1
}

logins "$cluster_dir/one" && one=$seconds && logins "$cluster_dir/all" && all=$seconds || failed logins
deploy up "$cluster_dir/maps" --only b0 || failed up
report up 1 "$one"
deploy down "$cluster_dir/maps" --only b0 || failed down
deploy up "$cluster_dir/maps" || failed up
report up "$hosts" "$all"
deploy up "$cluster_dir/maps" || failed "up again"
report "up again" "$hosts" "$all"
cluster_power_off "b$last"
deploy up "$cluster_dir/maps" --timeout 10
report "up again, one of them dead" "$hosts" "$all"
deploy down "$cluster_dir/maps" --timeout 2
report "down, one of them dead" "$hosts" "$all"
