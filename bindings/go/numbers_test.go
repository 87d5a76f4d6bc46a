package uidring_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	uidring "github.com/uidring/uidring/bindings/go"
)

func TestNumbersOfATagAreInOrderOverAllGoroutinesAndDense(t *testing.T) {
	segments := is[*uidring.Segments](t)(uidring.OpenSegments(background(), file(t)))
	tag := is[*uidring.Tag](t)(segments.Create(background(), "orders"))
	same := is[*uidring.Tag](t)(segments.Tag(background(), "orders"))
	if same != tag || tag.Name() != "orders" {
		t.Error("the same name is another tag")
	}
	numbers := inOrder(t, 2_000, func(turn int) ([]int64, error) {
		many := make([]int64, 1+turn%5)
		_, err := tag.Fill(many)
		return many, err
	})
	if numbers[0] != 1 || numbers[len(numbers)-1] != int64(len(numbers)) {
		t.Errorf("%d numbers from %d to %d", len(numbers), numbers[0], numbers[len(numbers)-1])
	}
	if status := is[string](t)(tag.Status()); !strings.Contains(status, `"running"`) {
		t.Error(status)
	}
	works(t, segments.Close())
	if _, err := tag.Take(); !errors.Is(err, uidring.ErrClosed) {
		t.Error(err)
	}
}

func TestACloseLeavesNoGapInTheNumbersOfATag(t *testing.T) {
	store, want := file(t), int64(1)
	for range 5 {
		segments := is[*uidring.Segments](t)(uidring.OpenSegments(background(), store))
		tag := is[*uidring.Tag](t)(segments.Create(background(), "orders"))
		for range 37 {
			if number := is[int64](t)(tag.Take()); number != want {
				t.Fatalf("%d in place of %d", number, want)
			}
			want++
		}
		works(t, segments.Close())
	}
}

