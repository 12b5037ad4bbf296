# SPDX-License-Identifier: BSD-3-Clause
# Tests the sampler on the PVM program of Özmen's Figure 5: what it keeps are the ends of segments, all else is counted, and
# without a reader it does nothing. The same of `filter entropy`, on what was recorded.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/pvm-bed.sh"

EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR EVSPACE_RUN=run EVSPACE_CAPACITY=20000
lib=$top_builddir/.libs/libevspace-pvm.so
mkdir -p "$bed_dir/pids"

tap_cleanup() {
	pvm_end
	bed_end
}

# started NAME COMMAND...: on v1, in the background.
started() {
	bed_start "$1" pvm_exec v1 "${@:2}"
}

agent_runs() {
	mkdir "$tap_dir/maps"
	cat >"$tap_dir/maps/application.map" <<-END
		application figure5 {
			ranks any;
			view samples { read sample every 100us to 2ms; }
			view thin { read stream; element filter entropy window 2; }
		}
	END
	echo "cluster c { nodes v1; address unix:$EVSPACE_DIR/v1; }" >"$tap_dir/maps/cluster.map"
	echo 'entry v1;' >"$tap_dir/maps/mapping.map"
	export EVSPACE_CONNECT=unix:$EVSPACE_DIR/v1
	started agent evspace agent --pathmap "$tap_dir/maps" --node v1 && bed_until grep -q 'ready on' "$bed_dir/agent.err"
}

program_runs() {
	LD_PRELOAD=$lib pvm_on v1 timeout -k 5 120 "$top_builddir/tests/apps/pvm_figure5" 2 "$1"
}

agent_cpu_us() {
	echo $(($(awk '{ print $14 + $15 }' "/proc/$(bed_pid agent)/stat") * 10000))
}

# events NAME OPTION...: in order of threads and times.
events() {
	pvm_on v1 evspace events --backlog --until-end --csv "${@:2}" 2>"$tap_dir/$1.err" >"$tap_dir/$1.all" &&
		sorted "$tap_dir/$1.all" >"$tap_dir/$1"
}

sorted() {
	head -n 1 "$1"
	sed 1d "$1" | sed 's/^\([^,]*\)\/[^,/]*,/\1\/-,/' | sort -t , -k 1,1 -k 4,4n
}

judged() {
	local said

	said=$(awk -v slack="$1" -f "$top_srcdir/tests/sampler.awk" mode=trace "$tap_dir/trace" mode=samples "$2") || return
	echo "# $3: $said" | tee -a "$tap_dir/judged"
	awk -v share="$4" -v precision="$5" -v recall="$6" -v long="$7" '{
		match($0, /kept: [0-9.]*/); s = substr($0, RSTART + 6, RLENGTH - 6)
		match($0, /precision [0-9.]*/); p = substr($0, RSTART + 10, RLENGTH - 10)
		match($0, /recall [0-9.]*/); r = substr($0, RSTART + 7, RLENGTH - 7)
		match($0, /trace [0-9.]*/); l = substr($0, RSTART + 6, RLENGTH - 6)
		exit !(s <= share && p >= precision && r >= recall && l >= long)
	}' <<<"$said"
}

samples_are_kept() {
	local before

	started kept evspace archive --wait --view samples "$tap_dir/samples"
	bed_until eval 'pvm_on v1 evspace status --json | grep -q "\"scopes\":1"' || return
	before=$(agent_cpu_us)
	program_runs 20 || return
	bed_until bed_gone "$(bed_pid kept)"
	echo "# the agent used $(($(agent_cpu_us) - before)) us"
	evspace events --from "$tap_dir/samples" --view samples --csv >"$tap_dir/kept.all" 2>"$tap_dir/kept.err" &&
		grep -q sampled "$tap_dir/kept.err" || { cat "$bed_dir/kept.err" "$tap_dir/kept.err"; return 1; }
	sorted "$tap_dir/kept.all" >"$tap_dir/kept"
	events trace && judged 6000000 "$tap_dir/kept" "sampler" 0.7 0.3 0.95 0.3
}

