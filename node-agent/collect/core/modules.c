/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the loaded files of this process: addresses, names and build-ids. */
#include "node-agent/collect/core/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/segment/segment-table.h"

static uint32_t round_up(uint32_t n)
{
	return (n + 3) & ~3u;
}

/* Take the build-id from the @bytes of notes at @at, if there is one (elf(5), NT_GNU_BUILD_ID). */
static void notes_look(struct segment_module *m, const char *at, uint64_t bytes)
{
	const ElfW(Nhdr) * note;

	while (bytes >= sizeof(*note)) {
		const char *name = at + sizeof(*note);
		uint64_t whole;

		note = (const ElfW(Nhdr) *)(const void *)at;
		whole = sizeof(*note) + (uint64_t)round_up(note->n_namesz) +
			round_up(note->n_descsz);
		if (whole > bytes)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(name, "GNU", 4) == 0 && note->n_descsz <= sizeof(m->build_id)) {
			memcpy(m->build_id, name + 4, note->n_descsz);
			m->build_id_bytes = note->n_descsz;
		}
		at += whole;
		bytes -= whole;
	}
}

/* Fill @m from the program headers of a file that is loaded @bias above its link address. */
static void headers_look(struct segment_module *m, uint64_t bias, const ElfW(Phdr) * headers,
			 size_t n)
{
	m->bias = bias;
	for (size_t i = 0; i < n; i++) {
		uint64_t from = bias + headers[i].p_vaddr, end = from + headers[i].p_memsz;

		if (headers[i].p_type == PT_NOTE)
			notes_look(m, (const char *)(uintptr_t)from, headers[i].p_memsz);
		if (headers[i].p_type != PT_LOAD || !(headers[i].p_flags & PF_X))
			continue;
		if (m->end == 0 || from < m->from)
			m->from = from;
		if (end > m->end)
			m->end = end;
	}
}

static void path_set(struct segment_module *m, const char *path)
{
	size_t n = strlen(path);

	if (path[0] == '/' && n < sizeof(m->path))
		memcpy(m->path, path, n + 1);
}

static int module_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct segment_module m = {0};
	char path[PATH_MAX];
	ssize_t n;

	(void)size;
	headers_look(&m, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
	if (!info->dlpi_name[0]) {
		n = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
		path_set(&m, path);
	} else if (realpath(info->dlpi_name, path)) {
		path_set(&m, path);
	}
	/* the kernel's vdso is no file, and has no call sites */
	if (m.path[0])
		segment_module_add(arg, &m);
	return 0;
}

void modules_note_all(struct segment *s)
{
	dl_iterate_phdr(module_loaded, s);
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
/* The first page of a module's mapping has the file's headers. */
static bool module_mapped(struct segment_module *m, uintptr_t address)
{
	const ElfW(Ehdr) * elf;
	struct dl_find_object found;

	if (_dl_find_object((void *)address, &found) != 0)
		return false;
	elf = found.dlfo_map_start;
	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_phentsize != sizeof(ElfW(Phdr)) ||
	    elf->e_phoff + elf->e_phnum * sizeof(ElfW(Phdr)) > SEGMENT_PAGE)
		return false;
	headers_look(m, found.dlfo_link_map->l_addr,
		     (const void *)((const char *)elf + elf->e_phoff), elf->e_phnum);
	path_set(m, found.dlfo_link_map->l_name);
	return true;
}
#else
static bool module_mapped(struct segment_module *m, uintptr_t address)
{
	(void)m;
	(void)address;
	return false;
}
#endif

void modules_note(struct segment *s, uintptr_t address)
{
	struct segment_module m = {0};

	if (!segment_module_find(s, address) && module_mapped(&m, address))
		segment_module_add(s, &m);
}
