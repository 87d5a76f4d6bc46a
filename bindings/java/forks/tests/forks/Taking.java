package forks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/** Nodes that take ids at the same time. */
final class Taking {
    private final List<Callable<long[]>> nodes = new ArrayList<>();

    /** A node that takes so many ids. It retries what theirs refuse when their ring is empty. */
    void node(int count, LongSupplier takes) {
        nodes.add(() -> LongStream.generate(() -> retry(takes)).limit(count).toArray());
    }

    private static long retry(LongSupplier takes) {
        while (true) {
            try {
                return takes.getAsLong();
            } catch (RuntimeException empty) {
                if (!("" + empty.getMessage()).contains("Rejected take buffer")) {
                    throw empty;
                }
                Thread.onSpinWait();
            }
        }
    }

    /** The ids of all nodes, in ascending order. None may come twice. */
    long[] ids() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(nodes.size());
        List<long[]> taken = new ArrayList<>();
        try {
            for (Future<long[]> node : threads.invokeAll(nodes)) {
                taken.add(node.get());
            }
        } finally {
            threads.shutdown();
        }
        long[] ids = taken.stream().flatMapToLong(Arrays::stream).sorted().toArray();
        assertThat(ids[0]).isPositive();
        for (int i = 1; i < ids.length; i++) {
            assertThat(ids[i]).as("twice").isNotEqualTo(ids[i - 1]);
        }
        return ids;
    }
}
