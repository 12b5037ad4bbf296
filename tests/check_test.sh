# SPDX-License-Identifier: BSD-3-Clause
# Tests deploy/check on a small project of its own: a package that comes after the first build, what is said
# while tests run, in a log and on a terminal, Ctrl-C.

. "$top_srcdir/tests/copy.sh"
. "$top_srcdir/tests/tap.sh"

if [ -n "$copy_why" ]; then
	tap_skip "deploy/check" "$copy_why"
	tap_done
fi
# What make check hands down is not for the one that is tested.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
project=$tap_dir/project
unset EVSPACE_PROGRESS

# What is under test is ours; what it builds is small.
project_make() {
	mkdir -p "$project/deploy" "$project/tests" && cp "$top_srcdir"/deploy/{check,lib.sh,progress.*} "$project/deploy" &&
		cp "$top_srcdir"/tests/{driver,limit,apart,tap}.sh "$project/tests" && cd "$project" || return
	echo 'tests/b_test.sh 40' >tests/durations
	printf '%s\n' 'bash build # always there' 'evspace-trial check # comes later' >deploy/packages
	printf '%s\n' '#!/bin/sh' 'autoreconf --install' >autogen.sh
	chmod 755 autogen.sh
	cat >configure.ac <<-'END'
		AC_INIT([trial], [1])
		AC_CONFIG_AUX_DIR([build-aux])
		AC_REQUIRE_AUX_FILE([tap-driver.sh])
		AM_INIT_AUTOMAKE([1.16 foreign])
		AC_PROG_AWK
		AC_PATH_PROG([TRIAL], [evspace-trial], [none])
		AC_ARG_WITH([word], [], [], [with_word=])
		AC_SUBST([WORD], [$with_word])
		AC_CONFIG_FILES([Makefile])
		AC_OUTPUT
	END
	{
		cat <<-'END'
			BASH_PATH = bash
			script_tests = tests/a_test.sh tests/b_test.sh
			unit_tests =
			idle_tests = tests/idle_test.sh
			lone_tests = tests/lone_test.sh
			dear_tests = tests/dear_test.sh
			TESTS = $(script_tests) $(idle_tests) $(lone_tests)
			AM_TESTS_ENVIRONMENT = top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
				top_builddir='$(abs_top_builddir)'; export top_builddir; \
				TRIAL='$(TRIAL)'; export TRIAL; WORD='$(WORD)'; export WORD;
		END
		# as in the real one
		grep -e '^LOG_' -e '^SH_LOG_' -e '^TEST_EXTENSIONS' "$top_srcdir/tests/files.mk"
		sed -n '/^\.PHONY: tests-list/,/^$/p' "$top_srcdir/tests/files.mk"
	} >Makefile.am
	# b takes long, until it is told that it has been looked at
	printf '%s\n' '. "$top_srcdir/tests/tap.sh"' 'tap_case "word" test "$WORD" = kept' \
		'[ "$TRIAL" != none ] && tap_case "trial" "$TRIAL" || tap_skip "trial" "no trial"' tap_done >tests/a_test.sh
	printf '%s\n' '. "$top_srcdir/tests/tap.sh"' 'touch "$top_builddir/b.runs"' \
		'while [ -e "$top_srcdir/hold" ]; do sleep 0.1; done' 'tap_case "b" true' tap_done >tests/b_test.sh
	printf '%s\n' '. "$top_srcdir/tests/tap.sh"' 'tap_case "low" test "$(nice)" -ge 10' tap_done >tests/idle_test.sh
	printf '%s\n' '. "$top_srcdir/tests/tap.sh"' 'tap_case "dear" true' tap_done >tests/dear_test.sh
	# bad fails always, once only the first time
	printf '%s\n' '. "$top_srcdir/tests/tap.sh"' 'tap_case "bad" test ! -e "$top_srcdir/bad"' \
		'rm "$top_srcdir/once" 2>/dev/null; tap_case "once" test $? -ne 0' tap_done >tests/lone_test.sh
}