func TestSeriesGiveNumbersThatPeopleSee(t *testing.T) {
	ctx := background()
	series := is[*uidring.Series](t)(uidring.OpenSeries(ctx, file(t), uidring.Ahead(time.Second)))
	defer series.Close()
	works(t, series.Create(ctx, "orders", "SO{yyyy}{MM}{dd}-{n:2}",
		uidring.TimeZone("Europe/Berlin"), uidring.Step(10), uidring.First(1),
		uidring.Restart("day")))
	day := uidring.Day(time.Date(2031, 11, 24, 12, 0, 0, 0, time.UTC))
	number := is[uidring.Number](t)(series.Next(ctx, "orders", day))
	want := uidring.Number{
		Text: "SO20311124-01", Value: 1, Period: "2031-11-24", Shown: "2031-11-24",
	}
	if number != want || number.String() != want.Text {
		t.Errorf("%+v", number)
	}
	if read := is[uidring.Number](t)(series.Parse(ctx, "orders", number.Text)); read != want {
		t.Errorf("%+v", read)
	}
	text := is[string](t)(series.Format(ctx, "orders", 42, day))
	if text != "SO20311124-42" {
		t.Error(text)
	}
	if rest := is[[]uidring.Number](t)(series.NextMany(ctx, "orders", 200, day)); len(rest) != 98 {
		t.Errorf("%d numbers are left", len(rest))
	}
	if _, err := series.Next(ctx, "orders", day); !errors.Is(err, uidring.ErrRefused) {
		t.Error(err)
	}
	works(t, series.Widen(ctx, "orders", "SO{yyyy}{MM}{dd}-{n:3}"))
	if number = is[uidring.Number](t)(series.Next(ctx, "orders", day)); number.Value != 100 {
		t.Errorf("%+v", number)
	}
	works(t, series.Create(ctx, "shops", "{scope}-{n}"))
	if number = is[uidring.Number](t)(series.Next(ctx, "shops", uidring.Scope("A"))); number.Text !=
		"A-1" {
		t.Errorf("%+v", number)
	}
	if status := is[string](t)(series.Status(ctx, "shops", uidring.Scope("A"))); status == "" {
		t.Error(status)
	}
	works(t, series.Create(ctx, "tax", "{fy}-{n}", uidring.FiscalYearFrom(time.April, 6)))
	for said, err := range map[string]error{
		"a scope is not empty": second(series.Next(ctx, "shops", uidring.Scope(""))),
		"one scope":            second(series.Next(ctx, "shops", uidring.Scope("A"), uidring.Scope("B"))),
		"1 to 1000000":         second(series.NextMany(ctx, "shops", 0)),
		"byte":                 second(series.Parse(ctx, "shops", "A\x00-1")),
		"needs a number":       series.Create(ctx, "none", "{yyyy}"),
	} {
		if !errors.Is(err, uidring.ErrInvalidArgument) || !strings.Contains(err.Error(), said) {
			t.Errorf("%q: %v", said, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestIDsOfThePastHaveTheirTimes(t *testing.T) {
	ctx := background()
	past := is[*uidring.Past](t)(uidring.OpenPast(ctx, file(t)))
	at := time.Date(2026, 5, 2, 10, 15, 0, 0, time.UTC)
	uid := is[uidring.Uid](t)(past.TakeAt(ctx, at))
	if parts := is[uidring.Parts](t)(past.Parts(uid)); !parts.Time.Equal(at) {
		t.Errorf("%+v", parts)
	}
	many := is[[]uidring.Uid](t)(past.TakeTimes(ctx, []time.Time{at, at.Add(-time.Hour), at}))
	for index, want := range []time.Time{at, at.Add(-time.Hour), at} {
		if parts := is[uidring.Parts](t)(past.Parts(many[index])); !parts.Time.Equal(want) {
			t.Errorf("%+v", parts)
		}
	}
	if none := is[[]uidring.Uid](t)(past.TakeTimes(ctx, nil)); len(none) != 0 {
		t.Error(none)
	}
	_, err := past.TakeTimes(ctx, []time.Time{at, time.Now().Add(time.Hour)})
	if !errors.Is(err, uidring.ErrInvalidArgument) {
		t.Error(err)
	}
	is[string](t)(past.Status())
	works(t, past.Close())
	if _, err := past.TakeAt(ctx, at); !errors.Is(err, uidring.ErrClosed) {
		t.Error(err)
	}
}

func TestMaskedIDsAreReadAgainAndOpaqueOnesCannotBeMadeUp(t *testing.T) {
	keys := strings.Repeat("5a", 32)
	masked := is[*uidring.Masked](t)(uidring.NewMasked(keys))
	defer masked.Close()
	hidden := is[int64](t)(masked.Mask(42))
	if id := is[int64](t)(masked.Unmask(hidden)); id != 42 || hidden == 42 {
		t.Error(id, hidden)
	}
	many := []int64{42, 43}
	works(t, masked.MaskMany(many))
	if many[0] != hidden || many[1] == 43 {
		t.Error(many)
	}
	works(t, masked.MaskMany(nil))
	opaque := is[*uidring.Opaque](t)(uidring.NewOpaque(keys, "ord"))
	defer opaque.Close()
	text := is[string](t)(opaque.Encode(42))
	if id := is[int64](t)(opaque.Decode(text)); id != 42 || !strings.HasPrefix(text, "ord_") {
		t.Error(id, text)
	}
	for _, err := range []error{
		second(opaque.Decode("ord_5H7WY7KKXFH1JCEMMC78CF0N9T")), second(masked.Mask(-42)),
		second(uidring.NewMasked("short")), second(opaque.Decode("\x00")), masked.MaskMany([]int64{0}),
	} {
		if !errors.Is(err, uidring.ErrInvalidArgument) {
			t.Error(err)
		}
	}
}

func TestAWorkerIDIsLentUntilItIsClosed(t *testing.T) {
	ctx, store := background(), file(t)
	worker := is[*uidring.Worker](t)(uidring.LendWorker(ctx, store, "shop", 4,
		uidring.Lease(time.Minute), uidring.Rest(time.Minute), uidring.Host("here")))
	other := is[*uidring.Worker](t)(uidring.LendWorker(ctx, store, "shop", 4))
	if worker.ID() < 1 || worker.ID() > 15 || worker.ID() == other.ID() || !worker.IsHeld() {
		t.Error(worker.ID(), other.ID(), worker.IsHeld())
	}
	if status := is[string](t)(worker.Status()); !strings.Contains(status, `"held"`) {
		t.Error(status)
	}
	works(t, worker.Close())
	works(t, worker.Close())
	works(t, other.Close())
	if worker.IsHeld() {
		t.Error("it is held after a close")
	}
	if _, err := uidring.LendWorker(ctx, store, "shop", 23); !errors.Is(
		err, uidring.ErrInvalidArgument) {
		t.Error(err)
	}
}
