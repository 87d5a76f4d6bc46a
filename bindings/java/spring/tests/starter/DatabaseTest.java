package starter;

import static org.assertj.core.api.Assertions.assertThat;

import io.uidring.UidGenerator;
import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import shop.Shop;

/** The program's database as the store, with nothing said about it. */
final class DatabaseTest {
    @ParameterizedTest
    @CsvSource({
        "UIDRING_TEST_POSTGRES, jdbc:postgresql",
        "UIDRING_TEST_MYSQL, jdbc:mariadb",
        "UIDRING_TEST_MYSQL, jdbc:mysql",
    })
    void theDatabaseOfTheProgramIsTheStore(String variable, String scheme) {
        String address = System.getenv(variable);
        assertThat(address).as(variable + " names no server").isNotNull();
        URI uri = URI.create(address);
        String url = scheme + "://" + uri.getHost() + ":" + uri.getPort() + uri.getPath();
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Shop.class).run(
                "--server.port=0", "--spring.main.banner-mode=off",
                "--spring.datasource.url=" + url,
                "--spring.datasource.username=" + uri.getUserInfo())) {
            UidGenerator uids = context.getBean(UidGenerator.class);
            assertThat(uids.take()).isPositive();
            Long found = context.getBean(JdbcTemplate.class).queryForObject(
                    "SELECT count(*) FROM uidring_worker_node WHERE id = ?", Long.class,
                    uids.workerId());
            assertThat(found).isEqualTo(1);
        }
    }
}
