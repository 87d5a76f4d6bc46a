/*
 * uidring: unique, positive 64-bit ids, and numbers that people see, in this process.
 *
 * Each call returns UIDRING_OK or why it failed, and uidring_last_error() says that in a sentence.
 * Handles are numbers: one that was closed is an error, and never leads to freed memory. Any thread
 * may use any handle. Texts are UTF-8 and end with a zero byte.
 *
 * After a fork, open anew in the child. Fork while no other thread starts, ends or is in a call
 * that opens, closes or asks a store: an open in the child could wait for a lock for ever. A child
 * made by _Fork, or by the system call fork or clone itself, is not noticed, and gives the same
 * ids.
 *
 * Options are texts such as "lease=10m". Those of a generator are lease, partition, worker_ids,
 * uid_generator, exact_time, max_lead, max_lag, on_lead_limit, max_new_workers, slots, preset,
 * layout, order, epoch, tick, state, test_time, test_sequence, max_forward_jump, start_deadline,
 * shutdown_deadline, timeout. Those of segments and of series: max_wait, ahead, refresh,
 * max_in_memory, loads, shutdown_deadline, timeout; of segments also table. Those of a new tag:
 * first, step, max_step, description. Those of a new series: time_zone, gapless, restart,
 * fiscal_year_from, step, first. Those of each store also user, password and only_for_tests. What
 * each does:
 * https://github.com/uidring/uidring/blob/main/bindings/README.md#options
 *
 * Made by cbindgen from the sources: change them, and not this file.
 */

#ifndef UIDRING_H
#define UIDRING_H

#include <stddef.h>
#include <stdint.h>

/* The compiler warns of a call whose code nobody looks at. */
#if defined(__GNUC__)
#define UIDRING_MUST_USE __attribute__((warn_unused_result))
#else
#define UIDRING_MUST_USE
#endif

/**
 * What a call returns: 0, or why it failed.
 */
typedef enum {
  /**
   * It has succeeded.
   */
  UIDRING_OK = 0,
  /**
   * An argument or an option is wrong. Nothing was done.
   */
  UIDRING_INVALID_ARGUMENT = 1,
  /**
   * There is no number for now: a store cannot be reached, or a limit is reached that time
   * lifts. The same call may succeed later.
   */
  UIDRING_UNAVAILABLE = 2,
  /**
   * The store refuses, or something is used up. Somebody has to change something.
   */
  UIDRING_REFUSED = 3,
  /**
   * The handle was closed.
   */
  UIDRING_CLOSED = 4,
  /**
   * This process was forked from the one that opened the handle. Open another here.
   */
  UIDRING_FORKED = 5,
  /**
   * A mistake in uidring was caught.
   */
  UIDRING_INTERNAL = 6,
} uidring_code;

/**
 * How much an event matters.
 */
typedef enum {
  /**
   * There was no event.
   */
  UIDRING_LEVEL_NONE = 0,
  /**
   * Takes fail, or soon will.
   */
  UIDRING_LEVEL_ERROR = 1,
  /**
   * Something does not work, and takes go on.
   */
  UIDRING_LEVEL_WARN = 2,
  /**
   * Something has begun, ended or come back.
   */
  UIDRING_LEVEL_INFO = 3,
  /**
   * Details for whoever looks for a fault.
   */
  UIDRING_LEVEL_DEBUG = 4,
} uidring_level;

/**
 * The kinds of databases.
 */
typedef enum {
  /**
   * SQLite. The places of values in a statement are `?`.
   */
  UIDRING_SQLITE = 1,
  /**
   * PostgreSQL. The places of values in a statement are `$1`, `$2` and so on.
   */
  UIDRING_POSTGRES = 2,
  /**
   * MySQL and MariaDB. The places of values in a statement are `?`.
   */
  UIDRING_MYSQL = 3,
} uidring_database;

/**
 * Where a program puts the rows of a statement.
 */
typedef struct uidring_rows uidring_rows;

/**
 * A generator of time-ordered ids. Any thread may use it. All zero is none.
 */
typedef struct {
  /**
   * What stands for it. Do not change it.
   */
  uint64_t id;
} uidring_generator;

/**
 * Claims ids of a generator, or numbers of a tag. Any thread may use it. All zero is none.
 */
typedef struct {
  /**
   * What stands for it. Do not change it.
   */
  uint64_t id;
} uidring_claims;

