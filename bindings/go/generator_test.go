package uidring_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	uidring "github.com/uidring/uidring/bindings/go"
)

// inOrder takes in goroutines at once. Each id is above all those that had been returned when its
// take began, and none comes twice.
func inOrder(t *testing.T, turns int, take func(turn int) ([]int64, error)) []int64 {
	t.Helper()
	if testing.Short() {
		turns /= 10
	}
	var highest atomic.Int64
	var all [8][]int64
	var group sync.WaitGroup
	for goroutine := range all {
		group.Go(func() {
			for turn := range turns {
				before := highest.Load()
				ids, err := take(turn)
				if err != nil {
					t.Error(err)
					return
				}
				if ids[0] <= before || !slices.IsSorted(ids) {
					t.Errorf("%d comes after %d was returned", ids[0], before)
					return
				}
				all[goroutine] = append(all[goroutine], ids...)
				last := ids[len(ids)-1]
				for before < last && !highest.CompareAndSwap(before, last) {
					before = highest.Load()
				}
			}
		})
	}
	group.Wait()
	ids := slices.Concat(all[:]...)
	slices.Sort(ids)
	for index := 1; index < len(ids); index++ {
		if ids[index] == ids[index-1] {
			t.Fatalf("%d comes twice", ids[index])
		}
	}
	return ids
}

// few are options with which takes wait, because a tick has four ids.
var few = []uidring.Option{
	uidring.Layout(40, 20, 2), uidring.Tick(time.Millisecond), uidring.ExactTime(),
	uidring.Epoch(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
}

func TestTakesAreInOrderOverAllGoroutines(t *testing.T) {
	uids := fixed(t)
	inOrder(t, 100_000, func(int) ([]int64, error) {
		uid, err := uids.Take()
		return []int64{int64(uid)}, err
	})
}

func TestTakesAndSlicesAreInOrderOverAllGoroutines(t *testing.T) {
	uids := fixed(t)
	inOrder(t, 5_000, func(turn int) ([]int64, error) {
		if turn%3 > 0 {
			uid, err := uids.TakeContext(background())
			return []int64{int64(uid)}, err
		}
		many := make([]uidring.Uid, 1+turn%1_000)
		filled, err := uids.Fill(many)
		if filled != len(many) {
			return nil, fmt.Errorf("%d of %d: %w", filled, len(many), err)
		}
		ids := make([]int64, len(many))
		for index, uid := range many {
			ids[index] = int64(uid)
		}
		return ids, err
	})
}

func TestTakesThatWaitAreInOrderOverAllGoroutines(t *testing.T) {
	uids := fixed(t, few...)
	ctx, cancel := context.WithTimeout(background(), time.Minute)
	defer cancel()
	inOrder(t, 100, func(turn int) ([]int64, error) {
		if turn%2 > 0 {
			uid, err := uids.Take()
			return []int64{int64(uid)}, err
		}
		uid, err := uids.TakeContext(ctx)
		return []int64{int64(uid)}, err
	})
}

func TestAnIDThatHasBecomeTooOldIsNotGiven(t *testing.T) {
	uids := fixed(t, uidring.MaxLag(200*time.Millisecond), uidring.Tick(100*time.Millisecond))
	for range 100 {
		is[uidring.Uid](t)(uids.Take())
	}
	time.Sleep(time.Second)
	before := time.Now()
	parts := is[uidring.Parts](t)(uids.Parts(is[uidring.Uid](t)(uids.Take())))
	if before.Sub(parts.Time) > 500*time.Millisecond {
		t.Errorf("an id of %v was given at %v", parts.Time, before)
	}
}

func TestNothingIsGivenAfterAClose(t *testing.T) {
	uids := fixed(t)
	var closed atomic.Bool
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				after := closed.Load()
				_, err := uids.Take()
				if errors.Is(err, uidring.ErrClosed) {
					break
				}
				if err != nil || after {
					t.Errorf("after a close: %v", err)
					break
				}
			}
		})
	}
	time.Sleep(10 * time.Millisecond)
	works(t, uids.Close())
	closed.Store(true)
	group.Wait()
	works(t, uids.Close())
	for name, call := range map[string]func() error{
		"TakeContext": func() error { _, err := uids.TakeContext(background()); return err },
		"TryTake":     func() error { _, _, err := uids.TryTake(); return err },
		"Fill":        func() error { _, err := uids.Fill(make([]uidring.Uid, 9)); return err },
		"Parts":       func() error { _, err := uids.Parts(1); return err },
		"Status":      func() error { _, err := uids.Status(); return err },
	} {
		if err := call(); !errors.Is(err, uidring.ErrClosed) {
			t.Errorf("%s after a close: %v", name, err)
		}
	}
}

