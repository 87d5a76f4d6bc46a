package uidring_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	uidring "github.com/uidring/uidring/bindings/go"
)

var (
	_ sql.Scanner              = (*uidring.Uid)(nil)
	_ driver.Valuer            = uidring.Uid(0)
	_ encoding.TextMarshaler   = uidring.Uid(0)
	_ encoding.TextUnmarshaler = (*uidring.Uid)(nil)
)

func TestAUidIsATextInJSONAndIsReadAsBoth(t *testing.T) {
	type row struct {
		ID     uidring.Uid                 `json:"id"`
		Others map[uidring.Uid]uidring.Uid `json:"others"`
	}
	written := is[[]byte](t)(json.Marshal(row{math.MaxInt64, map[uidring.Uid]uidring.Uid{1: 2}}))
	if string(written) != `{"id":"9223372036854775807","others":{"1":"2"}}` {
		t.Error(string(written))
	}
	for _, text := range []string{
		string(written), `{"id":9223372036854775807,"others":{"1":2}}`,
	} {
		var read row
		works(t, json.Unmarshal([]byte(text), &read))
		if read.ID != math.MaxInt64 || read.Others[1] != 2 {
			t.Error(read)
		}
	}
	var none row
	works(t, json.Unmarshal(is[[]byte](t)(json.Marshal(none)), &none))
	works(t, json.Unmarshal([]byte(`{"id":null}`), &none))
	for _, wrong := range []string{
		`-1`, `1.5`, `1e3`, `""`, `"a"`, `" 1"`, `"01"`, `"+1"`, `9223372036854775808`, `true`, `[]`,
		`"-9223372036854775808"`,
	} {
		uid := uidring.Uid(7)
		err := json.Unmarshal([]byte(wrong), &uid)
		if !errors.Is(err, uidring.ErrInvalidArgument) || uid != 7 {
			t.Errorf("%s: %v, %v", wrong, uid, err)
		}
	}
}

func TestAUidIsANumberInADatabase(t *testing.T) {
	value := is[driver.Value](t)(uidring.Uid(math.MaxInt64).Value())
	if value != int64(math.MaxInt64) {
		t.Errorf("%T %v", value, value)
	}
	for _, wrong := range []uidring.Uid{0, -1} {
		if _, err := wrong.Value(); !errors.Is(err, uidring.ErrInvalidArgument) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	for _, column := range []any{int64(42), uint64(42), "42", []byte("42")} {
		var uid uidring.Uid
		works(t, uid.Scan(column))
		if uid != 42 {
			t.Errorf("%T: %v", column, uid)
		}
	}
	for _, wrong := range []any{
		nil, int64(0), int64(-1), uint64(0), uint64(math.MaxInt64 + 1), "", "x", []byte("0"), 4.2, true,
	} {
		uid := uidring.Uid(7)
		if err := uid.Scan(wrong); !errors.Is(err, uidring.ErrInvalidArgument) || uid != 7 {
			t.Errorf("%T %v: %v, %v", wrong, wrong, uid, err)
		}
	}
	var maybe sql.Null[uidring.Uid]
	works(t, maybe.Scan(nil))
	if maybe.Valid {
		t.Error("NULL is a Uid")
	}
}

func TestATextIsAUidOrIsNot(t *testing.T) {
	if uid := is[uidring.Uid](t)(uidring.ParseUid("1234567890123456789")); fmt.Sprint(uid) !=
		"1234567890123456789" {
		t.Error(uid)
	}
	for _, wrong := range []string{"", "0", "00", "01", "-1", "+1", "1_0", "0x1", "1 ", "９"} {
		if uid, err := uidring.ParseUid(wrong); !errors.Is(err, uidring.ErrInvalidArgument) {
			t.Errorf("%q: %v, %v", wrong, uid, err)
		}
	}
}
