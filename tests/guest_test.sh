# SPDX-License-Identifier: BSD-3-Clause
# Tests what programs do to their guest, and what keeps it out: the program is as without us, and status says why.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

guest=$top_builddir/tests/apps/guest
lib=$EVSPACE_LIBDIR/libevspace-mpi.so
pids=()

tap_cleanup() {
	[ ${#pids[@]} -eq 0 ] || kill -TERM "${pids[@]}" 2>/dev/null
	wait
	umount "$tap_dir/small" "$tap_dir/few" 2>/dev/null
	rm -rf "$space" "$signs"
}

space=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
# Other users look for files here.
signs=$(mktemp -d "${TMPDIR:-/tmp}/evspace-signs.XXXXXX") && chmod 755 "$signs" || exit 99
export EVSPACE_DIR=$space
unset EVSPACE_RUN EVSPACE_CAPACITY EVSPACE_THREADS EVSPACE_QUOTA EVSPACE_MODES

# agent NAME: an agent of $EVSPACE_DIR.
agent() {
	evspace agent --node "$1" 2>"$tap_dir/$1.err" &
	pids+=($!)
	bed_until grep -q 'ready on' "$tap_dir/$1.err"
}

# plain, collected COMMAND...: output and exit code, without and with us.
plain() {
	timeout -k 5 120 "$@" >"$tap_dir/plain" 2>"$tap_dir/plain.err" </dev/null
	echo "exit code $?" >>"$tap_dir/plain"
	# Whose line comes first is the launcher's business.
	sort -o "$tap_dir/plain" "$tap_dir/plain"
}

collected() {
	timeout -k 5 120 evspace run --run guest --keep --json --summary "$tap_dir/summary" "$@" \
		>"$tap_dir/collected" 2>"$tap_dir/collected.err" </dev/null
	echo "exit code $?" >>"$tap_dir/collected"
	sort -o "$tap_dir/collected" "$tap_dir/collected"
}

# same COMMAND...: nothing that it does tells whether it is collected. Both run at the same time.
same() {
	plain "$@" &
	collected -- "$@"
	wait $!
	grep -q '^guest: [0-9]' "$tap_dir/plain" || { cat "$tap_dir/plain" "$tap_dir/plain.err"; return 1; }
	diff "$tap_dir/plain" "$tap_dir/collected" || { cat "$tap_dir/collected.err"; return 1; }
}

summary_has() {
	grep -q -e "$1" "$tap_dir/summary" || { cat "$tap_dir/summary"; return 1; }
}

# --- bad deeds ---

# Tuples of whole operations only, in order; a call from a handler within another one is none.
untorn() {
	"$top_builddir/tests/segdump" "$space/guest" --tuples >"$tap_dir/tuples" || return
	sed -n 's/.*"op":"\([^"]*\)","start":\([0-9]*\),"end":\([0-9]*\),.*/\1 \2 \3/p' "$tap_dir/tuples" |
		awk '$1 !~ /^MPI_(Init|Finalize|Test|Sendrecv|Allreduce)$/ || $2 == 0 || $3 < $2 { print; bad = 1 }
			END { exit bad || NR < 400 }'
}

# blames CALL: what MPI complains of.
blames() {
	grep -q "$1() function was called after MPI_FINALIZE" "$tap_dir/collected.err" || { cat "$tap_dir/collected.err"; return 1; }
}

for deed in nothing close fork exec "fork --late" "exec --late" "user --late" "chroot --late" "signal --late" \
	late jump nest; do
	read -r -a options <<<"$deed"
	case $deed in
	user* | chroot*)
		if [ "$(id -u)" -ne 0 ]; then
			tap_skip "$deed" "only root may"
			continue
		fi
		;;
	esac
	tap_case "$deed: the program is as without us" \
		same mpirun -np 2 "$guest" --code 3 --do "${options[@]}"
	tap_case "$deed: it is collected, whole" summary_has '"class":"collective@world".*"calls":400,'
	case $deed in
	signal*) tap_case "calls from signal handlers: no tuple is torn" untorn ;;
	late) tap_case "late: MPI names the call that the program has made" blames MPI_Send ;;
	jump)
		if [ "$(uname -m)" = x86_64 ]; then
			tap_case "jump: what is left is counted" summary_has '"inside":0,"left":400,'
		else
			tap_skip "jump: what is left is counted" "where on the stack a call came from is not enough"
		fi
		tap_case "jump: nobody is stuck in what was left" \
			eval '! summary_has "\"stuck\":[^]]*MPI_Send" >"$tap_dir/stuck"'
		tap_case "jump: it is said" summary_has 'calls that an exception or longjmp has left are not recorded'
		;;
	nest)
		tap_case "nest: what is not recorded is counted" summary_has '"inside":400,"left":0,'
		tap_case "nest: it is said" summary_has 'calls within other calls .* are not recorded'
		;;
	*) tap_case "$deed: all calls are recorded" summary_has '"inside":0,"left":0,' ;;
	esac
done

# --- why it is not collected ---

# alone OPTION...: a program that is there until $signs/go is, started without evspace run.
alone() {
	rm -f "$signs/go" "$tap_dir/alone"
	{
		EVSPACE_RUN=alone LD_PRELOAD=$lib timeout -k 5 300 "$guest" --code 3 --until "$signs/go" "$@" \
			>"$tap_dir/alone" 2>"$tap_dir/alone.err" </dev/null
		echo "exit code $?" >>"$tap_dir/alone"
	} &
	bed_until grep -q '^guest: [0-9]' "$tap_dir/alone"
}

