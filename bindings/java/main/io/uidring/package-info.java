/**
 * Unique, positive 64-bit ids, made inside the process for about the cost of a native call.
 *
 * <ul>
 *   <li>{@link io.uidring.UidGenerator}: ids that sort by time;
 *   <li>{@link io.uidring.Segments}: dense numbers, counted per tag;
 *   <li>{@link io.uidring.Series}: numbers that people see, such as {@code SO20261124-000042}.
 * </ul>
 *
 * <p>All of them may be used by any number of threads at once, and all fail with a
 * {@link io.uidring.UidringException}. Options are texts such as {@code lease=10m}. The README of
 * all bindings lists them. A length of time has a unit: {@code 500ms}, {@code 10s}, {@code 1h30m}
 * or {@code 1d}.
 *
 * <p>A null that a method does not allow throws a {@link java.lang.NullPointerException}, and the
 * first use throws an {@link java.lang.UnsatisfiedLinkError} if the native library cannot be
 * loaded, with a sentence that says why.
 */
package io.uidring;
