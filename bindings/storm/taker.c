/* Takes UIDs from the store at its first argument, with the options after it, and writes them to
 * its output, eight bytes each, until its input ends or it is killed.
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <uidring.h>

static void check(uidring_code code) {
    if (code != UIDRING_OK) {
        fprintf(stderr, "%s\n", uidring_last_error());
        exit(1);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    uidring_generator uids;
    uint64_t batch[1000];
    check(uidring_open(argv[1], (const char *const *)argv + 2, &uids));
    struct pollfd input = {.fd = 0, .events = POLLIN};
    while (poll(&input, 1, 5) == 0) {
        for (int index = 0; index < 500; index++) check(uidring_take(uids, &batch[index]));
        check(uidring_fill(uids, batch + 500, 500, NULL));
        fwrite(batch, sizeof *batch, 1000, stdout);
        fflush(stdout);
    }
    check(uidring_close(uids));
    return 0;
}
