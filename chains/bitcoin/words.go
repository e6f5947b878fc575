package bitcoin

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
)

// Words implements chains.Chain. In binary form an address is its output script; a field
// has the script in hex, since the network of the address is only a guess.
func (c Chain) Words() chains.Words {
	return chains.Words{
		Forms: chains.Forms{
			Encodings: []string{"base64", "binary"}, Expected: "a PSBT in hex, base64 or binary",
			Complete: complete, Network: c.limits.Network.String(),
		},
		TextHazards: texts.HazardNames(), Namespace: "bip122", Decimals: decimals,
		Units:       []chains.Unit{{Name: "sats"}, {Name: "btc", Decimals: decimals}},
		ReadAddress: readAddress, Alike: alike, FieldAddress: hex.DecodeString, Variable: Name,
		Details: []chains.Detail{
			{Name: "fee", Type: chains.TypeAmount},
			{Name: "inputs", Type: chains.TypeList, Part: "input", Members: []chains.Detail{
				{Name: "tx_id", Type: chains.TypeText, From: outpoint(0)},
				{Name: "vout", Type: chains.TypeInteger, From: outpoint(1)},
				{Name: "value", Type: chains.TypeAmount},
				{Name: "address", Type: chains.TypeAddress},
				{Name: "script_type", Type: chains.TypeText},
				{Name: "sighash", Type: chains.TypeText},
			}},
			{Name: "outputs", Type: chains.TypeList, Part: "output", Members: []chains.Detail{
				{Name: "address", Type: chains.TypeAddress},
				{Name: "value", Type: chains.TypeAmount},
			}},
		}}
}

// complete is Complete of chains.Forms. A PSBT has a place for each signature.
func complete(raw []byte) (transaction []byte, err error) {
	if !bytes.HasPrefix(raw, []byte("psbt\xff")) {
		return nil, errors.New("not a PSBT, which starts with the bytes 70736274ff")
	}
	return raw, nil
}

// alike returns the P2PKH, P2WPKH and P2SH-P2WPKH scripts of the key that a script pays, or
// whose hash it has.
func alike(script []byte) [][]byte {
	var hash [20]byte
	switch classify(script) {
	case p2pk:
		copy(hash[:], address.Hash160(script[1:len(script)-1]))
	case p2pkh:
		copy(hash[:], script[3:])
	case p2wpkh:
		copy(hash[:], script[2:])
	default:
		return nil
	}
	witness := p2wpkhScript(hash)
	return [][]byte{p2pkhScript(hash), witness, p2shScript([20]byte(address.Hash160(witness)))}
}

// outpoint returns the transaction id (part 0) or the index (part 1) of txid:vout.
func outpoint(part int) func(chains.Summary) (chains.Field, bool) {
	return func(of chains.Summary) (chains.Field, bool) {
		field, ok := chains.Keyed(of.Fields, "outpoint")
		if !ok {
			return chains.Field{}, false
		}
		txid, index, _ := strings.Cut(field.Value, ":")
		vout, err := strconv.ParseUint(index, 10, 32)
		if part == 0 {
			return chains.Text("transaction id", txid), true
		}
		return chains.Integer("index", vout), err == nil
	}
}

// maxBase58Text is the length of the longest address in base58: decoding takes quadratic time.
const maxBase58Text = 44

// readAddress returns the output script of an address of any network. ok is false if the text has
// not the form of one: bech32 of one of the networks, or base58 of 25 bytes.
func readAddress(text string) (script []byte, ok bool, err error) {
	// A version, 20 bytes and the checksum.
	if _, segwit := segwitNetwork(text); !segwit && (len(text) > maxBase58Text || len(base58.Decode(text)) != 25) {
		return nil, false, nil
	}
	for i := range networks {
		script, failed := scriptOf(text, networks[i].params)
		if failed == nil {
			return script, true, nil
		}
		err = cmp.Or(err, failed)
	}
	return nil, true, err
}
