package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Takes that wait in no thread, and those that do not wait. */
final class TakesWithoutWaitingTest {
    @TempDir Path folder;

    /** 64 ids in each 200 ms, and none ahead. */
    private static UidGenerator slow(String limit) {
        return UidGenerator.fixed(1, "layout=34,20,6", "tick=200ms", limit);
    }

    private static List<Long> takeAll(UidGenerator uids) {
        List<Long> taken = new ArrayList<>();
        long begun = System.nanoTime();
        OptionalLong id;
        while ((id = uids.tryTake()).isPresent()) {
            taken.add(id.getAsLong());
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun);
            assertTrue(seconds < 30, "a try waits for the next tick");
        }
        return taken;
    }

    @Test
    void aTryEndsAtOnceWhereATakeWaits() {
        for (String limit : List.of("exact_time=true", "max_lead=0s")) {
            try (UidGenerator uids = slow(limit)) {
                long begun = System.nanoTime();
                List<Long> taken = takeAll(uids);
                long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
                assertTrue(!taken.isEmpty(), limit);
                // One that waits for each would take as long as the ticks that it waits for.
                assertTrue(taken.size() <= 64 * (2 + ms / 200), taken.size() + " in " + ms + " ms");
                taken.add(uids.take());
                long[] ids = taken.stream().mapToLong(Long::longValue).toArray();
                Support.assertAscending(ids);
            }
        }
    }

    @Test
    void manyWaitInNoThreadAndEachGetsAnId() throws Exception {
        for (String limit : List.of("exact_time=true", "max_lead=0s")) {
            UidGenerator uids = slow(limit);
            int handles = NativeForTests.handles();
            int threads = Thread.activeCount();
            List<CompletableFuture<Long>> waiting = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                waiting.add(uids.takeAsync().toCompletableFuture());
            }
            assertTrue(waiting.stream().anyMatch(take -> !take.isDone()), limit);
            assertTrue(Thread.activeCount() < threads + 20, "threads wait");
            long[] ids = new long[500];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = waiting.get(i).get(60, TimeUnit.SECONDS);
            }
            // In the order in which they came.
            Support.assertAscending(ids);
            assertEquals(handles, NativeForTests.handles(), "what waited is freed");
            // Claims go on: ids that are there cost no call of their own.
            assertTrue(uids.take() > ids[499]);
            uids.close();
        }
    }

    @Test
    void oneThatIsCancelledLosesNoIdAndHoldsUpNobody() throws Exception {
        try (UidGenerator uids = slow("exact_time=true")) {
            int handles = NativeForTests.handles();
            List<Long> first = takeAll(uids);
            List<CompletableFuture<Long>> waiting = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                waiting.add(uids.takeAsync().toCompletableFuture());
            }
            for (int i = 0; i < 100; i += 2) {
                waiting.get(i).cancel(true);
            }
            long[] ids = new long[50];
            for (int i = 0; i < 50; i++) {
                ids[i] = waiting.get(2 * i + 1).get(60, TimeUnit.SECONDS);
            }
            Support.assertDistinct(List.of(ids,
                    first.stream().mapToLong(Long::longValue).toArray()));
            CompletableFuture<Long> last = waiting.get(98);
            if (last.isCancelled()) {
                assertThrows(CancellationException.class, last::join);
            }
            assertFalse(waiting.get(99).cancel(true), "it has its id");
            assertEquals(handles, NativeForTests.handles(), "what waited is freed");
        }
    }

    @Test
    void aCloseEndsThoseThatWait() throws Exception {
        UidGenerator uids = UidGenerator.fixed(1, "layout=37,20,6", "tick=1s", "exact_time=true");
        takeAll(uids);
        List<CompletableFuture<Long>> waiting = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            waiting.add(uids.takeAsync().toCompletableFuture());
        }
        uids.close();
        ExecutionException closed = assertThrows(ExecutionException.class,
                () -> waiting.get(299).get(60, TimeUnit.SECONDS));
        assertEquals(ClosedException.class, closed.getCause().getClass());
    }

    @Test
    void numbersOfATagAreTakenSo() throws Exception {
        String file = folder.resolve("uidring.db").toString();
        try (Segments segments = Segments.open(file, "max_wait=1h", "ahead=0s", "refresh=0s")) {
            // Each load gives one number.
            SegmentTag tag = segments.create("orders", "step=1", "max_step=1");
            List<CompletableFuture<Long>> waiting = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                waiting.add(tag.takeAsync().toCompletableFuture());
            }
            long[] numbers = new long[50];
            for (int i = 0; i < 50; i++) {
                numbers[i] = waiting.get(i).get(60, TimeUnit.SECONDS);
            }
            Support.assertDistinct(List.of(numbers));
            assertTrue(Arrays.stream(numbers).max().getAsLong() >= 50);
            long tried = 0;
            while (tried == 0) {
                tried = tag.tryTake().orElse(0);
            }
            assertTrue(tried > 50, "it is " + tried);
        }
    }

    /** A thousand that wait for ids, and others that have nothing to do with them. */
    @Test
    void othersGoOnWhileAThousandVirtualThreadsWait() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "Java has virtual threads from 21 on");
        // They share 640 or 8,192 ids a second.
        for (String[] options : new String[][] {
            {"layout=35,20,6", "tick=100ms", "exact_time=true"},
            {"exact_time=true"},
        }) {
            long ms = longestOfOthers(options);
            String said = String.join(" ", options) + ": another waited for " + ms + " ms";
            assertTrue(ms < 2_000, said);
        }
    }

    private static long longestOfOthers(String... options) throws Exception {
        AtomicBoolean ends = new AtomicBoolean();
        AtomicLong longest = new AtomicLong();
        try (UidGenerator uids = UidGenerator.fixed(1, options)) {
            List<Thread> takers = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                takers.add(VirtualThreadsTest.start(() -> {
                    while (!ends.get()) {
                        uids.take();
                    }
                }));
            }
            for (int i = 0; i < 50; i++) {
                long begun = System.nanoTime();
                CountDownLatch answered = new CountDownLatch(1);
                VirtualThreadsTest.start(answered::countDown);
                assertTrue(answered.await(30, TimeUnit.SECONDS), "another waits");
                longest.accumulateAndGet(System.nanoTime() - begun, Math::max);
                Thread.sleep(20);
            }
            ends.set(true);
            for (Thread taker : takers) {
                taker.join(60_000);
            }
        }
        return TimeUnit.NANOSECONDS.toMillis(longest.get());
    }
}
