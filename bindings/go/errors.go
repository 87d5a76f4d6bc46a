package uidring

import "errors"

// The kinds of errors. Compare by errors.Is.
var (
	// ErrInvalidArgument says that an argument or an option is wrong. Nothing was done.
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrUnavailable says that the store cannot be reached, or that a limit holds for now. Try
	// again later.
	ErrUnavailable = errors.New("unavailable")
	// ErrRefused says that the store refuses, or that something is used up. Somebody has to change
	// something.
	ErrRefused = errors.New("refused")
	// ErrClosed says that what was called had been closed.
	ErrClosed = errors.New("closed")
	// ErrForked says that the process was forked from the one that opened what was called.
	ErrForked = errors.New("forked")
	// ErrInternal says that a mistake in uidring was caught. Report it.
	ErrInternal = errors.New("internal")
)

var kinds = [...]error{
	1: ErrInvalidArgument, 2: ErrUnavailable, 3: ErrRefused, 4: ErrClosed, 5: ErrForked,
	6: ErrInternal,
}

// Error is what all calls of this package fail with, except that one whose context has ended fails
// with the context's error. errors.Is finds its kind, and errors.As what the driver of a database
// has said, if that is the reason.
type Error struct {
	kind    error
	message string
	cause   error
}

// Error returns the sentence, which says what is wrong, with which value, and what to do.
func (e *Error) Error() string { return e.message }

// Unwrap returns the kind and, if there is one, the error behind this one.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

func failure(kind error, message string) *Error {
	return &Error{kind: kind, message: message}
}

func kindOf(code int32) error {
	if code > 0 && int(code) < len(kinds) {
		return kinds[code]
	}
	return ErrInternal
}
