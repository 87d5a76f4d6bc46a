// Package library loads libuidring.so: the one that the program has in it, or the one at a path.
package library

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"

	"github.com/ebitengine/purego"
)

// Variable names the path of a library that is loaded in place of the one in the program.
const Variable = "UIDRING_LIBRARY"

// Load loads the library and returns the handle that purego.Dlsym takes.
func Load() (uintptr, error) {
	if named := os.Getenv(Variable); named != "" {
		return open(named, Variable+"="+named)
	}
	library, err := unpacked()
	if err != nil {
		return 0, err
	}
	if isMusl() {
		return 0, errors.New("this program runs on musl, as those of Alpine do, and the uidring in " +
			"it is made for glibc: build libuidring.so there, and set " + Variable + " to its path")
	}
	handle, err := loadFromMemory(library)
	if err == nil {
		return handle, nil
	}
	handle, fromFile := loadFromFile(library)
	if fromFile == nil {
		return handle, nil
	}
	return 0, fmt.Errorf("uidring cannot be loaded from memory (%w), nor from a file (%w): put "+
		"libuidring.so where files may be executed, and set %s to its path", err, fromFile, Variable)
}

// unpacked returns the library that the program has in it.
func unpacked() ([]byte, error) {
	packed, err := files.ReadFile(path.Join(folder, "libuidring.so.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("this program has no uidring for %s/%s in it: use a released version "+
			"of the module, run its script build, or set %s to the path of a libuidring.so",
			runtime.GOOS, runtime.GOARCH, Variable)
	}
	if err != nil {
		return nil, err
	}
	unpacking, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacking)
}

// open loads a file, which is called so in an error. It stays until the process ends: the library
// has threads.
func open(file, called string) (uintptr, error) {
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, fmt.Errorf("%s cannot be loaded: %w", called, err)
	}
	return handle, nil
}
