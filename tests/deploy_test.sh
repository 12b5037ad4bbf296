# SPDX-License-Identifier: BSD-3-Clause
# Tests evspace deploy by ssh on hosts that are namespaces: up, again, broken hosts, down, nothing left.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cluster/bed.sh"

nodes=(a0 a1 b0 b1 b2 ga front)

maps_make() {
	mkdir -p "$cluster_dir/maps"
	echo 'application any { ranks any; }' >"$cluster_dir/maps/application.map"
	echo 'entry front;' >"$cluster_dir/maps/mapping.map"
	cat >"$cluster_dir/maps/cluster.map" <<-END
		cluster A { nodes a[0-1]; address a[0-1]:7440; gateway ga; deploy ssh { user root; port 22; } }
		cluster B { nodes b[0-2]; address b[0-2]:7440; deploy ssh { host 10.81.2.[10-12]; } }
		node ga { address ga:7440; }
		node front { address front:7440; }
	END
}

certificates_make() {
	"$top_srcdir/deploy/certs" init "$cluster_dir/tls" &&
		"$top_srcdir/deploy/certs" agent "$cluster_dir/tls" "${nodes[@]}" &&
		"$top_srcdir/deploy/certs" observe "$cluster_dir/tls" observe
}

# deploy ACTION [OPTION...]: from outside; what it says is in $cluster_dir/said.
deploy() {
	local action=$1

	shift
	cluster_on out evspace deploy "$action" "$cluster_dir/maps" --tls "$cluster_dir/tls" \
		--ssh-config "$cluster_dir/ssh/config" --timeout 60 "$@" \
		>"$cluster_dir/json" 2>"$cluster_dir/said"
}

# said TEXT...: the last deploy has said each of these.
said() {
	local text

	for text; do
		grep -qF -- "$text" "$cluster_dir/said" && continue
		echo "nobody says: $text"
		cat "$cluster_dir/said"
		return 1
	done
}

# expect CODE ACTION [OPTION...]
expect() {
	local code=$1 got

	shift
	deploy "$@"
	got=$?
	[ "$got" -eq "$code" ] && return
	echo "exit code $got, not $code"
	cat "$cluster_dir/said"
	return 1
}

agent_pids() {
	local host

	for host in "${nodes[@]}"; do
		[ ! -e "$cluster_dir/$host/off" ] || continue
		echo "$host $(cluster_on "$host" pgrep -f 'evspace agent' | tr '\n' ' ')"
	done
}

# ---- the cases ----

comes_up() {
	expect 0 up && said '7 started, 0 already up, 0 failed' '[7/7]' &&
		agent_pids >"$cluster_dir/pids" && ! grep -vE '^[a-z0-9]+ [0-9]+ $' "$cluster_dir/pids"
}

status_shows_all() {
	expect 0 status --json && said '7 of 7 agents are there' || return
	[ "$(grep -c '"there":true,"why":null,"version":"[0-9.]*","pid":[0-9]*,"uptime_ms":[0-9]*,"clock_ns":-\?[0-9]*,' \
		"$cluster_dir/json")" -eq 7 ] && expect 0 status && [ "$(wc -l <"$cluster_dir/json")" -eq 8 ] &&
		grep -Eq '^/A/a1  .* 36[0-9] days$' "$cluster_dir/json"
}

# The certificate of an agent does not let one ask from outside; the entry alone knows them all.
status_needs_the_entry() {
	expect 3 status --connect ga:7440 && said 'this is agent "ga", not "front"'
}

only_gateway_leads_there() {
	! cluster_on out ssh -F "$cluster_dir/ssh/config" -oConnectTimeout=2 a0 true
}

twice_is_once() {
	local begin=$SECONDS

	expect 0 up --json && echo $((SECONDS - begin + 2)) >"$cluster_dir/took" && said '0 started, 7 already up, 0 failed' &&
		agent_pids | diff "$cluster_dir/pids" - &&
		[ "$(grep -c '"result":"already up"' "$cluster_dir/json")" -eq 7 ]
}

# Files are the user's alone, and each host has its own key only.
files_are_private() {
	local host wrong

	for host in "${nodes[@]}"; do
		wrong=$(cluster_on "$host" find /var/tmp/evspace-agents-0 -perm /077)
		[ -z "$wrong" ] || { echo "$host: $wrong"; return 1; }
		[ "$(cluster_on "$host" find /var/tmp -name '*.key' | sed 's,.*/,,')" = "$host.key" ] ||
			{ echo "$host has other keys"; return 1; }
	done
}

segments_are_there() {
	[ "$(cluster_on "$1" find /dev/shm/evspace-0/tunnel -name '*.seg' | wc -l)" -eq 1 ]
}