/**
 * The numbers of one tag. Any thread may use it. It ends with its segments. All zero is none.
 */
typedef struct {
  /**
   * What stands for it. Do not change it.
   */
  uint64_t id;
} uidring_tag;

/**
 * Ids for the program to hand out: `first`, `first + step`, and so on, `length` of them. Each has
 * a place: that of the last is `end - 1`, that of the first `end - length`. An id may be given if
 * its place is below the word of `uidring_claims_open` now. The first may be given whatever the
 * word says.
 */
typedef struct {
  /**
   * The first id; 0 if there was none.
   */
  uint64_t first;
  /**
   * How many there are, at most as many as were asked for; 0 if there was none.
   */
  uint64_t length;
  /**
   * The distance from one to the next.
   */
  uint64_t step;
  /**
   * The place past the last.
   */
  uint64_t end;
} uidring_claimed;

/**
 * A change of state that operators are told.
 */
typedef struct {
  /**
   * How much it matters.
   */
  uidring_level level;
  /**
   * When it came, in milliseconds since 1970.
   */
  int64_t unix_ms;
  /**
   * Its kind, such as `lease_lost`, by which programs know it.
   */
  char name[32];
  /**
   * A line for people: the name, a sentence, and what is known, such as "worker=7". One that is
   * longer is cut.
   */
  char text[2008];
} uidring_event;

/**
 * What a UID holds.
 */
typedef struct {
  /**
   * The time of its tick, in milliseconds since 1970.
   */
  int64_t unix_ms;
  /**
   * The worker id.
   */
  uint64_t worker;
  /**
   * The number within the tick.
   */
  uint64_t sequence;
} uidring_parts;

/**
 * A worker id that is about to be lost.
 */
typedef struct {
  /**
   * The worker id.
   */
  uint64_t worker_id;
  /**
   * For how many milliseconds it may still be used; 0 if not any more.
   */
  uint64_t left_ms;
  /**
   * A line for people, with the reason.
   */
  char text[1000];
} uidring_loss;

/**
 * Is told, once, that a worker id is about to be lost: by `left_ms` the generator must have made
 * its last id. It runs on a thread of the library, gets the `data` of `uidring_worker_lend`, and
 * must not jump out.
 */
typedef void (*uidring_on_loss)(const uidring_loss *loss, void *data);

/**
 * A worker id that is lent to a generator of another's. Any thread may use it. All zero is none.
 */
typedef struct {
  /**
   * What stands for it. Do not change it.
   */
  uint64_t id;
} uidring_worker;

/**
 * Masks ids as numbers. Any thread may use it. All zero is none.
 */
typedef struct {
  /**
   * What stands for it. Do not change it.
   */
  uint64_t id;
} uidring_masked;

/**
 * Makes opaque texts of ids. Any thread may use it. All zero is none.
 */
typedef struct {
  /**
   * What stands for it. Do not change it.
   */
  uint64_t id;
} uidring_opaque;

/**
 * A generator of ids of times that were, for rows that are older than their ids. Any thread may
 * use it. All zero is none.
 */
typedef struct {
  /**
   * What stands for it. Do not change it.
   */
  uint64_t id;
} uidring_past;

/**
 * The dense numbers of a store. Any thread may use it. All zero is none.
 */
typedef struct {
  /**
   * What stands for it. Do not change it.
   */
  uint64_t id;
} uidring_segments;

/**
 * The series of a store. Any thread may use it. All zero is none.
 */
typedef struct {
  /**
   * What stands for it. Do not change it.
   */
  uint64_t id;
} uidring_series;

/**
 * A number of a series.
 */
typedef struct {
  /**
   * The number itself, counted from the first of its period.
   */
  uint64_t value;
  /**
   * The period in which it was counted, such as "2026-11-24", "2026-W48", "FY2026-04" or "ever".
   */
  char period[16];
  /**
   * The period that the text shows: that one, or a part of it.
   */
  char shown[16];
  /**
   * The text that people see. All fit: a pattern has at most 128 characters of at most 4 bytes,
   * a scope 64, and a number 20.
   */
  char text[640];
} uidring_series_number;

/**
 * A value in a statement.
 */
typedef struct {
  /**
   * A text; null for a whole number.
   */
  const char *text;
  /**
   * The whole number.
   */
  int64_t number;
} uidring_sql_value;

