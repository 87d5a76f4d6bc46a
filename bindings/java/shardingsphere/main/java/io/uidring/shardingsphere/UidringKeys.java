package io.uidring.shardingsphere;

import io.uidring.UidGenerator;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/**
 * The generators of all data sources of the program: one for each store and its options.
 * ShardingSphere makes a key generator several times for each data source, closes none, and holds
 * them when a data source is closed.
 */
public final class UidringKeys {
    private static final Map<Map<String, String>, UidGenerator> OPEN = new HashMap<>();

    private UidringKeys() {}

    static synchronized UidGenerator of(Properties properties) {
        Map<String, String> options = new HashMap<>(Map.of("lease", "10m"));
        // YAML makes a number of what looks like one.
        properties.forEach((name, value) -> options.put(name.toString(), value.toString()));
        // A permanent worker id for each start, as the starter for Spring Boot has it.
        options.remove("lease", "0");
        return OPEN.computeIfAbsent(options, UidringKeys::open);
    }

    private static UidGenerator open(Map<String, String> options) {
        Map<String, String> others = new HashMap<>(options);
        String address = others.remove("address");
        if (address == null) {
            throw new IllegalArgumentException("the key generator UIDRING has no address: set "
                    + "address in its props to the path of a file or the address of a server");
        }
        return UidGenerator.open(address, others);
    }

    /**
     * Gives the leased worker ids back, once the data sources are closed: they get no more ids.
     * Those that are made afterwards open generators of their own.
     */
    public static synchronized void close() {
        OPEN.values().forEach(UidGenerator::close);
        OPEN.clear();
    }
}
