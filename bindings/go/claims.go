package uidring

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	// How many ids are claimed at once, at most: as many as by a local taker of the library.
	longest = 4096
	// Longer slices are filled by the library, for which one call costs nothing then.
	short = 512
	// How many goroutines wait in the library at a time, each on a thread of the system. The others
	// wait for these.
	waiting = 8
)

// source is where claims get ids by calls.
type source struct {
	handle             uint64
	take, tryTake, all *native
}

// claims are the ids of a generator, or the numbers of a tag, that all goroutines share: one call
// of the library claims many of them, and a take is an atomic add here.
//
//	place     end - length                                 end
//	            ├───────────────────────────────────────────┤
//	id        first                      ▲ next            what the library's word holds
//
// The places of a claim are counted so that the last one comes directly before the number that the
// library's word holds. The library lowers the word when the ids have become too old, or the
// generator has ended. So one comparison says whether an id may be given.
//
// A take that begins after another has returned gives the larger id. Within a claim the add sees to
// that. A claim follows another only when nothing can be taken from that one any more, so that its
// ids are larger. And nothing is taken directly from the library, where ids are larger than those
// of the claim, while a claim has ids: `direct` counts the calls that do, and while there are any,
// nothing is claimed.
type claims struct {
	source source
	// The library's, in memory of its own. Nil where each id is taken when it is needed.
	word    *uint64
	handle  uint64
	current atomic.Pointer[claim]
	permits chan struct{}

	lock sync.Mutex
	// How many ids the next claim has. Under the lock.
	length uint32
	// How many calls take from the library directly. Under the lock.
	direct int
}

type claim struct {
	// The next place. Takes that find nothing count on.
	next atomic.Uint64
	// The first place, the one past the last, the first id, and the distance to the next.
	start, end, first, step uint64
}

// claimed is what the library writes.
type claimed struct{ first, length, step, end uint64 }

func (c *claim) id(place uint64) int64 {
	return int64(c.first + (place-c.start)*c.step)
}

// newClaims opens claims of a source.
func newClaims(open *native, from source) (*claims, error) {
	c := &claims{source: from, length: 1, permits: make(chan struct{}, waiting)}
	// The library writes an address of its own.
	word, handle := new(*uint64), new(uint64)
	err := call(open, uintptr(from.handle), uintptr(unsafe.Pointer(handle)),
		uintptr(unsafe.Pointer(word)))
	if err != nil {
		return nil, err
	}
	c.word, c.handle = *word, *handle
	if c.word != nil {
		none := &claim{start: c.end(), end: c.end()}
		none.next.Store(none.start)
		c.current.Store(none)
		// The word stays until no goroutine can read it any more, also after a close.
		runtime.AddCleanup(c, func(handle uint64) {
			_ = call(cClaimsClose, uintptr(handle))
		}, c.handle)
	}
	return c, nil
}

func (c *claims) end() uint64 { return atomic.LoadUint64(c.word) }

// take takes an id, and waits for one at most until ctx ends.
func (c *claims) take(ctx context.Context) (int64, error) {
	if c.word != nil {
		if id := c.fromClaim(); id != 0 {
			runtime.KeepAlive(c)
			return id, nil
		}
	}
	id, err := c.takeSlowly(ctx)
	runtime.KeepAlive(c)
	return id, err
}

// fromClaim is an id of the claim, or 0 if it has none.
func (c *claims) fromClaim() int64 {
	claim := c.current.Load()
	place := claim.next.Add(1) - 1
	if place < c.end() {
		return claim.id(place)
	}
	return 0
}

func (c *claims) takeSlowly(ctx context.Context) (int64, error) {
	if c.word == nil {
		return c.takeDirectly(ctx)
	}
	id, err := c.fromNextClaim()
	if id != 0 || err != nil {
		return id, err
	}
	return c.takeDirectly(ctx)
}

// fromNextClaim takes from a claim that this or another goroutine makes. Where it returns 0 and no
// error, the caller takes directly, and leaves then.
func (c *claims) fromNextClaim() (int64, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	// Another goroutine may have claimed meanwhile.
	id, err := c.fromClaim(), error(nil)
	if id == 0 {
		id, err = c.claim(1)
	}
	if id == 0 && err == nil {
		c.direct++
	}
	return id, err
}

// claim claims ids, at least so many if there are, in place of a claim that has none. It returns
// the first, or 0 if there is none now or others take directly. Under the lock.
func (c *claims) claim(least int) (int64, error) {
	if c.direct > 0 {
		return 0, nil
	}
	// What expires is lost, so a program that takes seldom claims one id at a time.
	if c.end() == c.current.Load().end {
		c.length = min(2*c.length, longest)
	} else {
		c.length = 1
	}
	made := new(claimed)
	count := max(c.length, uint32(least))
	err := call(cClaim, uintptr(c.handle), uintptr(count), uintptr(unsafe.Pointer(made)))
	if err != nil || made.length == 0 {
		return 0, err
	}
	next := &claim{
		start: made.end - made.length, end: made.end, first: made.first, step: made.step,
	}
	// Before others see it: the first id is the caller's, whatever happens.
	next.next.Store(next.start + 1)
	c.current.Store(next)
	return int64(made.first), nil
}

