package uidring_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	uidring "github.com/uidring/uidring/bindings/go"
)

// programs are what this test program does instead of the tests, if the variable names it.
var programs = map[string]func(){
	"take": take, "signals": signals, "dispositions": dispositions, "abandoned": abandoned,
}

const role = "UIDRING_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if program, named := programs[os.Getenv(role)]; named {
		program()
		return
	}
	os.Exit(m.Run())
}

// program is this one, as another process that does what `name` says.
func program(t *testing.T, name string, arguments ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self, arguments...)
	command.Env = append(os.Environ(), role+"="+name)
	return command
}

// must ends a program that cannot go on.
func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// is returns the value of a call that has to succeed.
func is[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func works(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "uidring.db") }

// fixed is a generator that needs no store, until the test ends.
func fixed(t *testing.T, options ...uidring.Option) *uidring.Generator {
	t.Helper()
	uids := is[*uidring.Generator](t)(uidring.OpenFixed(7, options...))
	t.Cleanup(func() { works(t, uids.Close()) })
	return uids
}

func background() context.Context { return context.Background() }
