package uidring

import (
	"context"
	"sync"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Worker is a worker id that is lent to a generator of another's, such as Sonyflake. All goroutines
// may share it.
type Worker struct {
	handle uint64
	id     uint64
	key    uintptr
	lost   chan Loss
}

// Loss says that a worker id is about to be lost.
type Loss struct {
	// Worker is the worker id.
	Worker uint64
	// Left is for how long it may still be used: by then the generator must have made its last id.
	Left time.Duration
	// Text is a line for people, with the reason.
	Text string
}

// loss is what the library writes.
type loss struct {
	worker, leftMs uint64
	text           [1000]byte
}

// lent are those that may hear of a loss, by numbers: the library gets no pointers of Go's.
var lent = struct {
	lock sync.Mutex
	last uintptr
	all  map[uintptr]chan Loss
}{all: map[uintptr]chan Loss{}}

var onLoss = sync.OnceValue(func() uintptr {
	return purego.NewCallback(func(said *loss, key uintptr) {
		lent.lock.Lock()
		defer lent.lock.Unlock()
		if lost := lent.all[key]; lost != nil {
			// It is told once, and the channel has room for one.
			left := time.Duration(said.leftMs) * time.Millisecond
			lost <- Loss{said.worker, left, textIn(said.text[:])}
		}
	})
})

// LendWorker lends an id of a pool of the store at `address`, for a generator of another's that
// needs a worker, machine or node number. The ids of the pool have so many bits, 1 to 22; 0 is
// never lent. It is renewed until it is closed. Options are Lease, Rest, Host and Timeout.
func LendWorker(
	ctx context.Context, address, pool string, bits int, options ...Option,
) (*Worker, error) {
	if err := load(); err != nil {
		return nil, err
	}
	texts, err := zeroEndedAll(address, pool)
	if err != nil {
		return nil, err
	}
	asked, err := written(options)
	if err != nil {
		return nil, err
	}
	if bits < 0 {
		// The library says how many there may be.
		bits = 0
	}
	lend := func() (*Worker, error) {
		worker := &Worker{lost: make(chan Loss, 1)}
		lent.lock.Lock()
		lent.last++
		worker.key = lent.last
		lent.all[worker.key] = worker.lost
		lent.lock.Unlock()
		handle, id := new(uint64), new(uint64)
		err := call(cWorkerLend, uintptr(unsafe.Pointer(texts[0])),
			uintptr(unsafe.Pointer(texts[1])), uintptr(uint32(bits)),
			uintptr(unsafe.Pointer(&asked[0])), onLoss(), worker.key,
			uintptr(unsafe.Pointer(handle)))
		if err == nil {
			err = call(cWorkerID, uintptr(*handle), uintptr(unsafe.Pointer(id)))
		}
		if err != nil {
			worker.forget()
			return nil, err
		}
		worker.handle, worker.id = *handle, *id
		return worker, nil
	}
	return await(ctx, lend, func(late *Worker) { _ = late.Close() })
}

func (w *Worker) forget() {
	lent.lock.Lock()
	defer lent.lock.Unlock()
	delete(lent.all, w.key)
}

// ID is the worker id: 1 to 2^bits - 1.
func (w *Worker) ID() uint64 { return w.id }

// IsHeld tells whether ids may be made with it now. It asks no store, so a generator may ask before
// each id.
func (w *Worker) IsHeld() bool {
	held := new(int32)
	return call(cWorkerIsHeld, uintptr(w.handle), uintptr(unsafe.Pointer(held))) == nil && *held == 1
}

// Lost is told, once, that the worker id is about to be lost.
func (w *Worker) Lost() <-chan Loss { return w.lost }

// Status returns the state of the loan as a JSON object: "state" is "held" or "lost".
func (w *Worker) Status() (string, error) { return statusOf(cWorkerStatus, w.handle) }

// Close returns the worker id. Make no more ids with it before. A second close succeeds. If it
// fails, the id was lost before, or is held until its lease ends.
func (w *Worker) Close() error {
	err := call(cWorkerClose, uintptr(w.handle))
	w.forget()
	return err
}
