package evm

import (
	"bytes"

	"github.com/countersign-dev/countersign/internal/texts"
)

// attribution ends data that names the applications to which a transaction is attributed (ERC-8021):
//
//	codes ‖ their length 1 ‖ schema 1 ‖ 80218021802180218021802180218021
var attribution = bytes.Repeat([]byte{0x80, 0x21}, 8)

// PlainData reports whether data is a text that only refers to a payment, codes of ERC-8021, or one before
// the other, and the selector of no function that is decoded. Wallets send it with a payment; a contract whose
// function has that selector would run it all the same.
func PlainData(data []byte) bool {
	if len(data) < 4 || functions()[[4]byte(data)] != nil {
		return false
	}
	if rest, ok := bytes.CutSuffix(data, attribution); ok && len(rest) > 2 && rest[len(rest)-1] == 0 {
		size := int(rest[len(rest)-2])
		if rest = rest[:len(rest)-2]; size <= len(rest) {
			data = rest // the codes are text too
		}
	}
	return texts.IsNote(data)
}
