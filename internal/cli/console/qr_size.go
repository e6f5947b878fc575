package console

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/internal/cli/qrcode"
	"github.com/countersign-dev/countersign/internal/ur"
)

// CaptionRows is the number of rows of the window below a code.
const CaptionRows = 1

// Encoder splits a message into codes that fit into a window.
func (f *QRFlags) Encoder(message ur.Message, columns, rows int) (*ur.Encoder, error) {
	if err := FitsCodes(message); err != nil {
		return nil, err
	}
	characters, modules := qrcode.Capacity(columns, rows)
	limit := ur.MaxFragment(message.Type, characters)
	if whole := len(message.String()); f.fragment == 0 && whole <= characters {
		limit = len(message.CBOR) // a single code has less overhead than a part
	}
	switch {
	case limit < 10:
		return nil,
			fmt.Errorf("--qr: a window of %d×%d characters is too small for codes: enlarge it, or use --qr-png DIR",
				columns, rows+CaptionRows)
	case f.fragment > limit:
		return nil,
			fmt.Errorf("--fragment %d: this window holds codes of %d modules, with fragments of at most %d bytes",
				f.fragment, modules, limit)
	case f.fragment > 0:
		limit = f.fragment
	}
	return newEncoder(message, limit)
}

// Caption returns the line below one of several codes, short enough for the window: a
// line that wraps would scroll the code away.
func Caption(encoder *ur.Encoder, columns int) string {
	long := fmt.Sprintf("Code %d of %d and more. Press Enter once it has been read.", encoder.Number(), encoder.Parts())
	if len(long) <= columns {
		return long
	}
	return fmt.Sprintf("%d/%d: Enter ends", encoder.Number(), encoder.Parts())
}

func newEncoder(message ur.Message, fragment int) (*ur.Encoder, error) {
	if err := FitsCodes(message); err != nil {
		return nil, err
	}
	encoder, err := ur.NewEncoder(message, fragment)
	if err != nil {
		return nil, fmt.Errorf("%w: enlarge the window, or use --qr-png DIR, with %d bytes per code", err, pngFragment)
	}
	return encoder, nil
}

// FitsCodes refuses a message that is too large for QR codes.
func FitsCodes(message ur.Message) error {
	length := len(message.CBOR)
	if length <= ur.MaxMessage {
		return nil
	}
	if hasBlobs(transactionIn(message)) {
		return fmt.Errorf("%d bytes are too many for QR codes, which carry at most %d: the transaction comes with "+
			"its blobs (EIP-4844, network form). "+
			"Send it without them, as 03 ‖ rlp([chainId, …]): blobs are not signed; add them to the signed "+
			"transaction online", length, ur.MaxMessage)
	}
	return fmt.Errorf("%d bytes are too many for QR codes, which carry at most %d: transfer it as a file", length, ur.MaxMessage)
}

// transactionIn returns the transaction in a request or an answer, nil for other messages.
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
	raw, _ := hex.DecodeString(body.Parameters.UnsignedTransaction) // invalid hex is not a transaction
	return raw
}

// hasBlobs reports whether an Ethereum transaction is in the network form, with blobs:
// 03 ‖ rlp([body, …]), whose first item is a list.
func hasBlobs(raw []byte) bool {
	if len(raw) == 0 || raw[0] != types.BlobTxType {
		return false
	}
	items, _, err := rlp.SplitList(raw[1:])
	if err != nil {
		return false
	}
	kind, _, _, err := rlp.Split(items)
	return err == nil && kind == rlp.List
}
