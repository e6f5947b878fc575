package interop

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/drawn"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// tronKey is the address of the tests' key on Tron.
var tronKey = func() string {
	address, err := hex.DecodeString(enginetest.Address[2:])
	if err != nil {
		panic(err)
	}
	return base58.CheckEncode(address, 0x41)
}()

// unsigned matches a type whose values are also those of trcToken.
var unsigned = regexp.MustCompile(`^uint[0-9]+`)

// tronDocument rewrites typed data as wallets of Tron do: addresses in one of their forms,
// some integers as trcToken, and the chain id of one of Tron's networks.
type tronDocument struct {
	*rand.Rand
	types map[string][]map[string]string
}

// rewrite returns random typed data in Tron's notation.
func (d *tronDocument) rewrite(t *testing.T, text string) string {
	t.Helper()
	var document struct {
		Types       map[string][]map[string]string `json:"types"`
		PrimaryType string                         `json:"primaryType"`
		Domain      map[string]any                 `json:"domain"`
		Message     map[string]any                 `json:"message"`
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	testenv.Must(t, decoder.Decode(&document))
	domain := []map[string]string{{"name": "name", "type": "string"}, {"name": "version", "type": "string"}, {"name": "chainId", "type": "uint256"}}
	if members := document.Types["EIP712Domain"]; len(members) > len(domain) {
		domain = members
	}
	document.Types["EIP712Domain"] = domain
	for _, name := range []string{"name", "version"} {
		if document.Domain[name] == nil {
			document.Domain[name] = "v"
		}
	}
	document.Domain["chainId"] = []any{728126428, "2494104990", 3448148188}[d.IntN(3)]
	d.types = document.Types
	for _, name := range slices.Sorted(maps.Keys(d.types)) {
		for _, m := range d.types[name] {
			if m["name"] != "chainId" && d.IntN(2) == 0 {
				m["type"] = unsigned.ReplaceAllString(m["type"], "trcToken")
			}
		}
	}
	d.structure("EIP712Domain", document.Domain)
	d.structure(document.PrimaryType, document.Message)
	changed := testenv.Encode(t, document)
	return string(changed)
}

func (d *tronDocument) structure(name string, value map[string]any) {
	for _, m := range d.types[name] {
		value[m["name"]] = d.value(m["type"], value[m["name"]])
	}
}

func (d *tronDocument) value(spec string, value any) any {
	if open := strings.LastIndexByte(spec, '['); open >= 0 {
		for i, element := range value.([]any) {
			value.([]any)[i] = d.value(spec[:open], element)
		}
		return value
	}
	if _, ok := d.types[spec]; ok {
		d.structure(spec, value.(map[string]any))
		return value
	}
	if spec != "address" {
		return value
	}
	raw, err := hex.DecodeString(value.(string)[2:])
	if err != nil {
		panic(err)
	}
	return []string{base58.CheckEncode(raw, 0x41), "41" + hex.EncodeToString(raw), value.(string)}[d.IntN(3)]
}

// randomTronTypedData checks that TronWeb signs random typed data (TIP-712) as we do with
// the key at a Tron address, and verifies ours.
func randomTronTypedData(t *testing.T, p *messagePeer) {
	tokens := 0
	for seed := range drawnMessages(t) {
		r := rand.New(rand.NewPCG(seed, 712))
		text := (&tronDocument{Rand: r}).rewrite(t, drawn.TypedData(r))
		var theirs struct {
			Signature string
			Valid     bool
		}
		p.ask(p.t, map[string]any{"op": "tip712", "document": text, "secret": enginetest.Secret}, &theirs)
		if ours := p.sign(tronKey, text, activity.EncodingEIP712, activity.HashNone); ours != theirs.Signature || !theirs.Valid {
			t.Fatalf("%s\nTronWeb %s\nwe      %s", text, theirs.Signature, ours)
		}
		tokens += strings.Count(text, "trcToken")
	}
	if tokens == 0 {
		t.Error("no trcToken was drawn")
	}
}

// ethermint is a transaction of a Cosmos chain as wallets sign it: its domain has text for
// the contract and the salt.
const ethermint = `{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"string"},{"name":"salt","type":"string"}],
"Tx":[{"name":"chain_id","type":"string"},{"name":"memo","type":"string"}]},"primaryType":"Tx",
"domain":{"name":"Cosmos Web3","version":"1.0.0","chainId":9001,"verifyingContract":"cosmos","salt":"0"},"message":{"chain_id":"evmos_9001-2","memo":"hello"}}`

// textDomains checks that viem, eth-sig-util and apitypes hash a domain with text as we do.
// ethers takes no such domain: it knows the types of a domain's members itself.
func textDomains(t *testing.T, p *messagePeer) {
	data, err := eip712.Parse([]byte(ethermint))
	testenv.Must(t, err)
	var compact bytes.Buffer
	testenv.Must(t, json.Compact(&compact, []byte(ethermint)))
	var theirs typedAnswer
	p.ask(p.t, map[string]any{"op": "typed", "document": compact.String()}, &theirs)
	digest := data.Digest()
	digests := theirs.digests()
	digests["apitypes"] = apitypesDigest(t, ethermint)
	allAre(t, ethermint, hex.EncodeToString(digest[:]), digests, "viem", "sigUtil", "apitypes")
	if !strings.HasPrefix(theirs.Ethers, "refused") {
		t.Errorf("ethers: %s", theirs.Ethers)
	}
}