/**
 * A statement that a program runs.
 */
typedef struct {
  /**
   * The statement, in the syntax of its kind of database.
   */
  const char *sql;
  /**
   * The values of its places, in their order.
   */
  const uidring_sql_value *values;
  /**
   * How many values there are.
   */
  size_t count;
} uidring_statement;

/**
 * Runs a statement in the program's transaction: as it is, without preparing it, if it has no
 * values. It adds each row by `uidring_rows_add`, and returns `UIDRING_OK`. Where the database
 * fails, it hands on what the driver said by `uidring_rows_failed`, and returns
 * `UIDRING_UNAVAILABLE` if another transaction may succeed, as `uidring_is_transient` says, and
 * `UIDRING_REFUSED` otherwise. It may be called once more after that. It neither jumps out of the
 * call, nor closes the series.
 */
typedef int (*uidring_run)(void *context, const uidring_statement *statement, uidring_rows *rows);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Opens claims of a generator's ids, which a program hands out to its threads by atomic adds of
 * its own, without a call for each. Writes to `word` where the library has the number that the
 * places of claimed ids are compared with. It lowers that number when ids have become too old, or
 * the generator has ended, and so does a fork in the child. Read it as an atomic, with acquire.
 * It stays where it is until `uidring_claims_close`, also after `uidring_close`.
 *
 * Where ids are not claimed, as with `exact_time`, `word` becomes null and `claims` all zero: take
 * each id by a call then. Ids that are taken by calls are larger than those that were claimed
 * before, so do not take by calls while a claim has ids, if the order matters.
 *
 * `claims` and `word` can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_claims_open(uidring_generator generator,
                                 uidring_claims *claims,
                                 const uint64_t **word);

/**
 * Opens claims of a tag's numbers, as `uidring_claims_open` does. With the option
 * `max_in_memory` numbers are not claimed.
 *
 * As `uidring_claims_open`.
 */
UIDRING_MUST_USE
uidring_code uidring_tag_claims_open(uidring_tag tag,
                                     uidring_claims *claims,
                                     const uint64_t **word);

/**
 * Claims up to `count` ids. It never waits: where there is none now, it writes zeros to `claimed`.
 * What is left of an earlier claim is lost, unless it was given back.
 *
 * `claimed` can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_claim(uidring_claims claims,
                           uint32_t count,
                           uidring_claimed *claimed);

/**
 * Gives back what is left of the last claim of a tag's numbers, of which the first `used` were
 * given, at least one. They come again if nobody has taken a number since, and are lost otherwise.
 * Ids of a generator are not given back: nothing happens.
 */
UIDRING_MUST_USE uidring_code uidring_claims_give_back(uidring_claims claims, uint64_t used);

/**
 * Forgets the claims. Nobody reads the word any more. A second close succeeds.
 */
uidring_code uidring_claims_close(uidring_claims claims);

/**
 * Writes the next event of all that this process has opened to `event`, and waits for one for at
 * most `wait_ms` milliseconds. If none comes, it writes the level `UIDRING_LEVEL_NONE`, which is
 * 0, and nothing else.
 *
 * Events are kept from the first call on, at most 1,000. So call it once, with `wait_ms` 0, before
 * the first open; after that, call it again and again in one thread. A forked child gets only its
 * own events.
 *
 * `event` can be written to.
 */
UIDRING_MUST_USE uidring_code uidring_next_event(uint64_t wait_ms, uidring_event *event);

/**
 * Opens a generator with a worker id from the store at `address`: the path of a SQLite file, or
 * the address of a server. `options` is null, or an array of texts such as "lease=10m", of which
 * the last is null.
 *
 * `address` is a text that ends with a zero byte, `options` is as said, and `generator` can be
 * written to.
 */
UIDRING_MUST_USE
uidring_code uidring_open(const char *address,
                          const char *const *options,
                          uidring_generator *generator);

/**
 * Opens a generator with a worker id of your own, which no other generator may have at a time.
 * Without the option `state`, a restart may repeat UIDs: those of the tick in which it begins, and
 * those that the first run took ahead of the clock. "state=/data/uidring.state" names a file that
 * keeps which times were used.
 *
 * As `uidring_open`.
 */
