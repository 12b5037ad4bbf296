# SPDX-License-Identifier: BSD-3-Clause
# Tests deploy/certs: what it makes is what TLS asks for, expires, and is not overwritten.

. "$top_srcdir/tests/tap.sh"

certs=$top_srcdir/deploy/certs
dir=$tap_dir/certs

modes_are_private() {
	[ "$(stat -c %a "$dir")" = 700 ] && [ -z "$(find "$dir" -type f ! -perm 600)" ]
}

# shows FILE TEXT: the certificate's text has TEXT.
shows() {
	local text

	text=$(openssl x509 -in "$dir/$1" -noout -text)
	grep -F -e "$2" <<<"$text" || { echo "$text"; false; }
}

verifies() {
	openssl verify -x509_strict -CAfile "$dir/ca.pem" "$@"
}

# says TEXT COMMAND...: the command fails, with TEXT in what it prints.
says() {
	local text=$1 output

	shift
	output=$("$@" 2>&1) && { echo "succeeded: $*"; return 1; }
	grep -F -e "$text" <<<"$output" || { echo "printed: $output"; false; }
}

exits_with() {
	local want=$1 status=0

	shift
	"$@" || status=$?
	[ "$status" -eq "$want" ] || { echo "exit status $status, not $want"; false; }
}

unchanged_by() {
	local file=$1 before status=0

	shift
	before=$(cat "$file")
	"$@" || status=$?
	[ "$(cat "$file")" = "$before" ] && [ "$status" -eq 1 ]
}

key_fits() {
	[ "$(openssl pkey -in "$dir/$1.key" -pubout)" = "$(openssl x509 -in "$dir/$1.pem" -noout -pubkey)" ]
}

host_list_is_made() {
	"$certs" agent "$dir" 'r[0-1]n[08-10,3]' || return
	local name

	for name in r{0,1}n{08,09,10,3}; do
		verifies "$dir/$name.pem" || return
	done
	[ "$(find "$dir" -name 'r*.pem' | wc -l)" -eq 8 ]
}

nothing_half_made() {
	says "w0.pem exists" "$certs" agent "$dir" new w0 && [ ! -e "$dir/new.pem" ]
}

replaced_by_force() {
	local before

	before=$(cat "$dir/w0.pem")
	"$certs" agent "$dir" w0 --force && [ "$(cat "$dir/w0.pem")" != "$before" ] && key_fits w0
}

end_of() {
	openssl x509 -in "$1" -noout -enddate
}

short_ca_cuts() {
	"$certs" init "$tap_dir/short" --days 2 && "$certs" agent "$tap_dir/short" w0 --days 30 &&
		[ "$(end_of "$tap_dir/short/ca.pem")" = "$(end_of "$tap_dir/short/w0.pem")" ]
}

expired_ca_refused() {
	"$certs" init "$tap_dir/old" --days 0 &&
		says "has expired" "$certs" agent "$tap_dir/old" w0
}

open_folder_refused() {
	mkdir -m 755 "$tap_dir/open" && says "chmod 700" "$certs" init "$tap_dir/open"
}

serial_of() {
	openssl x509 -in "$dir/$1.pem" -noout -serial
}

# renewed NAME [ARGUMENT]: renew gives it another certificate, and key.
renewed() {
	local before

	before=$(serial_of "$1")
	"$certs" renew "$dir" ${2-"$1"} && [ "$(serial_of "$1")" != "$before" ] && key_fits "$1" &&
		verifies "$dir/$1.pem"
}

says_fine() {
	grep -F -e "$1" <<<"$("${@:2}" 2>&1)"
}

# revoked NAME...: revoke puts them into the list, which verifies.
revoked() {
	local name

	"$certs" revoke "$dir" "$@" && [ "$(stat -c %a "$dir/ca.crl")" = 600 ] || return
	for name; do
		says "certificate revoked" verifies -crl_check -CRLfile "$dir/ca.crl" "$dir/$name.pem" || return
	done
}

old_is_revoked() {
	local old

	"$certs" observe "$dir" zoe && cp "$dir/zoe.pem" "$tap_dir/old.pem" && "$certs" renew "$dir" zoe &&
		revoked zoe && says "certificate revoked" verifies -crl_check -CRLfile "$dir/ca.crl" "$tap_dir/old.pem"
}

new_after_revoked() {
	"$certs" renew "$dir" zoe && verifies -crl_check -CRLfile "$dir/ca.crl" "$dir/zoe.pem"
}

