/* Each call with a closed handle, one that is none, a negative number, an empty text and null. */

#include <stdint.h>

#include "checks.h"

#define INVALID(call, text) FAILS(call, UIDRING_INVALID_ARGUMENT, text)
#define CLOSED(call, text) FAILS(call, UIDRING_CLOSED, text)
#define NONE "this is no handle"
/* Where a number that is negative becomes one without a sign. */
#define NEGATIVE ((uint64_t)-42)
#define SIGNED "-42 with its sign"

static const char *const KEY = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";
static const char *const NO_OPTION[] = {"", NULL}, *const NAME_ALONE[] = {"exact_time", NULL};
static const char *const NEGATIVE_STEP[] = {"step=-1", NULL};

static void opens(const char *address) {
    uidring_generator uids = {0};
    uidring_past past = {0};
    uidring_segments segments = {0};
    uidring_series series = {0};
#define OPEN(call, place)                                                    \
    INVALID(call("", NULL, place), "the address of the store is empty");     \
    INVALID(call("ftp://db/ids", NULL, place), "and not with ftp://");      \
    INVALID(call(NULL, NULL, place), "address is null");                     \
    INVALID(call(address, NULL, NULL), " is null");                          \
    INVALID(call(address, NO_OPTION, place), "the option \"\" is not name=value"); \
    INVALID(call(address, NAME_ALONE, place), "such as exact_time=true");    \
    CHECK((place)->id == 0)
    OPEN(uidring_open, &uids);
    OPEN(uidring_past_open, &past);
    OPEN(uidring_segments_open, &segments);
    OPEN(uidring_series_open, &series);
    INVALID(uidring_open_fixed(NEGATIVE, NULL, &uids), SIGNED);
    INVALID(uidring_open_fixed(1, NO_OPTION, &uids), "name=value");
    INVALID(uidring_open_fixed(1, NULL, NULL), "generator is null");
    const char *const names[] = {"max_lead=1m", "max-lead=1m", "max.lead=1m", "maxLead=1m",
                                 "MAX_LEAD=1m"};
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        const char *const options[] = {names[index], NULL};
        WORKS(uidring_open_fixed(1, options, &uids));
        WORKS(uidring_close(uids));
    }
}

/* As docs/testing.md has it. */
static void for_tests(void) {
    uidring_generator uids;
    uint64_t uid;
    const char *const options[] = {"test_time=2026-11-30T12:00:00Z", "test_sequence=41", NULL};
    WORKS(uidring_open_fixed(7, options, &uids));
    WORKS(uidring_take(uids, &uid));
    CHECK(uid == 247513811307782185u);
    WORKS(uidring_close(uids));
}

static void generators(void) {
    uidring_generator uids, none = {0};
    uint64_t uid = 7;
    uidring_parts parts;
    char buffer[4096];
    size_t count = 7;
    WORKS(uidring_open_fixed(7, NULL, &uids));
    INVALID(uidring_take(uids, NULL), "uid is null");
    INVALID(uidring_fill(uids, NULL, 1, NULL), "the array is null");
    INVALID(uidring_fill(uids, &uid, (size_t)-1, NULL), "-1 with the sign");
    INVALID(uidring_decode(uids, NEGATIVE, &parts), SIGNED);
    INVALID(uidring_decode(uids, 0, &parts), "not 0");
    INVALID(uidring_decode(uids, 1, NULL), "parts is null");
    INVALID(uidring_status(uids, NULL, 1, NULL), "buffer is null");
    INVALID(uidring_status(uids, buffer, 0, &count), "the buffer has 0 bytes");
    WORKS(uidring_status(uids, buffer, sizeof buffer, NULL));
    CHECK(strstr(buffer, "\"state\":\"running\"") != NULL);
    INVALID(uidring_take(none, &uid), NONE);
    INVALID(uidring_fill(none, &uid, 1, NULL), NONE);
    INVALID(uidring_decode(none, 1, &parts), NONE);
    INVALID(uidring_status(none, buffer, sizeof buffer, NULL), NONE);
    INVALID(uidring_close(none), NONE);
    WORKS(uidring_close(uids));
    WORKS(uidring_close(uids));
    const char *said = "the generator was closed";
    CLOSED(uidring_take(uids, &uid), said);
    CHECK(uid == 0);
    CLOSED(uidring_fill(uids, &uid, 1, &count), said);
    CHECK(count == 0);
    CLOSED(uidring_decode(uids, 1, &parts), said);
    CLOSED(uidring_status(uids, buffer, sizeof buffer, NULL), said);
}

