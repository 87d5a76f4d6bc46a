package io.uidring;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** Loads the native library, once for the class loader of this class. */
final class NativeLibrary {
    /** Names a file to load instead of the one in the jar. */
    static final String LIBRARY = "uidring.lib.path";

    /** Names the folder in which the library is unpacked. */
    static final String FOLDER = "uidring.tmpdir";

    private static final String FILE = "libuidring_java.so";

    private static boolean isLoaded;

    private NativeLibrary() {}

    /**
     * Loads the library if that has not been done.
     *
     * @throws UnsatisfiedLinkError with a sentence that says why, at each call until one succeeds
     */
    static synchronized void load() {
        if (isLoaded) {
            return;
        }
        String path = System.getProperty(LIBRARY);
        if (path != null) {
            loadNamed(Path.of(path).toAbsolutePath());
        } else {
            unpackAndLoad();
        }
        isLoaded = true;
    }

    private static void loadNamed(Path path) {
        if (!Files.exists(path)) {
            throw new UnsatisfiedLinkError("the property " + LIBRARY + " names " + path
                    + ", and there is no such file");
        }
        try {
            System.load(path.toString());
        } catch (UnsatisfiedLinkError error) {
            throw failed(error, path, "another class loader may have it: put uidring's jar where "
                    + "both see it, or leave the property " + LIBRARY + " out");
        }
    }

    private static void unpackAndLoad() {
        String platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"));
        String resource = "/native/" + platform + '/' + FILE;
        Path folder = Path.of(System.getProperty(FOLDER, System.getProperty("java.io.tmpdir")));
        Path file = null;
        try (InputStream library = NativeLibrary.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new UnsatisfiedLinkError("this jar of uidring has no library for " + platform
                        + ": build one from source, and name it with -D" + LIBRARY + "=PATH");
            }
            // Nobody else can read or write it, and no other file of that name is overwritten.
            file = Files.createTempFile(folder, "uidring-", ".so");
            Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
            System.load(file.toAbsolutePath().toString());
        } catch (IOException error) {
            UnsatisfiedLinkError failure = new UnsatisfiedLinkError("uidring's library cannot be "
                    + "unpacked in " + folder + ": " + error + "; name another folder with -D"
                    + FOLDER + "=PATH, or a library with -D" + LIBRARY + "=PATH");
            failure.initCause(error);
            throw failure;
        } catch (UnsatisfiedLinkError error) {
            throw file == null ? error : failed(error, file, "if " + folder + " is mounted noexec, "
                    + "name another folder with -D" + FOLDER + "=PATH, or a library with -D"
                    + LIBRARY + "=PATH; the library needs Linux with glibc, which Alpine does not "
                    + "have");
        } finally {
            delete(file);
        }
    }

    /** What is loaded stays mapped without its file. */
    private static void delete(Path file) {
        if (file != null) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException error) {
                // It is left behind in a folder that is cleaned up at times.
                file.toFile().deleteOnExit();
            }
        }
    }

    private static UnsatisfiedLinkError failed(Throwable cause, Path file, String advice) {
        UnsatisfiedLinkError failure = new UnsatisfiedLinkError(
                "uidring's library " + file + " cannot be loaded: " + cause.getMessage() + "; "
                        + advice);
        failure.initCause(cause);
        return failure;
    }

    /** The folder of a platform in the jar. */
    static String platform(String system, String processor) {
        String name = switch (processor.toLowerCase(Locale.ROOT)) {
            case "amd64", "x86_64" -> "x86_64";
            case "aarch64", "arm64" -> "aarch64";
            default -> null;
        };
        if (!system.equals("Linux") || name == null) {
            throw new UnsatisfiedLinkError("uidring runs on Linux with x86_64 or aarch64, and not "
                    + "on " + system + " with " + processor + "; its service, uidring-server, "
                    + "gives ids over HTTP to programs on any system");
        }
        return "linux-" + name;
    }
}
