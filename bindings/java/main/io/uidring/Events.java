package io.uidring;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Tells the log {@code io.uidring} what operators should know.
 *
 * <p>The native library keeps events in a queue. A thread takes them out, so that neither the
 * library nor a take ever waits for a log. It ends with the last object that is open, because a
 * thread that runs would hold the class loader of this class.
 */
final class Events {
    private static final System.Logger LOG = System.getLogger("io.uidring");

    /** How many seconds a close waits for the log, whose handlers may be stuck. */
    private static final int PATIENCE = 5;

    /** Held while events are told, so that they stay in order. */
    private static final ReentrantLock TELLING = new ReentrantLock();

    private static int users;
    private static boolean isRunning;

    private Events() {}

    /** Opens something, and has what happens meanwhile told as well. */
    static <T> T during(Supplier<T> open) {
        begin();
        try {
            return open.get();
        } finally {
            end();
        }
    }

    /** Has events told until there is an {@link #end} for each begin. */
    static synchronized void begin() {
        users++;
        if (isRunning) {
            return;
        }
        Native.listen();
        // With nothing of the thread that happens to be the first.
        Thread thread = new Thread(null, Events::run, "uidring-events", 0, false);
        thread.setContextClassLoader(null);
        thread.setDaemon(true);
        try {
            thread.start();
            isRunning = true;
        } catch (OutOfMemoryError error) {
            // There can be no more threads. A close tells what has happened.
        }
    }

    static synchronized void end() {
        users--;
        if (users == 0) {
            Native.wake();
        }
    }

    private static void run() {
        do {
            Native.waitForEvent();
            tell();
        } while (isNeeded());
    }

    private static synchronized boolean isNeeded() {
        isRunning = users > 0;
        return isRunning;
    }

    /** Tells what there is. */
    static void tell() {
        try {
            if (!TELLING.tryLock(PATIENCE, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            return;
        }
        try {
            String[] event;
            while ((event = Native.takeEvent()) != null) {
                log(event[0], event[1]);
            }
        } finally {
            TELLING.unlock();
        }
    }

    private static void log(String level, String text) {
        try {
            LOG.log(System.Logger.Level.valueOf(level), () -> text);
        } catch (RuntimeException error) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, error);
        }
    }
}
