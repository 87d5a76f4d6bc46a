package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What operators read in the log. */
final class EventsTest {
    private static final Logger LOG = Logger.getLogger("io.uidring");

    @TempDir Path folder;

    private final BlockingQueue<LogRecord> told = new LinkedBlockingQueue<>();
    private final Handler handler = handler(told::add);

    private static Handler handler(Consumer<LogRecord> publish) {
        return new Handler() {
            @Override
            public void publish(LogRecord event) {
                publish.accept(event);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }

    private static Handler stuck(CountDownLatch isStuck, CountDownLatch goesOn) {
        return handler(event -> {
            isStuck.countDown();
            try {
                goesOn.await();
            } catch (InterruptedException interrupt) {
                throw new AssertionError(interrupt);
            }
        });
    }

    private static List<Thread> tellers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("uidring-events"))
                .toList();
    }

    @BeforeEach
    void listen() throws InterruptedException {
        // Generators of other tests.
        Support.collectUntil("nothing is open", () -> tellers().isEmpty());
        LOG.setUseParentHandlers(false);
        LOG.addHandler(handler);
    }

    @AfterEach
    void leave() {
        LOG.removeHandler(handler);
        LOG.setUseParentHandlers(true);
    }

    /** The first event that says this. */
    private LogRecord await(String text) throws InterruptedException {
        while (true) {
            LogRecord event = told.poll(60, TimeUnit.SECONDS);
            assertTrue(event != null, "nobody has said: " + text);
            if (event.getMessage().startsWith(text)) {
                return event;
            }
        }
    }

    @Test
    void whatHappensIsToldInOrder() {
        for (int i = 0; i < 100; i++) {
            UidGenerator.fixed(7).close();
            LogRecord started = told.remove();
            assertEquals(Level.INFO, started.getLevel());
            assertTrue(started.getMessage()
                    .startsWith("started: the generator has started worker=7 "));
            assertEquals("stopped: the generator has stopped worker=7 taken=0",
                    told.remove().getMessage());
        }
    }

    @Test
    void aListenerHearsNamesLevelsAndFields() throws Exception {
        BlockingQueue<Event> heard = new LinkedBlockingQueue<>();
        EventListener.Registration ours = EventListener.add(heard::add);
        try {
            Instant before = Instant.now().truncatedTo(ChronoUnit.MILLIS);
            Path file = folder.resolve("uidring.db");
            UidGenerator uids = UidGenerator.open(file.toString(), "lease=1m");
            uids.take();
            uids.close();
            Event store = heard.remove();
            assertEquals("new_store", store.name());
            assertEquals(System.Logger.Level.WARNING, store.level());
            assertEquals(file.toString(), store.fields().get("store"), store.toString());
            Event started = heard.remove();
            assertEquals("started", started.name());
            assertEquals("the generator has started", started.message());
            assertEquals(System.Logger.Level.INFO, started.level());
            assertEquals(1L, started.fields().get("worker"), started.toString());
            assertEquals(file.toString(), started.fields().get("registry"), started.toString());
            assertFalse(started.time().isBefore(before));
            assertEquals("stopped: the generator has stopped worker=1 taken=1",
                    heard.remove().text());
            assertEquals(0, heard.size());
        } finally {
            ours.close();
        }
        // The log, too; and nobody after a close.
        assertEquals(3, told.size());
        UidGenerator.fixed(7).close();
        assertEquals(0, heard.size());
        assertEquals(5, told.size());
    }

    @Test
    void aListenerMayStandInPlaceOfTheLog() {
        BlockingQueue<Event> heard = new LinkedBlockingQueue<>();
        EventListener.Registration first = EventListener.addInPlaceOfLog(heard::add);
        EventListener.Registration second = EventListener.addInPlaceOfLog(heard::add);
        UidGenerator.fixed(7).close();
        assertEquals(4, heard.size());
        first.close();
        first.close();
        UidGenerator.fixed(7).close();
        assertEquals(6, heard.size());
        assertEquals(0, told.size());
        second.close();
        UidGenerator.fixed(7).close();
        assertEquals(6, heard.size());
        assertEquals(2, told.size());
    }

    @Test
    void whatAListenerThrowsEndsNothing() throws Exception {
        BlockingQueue<Event> heard = new LinkedBlockingQueue<>();
        Thread.UncaughtExceptionHandler usual = Thread.getDefaultUncaughtExceptionHandler();
        BlockingQueue<Throwable> thrown = new LinkedBlockingQueue<>();
        Thread.setDefaultUncaughtExceptionHandler((thread, problem) -> thrown.add(problem));
        EventListener.Registration bad = EventListener.add(event -> {
            throw new IllegalStateException(event.name());
        });
        EventListener.Registration good = EventListener.add(heard::add);
        try {
            UidGenerator.fixed(7).close();
            assertEquals(2, heard.size());
            assertEquals("started", thrown.remove().getMessage());
            assertEquals("stopped", thrown.remove().getMessage());
        } finally {
            bad.close();
            good.close();
            Thread.setDefaultUncaughtExceptionHandler(usual);
        }
        assertEquals(2, told.size());
    }

