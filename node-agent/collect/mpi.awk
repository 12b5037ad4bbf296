# SPDX-License-Identifier: BSD-3-Clause
# Makes mpi-wrappers.c of ops.tab: one wrapper for each row, by its shape.

function fail(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 1
}

# The names of C arguments: "int *argc, char ***argv" -> "argc, argv"; @from is called @to.
function names_of(args, from, to,    part, n, i, name, out)
{
	if (args == "void")
		return ""
	n = split(args, part, /, */)
	for (i = 1; i <= n; i++) {
		name = part[i]
		gsub(/\[\]/, "", name)
		sub(/^.*[ *]/, "", name)
		out = out (i > 1 ? ", " : "") (name == from ? to : name)
	}
	return out
}

function expression(key, otherwise)
{
	return (key in trait) ? trait[key] : otherwise
}

function line(text)
{
	print "\t" text
}

# The real call, with the program's status replaced by @status ("": as it is).
function call(status)
{
	line("rc = real_" name "(" names_of(args, status == "" ? "" : trait[status], status == "" ? "" : "where") ");")
	line("t.end = collect_now();")
}

function begin(peer, tag, bytes)
{
	line("mpi_begin(&t, OP_" toupper(name) ", at, " peer ", " tag ", " bytes ");")
}

function end()
{
	line("mpi_end(&t, CHANNEL_" channel ", rc);")
}

function peer_of(key)
{
	return "mpi_ranks_peer(at->ranks, " trait[key] ")"
}

# To and from MPI_PROC_NULL nothing moves.
function bytes_of(peer, bytes)
{
	return "(" trait[peer] " == MPI_PROC_NULL ? 0 : " trait[bytes] ")"
}

function tag_of(key)
{
	return "(uint32_t)" trait[key]
}

function shape_call()
{
	begin(peer_of("peer"), tag_of("tag"), bytes_of("peer", "bytes"))
	call("")
	end()
}

function shape_receive()
{
	if ("message" in trait) {
		line("ranks = mpi_matched(&t, OP_" toupper(name) ", *message, " trait["bytes"] ");")
	} else {
		begin(peer_of("peer"), tag_of("tag"), bytes_of("peer", "bytes"))
		line("ranks = at->ranks;")
	}
	call("status")
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_tuple_" (trait["bytes"] == "0" ? "from" : "received") "(&t, ranks, where);")
	if ("found" in trait) {
		line("if (rc == MPI_SUCCESS)")
		line("\tmpi_message_add(*" trait["found"] ", &t, ranks);")
	}
	end()
}

function shape_exchange()
{
	# while it lasts, it is the other's message that it waits for
	begin(peer_of("peer2"), tag_of("tag2"), bytes_of("peer2", "bytes2"))
	call("status")
	line("mpi_exchange_received(&t, at->ranks, where, rc);")
	line("t.peer = " peer_of("peer") ";")
	line("t.seq_or_tag = " tag_of("tag") ";")
	line("t.bytes = " bytes_of("peer", "bytes") ";")
	end()
}

function shape_probe()
{
	line("rc = real_" name "(" names_of(args, trait["status"], "where") ");")
	line("if (rc == MPI_SUCCESS && !*" trait["flag"] ") {")
	line("\tcollect_poll();")
	line("\treturn rc;")
	line("}")
	line("mpi_found(&t, OP_" toupper(name) ", at, " (("peer" in trait) ? peer_of("peer") ", " tag_of("tag") : "TUPLE_NO_PEER, 0") ");")
	if ("peer" in trait) {
		line("if (rc == MPI_SUCCESS)")
		line("\tmpi_tuple_from(&t, at->ranks, where);")
	}
	if ("found" in trait) {
		line("if (rc == MPI_SUCCESS)")
		line("\tmpi_message_add(*" trait["found"] ", &t, at->ranks);")
	}
	end()
}

function publish(ranks, kind)
{
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_request_publish(mpi_request_add(" trait["request"] ", &t, " ranks ", " kind "));")
}

function shape_start()
{
	if ("message" in trait)
		line("ranks = mpi_matched(&t, OP_" toupper(name) ", *message, " trait["bytes"] ");")
	else
		begin(peer_of("peer"), tag_of("tag"), bytes_of("peer", "bytes"))
	call("")
	publish(("message" in trait) ? "ranks" : "at->ranks", ("receives" in trait) ? "MPI_REQUEST_RECEIVES" : "0")
	end()
}

