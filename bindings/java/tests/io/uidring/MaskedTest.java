package io.uidring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Ids that tell nothing. */
final class MaskedTest {
    private static final String KEY =
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    @Test
    void idsComeBack() {
        try (Masked masked = new Masked(KEY); Opaque orders = new Opaque(KEY, "ord")) {
            assertEquals(7248484344334211842L, masked.mask(180363646902239241L));
            assertEquals(180363646902239241L, masked.unmask(7248484344334211842L));
            assertEquals("ord_5H7WY7KKXFH1JCEMMC78CF0N9T", orders.encode(180363646902239241L));
            for (long id : new long[] {1, 2, Long.MAX_VALUE}) {
                assertEquals(id, masked.unmask(masked.mask(id)));
                assertEquals(id, orders.decode(orders.encode(id)));
            }
            long[] ids = LongStream.rangeClosed(1, 40).toArray();
            assertArrayEquals(LongStream.of(ids).map(masked::mask).toArray(), masked.mask(ids));
            assertEquals(40, ids[39]);
            assertEquals(0, masked.mask(new long[0]).length);
        }
    }

    @Test
    void anotherKeyReadsWhatTheFirstHasMade() {
        try (Opaque before = new Opaque(KEY, "ord");
                Opaque after = new Opaque("1 " + "9f".repeat(32) + "\n0 " + KEY + '\n', "ord")) {
            assertEquals(7, after.decode(before.encode(7)));
            assertNotEquals(before.encode(7), after.encode(7));
        }
    }

    @Test
    void whatIsWrongIsTold() {
        Masked masked = new Masked(KEY);
        Opaque orders = new Opaque(KEY, "ord");
        Map<String, Executable> calls = new LinkedHashMap<>();
        calls.put("a key has 64 hexadecimal digits, not 63", () -> new Masked(KEY.substring(1)));
        calls.put("a prefix is such as ord", () -> new Opaque(KEY, "o d"));
        calls.put("an id is a whole number from 1 to 9223372036854775807, not 0",
                () -> masked.mask(0));
        calls.put("an id is a whole number", () -> masked.mask(new long[] {1, -1}));
        calls.put("a masked id is a whole number", () -> masked.unmask(Long.MIN_VALUE));
        calls.put("not 0", () -> orders.encode(0));
        calls.put("the id does not begin with \"ord_\"", () -> orders.decode("cus_1"));
        calls.put("the id was made up", () -> orders.decode("ord_" + "0".repeat(26)));
        calls.forEach((said, call) -> {
            String message = assertThrows(InvalidArgumentException.class, call).getMessage();
            assertTrue(message.contains(said), message);
            assertFalse(message.contains(KEY.substring(10, 20)), message);
        });
        assertThrows(NullPointerException.class, () -> orders.decode(null));
        masked.close();
        masked.close();
        orders.close();
        for (Executable call : new Executable[] {
            () -> masked.mask(1), () -> masked.mask(new long[] {1}), () -> masked.unmask(1),
            () -> orders.encode(1), () -> orders.decode("ord_1")}) {
            String message = assertThrows(ClosedException.class, call).getMessage();
            assertTrue(message.startsWith("the keys were closed"), message);
        }
    }

    @Test
    void keysThatNothingHoldsAreFreed() throws InterruptedException {
        int before = NativeForTests.handles();
        for (int i = 0; i < 100; i++) {
            assertEquals(1, new Masked(KEY).unmask(new Masked(KEY).mask(1)));
        }
        Support.collectUntil("keys are freed", () -> NativeForTests.handles() <= before);
    }
}
