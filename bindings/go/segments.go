package uidring

import (
	"context"
	"sync"
	"unsafe"
)

// Segments are the dense numbers of a store: 1, 2, 3, for each tag by itself.
type Segments struct {
	handle uint64
	lock   sync.Mutex
	tags   map[uint64]*Tag
}

// Tag gives the numbers of one tag. All goroutines may share it. It ends with its segments.
type Tag struct {
	name   string
	handle uint64
	claims *claims
}

// OpenSegments opens the tags of the store at `address`, as Open opens a generator.
func OpenSegments(ctx context.Context, address string, options ...Option) (*Segments, error) {
	of := func(handle uint64) (*Segments, error) {
		return &Segments{handle: handle, tags: map[uint64]*Tag{}}, nil
	}
	return opened(ctx, cSegmentsOpen, address, options, of, (*Segments).Close)
}

// Create creates a tag, or finds one that is as it is asked for.
func (s *Segments) Create(ctx context.Context, name string, options ...Option) (*Tag, error) {
	called, err := zeroEnded(name)
	if err != nil {
		return nil, err
	}
	texts, err := written(options)
	if err != nil {
		return nil, err
	}
	return s.found(ctx, name, func(handle *uint64) error {
		return call(cSegmentsCreate, uintptr(s.handle), uintptr(unsafe.Pointer(called)),
			uintptr(unsafe.Pointer(&texts[0])), uintptr(unsafe.Pointer(handle)))
	})
}

// Tag finds a tag that is there. The same name leads to the same Tag.
func (s *Segments) Tag(ctx context.Context, name string) (*Tag, error) {
	called, err := zeroEnded(name)
	if err != nil {
		return nil, err
	}
	return s.found(ctx, name, func(handle *uint64) error {
		return call(cSegmentsTag, uintptr(s.handle), uintptr(unsafe.Pointer(called)),
			uintptr(unsafe.Pointer(handle)))
	})
}

func (s *Segments) found(
	ctx context.Context, name string, find func(handle *uint64) error,
) (*Tag, error) {
	return await(ctx, func() (*Tag, error) {
		handle := new(uint64)
		if err := find(handle); err != nil {
			return nil, err
		}
		s.lock.Lock()
		defer s.lock.Unlock()
		// The library has one handle for a name.
		if known := s.tags[*handle]; known != nil {
			return known, nil
		}
		from := source{handle: *handle, take: cTagTake, tryTake: cTagTryTake, all: cTagFill}
		claims, err := newClaims(cTagClaimsOpen, from)
		if err != nil {
			return nil, err
		}
		tag := &Tag{name, *handle, claims}
		s.tags[*handle] = tag
		return tag, nil
	}, nil)
}

// Close ends all takes, and gives back what is left of each tag. A second close succeeds. If it
// fails, numbers were not given back in time and are lost, and all takes have ended even so.
func (s *Segments) Close() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, tag := range s.tags {
		tag.claims.giveBack()
	}
	s.tags = map[uint64]*Tag{}
	return call(cSegmentsClose, uintptr(s.handle))
}

// Name is the name of the tag.
func (t *Tag) Name() string { return t.name }

// Take takes the next number. It waits for numbers that are being loaded at most as long as the
// option MaxWait says.
func (t *Tag) Take() (int64, error) { return t.claims.take(context.Background()) }

// TakeContext takes a number as Take does, and waits for one no longer than ctx. Where ctx ends
// during a wait, the number that comes after that is given to nobody.
func (t *Tag) TakeContext(ctx context.Context) (int64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return t.claims.take(ctx)
}

// TryTake takes a number if there is one now. It is false, without an error, where it may be worth
// waiting for one.
func (t *Tag) TryTake() (int64, bool, error) { return t.claims.tryTake() }

// Fill writes ascending numbers to all elements. With an error, it returns how many elements from
// the start are new numbers even so.
func (t *Tag) Fill(numbers []int64) (int, error) { return t.claims.fill(numbers) }

// Status returns the state of the tag as a JSON object.
func (t *Tag) Status() (string, error) { return statusOf(cTagStatus, t.handle) }
