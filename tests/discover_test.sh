# SPDX-License-Identifier: BSD-3-Clause
# Tests evspace map discover: what runs under mpirun, PVM and Slurm on hosts that are namespaces.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cluster/bed.sh"
. "$top_srcdir/tests/cluster/slurm.sh"

found=$cluster_dir/found
environment=(EVSPACE_DIR=/dev/shm/evspace-0)
pvm_environment=("${environment[@]}" PVM_RSH="$cluster_dir/rsh" PVM_ALLOW_ROOT=1 PVM_ARCH=LINUX64
	PVM_ROOT=/usr/lib/pvm3)
slurm_environment=("${environment[@]}" SLURM_CONF="$cluster_dir/slurm.conf")

on() {
	local host=$1

	shift
	cluster_on "$host" env "${environment[@]}" "$@"
}

# discover HOST CODE [OPTION...]: what it says is in $words/said.
discover() {
	local host=$1 code=$2 got

	shift 2
	on "$host" evspace map discover "$@" >"$words/out.txt" 2>"$words/said"
	got=$?
	[ "$got" -eq "$code" ] && return
	echo "exit code $got, not $code"
	cat "$words/said" "$words/out.txt"
	return 1
}

# has FILE LINE...: these lines are in it, up to blanks before them.
has() {
	local file=$1 line

	shift
	for line; do
		sed 's/^[[:blank:]]*//' "$file" | grep -qxF -- "$line" && continue
		echo "not in $file: $line"
		cat "$file"
		return 1
	done
}

said() {
	local text

	for text; do
		grep -qF -- "$text" "$words/said" && continue
		echo "nobody says: $text"
		cat "$words/said"
		return 1
	done
}

right() {
	evspace map check "$found" >"$cluster_dir/check" 2>&1 || { cat "$cluster_dir/check"; return 1; }
}

# ---- without a cluster ----

# here CODE [OPTION...]: on this host, with the commands of Slurm that are in $tap_dir/slurm.
here() {
	local code=$1 got

	shift
	PATH=$tap_dir/slurm:$PATH EVSPACE_DIR=$tap_dir/none evspace map discover "$@" >"$tap_dir/out" 2>"$tap_dir/said"
	got=$?
	[ "$got" -eq "$code" ] || { echo "exit code $got, not $code"; cat "$tap_dir/said" "$tap_dir/out"; return 1; }
}

here_said() {
	grep -qF -- "$1" "$tap_dir/said" "$tap_dir/out" || { echo "nobody says: $1"; cat "$tap_dir/said" "$tap_dir/out"; return 1; }
}

wrong_hosts() {
	local host

	for host in '' ::1 '[::1]' user@b0 b0:2222 -oX; do
		here 2 --ssh="$host" "$tap_dir/maps" && here_said "'$host'" || return
	done
	here 2 --ssh user@b0 && here_said 'deploy ssh { user NAME; }' && here 2 --ssh b0:22 && here_said 'deploy ssh { port N; }' &&
		here 2 --ssh 'w[0-8192]' && here_said '8193 hosts; at most 8192 are possible' && ! [ -e "$tap_dir/maps" ]
}

same_labels() {
	here 0 --ssh w0.a.org --ssh w0.b.org --ssh 'm[1-2].b.org' --ssh m1.b.org && here_said 'nodes w0.a.org w0.b.org m[1-2];' &&
		here_said 'address m2 m2.b.org:7440;'
}

# What it prints can be pasted.
next_command() {
	local maps="$tap_dir/my 'maps'; exit 7" next

	unset EVSPACE_TLS
	HOME=$tap_dir here 0 --ssh w0 "$maps" && here_said ' --tls CERTIFICATES' || return
	next=$(sed -n 's/.* next: evspace deploy up //p' "$tap_dir/said")
	eval "set -- $next"
	[ "$#" -eq 3 ] && [ "$*" = "$maps --tls CERTIFICATES" ] || { echo "$next"; return 1; }
	EVSPACE_TLS=$tap_dir here 0 --force --ssh w0 "$maps" && ! grep -q -e --tls "$tap_dir/said" || return
	here 0 --force --ssh w0 --tls '/my certs' "$maps" && here_said " --tls '/my certs'"
}

