package starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.micrometer.core.instrument.MeterRegistry;
import io.uidring.InvalidArgumentException;
import io.uidring.Segments;
import io.uidring.Series;
import io.uidring.State;
import io.uidring.UidGenerator;
import io.uidring.UidSource;
import io.uidring.UnavailableException;
import io.uidring.spring.NoAddressException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import shop.Shop;

/** The starter in a whole program of Spring Boot, with a store that is a file. */
@ExtendWith(OutputCaptureExtension.class)
final class StarterTest {
    @TempDir Path folder;

    private Path file() {
        return folder.resolve("uidring.db");
    }

    private String address() {
        return "uidring.address=" + file();
    }

    private static ConfigurableApplicationContext start(Class<?>[] more, String... properties) {
        List<Class<?>> sources = new ArrayList<>(List.of(Shop.class));
        sources.addAll(Arrays.asList(more));
        List<String> arguments = new ArrayList<>(List.of("server.port=0",
                "spring.main.banner-mode=off",
                "management.endpoints.web.exposure.include=*",
                "management.endpoint.health.probes.enabled=true",
                "management.endpoint.health.show-details=always"));
        arguments.addAll(List.of(properties));
        if (arguments.stream().noneMatch(argument -> argument.startsWith("spring.datasource."))) {
            arguments.add("spring.datasource.url=jdbc:sqlite::memory:");
        }
        return new SpringApplicationBuilder(sources.toArray(new Class<?>[0]))
                .run(arguments.stream().map(argument -> "--" + argument).toArray(String[]::new));
    }

    private static ConfigurableApplicationContext start(String... properties) {
        return start(new Class<?>[0], properties);
    }