the_profile_is_the_same() {
	local error

	pvm_on v1 evspace archive "$tap_dir/all" >"$tap_dir/archive.err" 2>&1 &&
		evspace entropy --samples "$tap_dir/samples" --trace "$tap_dir/all" --json >"$tap_dir/effect" || { cat "$tap_dir/archive.err"; return 1; }
	evspace entropy --samples "$tap_dir/samples" --trace "$tap_dir/all" | sed 's/^/# /' | tee -a "$tap_dir/judged"
	error=$(sed -n 's/.*"profile_error","error":\([0-9.e-]*\).*/\1/p' "$tap_dir/effect")
	awk -v error="$error" '
		{ match($0, /"trace":[0-9.e-]*/); trace += substr($0, RSTART + 8, RLENGTH - 8) }
		/"profile"/ { match($0, /"samples":[0-9.e-]*/); samples += substr($0, RSTART + 10, RLENGTH - 10) }
		END { exit !(error != "" && error > 0 && error < 0.05 && trace > 0.999 && trace < 1.001 && samples > 0.999 && samples < 1.001) }' "$tap_dir/effect" &&
		grep -q '"what":"evspace_region foo"' "$tap_dir/effect"
}

# Of the segments of each element in the trace: which of their ends has the filter kept?
ends_kept() {
	pvm_on v1 evspace events --backlog --until-end --csv --view thin 2>/dev/null | sort -t , -k 1,1 -k 3,3n >"$tap_dir/thin" &&
		sed 1d "$tap_dir/trace.all" | sort -t , -k 1,1 -k 3,3n | awk -F , '
			FNR == 1 { file++ }
			file == 1 { if ($1 != "name") { m++; name[m] = $1; op[m] = $5; number[m] = $2 }; next }
			{ n++; e[n] = $1; k[n] = $5 ($5 ~ /region|phase/ ? $7 : "") }
			name[j + 1] == $1 && op[j + 1] == $5 && number[j + 1] == $2 { kept[n] = 1; j++ }
			END {
				for (i = 1; i <= n; i++) {
					end = e[i - 1] != e[i] || k[i - 1] != k[i] || e[i + 1] != e[i] || k[i + 1] != k[i]
					all += end; has += kept[i]; right += end && kept[i]
				}
				printf "# filter entropy: %d of %d tuples kept: %.3f; precision %.3f, recall %.3f\n", has, n, has / n, has ? right / has : 0, right / all
					exit has != m
			}' "$tap_dir/thin" - | tee -a "$tap_dir/judged"
}

# What the filter has left out was as what it has kept, but for so much of the time.
the_filter_says_the_time() {
	local error

	pvm_on v1 evspace archive --view thin "$tap_dir/thinned" >"$tap_dir/archive.err" 2>&1 &&
		evspace entropy --samples "$tap_dir/thinned" --trace "$tap_dir/all" --json >"$tap_dir/effect" &&
		evspace entropy --samples "$tap_dir/all" --trace "$tap_dir/all" --json >"$tap_dir/none" || { cat "$tap_dir/archive.err"; return 1; }
	evspace entropy --samples "$tap_dir/thinned" --trace "$tap_dir/all" | sed 's/^/# /' | tee -a "$tap_dir/judged"
	cat "$tap_dir/effect"
	error=$(sed -n 's/.*"profile_error","error":\([0-9.e-]*\).*/\1/p' "$tap_dir/effect")
	awk -v error="$error" 'BEGIN { exit !(error != "" && error < 0.05) }' &&
		grep -q '"sampled_out":[1-9][0-9]*,"samples_lost":0,.*"lost":0,"not_compared_s":0.0' "$tap_dir/effect" &&
		grep -q '"error":0.0,.*"sampled_out":0' "$tap_dir/none"
}

# What is counted adds up, and a second look at the same waves finds the same.
the_filter_says_the_same() {
	local n first second

	pvm_on v1 evspace events --backlog --until-end --json --view thin \
		>"$tap_dir/first" 2>&1 || return
	pvm_on v1 evspace events --backlog --until-end --json --view thin \
		>"$tap_dir/second" 2>&1 || return
	n=$(sed 1d "$tap_dir/trace" | wc -l)
	first=$(sed -n 's/.*"type":"summary".*"delivered":\([0-9]*\).*"filtered":0,.*"sampled_out":\([0-9]*\).*/\1 \2/p' "$tap_dir/first")
	second=$(grep -c '"type":"tuple"' "$tap_dir/second")
	set -- $first
	ends_kept
	[ "$(($1 + $2))" -eq "$n" ] && [ "$2" -gt 0 ] && [ "$second" -eq "$1" ]
}

