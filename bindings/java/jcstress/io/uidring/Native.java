package io.uidring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;

/**
 * In place of the native library: generators that give 1, 2, 3 and so on, a few at a time, so that
 * claims are replaced often. A handle is the number of a generator.
 */
final class Native {
    /** So many ids in a claim, at most. */
    private static final int MOST = 2;

    /** What an expiry lowers the word by, as that of the library does. */
    private static final long EXPIRY_STEP = 65_536;

    /** More generators than are used at once. */
    private static final int GENERATORS = 1 << 17;

    private static final ByteBuffer WORDS =
            ByteBuffer.allocateDirect(GENERATORS * Long.BYTES).order(ByteOrder.nativeOrder());

    private static final VarHandle WORD =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final AtomicLong[] IDS = new AtomicLong[GENERATORS];

    private static final AtomicLong MADE = new AtomicLong();

    private Native() {}

    /** A new generator. */
    static long open() {
        int place = (int) (MADE.getAndIncrement() % GENERATORS);
        WORD.setVolatile(WORDS, place * Long.BYTES, 1L << 62);
        IDS[place] = new AtomicLong(1);
        return place;
    }

    /** Makes what is claimed too old: from now on, ids are above 1,000. */
    static void expire(long handle) {
        IDS[(int) handle].addAndGet(1_000);
        WORD.getAndAdd(WORDS, (int) handle * Long.BYTES, -EXPIRY_STEP);
    }

    static ByteBuffer uidClaimsEnd(long handle) {
        return WORDS.slice((int) handle * Long.BYTES, Long.BYTES).order(ByteOrder.nativeOrder());
    }

    static long claimUids(long handle, int count, long[] claimed) {
        claimed[1] = (long) WORD.getAcquire(WORDS, (int) handle * Long.BYTES);
        claimed[0] = Math.min(count, MOST);
        claimed[2] = 1;
        return IDS[(int) handle].getAndAdd(claimed[0]);
    }

    static long takeUid(long handle) {
        return IDS[(int) handle].getAndIncrement();
    }
}
