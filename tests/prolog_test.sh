# SPDX-License-Identifier: BSD-3-Clause
# Tests Slurm's prolog and epilog: agents of the users whose jobs are on a node, and nothing left of them.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cluster/bed.sh"
. "$top_srcdir/tests/cluster/slurm.sh"

folder=$cluster_dir/slurm
one=65534 other=5	# nobody, games

# as USER COMMAND [ARG...]: on the controller.
as() {
	local user=$1

	shift
	slurm_on out setpriv --reuid "$user" --regid "$user" --clear-groups "$@"
}

# job USER NODE: begin one there. Its number is in $cluster_dir/job.
job() {
	as "$1" salloc --no-shell -n1 -w "$2" --chdir=/ >"$cluster_dir/said" 2>&1 ||
		{ cat "$cluster_dir/said"; return 1; }
	sed -n 's/.*Granted job allocation //p' "$cluster_dir/said" >"$cluster_dir/job"
}

# in_job JOB USER COMMAND...: run it there.
in_job() {
	local job=$1 user=$2

	shift 2
	as "$user" srun --jobid "$job" --overlap --mpi=none -n1 --chdir=/ "$@"
}

end_job() {
	slurm_on out scancel "$1"
}

# agents NODE USER N: so many agents of that user are there.
agents() {
	[ "$(cluster_on "$1" pgrep -c -u "$2" -f '[e]vspace agent')" = "$3" ]
}

agent_pid() {
	cluster_on "$1" pgrep -u "$2" -f '[e]vspace agent'
}

# Nothing of the user is there: no process, socket, file, nor in what prolog and epilog note.
nothing() {
	local left

	left=$(cluster_on "$1" sh -c "pgrep -fa -u $2; find /dev/shm /var/tmp -user $2; find /run/evspace-slurm/$2") 2>/dev/null
	[ -z "$left" ] || { echo "$left"; return 1; }
}

node_is_fine() {
	slurm_on out sinfo -h -N -n "$1" -o %T >"$cluster_dir/state"
	grep -qx 'idle\|mixed\|allocated' "$cluster_dir/state" || { cat "$cluster_dir/state" "$folder/log"; return 1; }
}

serves() {
	in_job "$1" "$2" "$folder/evspace" status >"$cluster_dir/said" 2>&1 && grep -q '^agent ' "$cluster_dir/said" ||
		{ cat "$cluster_dir/said" "$folder/log"; return 1; }
}

agent_begins() {
	job $one b0 && cp "$cluster_dir/job" "$cluster_dir/job.one" &&
		agents b0 $one 1 && serves "$(cat "$cluster_dir/job")" $one
}

program_is_seen() {
	local job

	job=$(cat "$cluster_dir/job.one")
	in_job "$job" $one "$folder/writer" /dev/shm/evspace-$one/wind 1 100 300 </dev/null >/dev/null 2>&1 &
	disown
	cluster_until cluster_on b0 sh -c "ls /dev/shm/evspace-$one/wind/*.seg" &&
		in_job "$job" $one "$folder/evspace" status --json >"$cluster_dir/said" &&
		grep -q '"run":"wind"' "$cluster_dir/said" || { cat "$cluster_dir/said"; return 1; }
}

two_users() {
	job $other b0 && cp "$cluster_dir/job" "$cluster_dir/job.other" &&
		agents b0 $one 1 && agents b0 $other 1 && serves "$(cat "$cluster_dir/job")" $other
}

# A second job has no second agent, and the end of one is not the end of it.
two_jobs() {
	local pid

	end_job "$(cat "$cluster_dir/job.other")"
	cluster_until agents b0 $other 0 && agents b0 $one 1 && cluster_until nothing b0 $other || return
	pid=$(agent_pid b0 $one)
	job $one b0 && agents b0 $one 1 || return
	end_job "$(cat "$cluster_dir/job")"
	cluster_until grep -q "b0 end job $(cat "$cluster_dir/job") of .* stays for $(cat "$cluster_dir/job.one")" "$folder/log" &&
		[ "$(agent_pid b0 $one)" = "$pid" ] &&
		serves "$(cat "$cluster_dir/job.one")" $one
}

# Slurm itself is done with it.
job_is_gone() {
	[ -z "$(slurm_on out squeue -h -j "$1" -o %T 2>/dev/null)" ]
}

last_job_ends() {
	end_job "$(cat "$cluster_dir/job.one")"
	cluster_until nothing b0 $one && node_is_fine b0
}

agent_is_killed() {
	job $one b0 && cluster_on b0 pkill -KILL -u $one -f '[e]vspace agent' && cluster_until agents b0 $one 0 &&
		cluster_on b0 sh -c "ls /dev/shm/evspace-$one/*.sock" >/dev/null || return
	end_job "$(cat "$cluster_dir/job")"
	cluster_until nothing b0 $one && node_is_fine b0
}

# Killed, the agent is there again for the next job.
agent_comes_back() {
	local first

	job $one b0 && first=$(cat "$cluster_dir/job") &&
		cluster_on b0 pkill -KILL -u $one -f '[e]vspace agent' && job $one b0 && agents b0 $one 1 &&
		serves "$(cat "$cluster_dir/job")" $one || return
	end_job "$first"
	end_job "$(cat "$cluster_dir/job")"
	cluster_until nothing b0 $one
}

