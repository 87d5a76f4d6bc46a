/* Orders with a primary key from uidring, a dense number, and a number that people see.
 *
 *     cc -Wall -Wextra -Werror orders.c $(pkg-config --cflags --libs uidring) -o orders
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
    const char *address = argc > 1 ? argv[1] : "/srv/uidring.db";
    const char *const options[] = {"lease=10m", NULL};

    uidring_generator uids;
    check(uidring_open(address, options, &uids));
    uidring_segments segments;
    check(uidring_segments_open(address, NULL, &segments));
    uidring_tag order_numbers;
    check(uidring_segments_create(segments, "orders", NULL, &order_numbers));
    uidring_series series;
    check(uidring_series_open(address, NULL, &series));
    check(uidring_series_create(series, "parcels", "{yyyy}-{n:5}-{check:damm}", NULL));

    for (int order = 0; order < 3; order++) {
        uint64_t id, number;
        uidring_series_number parcel;
        check(uidring_take(uids, &id));
        check(uidring_tag_take(order_numbers, &number));
        check(uidring_series_next(series, "parcels", NULL, NULL, &parcel, 1, NULL));
        printf("order %" PRIu64 " has the id %" PRIu64 " and the parcel %s\n", number, id,
               parcel.text);
    }

    check(uidring_series_close(series));
    check(uidring_segments_close(segments));
    check(uidring_close(uids));
    return 0;
}