nothing_is_left() {
	bed_until eval '! ls "$EVSPACE_DIR"/run/*.mirror' && [ "$(pvm_on v1 evspace view latest --json --count 1 | grep -c '/sample')" -eq 0 ]
}

at_rest_nothing_runs() {
	local before after

	before=$(awk '/ctxt/ { n += $2 } END { print n }' "/proc/$(bed_pid agent)/status")
	sleep 1
	after=$(awk '/ctxt/ { n += $2 } END { print n }' "/proc/$(bed_pid agent)/status")
	echo "# $((after - before)) switches of the agent in a second"
	[ $((after - before)) -le 5 ]
}

# refused CODE TEXT COMMAND...
refused() {
	pvm_on v1 evspace "${@:3}" >"$tap_dir/refused" 2>&1
	[ $? -eq "$1" ] && grep -q "$2" "$tap_dir/refused" || { cat "$tap_dir/refused"; return 1; }
}

# Of the library and of the program: as often as they come, and how long each lasts.
table_is_right() {
	pvm_on v1 evspace plan --table --duration 1s --minimum user=1 >"$tap_dir/table" 2>&1 &&
		awk '$1 == "p2p@world" { p = $2 > 0.1 && $2 < 1000 && $4 <= 1 } $1 == "user" { u = $2 > 1 && $2 < 1000 && $4 > 0.3 && $4 <= 1 && $6 == 1 } END { exit !(p && u) }' "$tap_dir/table"
}

pvm_modes() {
	pvm_on v1 evspace collect --json | grep '"type":"class"' | grep -o '"mode":"[^"]*"' | sort -u | tr -d '\n'
}

pvm_is_planned() {
	! pvm_is_traced
}

pvm_is_traced() {
	[ "$(pvm_modes)" = '"mode":"trace"' ]
}

a_plan_is_applied() {
	LD_PRELOAD=$lib started long "$top_builddir/tests/apps/pvm_figure5" 2 10 100000
	bed_until table_is_right || { cat "$tap_dir/table"; return 1; }
	started plan evspace plan --budget 0.0001% --weight p2p@world=100 --duration 200ms --apply --json
	bed_until pvm_is_planned && bed_until grep -q '"type":"change"' "$bed_dir/plan.out" && bed_kill INT plan && bed_wait plan &&
		pvm_is_traced || { cat "$bed_dir"/plan.*; pvm_modes; return 1; }
	bed_kill TERM long
}

pvm_begin || { echo "Bail out! no virtual machine"; exit 99; }
agent_runs >"$tap_dir/begun" 2>&1 || { sed 's/^/# /' "$tap_dir/begun" "$bed_dir/agent.err"; exit 99; }
tap_case "samples that are kept are ends of segments, and few" samples_are_kept
tap_case "the profile of the samples is that of the trace, but for 5 %" the_profile_is_the_same
tap_case "filter entropy counts what it leaves out, and is the same again" the_filter_says_the_same
tap_case "... and what that makes of the profile, against the trace" the_filter_says_the_time
tap_case "elements of samples are gone, and no other view has them" nothing_is_left
tap_case "without a reader nothing runs" at_rest_nothing_runs
tap_case "times that make no sense are refused" refused 2 "between 20us and 10s" view --count 1 --define "read sample every 1us to 1s"
tap_case "and other readings have no more words" refused 2 "nothing more behind" view --count 1 --define "read latest every 1ms to 2ms"
tap_case "no filtered events are taken for a trace" refused 1 "a filter has left out" entropy --samples "$tap_dir/thinned" --trace "$tap_dir/thinned"
tap_case "nor samples for a trace" refused 1 "the trace is to be one of events" entropy --samples "$tap_dir/samples" --trace "$tap_dir/samples"
tap_case "one archive is not enough" refused 2 "go together" entropy --samples "$tap_dir/samples"
tap_case "a plan of a PVM program: its classes are measured, and switched until Ctrl-C" a_plan_is_applied
[ ! -s "$tap_dir/judged" ] || cat "$tap_dir/judged"
tap_done
