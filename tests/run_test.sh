# SPDX-License-Identifier: BSD-3-Clause
# Tests evspace run, exec, runs and purge with real mpirun: exit codes, signals, counts, names,
# what cannot be collected, other hosts, no room.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
apps=$top_builddir/tests/apps
here=$(hostname)

# exits STATUS COMMAND...: what it printed is in $tap_dir/{out,err}.
exits() {
	local want=$1 status=0

	shift
	timeout -k 5 180 "$@" >"$tap_dir/out" 2>"$tap_dir/err" </dev/null || status=$?
	[ "$status" -eq "$want" ] && return
	echo "exit code $status, not $want: $*"
	cat "$tap_dir/out" "$tap_dir/err"
	return 1
}

# says FILE PATTERN: the last command printed it.
says() {
	tap_printed "$tap_dir/$1" -- "$2"
}

silent() {
	[ ! -s "$tap_dir/$1" ] || { cat "$tap_dir/$1"; false; }
}

# in_json FILE KEY: the value of a key that holds a number or a word; the first in the file.
in_json() {
	grep -oE "\"$2\":(\"[^\"]*\"|[^,}\"]*)" "$1" | head -n 1 | cut -d: -f2- | tr -d '"'
}

nothing_left() {
	[ -z "$(ls -A "$EVSPACE_DIR")" ] || { ls -lR "$EVSPACE_DIR"; false; }
}

segments() {
	find "$EVSPACE_DIR" -name '*.seg' | wc -l
}

has_segments() {
	[ "$(segments)" -ge "$1" ]
}

# are_stuck RUN: both ranks of tests/apps/stuck have what goes well behind them, and go on to where one waits.
are_stuck() {
	[ "$("$top_builddir/tests/segdump" "$EVSPACE_DIR/$1" --counts | grep -c '"op":"MPI_Barrier","calls":5,')" -eq 2 ]
}

is_state() {
	[ "$(evspace runs --json | grep "\"run\":\"$1\"" | grep -o '"state":"[a-z]*"')" = \
		"\"state\":\"$2\"" ]
}

# --- exit codes ---

tap_case "run returns the program's exit code" exits 7 evspace run -- mpirun -np 2 sh -c 'exit 7'
tap_case "run returns 128 + n for a signal" exits 137 evspace run -- sh -c 'kill -9 $$'
tap_case "... also where SIGCHLD was ignored" exits 7 \
	bash -c 'trap "" CHLD; exec evspace run --no-summary -- sh -c "exit 7"'
tap_case "run returns 0 of an MPI program" exits 0 evspace run -- mpirun -np 2 "$apps/calls"
tap_case "its output is untouched" says out '^calls: 2 ranks, all results are right$'
tap_case "a program that is not there: 125" exits 125 evspace run -- "$tap_dir/nowhere"
tap_case "... and the remedy" says err 'not found; is it in PATH'
tap_case "no program: 2" exits 2 evspace run
tap_case "wrong option: 2" exits 2 evspace run --bad -- true
tap_case "wrong capacity: 2" exits 2 evspace run --capacity p2p=x -- true
tap_case "... and what would be right" says err 'p2p=1000,wait=0'
tap_case "wrong name: 2" exits 2 evspace run --run a/b -- true
tap_case "a variable that is not understood: 2" \
	exits 2 env EVSPACE_QUOTA=much evspace run -- true
tap_case "... and which one" says err '^evspace run: EVSPACE_QUOTA=much'
tap_case "no collector library: 125" exits 125 env EVSPACE_LIB=/nowhere evspace run -- true
tap_case "unreadable pathmap: 125" exits 125 evspace run --pathmap "$tap_dir/nowhere" -- true
for command in run exec runs purge; do
	tap_case "$command --help shows examples" exits 0 evspace "$command" --help
	tap_case "... on stdout" says out '^examples:$'
