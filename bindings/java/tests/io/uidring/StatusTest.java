package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What operators and health checks read. */
final class StatusTest {
    @TempDir Path folder;

    private Path file() {
        return folder.resolve("uidring.db");
    }

    @Test
    void aLeasedWorkerIdHasATimeThatIsLeft() {
        try (UidGenerator uids = UidGenerator.open(file().toString(), "lease=10m")) {
            long[] taken = uids.takeMany(5);
            Status status = uids.status();
            assertEquals(State.RUNNING, status.state());
            assertEquals(Optional.empty(), status.obstacle());
            assertEquals(uids.layout(), status.layout());
            assertEquals(OptionalLong.of(uids.workerId()), status.workerId());
            assertTrue(status.isLeased());
            Duration left = status.leaseLeft().orElseThrow();
            assertTrue(left.compareTo(Duration.ofMinutes(5)) > 0, status.json());
            Instant until = status.reservedUntil().orElseThrow();
            assertTrue(until.isAfter(uids.parts(taken[4]).time()), status.json());
            assertTrue(status.taken() >= 5 && status.available() > 0, status.json());
            StoreState store = status.store().orElseThrow();
            assertEquals(file().toString(), store.name());
            assertTrue(store.isReachable());
            assertFalse(store.since().orElseThrow().isAfter(Instant.now()));
            assertEquals(Optional.empty(), store.error());
            assertEquals(status.json(), status.toString());
        }
    }

    @Test
    void aPermanentOneHasNone() {
        try (UidGenerator uids = UidGenerator.open(file().toString())) {
            Status status = uids.status();
            assertFalse(status.isLeased());
            assertEquals(Optional.empty(), status.reservedUntil());
            assertEquals(Optional.empty(), status.leaseLeft());
            assertTrue(status.workerIdsLeft().orElseThrow() > 1_000, status.json());
        }
        try (UidGenerator uids = UidGenerator.fixed(7)) {
            assertEquals(Optional.empty(), uids.status().store());
            assertEquals(OptionalLong.of(7), uids.status().workerId());
        }
    }

    @Test
    void afterACloseNothingLooksAlive() {
        UidGenerator uids = UidGenerator.open(file().toString(), "lease=10m");
        long[] taken = uids.takeMany(5);
        uids.close();
        Status status = uids.status();
        assertEquals(State.CLOSED, status.state());
        assertTrue(status.obstacle().orElseThrow().contains("closed"), status.json());
        assertEquals(Optional.empty(), status.store());
        assertEquals(OptionalLong.empty(), status.workerId());
        assertEquals(OptionalLong.empty(), status.workerIdsLeft());
        assertFalse(status.isLeased());
        assertEquals(Optional.empty(), status.reservedUntil());
        assertEquals(Optional.empty(), status.leaseLeft());
        assertEquals(Duration.ZERO, status.lead());
        assertEquals(Duration.ZERO, status.lag());
        assertEquals(0, status.available());
        assertTrue(status.taken() >= taken.length, status.json());
        PastGenerator past = PastGenerator.open(file().toString());
        assertEquals(file().toString(), past.status().store().orElseThrow().name());
        past.close();
        assertEquals(State.CLOSED, past.status().state());
        assertEquals(Optional.empty(), past.status().store());
        assertEquals(OptionalLong.empty(), past.status().workerId());
    }

    @Test
    void aStoreThatIsAwayIsToldWithItsErrorAndSinceWhen() throws Exception {
        UidGenerator uids = UidGenerator.open(file().toString(), "lease=1s");
        Instant before = Instant.now();
        Files.delete(file());
        Files.createDirectory(file());
        Support.collectUntil("the store is away",
                () -> !uids.status().store().orElseThrow().isReachable());
        StoreState away = uids.status().store().orElseThrow();
        assertTrue(away.error().orElseThrow().contains("it is a directory"), away.toString());
        assertFalse(away.since().orElseThrow().isBefore(before.minusMillis(1)), away.toString());
        // Ids go on as long as the lease has times, and then fail.
        Support.collectUntil("takes fail", () -> uids.status().state() == State.FAILING);
        assertTrue(uids.status().obstacle().isPresent());
        assertThrows(UnavailableException.class, uids::close);
        assertEquals(State.CLOSED, uids.status().state());
    }

    @Test
    void theOthersHaveTheirs() {
        try (Series series = Series.open(file().toString());
                WorkerId worker = WorkerId.lend(file().toString(), "shop", 4)) {
            series.create("orders", "O{n:2}");
            for (int i = 0; i < 99; i++) {
                series.next("orders");
            }
            assertThrows(RefusedException.class, () -> series.next("orders"));
            SeriesStatus full = series.status("orders", null);
            assertEquals(1, full.full(), full.json());
            assertEquals(99, full.tight().get(0).last(), full.json());
            assertEquals(Optional.empty(), full.tight().get(0).scope(), full.json());
            assertEquals("orders", full.series());
            Segments segments = Segments.open(file().toString());
            SegmentTag rows = segments.create("rows", "first=10");
            rows.take();
            assertEquals(file().toString(), rows.status().store().orElseThrow().name());
            assertTrue(rows.status().store().orElseThrow().isReachable());
            segments.close();
            assertEquals(State.CLOSED, rows.status().state());
            assertEquals(Optional.empty(), rows.status().store());
            assertEquals(0, rows.status().inMemory());
            assertEquals(1, worker.status().id());
            assertEquals(State.HELD, worker.status().state());
            assertTrue(worker.status().timeLeft().compareTo(Duration.ofMinutes(5)) > 0);
        }
    }
}
