package uidring_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	uidring "github.com/uidring/uidring/bindings/go"
)

// locked is a log that a test reads while another goroutine writes it.
type locked struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (l *locked) Write(line []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(line)
}

func (l *locked) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.String()
}

func TestEventsAreToldToTheLogger(t *testing.T) {
	var log locked
	uidring.SetLogger(slog.New(slog.NewJSONHandler(&log, nil)))
	defer uidring.SetLogger(nil)
	store := file(t)
	uids := is[*uidring.Generator](t)(uidring.Open(background(), store))
	works(t, uids.Close())
	for _, event := range []string{"new_store", "started", "stopped"} {
		want := `"event":"` + event + `"`
		for end := time.Now().Add(10 * time.Second); !strings.Contains(log.String(), want); {
			if time.Now().After(end) {
				t.Fatalf("no %s in %s", event, log.String())
			}
			time.Sleep(time.Millisecond)
		}
	}
	if text := log.String(); !strings.Contains(text, store) || !strings.Contains(text, `"WARN"`) {
		t.Error(text)
	}
}

func TestALogThatStandsStillKeepsNoTakeWaiting(t *testing.T) {
	stands := make(standing)
	uidring.SetLogger(slog.New(stands))
	defer uidring.SetLogger(nil)
	defer close(stands)
	for range 3 {
		uids := is[*uidring.Generator](t)(uidring.Open(background(), file(t)))
		is[uidring.Uid](t)(uids.Take())
		works(t, uids.Close())
	}
}

// standing is a log that stands still until it is closed.
type standing chan struct{}

func (standing) Enabled(context.Context, slog.Level) bool { return true }

func (s standing) Handle(context.Context, slog.Record) error {
	<-s
	return nil
}

func (s standing) WithAttrs([]slog.Attr) slog.Handler { return s }

func (s standing) WithGroup(string) slog.Handler { return s }

func TestVersion(t *testing.T) {
	if version := is[string](t)(uidring.Version()); strings.Count(version, ".") != 2 {
		t.Error(version)
	}
}
