# SPDX-License-Identifier: BSD-3-Clause
# Tests evspace archive merge of archives of several hosts: nodes that have other names from some time on, hosts that were away.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
export EVSPACE_CONNECT=$bed_entry

begun() {
	[ "$(ls "$EVSPACE_DIR/wind/" | grep -c '\.seg$')" -eq 4 ]
}

# count KEY DIR: of the archive's account.
count() {
	evspace archive info "$2" --json | sed -n 's/.*"type":"archive".*"'"$1"'":\([0-9]*\).*/\1/p'
}

# of NODE DIR: how many tuples of it there are.
of() {
	evspace archive info "$2" --json 2>/dev/null | sed -n 's/.*"type":"element","name":"\/'"${1//\//\\/}"'\/.*"tuples":\([0-9]*\),.*/\1/p' |
		awk '{ n += $1 } END { print n + 0 }'
}

# has_more NODE DIR N: more than N of them.
has_more() {
	[ "$(of "$1" "$2")" -gt "$3" ]
}

# After the nodes have changed clusters, what is new has their new names.
nodes_are_renamed() {
	bed_start early evspace archive --run wind --rate 50 "$tap_dir/early"
	bed_until has_more A/a1 "$tap_dir/early" 0 || return
	cp -r "$bed_dir/maps" "$tap_dir/new"
	sed -i -E 's/^\tnodes   a\[0-1\];/\tnodes   a0 b1;/; s/^\tnodes   b\[0-1\];/\tnodes   b0 a1;/
		s/address 127.0.0.1:\['$((base + 2))'-'$((base + 3))'\]/address a0 127.0.0.1:'$((base + 2))'; address b1 127.0.0.1:'$((base + 5))'/
		s/address 127.0.0.1:\['$((base + 4))'-'$((base + 5))'\]/address b0 127.0.0.1:'$((base + 4))'; address a1 127.0.0.1:'$((base + 3))'/' "$tap_dir/new/cluster.map"
	evspace map apply "$tap_dir/new" --identity control && bed_until has_more B/a1 "$tap_dir/early" 0
}

owes() {
	[ "$(count owing "$1")" -eq 1 ]
}

# A host that is asked, and stopped, owes what it may have read; it is back for the other archiver.
host_is_away() {
	bed_start middle evspace archive --run wind --rate 50 --deadline 100ms "$tap_dir/middle"
	bed_until has_more A/a0 "$tap_dir/middle" 0 && bed_until has_more B/b0 "$tap_dir/middle" 0 || return
	kill -STOP "$(bed_pid b0)"
	bed_until owes "$tap_dir/early" && bed_until owes "$tap_dir/middle"
	set -- $?
	bed_kill INT early && bed_kill INT middle
	kill -CONT "$(bed_pid b0)"
	[ "$1" -eq 0 ] && owes "$tap_dir/early" && evspace archive check "$tap_dir/early" >/dev/null
}

all_is_kept() {
	bed_kill TERM wind
	bed_until eval 'evspace archive --run wind "$tap_dir/late" && [ "$(of B/b0 "$tap_dir/late")" -gt 0 ]' &&
		[ "$(count lost "$tap_dir/late")" -eq 0 ] && [ "$(count unaccounted "$tap_dir/late")" -eq 0 ]
}

# merged OUT DIR...: it has each tuple of the program once, by the names that the elements have now.
merged() {
	local out=$tap_dir/$1

	shift
	evspace archive merge "$@" --into "$out" 2>"$tap_dir/said" && evspace archive check "$out" >"$tap_dir/check" &&
		[ "$(count tuples "$out")" -eq "$(count tuples "$tap_dir/late")" ] && [ "$(count lost "$out")" -eq 0 ] &&
		evspace events --from "$out" --json 2>/dev/null | "$top_builddir/tests/account" "$EVSPACE_DIR/wind" all=0 ||
		{ cat "$tap_dir/said" "$tap_dir/check"; evspace archive info "$out"; return 1; }
}

# Whichever is first, and whoever knows which names.
names_are_the_same() {
	merged one "$tap_dir/early" "$tap_dir/late" && merged two "$tap_dir/late" "$tap_dir/early" &&
		merged three "$tap_dir/late" "$tap_dir/middle" "$tap_dir/early" && evspace archive info "$tap_dir/two" --json >"$tap_dir/info" &&
		[ "$(sed -n 's/.*"type":"element","name":"\/[^\/]*\/[^\/]*\/\([^"]*\)".*/\1/p' "$tap_dir/info" | sort | uniq -d | wc -l)" -eq 0 ]
}

# Without the archive that has all, what the host owed is missing, and the archive says so.
owing_is_said() {
	local early middle

	early=$(of B/b0 "$tap_dir/early")
	middle=$(of B/b0 "$tap_dir/middle")
	evspace archive merge "$tap_dir/middle" "$tap_dir/early" --into "$tap_dir/owing" 2>"$tap_dir/said" && evspace archive check "$tap_dir/owing" >"$tap_dir/check" &&
		grep -q '^1 host had not answered' "$tap_dir/check" && grep -q ' 0 unaccounted' "$tap_dir/check" &&
		[ "$(of B/b0 "$tap_dir/owing")" -eq $((early > middle ? early : middle)) ] && has_more A/a0 "$tap_dir/owing" 0
}

base=${bed_entry##*:}
bed_agents front ga a0 a1 b0 b1 || exit 99
bed_start wind evspace run --run wind --threads 1 --capacity 60000 -- mpirun -np 4 "$top_builddir/tests/apps/windtunnel" --seconds 100000 --pause 50
bed_until begun
tap_case "nodes get other names while an archiver reads" nodes_are_renamed
tap_case "a host is away when archivers end" host_is_away
tap_case "another archiver has all" all_is_kept
tap_case "merged, each element is there once" names_are_the_same
tap_case "without who has all, it is said who owes something" owing_is_said
tap_done
