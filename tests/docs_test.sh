# SPDX-License-Identifier: BSD-3-Clause
# Tests the documents: what is marked in them is run, and its output has the shape that they show; links and names of
# files lead somewhere; all of them are installed.
#
# A block behind `<!-- run: NAME -->` is run in the session NAME: one shell, its blocks one after the other. A line that
# begins with "$ " is a command, those behind it are what it prints. A block that begins without one is what the last
# background command prints next. Numbers, quantities, times and the host's name stand for any others, "..." for any
# lines, or for any end of a line. In a block behind `<!-- do: NAME -->` each line is a command that has to end with 0,
# whatever it prints.

. "$top_srcdir/tests/tap.sh"

# As long as a command may take until it has printed what is shown; it is run again until then.
patience=20
space=$(mktemp -d /dev/shm/evspace-docs.XXXXXX) || exit 99
pids=()
: >"$tap_dir/started"

tap_cleanup() {
	local pid tries

	# The last first: the agent serves until programs have ended.
	for pid in $(tac "$tap_dir/started"); do
		kill "$pid" 2>/dev/null && timeout 20 tail --pid="$pid" -f /dev/null || kill -KILL "$pid" 2>/dev/null
	done
	# Ranks that mpirun has left behind may be in there a little longer.
	for ((tries = 0; tries < 100; tries++)); do
		rm -rf "$space" 2>/dev/null && break
		sleep 0.1
	done
}

# Where a reader is: in a clone with a build folder.
mkdir "$tap_dir/clone" "$tap_dir/home" && cd "$tap_dir/clone" || exit 99
for name in deploy docs node-agent pathmap tree consumers tests README.md CONTRIBUTING.md CHANGELOG.md; do
	ln -s "$top_srcdir/$name" .
done
ln -s "$top_builddir" build
export HOME=$tap_dir/home EVSPACE_DIR=$space
unset XDG_CONFIG_HOME EVSPACE_CONNECT EVSPACE_RUN EVSPACE_PROFILE EVSPACE_TLS

# shape: stdin, with what differs from run to run made alike.
shape() {
	sed -E -e "s,$space,/dev/shm/evspace-0,g" -e "s/\b$(hostname -s | sed 's/\./\\./g')\b/vm/g" \
		-e 's/[0-9]+:[0-9]{2}:[0-9]{2}(\.[0-9]+)?/N/g' -e 's/[0-9][0-9,]*(\.[0-9]+)?(e[-+]?[0-9]+)?/N/g' \
		-e 's/\b(under|about) N/N/g' -e 's,N (ns|us|ms|s|min|h|B|KiB|MiB|GiB)\b,N,g' -e 's/[[:blank:]]+/ /g' -e 's/ $//'
}

# alike WANT GOT [more]: whether the lines of the file GOT are those of WANT by their shape; `more` may come behind.
alike() {
	awk -v more="$3" '
		# of: whether what is shown from line w on is what there is from line g on
		function of(w, g,    rest) {
			if (w > n)
				return more || g > m
			if (want[w] == "...") {
				for (rest = g; rest <= m + 1; rest++)
					if (of(w + 1, rest))
						return 1
				return 0
			}
			if (g > m)
				return 0
			if (want[w] ~ /\.\.\.$/) {
				if (index(got[g], substr(want[w], 1, length(want[w]) - 3)) != 1)
					return 0
			} else if (want[w] != got[g])
				return 0
			return of(w + 1, g + 1)
		}
		NR == FNR { want[++n] = $0; next }
		{ got[++m] = $0 }
		END { exit !of(1, 1) }' <(shape <"$1") <(shape <"$2")
}

# differ COMMAND: says what was shown, and what came.
differ() {
	echo "\$ $1"
	sed 's/^/shown: /' "$tap_dir/want"
	sed 's/^/comes: /' "$tap_dir/got"
	return 1
}

# foreground COMMAND: until what it prints has the shape of the file want.
foreground() {
	local end=$((SECONDS + patience))

	while eval "$1" >"$tap_dir/got" 2>&1; ! alike "$tap_dir/want" "$tap_dir/got"; do
		[ $SECONDS -lt $end ] || differ "$1" || return
		sleep 0.2
	done
}

