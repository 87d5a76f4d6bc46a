package uidring

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Database is a kind of database that has a program's transactions.
type Database int32

// The kinds of databases.
const (
	SQLite   Database = 1
	Postgres Database = 2
	MySQL    Database = 3 // and MariaDB
)

// Transaction is a transaction of the program's own: a *sql.Tx, or a *sql.Conn in which one has
// begun.
type Transaction interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// SeriesInTransactions opens series that are counted in the program's transactions alone, by
// NextIn, and read by them. No store is open.
func SeriesInTransactions(database Database) (*Series, error) {
	if err := load(); err != nil {
		return nil, err
	}
	handle := new(uint64)
	if err := call(cSeriesInTransactions, uintptr(unsafe.Pointer(handle))); err != nil {
		return nil, err
	}
	return &Series{*handle, database}, nil
}

// NextIn counts the next number of a gapless series in your own transaction, that of the document
// which has the number: both are stored, or neither is. Roll the transaction back where it fails;
// if errors.Is says ErrUnavailable, another transaction may succeed. What the driver has said is
// found by errors.As.
//
// In a SQLite file only those of SeriesInTransactions count: the program's copy of SQLite and the
// library's would undo each other's locks.
func (s *Series) NextIn(
	ctx context.Context, transaction Transaction, name string, of ...Of,
) (Number, error) {
	its, err := meantBy(name, of)
	if err != nil {
		return Number{}, err
	}
	made := new(issued)
	err = s.running(ctx, transaction, func(run, context uintptr) error {
		return call(cSeriesNextIn, uintptr(s.handle), uintptr(unsafe.Pointer(its.name)),
			uintptr(unsafe.Pointer(its.scope)), uintptr(unsafe.Pointer(its.date)),
			uintptr(s.database), run, context, uintptr(unsafe.Pointer(made)))
	})
	if err != nil {
		return Number{}, err
	}
	return made.number(), nil
}

// ReadIn reads a series by your own transaction, for Parse and Format, which know it from then on.
// Only those of SeriesInTransactions need it, before they have counted a number.
func (s *Series) ReadIn(ctx context.Context, transaction Transaction, name string) error {
	called, err := zeroEnded(name)
	if err != nil {
		return err
	}
	return s.running(ctx, transaction, func(run, context uintptr) error {
		return call(cSeriesReadIn, uintptr(s.handle), uintptr(unsafe.Pointer(called)),
			uintptr(s.database), run, context)
	})
}

// running makes a call, and runs the statements that it asks for in the transaction.
func (s *Series) running(
	ctx context.Context, transaction Transaction, call func(run, context uintptr) error,
) error {
	if _, pool := transaction.(*sql.DB); pool || transaction == nil {
		return failure(ErrInvalidArgument, "a number is counted in a transaction, a *sql.Tx, and not "+
			"by a *sql.DB, of which each statement may have another connection")
	}
	if s.database == 0 {
		return failure(ErrRefused, "transactions are in SQLite, PostgreSQL and MySQL, and these "+
			"series are in another store")
	}
	work := &work{ctx: ctx, transaction: transaction, database: s.database}
	key := workers.add(work)
	defer workers.remove(key)
	err := call(runStatements(), key)
	if work.panicked != nil {
		panic(work.panicked)
	}
	var its *Error
	if work.failed != nil && errors.As(err, &its) {
		its.cause = work.failed
	}
	return err
}

// work is what a statement is run for.
type work struct {
	ctx         context.Context
	transaction Transaction
	database    Database
	// What the driver has said last.
	failed error
	// What it has panicked with, which must not jump out of the library.
	panicked any
}

// works are known to the library by numbers: it gets no pointers of Go's.
type works struct {
	lock sync.Mutex
	last uintptr
	all  map[uintptr]*work
}

var workers = works{all: map[uintptr]*work{}}

func (w *works) add(one *work) uintptr {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.last++
	w.all[w.last] = one
	return w.last
}

func (w *works) remove(key uintptr) {
	w.lock.Lock()
	defer w.lock.Unlock()
	delete(w.all, key)
}

func (w *works) find(key uintptr) *work {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.all[key]
}