static void claims(const char *address) {
    uidring_generator uids, none = {0};
    uidring_segments segments;
    uidring_tag tag, no_tag = {0};
    uidring_claims ours, no_claims = {0};
    uidring_claimed claimed;
    const uint64_t *word;
    uint64_t number = 7;
    WORKS(uidring_open_fixed(7, NULL, &uids));
    WORKS(uidring_segments_open(address, NULL, &segments));
    WORKS(uidring_segments_create(segments, "claims", NULL, &tag));
    WORKS(uidring_claims_open(uids, &ours, &word));
    INVALID(uidring_claims_open(uids, NULL, &word), "claims is null");
    INVALID(uidring_claims_open(uids, &ours, NULL), "word is null");
    INVALID(uidring_tag_claims_open(tag, NULL, &word), "claims is null");
    INVALID(uidring_claim(ours, 1, NULL), "claimed is null");
    INVALID(uidring_claim(ours, 0, &claimed), "at least one id");
    WORKS(uidring_claim(ours, (uint32_t)-1, &claimed));
    INVALID(uidring_claims_give_back(ours, 0), "at least");
    INVALID(uidring_try_take(uids, NULL), "uid is null");
    INVALID(uidring_tag_try_take(tag, NULL), "number is null");
    INVALID(uidring_claims_open(none, &ours, &word), NONE);
    INVALID(uidring_tag_claims_open(no_tag, &ours, &word), NONE);
    INVALID(uidring_claim(no_claims, 1, &claimed), NONE);
    INVALID(uidring_claims_give_back(no_claims, 1), NONE);
    INVALID(uidring_claims_close(no_claims), NONE);
    INVALID(uidring_try_take(none, &number), NONE);
    INVALID(uidring_tag_try_take(no_tag, &number), NONE);
    WORKS(uidring_segments_close(segments));
    WORKS(uidring_close(uids));
    CLOSED(uidring_claims_open(uids, &ours, &word), "the generator was closed");
    CLOSED(uidring_tag_claims_open(tag, &ours, &word), "the segments were closed");
    CLOSED(uidring_try_take(uids, &number), "the generator was closed");
    CHECK(number == 0);
    CLOSED(uidring_tag_try_take(tag, &number), "the segments were closed");
    WORKS(uidring_claims_close(ours));
    WORKS(uidring_claims_close(ours));
    CLOSED(uidring_claim(ours, 1, &claimed), "the claims were closed");
    CLOSED(uidring_claims_give_back(ours, 1), "the claims were closed");
}

static void past(const char *address) {
    uidring_past ours, none = {0};
    uint64_t uid = 7, uids[] = {7, 7};
    int64_t times[] = {1780000000000, 1780000000000};
    uidring_parts parts;
    char buffer[4096];
    WORKS(uidring_past_open(address, NULL, &ours));
    INVALID(uidring_past_take_at(ours, 1780000000000, NULL), "uid is null");
    INVALID(uidring_past_take_at(ours, -42, &uid), "no UID of 1969-12-31T23:59:59.958Z");
    INVALID(uidring_past_take_times(ours, NULL, uids, 2), "unix_ms is null");
    CHECK(uids[0] == 0 && uids[1] == 0);
    INVALID(uidring_past_take_times(ours, times, NULL, 2), "uids is null");
    INVALID(uidring_past_take_times(ours, times, uids, (size_t)-1), "-1 with the sign");
    WORKS(uidring_past_take_times(ours, NULL, NULL, 0));
    INVALID(uidring_past_decode(ours, NEGATIVE, &parts), SIGNED);
    INVALID(uidring_past_decode(ours, 0, &parts), "not 0");
    INVALID(uidring_past_decode(ours, 1, NULL), "parts is null");
    INVALID(uidring_past_status(ours, NULL, 1, NULL), "buffer is null");
    WORKS(uidring_past_status(ours, buffer, sizeof buffer, NULL));
    CHECK(strstr(buffer, "\"state\":\"running\"") != NULL);
    INVALID(uidring_past_take_at(none, 1780000000000, &uid), NONE);
    INVALID(uidring_past_take_times(none, times, uids, 2), NONE);
    INVALID(uidring_past_decode(none, 1, &parts), NONE);
    INVALID(uidring_past_status(none, buffer, sizeof buffer, NULL), NONE);
    INVALID(uidring_past_close(none), NONE);
    WORKS(uidring_past_close(ours));
    WORKS(uidring_past_close(ours));
    const char *said = "the generator was closed";
    CLOSED(uidring_past_take_at(ours, 1780000000000, &uid), said);
    CHECK(uid == 0);
    uids[1] = 7;
    CLOSED(uidring_past_take_times(ours, times, uids, 2), said);
    CHECK(uids[1] == 0);
    CLOSED(uidring_past_decode(ours, 1, &parts), said);
    CLOSED(uidring_past_status(ours, buffer, sizeof buffer, NULL), said);
}

