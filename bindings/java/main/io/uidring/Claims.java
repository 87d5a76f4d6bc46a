package io.uidring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Ids that all threads of Java share: one call of the native library claims many of them, and a
 * take is an atomic add here.
 *
 * <pre>
 *   number    end - length                                 end
 *             ├───────────────────────────────────────────┤
 *   id        first                      ▲ next            what the library's word holds
 * </pre>
 *
 * <p>The ids of a claim are numbered so that the last one comes directly before the number that the
 * library's word holds. The library lowers the word when the ids have become too old, or the
 * generator has ended. So one comparison says whether an id may be given.
 *
 * <p>A take that begins after another has returned gives the larger id. Within a claim the add sees
 * to that. A claim follows another only when nothing can be taken from that one any more, so its ids
 * are larger. And nothing is taken directly from the library, where ids are larger than those of
 * the claim, while a claim has ids: {@link #direct} counts the calls that do, and while there are
 * any, nothing is claimed.
 */
final class Claims {
    /** How many ids are claimed at once, at most: as many as by a local taker of the library. */
    private static final int LONGEST = 4096;

    /** Longer arrays are filled by the library, for which one call costs nothing then. */
    private static final int SHORT = 512;

    private static final VarHandle NEXT;

    /** The library's word. */
    private static final VarHandle WORD =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    static {
        try {
            NEXT = MethodHandles.lookup().findVarHandle(Claim.class, "next", long.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private static final class Claim {
        /** The number of the next id. Takes that find nothing count on. */
        volatile long next;

        /** The difference between an id and its number. The sum may wrap. */
        final long shift;

        final long end;

        Claim(long next, long shift, long end) {
            this.next = next;
            this.shift = shift;
            this.end = end;
        }
    }

    private final long handle;
    private final Waits waits;

    /** Null in exact time, where each id is taken when it is needed. */
    private final ByteBuffer word;

    private final ReentrantLock lock = new ReentrantLock();

    /** Replaced under the lock. */
    private volatile Claim claim;

    /** How many ids the next claim has. Under the lock. */
    private int length = 1;

    /** How many calls take from the library directly. Under the lock. */
    private int direct;

    /** The length and the end of what was claimed last. Under the lock. */
    private final long[] claimed = new long[2];

    Claims(long handle, Waits waits) {
        this.handle = handle;
        this.waits = waits;
        word = Native.claimsEnd(handle);
        long end = word == null ? 0 : end();
        claim = new Claim(end, 0, end);
    }

    long take() {
        if (word == null) {
            return takeDirectly();
        }
        long uid = tryTake();
        return uid != 0 ? uid : takeSlowly();
    }

    /** An id of the claim, or 0 if it has none. */
    private long tryTake() {
        Claim claim = this.claim;
        long number = (long) NEXT.getAndAdd(claim, 1L);
        return number < end() ? number + claim.shift : 0;
    }

    private long end() {
        return (long) WORD.getAcquire(word, 0);
    }

    private long takeSlowly() {
        lock.lock();
        try {
            // Another thread may have claimed meanwhile.
            long uid = tryTake();
            if (uid == 0) {
                uid = claim(1);
            }
            if (uid != 0) {
                return uid;
            }
            direct++;
        } finally {
            lock.unlock();
        }
        try {
            return takeDirectly();
        } finally {
            leave();
        }
    }

    private long takeDirectly() {
        return Waits.isVirtual() ? waits.take() : Native.takeUid(handle);
    }

    /**
     * Claims ids, at least so many if there are, in place of a claim that has none. Under the lock.
     *
     * @return the first, or 0 if there is none now or others take directly
     */
    private long claim(int least) {
        if (direct > 0) {
            return 0;
        }
        // What expires is lost, so a program that takes seldom claims one id at a time.
        length = end() == claim.end ? Math.min(2 * length, LONGEST) : 1;
        long uid = Native.claimUids(handle, Math.max(length, least), claimed);
        if (uid != 0) {
            long end = claimed[1];
            long number = end - claimed[0];
            claim = new Claim(number + 1, uid - number, end);
        }
        return uid;
    }

    private void leave() {
        lock.lock();
        direct--;
        lock.unlock();
    }

    void fill(long[] uids) {
        if (word == null) {
            fillDirectly(uids, 0);
            return;
        }
        int filled = fillFromClaim(uids, 0);
        while (filled < uids.length) {
            int more = fillFromNextClaim(uids, filled);
            if (more == 0) {
                try {
                    fillDirectly(uids, filled);
                } finally {
                    leave();
                }
                return;
            }
            filled += more;
        }
    }

    /** Writes ids of the claim to the elements from this one on. Returns how many. */
    private int fillFromClaim(long[] uids, int from) {
        Claim claim = this.claim;
        int wanted = uids.length - from;
        long number = (long) NEXT.getAndAdd(claim, (long) wanted);
        int count = (int) Math.max(0, Math.min(wanted, end() - number));
        for (int i = 0; i < count; i++) {
            uids[from + i] = number + i + claim.shift;
        }
        return count;
    }

    /**
     * The same, from a claim that this or another thread makes. If that is not to be, returns 0,
     * and the caller takes directly.
     */
    private int fillFromNextClaim(long[] uids, int from) {
        lock.lock();
        try {
            int count = fillFromClaim(uids, from);
            if (count > 0) {
                return count;
            }
            int left = uids.length - from;
            long uid = left > SHORT ? 0 : claim(left);
            if (uid == 0) {
                direct++;
                return 0;
            }
            uids[from] = uid;
            return 1 + fillFromClaim(uids, from + 1);
        } catch (UidringException error) {
            error.setFilled(from);
            throw error;
        } finally {
            lock.unlock();
        }
    }

    private void fillDirectly(long[] uids, int from) {
        if (Waits.isVirtual()) {
            waits.fill(uids, from);
            return;
        }
        if (from == 0) {
            Native.fillUids(handle, uids);
            return;
        }
        long[] rest = new long[uids.length - from];
        int filled = rest.length;
        try {
            Native.fillUids(handle, rest);
        } catch (UidringException error) {
            filled = error.filled();
            error.setFilled(from + filled);
            throw error;
        } finally {
            System.arraycopy(rest, 0, uids, from, filled);
        }
    }
}
