package io.uidring;

import java.lang.ref.Cleaner;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/**
 * The native memory of one object. It is freed when nothing holds the object, so a close may come
 * while other threads take, and a take need not count itself.
 *
 * <p>An object that was not closed is freed by a thread of Java's, so that its worker id is given
 * back soon. That thread holds what it is to run, and so the class loader of this class. Therefore
 * an object that was closed is no longer its business: those are freed at the next call here, or by
 * the native library when the class loader goes. So a program in a container that closes what it
 * has opened leaves nothing that holds its class loader.
 */
final class Memory {
    private static final Cleaner CLEANER = Cleaner.create();

    /** Those that were closed and that nothing holds any longer. */
    private static final ReferenceQueue<Object> UNUSED = new ReferenceQueue<>();

    /** A reference that nothing holds would never be queued. */
    private static final Set<Closed> CLOSED = ConcurrentHashMap.newKeySet();

    private final long handle;
    private final Free free;
    private final Cleaner.Cleanable cleanable;
    private boolean isClosed;

    Memory(Object owner, long handle) {
        this(owner, handle, () -> {});
    }

    /** The memory of an object whose events are logged until it is closed or freed. */
    static Memory ofOpened(Object owner, long handle) {
        Events.begin();
        return new Memory(owner, handle, Events::end);
    }

    /** Runs {@code ended}, which must not hold the object, after its close or when it is freed. */
    private Memory(Object owner, long handle, Runnable ended) {
        this.handle = handle;
        free = new Free(handle, ended);
        cleanable = CLEANER.register(owner, free);
        freeUnused();
    }

    /** Closes what {@link #ofOpened} is for, and waits for the log. */
    void closeOpened(Object owner, LongConsumer close) {
        Waits.apart(() -> {
            try {
                close(owner, close);
            } finally {
                Events.flush();
            }
        });
    }

    void close(Object owner, LongConsumer close) {
        try {
            close.accept(handle);
        } finally {
            closed(owner);
            Reference.reachabilityFence(owner);
        }
    }

    /** After a close: takes the object away from the thread that would free it. */
    synchronized void closed(Object owner) {
        if (!isClosed) {
            isClosed = true;
            CLOSED.add(new Closed(owner, handle));
            free.isLeftOut = true;
            cleanable.clean();
            free.ended.run();
        }
        freeUnused();
    }

    private static void freeUnused() {
        Closed closed;
        while ((closed = (Closed) UNUSED.poll()) != null) {
            CLOSED.remove(closed);
            Native.free(closed.handle);
        }
    }

    /** What the thread runs. It must not hold the object. */
    private static final class Free implements Runnable {
        private final long handle;
        private final Runnable ended;
        private volatile boolean isLeftOut;

        Free(long handle, Runnable ended) {
            this.handle = handle;
            this.ended = ended;
        }

        @Override
        public void run() {
            if (!isLeftOut) {
                Native.free(handle);
                ended.run();
            }
        }
    }

    private static final class Closed extends PhantomReference<Object> {
        private final long handle;

        Closed(Object owner, long handle) {
            super(owner, UNUSED);
            this.handle = handle;
        }
    }
}
