/* A library for LD_PRELOAD that logs each change of a program to the files of one folder, and ends
 * the program at a chosen one. From the log, a test works out what a disk may hold after a power
 * failure.
 *
 * Three environment variables say what it does:
 *
 *     POWER_CUT_FOLDER   the folder, without links in its path; unset: nothing is logged
 *     POWER_CUT_LOG      the file to which changes are appended
 *     POWER_CUT_CONTROL  a file of two numbers of 8 bytes, which all processes share: how many
 *                        changes there were, and the one at which the power fails
 *
 * Each change is logged before it is made. So the log has it before anybody sees its effect, and a
 * sync comes in the log after all that was written before it. What the layer cannot log, it
 * refuses: a test that ends is better than one that overlooks a change.
 *
 * Syncs are logged and not made, because the test decides what lasts.
 */
#include "layer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Followed by the two names, which are relative to the folder, and the bytes that are written. */
struct header {
    char magic[8];
    uint32_t kind, process;
    uint32_t name_size, other_size;
    uint64_t offset, size;
};

struct control {
    _Atomic uint64_t changes, cut_at;
};

enum { MOST_PARTS = 64 };

const char *folder;
size_t folder_size;
static const char *log_path;
static struct control *control;

void die(const char *what, const char *name)
{
    fprintf(stderr, "power-cut layer: %s: %s (%s)\n", what, name, strerror(errno));
    abort();
}

__attribute__((constructor)) static void begin(void)
{
    const char *control_path = getenv("POWER_CUT_CONTROL"), *log = getenv("POWER_CUT_LOG");
    const char *wanted = getenv("POWER_CUT_FOLDER");
    if (!wanted || !log || !control_path) return;
    int file = syscall(SYS_openat, AT_FDCWD, control_path, O_RDWR | O_CLOEXEC);
    if (file < 0) die("no control file", control_path);
    control = (void *)syscall(SYS_mmap, NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED,
                              file, 0);
    if (control == MAP_FAILED) die("no control page", control_path);
    close(file);
    /* Copies, because PostgreSQL writes what its processes do over its environment. */
    log_path = strdup(log);
    folder_size = strlen(wanted);
    folder = strdup(wanted);
    if (!log_path || !folder) die("no memory", wanted);
}

static void end_at_cut(uint64_t change)
{
    if (change < atomic_load(&control->cut_at)) return;
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

void end_without_power(void)
{
    if (control) end_at_cut(atomic_load(&control->changes));
}

void append(enum kind kind, const char *name, const char *other, uint64_t offset,
            const struct iovec *bytes, int count)
{
    int before = errno;
    struct header header = { "CHANGES", kind, getpid(), strlen(name), other ? strlen(other) : 0,
                             offset, 0 };
    struct iovec parts[MOST_PARTS + 3];
    if (count > MOST_PARTS) die("a write of too many parts", name);
    for (int i = 0; i < count; i++) header.size += bytes[i].iov_len;
    parts[0] = (struct iovec){ &header, sizeof header };
    parts[1] = (struct iovec){ (char *)name, header.name_size };
    parts[2] = (struct iovec){ (char *)other, header.other_size };
    if (count > 0) memcpy(parts + 3, bytes, count * sizeof *bytes);
    ssize_t all = sizeof header + header.name_size + header.other_size + header.size;
    /* Programs close files that they do not know, so it is opened each time. */
    int log = syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (log < 0) die("no log", log_path);
    if (syscall(SYS_writev, log, parts, count + 3) != all) die("cannot log", name);
    syscall(SYS_close, log);
    errno = before;
}

void change(enum kind kind, const char *name, const char *other, uint64_t offset,
            const struct iovec *bytes, int count)
{
    end_at_cut(atomic_fetch_add(&control->changes, 1) + 1);
    append(kind, name, other, offset, bytes, count);
}

/* The processes of a server stay in one group, so that the test can end all of them at once. */
pid_t setsid(void) { return folder ? getpid() : syscall(SYS_setsid); }
