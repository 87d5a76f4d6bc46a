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

// native is a function of the library.
type native struct {
	name    string
	address uintptr
}

// functions are all that this module calls. load sets their addresses.
var functions []*native

func named(name string) *native {
	one := &native{name: name}
	functions = append(functions, one)
	return one
}

var (
	cLastError            = named("last_error")
	cVersion              = named("version")
	cNextEvent            = named("next_event")
	cOpen                 = named("open")
	cOpenFixed            = named("open_fixed")
	cTake                 = named("take")
	cTryTake              = named("try_take")
	cFill                 = named("fill")
	cDecode               = named("decode")
	cStatus               = named("status")
	cClose                = named("close")
	cClaimsOpen           = named("claims_open")
	cTagClaimsOpen        = named("tag_claims_open")
	cClaim                = named("claim")
	cClaimsGiveBack       = named("claims_give_back")
	cClaimsClose          = named("claims_close")
	cSegmentsOpen         = named("segments_open")
	cSegmentsCreate       = named("segments_create")
	cSegmentsTag          = named("segments_tag")
	cSegmentsClose        = named("segments_close")
	cTagTake              = named("tag_take")
	cTagTryTake           = named("tag_try_take")
	cTagFill              = named("tag_fill")
	cTagStatus            = named("tag_status")
	cSeriesOpen           = named("series_open")
	cSeriesInTransactions = named("series_in_transactions")
	cSeriesCreate         = named("series_create")
	cSeriesNext           = named("series_next")
	cSeriesNextIn         = named("series_next_in")
	cSeriesReadIn         = named("series_read_in")
	cSeriesParse          = named("series_parse")
	cSeriesFormat         = named("series_format")
	cSeriesWiden          = named("series_widen")
	cSeriesStatus         = named("series_status")
	cSeriesClose          = named("series_close")
	cRowsAdd              = named("rows_add")
	cRowsFailed           = named("rows_failed")
	cIsTransient          = named("is_transient")
	cMaskedOpen           = named("masked_open")
	cMask                 = named("mask")
	cMaskMany             = named("mask_many")
	cUnmask               = named("unmask")
	cMaskedClose          = named("masked_close")
	cOpaqueOpen           = named("opaque_open")
	cOpaqueEncode         = named("opaque_encode")
	cOpaqueDecode         = named("opaque_decode")
	cOpaqueClose          = named("opaque_close")
	cPastOpen             = named("past_open")
	cPastTakeAt           = named("past_take_at")
	cPastTakeTimes        = named("past_take_times")
	cPastDecode           = named("past_decode")
	cPastStatus           = named("past_status")
	cPastClose            = named("past_close")
	cWorkerLend           = named("worker_lend")
	cWorkerID             = named("worker_id")
	cWorkerIsHeld         = named("worker_is_held")
	cWorkerStatus         = named("worker_status")
	cWorkerClose          = named("worker_close")
)

// load loads the library once in a process, ahead of the first handle.
var load = sync.OnceValue(func() error {
	handle, err := library.Load()
	if err != nil {
		return &Error{kind: ErrUnavailable, message: err.Error(), cause: err}
	}
	for _, one := range functions {
		if one.address, err = purego.Dlsym(handle, "uidring_"+one.name); err != nil {
			return failure(ErrUnavailable, "the library that was loaded is of another version than "+
				"this module: it has no uidring_"+one.name)
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
func call(function *native, args ...uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	code, _, _ := purego.SyscallN(function.address, args...)
	if code := int32(code); code != 0 {
		sentence, _, _ := purego.SyscallN(cLastError.address)
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
	version, _, _ := purego.SyscallN(cVersion.address)
	return textAt(version), nil
}
