package io.uidring;

import java.util.Optional;

/**
 * A number of a series.
 *
 * @param text the text that people see, such as {@code SO20261124-000042}
 * @param value the number itself, counted from the first of its period
 * @param period the period in which it is counted, such as {@code 2026-11-24}, {@code 2026-W48} or
 *     {@code ever}
 * @param shown the period that the text shows: that one, or a part of it
 * @param scope the scope in which it is counted, such as a shop, if it is known
 */
public record SeriesNumber(
        String text, long value, String period, String shown, Optional<String> scope) {}
