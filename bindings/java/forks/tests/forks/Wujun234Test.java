package forks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.wujun234.uid.UidAutoConfigure;
import com.github.wujun234.uid.UidGenerator;
import com.github.wujun234.uid.worker.DisposableWorkerIdAssigner;
import com.github.wujun234.uid.worker.WorkerIdAssigner;
import io.uidring.uidgenerator.wujun234.CachedUidGenerator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.mybatis.spring.annotation.MapperScan;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** {@code com.github.wujun234:uid-generator-spring-boot-starter} and the face in its place. */
final class Wujun234Test {
    private static final String ADDRESS = "uid.address=${spring.datasource.url}";
    private static final String USER = "uid.options.user=${spring.datasource.username}";

    /** A program of theirs, as their README has it. */
    @EnableAutoConfiguration
    @Configuration
    static class Old {}

    /** With this library, and without theirs. */
    @EnableAutoConfiguration(exclude = UidAutoConfigure.class)
    @Configuration
    static class New {
        @Bean(name = {"cachedUidGenerator", "defaultUidGenerator"},
                initMethod = "afterPropertiesSet")
        @ConfigurationProperties("uid")
        CachedUidGenerator cachedUidGenerator() {
            return new CachedUidGenerator();
        }
    }

    /** With this library, and with their assigner. */
    @EnableAutoConfiguration(exclude = UidAutoConfigure.class)
    @MapperScan("com.github.wujun234.uid.worker.dao")
    @Configuration
    static class Assigned {
        @Bean
        WorkerIdAssigner workerIdAssigner() {
            return new DisposableWorkerIdAssigner();
        }

        @Bean(initMethod = "afterPropertiesSet")
        @ConfigurationProperties("uid")
        CachedUidGenerator cachedUidGenerator(WorkerIdAssigner assigner) {
            CachedUidGenerator uids = new CachedUidGenerator();
            uids.setWorkerIdAssigner(assigner);
            return uids;
        }
    }

    private static ConfigurableApplicationContext start(Table table, Class<?> program,
            String... properties) {
        List<String> all = new ArrayList<>(Arrays.asList(properties));
        table.properties().forEach((name, value) -> all.add(name + "=" + value));
        // What programs of theirs may have set, and has no effect on ours.
        all.add("uid.enable-backward=false");
        all.add("uid.cached-uid-generator.boost-power=4");
        return new SpringApplicationBuilder(program)
                .run(all.stream().map(property -> "--" + property).toArray(String[]::new));
    }

    private static long worker(long id) {
        return id >>> 7 & 0xffff;
    }

    @Test
    void oldAndNewNodesShareOneTable() throws Exception {
        List<ConfigurableApplicationContext> contexts = new ArrayList<>();
        try (Table table = new Table("wujun234", 65_520)) {
            Taking taking = new Taking();
            for (int i = 0; i < 2; i++) {
                contexts.add(start(table, Old.class));
                UidGenerator cached = contexts.get(contexts.size() - 1)
                        .getBean("cachedUidGenerator", UidGenerator.class);
                taking.node(20_000, cached::getUID);
                // 128 a second.
                UidGenerator plain = contexts.get(contexts.size() - 1)
                        .getBean("defaultUidGenerator", UidGenerator.class);
                taking.node(300, plain::getUID);
                contexts.add(start(table, New.class, ADDRESS, USER));
                for (String name : List.of("cachedUidGenerator", "defaultUidGenerator")) {
                    UidGenerator ours = contexts.get(contexts.size() - 1)
                            .getBean(name, UidGenerator.class);
                    taking.node(500_000, ours::getUID);
                }
                contexts.add(start(table, Assigned.class));
                taking.node(500_000,
                        contexts.get(contexts.size() - 1).getBean(UidGenerator.class)::getUID);
            }
            long[] ids = taking.ids();
            assertThat(ids).hasSize(3_040_600);
            assertThat(table.rows()).isEqualTo(8);
            assertThat(Arrays.stream(ids).map(Wujun234Test::worker).distinct().sorted())
                    .containsExactly(65_520L, 65_521L, 65_522L, 65_523L, 65_524L, 65_525L,
                            65_526L, 65_527L);
            UidGenerator theirs = contexts.get(0)
                    .getBean("cachedUidGenerator", UidGenerator.class);
            // Theirs is able to once it has started.
            theirs.getUID();
            for (int i = 0; i < ids.length; i += 50_000) {
                assertThat(contexts.get(1).getBean(UidGenerator.class).parseUID(ids[i]))
                        .isEqualTo(theirs.parseUID(ids[i]));
            }
        } finally {
            contexts.forEach(ConfigurableApplicationContext::close);
        }
    }

    /** What docs/migration/uid-generator.md says of a table that has gone past the worker field. */
    @Test
    void aTableBeyondTheFieldNeedsAWiderOne() throws Exception {
        try (Table table = new Table("wujun234_wraps", 70_000)) {
            try (ConfigurableApplicationContext old = start(table, Old.class)) {
                long id = old.getBean("cachedUidGenerator", UidGenerator.class).getUID();
                assertThat(worker(id)).as("which another node may have").isEqualTo(4_465);
                assertThat(id).isLessThan(1L << 53);
                WorkerIdAssigner assigner = old.getBean(WorkerIdAssigner.class);
                assertThat(assigner.assignFakeWorkerId()).as("on each node").isZero();
            }
            assertThatThrownBy(() -> start(table, New.class, ADDRESS, USER))
                    .hasStackTraceContaining("70001");
            try (ConfigurableApplicationContext wider = start(table, New.class, ADDRESS, USER,
                    "uid.time-bits=30", "uid.worker-bits=20", "uid.seq-bits=13",
                    "uid.epoch-str=2026-01-01")) {
                long id = wider.getBean(UidGenerator.class).getUID();
                assertThat(id).as("above all of theirs").isGreaterThan(1L << 53);
                assertThat(id >>> 13 & 0xfffff).isGreaterThan(70_001);
            }
        }
    }
}
