# SPDX-License-Identifier: BSD-3-Clause
# Tests evspace deploy by launchers, on three hosts that are namespaces: mpirun, PVM, Slurm.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cluster/bed.sh"
. "$top_srcdir/tests/cluster/slurm.sh"

nodes=(b0 b1 b2)

maps=$cluster_dir/maps
pvm_environment=(PVM_RSH="$cluster_dir/rsh" PVM_ALLOW_ROOT=1 PVM_ARCH=LINUX64 PVM_ROOT=/usr/lib/pvm3)

# maps_make ENGINE: the cluster's folder is one that all hosts share.
maps_make() {
	mkdir -p "$maps"
	echo 'application any { ranks any; }' >"$maps/application.map"
	echo 'entry front;' >"$maps/mapping.map"
	cat >"$maps/cluster.map" <<-END
		cluster B { nodes b[0-2]; address b[0-2]:7440; deploy $1 { folder $words/shared; } }
		node front { address front:7440; deploy ssh; }
	END
}

certificates_make() {
	"$top_srcdir/deploy/certs" init "$cluster_dir/tls" &&
		"$top_srcdir/deploy/certs" agent "$cluster_dir/tls" front "${nodes[@]}" &&
		"$top_srcdir/deploy/certs" observe "$cluster_dir/tls" observe
}

# expect CODE ACTION [OPTION...]: from outside; what it says is in $words/said.
expect() {
	local code=$1 action=$2 got

	shift 2
	cluster_on "${from:-out}" env EVSPACE_DIR=/dev/shm/evspace-0 "${environment[@]}" evspace deploy "$action" "$maps" \
		--tls "$cluster_dir/tls" --ssh-config "$cluster_dir/ssh/config" "$@" \
		>"$words/json" 2>"$words/said"
	got=$?
	[ "$got" -eq "$code" ] && return
	echo "exit code $got, not $code"
	cat "$words"/{said,json,shared/evspace-agents-0/@B/log}
	return 1
}

# said TEXT...: the last deploy has said each of these.
said() {
	local text

	for text; do
		grep -qF -- "$text" "$words/said" "$words/json" && continue
		echo "nobody says: $text"
		cat "$words/said" "$words/json"
		return 1
	done
}

comes_up() {
	expect 0 up && said '2 started, 0 already up, 0 failed' "@B ($1" || return
	expect 0 status && said '4 of 4 agents are there'
}

twice_is_once() {
	expect 0 up && said '0 started, 2 already up'
}

agent_is_missed() {
	cluster_on b1 pkill -f 'evspace agent' && cluster_until ended_is_noticed &&
		expect 1 status && said '3 of 4 agents are there' '/B/b1' 'NOT THERE'
}

ended_is_noticed() {
	grep -q 'the agent of b1 has ended' "$cluster_dir/shared/evspace-agents-0/@B/log"
}

comes_back() {
	expect 0 up && said '1 started, 1 already up' 'up, restarted' &&
		expect 0 status && said '4 of 4 agents are there'
}

agents() {
	local host

	for host in "${nodes[@]}"; do
		cluster_on "$host" pgrep -f '[e]vspace agent'
	done
}

# In a folder of which the kernel tells agents nothing, as of one that is another host's.
certificates_change() {
	local folder=$cluster_dir/shared/evspace-agents-0/@B before

	before=$(agents)
	mv "$folder/now/tls" "$folder/now/tls.before" && cp -rp "$folder/now/tls.before" "$folder/now/tls" &&
		"$top_srcdir/deploy/certs" renew "$cluster_dir/tls" "${nodes[@]}" >"$cluster_dir/certs.log" 2>&1 || return
	expect 0 up && said '0 started, 2 already up' 'with new certificates' && expect 0 status && said '4 of 4 agents are there' &&
		[ "$(agents)" = "$before" ] && [ "$(grep -c 'certificates loaded again' "$folder/log")" -eq 3 ] ||
		{ echo "agents: $before, then $(agents)"; cat "$folder/log"; return 1; }
}

