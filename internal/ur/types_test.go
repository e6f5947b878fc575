package ur_test

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/ur"
)

// object is a CBOR map, written independently of the package's types.
type object map[any]any

func encode(t *testing.T, value any) []byte {
	t.Helper()
	mode, err := cbor.CoreDetEncOptions().EncMode()
	testenv.Must(t, err)
	data, err := mode.Marshal(value)
	testenv.Must(t, err)
	return data
}

// with returns a copy of an object with another member, or without it if value is nil.
func (o object) with(key, value any) object {
	changed := maps.Clone(o)
	if changed[key] = value; value == nil {
		delete(changed, key)
	}
	return changed
}

var (
	id      = bytes.Repeat([]byte{0x1d}, 16)
	address = bytes.Repeat([]byte{0xad}, 20)
	uuid    = cbor.Tag{Number: 37, Content: id}
	steps   = []any{44, true, 0, false, math.MaxInt32, true}
	path    = cbor.Tag{Number: 304, Content: object{1: steps, 2: 0x01020304, 3: 3}}
	newPath = cbor.Tag{Number: 40304, Content: object{1: steps, 2: 0x01020304, 3: 3}}
	wanted  = ur.Keypath{
		Path:        []ur.PathIndex{{Index: 44, Hardened: true}, {Index: 0}, {Index: math.MaxInt32, Hardened: true}},
		Fingerprint: 0x01020304, Depth: 3,
	}
)

// layouts are messages that are read, as CBOR by the specification and as read.
var layouts = map[string]struct {
	kind   string
	object object
	decode func(m ur.Message) (any, error)
	want   any
	path   any // its key
}{
	"ERC-4527": {
		ur.TypeEthSignRequest, object{1: uuid, 2: []byte{1}, 3: 4, 4: uint64(math.MaxUint64), 5: path, 6: address, 7: "wallet"},
		func(m ur.Message) (any, error) { return ur.DecodeEthSignRequest(m) },
		ur.EthSignRequest{ID: id, Data: []byte{1}, Kind: 4, ChainID: math.MaxUint64, Path: wanted, Address: address, Origin: "wallet"}, 5,
	},
	"Solana": {
		ur.TypeSolSignRequest, object{1: uuid, 2: []byte{1}, 3: path, 4: address, 5: "wallet", 6: 2},
		func(m ur.Message) (any, error) { return ur.DecodeSolSignRequest(m) },
		ur.SolSignRequest{ID: id, Data: []byte{1}, Path: wanted, Address: address, Origin: "wallet", Kind: 2}, 3,
	},
	"Tron, new": {
		ur.TypeTronSignRequest, object{1: uuid, 2: []byte{1}, 3: 2, 4: path, 5: address, 6: "wallet"},
		func(m ur.Message) (any, error) { return ur.DecodeTronSignRequest(m) },
		ur.TronSignRequest{ID: id, Data: []byte{1}, Kind: 2, Path: wanted, Address: address, Origin: "wallet"}, 4,
	},
	"Tron, old": {
		ur.TypeTronSignRequest, object{1: uuid, 2: []byte{1}, 3: path, 4: address, 5: "wallet"},
		func(m ur.Message) (any, error) { return ur.DecodeTronSignRequest(m) },
		ur.TronSignRequest{ID: id, Data: []byte{1}, Kind: 1, Path: wanted, Address: address, Origin: "wallet"}, 3,
	},
	"request": {
		ur.TypeRequest, object{1: []byte("{}"), 2: "X-Stamp", 3: "stamp"},
		func(m ur.Message) (any, error) { return ur.DecodeRequest(m) },
		ur.Request{Body: []byte("{}"), Header: "X-Stamp", Value: "stamp"}, nil,
	},
	"vote": {
		ur.TypeVote, object{1: []byte("{}"), 2: "X-Stamp", 3: "stamp"},
		func(m ur.Message) (any, error) { return ur.DecodeVote(m) },
		ur.Vote{Body: []byte("{}"), Header: "X-Stamp", Value: "stamp"}, nil,
	},
	"answer": {
		ur.TypeAnswer, object{1: make([]byte, 32), 2: []byte{7}, 3: object{1: []byte{4}, 2: "payload", 3: []byte{5}}},
		func(m ur.Message) (any, error) { return ur.DecodeAnswer(m) },
		ur.Answer{Fingerprint: make([]byte, 32), Signed: []byte{7}, Proof: &ur.Proof{PublicKey: []byte{4}, Payload: "payload", Signature: []byte{5}}}, nil,
	},
}

