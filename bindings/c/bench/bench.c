/* Nanoseconds an id, from C: rows take turns in short rounds, and the medians are printed.
 *
 * `bindings/c/bench/run` builds and runs it.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <uidring.h>
#ifdef WITH_LIBUUID
#include <uuid/uuid.h>
#endif

static const char KEY[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
enum { ROUNDS = 41, MOST_THREADS = 64, BATCH = 1000, FEW = 10 };

static uidring_generator uids;
static uidring_tag tag;
static uidring_series series;
static uidring_masked masked;
static uidring_opaque opaque;
static _Alignas(64) atomic_ulong counter;

static void check(uidring_code code) {
    if (code != UIDRING_OK) {
        fprintf(stderr, "%s\n", uidring_last_error());
        exit(1);
    }
}

/* Each returns the last of `count` ids. */
static uint64_t bare(long count) {
    uint64_t last = 0;
    while (count-- > 0) last = atomic_fetch_add(&counter, 1);
    return last;
}

static uint64_t take(long count) {
    uint64_t last = 0;
    while (count-- > 0) check(uidring_take(uids, &last));
    return last;
}

static uint64_t take_of_tag(long count) {
    uint64_t last = 0;
    while (count-- > 0) check(uidring_tag_take(tag, &last));
    return last;
}

static uint64_t fill(long count) {
    uint64_t batch[BATCH];
    for (; count > 0; count -= BATCH) check(uidring_fill(uids, batch, BATCH, NULL));
    return batch[BATCH - 1];
}

static uint64_t fill_few(long count) {
    uint64_t batch[FEW];
    for (; count > 0; count -= FEW) check(uidring_fill(uids, batch, FEW, NULL));
    return batch[FEW - 1];
}

static uint64_t fill_few_of_tag(long count) {
    uint64_t batch[FEW];
    for (; count > 0; count -= FEW) check(uidring_tag_fill(tag, batch, FEW, NULL));
    return batch[FEW - 1];
}

static uint64_t next(long count) {
    uidring_series_number number;
    while (count-- > 0)
        check(uidring_series_next(series, "tickets", NULL, NULL, &number, 1, NULL));
    return number.value;
}

static uint64_t next_many(long count) {
    static _Thread_local uidring_series_number batch[BATCH];
    size_t taken = 0;
    for (; count > 0; count -= BATCH)
        check(uidring_series_next(series, "tickets", NULL, NULL, batch, BATCH, &taken));
    return batch[taken - 1].value;
}

static uint64_t mask(long count) {
    uint64_t last = 1;
    while (count-- > 0) check(uidring_mask(masked, last, &last));
    return last;
}

static uint64_t mask_many(long count) {
    uint64_t batch[BATCH];
    for (int index = 0; index < BATCH; index++) batch[index] = index + 1;
    for (; count > 0; count -= BATCH) check(uidring_mask_many(masked, batch, BATCH));
    return batch[BATCH - 1];
}

static uint64_t encode(long count) {
    char text[32];
    while (count-- > 0) check(uidring_opaque_encode(opaque, count + 1, text, sizeof text, NULL));
    return text[4];
}

#ifdef WITH_LIBUUID
static uint64_t uuid_random(long count) {
    uuid_t uuid;
    while (count-- > 0) uuid_generate_random(uuid);
    return uuid[0];
}

static uint64_t uuid_of_time(long count) {
    uuid_t uuid;
    while (count-- > 0) uuid_generate_time(uuid);
    return uuid[0];
}
#endif

static const struct row {
    const char *name;
    uint64_t (*run)(long count);
    long count;
} rows[] = {
    {"atomic_fetch_add", bare, 400000},
    {"uidring_take", take, 400000},
    {"uidring_tag_take", take_of_tag, 400000},
    {"uidring_fill, 1,000 at once", fill, 2000000},
    {"uidring_fill, 10 at once", fill_few, 400000},
    {"uidring_tag_fill, 10 at once", fill_few_of_tag, 400000},
    {"uidring_series_next", next, 40000},
    {"uidring_series_next, 1,000 at once", next_many, 100000},
    {"uidring_mask", mask, 40000},
    {"uidring_mask_many, 1,000 at once", mask_many, 100000},
    {"uidring_opaque_encode", encode, 40000},
#ifdef WITH_LIBUUID
    {"libuuid, random", uuid_random, 4000},
    {"libuuid, by time", uuid_of_time, 4000},
#endif
};
enum { ROWS = sizeof rows / sizeof *rows };

static pthread_barrier_t barrier;
static volatile uint64_t sink;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

struct turn {
    const struct row *row;
    double begin, end;
};

static void *run(void *argument) {
    struct turn *turn = argument;
    pthread_barrier_wait(&barrier);
    turn->begin = now();
    sink = turn->row->run(turn->row->count);
    turn->end = now();
    return NULL;
}

/* Nanoseconds of the wall clock for an id of all threads together, from the first begin to the last
 * end. */
static double measure(const struct row *row, int threads) {
    pthread_t running[MOST_THREADS];
    struct turn turns[MOST_THREADS];
    pthread_barrier_init(&barrier, NULL, threads);
    for (int index = 0; index < threads; index++) {
        turns[index] = (struct turn){.row = row};
        pthread_create(&running[index], NULL, run, &turns[index]);
    }
    for (int index = 0; index < threads; index++) pthread_join(running[index], NULL);
    pthread_barrier_destroy(&barrier);
    double begin = turns[0].begin, end = turns[0].end;
    for (int index = 1; index < threads; index++) {
        if (turns[index].begin < begin) begin = turns[index].begin;
        if (turns[index].end > end) end = turns[index].end;
    }
    return (end - begin) / ((double)row->count * threads);
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    const char *const options[] = {"max_lead=36500d", "layout=38,3,22", "tick=1ms", NULL};
    const char *const step[] = {"step=10M", NULL};
    uidring_segments segments;
    check(uidring_open_fixed(1, options, &uids));
    check(uidring_segments_open(argv[1], NULL, &segments));
    check(uidring_segments_create(segments, "orders", step, &tag));
    check(uidring_series_open(argv[1], NULL, &series));
    check(uidring_series_create(series, "tickets", "T-{n:12}", step));
    check(uidring_masked_open(KEY, &masked));
    check(uidring_opaque_open(KEY, "ord", &opaque));
    for (int argument = 2; argument < argc; argument++) {
        int threads = atoi(argv[argument]);
        if (threads < 1 || threads > MOST_THREADS) threads = 1;
        static double times[ROWS][ROUNDS];
        for (int round = 0; round < ROUNDS; round++)
            for (int index = 0; index < ROWS; index++) {
                int row = round % 2 ? ROWS - 1 - index : index;
                times[row][round] = measure(&rows[row], threads);
            }
        printf("%d thread%s, ns an id\n", threads, threads == 1 ? "" : "s");
        for (int row = 0; row < ROWS; row++) {
            qsort(times[row], ROUNDS, sizeof(double), compare);
            printf("  %-34s %8.1f\n", rows[row].name, times[row][ROUNDS / 2]);
        }
    }
    check(uidring_opaque_close(opaque));
    check(uidring_masked_close(masked));
    check(uidring_series_close(series));
    check(uidring_segments_close(segments));
    check(uidring_close(uids));
    return 0;
}
