/* Gives ids of their own time to rows that are older than their ids. It reads a time a line, in
 * seconds since 1970, and prints the id and the time that is in it.
 *
 *     cc -Wall -Wextra -Werror import.c $(pkg-config --cflags --libs uidring) -o import
 *     printf '%s\n' 1777716900 1777716901 | ./import /srv/uidring.db
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <uidring.h>

/* Ends the program with the library's sentence if a call has failed. */
static void check(uidring_code code) {
    if (code != UIDRING_OK) {
        fprintf(stderr, "%s\n", uidring_last_error());
        exit(1);
    }
}

int main(int argc, char **argv) {
    uidring_past past;
    check(uidring_past_open(argc > 1 ? argv[1] : "/srv/uidring.db", NULL, &past));
    int64_t seconds;
    while (scanf("%" SCNd64, &seconds) == 1) {
        uint64_t id;
        uidring_parts parts;
        check(uidring_past_take_at(past, seconds * 1000, &id));
        check(uidring_past_decode(past, id, &parts));
        printf("%" PRIu64 " %" PRId64 "\n", id, parts.unix_ms / 1000);
    }
    check(uidring_past_close(past));
    return 0;
}
