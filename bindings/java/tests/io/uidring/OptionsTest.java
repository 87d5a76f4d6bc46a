package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Options with values of their own types, and addresses as other clients write them. */
final class OptionsTest {
    @TempDir Path folder;

    private String file() {
        return folder.resolve("uidring.db").toString();
    }

    /** Each of them is known to the call that takes it. */
    @Test
    void optionsHaveValuesOfTheirOwnTypes() {
        Duration second = Duration.ofSeconds(1);
        Options options = new Options()
                .layout(34, 18, 11).epoch(Instant.parse("2026-01-01T00:00:00Z"))
                .tick(Duration.ofMillis(100)).maxLead(Duration.ofDays(1)).maxLag(second)
                .onLeadLimit("wait").slots(128).maxNewWorkers(7)
                .startDeadline(second).shutdownDeadline(Duration.ofMillis(1_500));
        try (UidGenerator uids = UidGenerator.fixed(7, options.map())) {
            assertEquals("layout=34,18,11 tick=100ms epoch=2026-01-01T00:00:00Z", uids.layout());
        }
        Options state = new Options().state(folder.resolve("state")).exactTime(true);
        try (UidGenerator uids = UidGenerator.fixed(7, state.map())) {
            assertTrue(uids.status().json().contains("\"exact_time\":true"));
        }
        Options leased = new Options().lease(Duration.ofMinutes(10)).workerIds(5, 9)
                .timeout(Duration.ofSeconds(2)).preset("twitter");
        try (UidGenerator uids = UidGenerator.open(file(), leased.map())) {
            assertEquals(5, uids.workerId());
        }
        Options part = new Options().partition(1, 2);
        try (UidGenerator uids =
                UidGenerator.open(folder.resolve("other.db").toString(), part.map())) {
            assertTrue(uids.workerId() > 1, uids.toString());
        }
        Options loading = new Options().maxWait(second).ahead(second).refresh(second)
                .maxInMemory(1_000).loads(2);
        Segments.open(file(), loading.map()).close();
        Options own = new Options().with("max-lead", Duration.ofHours(25)).with("exactTime", false)
                .with("slots", 64).with("MAX_LAG", "2s");
        UidGenerator.fixed(1, own.map()).close();
    }

    /** The program of docs/testing.md. */
    @Test
    void theProgramOfThePageOnTestsRuns() throws Exception {
        String page = Files.readString(Path.of("../../docs/testing.md"));
        String program = page.split("```java\n")[1].split("```")[0];
        Path file = Files.writeString(folder.resolve("Ids.java"), program);
        Process process = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp", System.getProperty("uidring.test.jar"), file.toString()).start();
        assertEquals("247513811307782185\n", new String(process.getInputStream().readAllBytes()));
        assertEquals(0, process.waitFor());
    }

    @Test
    void whatIsWrongIsToldByItsName() {
        for (Duration wrong : List.of(Duration.ofNanos(1), Duration.ofSeconds(-1))) {
            InvalidArgumentException refused = assertThrows(InvalidArgumentException.class,
                    () -> new Options().lease(wrong));
            assertTrue(refused.getMessage().contains("lease"), refused.getMessage());
        }
        assertThrows(NullPointerException.class, () -> new Options().password(null));
        InvalidArgumentException slots = assertThrows(InvalidArgumentException.class,
                () -> UidGenerator.fixed(1, new Options().slots(3).map()));
        assertTrue(slots.getMessage().contains("slots"), slots.getMessage());
        assertEquals("Options[password]", new Options().password("secret").toString());
    }

    @Test
    void userAndPasswordStandApartFromTheAddress() {
        Options login = new Options().user("nobody here").password("p@ss/w:rd%")
                .startDeadline(Duration.ofMillis(100));
        UnavailableException away = assertThrows(UnavailableException.class,
                () -> UidGenerator.open("postgres://127.0.0.1:1/ids", login.map()));
        String said = away.getMessage();
        assertTrue(said.contains("postgres://nobody%20here@127.0.0.1:1/ids"), said);
        assertFalse(said.contains("ss/w"), said);
        for (Map.Entry<String, String> wrong : Map.of(
                file(), "a file has neither a user nor a password",
                "mysql://you@db/ids", "the address names another user",
                "etcd://nobody%20here:x@db/ids", "the address has a password itself").entrySet()) {
            InvalidArgumentException refused = assertThrows(InvalidArgumentException.class,
                    () -> UidGenerator.open(wrong.getKey(), login.map()));
            assertTrue(refused.getMessage().contains(wrong.getValue()), refused.getMessage());
        }
        assertThrows(InvalidArgumentException.class, () -> UidGenerator.fixed(1, "user=me"));
    }

    /** With the user apart, on the server that the tests have. */
    @Test
    void aServerIsReachedByAnAddressOfJdbc() {
        URI server = URI.create(System.getenv("UIDRING_TEST_MYSQL"));
        String place = server.getHost() + ':' + server.getPort() + server.getPath();
        Options options = new Options().user(server.getUserInfo()).lease(Duration.ofMinutes(1))
                .timeout(Duration.ofSeconds(20));
        String address = "jdbc:mariadb://" + place + "?timezone=UTC&useServerPrepStmts=true";
        try (UidGenerator uids = UidGenerator.open(address, options.map())) {
            assertTrue(uids.take() > 0);
            assertEquals("mysql://" + server.getUserInfo() + '@' + place,
                    uids.status().store().orElseThrow().name());
        }
    }

    @Test
    void addressesOfJdbcAreRead() {
        try (UidGenerator uids = UidGenerator.open("jdbc:sqlite:" + file() + "?busy_timeout=9")) {
            assertEquals(file(), uids.status().store().orElseThrow().name());
        }
        for (String address : List.of("jdbc:mysql://127.0.0.1:1/ids?useSSL=false&user=me",
                "jdbc:mariadb://me@127.0.0.1:1/ids?timezone=UTC",
                "mariadb://me@127.0.0.1:1/ids")) {
            UnavailableException away = assertThrows(UnavailableException.class,
                    () -> UidGenerator.open(address, "start_deadline=100ms"));
            assertTrue(away.getMessage().contains("mysql://me@127.0.0.1:1/ids"), away.getMessage());
        }
        InvalidArgumentException unknown = assertThrows(InvalidArgumentException.class,
                () -> UidGenerator.open("jdbc:postgresql://db/ids?sslfactory=secret"));
        assertTrue(unknown.getMessage().contains("sslfactory"), unknown.getMessage());
        assertFalse(unknown.getMessage().contains("secret"), unknown.getMessage());
    }
}