static void lent(const char *address) {
    const char *const no_lease[] = {"lease=1ms", NULL};
    uidring_worker ours, none = {0}, other = {0};
    uint64_t id = 7;
    int is_held = 7;
    char buffer[4096];
#define WRONG(address, pool, bits, options, text) \
    INVALID(uidring_worker_lend(address, pool, bits, options, NULL, NULL, &other), text)
    WRONG("", "shop", 4, NULL, "the address of the store is empty");
    WRONG(NULL, "shop", 4, NULL, "address is null");
    WRONG(address, "", 4, NULL, "no pool is called");
    WRONG(address, NULL, 4, NULL, "pool is null");
    WRONG(address, "shop", 0, NULL, "no pool has ids of 0 bits: 1 to 22");
    WRONG(address, "shop", 23, NULL, "no pool has ids of 23 bits: 1 to 22");
    WRONG(address, "shop", (uint32_t)-1, NULL, "1 to 22");
    WRONG(address, "shop", 4, NO_OPTION, "the option \"\" is not name=value");
    WRONG(address, "shop", 4, no_lease, "a lease lasts a second at least");
    INVALID(uidring_worker_lend(address, "shop", 4, NULL, NULL, NULL, NULL), "worker is null");
    CHECK(other.id == 0);
    WORKS(uidring_worker_lend(address, "shop", 4, NULL, NULL, NULL, &ours));
    INVALID(uidring_worker_id(ours, NULL), "id is null");
    INVALID(uidring_worker_is_held(ours, NULL), "is_held is null");
    INVALID(uidring_worker_status(ours, NULL, 1, NULL), "buffer is null");
    WORKS(uidring_worker_status(ours, buffer, sizeof buffer, NULL));
    CHECK(strstr(buffer, "\"state\":\"held\"") != NULL);
    INVALID(uidring_worker_id(none, &id), NONE);
    INVALID(uidring_worker_is_held(none, &is_held), NONE);
    INVALID(uidring_worker_status(none, buffer, sizeof buffer, NULL), NONE);
    INVALID(uidring_worker_close(none), NONE);
    WORKS(uidring_worker_close(ours));
    WORKS(uidring_worker_close(ours));
    const char *said = "the worker id was closed";
    id = is_held = 7;
    CLOSED(uidring_worker_id(ours, &id), said);
    CLOSED(uidring_worker_is_held(ours, &is_held), said);
    CHECK(id == 0 && is_held == 0);
    CLOSED(uidring_worker_status(ours, buffer, sizeof buffer, NULL), said);
}

static void segments(const char *address) {
    uidring_segments ours, none = {0};
    uidring_tag tag, no_tag = {0}, other;
    uint64_t number = 7;
    char buffer[4096];
    WORKS(uidring_segments_open(address, NULL, &ours));
    WORKS(uidring_segments_create(ours, "every-call", NULL, &tag));
    INVALID(uidring_segments_create(ours, "", NULL, &other), "\"\"");
    INVALID(uidring_segments_create(ours, NULL, NULL, &other), "name is null");
    INVALID(uidring_segments_create(ours, "a", NULL, NULL), "tag is null");
    INVALID(uidring_segments_create(ours, "a", NEGATIVE_STEP, &other), "step");
    FAILS(uidring_segments_tag(ours, "", &other), UIDRING_REFUSED, "\"\"");
    INVALID(uidring_segments_tag(ours, NULL, &other), "name is null");
    INVALID(uidring_segments_tag(ours, "every-call", NULL), "tag is null");
    INVALID(uidring_tag_take(tag, NULL), "number is null");
    INVALID(uidring_tag_fill(tag, NULL, 1, NULL), "the array is null");
    INVALID(uidring_tag_fill(tag, &number, (size_t)-1, NULL), "-1 with the sign");
    INVALID(uidring_tag_status(tag, NULL, 1, NULL), "buffer is null");
    WORKS(uidring_tag_status(tag, buffer, sizeof buffer, NULL));
    CHECK(strstr(buffer, "\"state\":\"running\"") != NULL);
    INVALID(uidring_segments_create(none, "a", NULL, &other), NONE);
    INVALID(uidring_segments_tag(none, "a", &other), NONE);
    INVALID(uidring_segments_close(none), NONE);
    INVALID(uidring_tag_take(no_tag, &number), NONE);
    INVALID(uidring_tag_fill(no_tag, &number, 1, NULL), NONE);
    INVALID(uidring_tag_status(no_tag, buffer, sizeof buffer, NULL), NONE);
    WORKS(uidring_segments_close(ours));
    WORKS(uidring_segments_close(ours));
    const char *said = "the segments were closed";
    CLOSED(uidring_segments_create(ours, "late", NULL, &other), said);
    CLOSED(uidring_segments_tag(ours, "every-call", &other), said);
    CLOSED(uidring_tag_take(tag, &number), said);
    CHECK(number == 0);
    CLOSED(uidring_tag_fill(tag, &number, 1, NULL), said);
    CLOSED(uidring_tag_status(tag, buffer, sizeof buffer, NULL), said);
}

