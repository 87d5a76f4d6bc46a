package io.uidring;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * How virtual threads take from one generator or tag. One that waited in the native library would
 * keep its carrier, and as many as there are carriers would stop all others. So it asks the library
 * whether there is a number now, and otherwise waits here, in the library's line of tasks. Calls
 * that ask a store are made by threads of the platform.
 */
final class Waits {
    /** Whether a thread is virtual, where Java has such threads: from 21 on. */
    private static final MethodHandle IS_VIRTUAL = isVirtualMethod();

    /** How many calls ask stores at once. The others wait for their turn. */
    private static final int MOST_CALLS = 64;

    /** How long a thread that nothing needs stays: while it does, it holds the class loader. */
    private static final long IDLE_MS = 1_000;

    /** A wait looks for its number in this time, even if nobody wakes it. */
    private static final long LONGEST_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final ThreadPoolExecutor CALLS = calls();

    /** What to do for those that wait when they are woken, by the numbers of their waits. */
    private static final Map<Long, Runnable> WAITING = new ConcurrentHashMap<>();

    private static final AtomicLong NEXT = new AtomicLong();

    /** Held while the thread that wakes others begins or ends. No monitor, which keeps carriers. */
    private static final ReentrantLock WAKER = new ReentrantLock();

    private static volatile boolean isWakerRunning;

    /** What numbers are taken from. */
    enum Source {
        UIDS {
            @Override
            long take(long handle) {
                return Native.takeUid(handle);
            }

            @Override
            void fill(long handle, long[] array) {
                Native.fillUids(handle, array);
            }

            @Override
            long claim(long handle, int count, long[] claimed) {
                return Native.claimUids(handle, count, claimed);
            }

            @Override
            ByteBuffer claimsEnd(long handle) {
                return Native.uidClaimsEnd(handle);
            }

            /** Ids are plenty. */
            @Override
            void giveBack(long handle, long used) {}

            @Override
            long tryTake(long handle) {
                return Native.tryTakeUid(handle);
            }

            @Override
            int tryFill(long handle, long[] array, int from) {
                return Native.tryFillUids(handle, array, from);
            }

            @Override
            long begin(long handle, long wait) {
                return Native.beginUid(handle, wait);
            }
        },
        NUMBERS {
            @Override
            long take(long handle) {
                return Native.takeNumber(handle);
            }

            @Override
            void fill(long handle, long[] array) {
                Native.fillNumbers(handle, array);
            }

            @Override
            long claim(long handle, int count, long[] claimed) {
                return Native.claimNumbers(handle, count, claimed);
            }

            @Override
            ByteBuffer claimsEnd(long handle) {
                return Native.tagClaimsEnd(handle);
            }

            @Override
            void giveBack(long handle, long used) {
                Native.giveBackNumbers(handle, used);
            }

            @Override
            long tryTake(long handle) {
                return Native.tryTakeNumber(handle);
            }

            @Override
            int tryFill(long handle, long[] array, int from) {
                return Native.tryFillNumbers(handle, array, from);
            }

            @Override
            long begin(long handle, long wait) {
                return Native.beginNumber(handle, wait);
            }
        };

        abstract long take(long handle);

        abstract void fill(long handle, long[] array);

        abstract long claim(long handle, int count, long[] claimed);

        abstract ByteBuffer claimsEnd(long handle);

        abstract void giveBack(long handle, long used);

        abstract long tryTake(long handle);

        abstract int tryFill(long handle, long[] array, int from);

        abstract long begin(long handle, long wait);
    }

    private final Source source;
    private final long handle;

    /** How many virtual threads wait for numbers of this source. */
    private final AtomicInteger inLine = new AtomicInteger();

    Waits(Source source, long handle) {
        this.source = source;
        this.handle = handle;
    }