// TestLayouts reads each layout and writes it again, and refuses other types, unknown
// members, members of another type, and what is cut off or longer.
func TestLayouts(t *testing.T) {
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			data := encode(t, layout.object)
			got, err := layout.decode(ur.Message{Type: layout.kind, CBOR: data})
			testenv.Must(t, err)
			if diff := cmp.Diff(layout.want, got); diff != "" {
				t.Error(diff)
			}
			message := got.(interface{ Message() ur.Message }).Message()
			if message.Type != layout.kind || name != "Tron, old" && !bytes.Equal(message.CBOR, data) {
				t.Errorf("written as %s %x, want %x", message.Type, message.CBOR, data)
			}
			var wrong *ur.TypeError
			if _, err := layout.decode(ur.Message{Type: "psbt", CBOR: data}); !errors.As(err, &wrong) || wrong.Seen != "psbt" || wrong.Taken[0] != layout.kind {
				t.Errorf("of another type: %v", err)
			}
			bad := [][]byte{nil, append(bytes.Clone(data), 0), data[:len(data)-1], encode(t, layout.object.with(9, 1)), encode(t, layout.object.with("1", 1))}
			for key := range layout.object {
				bad = append(bad, encode(t, layout.object.with(key, []int{1})))
			}
			for _, data := range bad {
				if got, err := layout.decode(ur.Message{Type: layout.kind, CBOR: data}); err == nil {
					t.Errorf("%x was read as %+v", data, got)
				}
			}
		})
	}
}

// TestLengths has ids, addresses and fingerprints of every length.
func TestLengths(t *testing.T) {
	for length := range 40 {
		some := make([]byte, length)
		for _, test := range []struct {
			layout string
			key    any
			value  any
			ok     bool
		}{
			{"ERC-4527", 1, cbor.Tag{Number: 37, Content: some}, length == 16},
			{"Solana", 1, cbor.Tag{Number: 37, Content: some}, length == 16},
			{"Tron, new", 1, cbor.Tag{Number: 37, Content: some}, length == 16},
			{"Tron, old", 1, cbor.Tag{Number: 37, Content: some}, length == 16},
			{"ERC-4527", 6, some, length == 0 || length == 20},
			{"Solana", 4, some, true},
			{"Solana", 2, make([]int, length), false},
			{"Solana", 1, cbor.Tag{Number: 37, Content: make([]int, length)}, false},
			{"answer", 1, some, length == 32},
		} {
			layout := layouts[test.layout]
			_, err := layout.decode(ur.Message{Type: layout.kind, CBOR: encode(t, layout.object.with(test.key, test.value))})
			if test.ok != (err == nil) {
				t.Errorf("%s, member %v of %d bytes: %v", test.layout, test.key, length, err)
			}
		}
	}
}

