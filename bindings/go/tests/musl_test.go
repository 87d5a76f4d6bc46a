package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const opens = `package main

import (
	"fmt"

	uidring "github.com/uidring/uidring/bindings/go"
)

func main() {
	_, err := uidring.OpenFixed(7)
	fmt.Println(err)
}
`

// A program of Alpine's is built with cgo.
func TestOnMuslTheErrorSaysSo(t *testing.T) {
	compiler, err := exec.LookPath("musl-gcc")
	if err != nil {
		t.Skip("there is no musl-gcc: install musl-tools")
	}
	program := filepath.Join(t.TempDir(), "opens")
	works(t, os.WriteFile(program+".go", []byte(opens), 0o600))
	build := exec.Command("go", "build", "-o", program, program+".go")
	build.Env = append(os.Environ(), "CGO_ENABLED=1", "CC="+compiler)
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	output, err := exec.Command(program).Output()
	if err != nil || !strings.Contains(string(output), "this program runs on musl") ||
		!strings.Contains(string(output), "UIDRING_LIBRARY") {
		t.Errorf("%v: %s", err, output)
	}
}