static void series(const char *address) {
    uidring_series ours, none = {0};
    uidring_series_number number;
    size_t taken = 7;
    char buffer[4096];
    const char *name = "every-call";
    WORKS(uidring_series_open(address, NULL, &ours));
    WORKS(uidring_series_create(ours, name, "E{yyyy}-{n:4}", NULL));
    INVALID(uidring_series_create(ours, "", "T-{n}", NULL), "\"\"");
    INVALID(uidring_series_create(ours, NULL, "T-{n}", NULL), "name is null");
    INVALID(uidring_series_create(ours, "t", "", NULL), "pattern");
    INVALID(uidring_series_create(ours, "t", NULL, NULL), "pattern is null");
    INVALID(uidring_series_create(ours, "t", "T-{n}", NEGATIVE_STEP), "step");
    FAILS(uidring_series_next(ours, "", NULL, NULL, &number, 1, NULL), UIDRING_REFUSED, "\"\"");
    INVALID(uidring_series_next(ours, NULL, NULL, NULL, &number, 1, NULL), "name is null");
    INVALID(uidring_series_next(ours, name, "", NULL, &number, 1, NULL), "a scope is not empty");
    INVALID(uidring_series_next(ours, name, NULL, "", &number, 1, NULL), "the date \"\"");
    INVALID(uidring_series_next(ours, name, NULL, NULL, NULL, 1, NULL), "numbers is null");
    INVALID(uidring_series_next(ours, name, NULL, NULL, &number, 0, &taken), "not 0");
    INVALID(uidring_series_next(ours, name, NULL, NULL, &number, (size_t)-1, &taken), "-1 with");
    INVALID(uidring_series_next(ours, name, NULL, NULL, &number, 2, NULL), "taken is null");
    INVALID(uidring_series_parse(ours, name, "", &number), "");
    INVALID(uidring_series_parse(ours, name, NULL, &number), "text is null");
    INVALID(uidring_series_parse(ours, NULL, "E2026-0001", &number), "name is null");
    INVALID(uidring_series_status(ours, NULL, NULL, buffer, sizeof buffer, NULL), "name is null");
    INVALID(uidring_series_status(ours, name, NULL, NULL, 1, NULL), "buffer is null");
    WORKS(uidring_series_status(ours, name, NULL, buffer, sizeof buffer, NULL));
    CHECK(strstr(buffer, "\"state\":\"running\"") != NULL);
    INVALID(uidring_series_create(none, "t", "T-{n}", NULL), NONE);
    INVALID(uidring_series_next(none, name, NULL, NULL, &number, 1, NULL), NONE);
    INVALID(uidring_series_parse(none, name, "E2026-0001", &number), NONE);
    INVALID(uidring_series_status(none, name, NULL, buffer, sizeof buffer, NULL), NONE);
    INVALID(uidring_series_close(none), NONE);
    WORKS(uidring_series_next(ours, name, NULL, NULL, &number, 1, NULL));
    WORKS(uidring_series_close(ours));
    WORKS(uidring_series_close(ours));
    const char *said = "the series were closed";
    CLOSED(uidring_series_create(ours, "late", "T-{n}", NULL), said);
    CLOSED(uidring_series_next(ours, name, NULL, NULL, &number, 1, &taken), said);
    CHECK(taken == 0 && number.value == 0 && number.text[0] == 0);
    CLOSED(uidring_series_parse(ours, name, "E2026-0001", &number), said);
    CLOSED(uidring_series_status(ours, name, NULL, buffer, sizeof buffer, NULL), said);
}

