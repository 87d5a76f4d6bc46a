package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The first program of each page, in a module of its own, with another path of a store.
func TestTheProgramsOfThePagesRun(t *testing.T) {
	for page, printed := range map[string]string{
		"../README.md":             `^\d{10,} <nil>\n$`,
		"../../../docs/testing.md": `^247513811307782185 <nil>\n$`,
	} {
		t.Run(filepath.Base(page), func(t *testing.T) { runFirst(t, page, printed) })
	}
}

func runFirst(t *testing.T, page, printed string) {
	t.Helper()
	text, err := os.ReadFile(page)
	works(t, err)
	_, rest, _ := strings.Cut(string(text), "```go\n")
	program, _, _ := strings.Cut(rest, "```")
	folder := t.TempDir()
	program = strings.Replace(program, "/srv/uidring.db", filepath.Join(folder, "uidring.db"), 1)
	works(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o600))
	module, err := filepath.Abs("..")
	works(t, err)
	sums, err := os.ReadFile("../go.sum")
	works(t, err)
	works(t, os.WriteFile(filepath.Join(folder, "go.sum"), sums, 0o600))
	for _, arguments := range [][]string{
		{"mod", "init", "example"},
		{"mod", "edit", "-replace=github.com/uidring/uidring/bindings/go=" + module},
		{"mod", "tidy"},
		{"run", "."},
	} {
		command := exec.Command("go", arguments...)
		command.Dir = folder
		command.Env = append(os.Environ(), "CGO_ENABLED=0")
		said := new(strings.Builder)
		command.Stderr = said
		output, err := command.Output()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", arguments, err, said)
		}
		if arguments[0] == "run" && !regexp.MustCompile(printed).Match(output) {
			t.Errorf("%s", output)
		}
	}
}