function shape_prepare()
{
	begin(peer_of("peer"), tag_of("tag"), bytes_of("peer", "bytes"))
	call("")
	publish("at->ranks", "MPI_REQUEST_PERSISTENT" (("receives" in trait) ? " | MPI_REQUEST_RECEIVES" : ""))
	line("t.bytes = 0;")
	end()
}

function shape_restart()
{
	line("mpi_start_begin(&s, &t, OP_" toupper(name) ", " trait["n"] ", " trait["requests"] ");")
	call("")
	line("mpi_start_end(&s, &t, rc);")
}

function shape_drop()
{
	line("mpi_drop_begin(&s, &t, OP_" toupper(name) ", " trait["request"] ");")
	call("")
	line("mpi_drop_end(&s, &t, rc);")
}

function shape_cancel()
{
	line("mpi_cancel_begin(&t, OP_" toupper(name) ", " trait["request"] ");")
	call("")
	end()
}

# What MPI says that is complete.
function answer(    fields, i, n, part)
{
	fields = ".statuses = where"
	n = split("flag index outcount indices", part, " ")
	for (i = 1; i <= n; i++)
		if (part[i] in trait)
			fields = fields ", ." part[i] " = " trait[part[i]]
	line("answer = (struct mpi_wait_answer){" fields "};")
}

# Where the statuses go, when they are needed and the program does not want them.
function where(    several)
{
	several = ("statuses" in trait)
	line("where = w.asks ? " (several ? "mpi_statuses(" trait["statuses"] ", own, " trait["n"] ")" : "mpi_status(" trait["status"] ", &own)") " : " trait[several ? "statuses" : "status"] ";")
	answer()
	return several ? "statuses" : "status"
}

function shape_wait(    statuses)
{
	line("mpi_wait_begin(&w, &t, OP_" toupper(name) ", " trait["n"] ", " trait["requests"] ");")
	statuses = where()
	call(statuses)
	line("mpi_wait_end(&w, &t, rc, MPI_WAIT_" trait["which"] ", &answer);")
}

function shape_test(    statuses)
{
	line("mpi_test_begin(&w, " trait["n"] ", " trait["requests"] ");")
	statuses = where()
	line("rc = real_" name "(" names_of(args, trait[statuses], "where") ");")
	line("if (!mpi_test_vain(&w, rc, &answer))")
	line("\tmpi_test_end(&w, OP_" toupper(name) ", rc, MPI_WAIT_" trait["which"] ", &answer);")
}

function shape_collect()
{
	begin("TUPLE_NO_PEER", "mpi_comm_next(at)", expression("bytes", "0"))
	call("")
	if ("request" in trait)
		publish("at->ranks", "0")
	end()
}

function shape_make(    tag)
{
	tag = trait["how"] == "GROUP" ? "(uint32_t)tag" : "mpi_comm_next(at)"
	begin("TUPLE_NO_PEER", tag, "0")
	call("")
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_comm_add(*" trait["new"] ", at, MPI_COMM_" trait["how"] ", " expression("tag", "0") ");")
	end()
}

function shape_start_make()
{
	begin("TUPLE_NO_PEER", "mpi_comm_next(at)", "0")
	call("")
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_comm_coming_add(" trait["request"] ", &t, at, " trait["new"] ");")
	end()
}

function shape_free()
{
	line("handle = *comm;")
	begin("TUPLE_NO_PEER", "mpi_comm_next(at)", "0")
	line("record = mpi_comm_forget(handle);")
	call("")
	line("if (rc != MPI_SUCCESS)")
	line("\tmpi_comm_restore(handle, &record);")
	end()
}

function variables()
{
	if (shape == "forget") {
		line("int rc;\n")
		return
	}
	if (shape != "test")
		line("struct tuple t;")
	if (shape != "init")
		line("enum collect_entry entry;")
	if (shape == "restart" || shape == "drop")
		line("struct mpi_start s;")
	if (shape == "wait" || shape == "test") {
		line("struct mpi_wait w;")
		line("struct mpi_wait_answer answer;")
		line("MPI_Status own" (("statuses" in trait) ? "[MPI_OWN_STATUSES]" : "") ", *where;")
	} else if ("status" in trait) {
		line("MPI_Status own, *where = mpi_status(" trait["status"] ", &own);")
	}
	if (shape == "receive" || (shape == "start" && ("message" in trait)))
		line("struct mpi_ranks ranks;")
	if (shape == "free") {
		line("MPI_Comm handle;")
		line("struct mpi_comm record;")
	}
	if ("comm" in trait)
		line((shape == "collect" || shape == "start_all" || shape ~ /make$/ || shape == "free" ? "" : "const ") "struct mpi_comm *at;")
	else if (shape == "probe")
		line("const struct mpi_comm *at = mpi_comm_find(NULL);")
	line("int rc;\n")
}

