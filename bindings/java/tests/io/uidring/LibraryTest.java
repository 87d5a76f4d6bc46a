package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the native library is found, and what is said where it is not. */
final class LibraryTest {
    @TempDir Path folder;

    private String run(int status, String... properties) throws Exception {
        List<String> options = new ArrayList<>(List.of(properties));
        ProcessBuilder java = Support.java(
                options, Program.class, "end", folder.resolve("uidring.db").toString());
        return Support.output(java, status);
    }

    @Test
    void otherPlatformsAreTold() {
        String[][] others = {{"Windows 11", "aarch64"}, {"Linux", "riscv64"}, {"AIX", "ppc64"}};
        for (String[] other : others) {
            UnsatisfiedLinkError error = assertThrows(UnsatisfiedLinkError.class,
                    () -> NativeLibrary.platform(other[0], other[1]));
            assertTrue(error.getMessage().contains("not on " + other[0] + " with " + other[1]),
                    error.getMessage());
        }
        // As a program on such a machine sees it.
        assertThrowsInJava("uidring runs on Linux and macOS with x86_64 or aarch64 and on Windows",
                "-Dos.arch=riscv64");
    }

    @Test
    void eachPlatformHasItsLibrary() {
        String[][] known = {
            {"Linux", "amd64", "linux-x86_64", "libuidring_java.so"},
            {"Linux", "aarch64", "linux-aarch64", "libuidring_java.so"},
            {"Windows 11", "amd64", "windows-x86_64", "uidring_java.dll"},
            {"Windows Server 2022", "amd64", "windows-x86_64", "uidring_java.dll"},
            {"Mac OS X", "x86_64", "macos-x86_64", "libuidring_java.dylib"},
            {"Mac OS X", "aarch64", "macos-aarch64", "libuidring_java.dylib"},
        };
        for (String[] one : known) {
            String platform = NativeLibrary.platform(one[0], one[1]);
            assertEquals(one[2], platform);
            assertEquals(one[3], NativeLibrary.file(platform));
        }
    }

    /** As the kernel shows a process on Alpine, and one with glibc. */
    @Test
    void muslIsFoundAmongWhatIsMapped() throws Exception {
        Path maps = folder.resolve("maps");
        Files.writeString(maps, "7f2c8a0-7f2c8b4 r-xp 00000000 08:01 42 /lib/libz.so.1.3.1\n"
                + "7f2c8c0-7f2c8f4 r-xp 00014000 08:01 57 /lib/ld-musl-x86_64.so.1\n");
        assertTrue(NativeLibrary.hasMusl(maps));
        Files.writeString(maps, "7f2c8c0-7f2c8f4 r-xp 00028000 08:01 9 "
                + "/usr/lib/x86_64-linux-gnu/libc.so.6\n");
        assertFalse(NativeLibrary.hasMusl(maps));
        assertFalse(NativeLibrary.hasMusl(folder.resolve("none")));
    }

    private void assertThrowsInJava(String said, String... properties) {
        try {
            String output = run(1, properties);
            assertTrue(output.contains("UnsatisfiedLinkError: "), output);
            assertTrue(output.contains(said), output);
        } catch (Exception error) {
            throw new AssertionError(error);
        }
    }

    @Test
    void aNamedLibraryIsLoaded() throws Exception {
        Path library = folder.resolve("own.so");
        String platform = NativeLibrary.platform(System.getProperty("os.name"),
                System.getProperty("os.arch"));
        String resource = "/native/" + platform + '/' + NativeLibrary.file(platform);
        try (var in = NativeLibrary.class.getResourceAsStream(resource)) {
            Files.copy(in, library, StandardCopyOption.REPLACE_EXISTING);
        }
        // It cannot be unpacked there, so it was not.
        String output = run(0, "-Duidring.lib.path=" + library, "-Duidring.tmpdir=/proc");
        assertTrue(output.contains("took "), output);
        assertThrowsInJava("and there is no such file", "-Duidring.lib.path=/none/uidring.so");
        Files.writeString(library, "not a library");
        assertThrowsInJava("cannot be loaded: ", "-Duidring.lib.path=" + library);
    }

    @Test
    void aFolderThatCannotBeWrittenIsTold() {
        assertThrowsInJava("uidring's library cannot be unpacked in /proc: ",
                "-Duidring.tmpdir=/proc");
    }

    @Test
    void theUnpackedFileIsDeleted() throws Exception {
        Path unpacked = Files.createDirectory(folder.resolve("unpacked"));
        String output = run(0, "-Duidring.tmpdir=" + unpacked);
        assertTrue(output.contains("took "), output);
        try (Stream<Path> left = Files.list(unpacked)) {
            assertEquals(List.of(), left.toList());
        }
    }

    /** On Windows, which deletes none while it is loaded. */
    @Test
    void whatEarlierProgramsLeftIsDeleted() throws Exception {
        FileTime hoursAgo = FileTime.from(Instant.now().minus(Duration.ofHours(2)));
        for (String old : List.of("uidring-17.dll", "uidring-17.so", "uidring-notes.dll")) {
            Files.setLastModifiedTime(Files.createFile(folder.resolve(old)), hoursAgo);
        }
        Files.createFile(folder.resolve("uidring-18.dll"));
        NativeLibrary.deleteLeftOver(folder, ".dll");
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of("uidring-17.so", "uidring-18.dll", "uidring-notes.dll"),
                    left.map(file -> file.getFileName().toString()).sorted().toList());
        }
    }

    /** If this machine has such a folder. */
    @Test
    void aFolderThatIsMountedNoexecIsTold() throws Exception {
        Optional<String> noexec;
        try (Stream<String> mounts = Files.lines(Path.of("/proc/mounts"))) {
            noexec = mounts.map(line -> line.split(" "))
                    .filter(mount -> mount[2].equals("tmpfs") && mount[3].contains("noexec"))
                    .map(mount -> mount[1])
                    .filter(mount -> Files.isWritable(Path.of(mount)))
                    .findFirst();
        }
        Assumptions.assumeTrue(noexec.isPresent());
        assertThrowsInJava("is mounted noexec, name another folder with -Duidring.tmpdir=PATH",
                "-Duidring.tmpdir=" + noexec.get());
        try (Stream<Path> left = Files.list(Path.of(noexec.get()))) {
            assertTrue(left.noneMatch(file -> file.getFileName().toString()
                    .matches("uidring-.*[.]so")));
        }
    }
}
