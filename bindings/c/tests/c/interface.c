/* What a program in C relies on. Its argument is an empty folder. */

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uidring.h>

#include "checks.h"

int checks, failures;

void note(int is_so, const char *what, const char *file, int line) {
    checks++;
    if (!is_so) {
        failures++;
        printf("%s:%d: not so: %s; the last error: %s\n", file, line, what, uidring_last_error());
    }
}

static char address[4096];

/* A generator on the file of the tests. */
static uidring_generator open_uids(void) {
    uidring_generator uids = {0};
    const char *const options[] = {"lease=10m", "max_lead=1d", NULL};
    WORKS(uidring_open(address, options, &uids));
    return uids;
}

static void takes_ascend_and_are_decoded(void) {
    uidring_generator uids = open_uids();
    uint64_t last = 0, uid;
    for (int index = 0; index < 100000; index++) {
        if (uidring_take(uids, &uid) != UIDRING_OK || uid <= last || uid > INT64_MAX) {
            CHECK(!"each UID is above the one before");
            break;
        }
        last = uid;
    }
    uidring_parts parts;
    WORKS(uidring_decode(uids, last, &parts));
    CHECK(parts.worker >= 1 && parts.unix_ms > 1700000000000);
    FAILS(uidring_decode(uids, 0, &parts), UIDRING_INVALID_ARGUMENT, "a UID is a whole number");
    FAILS(uidring_decode(uids, UINT64_MAX, &parts), UIDRING_INVALID_ARGUMENT, "not 1844674407");
    WORKS(uidring_close(uids));
}

static void an_array_is_filled(void) {
    uidring_generator uids = open_uids();
    uint64_t some[3000];
    size_t filled = 7;
    WORKS(uidring_fill(uids, some, 3000, &filled));
    CHECK(filled == 3000);
    for (int index = 1; index < 3000; index++) {
        if (some[index] <= some[index - 1]) {
            CHECK(!"an array ascends");
            break;
        }
    }
    static const size_t lengths[] = {1, 2, 16, 17};
    uint64_t before = some[2999];
    for (int length = 0; length < 4; length++) {
        WORKS(uidring_fill(uids, some, lengths[length], &filled));
        CHECK(filled == lengths[length] && some[0] > before);
        before = some[filled - 1];
    }
    WORKS(uidring_fill(uids, NULL, 0, NULL));
    FAILS(uidring_fill(uids, NULL, 1, &filled), UIDRING_INVALID_ARGUMENT, "is null");
    CHECK(filled == 0);
    FAILS(uidring_fill(uids, some, SIZE_MAX, NULL), UIDRING_INVALID_ARGUMENT, "cannot have");
    WORKS(uidring_close(uids));
    FAILS(uidring_fill(uids, some, 3000, &filled), UIDRING_CLOSED, "closed");
    CHECK(filled == 0);
}

/* Only what is left of a tick can be filled: a whole one, unless the second turns meanwhile. */
static void what_was_filled_before_a_failure_is_told(void) {
    uidring_generator uids = {0};
    const char *const options[] = {"layout=41,10,12",    "tick=1s",     "max_lead=1s",
                                   "on_lead_limit=fail", "max_lag=0s", NULL};
    WORKS(uidring_open_fixed(7, options, &uids));
    static uint64_t many[100000];
    size_t filled = 0;
    FAILS(uidring_fill(uids, many, 100000, &filled), UIDRING_UNAVAILABLE, "max_lead is used up");
    CHECK(filled > 0 && filled < 100000 && many[filled - 1] >= many[0] && many[filled] == 0);
    WORKS(uidring_close(uids));
}

