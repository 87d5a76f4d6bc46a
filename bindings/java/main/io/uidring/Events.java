package io.uidring;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Tells the log {@code io.uidring}, and those that listen, what operators should know.
 *
 * <p>The native library keeps events in a queue. A thread takes them out, in rounds, so that
 * neither the library nor a take ever waits for a log. It ends with the last object that is open,
 * because a thread that runs would hold the class loader of this class. A close waits until a round
 * has told all that was there. If there can be no thread, the close itself does a round, and is as
 * slow as the handlers.
 */
final class Events {
    private static final System.Logger LOG = System.getLogger("io.uidring");

    /** How long a close waits for the log, whose handlers may be stuck. */
    private static final long PATIENCE = TimeUnit.SECONDS.toMillis(5);

    /** Held during a round, as a thread that ends and the next one could tell at the same time. */
    private static final ReentrantLock ROUND = new ReentrantLock();

    // The monitor of the class guards these.
    private static int users;
    private static boolean isRunning;
    private static int threads;
    private static long begun;
    private static long finished;

    /** Those that listen, and whether each does so in place of the log. */
    private static final Map<EventListener.Registration, Listening> LISTENING =
            Collections.synchronizedMap(new LinkedHashMap<>());

    private record Listening(EventListener listener, boolean isInPlaceOfLog) {}

    private Events() {}

    static EventListener.Registration listen(EventListener listener, boolean isInPlaceOfLog) {
        EventListener.Registration registration = new EventListener.Registration() {
            @Override
            public void close() {
                LISTENING.remove(this);
            }
        };
        LISTENING.put(registration, new Listening(listener, isInPlaceOfLog));
        return registration;
    }

    /** Opens something, and logs what happens meanwhile as well. */
    static <T> T opening(Supplier<T> open) {
        NativeLibrary.load();
        return Waits.apart(() -> {
            begin();
            JavaLogging.look();
            try {
                return open.get();
            } finally {
                end();
            }
        });
    }

    /** Has events told until there is an {@link #end} for each begin. */
    static synchronized void begin() {
        if (!isRunning) {
            start();
        }
        // After all that can fail. The thread looks at it only when this method has returned.
        users++;
    }

    private static void start() {
        Native.listen();
        Thread thread = newThread(Events::run, "uidring-events");
        try {
            thread.start();
            isRunning = true;
            threads++;
        } catch (OutOfMemoryError error) {
            // There can be no more threads. A close tells what has happened.
        }
    }

    /**
     * A thread with nothing of the one that makes it, which may be of a program in a container: no
     * values of its own, and no access rights, which hold the class loaders of its callers.
     */
    @SuppressWarnings("removal") // from Java 17 on, with nothing in its place
    static Thread newThread(Runnable body, String name) {
        PrivilegedAction<Thread> make = () -> new Thread(null, body, name, 0, false);
        Thread thread = AccessController.doPrivileged(make);
        thread.setContextClassLoader(null);
        thread.setDaemon(true);
        return thread;
    }

    static synchronized void end() {
        users--;
        if (users == 0) {
            Native.wake();
        }
    }

    private static void run() {
        try {
            boolean isNeeded;
            do {
                Native.waitForEvent();
                isNeeded = isNeeded();
                // After that, so that what comes before the end is told.
                tell();
            } while (isNeeded);
        } finally {
            ended();
        }
    }

    private static synchronized boolean isNeeded() {
        isRunning = users > 0;
        return isRunning;
    }

    private static synchronized void ended() {
        threads--;
        // Otherwise no other one would be started after one that has failed.
        isRunning = isRunning && threads > 0;
        Events.class.notifyAll();
    }

    /** Waits until all is told that has happened, though not for ever. */
    static void flush() {
        if (ROUND.isHeldByCurrentThread()) {
            // A handler closes something.
            return;
        }
        boolean isInterrupted = Thread.interrupted();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE);
        boolean isAlone;
        synchronized (Events.class) {
            Native.wake();
            // The first round that begins from now on.
            long round = begun + 1;
            long left = PATIENCE;
            while (finished < round && threads > 0 && left > 0) {
                try {
                    Events.class.wait(left);
                } catch (InterruptedException interrupt) {
                    isInterrupted = true;
                }
                left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            }
            isAlone = threads == 0;
        }
        if (isAlone) {
            isInterrupted |= tellUntil(end);
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * A round, unless another thread, whose handlers may be stuck, is still in one at this time.
     * Returns whether this thread was interrupted.
     */
    private static boolean tellUntil(long end) {
        boolean isInterrupted = false;
        while (true) {
            try {
                if (ROUND.tryLock(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    try {
                        tell();
                    } finally {
                        ROUND.unlock();
                    }
                }
                return isInterrupted;
            } catch (InterruptedException interrupt) {
                isInterrupted = true;
            }
        }
    }

    /** A round: tells what there is. */
    private static void tell() {
        ROUND.lock();
        try {
            long round;
            synchronized (Events.class) {
                round = ++begun;
            }
            String[] event;
            while ((event = take()) != null) {
                tell(event);
            }
            synchronized (Events.class) {
                finished = round;
                Events.class.notifyAll();
            }
        } finally {
            ROUND.unlock();
        }
    }

    /** The next event. If it cannot be read, as there is no memory for it, the round ends. */
    private static String[] take() {
        try {
            return Native.takeEvent();
        } catch (Throwable problem) {
            report(problem);
            return null;
        }
    }

    private static void tell(String[] event) {
        List<Listening> all;
        synchronized (LISTENING) {
            all = List.copyOf(LISTENING.values());
        }
        if (all.stream().noneMatch(Listening::isInPlaceOfLog)) {
            log(event[0], event[1]);
        }
        for (Listening one : all) {
            try {
                one.listener.on(Event.of(event));
            } catch (Throwable problem) {
                report(problem);
            }
        }
    }

    private static void log(String level, String text) {
        try {
            System.Logger.Level of = System.Logger.Level.valueOf(level);
            LOG.log(of, () -> text);
            JavaLogging.logged(of, text);
        } catch (Throwable problem) {
            report(problem);
        }
    }

    /** What is thrown, as by a handler of the program, ends neither the log nor a close. */
    private static void report(Throwable problem) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, problem);
        } catch (Throwable ignored) {
            // As Java ignores it.
        }
    }
}
