package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** That each error has its class, and the sentence of the library. */
final class ErrorsTest {
    @TempDir Path folder;

    private String file() {
        return folder.resolve("uidring.db").toString();
    }

    private static void assertSays(
            Class<? extends UidringException> kind, String said, Executable call) {
        assertEquals(said, assertThrows(kind, call).getMessage());
    }

    @Test
    void eachKindHasAClass() {
        NativeLibrary.load();
        List<Class<? extends UidringException>> kinds = List.of(
                InvalidArgumentException.class,
                UnavailableException.class,
                RefusedException.class,
                ClosedException.class,
                ForkedException.class);
        for (int code = 1; code <= kinds.size(); code++) {
            int kind = code;
            assertSays(kinds.get(code - 1), "asked for by a test", () -> NativeForTests.fail(kind));
        }
        // A panic is caught. Whoever adds a kind adds it here.
        assertSays(InternalException.class, "uidring has made a mistake, please report it: asked "
                + "for by a test", () -> NativeForTests.fail(6));
        assertSays(InvalidArgumentException.class, "there is no kind 7",
                () -> NativeForTests.fail(7));
        assertEquals(6, UidringException.class.getPermittedSubclasses().length);
    }

    @Test
    void wrongOptionsAreTold() {
        InvalidArgumentException unknown = assertThrows(InvalidArgumentException.class,
                () -> UidGenerator.open(file(), "leese=10m"));
        assertTrue(unknown.getMessage().startsWith("there is no option \"leese\"; did you mean "
                + "lease? The options are lease, "), unknown.getMessage());
        String length = "the option lease cannot be \"10\": a length of time is such as 500ms, "
                + "10s, 1h30m or 1d";
        assertSays(InvalidArgumentException.class, length,
                () -> UidGenerator.open(file(), "lease=10"));
        assertSays(InvalidArgumentException.class, length,
                () -> UidGenerator.open(file(), Map.of("lease", "10")));
        assertSays(InvalidArgumentException.class,
                "an option is written name=value, such as lease=10m, and not \"lease\"",
                () -> UidGenerator.open(file(), "lease"));
        assertSays(InvalidArgumentException.class,
                "an option is written name=value, such as lease=10m, and not an address",
                () -> UidGenerator.open(file(), "mysql://ids:secret@db/ids"));
        assertSays(InvalidArgumentException.class,
                "lease, partition, worker_ids, uid_generator, user, password, only_for_tests and "
                        + "timeout are about a store: open one, or leave them out",
                () -> UidGenerator.fixed(1, "lease=10m"));
        assertFalse(folder.resolve("uidring.db").toFile().exists(), "nothing was done");
    }

    @Test
    void wrongArgumentsAreTold() {
        try (UidGenerator uids = UidGenerator.fixed(1)) {
            assertSays(InvalidArgumentException.class,
                    "a UID is a whole number from 1 to 9223372036854775807, not 0",
                    () -> uids.parts(0));
            assertSays(InvalidArgumentException.class, "a UID is not negative, as -5 is",
                    () -> uids.parts(-5));
            assertSays(InvalidArgumentException.class,
                    "a count of numbers is not negative, as -1 is", () -> uids.takeMany(-1));
            assertThrows(NullPointerException.class, () -> uids.fill(null));
        }
        assertSays(InvalidArgumentException.class, "a worker id is not negative, as -1 is",
                () -> UidGenerator.fixed(-1));
        assertSays(UidringException.class, "worker id 1048576 does not fit the layout's 20 worker "
                + "bits: the largest is 1048575", () -> UidGenerator.fixed(1L << 20));
        InvalidArgumentException address = assertThrows(InvalidArgumentException.class,
                () -> UidGenerator.open("oracle://db.example.com/ids"));
        assertTrue(address.getMessage().contains("oracle"), address.getMessage());
        assertThrows(NullPointerException.class, () -> UidGenerator.open(null));
        assertThrows(NullPointerException.class, () -> UidGenerator.open(file(), (String) null));
        Map<String, String> options = new HashMap<>();
        options.put("lease", null);
        assertThrows(NullPointerException.class, () -> UidGenerator.open(file(), options));
        try (Series series = Series.open(file())) {
            assertThrows(NullPointerException.class, () -> series.next(null));
            assertThrows(NullPointerException.class, () -> series.parse("orders", null));
        }
        try (Segments segments = Segments.open(file())) {
            assertThrows(NullPointerException.class, () -> segments.take(null));
        }
    }

