package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/** Gapless numbers in the program's own transaction, with each driver. */
final class TransactionsTest {
    private static final LocalDate DAY = LocalDate.of(2025, 11, 24);

    @TempDir Path folder;

    enum Driver {
        SQLITE("sqlite"),
        POSTGRES("postgresql"),
        MYSQL("mysql"),
        MARIADB("mariadb");

        private final String scheme;

        Driver(String scheme) {
            this.scheme = scheme;
        }

        /** Where the series are, as uidring has it. */
        String address(Path folder) {
            String server = this == POSTGRES ? "UIDRING_TEST_POSTGRES" : "UIDRING_TEST_MYSQL";
            String address = this == SQLITE
                    ? folder.resolve("shop.db").toString()
                    : System.getenv(server);
            assumeTrue(address != null, server + " is not set");
            return address;
        }

        /** The same, as JDBC has it. */
        String url(String address) {
            if (this == SQLITE) {
                return "jdbc:sqlite:" + address + "?busy_timeout=60000";
            }
            URI uri = URI.create(address);
            String options = this == MYSQL ? "&useSSL=false&allowPublicKeyRetrieval=true" : "";
            return "jdbc:" + scheme + "://" + uri.getHost() + ":" + uri.getPort() + uri.getPath()
                    + "?user=" + uri.getUserInfo() + options;
        }
    }

    /** A database with a series of invoices, and a table of them. */
    private final class Shop implements AutoCloseable {
        final String name = "i" + UUID.randomUUID().toString().replace("-", "");
        final Driver driver;
        final String address;
        final Series series = Series.inTransactions();

        Shop(Driver driver) throws SQLException {
            this.driver = driver;
            address = driver.address(folder);
            try (Series store = Series.open(address)) {
                store.create(name, "{yyyy}-{n:5}{check:damm}", "gapless=true");
            }
            try (Connection connection = connect()) {
                run(connection, "CREATE TABLE " + name + " (number VARCHAR(40) PRIMARY KEY)");
                connection.commit();
            }
        }

        Connection connect() throws SQLException {
            Connection connection = DriverManager.getConnection(driver.url(address));
            connection.setAutoCommit(false);
            return connection;
        }

        void run(Connection connection, String sql) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }

        void insert(Connection connection, SeriesNumber number) throws SQLException {
            run(connection, "INSERT INTO " + name + " VALUES ('" + number.text() + "')");
        }

        List<Long> numbers() throws SQLException {
            List<Long> numbers = new ArrayList<>();
            try (Connection connection = connect();
                    Statement statement = connection.createStatement();
                    ResultSet rows =
                            statement.executeQuery("SELECT number FROM " + name + " ORDER BY 1")) {
                while (rows.next()) {
                    numbers.add(series.parse(name, rows.getString(1)).value());
                }
            }
            return numbers;
        }

