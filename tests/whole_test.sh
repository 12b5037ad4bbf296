# SPDX-License-Identifier: BSD-3-Clause
# Tests that the table of operations has all of MPI in it, and what one program's processes that come
# later are called.

. "$top_srcdir/tests/tap.sh"

apps=$top_builddir/tests/apps
lib=$EVSPACE_LIBDIR/libevspace-mpi.so
dump=$top_builddir/tests/segdump

export EVSPACE_DIR=$tap_dir/space EVSPACE_RUN=run EVSPACE_CAPACITY=50000
unset EVSPACE_THREADS EVSPACE_QUOTA EVSPACE_MODES

# --- every function of the standard is wrapped, or it is said why not ---

# declared MODULE: the functions that the mpi.h of this MPI (pkg-config's name of it) declares.
declared() {
	pkg-config --cflags "$1" | tr ' ' '\n' | sed -n 's/^-I//p' | sort -u | while read -r folder; do
		cat "$folder"/mpi.h "$folder"/mpi_proto.h "$folder"/mpio.h 2>/dev/null
	done | grep -oE '\bMPIX?_[A-Z][a-z][A-Za-z0-9_]*\(' | tr -d '(' | sort -u
}

# Those of the table, by all their names.
wrapped() {
	awk '$2 ~ /^MPI_/ {
		print $2
		for (i = 5; i <= NF && $i != "|"; i++) {
			if ($i == "large") print $2 "_c"
			if ($i ~ /^before=/) print substr($i, 8)
		}
	}' "$top_srcdir/tree/data/ops.tab" | sort -u
}

mapfile -t exempt < <(awk '!/^#/ && NF { print $1 }' "$top_srcdir/tests/exempt.tab")

is_exempt() {
	local pattern

	for pattern in "${exempt[@]}"; do
		case $1 in $pattern) return 0 ;; esac
	done
	return 1
}

all_are_known() {
	local name missing=0

	declared "$1" >"$tap_dir/declared"
	[ "$(wc -l <"$tap_dir/declared")" -gt 350 ] || { echo "no mpi.h of $1 was found"; return 1; }
	while read -r name; do
		is_exempt "$name" || { echo "$name: no row in tree/data/ops.tab, not in tests/exempt.tab"; missing=1; }
	done < <(comm -23 "$tap_dir/declared" <(wrapped))
	return $missing
}

# What is exempt is not wrapped as well.
exempt_or_wrapped() {
	local name bad=0

	while read -r name; do
		case $name in MPIX_*) continue ;; esac
		is_exempt "$name" && [ "$name" != MPI_Type_free ] && { echo "$name: wrapped and exempt"; bad=1; }
	done < <(wrapped)
	return $bad
}

tap_case "Open MPI: every function of its mpi.h has a row or is exempt" all_are_known ompi-c
if pkg-config --exists mpich; then
	tap_case "MPICH: every function of its mpi.h has a row or is exempt" all_are_known mpich
fi
tap_case "no function is both" exempt_or_wrapped

# --- processes that are spawned, and groups that meet ---

# The same counts, of parents and children, whose lines say so; of both groups.
counts_agree() {
	rm -rf "$EVSPACE_DIR"
	timeout -k 5 300 mpirun -np "$2" -x LD_PRELOAD="$lib" "$apps/$1" --json >"$tap_dir/out" || return
	diff <(grep '^{' "$tap_dir/out" | sed 's/,"polls":[0-9]*//' | grep -v '"calls":0,"bytes":0}' | sort) \
		<("$dump" "$EVSPACE_DIR/run" --counts | sort)
}

tap_case "spawn, 1 rank: parents and children, every count" counts_agree spawn 1
tap_case "spawn, 2 ranks: parents and children, every count" counts_agree spawn 2

# What both sides have in common has one id: broadcasts of 4 and of 2 ranks, so many communicators.
one_id() {
	local all=$1 pairs=$2

	"$dump" "$EVSPACE_DIR/run" --tuples | grep '"op":"MPI_Bcast"' |
		sed 's/.*"comm":\([0-9]*\),.*/\1/' | sort | uniq -c >"$tap_dir/ids"
	[ "$(grep -c '^ *4 ' "$tap_dir/ids")" -ge "$all" ] &&
		[ "$(grep -c '^ *2 ' "$tap_dir/ids")" -ge "$pairs" ] || { cat "$tap_dir/ids"; return 1; }
}

# Only a world was made of no other communicator.
only_worlds() {
	"$dump" "$EVSPACE_DIR/run" --comms | sed -n 's/.*"comm":\([0-9]*\),"parent":0,.*/\1/p' | sort -u >"$tap_dir/worlds"
	[ "$(wc -l <"$tap_dir/worlds")" -eq "$1" ] || { "$dump" "$EVSPACE_DIR/run" --comms; return 1; }
}

tap_case "spawn: nothing but the two worlds was made of nothing" only_worlds 2
tap_case "spawn: parents and children have one id for what connects them" one_id 1 0
tap_case "meet, 2 ranks: accept, connect, names and join, every count" counts_agree meet 2
tap_case "meet, 4 ranks: the same" counts_agree meet 4
tap_case "meet: both groups have one id for what connects them" one_id 2 1

joined_by_itself() {
	unset EVSPACE_RUN
	rm -rf "$EVSPACE_DIR"
	timeout -k 5 300 mpirun -np 2 -x LD_PRELOAD="$lib" "$apps/spawn" >/dev/null || return
	[ "$(ls "$EVSPACE_DIR" | wc -l)" -eq 1 ] && [ "$(ls "$EVSPACE_DIR"/*/ | grep -c 'seg$')" -eq 4 ] ||
		{ ls -R "$EVSPACE_DIR"; return 1; }
}

tap_case "spawn: children join their parents' run by themselves" eval '(joined_by_itself)'
tap_done
