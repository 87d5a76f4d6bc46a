package orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.baomidou.mybatisplus.core.MybatisConfiguration;
import com.baomidou.mybatisplus.core.MybatisSqlSessionFactoryBuilder;
import com.baomidou.mybatisplus.core.config.GlobalConfig;
import com.baomidou.mybatisplus.core.incrementer.DefaultIdentifierGenerator;
import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import com.baomidou.mybatisplus.core.toolkit.GlobalConfigUtils;
import com.baomidou.mybatisplus.extension.toolkit.Db;
import io.uidring.UidGenerator;
import io.uidring.UidSource;
import io.uidring.mybatisplus.UidringIdentifierGenerator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mybatis.spring.annotation.MapperScan;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The generator in programs of Spring Boot and without it, with a store that is a file. */
final class OrdersTest {
    private static final String TABLES = "CREATE TABLE orders (id BIGINT PRIMARY KEY, item TEXT);"
            + "CREATE TABLE customers (id BIGINT PRIMARY KEY, name TEXT)";

    @TempDir Path folder;

    @SpringBootApplication
    @MapperScan(basePackageClasses = Orders.class)
    static class Program {}

    private static ConfigurableApplicationContext start(List<Class<?>> more, String... properties)
            throws IOException {
        Path tables = Files.createTempFile("tables", ".sql");
        tables.toFile().deleteOnExit();
        Files.writeString(tables, TABLES);
        List<String> arguments = new ArrayList<>(List.of(
                "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(),
                "spring.sql.init.schema-locations=" + tables.toUri(),
                "mybatis-plus.global-config.banner=false"));
        arguments.addAll(Arrays.asList(properties));
        List<Class<?>> sources = new ArrayList<>(List.of(Program.class));
        sources.addAll(more);
        return new SpringApplicationBuilder(sources.toArray(Class<?>[]::new))
                .run(arguments.stream().map(argument -> "--" + argument).toArray(String[]::new));
    }

    private ConfigurableApplicationContext start(String... more) throws IOException {
        List<String> properties = new ArrayList<>(List.of("uidring.address=" + store()));
        properties.addAll(Arrays.asList(more));
        return start(List.of(), properties.toArray(String[]::new));
    }

    private Path store() {
        return folder.resolve("uidring.db");
    }

    private static long insert(ConfigurableApplicationContext context) {
        Order order = new Order();
        order.item = "tea";
        assertThat(context.getBean(Orders.class).insert(order)).isEqualTo(1);
        assertThat(context.getBean(Orders.class).selectById(order.id).item).isEqualTo("tea");
        return order.id;
    }

    /** The lines of the page, as they stand. */
    @Test
    void aProgramWithTheLinesOfThePageHasIds() throws Exception {
        String page = Files.readString(Path.of("../README.md"));
        String entity = page.split("```java\n")[1].split("```")[0];
        assertThat(Files.readString(Path.of("../tests/orders/Order.java")))
                .isEqualTo("package orders;\n\n" + entity);
        String line = page.split("```properties\n")[1].split("```")[0].trim();
        try (ConfigurableApplicationContext context =
                start(List.of(), line.replace("/srv/uidring.db", store().toString()))) {
            UidGenerator uids = context.getBean(UidGenerator.class);
            assertThat(uids.parts(insert(context)).worker()).isEqualTo(uids.workerId());
        }
    }

    @Test
    void programsAtOnceAndAfterARestartGetNoIdTwice() throws Exception {
        Set<Long> ids = new HashSet<>();
        for (int round = 0; round < 2; round++) {
            try (ConfigurableApplicationContext first = start();
                    ConfigurableApplicationContext second = start()) {
                for (int row = 0; row < 500; row++) {
                    ids.add(insert(first));
                    ids.add(insert(second));
                }
            }
        }
        assertThat(ids).hasSize(2_000);
    }

