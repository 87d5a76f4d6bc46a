import com.baidu.fsg.uid.UidGenerator;
import io.uidring.SegmentTag;
import io.uidring.Segments;
import io.uidring.Series;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * How long an id takes: with uidring, and with Baidu's UidGenerator if its classes are on the class
 * path. All of them run by turns in this one Java machine, each for a slice of time. It prints the
 * medians of the slices, in nanoseconds of the wall clock for an id of all threads together.
 *
 * <p>Taken without a pause, UidGenerator is as fast as the thread that refills its ring. So there
 * are bursts as well: one thread takes 10,000 ids, which its ring has at hand, and then pauses
 * while the ring is refilled. The pauses are not counted.
 *
 * <p>A refusal is an id that UidGenerator did not give, because its ring was empty. It is not
 * counted as an id, and the time that its exception costs is part of the slice.
 */
public final class Bench {
    private static final int SLICES = Integer.getInteger("slices", 11);
    private static final long SLICE_NANOS = Integer.getInteger("millis", 300) * 1_000_000L;
    private static final String BAIDUS = "com.baidu.fsg.uid.impl.CachedUidGenerator";

    /** Keeps what is taken from being optimised away. */
    private static volatile long sink;

    private Bench() {}

    /** One of those that are compared. */
    private interface Taker {
        /** Takes some ids, and adds them up into the first element. Returns how many they were. */
        int take(long[] sum);
    }

    private static final class Row {
        private final Taker taker;
        private final LongAdder refusals = new LongAdder();
        private final Map<Integer, List<Double>> nanos = new LinkedHashMap<>();

        Row(Taker taker) {
            this.taker = taker;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("uidring-bench-");
        String file = folder.resolve("uidring.db").toString();
        Map<String, Row> rows = new LinkedHashMap<>();

        AtomicLong atomic = new AtomicLong();
        rows.put("AtomicLong.incrementAndGet", new Row(sum -> {
            for (int i = 0; i < 1_000; i++) {
                sum[0] += atomic.incrementAndGet();
            }
            return 1_000;
        }));
        // The layout of all: 31 bits of seconds, 19 of the worker id, 13 of the sequence.
        io.uidring.UidGenerator uids = io.uidring.UidGenerator.open(
                file, "layout=31,19,13", "epoch=2016-09-20", "max_lead=3650d");
        rows.put("uidring: take()", new Row(sum -> {
            for (int i = 0; i < 1_000; i++) {
                sum[0] += uids.take();
            }
            return 1_000;
        }));
        ThreadLocal<long[]> arrays = ThreadLocal.withInitial(() -> new long[1_000]);
        rows.put("uidring: fill(long[1000])", new Row(sum -> {
            long[] array = arrays.get();
            uids.fill(array);
            sum[0] += array[0] + array[999];
            return array.length;
        }));
        ThreadLocal<long[]> small = ThreadLocal.withInitial(() -> new long[10]);
        rows.put("uidring: fill(long[10])", new Row(sum -> {
            long[] array = small.get();
            for (int i = 0; i < 100; i++) {
                uids.fill(array);
                sum[0] += array[0] + array[9];
            }
            return 100 * array.length;
        }));
        Segments segments = Segments.open(file);
        SegmentTag tag = segments.create("rows", "step=1000000000");
        rows.put("uidring: SegmentTag.take()", new Row(sum -> {
            for (int i = 0; i < 1_000; i++) {
                sum[0] += tag.take();
            }
            return 1_000;
        }));
        Series series = Series.open(file);
        series.create("tickets", "T-{n:12}", "step=1000000000");
        rows.put("uidring: Series.next()", new Row(sum -> {
            for (int i = 0; i < 1_000; i++) {
                sum[0] += series.next("tickets").text().length();
            }
            return 1_000;
        }));
        rows.put("uidring: Series.nextMany(1000)", new Row(sum -> {
            var numbers = series.nextMany("tickets", 1_000, null, null);
            sum[0] += numbers.get(999).text().length();
            return numbers.size();
        }));
        var face = new io.uidring.uidgenerator.CachedUidGenerator();
        face.setWorkerIdAssigner(() -> 1);
        face.setTimeBits(31);
        face.setWorkerBits(19);
        face.setEpochStr("2016-09-20");
        face.setOptions(Map.of("max_lead", "3650d"));
        rows.put("uidring: getUID() of the bean", new Row(sum -> {
            for (int i = 0; i < 1_000; i++) {
                sum[0] += face.getUID();
            }
            return 1_000;
        }));
        List<UidGenerator> baidus = new ArrayList<>();
        for (int boostPower : isThere(BAIDUS) ? new int[] {3, 7} : new int[0]) {
            UidGenerator theirs = theirs(boostPower);
            baidus.add(theirs);
            String name = "UidGenerator: getUID(), boost " + boostPower;
            rows.put(name, new Row(sum -> {
                int count = 0;
                for (int i = 0; i < 1_000; i++) {
                    try {
                        sum[0] += theirs.getUID();
                        count++;
                    } catch (RuntimeException refused) {
                        rows.get(name).refusals.increment();
                    }
                }
                return count;
            }));
        }
        if (!baidus.isEmpty()) {
            compareTexts(face, baidus.get(0));
        }

        // 0 stands for bursts of one thread.
        int[] threads = {0, 1, 8};
        // The first slices compile the code.
        for (int slice = -3; slice < SLICES; slice++) {
            for (int count : threads) {
                for (Row row : rows.values()) {
                    double nanos = count == 0 ? bursts(row.taker) : slice(row.taker, count);
                    if (slice >= 0) {
                        row.nanos.computeIfAbsent(count, key -> new ArrayList<>()).add(nanos);
                    } else {
                        row.refusals.reset();
                    }
                }
            }
        }
        System.out.printf("%d slices of %d ms, %d processors, Java %s%n", SLICES,
                SLICE_NANOS / 1_000_000, Runtime.getRuntime().availableProcessors(),
                Runtime.version());
        System.out.printf("%-36s %22s %22s %22s %9s%n", "ns for an id, median (least-most)",
                "bursts", "1 thread", "8 threads", "refusals");
        rows.forEach((name, row) -> System.out.printf("%-36s %22s %22s %22s %9d%n", name,
                text(row.nanos.get(0)), text(row.nanos.get(1)), text(row.nanos.get(8)),
                row.refusals.sum()));
        uids.close();
        segments.close();
        series.close();
        face.close();
        // The threads of UidGenerator would keep the program from ending.
        System.exit(0);
    }

