package uidring

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unsafe"
)

// Series are the numbers of a store that people see, such as SO20261124-000042. All goroutines may
// share them.
type Series struct {
	handle   uint64
	database Database
}

// Number is a number of a series.
type Number struct {
	// Text is what people see.
	Text string
	// Value is the number itself, counted from the first of its period.
	Value uint64
	// Period is the one in which it was counted, such as "2026-11-24", "2026-W48" or "ever".
	Period string
	// Shown is the period that the text shows: that one, or a part of it.
	Shown string
}

// String returns the text that people see.
func (n Number) String() string { return n.Text }

// Of says which numbers of a series are meant, if not those of today without a scope.
type Of struct {
	scope, date       string
	hasScope, hasDate bool
}

// Scope means the numbers of a scope, such as a shop, which counts by itself: without {scope} in
// the pattern, numbers of two scopes have the same text.
func Scope(name string) Of { return Of{scope: name, hasScope: true} }

// Day means the numbers of the period of this day. The day is that of the time's own zone.
func Day(day time.Time) Of { return Of{date: day.Format(time.DateOnly), hasDate: true} }

// OpenSeries opens the series of the store at `address`, as Open opens a generator.
func OpenSeries(ctx context.Context, address string, options ...Option) (*Series, error) {
	of := func(handle uint64) (*Series, error) {
		return &Series{handle, databaseOf(address)}, nil
	}
	return opened(ctx, cSeriesOpen, address, options, of, (*Series).Close)
}

// Create creates a series, or finds one that is as it is asked for.
func (s *Series) Create(ctx context.Context, name, pattern string, options ...Option) error {
	texts, err := zeroEndedAll(name, pattern)
	if err != nil {
		return err
	}
	asked, err := written(options)
	if err != nil {
		return err
	}
	return awaitDone(ctx, func() error {
		return call(cSeriesCreate, uintptr(s.handle), uintptr(unsafe.Pointer(texts[0])),
			uintptr(unsafe.Pointer(texts[1])), uintptr(unsafe.Pointer(&asked[0])))
	})
}

// issued is a number as the library writes it.
type issued struct {
	value         uint64
	period, shown [16]byte
	text          [640]byte
}

func (i *issued) number() Number {
	return Number{textIn(i.text[:]), i.value, textIn(i.period[:]), textIn(i.shown[:])}
}

// meant are the name of a series, a scope and a date, as the library reads them.
type meant struct{ name, scope, date *byte }

func meantBy(name string, of []Of) (meant, error) {
	var all Of
	for _, each := range of {
		if each.hasScope && all.hasScope || each.hasDate && all.hasDate {
			return meant{}, failure(ErrInvalidArgument, "a number is of one scope and of one day")
		}
		if each.hasScope {
			all.scope, all.hasScope = each.scope, true
		}
		if each.hasDate {
			all.date, all.hasDate = each.date, true
		}
	}
	texts, err := zeroEndedAll(name, all.scope, all.date)
	if err != nil {
		return meant{}, err
	}
	its := meant{name: texts[0]}
	// An empty scope is refused by the library: a variable was never set.
	if all.hasScope {
		its.scope = texts[1]
	}
	if all.hasDate {
		its.date = texts[2]
	}
	return its, nil
}

// Next takes the next number of a series.
func (s *Series) Next(ctx context.Context, name string, of ...Of) (Number, error) {
	numbers, err := s.NextMany(ctx, name, 1, of...)
	if err != nil {
		return Number{}, err
	}
	return numbers[0], nil
}

