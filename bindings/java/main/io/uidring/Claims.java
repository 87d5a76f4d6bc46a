package io.uidring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The ids of a generator, or the numbers of a tag, that all threads of Java share: one call of the
 * native library claims many of them, and a take is an atomic add here.
 *
 * <pre>
 *   place     end - length                                 end
 *             ├───────────────────────────────────────────┤
 *   id        first                      ▲ next            what the library's word holds
 * </pre>
 *
 * <p>The places of a claim are counted so that the last one comes directly before the number that
 * the library's word holds. The library lowers the word when the ids have become too old, or the
 * generator has ended. So one comparison says whether an id may be given.
 *
 * <p>A take that begins after another has returned gives the larger id. Within a claim the add sees
 * to that. A claim follows another only when nothing can be taken from that one any more, so that
 * its ids are larger. And nothing is taken directly from the library, where ids are larger than
 * those of the claim, while a claim has ids: {@link #direct} counts the calls that do, and while
 * there are any, nothing is claimed.
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
        /** The next place. Takes that find nothing count on. */
        volatile long next;

        /** The first place, and its id. */
        final long start;

        final long first;

        /** The distance from one id to the next. */
        final long step;

        /** The place past the last. */
        final long end;

        Claim(long first, long step, long start, long end) {
            next = start;
            this.first = first;
            this.step = step;
            this.start = start;
            this.end = end;
        }

        long id(long place) {
            return first + (place - start) * step;
        }
    }

    private final Waits.Source source;
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

    /** The length, the end and the step of what was claimed last. Under the lock. */
    private final long[] claimed = new long[3];

    Claims(Waits.Source source, long handle) {
        this.source = source;
        this.handle = handle;
        waits = new Waits(source, handle);
        word = source.claimsEnd(handle);
        long end = word == null ? 0 : end();
        claim = new Claim(0, 0, end, end);
    }

    long take() {
        if (word == null) {
            return takeDirectly();
        }
        long id = tryTakeOfClaim();
        return id != 0 ? id : instead(this::takeDirectly);
    }

    /** An id if there is one now, or 0. It does not wait. */
    long tryTake() {
        if (word == null) {
            return waits.tryTake();
        }
        long id = tryTakeOfClaim();
        return id != 0 ? id : instead(waits::tryTake);
    }

    /** An id, now or later. */
    CompletableFuture<Long> takeAsync() {
        long id = tryTake();
        if (id != 0) {
            return CompletableFuture.completedFuture(id);
        }
        lock.lock();
        direct++;
        lock.unlock();
        try {
            return waits.takeAsync(this::leave);
        } catch (Throwable problem) {
            leave();
            throw problem;
        }
    }

    /** An id of the claim, or 0 if it has none. */
    private long tryTakeOfClaim() {
        Claim claim = this.claim;
        long place = (long) NEXT.getAndAdd(claim, 1L);
        return place < end() ? claim.id(place) : 0;
    }

    private long end() {
        return (long) WORD.getAcquire(word, 0);
    }

    /** The first id of another claim, or if there is none, what is taken directly. */
    private long instead(LongSupplier take) {
        lock.lock();
        try {
            // Another thread may have claimed meanwhile.
            long id = tryTakeOfClaim();
            if (id == 0) {
                id = claim(1);
            }
            if (id != 0) {
                return id;
            }
            direct++;
        } finally {
            lock.unlock();
        }
        try {
            return take.getAsLong();
        } finally {
            leave();
        }
    }

    private long takeDirectly() {
        return Waits.isVirtual() ? waits.take() : source.take(handle);
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
        long id = source.claim(handle, Math.max(length, least), claimed);
        if (id != 0) {
            Claim next = new Claim(id, claimed[2], claimed[1] - claimed[0], claimed[1]);
            // Before others see it: the first id is the caller's.
            next.next++;
            claim = next;
        }
        return id;
    }

    /**
     * Gives back what is left, before the end of the tag. From now on ids are taken directly.
     */
    void giveBack() {
        lock.lock();
        try {
            direct++;
            // No take finds a place after that.
            long next = (long) NEXT.getAndAdd(claim, claim.end - claim.start);
            if (claim.start < next && next < end()) {
                source.giveBack(handle, next - claim.start);
            }
        } finally {
            lock.unlock();
        }
    }

    private void leave() {
        lock.lock();
        direct--;
        lock.unlock();
    }

    void fill(long[] ids) {
        if (word == null) {
            fillDirectly(ids, 0);
            return;
        }
        int filled = fillFromClaim(ids, 0);
        while (filled < ids.length) {
            int more = fillFromNextClaim(ids, filled);
            if (more == 0) {
                try {
                    fillDirectly(ids, filled);
                } finally {
                    leave();
                }
                return;
            }
            filled += more;
        }
    }

    /** Writes ids of the claim to the elements from this one on. Returns how many. */
    private int fillFromClaim(long[] ids, int from) {
        Claim claim = this.claim;
        int wanted = ids.length - from;
        long place = (long) NEXT.getAndAdd(claim, (long) wanted);
        int count = (int) Math.max(0, Math.min(wanted, end() - place));
        for (int i = 0; i < count; i++) {
            ids[from + i] = claim.id(place + i);
        }
        return count;
    }

    /**
     * The same, from a claim that this or another thread makes. If that is not to be, returns 0,
     * and the caller takes directly.
     */
    private int fillFromNextClaim(long[] ids, int from) {
        lock.lock();
        try {
            int count = fillFromClaim(ids, from);
            if (count > 0) {
                return count;
            }
            int left = ids.length - from;
            long id = left > SHORT ? 0 : claim(left);
            if (id == 0) {
                direct++;
                return 0;
            }
            ids[from] = id;
            return 1 + fillFromClaim(ids, from + 1);
        } catch (UidringException error) {
            error.setFilled(from);
            throw error;
        } finally {
            lock.unlock();
        }
    }

    private void fillDirectly(long[] ids, int from) {
        if (Waits.isVirtual()) {
            waits.fill(ids, from);
            return;
        }
        if (from == 0) {
            source.fill(handle, ids);
            return;
        }
        long[] rest = new long[ids.length - from];
        int filled = rest.length;
        try {
            source.fill(handle, rest);
        } catch (UidringException error) {
            filled = error.filled();
            error.setFilled(from + filled);
            throw error;
        } finally {
            System.arraycopy(rest, 0, ids, from, filled);
        }
    }
}