# background COMMAND: one program; what it prints goes into a file.
background() {
	: >"$tap_dir/back.${#pids[@]}"
	(eval "exec ${1%&}") >"$tap_dir/back.${#pids[@]}" 2>&1 &
	pids+=($!)
	echo $! >>"$tap_dir/started" # a case is a shell of its own
	printed=1
	background_prints "$1"
}

# background_prints COMMAND: until the last one has printed what is in the file want behind what was shown before.
background_prints() {
	local end=$((SECONDS + patience)) all="$tap_dir/back.$((${#pids[@]} - 1))" n

	[ -s "$tap_dir/want" ] || return 0
	while :; do
		for ((n = printed; n <= $(wc -l <"$all") + 1; n++)); do
			tail -n "+$n" "$all" >"$tap_dir/got"
			alike "$tap_dir/want" "$tap_dir/got" more || continue
			printed=$((n + 1))
			return 0
		done
		[ $SECONDS -lt $end ] || break
		sleep 0.1
	done
	tail -n "+$printed" "$all" >"$tap_dir/got"
	differ "$1"
}

# does COMMAND: it ends with 0.
does() {
	eval "$1" >"$tap_dir/got" 2>&1 || { echo "$1"; cat "$tap_dir/got"; return 1; }
}

# session_run: the commands that are on descriptor 3, each with what is shown of it.
session_run() {
	local command= line

	: >"$tap_dir/want"
	while IFS= read -r line <&3 || [ -n "$line" ]; do
		case $line in
		'$ '* | @block | '@do '*)
			[ -z "$command" ] || session_do "$command" || return
			: >"$tap_dir/want"
			command=${line#'$ '}
			;;
		*)
			printf '%s\n' "$line" >>"$tap_dir/want"
			;;
		esac
		line=
	done
	session_do "$command"
}

# session_do COMMAND
session_do() {
	case $1 in
	@block) background_prints "what runs" ;;
	'@do '*) does "${1#@do }" ;;
	*'&') background "$1" ;;
	*) foreground "$1" ;;
	esac
}

# blocks FILE NAME: the lines of its marked blocks, @block before each.
blocks() {
	awk -v name="$2" '
		/^```/ && inside { inside = 0; next }
		/^```/ && marked { inside = marked; marked = 0; if (inside == 1) print "@block"; next }
		{ marked = $0 == "<!-- run: " name " -->" ? 1 : $0 == "<!-- do: " name " -->" ? 2 : 0 }
		inside == 2 { sub(/^\$ /, "@do ") }
		inside' "$top_srcdir/$1"
}

session() {
	exec 3< <(blocks "$1" "$2")
	session_run
}

# What the paste in docs/tour.md starts, for as long as the commands behind it take; here, control is asked for, too.
two_clusters() {
	local node

	export EVSPACE_TLS=$PWD/clusters EVSPACE_ENTRY=front
	{
		deploy/certs init "$EVSPACE_TLS" && deploy/certs agent "$EVSPACE_TLS" front ga 'a[0-1]' 'b[0-1]' &&
			deploy/certs observe "$EVSPACE_TLS" observe && deploy/certs control "$EVSPACE_TLS" control
	} >/dev/null 2>&1 || return
	: >"$tap_dir/want"
	for node in front ga 'a[0-1]' 'b[0-1]'; do
		background "evspace agent --pathmap pathmap/examples/local --node '$node' &"
	done
	background "evspace run --pathmap pathmap/examples/local --run windtunnel -- \
		mpirun --oversubscribe -np 4 build/tests/apps/windtunnel --threads 2 --seconds 600 &"
	foreground 'until evspace runs --connect 127.0.0.1:7440 2>/dev/null | grep -q running; do sleep 0.2; done'
}

# corporate: the CA that docs/rights.md takes for one that exists.
corporate() {
	deploy/certs init corp >/dev/null 2>&1 && cp corp/ca.pem corp.pem && cp corp/ca.key corp.key
}