static void what_is_wrong_is_told(void) {
    uidring_generator uids = {0};
    const char *const wrong[] = {"leas=10m", NULL}, *const value[] = {"lease=10", NULL};
    const char *const bare[] = {"lease", NULL}, *const bytes[] = {"lease=\xff", NULL};
    FAILS(uidring_open(address, wrong, &uids), UIDRING_INVALID_ARGUMENT, "did you mean lease?");
    FAILS(uidring_open(address, value, &uids), UIDRING_INVALID_ARGUMENT, "such as 500ms");
    FAILS(uidring_open(address, bare, &uids), UIDRING_INVALID_ARGUMENT, "is not name=value");
    FAILS(uidring_open(address, bytes, &uids), UIDRING_INVALID_ARGUMENT, "is not UTF-8");
    const char *const swapped[] = {"mysql://ids:secret@db/ids", NULL};
    FAILS(uidring_open(address, swapped, &uids), UIDRING_INVALID_ARGUMENT, "mysql://ids@db/ids");
    FAILS(uidring_open(NULL, NULL, &uids), UIDRING_INVALID_ARGUMENT, "address is null");
    FAILS(uidring_open(address, NULL, NULL), UIDRING_INVALID_ARGUMENT, "generator is null");
    FAILS(uidring_open("ftp://ids", NULL, &uids), UIDRING_INVALID_ARGUMENT, "ftp");
    FAILS(uidring_open("/no/folder/ids.db", NULL, &uids), UIDRING_REFUSED, "/no/folder/ids.db");
    FAILS(uidring_open_fixed(UINT64_MAX, NULL, &uids), UIDRING_INVALID_ARGUMENT, "184467440737");
    CHECK(uids.id == 0);
    /* A key with a remark in Latin-1: what is a secret stays one. */
    const char *const keys = "0c1d2e3f4a5b6c7d8e9f # cl\xe9";
    uidring_masked masked = {0};
    FAILS(uidring_masked_open(keys, &masked), UIDRING_INVALID_ARGUMENT, "after its first 25 bytes");
    CHECK(strstr(uidring_last_error(), "0c1d") == NULL);
}

static void a_handle_that_is_none_is_an_error(void) {
    uidring_generator none = {0}, other = {UINT64_MAX};
    uint64_t uid = 5;
    FAILS(uidring_take(none, &uid), UIDRING_INVALID_ARGUMENT, "no handle");
    FAILS(uidring_take(other, &uid), UIDRING_INVALID_ARGUMENT, "no handle");
    FAILS(uidring_close(none), UIDRING_INVALID_ARGUMENT, "no handle");
    CHECK(uid == 0);
    uidring_generator uids = open_uids();
    FAILS(uidring_take(uids, NULL), UIDRING_INVALID_ARGUMENT, "uid is null");
    uidring_tag tag = {uids.id};
    FAILS(uidring_tag_take(tag, &uid), UIDRING_CLOSED, "closed");
    WORKS(uidring_close(uids));
}

static void a_second_close_succeeds(void) {
    uidring_generator uids = open_uids();
    uint64_t uid = 0;
    WORKS(uidring_take(uids, &uid));
    CHECK(uid != 0);
    WORKS(uidring_close(uids));
    WORKS(uidring_close(uids));
    FAILS(uidring_take(uids, &uid), UIDRING_CLOSED, "closed");
    /* And not the one before. */
    CHECK(uid == 0);
    char text[8];
    FAILS(uidring_status(uids, text, 8, NULL), UIDRING_CLOSED, "closed");
}

/* Whether a thread blocks SIGPIPE, which ends a program whose server goes away. -1 for a thread
 * that is not the library's, or has ended. */
static int blocks_sigpipe(const char *thread) {
    char path[300], line[200];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    FILE *status = fopen(path, "r");
    if (status == NULL) return -1;
    int blocks = -1, is_of_library = 0;
    unsigned long long blocked;
    while (fgets(line, sizeof line, status)) {
        if (strncmp(line, "Name:\tuidring", 13) == 0) is_of_library = 1;
        if (is_of_library && sscanf(line, "SigBlk: %llx", &blocked) == 1)
            blocks = (blocked >> (SIGPIPE - 1)) & 1;
    }
    fclose(status);
    return blocks;
}

/* Checks each thread of the library, and returns how many there are. */
static int check_threads(void) {
    int of_library = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *thread; (thread = readdir(threads)) != NULL;) {
        int blocks = blocks_sigpipe(thread->d_name);
        if (blocks < 0) continue;
        of_library++;
        CHECK(blocks);
    }
    closedir(threads);
    return of_library;
}

static void no_thread_of_the_library_gets_sigpipe(void) {
    uidring_generator uids = open_uids();
    uidring_segments segments = {0};
    uidring_series series = {0};
    WORKS(uidring_segments_open(address, NULL, &segments));
    WORKS(uidring_series_open(address, NULL, &series));
    /* A thread has its name once it runs. */
    int of_library = 0;
    for (int tries = 0; of_library == 0 && tries < 10000; tries++) {
        of_library = check_threads();
        if (of_library == 0) usleep(1000);
    }
    CHECK(of_library >= 1);
    sigset_t mine;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mine) == 0 && !sigismember(&mine, SIGPIPE));
    WORKS(uidring_series_close(series));
    WORKS(uidring_segments_close(segments));
    WORKS(uidring_close(uids));
}

