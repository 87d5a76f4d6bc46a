package io.uidring;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Counts in the program's own transaction: the native library says which statements to run, and the
 * driver of JDBC runs them.
 */
final class Transactions {
    private final Connection connection;
    private final String database;

    Transactions(Connection connection) {
        this.connection = connection;
        try {
            database = databaseOf(connection.getMetaData().getDatabaseProductName());
        } catch (SQLException error) {
            throw failed(error, null);
        }
    }

    /** The next number of the series that `handle` leads to. */
    SeriesNumber next(long handle, String name, String scope, String date) {
        try {
            if (connection.getAutoCommit()) {
                throw new RefusedException(
                        "the connection is in auto-commit mode, so the number would be kept where "
                                + "the document is not: call setAutoCommit(false), count in the "
                                + "transaction that stores the document, and commit", 0);
            }
        } catch (SQLException error) {
            throw failed(error, database);
        }
        long work = Waits.apart(() -> Native.countIn(handle, name, scope, date, database));
        String[] number = run(work);
        return new SeriesNumber(number[1], Long.parseUnsignedLong(number[2]), number[3],
                number[4], Optional.ofNullable(scope));
    }

    /** Reads the series that `handle` leads to, if it was opened in transactions. */
    void read(long handle, String name) {
        long work = Native.readIn(handle, name, database);
        if (work != 0) {
            run(work);
        }
    }

    /** Runs what the work asks for. Returns its result, which begins with null. */
    private String[] run(long work) {
        try {
            String[] next = Native.step(work, null, 0);
            while (next[0] != null) {
                List<String> rows = new ArrayList<>();
                int columns = rows(next, rows);
                next = Native.step(work, rows.toArray(new String[0]), columns);
            }
            return next;
        } catch (SQLException error) {
            throw failed(error, database);
        } finally {
            Native.free(work);
        }
    }

    /** Runs a statement, adds the columns of its rows, and returns how many a row has. */
    private int rows(String[] asked, List<String> rows) throws SQLException {
        if (asked.length == 1) {
            try (Statement statement = connection.createStatement()) {
                return statement.execute(asked[0]) ? read(statement, rows) : 0;
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(asked[0])) {
            for (int i = 1; i < asked.length; i++) {
                String value = asked[i].substring(1);
                if (asked[i].charAt(0) == 'i') {
                    statement.setLong(i, Long.parseLong(value));
                } else {
                    statement.setString(i, value);
                }
            }
            return statement.execute() ? read(statement, rows) : 0;
        }
    }

    private static int read(Statement statement, List<String> rows) throws SQLException {
        try (ResultSet found = statement.getResultSet()) {
            int columns = found.getMetaData().getColumnCount();
            while (found.next()) {
                for (int column = 1; column <= columns; column++) {
                    rows.add(found.getString(column));
                }
            }
            return columns;
        }
    }

    private static String databaseOf(String product) {
        String name = product.toLowerCase(Locale.ROOT);
        if (name.contains("postgresql")) {
            return "postgres";
        }
        if (name.contains("mysql") || name.contains("mariadb")) {
            return "mysql";
        }
        if (name.contains("sqlite")) {
            return "sqlite";
        }
        throw new InvalidArgumentException(
                "gapless numbers are in SQLite, PostgreSQL and MySQL, and not in " + product, 0);
    }

    /** The exception of a driver's, as the cause of one that says what to do. */
    private static UidringException failed(SQLException error, String database) {
        String problem = "the transaction could not count a number; roll it back";
        UidringException exception = isTransient(error, database)
                ? new UnavailableException(
                        problem + ", and try again in a new one: " + error.getMessage(), 0)
                : new RefusedException(problem + ": " + error.getMessage(), 0);
        exception.initCause(error);
        return exception;
    }

    private static boolean isTransient(SQLException error, String database) {
        if (error instanceof SQLTransientException || error instanceof SQLRecoverableException) {
            return true;
        }
        if (database == null) {
            return false;
        }
        String code = database.equals("postgres")
                ? error.getSQLState()
                : String.valueOf(error.getErrorCode());
        return code != null && Native.isTransient(database, code);
    }
}
