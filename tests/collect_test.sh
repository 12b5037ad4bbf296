# SPDX-License-Identifier: BSD-3-Clause
# Tests the collectors in MPI programs: what they record is what happened, and nobody notices them.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/counts.sh"

apps=$top_builddir/tests/apps
preload=$top_builddir/tests/preload
lib=$EVSPACE_LIBDIR/libevspace-mpi.so
dump=$top_builddir/tests/segdump
libs=$lib

export EVSPACE_DIR=$tap_dir/space EVSPACE_RUN=run EVSPACE_CAPACITY=50000
unset EVSPACE_THREADS EVSPACE_QUOTA

# plain RANKS PROGRAM [OPTION...]; collected does the same with collectors, into an empty space.
plain() {
	local ranks=$1

	shift
	timeout -k 5 120 mpirun -np "$ranks" "$@"
}

collected() {
	local ranks=$1

	shift
	rm -rf "$EVSPACE_DIR"
	timeout -k 5 120 mpirun -np "$ranks" -x LD_PRELOAD="$libs" "$@"
}

dumped() {
	"$dump" "$EVSPACE_DIR/run" "--$1"
}

# field NAME: that number of each line of --headers.
field() {
	dumped headers | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}

# own_completions: each thread has a communicator of its own, and completions on no other.
own_completions() {
	collected 2 "$apps/threads" --moved --threads 4 --rounds 50 >/dev/null && dumped tuples |
		sed -n 's/.*"rank":\([0-9]*\),"thread":\([0-9]*\),"channel":"\([a-z0-9]*\)","op":"\(MPI_I[a-z]*\)".*"comm":\([0-9]*\).*/\1:\2 \3 \4 \5/p' |
		awk '$2 == "p2p" { its[$1] = $4 } $2 == "completion" { n++; of[$1 " " $4] = $1 }
			END {
				for (i in of)
					if (i != of[i] " " its[of[i]] && ++bad)
						print "a thread (rank:number communicator) has completions of another: " i
				exit bad || n != 2 * 4 * 50 * 2
			}'
}

# --- peers, tags, communicators: of what has just run ---

# From whom to whom, tag, communicator, bytes: by the senders and by the receivers.
messages_agree() {
	dumped messages >"$tap_dir/messages"
	diff <(sed -n 's/^sent //p' "$tap_dir/messages" | sort) \
		<(sed -n 's/^received //p' "$tap_dir/messages" | sort) &&
		[ "$(wc -l <"$tap_dir/messages")" -gt 1000 ]
}

# Each communicator has the same members for all who are in it, and these are who has it on record.
comms_agree() {
	dumped comms | sed 's/^{"rank":\([0-9]*\),"comm":\([0-9]*\),"parent":\([0-9]*\),"members":\[\(.*\)\]}/\1 \2 \3 \4/' |
		awk '{
			if ($2 in about && about[$2] != $3 " " $4) {
				print "communicator " $2 ": " about[$2] ", but rank " $1 ": " $3 " " $4
				bad = 1
			}
			about[$2] = $3 " " $4
			size[$2] = split($4, members, ",")
			n[$2]++
		}
		END {
			for (id in about) {
				if (n[id] != size[id]) {
					print "communicator " id ": on record " n[id] " times, " size[id] " members"
					bad = 1
				}
				ids++
			}
			exit bad || ids < 30
		}'
}

# The collective with one number on one communicator is one operation for all members.
collectives_agree() {
	dumped tuples | grep -E '"channel":"(collective|comm)"' | grep -v MPI_Comm_create_group |
		sed 's/.*"rank":\([0-9]*\),.*"op":"\([^"]*\)".*"tag":\([0-9]*\),"comm":\([0-9]*\),.*/\4.\3 \2 \1/' |
		awk '{
			if ($1 in op && op[$1] != $2 || ($1, $3) in seen) {
				print $1 ": rank " $3 " in " $2 ", others in " op[$1]
				bad = 1
			}
			op[$1] = $2
			seen[$1, $3] = 1
			if (!($1 in found)) found[$1] = ++n
		}
		END { exit bad || n < 200 }'
}

# --- counts, and with them all that ---

