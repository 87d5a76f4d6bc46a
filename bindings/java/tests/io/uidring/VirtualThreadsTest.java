package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That virtual threads leave their carriers while they wait. */
final class VirtualThreadsTest {
    /** More than there are carriers. */
    private static final int MANY = 4 * Runtime.getRuntime().availableProcessors();

    @TempDir Path folder;

    @BeforeAll
    static void javaHasThem() {
        assumeTrue(Runtime.version().feature() >= 21, "Java has virtual threads from 21 on");
    }

    static Thread start(Runnable body) {
        try {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, body);
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }

    /** Runs other virtual threads, which find no carrier if all are kept. */
    private static void assertOthersRun(String what) throws InterruptedException {
        CountDownLatch others = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) {
            start(others::countDown);
        }
        assertTrue(others.await(30, TimeUnit.SECONDS), others.getCount() + " others wait: " + what);
    }

    /** A call that waits until the object is closed. */
    private interface Waiting {
        void call();
    }

    private static void assertLeavesCarriers(
            String what, Waiting waiting, AutoCloseable closed) throws Exception {
        AtomicInteger ended = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(MANY);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            threads.add(start(() -> {
                begun.countDown();
                try {
                    while (true) {
                        waiting.call();
                    }
                } catch (ClosedException closing) {
                    ended.incrementAndGet();
                }
            }));
        }
        assertTrue(begun.await(30, TimeUnit.SECONDS), begun.getCount() + " wait to begin: " + what);
        assertOthersRun(what);
        assertEquals(0, ended.get(), what);
        closed.close();
        for (Thread thread : threads) {
            thread.join(30_000);
        }
        assertEquals(MANY, ended.get(), what);
    }

    /** 64 ids in each 20 ms, and none ahead. */
    private static UidGenerator slow(String... more) {
        List<String> options = new ArrayList<>(List.of("layout=37,20,6", "tick=20ms"));
        options.addAll(List.of(more));
        return UidGenerator.fixed(1, options.toArray(new String[0]));
    }

    @Test
    void takesThatWaitLeaveTheirCarriers() throws Exception {
        for (String limit : new String[] {"exact_time=true", "max_lead=0s"}) {
            UidGenerator one = slow(limit);
            assertLeavesCarriers("take, " + limit, one::take, one);
            UidGenerator many = slow(limit);
            assertLeavesCarriers("fill, " + limit, () -> many.fill(new long[1_000]), many);
        }
    }

    @Test
    void takesOfATagThatWaitLeaveTheirCarriers() throws Exception {
        String file = folder.resolve("uidring.db").toString();
        // Each load gives one number.
        Segments segments = Segments.open(file, "max_wait=1h", "ahead=0s", "refresh=0s");
        SegmentTag tag = segments.create("orders", "step=1", "max_step=1");
        assertLeavesCarriers("take", tag::take, segments);
        Segments others = Segments.open(file, "max_wait=1h", "ahead=0s", "refresh=0s");
        SegmentTag other = others.tag("orders");
        assertLeavesCarriers("fill", () -> other.fill(new long[100]), others);
    }

    /** The server accepts, and says nothing. */
    @Test
    void callsThatAskAStoreLeaveTheirCarriers() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 200, InetAddress.getLoopbackAddress())) {
            String address = "mysql://ids@127.0.0.1:" + silent.getLocalPort() + "/ids";
            Segments segments = Segments.open(address, "timeout=20s");
            Series series = Series.open(address, "timeout=20s");
            Map<String, Runnable> calls = new LinkedHashMap<>();
            calls.put("open", () -> UidGenerator.open(address, "timeout=20s"));
            calls.put("lend", () -> WorkerId.lend(address, "shop", 4, "timeout=20s"));
            calls.put("tag", () -> segments.tag("orders"));
            calls.put("create", () -> segments.create("orders"));
            calls.put("next", () -> series.next("orders"));
            calls.put("nextMany", () -> series.nextMany("orders", 3, null, null));
            calls.put("parse", () -> series.parse("orders", "1"));
            for (Map.Entry<String, Runnable> call : calls.entrySet()) {
                AtomicInteger ended = new AtomicInteger();
                CountDownLatch begun = new CountDownLatch(MANY);
                for (int i = 0; i < MANY; i++) {
                    start(() -> {
                        begun.countDown();
                        try {
                            call.getValue().run();
                        } catch (UidringException away) {
                            // As it should be.
                        }
                        ended.incrementAndGet();
                    });
                }
                assertTrue(begun.await(30, TimeUnit.SECONDS), call.getKey());
                assertOthersRun(call.getKey());
                assertEquals(0, ended.get(), call.getKey());
            }
        }
    }

    @Test
    void noIdComesTwiceAndThoseOfAThreadAscend() throws Exception {
        try (UidGenerator uids = slow("exact_time=true")) {
            ConcurrentLinkedQueue<long[]> all = new ConcurrentLinkedQueue<>();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                int kind = i % 4;
                Runnable take = () -> {
                    long[] taken = new long[50];
                    if (kind == 0) {
                        uids.fill(taken);
                    } else if (kind == 1) {
                        taken = uids.takeMany(50);
                    } else {
                        Arrays.setAll(taken, index -> uids.take());
                    }
                    all.add(taken);
                };
                // Threads of both kinds wait beside each other.
                Thread thread = kind == 3 ? new Thread(take) : start(take);
                if (kind == 3) {
                    thread.start();
                }
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(40, all.size());
            all.forEach(Support::assertAscending);
            Support.assertDistinct(List.copyOf(all));
        }
    }

    @Test
    void anInterruptEndsNoWaitAndStays() throws Exception {
        try (UidGenerator uids = slow("exact_time=true")) {
            AtomicInteger stayed = new AtomicInteger();
            Thread taker = start(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    uids.take();
                }
                for (int i = 0; i < 200; i++) {
                    assertTrue(uids.take() > 0);
                    stayed.addAndGet(Thread.currentThread().isInterrupted() ? 1 : 0);
                }
            });
            taker.interrupt();
            taker.join();
            assertEquals(200, stayed.get());
        }
    }

    @Test
    void whatFailsFailsAsInOtherThreads() throws Exception {
        List<Throwable> thrown = new ArrayList<>();
        UidGenerator uids = slow("max_lead=0s", "on_lead_limit=fail");
        Thread taker = start(() -> {
            long[] array = new long[1_000];
            UnavailableException limit =
                    assertThrows(UnavailableException.class, () -> uids.fill(array));
            int filled = limit.filled();
            if (filled < 1 || filled > 999 || array[filled - 1] == 0 || array[filled] != 0) {
                thrown.add(limit);
            }
            uids.close();
            uids.close();
            try {
                uids.take();
            } catch (ClosedException closed) {
                thrown.add(closed);
            }
            try {
                UidGenerator.open("oracle://db.example.com/ids");
            } catch (InvalidArgumentException wrong) {
                thrown.add(wrong);
            }
        });
        taker.join();
        assertEquals(List.of(ClosedException.class, InvalidArgumentException.class),
                thrown.stream().map(Object::getClass).toList());
        // The stack is that of the caller.
        assertTrue(Arrays.stream(thrown.get(1).getStackTrace())
                .anyMatch(frame -> frame.getClassName().contains("VirtualThreadsTest")));
    }

    @Test
    void nothingIsLeftOfWaits() throws Exception {
        int before = NativeForTests.handles();
        UidGenerator uids = slow("exact_time=true");
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            threads.add(start(() -> uids.fill(new long[200])));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(before + 1, NativeForTests.handles());
        uids.close();
        // Threads that nothing needs end, so that a class loader can go.
        Support.collectUntil("no thread", () -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().matches("uidring-(waits|calls)")));
    }

    /** Each on a thread of the platform, as a further worker id may be needed. */
    @Test
    void idsOfThePastAreTaken() throws Exception {
        Instant time = Instant.parse("2026-05-28T20:26:40Z");
        Queue<Long> taken = new ConcurrentLinkedQueue<>();
        try (PastGenerator past =
                PastGenerator.open(folder.resolve("uidring.db").toString(), "layout=30,20,3")) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                threads.add(start(() -> {
                    taken.add(past.takeAt(time));
                    taken.add(past.takeTimes(List.of(time))[0]);
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertEquals(2 * MANY, Set.copyOf(taken).size());
    }
}
