/* Names: which file a path or an open file is, and how names are made, changed and removed. */
#include "layer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The name below the folder; NULL for a path outside of it. */
static const char *inside(const char *path)
{
    if (strncmp(path, folder, folder_size) != 0) return NULL;
    if (path[folder_size] == '\0') return path + folder_size;
    return path[folder_size] == '/' ? path + folder_size + 1 : NULL;
}

const char *name_of(int file, char path[PATH_MAX])
{
    if (!folder || file < 0) return NULL;
    int before = errno;
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    errno = before;
    if (size < 0) return NULL;
    path[size] = '\0';
    const char deleted[] = " (deleted)", *end = path + size - (sizeof deleted - 1);
    if (end > path && strcmp(end, deleted) == 0) return NULL;
    return inside(path);
}

const char *resolve(int at, const char *path, bool follow, char full[PATH_MAX])
{
    if (!folder || !path || !*path) return NULL;
    int before = errno;
    char joined[2 * PATH_MAX] = "", last[PATH_MAX];
    struct stat found;
    if (*path != '/' && at != AT_FDCWD) {
        char link[40];
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        ssize_t size = readlink(link, joined, PATH_MAX - 1);
        if (size < 0) return NULL;
        strcpy(joined + size, "/");
    }
    if (strlen(path) >= PATH_MAX) return NULL;
    strcat(joined, path);
    bool is_whole = follow && realpath(joined, full);
    // Another process may have made the file meanwhile.
    if (follow && !is_whole && lstat(joined, &found) == 0 && S_ISLNK(found.st_mode))
        die("a link that leads nowhere", path);
    if (!is_whole) {
        char *slash = strrchr(joined, '/');
        strcpy(last, slash ? slash + 1 : joined);
        if (slash) slash[1] = '\0';
        if (!realpath(slash ? joined : ".", full)) *full = '\0';
        if (strlen(full) + strlen(last) + 2 > PATH_MAX) die("a long path", path);
        strcat(strcat(full, "/"), last);
    }
    errno = before;
    return inside(full);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    char from_full[PATH_MAX], to_full[PATH_MAX];
    const char *old = resolve(from_at, from, false, from_full);
    const char *new = resolve(to_at, to, false, to_full);
    if (!old != !new || (old && flags)) die("the layer knows no such rename", from);
    if (old) change(RENAME, old, new, 0, NULL, 0);
    int result = syscall(SYS_renameat2, from_at, from, to_at, to, flags);
    if (result && old && errno != ENOENT) die("cannot rename", old);
    return result;
}
int renameat(int from_at, const char *from, int to_at, const char *to)
{
    return renameat2(from_at, from, to_at, to, 0);
}
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
    char from_full[PATH_MAX], to_full[PATH_MAX];
    const char *old = resolve(from_at, from, false, from_full);
    const char *new = resolve(to_at, to, false, to_full);
    if (!old != !new) die("a link into or out of the folder", from);
    if (old) change(LINK, old, new, 0, NULL, 0);
    int result = syscall(SYS_linkat, from_at, from, to_at, to, flags);
    if (result && old) die("cannot link", old);
    return result;
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int at, const char *path, int flags)
{
    char full[PATH_MAX];
    const char *name = resolve(at, path, false, full);
    if (name && flags & AT_REMOVEDIR) die("the layer knows no removal of a folder", name);
    if (name) change(UNLINK, name, NULL, 0, NULL, 0);
    int result = syscall(SYS_unlinkat, at, path, flags);
    if (result && name && errno != ENOENT) die("cannot unlink", name);
    return result;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int remove(const char *path)
{
    struct stat found;
    bool is_folder = lstat(path, &found) == 0 && S_ISDIR(found.st_mode);
    return unlinkat(AT_FDCWD, path, is_folder ? AT_REMOVEDIR : 0);
}

int mkdirat(int at, const char *path, mode_t mode)
{
    char full[PATH_MAX];
    int result = syscall(SYS_mkdirat, at, path, mode);
    if (result == 0 && resolve(at, path, false, full)) die("the layer knows no new folders", path);
    return result;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
