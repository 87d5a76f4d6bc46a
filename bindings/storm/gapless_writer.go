// Stores documents with gapless numbers, in transactions of database/sql, until its standard input
// ends: one of the programs of tests/gapless_storm, which says what it finds and what it has to do.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	uidring "github.com/uidring/uidring/bindings/go"
)

type place struct{ series, scope string }

var places = []place{
	{"invoices", "north"}, {"invoices", "south"}, {"receipts", "north"}, {"receipts", "south"},
}

type writer struct {
	db     *sql.DB
	insert string
	series *uidring.Series
	random *rand.Rand
}

func main() {
	seed, err := strconv.ParseUint(os.Getenv("UIDRING_STORM_CHILD_SEED"), 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	writer, err := newWriter(os.Getenv("UIDRING_STORM_DATABASE"))
	if err != nil {
		log.Fatal(err)
	}
	writer.random = rand.New(rand.NewPCG(seed, 0))
	isOver := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(isOver)
	}()
	for {
		select {
		case <-isOver:
			return
		default:
			if writer.count() != nil {
				// A deadlock, a full series, a server that is down.
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
}

func newWriter(address string) (*writer, error) {
	const ofMySQL = "INSERT INTO document VALUES (?, ?, ?, ?, 'go')"
	var db *sql.DB
	var err error
	insert, kind := ofMySQL, uidring.MySQL
	switch {
	case strings.HasPrefix(address, "postgres"):
		insert = "INSERT INTO document VALUES ($1, $2, $3, $4, 'go')"
		kind = uidring.Postgres
		db, err = sql.Open("pgx", address)
	case strings.HasPrefix(address, "mysql"):
		read, failed := url.Parse(address)
		if failed != nil {
			return nil, failed
		}
		config := mysql.NewConfig()
		config.User = read.User.Username()
		config.Passwd, _ = read.User.Password()
		config.Net, config.Addr = "tcp", read.Host
		config.DBName = strings.TrimPrefix(read.Path, "/")
		config.ReadTimeout = 4 * time.Second
		// What goes wrong is the purpose of a storm.
		config.Logger = &mysql.NopLogger{}
		db, err = sql.Open("mysql", config.FormatDSN())
	default:
		kind = uidring.SQLite
		db, err = sql.Open("sqlite", "file:"+address+"?_pragma=busy_timeout(2000)")
	}
	if err != nil {
		return nil, err
	}
	series, err := uidring.SeriesInTransactions(kind)
	return &writer{db: db, insert: insert, series: series}, err
}

// count runs one transaction, with numbers of up to three series and scopes, in any order, so that
// some meet in deadlocks.
func (w *writer) count() error {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	order := w.random.Perm(len(places))
	if w.random.IntN(20) == 0 {
		return w.countAlone(ctx, places[order[0]])
	}
	transaction, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer transaction.Rollback()
	for _, index := range order[:1+w.random.IntN(3)] {
		if err := w.store(ctx, transaction, places[index]); err != nil {
			return err
		}
	}
	if w.random.IntN(5) == 0 {
		time.Sleep(time.Duration(w.random.IntN(30)) * time.Millisecond)
	}
	if w.random.IntN(4) == 0 {
		return transaction.Rollback()
	}
	return transaction.Commit()
}

// countAlone counts in no transaction, which has to fail. If it does not, nobody has the number.
func (w *writer) countAlone(ctx context.Context, at place) error {
	connection, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = w.series.NextIn(ctx, connection, at.series, uidring.Scope(at.scope))
	return err
}

func (w *writer) store(ctx context.Context, transaction *sql.Tx, at place) error {
	next := func() (uidring.Number, error) {
		return w.series.NextIn(ctx, transaction, at.series, uidring.Scope(at.scope))
	}
	if w.random.IntN(5) == 0 {
		for _, step := range []func() error{
			func() error { return run(ctx, transaction, "SAVEPOINT a") },
			func() error { _, err := next(); return err },
			func() error { return run(ctx, transaction, "ROLLBACK TO SAVEPOINT a") },
		} {
			if err := step(); err != nil {
				return err
			}
		}
	}
	for range 1 + w.random.IntN(3) {
		number, err := next()
		if err != nil {
			return err
		}
		row := []any{at.series, at.scope, number.Value, fmt.Sprint(number)}
		if err := run(ctx, transaction, w.insert, row...); err != nil {
			return err
		}
	}
	return nil
}

func run(ctx context.Context, transaction *sql.Tx, statement string, values ...any) error {
	_, err := transaction.ExecContext(ctx, statement, values...)
	return err
}