# slurm_says JOB-NAME TASKS
slurm_says() {
	mkdir -p "$tap_dir/slurm"
	cat >"$tap_dir/slurm/scontrol" <<-END
		#!/bin/sh
		case \$2 in
		job) echo "JobId=42 JobName=$1 UserId=me(1) GroupId=me(1) JobState=RUNNING NodeList=b[0-1] NumTasks=$2 Comment=NodeList=c" ;;
		node) printf 'NodeName=%s NodeAddr=%s\n' b0 b0 b1 b1 ;;
		esac
	END
	printf '#!/bin/sh\necho 42.0 app\n' >"$tap_dir/slurm/squeue"
	cat >"$tap_dir/slurm/sattach" <<-END
		#!/bin/sh
		echo "	Node 0 (b0), 1 task(s): 0"
		echo "	Node 1 (b1), $(($2 - 1)) task(s): \$(seq -s ' ' 1 $(($2 - 1)))"
	END
	chmod +x "$tap_dir"/slurm/*
}

# A job's name is anything; what looks like Slurm's words in it is not believed.
spoofed_name() {
	slurm_says 'a JobState=X NodeList=evil b' 2 && here 0 --slurm 42 && here_said 'nodes b[0-1];' &&
		here_said 'application a-JobState-X-NodeList-evil-b {' &&
		slurm_says 'a UserId=x NodeList=evil' 2 && here 1 --slurm 42 && here_said 'in several ways'
}

too_many_ranks() {
	slurm_says a 70000 && here 1 --slurm 42 && here_said '70000 ranks; maps hold at most 65536'
}

# Its second file is larger than what there is room for.
disk_is_full() {
	local i hosts=() maps=$tap_dir/full

	for i in {1..40}; do
		hosts+=(--ssh "host$i.domain$i.org")
	done
	(trap '' XFSZ; ulimit -f 1; here 1 "${hosts[@]}" "$maps") && here_said "cannot write $maps/cluster.map: File too large" &&
		! [ -e "$maps" ] || { ls "$maps"; return 1; }
	here 0 --ssh w0 "$maps" && cp -r "$maps" "$maps.before" &&
		(trap '' XFSZ; ulimit -f 1; here 1 --force "${hosts[@]}" "$maps") && diff -r "$maps.before" "$maps"
}

# ---- hosts that are named ----

# What docs/deploying.md says: certificates, maps, agents; then somebody looks, and it all goes again.
three_commands() {
	local new=$cluster_dir/new

	"$top_srcdir/deploy/certs" init "$new/tls" 'b[0-1]' >"$cluster_dir/said" &&
		discover out 0 --ssh 'b[0-1]' "$new/maps" &&
		on out evspace deploy up "$new/maps" --tls "$new/tls" --ssh-config "$cluster_dir/ssh/config" \
			>"$cluster_dir/said" 2>&1 && said '2 started, 0 already up, 0 failed' &&
		on out evspace runs --connect b0:7440 --tls "$new/tls" >"$cluster_dir/said" 2>&1 &&
		said 'tunnel  died ' &&
		on out evspace deploy down "$new/maps" --tls "$new/tls" --ssh-config "$cluster_dir/ssh/config" \
			>"$cluster_dir/said" 2>&1 && said '2 ended' &&
		discover out 2 --ssh 'b[0' "$new/maps" && said 'is not a list of hosts' &&
		discover out 2 --ssh b0 --pvm "$new/maps" && said 'exclude each other'
}

# ---- nothing, and one host ----

nothing_runs() {
	discover front 1 "$found" && said 'nothing is found: no run is live' 'start the program with' &&
		! [ -e "$found" ]
}

# program HOST RUN MPIRUN-OPTION...: until the test ends it.
program() {
	local host=$1 run=$2

	shift 2
	on "$host" evspace run --keep --run "$run" -- mpirun "$@" "$top_builddir/tests/apps/guest" \
		--until "$cluster_dir/never" </dev/null >"$cluster_dir/$run.log" 2>&1 &
	echo $! >"$cluster_dir/$run.pid"
	disown
}

# All that run there.
program_end() {
	on "$1" pkill -TERM -x mpirun
	cluster_until cluster_gone "$(cat "$cluster_dir/$2.pid")"
}

# begun RUN N HOST...: so many processes of it are on record.
begun() {
	local run=$1 n=$2 host

	shift 2
	for host; do
		on "$host" sh -c "ls \$EVSPACE_DIR/$run/*.seg"
	done 2>/dev/null | wc -l | grep -qx "$n"
}

one_host() {
	program b0 tunnel --bind-to core --oversubscribe -np 2
	cluster_until begun tunnel 2 b0 && discover b0 0 "$found" && right &&
		has "$found/mapping.map" 'entry b0;' 'place rank[0-1] on b0;' '#   world: rank[0-1]' &&
		has "$found/cluster.map" 'nodes b0;' &&
		has "$found/application.map" 'application guest {' 'ranks rank[0-1];' || return
	grep -q '# b0: rank0 on cpu [0-9]*; rank1 on cpu [0-9]*;' "$found/mapping.map" ||
		{ cat "$found/mapping.map"; return 1; }
}

not_overwritten() {
	echo '# mine' >"$found/mapping.map"
	discover b0 1 "$found" && said 'is there already; --force' &&
		has "$found/mapping.map" '# mine' && discover b0 0 --force "$found" && right
}

several_runs() {
	program b0 other --oversubscribe -np 1
	cluster_until begun other 1 b0 && discover b0 2 && said 'say which with --run:' other tunnel &&
		discover b0 0 --run other && grep -qx 'place rank0 on b0;' "$cluster_dir/out.txt" || return
	program_end b0 tunnel
	# what has ended is still there to be looked at, when it is named
	discover b0 0 --run tunnel && discover b0 1 --run nobody && said "there is no run nobody"
}

a_segment_is_gone() {
	on b0 sh -c 'cd "$EVSPACE_DIR/tunnel" && set -- *.seg && mv "$1" "$EVSPACE_DIR/away" && echo "$1"' >"$cluster_dir/away" &&
		discover b0 1 --run tunnel "$found.none" && said 'of 2 is not here' && ! [ -e "$found.none" ] || return
	on b0 mv /dev/shm/evspace-0/away "/dev/shm/evspace-0/tunnel/$(cat "$cluster_dir/away")"
}

# ---- several hosts, through agents ----

agents_begin() {
	mkdir "$cluster_dir/maps"
	printf 'application any { # all\n\tranks any; view mine { select /**/p2p; read latest; }\n}\n' \
		>"$cluster_dir/maps/application.map"
	printf '# who asks\nentry front;\ntree flat;\n' >"$cluster_dir/maps/mapping.map"
	cat >"$cluster_dir/maps/cluster.map" <<-END
		cluster B { nodes b[0-2]; address b[0-2]:7440; }
		node front { address front:7440; }
	END
	{ "$top_srcdir/deploy/certs" init "$cluster_dir/tls" &&
		"$top_srcdir/deploy/certs" agent "$cluster_dir/tls" front 'b[0-2]' &&
		"$top_srcdir/deploy/certs" control "$cluster_dir/tls" control &&
		"$top_srcdir/deploy/certs" observe "$cluster_dir/tls" observe &&
		"$top_srcdir/deploy/certs" observe "$cluster_dir/tls" guest --run other &&
		"$top_srcdir/deploy/certs" control "$cluster_dir/tls" deputy --run other; } >"$cluster_dir/certs.log" 2>&1 || return
	on out evspace deploy up "$cluster_dir/maps" --tls "$cluster_dir/tls" \
		--ssh-config "$cluster_dir/ssh/config" >"$cluster_dir/up" 2>&1 || { cat "$cluster_dir/up"; return 1; }
}

