package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs in a container come and go with a class loader of their own. */
final class ClassLoaderTest {
    @TempDir Path folder;

    /** Loads the binding anew, uses it, and leaves the class loader to the garbage collector. */
    private WeakReference<ClassLoader> useAndDrop(boolean isClosed) throws Exception {
        URL[] urls = {
            Path.of(System.getProperty("uidring.test.jar")).toUri().toURL(),
            Path.of(System.getProperty("uidring.test.classes"), "/").toUri().toURL()
        };
        ClassLoader none = ClassLoader.getPlatformClassLoader();
        try (URLClassLoader loader = new URLClassLoader(urls, none)) {
            Class<?> holder = loader.loadClass("io.uidring.Holder");
            assertNotSame(Holder.class, holder);
            String file = folder.resolve("uidring.db").toString();
            Object said = holder.getMethod("use", String.class, boolean.class)
                    .invoke(null, file, isClosed);
            assertEquals("5 taken", said);
            return new WeakReference<>(loader);
        }
    }

    @Test
    void aProgramThatClosesItsGeneratorsIsCollected() throws Exception {
        assertIsCollected(true);
    }

    @Test
    void aProgramThatLetsGoOfItsGeneratorsIsCollected() throws Exception {
        assertIsCollected(false);
    }

    /**
     * Has a program of a container open a generator, which is the first of all, and another program
     * as well. Closes that of the first, and leaves its class loader to the garbage collector.
     */
    private WeakReference<ClassLoader> openTwoAndDropOne(Class<?> other, URL[] program)
            throws Exception {
        String file = folder.resolve("uidring.db").toString();
        try (URLClassLoader loader =
                new URLClassLoader(program, other.getClassLoader().getParent())) {
            Class<?> first = loader.loadClass("io.uidring.Holder");
            first.getMethod("open", String.class).invoke(null, file);
            other.getMethod("open", String.class).invoke(null, file);
            first.getMethod("close").invoke(null);
            return new WeakReference<>(loader);
        }
    }

    /** The library lies where all programs of a container see it. */
    @Test
    void aProgramIsCollectedWhileAnotherOneHasAGenerator() throws Exception {
        URL[] library = {Path.of(System.getProperty("uidring.test.jar")).toUri().toURL()};
        URL[] program = {Path.of(System.getProperty("uidring.test.classes"), "/").toUri().toURL()};
        ClassLoader none = ClassLoader.getPlatformClassLoader();
        try (URLClassLoader shared = new URLClassLoader(library, none);
                URLClassLoader loader = new URLClassLoader(program, shared)) {
            Class<?> other = loader.loadClass("io.uidring.Holder");
            WeakReference<ClassLoader> dropped = openTwoAndDropOne(other, program);
            Support.collectUntil("the class loader is gone", () -> dropped.get() == null);
            other.getMethod("close").invoke(null);
        }
    }

    private void assertIsCollected(boolean isClosed) throws Exception {
        long before = Support.nativeThreads();
        // Several times, because each loads a library of its own.
        for (int i = 0; i < 3; i++) {
            WeakReference<ClassLoader> loader = useAndDrop(isClosed);
            Support.collectUntil("the class loader is gone", () -> loader.get() == null);
            Support.collectUntil("no thread is left", () -> Support.nativeThreads() <= before);
        }
    }
}
