package io.uidring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Numbers of a series as the native library writes them to an array, in {@code packed.rs}. For
 * each: the value in 8 bytes, the lengths of its periods in 1 each, that of its text in 2, the
 * periods and the text. The first period is that in which it was counted, and without a length that
 * of the number before. The second is the one that is shown, and without a length the first.
 */
final class Packed {
    /** How long an array is that nearly each number fits. */
    static final int ROOM = 128;

    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final VarHandle SHORT =
            MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.nativeOrder());

    private final byte[] bytes;
    private final Optional<String> scope;
    private int next;
    private String period = "";

    Packed(byte[] bytes, String scope) {
        this.bytes = bytes;
        this.scope = Optional.ofNullable(scope);
    }

    boolean hasNext() {
        return next < bytes.length;
    }

    SeriesNumber next() {
        long value = (long) LONG.get(bytes, next);
        int periodLength = bytes[next + 8];
        int shownLength = bytes[next + 9];
        int textLength = (short) SHORT.get(bytes, next + 10);
        int start = next + 12;
        if (periodLength > 0) {
            period = new String(bytes, start, periodLength, StandardCharsets.ISO_8859_1);
            start += periodLength;
        }
        String shown = period;
        if (shownLength > 0) {
            shown = new String(bytes, start, shownLength, StandardCharsets.ISO_8859_1);
            start += shownLength;
        }
        next = start + textLength;
        String text = new String(bytes, start, textLength, StandardCharsets.UTF_8);
        return new SeriesNumber(text, value, period, shown, scope);
    }
}
