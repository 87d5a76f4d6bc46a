// Writes ids of a generator to a file, one on each line, until it is ended.
//
//	recipe GENERATOR FILE [NUMBER]
//	recipe GENERATOR FILE lend ADDRESS LEASE REST
//
// The number is what tells one process from others. The program lends itself one from the store at
// the address, or is told it. Without it, the generator takes what it takes by itself, or what its
// documentation shows.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/sony/sonyflake"

	uidring "github.com/uidring/uidring/bindings/go"
)

// bits are how many the number of each generator has.
var bits = map[string]int{"sonyflake": 16, "bwmarrin": 10}

func main() {
	var number *int64
	var next func() int64
	switch {
	case len(os.Args) == 7 && os.Args[3] == "lend":
		next = lent(os.Args[1], os.Args[4], duration(os.Args[5]), duration(os.Args[6]))
	case len(os.Args) > 3:
		parsed, err := strconv.ParseInt(os.Args[3], 10, 32)
		if err != nil {
			log.Fatal(err)
		}
		number = &parsed
		fallthrough
	default:
		next = generator(os.Args[1], number)
	}
	file, err := os.OpenFile(os.Args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	for {
		var lines bytes.Buffer
		for i := 0; i < 200; i++ {
			fmt.Fprintln(&lines, next())
		}
		if _, err := file.Write(lines.Bytes()); err != nil {
			log.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// lent returns a generator whose number is lent to it for as long as it makes ids.
func lent(name, address string, lease, rest time.Duration) func() int64 {
	worker, err := uidring.LendWorker(context.Background(), address, name, bits[name],
		uidring.Lease(lease), uidring.Rest(rest))
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		log.Fatal(<-worker.Lost())
	}()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	number := int64(worker.ID())
	next := generator(name, &number)
	return func() int64 {
		select {
		case <-ended:
			// Here, so that no id is made after it.
			if err := worker.Close(); err != nil {
				log.Fatal(err)
			}
			os.Exit(0)
		default:
		}
		if !worker.IsHeld() {
			log.Fatal("the number is lost")
		}
		return next()
	}
}

func duration(text string) time.Duration {
	parsed, err := time.ParseDuration(text)
	if err != nil {
		log.Fatal(err)
	}
	return parsed
}

func generator(name string, number *int64) func() int64 {
	switch name {
	case "sonyflake":
		var settings sonyflake.Settings
		if number != nil {
			settings.MachineID = func() (uint16, error) { return uint16(*number), nil }
		}
		ids, err := sonyflake.New(settings)
		if err != nil {
			log.Fatal(err)
		}
		return func() int64 {
			id, err := ids.NextID()
			if err != nil {
				log.Fatal(err)
			}
			return int64(id)
		}
	case "bwmarrin":
		node := int64(1)
		if number != nil {
			node = *number
		}
		ids, err := snowflake.NewNode(node)
		if err != nil {
			log.Fatal(err)
		}
		return func() int64 { return ids.Generate().Int64() }
	}
	log.Fatalf("there is no recipe %s", name)
	return nil
}
