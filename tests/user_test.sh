# SPDX-License-Identifier: BSD-3-Clause
# Tests evspace.h and evspace.f90: nothing is linked, nothing happens without a collector and it
# costs nothing, and with one regions, phases and iterations are on record.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

lib=$EVSPACE_LIBDIR/libevspace-mpi.so
dump=$top_builddir/tests/segdump
source=$top_srcdir/tests/user/regions
strict="-O2 -Wall -Wextra -pedantic -Werror -I$top_srcdir"

EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR EVSPACE_RUN=run
unset EVSPACE_MODES EVSPACE_ELEMENTS EVSPACE_CAPACITY EVSPACE_THREADS
own_dir=$EVSPACE_DIR
tap_cleanup() {
	bed_end
	rm -rf "$own_dir"
}

# alone NAME COMPILER...: compile without MPI or any library, run, nothing is left.
alone() {
	local program=$tap_dir/$1

	shift
	# shellcheck disable=SC2086 # its words are options
	"$@" $strict -DALONE -pthread -o "$program" || return
	[ "$("$program")" = "regions: fine" ] && [ -z "$(ls "$EVSPACE_DIR")" ] || return
	# a collector in a program without MPI
	[ "$(LD_PRELOAD=$lib "$program")" = "regions: fine" ] && [ -z "$(ls "$EVSPACE_DIR")" ]
}

tap_case "C11, position independent" alone pie gcc -std=c11 -D_GNU_SOURCE -fPIE -pie "$source.c"
tap_case "C11, not position independent" alone nopie gcc -std=c11 -D_GNU_SOURCE -fno-pie -no-pie "$source.c"
if command -v g++ >/dev/null; then
	tap_case "C++" alone cxx g++ -std=c++11 -x c++ "$source.c"
else
	tap_skip "C++" "g++ is missing (Debian package g++)"
fi

# Under 2 ns, or where that is less than six times around an empty loop, under that. The program takes the best of
# several rounds; all of them may have been disturbed.
cheap() {
	local try ns

	for try in 1 2 3; do
		ns=$("$tap_dir/$1" --cost)
		awk -v ns="$ns" 'BEGIN { split(ns, is); exit !(is[1] < 2 || is[1] < 6 * is[2]) }' &&
			{ echo "# $ns ns" >>"$tap_dir/costs"; return; }
	done
	echo "$ns ns a call, and around an empty loop"
	return 1
}

tap_case "a call costs less than 2 ns when nobody collects" cheap pie
tap_case "the same, not position independent" cheap nopie
cat "$tap_dir/costs" 2>/dev/null

# said FILE: operation, label or number, times.
said() {
	"$dump" "$EVSPACE_DIR/run" --tuples | grep '"channel":"user"' |
		sed 's/.*"thread":\([0-9]*\),.*"op":"\([^"]*\)".*"tag":\([0-9]*\),.*/\1 \2 \3/' | sort | uniq -c |
		sed 's/^ *//'
}

