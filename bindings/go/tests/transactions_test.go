// Package tests has the tests of uidring with other modules.
package tests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	uidring "github.com/uidring/uidring/bindings/go"
)

// shop is a database with a table of documents, and a series of them.
type shop struct {
	kind   uidring.Database
	db     *sql.DB
	series *uidring.Series
	name   string
	table  string
	insert string
}

// shops are one in each kind of database of which there is a server.
func shops(t *testing.T, test func(t *testing.T, shop *shop)) {
	t.Run("SQLite", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "uidring.db")
		test(t, newShop(t, uidring.SQLite, file, func() (*sql.DB, error) {
			return sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)&_txlock=immediate")
		}))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		address := server(t, "UIDRING_TEST_POSTGRES")
		test(t, newShop(t, uidring.Postgres, address, func() (*sql.DB, error) {
			return sql.Open("pgx", address)
		}))
	})
	t.Run("MySQL", func(t *testing.T) {
		address := server(t, "UIDRING_TEST_MYSQL")
		test(t, newShop(t, uidring.MySQL, address, func() (*sql.DB, error) {
			read, err := url.Parse(address)
			if err != nil {
				return nil, err
			}
			config := mysql.NewConfig()
			config.User = read.User.Username()
			config.Passwd, _ = read.User.Password()
			config.Net, config.Addr = "tcp", read.Host
			config.DBName = strings.TrimPrefix(read.Path, "/")
			return sql.Open("mysql", config.FormatDSN())
		}))
	})
}

func server(t *testing.T, variable string) string {
	t.Helper()
	address := os.Getenv(variable)
	if address == "" {
		t.Skip(variable + " names no server")
	}
	return address
}

func newShop(
	t *testing.T, kind uidring.Database, address string, open func() (*sql.DB, error),
) *shop {
	t.Helper()
	ctx := t.Context()
	name := fmt.Sprintf("go%d", rand.Uint64())
	stored, err := uidring.OpenSeries(ctx, address)
	works(t, err)
	works(t, stored.Create(ctx, name, "{yyyy}-{n:5}{check:damm}", uidring.Gapless()))
	works(t, stored.Create(ctx, name+"s", "{scope}-{n}", uidring.Gapless()))
	works(t, stored.Close())
	// The library opens a SQLite file before the driver does, and never again.
	db, err := open()
	works(t, err)
	series, err := uidring.SeriesInTransactions(kind)
	works(t, err)
	made := &shop{kind: kind, db: db, series: series, name: name, table: "d" + name}
	place := "?"
	if kind == uidring.Postgres {
		place = "$1"
	}
	made.insert = "INSERT INTO " + made.table + " VALUES (" + place + ")"
	_, err = db.Exec("CREATE TABLE " + made.table + " (number VARCHAR(40) NOT NULL PRIMARY KEY)")
	works(t, err)
	t.Cleanup(func() {
		_, err := db.Exec("DROP TABLE " + made.table)
		works(t, err)
		works(t, db.Close())
		works(t, series.Close())
	})
	return made
}

func works(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sell stores a document with the next number, again where another transaction may succeed.
func (s *shop) sell(ctx context.Context, of ...uidring.Of) error {
	for try := 0; ; try++ {
		err := s.sellOnce(ctx, of...)
		if err == nil || !s.kind.IsTransient(err) || try == 100 {
			return err
		}
	}
}

func (s *shop) sellOnce(ctx context.Context, of ...uidring.Of) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	number, err := s.series.NextIn(ctx, tx, s.name, of...)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, s.insert, number.Text); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *shop) numbers(t *testing.T) map[uint64]bool {
	t.Helper()
	rows, err := s.db.Query("SELECT number FROM " + s.table)
	works(t, err)
	defer rows.Close()
	found := map[uint64]bool{}
	for rows.Next() {
		var text string
		works(t, rows.Scan(&text))
		number, err := s.series.Parse(t.Context(), s.name, text)
		works(t, err)
		found[number.Value] = true
	}
	works(t, rows.Err())
	return found
}