        @Override
        public void close() throws SQLException {
            try (Connection connection = connect()) {
                run(connection, "DROP TABLE " + name);
                connection.commit();
            }
            series.close();
        }
    }

    /** Stores 40 documents; a third of all transactions is rolled back. */
    private static Void storm(Shop shop, long seed) throws SQLException {
        Random choice = new Random(seed);
        try (Connection connection = shop.connect()) {
            for (int stored = 0; stored < 40; ) {
                try {
                    if (choice.nextInt(5) == 0) {
                        Savepoint here = connection.setSavepoint();
                        shop.series.nextIn(connection, shop.name);
                        connection.rollback(here);
                    }
                    shop.insert(connection, shop.series.nextIn(connection, shop.name));
                    if (choice.nextInt(10) < 3) {
                        connection.rollback();
                    } else {
                        connection.commit();
                        stored++;
                    }
                } catch (UnavailableException again) {
                    connection.rollback();
                }
            }
        }
        return null;
    }

    @ParameterizedTest
    @EnumSource(Driver.class)
    void numbersHaveNoGapWhateverIsRolledBack(Driver driver) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (Shop shop = new Shop(driver)) {
            List<Callable<Void>> work = List.of(() -> storm(shop, 1), () -> storm(shop, 2));
            for (Future<Void> done : threads.invokeAll(work)) {
                done.get();
            }
            assertEquals(LongStream.rangeClosed(1, 80).boxed().toList(), shop.numbers());
        } finally {
            threads.shutdown();
        }
    }

    @ParameterizedTest
    @EnumSource(Driver.class)
    void whatIsWrongIsToldBeforeAnythingIsCounted(Driver driver) throws Exception {
        try (Shop shop = new Shop(driver); Connection connection = shop.connect()) {
            Series series = shop.series;
            assertThrows(NullPointerException.class, () -> series.nextIn(null, shop.name));
            assertThrows(NullPointerException.class, () -> series.nextIn(connection, null));
            refused("has no series", () -> series.nextIn(connection, "nothing"));
            assertThrows(InvalidArgumentException.class,
                    () -> series.nextIn(connection, shop.name, "a b"));
            connection.rollback();
            connection.setAutoCommit(true);
            refused("auto-commit mode", () -> series.nextIn(connection, shop.name));
            connection.setAutoCommit(false);
            SeriesNumber number = series.nextIn(connection, shop.name, "b", DAY);
            assertEquals("2025-000010", number.text());
            assertEquals("2025", number.period());
            assertEquals("2025", number.shown());
            assertEquals("b", number.scope().orElseThrow());
            assertEquals("2025-000029", series.format(shop.name, 2, null, DAY));
            assertEquals(1, series.nextIn(connection, shop.name).value());
            connection.rollback();
            try (Series other = Series.open(folder.resolve("other.db").toString())) {
                other.create(shop.name, "{yyyy}-{n:5}", "gapless=true");
                refused("", () -> other.nextIn(connection, shop.name));
            }
            Connection gone = shop.connect();
            gone.close();
            UidringException error =
                    assertThrows(UidringException.class, () -> series.nextIn(gone, shop.name));
            assertInstanceOf(SQLException.class, error.getCause());
        }
    }

    private static void refused(String said, org.junit.jupiter.api.function.Executable call) {
        String message = assertThrows(RefusedException.class, call).getMessage();
        assertTrue(message.contains(said), message);
    }

    @ParameterizedTest
    @EnumSource(Driver.class)
    void whatTheDriverThrowsIsTheCause(Driver driver) throws Exception {
        try (Shop shop = new Shop(driver); Connection one = shop.connect()) {
            shop.series.nextIn(one, shop.name);
            String url = shop.driver.url(shop.address).replace("60000", "100");
            try (Connection other = DriverManager.getConnection(url)) {
                switch (driver) {
                    case SQLITE -> { }
                    case POSTGRES -> shop.run(other, "SET lock_timeout = '100ms'");
                    default -> shop.run(other, "SET innodb_lock_wait_timeout = 1");
                }
                other.setAutoCommit(false);
                UnavailableException error = assertThrows(UnavailableException.class,
                        () -> shop.series.nextIn(other, shop.name));
                assertInstanceOf(SQLException.class, error.getCause());
                other.rollback();
            }
            one.rollback();
        }
    }

    @Test
    void twoCopiesOfSqliteDoNotOpenOneFile() throws Exception {
        try (Shop shop = new Shop(Driver.SQLITE); Connection connection = shop.connect()) {
            try (Series store = Series.open(shop.address)) {
                refused("two copies of SQLite", () -> store.nextIn(connection, shop.name));
                refused("two copies of SQLite", () -> shop.series.nextIn(connection, shop.name));
            }
            assertThrows(InvalidArgumentException.class,
                    () -> shop.series.parse(shop.name, "2025-000010"));
            shop.series.readIn(connection, shop.name);
            assertEquals(1, shop.series.parse(shop.name, "2025-000010").value());
            assertEquals(1, shop.series.nextIn(connection, shop.name).value());
            connection.rollback();
            refused("its own copy of SQLite", () -> Series.open(shop.address));
            refused("needs a store", () -> shop.series.next(shop.name));
        }
    }

    @Test
    void aFullSeriesGoesOnAtOnce() throws Exception {
        try (Series series = Series.open(folder.resolve("seats.db").toString())) {
            series.create("seats", "S{n:1}");
            assertEquals(9, series.nextMany("seats", 9, null, null).size());
            refused("uidring series change seats PATTERN", () -> series.next("seats"));
            refused("only a wider number", () -> series.widen("seats", "T{n:3}"));
            series.widen("seats", "S{n:2}");
            assertEquals("S10", series.next("seats").text());
        }
    }

    /** The connection is that of the transaction. */
    @Test
    void aTransactionOfSpringsCounts() throws Exception {
        try (Shop shop = new Shop(Driver.POSTGRES)) {
            DriverManagerDataSource source =
                    new DriverManagerDataSource(Driver.POSTGRES.url(shop.address));
            DataSourceTransactionManager manager = new DataSourceTransactionManager(source);
            for (boolean isKept : new boolean[] {true, false, true}) {
                var status = manager.getTransaction(new DefaultTransactionDefinition());
                Connection connection = DataSourceUtils.getConnection(source);
                shop.insert(connection, shop.series.nextIn(connection, shop.name));
                DataSourceUtils.releaseConnection(connection, source);
                if (isKept) {
                    manager.commit(status);
                } else {
                    manager.rollback(status);
                }
            }
            assertEquals(List.of(1L, 2L), shop.numbers());
            Connection outside = DataSourceUtils.getConnection(source);
            refused("auto-commit mode", () -> shop.series.nextIn(outside, shop.name));
            DataSourceUtils.releaseConnection(outside, source);
        }
    }
}
