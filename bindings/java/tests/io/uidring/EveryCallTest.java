package io.uidring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each call after a close, with a negative number, with an empty text and with null: what is wrong
 * is told in the words of the caller, by the class that says what to do.
 */
final class EveryCallTest {
    private static final String KEY = "5a".repeat(32);
    private static final String[] NO_TEXTS = null;
    private static final Map<String, String> NO_MAP = null;

    @TempDir Path folder;

    /** The calls that were made, by class and name. */
    private final Set<String> called = new TreeSet<>();

    private int cases;

    private String file() {
        return folder.resolve("uidring.db").toString();
    }

    private void fails(Class<?> kind, String said, String name, Executable call) {
        cases++;
        called.add(name);
        try {
            call.execute();
        } catch (Throwable thrown) {
            assertEquals(kind, thrown.getClass(), name + ": " + thrown);
            String message = String.valueOf(thrown.getMessage());
            assertTrue(message.contains(said), name + ": " + message);
            // Nobody has passed such a number.
            assertFalse(message.contains("1844674407370955"), name + ": " + message);
            return;
        }
        throw new AssertionError(name + " did not fail with: " + said);
    }

    private void closed(String said, String name, Executable call) {
        fails(ClosedException.class, said, name, call);
    }

    private void wrong(String said, String name, Executable call) {
        fails(InvalidArgumentException.class, said, name, call);
    }

    private void isNull(String what, String name, Executable call) {
        fails(NullPointerException.class, what, name, call);
    }

    private void works(String name, Executable call) {
        cases++;
        called.add(name);
        try {
            call.execute();
        } catch (Throwable thrown) {
            throw new AssertionError(name, thrown);
        }
    }

    @Test
    void eachCallTellsWhatIsWrong() throws Exception {
        opens();
        generators();
        sources();
        past();
        lent();
        segments();
        series();
        keys();
        Set<String> all = new TreeSet<>();
        for (Class<?> type : List.of(UidGenerator.class, UidSource.class,
                PastGenerator.class, WorkerId.class, Segments.class, SegmentTag.class, Series.class,
                Masked.class, Opaque.class)) {
            for (Method method : type.getDeclaredMethods()) {
                if (Modifier.isPublic(method.getModifiers())) {
                    all.add(type.getSimpleName() + '.' + method.getName());
                }
            }
        }
        all.addAll(List.of("Masked", "Opaque"));
        assertEquals(all, called, "a call is missing here");
        assertEquals(254, cases);
    }

    private interface Open {
        AutoCloseable open(String address, String... options);
    }

    private interface OpenByMap {
        AutoCloseable open(String address, Map<String, String> options);
    }