done
# Every variable that a collector reads is found in the help, those with a flag by that, too.
all_settings() {
	local name

	exits 0 evspace "$1" --help || return
	for name in $(grep -o '"EVSPACE_[A-Z]*"' "$top_srcdir/node-agent/collect/core/settings.c" | tr -d '"' | sort -u); do
		grep -q -w "$name" "$tap_dir/out" || { echo "$name is not in $1 --help"; return 1; }
	done
	for name in run pathmap capacity elements lifetimes modes reserve threads quota; do
		grep -q -e "^  --$name " "$tap_dir/out" || { echo "--$name is not in $1 --help"; return 1; }
	done
}
tap_case "run --help has every setting" all_settings run
tap_case "exec --help has every setting" all_settings exec
# shown NAME FLAG...: what the program gets of that variable.
shown() {
	local name=$1

	shift
	exits 0 evspace run --no-summary "$@" -- sh -c "echo \$$name"
}
tap_case "a flag is before a variable" eval 'EVSPACE_RESERVE=7 shown EVSPACE_RESERVE --reserve 9 && says out "^9$"'
tap_case "a variable is before the map" eval 'EVSPACE_MODES=count shown EVSPACE_MODES --pathmap "$bed_dir/maps" && says out "^count$"'
tap_case "--modes all=count,p2p=trace" exits 0 evspace run --json --modes all=count,p2p=trace -- \
	mpirun -np 2 "$apps/calls" --rounds 2
modes_hold() {
	sed 's/{"class"/\n&/g' "$tap_dir/err" >"$tap_dir/classes"
	grep '^{"class"' "$tap_dir/classes" | grep '"group":"p2p"' | grep -q '"mode":"trace"' &&
		! grep '^{"class"' "$tap_dir/classes" | grep -v '"group":"p2p"' | grep '"mode":"trace"'
}
tap_case "... all others are counted" modes_hold
tap_case "nothing is left by all that" nothing_left

# --- the summary ---

# As many calls and completions as the program says that it made.
counts_agree() {
	local counted

	exits 0 evspace run --json --capacity 200 --summary "$tap_dir/summary" -- \
		mpirun -np 3 "$apps/calls" --json || return
	counted=$(grep -oE '"(calls|completions)":[0-9]+' "$tap_dir/out" | cut -d: -f2 |
		awk '{ n += $1 } END { print n }')
	echo "program: $counted, summary: $(cat "$tap_dir/summary")"
	[ "$(in_json "$tap_dir/summary" written)" = "$counted" ]
}

adds_up() {
	local f=$tap_dir/summary

	[ "$(in_json "$f" written)" -eq $(($(in_json "$f" kept) + $(in_json "$f" overwritten) +
		$(in_json "$f" overflowed))) ] && [ "$(in_json "$f" overwritten)" -gt 0 ]
}

tap_case "the summary counts what the program did" counts_agree
tap_case "kept + overwritten + overflowed = written" adds_up
tap_case "--summary FILE leaves stderr alone" silent err
tap_case "with room for all of them" exits 0 evspace run --json --capacity 100000 -- \
	mpirun -np 2 "$apps/calls"
tap_case "... none is overwritten" says err '"overwritten":0,'
tap_case "the map says how much room there is" exits 0 \
	evspace run --pathmap "$bed_dir/maps" -- mpirun -np 2 sh -c "echo \$EVSPACE_CAPACITY"
tap_case "... by channel" says out '^p2p=1000,'
sed -i 's/capacity 1000;/collect p2p { capacity 50; } collect collective;/' \
	"$bed_dir/maps/application.map"
tap_case "... and what is collected at all" exits 0 evspace run --json \
	--pathmap "$bed_dir/maps" -- mpirun -np 2 "$apps/calls"
tap_case "... that" says err '"p2p":\{"events":[1-9]'
tap_case "... and nothing else" says err '"wait":\{"events":0,.*"completion":\{"events":0,'
tap_case "--no-summary" exits 0 evspace run --no-summary -- mpirun -np 2 "$apps/calls"
tap_case "... says nothing" silent err
tap_case "threads beyond the reserve" exits 0 \
	evspace run --threads 1 -- mpirun -np 1 "$apps/threads" --threads 3 --rounds 10
tap_case "... are counted as lost, with the remedy" says err 'lost +[0-9,]+ events.*raise --threads'
tap_case "a program that dies in an operation" exits 3 \
	evspace run -- mpirun -np 3 "$apps/stuck" --seconds 1 --then-exit
