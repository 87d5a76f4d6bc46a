/* Ids of times that were. */

#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"

/* In 2026: after the epoch of the tests' layout, which has 8 ids for a second and worker id. */
#define FIRST 1780000000000
static const char *const OPTIONS[] = {"layout=30,20,3", "epoch=2026-01-01", "max_new_workers=1",
                                      NULL};

static uidring_past open_past(const char *address) {
    uidring_past past = {0};
    char path[4200];
    snprintf(path, sizeof path, "%s.past", address);
    WORKS(uidring_past_open(path, OPTIONS, &past));
    return past;
}

static int64_t now(void) {
    return (int64_t)time(NULL) * 1000;
}

void ids_of_the_past_have_their_times(const char *address) {
    uidring_past past = open_past(address), other = open_past(address);
    uint64_t uid, uids[12];
    int64_t times[12];
    uidring_parts parts, others;
    WORKS(uidring_past_take_at(past, FIRST + 999, &uid));
    WORKS(uidring_past_decode(past, uid, &parts));
    CHECK(parts.unix_ms == FIRST && parts.sequence == 0);
    WORKS(uidring_past_take_at(other, FIRST, &uids[0]));
    WORKS(uidring_past_decode(other, uids[0], &others));
    CHECK(others.unix_ms == FIRST && others.worker != parts.worker);
    /* Backwards, and one of them often: a further worker id is taken on. */
    for (int index = 0; index < 12; index++) times[index] = FIRST - 1000 * (index < 2 ? index : 0);
    WORKS(uidring_past_take_times(past, times, uids, 12));
    CHECK(uids[1] < uid);
    uint64_t last = uid, workers = 0;
    for (int index = 0; index < 12; index++) {
        WORKS(uidring_past_decode(past, uids[index], &others));
        CHECK(others.unix_ms == times[index]);
        if (index == 1) continue;
        CHECK(uids[index] > last);
        last = uids[index];
        if (others.worker != parts.worker) workers++;
    }
    CHECK(workers == 4);
    char text[2048];
    WORKS(uidring_past_status(past, text, sizeof text, NULL));
    CHECK(strstr(text, "\"taken\":13") && strstr(text, "\"workers\":2") &&
          strstr(text, "\"ticks\":2") && strstr(text, "\"layout\":\"layout=30,20,3 tick=1000ms"));
    /* One array is read and written. */
    WORKS(uidring_past_take_times(past, times, (uint64_t *)times, 2));
    CHECK((uint64_t)times[0] > last && (uint64_t)times[1] < uid);
    WORKS(uidring_past_close(other));
    WORKS(uidring_past_close(past));
}

void times_without_an_id_are_told(const char *address) {
    uidring_past past = open_past(address), none = {0};
    uint64_t uid = 7, uids[20];
    int64_t times[20];
    FAILS(uidring_past_take_at(past, 1767225599999, &uid), UIDRING_INVALID_ARGUMENT,
          "no UID of 2025-12-31T23:59:59.999Z: the layout begins at 2026-01-01T00:00:00Z; choose");
    CHECK(uid == 0);
    FAILS(uidring_past_take_at(past, now() + 60000, &uid), UIDRING_INVALID_ARGUMENT,
          "and ids of the past are for times that were");
    for (int index = 0; index < 20; index++) times[index] = FIRST, uids[index] = 7;
    times[19] = INT64_MAX;
    FAILS(uidring_past_take_times(past, times, uids, 20), UIDRING_INVALID_ARGUMENT, "time 20: no");
    CHECK(uids[0] == 0 && uids[19] == 0);
    char text[2048];
    WORKS(uidring_past_status(past, text, sizeof text, NULL));
    CHECK(strstr(text, "\"taken\":0") && strstr(text, "\"state\":\"running\""));
    times[19] = FIRST;
    FAILS(uidring_past_take_times(past, times, uids, 20), UIDRING_UNAVAILABLE,
          "time 17: no UID of 2026-05-28T20:26:40Z: all of this tick are taken, and another");
    CHECK(uids[0] == 0 && uids[19] == 0);
    WORKS(uidring_past_close(past));
    const char *const leased[] = {"lease=10m", NULL}, *const own[] = {"state=/x", NULL};
    FAILS(uidring_past_open(address, leased, &none), UIDRING_INVALID_ARGUMENT,
          "lent again and again: leave out the option lease");
    FAILS(uidring_past_open(address, own, &none), UIDRING_INVALID_ARGUMENT, "leave it out");
    CHECK(none.id == 0);
}

void a_forked_process_has_no_past(const char *address) {
    uidring_past past = open_past(address);
    uint64_t uid, of_child[2] = {0, 1};
    int ends[2], status;
    WORKS(uidring_past_take_at(past, FIRST, &uid));
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        int before = failures;
        int64_t times[] = {FIRST, FIRST};
        uint64_t uids[2];
        FAILS(uidring_past_take_at(past, FIRST, &uid), UIDRING_FORKED, "forked");
        FAILS(uidring_past_take_times(past, times, uids, 2), UIDRING_FORKED, "forked");
        char text[2048];
        WORKS(uidring_past_status(past, text, sizeof text, NULL));
        CHECK(strstr(text, "\"state\":\"forked\"") != NULL);
        uidring_past own = open_past(address);
        WORKS(uidring_past_take_at(own, FIRST, &of_child[0]));
        WORKS(uidring_past_close(own));
        of_child[1] = failures - before;
        CHECK(write(ends[1], of_child, sizeof of_child) == sizeof of_child);
        fflush(stdout);
        _exit(0);
    }
    CHECK(read(ends[0], of_child, sizeof of_child) == sizeof of_child);
    CHECK(of_child[0] > 0 && of_child[0] != uid && of_child[1] == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    uint64_t next;
    WORKS(uidring_past_take_at(past, FIRST, &next));
    CHECK(next == uid + 1);
    WORKS(uidring_past_close(past));
}
