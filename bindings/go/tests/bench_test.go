package tests

import (
	"os"
	"runtime"
	"testing"

	"github.com/google/uuid"

	uidring "github.com/uidring/uidring/bindings/go"
)

func opened(b *testing.B, options ...uidring.Option) *uidring.Generator {
	b.Helper()
	uids, err := uidring.OpenFixed(7, options...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = uids.Close() })
	return uids
}

func BenchmarkTake(b *testing.B) {
	uids := opened(b)
	for b.Loop() {
		if _, err := uids.Take(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFill1000(b *testing.B) {
	uids := opened(b)
	many := make([]uidring.Uid, 1_000)
	for b.Loop() {
		if _, err := uids.Fill(many); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUUIDv7(b *testing.B) {
	for b.Loop() {
		if _, err := uuid.NewV7(); err != nil {
			b.Fatal(err)
		}
	}
}

// A take costs at most a tenth of a UUID, in one run on one thread.
func TestATakeCostsATenthOfAUUID(t *testing.T) {
	if os.Getenv("UIDRING_TEST_SPEED") == "" {
		t.Skip("the library is not optimised: see bindings/go/run --release")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	least := func(benchmark func(b *testing.B)) float64 {
		best := float64(0)
		for range 3 {
			result := testing.Benchmark(benchmark)
			took := float64(result.T.Nanoseconds()) / float64(result.N)
			if best == 0 || took < best {
				best = took
			}
		}
		return best
	}
	take, uuid := least(BenchmarkTake), least(BenchmarkUUIDv7)
	if take > uuid/10 {
		t.Errorf("a take took %.1f ns, and a UUID %.1f ns", take, uuid)
	}
	t.Logf("a take took %.1f ns, and a UUID %.1f ns", take, uuid)
}
