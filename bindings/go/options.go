package uidring

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Option is an option of a call that opens or creates something. There is a function for each.
type Option struct {
	name, value string
}

// With is an option by its name, and a value as texts have it, such as With("lease", "10m").
// Programs that read their options from a file or a table need nothing else.
func With(name, value string) Option { return Option{name, value} }

// String returns the option as it is written in texts: name=value.
func (o Option) String() string { return o.name + "=" + o.value }

// lasting writes a length of time in the largest unit that fits.
func lasting(name string, value time.Duration) Option {
	for _, unit := range []struct {
		length time.Duration
		sign   string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if value%unit.length == 0 {
			return Option{name, strconv.FormatInt(int64(value/unit.length), 10) + unit.sign}
		}
	}
	// The library says what is wrong with it.
	return Option{name, value.String()}
}

func number[N int | int64 | uint64](name string, value N) Option {
	return Option{name, fmt.Sprint(value)}
}

// Lease leases a worker id for this long instead of using one up. It becomes free and can be given
// again when the program ends; if the process is killed, when the lease expires. Of a lent worker
// id, it is how long the id is held if it is not renewed.
func Lease(length time.Duration) Option { return lasting("lease", length) }

// User is the user of the store's server, if the address does not name it.
func User(name string) Option { return Option{"user", name} }

// Password is that of the store's server, which its address may have as well.
func Password(password string) Option { return Option{"password", password} }

// OnlyForTests takes a server that may forget what it has confirmed, so that ids come again.
func OnlyForTests() Option { return Option{"only_for_tests", "true"} }

// Partition takes worker ids from part `part` of `of` equal parts, counted from 0, for registries
// that do not know of each other.
func Partition(part, of int) Option {
	return Option{"partition", fmt.Sprintf("%d/%d", part, of)}
}

// WorkerIDs takes the worker ids from first to last only.
func WorkerIDs(first, last uint64) Option {
	return Option{"worker_ids", fmt.Sprintf("%d-%d", first, last)}
}

// OnUidGenerator takes worker ids from the table WORKER_NODE of Baidu's UidGenerator.
func OnUidGenerator() Option { return Option{"uid_generator", "true"} }

// ExactTime gives each UID the time of its take. A take waits when a tick is full.
func ExactTime() Option { return Option{"exact_time", "true"} }

// MaxLead is how far the time of UIDs may run ahead of the clock. It is a day, or nothing with
// ExactTime, unless it is set.
func MaxLead(lead time.Duration) Option { return lasting("max_lead", lead) }

// MaxLag is how far the time of UIDs may fall behind the clock. It is a second unless it is set.
func MaxLag(lag time.Duration) Option { return lasting("max_lag", lag) }

// OnLeadLimit says what happens when MaxLead is used up: "new-worker", "wait" or "fail".
func OnLeadLimit(what string) Option { return Option{"on_lead_limit", what} }

// MaxNewWorkers is how many further worker ids may be used up in an hour.
func MaxNewWorkers(count int) Option { return number("max_new_workers", count) }

// Slots is how many blocks the ring holds: a power of two.
func Slots(count int) Option { return number("slots", count) }

// Preset is a layout that is known by a name, such as "twitter" or "js-safe".
func Preset(name string) Option { return Option{"preset", name} }

// Layout is the widths of time, worker and sequence in bits.
func Layout(time, worker, sequence int) Option {
	return Option{"layout", fmt.Sprintf("%d,%d,%d", time, worker, sequence)}
}

// Order says which field is on top: "time-first" or "worker-first".
func Order(order string) Option { return Option{"order", order} }

// Epoch is when the time field begins.
func Epoch(begin time.Time) Option {
	return Option{"epoch", begin.UTC().Format(time.RFC3339Nano)}
}

// Tick is what the time field counts.
func Tick(tick time.Duration) Option { return lasting("tick", tick) }

// State names the file that keeps up to which time a worker id of your own was used.
func State(path string) Option { return Option{"state", path} }

// TestTime is for tests, with a worker id of your own: the time at which the clock stands still.
func TestTime(now time.Time) Option {
	return Option{"test_time", now.UTC().Format(time.RFC3339Nano)}
}

// TestSequence is the sequence of the first id at TestTime.
func TestSequence(sequence uint64) Option { return number("test_sequence", sequence) }

// MaxForwardJump is how far the clock may be ahead of the store's last start.
func MaxForwardJump(jump time.Duration) Option { return lasting("max_forward_jump", jump) }

// StartDeadline is how long to wait for the store at the start.
func StartDeadline(wait time.Duration) Option { return lasting("start_deadline", wait) }

// ShutdownDeadline is how long to wait for the store at the end.
func ShutdownDeadline(wait time.Duration) Option { return lasting("shutdown_deadline", wait) }

// Timeout is how long one call to the store may take.
func Timeout(wait time.Duration) Option { return lasting("timeout", wait) }

// Table is the table with the tags: "own", "leaf", "cosid" or "tinyid".
func Table(table string) Option { return Option{"table", table} }

// MaxWait is how long a take waits for numbers that are being loaded.
func MaxWait(wait time.Duration) Option { return lasting("max_wait", wait) }

// Ahead keeps numbers in memory for at least this time at the present rate.
func Ahead(length time.Duration) Option { return lasting("ahead", length) }

// Refresh asks the store about once in this time.
func Refresh(every time.Duration) Option { return lasting("refresh", every) }

// MaxInMemory is the most numbers of a tag or scope in memory.
func MaxInMemory(count uint64) Option { return number("max_in_memory", count) }

// Loads is how many tags or scopes are loaded at a time.
func Loads(count int) Option { return number("loads", count) }

// First is the first number of a tag, or of each period of a series.
func First(first uint64) Option { return number("first", first) }

// Step is how many numbers a process takes at a time, of a tag at least.
func Step(count uint64) Option { return number("step", count) }

// MaxStep is how many numbers of a tag a process takes at a time, at most.
func MaxStep(count uint64) Option { return number("max_step", count) }

// Description is what people want to know about a tag.
func Description(text string) Option { return Option{"description", text} }

// TimeZone is where the days of a series begin, by the name in the database of IANA.
func TimeZone(name string) Option { return Option{"time_zone", name} }

// Gapless counts a series without gaps, each number in the transaction that stores the document.
func Gapless() Option { return Option{"gapless", "true"} }

// Restart says with what the numbers of a series begin anew: "day", "week", "month", "quarter",
// "year", "fiscal-year" or "never".
func Restart(period string) Option { return Option{"restart", period} }

// FiscalYearFrom is the month and the day that fiscal years begin with.
func FiscalYearFrom(month time.Month, day int) Option {
	return Option{"fiscal_year_from", fmt.Sprintf("%02d-%02d", int(month), day)}
}

// Rest is how long a lent worker id is nobody's after its lease.
func Rest(rest time.Duration) Option { return lasting("rest", rest) }

// Host is what the list of loans shows in place of this machine's name.
func Host(name string) Option { return Option{"host", name} }

// written are the options as the library reads them, the last of which is nil.
func written(options []Option) ([]*byte, error) {
	texts := make([]string, len(options))
	for index, option := range options {
		if strings.Contains(option.name, "=") {
			return nil, failure(ErrInvalidArgument,
				fmt.Sprintf("the name %q of an option has a sign =", option.name))
		}
		texts[index] = option.String()
	}
	all, err := zeroEndedAll(texts...)
	return append(all, nil), err
}
