import io.uidring.UidGenerator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Takes UIDs from the store at its first argument, with the options after it, and writes them to
 * its output, eight bytes each, until its input ends or it is killed.
 */
final class Taker {
    public static void main(String[] arguments) throws IOException, InterruptedException {
        String[] options = Arrays.copyOfRange(arguments, 1, arguments.length);
        ByteBuffer buffer = ByteBuffer.allocate(8000).order(ByteOrder.LITTLE_ENDIAN);
        long[] batch = new long[500];
        boolean[] ends = new boolean[1];
        Thread input = new Thread(() -> {
            try {
                System.in.read();
            } catch (IOException ended) {
                // It has ended either way.
            }
            synchronized (ends) {
                ends[0] = true;
            }
        });
        input.setDaemon(true);
        input.start();
        try (UidGenerator uids = UidGenerator.open(arguments[0], options)) {
            while (true) {
                synchronized (ends) {
                    if (ends[0]) {
                        return;
                    }
                }
                buffer.clear();
                for (int index = 0; index < 500; index++) {
                    buffer.putLong(uids.take());
                }
                uids.fill(batch);
                for (long uid : batch) {
                    buffer.putLong(uid);
                }
                System.out.write(buffer.array(), 0, buffer.position());
                System.out.flush();
                Thread.sleep(5);
            }
        }
    }
}
