package io.uidring.spring;

import io.uidring.Options;

/**
 * The address of the store, and who asks it.
 *
 * @param url the address; null if there is none
 * @param user the user; null if the address names it
 * @param password the password; null if it is in the address
 */
record StoreAddress(String url, String user, String password) {
    private static final String HELP = "set uidring.address to postgres://, mysql://, etcd://, "
            + "zookeeper:// or redis:// and so on, or to the path of a file for the programs of "
            + "one machine";

    /** That of the properties, or else that of the program's database. */
    static StoreAddress of(UidringProperties properties, StoreAddress database) {
        if (properties.getAddress() != null) {
            return new StoreAddress(properties.getAddress(), properties.getUsername(),
                    properties.getPassword());
        }
        if (database.url == null) {
            throw new NoAddressException("there is no address of a store, and no database "
                    + "of spring.datasource: " + HELP);
        }
        if (database.url.startsWith("jdbc:sqlite:")) {
            throw new NoAddressException("the file of spring.datasource cannot be the store "
                    + "as well, because two copies of SQLite in one process drop each other's "
                    + "locks: " + HELP);
        }
        return database;
    }

    /** Options with the login. */
    Options options() {
        Options options = new Options();
        if (user != null && !user.isEmpty()) {
            options.user(user);
        }
        if (password != null && !password.isEmpty()) {
            options.password(password);
        }
        return options;
    }
}
