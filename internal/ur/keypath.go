package ur

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fxamacker/cbor/v2"
)

// UUID is the id of a request, which its answer repeats.
type UUID []byte

const uuidTag = 37

func (u UUID) MarshalCBOR() ([]byte, error) {
	return encoding.Marshal(cbor.Tag{Number: uuidTag, Content: []byte(u)})
}

func (u *UUID) UnmarshalCBOR(data []byte) error {
	content, err := untag(data, uuidTag)
	if err != nil {
		return err
	}
	var raw Bytes
	if err := decoding.Unmarshal(content, &raw); err != nil {
		return err
	}
	if len(raw) != 16 {
		return fmt.Errorf("a UUID of %d bytes: expected 16", len(raw))
	}
	*u = UUID(raw)
	return nil
}

// untag returns the content of a tag that has one of the numbers.
func untag(data []byte, numbers ...uint64) ([]byte, error) {
	var tag cbor.RawTag
	if err := decoding.Unmarshal(data, &tag); err != nil {
		return nil, err
	}
	if !slices.Contains(numbers, tag.Number) {
		return nil, fmt.Errorf("tag %d: expected %d", tag.Number, numbers[0])
	}
	return tag.Content, nil
}

// Keypath is the derivation path of a key in a wallet (BCR-2020-006, crypto-keypath). It
// is only a hint: it must not select the key that signs.
type Keypath struct {
	Path        []PathIndex
	Fingerprint uint32 // of the master key, big-endian; 0: absent
	Depth       uint64 // 0: absent
}

// PathIndex is one step of a path.
type PathIndex struct {
	Index    uint32 // below 2^31
	Hardened bool
}

// The tags of a keypath. Wallets write the old one.
const (
	keypathTag    = 304
	newKeypathTag = 40304
)

// keypathMap is the CBOR form of a Keypath. Components alternate between an index and
// whether it is hardened.
type keypathMap struct {
	Components  []any   `cbor:"1,keyasint"`
	Fingerprint *uint32 `cbor:"2,keyasint,omitempty"`
	Depth       *uint64 `cbor:"3,keyasint,omitempty"`
}

func (k Keypath) MarshalCBOR() ([]byte, error) {
	m := k.components()
	if k.Fingerprint != 0 {
		m.Fingerprint = &k.Fingerprint
	}
	if k.Depth != 0 {
		m.Depth = &k.Depth
	}
	return encoding.Marshal(cbor.Tag{Number: keypathTag, Content: m})
}

// components returns the CBOR form of only the path.
func (k Keypath) components() keypathMap {
	m := keypathMap{Components: []any{}}
	for _, step := range k.Path {
		m.Components = append(m.Components, step.Index, step.Hardened)
	}
	return m
}

func (k *Keypath) UnmarshalCBOR(data []byte) error {
	content, err := untag(data, keypathTag, newKeypathTag)
	if err != nil {
		return fmt.Errorf("key path: %w", err)
	}
	var m keypathMap
	if err := decoding.Unmarshal(content, &m); err != nil {
		return fmt.Errorf("key path: %w", err)
	}
	if len(m.Components)%2 != 0 {
		return fmt.Errorf("key path: an odd number of components")
	}
	k.Path = nil
	for i := 0; i < len(m.Components); i += 2 {
		index, isIndex := m.Components[i].(uint64)
		hardened, isBool := m.Components[i+1].(bool)
		if !isIndex || !isBool || index >= 1<<31 {
			return fmt.Errorf("key path: component %d: expected an index below 2^31 and a boolean", i/2)
		}
		k.Path = append(k.Path, PathIndex{uint32(index), hardened})
	}
	if m.Fingerprint != nil {
		k.Fingerprint = *m.Fingerprint
	}
	if m.Depth != nil {
		k.Depth = *m.Depth
	}
	return nil
}

// String returns the path as wallets write it: [aabbccdd]m/44'/60'/0'/0/0.
func (k Keypath) String() string {
	var out strings.Builder
	if k.Fingerprint != 0 {
		fmt.Fprintf(&out, "[%08x]", k.Fingerprint)
	}
	out.WriteString("m")
	for _, step := range k.Path {
		out.WriteString("/" + strconv.FormatUint(uint64(step.Index), 10))
		if step.Hardened {
			out.WriteString("'")
		}
	}
	return out.String()
}
