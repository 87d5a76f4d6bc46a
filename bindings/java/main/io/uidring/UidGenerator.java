package io.uidring;

import java.lang.ref.Reference;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A generator of unique, positive ids that sort by time.
 *
 * <pre>{@code
 * try (UidGenerator uids = UidGenerator.open("mysql://ids@db.example.com/ids", "lease=10m")) {
 *     long uid = uids.take();
 *     System.out.println(uid + " was made at " + uids.parts(uid).time());
 * }
 * }</pre>
 *
 * <p>Open one per process, and share it between all threads. It runs a thread of its own, which is
 * not Java's and does not keep a program from ending.
 *
 * <p>An interrupt does not end a call. A take that has to wait, because a limit is reached, waits
 * on and leaves the thread's interrupt flag as it is; a virtual thread leaves its carrier.
 * A take that waits for the clock has no deadline; {@code on_lead_limit=fail} lets it fail instead.
 * A take from the ring, as nearly all are, does not wait.
 */
public final class UidGenerator implements UidSource, AutoCloseable {
    private final long handle;
    private final Memory memory;
    private final Claims claims;

    /**
     * What an id holds.
     *
     * @param time the begin of the id's tick, which is a second by default
     * @param worker the worker id of the generator that made the id
     * @param sequence the number of the id within its tick and worker id, from 0
     */
    public record Parts(Instant time, long worker, long sequence) {
        /** Of what the native library has decoded. */
        static Parts of(long[] fields) {
            return new Parts(Instant.ofEpochMilli(fields[0]), fields[1], fields[2]);
        }
    }

    private UidGenerator(long handle) {
        this.handle = handle;
        claims = new Claims(Waits.Source.UIDS, handle);
        memory = Memory.ofOpened(this, handle);
    }

    /**
     * Opens a generator with a worker id from a store, which keeps all its programs apart.
     *
     * @param address the path of a SQLite file, which is created if it is missing, or the address
     *     of a server, such as {@code mysql://user:password@host/database}; the schemes are
     *     {@code postgres}, {@code mysql}, {@code etcd}, {@code zookeeper} and {@code redis}
     * @param options each {@code name=value}, such as {@code lease=10m}
     * @return a generator that is ready
     * @throws InvalidArgumentException if the address or an option is wrong
     * @throws UnavailableException if the store cannot be reached, or does not answer in time
     * @throws RefusedException if the store gives no worker id, or the clock is wrong
     */
    public static UidGenerator open(String address, String... options) {
        return openWith(address, Native.pairs(options));
    }

    /**
     * Opens a generator with options from a map.
     *
     * @param address as for {@link #open(String, String...)}
     * @param options names and values
     * @return a generator that is ready
     * @throws UidringException as {@link #open(String, String...)}
     */
    public static UidGenerator open(String address, Map<String, String> options) {
        return openWith(address, Native.pairs(options));
    }

    private static UidGenerator openWith(String address, String[] options) {
        Objects.requireNonNull(address, "the address is null");
        return Events.opening(() -> new UidGenerator(Native.openUids(address, options)));
    }

    /**
     * Opens a generator with a worker id of your own. No other generator may have it: two with the
     * same worker id make the same ids. A restart with the same worker id may repeat ids as well,
     * those of the tick in which it begins and those that the first run took ahead of the clock,
     * unless the option {@code state} names a file that keeps the times that were used.
     *
     * @param worker the worker id, from 0 to the layout's largest: 1,048,575 by default
     * @param options each {@code name=value}, such as {@code state=/data/uidring.state}
     * @return a generator that is ready
     * @throws InvalidArgumentException if the worker id is negative or does not fit the layout, or
     *     if an option is wrong
     * @throws RefusedException if the state file cannot be used, or the clock is wrong
     */
    public static UidGenerator fixed(long worker, String... options) {
        return fixedWith(worker, Native.pairs(options));
    }

    /**
     * Opens a generator with a worker id of your own and options from a map.
     *
     * @param worker as for {@link #fixed(long, String...)}
     * @param options names and values
     * @return a generator that is ready
     * @throws UidringException as {@link #fixed(long, String...)}
     */
    public static UidGenerator fixed(long worker, Map<String, String> options) {
        return fixedWith(worker, Native.pairs(options));
    }

    private static UidGenerator fixedWith(long worker, String[] options) {
        return Events.opening(() -> new UidGenerator(Native.fixedUids(worker, options)));
    }

    /**
     * Takes an id. It is larger than those that were taken before with the same worker id, and its
     * time is at most a second behind the clock and, after a burst, at most a day ahead, unless
     * options ask for other limits.
     *
     * @return a positive id, which this generator and the others of its store never give again
     * @throws UnavailableException if there is no id for now, and the option
     *     {@code on_lead_limit} does not say that a take waits
     * @throws RefusedException if the worker ids or the times of the layout are used up
     * @throws ClosedException after a {@link #close}
     */
    @Override
    public long take() {
        try {
            return claims.take();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Fills an array with ids, at a fraction of the cost of as many takes. They ascend within one
     * worker id: if it changes in between, the ids begin again at the present time.
     *
     * @param uids the array
     * @throws UidringException as {@link #take}; its {@link UidringException#filled} says how many
     *     elements from the start are ids even so
     */
    @Override
    public void fill(long[] uids) {
        Objects.requireNonNull(uids, "the array is null");
        try {
            claims.fill(uids);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Takes an id if there is one now. It does not wait, neither for the clock nor for a store.
     *
     * @return an id as that of {@link #take}, or nothing where a take would wait or fail for now
     * @throws ClosedException after a {@link #close}
     */
    @Override
    public OptionalLong tryTake() {
        try {
            long id = claims.tryTake();
            return id == 0 ? OptionalLong.empty() : OptionalLong.of(id);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Takes an id as {@link #take} does, in the same line, and holds no thread while it waits.
     *
     * @return has the id, now or later, or the exception of a take. What follows is done by the
     *     common pool. Its {@link CompletionStage#toCompletableFuture} may be cancelled, and then
     *     no id is lost
     */
    @Override
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
     * Decodes an id. It must have been made with the layout of this generator, because an id does
     * not tell its layout.
     *
     * @param uid the id
     * @return what it holds
     * @throws InvalidArgumentException if the id is 0 or negative
     */
    public Parts parts(long uid) {
        try {
            return Parts.of(Native.parts(handle, uid));
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
            return Native.layout(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The worker id in the ids that are given now. It changes when a burst has used up its times,
     * or when its lease was lost.
     *
     * @return the worker id
     * @throws ClosedException after a {@link #close}: another generator may have it
     */
    public long workerId() {
        try {
            return Native.workerId(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The state, for operators and health checks.
     *
     * @return the state at this moment, also after a close
     */
    public Status status() {
        try {
            return Status.of(Native.uidStatus(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Ends the generator. Takes of other threads that are under way succeed or throw a
     * {@link ClosedException}, as later ones do. A leased worker id is given back, which may take
     * until the option {@code shutdown_deadline}. A second close succeeds, unless the first has
     * failed.
     *
     * @throws UnavailableException if the worker id was not given back in time; the generator has
     *     ended even so, and the lease runs out by itself
     */
    @Override
    public void close() {
        memory.closeOpened(this, Native::closeUids);
    }

    /** The layout, and the worker id or, after a close, {@code closed}. */
    @Override
    public String toString() {
        try {
            return "UidGenerator[" + Native.describeUids(handle) + ']';
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
