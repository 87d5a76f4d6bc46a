/* Gapless numbers in a transaction of the program's own SQLite. */

#include <stdint.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "checks.h"

static int run(void *context, const uidring_statement *asked, uidring_rows *rows) {
    sqlite3 *database = context;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database, asked->sql, -1, &statement, NULL);
    for (size_t index = 0; code == SQLITE_OK && index < asked->count; index++) {
        const char *text = asked->values[index].text;
        int place = (int)index + 1;
        code = text ? sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT)
                    : sqlite3_bind_int64(statement, place, asked->values[index].number);
    }
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW) {
            const char *columns[16];
            int width = sqlite3_column_count(statement);
            for (int column = 0; column < width; column++)
                columns[column] = (const char *)sqlite3_column_text(statement, column);
            uidring_rows_add(rows, columns, (size_t)width);
        }
    }
    sqlite3_finalize(statement);
    if (code == SQLITE_DONE)
        return UIDRING_OK;
    char shown[16];
    snprintf(shown, sizeof shown, "%d", code);
    uidring_rows_failed(rows, sqlite3_errmsg(database));
    return uidring_is_transient(UIDRING_SQLITE, shown) ? UIDRING_UNAVAILABLE : UIDRING_REFUSED;
}

static int breaks(void *context, const uidring_statement *asked, uidring_rows *rows) {
    (void)asked;
    uidring_rows_failed(rows, "the cable is out");
    return *(int *)context;
}

static void does(sqlite3 *database, const char *sql) {
    CHECK(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK);
}

static int64_t number_of(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int64_t number = -1;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* A third of the transactions is rolled back, and a fifth goes back to a savepoint first. */
static void leaves_no_gap(uidring_series series, sqlite3 *database) {
    uidring_series_number number;
    unsigned seed = 1;
    for (int round = 0, stored = 0; stored < 40; round++) {
        seed = seed * 1103515245u + 12345u;
        does(database, "BEGIN");
        if (seed >> 16 & 1 && seed >> 17 & 1) {
            does(database, "SAVEPOINT here");
            WORKS(uidring_series_next_in(series, "invoices", NULL, NULL, UIDRING_SQLITE, run,
                                         database, &number));
            does(database, "ROLLBACK TO here");
        }
        WORKS(uidring_series_next_in(series, "invoices", NULL, NULL, UIDRING_SQLITE, run, database,
                                     &number));
        char insert[128];
        snprintf(insert, sizeof insert, "INSERT INTO invoice VALUES (%d)", (int)number.value);
        does(database, insert);
        int is_kept = (seed >> 18) % 3 != 0;
        does(database, is_kept ? "COMMIT" : "ROLLBACK");
        stored += is_kept;
    }
    CHECK(number_of(database, "SELECT count(*) FROM invoice") == 40);
    CHECK(number_of(database, "SELECT min(number) FROM invoice") == 1);
    CHECK(number_of(database, "SELECT max(number) FROM invoice") == 40);
}

void numbers_are_counted_in_a_transaction(const char *folder) {
    char file[4096], text[640];
    const char *const gapless[] = {"gapless=true", NULL};
    uidring_series store, series, late;
    uidring_series_number number;
    sqlite3 *database = NULL;
    snprintf(file, sizeof file, "%s/shop.db", folder);
    WORKS(uidring_series_open(file, NULL, &store));
    WORKS(uidring_series_create(store, "invoices", "{yyyy}-{n:5}", gapless));
    WORKS(uidring_series_create(store, "seats", "S{n:1}", NULL));
    WORKS(uidring_series_format(store, "invoices", 7, NULL, "2026-11-24", text, sizeof text, NULL));
    CHECK(strcmp(text, "2026-00007") == 0);
    FAILS(uidring_series_format(store, "seats", 10, NULL, NULL, text, sizeof text, NULL),
          UIDRING_INVALID_ARGUMENT, "9");
    WORKS(uidring_series_widen(store, "seats", "S{n:2}"));
    WORKS(uidring_series_format(store, "seats", 10, NULL, NULL, text, sizeof text, NULL));
    CHECK(strcmp(text, "S10") == 0);
    FAILS(uidring_series_widen(store, "seats", "T{n:4}"), UIDRING_REFUSED, "only a wider number");
    FAILS(uidring_series_widen(store, "seats", NULL), UIDRING_INVALID_ARGUMENT, "pattern is null");
    WORKS(uidring_series_in_transactions(&series));
    FAILS(uidring_series_in_transactions(NULL), UIDRING_INVALID_ARGUMENT, "series is null");
    CHECK(sqlite3_open(file, &database) == SQLITE_OK);
#define NEXT_IN(of, run, context)                                                              \
    uidring_series_next_in(of, "invoices", NULL, NULL, UIDRING_SQLITE, run, context, &number)
    FAILS(NEXT_IN(store, run, database), UIDRING_REFUSED, "two copies of SQLite");
    does(database, "BEGIN");
    FAILS(NEXT_IN(series, run, database), UIDRING_REFUSED, "two copies of SQLite");
    does(database, "ROLLBACK");
    WORKS(uidring_series_close(store));
    FAILS(NEXT_IN(series, run, database), UIDRING_REFUSED, "is not in a transaction");
    FAILS(NEXT_IN(series, NULL, database), UIDRING_INVALID_ARGUMENT, "run is null");
    FAILS(uidring_series_next_in(series, "invoices", NULL, NULL, 9, run, database, &number),
          UIDRING_INVALID_ARGUMENT, "no kind of database 9");
    FAILS(uidring_series_parse(series, "invoices", "2026-00007", NULL), UIDRING_INVALID_ARGUMENT,
          "has not read the series");
    WORKS(uidring_series_read_in(series, "invoices", UIDRING_SQLITE, run, database));
    WORKS(uidring_series_parse(series, "invoices", "2026-00007", &number));
    CHECK(number.value == 7);
    does(database, "CREATE TABLE invoice (number INTEGER PRIMARY KEY)");
    leaves_no_gap(series, database);
    int code = UIDRING_UNAVAILABLE;
    FAILS(NEXT_IN(series, breaks, &code), UIDRING_UNAVAILABLE, "in a new one: the cable is out");
    CHECK(number.value == 0 && number.text[0] == 0);
    code = UIDRING_REFUSED;
    FAILS(NEXT_IN(series, breaks, &code), UIDRING_REFUSED, "roll it back: the cable is out");
    FAILS(uidring_series_open(file, NULL, &late), UIDRING_REFUSED, "its own copy of SQLite");
    CHECK(uidring_is_transient(UIDRING_POSTGRES, "40P01") == 1);
    CHECK(uidring_is_transient(UIDRING_MYSQL, "1062") == 0);
    CHECK(uidring_is_transient(9, "40P01") == 0 && uidring_is_transient(UIDRING_MYSQL, NULL) == 0);
    WORKS(uidring_series_close(series));
    FAILS(NEXT_IN(series, run, database), UIDRING_CLOSED, "the series were closed");
    CHECK(sqlite3_close(database) == SQLITE_OK);
}
