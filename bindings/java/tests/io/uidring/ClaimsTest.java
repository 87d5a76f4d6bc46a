package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That ids which Java claims keep what the library promises of a take. */
final class ClaimsTest {
    /** So few ids in a tick that takes wait for the next one most of the time. */
    private static final String[] FEW = {"layout=42,10,6", "tick=10ms", "max_lead=0s"};

    @TempDir Path folder;

    private String file() {
        return folder.resolve("uidring.db").toString();
    }

    private interface Taking {
        /** Takes an id, or several in order. */
        long[] take(int turn);
    }

    /** A mixture of all calls, in which arrays are shorter and longer than a claim. */
    private static Taking mixed(LongSupplier one, IntFunction<long[]> many) {
        return turn -> {
            if (turn % 7 > 0) {
                return new long[] {one.getAsLong()};
            }
            return many.apply(turn % 4 == 0 ? 8_000 : turn % 700);
        };
    }

    /** Whichever thread takes, an id is above all that were returned before its call. */
    private static void assertOrdered(int turns, Taking taking) throws Exception {
        AtomicLong largest = new AtomicLong();
        List<long[]> all = Collections.synchronizedList(new ArrayList<>());
        Runnable body = () -> {
            for (int turn = 0; turn < turns; turn++) {
                long before = largest.get();
                long[] taken = taking.take(turn);
                Support.assertAscending(taken);
                if (taken.length > 0) {
                    assertTrue(before < taken[0], taken[0] + " came after " + before);
                    largest.accumulateAndGet(taken[taken.length - 1], Math::max);
                    all.add(taken);
                }
            }
        };
        List<AssertionError> wrong = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Runnable kept = () -> {
                try {
                    body.run();
                } catch (AssertionError error) {
                    wrong.add(error);
                }
            };
            boolean isVirtual = i % 2 == 0 && Runtime.version().feature() >= 21;
            Thread thread = isVirtual ? VirtualThreadsTest.start(kept) : new Thread(kept);
            threads.add(thread);
            if (!isVirtual) {
                thread.start();
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(List.of(), wrong);
        Support.assertDistinct(all);
    }

    @Test
    void takesAreInOrderOverAllThreads() throws Exception {
        try (UidGenerator uids = UidGenerator.fixed(7)) {
            assertOrdered(30_000, turn -> new long[] {uids.take()});
        }
    }

    @Test
    void takesAndArraysAreInOrderOverAllThreads() throws Exception {
        try (UidGenerator uids = UidGenerator.fixed(7)) {
            assertOrdered(2_000, mixed(uids::take, uids::takeMany));
        }
    }

    @Test
    void takesThatWaitAreInOrderOverAllThreads() throws Exception {
        try (UidGenerator uids = UidGenerator.fixed(7, FEW)) {
            assertOrdered(1_000, turn ->
                    turn % 50 == 0 ? uids.takeMany(20) : new long[] {uids.take()});
        }
    }

    @Test
    void numbersOfATagAreInOrderOverAllThreads() throws Exception {
        try (Segments segments = Segments.open(file())) {
            SegmentTag tag = segments.create("orders", "step=50");
            assertOrdered(1_000, mixed(tag::take, tag::takeMany));
        }
    }

    /** What is claimed and not given comes again after a close. */
    @Test
    void aCloseLeavesNoGapInTheNumbersOfATag() {
        long next = 1;
        for (int takes = 0; takes < 300; takes += 13) {
            try (Segments segments = Segments.open(file())) {
                SegmentTag tag = segments.create("invoices");
                for (int i = 0; i < takes; i++) {
                    assertEquals(next++, tag.take());
                }
                for (long number : tag.takeMany(takes % 10)) {
                    assertEquals(next++, number);
                }
            }
        }
    }

    @Test
    void arraysOfAnyLengthFollowOneAnother() {
        try (UidGenerator uids = UidGenerator.fixed(7)) {
            long last = 0;
            for (int length = 0; length < 1_500; length++) {
                long[] uid = uids.takeMany(length);
                Support.assertAscending(uid);
                if (length > 0) {
                    assertTrue(last < uid[0], "an array of " + length);
                    last = uid[length - 1];
                }
            }
            // What was claimed is used before more is claimed.
            assertEquals(last + 1, uids.take());
        }
    }

    @Test
    void anIdThatHasBecomeTooOldIsNotGiven() throws Exception {
        try (UidGenerator uids = UidGenerator.fixed(7, "max_lag=200ms", "tick=100ms")) {
            for (int i = 0; i < 10_000; i++) {
                uids.take();
            }
            Thread.sleep(1_000);
            Instant before = Instant.now();
            Instant time = uids.parts(uids.take()).time();
            // A tick, the lag, and a filler that was late.
            assertTrue(time.isAfter(before.minus(Duration.ofMillis(600))), time + ", " + before);
        }
    }

    @Test
    void nothingOfAClaimIsGivenAfterAClose() {
        UidGenerator uids = UidGenerator.fixed(7);
        // A claim of 128 has 28 left.
        for (int i = 0; i < 227; i++) {
            uids.take();
        }
        uids.close();
        assertThrows(ClosedException.class, uids::take);
        ClosedException error =
                assertThrows(ClosedException.class, () -> uids.fill(new long[10]));
        assertEquals(0, error.filled());
    }

    @Test
    void aCloseEndsAnArrayWithWhatItHas() throws Exception {
        UidGenerator uids = UidGenerator.fixed(7, FEW);
        long[] array = new long[1_000_000];
        Thread closer = new Thread(() -> {
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < 50_000_000) {
                uids.take();
            }
            uids.close();
        });
        closer.start();
        ClosedException error = assertThrows(ClosedException.class, () -> uids.fill(array));
        closer.join();
        long[] filled = Arrays.copyOf(array, error.filled());
        Support.assertAscending(filled);
        assertTrue(filled.length > 0 && filled[0] > 0, filled.length + " ids");
        for (int i = filled.length; i < array.length; i++) {
            assertEquals(0, array[i], "element " + i);
        }
    }

    @Test
    void inExactTimeEachIdIsTakenWhenItIsNeeded() throws Exception {
        try (UidGenerator uids = UidGenerator.fixed(7, "exact_time=true", "tick=100ms")) {
            for (int i = 0; i < 300; i++) {
                uids.take();
            }
            Thread.sleep(250);
            Instant before = Instant.now();
            Instant time = uids.parts(uids.take()).time();
            assertTrue(time.isAfter(before.minus(Duration.ofMillis(101))), time + ", " + before);
        }
    }
}