for ranks in 1 2 3 4; do
	tap_case "calls, $ranks ranks: every count and byte sum per operation" \
		counts_are_right "$ranks" "$apps/calls"
done
tap_case "... what is received is what was sent, world ranks, tags, communicators, bytes" messages_agree
tap_case "... communicators have one id and the same members for all" comms_agree
tap_case "... collectives have the same numbers for all" collectives_agree
tap_case "... and nothing but the world was made of nothing" eval '[ "$(dumped comms | grep "\"parent\":0," |
	sed "s/.*\"comm\":\([0-9]*\),.*/\1/" | sort -u | wc -l)" -eq 1 ]'
tap_case "calls: all of it again" counts_are_right 2 "$apps/calls" --rounds 5
for shape in "1 3" "2 4" "3 2"; do
	read -r ranks threads <<<"$shape"
	tap_case "threads: $ranks ranks x $threads threads, every count and byte sum" \
		counts_are_right "$ranks" "$apps/threads" --threads "$threads" --rounds 200
done
tap_case "... what is received is what was sent" messages_agree

# --- nobody notices ---

# same_output STATUS RANKS PROGRAM [OPTION...]: the plain one is run once for all cases.
same_output() {
	local wanted=$1 status=0 seen=0 want got known

	shift
	known=$tap_dir/plain$(tr -c '[:alnum:]' - <<<"$*")
	[ -e "$known.status" ] || { plain "$@" >"$known" 2>/dev/null; echo $? >"$known.status"; }
	want=$(cat "$known") status=$(cat "$known.status")
	got=$(collected "$@" 2>/dev/null) || seen=$?
	[ "$want" = "$got" ] && [ "$status" -eq "$wanted" ] && [ "$seen" -eq "$wanted" ] ||
		{ echo "'$got' ($seen), not '$want' ($status)"; return 1; }
}

tap_case "calls: the same output" same_output 0 2 "$apps/calls"
tap_case "threads: copied handles are completed as of the thread that started them" own_completions
tap_case "threads: the same output" same_output 0 2 "$apps/threads"
tap_case "the program's own exit code" same_output 1 2 "$apps/windtunnel" --threads 2 --check 5 --break-exchange 0

no_folder() {
	local EVSPACE_DIR=/proc/no/such/folder

	same_output 0 2 "$apps/calls" && [ ! -e "$EVSPACE_DIR" ]
}

tap_case "no folder: the program runs on" no_folder

over_quota() {
	export EVSPACE_QUOTA=1
	same_output 0 2 "$apps/calls" && [ "$(ls "$EVSPACE_DIR/run" | sed 's/\.[0-9]*\./ /' | sort)" = \
		$'rank0 refused-quota\nrank1 refused-quota' ]
}

tap_case "over the quota: the program runs on, the reason is on record" eval '(over_quota)'

wrong_settings() {
	export EVSPACE_THREADS=many EVSPACE_CAPACITY=p2p
	same_output 0 2 "$apps/calls" && [ "$(dumped headers | grep -c 'was not understood')" -eq 2 ]
}

tap_case "wrong settings: defaults, with a note" eval '(wrong_settings)'

silent_elsewhere() {
	[ -z "$(LD_PRELOAD=$lib /bin/true 2>&1)" ] && [ ! -e "$EVSPACE_DIR" ]
}

rm -rf "$EVSPACE_DIR"
tap_case "in a program without MPI: nothing" silent_elsewhere

# --- one event in two ---

