//go:build !linux || !(amd64 || arm64)

package library

import "errors"

var errNone = errors.New("uidring has no library for this platform")

func loadFromMemory([]byte) (uintptr, error) { return 0, errNone }

func loadFromFile([]byte) (uintptr, error) { return 0, errNone }

func isMusl() bool { return false }
