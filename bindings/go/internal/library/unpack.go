//go:build linux && (amd64 || arm64)

package library

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"
)

// A file in memory, which needs no folder and no other process sees.
const (
	closeOnExec = 1  // MFD_CLOEXEC
	executable  = 16 // MFD_EXEC, which kernels before 6.3 refuse
)

// kept stay open. The system's loader knows libraries by their paths: to load another file of the
// same number would get what was loaded first.
var kept []*os.File

// loadFromMemory loads the library from a file that no folder has.
func loadFromMemory(library []byte) (uintptr, error) {
	file, err := memoryFile()
	if err != nil {
		return 0, fmt.Errorf("memfd_create: %w", err)
	}
	kept = append(kept, file)
	if _, err := file.Write(library); err != nil {
		return 0, err
	}
	return open(fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd()), "a file in memory")
}

func memoryFile() (*os.File, error) {
	name := []byte("libuidring.so\x00")
	for _, flags := range []uintptr{closeOnExec | executable, closeOnExec} {
		number, _, failed := syscall.Syscall(
			memfdCreate, uintptr(unsafe.Pointer(&name[0])), flags, 0)
		if failed == 0 {
			return os.NewFile(number, "libuidring.so"), nil
		}
		if failed != syscall.EINVAL {
			return nil, failed
		}
	}
	return nil, syscall.EINVAL
}

// loadFromFile loads the library from a file of this user's, which it writes if it is not there.
func loadFromFile(library []byte) (uintptr, error) {
	var problems error
	for _, folder := range folders() {
		file, err := unpackTo(folder, library)
		if err == nil {
			var handle uintptr
			if handle, err = open(file, file); err == nil {
				return handle, nil
			}
		}
		problems = errors.Join(problems, err)
	}
	return 0, problems
}

// folders are those in which the library may lie, the best first.
func folders() []string {
	var found []string
	if cache, err := os.UserCacheDir(); err == nil {
		found = append(found, filepath.Join(cache, "uidring"))
	}
	return append(found, filepath.Join(os.TempDir(), "uidring-"+strconv.Itoa(os.Geteuid())))
}

// unpackTo writes the library to a folder of this user's alone, unless it is there, and returns its
// path. Processes that do so at once write the same file, each its own until it has the name.
func unpackTo(folder string, library []byte) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	about, err := os.Lstat(folder)
	if err != nil {
		return "", err
	}
	if !about.IsDir() || !isOurs(about) || about.Mode().Perm()&0o022 != 0 {
		return "", fmt.Errorf("%s is not a folder that this user alone can write to", folder)
	}
	// The name need not tell all libraries apart: the content is compared as well.
	sum := fnv.New64a()
	sum.Write(library)
	file := filepath.Join(folder, fmt.Sprintf("libuidring-%x.so", sum.Sum64()))
	if isThere(file, library) {
		return file, nil
	}
	return file, write(folder, file, library)
}

// isThere tells whether the file is the library, and nobody else can change it.
func isThere(name string, library []byte) bool {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil || !about.Mode().IsRegular() || !isOurs(about) ||
		about.Mode().Perm()&0o022 != 0 || about.Size() != int64(len(library)) {
		return false
	}
	content, err := io.ReadAll(file)
	return err == nil && bytes.Equal(content, library)
}

func write(folder, name string, library []byte) (err error) {
	file, err := os.CreateTemp(folder, "unpacking-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(file.Name())
		}
	}()
	_, err = file.Write(library)
	if err := errors.Join(err, file.Chmod(0o500), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}

func isOurs(about os.FileInfo) bool {
	its, ok := about.Sys().(*syscall.Stat_t)
	return ok && int(its.Uid) == os.Geteuid()
}

// isMusl tells whether musl has loaded this process. Its file is the loader's, or has a name that
// glibc's never has.
func isMusl() bool {
	maps, err := os.ReadFile("/proc/self/maps")
	return err == nil &&
		(bytes.Contains(maps, []byte("/ld-musl-")) || bytes.Contains(maps, []byte("/libc.so\n")))
}
