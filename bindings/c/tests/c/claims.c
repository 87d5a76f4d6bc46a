/* Ids that a program hands out by itself. */

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"

typedef _Atomic uint64_t word;

static uint64_t end_of(const uint64_t *end) {
    return atomic_load_explicit((const word *)end, memory_order_acquire);
}

void claimed_ids_may_be_given_until_the_word_is_lowered(void) {
    uidring_generator uids;
    uidring_claims claims = {0};
    uidring_claimed claimed;
    const uint64_t *end = NULL;
    uint64_t before, after;
    /* Under valgrind, a moment is long. */
    const char *const options[] = {"max_lag=1h", NULL};
    WORKS(uidring_open_fixed(7, options, &uids));
    WORKS(uidring_claims_open(uids, &claims, &end));
    WORKS(uidring_take(uids, &before));
    WORKS(uidring_claim(claims, 100, &claimed));
    WORKS(uidring_take(uids, &after));
    CHECK(claimed.length >= 1 && claimed.length <= 100 && claimed.step == 1);
    CHECK(claimed.first > before && claimed.first + claimed.length - 1 < after);
    CHECK(claimed.end == end_of(end));
    uidring_parts parts;
    WORKS(uidring_decode(uids, claimed.first + claimed.length - 1, &parts));
    CHECK(parts.worker == 7);
    WORKS(uidring_claims_give_back(claims, 1));
    WORKS(uidring_close(uids));
    /* Not even the first place is below it. */
    CHECK(end_of(end) <= claimed.end - claimed.length);
    FAILS(uidring_claim(claims, 100, &claimed), UIDRING_CLOSED, "the generator");
    CHECK(claimed.first == 0 && claimed.length == 0);
    WORKS(uidring_claims_close(claims));
    WORKS(uidring_claims_close(claims));
    FAILS(uidring_claim(claims, 100, &claimed), UIDRING_CLOSED, "the claims were closed");
}

void ids_that_are_too_old_are_not_given(void) {
    uidring_generator uids;
    uidring_claims claims;
    uidring_claimed claimed;
    const uint64_t *end;
    const char *const options[] = {"max_lag=200ms", "tick=100ms", NULL};
    WORKS(uidring_open_fixed(7, options, &uids));
    WORKS(uidring_claims_open(uids, &claims, &end));
    WORKS(uidring_claim(claims, 10, &claimed));
    for (int tries = 0; end_of(end) == claimed.end && tries < 3000; tries++) usleep(10000);
    CHECK(end_of(end) <= claimed.end - claimed.length);
    WORKS(uidring_claims_close(claims));
    WORKS(uidring_close(uids));
}

void in_exact_time_nothing_is_claimed(void) {
    uidring_generator uids;
    uidring_claims claims = {7};
    uint64_t some;
    const uint64_t *end = &some;
    const char *const options[] = {"exact_time=true", "tick=1ms", "layout=40,20,2", NULL};
    WORKS(uidring_open_fixed(7, options, &uids));
    WORKS(uidring_claims_open(uids, &claims, &end));
    CHECK(claims.id == 0 && end == NULL);
    int given = 0, none = 0;
    for (int tries = 0; tries < 100000 && (given == 0 || none == 0); tries++) {
        uint64_t uid = 7;
        WORKS(uidring_try_take(uids, &uid));
        if (uid == 0) none++; else given++;
    }
    CHECK(given > 0 && none > 0);
    WORKS(uidring_close(uids));
}