tap_case "... says in what threads were at the end" says err 'at the end +rank[01]/t0 inside MPI_Barrier for [0-9.]+ s'
tap_case "... and who died first, and where" says err 'died +rank 2 on .*, it seems first; then 2 more$'
tap_case "... and the slowest operations" says err 'slowest +rank[0-2]/t0 MPI_'
tap_case "... and what collecting cost" says err 'cost +([0-9]+ ns an event, (under )?[0-9.]+ %|not known: of so few events none was timed)'
tap_case "... and who died first, as JSON" eval 'exits 3 evspace run --json -- mpirun -np 3 "$apps/stuck" --seconds 1 --then-exit && says err "\"died_first\":{\"rank\":2,\"host\":\"[^\"]+\",\"signal\":null}"'
tap_case "... and no signal that ended it all" says err '"exit":3,"signal":null,'
tap_case "a script of two programs" exits 0 evspace run -- sh -c \
	"mpirun -np 2 $apps/calls; mpirun -np 1 $apps/calls"
tap_case "... is summed up whole" says err '3 of 3 processes in 2 MPI programs collected'
tap_case "all elements are removed at the end" nothing_left

# --- what cannot be collected ---

tap_case "a program without MPI runs" exits 0 evspace run -- mpirun -np 2 echo fine
tap_case "... as ever" says out '^fine$'
tap_case "... and the note says why it is not collected" says err 'echo is no MPI or PVM program'
tap_case "the note comes also with --no-summary" exits 0 evspace run --no-summary -- true
tap_case "... on stderr" says err 'no process was collected'
echo 'int main(void) { return 0; }' >"$tap_dir/static.c"
if gcc -static -o "$tap_dir/static" "$tap_dir/static.c" 2>/dev/null; then
	tap_case "a static program runs" exits 0 evspace run -- "$tap_dir/static"
	tap_case "... and the note says that it is one" says err 'statically linked'
else
	tap_skip "a static program runs" "no static libc"
fi
tap_case "a quota that is used up" exits 0 evspace run --quota 64K --keep --run poor -- \
	mpirun -np 2 "$apps/calls"
tap_case "... leaves the program unharmed" says out 'all results are right'
tap_case "... and the summary says why" says err 'rank 1 .* the quota of .* is used up: .*--quota'
tap_case "runs lists it" exits 0 evspace runs
tap_case "... with the reason" says out 'quota .* is used up'
tap_case "... as refused" is_state poor refused
tap_case "purge removes it" exits 0 evspace purge poor

# A program of one process whose elements stay: keeps RUN QUOTA.
keeps() {
	exits 0 evspace run --quota "$2" --capacity 1000 --keep --run "$1" -- mpirun -np 1 "$apps/calls"
}
# Room for two such runs, and a half.
makes_way() {
	local bytes

	evspace purge --all && keeps first 1G || return
	bytes=$(evspace runs --json | sed -n 's/.*"run":"first".*"bytes":\([0-9]*\).*/\1/p')
	bytes=$((bytes * 5 / 2))
	keeps second "$bytes" && ! grep 'had ended were removed' "$tap_dir/err" || return
	keeps third "$bytes" && says err 'note .*the oldest runs that had ended were removed' || return
	is_state second finished && is_state third finished && ! is_state first finished
}
tap_case "ended runs make way for the next program" makes_way
tap_case "... the oldest, which is gone" exits 1 evspace purge first
tap_case "... and no more" exits 0 evspace purge second third

# In a file system of @1 bytes.
small() {
	local size=$1

	shift
	mkdir -p "$tap_dir/small"
	unshare -m sh -c 'mount -t tmpfs -o size="$1" none "$2" && EVSPACE_DIR=$2/base &&
		export EVSPACE_DIR && shift 2 && "$@"' small "$size" "$tap_dir/small" "$@"
}

