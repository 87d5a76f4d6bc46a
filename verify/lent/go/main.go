// Writes ids of a generator to a file, one on each line, until it is ended.
//
//	recipe GENERATOR FILE [NUMBER]
//
// The number is what tells one process from others. Without it, the generator takes what it takes
// by itself, or what its documentation shows.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/sony/sonyflake"
)

func main() {
	var number *int64
	if len(os.Args) > 3 {
		parsed, err := strconv.ParseInt(os.Args[3], 10, 32)
		if err != nil {
			log.Fatal(err)
		}
		number = &parsed
	}
	next := generator(os.Args[1], number)
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