asks=(--connect front:7440 --tls "$cluster_dir/tls" --identity control)

# Everything but the places stays as the entry has it.
several_hosts() {
	environment+=(OMPI_MCA_plm_rsh_agent="$cluster_dir/rsh")
	program b0 wind --host b0:2,b1:2,b2:1 -np 5
	cluster_until begun wind 5 b0 b1 b2 &&
		discover out 0 "${asks[@]}" --force "$found" && right &&
		has "$found/mapping.map" '# who asks' 'entry front;' 'place rank[0-4] on b[0-2] by 2;' 'tree flat;' &&
		has "$found/application.map" 'application any { # all' \
			'ranks rank[0-4]; view mine { select /**/p2p; read latest; }' &&
		cmp "$found/cluster.map" "$cluster_dir/maps/cluster.map"
}

is_applied() {
	on out evspace map apply "$found" "${asks[@]}" >"$cluster_dir/said" 2>&1 &&
		said 'b0 holds ranks 0-1 instead of none' 'applied as generation 2' || { cat "$cluster_dir/said"; return 1; }
}

# Found again in what was written, it is the same, with one head.
found_again() {
	cp -r "$found" "$found.1"
	discover out 0 "${asks[@]}" --force "$found" &&
		diff <(grep -v '^# Found by' "$found.1/mapping.map") <(grep -v '^# Found by' "$found/mapping.map")
}

