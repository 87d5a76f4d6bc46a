/**
 * Unique, positive 64-bit ids, made inside the process for about the cost of a native call.
 *
 * <ul>
 *   <li>{@link io.uidring.UidGenerator}: ids that sort by time;
 *   <li>{@link io.uidring.PastGenerator}: such ids of times that were;
 *   <li>{@link io.uidring.WorkerId}: worker ids that are lent to generators of others;
 *   <li>{@link io.uidring.Segments}: dense numbers, counted per tag;
 *   <li>{@link io.uidring.Series}: numbers that people see, such as {@code SO20261124-000042};
 *   <li>{@link io.uidring.Masked} and {@link io.uidring.Opaque}: forms of ids that tell nothing,
 *       for those who are not to learn how many there are.
 * </ul>
 *
 * <p>All of them may be used by any number of threads at once, and all fail with a
 * {@link io.uidring.UidringException}.
 *
 * <p>Options are texts such as {@code lease=10m}, and <a
 * href="https://github.com/uidring/uidring/blob/main/bindings/README.md#options">one page</a>
 * tells what each does. Those of a generator are {@code lease}, {@code partition},
 * {@code worker_ids}, {@code uid_generator}, {@code exact_time}, {@code max_lead},
 * {@code max_lag}, {@code on_lead_limit}, {@code max_new_workers}, {@code slots}, {@code preset},
 * {@code layout}, {@code order}, {@code epoch}, {@code tick}, {@code state}, {@code test_time},
 * {@code test_sequence}, {@code max_forward_jump}, {@code start_deadline},
 * {@code shutdown_deadline}, {@code timeout}.
 * Those of segments and of series: {@code max_wait}, {@code ahead}, {@code refresh},
 * {@code max_in_memory}, {@code loads}, {@code shutdown_deadline}, {@code timeout}; of segments
 * also {@code table}. Those of a new tag: {@code first}, {@code step}, {@code max_step},
 * {@code description}. Those of a new series: {@code time_zone}, {@code gapless},
 * {@code restart}, {@code fiscal_year_from}, {@code step}, {@code first}. Those of a loan:
 * {@code lease}, {@code rest}, {@code host}, {@code timeout}. Those of each store also
 * {@code user}, {@code password} and {@code only_for_tests}. A length of time has a unit:
 * {@code 500ms}, {@code 10s}, {@code 1h30m} or {@code 1d}. {@link io.uidring.Options} takes values
 * of their own types.
 *
 * <p>What operators should know, such as a store that cannot be reached, is told to the
 * {@link java.lang.System.Logger} {@code io.uidring}, by a thread of its own, and to each
 * {@link io.uidring.EventListener}.
 *
 * <p>A null that a method does not allow throws a {@link java.lang.NullPointerException}, and the
 * first use throws an {@link java.lang.UnsatisfiedLinkError} if the native library cannot be
 * loaded, with a sentence that says why.
 */
package io.uidring;
