package starter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program as a process: as a fat jar, and under devtools. */
final class ProgramTest {
    private static final int SIGTERM = 128 + 15;

    private final HttpClient client = HttpClient.newHttpClient();

    @TempDir Path folder;

    @Test
    void aFatJarAnswersUntilASignalEndsIt() throws Exception {
        Set<String> ids = ConcurrentHashMap.newKeySet();
        for (int start = 0; start < 2; start++) {
            try (Program program = new Program("-jar", System.getProperty("shop.jar"))) {
                askUntilItEnds(program, ids);
                assertThat(program.said())
                        .containsOnlyOnce("started: the generator has started worker=1 ")
                        .containsOnlyOnce("stopped: the generator has stopped worker=1 ")
                        .doesNotContain("not_released", "Exception");
            }
        }
    }

    /** Each request that was begun before the signal has an id of its own. */
    private void askUntilItEnds(Program program, Set<String> ids) throws Exception {
        HttpRequest request = program.order();
        List<Future<Integer>> askers = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        for (int asker = 0; asker < 4; asker++) {
            askers.add(threads.submit(() -> {
                int count = 0;
                while (true) {
                    HttpResponse<String> answer;
                    try {
                        answer = client.send(request, HttpResponse.BodyHandlers.ofString());
                    } catch (IOException ended) {
                        return count;
                    }
                    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
                    assertThat(ids.add(answer.body())).isTrue();
                    count++;
                }
            }));
        }
        int before = ids.size();
        while (ids.size() < before + 200) {
            assertThat(askers).noneMatch(Future::isDone);
            Thread.sleep(10);
        }
        program.process.destroy();
        for (Future<Integer> asker : askers) {
            assertThat(asker.get(60, TimeUnit.SECONDS)).isPositive();
        }
        threads.shutdown();
        assertThat(program.process.waitFor()).isEqualTo(SIGTERM);
    }

    @Test
    void eachRestartOfDevtoolsClosesTheGeneratorBefore() throws Exception {
        Path classes = folder.resolve("classes");
        copy(Path.of(System.getProperty("shop.classes")), classes);
        String path = Stream.of(System.getProperty("surefire.test.class.path").split(":"))
                .filter(each -> !each.endsWith("classes"))
                .reduce(classes + File.pathSeparator + System.getProperty("shop.devtools"),
                        (before, each) -> before + File.pathSeparator + each);
        try (Program program = new Program("-cp", path,
                "-Dspring.devtools.restart.poll-interval=200ms",
                "-Dspring.devtools.restart.quiet-period=100ms",
                "-Dspring.devtools.livereload.enabled=false", "shop.Shop")) {
            for (int restarts = 0; restarts < 3; restarts++) {
                program.awaitStart(restarts + 1);
                HttpResponse<String> answer =
                        client.send(program.order(), HttpResponse.BodyHandlers.ofString());
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
                assertThat(program.said().split("the generator has stopped worker=1 ", -1))
                        .hasSize(restarts + 1);
                Files.writeString(classes.resolve("changed" + restarts), "");
            }
            program.awaitStart(4);
            assertThat(program.said()).doesNotContain("worker=2", "not_released");
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> paths = Files.walk(from)) {
            for (Path path : (Iterable<Path>) paths::iterator) {
                Files.copy(path, to.resolve(from.relativize(path).toString()));
            }
        }
    }

    /** A process of Java, which ends with this. */
    private final class Program implements AutoCloseable {
        private static final Pattern STARTED = Pattern.compile("Tomcat started on port (\\d+)");

        private final Path log;
        private final Process process;

        Program(String... arguments) throws IOException {
            log = Files.createTempFile(folder, "program", ".log");
            List<String> command = new ArrayList<>();
            command.add(System.getProperty("java.home") + "/bin/java");
            command.addAll(List.of(arguments));
            command.addAll(List.of("--server.port=0", "--spring.main.banner-mode=off",
                    "--spring.datasource.url=jdbc:sqlite::memory:",
                    "--uidring.address=" + folder.resolve("uidring.db")));
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true).redirectOutput(log.toFile()).start();
        }

        String said() throws IOException {
            return Files.readString(log, UTF_8);
        }

        /** The request for an id, once the program is there. */
        HttpRequest order() throws IOException, InterruptedException {
            List<String> ports = awaitStart(1);
            String port = ports.get(ports.size() - 1);
            URI order = URI.create("http://127.0.0.1:" + port + "/order");
            return HttpRequest.newBuilder(order).build();
        }

        /** Waits for as many starts, and returns the port of each. */
        List<String> awaitStart(int starts) throws IOException, InterruptedException {
            while (true) {
                List<String> ports =
                        STARTED.matcher(said()).results().map(found -> found.group(1)).toList();
                if (ports.size() >= starts) {
                    return ports;
                }
                assertThat(process.isAlive()).as(said()).isTrue();
                Thread.sleep(50);
            }
        }

        @Override
        public void close() throws InterruptedException {
            process.destroyForcibly().waitFor();
        }
    }
}