# goes_on: it ends as it does without us.
goes_on() {
	touch "$signs/go"
	bed_until grep -q '^exit code' "$tap_dir/alone"
	[ -s "$tap_dir/plain.alone" ] || { plain "$guest" --code 3 && cp "$tap_dir/plain" "$tap_dir/plain.alone"; }
	sort "$tap_dir/alone" | diff "$tap_dir/plain.alone" -
}

status_has() {
	evspace status >"$tap_dir/status" 2>&1 && grep -q -e "^not collected: .*$1" "$tap_dir/status"
}

# status_says TEXT: of what is not collected. The program may be on its way to MPI_Init.
status_says() {
	bed_until status_has "$1" || { cat "$tap_dir/status"; return 1; }
}

agent whole
alone
tap_case "a collected program is not said to be missing" \
	eval 'evspace status | tee "$tap_dir/status" | grep -q "^alone .*running" && ! grep "^not collected" "$tap_dir/status"'
tap_case "it ends as without us" goes_on

# It goes on to write where its file has no more room.
rm -rf "$space/alone"
alone
truncate -s 4096 "$space"/alone/rank0.*.seg
tap_case "its file is cut short: the program is as without us" goes_on
tap_case "its file is cut short: status says so" status_says "its file in $space was cut short"

# Open MPI's own handler is not to be there: where a signal comes in between, it may wait for ever.
ends_by() {
	kill "-$1" "$(basename "$space"/alone/rank0.*.seg .seg | cut -d. -f2)"
	bed_until grep -q '^exit code' "$tap_dir/alone" && grep -q "^exit code $2\$" "$tap_dir/alone"
}
rm -rf "$space/alone"
OMPI_MCA_opal_signal=6 alone
tap_case "a signal that was sent ends it as without us" ends_by BUS 135
rm -rf "$space/alone"

# passes_by: a program that finds its MPI by itself, there until $signs/go is.
passes_by() {
	cat >"$tap_dir/past.c" <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		#include <unistd.h>

		int main(int argc, char **argv)
		{
			void *mpi = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
			int (*init)(int *, char ***), (*finalize)(void);

			if (!mpi || argc < 2)
				return 2;
			*(void **)&init = dlsym(mpi, "MPI_Init");
			*(void **)&finalize = dlsym(mpi, "MPI_Finalize");
			init(NULL, NULL);
			puts("past: ready");
			fflush(stdout);
			while (access(argv[1], F_OK))
				usleep(10000);
			return finalize();
		}
	END
	cc -o "$tap_dir/past" "$tap_dir/past.c" -ldl || return
	rm -f "$signs/go"
	EVSPACE_RUN=past LD_PRELOAD=$lib timeout -k 5 300 "$tap_dir/past" "$signs/go" >"$tap_dir/past.out" 2>&1 </dev/null &
	bed_until grep -q '^past: ready' "$tap_dir/past.out" || { cat "$tap_dir/past.out"; return 1; }
	status_says "run past: .* found by dlsym(3) or bound with RTLD_DEEPBIND"
}
tap_case "a program that finds MPI by dlsym: status says why nothing is seen" passes_by
touch "$signs/go"
if [ "$(id -u)" -eq 0 ]; then
	alone --do user
	tap_case "another user: status says so" status_says "runs as user 65534, and $space is of user 0 alone"
	tap_case "another user: the program is as without us" goes_on
fi

if [ "$(id -u)" -eq 0 ]; then
	rm -rf "$space/alone"
	mkdir "$space/alone" && chown 65534 "$space/alone"
	alone
	tap_case "a folder of somebody else: status says so" status_says "alone belongs to another user"
	tap_case "a folder of somebody else: the program is as without us" goes_on
	rm -rf "$space/alone"
fi

EVSPACE_DIR=/proc/nowhere
tap_case "a folder that cannot be made: the program is as without us" same mpirun -np 2 "$guest" --code 3
tap_case "a folder that cannot be made: the summary says so" summary_has '"why_none":"[^"]*/proc/nowhere'
EVSPACE_DIR=$space

if mkdir "$tap_dir/small" "$tap_dir/few" && mount -t tmpfs -o size=64k,mode=700 none "$tap_dir/small" 2>/dev/null &&
	mount -t tmpfs -o nr_inodes=4,mode=700 none "$tap_dir/few" 2>/dev/null; then
	EVSPACE_DIR=$tap_dir/small
	agent small
	alone
	tap_case "too small: status says so" status_says "no room left in $tap_dir/small"
	tap_case "too small: the program is as without us" goes_on
	tap_case "too small: so it is under run" same mpirun -np 2 "$guest" --code 3
	tap_case "too small: the summary says so" summary_has 'rank 0 [^"]*no room left'
	head -c 1M /dev/zero >"$tap_dir/small/full" 2>/dev/null
	alone
	tap_case "full: status says so" status_says "no room left in $tap_dir/small"
	tap_case "full: the program is as without us" goes_on
	# Not even an empty file can be made: root folder, socket, two more.
	EVSPACE_DIR=$tap_dir/few
	agent few
	mkdir -m 700 "$EVSPACE_DIR/alone" && touch "$EVSPACE_DIR/1" "$EVSPACE_DIR/2" 2>/dev/null
	alone
	tap_case "no file fits: status says so" status_says "no room is left in $tap_dir/few"
	tap_case "no file fits: the program is as without us" goes_on
	EVSPACE_DIR=$space
else
	tap_skip "too small" "mount(8) is not allowed here"
fi
tap_done