struct taker {
    uidring_generator uids;
    atomic_long *taken;
    int failed_well;
};

static void *take_until_closed(void *argument) {
    struct taker *taker = argument;
    uint64_t uid, last = 0;
    uidring_code code;
    while ((code = uidring_take(taker->uids, &uid)) == UIDRING_OK && uid > last) {
        last = uid;
        atomic_fetch_add(taker->taken, 1);
    }
    const char *said = uidring_last_error();
    taker->failed_well = code == UIDRING_CLOSED && strstr(said, "was closed") != NULL;
    return NULL;
}

static void threads_take_while_another_closes(void) {
    for (int round = 0; round < 20; round++) {
        atomic_long taken = 0;
        struct taker takers[4];
        pthread_t threads[4];
        uidring_generator uids = open_uids();
        for (int index = 0; index < 4; index++) {
            takers[index] = (struct taker){uids, &taken, 0};
            pthread_create(&threads[index], NULL, take_until_closed, &takers[index]);
        }
        while (atomic_load(&taken) < 1000) usleep(100);
        WORKS(uidring_close(uids));
        for (int index = 0; index < 4; index++) {
            pthread_join(threads[index], NULL);
            /* One that comes only after the close is told the same. */
            CHECK(takers[index].failed_well);
        }
    }
}

static pthread_key_t at_end;

/* The destructor of the key. In its second round those of Rust have run. */
static void close_at_end(void *uids) {
    static int rounds;
    if (++rounds == 1) CHECK(pthread_setspecific(at_end, uids) == 0);
    else WORKS(uidring_close(*(uidring_generator *)uids));
}

/* Closes the first of two generators, after which Rust knows the thread. */
static void *close_and_end(void *argument) {
    uidring_generator *uids = argument;
    WORKS(uidring_close(uids[0]));
    CHECK(pthread_key_create(&at_end, close_at_end) == 0);
    CHECK(pthread_setspecific(at_end, &uids[1]) == 0);
    return NULL;
}

static void a_thread_closes_while_it_ends(void) {
    pthread_t thread;
    uint64_t uid;
    uidring_generator uids[] = {open_uids(), open_uids()};
    pthread_create(&thread, NULL, close_and_end, uids);
    pthread_join(thread, NULL);
    FAILS(uidring_take(uids[1], &uid), UIDRING_CLOSED, "closed");
}

static void a_forked_process_opens_anew(void) {
    uidring_generator uids = open_uids();
    uint64_t uid, mine, of_child[2] = {0, 1};
    WORKS(uidring_take(uids, &uid));
    int ends[2], status;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        int before = failures;
        FAILS(uidring_take(uids, &uid), UIDRING_FORKED, "forked");
        uidring_generator own = open_uids();
        WORKS(uidring_take(own, &of_child[0]));
        WORKS(uidring_close(own));
        of_child[1] = failures - before;
        CHECK(write(ends[1], of_child, sizeof of_child) == sizeof of_child);
        fflush(stdout);
        _exit(0);
    }
    WORKS(uidring_take(uids, &mine));
    CHECK(read(ends[0], of_child, sizeof of_child) == sizeof of_child);
    CHECK(of_child[0] > 0 && of_child[0] != mine && of_child[1] == 0);
    /* Where leaks are looked for, the child may be said to have some: those of its parent. */
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    WORKS(uidring_take(uids, &uid));
    WORKS(uidring_close(uids));
}

static void the_status_is_json_that_fits_the_buffer(void) {
    uidring_generator uids = open_uids();
    char text[2048];
    size_t length = 0;
    WORKS(uidring_status(uids, text, sizeof text, &length));
    CHECK(length == strlen(text) && text[0] == '{' && text[length - 1] == '}');
    CHECK(strstr(text, "\"worker_id\":") && strstr(text, "\"layout\":\"layout=") &&
          strstr(text, " tick=1000ms epoch=2"));
    memset(text, 'x', sizeof text);
    FAILS(uidring_status(uids, text, 10, NULL), UIDRING_INVALID_ARGUMENT, "10 bytes, and");
    CHECK(text[0] == 'x');
    size_t needed = 0;
    FAILS(uidring_status(uids, NULL, 0, &needed), UIDRING_INVALID_ARGUMENT, "are needed");
    CHECK(needed + 32 > length);
    WORKS(uidring_close(uids));
}

