# SPDX-License-Identifier: BSD-3-Clause
# What a wrapper does around the real call, by the shape of its row; used with mpi.awk.

function begin(peer, tag, bytes)
{
	line("mpi_begin(&t, OP_" toupper(name) ", at, " peer ", " tag ", " bytes ");")
}

# The classes that the operation belongs to one of: its communicator's.
function classes()
{
	return ("comm" in trait) ? "&at->classes" : "&collect_none"
}

function end()
{
	line("mpi_end(&t, " classes() ", CHANNEL_" channel ", rc);")
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
	call()
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
	call(trait["status"], "where")
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_tuple_" (trait["bytes"] == "0" ? "from" : "received") "(&t, ranks, where);")
	if ("found" in trait) {
		line("if (rc == MPI_SUCCESS)")
		line("\tmpi_message_add(*" trait["found"] ", &t, at, ranks);")
	}
	end()
}

function shape_exchange()
{
	# while it lasts, it is the other's message that it waits for
	begin(peer_of("peer2"), tag_of("tag2"), bytes_of("peer2", "bytes2"))
	call(trait["status"], "where")
	line("mpi_exchange_received(&t, at, where, rc);")
	line("t.peer = " peer_of("peer") ";")
	line("t.seq_or_tag = " tag_of("tag") ";")
	line("t.bytes = " bytes_of("peer", "bytes") ";")
	end()
}

function shape_probe()
{
	call_untimed(trait["status"], "where")
	line("if (rc == MPI_SUCCESS && !*" trait["flag"] ") {")
	indent = "\t"
	line("collect_poll();")
	leave_line()
	indent = ""
	line("}")
	line("mpi_found(&t, OP_" toupper(name) ", at, " (("peer" in trait) ? peer_of("peer") ", " tag_of("tag") : "TUPLE_NO_PEER, 0") ");")
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

function publish(ranks, kind)
{
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_request_publish(mpi_request_add(" place("request") ", &t, " (("comm" in trait) ? "at" : "NULL") ", " ranks ", " kind "));")
}

function shape_start()
{
	if ("message" in trait)
		line("ranks = mpi_matched(&t, OP_" toupper(name) ", *message, " trait["bytes"] ");")
	else
		begin(peer_of("peer"), tag_of("tag"), bytes_of("peer", "bytes"))
	call()
	publish(("message" in trait) ? "ranks" : "at->ranks", ("receives" in trait) ? "MPI_REQUEST_RECEIVES" : "0")
	end()
}

function shape_prepare()
{
	begin(peer_of("peer"), tag_of("tag"), bytes_of("peer", "bytes"))
	call()
	publish("at->ranks", "MPI_REQUEST_PERSISTENT" (("receives" in trait) ? " | MPI_REQUEST_RECEIVES" : ""))
	line("t.bytes = 0;")
	end()
}

function shape_restart()
{
	line("mpi_start_begin(&s, &t, OP_" toupper(name) ", " trait["n"] ", " place("requests") ");")
	call()
	line("mpi_start_end(&s, &t, rc);")
}

function shape_drop()
{
	line("mpi_drop_begin(&s, &t, OP_" toupper(name) ", " place("request") ");")
	call()
	line("mpi_drop_end(&s, &t, rc);")
}

function shape_cancel()
{
	line("mpi_cancel_begin(&t, OP_" toupper(name) ", " place("request") ");")
	call()
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
	line("mpi_wait_begin(&w, &t, OP_" toupper(name) ", " trait["n"] ", " place("requests") ");")
	statuses = where()
	call(trait[statuses], "where")
	line("mpi_wait_end(&w, &t, rc, MPI_WAIT_" trait["which"] ", &answer);")
}

function shape_test(    statuses)
{
	line("mpi_test_begin(&w, " trait["n"] ", " place("requests") ");")
	statuses = where()
	call_untimed(trait[statuses], "where")
	line("if (!mpi_test_vain(&w, rc, &answer))")
	line("\tmpi_test_end(&w, OP_" toupper(name) ", rc, MPI_WAIT_" trait["which"] ", &answer);")
}

function shape_collect()
{
	begin("TUPLE_NO_PEER", "mpi_comm_next(at)", expression("bytes", "0"))
	call()
	if ("request" in trait)
		publish("at->ranks", "0")
	end()
}

function shape_make(    tag)
{
	tag = trait["how"] == "GROUP" ? "(uint32_t)tag" : "mpi_comm_next(at)"
	begin("TUPLE_NO_PEER", tag, "0")
	call()
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_comm_add(*" trait["new"] ", at, MPI_COMM_" trait["how"] ", " expression("tag", "0") ");")
	end()
}

function shape_start_make()
{
	begin("TUPLE_NO_PEER", "mpi_comm_next(at)", "0")
	call()
	line("if (rc == MPI_SUCCESS)")
	line("\tmpi_comm_coming_add(" place("request") ", &t, at, " place("new") ");")
	end()
}

function shape_free()
{
	line("handle = *comm;")
	begin("TUPLE_NO_PEER", "mpi_comm_next(at)", "0")
	line("record = mpi_comm_forget(handle);")
	call()
	line("if (rc != MPI_SUCCESS)")
	line("\tmpi_comm_restore(handle, &record);")
	line("mpi_end(&t, &record.classes, CHANNEL_" channel ", rc);")
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
		call()
		end()
		line("mpi_finished();")
	} else fail("there is no shape \"" shape "\"")
}