    /** Whether this thread is virtual. */
    static boolean isVirtual() {
        try {
            return (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Makes a call that asks a store, so that a virtual thread leaves its carrier meanwhile. */
    static <T> T apart(Supplier<T> call) {
        if (!isVirtual()) {
            return call.get();
        }
        FutureTask<T> task = new FutureTask<>(call::get);
        try {
            CALLS.execute(task);
        } catch (OutOfMemoryError error) {
            // There can be no more threads.
            return call.get();
        }
        try {
            return uninterrupted(task::get);
        } catch (ExecutionException failed) {
            Throwable problem = failed.getCause();
            // That of this thread, which says more.
            problem.fillInStackTrace();
            if (problem instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) problem;
        }
    }

    /** The same for a call that returns nothing. */
    static void apart(Runnable call) {
        apart(() -> {
            call.run();
            return null;
        });
    }

    /** A number if there is one now, or 0. */
    long tryTake() {
        // Otherwise it would be ahead of those that wait.
        return inLine.get() == 0 ? source.tryTake(handle) : 0;
    }

    /** Takes a number, now or later, and does {@code ended} afterwards. */
    CompletableFuture<Long> takeAsync(Runnable ended) {
        long wait = NEXT.incrementAndGet();
        inLine.incrementAndGet();
        Pending pending = new Pending(() -> {
            WAITING.remove(wait);
            inLine.decrementAndGet();
            ended.run();
        });
        WAITING.put(wait, pending);
        pending.begin(() -> source.begin(handle, wait));
        if (!pending.isDone() && !needWaker()) {
            pending.cancel(false);
            throw new OutOfMemoryError("there can be no thread that tells who has waited");
        }
        return pending;
    }

    /** A number that nobody waits for in a thread. */
    private static final class Pending extends CompletableFuture<Long> implements Runnable {
        private final Runnable ended;

        /** Held while the library is asked, so that nothing is asked of what is freed. */
        private final ReentrantLock lock = new ReentrantLock();

        /** The handle of the wait; 0 before it, and after its end. Under the lock. */
        private long waiting;

        Pending(Runnable ended) {
            this.ended = ended;
        }

        void begin(LongSupplier begin) {
            lock.lock();
            try {
                long begun = begin.getAsLong();
                if (begun > 0) {
                    ended.run();
                    super.complete(begun);
                } else {
                    waiting = -begun;
                }
            } catch (UidringException error) {
                ended.run();
                super.completeExceptionally(error);
            } finally {
                lock.unlock();
            }
        }

        /** It was woken, or somebody looks whether it has its number. */
        @Override
        public void run() {
            lock.lock();
            try {
                if (waiting == 0) {
                    return;
                }
                long number = Native.poll(waiting);
                if (number != 0) {
                    end();
                    // What the program does next is not done by the thread that wakes others.
                    completeAsync(() -> number);
                }
            } catch (UidringException error) {
                end();
                ForkJoinPool.commonPool().execute(() -> super.completeExceptionally(error));
            } finally {
                lock.unlock();
            }
        }

        /** Gives the number that was meant for it to the next in line. */
        @Override
        public boolean cancel(boolean mayInterrupt) {
            lock.lock();
            try {
                if (waiting == 0) {
                    return false;
                }
                end();
            } finally {
                lock.unlock();
            }
            return super.cancel(mayInterrupt);
        }

        private void end() {
            Native.free(waiting);
            waiting = 0;
            ended.run();
        }
    }

    /** Takes a number. An interrupt does not end the wait. */
    long take() {
        long now = tryTake();
        if (now != 0) {
            return now;
        }
        long wait = NEXT.incrementAndGet();
        inLine.incrementAndGet();
        Thread waiter = Thread.currentThread();
        WAITING.put(wait, () -> LockSupport.unpark(waiter));
        try {
            long begun = source.begin(handle, wait);
            return begun > 0 ? begun : await(-begun);
        } finally {
            WAITING.remove(wait);
            inLine.decrementAndGet();
        }
    }

    private long await(long waiting) {
        try {
            needWaker();
            return uninterrupted(() -> {
                long number = 0;
                while (number == 0) {
                    LockSupport.parkNanos(this, LONGEST_NS);
                    number = Native.poll(waiting);
                    if (number == 0 && Thread.interrupted()) {
                        throw new InterruptedException();
                    }
                }
                return number;
            });
        } finally {
            Native.free(waiting);
        }
    }

    /** A wait that begins again after an interrupt, which the thread finds afterwards. */
    private interface Wait<T, E extends Exception> {
        T get() throws InterruptedException, E;
    }

    private static <T, E extends Exception> T uninterrupted(Wait<T, E> wait) throws E {
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return wait.get();
                } catch (InterruptedException interrupt) {
                    isInterrupted = true;
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Fills an array from an element on. After a few numbers, those that wait have their turn. */
    void fill(long[] array, int from) {
        int filled = from;
        try {
            while (filled < array.length) {
                array[filled] = take();
                filled++;
                filled += source.tryFill(handle, array, filled);
            }
        } catch (UidringException error) {
            error.setFilled(filled);
            throw error;
        }
    }

    /** Whether there is a thread that wakes others. */
    private static boolean needWaker() {
        if (isWakerRunning) {
            return true;
        }
        WAKER.lock();
        try {
            if (!isWakerRunning) {
                isWakerRunning = true;
                Events.newThread(Waits::wakeOthers, "uidring-waits").start();
            }
            return true;
        } catch (OutOfMemoryError error) {
            // There can be no more threads. Those that wait look for their numbers now and then.
            isWakerRunning = false;
            return false;
        } finally {
            WAKER.unlock();
        }
    }

    private static void wakeOthers() {
        try {
            do {
                long wait;
                while ((wait = Native.waitForWoken(IDLE_MS)) != 0) {
                    Runnable woken = WAITING.get(wait);
                    // Null if it has its number.
                    if (woken != null) {
                        woken.run();
                    }
                }
                // As those that wait in threads do by themselves.
                WAITING.values().forEach(Runnable::run);
            } while (isWakerNeeded());
        } catch (Throwable problem) {
            isWakerRunning = false;
            throw problem;
        }
    }

    private static boolean isWakerNeeded() {
        WAKER.lock();
        try {
            // Before it looks: a thread that begins to wait now sees this, or is seen.
            isWakerRunning = false;
            isWakerRunning = !WAITING.isEmpty();
            return isWakerRunning;
        } finally {
            WAKER.unlock();
        }
    }

    private static ThreadPoolExecutor calls() {
        ThreadPoolExecutor calls = new ThreadPoolExecutor(MOST_CALLS, MOST_CALLS, IDLE_MS,
                TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(),
                call -> Events.newThread(call, "uidring-calls"));
        calls.allowCoreThreadTimeOut(true);
        return calls;
    }

    private static MethodHandle isVirtualMethod() {
        MethodType type = MethodType.methodType(boolean.class);
        try {
            return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual", type);
        } catch (ReflectiveOperationException old) {
            MethodHandle no = MethodHandles.constant(boolean.class, false);
            return MethodHandles.dropArguments(no, 0, Thread.class);
        }
    }
}
