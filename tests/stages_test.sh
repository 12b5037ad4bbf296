# SPDX-License-Identifier: BSD-3-Clause
# Tests stages of others: the example is built by what is installed, agents load it, its consumer says what the events
# say; and what is wrong with an object is told.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

root=$tap_dir/root
stages=$tap_dir/stages
own=$tap_dir/own

view() {
	timeout -k 5 120 evspace view --connect "$bed_entry" --run tunnel --rate 20 "$@"
}

# says CODE TEXT OPTIONS...: a view ends with that code, and has said the text.
says() {
	tap_says "$1" "$2" view "${@:3}"
}

# As docs/extending.md says.
builds() {
	cp -r "$(find "$root" -path '*/docs/examples/stage')" "$own" && make -s -C "$own" CFLAGS='-O2 -Wall -Wextra -Werror' &&
		mkdir -m 755 "$stages" && cp "$own/sketch.so" "$stages"
}

# bad NAME FLAG: a bad object, which stays in memory even if it is not taken, as some in C++ do.
bad() {
	cc -fPIC -shared -Wl,-z,nodelete ${2:+"-D$2"} $(pkg-config --cflags evspace-stage) -o "$stages/$1.so" "$top_srcdir/tests/stages/bad.c"
}

# agents FOLDER NODE...: of the bed, with the stages of that folder; none: -.
agents() {
	local folder=$1 node

	shift
	for node; do
		# shellcheck disable=SC2046
		bed_start "$node" evspace agent --pathmap "$bed_dir/maps" --node "$node" $([ "$folder" = - ] || echo --stages "$folder")
	done
	for node; do
		bed_until bed_ready "$node" && grep -q 'ready on' "$bed_dir/$node.err" || { cat "$bed_dir/$node.err"; return 1; }
	done
}

# told TEXT: what the agent front has said of an object.
told() {
	grep -e "$1" "$bed_dir/front.err" || { cat "$bed_dir/front.err"; return 1; }
}

