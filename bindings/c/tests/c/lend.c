/* Worker ids that are lent to generators of others. */

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"

static uidring_worker lend(const char *file, const char *const *options, uidring_on_loss on_loss,
                           void *data) {
    uidring_worker worker = {0};
    WORKS(uidring_worker_lend(file, "shop", 1, options, on_loss, data, &worker));
    return worker;
}

static int is_held(uidring_worker worker) {
    int held = 7;
    WORKS(uidring_worker_is_held(worker, &held));
    return held;
}

void a_worker_id_is_lent_until_it_is_closed(const char *address) {
    char file[4200], text[2048];
    snprintf(file, sizeof file, "%s.lent", address);
    const char *const options[] = {"lease=1m", "rest=1s", "host=orders-3", NULL};
    const char *const short_lease[] = {"lease=1ms", NULL}, *const wrong[] = {"leas=1m", NULL};
    uidring_worker worker = lend(file, options, NULL, NULL), other = {0}, none = {0};
    uint64_t id = 7;
    int held = 7;
    WORKS(uidring_worker_id(worker, &id));
    CHECK(id == 1 && is_held(worker));
    WORKS(uidring_worker_status(worker, text, sizeof text, NULL));
    CHECK(strstr(text, "\"state\":\"held\"") && strstr(text, "\"id\":1,"));
    FAILS(uidring_worker_lend(file, "shop", 1, NULL, NULL, NULL, &other), UIDRING_UNAVAILABLE,
          "no id of the pool shop may be lent now: 1 are held, and 0 rest");
#define WRONG(pool, bits, options, text) \
    FAILS(uidring_worker_lend(file, pool, bits, options, NULL, NULL, &other), \
          UIDRING_INVALID_ARGUMENT, text)
    WRONG("shop", 2, NULL, "was first used with ids of 1 bits");
    WRONG("shop", 23, NULL, "1 to 22");
    WRONG("", 1, NULL, "no pool is called");
    WRONG(NULL, 1, NULL, "pool is null");
    WRONG("shop", 1, short_lease, "a lease lasts a second at least");
    WRONG("shop", 1, wrong, "did you mean lease?");
    CHECK(other.id == 0);
    FAILS(uidring_worker_id(worker, NULL), UIDRING_INVALID_ARGUMENT, "id is null");
    FAILS(uidring_worker_is_held(worker, NULL), UIDRING_INVALID_ARGUMENT, "is_held is null");
    FAILS(uidring_worker_id(none, &id), UIDRING_INVALID_ARGUMENT, "no handle");
    CHECK(id == 0);
    /* A child has no loan, and its close leaves the parent's. */
    pid_t child = fork();
    if (child == 0) {
        int before = failures;
        CHECK(!is_held(worker));
        WORKS(uidring_worker_close(worker));
        fflush(stdout);
        _exit(failures != before);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(is_held(worker));
    WORKS(uidring_worker_close(worker));
    WORKS(uidring_worker_close(worker));
    FAILS(uidring_worker_id(worker, &id), UIDRING_CLOSED, "the worker id was closed");
    FAILS(uidring_worker_is_held(worker, &held), UIDRING_CLOSED, "the worker id was closed");
    FAILS(uidring_worker_status(worker, text, 1, NULL), UIDRING_CLOSED, "the worker id was closed");
    CHECK(held == 0);
    FAILS(uidring_worker_close(none), UIDRING_INVALID_ARGUMENT, "no handle");
}

struct told {
    atomic_int calls;
    uidring_loss loss;
};

static void tell(const uidring_loss *loss, void *data) {
    struct told *told = data;
    told->loss = *loss;
    atomic_fetch_add(&told->calls, 1);
}

void a_loss_is_told_ahead_of_the_end(const char *address) {
    char file[4200], away[4300];
    snprintf(file, sizeof file, "%s.lost", address);
    snprintf(away, sizeof away, "%s.away", file);
    const char *const options[] = {"lease=3s", NULL};
    static struct told told;
    uidring_worker worker = lend(file, options, tell, &told);
    CHECK(rename(file, away) == 0);
    for (int tries = 0; atomic_load(&told.calls) == 0 && tries < 3000; tries++) usleep(10000);
    CHECK(told.loss.worker_id == 1 && told.loss.left_ms > 0 && told.loss.left_ms < 3000);
    CHECK(strncmp(told.loss.text, "worker id 1 must not be used any more in ", 41) == 0);
    for (int tries = 0; is_held(worker) && tries < 3000; tries++) usleep(10000);
    CHECK(!is_held(worker));
    FAILS(uidring_worker_close(worker), UIDRING_REFUSED, "worker id 1 is not lent to this holder");
    WORKS(uidring_worker_close(worker));
    CHECK(atomic_load(&told.calls) == 1);
    CHECK(rename(away, file) == 0);
}