# What is recorded of a collective is recorded by all members, and its completion with it; of the
# others their number is.
recorded_whole() {
	dumped tuples | sed -n 's/.*"rank":\([0-9]*\),.*"channel":"\(collective\|completion\)","op":"\([A-Za-z_]*\)".*"tag":\([0-9]*\),"comm":\([0-9]*\),.*/\2 \5.\4 \3/p' |
		awk -v members="$(dumped comms | sed 's/^{"rank":\([0-9]*\),"comm":\([0-9]*\),.*"members":\[\(.*\)\]}/\2 \3/' | tr '\n' ';')" '
			BEGIN {
				lines = split(members, line, ";")
				for (i = 1; i <= lines; i++)
					if (split(line[i], word, " ") == 2)
						size[word[1]] = split(word[2], each, ",")
			}
			$1 == "collective" { n[$2]++; its[$2] = $3; all++ }
			$1 == "completion" { completed[$2 " " $3]++ }
			END {
				for (key in n) {
					comm = key
					sub(/[.].*/, "", comm)
					if (comm in size && n[key] != size[comm]) {
						print key, its[key] ": recorded by " n[key] " of " size[comm]
						bad = 1
					}
					if (its[key] ~ /^MPI_I/ && completed[key " " its[key]] != n[key]) {
						print key, its[key] ": " completed[key " " its[key]] + 0 " completions of " n[key]
						bad = 1
					}
				}
				exit bad || all < 100
			}'
}

one_in_two() {
	export EVSPACE_MODES=1/2
	same_output 0 2 "$apps/calls" && recorded_whole
}

tap_case "one event in two: the same output, and collectives are recorded by all members or by none" eval '(one_in_two)'

# --- reserves ---

small_rings() {
	local EVSPACE_CAPACITY=p2p=7,completion=5 n held lost events

	counts_are_right 2 "$apps/calls" >/dev/null && { echo "nothing was overwritten"; return 1; }
	paste -d ' ' <(field held) <(field lost) <(field events) >"$tap_dir/sums"
	[ "$(wc -l <"$tap_dir/sums")" -eq 2 ] || return
	while read -r held lost events; do
		[ "$lost" -gt 0 ] && [ $((held + lost)) -eq "$events" ] ||
			{ echo "$held held, $lost lost, $events written"; return 1; }
	done <"$tap_dir/sums"
}

tap_case "small elements: held and overwritten are what was written" small_rings

few_threads() {
	export EVSPACE_THREADS=2
	same_output 0 2 "$apps/threads" --threads 5 && [ "$(field threads)" = $'2\n2' ] &&
		[ "$(dumped headers | grep -c 'more threads than the reserve')" -eq 2 ] &&
		[ "$(dumped headers | grep -c '"lost":0,')" -eq 0 ]
}

tap_case "more threads than the reserve: counted as lost, with a note" eval '(few_threads)'

# --- with others ---

late_library() {
	[ "$(collected 2 "$preload/late" "$preload/.libs/plugin.so")" = "plugin: 1" ] || return
	[ "$(dumped counts | grep -c '"op":"MPI_\(Barrier\|Allreduce\|Init_thread\|Finalize\)","calls":1,')" -eq 8 ]
}

tap_case "a program that loads MPI when it runs" late_library

# The loader has two locks: whoever takes them in the other order stops for ever, sooner or later.
late_library_beside() {
	local others=()

	for i in {1..60}; do
		others+=("$tap_dir/$i.so")
		cp "$preload/.libs/leap.so" "$tap_dir/$i.so" || return
	done
	rm -rf "$EVSPACE_DIR"
	for _ in {1..6}; do
		[ "$(LD_PRELOAD=$lib timeout -k 5 20 "$preload/late" "$preload/.libs/plugin.so" "${others[@]}")" = "plugin: 0" ] || return
	done
	[ "$(dumped counts | grep -c '"op":"MPI_Barrier","calls":1,')" -eq 6 ]
}

tap_case "a program that loads MPI while other threads load something else" late_library_beside

# The tool's own calls are the tool's when it comes after us, and the program's when it comes before.
with_tool() {
	local libs=$1 allreduces=$2

	[ "$(collected 2 "$preload/late" "$preload/.libs/plugin.so" | sort)" = $'plugin: 1\ntool: 1 barriers' ] || return
	[ "$(dumped counts | grep -c '"op":"MPI_Barrier","calls":1,')" -eq 2 ] &&
		[ "$(dumped counts | grep -c "\"op\":\"MPI_Allreduce\",\"calls\":$allreduces,")" -eq 2 ]
}

tap_case "another tool after us: both see all" with_tool "$lib $preload/.libs/tool.so" 1
tap_case "another tool before us: both see all" with_tool "$preload/.libs/tool.so $lib" 2
tap_done
