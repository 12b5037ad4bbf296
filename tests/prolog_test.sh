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

is_usable() {
	slurm_on out sinfo -h -N -n "$1" -o %T >"$cluster_dir/state"
	grep -qx 'idle\|mixed\|allocated' "$cluster_dir/state"
}

# Once what is completing is complete.
node_is_fine() {
	cluster_until is_usable "$1" || { cat "$cluster_dir/state" "$folder/log"; return 1; }
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
	echo 'KEEP=3000' >>"$folder/settings"
	job $one b0 && in_job "$(cat "$cluster_dir/job")" $one "$folder/writer" /dev/shm/evspace-$one/wind 1 100 1 >/dev/null &&
		end_job "$(cat "$cluster_dir/job")" && cluster_until job_is_gone "$(cat "$cluster_dir/job")" &&
		cluster_until cluster_on b0 sh -c "ls /run/evspace-slurm/$one/over-*" &&
		cluster_on b0 sh -c "ls /dev/shm/evspace-$one/wind/*.seg" >/dev/null && agents b0 $one 1 || return
	# the time is over
	cluster_on b0 pkill -fx 'sleep 3000' &&
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

# by_hand prolog|epilog JOB: of $one on b0, without Slurm.
by_hand() {
	cluster_on b0 env SLURM_JOB_ID="$2" SLURM_JOB_UID=$one "$folder/$1"
}

# as_one COMMAND [ARG...]: as $one on b0, outside of jobs.
as_one() {
	cluster_on b0 setpriv --reuid $one --regid $one --clear-groups "$@"
}

# squat LINE: what is to be the folder of $one is another's, where a file of $one claims to be the log.
squat() {
	cluster_on b0 rm -rf /tmp/victim /dev/shm/evspace-$one &&
		as_one sh -c 'mkdir /tmp/victim && cd /tmp/victim && echo "$1" >thesis && echo 1 >my.sock && echo 2 >my.map' \
			sh "$1" &&
		cluster_on b0 setpriv --reuid $other --regid $other --clear-groups sh -c '
			mkdir -m 777 "$1" && mkdir -m 777 "$1/agent-a" && ln -s /tmp/victim/thesis "$1/agent-slurm.log"' \
			sh /dev/shm/evspace-$one
}

forged="evspace agent: ready on unix:/dev/shm/evspace-$one/agent-a/../../../../tmp/victim/my.sock"

folder_is_anothers() {
	squat "$forged" && by_hand prolog 9001 && by_hand epilog 9001 &&
		[ "$(cluster_on b0 cat /tmp/victim/thesis)" = "$forged" ] &&
		grep -q 'begin job 9001 .* no agent' "$folder/log" || { cat "$folder/log"; return 1; }
}

# ... so that it cannot be emptied.
log_is_forged() {
	squat "$forged" && cluster_on b0 chmod 444 /tmp/victim/thesis && by_hand prolog 9002 && by_hand epilog 9002 &&
		cluster_on b0 cat /tmp/victim/my.sock /tmp/victim/my.map >/dev/null &&
		grep -q 'begin job 9002 .* no agent' "$folder/log" || { cat "$folder/log"; return 1; }
}

# Even what the agent itself says leads to nothing else.
socket_is_elsewhere() {
	local rc=0

	printf '#!/bin/sh\necho "%s" >&2\nexec sleep 60\n' "$forged" >"$folder/forger"
	chmod +x "$folder/forger"
	echo "EVSPACE=$folder/forger" >>"$folder/settings"
	cluster_on b0 rm -rf /dev/shm/evspace-$one
	as_one mkdir -p /dev/shm/evspace-$one/agent-a
	by_hand prolog 9003 && grep -q 'begin job 9003 .*: agent ' "$folder/log" && by_hand epilog 9003 &&
		cluster_on b0 cat /tmp/victim/my.sock /tmp/victim/my.map >/dev/null || { cat "$folder/log"; rc=1; }
	sed -i '/forger/d' "$folder/settings"
	cluster_on b0 rm -rf /tmp/victim /dev/shm/evspace-$one
	return $rc
}

elements() {
	cluster_on b0 sh -c "ls /dev/shm/evspace-$one/$1/*.seg" >/dev/null
}

write_run() {
	as_one "$folder/writer" "/dev/shm/evspace-$one/$1" 1 100 1 >/dev/null
}

own_runs_stay() {
	as_one mkdir -m 700 /dev/shm/evspace-$one && write_run before && by_hand prolog 9004 &&
		write_run wind && elements wind && by_hand epilog 9004 &&
		elements before && ! elements wind 2>/dev/null && agents b0 $one 0 &&
		[ "$(cluster_on b0 ls /dev/shm/evspace-$one)" = before ] || { cluster_on b0 ls -R /dev/shm; return 1; }
	cluster_on b0 rm -r /dev/shm/evspace-$one
	nothing b0 $one
}

own_agent_keeps_all() {
	as_one "$folder/evspace" agent </dev/null >"$cluster_dir/own" 2>&1 &
	disown
	cluster_until grep -q ready "$cluster_dir/own" && by_hand prolog 9005 && write_run wind &&
		by_hand epilog 9005 && elements wind && agents b0 $one 1 || return
	cluster_on b0 pkill -TERM -u $one -f '[e]vspace agent'
	cluster_until agents b0 $one 0 && cluster_on b0 rm -rf /dev/shm/evspace-$one
}

# Jobs of two users that Slurm knows nothing of, and one without a step that it does know of.
epilog_is_lost() {
	local living noted=/run/evspace-slurm

	by_hand prolog 9006 && agents b0 $one 1 && job $other b0 && living=$(cat "$cluster_dir/job") &&
		cluster_on b0 sh -c "touch $noted/$other/jobs/9007 &&
			touch -d '10 minutes ago' $noted/$one/jobs/9006 $noted/$other/jobs/*" &&
		job $other b0 && cluster_until nothing b0 $one &&
		cluster_until cluster_on b0 sh -c "! ls $noted/$other/jobs/9007" &&
		cluster_on b0 ls "$noted/$other/jobs/$living" "$noted/$other/jobs/$(cat "$cluster_dir/job")" &&
		agents b0 $other 1 || { cluster_on b0 ls -lR $noted; cat "$folder/log"; return 1; }
	end_job "$living"
	end_job "$(cat "$cluster_dir/job")"
	cluster_until nothing b0 $other
}

machine_began_anew() {
	by_hand prolog 9008 && cluster_on b0 sh -c "echo older >/run/evspace-slurm/$one/boot" &&
		cluster_on b0 pkill -KILL -u $one -f '[e]vspace agent' && by_hand prolog 9009 && agents b0 $one 1 &&
		by_hand epilog 9009 && cluster_until nothing b0 $one
}

agent_was_dead_at_once() {
	cluster_on b0 sh -c "mkdir -p /run/evspace-slurm/$one && echo '4194303 ' >/run/evspace-slurm/$one/agent" &&
		by_hand prolog 9010 && agents b0 $one 1 && by_hand epilog 9010 && cluster_until nothing b0 $one
}

# Just when it is to be opened.
folder_vanishes() {
	echo 'mkdir() { command mkdir "$@"; [ -e "$here/gone" ] || { touch "$here/gone"; rm -rf "$home"; }; }' \
		>>"$folder/settings"
	by_hand prolog 9011 && agents b0 $one 1 && by_hand epilog 9011 && cluster_until nothing b0 $one || return
	sed -i '/mkdir/d' "$folder/settings"
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
tap_case "the user's folder is another's: no file of the user is emptied" folder_is_anothers
tap_case "... or removed, whatever a log says that is there" log_is_forged
tap_case "a socket that is not in the user's folder is left alone" socket_is_elsewhere
tap_case "runs that were there before the job stay" own_runs_stay
tap_case "... and all, when the user has an agent already" own_agent_keeps_all
tap_case "an epilog that is lost is made up for; jobs that live keep their agent" epilog_is_lost
tap_case "what was noted before the machine began anew does not count" machine_began_anew
tap_case "an agent that was dead at once does not count as alive" agent_was_dead_at_once
tap_case "a folder that is removed meanwhile is made anew" folder_vanishes
tap_case "full memory fails no job and drains no node" memory_is_full
tap_case "nor does a broken installation" never_fails
tap_done