// The word that claims are compared with is the library's memory.
func TestGeneratorsThatWereClosedAndForgottenAreFreed(t *testing.T) {
	var group sync.WaitGroup
	for goroutine := range 4 {
		group.Go(func() {
			for round := range 50 {
				uids := must(uidring.OpenFixed(uint64(4*round + goroutine)))
				must(uids.Take())
				works(t, uids.Close())
				if round%10 == 0 {
					runtime.GC()
				}
				if _, err := uids.Take(); !errors.Is(err, uidring.ErrClosed) {
					t.Errorf("after a close: %v", err)
				}
			}
		})
	}
	group.Wait()
}

// The library keeps the last sentence for a thread of the system, and goroutines move.
func TestEachErrorHasItsOwnSentence(t *testing.T) {
	var group sync.WaitGroup
	for goroutine := range 64 {
		group.Go(func() {
			for round := range 50 {
				name := fmt.Sprintf("wrong_%d_%d", goroutine, round)
				_, err := uidring.OpenFixed(7, uidring.With(name, "1"))
				if err == nil || !strings.Contains(err.Error(), name) ||
					!errors.Is(err, uidring.ErrInvalidArgument) {
					t.Errorf("%s: %v", name, err)
				}
				runtime.Gosched()
			}
		})
	}
	group.Wait()
}

func TestTryTakeDoesNotWait(t *testing.T) {
	uids := fixed(t, few...)
	var taken, none int
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
		if _, ok, err := uids.TryTake(); err != nil {
			t.Fatal(err)
		} else if ok {
			taken++
		} else {
			none++
		}
	}
	if taken == 0 || none == 0 {
		t.Errorf("%d were there, and %d were not", taken, none)
	}
}

// A tick of a second has four ids.
func TestAContextEndsAWaitAndAThousandWaitInFewThreads(t *testing.T) {
	output, err := program(t, "abandoned").Output()
	if err != nil || string(output) != "few\n" {
		t.Fatalf("%s%v", output, err)
	}
}

func abandoned() {
	uids := must(uidring.OpenFixed(7, uidring.Layout(40, 20, 2), uidring.Tick(time.Second),
		uidring.ExactTime()))
	for taken := true; taken; {
		_, taken, _ = uids.TryTake()
	}
	ctx, cancel := context.WithTimeout(background(), 200*time.Millisecond)
	defer cancel()
	var given atomic.Int64
	var group sync.WaitGroup
	for range 1_000 {
		group.Go(func() {
			switch _, err := uids.TakeContext(ctx); {
			case err == nil:
				given.Add(1)
			case !errors.Is(err, context.DeadlineExceeded):
				fmt.Println(err)
			}
		})
	}
	group.Wait()
	if given := given.Load(); given > 8 {
		fmt.Println(given, "ids in two ticks")
	}
	if threads := threads(); threads > 50 {
		fmt.Println(threads, "threads")
	}
	// A close ends those that wait.
	must(0, uids.Close())
	fmt.Println("few")
}

func TestSlicesOfAnyLengthFollowOneAnother(t *testing.T) {
	uids := fixed(t)
	var last uidring.Uid
	for length := range 1_200 {
		many := make([]uidring.Uid, length)
		if filled, err := uids.Fill(many); filled != length || err != nil {
			t.Fatalf("%d of %d: %v", filled, length, err)
		}
		for _, uid := range append(many, is[uidring.Uid](t)(uids.Take())) {
			if uid <= last {
				t.Fatalf("%d after %d", uid, last)
			}
			last = uid
		}
	}
}

