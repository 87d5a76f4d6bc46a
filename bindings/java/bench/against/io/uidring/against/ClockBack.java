package io.uidring.against;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.LongSupplier;
import java.util.logging.LogManager;
import java.util.stream.LongStream;

/** What each generator does for two seconds after the clock has gone back by ten. */
public final class ClockBack {
    private static final int MOST = 4_000_000;

    private ClockBack() {}

    /** The argument is the file from which libfaketime reads the offset of the clock. */
    public static void main(String[] arguments) throws Exception {
        Path offset = Path.of(arguments[0]);
        // What uidring tells of the clock.
        LogManager.getLogManager().reset();
        for (Generators generator : Generators.values()) {
            LongSupplier takes = generator.open();
            Files.writeString(offset, "+0");
            long[] before = new long[MOST];
            int first = take(takes, before, 0, 500)[0];
            Files.writeString(offset, "-10");
            int[] after = take(takes, before, first, 2_000);
            long[] all = LongStream.of(before).limit(after[0]).sorted().toArray();
            long twice = all.length - Arrays.stream(all).distinct().count();
            System.out.printf("%-20s before %,9d, after %,9d, refused %,9d, twice %,d%n",
                    generator, first, after[0] - first, after[1], twice);
        }
        System.exit(0);
    }

    /** Takes from the index on for so many milliseconds: to which index, and how often in vain. */
    private static int[] take(LongSupplier takes, long[] ids, int index, long ms) {
        int most = Math.min(MOST, index + MOST / 2);
        int refused = 0;
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end;) {
            if (index == most) {
                break;
            }
            try {
                ids[index] = takes.getAsLong();
                index++;
            } catch (RuntimeException error) {
                refused++;
            }
        }
        return new int[] {index, refused};
    }
}
