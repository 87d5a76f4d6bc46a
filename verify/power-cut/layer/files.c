/* Files: how they are opened, written, resized and synced. */
#include "layer.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_at(int at, const char *path, int flags, mode_t mode)
{
    char full[PATH_MAX];
    bool is_plain = !(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE;
    const char *name = is_plain ? NULL : resolve(at, path, true, full);
    if (!name) return syscall(SYS_openat, at, path, flags, mode);
    if (flags & O_CREAT) change(CREATE, name, NULL, 0, NULL, 0);
    if ((flags & O_TRUNC) && !(flags & O_EXCL)) change(RESIZE, name, NULL, 0, NULL, 0);
    int file = syscall(SYS_openat, at, path, flags, mode);
    if (file < 0 && errno != EEXIST) die("cannot open", name);
    return file;
}

#define OPEN(NAME, PARAMETERS, AT)                                    \
    int NAME PARAMETERS                                               \
    {                                                                 \
        mode_t mode = 0;                                              \
        if (flags & (O_CREAT | __O_TMPFILE)) {                        \
            va_list rest;                                             \
            va_start(rest, flags);                                    \
            mode = va_arg(rest, mode_t);                              \
            va_end(rest);                                             \
        }                                                             \
        return open_at(AT, path, flags, mode);                        \
    }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD)
OPEN(openat, (int at, const char *path, int flags, ...), at)
OPEN(openat64, (int at, const char *path, int flags, ...), at)

/* What glibc's headers make of these in programs with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __openat_2(int at, const char *path, int flags) { return open_at(at, path, flags, 0); }
int __openat64_2(int at, const char *path, int flags) { return open_at(at, path, flags, 0); }

enum { NEW = O_WRONLY | O_CREAT | O_TRUNC };
int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, NEW, mode); }
int creat64(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, NEW, mode); }

/* An offset of -1 means the file's own position. */
static ssize_t write_out(int file, const struct iovec *parts, int count, off_t offset)
{
    if (offset < 0) return syscall(SYS_writev, file, parts, count);
    return syscall(SYS_pwritev, file, parts, count, offset, 0);
}

static ssize_t write_parts(int file, const struct iovec *parts, int count, off_t offset)
{
    char path[PATH_MAX];
    const char *name = name_of(file, path);
    if (!name) {
        end_without_power();
        return write_out(file, parts, count, offset);
    }
    int flags = fcntl(file, F_GETFL);
    struct stat now;
    off_t at = offset;
    if (flags & O_APPEND) at = fstat(file, &now) ? -1 : now.st_size;
    else if (offset < 0) at = lseek(file, 0, SEEK_CUR);
    if (at < 0) die("a write to no place", name);
    /* PostgreSQL writes pages in which other processes set bits meanwhile. The file gets the bytes
     * that the log has. O_DIRECT wants them at the start of a page. */
    struct iovec copy = { NULL, 0 };
    for (int i = 0; i < count; i++) copy.iov_len += parts[i].iov_len;
    if (posix_memalign(&copy.iov_base, 4096, copy.iov_len)) die("no memory for a write", name);
    char *end = copy.iov_base;
    for (int i = 0; i < count; i++) end = mempcpy(end, parts[i].iov_base, parts[i].iov_len);
    change(WRITE, name, NULL, at, &copy, 1);
    if (flags & O_DSYNC) append(SYNC, name, NULL, 0, NULL, 0);
    ssize_t written = write_out(file, &copy, 1, offset);
    if (written != (ssize_t)copy.iov_len) die("a write was cut short", name);
    free(copy.iov_base);
    return written;
}

static ssize_t write_one(int file, const void *bytes, size_t size, off_t offset)
{
    struct iovec part = { (void *)bytes, size };
    return write_parts(file, &part, 1, offset);
}

ssize_t write(int file, const void *bytes, size_t size) { return write_one(file, bytes, size, -1); }
ssize_t pwrite(int file, const void *bytes, size_t size, off_t at)
{
    return write_one(file, bytes, size, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at)
{
    return write_one(file, bytes, size, at);
}
ssize_t writev(int file, const struct iovec *parts, int count)
{
    return write_parts(file, parts, count, -1);
}
ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at)
{
    return write_parts(file, parts, count, at);
}
ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t at)
{
    return write_parts(file, parts, count, at);
}

/* Calls that put bytes into a file in ways that the layer does not log. */
static void refuse(int file, const char *what)
{
    char path[PATH_MAX];
    const char *name = name_of(file, path);
    if (name) die(what, name);
}
ssize_t pwritev2(int file, const struct iovec *parts, int count, off_t at, int flags)
{
    refuse(file, "the layer knows no pwritev2");
    return syscall(SYS_pwritev2, file, parts, count, at, 0, flags);
}
ssize_t pwritev64v2(int file, const struct iovec *parts, int count, off64_t at, int flags)
{
    return pwritev2(file, parts, count, at, flags);
}
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size,
                        unsigned flags)
{
    refuse(to, "the layer knows no copy_file_range");
    return syscall(SYS_copy_file_range, from, from_at, to, to_at, size, flags);
}
ssize_t sendfile(int to, int from, off_t *at, size_t size)
{
    refuse(to, "the layer knows no sendfile");
    return syscall(SYS_sendfile, to, from, at, size);
}
ssize_t sendfile64(int to, int from, off64_t *at, size_t size)
{
    return sendfile(to, from, at, size);
}

int ftruncate(int file, off_t size)
{
    char path[PATH_MAX];
    const char *name = name_of(file, path);
    if (name) change(RESIZE, name, NULL, size, NULL, 0);
    int result = syscall(SYS_ftruncate, file, size);
    if (result && name) die("cannot resize", name);
    return result;
}
int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

int truncate(const char *path, off_t size)
{
    char full[PATH_MAX];
    const char *name = resolve(AT_FDCWD, path, true, full);
    if (name && access(path, W_OK) == 0) change(RESIZE, name, NULL, size, NULL, 0);
    return syscall(SYS_truncate, path, size);
}
int truncate64(const char *path, off64_t size) { return truncate(path, size); }

int fallocate(int file, int mode, off_t offset, off_t size)
{
    char path[PATH_MAX];
    const char *name = name_of(file, path);
    // As on a file system that cannot make holes or zeros: MySQL then writes the zeros.
    if (name && mode & ~FALLOC_FL_KEEP_SIZE) { errno = EOPNOTSUPP; return -1; }
    if (name && !mode) change(EXTEND, name, NULL, offset + size, NULL, 0);
    return syscall(SYS_fallocate, file, mode, offset, size);
}
int fallocate64(int file, int mode, off64_t offset, off64_t size)
{
    return fallocate(file, mode, offset, size);
}
int posix_fallocate(int file, off_t offset, off_t size)
{
    int before = errno, result = fallocate(file, 0, offset, size) ? errno : 0;
    errno = before;
    return result;
}
int posix_fallocate64(int file, off64_t offset, off64_t size)
{
    return posix_fallocate(file, offset, size);
}

static int sync_file(int file, long call)
{
    char path[PATH_MAX];
    const char *name = name_of(file, path);
    if (!name) return syscall(call, file);
    struct stat found;
    if (fstat(file, &found)) die("a sync of nothing", name);
    change(S_ISDIR(found.st_mode) ? SYNC_FOLDER : SYNC, name, NULL, 0, NULL, 0);
    return 0;
}
int fsync(int file) { return sync_file(file, SYS_fsync); }
int fdatasync(int file) { return sync_file(file, SYS_fdatasync); }