if small 64k true 2>/dev/null; then
	export -f small
	export tap_dir
	tap_case "shared memory that is full" exits 0 bash -c 'small "$@"' full 64k \
		evspace run --quota 1G -- mpirun -np 2 "$apps/calls"
	tap_case "... leaves the program unharmed" says out 'all results are right'
	tap_case "... and the summary says why" says err 'rank 1 .* no room left in .*EVSPACE_DIR'
	# With an agent, which has them mapped.
	cat >"$tap_dir/fills" <<-'END'
		evspace agent 2>/dev/null &
		for run in 1 2 3 4; do
			evspace run --quota 1G --capacity 2000 --threads 2 --keep --run "fill$run" -- \
				mpirun -np 1 "$1" 2>&1 || exit
		done
		evspace runs
		kill $!
		wait $!
	END
	tap_case "ended runs make way in shared memory that is full" exits 0 bash -c 'small "$@"' full 3500k \
		bash "$tap_dir/fills" "$apps/calls"
	tap_case "... also for one more" says out '^fill4 .* finished'
	tap_case "... which is said" says out 'note .*the oldest runs that had ended were removed'
else
	tap_skip "shared memory that is full" "needs to mount a tmpfs"
fi
tap_case "a base that cannot be made" exits 0 env EVSPACE_DIR=/proc/nowhere \
	evspace run -- mpirun -np 2 "$apps/calls"
tap_case "... leaves the program unharmed" says out 'all results are right'
tap_case "... and the summary says why" says err 'cannot make the folder /proc/nowhere'

# --- launchers ---

# A stand-in for mpirun that says what it is given.
mkdir "$tap_dir/bin"
cat >"$tap_dir/bin/mpirun" <<'END'
#!/bin/sh
[ "$1" = --version ] && echo 'mpirun (Open MPI) 4.1.4' && exit
echo "preload=$LD_PRELOAD list=$OMPI_MCA_mca_base_env_list"
for word; do printf '[%s] ' "$word"; done
echo
END
chmod +x "$tap_dir/bin/mpirun"
# forwards REGEX [VARIABLE=VALUE...] -- WORD...: what mpirun gets matches.
forwards() {
	local regex=$1 variables=()

	shift
	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	exits 0 env PATH="$tap_dir/bin:$PATH" "${variables[@]}" evspace run --run it "$@" && says out "$regex"
}

lib='[^ ]*/libevspace-mpi\.so:[^ ]*/libevspace-pvm\.so'
tap_case "mpirun forwards the collector, itself undisturbed" \
	forwards '^preload= ' -- mpirun -np 2 app
tap_case "... by options in front of the user's" \
	forwards "^\[-x\] \[LD_PRELOAD=$lib\] .*\[-x\] \[EVSPACE_RUN\] \[-np\] \[2\] \[app\]" -- \
	mpirun -np 2 app
tap_case "... in each part of the command line" forwards \
	"\[a\] \[:\] \[-x\] \[LD_PRELOAD=$lib\] .*\[-np\] \[1\] \[b\]" -- \
	mpirun -np 1 a : -np 1 b
tap_case "a preloaded library of the user's stays" forwards \
	"\[-x\] \[LD_PRELOAD=$lib:mine\.so\]" LD_PRELOAD= -- mpirun -x LD_PRELOAD=mine.so app
tap_case "... also from the environment" forwards \
	"\[-x\] \[LD_PRELOAD=$lib:libm\.so\.6\] " LD_PRELOAD=libm.so.6 -- mpirun -x LD_PRELOAD app
tap_case "what the user forwards is forwarded once" forwards \
	'^(\[[^]]*\] )*\[-x\] \[EVSPACE_DIR\] \[app\] $' -- mpirun -x EVSPACE_DIR app
tap_case "mca_base_env_list is made longer: options" forwards \
	"^\[--mca\] \[mca_base_env_list\] \[A=1;LD_PRELOAD=$lib;.*EVSPACE_RUN.*\] \[app\] $" -- \
	mpirun --mca mca_base_env_list 'A=1' app
tap_case "mca_base_env_list is made longer: variable" forwards \
	"list=A=1;LD_PRELOAD=$lib;.*EVSPACE_RUN" OMPI_MCA_mca_base_env_list=A=1 -- mpirun app
