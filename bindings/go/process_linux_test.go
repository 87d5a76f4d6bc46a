package uidring_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	uidring "github.com/uidring/uidring/bindings/go"
)

func threads() int {
	return len(must(os.ReadDir("/proc/self/task")))
}

func take() {
	uids := must(uidring.Open(background(), os.Args[1], uidring.Lease(time.Minute)))
	for range 1_000_000_000 {
		fmt.Println(must(uids.Take()))
	}
}

func TestAProcessThatIsKilledRepeatsNothing(t *testing.T) {
	store := file(t)
	seen := map[string]bool{}
	for range 4 {
		child := program(t, "take", store)
		output := is[interface{ Read([]byte) (int, error) }](t)(child.StdoutPipe())
		works(t, child.Start())
		lines := bufio.NewScanner(output)
		for count := 0; lines.Scan(); count++ {
			if seen[lines.Text()] && len(lines.Text()) > 10 {
				t.Fatalf("%s comes twice", lines.Text())
			}
			seen[lines.Text()] = true
			if count == 5_000 {
				works(t, child.Process.Kill())
				break
			}
		}
		_ = child.Wait()
	}
	if len(seen) < 20_000 {
		t.Errorf("%d ids", len(seen))
	}
}

// caught are the signals that the process has handlers for.
func caught() string {
	_, rest, _ := bytes.Cut(must(os.ReadFile("/proc/self/status")), []byte("SigCgt:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(bytes.TrimSpace(line))
}

// Handlers of Go's run on a stack of their own. One of the library's would not ask for it.
func dispositions() {
	before := caught()
	uids := must(uidring.Open(background(), os.Args[1]))
	must(uids.Take())
	fmt.Println(before == caught(), before)
}

func TestTheLibraryHandlesNoSignal(t *testing.T) {
	output, err := program(t, "dispositions", file(t)).Output()
	if err != nil || !strings.HasPrefix(string(output), "true ") {
		t.Fatalf("%s%v", output, err)
	}
}

func hasThreadOfLibrary() bool {
	for _, task := range must(os.ReadDir("/proc/self/task")) {
		name, err := os.ReadFile("/proc/self/task/" + task.Name() + "/comm")
		if err == nil && strings.HasPrefix(string(name), "uidring") {
			return true
		}
	}
	return false
}

// Sends a signal to each thread, of which some are the library's.
func signals() {
	came := make(chan os.Signal, 1)
	signal.Notify(came, syscall.SIGUSR1)
	uids := must(uidring.Open(background(), os.Args[1]))
	// A thread gets its name when it runs.
	for end := time.Now().Add(10 * time.Second); !hasThreadOfLibrary(); {
		if time.Now().After(end) {
			fmt.Println("no thread is the library's")
			return
		}
		time.Sleep(time.Millisecond)
	}
	for _, task := range must(os.ReadDir("/proc/self/task")) {
		number := must(strconv.Atoi(task.Name()))
		for range 10 {
			if syscall.Tgkill(os.Getpid(), number, syscall.SIGUSR1) == syscall.ESRCH {
				// A thread of Go's has ended.
				break
			}
			select {
			case <-came:
			case <-time.After(10 * time.Second):
				fmt.Println("a signal is lost")
				return
			}
			must(uids.Take())
		}
	}
	fmt.Println(true)
}

func TestASignalReachesTheProgramWhicheverThreadGetsIt(t *testing.T) {
	output, err := program(t, "signals", file(t)).Output()
	if err != nil || string(output) != "true\n" {
		t.Fatalf("%s%v", output, err)
	}
}

// Without its store, a lent worker id is lost, which is told ahead of the end.
func TestALossIsTold(t *testing.T) {
	store := file(t)
	worker := is[*uidring.Worker](t)(uidring.LendWorker(background(), store, "shop", 4,
		uidring.Lease(3*time.Second)))
	works(t, os.Rename(store, store+".away"))
	select {
	case loss := <-worker.Lost():
		if loss.Worker != worker.ID() || loss.Left <= 0 || loss.Left > 3*time.Second ||
			!strings.Contains(loss.Text, "must not be used any more") {
			t.Errorf("%+v", loss)
		}
	case <-time.After(30 * time.Second):
		t.Error("nothing is told")
	}
	_ = worker.Close()
}
