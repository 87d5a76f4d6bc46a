package uidring

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
	"unsafe"
)

// event is what the library writes.
type event struct {
	level  int32
	_      int32
	unixMs int64
	name   [32]byte
	text   [2008]byte
}

var logger atomic.Pointer[slog.Logger]

// SetLogger names the logger that is told what operators should know, such as a store that cannot
// be reached: once for each change, for all that this process has opened. It is slog.Default()
// until then, and again after a SetLogger(nil). A record has a line, which begins with the name of
// the event, and that name as the attribute "event".
func SetLogger(to *slog.Logger) { logger.Store(to) }

var levels = [...]slog.Level{
	1: slog.LevelError, 2: slog.LevelWarn, 3: slog.LevelInfo, 4: slog.LevelDebug,
}

// listen has a goroutine hand each event to the logger, until the process ends.
func listen() {
	const hour = 60 * 60 * 1000
	next := new(event)
	// The library keeps events from the first call on.
	err := call(cNextEvent, 0, uintptr(unsafe.Pointer(next)))
	go func() {
		for err == nil {
			if next.level > 0 && int(next.level) < len(levels) {
				tell(next)
			}
			err = call(cNextEvent, hour, uintptr(unsafe.Pointer(next)))
		}
	}()
}

func tell(next *event) {
	to := logger.Load()
	if to == nil {
		to = slog.Default()
	}
	ctx, level := context.Background(), levels[next.level]
	if !to.Enabled(ctx, level) {
		return
	}
	record := slog.NewRecord(time.UnixMilli(next.unixMs), level, textIn(next.text[:]), 0)
	record.AddAttrs(slog.String("event", textIn(next.name[:])))
	_ = to.Handler().Handle(ctx, record)
}
