package personal

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// transactionLike returns the name of the first of some chains for which the message is a
// transaction, raw or in hex or base64. It returns "" if there is none.
func transactionLike(message []byte, known []chains.Chain) string {
	if chain := transactionOf(message, known); chain != "" {
		return chain
	}
	trimmed := bytes.TrimSpace(message)
	if digits := trimHexPrefix(trimmed); consistsOf(digits, hexDigits) {
		if raw, err := chains.DecodeHex(string(trimmed)); err == nil {
			if chain := transactionOf(raw, known); chain != "" {
				return chain
			}
		}
	}
	if consistsOf(trimmed, base64Text) {
		if raw, err := base64.StdEncoding.DecodeString(string(trimmed)); err == nil {
			return transactionOf(raw, known)
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

// transactionOf returns the name of a chain for which the bytes are a transaction, or what is
// signed of one.
func transactionOf(raw []byte, known []chains.Chain) string {
	for _, chain := range known {
		if isTransactionOf(chain, raw) {
			return chain.Name()
		}
	}
	return ""
}

func isTransactionOf(chain chains.Chain, raw []byte) bool {
	if glancer, ok := chain.(chains.Glancer); ok && !glancer.Glance(raw) {
		return false
	}
	if _, err := chain.Parse(raw); err == nil {
		return true
	}
	parser, ok := chain.(chains.MessageParser)
	if !ok {
		return false
	}
	_, err := parser.ParseMessage(raw)
	return err == nil
}

// signDocMembers are members of what chains of Cosmos sign in JSON. Some, such as Initia, take a
// personal signature over it (SIGN_MODE_EIP_191 of cosmos-sdk).
var signDocMembers = []string{`"account_number"`, `"chain_id"`, `"msgs"`, `"sequence"`}

// isSignDoc reports whether a text is a transaction of a Cosmos chain in JSON.
func isSignDoc(text []byte) bool {
	if trimmed := bytes.TrimSpace(text); len(trimmed) == 0 || trimmed[0] != '{' {
		return false
	}
	for _, member := range signDocMembers {
		if !bytes.Contains(text, []byte(member)) {
			return false
		}
	}
	return true
}