# Another agent of the user serves already: it is theirs, and stays.
own_agent() {
	cluster_on b0 setpriv --reuid $one --regid $one --clear-groups "$folder/evspace" agent </dev/null \
		>"$cluster_dir/own" 2>&1 &
	disown
	cluster_until grep -q ready "$cluster_dir/own" && job $one b0 && agents b0 $one 1 &&
		serves "$(cat "$cluster_dir/job")" $one && grep -q 'serves this node already' "$folder/log" || return
	end_job "$(cat "$cluster_dir/job")"
	cluster_until job_is_gone "$(cat "$cluster_dir/job")" &&
		cluster_until cluster_on b0 sh -c '! ls /run/evspace-slurm' && agents b0 $one 1 || return
	cluster_on b0 pkill -TERM -u $one -f '[e]vspace agent'
	cluster_until agents b0 $one 0
	cluster_on b0 rm -rf /dev/shm/evspace-$one
}

elements_are_kept() {
	echo 'KEEP=3' >>"$folder/settings"
	job $one b0 && in_job "$(cat "$cluster_dir/job")" $one "$folder/writer" /dev/shm/evspace-$one/wind 1 100 1 >/dev/null &&
		end_job "$(cat "$cluster_dir/job")" && cluster_until job_is_gone "$(cat "$cluster_dir/job")" &&
		cluster_until cluster_on b0 sh -c "ls /run/evspace-slurm/$one/over-*" &&
		cluster_on b0 sh -c "ls /dev/shm/evspace-$one/wind/*.seg" >/dev/null && agents b0 $one 1 || return
	cluster_until nothing b0 $one && sed -i '/KEEP/d' "$folder/settings"
}

options_are_wrong() {
	echo "OPTIONS='--pathmap /nowhere --node %n'" >>"$folder/settings"
	job $one b0 && serves "$(cat "$cluster_dir/job")" $one && grep -q 'without its options' "$folder/log" || return
	sed -i '/OPTIONS/d' "$folder/settings"
	end_job "$(cat "$cluster_dir/job")"
	cluster_until nothing b0 $one
}

memory_is_full() {
	cluster_on b1 sh -c 'mount -t tmpfs -o size=64k,nr_inodes=8,mode=1777 none /dev/shm &&
		dd if=/dev/zero of=/dev/shm/fill bs=4k; for i in 1 2 3 4 5 6 7; do : >/dev/shm/$i; done' 2>/dev/null
	job $one b1 && in_job "$(cat "$cluster_dir/job")" $one true || return
	end_job "$(cat "$cluster_dir/job")"
	cluster_until nothing b1 $one && node_is_fine b1 && grep -q 'b1 begin .* no agent' "$folder/log" ||
		{ cat "$folder/log"; return 1; }
	cluster_on b1 umount /dev/shm
}

# broken COMMAND...: when prolog and epilog are in that state, jobs run all the same.
broken() {
	local rc=0

	mv "$folder/agents" "$folder/agents.good"
	"$@" >"$folder/agents"
	job $one b1 && in_job "$(cat "$cluster_dir/job")" $one true && end_job "$(cat "$cluster_dir/job")" &&
		cluster_until job_is_gone "$(cat "$cluster_dir/job")" && node_is_fine b1 || rc=1
	mv -f "$folder/agents.good" "$folder/agents"
	return $rc
}

never_fails() {
	broken echo 'this is ( no script' && broken echo 'exit 9' && broken echo 'kill -KILL $PPID $$' || return
	mv "$folder/evspace" "$folder/evspace.away"
	job $one b1 && in_job "$(cat "$cluster_dir/job")" $one true || return
	mv "$folder/evspace.away" "$folder/evspace"
	end_job "$(cat "$cluster_dir/job")"
	cluster_until nothing b1 $one && node_is_fine b1
}

if ! cluster_allowed || ! slurm_allowed; then
	tap_skip "prolog and epilog of Slurm" "$cluster_why"
	tap_done
fi
cluster_begin 0 2 || exit 99
mkdir "$folder"
cp "$top_srcdir"/deploy/slurm/* "$top_builddir/evspace" "$top_builddir/tests/writer" "$folder"
printf 'EVSPACE=%s/evspace\nLOG=%s/log\n' "$folder" "$folder" >"$folder/settings"
slurm_settings="Prolog=$folder/prolog
Epilog=$folder/epilog
PrologFlags=Alloc"
slurm_begin out 10.81.0.2 b0 b1 || exit 99
tap_case "a job begins: its user has an agent on the node" agent_begins
tap_case "a program of the job is seen from inside it" program_is_seen
tap_case "two users at once have an agent each" two_users
tap_case "the end of one job ends nobody else's agent" two_jobs
tap_case "the end of the user's last job leaves nothing" last_job_ends
tap_case "an agent that was killed leaves nothing either" agent_is_killed
tap_case "... and is there again for the next job" agent_comes_back
tap_case "an agent that the user has already is left alone" own_agent
tap_case "elements are kept as long as was said" elements_are_kept
tap_case "options with which no agent starts are left out" options_are_wrong
tap_case "full memory fails no job and drains no node" memory_is_full
tap_case "nor does a broken installation" never_fails
tap_done
