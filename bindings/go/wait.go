package uidring

import "context"

// asking bounds how many calls ask stores at a time, each on a thread of the system.
var asking = make(chan struct{}, 64)

// await makes a call that may wait for a store. Where ctx ends before, the call goes on behind it,
// and `undo` gets what it has opened then.
func await[T any](ctx context.Context, call func() (T, error), undo func(T)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	select {
	case asking <- struct{}{}:
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	if ctx.Done() == nil {
		defer func() { <-asking }()
		return call()
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result)
	go func() {
		defer func() { <-asking }()
		value, err := call()
		select {
		case done <- result{value, err}:
		case <-ctx.Done():
			if err == nil && undo != nil {
				undo(value)
			}
		}
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// awaitDone makes a call that may wait for a store, and has no result.
func awaitDone(ctx context.Context, call func() error) error {
	_, err := await(ctx, func() (struct{}, error) { return struct{}{}, call() }, nil)
	return err
}
