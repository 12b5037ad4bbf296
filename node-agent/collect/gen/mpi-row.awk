# SPDX-License-Identifier: BSD-3-Clause
# Interprets a row of MPI (read by row.awk), for wrappers and doors alike.

# The datatype of the bytes if there is just one, else "".
function type_of(bytes,    part)
{
	return (bytes in trait) && trait[bytes] ~ /^mpi_bytes\([a-z0-9_]*,[a-z0-9_]*\)$/ && split(trait[bytes], part, /[,)]/) ? part[2] : ""
}

# The trait @bytes for fast wrappers, which have asked for that datatype already.
function bytes_in(bytes,    text)
{
	text = trait[bytes]
	if (swift && type_of(bytes) != "")
		sub(/mpi_bytes/, "mpi_bytes_known", text)
	return text
}

# The condition for bookkeeping of an operation that is not recorded: it is not nested, and another
# class needs it.
function wanted()
{
	# all that is numbered on a communicator, but for collectives themselves
	if (shape ~ /^(make|start_make|free|spawn)$/ || (channel == "COMM" && shape == "collect"))
		return "true"
	if (shape ~ /^(restart|drop|cancel|wait|test)$/ || "message" in trait)
		return "!mpi_requests_none()"
	if (shape ~ /^(start|start_all|start_exchange|prepare|prepare_all)$/ || "found" in trait)
		return "mpi_wanted(at)"
	return ""
}

# Is there nothing to do while all classes of the channel are off?
function is_quiet()
{
	return wanted() == "" && shape !~ /^(init|forget|finalize)$/
}