UIDRING_MUST_USE
uidring_code uidring_open_fixed(uint64_t worker_id,
                                const char *const *options,
                                uidring_generator *generator);

/**
 * Takes a UID. Lock-free, unless it has to wait. Where it fails, it writes 0, which is no UID.
 *
 * `uid` can be written to.
 */
UIDRING_MUST_USE uidring_code uidring_take(uidring_generator generator, uint64_t *uid);

/**
 * Takes a UID if there is one now, and writes 0 if it may be worth waiting for one. Lock-free.
 *
 * `uid` can be written to.
 */
UIDRING_MUST_USE uidring_code uidring_try_take(uidring_generator generator, uint64_t *uid);

/**
 * Fills `uids` with `count` UIDs, which ascend within one worker id: a change of the worker id in
 * between begins again at the present time. Where it fails, as many as it writes to `filled`, from
 * the start, are new and yours to use. `filled` may be null.
 *
 * `uids` has room for `count` numbers, and `filled` is null or can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_fill(uidring_generator generator,
                          uint64_t *uids,
                          size_t count,
                          size_t *filled);

/**
 * Decodes a UID of this generator's layout.
 *
 * `parts` can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_decode(uidring_generator generator,
                            uint64_t uid,
                            uidring_parts *parts);

/**
 * Writes the state of the generator to `buffer`, which has `size` bytes, as a JSON object that
 * ends with a zero byte, and its length to `length`, which may be null. Worker id and layout are
 * in it.
 *
 * `buffer` has room for `size` bytes, and `length` is null or can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_status(uidring_generator generator,
                            char *buffer,
                            size_t size,
                            size_t *length);

/**
 * Ends all takes, and gives a leased worker id back. A second close succeeds. If it fails, the
 * worker id was not given back in time, and all takes have ended even so.
 */
uidring_code uidring_close(uidring_generator generator);

/**
 * Lends an id of the pool `pool` of the store at `address`, for a generator of another's that
 * needs a worker, machine or node number. The ids of the pool have `bits` bits, 1 to 22, of which
 * 0 is never lent. It is renewed until it is closed. Options are "lease=10m", "rest=10m", which is
 * the largest difference between clocks, "host=NAME" for the list of loans, and "timeout=5s".
 * `on_loss` may be null.
 *
 * `address` and `pool` are texts that end with a zero byte, `options` is as `uidring_open` takes
 * it, and `worker` can be written to. Until the close has returned, `on_loss` may be called with
 * `data` on any thread.
 */
UIDRING_MUST_USE
uidring_code uidring_worker_lend(const char *address,
                                 const char *pool,
                                 uint32_t bits,
                                 const char *const *options,
                                 uidring_on_loss on_loss,
                                 void *data,
                                 uidring_worker *worker);

/**
 * Writes the worker id: 1 to 2^bits - 1. Where it fails, it writes 0, which is none.
 *
 * `id` can be written to.
 */
UIDRING_MUST_USE uidring_code uidring_worker_id(uidring_worker worker, uint64_t *id);

/**
 * Writes 1 if ids may be made with it now, else 0, as in a forked process. It asks no store, so a
 * generator may ask before each id.
 *
 * `is_held` can be written to.
 */
UIDRING_MUST_USE uidring_code uidring_worker_is_held(uidring_worker worker, int *is_held);

/**
 * Writes the state of the loan to `buffer`, as `uidring_status` does: `state` is "held" or "lost".
 *
 * As `uidring_status`.
 */
UIDRING_MUST_USE
uidring_code uidring_worker_status(uidring_worker worker,
                                   char *buffer,
                                   size_t size,
                                   size_t *length);

/**
 * Returns the worker id. Make no more ids with it before. A second close succeeds. If it fails,
 * the id was lost before, or is held until its lease ends.
 */
uidring_code uidring_worker_close(uidring_worker worker);

/**
 * Masks ids with `keys`: 64 hexadecimal digits, as `openssl rand -hex 32` prints them, or the text
 * of a file of keys, of which the first masks.
 *
 * `keys` is a text that ends with a zero byte, and `masked` can be written to.
 */
UIDRING_MUST_USE uidring_code uidring_masked_open(const char *keys, uidring_masked *masked);

/**
 * Masks an id: a UID, or a dense number. Where it fails, it writes 0.
 *
 * `masked_id` can be written to.
 */
