package io.uidring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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
        assertEquals("linux-x86_64", NativeLibrary.platform("Linux", "amd64"));
        assertEquals("linux-aarch64", NativeLibrary.platform("Linux", "aarch64"));
        for (String[] other : new String[][] {{"Windows 11", "amd64"}, {"Linux", "riscv64"}}) {
            UnsatisfiedLinkError error = assertThrows(UnsatisfiedLinkError.class,
                    () -> NativeLibrary.platform(other[0], other[1]));
            assertTrue(error.getMessage().contains("not on " + other[0] + " with " + other[1]),
                    error.getMessage());
        }
        // As a program on such a machine sees it.
        assertThrowsInJava("uidring runs on Linux with x86_64 or aarch64", "-Dos.arch=riscv64");
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
        String resource = "/native/" + NativeLibrary.platform("Linux",
                System.getProperty("os.arch")) + "/libuidring_java.so";
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