    @Test
    void aBatchHasAnIdForEachRow() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            List<Order> orders = new ArrayList<>();
            for (int row = 0; row < 1_000; row++) {
                orders.add(new Order());
            }
            assertThat(Db.saveBatch(orders)).isTrue();
            assertThat(orders.stream().map(order -> order.id).distinct()).hasSize(1_000);
            assertThat(context.getBean(Orders.class).selectCount(null)).isEqualTo(1_000);
        }
    }

    @Test
    void anIdThatIsSetStaysAndATextIsAnId() throws Exception {
        try (ConfigurableApplicationContext context = start()) {
            Order order = new Order();
            order.id = 42L;
            context.getBean(Orders.class).insert(order);
            assertThat(order.id).isEqualTo(42);
            Customer customer = new Customer();
            context.getBean(Customers.class).insert(customer);
            UidGenerator uids = context.getBean(UidGenerator.class);
            assertThat(uids.parts(Long.parseLong(customer.id)).worker()).isEqualTo(uids.workerId());
        }
    }

    @Configuration
    static class OwnGenerator {
        @Bean
        IdentifierGenerator own() {
            return entity -> 7L;
        }
    }

    @Configuration
    static class OwnSource {
        @Bean
        UidSource counter() {
            return new AtomicLong(100)::incrementAndGet;
        }
    }

    @Test
    void beansOfTheProgramTakeItsPlace() throws Exception {
        try (ConfigurableApplicationContext context =
                start(List.of(OwnGenerator.class), "uidring.address=" + store())) {
            assertThat(insert(context)).isEqualTo(7);
        }
        try (ConfigurableApplicationContext context =
                start(List.of(OwnSource.class), "uidring.enabled=false")) {
            assertThat(insert(context)).isEqualTo(101);
        }
        // Without a source of ids, theirs.
        try (ConfigurableApplicationContext context = start(List.of(), "uidring.enabled=false")) {
            assertThat(insert(context)).isPositive();
            assertThat(context.getBeansOfType(UidringIdentifierGenerator.class)).isEmpty();
        }
    }

    @Test
    void itNeedsNoSpring() throws Exception {
        JdbcDataSource database = new JdbcDataSource();
        database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        database.getConnection().createStatement().execute(TABLES);
        MybatisConfiguration configuration = new MybatisConfiguration(
                new Environment("test", new JdbcTransactionFactory(), database));
        GlobalConfig globalConfig = GlobalConfigUtils.defaults();
        try (UidGenerator uids = UidGenerator.open(store().toString())) {
            globalConfig.setIdentifierGenerator(new UidringIdentifierGenerator(uids));
            GlobalConfigUtils.setGlobalConfig(configuration, globalConfig);
            configuration.addMapper(Orders.class);
            try (SqlSession session =
                    new MybatisSqlSessionFactoryBuilder().build(configuration).openSession()) {
                Order order = new Order();
                session.getMapper(Orders.class).insert(order);
                assertThat(uids.parts(order.id).worker()).isEqualTo(uids.workerId());
            }
        }
        assertThatThrownBy(() -> new UidringIdentifierGenerator(null))
                .hasMessage("the source of ids is null");
    }

    /** What the page says of ids that MyBatis-Plus has made. */
    @Test
    void idsOfTheDefaultLayoutLieBelowTheirs() throws Exception {
        long theirs = new DefaultIdentifierGenerator(1, 0).nextId(new Order());
        try (ConfigurableApplicationContext context = start()) {
            long ours = insert(context);
            assertThat(ours).isLessThan(theirs);
            String reached = context.getBean(UidGenerator.class).parts(theirs).time().toString();
            assertThat(reached).isGreaterThanOrEqualTo("2033");
        }
    }

    @Test
    void oldAndNewProgramsSideBySideGetNoIdTwice() throws Exception {
        String page = Files.readString(Path.of("../README.md"));
        String[] lines = page.split("```properties\n")[2].split("```")[0].split("\n");
        IdentifierGenerator old = new DefaultIdentifierGenerator(31, 15);
        try (ConfigurableApplicationContext context = start(lines)) {
            UidGenerator uids = context.getBean(UidGenerator.class);
            assertThat(uids.workerId()).isBetween(512L, 1_023L);
            Set<Long> ids = new HashSet<>();
            for (int row = 0; row < 40; row++) {
                long before = old.nextId(null).longValue();
                // Their clock is one that a thread of theirs reads now and then.
                Thread.sleep(50);
                long ours = insert(context);
                Thread.sleep(50);
                long after = old.nextId(null).longValue();
                assertThat(ours).isBetween(before, after);
                ids.addAll(List.of(before, ours, after));
            }
            assertThat(ids).hasSize(120);
            assertThat(uids.parts(old.nextId(null).longValue()).worker()).isEqualTo(511);
        }
    }
}