# OpenSSL fails with the second of three: the first is on record, and can be revoked.
broken_off_is_on_record() {
	mkdir -p "$tap_dir/stub"
	cat >"$tap_dir/stub/openssl" <<-END
		#!/bin/bash
		[ "\$1" != ca ] || [ -e "$tap_dir/stub/first" ] || { touch "$tap_dir/stub/first"; exec $(command -v openssl) "\$@"; }
		[ "\$1" != ca ] || exit 1
		exec $(command -v openssl) "\$@"
	END
	chmod +x "$tap_dir/stub/openssl"
	! PATH=$tap_dir/stub:$PATH "$certs" agent "$dir" broken0 broken1 broken2 2>/dev/null &&
		[ -e "$dir/broken0.pem" ] && [ ! -e "$dir/broken1.pem" ] &&
		grep -q "/CN=broken0$" "$dir/ca.index" && revoked broken0
}
revoked_without_index() {
	"$certs" observe "$dir" before && rm "$dir/ca.index" && revoked before
}

list_again() {
	"$certs" crl "$dir" --days 3 && [ "$(openssl crl -in "$dir/ca.crl" -noout -nextupdate | cut -d= -f2)" != "$(
		openssl x509 -in "$dir/ca.pem" -noout -enddate | cut -d= -f2)" ] &&
		says "certificate revoked" verifies -crl_check -CRLfile "$dir/ca.crl" "$dir/before.pem"
}

new_ca_forgets() {
	cp -r "$dir" "$tap_dir/copy" && "$certs" init "$tap_dir/copy" --force &&
		[ ! -e "$tap_dir/copy/ca.crl" ] && [ ! -e "$tap_dir/copy/ca.index" ]
}

existing_ca() {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$tap_dir/corp.key" -out "$tap_dir/corp.pem" \
		-subj "/O=Corp/CN=Corp CA" -days 30 -addext keyUsage=keyCertSign,cRLSign &&
		"$certs" init "$tap_dir/corp" --ca "$tap_dir/corp.pem" --ca-key "$tap_dir/corp.key" &&
		"$certs" agent "$tap_dir/corp" w0 && "$certs" revoke "$tap_dir/corp" w0 &&
		openssl verify -CAfile "$tap_dir/corp.pem" "$tap_dir/corp/w0.pem" &&
		says "certificate revoked" openssl verify -crl_check -CAfile "$tap_dir/corp.pem" \
			-CRLfile "$tap_dir/corp/ca.crl" "$tap_dir/corp/w0.pem"
}

signed_elsewhere() {
	"$certs" observe "$tap_dir/elsewhere" eve --run wind-1 --request &&
		openssl x509 -req -in "$tap_dir/elsewhere/eve.csr" -CA "$tap_dir/corp.pem" \
			-CAkey "$tap_dir/corp.key" -CAcreateserial -copy_extensions copy -days 2 \
			-out "$tap_dir/elsewhere/eve.pem" &&
		openssl x509 -in "$tap_dir/elsewhere/eve.pem" -noout -text |
		grep -F "URI:evspace:role=observe, URI:evspace:run=wind-1"
}

