package io.uidring;

import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

/**
 * What ids are taken from: a {@link UidGenerator}, or what a program puts in its place, such as a
 * proxy, a decorator, or in a test a counter:
 *
 * <pre>{@code
 * UidSource ids = new AtomicLong(1_000)::incrementAndGet;
 * }</pre>
 *
 * <p>A program that takes ids names this type, and the one place that opens a generator names
 * {@link UidGenerator}.
 */
@FunctionalInterface
public interface UidSource extends LongSupplier {
    /**
     * Takes an id.
     *
     * @return a positive id that nobody else gets
     * @throws UidringException if there is none
     */
    long take();

    /** The same as {@link #take}. */
    @Override
    default long getAsLong() {
        return take();
    }

    /**
     * Takes an id if there is one now, without waiting. Here it is a {@link #take}.
     *
     * @return an id, or nothing where a take would wait
     * @throws UidringException if no wait can help, as after a close
     */
    default OptionalLong tryTake() {
        return OptionalLong.of(take());
    }

    /**
     * Takes an id, and holds no thread while it waits. Here it is a {@link #take}.
     *
     * @return has the id, now or later; its {@link CompletionStage#toCompletableFuture} may be
     *     cancelled, and then no id is lost
     */
    default CompletionStage<Long> takeAsync() {
        try {
            return CompletableFuture.completedStage(take());
        } catch (UidringException error) {
            return CompletableFuture.failedStage(error);
        }
    }

    /**
     * Fills an array with ids.
     *
     * @param uids the array
     * @throws UidringException as {@link #take}; its {@link UidringException#filled} says how many
     *     elements from the start are ids even so
     */
    default void fill(long[] uids) {
        Objects.requireNonNull(uids, "the array is null");
        for (int i = 0; i < uids.length; i++) {
            try {
                uids[i] = take();
            } catch (UidringException error) {
                error.setFilled(i);
                throw error;
            }
        }
    }

    /**
     * Takes ids.
     *
     * @param count how many, at least 0
     * @return as many ids
     * @throws InvalidArgumentException if the count is negative
     * @throws UidringException as {@link #take}; ids that were taken until then are lost
     */
    default long[] takeMany(int count) {
        long[] uids = Native.array(count);
        fill(uids);
        return uids;
    }
}