    private static HttpResponse<String> get(ConfigurableApplicationContext context, String path)
            throws IOException, InterruptedException {
        String port = context.getEnvironment().getProperty("local.server.port");
        return HttpClient.newHttpClient().send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.sleep(20);
        }
    }

    @Test
    void aProgramWithAnAddressHasIds() throws Exception {
        UidGenerator uids;
        try (ConfigurableApplicationContext context = start(address())) {
            uids = context.getBean(UidGenerator.class);
            assertThat(uids.status().isLeased()).isTrue();
            long order = Long.parseLong(get(context, "/order").body());
            assertThat(uids.parts(order).worker()).isEqualTo(uids.workerId());
        }
        assertThat(uids.status().state()).isEqualTo(State.CLOSED);
    }

    /** What a newcomer finds on the page is the program of these tests, as it stands. */
    @Test
    void thePageHasThisProgram() throws IOException {
        String page = Files.readString(Path.of("../README.md"));
        String program = page.split("```java\n")[1].split("```")[0];
        assertThat(Files.readString(Path.of("../shop/shop/Shop.java")))
                .isEqualTo("package shop;\n\n" + program);
        String properties = page.split("```properties\n")[1].split("```")[0];
        String[] lines = properties.replace("/srv/uidring.db", file().toString()).split("\n");
        try (ConfigurableApplicationContext context = start(lines)) {
            assertThat(context.getBean(UidSource.class).take()).isPositive();
        }
    }

    @Test
    void contextsAtOnceAndOneAfterAnotherHaveTheirOwnWorkerIds() {
        try (ConfigurableApplicationContext first = start(address());
                ConfigurableApplicationContext second = start(address())) {
            assertThat(first.getBean(UidGenerator.class).workerId()).isEqualTo(1);
            assertThat(second.getBean(UidGenerator.class).workerId()).isEqualTo(2);
            first.close();
            assertThat(second.getBean(UidSource.class).take()).isPositive();
        }
        // Each was given back.
        try (ConfigurableApplicationContext third = start(address())) {
            assertThat(third.getBean(UidGenerator.class).workerId()).isLessThanOrEqualTo(2);
        }
    }

    @Test
    void theLogHasEachEventOfEachContextOnce() {
        List<String> told = new CopyOnWriteArrayList<>();
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                told.add(event.getFormattedMessage().split(":")[0]);
            }
        };
        ConfigurableApplicationContext first = start(address());
        ConfigurableApplicationContext second = start(address());
        // After Spring has set the log up.
        Logger log = (Logger) LoggerFactory.getLogger("io.uidring");
        appender.start();
        log.addAppender(appender);
        ConfigurableApplicationContext third = start(address());
        log.detachAppender(appender);
        log.addAppender(appender);
        first.close();
        assertThat(told.stream().filter("stopped"::equals)).hasSize(1);
        second.close();
        third.close();
        assertThat(told.stream().filter("stopped"::equals)).hasSize(3);
        assertThat(told).doesNotContain("not_released");
    }

    @Test
    void healthFollowsTheStore() throws Exception {
        try (ConfigurableApplicationContext context =
                start(address(), "uidring.lease=4s", "uidring.timeout=1s")) {
            assertThat(get(context, "/actuator/health").body())
                    .contains("\"uidring\":{", "\"workerId\":1");
            assertThat(get(context, "/actuator/health/readiness").statusCode()).isEqualTo(200);
            Path away = folder.resolve("away.db");
            Files.move(file(), away);
            UidGenerator uids = context.getBean(UidGenerator.class);
            await(() -> !uids.status().store().orElseThrow().isReachable());
            String degraded = get(context, "/actuator/health").body();
            assertThat(degraded).contains("\"storeReachable\":false", "no such file");
            await(() -> {
                try {
                    return get(context, "/order").statusCode() == 503;
                } catch (IOException | InterruptedException problem) {
                    throw new AssertionError(problem);
                }
            });
            HttpResponse<String> none = get(context, "/order");
            assertThat(none.statusCode()).isEqualTo(503);
            assertThat(none.headers().firstValue("Retry-After")).hasValue("1");
            assertThat(none.headers().firstValue("Content-Type").orElseThrow())
                    .startsWith("application/problem+json");
            assertThat(none.body()).doesNotContain(file().toString());
            HttpResponse<String> down = get(context, "/actuator/health/readiness");
            assertThat(down.statusCode()).isEqualTo(503);
            Files.move(away, file());
            await(() -> {
                try {
                    return get(context, "/actuator/health/readiness").statusCode() == 200;
                } catch (IOException | InterruptedException problem) {
                    throw new AssertionError(problem);
                }
            });
        }
    }

    @Test
    void healthMayBeSwitchedOff() throws Exception {
        try (ConfigurableApplicationContext context =
                start(address(), "management.health.uidring.enabled=false")) {
            assertThat(get(context, "/actuator/health").body()).doesNotContain("uidring");
        }
    }

    @Test
    void metersHaveTheNamesOfTheLibrary() throws Exception {
        try (ConfigurableApplicationContext context = start(address())) {
            long[] taken = context.getBean(UidSource.class).takeMany(100);
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            assertThat(meters.get("uidring.taken.uids").functionCounter().count())
                    .isGreaterThanOrEqualTo(taken.length);
            assertThat(meters.get("uidring.giving.uids").gauge().value()).isEqualTo(1);
            assertThat(meters.get("uidring.worker.id").gauge().value()).isEqualTo(1);
        }
    }

    @Test
    void propertiesAreOptions() {
        try (ConfigurableApplicationContext context = start(address(), "uidring.layout=41,10,12",
                "uidring.tick=1ms", "uidring.epoch=2026-01-01", "uidring.exact-time=true",
                "uidring.worker-ids=5-9", "uidring.options.max-lag=2s", "uidring.lease=0",
                "uidring.segments.enabled=true", "uidring.series.enabled=true",
                "uidring.series.options.max-in-memory=1000")) {
            UidGenerator uids = context.getBean(UidGenerator.class);
            assertThat(uids.layout()).startsWith("layout=41,10,12 tick=1ms epoch=2026-01-01");
            assertThat(uids.workerId()).isEqualTo(5);
            assertThat(uids.status().isLeased()).isFalse();
            assertThat(context.getBean(Segments.class).create("rows").take()).isEqualTo(1);
            Series series = context.getBean(Series.class);
            series.create("orders", "O{n:3}");
            assertThat(series.next("orders").text()).isEqualTo("O001");
        }
        try (ConfigurableApplicationContext context = start("uidring.worker-id=7",
                "uidring.state-file=" + folder.resolve("state"))) {
            assertThat(context.getBean(UidGenerator.class).workerId()).isEqualTo(7);
            assertThat(folder.resolve("state")).exists();
        }
    }

    @Test
    void aStartThatFailsTellsTheSentence(CapturedOutput output) {
        assertThatThrownBy(() -> start(address(), "uidring.lease=1ms"))
                .hasRootCauseInstanceOf(InvalidArgumentException.class);
        assertThat(output).contains("APPLICATION FAILED TO START", "There are no ids: ",
                "Correct the properties below uidring");
    }

    @Test
    void withoutAnAddressTheDatabaseIsTheStore(CapturedOutput output) {
        String[] database = {"spring.datasource.url=jdbc:mysql://127.0.0.1:1/ids?useSSL=false",
            "spring.datasource.driver-class-name=org.sqlite.JDBC",
            "spring.datasource.username=shop", "spring.datasource.password=secret",
            "uidring.start-deadline=100ms"};
        assertThatThrownBy(() -> start(database))
                .hasRootCauseInstanceOf(UnavailableException.class);
        assertThat(output).contains("mysql://shop@127.0.0.1:1/ids").doesNotContain("secret");
        assertThatThrownBy(() -> start("spring.datasource.url=jdbc:sqlite:" + file()))
                .hasRootCauseInstanceOf(NoAddressException.class);
        assertThat(output).contains("two copies of SQLite in one process");
    }

    @Test
    void itMayBeSwitchedOffAndReplaced() {
        try (ConfigurableApplicationContext context =
                start(new Class<?>[] {Counter.class}, "uidring.enabled=false")) {
            assertThat(context.getBeansOfType(UidGenerator.class)).isEqualTo(Map.of());
            assertThat(context.getBean(UidSource.class).take()).isEqualTo(1_001);
        }
        try (ConfigurableApplicationContext context = start(new Class<?>[] {Own.class})) {
            assertThat(context.getBean(UidGenerator.class).workerId()).isEqualTo(3);
        }
        try (ConfigurableApplicationContext context =
                start(new Class<?>[] {Decorated.class}, address())) {
            assertThat(context.getBean(UidSource.class).take()).isNegative();
        }
    }

    @Configuration
    static class Counter {
        @Bean
        UidSource ids() {
            return new AtomicLong(1_000)::incrementAndGet;
        }
    }

    @Configuration
    static class Own {
        @Bean
        UidGenerator ids() {
            return UidGenerator.fixed(3);
        }
    }

    /** By a proxy of the generator, which is made when it is used. */
    @Configuration
    static class Decorated {
        @Bean
        @Primary
        UidSource negative(@Lazy @org.springframework.beans.factory.annotation.Qualifier(
                "uidGenerator") UidSource ids) {
            return () -> -ids.take();
        }
    }
}
