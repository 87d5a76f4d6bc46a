package texts;

import io.uidring.jackson.UidTextModule3;
import java.util.Set;
import tools.jackson.databind.json.JsonMapper;

/** Jackson 3. */
final class Json {
    private static final JsonMapper PLAIN = JsonMapper.builder().build();
    private static final JsonMapper WITH_MODULE =
            JsonMapper.builder().addModule(new UidTextModule3(Set.of(Key.class))).build();

    private Json() {}

    static String write(Object value) throws Exception {
        return PLAIN.writeValueAsString(value);
    }

    static String writeWithModule(Object value) throws Exception {
        return WITH_MODULE.writeValueAsString(value);
    }

    static <T> T read(String text, Class<T> type) throws Exception {
        return WITH_MODULE.readValue(text, type);
    }
}