# Who may see one run only is told of no other.
limited() {
	discover out 3 "${asks[@]}" --identity guest --run wind && said 'limited to other runs' || return
	discover out 1 "${asks[@]}" --identity guest --force "$found" && said 'only control (without limits to runs or users) may see where hosts are' &&
		discover out 1 "${asks[@]}" --identity deputy --force "$found" && said 'only control (without limits to runs or users) may see where hosts are' &&
		discover out 0 "${asks[@]}" --identity guest && has "$cluster_dir/out.txt" \
			'# Not shown: only control may see where hosts are (--identity control).' && has "$cluster_dir/out.txt" '# run other, 1 rank of guest.'
}

a_host_is_missing() {
	cluster_on b2 pkill -f '[e]vspace agent --pathmap'
	cluster_until cluster_on b2 sh -c '! pgrep -f "[e]vspace agent --pathmap"' &&
		discover out 1 "${asks[@]}" "$found.none" && said 'b2 is not there' 'rank4 of 5 is not here' &&
		! [ -e "$found.none" ]
}

agents_end() {
	program_end b0 wind
	on out evspace deploy down "$cluster_dir/maps" --tls "$cluster_dir/tls" \
		--ssh-config "$cluster_dir/ssh/config" >/dev/null 2>&1
}

# ---- PVM ----

pvm_is_missing() {
	discover out 1 --pvm && said 'you have no virtual machine of PVM' '/tmp/pvmd.0'
}

# On a host where there is none later, either.
pvm_is_stale() {
	local environment=("${pvm_environment[@]}")

	on ga sh -c 'echo 7f000001:1234 >/tmp/pvmd.0'
	discover ga 1 --pvm && said '/tmp/pvmd.0 may be left of a pvmd that was killed' || return
	on ga rm /tmp/pvmd.0
}

machine_begin() {
	printf '* ep=%s:/usr/bin wd=/tmp\nout\nb0\nb1\n' "$top_builddir/tests/apps" >"$cluster_dir/machine"
	on out pvmd "$cluster_dir/machine" </dev/null >"$cluster_dir/pvmd.log" 2>&1 &
	disown
	cluster_until machine_is_there || { cat "$cluster_dir/pvmd.log"; return 1; }
}

machine_is_there() {
	on out test -s /tmp/pvmd.0 && on out sh -c 'echo conf | pvm' | grep -q '^ *b1 '
}

