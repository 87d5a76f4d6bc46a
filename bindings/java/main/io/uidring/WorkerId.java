package io.uidring;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * A worker id that is lent, for a generator of another's that needs a worker, machine or node
 * number. It is renewed until it is closed.
 *
 * <pre>{@code
 * try (WorkerId worker = WorkerId.lend("postgres://ids@db.example.com/ids", "shop", 10,
 *         loss -> Runtime.getRuntime().halt(1))) {
 *     run(new Snowflake(worker.id()));
 * }
 * }</pre>
 *
 * <p>Hold it as long as the generator: one that nothing holds is returned by the garbage collector.
 *
 * <p>Any thread may use it. An interrupt does not end a call, and a virtual thread leaves its
 * carrier.
 */
public final class WorkerId implements AutoCloseable {
    private final long handle;
    private final Memory memory;

    private WorkerId(long handle) {
        this.handle = handle;
        memory = Memory.ofOpened(this, handle);
    }

    /**
     * Lends an id of a pool. Nobody hears of a loss, so ask {@link #isHeld} before each id.
     *
     * @param address as for {@link UidGenerator#open(String, String...)}
     * @param pool the name of the pool, which the first use creates
     * @param bits how many bits the ids of the pool have, 1 to 22; 0 is never lent
     * @param options each {@code name=value}: {@code lease} and {@code rest}, ten minutes unless
     *     set, {@code host} for the list of loans, and {@code timeout}
     * @return a worker id that is held
     * @throws InvalidArgumentException if the address, the pool, its bits or an option is wrong, or
     *     the pool was first used with other bits
     * @throws UnavailableException if the store cannot be reached, or no id may be lent now
     * @throws RefusedException if the store refuses
     */
    public static WorkerId lend(String address, String pool, int bits, String... options) {
        return lendWith(address, pool, bits, Native.pairs(options));
    }

    /**
     * Lends an id of a pool with options from a map.
     *
     * @param address as for {@link #lend(String, String, int, String...)}
     * @param pool the name of the pool
     * @param bits how many bits the ids of the pool have
     * @param options names and values
     * @return a worker id that is held
     * @throws UidringException as {@link #lend(String, String, int, String...)}
     */
    public static WorkerId lend(
            String address, String pool, int bits, Map<String, String> options) {
        return lendWith(address, pool, bits, Native.pairs(options));
    }

    /**
     * Lends an id of a pool, and tells when it is about to be lost.
     *
     * @param address as for {@link #lend(String, String, int, String...)}
     * @param pool the name of the pool
     * @param bits how many bits the ids of the pool have
     * @param onLoss is called once, in a thread of its own, when the id is about to be lost: within
     *     the time that is left, the generator must have made its last id
     * @param options each {@code name=value}
     * @return a worker id that is held
     * @throws UidringException as {@link #lend(String, String, int, String...)}
     */
    public static WorkerId lend(String address, String pool, int bits,
            Consumer<? super Loss> onLoss, String... options) {
        return lendTelling(address, pool, bits, onLoss, Native.pairs(options));
    }

    /**
     * Lends an id of a pool with options from a map, and tells when it is about to be lost.
     *
     * @param address as for {@link #lend(String, String, int, String...)}
     * @param pool the name of the pool
     * @param bits how many bits the ids of the pool have
     * @param onLoss as for {@link #lend(String, String, int, Consumer, String...)}
     * @param options names and values
     * @return a worker id that is held
     * @throws UidringException as {@link #lend(String, String, int, String...)}
     */
    public static WorkerId lend(String address, String pool, int bits,
            Consumer<? super Loss> onLoss, Map<String, String> options) {
        return lendTelling(address, pool, bits, onLoss, Native.pairs(options));
    }

    private static WorkerId lendTelling(String address, String pool, int bits,
            Consumer<? super Loss> onLoss, String[] options) {
        Objects.requireNonNull(onLoss, "what is called at a loss is null: leave it out instead");
        WorkerId worker = lendWith(address, pool, bits, options);
        worker.tell(onLoss);
        return worker;
    }

    private static WorkerId lendWith(String address, String pool, int bits, String[] options) {
        Objects.requireNonNull(address, "the address is null");
        Objects.requireNonNull(pool, "the name of the pool is null");
        return Events.opening(() -> new WorkerId(Native.lend(address, pool, bits, options)));
    }

    private void tell(Consumer<? super Loss> onLoss) {
        // Not the handle of this object, which the thread must not hold.
        long losses = Native.losses(handle);
        try {
            Events.newThread(() -> waitForLoss(losses, onLoss), "uidring-loss").start();
        } catch (OutOfMemoryError error) {
            // There can be no more threads, so nobody would hear of a loss.
            Native.free(losses);
            close();
            throw error;
        }
    }

    private static void waitForLoss(long losses, Consumer<? super Loss> onLoss) {
        String[] told;
        try {
            told = Native.waitForLoss(losses);
        } finally {
            Native.free(losses);
        }
        if (told != null) {
            Duration left = Duration.ofMillis(Long.parseLong(told[1]));
            onLoss.accept(new Loss(Long.parseLong(told[0]), left, told[2]));
        }
    }

    /**
     * The id: 1 to 2<sup>bits</sup> - 1.
     *
     * @return the worker id
     * @throws ClosedException after a {@link #close}
     */
    public long id() {
        try {
            return Native.lentId(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Whether ids may be made with it now. It asks no store, so a generator may ask before each id.
     *
     * @return false when it is lost, and after a {@link #close}
     */
    public boolean isHeld() {
        try {
            return Native.isHeld(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The state, for operators.
     *
     * @return the state at this moment
     * @throws ClosedException after a {@link #close}
     */
    public LentStatus status() {
        try {
            return LentStatus.of(Native.lentStatus(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the worker id. Make no more ids with it before. A second close succeeds.
     *
     * @throws RefusedException if the id was lost before
     * @throws UnavailableException if the store cannot be reached: the id is held until its lease
     *     ends
     */
    @Override
    public void close() {
        memory.closeOpened(this, Native::closeLent);
    }

    /** The worker id, or that it was closed. */
    @Override
    public String toString() {
        try {
            return "WorkerId[" + id() + ']';
        } catch (ClosedException closed) {
            return "WorkerId[closed]";
        }
    }

    /**
     * A worker id that is about to be lost.
     *
     * @param workerId the worker id
     * @param timeLeft how long it may still be used; zero if not any more
     * @param text a line for people, with the reason
     */
    public record Loss(long workerId, Duration timeLeft, String text) {
        /** The line for people. */
        @Override
        public String toString() {
            return text;
        }
    }
}
