package uidring

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/uidring/uidring/bindings/go/internal/library"
)

// The functions of the library that are called.
const (
	cLastError = iota
	cVersion
	cNextEvent
	cOpen
	cOpenFixed
	cTake
	cTryTake
	cFill
	cDecode
	cStatus
	cClose
	cClaimsOpen
	cTagClaimsOpen
	cClaim
	cClaimsGiveBack
	cClaimsClose
	cSegmentsOpen
	cSegmentsCreate
	cSegmentsTag
	cSegmentsClose
	cTagTake
	cTagTryTake
	cTagFill
	cTagStatus
	cSeriesOpen
	cSeriesInTransactions
	cSeriesCreate
	cSeriesNext
	cSeriesNextIn
	cSeriesReadIn
	cSeriesParse
	cSeriesFormat
	cSeriesWiden
	cSeriesStatus
	cSeriesClose
	cRowsAdd
	cRowsFailed
	cIsTransient
	cMaskedOpen
	cMask
	cMaskMany
	cUnmask
	cMaskedClose
	cOpaqueOpen
	cOpaqueEncode
	cOpaqueDecode
	cOpaqueClose
	cPastOpen
	cPastTakeAt
	cPastTakeTimes
	cPastDecode
	cPastStatus
	cPastClose
	cWorkerLend
	cWorkerID
	cWorkerIsHeld
	cWorkerStatus
	cWorkerClose
)

var names = [...]string{
	cLastError:            "last_error",
	cVersion:              "version",
	cNextEvent:            "next_event",
	cOpen:                 "open",
	cOpenFixed:            "open_fixed",
	cTake:                 "take",
	cTryTake:              "try_take",
	cFill:                 "fill",
	cDecode:               "decode",
	cStatus:               "status",
	cClose:                "close",
	cClaimsOpen:           "claims_open",
	cTagClaimsOpen:        "tag_claims_open",
	cClaim:                "claim",
	cClaimsGiveBack:       "claims_give_back",
	cClaimsClose:          "claims_close",
	cSegmentsOpen:         "segments_open",
	cSegmentsCreate:       "segments_create",
	cSegmentsTag:          "segments_tag",
	cSegmentsClose:        "segments_close",
	cTagTake:              "tag_take",
	cTagTryTake:           "tag_try_take",
	cTagFill:              "tag_fill",
	cTagStatus:            "tag_status",
	cSeriesOpen:           "series_open",
	cSeriesInTransactions: "series_in_transactions",
	cSeriesCreate:         "series_create",
	cSeriesNext:           "series_next",
	cSeriesNextIn:         "series_next_in",
	cSeriesReadIn:         "series_read_in",
	cSeriesParse:          "series_parse",
	cSeriesFormat:         "series_format",
	cSeriesWiden:          "series_widen",
	cSeriesStatus:         "series_status",
	cSeriesClose:          "series_close",
	cRowsAdd:              "rows_add",
	cRowsFailed:           "rows_failed",
	cIsTransient:          "is_transient",
	cMaskedOpen:           "masked_open",
	cMask:                 "mask",
	cMaskMany:             "mask_many",
	cUnmask:               "unmask",
	cMaskedClose:          "masked_close",
	cOpaqueOpen:           "opaque_open",
	cOpaqueEncode:         "opaque_encode",
	cOpaqueDecode:         "opaque_decode",
	cOpaqueClose:          "opaque_close",
	cPastOpen:             "past_open",
	cPastTakeAt:           "past_take_at",
	cPastTakeTimes:        "past_take_times",
	cPastDecode:           "past_decode",
	cPastStatus:           "past_status",
	cPastClose:            "past_close",
	cWorkerLend:           "worker_lend",
	cWorkerID:             "worker_id",
	cWorkerIsHeld:         "worker_is_held",
	cWorkerStatus:         "worker_status",
	cWorkerClose:          "worker_close",
}

// addresses are those of the functions, once the library is loaded.
var addresses [len(names)]uintptr

// load loads the library once in a process, ahead of the first handle.
var load = sync.OnceValue(func() error {
	handle, err := library.Load()
	if err != nil {
		return &Error{kind: ErrUnavailable, message: err.Error(), cause: err}
	}
	for index, name := range names {
		if addresses[index], err = purego.Dlsym(handle, "uidring_"+name); err != nil {
			return failure(ErrUnavailable, "the library that was loaded is of another version than "+
				"this module: it has no uidring_"+name)
		}
	}
	listen()
	return nil
})

// call calls a function of the library. The library keeps the sentence of a failure for the thread,
// and a goroutine may move to another one, so it stays on its thread until it has the sentence.
//
// Pointers have to become numbers in the arguments themselves, as uintptr(unsafe.Pointer(p)): so
// the compiler keeps what they lead to in its place during the call.
//
//go:uintptrescapes
func call(function int, args ...uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	code, _, _ := purego.SyscallN(addresses[function], args...)
	if code := int32(code); code != 0 {
		sentence, _, _ := purego.SyscallN(addresses[cLastError])
		return failure(kindOf(code), textAt(sentence))
	}
	return nil
}

// zeroEnded is a text as the library reads it.
func zeroEnded(text string) (*byte, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, failure(ErrInvalidArgument, "a text has a zero byte, behind which nothing is read")
	}
	// One copy, which whoever has passed keys overwrites.
	ended := make([]byte, len(text)+1)
	copy(ended, text)
	return &ended[0], nil
}

// zeroEndedAll does so for several.
func zeroEndedAll(texts ...string) ([]*byte, error) {
	all := make([]*byte, len(texts))
	var problem error
	for index, text := range texts {
		var err error
		all[index], err = zeroEnded(text)
		problem = errors.Join(problem, err)
	}
	return all, problem
}

// textAt copies the text at an address of the library's.
func textAt(address uintptr) string {
	if address == 0 {
		return ""
	}
	first := *(**byte)(unsafe.Pointer(&address))
	length := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(first), length)) != 0 {
		length++
	}
	return string(unsafe.Slice(first, length))
}

// textIn is the text in an array that ends with a zero byte.
func textIn(array []byte) string {
	text, _, _ := strings.Cut(string(array), "\x00")
	return text
}

// writing gets a text that a call writes: `write` calls it with a buffer and where the length goes.
func writing(write func(buffer []byte, length *int) error) (string, error) {
	buffer := make([]byte, 2048)
	for {
		length := 0
		err := write(buffer, &length)
		if err != nil && length >= len(buffer) {
			// It may grow on until the next call.
			buffer = make([]byte, 2*length+1)
			continue
		}
		if err != nil {
			return "", err
		}
		return string(buffer[:length]), nil
	}
}

// Version returns the version of the library, such as "0.1.0".
func Version() (string, error) {
	if err := load(); err != nil {
		return "", err
	}
	version, _, _ := purego.SyscallN(addresses[cVersion])
	return textAt(version), nil
}