task_is_there() {
	on out sh -c 'echo ps -a | pvm' | grep -q sleep
}

a_machine() {
	machine_begin || return
	echo 'spawn -1 -b1 sleep 300' | on out pvm >/dev/null 2>&1
	cluster_until task_is_there && discover out 0 --pvm --folder "$cluster_dir/shared" --force "$found" &&
		right && has "$found/cluster.map" 'nodes b[0-1] out;' "deploy pvm { folder $cluster_dir/shared; }" &&
		has "$found/application.map" 'ranks any;' || return
	grep -q '^#   t[0-9a-f]* sleep on b1$' "$found/mapping.map" || { cat "$found/mapping.map"; return 1; }
	# it is what there is
	discover out 0 && grep -q 'cluster pvm' "$cluster_dir/out.txt"
}

machine_end() {
	on out sh -c 'echo halt | pvm' >/dev/null 2>&1
	cluster_until on out sh -c '! test -e /tmp/pvmd.0'
}

# ---- Slurm ----

slurm_is_away() {
	local environment=("${slurm_environment[@]}")

	discover out 1 --slurm 4711 && said 'is slurmctld up'
}

job_has_no_step() {
	discover out 1 --slurm 4711 && said 'Slurm does not know such a job' || return
	job=$(slurm_job -N3 -n4 --job-name='my job') && echo "$job" >"$cluster_dir/job" || return
	discover out 0 --slurm "$job" --folder "$cluster_dir/shared" --force "$found" && right &&
		has "$found/application.map" 'application my-job {' 'ranks any;' &&
		has "$found/cluster.map" 'nodes b[0-2];' 'address 10.81.2.[10-12]:7440;' \
			"deploy slurm { host b[0-2]; folder $cluster_dir/shared; }" &&
		has "$found/mapping.map" 'entry b0;' '# place rank[0-1] on b0;' '# place rank[2-3] on b[1-2];'
}

# step SRUN-OPTION...
step() {
	slurm_on out srun --jobid="$(cat "$cluster_dir/job")" --mpi=none "$@" sleep 300 </dev/null >/dev/null 2>&1 &
	disown
}

step_runs() {
	slurm_on out squeue -h -s -j "$(cat "$cluster_dir/job")" -o %i | grep -c '\.[0-9]' | grep -qx "$1"
}

step_is_mapped() {
	local job

	job=$(cat "$cluster_dir/job")
	step -n4 -m cyclic
	cluster_until step_runs 1 && discover out 0 --slurm "$job" --force "$found" && right &&
		has "$found/mapping.map" 'place rank[0-3] on b[0-2] cyclic;' &&
		has "$found/application.map" 'ranks rank[0-3];' || return
	step --overlap -n2 -N2
	cluster_until step_runs 2 && discover out 2 --slurm "$job" && said 'several steps; say which with --slurm' &&
		discover out 0 --slurm "$job.1" && grep -qx 'place rank[[]0-1[]] on b[[]0-1[]];' "$cluster_dir/out.txt"
}

