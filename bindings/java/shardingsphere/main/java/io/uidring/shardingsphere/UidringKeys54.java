package io.uidring.shardingsphere;

import io.uidring.UidGenerator;
import java.util.Properties;
import org.apache.shardingsphere.sharding.spi.KeyGenerateAlgorithm;

/** The type {@code UIDRING} in ShardingSphere 5.4. */
public final class UidringKeys54 implements KeyGenerateAlgorithm {
    private UidGenerator uids;

    @Override
    public void init(Properties properties) {
        uids = UidringKeys.of(properties);
    }

    @Override
    public Comparable<?> generateKey() {
        return uids.take();
    }

    @Override
    public String getType() {
        return "UIDRING";
    }
}