consumer_sees_all() {
	local host status

	cluster_on b0 env OMPI_MCA_plm_rsh_agent="ssh -F $cluster_dir/ssh/config" \
		OMPI_MCA_btl_tcp_if_include=10.81.2.0/24 OMPI_MCA_oob_tcp_if_include=10.81.2.0/24 \
		evspace run --run tunnel -- mpirun --host b0,b1,b2 -np 3 -x OMP_NUM_THREADS \
		"$top_builddir/tests/apps/windtunnel" --size small --threads 1 --seconds 3000 \
		</dev/null >"$cluster_dir/tunnel.log" 2>&1 &
	disown
	for host in b0 b1 b2; do
		cluster_until segments_are_there "$host" || { cat "$cluster_dir/tunnel.log"; return 1; }
	done
	cluster_on out evspace view rates@thread --connect front:7440 --tls "$cluster_dir/tls" --run tunnel \
		--rate 5 --count 3 --json >"$cluster_dir/rates" 2>&1
	status=$?
	cluster_on b0 pkill -f "mpirun --host b0"
	for host in b0 b1 b2; do
		[ "$status" -eq 0 ] && grep -q "/B/$host/rank" "$cluster_dir/rates" && continue
		echo "nothing of $host"
		head -c 2000 "$cluster_dir/rates"
		return 1
	done
}

wrong_key_is_named() {
	cp "$cluster_dir/ssh/known_hosts" "$cluster_dir/ssh/right"
	sed -i "s|^a1.*|a1,10.81.1.11 $(cut -d' ' -f1,2 "$cluster_dir/ssh/host-a0.pub")|" \
		"$cluster_dir/ssh/known_hosts"
	expect 1 up && said 'a1: FAILED, wrong host key' '6 already up, 1 failed' 'failed: a1'
	local status=$?
	cp "$cluster_dir/ssh/right" "$cluster_dir/ssh/known_hosts"
	return $status
}

unknown_key_is_named() {
	cp "$cluster_dir/ssh/known_hosts" "$cluster_dir/ssh/right"
	sed -i '/^b1/d' "$cluster_dir/ssh/known_hosts"
	expect 1 up --only 'b[0-2]' && said 'b1 (ssh, 10.81.2.11): FAILED, its host key is not known'
	local status=$?
	cp "$cluster_dir/ssh/right" "$cluster_dir/ssh/known_hosts"
	return $status
}

killed_agent_comes_back() {
	cluster_on b1 pkill -KILL -f 'evspace agent' && expect 0 up &&
		said '1 started, 6 already up' 'b1 (ssh, 10.81.2.11): up, started'
}

# New files do not fit: what ran before goes on.
full_disk_harms_nobody() {
	local before

	before=$(cluster_on b0 pgrep -f 'evspace agent')
	cluster_on b0 mount -o "remount,size=$(($(cluster_on b0 du -sk /var/tmp | cut -f1) + 100))k" /var/tmp || return
	sed -i 's/any {/other {/' "$cluster_dir/maps/application.map"
	cluster_on b0 sh -c 'rm -f /var/tmp/evspace-agents-0/b0/now/evspace'
	expect 1 up --only b0 && said 'b0 (ssh, 10.81.2.10): FAILED' 'disk full' || return
	[ "$(cluster_on b0 pgrep -f 'evspace agent')" = "$before" ]
}

another_map_restarts() {
	cluster_on b0 mount -o remount,size=100m /var/tmp &&
		expect 0 up && said '7 started, 0 already up' 'b0 (ssh, 10.81.2.10): up, restarted' '(other maps'
}

# Agents take them while they run.
new_certificates_restart_nobody() {
	agent_pids >"$cluster_dir/pids"
	"$top_srcdir/deploy/certs" renew "$cluster_dir/tls" b1 ga >"$cluster_dir/certs.log" 2>&1 || return
	expect 0 up && said '0 started, 7 already up' 'b1 (ssh, 10.81.2.11): already up' 'ga: already up' \
		'with new certificates' && agent_pids | diff "$cluster_dir/pids" - || return
	[ "$(grep -c 'with new certificates' "$cluster_dir/said")" -eq 2 ] && expect 0 up &&
		! grep 'new certificates' "$cluster_dir/said" && expect 0 status &&
		cluster_on b1 sh -c 'cmp "$1/b1.pem" /var/tmp/evspace-agents-0/b1/now/tls/b1.pem' sh "$cluster_dir/tls"
}

# Nobody listens off this host: it needs no certificate.
one_host_needs_none() {
	mkdir -p "$cluster_dir/single"
	cp "$cluster_dir/maps/application.map" "$cluster_dir/single"
	echo 'cluster local { nodes out; deploy local; }' >"$cluster_dir/single/cluster.map"
	echo 'entry out; place all on out;' >"$cluster_dir/single/mapping.map"
	cluster_on out sh -c 'evspace deploy up "$1" && evspace deploy status "$1" && evspace deploy up "$1" && evspace deploy down "$1"' \
		sh "$cluster_dir/single" >"$cluster_dir/json" 2>"$cluster_dir/said" &&
		said 'out (local, here): up, started' '1 of 1 agent is there' '0 started, 1 already up' '1 ended' ||
		{ cat "$cluster_dir/said"; return 1; }
}