UIDRING_MUST_USE uidring_code uidring_mask(uidring_masked masked, uint64_t id, uint64_t *masked_id);

/**
 * Writes the masked forms of `count` ids in their place, each in a fraction of the time. If one is
 * not an id, all stay as they are.
 *
 * `ids` has `count` numbers.
 */
UIDRING_MUST_USE uidring_code uidring_mask_many(uidring_masked masked, uint64_t *ids, size_t count);

/**
 * Reads a masked id. Each number from 1 to 2^63-1 is the masked form of some id. Where it fails,
 * it writes 0.
 *
 * `id` can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_unmask(uidring_masked masked,
                            uint64_t masked_id,
                            uint64_t *id);

/**
 * Overwrites the library's copy of the keys. A second close succeeds.
 */
uidring_code uidring_masked_close(uidring_masked masked);

/**
 * Makes texts with `prefix` of ids, such as `ord_5H7WY7KKXFH1JCEMMC78CF0N9T`, with `keys` as
 * `uidring_masked_open` takes them. Texts of all the keys are read.
 *
 * `keys` and `prefix` are texts that end with a zero byte, and `opaque` can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_opaque_open(const char *keys,
                                 const char *prefix,
                                 uidring_opaque *opaque);

/**
 * Writes the text of an id to `buffer`, which has `size` bytes, with a zero byte behind it, and
 * its length to `length`, which may be null. It has 27 characters behind its prefix. Where it
 * fails, it writes an empty text.
 *
 * `buffer` has room for `size` bytes, and `length` is null or can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_opaque_encode(uidring_opaque opaque,
                                   uint64_t id,
                                   char *buffer,
                                   size_t size,
                                   size_t *length);

/**
 * Reads the text of an id. One that was made up, or is of another kind, is an invalid argument.
 * Where it fails, it writes 0.
 *
 * `text` is a text that ends with a zero byte, and `id` can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_opaque_decode(uidring_opaque opaque,
                                   const char *text,
                                   uint64_t *id);

/**
 * Overwrites the library's copy of the keys. A second close succeeds.
 */
uidring_code uidring_opaque_close(uidring_opaque opaque);

/**
 * Opens a generator of ids of times that were, with a worker id that nobody had before, from the
 * store at `address`. Options are as `uidring_open` takes them. Those about worker ids, the
 * layout, `max_new_workers`, `start_deadline` and `timeout` count; `lease` and `state` are
 * refused, and the others have no effect.
 *
 * `address` is a text that ends with a zero byte, `options` is as `uidring_open` takes it, and
 * `past` can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_past_open(const char *address,
                               const char *const *options,
                               uidring_past *past);

/**
 * Takes a UID whose time is the tick of `unix_ms`, which is in milliseconds since 1970. A time
 * before the epoch of the layout, or after now, is an invalid argument. Where it fails, it writes
 * 0, which is no UID.
 *
 * Where all UIDs of the tick are taken, it asks the store for a further worker id, as many in an
 * hour as `max_new_workers` allows.
 *
 * `uid` can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_past_take_at(uidring_past past,
                                  int64_t unix_ms,
                                  uint64_t *uid);

/**
 * Fills `uids` with a UID for each of `count` times, in their order. All times are looked at
 * before the first UID is taken. Where it fails, it writes 0 to each, and the sentence says which
 * time it is about, counted from 1.
 *
 * `unix_ms` has `count` times, and `uids` has room for `count` numbers. They may be one array.
 */
UIDRING_MUST_USE
uidring_code uidring_past_take_times(uidring_past past,
                                     const int64_t *unix_ms,
                                     uint64_t *uids,
                                     size_t count);

/**
 * Decodes a UID of this generator's layout.
 *
 * `parts` can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_past_decode(uidring_past past,
                                 uint64_t uid,
                                 uidring_parts *parts);

/**
 * Writes the state of the generator to `buffer`, as `uidring_status` does: `taken` is how many
 * UIDs were taken, `workers` how many worker ids it has taken on, and `ticks` of how many ticks it
 * remembers what was taken.
 *
 * As `uidring_status`.
 */
UIDRING_MUST_USE
uidring_code uidring_past_status(uidring_past past,
                                 char *buffer,
                                 size_t size,
                                 size_t *length);

/**
 * Ends all takes. A second close succeeds.
 */
uidring_code uidring_past_close(uidring_past past);

