# SPDX-License-Identifier: BSD-3-Clause
# Writes what a wrapper does around the real call, by the shape of its row; used with mpi.awk.
#
# Some shapes keep book for classes of others (requests, communicators): they do so also when their
# own class is off. `quiet` is set while the body for that is written: no state line, no tuple.

function open_block(condition)
{
	line(condition " {")
	indent = indent "\t"
}

function close_block()
{
	indent = substr(indent, 2)
	line("}")
}

# The record of the operation's communicator, window or file, "": it has none.
function record_of()
{
	if ("comm" in trait)
		return "mpi_comm_at(mpi_comm_key(" handle("comm") "))"
	if ("win" in trait)
		return "mpi_comm_at(mpi_win_key(" handle("win") "))"
	if ("file" in trait)
		return "mpi_comm_at(mpi_file_key(" handle("file") "))"
	return ""
}

# The classes of the operation's communicator, window or file.
function classes()
{
	return record_of() != "" ? "&at->classes" : "&collect_none"
}

# Begins the operation, after all of the tuple but its times is set.
function begun()
{
	if (quiet)
		line("t.start = collect_now();")
	else
		line("collect_" (swift ? "swift_" : "") "begin(&t);")
}

function begin(peer, tag, bytes)
{
	line("mpi_fill(&t, " op ", at, " peer ", " tag ", " bytes ");")
	begun()
}

# The real call, with @from replaced by @to if given, then the time.
function call(from, to)
{
	call_line(from, to)
	if (!quiet)
		line("collect_" (swift ? "swift_" : "") "stamp(&t);")
	door_results()
}

# The same for a poll, which mostly finds nothing.
function call_untimed(from, to)
{
	call_line(from, to)
	door_results()
}

function end_in(where)
{
	if (!quiet)
		line("mpi_" (swift ? "swift_end" late() : "end") "(caller, &t, " where ", CHANNEL_" channel ", rc);")
}

# Most polls find nothing, and need no slot for a tuple.
function late()
{
	return shape == "test" ? "_late" : ""
}

function end()
{
	end_in(classes())
}

function peer_of(key)
{
	return (key in trait) ? "mpi_ranks_peer(at->ranks, " trait[key] ")" : "TUPLE_NO_PEER"
}

# Nothing is sent to or received from MPI_PROC_NULL.
function bytes_of(peer, bytes)
{
	if (!(bytes in trait))
		return "0"
	return (peer in trait) ? "(__builtin_expect(" trait[peer] " == MPI_PROC_NULL, 0) ? 0 : " bytes_in(bytes) ")" : bytes_in(bytes)
}

function tag_of(key)
{
	return (key in trait) ? "(uint32_t)" trait[key] : "0"
}

function begin_plainly()
{
	begin(peer_of("peer"), tag_of("tag"), bytes_of("peer", "bytes"))
}

# The number of the next operation, which all members make in the same order.
function begin_together()
{
	begin_numbered(bytes_of("", "bytes"))
}

# Channels with few operations may take the time to check whether all others were numbered.
function begin_numbered(bytes)
{
	line("mpi_fill_numbered(&t, " op ", at, " signature_in() ", mpi_comm_next" (channel == "COLLECTIVE" && !quiet ? "" : "_rarely") "(at), " bytes ");")
	begun()
}

function shape_call()
{
	begin_plainly()
	call()
	end()
}

function shape_abort()
{
	# it does not return: write the tuple before, and leave the state line as it is
	begin_plainly()
	line("collect_stamp(&t);")
	line("collect_extra(&t, " classes() ", CHANNEL_" channel ");")
	call_untimed()
	line("collect_leave(caller);")
}

function shape_receive(    ranks)
{
	if ("message" in trait) {
		ranks = "from.ranks"
		line("from = mpi_matched(&t, " op ", message, " trait["bytes"] ");")
		begun()
	} else {
		begin_plainly()
		ranks = "at->ranks"
	}
	call(trait["status"], "where")
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_tuple_" (trait["bytes"] == "0" ? "from" : "received") "(&t, " ranks ", where);")
	if ("found" in trait) {
		line("if (rc == MPI_SUCCESS)")
		line("\tmpi_message_add(*" trait["found"] ", &t, at, " ranks ");")
	}
	end()
}

function shape_exchange()
{
	# while it lasts, it waits for the other one's message
	begin(peer_of("peer2"), tag_of("tag2"), bytes_of("peer2", "bytes2"))
	call(trait["status"], "where")
	line("mpi_exchange_received(&t, at, where, rc);")
	line("t.peer = " peer_of("peer") ";")
	line("t.seq_or_tag = " tag_of("tag") ";")
	line("t.bytes = " bytes_of("peer", "bytes") ";")
	end()
}

