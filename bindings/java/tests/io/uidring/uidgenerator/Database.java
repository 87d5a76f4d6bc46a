package io.uidring.uidgenerator;

import java.io.IOException;
import java.net.URI;

/** A database of a test's own on the MariaDB server that UIDRING_TEST_MYSQL names. */
final class Database {
    /** The statement with which UidGenerator creates its table. */
    static final String WORKER_NODE = """
            CREATE TABLE WORKER_NODE (
                ID BIGINT NOT NULL AUTO_INCREMENT COMMENT 'auto increment id',
                HOST_NAME VARCHAR(64) NOT NULL COMMENT 'host name',
                PORT VARCHAR(64) NOT NULL COMMENT 'port',
                TYPE INT NOT NULL COMMENT 'node type: CONTAINER(1), ACTUAL(2)',
                LAUNCH_DATE DATE NOT NULL COMMENT 'launch date',
                MODIFIED TIMESTAMP NOT NULL COMMENT 'modified time',
                CREATED TIMESTAMP NOT NULL COMMENT 'created time',
                PRIMARY KEY(ID)
            ) COMMENT = 'DB WorkerID Assigner for UID Generator', ENGINE = INNODB
            """;

    /** The statement that UidGenerator runs at each start. */
    static final String START_OF_BAIDUS = """
            INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED)
            VALUES ('10.0.0.1', '1500000000000-77777', 2, '2026-01-01', NOW(), NOW());
            SELECT LAST_INSERT_ID()
            """;

    /** As the library takes it. */
    final String address;

    private final URI server;
    private final String name;

    private Database(URI server, String name) {
        this.server = server;
        this.name = name;
        address = server.resolve("/" + name).toString();
    }

    static Database create() throws Exception {
        String server = System.getenv("UIDRING_TEST_MYSQL");
        if (server == null) {
            throw new AssertionError("UIDRING_TEST_MYSQL names no server: see bindings/java/run");
        }
        String name = "uidring_java_" + ProcessHandle.current().pid();
        Database database = new Database(URI.create(server), name);
        database.ask("mysql", "CREATE DATABASE " + name);
        return database;
    }

    void drop() throws Exception {
        ask("mysql", "DROP DATABASE " + name);
    }

    /** Runs statements, and returns what they print. */
    String run(String sql) throws Exception {
        return ask(name, sql);
    }

    private String ask(String database, String sql) throws IOException, InterruptedException {
        Process client = new ProcessBuilder("mariadb", "--no-defaults", "-h", server.getHost(),
                "-P", Integer.toString(server.getPort()), "-u", server.getUserInfo(), "-N", "-B",
                "-e", sql, database).redirectErrorStream(true).start();
        String said = new String(client.getInputStream().readAllBytes()).strip();
        if (client.waitFor() != 0) {
            throw new AssertionError(said);
        }
        return said;
    }
}
