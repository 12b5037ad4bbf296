# SPDX-License-Identifier: BSD-3-Clause
# Deploy.

EXTRA_DIST += .ci/run deploy/certs deploy/check deploy/lib.sh deploy/packages deploy/progress.awk \
	deploy/progress.sh deploy/quickstart
EXTRA_DIST += deploy/deb deploy/debian deploy/manpages

EXTRA_DIST += deploy/completion deploy/modulefile.in
slurmscriptsdir = $(pkglibexecdir)/slurm
dist_slurmscripts_SCRIPTS = deploy/slurm/prolog deploy/slurm/epilog deploy/slurm/agents
units = evspace-agent.service evspace-agent@.service
EXTRA_DIST += $(units:%=deploy/systemd/%.in) deploy/systemd/evspace-agent.socket deploy/systemd/evspace.conf \
	deploy/systemd/user/evspace-agent.service.in deploy/systemd/user/evspace-agent.socket

# Units, and what an environment module says; where they are is only known now.
systemdsystemunitdir = @systemdsystemunitdir@
systemdsystemunit_DATA = $(units:%=deploy/systemd/%) deploy/systemd/evspace-agent.socket
systemduserunitdir = $(prefix)/lib/systemd/user
systemduserunit_DATA = deploy/systemd/user/evspace-agent.service deploy/systemd/user/evspace-agent.socket
sysusersdir = $(prefix)/lib/sysusers.d
sysusers_DATA = deploy/systemd/evspace.conf
nodist_pkgdata_DATA = deploy/modulefile
deploy_generated = $(units:%=deploy/systemd/%) deploy/systemd/user/evspace-agent.service deploy/modulefile
$(deploy_generated): %: %.in config.status
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SED) -e 's,@bindir\@,$(bindir),' -e 's,@libdir\@,$(libdir),' \
		-e 's,@prefix\@,$(prefix),' -e 's,@mandir\@,$(mandir),' -e 's,@includedir\@,$(includedir),' \
		-e 's,@VERSION\@,$(VERSION),' $(filter %.in,$^) >$@.tmp && mv $@.tmp $@
CLEANFILES += $(deploy_generated)

# The command that messages name, in the build folder, too.
bin_SCRIPTS = evspace-certs
evspace-certs: deploy/certs
	$(AM_V_GEN)$(SED) 's,deploy/certs,evspace-certs,g' $(top_srcdir)/deploy/certs >$@.tmp && \
	chmod +x $@.tmp && mv $@.tmp $@
CLEANFILES += evspace-certs

# Where everybody looks for it, as well as in the folder of the examples.
nodist_man5_MANS = man/pathmap.5
man/pathmap.5: deploy/manfile.awk pathmap/examples/README.md
	$(AM_V_GEN)$(MKDIR_P) man && $(AWK) -v name=pathmap -v section=5 -v version='$(VERSION)' \
		-v summary='what runs where, how hosts are reached, and what is asked of a program' \
		-v more='evspace (1), evspace-map (1)' -f $(top_srcdir)/deploy/manfile.awk \
		$(top_srcdir)/pathmap/examples/README.md >$@.tmp && mv $@.tmp $@
EXTRA_DIST += deploy/manfile.awk
CLEANFILES += man/pathmap.5

# Pages of section 3 are what the public headers say; each function leads to that of its header.
api_headers = consumers/client/evspace-call.h consumers/client/evspace-client.h consumers/client/evspace-control.h consumers/client/evspace-cost.h consumers/client/evspace-foreign.h \
	consumers/client/evspace-loop.h consumers/client/evspace-record.h \
	consumers/client/evspace-reply.h consumers/client/evspace-typed.h consumers/client/evspace-wave.h node-agent/collect/core/evspace.h \
	node-agent/collect/core/evspace-figures.h node-agent/pastset/evspace-element.h tree/stage/evspace-stage.h
nodist_man3_MANS = man/evspace-call.3 man/evspace-client.3 man/evspace-control.3 man/evspace-cost.3 man/evspace-element.3 \
	man/evspace-figures.3 man/evspace-foreign.3 man/evspace-loop.3 man/evspace-record.3 \
	man/evspace-reply.3 man/evspace-stage.3 man/evspace-typed.3 man/evspace-wave.3 man/evspace.3
$(nodist_man3_MANS): deploy/manheader.awk deploy/manfile.awk $(api_headers)
	$(AM_V_GEN)$(MKDIR_P) man && header=$(filter %/$(notdir $(@:.3=.h)),$(api_headers:%=$(top_srcdir)/%)) && \
		$(AWK) -v flags='$(if $(findstring stage,$@),-fPIC -shared $$(pkg-config --cflags evspace-stage),$$(pkg-config --cflags --libs evspace$(if $(findstring element,$@),-element)))' -f $(top_srcdir)/deploy/manheader.awk $$header | \
		$(AWK) -v name=$(notdir $(@:.3=)) -v section=3 -v version='$(VERSION)' \
			-v summary="$$($(AWK) -v only=summary -f $(top_srcdir)/deploy/manheader.awk $$header)" \
			-v more='evspace (1)' -f $(top_srcdir)/deploy/manfile.awk >$@.tmp && mv $@.tmp $@
EXTRA_DIST += deploy/manheader.awk
CLEANFILES += $(nodist_man3_MANS)

# Man pages are what the commands say with --help.
if HELP2MAN
all-local: man/evspace.1
man/evspace.1: deploy/manpages deploy/certs evspace$(EXEEXT)
	$(AM_V_GEN)$(top_srcdir)/deploy/manpages ./evspace$(EXEEXT) man
CLEANFILES += man/*.1
endif

install-data-hook:
	$(MKDIR_P) '$(DESTDIR)$(datadir)/bash-completion/completions' '$(DESTDIR)$(mandir)/man1'
	$(INSTALL_DATA) $(top_srcdir)/deploy/completion \
		'$(DESTDIR)$(datadir)/bash-completion/completions/evspace'
	ln -sf evspace '$(DESTDIR)$(datadir)/bash-completion/completions/evspace-certs'
if HELP2MAN
	$(INSTALL_DATA) man/*.1 '$(DESTDIR)$(mandir)/man1'
endif
	for header in $(api_headers); do \
		for name in $$($(AWK) -v only=names -f $(top_srcdir)/deploy/manheader.awk $(top_srcdir)/$$header); do \
			echo ".so man3/$$(basename $$header .h).3" >'$(DESTDIR)$(mandir)/man3'/$$name.3 || exit; \
		done; \
	done
uninstall-hook:
	rm -f '$(DESTDIR)$(datadir)/bash-completion/completions/evspace' \
		'$(DESTDIR)$(datadir)/bash-completion/completions/evspace-certs' \
		'$(DESTDIR)$(mandir)/man1'/evspace.1 '$(DESTDIR)$(mandir)/man1'/evspace-*.1 \
		'$(DESTDIR)$(mandir)/man3'/evspace_*.3

# A Debian package in the build folder.
deb: dist-gzip
	$(top_srcdir)/deploy/deb $(distdir).tar.gz .
.PHONY: deb
