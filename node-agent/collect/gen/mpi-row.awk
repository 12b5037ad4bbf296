# SPDX-License-Identifier: BSD-3-Clause
# Interprets a row of MPI (read by row.awk), for wrappers and doors alike.

# The datatype of the bytes if there is just one, else "".
function type_of(bytes,    part)
{
	return (bytes in trait) && trait[bytes] ~ /^mpi_bytes\([a-z0-9_]*,[a-z0-9_]*\)$/ && split(trait[bytes], part, /[,)]/) ? part[2] : ""
}

# Traits of a collective that its arguments say: root, reduction, type. The datatype is that of the
# bytes, which may be the other buffer's.
function row_signature(    part, n, i, found, buffer)
{
	if (channel != "COLLECTIVE")
		return
	if (args ~ /int root(,|$)/)
		trait["root"] = "root"
	if (args ~ /MPI_Op op(,|$)/)
		trait["reduction"] = "op"
	n = split(("bytes" in trait) ? trait["bytes"] : "", part, /[^a-z_0-9]+/)
	for (i = 1; i <= n; i++) {
		if (part[i] ~ /buf$/)
			buffer = part[i]
		if (part[i] ~ /type$/ && found == "")
			found = part[i]
		else if (part[i] ~ /type$/)
			found = "(" buffer " == MPI_IN_PLACE ? " part[i] " : " found ")"
	}
	if (found != "")
		trait["type"] = found
}

# The `peer` of a tuple that is numbered (tree/data/signature.h).
function signature_in(    text)
{
	if (channel != "COLLECTIVE" || !(("root" in trait) || ("type" in trait)))
		return "TUPLE_NO_PEER"
	text = "signature_word(" (("root" in trait) ? "(uint32_t)" trait["root"] : "SIGNATURE_NO_ROOT")
	text = text ", " (("reduction" in trait) ? "mpi_op_code" (swift ? "_known" : "") "(" trait["reduction"] ")" : "SIGNATURE_NO_REDUCTION")
	text = text ", " (("type" in trait) ? "mpi_type_code" (swift && type_of("bytes") != "" ? "_known" : "") "(" trait["type"] ")" : "SIGNATURE_NO_TYPE") ")"
	return ("root" in trait) ? "mpi_is_root(" trait["root"] ") ? " text " : TUPLE_NO_PEER" : text
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
