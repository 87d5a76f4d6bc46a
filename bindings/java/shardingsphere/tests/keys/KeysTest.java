package keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.uidring.UidGenerator;
import io.uidring.shardingsphere.UidringKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The key generator in data sources of ShardingSphere, with a store that is a file. */
final class KeysTest {
    @TempDir Path folder;

    @AfterEach
    void end() {
        UidringKeys.close();
    }

    private Path store() {
        return folder.resolve("uidring.db");
    }

    /** How many generators the file has seen: the worker id of another one tells. */
    private long generators() {
        try (UidGenerator another = UidGenerator.open(store().toString(), "lease=10m")) {
            return another.workerId() - 1;
        }
    }

    @Test
    void dataSourcesOfOneStoreShareOneGenerator() throws Exception {
        Set<Long> ids = new HashSet<>();
        try (Shop first = new Shop(store()); Shop second = new Shop(store())) {
            ids.addAll(first.insert(500));
            ids.addAll(second.insert(500));
            ids.addAll(first.insert(500));
            assertEquals(1, generators());
        }
        assertEquals(1_500, ids.size());
    }

    @Test
    void otherStoresHaveGeneratorsOfTheirOwn() throws Exception {
        try (Shop first = new Shop(store());
                Shop second = new Shop(folder.resolve("other.db"))) {
            assertEquals(10, first.insert(10).size());
            assertEquals(10, second.insert(10).size());
        }
        assertTrue(Files.exists(store()) && Files.exists(folder.resolve("other.db")));
    }

    /** Taken slowly, where each second has a few ids, and quickly. */
    @Test
    void bothShardsAreFilledAlike() throws Exception {
        try (Shop shop = new Shop(store())) {
            for (int second = 0; second < 3; second++) {
                shop.insert(100);
                Thread.sleep(1_000);
            }
            long left = shop.rows(0);
            long right = shop.rows(1);
            assertEquals(300, left + right);
            assertTrue(left > 90 && right > 90, left + " and " + right);
        }
    }

    @Test
    void rowsOfOneStatementHaveTheirOwnIds() throws Exception {
        try (Shop shop = new Shop(store())) {
            shop.insert(10);
            assertEquals(3, shop.insertThreeAtOnce());
            assertEquals(13, shop.ids().size());
        }
    }

    @Test
    void aCloseGivesTheWorkerIdBack() throws Exception {
        // There is one worker id, so that none is left for the second data source before the close.
        String props = "{address: " + store() + ", worker-ids: 1-1}";
        Set<Long> ids = new HashSet<>();
        for (int round = 0; round < 2; round++) {
            try (Shop shop = new Shop(props)) {
                ids.addAll(shop.insert(10));
            }
            UidringKeys.close();
        }
        assertEquals(20, ids.size());
    }

    @Test
    void aMissingAddressIsNamed() {
        String sentence = causes(assertThrows(Exception.class, () -> new Shop("")));
        assertTrue(sentence.contains("set address in its props"), sentence);
    }

    @Test
    void anOptionThatIsWrongIsNamed() {
        String props = "{address: " + store() + ", max-leed: 1d}";
        String sentence = causes(assertThrows(Exception.class, () -> new Shop(props)));
        assertTrue(sentence.contains("max-leed"), sentence);
    }

    private static String causes(Throwable error) {
        StringBuilder all = new StringBuilder();
        for (Throwable next = error; next != null; next = next.getCause()) {
            all.append(next).append('\n');
        }
        return all.toString();
    }

    @Test
    void programsAtOnceAndAfterARestartGetNoIdTwice() throws Exception {
        Set<Long> ids = new HashSet<>();
        int count = 0;
        for (int round = 0; round < 2; round++) {
            List<Process> programs = new ArrayList<>();
            for (int program = 0; program < 2; program++) {
                programs.add(new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                        System.getProperty("java.class.path"), Shop.class.getName(),
                        store().toString()).redirectError(ProcessBuilder.Redirect.DISCARD).start());
            }
            for (Process program : programs) {
                String told = new String(program.getInputStream().readAllBytes());
                for (String line : told.split("\n")) {
                    if (line.startsWith("id ")) {
                        count++;
                        ids.add(Long.parseLong(line.substring(3).trim()));
                    }
                }
                assertEquals(0, program.waitFor());
            }
        }
        assertEquals(4_000, count);
        assertEquals(count, ids.size());
    }
}
