package uidring

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
)

// Uid is an id: a whole number from 1 to 9223372036854775807. 0 is none.
//
// It is a number in databases, and a text in JSON, where JavaScript would round it. Both forms are
// read from JSON and from databases.
type Uid int64

// ParseUid reads a Uid as String writes it.
func ParseUid(text string) (Uid, error) {
	number, err := strconv.ParseUint(text, 10, 63)
	// ParseUint reads no sign; a number with zeros in front is another text of the same id.
	if err != nil || number == 0 || text[0] == '0' {
		return 0, notAnID(strconv.Quote(text))
	}
	return Uid(number), nil
}

func notAnID(shown string) error {
	return failure(ErrInvalidArgument, fmt.Sprintf(
		"a UID is a whole number from 1 to %d, not %s", int64(math.MaxInt64), shown))
}

// String returns the digits.
func (u Uid) String() string { return strconv.FormatInt(int64(u), 10) }

// MarshalText returns the digits, as keys of maps have them.
func (u Uid) MarshalText() ([]byte, error) {
	return strconv.AppendInt(nil, int64(u), 10), nil
}

// UnmarshalText reads the digits. "0" is none.
func (u *Uid) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*u = 0
		return nil
	}
	read, err := ParseUid(string(text))
	if err == nil {
		*u = read
	}
	return err
}

// MarshalJSON returns a text: "1234567890123456789".
func (u Uid) MarshalJSON() ([]byte, error) {
	text := append(make([]byte, 0, 21), '"')
	return append(strconv.AppendInt(text, int64(u), 10), '"'), nil
}

// UnmarshalJSON reads a text or a number.
func (u *Uid) UnmarshalJSON(json []byte) error {
	if string(json) == "null" {
		return nil
	}
	if len(json) > 1 && json[0] == '"' && json[len(json)-1] == '"' {
		json = json[1 : len(json)-1]
	}
	return u.UnmarshalText(json)
}

// Value returns the number for a database. 0 is refused, so that no row gets it for want of an id.
func (u Uid) Value() (driver.Value, error) {
	if u <= 0 {
		return nil, notAnID(u.String())
	}
	return int64(u), nil
}

// Scan reads a column of numbers or of texts. For one that may be NULL, scan a sql.Null[Uid].
func (u *Uid) Scan(column any) error {
	switch value := column.(type) {
	case int64:
		if value <= 0 {
			return notAnID(strconv.FormatInt(value, 10))
		}
		*u = Uid(value)
		return nil
	case uint64:
		if value == 0 || value > math.MaxInt64 {
			return notAnID(strconv.FormatUint(value, 10))
		}
		*u = Uid(value)
		return nil
	case string:
		return u.scanText(value)
	case []byte:
		return u.scanText(string(value))
	case nil:
		return failure(ErrInvalidArgument,
			"the column is NULL, which is no UID: scan it as a sql.Null[uidring.Uid]")
	default:
		return failure(ErrInvalidArgument,
			fmt.Sprintf("a UID is read from a number or a text, not from a value of Go's %T", column))
	}
}

func (u *Uid) scanText(text string) error {
	read, err := ParseUid(text)
	if err == nil {
		*u = read
	}
	return err
}