# lacks TEXT MAPS: the agent of the map, started by deploy, says that of its view's stage; "": it has it.
lacks() {
	evspace deploy up "$2" || return
	timeout -k 5 60 evspace view volumes --connect "unix:$tap_dir/here.sock" --run tunnel --backlog --until-end >"$tap_dir/said" 2>&1
	[ $? -eq "$([ -z "$1" ] && echo 0 || echo 2)" ] && grep -e "${1:-^/ .*sketch }" "$tap_dir/said" || { cat "$tap_dir/said" "$tap_dir"/files/*/here/log; return 1; }
}

# deployed ENGINE: its agent gets the folder that the map says, and is started anew when the map says none.
deployed() {
	local maps=$tap_dir/deployed-$1

	cp -r "$top_srcdir/docs/examples/stage/maps" "$maps" && chmod -R u+w "$maps" &&
		echo "cluster local { nodes here; address unix:$tap_dir/here.sock; deploy $1 { host localhost; folder $tap_dir/files; stages $stages; } }" >"$maps/cluster.map" &&
		sed -i 's/"volume.so"/"sketch.so"/' "$maps/application.map" &&
		lacks "" "$maps" && sed -i "s,stages [^;]*;,," "$maps/cluster.map" &&
		lacks 'this agent has no stage "sketch.so", as it was started without --stages' "$maps" && evspace deploy down "$maps"
}

# refused TEXT FOLDER: an agent with this folder of stages does not start.
refused() {
	! timeout -k 5 60 evspace agent --stages "$2" >"$tap_dir/said" 2>&1 && grep -e "$1" "$tap_dir/said" ||
		{ cat "$tap_dir/said"; return 1; }
}

# Bytes to each rank, by the events themselves.
exactly() {
	view --define 'select /**/p2p; element filter op=MPI_Send|MPI_Isend' --backlog --until-end --json 2>"$tap_dir/err" |
		sed -n 's/.*"type":"tuple".*"peer":\([0-9]*\).*"bytes":\([0-9]*\).*/\1 \2/p;
			s/.*"type":"tuple".*"bytes":\([0-9]*\).*"peer":\([0-9]*\).*/\2 \1/p' |
		awk '{ n[$1] += $2; m++ } END { for (i = 0; i < 4; i++) printf "rank%d %d\n", i, n[i]; print m }'
}

# peers VIEW: what the consumer from out of tree says.
peers() {
	timeout -k 5 120 "$own/peers" tunnel "$1" 4 "$bed_entry"
}

estimates_are_right() {
	exactly >"$tap_dir/exact" || return
	peers "$1" >"$tap_dir/estimated" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	diff <(sed '$d' "$tap_dir/exact") <(sed '$d' "$tap_dir/estimated") &&
		grep -q "^$(tail -n 1 "$tap_dir/exact") messages, " "$tap_dir/estimated" &&
		[ "$(tail -n 1 "$tap_dir/exact")" -gt 100 ] || { cat "$tap_dir/exact" "$tap_dir/estimated" "$tap_dir/err"; return 1; }
}

# Of each wave one record, whose first two numbers are messages and bytes.
json_has_numbers() {
	view sent --backlog --until-end --json >"$tap_dir/json" 2>"$tap_dir/err" &&
		! grep UNACCOUNTED "$tap_dir/err" &&
		sed -n 's/.*"type":"foreign","name":"\/","kind":"sketch","words":\[\([0-9]*\),\([0-9]*\),.*/\1/p' "$tap_dir/json" |
		awk -v wanted="$(tail -n 1 "$tap_dir/exact")" '{ n += $1 } END { exit n != wanted }' || { cat "$tap_dir/json" "$tap_dir/err"; return 1; }
}

names_who_lacks_it() {
	view sent --backlog --rate 1 --count 4 >"$tap_dir/said" 2>&1
	grep 'b1 refused for [0-9.]* s: this agent has no stage "sketch.so"; put the file into its folder' "$tap_dir/said" &&
		grep '2 of 3 hosts\|3 of 4 hosts' "$tap_dir/said" || { cat "$tap_dir/said" "$bed_dir/front.err"; return 1; }
}

# The host lacks the stage, and nobody puts it there.
until_end_refused() {
	local code=0

	view sent --backlog --until-end >"$tap_dir/said" 2>&1 || code=$?
	[ "$code" -eq 1 ] && grep 'ended without 1 of 4 hosts, which refuses: /B/b1, for [0-9.]* s: this agent has no stage "sketch.so"' "$tap_dir/said" ||
		{ echo "$code"; tail -n 5 "$tap_dir/said"; return 1; }
}

# Who is named by view VIEW for TEXT; all agents live on, and other views.
ends_by() {
	view "$1" --backlog --count 3 >"$tap_dir/said" 2>&1
	grep -e "$2" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
	says 0 '^heartbeat of tunnel, wave 1 .* 4 of 4 hosts' heartbeat --count 1
}

waves() {
	grep -c '"type":"wave"' "$bed_dir/$1.out"
}

# A consumer that stands still keeps the tree which it has shared with one whom a fault has ended.
faults_end_with_it() {
	local name

	for name in still ended; do
		bed_start $name evspace view shared --connect "$bed_entry" --run tunnel --rate 10 --duration 200s --json
		bed_until eval '[ "$(waves '$name')" -gt 3 ]' || { cat "$bed_dir/$name.err"; return 1; }
	done
	kill -STOP "$(bed_pid still)" && touch "$tap_dir/wrong" && bed_until bed_gone "$(bed_pid ended)" &&
		grep 'has taken more tuples' "$bed_dir/ended.err" && rm "$tap_dir/wrong" &&
		says 0 '^3 waves ' shared --count 3
	set -- $?
	kill -KILL "$(bed_pid still)"
	return "$1"
}

bed_begin
tap_case "it installs below DESTDIR" tap_install "$root"
lib=$(dirname "$(find "$root" -name evspace-stage.pc)")
export PKG_CONFIG_PATH=$lib PKG_CONFIG_SYSROOT_DIR=$root LD_LIBRARY_PATH=${lib%/pkgconfig}
tap_case "the example is built by what is installed" builds
[ -f "$stages/sketch.so" ] || exit 1
mkdir -m 755 "$tap_dir/empty"
sed -i 's/capacity 1000/capacity 50000/; s/^\tview volume/\tstage sketch from "sketch.so";\n\tstage past from "past.so";\n\tstage atimes from "atimes.so";\n\tstage refuses from refuses.so;\n\tview sent { select \/**\/p2p; read stream; element filter op=MPI_Send|MPI_Isend; node sketch; cluster sketch; all sketch; }\n\tview narrow { select \/**\/p2p; read stream; element filter op=MPI_Send|MPI_Isend; thread sketch 100; all sketch 100; }\n\tview low { read stream; node past; }\n\tview high { read stream; all past; }\n\tview shared { read latest; all atimes; }\n&/' \
	"$bed_dir/maps/application.map"
tap_case "a map names it" eval 'evspace map check "$bed_dir/maps" && evspace map show "$bed_dir/maps" --view sent >"$tap_dir/said" &&
	grep "^node sketch  *hosts of elements.* of sketch.so" "$tap_dir/said" && ! grep "node sketch.so" "$tap_dir/said"'
bad past PAST && bad atimes "WHILE=\"$tap_dir/wrong\"" && bad refuses REFUSES && bad another ANOTHER && bad tableless && echo nonsense >"$stages/nonsense.so" &&
	cp "$own/sketch.so" "$stages/writable.so" && chmod 666 "$stages/writable.so" && ln -s sketch.so "$stages/link.so" || exit 99
agents "$stages" front ga a0 a1 b0 && agents "$tap_dir/empty" b1 || exit 99
bed_start tunnel evspace run --pathmap "$bed_dir/maps" --run tunnel --threads 2 -- mpirun -np 4 \
	"$top_builddir/tests/apps/windtunnel" --threads 2 --steps 60 --pause 20
bed_wait tunnel

tap_case "an object of another version of the interface is left out" told 'another.so: is written for version 2 of evspace-stage.h, this agent for 1'
tap_case "... one without a table" told 'tableless.so: has no table `evspace_stage`'
tap_case "... what is no object" told 'nonsense.so: cannot be loaded: '
tap_case "... what others can write to" told 'writable.so: can be written by others; chmod go-w'
tap_case "... a symbolic link" told 'link.so: is a symbolic link'
tap_case "a host that lacks it is named, with what to do" names_who_lacks_it
tap_case "--until-end ends without who refuses for good, and says so" until_end_refused
tap_case "with the file in its folder it takes part" eval 'bed_kill TERM b1 && agents "$stages" b1 &&
	bed_until says 0 "wave 1 .* 4 of 4 hosts" sent --backlog --count 1'
tap_case "... also when the file is written over" eval ': >"$stages/sketch.so" && says 0 "wave 1 .* 4 of 4 hosts" sent --backlog --count 1'
cp "$own/sketch.so" "$stages"
tap_case "its consumer from out of tree says what the events say" estimates_are_right sent
tap_case "... by any tree, with arguments" estimates_are_right narrow
tap_case "evspace view shows its numbers" json_has_numbers
tap_case "... in a table" says 0 '^/ .*sketch .*\.\.\. (258)$' sent --backlog --until-end
tap_case "arguments are the stage's to check" says 2 '--define:1:5: `1` is no number of counters; write 2 to 1000' --define 'all sketch 1'
tap_case "a consumer may not use it unless the map says so" says 2 '`sketch` is a stage of others' --define 'all sketch 100'
tap_case "what writes past its records ends the view, not the agent: at the hosts" ends_by low 'stage "past.so" has written past what it was given'
tap_case "... at the entry" ends_by high 'stage "past.so" has written past what it was given'
tap_case "... which its log says once" eval '[ "$(grep -c "^evspace agent: .*stage .past.so. has written past .* no view can use it\|^stage .past.so. has written past .* no view can use it" "$bed_dir/front.err")" -eq 1 ]'
tap_case "who comes after a fault gets a tree without it" faults_end_with_it
sed 's/^\tview volume/\tviews { kinds filter sketch; }\n&/' "$bed_dir/maps/application.map" >"$tap_dir/application.map"
cp -r "$bed_dir/maps" "$tap_dir/new" && mv "$tap_dir/application.map" "$tap_dir/new"
sed 's/^\tview volume/\tview none { read stream; node refuses well; }\n&/' "$bed_dir/maps/application.map" >"$tap_dir/application.map"
cp -r "$bed_dir/maps" "$tap_dir/not" && mv "$tap_dir/application.map" "$tap_dir/not"
tap_case "what refuses to begin says why" eval '! evspace map apply "$tap_dir/not" --connect "$bed_entry" --identity control >"$tap_dir/said" 2>&1 &&
	grep "application.map:[0-9]*:[0-9]*: no .well. ? today" "$tap_dir/said" || { cat "$tap_dir/said"; false; }'
tap_case "a consumer may if it does" eval 'evspace map apply "$tap_dir/new" --connect "$bed_entry" --identity control &&
	says 0 "^/ .*sketch " --define "select /**/p2p; all sketch 100" --backlog --until-end'
defined='select /**/p2p; node sketch 100; all sketch 100'
tap_case "... a host that lacks it is named likewise" eval 'bed_kill TERM b1 && agents "$tap_dir/empty" b1 &&
	bed_until says 0 "b1 refused for .*this agent has no stage .sketch.so.; put the file into its folder" --define "$defined" --backlog --count 2 &&
	grep "3 of 4 hosts" "$tap_dir/said" && bed_kill TERM b1 && agents "$stages" b1'
sed -i 's/^\tview volume/\tstage lost from "lost.so";\n\tview lost { read stream; all lost; }\n&/' "$tap_dir/new/application.map"
tap_case "who applies a map is told what the entry lacks" tap_says 0 \
	'^evspace map apply: view `lost` cannot be opened: this agent has no stage "lost.so"; put the file into its folder' \
	evspace map apply "$tap_dir/new" --connect "$bed_entry" --identity control
tap_case "evspace deploy has agents started with a folder of their hosts" deployed local
tap_case "... by launchers, too" deployed mpi
chmod 777 "$stages"
tap_case "a folder that others can write to is refused" refused 'the folder of stages: .*stages: can be written by others; chmod go-w' "$stages"
chmod 755 "$stages"
mkdir -m 777 "$tap_dir/open" && mkdir "$tap_dir/open/in"
chmod 777 "$tap_dir/open"
tap_case "... one below such a one" refused 'open: can be written by others' "$tap_dir/open/in"
ln -s "$stages" "$tap_dir/way"
tap_case "... a symbolic link on the way" refused 'way: is no folder, or a symbolic link' "$tap_dir/way"
tap_case "... one that is not there" refused 'nowhere: No such file' "$tap_dir/nowhere"
if chown 1 "$stages/sketch.so" 2>/dev/null; then
	tap_case "an object of another owner is left out" eval 'bed_kill TERM front && agents "$stages" front &&
		told "sketch.so: belongs to another user than root and this agent.s; chown it"'
	chown 1 "$stages"
	tap_case "a folder of another owner is refused" refused 'belongs to another user' "$stages"
else
	tap_skip "an object of another owner is left out" "only root can give files away"
fi
tap_done