static void tags_give_dense_numbers(void) {
    uidring_segments segments = {0};
    uidring_tag tag = {0}, again = {0}, other = {0};
    uint64_t number, ten[10];
    const char *const first[] = {"first=100", NULL};
    WORKS(uidring_segments_open(address, NULL, &segments));
    FAILS(uidring_segments_tag(segments, "oders", &tag), UIDRING_REFUSED, "oders");
    WORKS(uidring_segments_create(segments, "orders", first, &tag));
    WORKS(uidring_segments_tag(segments, "orders", &again));
    WORKS(uidring_tag_take(tag, &number));
    CHECK(number == 100);
    WORKS(uidring_tag_fill(again, ten, 10, NULL));
    CHECK(ten[0] == 101 && ten[9] == 110);
    char text[2048];
    WORKS(uidring_tag_status(tag, text, sizeof text, NULL));
    CHECK(strstr(text, "\"tag\":\"orders\"") && strstr(text, "\"taken\":11"));
    FAILS(uidring_segments_create(segments, "", NULL, &tag), UIDRING_INVALID_ARGUMENT, "tag");
    WORKS(uidring_segments_create(segments, "others", NULL, &other));
    WORKS(uidring_segments_close(segments));
    WORKS(uidring_segments_close(segments));
    /* One that this thread has taken from last knows by itself; another is looked up. */
    FAILS(uidring_tag_take(tag, &number), UIDRING_CLOSED, "the segments were closed");
    CHECK(number == 0);
    FAILS(uidring_tag_take(other, &number), UIDRING_CLOSED, "closed");
    FAILS(uidring_segments_tag(segments, "orders", &again), UIDRING_CLOSED, "closed");
    /* What was left went back, so that the next process leaves no gap. */
    WORKS(uidring_segments_open(address, NULL, &segments));
    WORKS(uidring_segments_tag(segments, "orders", &tag));
    WORKS(uidring_tag_take(tag, &number));
    CHECK(number == 111);
    WORKS(uidring_segments_close(segments));
}

static void a_tag_is_found_again_by_its_name(void) {
    uidring_segments segments = {0}, others = {0};
    uidring_tag tag = {0}, again = {0};
    uint64_t number;
    WORKS(uidring_segments_open(address, NULL, &segments));
    WORKS(uidring_segments_create(segments, "parcels", NULL, &tag));
    WORKS(uidring_segments_create(segments, "parcels", NULL, &again));
    CHECK(again.id == tag.id);
    /* As a program does that looks it up at each request. */
    for (int index = 0; index < 1000; index++) {
        WORKS(uidring_segments_tag(segments, "parcels", &again));
        CHECK(again.id == tag.id);
    }
    WORKS(uidring_segments_open(address, NULL, &others));
    WORKS(uidring_segments_tag(others, "parcels", &again));
    CHECK(again.id != tag.id);
    WORKS(uidring_segments_close(others));
    FAILS(uidring_tag_take(again, &number), UIDRING_CLOSED, "closed");
    WORKS(uidring_tag_take(tag, &number));
    WORKS(uidring_segments_close(segments));
}

