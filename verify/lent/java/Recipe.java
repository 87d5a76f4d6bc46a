import cn.hutool.core.util.IdUtil;
import com.baomidou.mybatisplus.core.incrementer.DefaultIdentifierGenerator;
import com.baomidou.mybatisplus.core.toolkit.NetUtils;
import com.github.f4b6a3.tsid.TsidCreator;
import java.io.FileWriter;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.util.List;
import java.util.function.LongSupplier;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;
import org.apache.seata.common.util.IdWorker;

/**
 * Writes ids of a generator to a file, one on each line, until it is ended.
 *
 * <pre>java Recipe GENERATOR FILE [NUMBER...]</pre>
 *
 * <p>The numbers are what tells one process from others. Without them, the generator takes what it
 * takes by itself.
 */
public final class Recipe {
    private Recipe() {}

    public static void main(String[] args) throws Exception {
        long[] numbers = new long[args.length - 2];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = Long.parseLong(args[i + 2]);
        }
        LongSupplier ids = generator(args[0], numbers);
        try (PrintWriter file = new PrintWriter(new FileWriter(args[1], true))) {
            while (true) {
                StringBuilder lines = new StringBuilder();
                for (int i = 0; i < 500; i++) {
                    lines.append(ids.getAsLong()).append('\n');
                }
                file.print(lines);
                file.flush();
                Thread.sleep(1);
            }
        }
    }

    /** The address that MyBatis-Plus takes where nothing is set. */
    private static InetAddress address() {
        return new NetUtils(new NetUtils.NetProperties(List.of(), List.of()))
                .findFirstNonLoopbackAddress();
    }

    private static LongSupplier generator(String name, long[] numbers) {
        boolean has = numbers.length > 0;
        switch (name) {
            case "mybatis-plus": {
                DefaultIdentifierGenerator ids = has
                        ? new DefaultIdentifierGenerator(numbers[0], numbers[1])
                        : new DefaultIdentifierGenerator(address());
                return () -> ids.nextId(null);
            }
            case "hutool":
                return has
                        ? IdUtil.getSnowflake(numbers[0], numbers[1])::nextId
                        : IdUtil::getSnowflakeNextId;
            case "tsid":
                // It reads the property tsidcreator.node, or the variable TSIDCREATOR_NODE.
                return () -> TsidCreator.getTsid().toLong();
            case "cosid":
                return new MillisecondSnowflakeId((int) numbers[0])::generate;
            case "seata":
                return new IdWorker(has ? numbers[0] : null)::nextId;
            default:
                throw new IllegalArgumentException("there is no recipe " + name);
        }
    }
}
