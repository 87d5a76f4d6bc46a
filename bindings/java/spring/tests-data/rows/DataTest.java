package rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.uidring.UidGenerator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.annotation.Id;
import org.springframework.data.jdbc.repository.config.EnableJdbcRepositories;
import org.springframework.data.relational.core.mapping.Table;
import org.springframework.data.repository.CrudRepository;
import org.springframework.jdbc.core.JdbcTemplate;

/** Entities of Spring Data JDBC with ids, in a database in memory. */
final class DataTest {
    @TempDir Path folder;

    private ConfigurableApplicationContext start() {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Shop.class).run(
                "--spring.main.banner-mode=off", "--spring.datasource.url=jdbc:h2:mem:",
                "--spring.datasource.generate-unique-name=true",
                "--uidring.address=" + folder.resolve("uidring.db"));
        JdbcTemplate database = context.getBean(JdbcTemplate.class);
        database.execute("CREATE TABLE \"orders\" (\"ID\" BIGINT PRIMARY KEY, \"ITEM\" TEXT)");
        database.execute(
                "CREATE TABLE \"notes\" (\"ID\" BIGINT AUTO_INCREMENT PRIMARY KEY, \"TEXT\" TEXT)");
        database.execute("CREATE TABLE \"bins\" (\"ID\" BIGINT PRIMARY KEY, \"ITEM\" TEXT)");
        return context;
    }

    @Test
    void aNewRowHasAnIdAndAnAssignedOneStays() {
        try (ConfigurableApplicationContext context = start()) {
            Orders orders = context.getBean(Orders.class);
            UidGenerator uids = context.getBean(UidGenerator.class);
            Order saved = orders.save(new Order(null, "tea"));
            assertThat(uids.parts(saved.id()).worker()).isEqualTo(uids.workerId());
            // What has an id is there already.
            assertThat(orders.save(new Order(saved.id(), "rice"))).isEqualTo(
                    new Order(saved.id(), "rice"));
            assertThat(orders.findAll()).containsExactly(new Order(saved.id(), "rice"));

            List<Order> many = LongStream.range(0, 100)
                    .mapToObj(number -> new Order(null, "item " + number)).toList();
            Set<Long> ids = new HashSet<>();
            StreamSupport.stream(orders.saveAll(many).spliterator(), false)
                    .forEach(order -> assertThat(ids.add(order.id())).isTrue());
            assertThat(ids).hasSize(100).doesNotContain(saved.id());
        }
    }

    /** 0 of a {@code long} is none. A class without the annotation is left alone. */
    @Test
    void othersKeepTheirOwnWay() {
        try (ConfigurableApplicationContext context = start()) {
            Bin bin = context.getBean(Bins.class).save(new Bin());
            assertThat(bin.id).isGreaterThan(1L << 40);
            assertThat(context.getBean(Notes.class).save(new Note(null, "a")).id()).isEqualTo(1);
        }
    }

    @Test
    void thePageHasThisEntity() throws IOException {
        String page = Files.readString(Path.of("../README.md"));
        String entity = Files.readString(Path.of("../tests-data/rows/Order.java"));
        assertThat(page).contains("```java\n" + entity.replace("package rows;\n\n", "") + "```");
    }

    @SpringBootApplication
    @EnableJdbcRepositories(considerNestedRepositories = true)
    static class Shop {}

    interface Orders extends CrudRepository<Order, Long> {}

    interface Notes extends CrudRepository<Note, Long> {}

    interface Bins extends CrudRepository<Bin, Long> {}

    @Table("notes")
    record Note(@Id Long id, String text) {}

    @Table("bins")
    static class Bin {
        @Id
        @io.uidring.spring.UidringId
        long id;

        String item = "box";
    }
}