static void series_give_numbers_that_people_see(void) {
    uidring_series series = {0};
    uidring_series_number one, some[5];
    size_t taken = 0;
    WORKS(uidring_series_open(address, NULL, &series));
    FAILS(uidring_series_create(series, "bad", "{yy}{n}", NULL), UIDRING_INVALID_ARGUMENT, "{");
    WORKS(uidring_series_create(series, "shops", "{scope}/{yyyy}-{n:4}", NULL));
    WORKS(uidring_series_next(series, "shops", "s7", "2026-11-24", &one, 1, NULL));
    CHECK(strcmp(one.text, "s7/2026-0001") == 0 && one.value == 1);
    CHECK(strcmp(one.period, "2026") == 0);
    WORKS(uidring_series_next(series, "shops", "s7", "2025-01-01", some, 5, &taken));
    CHECK(taken == 5 && strcmp(some[4].text, "s7/2025-0005") == 0);
    WORKS(uidring_series_create(series, "tickets", "T-{n}", NULL));
    for (unsigned number = 1; number <= 3; number++) {
        taken = 0;
        WORKS(uidring_series_next(series, "tickets", NULL, NULL, &one, 1, &taken));
        CHECK(taken == 1 && one.value == number && strcmp(one.period, "ever") == 0);
        CHECK(one.text[0] == 'T' && one.text[2] == (char)('0' + number) && one.text[3] == 0);
    }
    WORKS(uidring_series_parse(series, "shops", "s7/2026-0006", &one));
    CHECK(one.value == 6 && strcmp(one.text, "s7/2026-0006") == 0);
    CHECK(strcmp(one.period, "2026") == 0 && strcmp(one.shown, "2026") == 0);
    WORKS(uidring_series_parse(series, "shops", "s7/2026-0006", NULL));
    FAILS(uidring_series_parse(series, "shops", "s7-6", &one), UIDRING_INVALID_ARGUMENT,
          "at byte 1 of the number");
    FAILS(uidring_series_next(series, "shops", "s7", "2026-02-30", &one, 1, NULL),
          UIDRING_INVALID_ARGUMENT, "2026-02-30");
    FAILS(uidring_series_next(series, "shops", "s7", NULL, some, 5, NULL),
          UIDRING_INVALID_ARGUMENT, "taken is null");
    FAILS(uidring_series_next(series, "shops", "s7", NULL, some, 0, &taken),
          UIDRING_INVALID_ARGUMENT, "1 to 1000000");
    const char *const yearly[] = {"restart=year", NULL};
    WORKS(uidring_series_create(series, "bills", "{yy}{MM}-{n:4}", yearly));
    WORKS(uidring_series_next(series, "bills", NULL, "2026-11-24", &one, 1, NULL));
    CHECK(strcmp(one.period, "2026") == 0 && strcmp(one.shown, "2026-11") == 0);
    WORKS(uidring_series_parse(series, "bills", "2602-0007", &one));
    CHECK(strcmp(one.period, "2026") == 0 && strcmp(one.shown, "2026-02") == 0);
    char text[2048];
    WORKS(uidring_series_status(series, "shops", "s7", text, sizeof text, NULL));
    CHECK(strstr(text, "\"series\":\"shops\"") != NULL);
    WORKS(uidring_series_close(series));
    WORKS(uidring_series_close(series));
    /* And neither the one before, nor as many. */
    one = some[0];
    FAILS(uidring_series_next(series, "shops", "s7", NULL, &one, 1, NULL), UIDRING_CLOSED,
          "closed");
    CHECK(one.value == 0 && one.text[0] == 0 && one.period[0] == 0 && one.shown[0] == 0);
    taken = 5;
    FAILS(uidring_series_next(series, "shops", "s7", NULL, some, 5, &taken), UIDRING_CLOSED,
          "closed");
    CHECK(taken == 0 && some[0].text[0] == 0);
    taken = 5;
    FAILS(uidring_series_next(series, NULL, "s7", NULL, some, 5, &taken), UIDRING_INVALID_ARGUMENT,
          "name is null");
    CHECK(taken == 0);
}

static const char *const KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

static void masked_ids_tell_nothing(void) {
    uidring_masked masked = {0};
    uint64_t id, some[20];
    WORKS(uidring_masked_open(KEY, &masked));
    WORKS(uidring_mask(masked, 180363646902239241, &id));
    CHECK(id == 7248484344334211842);
    WORKS(uidring_unmask(masked, id, &id));
    CHECK(id == 180363646902239241);
    for (int index = 0; index < 20; index++) some[index] = 180363646902239241;
    WORKS(uidring_mask_many(masked, some, 20));
    CHECK(some[0] == 7248484344334211842 && some[19] == some[0]);
    some[19] = 0;
    FAILS(uidring_mask_many(masked, some, 20), UIDRING_INVALID_ARGUMENT, "an id is a whole number");
    CHECK(some[0] == 7248484344334211842);
    WORKS(uidring_mask_many(masked, NULL, 0));
    FAILS(uidring_mask(masked, 0, &id), UIDRING_INVALID_ARGUMENT, "to 9223372036854775807, not 0");
    CHECK(id == 0);
    id = 5;
    FAILS(uidring_unmask(masked, UINT64_MAX, &id), UIDRING_INVALID_ARGUMENT, "not 1844674407");
    CHECK(id == 0);
    FAILS(uidring_masked_open("0c0c", &masked), UIDRING_INVALID_ARGUMENT, "64 hexadecimal digits");
    WORKS(uidring_masked_close(masked));
    WORKS(uidring_masked_close(masked));
    FAILS(uidring_mask(masked, 1, &id), UIDRING_CLOSED, "the keys were closed");
}

