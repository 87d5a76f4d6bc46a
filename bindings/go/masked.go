package uidring

import "unsafe"

// Masked masks ids as numbers for addresses and mails, which tell neither time nor worker nor
// volume. All goroutines may share it.
type Masked struct{ handle uint64 }

// NewMasked masks ids with keys: 64 hexadecimal digits, as "openssl rand -hex 32" prints them, or
// the text of a file of keys, of which the first masks.
func NewMasked(keys string) (*Masked, error) {
	handle, err := openKeys(cMaskedOpen, keys)
	if err != nil {
		return nil, err
	}
	return &Masked{handle}, nil
}

// openKeys opens keys, and overwrites the copy that the library has read.
func openKeys(function *native, keys string, others ...*byte) (uint64, error) {
	if err := load(); err != nil {
		return 0, err
	}
	text, err := zeroEnded(keys)
	if err != nil {
		return 0, err
	}
	defer clear(unsafe.Slice(text, len(keys)))
	handle := new(uint64)
	if len(others) == 0 {
		err = call(function, uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(handle)))
	} else {
		err = call(function, uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(others[0])),
			uintptr(unsafe.Pointer(handle)))
	}
	return *handle, err
}

// Mask masks an id: a Uid, or a dense number.
func (m *Masked) Mask(id int64) (int64, error) { return m.one(cMask, id) }

// Unmask reads a masked id. Each number from 1 to 9223372036854775807 is the masked form of some
// id.
func (m *Masked) Unmask(masked int64) (int64, error) { return m.one(cUnmask, masked) }

func (m *Masked) one(function *native, id int64) (int64, error) {
	other := new(int64)
	err := call(function, uintptr(m.handle), uintptr(id), uintptr(unsafe.Pointer(other)))
	return *other, err
}

// MaskMany writes the masked forms of ids in their place, each in a fraction of the time. If one is
// not an id, all stay as they are.
func (m *Masked) MaskMany(ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return call(cMaskMany, uintptr(m.handle), uintptr(unsafe.Pointer(&ids[0])),
		uintptr(len(ids)))
}

// Close overwrites the library's copy of the keys, and not the text that was passed. A second close
// succeeds.
func (m *Masked) Close() error { return call(cMaskedClose, uintptr(m.handle)) }

// Opaque makes opaque texts of ids, such as ord_5H7WY7KKXFH1JCEMMC78CF0N9T, which nobody can make
// up. All goroutines may share it.
type Opaque struct{ handle uint64 }

// NewOpaque makes texts with a prefix, by keys as NewMasked takes them. Texts of all the keys are
// read.
func NewOpaque(keys, prefix string) (*Opaque, error) {
	text, err := zeroEnded(prefix)
	if err != nil {
		return nil, err
	}
	handle, err := openKeys(cOpaqueOpen, keys, text)
	if err != nil {
		return nil, err
	}
	return &Opaque{handle}, nil
}

// Encode makes the text of an id.
func (o *Opaque) Encode(id int64) (string, error) {
	return writing(func(buffer []byte, length *int) error {
		return call(cOpaqueEncode, uintptr(o.handle), uintptr(id),
			uintptr(unsafe.Pointer(&buffer[0])), uintptr(len(buffer)),
			uintptr(unsafe.Pointer(length)))
	})
}

// Decode reads the text of an id. One that was made up, or is of another kind, is an invalid
// argument.
func (o *Opaque) Decode(text string) (int64, error) {
	read, err := zeroEnded(text)
	if err != nil {
		return 0, err
	}
	id := new(int64)
	err = call(cOpaqueDecode, uintptr(o.handle), uintptr(unsafe.Pointer(read)),
		uintptr(unsafe.Pointer(id)))
	return *id, err
}

// Close overwrites the library's copy of the keys. A second close succeeds.
func (o *Opaque) Close() error { return call(cOpaqueClose, uintptr(o.handle)) }