// TestKeypaths has key paths with either tag, without members, and malformed ones.
func TestKeypaths(t *testing.T) {
	tagged := func(number uint64, of object) cbor.Tag { return cbor.Tag{Number: number, Content: of} }
	for name, layout := range layouts {
		if layout.path == nil {
			continue
		}
		read := func(path any) (string, error) {
			got, err := layout.decode(ur.Message{Type: layout.kind, CBOR: encode(t, layout.object.with(layout.path, path))})
			switch request := got.(type) {
			case ur.EthSignRequest:
				return request.Path.String(), err
			case ur.SolSignRequest:
				return request.Path.String(), err
			case ur.TronSignRequest:
				return request.Path.String(), err
			}
			return "", err
		}
		for _, test := range []struct {
			path any
			want string
		}{
			{path, "[01020304]m/44'/0/2147483647'"}, {newPath, "[01020304]m/44'/0/2147483647'"},
			{tagged(304, object{1: []any{}}), "m"}, {tagged(304, object{1: []any{7, false}}), "m/7"},
			{tagged(304, object{1: []any{}, 2: uint32(math.MaxUint32)}), "[ffffffff]m"},
		} {
			if got, err := read(test.path); err != nil || got != test.want {
				t.Errorf("%s: %s, %v, want %s", name, got, err, test.want)
			}
		}
		for _, bad := range []any{
			object{1: steps}, tagged(303, object{1: steps}), tagged(305, object{1: steps}), tagged(40303, object{1: steps}), tagged(37, object{1: steps}),
			tagged(304, object{1: []any{44}}), tagged(304, object{1: []any{44, true, 0}}), tagged(304, object{1: []any{true, 44}}), tagged(304, object{1: []any{44, 1}}),
			tagged(304, object{1: []any{-1, true}}), tagged(304, object{1: []any{int64(math.MaxInt32) + 1, true}}), tagged(304, object{1: []any{[]any{}, true}}),
			tagged(304, object{1: steps, 2: uint64(math.MaxUint32) + 1}), tagged(304, object{1: steps, 4: 1}), tagged(304, object{1: 1}),
		} {
			if got, err := read(bad); err == nil {
				t.Errorf("%s: %v was read as %s", name, bad, got)
			}
		}
	}
}

// TestWritten has what is only written.
func TestWritten(t *testing.T) {
	key := ur.HDKey{Key: address, ChainCode: id, Origin: wanted, Parent: 0x0a0b0c0d, Name: "account"}
	mainnet := object{3: address, 4: id, 6: path, 8: 0x0a0b0c0d, 9: "account"}
	testKey := key
	testKey.Testnet = true
	for _, test := range []struct {
		got  ur.Message
		kind string
		want any
	}{
		{ur.EthSignature{ID: id, Signature: []byte{1}, Origin: "o"}.Message(), "eth-signature", object{1: uuid, 2: []byte{1}, 3: "o"}},
		{ur.EthSignature{Signature: []byte{1}}.Message(), "eth-signature", object{2: []byte{1}}},
		{ur.SolSignature{ID: id, Signature: []byte{1}}.Message(), "sol-signature", object{1: uuid, 2: []byte{1}}},
		{ur.SolSignature{Signature: []byte{1}}.Message(), "sol-signature", object{2: []byte{1}}},
		{ur.TronSignature{ID: id, Signature: []byte{1}}.Message(), "tron-signature", object{1: uuid, 2: []byte{1}}},
		{ur.TronSignature{Signature: []byte{1}}.Message(), "tron-signature", object{2: []byte{1}}},
		{ur.PSBT([]byte{1, 2}, ur.TypePSBT), "psbt", []byte{1, 2}},
		{ur.PSBT([]byte{1, 2}, ur.TypeCryptoPSBT), "crypto-psbt", []byte{1, 2}},
		{ur.SolSignRequest{Data: []byte{1}}.Message(), "sol-sign-request", object{2: []byte{1}, 3: cbor.Tag{Number: 304, Content: object{1: []any{}}}}},
		{
			ur.SolSignRequest{Data: []byte{1}, Path: ur.Keypath{Fingerprint: 1, Depth: 1}}.Message(),
			"sol-sign-request", object{2: []byte{1}, 3: cbor.Tag{Number: 304, Content: object{1: []any{}, 2: 1, 3: 1}}},
		},
		{key.Message(), "crypto-hdkey", mainnet},
		{testKey.Message(), "crypto-hdkey", mainnet.with(5, cbor.Tag{Number: 305, Content: object{2: 1}})},
	} {
		if want := encode(t, test.want); test.got.Type != test.kind || !bytes.Equal(test.got.CBOR, want) {
			t.Errorf("%s %x, want %s %x", test.got.Type, test.got.CBOR, test.kind, want)
		}
	}
	for _, kind := range []string{ur.TypePSBT, ur.TypeCryptoPSBT} {
		if got, err := ur.DecodePSBT(ur.PSBT([]byte{1, 2}, kind)); err != nil || !bytes.Equal(got, []byte{1, 2}) {
			t.Errorf("%s: %x, %v", kind, got, err)
		}
	}
}
