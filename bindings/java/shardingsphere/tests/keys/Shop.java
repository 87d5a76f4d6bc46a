package keys;

import com.zaxxer.hikari.HikariDataSource;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.apache.shardingsphere.driver.api.yaml.YamlShardingSphereDataSourceFactory;

/** A data source with two shards, and the rules of the page as they stand. */
public final class Shop implements AutoCloseable {
    private final DataSource source;
    private final List<String> shards = new ArrayList<>();

    /** With a store that is a file, in place of that of the page. */
    public Shop(Path store) throws Exception {
        this("{address: " + store + "}");
    }

    Shop(String props) throws Exception {
        StringBuilder yaml = new StringBuilder("dataSources:\n");
        for (int shard = 0; shard < 2; shard++) {
            String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
            shards.add(url);
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE orders_" + shard
                        + " (id BIGINT PRIMARY KEY, item VARCHAR(9))");
            }
            yaml.append("  shard_").append(shard).append(":\n    dataSourceClassName: ")
                    .append(HikariDataSource.class.getName())
                    .append("\n    driverClassName: org.h2.Driver\n    jdbcUrl: ").append(url)
                    .append("\n    username: ''\n    password: ''\n");
        }
        String page = Files.readString(Path.of("../README.md"));
        String rules = page.split("```yaml\n")[1].split("```")[0];
        yaml.append(rules.replace("\n        address: /srv/uidring.db", " " + props));
        source = YamlShardingSphereDataSourceFactory.createDataSource(
                yaml.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Stores rows one by one, and returns the ids that it is told. */
    List<Long> insert(int rows) throws SQLException {
        List<Long> ids = new ArrayList<>();
        try (Connection connection = source.getConnection();
                PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO orders (item) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
            for (int row = 0; row < rows; row++) {
                insert.setString(1, "tea");
                insert.executeUpdate();
                try (ResultSet keys = insert.getGeneratedKeys()) {
                    keys.next();
                    ids.add(keys.getLong(1));
                }
            }
        }
        return ids;
    }

    int insertThreeAtOnce() throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            return statement.executeUpdate(
                    "INSERT INTO orders (item) VALUES ('tea'), ('milk'), ('sugar')");
        }
    }

    /** The ids of all shards, as ShardingSphere reads them. */
    List<Long> ids() throws SQLException {
        List<Long> ids = new ArrayList<>();
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT id FROM orders")) {
            while (rows.next()) {
                ids.add(rows.getLong(1));
            }
        }
        return ids;
    }

    /** The rows of one shard, past ShardingSphere. */
    long rows(int shard) throws SQLException {
        try (Connection connection = DriverManager.getConnection(shards.get(shard));
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM orders_" + shard)) {
            row.next();
            return row.getLong(1);
        }
    }

    @Override
    public void close() throws Exception {
        ((AutoCloseable) source).close();
    }

    /** A program of its own, which prints the ids that it was given. */
    public static void main(String[] arguments) throws Exception {
        try (Shop shop = new Shop(Path.of(arguments[0]))) {
            shop.insert(1_000).forEach(id -> System.out.println("id " + id));
        }
        System.exit(0);
    }
}