    private void opens() {
        Map<String, Open> opens = Map.of("UidGenerator.open", UidGenerator::open,
                "PastGenerator.open", PastGenerator::open,
                "WorkerId.lend", (address, options) -> WorkerId.lend(address, "shop", 4, options),
                "Segments.open", Segments::open, "Series.open", Series::open);
        Map<String, OpenByMap> byMap = Map.of("UidGenerator.open", UidGenerator::open,
                "PastGenerator.open", PastGenerator::open,
                "WorkerId.lend", (address, options) -> WorkerId.lend(address, "shop", 4, options),
                "Segments.open", Segments::open, "Series.open", Series::open);
        opens.forEach((name, open) -> {
            wrong("the address of the store is empty", name, () -> open.open(""));
            isNull("the address is null", name, () -> open.open(null));
            isNull("the options are null", name, () -> open.open(file(), NO_TEXTS));
            isNull("an option is null", name, () -> open.open(file(), (String) null));
            wrong("name=value", name, () -> open.open(file(), ""));
            wrong("there is no option \"\"", name, () -> open.open(file(), "=1"));
            wrong("cannot be \"\"", name, () -> open.open(file(), "timeout="));
            wrong("cannot be \"-1s\"", name, () -> open.open(file(), "timeout=-1s"));
        });
        byMap.forEach((name, open) -> {
            isNull("the options are null", name, () -> open.open(file(), NO_MAP));
            Map<String, String> noValue = new HashMap<>();
            noValue.put("timeout", null);
            isNull("the value of the option timeout is null", name,
                    () -> open.open(file(), noValue));
            Map<String, String> noName = new HashMap<>();
            noName.put(null, "1s");
            isNull("the name of an option is null", name, () -> open.open(file(), noName));
        });
        assertFalse(folder.resolve("uidring.db").toFile().exists(), "nothing was done");
        wrong("-1", "UidGenerator.fixed", () -> UidGenerator.fixed(-1));
        wrong("-9223372036854775808", "UidGenerator.fixed",
                () -> UidGenerator.fixed(Long.MIN_VALUE));
        isNull("the options are null", "UidGenerator.fixed", () -> UidGenerator.fixed(1, NO_TEXTS));
        isNull("the options are null", "UidGenerator.fixed", () -> UidGenerator.fixed(1, NO_MAP));
        wrong("exact_time=true", "UidGenerator.fixed", () -> UidGenerator.fixed(1, "exact_time"));
        wrong("exact_time=true", "UidGenerator.fixed", () -> UidGenerator.fixed(1, "exactTime"));
        wrong("uid_generator=true", "UidGenerator.open",
                () -> UidGenerator.open(file(), "uid.generator"));
        for (String lead : List.of("max_lead", "max-lead", "max.lead", "maxLead", "MAX_LEAD")) {
            works("UidGenerator.fixed", () -> UidGenerator.fixed(1, lead + "=1m").close());
            works("UidGenerator.fixed", () -> UidGenerator.fixed(1, Map.of(lead, "1m")).close());
        }
    }

    private void generators() {
        UidGenerator uids = UidGenerator.fixed(7);
        isNull("the array is null", "UidGenerator.fill", () -> uids.fill(null));
        wrong("-1", "UidSource.takeMany", () -> uids.takeMany(-1));
        works("UidSource.takeMany", () -> uids.takeMany(0));
        works("UidGenerator.fill", () -> uids.fill(new long[0]));
        wrong("not 0", "UidGenerator.parts", () -> uids.parts(0));
        wrong("-42", "UidGenerator.parts", () -> uids.parts(-42));
        works("UidGenerator.toString", () -> assertTrue(uids.toString().endsWith(" worker=7]")));
        works("UidGenerator.status", () -> assertTrue(
                uids.status().json().contains("\"state\":\"running\""), uids.status().json()));
        works("UidGenerator.close", uids::close);
        works("UidGenerator.close", uids::close);
        String said = "the generator was closed";
        closed(said, "UidGenerator.take", uids::take);
        closed(said, "UidGenerator.fill", () -> uids.fill(new long[1]));
        closed(said, "UidSource.takeMany", () -> uids.takeMany(1));
        closed(said, "UidGenerator.tryTake", uids::tryTake);
        works("UidGenerator.takeAsync", () -> failsLater(said, uids.takeAsync()));
        closed(said, "UidSource.getAsLong", uids::getAsLong);
        closed(said, "UidGenerator.workerId", uids::workerId);
        works("UidGenerator.layout", uids::layout);
        works("UidGenerator.parts", () -> uids.parts(1));
        works("UidGenerator.toString", () -> assertTrue(uids.toString().endsWith(" closed]")));
        works("UidGenerator.status", () -> {
            String status = uids.status().json();
            assertTrue(status.contains("\"state\":\"closed\""), status);
            assertTrue(status.contains("\"available\":0,"), status);
            assertTrue(status.contains("\"filler\":\"stopped\""), status);
        });
    }

