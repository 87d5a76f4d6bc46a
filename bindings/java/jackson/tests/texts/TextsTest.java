package texts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Ids in the JSON of the real Jackson. */
final class TextsTest {
    /** Above 2^53, where JavaScript rounds. */
    private static final long ID = 240_510_429_044_957_184L;

    @Test
    void thePageHasThisClass() throws Exception {
        String page = Files.readString(Path.of("../README.md"));
        assertEquals("package texts;\n\n" + page.split("```java\n")[1].split("```")[0],
                Files.readString(Path.of("../tests/texts/Order.java")));
    }

    @Test
    void anAnnotatedIdIsATextAndNothingElseIs() throws Exception {
        Order order = new Order();
        order.id = ID;
        order.price = 5;
        assertEquals("{\"id\":\"240510429044957184\",\"price\":5}", Json.write(order));
        assertEquals(ID, Json.read(Json.write(order), Order.class).id);
        assertEquals(ID, Json.read("{\"id\":240510429044957184}", Order.class).id);
    }

    @Test
    void aModuleKnowsIdsByAnotherAnnotation() throws Exception {
        Row row = new Row();
        row.id = ID;
        row.price = 5;
        assertEquals("{\"id\":\"240510429044957184\",\"price\":5}", Json.writeWithModule(row));
        assertEquals("{\"id\":240510429044957184,\"price\":5}", Json.write(row));
        assertEquals(ID, Json.read(Json.writeWithModule(row), Row.class).id);
        row.id = null;
        assertNull(Json.read(Json.writeWithModule(row), Row.class).id);
    }
}
