package io.uidring;

import java.lang.ref.Reference;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

/** The dense numbers of one tag. Any number of threads may take from it at once. */
public final class SegmentTag implements LongSupplier {
    /** Keeps the segments open while this tag is held. */
    private final Segments segments;

    private final String name;
    private final long handle;
    private final Memory memory;
    private final Claims claims;

    SegmentTag(Segments segments, String name, long handle) {
        this.segments = segments;
        this.name = name;
        this.handle = handle;
        claims = new Claims(Waits.Source.NUMBERS, handle);
        memory = new Memory(this, handle);
    }

    /**
     * The name of the tag.
     *
     * @return as it was asked for
     */
    public String name() {
        return name;
    }

    /**
     * Takes the next number of this process. Numbers ascend within a process; those of several
     * processes are mixed.
     *
     * @return a positive number that nobody else gets
     * @throws UnavailableException if numbers are not loaded in time: the store cannot be reached
     * @throws RefusedException if the tag is used up or gone
     * @throws ClosedException after a close of the segments
     */
    public long take() {
        try {
            return claims.take();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The same as {@link #take}. */
    @Override
    public long getAsLong() {
        return take();
    }

    /**
     * Takes a number if there is one in memory now, without waiting.
     *
     * @return a number, or nothing where a take would wait for numbers that are being loaded
     * @throws ClosedException after a close of the segments
     */
    public OptionalLong tryTake() {
        try {
            long number = claims.tryTake();
            return number == 0 ? OptionalLong.empty() : OptionalLong.of(number);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Takes a number as {@link #take} does, and holds no thread while it waits.
     *
     * @return as {@link UidGenerator#takeAsync}
     */
    public CompletionStage<Long> takeAsync() {
        try {
            return claims.takeAsync();
        } catch (UidringException error) {
            return CompletableFuture.failedStage(error);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Fills an array with ascending numbers, which need not follow one another without a gap.
     *
     * @param numbers the array
     * @throws UidringException as {@link #take}; its {@link UidringException#filled} says how many
     *     elements from the start are numbers even so
     */
    public void fill(long[] numbers) {
        Objects.requireNonNull(numbers, "the array is null");
        try {
            claims.fill(numbers);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Takes ascending numbers.
     *
     * @param count how many, at least 0
     * @return as many numbers
     * @throws InvalidArgumentException if the count is negative
     * @throws UidringException as {@link #take}; numbers that were taken until then are lost
     */
    public long[] takeMany(int count) {
        long[] numbers = Native.array(count);
        fill(numbers);
        return numbers;
    }

    /**
     * The state, for operators.
     *
     * @return the state at this moment, also after a close
     */
    public TagStatus status() {
        try {
            return TagStatus.of(Native.tagStatus(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The name of the tag. */
    @Override
    public String toString() {
        return "SegmentTag[" + name + ']';
    }

    /** Before a close of the segments: numbers that were claimed and not given go back. */
    void giveBack() {
        claims.giveBack();
    }

    /** After a close of the segments. */
    void closed() {
        memory.closed(this);
    }
}
