package personal

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tron"
)

// transactionLike returns the name of a chain for which the message is a transaction,
// raw or in hex or base64. It returns "" if there is none.
func transactionLike(message []byte) string {
	if chain := transactionOf(message); chain != "" {
		return chain
	}
	trimmed := bytes.TrimSpace(message)
	if digits := trimHexPrefix(trimmed); consistsOf(digits, hexDigits) {
		if raw, err := chains.DecodeHex(string(trimmed)); err == nil {
			if chain := transactionOf(raw); chain != "" {
				return chain
			}
		}
	}
	if consistsOf(trimmed, base64Text) {
		if raw, err := base64.StdEncoding.DecodeString(string(trimmed)); err == nil {
			return transactionOf(raw)
		}
	}
	return ""
}

// The characters that can be in a transaction's text. Go's base64 skips line breaks.
const (
	hexDigits  = "0123456789abcdefABCDEF"
	base64Text = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n"
)

func trimHexPrefix(text []byte) []byte {
	if len(text) >= 2 && text[0] == '0' && text[1]|0x20 == 'x' {
		return text[2:]
	}
	return text
}

// consistsOf reports whether a text has no other characters than those of an alphabet.
func consistsOf(text []byte, alphabet string) bool {
	for _, c := range text {
		if strings.IndexByte(alphabet, c) < 0 {
			return false
		}
	}
	return true
}

// transactionOf returns the name of a chain for which the bytes are a transaction.
func transactionOf(raw []byte) string {
	if !beginsLikeTransaction(raw) {
		return ""
	}
	for _, chain := range []chains.Chain{ethereum.Chain{}, solana.Chain{}, tron.Chain{}} {
		if _, err := chain.Parse(raw); err == nil {
			return chain.Name()
		}
	}
	if _, err := (solana.Chain{}).ParseMessage(raw); err == nil {
		return solana.Name
	}
	return ""
}

// tronTags are the first bytes of a transaction of Tron: the tag of a field of raw_data, or
// of the message that has it in its first one.
const tronTags = "\x0a\x12\x22\x40\x52\x5a\x70\x90"

// beginsLikeTransaction reports whether bytes can be a transaction of one of the chains, by the
// first of them: it is what most texts are not. FuzzTransactionLike asks the chains whether
// they agree.
func beginsLikeTransaction(raw []byte) bool {
	if len(raw) == 0 {
		return false
	}
	first := raw[0]
	return first >= 0xc0 || first >= 1 && first <= 4 || // Ethereum: a list in RLP, or a type (EIP-2718)
		first >= 0x80 || first > 0 && int(first)*32 < len(raw) || // Solana: a version, or a count of signers, whose keys have 32 bytes
		strings.IndexByte(tronTags, first) >= 0
}
