package io.uidring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SegmentsTest {
    @TempDir Path folder;

    private String file() {
        return folder.resolve("uidring.db").toString();
    }

    @Test
    void numbersAreDense() {
        try (Segments segments = Segments.open(file(), "max_wait=10s")) {
            SegmentTag customers = segments.create("customers", "first=1001", "step=100");
            assertEquals("customers", customers.name());
            assertEquals(1001, customers.take());
            assertEquals(1002, segments.take("customers"));
            assertArrayEquals(new long[] {1003, 1004, 1005}, customers.takeMany(3));
            assertSame(customers, segments.tag("customers"));
            assertSame(customers, segments.create("customers", Map.of("first", "1001")));
            TagStatus status = customers.status();
            assertEquals(5, status.taken(), status.json());
            assertEquals("customers", status.tag());
            assertEquals(State.RUNNING, status.state());
            assertTrue(status.json().contains("\"tag\":\"customers\""), status.json());
        }
        // What was not taken has been given back.
        try (Segments segments = Segments.open(file(), Map.of("ahead", "5s"))) {
            assertEquals(1006, segments.tag("customers").take());
        }
    }

    @Test
    void threadsGetAllNumbersOnce() throws Exception {
        try (Segments segments = Segments.open(file())) {
            SegmentTag rows = segments.create("rows", "step=1000");
            List<long[]> taken = Support.inThreads(4, () -> {
                long[] mine = rows.takeMany(5_000);
                Support.assertAscending(mine);
                return mine;
            });
            Support.assertDistinct(taken);
            long most = taken.stream().flatMapToLong(Arrays::stream).max().orElseThrow();
            assertEquals(20_000, most);
        }
    }

    @Test
    void aCloseEndsTakes() {
        Segments segments = Segments.open(file());
        SegmentTag rows = segments.create("rows");
        assertEquals(1, rows.take());
        segments.close();
        segments.close();
        ClosedException closed = assertThrows(ClosedException.class, rows::take);
        assertTrue(closed.getMessage().contains("the segments were closed"), closed.getMessage());
        assertThrows(ClosedException.class, () -> rows.fill(new long[3]));
        assertThrows(ClosedException.class, () -> segments.tag("others"));
    }

    @Test
    void aTagKeepsItsSegments() throws Exception {
        long before = Support.nativeThreads();
        SegmentTag[] rows = {Segments.open(file()).create("rows")};
        for (int i = 1; i <= 20; i++) {
            System.gc();
            assertEquals(i, rows[0].take());
        }
        rows[0] = null;
        Support.collectUntil("its threads have ended", () -> Support.nativeThreads() <= before);
    }
}
