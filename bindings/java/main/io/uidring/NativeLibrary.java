package io.uidring;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.stream.Stream;

/** Loads the native library, once for the class loader of this class. */
final class NativeLibrary {
    /** Names a file to load instead of the one in the jar. */
    static final String LIBRARY = "uidring.lib.path";

    /** Names the folder in which the library is unpacked. */
    static final String FOLDER = "uidring.tmpdir";

    /** What is unpacked has a name that begins with this. */
    private static final String UNPACKED = "uidring-";

    /** A file that another process has unpacked is loaded by then. */
    private static final Duration UNTIL_LOADED = Duration.ofHours(1);

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
        String name = file(platform);
        String end = name.substring(name.lastIndexOf('.'));
        String resource = "/native/" + platform + '/' + name;
        Path folder = Path.of(System.getProperty(FOLDER, System.getProperty("java.io.tmpdir")));
        Path file = null;
        try (InputStream library = NativeLibrary.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new UnsatisfiedLinkError("this jar of uidring has no library for " + platform
                        + ": build one from source, and name it with -D" + LIBRARY + "=PATH");
            }
            // Nobody else can read or write it, and no other file of that name is overwritten.
            file = Files.createTempFile(folder, UNPACKED, end);
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
                    + LIBRARY + "=PATH");
        } finally {
            if (file != null && !isDeleted(file)) {
                deleteLeftOver(folder, end);
            }
        }
    }

    /**
     * Deletes a file that was unpacked. What is loaded stays mapped without its file, but Windows
     * deletes none that is loaded.
     */
    private static boolean isDeleted(Path file) {
        try {
            return Files.deleteIfExists(file);
        } catch (IOException error) {
            return false;
        }
    }

    /** Deletes what programs that have ended could not delete. */
    static void deleteLeftOver(Path folder, String end) {
        FileTime loaded = FileTime.from(Instant.now().minus(UNTIL_LOADED));
        String names = UNPACKED + "[0-9]*" + end;
        try (DirectoryStream<Path> left = Files.newDirectoryStream(folder, names)) {
            for (Path file : left) {
                if (Files.getLastModifiedTime(file).compareTo(loaded) < 0) {
                    isDeleted(file);
                }
            }
        } catch (IOException error) {
            // They stay behind in a folder that is cleaned up at times.
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
        boolean isWindows = system.startsWith("Windows");
        if (name == null || isWindows && !name.equals("x86_64")
                || !isWindows && !system.equals("Linux") && !system.equals("Mac OS X")) {
            throw new UnsatisfiedLinkError("uidring runs on Linux and macOS with x86_64 or aarch64 "
                    + "and on Windows with x86_64, and not on " + system + " with " + processor
                    + "; its service, uidring-server, gives ids over HTTP to programs on any "
                    + "system");
        }
        if (isWindows) {
            return "windows-" + name;
        }
        if (!system.equals("Linux")) {
            return "macos-" + name;
        }
        return (hasMusl(Path.of("/proc/self/maps")) ? "linux-musl-" : "linux-") + name;
    }

    /** The library's file in that folder. */
    static String file(String platform) {
        if (platform.startsWith("windows-")) {
            return "uidring_java.dll";
        }
        return platform.startsWith("macos-") ? "libuidring_java.dylib" : "libuidring_java.so";
    }

    /** Whether this process has musl as its C library, as on Alpine, and not glibc. */
    static boolean hasMusl(Path maps) {
        try (Stream<String> mapped = Files.lines(maps, ISO_8859_1)) {
            return mapped.anyMatch(line -> line.contains("/ld-musl-"));
        } catch (IOException | UncheckedIOException error) {
            return false;
        }
    }
}
