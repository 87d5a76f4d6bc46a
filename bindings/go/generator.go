package uidring

import (
	"context"
	"time"
	"unsafe"
)

// Generator gives unique, positive ids that sort by time. Open one per process and share it between
// all goroutines.
type Generator struct {
	handle uint64
	claims *claims
}

// Parts is what a Uid holds.
type Parts struct {
	// Time is the begin of the id's tick, which is a second by default.
	Time time.Time
	// Worker is the worker id of the generator that made the id.
	Worker uint64
	// Sequence is the number of the id within its tick and worker id, from 0.
	Sequence uint64
}

// Open opens a generator with a worker id from the store at `address`, which keeps all its programs
// apart: the path of a SQLite file, which is created if it is missing, or the address of a server.
// It waits for the store at most as long as StartDeadline says, and no longer than ctx.
func Open(ctx context.Context, address string, options ...Option) (*Generator, error) {
	return opened(ctx, cOpen, address, options, newGenerator, (*Generator).Close)
}

// OpenFixed opens a generator with a worker id of your own, which no other generator may have at a
// time. Without the option State, a restart may repeat ids: those of the tick in which it begins,
// and those that the first run took ahead of the clock.
func OpenFixed(worker uint64, options ...Option) (*Generator, error) {
	if err := load(); err != nil {
		return nil, err
	}
	texts, err := written(options)
	if err != nil {
		return nil, err
	}
	handle := new(uint64)
	err = call(cOpenFixed, uintptr(worker), uintptr(unsafe.Pointer(&texts[0])),
		uintptr(unsafe.Pointer(handle)))
	if err != nil {
		return nil, err
	}
	return newGenerator(*handle)
}

// opened opens what an address and options name, and makes T of its handle.
func opened[T any](ctx context.Context, function *native, address string, options []Option,
	of func(handle uint64) (*T, error), closing func(*T) error) (*T, error) {
	if err := load(); err != nil {
		return nil, err
	}
	place, err := zeroEnded(address)
	if err != nil {
		return nil, err
	}
	texts, err := written(options)
	if err != nil {
		return nil, err
	}
	open := func() (*T, error) {
		handle := new(uint64)
		err := call(function, uintptr(unsafe.Pointer(place)), uintptr(unsafe.Pointer(&texts[0])),
			uintptr(unsafe.Pointer(handle)))
		if err != nil {
			return nil, err
		}
		return of(*handle)
	}
	return await(ctx, open, func(late *T) { _ = closing(late) })
}

func newGenerator(handle uint64) (*Generator, error) {
	from := source{handle: handle, take: cTake, tryTake: cTryTake, all: cFill}
	claims, err := newClaims(cClaimsOpen, from)
	if err != nil {
		return nil, err
	}
	return &Generator{handle, claims}, nil
}

// Take takes an id. It is larger than those that were taken before with the same worker id, and its
// time is at most a second behind the clock and, after a burst, at most a day ahead, unless options
// ask for other limits.
//
// It waits where the options say that a take waits, and where the ring is being refilled.
func (g *Generator) Take() (Uid, error) {
	id, err := g.claims.take(context.Background())
	return Uid(id), err
}

// TakeContext takes an id as Take does, and waits for one no longer than ctx. It costs no more.
func (g *Generator) TakeContext(ctx context.Context) (Uid, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	id, err := g.claims.take(ctx)
	return Uid(id), err
}

// TryTake takes an id if there is one now. It is false, without an error, where it may be worth
// waiting for one.
func (g *Generator) TryTake() (Uid, bool, error) {
	id, ok, err := g.claims.tryTake()
	return Uid(id), ok, err
}

// Fill writes an id to each element, at a fraction of the cost of as many takes. They ascend within
// one worker id: if it changes in between, the ids begin again at the present time. With an error,
// it returns how many elements from the start are ids even so.
func (g *Generator) Fill(uids []Uid) (int, error) {
	return g.claims.fill(unsafe.Slice((*int64)(unsafe.SliceData(uids)), len(uids)))
}

// parts are what the library writes.
type parts struct {
	unixMs           int64
	worker, sequence uint64
}

func decode(function *native, handle uint64, uid Uid) (Parts, error) {
	if uid <= 0 {
		return Parts{}, notAnID(uid.String())
	}
	made := new(parts)
	err := call(function, uintptr(handle), uintptr(uid), uintptr(unsafe.Pointer(made)))
	if err != nil {
		return Parts{}, err
	}
	return Parts{time.UnixMilli(made.unixMs).UTC(), made.worker, made.sequence}, nil
}

// Parts decodes an id. It must have been made with the layout of this generator, because an id does
// not tell its layout.
func (g *Generator) Parts(uid Uid) (Parts, error) { return decode(cDecode, g.handle, uid) }

// Status returns the state as a JSON object: numbers, lengths in milliseconds and times as RFC 3339
// writes them. Its "state" is "running", or "failing" while takes fail or wait for long, for the
// reason that is "obstacle". After a close it fails with ErrClosed.
func (g *Generator) Status() (string, error) { return statusOf(cStatus, g.handle) }

func statusOf(function *native, handle uint64) (string, error) {
	return writing(func(buffer []byte, length *int) error {
		return call(function, uintptr(handle), uintptr(unsafe.Pointer(&buffer[0])),
			uintptr(len(buffer)), uintptr(unsafe.Pointer(length)))
	})
}

// Close ends the generator. Takes of other goroutines that are under way succeed or fail with
// ErrClosed, as later ones do. A leased worker id is given back, which may take until the option
// ShutdownDeadline. A second close succeeds. If it fails, the worker id was not given back in time;
// all takes have ended even so, and the lease runs out by itself.
func (g *Generator) Close() error { return call(cClose, uintptr(g.handle)) }
