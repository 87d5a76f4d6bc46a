package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Java machines with generators: how they end, and that two of them make different ids. */
final class ProcessTest {
    @TempDir Path folder;

    private String file() {
        return folder.resolve("uidring.db").toString();
    }

    @Test
    void anExitEndsAProgramWhoseGeneratorsAreOpen() throws Exception {
        for (int i = 0; i < 3; i++) {
            String output = Support.output(
                    Support.java(List.of("-Xcheck:jni"), Program.class, "exit", file()), 7);
            assertTrue(output.contains("took "), output);
            assertTrue(!output.contains("native method"), output);
        }
    }

    @Test
    void anOpenGeneratorDoesNotKeepAProgramFromEnding() throws Exception {
        String output =
                Support.output(Support.java(List.of(), Program.class, "end", file()), 0);
        assertTrue(output.contains("took "), output);
    }

    @Test
    void whatHappensIsToldBeforeAProgramEnds() throws Exception {
        String output =
                Support.output(Support.java(List.of(), Program.class, "close", file()), 0);
        for (String said : List.of("started: the generator has started worker=1 ",
                "stopped: the generator has stopped worker=1 taken=1")) {
            assertTrue(output.contains("INFO: " + said), output);
        }
    }

    /** The log manager's own hook takes its handlers away at the same time. */
    @Test
    void whatAShutdownHookClosesIsTold() throws Exception {
        for (int i = 0; i < 6; i++) {
            String output =
                    Support.output(Support.java(List.of(), Program.class, "hook", file()), 0);
            for (String said : List.of("INFO: stopped: the generator has stopped worker=",
                    "INFO: segments_stopped: the loader of segments has stopped source=")) {
                assertTrue(output.contains(said), output);
            }
            // Segments and series.
            assertEquals(2, output.split("segments_stopped", -1).length - 1, output);
        }
    }

    /** What the program's own log would not have told is not told by the way of the end either. */
    @Test
    void whatNoHandlerTellsIsNotToldAtTheEndEither() throws Exception {
        Path settings = folder.resolve("logging.properties");
        for (String lines : List.of(
                "handlers=java.util.logging.ConsoleHandler\nio.uidring.level=WARNING\n",
                "handlers=java.util.logging.ConsoleHandler\n"
                        + "java.util.logging.ConsoleHandler.level=SEVERE\n",
                "handlers=\n",
                "handlers=java.util.logging.ConsoleHandler\nio.uidring.useParentHandlers=false\n"
        )) {
            Files.writeString(settings, lines);
            List<String> options = List.of("-Djava.util.logging.config.file=" + settings);
            String output =
                    Support.output(Support.java(options, Program.class, "hook", file()), 0);
            assertTrue(output.contains("took "), output);
            assertFalse(output.contains("INFO") || output.contains("stopped:"), output);
        }
    }

    @Test
    void twoMachinesWithOneFileMakeDifferentIds() throws Exception {
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            String out = folder.resolve("taken-" + i).toString();
            processes.add(Support.java(List.of(), Program.class, "take", file(), out)
                    .inheritIO().start());
        }
        List<long[]> uids = new ArrayList<>();
        List<long[]> numbers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            assertEquals(0, processes.get(i).waitFor());
            byte[] bytes = Files.readAllBytes(folder.resolve("taken-" + i));
            long[] taken = new long[bytes.length / 8];
            ByteBuffer.wrap(bytes).asLongBuffer().get(taken);
            assertEquals(40_000, taken.length);
            uids.add(Arrays.copyOf(taken, 20_000));
            numbers.add(Arrays.copyOfRange(taken, 20_000, 40_000));
        }
        Support.assertDistinct(uids);
        Support.assertDistinct(numbers);
    }
}
