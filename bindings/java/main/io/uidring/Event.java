package io.uidring;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What operators should know: a change of state, which is told once.
 *
 * @param time when it came
 * @param level how much it matters
 * @param name its kind, such as {@code lease_lost}, by which programs know it
 * @param message what it says to people
 * @param fields what else is known, such as {@code worker}, in the order of the line: each value is
 *     a {@link Long} or a {@link String}
 * @param text name, message and fields in a line, as a log has them
 */
public record Event(
        Instant time,
        System.Logger.Level level,
        String name,
        String message,
        Map<String, Object> fields,
        String text) {

    /** Of what the native library has written. */
    static Event of(String[] texts) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 5; i < texts.length; i += 2) {
            String value = texts[i + 1].substring(1);
            fields.put(texts[i],
                    texts[i + 1].charAt(0) == 'i' ? (Object) Long.parseUnsignedLong(value) : value);
        }
        return new Event(
                Instant.ofEpochMilli(Long.parseLong(texts[2])),
                System.Logger.Level.valueOf(texts[0]),
                texts[3],
                texts[4],
                Collections.unmodifiableMap(fields),
                texts[1]);
    }

    /** The line. */
    @Override
    public String toString() {
        return text;
    }
}