dead_host_costs_itself() {
	local begin=$SECONDS took

	took=$(cat "$cluster_dir/took")
	touch "$cluster_dir/b2/off"
	cluster_power_off b2
	expect 1 status --timeout 2 && said '6 of 7 agents are there' && grep -q '^/B/b2 .*NOT THERE: ' "$cluster_dir/json" &&
		expect 1 up --timeout 2 --only b2 &&
		said 'b2 (ssh, 10.81.2.12): FAILED' '1 failed' 'failed: b2; the same command tries these again' &&
		[ $((SECONDS - begin)) -le $((2 * (2 + 5 * took))) ] &&
		expect 1 up --timeout $((3 * took)) && said '6 already up, 1 failed' 'failed: b2;'
}

binary_make() {
	mkdir -p "$cluster_dir/other"
	cat >"$cluster_dir/other/evspace" <<-END
		#!/bin/sh
		[ "\$1" != --version ] || { echo evspace $1; exit; }
		exec "$top_builddir/evspace" "\$@"
	END
	chmod +x "$cluster_dir/other/evspace"
}

versions_are_compared() {
	sed "s,port 22;,port 22; binary $cluster_dir/other/evspace;," "$cluster_dir/maps/cluster.map" \
		>"$cluster_dir/maps/new" && mv "$cluster_dir/maps/new" "$cluster_dir/maps/cluster.map"
	binary_make 9.0.0
	expect 1 up --only A && said "is version 9.0.0, ours is" 'major versions do not work together' || return
	binary_make 0.0.9
	expect 0 up --only A && said 'a0: up, restarted 0.0.9'
}

certificates_are_needed() {
	mv "$cluster_dir/tls/b1.key" "$cluster_dir/b1.key"
	expect 1 up && said 'evspace-certs agent' 'b1.key'
	local status=$?
	mv "$cluster_dir/b1.key" "$cluster_dir/tls/b1.key"
	[ "$status" -eq 0 ] && ! grep -q '\[1/' "$cluster_dir/said"
}

goes_down() {
	expect 1 down --timeout $((3 * $(cat "$cluster_dir/took"))) && said '6 ended, 0 were not up, 1 failed' 'failed: b2' &&
		expect 0 down --only A --only ga && said '3 were not up'
}

nothing_is_left() {
	local host left

	for host in "${nodes[@]}"; do
		[ ! -e "$cluster_dir/$host/off" ] || continue
		left=$(cluster_on "$host" sh -c 'pgrep -fa "evspace [a]gent"; find /var/tmp /dev/shm -mindepth 1 ! -path "*/tunnel*" ! -path /dev/shm/evspace-0 ! -name "vader*" ! -name "osc*"')
		[ -z "$left" ] || { echo "$host: $left"; return 1; }
	done
}

usage_is_taught() {
	cluster_on out evspace deploy upp x 2>&1 | grep -q "there is no 'upp'; did you mean 'up'?" &&
		cluster_on out evspace deploy begin x 2>&1 | grep -q 'not one of up, down, restart, status' &&
		cluster_on out evspace deploy --help | grep -q 'evspace deploy status maps' &&
		! cluster_on out evspace deploy up "$cluster_dir/nowhere" 2>/dev/null
}

if ! cluster_allowed; then
	tap_skip "evspace deploy on several hosts" "$cluster_why"
	tap_done
fi
cluster_begin 2 3 || exit 99
maps_make
certificates_make >"$cluster_dir/certs.log" 2>&1 || { sed 's/^/# /' "$cluster_dir/certs.log"; exit 99; }

tap_case "up starts the agents of all hosts, also of those behind a gateway" comes_up
tap_case "status shows all of them" status_shows_all
tap_case "the entry is who knows" status_needs_the_entry
tap_case "those are reached by it alone" only_gateway_leads_there
tap_case "up again is no change" twice_is_once
tap_case "files are private, each host has its own key only" files_are_private
tap_case "a consumer outside sees a program through the tree" consumer_sees_all
tap_case "a wrong host key is named, and harms nobody else" wrong_key_is_named
tap_case "so is one that is not known" unknown_key_is_named
tap_case "an agent that was killed is started again, others stay" killed_agent_comes_back
tap_case "a full disk is named, and what ran goes on" full_disk_harms_nobody
tap_case "another map restarts agents" another_map_restarts
tap_case "new certificates alone restart nobody" new_certificates_restart_nobody
tap_case "agents of one host need no certificates" one_host_needs_none
tap_case "a dead host costs its own time only" dead_host_costs_itself
tap_case "an older version is fine, another major one is named" versions_are_compared
tap_case "a missing certificate is found before any host is asked" certificates_are_needed
tap_case "down ends agents, names the dead host, and can be repeated" goes_down
tap_case "nothing is left on any host" nothing_is_left
tap_case "wrong words are answered with right ones" usage_is_taught
tap_done