    private static String text(List<Double> nanos) {
        double[] sorted = nanos.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return String.format("%6.2f (%.2f-%.2f)", sorted[sorted.length / 2], sorted[0],
                sorted[sorted.length - 1]);
    }

    /** Takes for a slice of time in several threads. Returns nanoseconds for an id. */
    private static double slice(Taker taker, int threads) throws InterruptedException {
        LongAdder taken = new LongAdder();
        CountDownLatch ready = new CountDownLatch(threads);
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> {
                long[] sum = new long[16];
                taker.take(sum);
                ready.countDown();
                try {
                    go.await();
                } catch (InterruptedException error) {
                    throw new AssertionError(error);
                }
                long count = 0;
                for (long end = System.nanoTime() + SLICE_NANOS; System.nanoTime() < end;) {
                    count += taker.take(sum);
                }
                taken.add(count);
                sink += sum[0];
            });
            thread.start();
            started.add(thread);
        }
        ready.await();
        long begin = System.nanoTime();
        go.countDown();
        for (Thread thread : started) {
            thread.join();
        }
        return (double) (System.nanoTime() - begin) / taken.sum();
    }

    /** Takes in bursts for a slice of time. Returns nanoseconds for an id, without the pauses. */
    private static double bursts(Taker taker) throws InterruptedException {
        long[] sum = new long[16];
        long count = 0;
        long nanos = 0;
        for (long end = System.nanoTime() + SLICE_NANOS; System.nanoTime() < end;) {
            long begin = System.nanoTime();
            for (int i = 0; i < 10; i++) {
                count += taker.take(sum);
            }
            nanos += System.nanoTime() - begin;
            Thread.sleep(5);
        }
        sink += sum[0];
        return (double) nanos / count;
    }

    private static boolean isThere(String name) {
        try {
            Class.forName(name);
            return true;
        } catch (ClassNotFoundException error) {
            System.out.println("without Baidu's classes: see the head of bindings/java/bench/run");
            return false;
        }
    }

    /** Baidu's generator, made without naming its class, which need not be there. */
    private static UidGenerator theirs(int boostPower) throws Exception {
        Class<?> type = Class.forName(BAIDUS);
        Object bean = type.getConstructor().newInstance();
        Class<?> assigner = Class.forName("com.baidu.fsg.uid.worker.WorkerIdAssigner");
        Object one = Proxy.newProxyInstance(Bench.class.getClassLoader(),
                new Class<?>[] {assigner}, (proxy, method, args) -> 1L);
        type.getMethod("setWorkerIdAssigner", assigner).invoke(bean, one);
        for (Object[] property : new Object[][] {
            {"setTimeBits", 31}, {"setWorkerBits", 19}, {"setSeqBits", 13},
            {"setBoostPower", boostPower}
        }) {
            Method setter = type.getMethod((String) property[0], int.class);
            setter.invoke(bean, property[1]);
        }
        type.getMethod("setEpochStr", String.class).invoke(bean, "2016-09-20");
        type.getMethod("afterPropertiesSet").invoke(bean);
        return (UidGenerator) bean;
    }

    /** That both write the same text of any id. */
    private static void compareTexts(UidGenerator ours, UidGenerator theirs) {
        Random random = new Random(1);
        int count = 200_000;
        for (int i = 0; i < count; i++) {
            // Small ids as well as large ones.
            long uid = random.nextLong() >>> random.nextInt(64);
            if (!ours.parseUID(uid).equals(theirs.parseUID(uid))) {
                throw new AssertionError(ours.parseUID(uid) + " is not " + theirs.parseUID(uid));
            }
        }
        System.out.println("the texts of " + count + " ids are the same as UidGenerator's");
        if (!Arrays.asList(ours.getClass().getInterfaces()).contains(UidGenerator.class)) {
            throw new AssertionError("not the same interface");
        }
    }
}
