# SPDX-License-Identifier: BSD-3-Clause
# What a row of MPI's means (row.awk has read it), for wrappers and doors alike.

# The datatype that the bytes are of, if they are just of one; "" else.
function type_of(bytes,    part)
{
	return (bytes in trait) && trait[bytes] ~ /^mpi_bytes\([a-z0-9_]*,[a-z0-9_]*\)$/ && split(trait[bytes], part, /[,)]/) ? part[2] : ""
}

# What the trait @bytes says, where swift wrappers have asked for that datatype already.
function bytes_in(bytes,    text)
{
	text = trait[bytes]
	if (swift && type_of(bytes) != "")
		sub(/mpi_bytes/, "mpi_bytes_known", text)
	return text
}

# What keeps book of an operation that is not recorded must not be nested, and wanted by somebody.
function wanted()
{
	# all that has a number on a communicator, but for collectives themselves
	if (shape ~ /^(make|start_make|free|spawn)$/ || (channel == "COMM" && shape == "collect"))
		return "true"
	if (shape ~ /^(restart|drop|cancel|wait|test)$/ || "message" in trait)
		return "!mpi_requests_none()"
	if (shape ~ /^(start|start_all|start_exchange|prepare|prepare_all)$/ || "found" in trait)
		return "mpi_wanted(at)"
	return ""
}

# Is nothing at all to be done while all classes of the channel are off?
function is_quiet()
{
	return wanted() == "" && shape !~ /^(init|forget|finalize)$/
}
