package forks;

import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/** The table of worker ids, in a database of a test's own on the server of UIDRING_TEST_MYSQL. */
final class Table implements AutoCloseable {
    private static final String WORKER_NODE = "CREATE TABLE WORKER_NODE (ID BIGINT NOT NULL "
            + "AUTO_INCREMENT PRIMARY KEY, HOST_NAME VARCHAR(64) NOT NULL, PORT VARCHAR(64) NOT "
            + "NULL, TYPE INT NOT NULL, LAUNCH_DATE DATE NOT NULL, MODIFIED TIMESTAMP NOT NULL, "
            + "CREATED TIMESTAMP NOT NULL) ENGINE = INNODB AUTO_INCREMENT = ";

    private final URI server;
    private final String name;

    /** A new table, whose next row has that id. */
    Table(String name, long next) throws SQLException {
        String address = System.getenv("UIDRING_TEST_MYSQL");
        if (address == null) {
            throw new AssertionError("UIDRING_TEST_MYSQL names no server");
        }
        server = URI.create(address);
        this.name = name + "_" + ProcessHandle.current().pid();
        run("", "CREATE DATABASE " + this.name);
        run(this.name, WORKER_NODE + next);
    }

    String jdbc() {
        return jdbc(name);
    }

    String user() {
        return server.getUserInfo();
    }

    /** As `spring.datasource` and the faces name the database. */
    Map<String, Object> properties() {
        return Map.of("spring.datasource.url", jdbc(), "spring.datasource.username", user());
    }

    long rows() throws SQLException {
        try (Connection connection = DriverManager.getConnection(jdbc(), user(), "");
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM WORKER_NODE")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    @Override
    public void close() throws SQLException {
        run("", "DROP DATABASE " + name);
    }

    private String jdbc(String database) {
        return "jdbc:mariadb://" + server.getHost() + ":" + server.getPort() + "/" + database;
    }

    private void run(String database, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(jdbc(database), user(), "");
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
