package eip712_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// The forms of one address of Tron: the contract of USDT.
const (
	base58Address = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
	bareAddress   = "41a614f803b6fd780986a42c78ec9c7f77e6ded13c"
	plainAddress  = "0xa614f803b6fd780986a42c78ec9c7f77e6ded13c"
)

// written returns typed data with a domain's chain id, an address twice, and a token of the
// given type. An empty chain id is none.
func written(chainID, address, token string) string {
	types, domain := `{"name":"verifyingContract","type":"address"}`, `"verifyingContract":"`+address+`"`
	if chainID != "" {
		types, domain = `{"name":"chainId","type":"uint256"},`+types, `"chainId":`+chainID+`,`+domain
	}
	return fmt.Sprintf(`{"types":{"EIP712Domain":[%s],"M":[{"name":"to","type":"address[]"},{"name":"token","type":%q}]},"primaryType":"M","domain":{%s},"message":{"to":[%q],"token":"1002000"}}`,
		types, token, domain, address)
}

// TestTronNotation checks that the forms of an address hash alike and that typed data is of
// the chain whose notation it has.
func TestTronNotation(t *testing.T) {
	for _, chainID := range []string{"728126428", `"2494104990"`, `"0xcd8690dc"`, ""} {
		digests := map[string]string{}
		for _, address := range []string{base58Address, bareAddress, strings.ToUpper(bareAddress), plainAddress} {
			data := parse(t, written(chainID, address, "uint256"))
			digest := data.Digest()
			digests[hex.EncodeToString(digest[:])] = address
			want := "tron"
			if chainID == "" && address == plainAddress {
				want = "ethereum"
			}
			if data.Chain != want {
				t.Errorf("chain id %s, %s: of %s, want %s", chainID, address, data.Chain, want)
			}
		}
		if len(digests) != 1 {
			t.Errorf("chain id %s: %d digests: %v", chainID, len(digests), digests)
		}
	}
	token, number := parse(t, written("728126428", base58Address, "trcToken")), parse(t, written("728126428", base58Address, "uint256"))
	if token.Digest() == number.Digest() || token.EncodeType("M") != "M(address[] to,trcToken token)" {
		t.Errorf("trcToken is hashed as another type: %s", token.EncodeType("M"))
	}
}

// TestNotationRefused has addresses and types that are not of the domain's chain, and cures.
func TestNotationRefused(t *testing.T) {
	for text, cure := range map[string]string{
		written("1", base58Address, "uint256"):                                                       "this is an address of tron, whose typed data has the domain's chainId 728126428, 2494104990 or 3448148188",
		written("1", bareAddress, "uint256"):                                                         "this is an address of tron",
		written("1", plainAddress, "trcToken"):                                                       `type "trcToken" is not one of the types: it is a type of tron`,
		written("728126428", base58Address[:33]+"u", "uint256"):                                      "is no address of tron",
		written("728126428", "0x"+bareAddress, "uint256"):                                            "21 bytes: an address has 20",
		written("728126428", "42"+bareAddress[2:], "uint256"):                                        "is no address of tron",
		written("728126428", base58.CheckEncode(make([]byte, 20), 0), "uint256"):                     "is no address of tron",
		written("728126428", strings.Repeat("T", 5000), "uint256"):                                   "is no address of tron",
		written("728126428", "0xA614f803b6fd780986a42c78ec9c7f77e6ded13c", "uint256"):                "wrong checksum (EIP-55)",
		strings.Replace(written("728126428", base58Address, "M"), `"M":[`, `"trcToken":[],"M":[`, 1): "this is the name of a built-in type",
	} {
		if _, err := eip712.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), cure) {
			t.Errorf("%s: %v, want %s", text, err, cure)
		}
	}
}

// FuzzTronAddress checks that an address is accepted in Tron's typed data only if it is one
// of the forms of the 20 bytes that are hashed.
func FuzzTronAddress(f *testing.F) {
	for _, address := range []string{base58Address, bareAddress, plainAddress, "0x" + bareAddress, "T", ""} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		text := fmt.Sprintf(`{"types":{"EIP712Domain":[{"name":"chainId","type":"uint256"}],"M":[{"name":"to","type":"address"}]},"primaryType":"M","domain":{"chainId":728126428},"message":{"to":%q}}`, address)
		data, err := eip712.Parse([]byte(text))
		if err != nil {
			return
		}
		to, _ := data.Message.Member("to")
		bare := hex.EncodeToString(to.Bytes)
		if len(to.Bytes) != 20 || address != base58.CheckEncode(to.Bytes, 0x41) && strings.ToLower(address) != "41"+bare && strings.ToLower(address) != "0x"+bare {
			t.Errorf("%q was read as %s", address, bare)
		}
	})
}
