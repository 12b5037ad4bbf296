/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the PVM library's functions, also when a program loads it late. */
#include "node-agent/collect/pvm/pvm-library.h"

#ifdef EVSPACE_PVM_WRAP

extern int pvmmytid, pvmtoplvl;
int pvm_vpackf(char *, va_list);
int pvm_vunpackf(char *, va_list);
int __real_pvm_bufinfo(int, int *, int *, int *);
int __real_pvm_getsbuf(void);

/* Tells libevspace-pvm.so, if it is preloaded nevertheless, that this program collects by
 * itself. */
__attribute__((visibility("default"))) const int evspace_pvm_wrapped = 1;

struct pvm_library pvm = {
	.tid = &pvmmytid,
	.top = &pvmtoplvl,
	.bufinfo = __real_pvm_bufinfo,
	.getsbuf = __real_pvm_getsbuf,
	.vpackf = pvm_vpackf,
	.vunpackf = pvm_vunpackf,
	.ready = true,
};

#else

#include <dlfcn.h>
#include <stddef.h>

#include "node-agent/collect/core/door.h"

struct pvm_library pvm;

struct pvm_library_search {
	const char *name;
	const void *own;
};

static void *symbol_look(void *object, const char *path, void *arg)
{
	const struct pvm_library_search *search = arg;
	void *symbol = dlsym(object, search->name);

	(void)path;
	return symbol == search->own ? NULL : symbol;
}

/* Search all objects, since the library may have been loaded with RTLD_LOCAL. */
static void *late_symbol(const char *name, const void *own)
{
	struct pvm_library_search search = {.name = name, .own = own};

	return objects_search(symbol_look, &search);
}

void *pvm_library_next(const char *name, const void *own)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	return symbol ? symbol : late_symbol(name, own);
}

/* RTLD_DEFAULT: a program that is not position independent may hold the copy in use. */
static void *data_find(const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	return symbol ? symbol : late_symbol(name, NULL);
}

bool pvm_library_here(void)
{
	return dlsym(RTLD_NEXT, "pvm_mytid") != NULL;
}

void pvm_library_find(void)
{
	pvm.tid = data_find("pvmmytid");
	pvm.top = data_find("pvmtoplvl");
	*(void **)(void *)&pvm.bufinfo = pvm_library_next("pvm_bufinfo", pvm_bufinfo);
	*(void **)(void *)&pvm.getsbuf = pvm_library_next("pvm_getsbuf", pvm_getsbuf);
	*(void **)(void *)&pvm.vpackf = pvm_library_next("pvm_vpackf", NULL);
	*(void **)(void *)&pvm.vunpackf = pvm_library_next("pvm_vunpackf", NULL);
	pvm.ready = pvm.tid && pvm.top && pvm.bufinfo && pvm.getsbuf && pvm.vpackf &&
		    pvm.vunpackf && !dlsym(RTLD_DEFAULT, "evspace_pvm_wrapped");
}

#endif