func TestPartsAndStatus(t *testing.T) {
	uids := is[*uidring.Generator](t)(uidring.Open(background(), file(t), uidring.Lease(time.Minute)))
	uid := is[uidring.Uid](t)(uids.Take())
	parts := is[uidring.Parts](t)(uids.Parts(uid))
	if parts.Worker != 1 || time.Since(parts.Time).Abs() > time.Minute {
		t.Errorf("%+v", parts)
	}
	var status struct{ State string }
	works(t, json.Unmarshal([]byte(is[string](t)(uids.Status())), &status))
	if status.State != "running" {
		t.Error(status)
	}
	if _, err := uids.Parts(0); !errors.Is(err, uidring.ErrInvalidArgument) {
		t.Error(err)
	}
	works(t, uids.Close())
}

func TestWhatIsWrongIsTold(t *testing.T) {
	for said, call := range map[string]func() error{
		"the address of the store is empty": func() error {
			_, err := uidring.Open(background(), "")
			return err
		},
		"a text has a zero byte": func() error {
			_, err := uidring.Open(background(), "a\x00b")
			return err
		},
		"has a sign =": func() error {
			_, err := uidring.OpenFixed(7, uidring.With("a=b", "c"))
			return err
		},
		"lease": func() error {
			_, err := uidring.Open(background(), file(t), uidring.Lease(1))
			return err
		},
	} {
		err := call()
		if !errors.Is(err, uidring.ErrInvalidArgument) || !strings.Contains(err.Error(), said) {
			t.Errorf("%q: %v", said, err)
		}
	}
	_, err := uidring.Open(background(), "mysql://127.0.0.1:1/ids",
		uidring.StartDeadline(100*time.Millisecond))
	if !errors.Is(err, uidring.ErrUnavailable) {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(background(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err = uidring.Open(ctx, "mysql://127.0.0.1:1/ids")
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 5*time.Second {
		t.Error(err, time.Since(begin))
	}
}

// Each option is known by the name that its function has given it.
func TestEachOptionIsKnown(t *testing.T) {
	uids := fixed(t, uidring.MaxLead(time.Hour), uidring.MaxLag(time.Second), uidring.Slots(16),
		uidring.OnLeadLimit("fail"), uidring.Order("time-first"), uidring.MaxNewWorkers(1),
		uidring.MaxForwardJump(time.Hour), uidring.ShutdownDeadline(1500*time.Millisecond))
	is[uidring.Uid](t)(uids.Take())
	for _, options := range [][]uidring.Option{
		{uidring.Partition(0, 2)}, {uidring.WorkerIDs(5, 9)}, {uidring.Preset("twitter")},
		{uidring.StartDeadline(time.Minute), uidring.Timeout(time.Second)}, {uidring.OnlyForTests()},
	} {
		uids := is[*uidring.Generator](t)(uidring.Open(background(), file(t), options...))
		works(t, uids.Close())
	}
	_, err := uidring.Open(background(), file(t), uidring.OnUidGenerator())
	if err == nil || !strings.Contains(err.Error(), "WORKER_NODE") {
		t.Error(err)
	}
	options := []uidring.Option{
		uidring.Table("own"), uidring.MaxWait(time.Second), uidring.Ahead(time.Second),
		uidring.Refresh(time.Minute), uidring.MaxInMemory(math.MaxInt32), uidring.Loads(2),
	}
	segments := is[*uidring.Segments](t)(uidring.OpenSegments(background(), file(t), options...))
	defer segments.Close()
	tag := is[*uidring.Tag](t)(segments.Create(background(), "a", uidring.First(5),
		uidring.Step(10), uidring.MaxStep(20), uidring.Description("some")))
	// With MaxInMemory, each is taken when it is needed.
	if number := is[int64](t)(tag.Take()); number != 5 {
		t.Error(number)
	}
	kept := fixed(t, uidring.State(file(t)))
	is[uidring.Uid](t)(kept.Take())
}

func TestChildProcessesStartWhileIDsAreTaken(t *testing.T) {
	uids := fixed(t)
	for range 20 {
		child := exec.Command("true")
		works(t, child.Start())
		is[uidring.Uid](t)(uids.Take())
		works(t, child.Wait())
	}
}