func TestNumbersHaveNoGapOverAllGoroutines(t *testing.T) {
	shops(t, func(t *testing.T, shop *shop) {
		const goroutines, turns = 4, 25
		var group sync.WaitGroup
		for goroutine := range goroutines {
			group.Go(func() {
				for turn := range turns {
					ctx := t.Context()
					if (turn+goroutine)%5 == 0 {
						// A document that is not stored has no number.
						tx, err := shop.db.BeginTx(ctx, nil)
						if err == nil {
							_, _ = shop.series.NextIn(ctx, tx, shop.name)
							_ = tx.Rollback()
						}
					}
					if err := shop.sell(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		numbers := shop.numbers(t)
		for number := uint64(1); number <= goroutines*turns; number++ {
			if !numbers[number] {
				t.Errorf("%d is missing", number)
			}
		}
		if len(numbers) != goroutines*turns {
			t.Errorf("%d numbers", len(numbers))
		}
	})
}

func TestASeriesIsReadBeforeItIsParsed(t *testing.T) {
	shops(t, func(t *testing.T, shop *shop) {
		ctx := t.Context()
		if _, err := shop.series.Parse(ctx, shop.name, "x"); err == nil ||
			!strings.Contains(err.Error(), "has not read the series") {
			t.Error(err)
		}
		conn, err := shop.db.Conn(ctx)
		works(t, err)
		defer conn.Close()
		works(t, shop.series.ReadIn(ctx, conn, shop.name))
		day := uidring.Day(time.Date(2031, 1, 2, 0, 0, 0, 0, time.UTC))
		text, err := shop.series.Format(ctx, shop.name, 42, day)
		if err != nil || !strings.HasPrefix(text, "2031-00042") {
			t.Error(text, err)
		}
	})
}

func TestScopesAndDaysCountByThemselves(t *testing.T) {
	shops(t, func(t *testing.T, shop *shop) {
		ctx := t.Context()
		tx, err := shop.db.BeginTx(ctx, nil)
		works(t, err)
		defer tx.Rollback()
		for range 2 {
			for _, scope := range []string{"cologne", "bonn"} {
				number, err := shop.series.NextIn(ctx, tx, shop.name+"s", uidring.Scope(scope))
				if err != nil || !strings.HasPrefix(number.Text, scope+"-") {
					t.Error(number, err)
				}
			}
		}
		day := uidring.Day(time.Date(2031, 1, 2, 0, 0, 0, 0, time.UTC))
		number, err := shop.series.NextIn(ctx, tx, shop.name, day)
		if err != nil || number.Period != "2031" || number.Value != 1 {
			t.Errorf("%+v, %v", number, err)
		}
	})
}

func TestWhatTheDriverSaysIsHandedOn(t *testing.T) {
	shops(t, func(t *testing.T, shop *shop) {
		ctx, cancel := context.WithCancel(t.Context())
		tx, err := shop.db.BeginTx(ctx, nil)
		works(t, err)
		defer tx.Rollback()
		_, err = shop.series.NextIn(ctx, tx, "none")
		var ours *uidring.Error
		if !errors.As(err, &ours) || !strings.Contains(err.Error(), "none") {
			t.Error(err)
		}
		cancel()
		_, err = shop.series.NextIn(ctx, tx, shop.name)
		if !errors.Is(err, context.Canceled) && !errors.Is(err, sql.ErrTxDone) {
			t.Errorf("%#v", err)
		}
		_, err = shop.series.NextIn(t.Context(), shop.db, shop.name)
		if !errors.Is(err, uidring.ErrInvalidArgument) || !strings.Contains(err.Error(), "*sql.DB") {
			t.Error(err)
		}
		if shop.kind.IsTransient(err) {
			t.Error("it would be tried for ever")
		}
		var database interface{ Error() string }
		_, err = shop.db.Exec("INSERT INTO " + shop.table + " VALUES (NULL)")
		if !errors.As(err, &database) || shop.kind.IsTransient(err) {
			t.Error(err)
		}
	})
}

func TestOutsideATransactionNothingIsCounted(t *testing.T) {
	shops(t, func(t *testing.T, shop *shop) {
		conn, err := shop.db.Conn(t.Context())
		works(t, err)
		defer conn.Close()
		if number, err := shop.series.NextIn(t.Context(), conn, shop.name); err == nil {
			t.Errorf("%v was counted", number)
		}
	})
}

// panicking is a transaction of a program with a mistake.
type panicking struct{}

func (panicking) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	panic("a mistake")
}

func TestAPanicOfADriverReachesTheProgram(t *testing.T) {
	series, err := uidring.SeriesInTransactions(uidring.Postgres)
	works(t, err)
	defer func() {
		if said := recover(); said != "a mistake" {
			t.Error(said)
		}
	}()
	_, err = series.NextIn(t.Context(), panicking{}, "orders")
	t.Error(err)
}