// leave ends what fromNextClaim or fillFromNextClaim has begun.
func (c *claims) leave() {
	if c.word == nil {
		return
	}
	c.lock.Lock()
	c.direct--
	c.lock.Unlock()
}

// takeDirectly takes by a call of the library that may wait. Where ctx ends meanwhile, the id that
// the call gives is nobody's.
func (c *claims) takeDirectly(ctx context.Context) (int64, error) {
	if err := c.enter(ctx); err != nil {
		return 0, err
	}
	if ctx.Done() == nil {
		defer c.exit()
		return c.number(c.source.take)
	}
	if id, err := c.number(c.source.tryTake); id != 0 || err != nil {
		c.exit()
		return id, err
	}
	type result struct {
		id  int64
		err error
	}
	taken := make(chan result, 1)
	go func() {
		defer c.exit()
		id, err := c.number(c.source.take)
		taken <- result{id, err}
	}()
	select {
	case got := <-taken:
		return got.id, got.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// enter waits until another goroutine may wait in the library. Where ctx ends before, it leaves.
func (c *claims) enter(ctx context.Context) error {
	select {
	case c.permits <- struct{}{}:
		return nil
	case <-ctx.Done():
		c.leave()
		return context.Cause(ctx)
	}
}

func (c *claims) exit() {
	<-c.permits
	c.leave()
}

// number calls what writes one number.
func (c *claims) number(function *native) (int64, error) {
	number := new(int64)
	err := call(function, uintptr(c.source.handle), uintptr(unsafe.Pointer(number)))
	return *number, err
}

// tryTake takes an id if there is one now.
func (c *claims) tryTake() (int64, bool, error) {
	defer runtime.KeepAlive(c)
	if c.word == nil {
		id, err := c.number(c.source.tryTake)
		return id, id != 0, err
	}
	if id := c.fromClaim(); id != 0 {
		return id, true, nil
	}
	id, err := c.fromNextClaim()
	if id == 0 && err == nil {
		// It may be there even so, while others take directly.
		id, err = c.number(c.source.tryTake)
		c.leave()
	}
	return id, id != 0, err
}

// fill writes ids to each element, or returns how many are written with the error.
func (c *claims) fill(ids []int64) (int, error) {
	defer runtime.KeepAlive(c)
	if c.word == nil {
		return c.fillDirectly(ids)
	}
	filled := c.fillFromClaim(ids)
	for filled < len(ids) {
		more, err := c.fillFromNextClaim(ids[filled:])
		if err == nil && more == 0 {
			more, err = c.fillDirectly(ids[filled:])
		}
		filled += more
		if err != nil {
			return filled, err
		}
	}
	return filled, nil
}

// fillFromClaim writes ids of the claim from the start on. It returns how many.
func (c *claims) fillFromClaim(ids []int64) int {
	claim := c.current.Load()
	wanted := uint64(len(ids))
	place := claim.next.Add(wanted) - wanted
	end := c.end()
	if place >= end {
		return 0
	}
	count := min(wanted, end-place)
	for index := range ids[:count] {
		ids[index] = claim.id(place + uint64(index))
	}
	return int(count)
}

// fillFromNextClaim does so from a claim that this or another goroutine makes. If that is not to
// be, it returns 0, and the caller takes directly, and leaves then.
func (c *claims) fillFromNextClaim(ids []int64) (int, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if count := c.fillFromClaim(ids); count > 0 {
		return count, nil
	}
	var id int64
	if len(ids) <= short {
		var err error
		if id, err = c.claim(len(ids)); err != nil {
			return 0, err
		}
	}
	if id == 0 {
		c.direct++
		return 0, nil
	}
	ids[0] = id
	return 1 + c.fillFromClaim(ids[1:]), nil
}

func (c *claims) fillDirectly(ids []int64) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	_ = c.enter(context.Background())
	defer c.exit()
	filled := new(int)
	err := call(c.source.all, uintptr(c.source.handle), uintptr(unsafe.Pointer(&ids[0])),
		uintptr(len(ids)), uintptr(unsafe.Pointer(filled)))
	return *filled, err
}

// giveBack gives back what is left, before the end of the tag. From now on ids are taken directly.
func (c *claims) giveBack() {
	if c.word == nil {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.direct++
	claim := c.current.Load()
	// No take finds a place after that.
	next := claim.next.Add(claim.end-claim.start) - (claim.end - claim.start)
	if claim.start < next && next < c.end() {
		_ = call(cClaimsGiveBack, uintptr(c.handle), uintptr(next-claim.start))
	}
	runtime.KeepAlive(c)
}