// statement is what the library asks for.
type statement struct {
	sql    uintptr
	values *value
	count  uintptr
}

type value struct {
	text   uintptr
	number int64
}

// runStatements is what the library calls for each statement. One is enough for the process, which
// can have few.
var runStatements = sync.OnceValue(func() uintptr {
	return purego.NewCallback(func(key uintptr, asked *statement, rows uintptr) uintptr {
		return workers.find(key).run(asked, rows)
	})
})

const unavailable, refused = 2, 3

// run runs a statement and adds its rows. It returns the library's code.
func (w *work) run(asked *statement, rows uintptr) (code uintptr) {
	defer func() {
		if w.panicked = recover(); w.panicked != nil {
			code = refused
		}
	}()
	err := w.query(asked, rows)
	if err == nil {
		return 0
	}
	w.failed = err
	if text, problem := zeroEnded(err.Error()); problem == nil {
		add(cRowsFailed, rows, uintptr(unsafe.Pointer(text)))
	}
	if w.database.IsTransient(err) {
		return unavailable
	}
	return refused
}

func (w *work) query(asked *statement, rows uintptr) error {
	var values []any
	for _, each := range unsafe.Slice(asked.values, asked.count) {
		if each.text == 0 {
			values = append(values, each.number)
		} else {
			values = append(values, textAt(each.text))
		}
	}
	found, err := w.transaction.QueryContext(w.ctx, textAt(asked.sql), values...)
	if err != nil {
		return err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return err
	}
	for found.Next() {
		if err := addRow(found, len(columns), rows); err != nil {
			return err
		}
	}
	return errors.Join(found.Err(), found.Close())
}

func addRow(found *sql.Rows, count int, rows uintptr) error {
	columns, places := make([]sql.NullString, count), make([]any, count)
	for index := range columns {
		places[index] = &columns[index]
	}
	if err := found.Scan(places...); err != nil {
		return err
	}
	// One more, so that there is a first.
	texts := make([]*byte, count+1)
	for index, column := range columns {
		if column.Valid {
			text, err := zeroEnded(column.String)
			if err != nil {
				return err
			}
			texts[index] = text
		}
	}
	add(cRowsAdd, rows, uintptr(unsafe.Pointer(&texts[0])), uintptr(count))
	return nil
}

// add calls a function that returns nothing.
//
//go:uintptrescapes
func add(function *native, args ...uintptr) {
	purego.SyscallN(function.address, args...)
}

// IsTransient tells whether another transaction may not meet this error: of this package, or of a
// driver of this kind of database, such as a deadlock, a conflict, a wait that took too long, or a
// connection that broke.
func (d Database) IsTransient(err error) bool {
	var ours *Error
	if errors.As(err, &ours) {
		return errors.Is(err, ErrUnavailable)
	}
	// A net.Error, without the package.
	var network interface {
		Timeout() bool
		Temporary() bool
	}
	if errors.Is(err, driver.ErrBadConn) || errors.As(err, &network) {
		return true
	}
	code := codeOf(err)
	if code == "" || load() != nil {
		return false
	}
	text, problem := zeroEnded(code)
	if problem != nil {
		return false
	}
	is, _, _ := purego.SyscallN(cIsTransient.address, uintptr(d),
		uintptr(unsafe.Pointer(text)))
	runtime.KeepAlive(text)
	return int32(is) == 1
}

// codeOf is the code of a driver's error: a SQLSTATE as of pgx and lib/pq, a number as of
// go-sql-driver/mysql, or a result code as of modernc.org/sqlite and mattn/go-sqlite3.
func codeOf(err error) string {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	var result interface{ Code() int }
	if errors.As(err, &result) {
		return strconv.Itoa(result.Code())
	}
	for ; err != nil; err = errors.Unwrap(err) {
		its := reflect.Indirect(reflect.ValueOf(err))
		if its.Kind() != reflect.Struct {
			continue
		}
		for _, name := range []string{"Number", "ExtendedCode"} {
			if field := its.FieldByName(name); field.IsValid() && (field.CanInt() || field.CanUint()) {
				return fmt.Sprint(field.Interface())
			}
		}
	}
	return ""
}
