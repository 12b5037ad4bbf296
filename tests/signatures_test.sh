# SPDX-License-Identifier: BSD-3-Clause
# Tests that events of collectives say root, reduction, datatype and how large the communicator is.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
bed_agents front ga a0 a1 b0 b1

# The program of roots, reductions and types that differ, each call by all ranks.
collected() {
	evspace run --keep --run run -- mpirun --oversubscribe -np 2 "$top_builddir/tests/apps/signatures" \
		>"$tap_dir/out" 2>"$tap_dir/err" &&
		timeout 60 evspace events --connect "$bed_entry" --backlog --until-end --run run --json \
			>"$tap_dir/json" 2>>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}

# says N OP FIELDS: so many events of the operation have these fields at their end.
says() {
	local n

	n=$(grep "\"op\":\"$2\"" "$tap_dir/json" | grep -cF "$3")
	[ "$n" -eq "$1" ] || { echo "$n, not $1, have $3"; grep "\"op\":\"$2\"" "$tap_dir/json"; return 1; }
}

tap_case "a program is collected" collected
tap_case "a barrier says nothing but how many" \
	says 2 MPI_Barrier '"root":null,"reduction":null,"datatype":null,"datatype_bytes":null,"comm_size":2'
tap_case "root and type" \
	says 2 MPI_Bcast '"root":1,"reduction":null,"datatype":"MPI_INT","datatype_bytes":4,"comm_size":2'
tap_case "root, reduction and type" \
	says 2 MPI_Reduce '"root":1,"reduction":"MPI_MAX","datatype":"MPI_DOUBLE","datatype_bytes":8,"comm_size":2'
tap_case "a reduction and a type of the program's own" \
	says 2 MPI_Allreduce '"root":null,"reduction":"own","datatype":"made","datatype_bytes":12,"comm_size":2'
tap_case "another reduction, after that" \
	says 2 MPI_Allreduce '"root":null,"reduction":"MPI_SUM","datatype":"MPI_FLOAT","datatype_bytes":4,"comm_size":2'
tap_case "in place: the other buffer's type" \
	says 2 MPI_Allgather '"root":null,"reduction":null,"datatype":"MPI_SHORT","datatype_bytes":2,"comm_size":2'
tap_case "a nonblocking one, and its completion" \
	says 4 MPI_Ireduce '"root":0,"reduction":"MPI_MIN","datatype":"MPI_LONG","datatype_bytes":8,"comm_size":2'
all_alike() {
	"$top_builddir/tests/json_rows" <"$tap_dir/json"
}

tap_case "all events have the same keys" all_alike
tap_case "no peer, neither of them nor of who waits for them" \
	says 2 MPI_Wait '"peer":null'
tap_done
