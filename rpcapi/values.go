package rpcapi

import (
	"encoding/hex"
	"errors"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/strictjson"
)

// maxShown is how many bytes of a value an error shows.
const maxShown = 40

// checker reads the values of a transaction object and keeps the first error.
type checker struct{ err error }

func (c *checker) fail(name, format string, args ...any) {
	if c.err == nil {
		c.err = invalid(name, format, args...)
	}
}

// quantity reads an integer as the execution API writes it: 0x and hex digits without
// leading zeros. It must be there.
func (c *checker) quantity(name, text string, bits int) *big.Int {
	if text == absent {
		c.fail(name, "missing: it decides what is signed, and is not filled in")
		return new(big.Int)
	}
	digits, prefixed := strings.CutPrefix(text, "0x")
	if !prefixed || digits == "" || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		c.fail(name, "%q: expected an integer in hex with 0x", plaintext.Shorten(text, maxShown))
		return new(big.Int)
	}
	if digits[0] == '0' && digits != "0" {
		c.fail(name, "%q: an integer has no leading zeros", plaintext.Shorten(text, maxShown))
		return new(big.Int)
	}
	if 4*(len(digits)-1) > bits {
		c.fail(name, "%q: more than %d bits", plaintext.Shorten(text, maxShown), bits)
		return new(big.Int)
	}
	value, _ := new(big.Int).SetString(digits, 16)
	if value.BitLen() > bits {
		c.fail(name, "%q: more than %d bits", plaintext.Shorten(text, maxShown), bits)
	}
	return value
}

// optional reads an integer that is 0 if it is not there.
func (c *checker) optional(name, text string, bits int) *big.Int {
	if text == absent {
		return new(big.Int)
	}
	return c.quantity(name, text, bits)
}

// bytes reads hex digits with 0x. There are none if the member is absent.
func (c *checker) bytes(name, text string) []byte {
	if text == absent {
		return nil
	}
	digits, prefixed := strings.CutPrefix(text, "0x")
	raw, err := hex.DecodeString(digits)
	if !prefixed || err != nil {
		c.fail(name, "%q: expected hex with 0x, two digits for each byte", plaintext.Shorten(text, maxShown))
	}
	return raw
}

// sized reads hex digits of exactly size bytes.
func (c *checker) sized(name, text string, size int) []byte {
	raw := c.bytes(name, text)
	if c.err == nil && len(raw) != size {
		c.fail(name, "%q: %d bytes, expected %d", plaintext.Shorten(text, maxShown), len(raw), size)
	}
	return raw
}

func (c *checker) list(name string, texts []string, size int) [][]byte {
	list := make([][]byte, len(texts))
	for i, text := range texts {
		list[i] = c.sized(name, text, size)
	}
	return list
}

// address reads an address. One in mixed case must have its checksum (EIP-55).
func (c *checker) address(name, text string) common.Address {
	if text == absent {
		c.fail(name, "missing")
		return common.Address{}
	}
	address := common.BytesToAddress(c.sized(name, text, common.AddressLength))
	digits := strings.TrimPrefix(text, "0x")
	if c.err == nil && digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) && text != address.Hex() {
		c.fail(name, "%s: the checksum is wrong: it has a typing error", text)
	}
	return address
}

// paramFault converts an error of the JSON reader.
func paramFault(err error) error {
	if malformed, ok := errors.AsType[*strictjson.Error](err); ok {
		return &fault{codeParams, err.Error(), &data{Field: malformed.Path}}
	}
	return err
}