// NextMany takes the next numbers of a series, from 1 to a million. Where fewer fit the pattern, it
// takes those.
func (s *Series) NextMany(ctx context.Context, name string, count int, of ...Of) ([]Number, error) {
	its, err := meantBy(name, of)
	if err != nil {
		return nil, err
	}
	if count < 1 || count > 1_000_000 {
		return nil, failure(ErrInvalidArgument,
			fmt.Sprintf("a call takes 1 to 1000000 numbers of a series, and not %d", count))
	}
	return await(ctx, func() ([]Number, error) {
		made, taken := make([]issued, count), new(int)
		err := call(cSeriesNext, uintptr(s.handle), uintptr(unsafe.Pointer(its.name)),
			uintptr(unsafe.Pointer(its.scope)), uintptr(unsafe.Pointer(its.date)),
			uintptr(unsafe.Pointer(&made[0])), uintptr(count), uintptr(unsafe.Pointer(taken)))
		if err != nil {
			return nil, err
		}
		numbers := make([]Number, *taken)
		for index := range numbers {
			numbers[index] = made[index].number()
		}
		return numbers, nil
	}, nil)
}

// Parse reads a number of a series. A text that is none is an invalid argument.
func (s *Series) Parse(ctx context.Context, name, text string) (Number, error) {
	texts, err := zeroEndedAll(name, text)
	if err != nil {
		return Number{}, err
	}
	return await(ctx, func() (Number, error) {
		made := new(issued)
		err := call(cSeriesParse, uintptr(s.handle), uintptr(unsafe.Pointer(texts[0])),
			uintptr(unsafe.Pointer(texts[1])), uintptr(unsafe.Pointer(made)))
		if err != nil {
			return Number{}, err
		}
		return made.number(), nil
	}, nil)
}

// Format returns the text of a number of a series, as Next writes it.
func (s *Series) Format(
	ctx context.Context, name string, number uint64, of ...Of,
) (string, error) {
	its, err := meantBy(name, of)
	if err != nil {
		return "", err
	}
	return await(ctx, func() (string, error) {
		return writing(func(buffer []byte, length *int) error {
			return call(cSeriesFormat, uintptr(s.handle), uintptr(unsafe.Pointer(its.name)),
				uintptr(number), uintptr(unsafe.Pointer(its.scope)),
				uintptr(unsafe.Pointer(its.date)), uintptr(unsafe.Pointer(&buffer[0])),
				uintptr(len(buffer)), uintptr(unsafe.Pointer(length)))
		})
	}, nil)
}

// Widen gives a series a wider number at once: the way on where a period has given all its numbers.
// The pattern is as it was, but for the number.
func (s *Series) Widen(ctx context.Context, name, pattern string) error {
	texts, err := zeroEndedAll(name, pattern)
	if err != nil {
		return err
	}
	return awaitDone(ctx, func() error {
		return call(cSeriesWiden, uintptr(s.handle), uintptr(unsafe.Pointer(texts[0])),
			uintptr(unsafe.Pointer(texts[1])))
	})
}

// Status returns the state of a series, and of a scope of it, as a JSON object.
func (s *Series) Status(ctx context.Context, name string, of ...Of) (string, error) {
	its, err := meantBy(name, of)
	if err != nil {
		return "", err
	}
	return await(ctx, func() (string, error) {
		return writing(func(buffer []byte, length *int) error {
			return call(cSeriesStatus, uintptr(s.handle), uintptr(unsafe.Pointer(its.name)),
				uintptr(unsafe.Pointer(its.scope)), uintptr(unsafe.Pointer(&buffer[0])),
				uintptr(len(buffer)), uintptr(unsafe.Pointer(length)))
		})
	}, nil)
}

// Close ends all takes, and gives back what is left of each scope. A second close succeeds. If it
// fails, numbers were not given back in time and are lost, and all takes have ended even so.
func (s *Series) Close() error { return call(cSeriesClose, uintptr(s.handle)) }

// databaseOf is the kind of database at an address, or 0 where the program has no transactions.
func databaseOf(address string) Database {
	scheme, _, hasScheme := strings.Cut(strings.TrimPrefix(address, "jdbc:"), "://")
	switch {
	case !hasScheme:
		return SQLite
	case strings.HasPrefix(scheme, "postgres"):
		return Postgres
	case strings.HasPrefix(scheme, "mysql"), strings.HasPrefix(scheme, "mariadb"):
		return MySQL
	}
	return 0
}
