/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks into ELF files (elf(5)) and scripts before they are started. */
#include "consumers/run/launch.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consumers/cli/subprocess.h"
#include "pathmap/base/memory.h"

/** Bytes of a script that are read. */
#define SCRIPT_BYTES 65536

/** A file in memory. */
struct image {
	const char *bytes;
	size_t n;
};

/* ---- ELF ---- */

static bool image_open(struct image *image, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *bytes = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size > 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	*image = (struct image){.bytes = bytes, .n = (size_t)st.st_size};
	return true;
}

/* @n entries of @size bytes at @offset of the file, NULL: it is shorter, or they are not
 * aligned. */
static const void *image_at(const struct image *image, uint64_t offset, uint64_t n, size_t size)
{
	if (offset % 8 || offset > image->n || n > (image->n - offset) / size)
		return NULL;
	return image->bytes + offset;
}

static const Elf64_Ehdr *image_elf(const struct image *image)
{
	const Elf64_Ehdr *elf = image_at(image, 0, 1, sizeof(*elf));

	if (!elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_phentsize != sizeof(Elf64_Phdr))
		return NULL;
	return elf;
}

/* Is it started without a loader of libraries? */
static bool elf_is_static(const struct image *image, const Elf64_Ehdr *elf)
{
	const Elf64_Phdr *part = image_at(image, elf->e_phoff, elf->e_phnum, sizeof(*part));

	for (int i = 0; part && i < elf->e_phnum; i++)
		if (part[i].p_type == PT_INTERP)
			return false;
	return part != NULL;
}

/* Does section @s, a table of symbols, define @name? */
static bool section_defines(const struct image *image, const Elf64_Shdr *sections, unsigned n,
			    const Elf64_Shdr *s, const char *name)
{
	const Elf64_Sym *symbols =
		image_at(image, s->sh_offset, s->sh_size / sizeof(*symbols), sizeof(*symbols));
	const Elf64_Shdr *texts = s->sh_link < n ? &sections[s->sh_link] : NULL;
	size_t length = strlen(name) + 1;

	if (!symbols || !texts || texts->sh_offset > image->n ||
	    texts->sh_size > image->n - texts->sh_offset)
		return false;
	for (size_t i = 0; i < s->sh_size / sizeof(*symbols); i++)
		if (symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_name < texts->sh_size &&
		    length <= texts->sh_size - symbols[i].st_name &&
		    !memcmp(image->bytes + texts->sh_offset + symbols[i].st_name, name, length))
			return true;
	return false;
}

static bool elf_defines(const struct image *image, const Elf64_Ehdr *elf, const char *name)
{
	const Elf64_Shdr *sections = image_at(image, elf->e_shoff, elf->e_shnum, sizeof(*sections));

	for (int i = 0; sections && i < elf->e_shnum; i++)
		if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
		    section_defines(image, sections, elf->e_shnum, &sections[i], name))
			return true;
	return false;
}

/* Why nothing can be preloaded into it, or NULL. */
static const char *elf_complaint(const struct image *image, const Elf64_Ehdr *elf)
{
	/* PVM's collector is linked into static programs (pkg-config --libs evspace-pvm) */
	if (elf_is_static(image, elf))
		return elf_defines(image, elf, "__wrap_pvm_send")
			       ? NULL
			       : "is statically linked, so nothing can be preloaded into it: link "
				 "it dynamically, or if it is a PVM program with what `pkg-config "
				 "--libs evspace-pvm` says";
	if (elf_defines(image, elf, "PMPI_Init"))
		return "has its MPI library linked into it, so its calls of MPI cannot be seen: "
		       "link it with the shared library";
	return NULL;
}

/* ---- scripts ---- */

static char *file_complaint(const char *path, bool is_inner);

/* A program that a script names with a path is probably what it starts. */
static char *script_complaint(const struct image *image)
{
	size_t n = image->n < SCRIPT_BYTES ? image->n : SCRIPT_BYTES;
	char *text = memory_new(n + 1, 1), *save = NULL, *line, *words, *word, *why = NULL;
	char path[PATH_MAX];

	memcpy(text, image->bytes, n);
	for (line = strtok_r(text, "\n", &save); line && !why; line = strtok_r(NULL, "\n", &save)) {
		line[strcspn(line, "#")] = '\0';
		words = NULL;
		for (word = strtok_r(line, " \t\"';&|()", &words); word && !why;
		     word = strtok_r(NULL, " \t\"';&|()", &words))
			if (strchr(word, '/') && subprocess_find(word, path, sizeof(path)))
				why = file_complaint(word, true);
	}
	free(text);
	return why;
}

static char *file_complaint(const char *path, bool is_inner)
{
	struct image image;
	struct stat st;
	const Elf64_Ehdr *elf;
	const char *why = NULL;
	char *text = NULL;

	if (stat(path, &st) || !image_open(&image, path))
		return NULL;
	elf = image_elf(&image);
	if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	    (st.st_mode & S_ISGID && st.st_gid != getegid()))
		why = "gets another user's rights (set-user-ID), so nothing is preloaded into it";
	else if (elf)
		why = elf_complaint(&image, elf);
	if (why)
		text = memory_format("%s %s", path, why);
	else if (!is_inner && image.n > 2 && !memcmp(image.bytes, "#!", 2))
		text = script_complaint(&image);
	munmap((void *)(uintptr_t)image.bytes, image.n);
	return text;
}

char *program_complaint(const char *command)
{
	char path[PATH_MAX];

	return subprocess_find(command, path, sizeof(path)) ? file_complaint(path, false) : NULL;
}
