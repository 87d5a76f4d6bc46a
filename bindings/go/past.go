package uidring

import (
	"context"
	"time"
	"unsafe"
)

// Past gives ids of times that were, for rows that are older than their ids. All goroutines may
// share it.
type Past struct{ handle uint64 }

// OpenPast opens a generator of ids of the past, with a worker id that nobody had before, as Open
// opens a generator.
func OpenPast(ctx context.Context, address string, options ...Option) (*Past, error) {
	of := func(handle uint64) (*Past, error) { return &Past{handle}, nil }
	return opened(ctx, cPastOpen, address, options, of, (*Past).Close)
}

// TakeAt takes an id whose time is the tick of `at`. Where all ids of the tick are taken, it asks
// the store for a further worker id.
func (p *Past) TakeAt(ctx context.Context, at time.Time) (Uid, error) {
	return await(ctx, func() (Uid, error) {
		uid := new(Uid)
		err := call(cPastTakeAt, uintptr(p.handle), uintptr(at.UnixMilli()),
			uintptr(unsafe.Pointer(uid)))
		return *uid, err
	}, nil)
}

// TakeTimes takes an id for each of the times, in their order. All times are looked at before the
// first id is taken. The sentence of an error says which time it is about, counted from 1.
func (p *Past) TakeTimes(ctx context.Context, times []time.Time) ([]Uid, error) {
	uids := make([]Uid, len(times))
	if len(times) == 0 {
		return uids, nil
	}
	for index, at := range times {
		uids[index] = Uid(at.UnixMilli())
	}
	return await(ctx, func() ([]Uid, error) {
		// Each time is replaced by its id.
		err := call(cPastTakeTimes, uintptr(p.handle), uintptr(unsafe.Pointer(&uids[0])),
			uintptr(unsafe.Pointer(&uids[0])), uintptr(len(uids)))
		if err != nil {
			return nil, err
		}
		return uids, nil
	}, nil)
}

// Parts decodes an id of this generator's layout.
func (p *Past) Parts(uid Uid) (Parts, error) { return decode(cPastDecode, p.handle, uid) }

// Status returns the state as a JSON object.
func (p *Past) Status() (string, error) { return statusOf(cPastStatus, p.handle) }

// Close ends all takes. A second close succeeds.
func (p *Past) Close() error { return call(cPastClose, uintptr(p.handle)) }