static void keys(void) {
    uidring_masked masked, no_masked = {0};
    uidring_opaque orders, no_orders = {0};
    uint64_t id = 7, ids[] = {1, NEGATIVE};
    char buffer[64];
    const char *text = "ord_5H7WY7KKXFH1JCEMMC78CF0N9T", *said = "the keys were closed";
    INVALID(uidring_masked_open("", &masked), "there is no key");
    INVALID(uidring_masked_open(NULL, &masked), "keys is null");
    INVALID(uidring_masked_open(KEY, NULL), "masked is null");
    INVALID(uidring_opaque_open("", "ord", &orders), "there is no key");
    INVALID(uidring_opaque_open(NULL, "ord", &orders), "keys is null");
    INVALID(uidring_opaque_open(KEY, "", &orders), "prefix");
    INVALID(uidring_opaque_open(KEY, NULL, &orders), "prefix is null");
    INVALID(uidring_opaque_open(KEY, "ord", NULL), "opaque is null");
    WORKS(uidring_masked_open(KEY, &masked));
    WORKS(uidring_opaque_open(KEY, "ord", &orders));
    INVALID(uidring_mask(masked, NEGATIVE, &id), SIGNED);
    CHECK(id == 0);
    INVALID(uidring_mask(masked, 0, &id), "not 0");
    INVALID(uidring_mask(masked, 1, NULL), "masked_id is null");
    INVALID(uidring_mask_many(masked, ids, 2), SIGNED);
    CHECK(ids[0] == 1);
    INVALID(uidring_mask_many(masked, NULL, 1), "ids is null");
    INVALID(uidring_mask_many(masked, ids, (size_t)-1), "-1 with the sign");
    INVALID(uidring_unmask(masked, NEGATIVE, &id), SIGNED);
    INVALID(uidring_unmask(masked, 0, &id), "not 0");
    INVALID(uidring_unmask(masked, 1, NULL), "id is null");
    INVALID(uidring_opaque_encode(orders, NEGATIVE, buffer, sizeof buffer, NULL), SIGNED);
    INVALID(uidring_opaque_encode(orders, 0, buffer, sizeof buffer, NULL), "not 0");
    INVALID(uidring_opaque_encode(orders, 1, NULL, 1, NULL), "buffer is null");
    INVALID(uidring_opaque_decode(orders, "", &id), "");
    INVALID(uidring_opaque_decode(orders, NULL, &id), "text is null");
    INVALID(uidring_opaque_decode(orders, text, NULL), "id is null");
    INVALID(uidring_mask(no_masked, 1, &id), NONE);
    INVALID(uidring_mask_many(no_masked, ids, 1), NONE);
    INVALID(uidring_unmask(no_masked, 1, &id), NONE);
    INVALID(uidring_masked_close(no_masked), NONE);
    INVALID(uidring_opaque_encode(no_orders, 1, buffer, sizeof buffer, NULL), NONE);
    INVALID(uidring_opaque_decode(no_orders, text, &id), NONE);
    INVALID(uidring_opaque_close(no_orders), NONE);
    WORKS(uidring_masked_close(masked));
    WORKS(uidring_masked_close(masked));
    WORKS(uidring_opaque_close(orders));
    WORKS(uidring_opaque_close(orders));
    CLOSED(uidring_mask(masked, 1, &id), said);
    CLOSED(uidring_mask_many(masked, ids, 1), said);
    CLOSED(uidring_unmask(masked, 1, &id), said);
    CLOSED(uidring_opaque_encode(orders, 1, buffer, sizeof buffer, NULL), said);
    CLOSED(uidring_opaque_decode(orders, text, &id), said);
    INVALID(uidring_next_event(0, NULL), "event is null");
    CHECK(uidring_version()[0] != 0);
}

void each_call_tells_what_is_wrong(const char *address) {
    int before = checks;
    opens(address);
    for_tests();
    generators();
    past(address);
    lent(address);
    claims(address);
    segments(address);
    series(address);
    keys();
    /* As many cases: whoever adds a call adds it here. */
    CHECK(checks - before == 263);
}
