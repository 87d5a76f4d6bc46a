package io.uidring;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
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

    /** The threads that wait, by the numbers of their waits. */
    private static final Map<Long, Thread> WAITING = new ConcurrentHashMap<>();

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

    /** Takes a number. An interrupt does not end the wait. */
    long take() {
        // Otherwise it would be ahead of those that wait.
        if (inLine.get() == 0) {
            long number = source.tryTake(handle);
            if (number != 0) {
                return number;
            }
        }
        long wait = NEXT.incrementAndGet();
        inLine.incrementAndGet();
        WAITING.put(wait, Thread.currentThread());
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

    private static void needWaker() {
        if (isWakerRunning) {
            return;
        }
        WAKER.lock();
        try {
            if (!isWakerRunning) {
                isWakerRunning = true;
                Events.newThread(Waits::wakeOthers, "uidring-waits").start();
            }
        } catch (OutOfMemoryError error) {
            // There can be no more threads. Waits look for their numbers now and then.
            isWakerRunning = false;
        } finally {
            WAKER.unlock();
        }
    }

    private static void wakeOthers() {
        try {
            do {
                long wait;
                while ((wait = Native.waitForWoken(IDLE_MS)) != 0) {
                    // Null if it has its number.
                    LockSupport.unpark(WAITING.get(wait));
                }
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