    private static void failsLater(String said, CompletionStage<Long> taken) {
        ExecutionException failed = assertThrows(ExecutionException.class,
                () -> taken.toCompletableFuture().get());
        assertEquals(ClosedException.class, failed.getCause().getClass());
        assertTrue(failed.getCause().getMessage().contains(said), failed.toString());
    }

    private void sources() {
        AtomicLong counter = new AtomicLong();
        UidSource source = counter::incrementAndGet;
        works("UidSource.take", () -> assertEquals(1, source.take()));
        works("UidSource.getAsLong", () -> assertEquals(2, source.getAsLong()));
        works("UidSource.tryTake", () -> assertEquals(OptionalLong.of(3), source.tryTake()));
        works("UidSource.takeAsync",
                () -> assertEquals(4, source.takeAsync().toCompletableFuture().get()));
        works("UidSource.fill", () -> {
            long[] ids = new long[2];
            source.fill(ids);
            assertArrayEquals(new long[] {5, 6}, ids);
        });
        works("UidSource.takeMany",
                () -> assertArrayEquals(new long[] {7, 8}, source.takeMany(2)));
        isNull("the array is null", "UidSource.fill", () -> source.fill(null));
        wrong("-1", "UidSource.takeMany", () -> source.takeMany(-1));
        UidSource fails = () -> {
            if (counter.incrementAndGet() > 10) {
                throw new UnavailableException("none", 0);
            }
            return counter.get();
        };
        works("UidSource.fill", () -> assertEquals(2, assertThrows(UnavailableException.class,
                () -> fails.fill(new long[9])).filled()));
        works("UidSource.takeAsync", () -> assertEquals(UnavailableException.class,
                assertThrows(ExecutionException.class,
                        () -> fails.takeAsync().toCompletableFuture().get())
                        .getCause().getClass()));
    }

    private void past() {
        Instant time = Instant.parse("2026-05-28T20:26:40Z");
        PastGenerator past = PastGenerator.open(file());
        isNull("the time is null", "PastGenerator.takeAt", () -> past.takeAt(null));
        wrong("no UID of 1969-12-31T23:59:59.999Z", "PastGenerator.takeAt",
                () -> past.takeAt(Instant.EPOCH.minusNanos(1)));
        wrong("the layout begins at", "PastGenerator.takeAt", () -> past.takeAt(Instant.MIN));
        wrong("are for times that were", "PastGenerator.takeAt", () -> past.takeAt(Instant.MAX));
        isNull("the times are null", "PastGenerator.takeTimes", () -> past.takeTimes(null));
        isNull("the time is null", "PastGenerator.takeTimes",
                () -> past.takeTimes(Arrays.asList(time, null)));
        wrong("time 2: no UID of", "PastGenerator.takeTimes",
                () -> past.takeTimes(List.of(time, Instant.MAX)));
        works("PastGenerator.takeTimes",
                () -> assertEquals(0, past.takeTimes(List.of()).length));
        wrong("not 0", "PastGenerator.parts", () -> past.parts(0));
        wrong("-42", "PastGenerator.parts", () -> past.parts(-42));
        works("PastGenerator.workerId", () -> assertEquals(1, past.workerId()));
        works("PastGenerator.status", () -> assertTrue(
                past.status().json().contains("\"state\":\"running\""), past.status().json()));
        works("PastGenerator.close", past::close);
        works("PastGenerator.close", past::close);
        String said = "the generator was closed";
        closed(said, "PastGenerator.takeAt", () -> past.takeAt(time));
        closed(said, "PastGenerator.takeTimes", () -> past.takeTimes(List.of(time)));
        closed(said, "PastGenerator.workerId", past::workerId);
        works("PastGenerator.layout", past::layout);
        works("PastGenerator.parts", () -> past.parts(1));
        works("PastGenerator.toString", past::toString);
        works("PastGenerator.status", () -> assertTrue(
                past.status().json().contains("\"state\":\"closed\""), past.status().json()));
    }

