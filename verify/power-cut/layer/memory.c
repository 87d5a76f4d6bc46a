/* Mappings and streams, with which a program writes where no call is seen. */
#include "layer.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* SQLite's index of a write-ahead log is shared memory, and is made anew from the log. */
static bool is_index(const char *name)
{
    size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, "-shm") == 0;
}

/* Shared mappings of files in the folder, of which a server has one or two. */
static struct mapping {
    char *begin;
    size_t size;
    off_t offset;
    char name[PATH_MAX];
} mappings[4];

static struct mapping *mapping_at(char *at)
{
    for (struct mapping *found = mappings; found < mappings + 4; found++)
        if (found->begin && at >= found->begin && at < found->begin + found->size) return found;
    return NULL;
}

/* What a program writes to a mapping counts as written when it syncs or unmaps that. */
static void log_mapping(const struct mapping *mapping, char *at, size_t size)
{
    struct iovec part = { at, size };
    change(WRITE, mapping->name, NULL, mapping->offset + (at - mapping->begin), &part, 1);
}

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    char path[PATH_MAX];
    bool is_shared = (flags & MAP_TYPE) != MAP_PRIVATE && !(flags & MAP_ANONYMOUS);
    const char *name = is_shared && protection & PROT_WRITE ? name_of(file, path) : NULL;
    if (name && flags & MAP_SYNC) {
        /* As of any disk that is not persistent memory. */
        errno = EOPNOTSUPP;
        return MAP_FAILED;
    }
    void *made = (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
    if (!name || is_index(name) || made == MAP_FAILED) return made;
    struct mapping *mapping = mappings;
    while (mapping < mappings + 4 && mapping->begin) mapping++;
    if (mapping == mappings + 4) die("too many shared mappings", name);
    *mapping = (struct mapping){ made, size, offset, "" };
    strcpy(mapping->name, name);
    return made;
}
void *mmap64(void *at, size_t size, int protection, int flags, int file, off64_t offset)
{
    return mmap(at, size, protection, flags, file, offset);
}

int msync(void *at, size_t size, int flags)
{
    const struct mapping *mapping = mapping_at(at);
    if (!mapping) return syscall(SYS_msync, at, size, flags);
    size_t rest = mapping->begin + mapping->size - (char *)at;
    log_mapping(mapping, at, size < rest ? size : rest);
    if (flags & MS_SYNC) change(SYNC, mapping->name, NULL, 0, NULL, 0);
    return 0;
}

int munmap(void *at, size_t size)
{
    struct mapping *mapping = mapping_at(at);
    if (mapping) {
        log_mapping(mapping, mapping->begin, mapping->size);
        mapping->begin = NULL;
    }
    return syscall(SYS_munmap, at, size);
}

/* Streams write inside of libc, where nobody sees it: the whole file is logged at the end. Until
 * then a stream's file counts as not written, and a sync of it is refused by nobody; the test
 * compares files with the log where a program ends by itself. */
int fclose(FILE *stream)
{
    static int (*next)(FILE *);
    if (!next) next = (int (*)(FILE *))dlsym(RTLD_NEXT, "fclose");
    char path[PATH_MAX];
    int file = fileno(stream);
    const char *name = name_of(file, path);
    struct stat found;
    if (!name || (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY) return next(stream);
    if (fflush(stream) || fstat(file, &found)) die("a stream that cannot be written", name);
    int again = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    struct iovec whole = { malloc(found.st_size + 1), found.st_size };
    if (!whole.iov_base || read(again, whole.iov_base, whole.iov_len) != found.st_size)
        die("a stream that cannot be read", name);
    syscall(SYS_close, again);
    change(RESIZE, name, NULL, 0, NULL, 0);
    change(WRITE, name, NULL, 0, &whole, 1);
    free(whole.iov_base);
    return next(stream);
}