# The package is offered by a folder, and apt knows no other place.
package_offer() {
	local tree=$tap_dir/trial

	mkdir -p "$tree/DEBIAN" "$tree/usr/bin" /opt/offers && printf '#!/bin/sh\n' >"$tree/usr/bin/evspace-trial" &&
		chmod 755 "$tree/usr/bin/evspace-trial" || return
	printf '%s\n' 'Package: evspace-trial' 'Version: 1' 'Architecture: all' 'Description: nothing' \
		'Maintainer: nobody <nobody@localhost>' >"$tree/DEBIAN/control"
	dpkg-deb --root-owner-group -Znone -b "$tree" /opt/offers/evspace-trial.deb &&
		(cd /opt/offers && dpkg-scanpackages . >Packages) &&
		rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /var/lib/apt/lists/* &&
		echo 'deb [trusted=yes] file:/opt/offers ./' >/etc/apt/sources.list
}

# check CODE [OPTION...]: it ends with that exit code.
check() {
	local code=$1 status=0

	shift
	"$project/deploy/check" "$@" >"$tap_dir/out" 2>"$tap_dir/said" || status=$?
	[ "$status" -eq "$code" ] || { echo "exit code $status"; cat "$tap_dir/out" "$tap_dir/said"; return 1; }
}

# says PATTERN...: it was printed.
says() {
	tap_printed "$tap_dir/out" "$tap_dir/said" -- "$@"
}

# As quickstart leaves it: configured without what only check installs.
built_before() {
	cd "$project" && (. deploy/lib.sh && packages_install build && project_build --with-word=kept) >"$tap_dir/log" 2>&1 &&
		grep -q '^TRIAL = none' build/Makefile || { cat "$tap_dir/log"; return 1; }
}

in_order() {
	says '^== \[0 of 4\] tests/(a|b|idle)_test.sh begins; about [0-9]+ (s|min) left$' \
		'^== \[[12] of 4\] tests/a_test.sh: 2 passed, [0-9]+ s; about ' \
		'^== \[4 of 4\] tests/lone_test.sh: 2 passed, [0-9]+ s; all have ended$' '^6 passed, 0 failed$' &&
		[ "$(wc -l <"$project/build/durations")" -eq 4 ]
}

# on_terminal CODE: what holds is let go when a line says that it still runs; Ctrl-C ends it then.
on_terminal() {
	local status tries

	rm -f build/b.runs
	touch hold
	mkfifo "$tap_dir/keys"
	timeout -k 5 300 script -qefc "$project/deploy/check" /dev/null <"$tap_dir/keys" >"$tap_dir/out" 2>&1 &
	exec 3>"$tap_dir/keys"
	for ((tries = 0; tries < 1200; tries++)); do
		grep -q 'still running: tests/b_test.sh' "$tap_dir/out" && break
		sleep 0.1
	done
	printf '\003' >&3
	wait $!
	status=$?
	exec 3>&-
	sed -i 's/\r$//' "$tap_dir/out"
	says '^== \[[12] of 4\] still running: tests/b_test.sh \([0-9]+ s\); about ' || return
	[ "$status" -eq 130 ] || { echo "exit code $status"; cat "$tap_dir/out"; return 1; }
}

nothing_runs() {
	local tries

	for ((tries = 0; tries < 300; tries++)); do
		pgrep -fa '_test\.sh --|project/deploy/check|project/.*tap-driver' || return 0
		sleep 0.1
	done
	return 1
}

project_make >"$tap_dir/log" 2>&1 && package_offer >>"$tap_dir/log" 2>&1 || { cat "$tap_dir/log"; exit 99; }
tap_case "a build from before a package came" built_before
tap_case "check installs it, and configures again, with the same options: nothing is skipped" \
	eval 'check 0 && says "installing Debian packages.*: evspace-trial" "configure in build/ again" && ! says " skipped" >/dev/null'
tap_case "a line when each begins and ends, how many of how many, time left" in_order
tap_case "... and is not done again" eval 'check 0 && ! says "configure in" >/dev/null && says "^6 passed, 0 failed"'
tap_case "with --all what is dear is tested, too" \
	eval 'check 0 --all && says "^== \[.* of 5\] tests/dear_test.sh: 1 passed" "^7 passed, 0 failed"'
touch bad
tap_case "what fails is named at once, with the log, and shown" eval 'check 1 && says "^   FAIL: tests/lone_test.sh 1 - bad" \
	"lone_test.sh: FAILED, 1 of 2: see .*lone_test.log" "^not ok 1 - bad" "^5 passed, 1 failed"'
tap_case "... once more, alone, it fails again" eval 'says "^== once more, alone: tests/lone_test.sh$" &&
	! says "passed alone" >/dev/null'
rm bad
touch once
tap_case "what passes alone is named, and has not failed" eval 'check 0 && says "^   FAIL: tests/lone_test.sh 2 - once" \
	"^== failed beside others .*, passed alone: tests/lone_test.sh$" "^6 passed, 0 failed"'
sed -i 's/^progress_quiet_s=.*/progress_quiet_s=2/; s/read -rt 30/read -rt 1/' deploy/*.sh
tap_case "on a terminal: what still runs is said; Ctrl-C" on_terminal
tap_case "... ends all" nothing_runs
tap_done
