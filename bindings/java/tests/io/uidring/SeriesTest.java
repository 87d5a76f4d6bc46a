package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SeriesTest {
    private static final LocalDate DAY = LocalDate.of(2026, 11, 24);

    @TempDir Path folder;

    private String file() {
        return folder.resolve("uidring.db").toString();
    }

    @Test
    void numbersAreCountedPerDayAndScope() {
        try (Series series = Series.open(file())) {
            series.create("orders", "{scope}/{yyyy}{MM}{dd}-{n:4}{check:damm}", "step=10");
            SeriesNumber first = series.next("orders", "shop-7", DAY);
            assertEquals(1, first.value());
            assertEquals("2026-11-24", first.period());
            assertEquals(Optional.of("shop-7"), first.scope());
            assertTrue(first.text().startsWith("shop-7/20261124-0001"), first.text());
            assertEquals(first, series.parse("orders", first.text()));
            List<SeriesNumber> more = series.nextMany("orders", 30, "shop-7", DAY);
            assertEquals(30, more.size());
            for (int i = 0; i < 30; i++) {
                assertEquals(i + 2, more.get(i).value());
            }
            assertEquals(1, series.next("orders", "shop-8", DAY).value());
            assertEquals(1, series.next("orders", "shop-7", DAY.plusDays(1)).value());
            String mistyped = first.text().replace("-0001", "-0010");
            InvalidArgumentException error = assertThrows(InvalidArgumentException.class,
                    () -> series.parse("orders", mistyped));
            assertTrue(error.getMessage().contains("check"), error.getMessage());
            String status = series.status("orders", "shop-7").json();
            assertTrue(status.contains("\"series\":\"orders\""), status);
            UidringException scope =
                    assertThrows(UidringException.class, () -> series.next("orders"));
            assertEquals("the pattern has a {scope}, and no scope is given: give one",
                    scope.getMessage());
            assertThrows(InvalidArgumentException.class,
                    () -> series.nextMany("orders", 0, "shop-7", DAY));
            assertThrows(InvalidArgumentException.class,
                    () -> series.nextMany("orders", -1, "shop-7", DAY));
        }
    }

    @Test
    void numbersOfTodayNeedNoDate() {
        try (Series series = Series.open(file(), Map.of("max_wait", "10s"))) {
            series.create("tickets", "T-{n:6}", Map.of("first", "500"));
            SeriesNumber first = series.next("tickets");
            assertEquals("T-000500", first.text());
            assertEquals("ever", first.period());
            assertEquals(Optional.empty(), first.scope());
            assertEquals(501, series.nextMany("tickets", 1, null, null).get(0).value());
        }
    }

    @Test
    void aNumberHasThePeriodThatItCountsInAndTheOneThatItShows() {
        try (Series series = Series.open(file())) {
            series.create("bills", "{yy}{MM}-{n:4}", "restart=year");
            SeriesNumber bill = series.next("bills", null, DAY);
            assertEquals(new SeriesNumber("2611-0001", 1, "2026", "2026-11", Optional.empty()),
                    bill);
            assertEquals(bill, series.parse("bills", "2611-0001"));
            for (SeriesNumber next : series.nextMany("bills", 3, null, DAY)) {
                assertEquals(next, series.parse("bills", next.text()));
            }
            SeriesNumber today = series.next("bills");
            assertEquals(today.shown().substring(0, 4), today.period());
            assertEquals(today, series.parse("bills", today.text()));
        }
    }

    @Test
    void aTextMayBeLong() {
        try (Series series = Series.open(file())) {
            // Below and above what one call has at hand.
            for (int count : new int[] {20, 30, 60, 80}) {
                String begin = "A".repeat(count);
                String scope = "shop-" + "7".repeat(50);
                String name = "orders" + count;
                series.create(name, begin + "/{yyyy}{MM}{dd}/{scope}/{n:9}", "step=100");
                for (int number = 1; number <= 3; number++) {
                    SeriesNumber next = series.next(name, scope, null);
                    String day = next.period().replace("-", "");
                    assertEquals(String.format("%s/%s/%s/%09d", begin, day, scope, number),
                            next.text());
                    assertEquals(number, next.value());
                }
                for (SeriesNumber next : series.nextMany(name, 10, scope, DAY)) {
                    assertEquals(String.format("%s/20261124/%s/%09d", begin, scope, next.value()),
                            next.text());
                    assertEquals("2026-11-24", next.period());
                    assertEquals(Optional.of(scope), next.scope());
                    assertEquals(next, series.parse(name, next.text()));
                }
            }
        }
    }

    @Test
    void threadsGetDifferentNumbers() throws Exception {
        try (Series series = Series.open(file())) {
            series.create("tickets", "T-{n:6}", "step=100");
            List<long[]> taken = Support.inThreads(4, () -> {
                long[] mine = new long[500];
                for (int i = 0; i < mine.length; i++) {
                    mine[i] = series.next("tickets").value();
                }
                return mine;
            });
            Support.assertDistinct(taken);
        }
    }

    @Test
    void aCloseEndsTakes() {
        Series series = Series.open(file());
        series.create("tickets", "T-{n:6}");
        assertEquals(1, series.next("tickets").value());
        series.close();
        series.close();
        assertThrows(ClosedException.class, () -> series.next("tickets"));
    }
}
