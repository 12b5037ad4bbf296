# SPDX-License-Identifier: BSD-3-Clause
# Of the collectives of one communicator in `evspace events --json`, all of one host: for each operation what evspace colop
# must say of it, and how often each rank came last where all wait for all; by the definitions, with all events at hand.

function field(name,   value)
{
	match($0, "\"" name "\":[^,}]*")
	value = substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
	gsub(/"/, "", value)
	return value
}

# Digits that do not change in a while are more than a number here can hold.
function time_of(name)
{
	return substr(field(name), 5) + 0
}

# When member k can go on, by the start of whom it waits for: rank 0 is the root of all.
function cause(o, seq, k, last,   i, at)
{
	if (o == "MPI_Barrier" || o == "MPI_Allreduce")
		return start[seq, last]
	for (i = 0; i < n[seq]; i++) {
		if (o == "MPI_Bcast" ? rank[seq, i] == 0 : rank[seq, i] != 0 && rank[seq, k] == 0)
			at = start[seq, i] > at ? start[seq, i] : at
	}
	return at
}

/"type":"tuple"/ && /\/collective"/ {
	seq = field("seq_or_tag")
	k = n[seq]++
	op[seq] = field("op")
	rank[seq, k] = field("rank")
	start[seq, k] = time_of("start_ns")
	end[seq, k] = time_of("end_ns")
}

END {
	for (seq in n) {
		first = last = 0
		left = end[seq, 0]
		for (k = 1; k < n[seq]; k++) {
			first = start[seq, k] < start[seq, first] ? k : first
			last = start[seq, k] > start[seq, last] ? k : last
			left = end[seq, k] > left ? end[seq, k] : left
		}
		o = op[seq]
		operations[o]++
		apart = start[seq, last] - start[seq, first]
		spread[o] += apart
		most[o] = apart > most[o] ? apart : most[o]
		inside[o] += left - start[seq, last]
		if (o == "MPI_Barrier" || o == "MPI_Allreduce")
			times[o " " rank[seq, last]]++
		for (k = 0; k < n[seq]; k++) {
			at = cause(o, seq, k, last)
			until = at < end[seq, k] ? at : end[seq, k]
			waited[o] += until > start[seq, k] ? until - start[seq, k] : 0
		}
	}
	for (o in operations)
		printf "class %s %d %.0f %.0f %.0f %.0f\n", o, operations[o], spread[o] / operations[o], most[o], waited[o],
			inside[o] / operations[o]
	for (who in times)
		printf "member %s %d\n", who, times[who]
}
