package forks;

import static org.assertj.core.api.Assertions.assertThat;

import io.uidring.UidGenerator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.test.context.SpringBootTest;

/** A class of tests that runs at the same time as another one, in another process. */
@SpringBootTest(classes = OneOfTwo.Shop.class)
abstract class OneOfTwo {
    @Autowired UidGenerator uids;

    @Value("${uidring.address}")
    Path store;

    /** Each process is the first one that its store has seen. */
    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void eachProcessHasAStoreOfItsOwn() throws Exception {
        Path folder = store.getParent();
        Files.writeString(folder.resolve(getClass().getSimpleName()), store.toString());
        for (String name : new String[] {"FirstTest", "SecondTest"}) {
            Path written = folder.resolve(name);
            while (!Files.exists(written) || Files.size(written) == 0) Thread.sleep(10);
            if (!name.equals(getClass().getSimpleName()))
                assertThat(Files.readString(written)).isNotEqualTo(store.toString());
        }
        assertThat(uids.take()).isPositive();
        assertThat(uids.workerId()).isEqualTo(1);
    }

    @Test
    void thePageHasTheseProperties() throws Exception {
        String pom = Files.readString(Path.of("pom.xml"));
        int begin = pom.indexOf("<systemPropertyVariables>");
        String end = "</systemPropertyVariables>";
        String properties = pom.substring(begin, pom.indexOf(end) + end.length());
        String page = Files.readString(Path.of("../../../../docs/testing.md"));
        assertThat(page.replaceAll("\\s+", " ")).contains(properties.replaceAll("\\s+", " "));
    }

    @SpringBootApplication
    static class Shop {}
}
