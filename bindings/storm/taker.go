// Takes UIDs from the store at its first argument, with the options after it, and writes them to
// its output, eight bytes each, until its input ends or it is killed.
package main

import (
	"context"
	"encoding/binary"
	"io"
	"log"
	"os"
	"strings"
	"time"

	uidring "github.com/uidring/uidring/bindings/go"
)

func main() {
	var options []uidring.Option
	for _, option := range os.Args[2:] {
		name, value, _ := strings.Cut(option, "=")
		options = append(options, uidring.With(name, value))
	}
	uids, err := uidring.Open(context.Background(), os.Args[1], options...)
	if err != nil {
		log.Fatal(err)
	}
	isOver := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(isOver)
	}()
	for batch := make([]uidring.Uid, 1000); ; time.Sleep(5 * time.Millisecond) {
		select {
		case <-isOver:
			if err := uids.Close(); err != nil {
				log.Fatal(err)
			}
			return
		default:
		}
		for index := range batch[:500] {
			if batch[index], err = uids.Take(); err != nil {
				log.Fatal(err)
			}
		}
		if _, err := uids.Fill(batch[500:]); err != nil {
			log.Fatal(err)
		}
		if err := binary.Write(os.Stdout, binary.LittleEndian, batch); err != nil {
			log.Fatal(err)
		}
	}
}
