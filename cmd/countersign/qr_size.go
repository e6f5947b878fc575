package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/qrcode"
	"github.com/countersign-dev/countersign/internal/ur"
)

// captionRows are the rows of the window below a code.
const captionRows = 1

// encoder splits a message so that each code fits into a window.
func (f *qrFlags) encoder(message ur.Message, columns, rows int) (*ur.Encoder, error) {
	if err := fitsCodes(message); err != nil {
		return nil, err
	}
	characters, modules := qrcode.Capacity(columns, rows)
	most := ur.MaxFragment(message.Type, characters)
	if whole := len(message.String()); f.fragment == 0 && whole <= characters {
		most = len(message.CBOR) // one code, which has less around it than a part
	}
	switch {
	case most < 10:
		return nil, fmt.Errorf("--qr: a window of %d×%d characters is too small for codes: enlarge it, or use --qr-png DIR", columns, rows+captionRows)
	case f.fragment > most:
		return nil, fmt.Errorf("--fragment %d: this window holds codes of %d modules, and fragments of at most %d bytes", f.fragment, modules, most)
	case f.fragment > 0:
		most = f.fragment
	}
	return newEncoder(message, most)
}

// caption is the line below one code of several, in the form that fits into a window:
// a line that wraps would scroll the code out of its place.
func caption(encoder *ur.Encoder, columns int) string {
	long := fmt.Sprintf("Code %d of %d and more. Press Enter once it has been read.", encoder.Number(), encoder.Parts())
	if len(long) <= columns {
		return long
	}
	return fmt.Sprintf("%d/%d: Enter ends", encoder.Number(), encoder.Parts())
}

// newEncoder splits a message into fragments of at most so many bytes.
func newEncoder(message ur.Message, fragment int) (*ur.Encoder, error) {
	if err := fitsCodes(message); err != nil {
		return nil, err
	}
	encoder, err := ur.NewEncoder(message, fragment)
	if err != nil {
		return nil, fmt.Errorf("%w: enlarge the window, or use --qr-png DIR, which has room for %d bytes a code", err, pngFragment)
	}
	return encoder, nil
}

// fitsCodes refuses a message that is too large for QR codes, before anything else is
// done with it.
func fitsCodes(message ur.Message) error {
	length := len(message.CBOR)
	if length <= ur.MaxMessage {
		return nil
	}
	if hasBlobs(transactionIn(message)) {
		return fmt.Errorf("%d bytes are too many for QR codes, which carry at most %d: the transaction comes with its blobs (EIP-4844, network form). "+
			"Send it without them, as 03 ‖ rlp([chainId, …]): they are not signed, and are added to the signed transaction online", length, ur.MaxMessage)
	}
	return fmt.Errorf("%d bytes are too many for QR codes, which carry at most %d: take it over as a file", length, ur.MaxMessage)
}

// transactionIn is the transaction in a request or in an answer; nil in other messages.
func transactionIn(message ur.Message) []byte {
	if answer, err := ur.DecodeAnswer(message); err == nil {
		return answer.Signed
	}
	request, err := ur.DecodeRequest(message)
	if err != nil {
		return nil
	}
	var body struct {
		Parameters struct {
			UnsignedTransaction string `json:"unsignedTransaction"`
		} `json:"parameters"`
	}
	if json.Unmarshal(request.Body, &body) != nil {
		return nil
	}
	raw, _ := hex.DecodeString(body.Parameters.UnsignedTransaction) // what is no hex is no transaction
	return raw
}

// hasBlobs reports whether a transaction of Ethereum is in a network form, with blobs:
// 03 ‖ rlp([body, …]), whose first item is a list.
func hasBlobs(raw []byte) bool {
	if len(raw) == 0 || raw[0] != typeBlob {
		return false
	}
	items, _, err := rlp.SplitList(raw[1:])
	if err != nil {
		return false
	}
	kind, _, _, err := rlp.Split(items)
	return err == nil && kind == rlp.List
}