# Of the launcher's own, PVM leaves its log, and Slurm's daemons are the bed's.
nothing_is_left() {
	local host left

	expect 0 down && said '2 ended, 0 were not up, 0 failed' || return
	for host in out front "${nodes[@]}"; do
		left=$(cluster_on "$host" sh -c 'pgrep -fa "evspace [a]gent|deploy/[l]aunch|[m]pirun|[o]rted|[s]run"
			find /var/tmp /dev/shm -mindepth 1')
		[ -z "$left" ] || { echo "$host: $left"; return 1; }
	done
	! [ -e "$cluster_dir/shared" ]
}

# all_cases ENGINE: with $environment as it is.
all_cases() {
	maps_make "$1"
	tap_case "$1: up starts an agent on each host" comes_up "$1"
	tap_case "$1: up again is no change" twice_is_once
	tap_case "$1: new certificates restart no agent" certificates_change
	tap_case "$1: an agent that ends is missed, the others stay" agent_is_missed
	tap_case "$1: up starts it again" comes_back
	tap_case "$1: down leaves nothing" nothing_is_left
}

# ---- PVM ----

pvm_hosts() {
	cluster_on out env "${environment[@]}" sh -c 'echo conf | pvm' 2>/dev/null
}

# A virtual machine that runs already is used, and is as before afterwards.
machine_stays() {
	cluster_on out env "${environment[@]}" pvmd </dev/null >"$cluster_dir/pvmd.log" 2>&1 &
	disown
	cluster_until cluster_on out test -s /tmp/pvmd.0 || return
	expect 0 up --only B && pvm_hosts | grep -q '^ *b2 ' || return
	expect 0 down --only B || return
	pvm_hosts >"$cluster_dir/conf"
	cluster_on out env "${environment[@]}" sh -c 'echo halt | pvm' >/dev/null 2>&1
	grep -q '1 host' "$cluster_dir/conf" || { cat "$cluster_dir/conf"; return 1; }
}

# A program that somebody has started in the machine meanwhile goes on, and so does the machine.
programs_stay() {
	expect 0 up --only B || return
	echo 'spawn -1 -b1 /bin/sleep 300' | cluster_on out env "${environment[@]}" pvm >/dev/null 2>&1
	cluster_until cluster_on b1 pgrep -fx "/bin/sleep 300" &&
		expect 0 down --only B && said 'the virtual machine of PVM runs on with 1 task of others' &&
		pvm_hosts | grep -q '^ *b1 ' && cluster_on b1 pgrep -fx "/bin/sleep 300" >/dev/null || return
	expect 0 up --only B && said 'by the virtual machine of PVM that runs already' && expect 0 down --only B || return
	cluster_on out env "${environment[@]}" sh -c 'echo halt | pvm' >/dev/null 2>&1
	cluster_until cluster_on out sh -c '! test -e /tmp/pvmd.0'
}

# From a host where there is none later, either, with maps and a folder of its own.
stale_file_is_named() {
	local from=ga maps=$words/maps environment=("${pvm_environment[@]}")

	maps_make pvm
	cluster_on ga sh -c 'echo 7f000001:9 >/tmp/pvmd.0'
	expect 1 up --only B && said 'pvmd.UID is of a pvmd that does not answer; if none runs here any more, remove that file'
}

# ---- Slurm ----

# inside N ACTION...: mpirun's agents, within a new job on N hosts.
inside() {
	local nodes=$1 action

	shift
	maps_make mpi
	for action; do
		echo "evspace deploy $action $cluster_dir/maps --tls $cluster_dir/tls --ssh-config $cluster_dir/ssh/config --only B || exit"
	done >"$cluster_dir/inside"
	slurm_on out env EVSPACE_DIR=/dev/shm/evspace-0 salloc -N"$nodes" sh "$cluster_dir/inside" >"$cluster_dir/json" 2>"$cluster_dir/said"
}

mpirun_in_a_job() {
	inside 3 up up down && said 'up, started' 'already up' '1 ended, 0 were not up' || { cat "$cluster_dir/said"; return 1; }
}

mpirun_in_a_smaller_job() {
	! inside 2 up && said 'mpirun would run in job' 'which does not have b2, but b0 b1' || return
	expect 0 down --only B
}

# A job of somebody else.
job_of_others() {
	local job=$1

	cluster_on out sh -c 'cd / && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"' sh env HOME=/tmp \
		SLURM_CONF="$cluster_dir/slurm.conf" evspace deploy up "$cluster_dir/others" \
		--tls "$cluster_dir/others/tls" --job "$job" >"$cluster_dir/json" 2>"$cluster_dir/said"
	[ $? -eq 1 ] && said 'ccess/permission denied'
}

others_make() {
	maps_make slurm
	cp -r "$cluster_dir/maps" "$cluster_dir/others" && cp -r "$cluster_dir/tls" "$cluster_dir/others/tls" &&
		sed -i "/front/d; s,$cluster_dir/shared,/tmp," "$cluster_dir/others/cluster.map" &&
		echo 'entry b0;' >"$cluster_dir/others/mapping.map" &&
		chown -R 65534 "$cluster_dir/others"
}


job_is_there() {
	slurm_begin out 10.81.0.2 "${nodes[@]}" && slurm_job -N3 >"$cluster_dir/job" ||
		{ cat "$cluster_dir/job"; return 1; }
}

# From outside a job, too.
slurm_by_number() {
	local job=$1

	expect 0 up --only B --job "$job" && expect 0 down --only B --job "$job"
}

slurm_needs_a_job() {
	expect 1 up --only B && said 'there is no job'
}

if ! cluster_allowed; then
	tap_skip "evspace deploy by launchers" "$cluster_why"
	tap_done
fi
cluster_begin 0 3 || exit 99
certificates_make >"$cluster_dir/certs.log" 2>&1 || { sed 's/^/# /' "$cluster_dir/certs.log"; exit 99; }
printf '#!/bin/sh\nexec ssh -F %s "$@"\n' "$cluster_dir/ssh/config" >"$cluster_dir/rsh"
chmod +x "$cluster_dir/rsh"

cluster_aside stale stale_file_is_named
environment=(OMPI_MCA_plm_rsh_agent="$cluster_dir/rsh")
all_cases mpi
environment=("${pvm_environment[@]}")
all_cases pvm
tap_case "pvm: a virtual machine that was there is there afterwards, as it was" machine_stays
tap_case "pvm: what others run in the machine goes on" programs_stay
tap_case "pvm: what is left of a killed pvmd is named" cluster_has_come stale
environment=(SLURM_CONF="$cluster_dir/slurm.conf")
if slurm_allowed; then
	maps_make slurm
	tap_case "slurm: outside a job, it is said that one is needed" slurm_needs_a_job
	tap_case "slurm: there is a job on three hosts" job_is_there
	job=$(cat "$cluster_dir/job")
	tap_case "slurm: from outside, the job is named" slurm_by_number "$job"
	others_make
	tap_case "slurm: somebody else's job is refused" job_of_others "$job"
	environment+=(SLURM_JOB_ID="$job")
	all_cases slurm
	slurm_on out scancel "$job"
	environment=(SLURM_CONF="$cluster_dir/slurm.conf")
	tap_case "mpirun inside a job" mpirun_in_a_job
	tap_case "mpirun inside a job that lacks a host" mpirun_in_a_smaller_job
else
	tap_skip "slurm" "$cluster_why"
fi
tap_done
