package io.uidring.shardingsphere;

import io.uidring.UidGenerator;
import java.util.Arrays;
import java.util.Collection;
import java.util.Properties;
import org.apache.shardingsphere.infra.algorithm.core.context.AlgorithmSQLContext;
import org.apache.shardingsphere.infra.algorithm.keygen.core.KeyGenerateAlgorithm;

/** The type {@code UIDRING} in ShardingSphere 5.5. */
public final class UidringKeys55 implements KeyGenerateAlgorithm {
    private UidGenerator uids;

    @Override
    public void init(Properties properties) {
        uids = UidringKeys.of(properties);
    }

    @Override
    public Collection<Long> generateKeys(AlgorithmSQLContext context, int count) {
        return Arrays.stream(uids.takeMany(count)).boxed().toList();
    }

    @Override
    public String getType() {
        return "UIDRING";
    }
}