# The job's agents, by the maps that were found; in the job they are found without being named.
job_is_deployed() {
	local job

	job=$(cat "$cluster_dir/job")
	slurm_on out scancel -s KILL "$job.0" "$job.1"
	cluster_until step_runs 0 || return
	environment+=(SLURM_JOB_ID="$job")
	discover out 0 --folder "$cluster_dir/shared" --force "$found" || return
	rm -rf "$cluster_dir/tls"
	{ "$top_srcdir/deploy/certs" init "$cluster_dir/tls" &&
		"$top_srcdir/deploy/certs" agent "$cluster_dir/tls" 'b[0-2]' &&
		"$top_srcdir/deploy/certs" observe "$cluster_dir/tls" observe &&
		"$top_srcdir/deploy/certs" control "$cluster_dir/tls" control; } >"$cluster_dir/certs.log" 2>&1 || return
	on out evspace deploy up "$found" --tls "$cluster_dir/tls" >"$cluster_dir/said" 2>&1 &&
		said '1 started' && on out evspace deploy status "$found" --tls "$cluster_dir/tls" >>"$cluster_dir/said" 2>&1 &&
		said '3 of 3 agents are there' || { cat "$cluster_dir/said"; return 1; }
	# the agents' own step is none with ranks
	discover out 0 && grep -q 'has no step with ranks' "$cluster_dir/out.txt" || return
	# a map that was applied ends with the agent that keeps it
	cp -r "$found" "$found.2" && echo 'concurrency 1;' >>"$found.2/mapping.map" &&
		on out evspace map apply "$found.2" --connect b0:7440 --identity control --tls "$cluster_dir/tls" >"$cluster_dir/said" 2>&1 &&
		on b0 ls /dev/shm/evspace-0/agent-b0.map >/dev/null &&
		on out evspace deploy down "$found" --tls "$cluster_dir/tls" >"$cluster_dir/said" 2>&1 &&
		on b0 sh -c '! ls /dev/shm/evspace-0 | grep agent-' || { cat "$cluster_dir/said"; return 1; }
}

job_is_over() {
	slurm_on out scancel "$(cat "$cluster_dir/job")"
	cluster_until discover out 1 --slurm "$(cat "$cluster_dir/job")" && said 'has no nodes any more'
}

tap_case "what is no host is refused, with what to write" wrong_hosts
tap_case "hosts of one label in two domains are two nodes" same_labels
tap_case "the next command can be pasted" next_command
tap_case "a job's name says nothing but a name" spoofed_name
tap_case "more ranks than maps hold are an error" too_many_ranks
tap_case "a full disk leaves no file behind, and those that were there as they were" disk_is_full
if ! cluster_allowed; then
	tap_skip "evspace map discover" "$cluster_why"
	tap_done
fi
cluster_begin 0 3 || exit 99
printf '#!/bin/sh\nexec ssh -F %s "$@"\n' "$cluster_dir/ssh/config" >"$cluster_dir/rsh"
chmod +x "$cluster_dir/rsh"
# These two wait for ten seconds each.
if slurm_allowed; then
	slurm_make out 10.81.0.2 b0 b1 b2 >"$cluster_dir/slurm.conf"
	cluster_aside slurm slurm_is_away
fi
cluster_aside pvm pvm_is_stale
tap_case "nothing runs: it says what would be found" nothing_runs
tap_case "a program of one host, with its cores and communicators" one_host
tap_case "files that are there stay, but for --force" not_overwritten
tap_case "of several runs one is named, also an ended one" several_runs
tap_case "a process whose segment is gone: no maps" a_segment_is_gone
tap_case "hosts that are named: three commands to agents on two" three_commands
tap_case "there are agents on four hosts" agents_begin
tap_case "a program of three hosts, by the agents' maps" several_hosts
tap_case "these maps can be applied" is_applied
tap_case "found again, it is the same" found_again
tap_case "who is limited to a run finds no other" limited
tap_case "a host that does not answer, and its ranks, are named" a_host_is_missing
agents_end
environment=("${pvm_environment[@]}")
tap_case "pvm: there is none" pvm_is_missing
tap_case "pvm: what a killed pvmd has left is named" cluster_has_come pvm
tap_case "pvm: a machine, its hosts and tasks" a_machine
machine_end
environment=("${slurm_environment[@]}")
if slurm_allowed; then
	tap_case "slurm: slurmctld does not answer" cluster_has_come slurm
	slurm_begin out 10.81.0.2 b0 b1 b2 || exit 99
	tap_case "slurm: a job without steps" job_has_no_step
	tap_case "slurm: where a step's tasks are" step_is_mapped
	tap_case "slurm: a job is deployed by what was found" job_is_deployed
	tap_case "slurm: a job that is over" job_is_over
else
	tap_skip "slurm" "$cluster_why"
fi
tap_done
