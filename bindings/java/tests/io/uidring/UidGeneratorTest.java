package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class UidGeneratorTest {
    @TempDir Path folder;

    private String file() {
        return folder.resolve("uidring.db").toString();
    }

    @Test
    void idsAscendAndSayWhenAndByWhomTheyWereMade() {
        try (UidGenerator uids = UidGenerator.open(file())) {
            long first = uids.take();
            long second = uids.take();
            assertTrue(0 < first && first < second, first + ", " + second);
            UidGenerator.Parts parts = uids.parts(first);
            assertEquals(uids.workerId(), parts.worker());
            Duration age = Duration.between(parts.time(), Instant.now());
            assertTrue(age.abs().toMinutes() < 10, "its time is " + parts.time());
            assertEquals(parts.sequence() + 1, uids.parts(second).sequence());
        }
    }

    @Test
    void eachStartHasAWorkerIdOfItsOwn() {
        try (UidGenerator one = UidGenerator.open(file());
                UidGenerator other = UidGenerator.open(file())) {
            assertEquals(one.workerId() + 1, other.workerId());
        }
    }

    @Test
    void optionsComeAsTextsAndAsAMap() {
        String layout = "layout=31,20,12 tick=1000ms epoch=2025-06-01T00:00:00Z";
        try (UidGenerator uids = UidGenerator.open(
                file(), "layout=31,20,12", "epoch=2025-06-01", "lease=10m")) {
            assertEquals(layout, uids.layout());
            assertTrue(uids.status().json().contains("\"expires_at\":\"2"), uids.status().json());
            assertTrue(uids.toString().contains("layout=31,20,12"), uids.toString());
        }
        // The file remembers its layout.
        try (UidGenerator uids = UidGenerator.open(file(), Map.of("max_lead", "1h"))) {
            assertEquals(layout, uids.layout());
        }
        try (UidGenerator uids = UidGenerator.fixed(7, Map.of("layout", "31,20,12"))) {
            assertEquals(7, uids.workerId());
            assertEquals(7, uids.parts(uids.take()).worker());
        }
    }

    @Test
    void anArrayIsFilledWhole() {
        try (UidGenerator uids = UidGenerator.open(file())) {
            long before = uids.take();
            for (int length : new int[] {0, 1, 4, 5, 16, 17, 512, 513, 20_000}) {
                long[] array = new long[length];
                uids.fill(array);
                Support.assertAscending(array);
                if (length > 0) {
                    assertTrue(before < array[0]);
                    before = array[length - 1];
                }
                assertEquals(length, uids.takeMany(length).length);
            }
        }
    }

    @Test
    void threadsGetDifferentIds() throws Exception {
        try (UidGenerator uids = UidGenerator.open(file())) {
            List<long[]> taken = Support.inThreads(8, () -> {
                long[] mine = new long[40_000];
                for (int i = 0; i < 20_000; i++) {
                    mine[i] = uids.take();
                }
                long[] many = uids.takeMany(20_000);
                System.arraycopy(many, 0, mine, 20_000, many.length);
                Support.assertAscending(mine);
                return mine;
            });
            Support.assertDistinct(taken);
        }
    }

    @Test
    void aCloseEndsTheTakesOfOtherThreads() throws Exception {
        List<long[]> all = new ArrayList<>();
        for (int round = 0; round < 20; round++) {
            UidGenerator uids = UidGenerator.open(file());
            CountDownLatch taking = new CountDownLatch(4);
            ExecutorService executor = Executors.newFixedThreadPool(4);
            List<Future<long[]>> takers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                boolean inArrays = i % 2 == 0;
                takers.add(executor.submit(() -> takeUntilClosed(uids, inArrays, taking)));
            }
            taking.await();
            uids.close();
            for (Future<long[]> taker : takers) {
                all.add(taker.get());
            }
            executor.shutdown();
            assertThrows(ClosedException.class, uids::take);
            // The others answer on.
            assertTrue(uids.status().json().startsWith("{"));
            assertTrue(uids.layout().startsWith("layout="));
        }
        Support.assertDistinct(all);
    }

    private static long[] takeUntilClosed(
            UidGenerator uids, boolean inArrays, CountDownLatch taking) {
        long[] taken = new long[50_000];
        int count = 0;
        try {
            while (count < taken.length - 700) {
                if (inArrays) {
                    long[] array = new long[700];
                    try {
                        uids.fill(array);
                    } catch (ClosedException closed) {
                        System.arraycopy(array, 0, taken, count, closed.filled());
                        count += closed.filled();
                        throw closed;
                    }
                    System.arraycopy(array, 0, taken, count, array.length);
                    count += array.length;
                } else {
                    taken[count] = uids.take();
                    count++;
                }
                if (count >= 1_000) {
                    taking.countDown();
                }
            }
            // There is no room for more, but the close has to find it taking.
            while (true) {
                uids.parts(uids.take());
            }
        } catch (ClosedException closed) {
            assertTrue(closed.getMessage().contains("was closed"), closed.getMessage());
        }
        return Arrays.copyOf(taken, count);
    }

    @Test
    void aSecondCloseSucceeds() {
        UidGenerator uids = UidGenerator.open(file(), "lease=10m");
        uids.close();
        uids.close();
        ClosedException closed = assertThrows(ClosedException.class, () -> uids.takeMany(3));
        assertEquals(0, closed.filled());
    }

    @Test
    void aLeaseIsGivenBackByAClose() {
        long worker;
        try (UidGenerator uids = UidGenerator.open(file(), "lease=10m")) {
            worker = uids.workerId();
        }
        try (UidGenerator uids = UidGenerator.open(file(), "lease=10m")) {
            assertEquals(worker, uids.workerId());
        }
    }

    @Test
    void anInterruptDoesNotEndATakeAndIsKept() {
        try (UidGenerator uids = UidGenerator.open(file())) {
            Thread.currentThread().interrupt();
            assertTrue(uids.take() > 0);
            assertTrue(Thread.interrupted(), "the flag is as it was");
        }
    }

    @Test
    void aStateFileKeepsTheTimesOfAWorkerId() {
        Path state = folder.resolve("uidring.state");
        long[] first;
        try (UidGenerator uids = UidGenerator.fixed(3, "state=" + state)) {
            // More than a second has.
            first = uids.takeMany(30_000);
        }
        assertTrue(Files.exists(state));
        try (UidGenerator uids = UidGenerator.fixed(3, "state=" + state)) {
            assertTrue(uids.take() > first[first.length - 1]);
        }
    }

    @Test
    void aThousandGeneratorsMayBeOpenAndAreFreed() throws Exception {
        long before = Support.nativeThreads();
        List<UidGenerator> generators = new ArrayList<>();
        long[] taken = new long[1_000];
        for (int i = 0; i < taken.length; i++) {
            generators.add(UidGenerator.fixed(i));
            taken[i] = generators.get(i).take();
        }
        Support.assertDistinct(List.of(taken));
        // Those of other tests may have ended meanwhile.
        assertTrue(Support.nativeThreads() >= 1_000);
        for (UidGenerator uids : generators.subList(0, 500)) {
            uids.close();
        }
        // The other half is not closed. Nothing holds any of them from here on.
        generators.clear();
        Support.collectUntil("their threads have ended", () -> Support.nativeThreads() <= before);
    }

    @Test
    void whatWasClosedIsFreedAtALaterOpen() throws Exception {
        // What other tests have left may be freed at any time.
        Support.collectUntil("others are gone", () -> {
            UidGenerator.fixed(1).close();
            return NativeForTests.handles() < 10;
        });
        for (int i = 0; i < 100; i++) {
            UidGenerator.fixed(i).close();
        }
        Support.collectUntil("they are freed", () -> {
            UidGenerator.fixed(1).close();
            return NativeForTests.handles() < 10;
        });
    }

    /** Virtual threads are there from Java 21 on, and this is compiled for 17. */
    @Test
    void virtualThreadsTake() throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() >= 21);
        ExecutorService executor = (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        try (UidGenerator uids = UidGenerator.open(file())) {
            List<Future<long[]>> takers = new ArrayList<>();
            for (int i = 0; i < 2_000; i++) {
                takers.add(executor.submit(() -> new long[] {uids.take(), uids.take()}));
            }
            List<long[]> taken = new ArrayList<>();
            for (Future<long[]> taker : takers) {
                taken.add(taker.get());
            }
            Support.assertDistinct(taken);
        } finally {
            executor.shutdown();
        }
    }
}
