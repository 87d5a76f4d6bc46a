/* What the parts of the layer share. log.c says what the layer is. */
#ifndef LAYER_H
#define LAYER_H

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

/* A program may have functions of the same names, which must not become ours. */
#pragma GCC visibility push(hidden)

/* As in cuts/log.rs. */
enum kind { CREATE = 1, WRITE, RESIZE, EXTEND, SYNC, SYNC_FOLDER, RENAME, LINK, UNLINK };

/* The folder whose changes are logged; NULL: none are. */
extern const char *folder;
extern size_t folder_size;

/* Ends the program: it does what the layer cannot log. */
void die(const char *what, const char *name);

/* Logs a change, and ends the program if that is where the power fails. */
void change(enum kind kind, const char *name, const char *other, uint64_t offset,
            const struct iovec *bytes, int count);

/* Ends the program if the power has failed at another one's change: that one's locks are free, and
 * this program could tell what the disk is about to lose. */
void end_without_power(void);

/* Logs what comes with a change. */
void append(enum kind kind, const char *name, const char *other, uint64_t offset,
            const struct iovec *bytes, int count);

/* The name of the open file; NULL where it is not in the folder, or has no name any more. */
const char *name_of(int file, char path[PATH_MAX]);

/* The name of the path without links; NULL where it is not in the folder. The last part need not be
 * there, and is followed if `follow`. */
const char *resolve(int at, const char *path, bool follow, char full[PATH_MAX]);

#pragma GCC visibility pop
#endif
