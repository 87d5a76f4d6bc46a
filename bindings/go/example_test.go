package uidring_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	uidring "github.com/uidring/uidring/bindings/go"
)

// folder is one for the files of an example.
func folder() (string, func()) {
	folder, err := os.MkdirTemp("", "uidring")
	if err != nil {
		log.Fatal(err)
	}
	return folder, func() { os.RemoveAll(folder) }
}

func Example() {
	folder, remove := folder()
	defer remove()
	ctx := context.Background()
	uids, err := uidring.Open(ctx, filepath.Join(folder, "uidring.db"), uidring.Lease(10*time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	defer uids.Close()
	uid, err := uids.Take()
	if err != nil {
		log.Fatal(err)
	}
	parts, err := uids.Parts(uid)
	fmt.Println(parts.Worker, err)
	// Output: 1 <nil>
}

// A Uid is a text in JSON, because JavaScript rounds numbers of this size.
func ExampleUid() {
	type order struct {
		ID uidring.Uid `json:"id"`
	}
	written, err := json.Marshal(order{1234567890123456789})
	fmt.Println(string(written), err)
	var read order
	err = json.Unmarshal([]byte(`{"id": 1234567890123456789}`), &read)
	fmt.Println(read.ID, err)
	// Output:
	// {"id":"1234567890123456789"} <nil>
	// 1234567890123456789 <nil>
}

func ExampleError() {
	_, err := uidring.OpenFixed(1, uidring.With("leese", "10m"))
	fmt.Println(errors.Is(err, uidring.ErrInvalidArgument))
	// Output: true
}

func ExampleSegments() {
	folder, remove := folder()
	defer remove()
	ctx := context.Background()
	segments, err := uidring.OpenSegments(ctx, filepath.Join(folder, "uidring.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer segments.Close()
	customers, err := segments.Create(ctx, "customers", uidring.First(1000))
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		fmt.Println(customers.Take())
	}
	// Output:
	// 1000 <nil>
	// 1001 <nil>
	// 1002 <nil>
}

func ExampleSeries() {
	folder, remove := folder()
	defer remove()
	ctx := context.Background()
	series, err := uidring.OpenSeries(ctx, filepath.Join(folder, "uidring.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer series.Close()
	err = series.Create(ctx, "orders", "SO{yyyy}{MM}{dd}-{n:6}", uidring.TimeZone("Europe/Berlin"))
	if err != nil {
		log.Fatal(err)
	}
	day := time.Date(2026, time.November, 24, 0, 0, 0, 0, time.UTC)
	number, err := series.Next(ctx, "orders", uidring.Day(day))
	fmt.Println(number, err)
	// Output: SO20261124-000001 <nil>
}

func ExampleMasked() {
	masked, err := uidring.NewMasked(strings.Repeat("5a", 32)) // openssl rand -hex 32
	if err != nil {
		log.Fatal(err)
	}
	defer masked.Close()
	hidden, err := masked.Mask(42)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(masked.Unmask(hidden))
	// Output: 42 <nil>
}
