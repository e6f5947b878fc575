package main

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/countersign-dev/countersign/chains/bitcoin"
)

// print writes a signed transaction: a PSBT in the encoding in which it came, all
// else, and what is finalized, in hex.
func (c *signCommand) print(out io.Writer, signed string) error {
	if c.finalize {
		final, err := finalized(signed)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, final)
		return err
	}
	if c.encoding == bitcoin.Hex {
		_, err := fmt.Fprintln(out, signed)
		return err
	}
	raw, err := hex.DecodeString(signed)
	if err != nil {
		return err
	}
	content := c.encoding.Encode(raw)
	if c.encoding != bitcoin.Binary {
		content = append(content, '\n')
	}
	_, err = out.Write(content)
	return err
}

// finalized is the network transaction of a PSBT, or the signature of a BIP-322
// message. What could not be finalized is not lost: the same call without --finalize
// prints the PSBT.
func finalized(signed string) (string, error) {
	packet, err := hex.DecodeString(signed)
	if err != nil {
		return "", err
	}
	signature, isMessage, err := bitcoin.MessageSignature(packet)
	if isMessage && err == nil {
		return signature, nil
	}
	var transaction []byte
	if err == nil {
		transaction, err = bitcoin.Finalize(packet)
	}
	if err != nil {
		return "", fmt.Errorf("%w; for the PSBT with the signatures it has, sign without --finalize", err)
	}
	return hex.EncodeToString(transaction), nil
}
