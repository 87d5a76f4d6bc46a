/* How the tests in C note what is so. */

#ifndef CHECKS_H
#define CHECKS_H

#include <stdio.h>
#include <string.h>

#include <uidring.h>

extern int checks, failures;

/* Notes whether `is_so`, which is `what` in the source. */
void note(int is_so, const char *what, const char *file, int line);

#define CHECK(is_so) note((is_so), #is_so, __FILE__, __LINE__)
/* The call fails with this code and a sentence that holds this text. */
#define FAILS(call, code, text) \
    CHECK((call) == (code) && strstr(uidring_last_error(), (text)) != NULL)
#define WORKS(call) CHECK((call) == UIDRING_OK)

/* In every_call.c. `address` is the path of a file. */
void each_call_tells_what_is_wrong(const char *address);

/* In claims.c. `address` is the path of a file. */
void claimed_ids_may_be_given_until_the_word_is_lowered(void);
void ids_that_are_too_old_are_not_given(void);
void in_exact_time_nothing_is_claimed(void);
void what_is_left_of_a_tags_claim_goes_back(const char *address);
void a_forked_process_gives_nothing_of_a_claim(void);
void the_word_stays_until_the_claims_are_closed(void);

/* In past.c. `address` is the path of a file. */
void ids_of_the_past_have_their_times(const char *address);
void times_without_an_id_are_told(const char *address);
void a_forked_process_has_no_past(const char *address);

/* In lend.c. `address` is the path of a file. */
void a_worker_id_is_lent_until_it_is_closed(const char *address);
void a_loss_is_told_ahead_of_the_end(const char *address);

/* In transactions.c. `folder` is one for files. */
void numbers_are_counted_in_a_transaction(const char *folder);

#endif
