package orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.uidring.UidGenerator;
import io.uidring.UidSource;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import wrong.Small;

/** The annotation in programs of Spring Boot and without it, with a store that is a file. */
final class OrdersTest {
    @TempDir Path folder;

    @SpringBootApplication
    static class Program {}

    private ConfigurableApplicationContext start() {
        return new SpringApplicationBuilder(Program.class).run(
                "--uidring.address=" + folder.resolve("uidring.db"),
                "--spring.main.banner-mode=off",
                "--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(),
                "--spring.jpa.hibernate.ddl-auto=create");
    }

    private static SessionFactory factory(Map<String, Object> settings, Class<?>... entities) {
        Configuration configuration = new Configuration();
        for (Class<?> entity : entities) {
            configuration.addAnnotatedClass(entity);
        }
        configuration.setProperty("hibernate.connection.url",
                "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        configuration.setProperty("hibernate.hbm2ddl.auto", "create");
        configuration.setProperty("hibernate.jdbc.batch_size", "50");
        configuration.setProperty("hibernate.generate_statistics", "true");
        configuration.getProperties().putAll(settings);
        return configuration.buildSessionFactory();
    }

    private static SessionFactory counting(Class<?>... entities) {
        UidSource ids = new AtomicLong(100)::incrementAndGet;
        return factory(Map.of("uidring.source", ids), entities);
    }

    @Test
    void thePageHasThisEntity() throws Exception {
        String page = Files.readString(Path.of("../README.md"));
        assertThat(Files.readString(Path.of("../tests/orders/Order.java")))
                .isEqualTo("package orders;\n\n" + page.split("```java\n")[1].split("```")[0]);
    }

    @Test
    void programsAtOnceAndAfterARestartGetNoIdTwice() {
        Set<Long> ids = new HashSet<>();
        for (int round = 0; round < 2; round++) {
            try (ConfigurableApplicationContext first = start();
                    ConfigurableApplicationContext second = start()) {
                ids.addAll(store(first, 500));
                ids.addAll(store(second, 500));
            }
        }
        assertThat(ids).hasSize(2_000);
    }

    private static Set<Long> store(ConfigurableApplicationContext context, int rows) {
        Set<Long> ids = new HashSet<>();
        UidGenerator uids = context.getBean(UidGenerator.class);
        EntityManagerFactory factory = context.getBean(EntityManagerFactory.class);
        EntityManager manager = factory.createEntityManager();
        manager.getTransaction().begin();
        for (int row = 0; row < rows; row++) {
            Order order = new Order();
            manager.persist(order);
            assertThat(uids.parts(order.id).worker()).isEqualTo(uids.workerId());
            ids.add(order.id);
        }
        manager.getTransaction().commit();
        manager.close();
        return ids;
    }

    @Test
    void insertsGoInBatches() {
        try (SessionFactory factory = counting(Order.class)) {
            factory.inTransaction(session -> {
                for (int row = 0; row < 100; row++) {
                    session.persist(new Order());
                }
            });
            assertThat(factory.getStatistics().getEntityInsertCount()).isEqualTo(100);
            // One statement for all, and not one for each.
            assertThat(factory.getStatistics().getPrepareStatementCount()).isEqualTo(1);
        }
    }

    @Test
    void anIdThatIsAssignedStays() {
        try (SessionFactory factory = counting(Order.class, Line.class)) {
            Order assigned = new Order();
            assigned.id = 42L;
            Order other = new Order();
            Line line = new Line();
            factory.inTransaction(session -> {
                session.persist(assigned);
                session.persist(other);
                session.persist(line);
            });
            assertThat(assigned.id).isEqualTo(42);
            assertThat(other.id).isEqualTo(101);
            assertThat(line.getId()).isEqualTo(102);
            factory.inTransaction(session ->
                    assertThat(session.find(Order.class, 42L)).isNotNull());
        }
    }

    @Test
    void aMissingGeneratorIsNamed() {
        assertThatThrownBy(() -> factory(Map.of(), Order.class))
                .hasStackTraceContaining("@UidringId of orders.Order.id has no generator: add "
                        + "uidring-spring-boot-starter, or set uidring.source");
    }

    @Test
    void aFieldThatIsTooSmallIsNamed() {
        assertThatThrownBy(() -> counting(Small.class)).hasStackTraceContaining(
                "is for a long or a Long, and not for a java.lang.Integer");
    }
}