# It found nothing: only count it.
function vain(condition)
{
	open_block("if (" condition ")")
	line((quiet ? "collect_leave" : "collect_poll") "(caller);")
	leave_line()
	close_block()
}

# A message that was just found has no duration.
function found_now()
{
	if (!quiet) {
		line("collect_stamp(&t);")
		line("t.start = t.end;")
	} else {
		line("t.start = t.end = 0;")
	}
}

function shape_probe()
{
	call_untimed(expression("status", ""), "where")
	vain("rc == MPI_SUCCESS && !*" trait["flag"])
	line("mpi_fill(&t, " op ", at, " peer_of("peer") ", " tag_of("tag") ", 0);")
	found_now()
	if ("peer" in trait) {
		line("if (rc == MPI_SUCCESS)")
		line("\tmpi_tuple_from(&t, at->ranks, where);")
	}
	if ("found" in trait) {
		line("if (rc == MPI_SUCCESS)")
		line("\tmpi_message_add(*" trait["found"] ", &t, at, at->ranks);")
	}
	end()
}

function shape_poll()
{
	call_untimed()
	vain("rc == MPI_SUCCESS && !*" trait["flag"])
	line("mpi_about(&t, " op ", " handle("request") ");")
	found_now()
	end()
}

function shape_about()
{
	line("mpi_about(&t, " op ", " handle("request") ");")
	begun()
	call()
	end()
}

# @at: the record of the request's communicator, window or file.
function publish(at, ranks, kind)
{
	if ("receives" in trait)
		kind = (kind == "0" ? "" : kind " | ") "MPI_REQUEST_RECEIVES"
	else if ("transfers" in trait)
		kind = (kind == "0" ? "" : kind " | ") "MPI_REQUEST_TRANSFERS"
	else if (channel == "COLLECTIVE")
		kind = (kind == "0" ? "" : kind " | ") "MPI_REQUEST_COLLECTIVE"
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_request_publish(mpi_request_add(" place("request") ", &t, " at ", " ranks ", " kind "));")
}

function shape_start()
{
	if ("message" in trait) {
		line("from = mpi_matched(&t, " op ", message, " trait["bytes"] ");")
		begun()
	} else {
		begin_plainly()
	}
	call()
	if ("message" in trait)
		publish("from.at", "from.ranks", "0")
	else
		publish(record_of() != "" ? "at" : "NULL", "at->ranks", "0")
	end()
}

function shape_start_exchange()
{
	begin_plainly()
	call()
	line("half = t;")
	line("half.peer = " peer_of("peer2") ";")
	line("half.seq_or_tag = " tag_of("tag2") ";")
	line("half.bytes = " bytes_of("peer2", "bytes2") ";")
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_request_publish(mpi_request_add(" place("request") ", &half, at, at->ranks, 0));")
	end()
}

function prepared()
{
	call()
	publish("at", "at->ranks", "MPI_REQUEST_PERSISTENT")
	line("t.bytes = 0;")
	end()
}

function shape_prepare()
{
	begin_plainly()
	prepared()
}

function shape_prepare_all()
{
	begin_together()
	prepared()
}

function shape_restart()
{
	line("mpi_start_begin(&s, &t, " op ", " trait["n"] ", " place("requests") ");")
	begun()
	call()
	line("mpi_start_end(&s, &t, rc);")
	end()
}

function shape_drop()
{
	line("mpi_drop_begin(&s, &t, " op ", " place("request") ");")
	begun()
	call()
	line("mpi_drop_end(&s, rc);")
	end()
}

function shape_cancel()
{
	line("mpi_cancel_begin(&t, " op ", " place("request") ");")
	begun()
	call()
	end()
}

# MPI's answer of what is complete.
function answer(    fields, i, n, part)
{
	fields = ".first = " first_index() ", .statuses = mpi_statuses_known(where)"
	n = split("flag index outcount indices", part, " ")
	for (i = 1; i <= n; i++)
		if (part[i] in trait)
			fields = fields ", ." part[i] " = " trait[part[i]]
	line("answer = (struct mpi_wait_answer){" fields "};")
}

# Where to store statuses that we need, but the program ignores.
function where(    several)
{
	several = ("statuses" in trait)
	line("where = w.asks ? " (several ? "mpi_statuses(" status("statuses") ", own, " trait["n"] ")" : "mpi_status(" status("status") ", &own)") " : " status(several ? "statuses" : "status") ";")
	answer()
	return several ? "statuses" : "status"
}

function shape_wait(    statuses)
{
	line("mpi_wait_begin(&w, &t, " op ", " trait["n"] ", " place("requests") ");")
	if (!quiet)
		line("collect_begin(&t);")
	statuses = where()
	call(trait[statuses], "where")
	line("mpi_wait_end(&w, &t, rc, MPI_WAIT_" trait["which"] ", &answer);")
	end()
}