tap_case "real mpirun takes that" exits 0 env OMPI_MCA_mca_base_env_list=A=1 \
	evspace run -- mpirun -np 2 "$apps/calls"
tap_case "... and its ranks are collected" says err '2 of 2 processes collected'
tap_case "several programs in one job" exits 0 evspace run -- \
	mpirun -np 1 "$apps/calls" : -np 2 "$apps/calls"
tap_case "... are collected" says err '3 of 3 processes collected'

# A stand-in for ssh to a host with an environment and a shared memory of its own.
cat >"$tap_dir/bin/login" <<'END'
#!/bin/sh
host=$1
shift
exec unshare -m -u sh -c 'hostname "$1" && mount -t tmpfs none "$2" && shift 2 && exec env -i \
	PATH="$PATH" HOME="$HOME" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -c "$*"' \
	login "$host" "$EVSPACE_DIR" "$@"
END
chmod +x "$tap_dir/bin/login"
if unshare -m -u true 2>/dev/null; then
	tap_case "ranks on another host run" exits 0 env \
		OMPI_MCA_plm_rsh_agent="$tap_dir/bin/login" \
		evspace run --keep --run two -- mpirun -host "$here:1,elsewhere:1" -np 2 sh -c \
		"echo on \$(hostname) by \$LD_PRELOAD in \$EVSPACE_RUN; exec $apps/windtunnel --steps 20"
	tap_case "... with the collector" says out "^on elsewhere by $lib in two"
	tap_case "... and are named as not seen here" says err '1 of 2 processes collected'
	tap_case "... by rank" says err 'not here +rank 1:'
	tap_case "... and by host" says err 'other hosts elsewhere'
	tap_case "the rank on this host is seen" exits 0 evspace purge two
	# With agents: b0's has seen nothing of it, b1's does not run.
	asks_agents() {
		bed_agents front || return
		EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) bed_agents b0 &&
			bed_until eval 'evspace runs --connect "$bed_entry" 2>&1 | grep "b1 is" &&
				! evspace runs --connect "$bed_entry" 2>&1 | grep "b0 is"' &&
			exits 0 env OMPI_MCA_plm_rsh_agent="$tap_dir/bin/login" evspace run --run three -- \
				mpirun -host "$here:1,b0:1,b1:1" -np 3 "$apps/windtunnel" --steps 20
		local status=$?
		bed_kill TERM b0
		bed_kill TERM front
		return "$status"
	}
	tap_case "with an entry agent, those of other hosts are asked" asks_agents
	tap_case "... a host that has collected nothing is named" says err 'other host +b0: none collected'
	tap_case "... and one without agent" says err 'other host +b1: its agent is not there: .'
	tap_case "... purged" exits 0 evspace purge three
	# Over two hosts Open MPI 4.1.4 makes no window by its component ucx, collectors or not.
	tap_case "every call between hosts, all results are right" exits 0 env \
		OMPI_MCA_plm_rsh_agent="$tap_dir/bin/login" OMPI_MCA_osc=^ucx \
		evspace run --run across -- mpirun -host "$here:2,elsewhere:2" -np 4 "$apps/calls"
	tap_case "... collected" says err '2 of 4 processes collected'
else
	tap_skip "ranks on another host run" "needs namespaces"
fi

# --- names ---

tap_case "--keep" exits 0 evspace run --run kept --keep -- mpirun -np 2 "$apps/calls"
tap_case "... keeps" is_state kept finished
tap_case "the same name again" exits 0 evspace run --run kept --keep -- mpirun -np 1 "$apps/calls"
tap_case "... replaces" says err 'removed what an ended run named kept left'
tap_case "... all of it" test "$(segments)" -eq 1
tap_case "exec under mpirun" exits 0 mpirun -np 3 evspace exec "$apps/calls"
one_job() {
	evspace runs --json | grep -q '"run":"run-[^"]*".*"processes":3,.*"world":3'
}
tap_case "... makes one run of the job" one_job
tap_case "exec --run" exits 0 mpirun -np 2 evspace exec --run mine "$apps/calls"
tap_case "... names it" is_state mine finished
tap_case "exec of a program that is not there: 125" exits 125 evspace exec "$tap_dir/nowhere"
tap_case "exec without program: 2" exits 2 evspace exec

