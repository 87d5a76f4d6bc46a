package io.uidring;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Objects;

/**
 * The methods of the native library. A method is called only with a handle that is not freed, so
 * each caller keeps the object that holds it reachable until the method returns.
 */
final class Native {
    private static final String NO_OPTIONS =
            "the options are null: leave them out where there are none";

    private Native() {}

    /**
     * Reads {@code name=value}.
     *
     * @return a name, its value, the next name and so on; null for the value of what is a name
     *     alone, which the native library refuses
     */
    static String[] pairs(String... options) {
        Objects.requireNonNull(options, NO_OPTIONS);
        String[] texts = new String[2 * options.length];
        for (int i = 0; i < options.length; i++) {
            String option = Objects.requireNonNull(options[i], "an option is null");
            int sign = option.indexOf('=');
            texts[2 * i] = sign < 0 ? option : option.substring(0, sign);
            texts[2 * i + 1] = sign < 0 ? null : option.substring(sign + 1);
        }
        return texts;
    }

    static String[] pairs(Map<String, String> options) {
        Objects.requireNonNull(options, NO_OPTIONS);
        String[] texts = new String[2 * options.size()];
        int i = 0;
        for (Map.Entry<String, String> option : options.entrySet()) {
            String name = Objects.requireNonNull(option.getKey(), "the name of an option is null");
            texts[i++] = name;
            texts[i++] = Objects.requireNonNull(option.getValue(),
                    () -> "the value of the option " + name + " is null: leave it out instead");
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

    /**
     * Claims ids that are there at once. Writes to an array how many there are, the place past the
     * last one, and the distance from one id to the next.
     *
     * @return the first id, or 0 if there is none now
     */
    static native long claimUids(long handle, int count, long[] claimed);

    /** The word that the places of claimed ids are compared with. Null in exact time. */
    static native ByteBuffer uidClaimsEnd(long handle);

    static native void fillUids(long handle, long[] uids);

    static native long[] parts(long handle, long uid);

    static native String layout(long handle);

    static native long workerId(long handle);

    /** The layout, and the worker id or how the generator has ended. */
    static native String describeUids(long handle);

    /** For {@link Fields}, as the other states. */
    static native String[] uidStatus(long handle);

    static native void closeUids(long handle);

    static native long openPast(String address, String[] options);

    /** Takes an id of a time, in milliseconds since 1970. */
    static native long takeAt(long handle, long time);

    static native long[] takeTimes(long handle, long[] times);

    static native long[] partsOfPast(long handle, long uid);

    static native String layoutOfPast(long handle);

    static native long workerIdOfPast(long handle);

    static native String[] pastStatus(long handle);

    static native void closePast(long handle);

    static native long lend(String address, String pool, int bits, String[] options);

    static native long lentId(long handle);

    /** False after a close. */
    static native boolean isHeld(long handle);

    static native String[] lentStatus(long handle);

    /** A handle for one {@link #waitForLoss}. The caller frees it. */
    static native long losses(long handle);

    /**
     * Waits until the worker id is about to be lost.
     *
     * @return the worker id, the milliseconds that are left and a line for people; null when the
     *     worker id is closed or freed
     */
    static native String[] waitForLoss(long losses);

    static native void closeLent(long handle);

    static native long openSegments(String address, String[] options);

    static native long createTag(long handle, String tag, String[] options);

    static native long findTag(long handle, String tag);

    static native long takeNumber(long handle);

    static native long claimNumbers(long handle, int count, long[] claimed);

    static native ByteBuffer tagClaimsEnd(long handle);

    /** Gives back what is left of the last claim, of which so many were given, at least one. */
    static native void giveBackNumbers(long handle, long used);

    static native void fillNumbers(long handle, long[] numbers);

    static native String[] tagStatus(long handle);

    static native void closeSegments(long handle);

    static native long openSeries(String address, String[] options);

    static native void createSeries(long handle, String name, String pattern, String[] options);

    /** The next number, for {@link Packed}. */
    static native byte[] next(long handle, String name, String scope, String date);

    /** A handle of a series that has been used, for {@link #tryNext}; 0 if it has not. */
    static native long usedSeries(long handle, String name);

    /**
     * The next number of today if it is in memory, for {@link Packed}: in {@code reply}, or in a
     * new array if it is long. Else null.
     */
    static native byte[] tryNext(long used, String scope, byte[] reply);

    /** The next numbers, for {@link Packed}. */
    static native byte[] nextMany(long handle, String name, long count, String scope, String date);

    /** The value, the period, the shown period and the scope of a number. */
    static native String[] parse(long handle, String name, String text);

    static native String format(long handle, String name, long number, String scope, String date);

    static native void widen(long handle, String name, String pattern);

    static native long seriesInTransactions();

    /** Begins to count in a transaction. Returns a handle for {@link #step}. */
    static native long countIn(
            long handle, String name, String scope, String date, String database);

    /** Begins to read a series. Returns a handle for {@link #step}, or 0 if its store is open. */
    static native long readIn(long handle, String name, String database);

    /**
     * Goes on with the columns of the rows of the last statement, one after another, at first with
     * null.
     *
     * @return a statement and its values, numbers after an {@code i} and texts after a {@code t};
     *     or the result after a null: the text, the value and the periods of a number
     */
    static native String[] step(long work, String[] rows, int columns);

    static native boolean isTransient(String database, String code);

    static native String[] seriesStatus(long handle, String name, String scope);

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

    /** An id if there is one now, else 0. */
    static native long tryTakeUid(long handle);

    static native long tryTakeNumber(long handle);

    /** Fills an array from an element on with some of what there is now. Returns how many. */
    static native int tryFillUids(long handle, long[] uids, int from);

    static native int tryFillNumbers(long handle, long[] numbers, int from);

    /**
     * Takes an id in turn, for the wait of this number.
     *
     * @return the id; or a handle to {@link #poll}, with a minus before it
     */
    static native long beginUid(long handle, long wait);

    static native long beginNumber(long handle, long wait);

    /** The number of a wait, or 0 while there is none. */
    static native long poll(long waiting);

    /** The number of a wait that is to look for its number, or 0 after so many milliseconds. */
    static native long waitForWoken(long most);

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
