package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Worker ids that are lent to generators of others. */
final class WorkerIdTest {
    @TempDir Path folder;

    private String file() {
        return folder.resolve("uidring.db").toString();
    }

    /** Why nobody gets an id of the pool. */
    private String refusal(int bits) {
        return assertThrows(UidringException.class, () -> WorkerId.lend(file(), "shop", bits))
                .getMessage();
    }

    private static void eventually(BooleanSupplier holds) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!holds.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, "it does not happen");
            Thread.sleep(10);
        }
    }

    private static boolean somebodyWaitsForALoss() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("uidring-loss"));
    }

    @Test
    void anIdIsLentUntilItIsClosed() {
        WorkerId worker =
                WorkerId.lend(file(), "shop", 1, "lease=1m", "rest=1s", "host=orders-3");
        assertEquals(1, worker.id());
        assertTrue(worker.isHeld());
        String status = worker.status().json();
        assertTrue(status.contains("\"state\":\"held\"") && status.contains("\"id\":1,")
                && status.contains("\"renewals\":0,"), status);
        UidringException full = assertThrows(
                UnavailableException.class, () -> WorkerId.lend(file(), "shop", 1));
        assertTrue(full.getMessage().contains("1 are held, and 0 rest"), full.getMessage());
        worker.close();
        worker.close();
        assertFalse(worker.isHeld());
        assertThrows(ClosedException.class, worker::id);
        assertThrows(ClosedException.class, worker::status);
        String said = refusal(1);
        assertTrue(said.contains("0 are held, and 1 rest"), said);
    }

    @Test
    void anotherWidthIsRefusedWithBoth() {
        WorkerId.lend(file(), "shop", 10, Map.of("lease", "1m")).close();
        UidringException error = assertThrows(
                InvalidArgumentException.class, () -> WorkerId.lend(file(), "shop", 2));
        String said = error.getMessage();
        assertTrue(said.contains("was first used with ids of 10 bits, and ids of 2 bits"), said);
    }

    @Test
    void aLossIsToldAheadOfTheEnd() throws Exception {
        BlockingQueue<WorkerId.Loss> told = new LinkedBlockingQueue<>();
        WorkerId worker = WorkerId.lend(file(), "shop", 10, told::add, "lease=3s");
        Path away = Files.move(Path.of(file()), folder.resolve("uidring.away"));
        WorkerId.Loss loss = told.poll(30, TimeUnit.SECONDS);
        assertNotNull(loss);
        assertEquals(1, loss.workerId());
        Duration left = loss.timeLeft();
        assertTrue(left.compareTo(Duration.ZERO) > 0 && left.toMillis() < 3_000, left.toString());
        String said = loss.toString();
        assertTrue(said.startsWith("worker id 1 must not be used any more in "), said);
        eventually(() -> !worker.isHeld());
        assertTrue(worker.status().json().contains("\"state\":\"lost\""), worker.status().json());
        UidringException lost = assertThrows(RefusedException.class, worker::close);
        said = lost.getMessage();
        assertTrue(said.contains("is not lent to this holder any more"), said);
        worker.close();
        assertTrue(told.isEmpty(), "it is told once");
        Files.move(away, Path.of(file()));
    }

    @Test
    void theThreadForALossEndsWithAClose() throws Exception {
        try (WorkerId worker = WorkerId.lend(file(), "shop", 10, loss -> {})) {
            assertTrue(worker.isHeld() && somebodyWaitsForALoss());
        }
        eventually(() -> !somebodyWaitsForALoss());
    }

    @Test
    void anIdThatNothingHoldsIsReturned() throws Exception {
        assertEquals(1, WorkerId.lend(file(), "shop", 1, loss -> {}).id());
        eventually(() -> {
            System.gc();
            return refusal(1).contains("0 are held, and 1 rest");
        });
        eventually(() -> !somebodyWaitsForALoss());
    }
}