    @Test
    void aServerThatIsNotThereIsUnavailable() {
        UnavailableException unavailable = assertThrows(UnavailableException.class,
                () -> UidGenerator.open("mysql://ids@127.0.0.1:1/ids", "start_deadline=0s"));
        assertTrue(unavailable.getMessage().contains("127.0.0.1:1"), unavailable.getMessage());
        assertTrue(unavailable.getMessage().contains("refused"), unavailable.getMessage());
    }

    @Test
    void whatIsNotInTheStoreIsRefused() {
        try (Segments segments = Segments.open(file());
                Series series = Series.open(file())) {
            RefusedException tag =
                    assertThrows(RefusedException.class, () -> segments.take("customers"));
            assertTrue(tag.getMessage().contains("customers"), tag.getMessage());
            RefusedException name =
                    assertThrows(RefusedException.class, () -> series.next("orders"));
            assertTrue(name.getMessage().contains("orders"), name.getMessage());
            series.create("orders", "SO{yyyy}-{n:4}");
            assertThrows(RefusedException.class, () -> series.create("orders", "PO{yyyy}-{n:4}"));
            InvalidArgumentException date = assertThrows(InvalidArgumentException.class,
                    () -> series.next("orders", null, LocalDate.of(12_026, 1, 1)));
            assertTrue(date.getMessage().contains("12026"), date.getMessage());
        }
    }

    @Test
    void anArrayThatCannotBeFilledSaysHowFarItIs() {
        // A second has 1,024 ids, and the time of ids may be 2 s max_lead is used up.
        try (UidGenerator uids = UidGenerator.fixed(
                1, "layout=33,20,10", "max_lead=2s", "on_lead_limit=fail")) {
            long[] array = new long[100_000];
            UnavailableException limit =
                    assertThrows(UnavailableException.class, () -> uids.fill(array));
            assertTrue(limit.getMessage().contains("max_lead is used up"), limit.getMessage());
            int filled = limit.filled();
            assertTrue(1_000 < filled && filled < array.length, "filled " + filled);
            Support.assertAscending(Arrays.copyOf(array, filled));
            assertTrue(Arrays.stream(array, filled, array.length).allMatch(id -> id == 0));
        }
    }

    @Test
    void aSmallArrayThatCannotBeFilledSaysHowFarItIs() {
        for (int length : new int[] {3, 10}) {
            try (UidGenerator uids = UidGenerator.fixed(
                    1, "layout=33,20,10", "max_lead=2s", "on_lead_limit=fail")) {
                long[] array = new long[length];
                UnavailableException limit = assertThrows(UnavailableException.class, () -> {
                    while (true) {
                        Arrays.fill(array, 0);
                        uids.fill(array);
                    }
                });
                int filled = limit.filled();
                assertTrue(filled < length, "filled " + filled);
                Support.assertAscending(Arrays.copyOf(array, filled));
                assertTrue(Arrays.stream(array, filled, length).allMatch(id -> id == 0));
            }
        }
    }

    @Test
    void anyTextComesBackInASentence() {
        // Characters of one to four bytes, a zero, and half of a pair.
        for (String odd : List.of("leäse", "租约", "🦀lease", "le\0ase", "le\ud83e")) {
            InvalidArgumentException error = assertThrows(InvalidArgumentException.class,
                    () -> UidGenerator.fixed(1, odd + "=1"));
            assertTrue(error.getMessage().startsWith("there is no option"), error.getMessage());
        }
        InvalidArgumentException crab = assertThrows(InvalidArgumentException.class,
                () -> UidGenerator.fixed(1, "🦀=1"));
        assertTrue(crab.getMessage().contains("\"🦀\""), crab.getMessage());
        // The scope of a series that is used comes in another way, short and long.
        try (Series series = Series.open(folder.resolve("uidring.db").toString())) {
            series.create("tickets", "T-{n}");
            assertEquals(1, series.next("tickets").value());
            for (String odd : List.of("leäse", "租约", "🦀", "租".repeat(66), "租".repeat(67))) {
                UidringException error = assertThrows(
                        UidringException.class, () -> series.next("tickets", odd, null));
                assertTrue(error.getMessage().contains(odd), error.getMessage());
            }
            assertThrows(UidringException.class, () -> series.next("tickets", "le\0ase", null));
            assertEquals(2, series.next("tickets").value());
        }
    }
}
