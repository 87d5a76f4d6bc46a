import io.uidring.Series;
import io.uidring.SeriesNumber;
import java.io.IOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Stores documents with gapless numbers, in transactions of JDBC, until its standard input ends:
 * one of the programs of tests/gapless_storm, which says what it finds and what it has to do.
 */
final class GaplessWriter {
    private static final String[] SERIES = {"invoices", "receipts"};
    private static final String[] SCOPES = {"north", "south"};

    private final Series series = Series.inTransactions();
    private final Random random;

    private GaplessWriter(long seed) {
        random = new Random(seed);
    }

    public static void main(String[] arguments) throws InterruptedException {
        AtomicBoolean isOver = new AtomicBoolean();
        Thread input = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    // It says nothing.
                }
            } catch (IOException ended) {
                // It has ended either way.
            }
            isOver.set(true);
        });
        input.setDaemon(true);
        input.start();
        long seed = Long.parseLong(System.getenv("UIDRING_STORM_CHILD_SEED"));
        String address = System.getenv("UIDRING_STORM_DATABASE");
        GaplessWriter writer = new GaplessWriter(seed);
        Connection connection = null;
        while (!isOver.get()) {
            try {
                if (connection == null) {
                    connection = connect(address);
                }
                writer.transact(connection);
            } catch (RuntimeException | SQLException refused) {
                // A deadlock, a full series, a server that is down.
                close(connection);
                connection = null;
                Thread.sleep(5);
            }
        }
        close(connection);
    }

    private static Connection connect(String address) throws SQLException {
        DriverManager.setLoginTimeout(4);
        if (!address.contains("://")) {
            return DriverManager.getConnection("jdbc:sqlite:" + address + "?busy_timeout=2000");
        }
        URI uri = URI.create(address);
        boolean isPostgres = address.startsWith("postgres");
        String options = isPostgres
                ? "&socketTimeout=4"
                : "&socketTimeout=4000&useSSL=false&allowPublicKeyRetrieval=true";
        return DriverManager.getConnection(
                "jdbc:" + (isPostgres ? "postgresql" : "mysql") + "://" + uri.getHost() + ":"
                        + uri.getPort() + uri.getPath() + "?user=" + uri.getUserInfo() + options);
    }

    private static void close(Connection connection) {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (SQLException broken) {
            // It was broken before.
        }
    }

    /** One transaction, with numbers of up to three series and scopes, in any order. */
    private void transact(Connection connection) throws SQLException, InterruptedException {
        List<String[]> places = new ArrayList<>();
        for (String name : SERIES) {
            for (String scope : SCOPES) {
                places.add(new String[] {name, scope});
            }
        }
        Collections.shuffle(places, random);
        connection.setAutoCommit(random.nextInt(20) == 0);
        if (connection.getAutoCommit()) {
            // It is in no transaction, so this has to fail. If it does not, nobody has the number.
            series.nextIn(connection, places.get(0)[0], places.get(0)[1]);
            return;
        }
        for (String[] place : places.subList(0, 1 + random.nextInt(3))) {
            if (random.nextInt(5) == 0) {
                Savepoint savepoint = connection.setSavepoint();
                series.nextIn(connection, place[0], place[1]);
                connection.rollback(savepoint);
            }
            for (int count = random.nextInt(3); count >= 0; count--) {
                store(connection, place, series.nextIn(connection, place[0], place[1]));
            }
        }
        if (random.nextInt(5) == 0) {
            Thread.sleep(random.nextInt(30));
        }
        if (random.nextInt(4) == 0) {
            connection.rollback();
        } else {
            connection.commit();
        }
    }

    private static void store(Connection connection, String[] place, SeriesNumber number)
            throws SQLException {
        String insert = "INSERT INTO document VALUES (?, ?, ?, ?, 'java')";
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            statement.setString(1, place[0]);
            statement.setString(2, place[1]);
            statement.setLong(3, number.value());
            statement.setString(4, number.text());
            statement.executeUpdate();
        }
    }
}