/**
 * Opens the tags of the store at `address`, with options as `uidring_open` takes them.
 *
 * As `uidring_open`.
 */
UIDRING_MUST_USE
uidring_code uidring_segments_open(const char *address,
                                   const char *const *options,
                                   uidring_segments *segments);

/**
 * Creates a tag, or finds one that is as it is asked for.
 *
 * `name` is a text that ends with a zero byte, `options` is as `uidring_open` takes it, and `tag`
 * can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_segments_create(uidring_segments segments,
                                     const char *name,
                                     const char *const *options,
                                     uidring_tag *tag);

/**
 * Finds a tag that is there. The same name has the same handle until the segments are closed.
 *
 * As `uidring_segments_create`.
 */
UIDRING_MUST_USE
uidring_code uidring_segments_tag(uidring_segments segments,
                                  const char *name,
                                  uidring_tag *tag);

/**
 * Takes a number. Lock-free, unless it has to wait. Where it fails, it writes 0, which is none.
 *
 * `number` can be written to.
 */
UIDRING_MUST_USE uidring_code uidring_tag_take(uidring_tag tag, uint64_t *number);

/**
 * Takes a number if there is one now, and writes 0 if it may be worth waiting for one.
 *
 * `number` can be written to.
 */
UIDRING_MUST_USE uidring_code uidring_tag_try_take(uidring_tag tag, uint64_t *number);

/**
 * Fills `numbers` with `count` ascending numbers. Where it fails, as many as it writes to
 * `filled`, from the start, are new and yours to use. `filled` may be null.
 *
 * `numbers` has room for `count` numbers, and `filled` is null or can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_tag_fill(uidring_tag tag,
                              uint64_t *numbers,
                              size_t count,
                              size_t *filled);

/**
 * Writes the state of the tag to `buffer`, as `uidring_status` does.
 *
 * As `uidring_status`.
 */
UIDRING_MUST_USE
uidring_code uidring_tag_status(uidring_tag tag,
                                char *buffer,
                                size_t size,
                                size_t *length);

/**
 * Ends all takes, and gives back what is left of each tag. A second close succeeds. If it fails,
 * numbers were not given back in time and are lost, and all takes have ended even so.
 */
uidring_code uidring_segments_close(uidring_segments segments);

/**
 * Opens the series of the store at `address`, with options as `uidring_open` takes them.
 *
 * As `uidring_open`.
 */
UIDRING_MUST_USE
uidring_code uidring_series_open(const char *address,
                                 const char *const *options,
                                 uidring_series *series);

/**
 * Creates a series, or finds one that is as it is asked for.
 *
 * `name` and `pattern` are texts that end with a zero byte, and `options` is as `uidring_open`
 * takes it.
 */
UIDRING_MUST_USE
uidring_code uidring_series_create(uidring_series series,
                                   const char *name,
                                   const char *pattern,
                                   const char *const *options);

/**
 * Takes the next `count` numbers, at least one and at most a million. Where fewer fit the pattern,
 * it takes those, and writes how many to `taken`, which may be null if `count` is 1. `scope` is
 * null or names a scope, which counts by itself: without `{scope}` in the pattern, numbers of two
 * scopes have the same text. `date` is null for today, or such as "2026-11-24". Where it fails, it
 * writes 0 to `taken`, and the first of `numbers` has the value 0 and empty texts.
 *
 * `name` is a text that ends with a zero byte, `scope` and `date` are null or such texts,
 * `numbers` has room for `count`, and `taken` is null or can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_series_next(uidring_series series,
                                 const char *name,
                                 const char *scope,
                                 const char *date,
                                 uidring_series_number *numbers,
                                 size_t count,
                                 size_t *taken);

/**
 * Reads a number of the series. `number` may be null, to see only whether it is one.
 *
 * `name` and `text` are texts that end with a zero byte, and `number` is null or can be written
 * to.
 */
UIDRING_MUST_USE
uidring_code uidring_series_parse(uidring_series series,
                                  const char *name,
                                  const char *text,
                                  uidring_series_number *number);

/**
 * Writes the text of a number of the series to `buffer`, as `uidring_status` writes the state, and
 * as `uidring_series_next` writes numbers of this `scope` and `date`.
 *
 * `name` is a text that ends with a zero byte, `scope` and `date` are null or such texts, and the
 * rest is as for `uidring_status`.
 */