# A late one: only copies handles before the call, since most find nothing.
function shape_test_swiftly(    several, key)
{
	several = ("statuses" in trait)
	key = several ? "statuses" : "status"
	line("mpi_test_copy(&w, " trait["n"] ", " place("requests") ");")
	line("where = " (several ? "mpi_statuses(" status(key) ", own, " trait["n"] ")" : "mpi_status(" status(key) ", &own)") ";")
	call_untimed(trait[key], "where")
	vain("rc == MPI_SUCCESS && !*" trait[("flag" in trait) ? "flag" : "outcount"])
	line("mpi_test_late(&w, " trait["n"] ", " place("requests") ");")
	answer()
	test_end()
}

function shape_test(    statuses)
{
	line("mpi_test_begin(&w, " trait["n"] ", " place("requests") ");")
	statuses = where()
	call_untimed(trait[statuses], "where")
	vain("mpi_test_vain(&w, rc, &answer)")
	test_end()
}

function test_end()
{
	line("mpi_fill(&t, " op ", &mpi_comm_none, TUPLE_NO_PEER, 0, 0);")
	found_now()
	line("mpi_wait_end(&w, &t, rc, MPI_WAIT_" trait["which"] ", &answer);")
	end()
}

function shape_collect()
{
	begin_together()
	call()
	if ("request" in trait)
		publish("at", "at->ranks", "0")
	end()
}

# Takes the moved bytes from the status; the state line has those asked for.
function moved()
{
	call(trait["status"], "where")
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_tuple_moved(&t, where);")
	end()
}

function shape_transfer()
{
	begin_plainly()
	moved()
}

function shape_transfer_all()
{
	begin_together()
	moved()
}

function shape_split()
{
	begin_together()
	call()
	line("t.bytes = 0;")
	end()
}

function shape_make()
{
	if (trait["how"] == "GROUP" || trait["comm"] == "mpi.world") # the world counts what all of it do
		begin("TUPLE_NO_PEER", tag_of("tag"), "0")
	else
		begin_numbered("0")
	call()
	line("if (rc == MPI_SUCCESS)")
	if (trait["how"] == "WINDOW")
		line("\tmpi_comm_copy(mpi_win_key(*" trait["new"] "), at);")
	else if (trait["how"] == "FILE")
		line("\tmpi_comm_copy(mpi_file_key(*" trait["new"] "), at);")
	else
		line("\tmpi_comm_add(*" trait["new"] ", at, " handle("comm") ", MPI_COMM_" trait["how"] ", " expression("tag", "0") ");")
	end()
}

function shape_start_make()
{
	begin_together()
	call()
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_comm_coming_add(" place("request") ", &t, at, " place("new") ");")
	end()
}

function shape_spawn()
{
	begin_together()
	line("mpi_spawn_begin(&spawn, at, " trait["root"] ");")
	call()
	line("mpi_spawn_end(&spawn, " trait["new"] ", rc);")
	end()
}

function shape_free(    key)
{
	key = record_of()
	gsub(/^mpi_comm_at\(|\)$/, "", key)
	line("key = " key ";")
	begin_together()
	line("record = mpi_comm_forget(key);")
	call()
	line("if (rc != MPI_SUCCESS)")
	line("\tmpi_comm_restore(key, &record);")
	end_in("&record.classes")
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_comm_freed(&record);")
}

function shape_finalize()
{
	line("mpi_fill(&t, " op ", mpi_comm_at(mpi_comm_key(mpi.world)), TUPLE_NO_PEER, 0, 0);")
	begun()
	call()
	end()
	line("mpi_finished();")
}

function body()
{
	if (shape == "call") shape_call()
	else if (shape == "abort") shape_abort()
	else if (shape == "receive") shape_receive()
	else if (shape == "exchange") shape_exchange()
	else if (shape == "probe") shape_probe()
	else if (shape == "poll") shape_poll()
	else if (shape == "about") shape_about()
	else if (shape == "start") shape_start()
	else if (shape == "start_exchange") shape_start_exchange()
	else if (shape == "prepare") shape_prepare()
	else if (shape == "prepare_all") shape_prepare_all()
	else if (shape == "restart") shape_restart()
	else if (shape == "drop") shape_drop()
	else if (shape == "cancel") shape_cancel()
	else if (shape == "wait") shape_wait()
	else if (shape == "test" && swift) shape_test_swiftly()
	else if (shape == "test") shape_test()
	else if (shape == "collect" || shape == "start_all") shape_collect()
	else if (shape == "transfer") shape_transfer()
	else if (shape == "transfer_all") shape_transfer_all()
	else if (shape == "split") shape_split()
	else if (shape == "make") shape_make()
	else if (shape == "start_make") shape_start_make()
	else if (shape == "spawn") shape_spawn()
	else if (shape == "free") shape_free()
	else if (shape == "finalize") shape_finalize()
	else fail("there is no shape \"" shape "\"")
}
