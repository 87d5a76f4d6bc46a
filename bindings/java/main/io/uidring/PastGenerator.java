package io.uidring;

import java.lang.ref.Reference;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;

/**
 * A generator of ids of times that were, for rows that are older than their ids.
 *
 * <pre>{@code
 * try (PastGenerator past = PastGenerator.open("postgres://ids@db.example.com/ids")) {
 *     for (Order order : ordersByTime) {
 *         order.setId(past.takeAt(order.getCreated()));
 *     }
 * }
 * }</pre>
 *
 * <p>It has a worker id that nobody had before, and so all times of it up to now. No id comes
 * twice, whether of this generator, of another, or of a {@link UidGenerator} of the same store. The
 * time of an id is the tick of the time asked for, so ids sort as the times do; those of one tick
 * ascend in the order in which one generator gave them. Each open uses up a worker id, so open one
 * for an import, and not one for each row.
 *
 * <p>Any thread may use it. An interrupt does not end a call, and a virtual thread leaves its
 * carrier.
 */
public final class PastGenerator implements AutoCloseable {
    private final long handle;
    private final Memory memory;

    private PastGenerator(long handle) {
        this.handle = handle;
        memory = Memory.ofOpened(this, handle);
    }

    /**
     * Opens a generator of ids of times that were. The options about worker ids, about the layout,
     * {@code max_new_workers}, {@code start_deadline} and {@code timeout} count. {@code lease} and
     * {@code state} are refused, and the others have no effect.
     *
     * @param address as for {@link UidGenerator#open(String, String...)}
     * @param options each {@code name=value}, such as {@code max_new_workers=500}
     * @return a generator that is ready
     * @throws InvalidArgumentException if the address or an option is wrong, or worker ids are
     *     leased
     * @throws UnavailableException if the store cannot be reached, or does not answer in time
     * @throws RefusedException if the store gives no worker id, or the clock is wrong
     */
    public static PastGenerator open(String address, String... options) {
        return openWith(address, Native.pairs(options));
    }

    /**
     * Opens a generator of ids of times that were with options from a map.
     *
     * @param address as for {@link #open(String, String...)}
     * @param options names and values
     * @return a generator that is ready
     * @throws UidringException as {@link #open(String, String...)}
     */
    public static PastGenerator open(String address, Map<String, String> options) {
        return openWith(address, Native.pairs(options));
    }

    private static PastGenerator openWith(String address, String[] options) {
        Objects.requireNonNull(address, "the address is null");
        return Events.opening(() -> new PastGenerator(Native.openPast(address, options)));
    }

    /**
     * Takes an id whose time is the tick of a time that was. When all ids of the tick are taken, it
     * asks the store for a further worker id, as many in an hour as {@code max_new_workers} allows.
     *
     * @param time the time, which is not after now
     * @return a positive id, which no generator of the store gives again
     * @throws InvalidArgumentException if the time is before the epoch of the layout, or after now
     * @throws UnavailableException if a further worker id is needed, and the store cannot be
     *     reached, or as many were taken on as an hour may have
     * @throws RefusedException if a further worker id is needed, and there is none
     * @throws ClosedException after a {@link #close}
     */
    public long takeAt(Instant time) {
        long ms = milliseconds(time);
        try {
            return Waits.apart(() -> Native.takeAt(handle, ms));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Takes an id for each of many times, in their order. All times are looked at before the first
     * id is taken.
     *
     * @param times the times
     * @return as many ids, in the same order
     * @throws UidringException as {@link #takeAt}; the message says which time it is about, counted
     *     from 1, and ids that were taken until then are given to nobody
     */
    public long[] takeTimes(Collection<Instant> times) {
        Objects.requireNonNull(times, "the times are null");
        long[] ms = times.stream().mapToLong(PastGenerator::milliseconds).toArray();
        try {
            return Waits.apart(() -> Native.takeTimes(handle, ms));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The milliseconds since 1970, rounded down as ticks are. */
    private static long milliseconds(Instant time) {
        Objects.requireNonNull(time, "the time is null");
        try {
            return time.toEpochMilli();
        } catch (ArithmeticException far) {
            // Before all epochs, or after now: no id has such a time.
            return time.getEpochSecond() < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    /**
     * Decodes an id, which must have been made with the layout of this generator.
     *
     * @param uid the id
     * @return what it holds
     * @throws InvalidArgumentException if the id is 0 or negative
     */
    public UidGenerator.Parts parts(long uid) {
        try {
            return UidGenerator.Parts.of(Native.partsOfPast(handle, uid));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The layout, as options write it.
     *
     * @return such as {@code layout=30,20,13 tick=1000ms epoch=2026-01-01T00:00:00Z}
     */
    public String layout() {
        try {
            return Native.layoutOfPast(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The worker id that was taken on last.
     *
     * @return the worker id
     * @throws ClosedException after a {@link #close}
     */
    public long workerId() {
        try {
            return Native.workerIdOfPast(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The state, for operators.
     *
     * @return the state at this moment, also after a close
     */
    public PastStatus status() {
        try {
            return PastStatus.of(Native.pastStatus(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Ends the generator. Takes of other threads that are under way succeed or throw a
     * {@link ClosedException}, as later ones do. A second close succeeds.
     */
    @Override
    public void close() {
        memory.closeOpened(this, Native::closePast);
    }

    /** The layout. */
    @Override
    public String toString() {
        return "PastGenerator[" + layout() + ']';
    }
}
