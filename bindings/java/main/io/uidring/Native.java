package io.uidring;

import java.util.Map;
import java.util.Objects;

/**
 * The methods of the native library. A method is called only with a handle that is not freed, so
 * each caller keeps the object that holds it reachable until the method returns.
 */
final class Native {
    private Native() {}

    /**
     * Reads {@code name=value}.
     *
     * @return a name, its value, the next name and so on
     */
    static String[] pairs(String... options) {
        String[] texts = new String[2 * options.length];
        for (int i = 0; i < options.length; i++) {
            String option = Objects.requireNonNull(options[i], "an option");
            int sign = option.indexOf('=');
            if (sign < 0) {
                // An address in the wrong place may have a password.
                String shown = option.contains("://") ? "an address" : '"' + option + '"';
                throw new InvalidArgumentException("an option is written name=value, such as "
                        + "lease=10m, and not " + shown, 0);
            }
            texts[2 * i] = option.substring(0, sign);
            texts[2 * i + 1] = option.substring(sign + 1);
        }
        return texts;
    }

    static String[] pairs(Map<String, String> options) {
        String[] texts = new String[2 * options.size()];
        int i = 0;
        for (Map.Entry<String, String> option : options.entrySet()) {
            texts[i++] = Objects.requireNonNull(option.getKey(), "the name of an option");
            texts[i++] = Objects.requireNonNull(option.getValue(), "the value of an option");
        }
        return texts;
    }

    /** An array of a length that the caller asks for. */
    static long[] array(int count) {
        if (count < 0) {
            throw new InvalidArgumentException(
                    "a count of numbers is not negative, as " + count + " is", 0);
        }
        return new long[count];
    }

    static native long openUids(String address, String[] options);

    static native long fixedUids(long worker, String[] options);

    static native long takeUid(long handle);

    static native void fillUids(long handle, long[] uids);

    static native long[] parts(long handle, long uid);

    static native String layout(long handle);

    static native long workerId(long handle);

    static native String uidStatus(long handle);

    static native void closeUids(long handle);

    static native long openSegments(String address, String[] options);

    static native long createTag(long handle, String tag, String[] options);

    static native long findTag(long handle, String tag);

    static native long takeNumber(long handle);

    static native void fillNumbers(long handle, long[] numbers);

    static native String tagStatus(long handle);

    static native void closeSegments(long handle);

    static native long openSeries(String address, String[] options);

    static native void createSeries(long handle, String name, String pattern, String[] options);

    static native String[] next(long handle, String name, String scope, String date);

    static native String[] nextMany(
            long handle, String name, long count, String scope, String date);

    static native String[] parse(long handle, String name, String text);

    static native String seriesStatus(long handle, String name, String scope);

    static native void closeSeries(long handle);

    static native long newMasked(String keys);

    static native long mask(long handle, long id);

    static native long[] maskMany(long handle, long[] ids);

    static native long unmask(long handle, long masked);

    static native void closeMasked(long handle);

    static native long newOpaque(String keys, String prefix);

    static native String encode(long handle, long id);

    static native long decode(long handle, String text);

    static native void closeOpaque(long handle);

    /** Keeps events from now on. */
    static native void listen();

    /** The oldest event: its level and what it says. Null if there is none. */
    static native String[] takeEvent();

    /** Waits until there is an event, or {@link #wake} is called. */
    static native void waitForEvent();

    /** Ends a wait. */
    static native void wake();

    /** Frees a handle. Whatever it leads to ends, if it was not closed. */
    static native void free(long handle);
}
