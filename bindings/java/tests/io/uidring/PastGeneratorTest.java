package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ids of times that were. */
final class PastGeneratorTest {
    /** After the epoch, with 8 ids for a second and worker id. */
    private static final Instant TIME = Instant.parse("2026-05-28T20:26:40Z");

    @TempDir Path folder;

    private String file() {
        return folder.resolve("uidring.db").toString();
    }

    private PastGenerator open() {
        return PastGenerator.open(
                file(), "layout=30,20,3", "epoch=2026-01-01", "max_new_workers=1");
    }

    @Test
    void anIdHasTheTickOfTheTimeAskedFor() {
        try (PastGenerator past = open(); PastGenerator other = open()) {
            long first = past.takeAt(TIME.plusNanos(999_999_999));
            assertEquals(new UidGenerator.Parts(TIME, 1, 0), past.parts(first));
            assertEquals(new UidGenerator.Parts(TIME, 2, 0), other.parts(other.takeAt(TIME)));
            List<Instant> times = List.of(TIME, TIME.minusSeconds(1), TIME.plusMillis(500));
            long[] uids = past.takeTimes(times);
            assertTrue(uids[1] < first && first < uids[0] && uids[0] < uids[2]);
            assertEquals(TIME.minusSeconds(1), past.parts(uids[1]).time());
            String status = past.status().json();
            assertTrue(status.contains("\"taken\":4,") && status.contains("\"workers\":1}")
                    && status.contains("\"ticks\":2,"), status);
            assertEquals("layout=30,20,3 tick=1000ms epoch=2026-01-01T00:00:00Z", past.layout());
        }
    }

    @Test
    void aFullTickTakesAsManyFurtherWorkerIdsAsAreAllowed() {
        try (PastGenerator past = open()) {
            long[] uids = past.takeTimes(Collections.nCopies(16, TIME));
            Support.assertAscending(uids);
            assertEquals(List.of(1L, 2L),
                    LongStream.of(uids).map(uid -> past.parts(uid).worker()).distinct().boxed()
                            .toList());
            UidringException none =
                    assertThrows(UnavailableException.class, () -> past.takeAt(TIME));
            assertTrue(none.getMessage().contains("as many as max_new_workers allows"),
                    none.getMessage());
            assertEquals(2, past.workerId());
            // Other seconds have some.
            past.takeAt(TIME.plusSeconds(1));
        }
    }

    @Test
    void timesWithoutAnIdAreToldAndTakeNothing() {
        try (PastGenerator past = open()) {
            Instant early = Instant.parse("2025-12-31T23:59:59.999999999Z");
            UidringException refused =
                    assertThrows(InvalidArgumentException.class, () -> past.takeAt(early));
            assertTrue(refused.getMessage().startsWith(
                    "no UID of 2025-12-31T23:59:59.999Z: the layout begins at 2026-01-01T00:00:00Z;"
                            + " choose a layout with an earlier epoch"), refused.getMessage());
            Instant late = Instant.now().plusSeconds(60);
            refused = assertThrows(InvalidArgumentException.class,
                    () -> past.takeTimes(List.of(TIME, late)));
            assertTrue(refused.getMessage().startsWith("time 2: no UID of ")
                    && refused.getMessage().endsWith("and ids of the past are for times that were"),
                    refused.getMessage());
            assertTrue(past.status().json().contains("\"taken\":0,"), past.status().json());
        }
    }

    @Test
    void leasedWorkerIdsAndNumbersOfOnesOwnAreRefusedWithTheWay() {
        for (Map.Entry<String, String> option : Map.of("lease", "10m", "state", "x").entrySet()) {
            UidringException refused = assertThrows(InvalidArgumentException.class,
                    () -> PastGenerator.open(file(), Map.ofEntries(option)));
            assertTrue(refused.getMessage().contains("leave "), refused.getMessage());
        }
        assertFalse(folder.resolve("uidring.db").toFile().exists(), "nothing was done");
    }

    /** Beside a generator of the present, in the second of now as well. */
    @Test
    void noIdComesTwiceInManyThreads() throws Exception {
        Instant now = Instant.now();
        try (UidGenerator uids = UidGenerator.open(file());
                PastGenerator past = PastGenerator.open(file());
                PastGenerator other = PastGenerator.open(file())) {
            List<Instant> times =
                    IntStream.range(0, 500).mapToObj(i -> now.minusSeconds(i % 10)).toList();
            List<long[]> taken = Support.inThreads(4, () -> LongStream.concat(
                    LongStream.of(past.takeTimes(times)),
                    LongStream.concat(times.stream().mapToLong(other::takeAt),
                            LongStream.of(uids.takeMany(500)))).toArray());
            Support.assertDistinct(taken);
        }
    }

    @Test
    void aCloseMayComeWhileOthersTake() throws Exception {
        for (int round = 0; round < 10; round++) {
            PastGenerator past = PastGenerator.open(file());
            Thread closing = new Thread(past::close);
            List<Integer> ended = Support.inThreads(3, () -> {
                for (int taken = 0;; taken++) {
                    try {
                        past.takeAt(TIME.plusSeconds(taken));
                    } catch (ClosedException end) {
                        return taken;
                    }
                    if (taken == 100) {
                        synchronized (closing) {
                            if (closing.getState() == Thread.State.NEW) {
                                closing.start();
                            }
                        }
                    }
                }
            });
            assertTrue(ended.stream().anyMatch(taken -> taken >= 100));
            closing.join();
        }
    }
}
