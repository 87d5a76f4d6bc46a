package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** What several tests use. */
final class Support {
    private Support() {}

    /** Runs the same in several threads at once, and returns what each of them returned. */
    static <T> List<T> inThreads(int threads, Callable<T> body) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<T>> bodies = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                bodies.add(body);
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : executor.invokeAll(bodies)) {
                results.add(future.get());
            }
            return results;
        } finally {
            executor.shutdown();
        }
    }

    /** That no number comes twice. */
    static void assertDistinct(List<long[]> arrays) {
        long[] all = arrays.stream().flatMapToLong(Arrays::stream).toArray();
        Arrays.sort(all);
        for (int i = 1; i < all.length; i++) {
            assertNotEquals(all[i - 1], all[i], "a number came twice");
        }
    }

    static void assertAscending(long[] numbers) {
        for (int i = 1; i < numbers.length; i++) {
            assertTrue(numbers[i - 1] < numbers[i], "number " + i + " is not above the one before");
        }
    }

    /** Another Java machine with this class path. */
    static ProcessBuilder java(List<String> options, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }

    /** Runs a Java machine to its end, and returns what it printed. */
    static String output(ProcessBuilder java, int status) throws Exception {
        Process process = java.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(status, process.waitFor(), output);
        return output;
    }

    /** How many threads of this process the native library has. */
    static long nativeThreads() {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            return tasks.filter(Support::isOurs).count();
        } catch (IOException error) {
            throw new AssertionError(error);
        }
    }

    private static boolean isOurs(Path task) {
        try {
            return Files.readString(task.resolve("comm")).startsWith("uidring");
        } catch (IOException error) {
            // It has ended meanwhile.
            return false;
        }
    }

    /** Collects garbage until something is so. It fails if that takes far too long. */
    static void collectUntil(String what, BooleanSupplier isSo) throws InterruptedException {
        for (int i = 0; i < 600; i++) {
            if (isSo.getAsBoolean()) {
                return;
            }
            System.gc();
            Thread.sleep(50);
        }
        throw new AssertionError("not so after 600 collections: " + what);
    }
}