UIDRING_MUST_USE
uidring_code uidring_series_format(uidring_series series,
                                   const char *name,
                                   uint64_t number,
                                   const char *scope,
                                   const char *date,
                                   char *buffer,
                                   size_t size,
                                   size_t *length);

/**
 * Gives a series a wider number at once: the way on where a period has given all its numbers.
 * `pattern` is as it was, but for the number.
 *
 * `name` and `pattern` are texts that end with a zero byte.
 */
UIDRING_MUST_USE
uidring_code uidring_series_widen(uidring_series series,
                                  const char *name,
                                  const char *pattern);

/**
 * Writes the state of a series, and of a scope of it, to `buffer`, as `uidring_status` does.
 * `scope` may be null.
 *
 * `name` is a text that ends with a zero byte, `scope` is null or one, and the rest is as for
 * `uidring_status`.
 */
UIDRING_MUST_USE
uidring_code uidring_series_status(uidring_series series,
                                   const char *name,
                                   const char *scope,
                                   char *buffer,
                                   size_t size,
                                   size_t *length);

/**
 * Ends all takes, and gives back what is left of each scope. A second close succeeds. If it fails,
 * numbers were not given back in time and are lost, and all takes have ended even so.
 */
uidring_code uidring_series_close(uidring_series series);

/**
 * Opens series that are counted in the program's transactions alone, by
 * `uidring_series_next_in`, and read by them. No store is open.
 *
 * `series` can be written to.
 */
UIDRING_MUST_USE uidring_code uidring_series_in_transactions(uidring_series *series);

/**
 * Counts the next number of a gapless series in the program's own transaction, that of the
 * document which has the number: both are stored, or neither is. `run` gets `context` and runs
 * each statement; `database` is one of `uidring_database`. `scope` and `date` are as for
 * `uidring_series_next`. Roll the transaction back where it fails; if the code is
 * `UIDRING_UNAVAILABLE`, another transaction may count.
 *
 * Series that were opened on a SQLite file refuse to count in SQLite: the program's copy of SQLite
 * and the library's would undo each other's locks. Those of `uidring_series_in_transactions` do.
 *
 * `name` is a text that ends with a zero byte, `scope` and `date` are null or such texts, `run` is
 * such a function, and `number` can be written to.
 */
UIDRING_MUST_USE
uidring_code uidring_series_next_in(uidring_series series,
                                    const char *name,
                                    const char *scope,
                                    const char *date,
                                    int database,
                                    uidring_run run,
                                    void *context,
                                    uidring_series_number *number);

/**
 * Reads a series by the program's own connection, for `uidring_series_parse` and
 * `uidring_series_format`. Only those of `uidring_series_in_transactions` need it, before they
 * have counted a number.
 *
 * As `uidring_series_next_in`.
 */
UIDRING_MUST_USE
uidring_code uidring_series_read_in(uidring_series series,
                                    const char *name,
                                    int database,
                                    uidring_run run,
                                    void *context);

/**
 * Adds a row of `count` columns, each a text that ends with a zero byte, or null.
 *
 * `rows` is what the running `run` got, and `columns` has `count` texts or nulls.
 */
void uidring_rows_add(uidring_rows *rows, const char *const *columns, size_t count);

/**
 * Hands on why a statement failed, as the driver says it.
 *
 * `rows` is what the running `run` got, and `message` a text that ends with a zero byte, or null.
 */
void uidring_rows_failed(uidring_rows *rows, const char *message);

/**
 * Returns 1 if another transaction may not meet the error to which a driver gave this code: a
 * deadlock, a conflict, a wait that took too long, a connection that broke. A code is the text of
 * a SQLSTATE of PostgreSQL, such as "40P01", of an error number of MySQL, such as "1213", or of a
 * result code of SQLite, such as "5".
 *
 * `code` is null or a text that ends with a zero byte.
 */
int uidring_is_transient(int database, const char *code);

/**
 * Returns why the last call of this thread that failed did so, in UTF-8. The text is valid until
 * the next call of this thread. It is never null. In handlers of `atexit` and while a thread ends
 * it is empty, because the text is gone by then: there, look at the code that the call returned.
 */
const char *uidring_last_error(void);

/**
 * Returns the version of the library, such as "0.1.0".
 */
const char *uidring_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* UIDRING_H */