# Every openssl that is run notes what everybody on the host could see of it.
no_secrets() {
	local lines

	mkdir "$tap_dir/bin" && cat >"$tap_dir/bin/openssl" <<-END
		#!/bin/bash
		{ tr '\0' '\n' <"/proc/\$\$/cmdline"; env; } >>"$tap_dir/seen"
		exec $(command -v openssl) "\$@"
	END
	chmod +x "$tap_dir/bin/openssl"
	(PATH=$tap_dir/bin:$PATH && "$certs" init "$tap_dir/quiet" && "$certs" agent "$tap_dir/quiet" w0 &&
		"$certs" renew "$tap_dir/quiet" w0 && "$certs" revoke "$tap_dir/quiet" w0) >"$tap_dir/said" 2>&1 || return
	[ -s "$tap_dir/seen" ] || return
	lines=$(cat "$tap_dir"/quiet/*.key | grep -v -e '-----')
	! grep -F -e "$lines" "$tap_dir/seen" "$tap_dir/said"
}

tap_case "init makes a CA" "$certs" init "$dir"
tap_case "the CA signs certificates only, and no other CA" shows ca.pem "CA:TRUE, pathlen:0"
tap_case "agent makes several" "$certs" agent "$dir" w0 w1
tap_case "its name and role are in the certificate" shows w0.pem "DNS:w0, URI:evspace:role=agent"
tap_case "its key is P-256" shows w0.pem "NIST CURVE: P-256"
tap_case "its key fits" key_fits w0
tap_case "an agent may be server" verifies -purpose sslserver -verify_hostname w0 "$dir/w0.pem"
tap_case "an agent may be client" verifies -purpose sslclient "$dir/w0.pem"
tap_case "an agent is nobody else" \
	says "hostname mismatch" verifies -verify_hostname w1 "$dir/w0.pem"
tap_case "observe makes one" "$certs" observe "$dir" alice
tap_case "with its role" shows alice.pem "URI:evspace:role=observe"
tap_case "an observer may be client" verifies -purpose sslclient "$dir/alice.pem"
tap_case "an observer may not be server" \
	says "unsuitable certificate purpose" verifies -purpose sslserver "$dir/alice.pem"
tap_case "control makes one" "$certs" control "$dir" bob --days 20
tap_case "control has its role" shows bob.pem "URI:evspace:role=control"
tap_case "host lists are those of cluster.map" host_list_is_made
tap_case "folder and files are private" modes_are_private
tap_case "--days 0 makes one" "$certs" agent "$dir" late --days 0
tap_case "that has expired" says "certificate has expired" verifies "$dir/late.pem"
tap_case "never valid longer than the CA" short_ca_cuts
tap_case "another CA's certificate does not verify" \
	says "verification failed" verifies "$tap_dir/short/w0.pem"
tap_case "an expired CA signs nothing" expired_ca_refused
tap_case "an existing certificate stays" unchanged_by "$dir/w0.pem" "$certs" agent "$dir" w0
all_at_once() {
	"$certs" init "$tap_dir/all/tls" 'h[0-1]' gw >"$tap_dir/said" || return
	for name in h0 h1 gw observe control; do
		openssl verify -CAfile "$tap_dir/all/tls/ca.pem" "$tap_dir/all/tls/$name.pem" || return
	done
	[ "$(grep -c '^V' "$tap_dir/all/tls/ca.index")" -eq 5 ] && grep -q 'control.pem: control control' "$tap_dir/said" &&
		[ -z "$(find "$tap_dir/all/tls" -name '.new*')" ]
}
tap_case "init with names: agents, observe and control at once" all_at_once
nothing_of() {
	! "$certs" init "$tap_dir/none/tls" "$@" >"$tap_dir/said" 2>&1 && ! [ -e "$tap_dir/none/tls/ca.pem" ]
}
tap_case "or nothing: a name that it makes itself" nothing_of 'h[0-1]' observe
tap_case "or nothing: a name that is there twice" nothing_of h0 h1 h0
tap_case "an existing CA stays" unchanged_by "$dir/ca.key" "$certs" init "$dir"
tap_case "none is made when one of several exists" nothing_half_made
tap_case "--force replaces certificate and key" replaced_by_force
tap_case "a folder open to others is refused" open_folder_refused
tap_case "without a CA it says how to make one" \
	says "deploy/certs init $tap_dir/none" "$certs" agent "$tap_dir/none" w0
tap_case "a name with a slash is refused" says "is not a name" "$certs" agent "$dir" ../w0
tap_case "the CA's name is refused" says "ca" "$certs" observe "$dir" ca
tap_case "a range backwards is refused" says "write 1-3" "$certs" agent "$dir" 'w[3-1]'
tap_case "an unknown command is a usage error" exits_with 2 "$certs" revive "$dir" w0
tap_case "roles can be limited" "$certs" observe "$dir" carol --user alice --user bob --run wind-1
tap_case "that is in the certificate" shows carol.pem \
	"URI:evspace:role=observe, URI:evspace:user=alice, URI:evspace:user=bob, URI:evspace:run=wind-1"
tap_case "agents cannot" exits_with 2 "$certs" agent "$dir" w9 --run wind-1
tap_case "a limit with a comma is refused" exits_with 2 "$certs" observe "$dir" dora --run 'a,DNS:b'
tap_case "renew makes it again" renewed carol
tap_case "with the same limits" shows carol.pem "URI:evspace:user=bob, URI:evspace:run=wind-1"
tap_case "renew without names renews what ends soon" renewed bob ''
tap_case "... and nothing else" says_fine "none ends within 30 days" "$certs" renew "$dir"
tap_case "no folder to renew" says "nosuch has no CA to sign with" "$certs" renew "$tap_dir/nosuch"
tap_case "nobody to renew" says "there is no $dir/nobody.pem" "$certs" renew "$dir" nobody
tap_case "revoke makes a list" revoked alice w1
tap_case "who is not in it is fine" verifies -crl_check -CRLfile "$dir/ca.crl" "$dir/w0.pem"
tap_case "also what was replaced is in it" old_is_revoked
tap_case "who was revoked gets a new one" new_after_revoked
tap_case "one that no index knows can be revoked" revoked_without_index
tap_case "what is broken off has those on record that it made" broken_off_is_on_record
tap_case "nobody to revoke" unchanged_by "$dir/ca.crl" "$certs" revoke "$dir" nobody
tap_case "the list is made again" list_again
tap_case "a new CA forgets the list" new_ca_forgets
tap_case "an existing CA can be used" existing_ca
tap_case "not with another key" says "is not the key of" "$certs" init "$tap_dir/y" --ca "$tap_dir/corp.pem" --ca-key "$dir/ca.key"
tap_case "not what is no CA" says "is no CA's certificate" "$certs" init "$tap_dir/y" --ca "$dir/w0.pem" --ca-key "$dir/w0.key"
tap_case "a CA elsewhere signs requests" signed_elsewhere
tap_case "no secret is on a command line, in the environment or in what is said" no_secrets
tap_case "a bad --days is a usage error" exits_with 2 "$certs" init "$tap_dir/x" --days -3
tap_case "an unknown option is a usage error" exits_with 2 "$certs" init "$tap_dir/x" --forever
tap_case "--help teaches" "$certs" --help
tap_done