# options: in every block, also of what needs other hosts, commands have the options that are there.
options() {
	local file line command option status=0

	for file in README.md CONTRIBUTING.md docs/*.md; do
		while IFS= read -r line; do
			command=
			# shellcheck disable=SC2086
			set -- $line
			while [ $# -gt 0 ] && [[ $1 =~ ^[a-z]+$ ]] && evspace ${command:+$command} "$1" --help >/dev/null 2>&1; do
				command+=${command:+ }$1
				shift
			done
			[ -n "$command" ] || continue
			for option in $(printf '%s\n' "$*" | grep -oE -e '--[a-z][a-z-]+'); do
				# shellcheck disable=SC2086
				evspace $command --help | grep -qE -e "$option([^a-z-]|$)" && continue
				echo "$file: evspace $command has no $option"
				status=1
			done
		done < <(awk '/^```/ { on = !on; next } on' "$file" | sed -n 's/ #.*//; s/^.*\$ \(.*[|&] \)\?evspace /evspace /; s/^evspace //p' | sed 's/[|&;>].*//; s/ -- .*//')
	done
	return $status
}

documents() {
	cd "$top_srcdir" && ls README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/decisions/*.md ./*/README.md ./*/*/README.md
}

# links: what documents point to, as (TEXT)[file] from their folders, is there.
links() {
	local file link status=0

	for file in $(documents); do
		for link in $(grep -oE '\]\([^)#:]+' "$top_srcdir/$file" | cut -c3-); do
			[ -e "$top_srcdir/$(dirname "$file")/$link" ] && continue
			echo "$file: $link is not there"
			status=1
		done
	done
	return $status
}

# files: names of files in documents (`tree/data/tuple.h`, `tree/data/{run,batch}.h`) are those of files, or of
# programs that are made of one.
files() {
	local file name each status=0

	for file in $(documents); do
		for name in $(grep -oE '`(pathmap|tree|node-agent|consumers|tests|deploy|docs)/[][A-Za-z0-9_./{},*-]+`' \
			"$top_srcdir/$file" | tr -d '`' | grep -v 'NAME\|ROOM'); do
			for each in $(cd "$top_srcdir" && eval "echo $name"); do
				[ -e "$top_srcdir/$each" ] || [ -e "$top_srcdir/$each.c" ] || [ -e "$top_builddir/$each" ] && continue
				echo "$file: $each is not there"
				status=1
			done
		done
	done
	return $status
}

# shipped: all of docs/ is in the list by which it is installed.
shipped() {
	local file status=0

	for file in $(cd "$top_srcdir" && ls docs/*.md docs/decisions/*.md); do
		grep -qF "$file" "$top_srcdir/docs/files.mk" && continue
		echo "$file is not in docs/files.mk"
		status=1
	done
	return $status
}

short() {
	[ "$(wc -l <"$top_srcdir/README.md")" -le 150 ]
}

# compiles NUMBER NAME: that program of docs/consumers.md, by the headers that are installed.
compiles() {
	awk -v wanted="$1" '/^```c$/ { on = ++n == wanted; next } /^```$/ { on = 0 } on' "$top_srcdir/docs/consumers.md" >"$tap_dir/$2.c" &&
		grep -q evspace_open "$tap_dir/$2.c" &&
		cc -Wall -Werror -I"$top_srcdir/consumers/client" -L"$top_builddir/.libs" -Wl,-rpath,"$top_builddir/.libs" \
			-o "$tap_dir/$2" "$tap_dir/$2.c" -levspace
}

# looks: what is compiled shows the events of the run that README.md has kept; it goes on until it is ended.
looks() {
	EVSPACE_RUN=wt timeout 60 "$tap_dir/look" | grep -m 1 '/local/.* MPI_'
}

tap_case "README.md has 150 lines at most" short
tap_case "links of documents lead somewhere" links
tap_case "documents name files that there are" files
tap_case "all of docs is installed" shipped
tap_case "docs/consumers.md: the program compiles" compiles 1 look
tap_case "docs/consumers.md: so does the one with a view of its own" compiles 2 own
tap_case "docs/tour.md: what is shown of maps and profiles is what comes" session docs/tour.md maps
tap_case "commands in documents have options that there are" options
tap_case "docs/rights.md: certificates are made so" eval 'corporate && session docs/rights.md rights'
tap_case "README.md: what is shown of one host is what comes" session README.md one-host
tap_case "docs/consumers.md: the program shows events" looks
tap_case "docs/consumers.md: the one with a view of its own shows sums" eval \
	'EVSPACE_RUN=wt timeout 60 "$tap_dir/own" | grep -m 1 "^/: [1-9][0-9]* messages of [1-9]"'
tap_case "docs/tour.md: what is shown of two clusters is what comes" eval 'two_clusters && session docs/tour.md two-clusters'
tap_done