function wrapper(    pass)
{
	pass = "real_" name "(" names_of(args) ")"
	print "\nstatic int late_" name "(" args ");"
	print "static int (*real_" name ")(" args ") = late_" name ";\n"
	print "static int late_" name "(" args ")\n{"
	line("mpi_wrappers_resolve();")
	line("return real_" name " == late_" name " ? MPI_ERR_INTERN : " pass ";")
	print "}\n"
	print "int " name "(" args ")\n{"
	variables()
	if (shape == "init") {
		line("mpi_init_begin(&t, OP_" toupper(name) ");")
		line("rc = " pass ";")
		line("mpi_init_end(&t, rc);")
	} else if (shape == "forget") {
		# before: the handle may be another thread's as soon as it is free; after: it may have been asked for
		line("atomic_fetch_add_explicit(&mpi_type_epoch, 1, memory_order_release);")
		line("rc = " pass ";")
		line("atomic_fetch_add_explicit(&mpi_type_epoch, 1, memory_order_release);")
	} else {
		line("entry = collect_enter(CHANNEL_" channel ");")
		line("if (entry != COLLECT_RECORD) {")
		line("\trc = " pass ";")
		if (shape == "finalize")
			line("\tmpi_finished();")
		line("\tif (entry == COLLECT_PASS)")
		line("\t\tcollect_leave();")
		line("\treturn rc;")
		line("}")
		if ("comm" in trait)
			line("at = mpi_comm_at(" trait["comm"] ");")
		body()
	}
	line("return rc;")
	print "}"
}

function body()
{
	if (shape == "call") shape_call()
	else if (shape == "receive") shape_receive()
	else if (shape == "exchange") shape_exchange()
	else if (shape == "probe") shape_probe()
	else if (shape == "start") shape_start()
	else if (shape == "prepare") shape_prepare()
	else if (shape == "restart") shape_restart()
	else if (shape == "drop") shape_drop()
	else if (shape == "cancel") shape_cancel()
	else if (shape == "wait") shape_wait()
	else if (shape == "test") shape_test()
	else if (shape == "collect" || shape == "start_all") shape_collect()
	else if (shape == "make") shape_make()
	else if (shape == "start_make") shape_start_make()
	else if (shape == "free") shape_free()
	else if (shape == "finalize") {
		line("mpi_begin(&t, OP_" toupper(name) ", mpi_comm_at(mpi.world), TUPLE_NO_PEER, 0, 0);")
		call("")
		line("mpi_end(&t, CHANNEL_ENV, rc);")
		line("mpi_finished();")
	} else fail("there is no shape \"" shape "\"")
}

BEGIN {
	print "/* Generated from tree/ops.tab by node-agent/collect/mpi.awk. */"
	print "#include \"node-agent/collect/mpi-calls.h\""
	print "#include \"node-agent/collect/mpi-process.h\""
	print "#include \"node-agent/collect/mpi-start.h\""
	print "#include \"node-agent/collect/mpi-wait.h\""
	print "#include \"tree/op-table.h\""
}

/^[ \t]*(#|$)/ { next }
$2 !~ /^MPI_/ { next }

{
	bar = index($0, "|")
	if (!bar)
		fail("no \"|\" with the C arguments behind it")
	args = substr($0, bar + 1)
	gsub(/^ +| +$/, "", args)
	name = $2
	channel = toupper($3)
	shape = $4
	for (key in trait)
		delete trait[key]
	for (i = 5; i <= NF && $i != "|"; i++) {
		equals = index($i, "=")
		if (equals)
			trait[substr($i, 1, equals - 1)] = substr($i, equals + 1)
		else
			trait[$i] = ""
	}
	wrapper()
	all[++n] = name
}

END {
	if (failed)
		exit 1
	print "\nvoid mpi_wrappers_resolve(void)\n{"
	line("static const struct {")
	line("\tconst char *name;")
	line("\tvoid *real;")
	line("} all[] = {")
	for (i = 1; i <= n; i++)
		line("\t{ \"P" all[i] "\", &real_" all[i] " },")
	line("};\n")
	line("for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {")
	line("\tvoid *real = mpi_library_next(all[i].name);\n")
	line("\tif (real)")
	line("\t\t*(void **)all[i].real = real;")
	line("}")
	print "}"
}
