package io.uidring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Numbers of a series as the native library writes them to an array, in {@code packed.rs}. For
 * each: the value in 8 bytes, the length of its period in 1, that of its text in 2, the period and
 * the text. A period without a length is that of the number before.
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
        int textLength = (short) SHORT.get(bytes, next + 9);
        int start = next + 11;
        if (periodLength > 0) {
            period = new String(bytes, start, periodLength, StandardCharsets.ISO_8859_1);
            start += periodLength;
        }
        next = start + textLength;
        String text = new String(bytes, start, textLength, StandardCharsets.UTF_8);
        return new SeriesNumber(text, value, period, scope);
    }
}