static void opaque_ids_cannot_be_made_up(void) {
    uidring_opaque orders = {0};
    char text[64];
    size_t length = 0;
    uint64_t id = 5;
    WORKS(uidring_opaque_open(KEY, "ord", &orders));
    WORKS(uidring_opaque_encode(orders, 180363646902239241, text, sizeof text, &length));
    CHECK(strcmp(text, "ord_5H7WY7KKXFH1JCEMMC78CF0N9T") == 0 && length == strlen(text));
    text[10] = text[10] == '7' ? '8' : '7';
    FAILS(uidring_opaque_decode(orders, text, &id), UIDRING_INVALID_ARGUMENT, "was made up");
    FAILS(uidring_opaque_decode(orders, "cus_1", &id), UIDRING_INVALID_ARGUMENT, "begin with");
    CHECK(id == 0);
    WORKS(uidring_opaque_decode(orders, "ord_5H7WY7KKXFH1JCEMMC78CF0N9T", &id));
    CHECK(id == 180363646902239241);
    WORKS(uidring_opaque_encode(orders, 1, text, sizeof text, NULL));
    FAILS(uidring_opaque_encode(orders, 0, text, sizeof text, NULL), UIDRING_INVALID_ARGUMENT,
          "an id is a whole number");
    /* And not the one before. */
    CHECK(text[0] == 0);
    FAILS(uidring_opaque_encode(orders, 1, text, 5, NULL), UIDRING_INVALID_ARGUMENT, "are needed");
    FAILS(uidring_opaque_open(KEY, "o d", &orders), UIDRING_INVALID_ARGUMENT, "such as ord");
    WORKS(uidring_opaque_close(orders));
    WORKS(uidring_opaque_close(orders));
    FAILS(uidring_opaque_decode(orders, text, &id), UIDRING_CLOSED, "the keys were closed");
}

static void *fail_elsewhere(void *uids) {
    uint64_t uid;
    FAILS(uidring_take(*(uidring_generator *)uids, &uid), UIDRING_INVALID_ARGUMENT, "no handle");
    return NULL;
}

static void each_thread_has_a_last_error_of_its_own(void) {
    uidring_generator none = {0};
    FAILS(uidring_open(NULL, NULL, &none), UIDRING_INVALID_ARGUMENT, "address is null");
    pthread_t thread;
    pthread_create(&thread, NULL, fail_elsewhere, &none);
    pthread_join(thread, NULL);
    CHECK(strcmp(uidring_last_error(), "address is null") == 0);
    CHECK(strcmp(uidring_version(), "0.1.0") == 0);
}

/* Takes events until one has this name, and returns it, or one without a name. */
static uidring_event event_of(const char *name) {
    uidring_event event = {0};
    do {
        WORKS(uidring_next_event(10000, &event));
    } while (event.level != UIDRING_LEVEL_NONE && strcmp(event.name, name) != 0);
    if (event.level == UIDRING_LEVEL_NONE) event.name[0] = 0;
    return event;
}

static void events_say_what_has_changed(void) {
    uidring_event event;
    do WORKS(uidring_next_event(0, &event)); while (event.level != UIDRING_LEVEL_NONE);
    uidring_generator uids = open_uids();
    event = event_of("started");
    CHECK(event.level == UIDRING_LEVEL_INFO && event.unix_ms > 1700000000000);
    CHECK(strncmp(event.text, "started: the generator has started worker=", 42) == 0);
    WORKS(uidring_close(uids));
    event = event_of("stopped");
    CHECK(strstr(event.text, " taken=0") != NULL);
    WORKS(uidring_next_event(1, &event));
    CHECK(event.level == UIDRING_LEVEL_NONE);
    FAILS(uidring_next_event(1, NULL), UIDRING_INVALID_ARGUMENT, "event is null");
}

/* Not with AddressSanitizer: a fork can leave its allocator locked, as it cannot leave malloc. */
#ifndef __SANITIZE_ADDRESS__
static atomic_int is_listening;

static void *listen_on(void *argument) {
    uidring_event event;
    (void)argument;
    while (atomic_load(&is_listening))
        if (uidring_next_event(0, &event) != UIDRING_OK) abort();
    return NULL;
}