    private void lent() {
        String lend = "WorkerId.lend";
        Consumer<WorkerId.Loss> ignored = loss -> {};
        Consumer<WorkerId.Loss> nothing = null;
        isNull("the name of the pool is null", lend, () -> WorkerId.lend(file(), null, 4));
        isNull("what is called at a loss is null", lend,
                () -> WorkerId.lend(file(), "shop", 4, nothing));
        isNull("what is called at a loss is null", lend,
                () -> WorkerId.lend(file(), "shop", 4, nothing, Map.of()));
        isNull("the options are null", lend,
                () -> WorkerId.lend(file(), "shop", 4, ignored, NO_TEXTS));
        isNull("the options are null", lend,
                () -> WorkerId.lend(file(), "shop", 4, ignored, NO_MAP));
        wrong("no pool is called", lend, () -> WorkerId.lend(file(), "", 4));
        for (int bits : new int[] {0, 23, -1, Integer.MIN_VALUE}) {
            wrong("no pool has ids of " + bits + " bits: 1 to 22 are possible", lend,
                    () -> WorkerId.lend(file(), "shop", bits));
        }
        wrong("a lease lasts a second at least", lend,
                () -> WorkerId.lend(file(), "shop", 4, "lease=1ms"));
        wrong("did you mean lease", lend, () -> WorkerId.lend(file(), "shop", 4, "leas=1m"));
        WorkerId worker = WorkerId.lend(file(), "shop", 4, ignored, Map.of("lease", "1m"));
        works("WorkerId.id", () -> assertEquals(1, worker.id()));
        works("WorkerId.isHeld", () -> assertTrue(worker.isHeld()));
        works("WorkerId.toString", () -> assertEquals("WorkerId[1]", worker.toString()));
        works("WorkerId.status", () -> assertTrue(
                worker.status().json().contains("\"state\":\"held\""), worker.status().json()));
        works("WorkerId.close", worker::close);
        works("WorkerId.close", worker::close);
        String said = "the worker id was closed";
        closed(said, "WorkerId.id", worker::id);
        closed(said, "WorkerId.status", worker::status);
        works("WorkerId.isHeld", () -> assertFalse(worker.isHeld()));
        works("WorkerId.toString", () -> assertEquals("WorkerId[closed]", worker.toString()));
    }

    private void segments() {
        Segments segments = Segments.open(file());
        SegmentTag tag = segments.create("rows", "step=10");
        isNull("the name of the tag is null", "Segments.create", () -> segments.create(null));
        isNull("the options are null", "Segments.create", () -> segments.create("a", NO_TEXTS));
        isNull("the options are null", "Segments.create", () -> segments.create("a", NO_MAP));
        wrong("step", "Segments.create", () -> segments.create("a", "step=-1"));
        wrong("first", "Segments.create", () -> segments.create("a", "first=-1"));
        wrong("\"\"", "Segments.create", () -> segments.create(""));
        isNull("the name of the tag is null", "Segments.tag", () -> segments.tag(null));
        fails(RefusedException.class, "\"\"", "Segments.tag", () -> segments.tag(""));
        isNull("the name of the tag is null", "Segments.take", () -> segments.take(null));
        fails(RefusedException.class, "\"\"", "Segments.take", () -> segments.take(""));
        isNull("the array is null", "SegmentTag.fill", () -> tag.fill(null));
        wrong("-1", "SegmentTag.takeMany", () -> tag.takeMany(-1));
        works("SegmentTag.take", tag::take);
        works("SegmentTag.status", () -> assertTrue(
                tag.status().json().contains("\"state\":\"running\""), tag.status().json()));
        works("Segments.close", segments::close);
        works("Segments.close", segments::close);
        String said = "the segments were closed";
        closed(said, "Segments.create", () -> segments.create("b"));
        closed(said, "Segments.create", () -> segments.create("rows", Map.of()));
        closed(said, "Segments.tag", () -> segments.tag("c"));
        closed(said, "Segments.take", () -> segments.take("rows"));
        closed(said, "Segments.take", () -> segments.take("c"));
        closed(said, "SegmentTag.take", tag::take);
        closed(said, "SegmentTag.tryTake", tag::tryTake);
        closed(said, "SegmentTag.getAsLong", tag::getAsLong);
        works("SegmentTag.takeAsync", () -> failsLater(said, tag.takeAsync()));
        closed(said, "SegmentTag.fill", () -> tag.fill(new long[1]));
        closed(said, "SegmentTag.takeMany", () -> tag.takeMany(1));
        works("SegmentTag.name", () -> assertEquals("rows", tag.name()));
        works("SegmentTag.toString", tag::toString);
        works("SegmentTag.status", () -> {
            assertTrue(tag.status().json().contains("\"state\":\"closed\""), tag.status().json());
            assertTrue(tag.status().json().contains("\"in_memory\":0,"), tag.status().json());
            assertTrue(tag.status().json().contains(said), tag.status().json());
        });
        try (Segments others = Segments.open(file())) {
            fails(RefusedException.class, "\"b\"", "Segments.tag", () -> others.tag("b"));
        }
    }

