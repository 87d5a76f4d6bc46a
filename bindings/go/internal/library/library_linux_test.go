//go:build amd64 || arm64

package library

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// As another process, this test program unpacks to a folder, or loads the library.
func TestMain(m *testing.M) {
	if os.Getenv("UIDRING_TEST_LOAD") != "" {
		loadHere()
		return
	}
	folder := os.Getenv("UIDRING_TEST_UNPACK_TO")
	if folder == "" {
		os.Exit(m.Run())
	}
	file, err := unpackTo(folder, content)
	fmt.Println(file, err)
}

var content = bytes.Repeat([]byte("library"), 1<<20)

func TestTwentyProcessesUnpackAtOnce(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "cache", "uidring")
	var children [20]*exec.Cmd
	var outputs [20]bytes.Buffer
	for index := range children {
		children[index] = exec.Command(self)
		children[index].Env = append(os.Environ(), "UIDRING_TEST_UNPACK_TO="+folder)
		children[index].Stdout = &outputs[index]
		if err := children[index].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for index, child := range children {
		if err := child.Wait(); err != nil {
			t.Fatal(err)
		}
		file, problem, _ := strings.Cut(strings.TrimSpace(outputs[index].String()), " ")
		if problem != "<nil>" || !isThere(file, content) {
			t.Errorf("%s: %s", file, problem)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 {
		t.Errorf("%v are left, %v", left, err)
	}
}

func TestAFileThatIsAnotherIsReplaced(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := unpackTo(folder, content)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(folder, "other")
	for name, change := range map[string]func() error{
		"half of it": func() error { return os.WriteFile(file, content[:9], 0o700) },
		"another":    func() error { return os.WriteFile(file, bytes.ToUpper(content), 0o700) },
		"a link":     func() error { return os.Symlink(other, file) },
		"of all":     func() error { return os.WriteFile(file, content, 0o777) },
	} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(other, content, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if name == "of all" {
			if err := os.Chmod(file, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if isThere(file, content) {
			t.Errorf("%s is taken for the library", name)
		}
		if _, err := unpackTo(folder, content); err != nil || !isThere(file, content) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFolderThatOthersMayWriteToIsRefused(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := unpackTo(folder, content); err == nil {
		t.Error("others may put another library there")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if _, err := unpackTo(link, content); err == nil {
		t.Error("it may lead elsewhere tomorrow")
	}
}

func TestTheLibraryIsLoadedFromAFileWhereMemoryIsNotExecuted(t *testing.T) {
	library, err := unpacked()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "none yet"))
	if _, err := loadFromFile(library); err != nil {
		t.Error(err)
	}
	if _, err := loadFromMemory(library); err != nil {
		t.Error(err)
	}
	if _, err := loadFromMemory(content); err == nil {
		t.Error("what is no library was loaded")
	}
}

func TestThePathOfALibraryGoesFirst(t *testing.T) {
	t.Setenv(Variable, "/nowhere/libuidring.so")
	if _, err := Load(); err == nil || !strings.Contains(err.Error(), Variable+"=/nowhere/") {
		t.Error(err)
	}
}

// Where the folders of a test lie: as arguments of mount, in a namespace of the test's own.
const mounts = `
mount -t tmpfs -o "$1" tmpfs "$XDG_CACHE_HOME" &&
    mount -t tmpfs -o "$2" tmpfs "$TMPDIR" &&
    exec "$3"
`

func TestTheLibraryIsLoadedWhereFoldersAreReadOnlyOrNotExecuted(t *testing.T) {
	if said, err := exec.Command("unshare", "-rm", "true").CombinedOutput(); err != nil {
		t.Skipf("no folder can be mounted here: %v %s", err, said)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []struct{ cache, temporary, file string }{
		{"rw", "rw", "cache"},
		{"noexec", "rw", "temporary"},
		{"ro", "rw", "temporary"},
		{"rw", "ro,noexec", "cache"},
		{"noexec", "noexec", "none"},
		{"ro", "noexec", "none"},
		{"ro", "ro", "none"},
	} {
		child := exec.Command(
			"unshare", "-rm", "sh", "-c", mounts, "sh", each.cache, each.temporary, self)
		cache, temporary := t.TempDir(), t.TempDir()
		child.Env = append(os.Environ(),
			"UIDRING_TEST_LOAD=1", "XDG_CACHE_HOME="+cache, "TMPDIR="+temporary)
		said, err := child.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v %s", each, err, said)
		}
		// It is loaded from memory wherever it lies.
		want := map[string]string{
			"cache": cache + "/uidring/", "temporary": temporary + "/uidring-", "none": "no file",
		}[each.file]
		if !strings.Contains(string(said), want) || !strings.Contains(string(said), "memory: <nil>") {
			t.Errorf("%v: %s", each, said)
		}
	}
}

// loadHere prints from which file the library is loaded, and whether it is loaded from memory.
func loadHere() {
	library, err := unpacked()
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := loadFromFile(library); err != nil {
		fmt.Println("no file:", err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	fmt.Printf("%s %v\n", maps, err)
	_, err = loadFromMemory(library)
	fmt.Println("memory:", err)
}