/* Another thread may be in the queue when the process forks. The child has a queue of its own. */
static void a_child_hears_of_its_own_alone(void) {
    pthread_t listener;
    atomic_store(&is_listening, 1);
    pthread_create(&listener, NULL, listen_on, NULL);
    for (int round = 0; round < 20; round++) {
        uidring_generator uids = open_uids();
        pid_t child = fork();
        if (child == 0) {
            /* Rather a failure than a wait without end. */
            alarm(60);
            int before = failures;
            uidring_generator own = open_uids();
            CHECK(event_of("started").name[0] != 0);
            WORKS(uidring_close(own));
            CHECK(event_of("stopped").name[0] != 0);
            fflush(stdout);
            /* Where leaks are looked for, the status of a process may be another. */
            if (failures != before) kill(getppid(), SIGABRT);
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
        WORKS(uidring_close(uids));
    }
    atomic_store(&is_listening, 0);
    pthread_join(listener, NULL);
}
#endif

static void a_thousand_generators_open_and_close(void) {
    uint64_t uid;
    for (int index = 0; index < 1000; index++) {
        uidring_generator uids;
        if (uidring_open_fixed(1 + index, NULL, &uids) || uidring_take(uids, &uid) ||
            uidring_close(uids)) {
            CHECK(!"a generator opens, gives and closes");
            break;
        }
    }
}

static void each_call(void) {
    each_call_tells_what_is_wrong(address);
}

static void claims_of_a_tag(void) { what_is_left_of_a_tags_claim_goes_back(address); }

static void past_times(void) {
    ids_of_the_past_have_their_times(address);
}

static void no_past_times(void) {
    times_without_an_id_are_told(address);
}

static void past_of_a_fork(void) {
    a_forked_process_has_no_past(address);
}

/* The clock of loans is read by the vDSO, which valgrind takes away. */
static int has_clock_of_loans(void) {
    return getenv("UNDER_VALGRIND") == NULL;
}

static void lent_worker_ids(void) {
    if (has_clock_of_loans()) a_worker_id_is_lent_until_it_is_closed(address);
}

static void lost_worker_ids(void) {
    if (has_clock_of_loans()) a_loss_is_told_ahead_of_the_end(address);
}

static const char *folder;

static void transactions(void) {
    numbers_are_counted_in_a_transaction(folder);
}

int main(int argc, char **argv) {
    (void)argc;
    folder = argv[1];
    snprintf(address, sizeof address, "%s/uidring.db", argv[1]);
    void (*const tests[])(void) = {
        takes_ascend_and_are_decoded,
        an_array_is_filled,
        what_was_filled_before_a_failure_is_told,
        what_is_wrong_is_told,
        each_call,
        a_handle_that_is_none_is_an_error,
        a_second_close_succeeds,
        no_thread_of_the_library_gets_sigpipe,
        threads_take_while_another_closes,
        a_thread_closes_while_it_ends,
        a_forked_process_opens_anew,
        claimed_ids_may_be_given_until_the_word_is_lowered,
        ids_that_are_too_old_are_not_given,
        in_exact_time_nothing_is_claimed,
        claims_of_a_tag,
        a_forked_process_gives_nothing_of_a_claim,
        the_word_stays_until_the_claims_are_closed,
        past_times,
        no_past_times,
        past_of_a_fork,
        lent_worker_ids,
        lost_worker_ids,
        the_status_is_json_that_fits_the_buffer,
        tags_give_dense_numbers,
        a_tag_is_found_again_by_its_name,
        series_give_numbers_that_people_see,
        transactions,
        masked_ids_tell_nothing,
        opaque_ids_cannot_be_made_up,
        each_thread_has_a_last_error_of_its_own,
        events_say_what_has_changed,
#ifndef __SANITIZE_ADDRESS__
        a_child_hears_of_its_own_alone,
#endif
        a_thousand_generators_open_and_close,
    };
    int passed = 0, failed = 0;
    for (size_t index = 0; index < sizeof tests / sizeof *tests; index++) {
        int before = failures;
        tests[index]();
        if (failures == before) passed++; else failed++;
    }
    printf("%d checks\ntest result: %s. %d passed; %d failed\n", checks, failed ? "FAILED" : "ok",
           passed, failed);
    return failed != 0;
}