    @Test
    void aWarningHasItsCause() throws Exception {
        Path file = folder.resolve("uidring.db");
        UidGenerator uids = UidGenerator.open(file.toString(), "lease=1s");
        Files.delete(file);
        Files.createDirectory(file);
        LogRecord warning = await("registry_unreachable: ");
        assertEquals(Level.WARNING, warning.getLevel());
        assertTrue(warning.getMessage().contains("it is a directory"), warning.getMessage());
        assertThrows(UnavailableException.class, uids::close);
        await("not_released: ");
        assertThrows(UnavailableException.class, uids::close, "as the first");
    }

    @Test
    void theThreadEndsWithTheLastThatIsOpen() throws Exception {
        try (UidGenerator uids = UidGenerator.fixed(1)) {
            UidGenerator.fixed(2).close();
            uids.take();
            assertEquals(1, tellers().size());
        }
        for (Thread teller : tellers()) {
            teller.join();
        }
        // One that nobody closes.
        assertTrue(UidGenerator.fixed(3).take() > 0);
        Support.collectUntil("no thread is left", () -> tellers().isEmpty());
        assertThrows(InvalidArgumentException.class, () -> UidGenerator.fixed(-1));
        for (Thread teller : tellers()) {
            teller.join();
        }
    }

    @Test
    void aHandlerThatStandsStillHoldsUpNoTake() throws Exception {
        CountDownLatch isStuck = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        Handler stuck = stuck(isStuck, goesOn);
        LOG.addHandler(stuck);
        try (UidGenerator uids = UidGenerator.fixed(1)) {
            isStuck.await();
            assertEquals(100_000, uids.takeMany(100_000).length);
            assertTrue(UidGenerator.fixed(2).take() > 0);
            goesOn.countDown();
        } finally {
            LOG.removeHandler(stuck);
        }
    }

    @Test
    void aCloseInWhichAHandlerIsStuckHoldsUpNoOther() throws Exception {
        UidGenerator.fixed(1).close();
        for (Thread teller : tellers()) {
            teller.join();
        }
        // As where no thread can be started: an event that is left to a close.
        long handle = Native.fixedUids(2, new String[0]);
        CountDownLatch isStuck = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        Handler stuck = stuck(isStuck, goesOn);
        LOG.addHandler(stuck);
        Thread closing = new Thread(Events::flush);
        try {
            closing.start();
            isStuck.await();
            assertTimeoutPreemptively(Duration.ofSeconds(30), Events::flush);
        } finally {
            LOG.removeHandler(stuck);
            goesOn.countDown();
            closing.join();
            Native.free(handle);
            Events.flush();
        }
    }

    @Test
    void aHandlerThatThrowsEndsNothing() throws Exception {
        Handler throwing = handler(event -> {
            throw new NoClassDefFoundError("thrown by a test");
        });
        try (UidGenerator uids = UidGenerator.fixed(1)) {
            List<Thread> before = tellers();
            LOG.addHandler(throwing);
            try {
                UidGenerator.fixed(2).close();
            } finally {
                LOG.removeHandler(throwing);
            }
            assertTrue(uids.take() > 0);
            // The same thread tells on, and not this one at a close.
            try (UidGenerator others = UidGenerator.fixed(3)) {
                assertTrue(others.take() > 0);
                await("started: the generator has started worker=3");
                assertEquals(before, tellers());
            }
        }
    }

    @Test
    void anEventThatCannotBeReadEndsNothing() throws Exception {
        try (UidGenerator uids = UidGenerator.fixed(1)) {
            await("started: the generator has started worker=1");
            List<Thread> before = tellers();
            CountDownLatch isReported = new CountDownLatch(1);
            before.get(0).setUncaughtExceptionHandler((thread, problem) -> isReported.countDown());
            NativeForTests.failNextEvent();
            try (UidGenerator others = UidGenerator.fixed(2)) {
                assertTrue(isReported.await(60, TimeUnit.SECONDS), "it is told");
                assertTrue(others.take() > 0);
            }
            await("stopped: the generator has stopped worker=2");
            assertTrue(uids.take() > 0);
            assertEquals(before, tellers());
        }
    }

    @Test
    void aCloseThatIsInterruptedHasToldAllAsWell() throws Exception {
        for (int i = 0; i < 100; i++) {
            UidGenerator uids = UidGenerator.fixed(7);
            Thread.currentThread().interrupt();
            uids.close();
            assertTrue(Thread.interrupted());
            assertTrue(told.stream().anyMatch(event -> event.getMessage().startsWith("stopped: ")));
            told.clear();
        }
    }

    @Test
    void aHandlerMayCloseAGenerator() throws Exception {
        Handler closing = handler(event -> {
            if (event.getMessage().contains(" worker=1 ")) {
                UidGenerator.fixed(2).close();
            }
        });
        LOG.addHandler(closing);
        try {
            UidGenerator.fixed(1).close();
        } finally {
            LOG.removeHandler(closing);
        }
        await("stopped: the generator has stopped worker=2");
    }
}