# FNV-1a, as labels are numbered: the same in all processes.
label() {
	local i hash=2166136261

	for ((i = 0; i < ${#1}; i++)); do
		hash=$(((hash ^ $(printf '%d' "'${1:i:1}")) * 16777619 % 4294967296))
	done
	echo "$hash"
}

first_thread() {
	printf '5 0 evspace_region %s\n' "$(label exchange)"
	printf '1 0 evspace_phase %s\n' "$(label setup)" "$(label solve)"
	printf '1 0 evspace_iteration %s\n' 0 1 2 3 4
	printf '1 0 evspace_state %s\n' 0 1 2 3 4
}

in_c() {
	printf '5 0 evspace_region %s\n' "$(label one)"
	printf '5 1 evspace_region %s\n' "$(label other)"
	printf '1 %s\n' "0 evspace_region $(label thread)" "1 evspace_region $(label thread)"
}

recorded() {
	local wanted=$1

	shift
	rm -rf "$EVSPACE_DIR/run"
	[ "$(LD_PRELOAD=$lib "$@")" = "regions: fine" ] || return
	diff <("$wanted" | sort) <(said | sort)
}

with_threads() {
	first_thread
	in_c
}

mpi_program() {
	# shellcheck disable=SC2086
	mpicc -O2 -I"$top_srcdir" -pthread -o "$tap_dir/mpi" "$source.c" && recorded with_threads "$tap_dir/mpi"
}

tap_case "an MPI program: everything is on record, nested, by two threads" mpi_program

counted() {
	local EVSPACE_MODES=user=count

	export EVSPACE_MODES
	rm -rf "$EVSPACE_DIR/run"
	[ "$(LD_PRELOAD=$lib "$tap_dir/mpi")" = "regions: fine" ] && [ -z "$(said)" ]
}

tap_case "in mode count: nothing but counts" counted

fortran_program() {
	(cd "$tap_dir" && mpifort.openmpi -O1 -o fortran "$top_srcdir/node-agent/collect/core/evspace.f90" "$source.F90") &&
		[ "$("$tap_dir/fortran")" = "regions: fine" ] && recorded first_thread "$tap_dir/fortran"
}

if command -v mpifort.openmpi >/dev/null; then
	tap_case "a Fortran program: the same" fortran_program
else
	tap_skip "a Fortran program: the same" "mpifort.openmpi is missing (Debian packages gfortran libopenmpi-dev)"
fi
# Consumers learn the names from the agents.
named() {
	evspace run --run user -- mpirun -np 4 "$tap_dir/mpi" >/dev/null || return
	evspace events --connect "$bed_entry" --run user --backlog --until-end --select '/**/user' "$@" \
		>"$tap_dir/events" 2>"$tap_dir/events.err" || { cat "$tap_dir/events.err"; return 1; }
}

in_words() {
	named && [ "$(grep -c 'evspace_region "exchange"' "$tap_dir/events")" -eq 20 ] &&
		[ "$(grep -c 'evspace_phase "solve"' "$tap_dir/events")" -eq 4 ] &&
		[ "$(grep -c 'evspace_iteration 4$' "$tap_dir/events")" -eq 4 ] ||
		{ head -n 20 "$tap_dir/events"; return 1; }
}

bed_begin
bed_agents front ga a0 a1 b0 b1 || exit 99
tap_case "events says regions and phases by their names" in_words

# A program that adapts is told the budget of who looks, and what was read of it.
adapts() {
	# shellcheck disable=SC2086
	mpicc $strict -o "$tap_dir/adapts" "$top_srcdir/tests/user/adapts.c" || return
	bed_start adapts evspace run --run adapts -- mpirun -np 4 "$tap_dir/adapts" 60
	bed_start looks evspace events --connect "$bed_entry" --run adapts --identity control --wait --budget 1% --duration 1m --json
	bed_wait adapts
	bed_kill INT looks
	bed_wait looks
	grep -q '^budget 1 %, slowdown .* looks a second, said just now; collectives: trace$' "$bed_dir/adapts.out" &&
		grep -q '^view events: MPI_Allreduce 8 bytes each, some time$' "$bed_dir/adapts.out" &&
		grep -q '^adapts: told both, [0-9]* units' "$bed_dir/adapts.out" || { cat "$bed_dir"/adapts.* "$bed_dir/looks.err"; return 1; }
}

# Who may only observe tells it nothing by looking.
observed() {
	bed_start observed evspace run --run observed -- mpirun -np 4 "$tap_dir/adapts" 2 --stay
	bed_start looks evspace events --connect "$bed_entry" --run observed --identity observe --wait --until-end --json
	bed_wait observed
	bed_wait looks
	[ "$(grep -c '"op":"MPI_Allreduce"' "$bed_dir/looks.out")" -gt 10 ] && grep -q '^adapts: told nothing' "$bed_dir/observed.out" ||
		{ cat "$bed_dir"/observed.* "$bed_dir/looks.err"; return 1; }
}

# Garbage where agents write changes nothing but what it is told.
garbage() {
	local file n=0

	bed_start garbage evspace run --run garbage -- mpirun -np 1 "$tap_dir/adapts" 3 --stay
	bed_until eval '[ -n "$(ls "$EVSPACE_DIR"/garbage/rank0.*.seg)" ]' || return
	file=$(ls "$EVSPACE_DIR"/garbage/rank0.*.seg)
	while ! grep -q '^adapts' "$bed_dir/garbage.out"; do
		dd if=/dev/urandom of="$file" bs=4096 count=1 seek=$(($(stat -c %s "$file") / 4096 - 1)) conv=notrunc 2>/dev/null
		n=$((n + 1))
	done
	bed_wait garbage
	bed_ended garbage 0 && [ "$n" -gt 10 ] && grep -q '^adapts: told nothing' "$bed_dir/garbage.out" || { cat "$bed_dir"/garbage.*; return 1; }
}

tap_case "a program that adapts is told a budget, what it costs, and its own figures" adapts
tap_case "who may only observe tells it nothing" observed
tap_case "garbage on the page that it is told by does no harm" garbage
tap_done