# --- living runs ---

bed_start living evspace run --run living -- mpirun -np 2 "$apps/stuck" --seconds 100000
bed_until has_segments 8 # with the 6 of the runs before
bed_until are_stuck living
tap_case "a living run is listed" is_state living running
tap_case "its name cannot be had" exits 125 evspace run --run living -- true
tap_case "... with the remedy" says err 'another --run NAME'
tap_case "purge spares it" exits 1 evspace purge living
tap_case "... with the reason" says err '2 of its processes are living.*--force'
tap_case "purge of a run that is not there" exits 1 evspace purge nowhere
tap_case "... lists those that are" says err 'there are .*kept.*living'
tap_case "purge --older-than spares the young" exits 0 evspace purge --all --older-than 1h
tap_case "... with the reason" says err 'kept stays: first seen ended'
tap_case "purge wants a name" exits 2 evspace purge
tap_case "purge --all" exits 0 evspace purge --json --all
tap_case "... takes those that are over" says out '"removed":\[("[a-z0-9-]*",?){3}\]'
tap_case "... not the living" is_state living running
tap_case "SIGTERM is passed on" bed_kill TERM living
bed_wait living
tap_case "... and the program's end is ours" bed_ended living 1
tap_case "... with a summary" grep -q 'at the end  *rank0/t0 inside MPI_Barrier' "$bed_dir/living.err"
tap_case "... of which nobody died first" eval '! grep "^  died" "$bed_dir/living.err"'
bed_start killed evspace run --run killed -- mpirun -np 2 "$apps/stuck" --seconds 100000
bed_until has_segments 2
bed_until sh -c '! evspace runs --json | grep -q "\"events\":0,"'
tap_case "kill -9 of evspace run" bed_kill KILL killed
tap_case "... disturbs nobody" is_state killed running
orphans=$(ls "$EVSPACE_DIR/killed" | sed -n 's/^rank[0-9]*\.\([0-9]*\)\.seg$/\1/p')
tap_case "purge --force takes the living, too" exits 0 evspace purge --force killed
tap_case "... whose programs go on" kill -0 $orphans
kill $orphans
for pid in $orphans; do
	bed_until bed_gone "$pid"
done
tap_case "nothing is left" nothing_left

# ctrl_c: on a terminal, whose ^C goes to evspace and mpirun at once.
ctrl_c() {
	mkfifo "$tap_dir/keys"
	timeout -k 5 180 script -qec "evspace run --json --run typed -- mpirun -np 2 $apps/stuck --seconds 600" \
		/dev/null <"$tap_dir/keys" >"$tap_dir/screen" &
	exec 3>"$tap_dir/keys"
	bed_until has_segments 2 && bed_until grep -q sleeps "$tap_dir/screen" && bed_until are_stuck typed || return
	printf '\003' >&3
	wait $!
	echo "exit code $?"
	cat "$tap_dir/screen"
	grep -q '"stuck":\[{"name":"rank0/t0","op":"MPI_Barrier".*"died_first":null' "$tap_dir/screen" &&
		! grep -q 'abort is already in progress' "$tap_dir/screen"
}

if command -v script >/dev/null; then
	tap_case "Ctrl-C once ends mpirun its own way" ctrl_c
else
	tap_skip "Ctrl-C once ends mpirun its own way" "no script(1)"
fi
tap_case "nothing is left after Ctrl-C" nothing_left

# --- with an agent ---

bed_start agent env -u EVSPACE_TLS evspace agent
bed_until grep -q 'ready on' "$bed_dir/agent.err"
tap_case "while an agent serves" exits 0 evspace run --run served -- mpirun -np 2 "$apps/calls"
tap_case "... the elements are kept" says err 'kept: the agent holds them'
tap_case "... and there" is_state served finished
tap_case "... until they are purged" exits 0 evspace purge served
tap_case "a program that is none" exits 0 evspace run --run none -- true
tap_case "... leaves no folder" eval '[ ! -e "$EVSPACE_DIR/none" ]'
bed_kill TERM agent

tap_done