    private void series() {
        LocalDate day = LocalDate.of(2026, 11, 24);
        Series series = Series.open(file());
        series.create("orders", "SO{yyyy}-{n:4}");
        String name = "the name of the series is null";
        isNull(name, "Series.create", () -> series.create(null, "T-{n}"));
        isNull("the pattern is null", "Series.create", () -> series.create("t", null));
        isNull("the options are null", "Series.create",
                () -> series.create("t", "T-{n}", NO_TEXTS));
        isNull("the options are null", "Series.create", () -> series.create("t", "T-{n}", NO_MAP));
        wrong("\"\"", "Series.create", () -> series.create("", "T-{n}"));
        wrong("pattern", "Series.create", () -> series.create("t", ""));
        wrong("step", "Series.create", () -> series.create("t", "T-{n}", "step=-1"));
        wrong("gapless=true", "Series.create", () -> series.create("t", "T-{n}", "gapless"));
        isNull(name, "Series.next", () -> series.next(null));
        isNull(name, "Series.next", () -> series.next(null, null, day));
        fails(RefusedException.class, "\"\"", "Series.next", () -> series.next(""));
        wrong("scope", "Series.next", () -> series.next("orders", "", null));
        isNull(name, "Series.nextMany", () -> series.nextMany(null, 1, null, null));
        wrong("-1", "Series.nextMany", () -> series.nextMany("orders", -1, null, null));
        wrong("not 0", "Series.nextMany", () -> series.nextMany("orders", 0, null, null));
        isNull(name, "Series.parse", () -> series.parse(null, "SO2026-0001"));
        isNull("the number is null", "Series.parse", () -> series.parse("orders", null));
        wrong("", "Series.parse", () -> series.parse("orders", ""));
        isNull(name, "Series.format", () -> series.format(null, 1, null, null));
        wrong("-1", "Series.format", () -> series.format("orders", -1, null, null));
        wrong("9999", "Series.format", () -> series.format("orders", 10_000, null, null));
        isNull(name, "Series.widen", () -> series.widen(null, "SO{yyyy}-{n:5}"));
        isNull("the pattern is null", "Series.widen", () -> series.widen("orders", null));
        wrong("pattern", "Series.widen", () -> series.widen("orders", ""));
        isNull("the connection is null", "Series.nextIn", () -> series.nextIn(null, "orders"));
        isNull("the connection is null", "Series.readIn", () -> series.readIn(null, "orders"));
        works("Series.inTransactions", () -> Series.inTransactions().close());
        isNull(name, "Series.status", () -> series.status(null, null));
        works("Series.next", () -> series.next("orders"));
        works("Series.status", () -> assertTrue(
                series.status("orders", null).json().contains("\"state\":\"running\"")));
        works("Series.close", series::close);
        works("Series.close", series::close);
        String said = "the series were closed";
        closed(said, "Series.create", () -> series.create("late", "T-{n}"));
        closed(said, "Series.create", () -> series.create("orders", "SO{yyyy}-{n:4}", Map.of()));
        closed(said, "Series.next", () -> series.next("orders"));
        closed(said, "Series.next", () -> series.next("orders", null, day));
        closed(said, "Series.next", () -> series.next("late"));
        closed(said, "Series.nextMany", () -> series.nextMany("orders", 1, null, null));
        closed(said, "Series.nextMany", () -> series.nextMany("orders", 1, null, day));
        closed(said, "Series.format", () -> series.format("orders", 1, null, null));
        closed(said, "Series.widen", () -> series.widen("orders", "SO{yyyy}-{n:5}"));
        closed(said, "Series.parse", () -> series.parse("orders", "SO2026-0001"));
        works("Series.status", () -> {
            String status = series.status("orders", null).json();
            assertTrue(status.contains("\"state\":\"closed\"") && status.contains(said), status);
        });
        try (Series others = Series.open(file())) {
            fails(RefusedException.class, "late", "Series.next", () -> others.next("late"));
        }
    }

