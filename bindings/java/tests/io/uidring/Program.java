package io.uidring;

import java.io.DataOutputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the tests run in a Java machine of its own. */
final class Program {
    /** Held to the end, as a program holds it that does not close it. */
    private static UidGenerator held;

    private static Segments segments;

    private Program() {}

    public static void main(String[] arguments) throws Exception {
        String address = arguments[1];
        switch (arguments[0]) {
            case "exit" -> {
                held = UidGenerator.open(address, "lease=10m");
                segments = Segments.open(address);
                segments.create("rows").take();
                System.out.println("took " + held.take());
                Thread taker = new Thread(() -> {
                    while (true) {
                        held.take();
                    }
                });
                taker.start();
                System.exit(7);
            }
            case "end" -> {
                // The last thread of Java's ends, and that of the generator runs on.
                held = UidGenerator.open(address);
                System.out.println("took " + held.take());
            }
            case "close" -> {
                try (UidGenerator uids = UidGenerator.open(address)) {
                    System.out.println("took " + uids.take());
                }
            }
            case "hook" -> {
                held = UidGenerator.open(address, "lease=10m");
                segments = Segments.open(address);
                Series series = Series.open(address);
                Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                    held.close();
                    segments.close();
                    series.close();
                }));
                System.out.println("took " + held.take());
            }
            case "take" -> {
                Path out = Path.of(arguments[2]);
                try (UidGenerator uids = UidGenerator.open(address);
                        Segments numbers = Segments.open(address);
                        OutputStream file = Files.newOutputStream(out);
                        DataOutputStream written = new DataOutputStream(file)) {
                    SegmentTag rows = numbers.create("rows", "step=1000");
                    byte[] bytes = new byte[8 * 40_000];
                    java.nio.LongBuffer longs = java.nio.ByteBuffer.wrap(bytes).asLongBuffer();
                    for (int i = 0; i < 10_000; i++) {
                        longs.put(uids.take());
                    }
                    longs.put(uids.takeMany(10_000));
                    longs.put(rows.takeMany(20_000));
                    written.write(bytes);
                }
            }
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }
}
