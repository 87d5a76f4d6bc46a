package io.uidring;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The fields of a state, as the native library writes them: its JSON, and then the name and the
 * value of each. What has no value is null.
 */
final class Fields {
    private final String json;
    private final Map<String, String> values = new HashMap<>();

    Fields(String[] texts) {
        json = texts[0];
        for (int i = 1; i < texts.length; i += 2) {
            values.put(texts[i], texts[i + 1]);
        }
    }

    String json() {
        return json;
    }

    boolean has(String name) {
        return values.get(name) != null;
    }

    Optional<String> text(String name) {
        return Optional.ofNullable(values.get(name));
    }

    /** A text that is always there. */
    String word(String name) {
        return text(name).orElseThrow(() -> new IllegalStateException("no " + name + ": " + json));
    }

    State state() {
        return State.valueOf(word("state").toUpperCase(Locale.ROOT));
    }

    boolean flag(String name) {
        return "true".equals(values.get(name));
    }

    OptionalLong maybe(String name) {
        String value = values.get(name);
        return value == null
                ? OptionalLong.empty() : OptionalLong.of(Long.parseUnsignedLong(value));
    }

    long number(String name) {
        return maybe(name).orElse(0);
    }

    double real(String name) {
        return text(name).map(Double::valueOf).orElse(0.0);
    }

    Optional<Instant> time(String name) {
        return text(name).map(Instant::parse);
    }

    /** Of a field in milliseconds. */
    Optional<Duration> length(String name) {
        return text(name).map(Long::parseUnsignedLong).map(Fields::millis);
    }

    private static Duration millis(long ms) {
        return Duration.ofMillis(ms < 0 ? Long.MAX_VALUE : ms);
    }

    /** The store, if it is known and in use. */
    Optional<StoreState> store() {
        return text("store.name").map(name -> new StoreState(name, flag("store.reachable"),
                time("store.since"), text("store.error")));
    }
}