    private void keys() {
        isNull("the keys are null", "Masked", () -> new Masked(null));
        wrong("there is no key", "Masked", () -> new Masked(""));
        isNull("the keys are null", "Opaque", () -> new Opaque(null, "ord"));
        isNull("the prefix is null", "Opaque", () -> new Opaque(KEY, null));
        wrong("there is no key", "Opaque", () -> new Opaque("", "ord"));
        wrong("prefix", "Opaque", () -> new Opaque(KEY, ""));
        Masked masked = new Masked(KEY);
        Opaque orders = new Opaque(KEY, "ord");
        for (long id : new long[] {-42, -1, Long.MIN_VALUE, 0}) {
            String said = "not " + id;
            wrong(said, "Masked.mask", () -> masked.mask(id));
            wrong(said, "Masked.mask", () -> masked.mask(new long[] {1, id}));
            wrong(said, "Masked.unmask", () -> masked.unmask(id));
            wrong(said, "Opaque.encode", () -> orders.encode(id));
        }
        isNull("the ids are null", "Masked.mask", () -> masked.mask(null));
        isNull("the text is null", "Opaque.decode", () -> orders.decode(null));
        wrong("", "Opaque.decode", () -> orders.decode(""));
        works("Masked.close", masked::close);
        works("Masked.close", masked::close);
        works("Opaque.close", orders::close);
        String said = "the keys were closed";
        closed(said, "Masked.mask", () -> masked.mask(1));
        closed(said, "Masked.mask", () -> masked.mask(new long[] {1}));
        closed(said, "Masked.unmask", () -> masked.unmask(1));
        closed(said, "Opaque.encode", () -> orders.encode(1));
        closed(said, "Opaque.decode", () -> orders.decode("ord_5H7WY7KKXFH1JCEMMC78CF0N9T"));
    }

    /** As they are handed to an executor, which takes two kinds of code. */
    @Test
    void takesAreHandedOnByName() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (UidGenerator uids = UidGenerator.fixed(7);
                Segments segments = Segments.open(file())) {
            SegmentTag tag = segments.create("rows");
            assertTrue(executor.submit(uids::take).get() > 0);
            assertEquals(1, executor.submit(tag::take).get());
            Callable<Long> take = uids::take;
            List<Long> taken = new ArrayList<>();
            executor.invokeAll(List.of(take, take)).forEach(one -> {
                try {
                    taken.add(one.get());
                } catch (Exception error) {
                    throw new AssertionError(error);
                }
            });
            assertEquals(2, taken.size());
        } finally {
            executor.shutdown();
        }
    }
}