void what_is_left_of_a_tags_claim_goes_back(const char *address) {
    uidring_segments segments;
    uidring_tag tag;
    uidring_claims claims, others;
    uidring_claimed claimed, other;
    const uint64_t *end;
    uint64_t number;
    WORKS(uidring_segments_open(address, NULL, &segments));
    WORKS(uidring_segments_create(segments, "claimed", NULL, &tag));
    WORKS(uidring_tag_take(tag, &number));
    CHECK(number == 1);
    WORKS(uidring_tag_claims_open(tag, &claims, &end));
    WORKS(uidring_claim(claims, 10, &claimed));
    CHECK(claimed.first == 2 && claimed.length == 10 && claimed.step == 1);
    CHECK(claimed.end == end_of(end));
    WORKS(uidring_claims_give_back(claims, 4));
    /* It was given back already. */
    WORKS(uidring_claims_give_back(claims, 1));
    WORKS(uidring_segments_close(segments));
    CHECK(end_of(end) <= claimed.end - claimed.length);
    WORKS(uidring_claims_close(claims));

    WORKS(uidring_segments_open(address, NULL, &segments));
    WORKS(uidring_segments_tag(segments, "claimed", &tag));
    WORKS(uidring_tag_take(tag, &number));
    CHECK(number == 6);
    /* Each has a last claim of its own. */
    WORKS(uidring_tag_claims_open(tag, &claims, &end));
    WORKS(uidring_tag_claims_open(tag, &others, &end));
    WORKS(uidring_claim(claims, 10, &claimed));
    WORKS(uidring_claim(others, 10, &other));
    CHECK(claimed.first == 7 && other.first == 17);
    WORKS(uidring_claims_give_back(others, 1));
    WORKS(uidring_segments_close(segments));
    WORKS(uidring_segments_open(address, NULL, &segments));
    WORKS(uidring_segments_tag(segments, "claimed", &tag));
    WORKS(uidring_tag_try_take(tag, &number));
    CHECK(number == 0 || number == 18);
    if (number == 0) WORKS(uidring_tag_take(tag, &number));
    CHECK(number == 18);
    WORKS(uidring_segments_close(segments));
    WORKS(uidring_claims_close(claims));
    WORKS(uidring_claims_close(others));
    const char *const limited[] = {"max_in_memory=100", NULL};
    WORKS(uidring_segments_open(address, limited, &segments));
    WORKS(uidring_segments_tag(segments, "claimed", &tag));
    WORKS(uidring_tag_claims_open(tag, &claims, &end));
    CHECK(claims.id == 0 && end == NULL);
    WORKS(uidring_segments_close(segments));
}

/* A child of a fork must give none of them. */
void a_forked_process_gives_nothing_of_a_claim(void) {
    uidring_generator uids;
    uidring_claims claims;
    uidring_claimed claimed;
    const uint64_t *end;
    WORKS(uidring_open_fixed(7, NULL, &uids));
    WORKS(uidring_claims_open(uids, &claims, &end));
    WORKS(uidring_claim(claims, 10, &claimed));
    int ends[2], failed = -1;
    CHECK(pipe(ends) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int before = failures;
        CHECK(end_of(end) <= claimed.end - claimed.length);
        FAILS(uidring_claim(claims, 10, &claimed), UIDRING_FORKED, "fork");
        fflush(stdout);
        failed = failures - before;
        _exit(write(ends[1], &failed, sizeof failed) != sizeof failed);
    }
    /* Where leaks are looked for, the child may be said to have some: those of its parent. */
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK(close(ends[1]) == 0 && read(ends[0], &failed, sizeof failed) == sizeof failed);
    CHECK(failed == 0 && close(ends[0]) == 0);
    /* The parent goes on. */
    WORKS(uidring_claim(claims, 10, &claimed));
    CHECK(claimed.first != 0);
    WORKS(uidring_claims_close(claims));
    WORKS(uidring_close(uids));
}

static const uint64_t *closed_end;
static atomic_int may_read = 1;

static void *reads(void *nothing) {
    uint64_t sum = 0;
    while (atomic_load(&may_read)) sum += end_of(closed_end);
    return sum == 1 ? nothing : NULL;
}

/* Under valgrind and with AddressSanitizer, one that was freed would be told. */
void the_word_stays_until_the_claims_are_closed(void) {
    uidring_generator uids, others;
    uidring_claims claims;
    uint64_t uid;
    WORKS(uidring_open_fixed(7, NULL, &uids));
    WORKS(uidring_claims_open(uids, &claims, &closed_end));
    pthread_t reader;
    CHECK(pthread_create(&reader, NULL, reads, NULL) == 0);
    WORKS(uidring_close(uids));
    /* What this thread remembers is another now. */
    WORKS(uidring_open_fixed(8, NULL, &others));
    WORKS(uidring_take(others, &uid));
    WORKS(uidring_close(others));
    uint64_t end = end_of(closed_end);
    CHECK(end == end_of(closed_end));
    atomic_store(&may_read, 0);
    CHECK(pthread_join(reader, NULL) == 0);
    WORKS(uidring_claims_close(claims));
}
