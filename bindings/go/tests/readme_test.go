package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The first program of the README, in a module of its own, with another path of a store.
func TestTheProgramOfTheReadmeRuns(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	works(t, err)
	_, rest, _ := strings.Cut(string(readme), "```go\n")
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
		if arguments[0] == "run" && !regexp.MustCompile(`^\d{10,} <nil>\n$`).Match(output) {
			t.Errorf("%s", output)
		}
	}
}
