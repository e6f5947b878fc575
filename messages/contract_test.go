package messages_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/messages/solanamsg"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/messages"
)

// TestContract runs the contract suite for each kind of message.
func TestContract(t *testing.T) {
	secp := chaintest.Key(t, keystore.CurveSecp256k1, bytes.Repeat([]byte{0x46}, keystore.SecretSize))
	ed := chaintest.Key(t, keystore.CurveEd25519, bytes.Repeat([]byte{0x46}, keystore.SecretSize))
	sample := func(key keystore.Key, raw string, hazards ...string) chaintest.MessageSample {
		return chaintest.MessageSample{Sample: chaintest.Sample{Raw: []byte(raw), Key: key}, Hazards: hazards}
	}
	kind := func(chain chains.Chain, name string, encoding activity.Encoding, hash activity.HashFunction) chaintest.Messages {
		return chaintest.Messages{Chain: chain, Name: name, Hazards: append(messages.HazardNames(chain), chain.HazardNames()...),
			Parse: func(raw []byte) (chains.Transaction, error) { return reader.Read(string(raw), encoding, hash) }}
	}
	bare := kind(solana.Chain{}, "", activity.EncodingHex, activity.HashNotApplicable)
	bare.Parse = func(raw []byte) (chains.Transaction, error) {
		return reader.Read(fmt.Sprintf("%x", raw), activity.EncodingHex, activity.HashNotApplicable)
	}
	inJSON := func(s chaintest.MessageSample) chaintest.MessageSample { s.JSON = true; return s }
	open := func(s chaintest.MessageSample) chaintest.MessageSample { s.Open = true; return s }
	address := ethereum.Chain{}.Addresses(secp.PublicKey())[0].Address
	solanaAddress := base58.Encode(ed.PublicKey().Bytes())
	siws := "example.com wants you to sign in with your Solana account:\n" + solanaAddress

	for _, test := range []struct {
		name    string
		kind    chaintest.Messages
		samples map[string]chaintest.MessageSample
	}{
		{"typed data", kind(ethereum.Chain{}, eip712.Name, activity.EncodingEIP712, activity.HashNone), map[string]chaintest.MessageSample{
			"unknown type": inJSON(sample(secp, ping, "eip712/unknown-type")),
			"hostile":      inJSON(sample(secp, hostileTyped(t), "eip712/unknown-type", "eip712/no-chain-id", "eip712/no-verifying-contract")),
			"permit":       inJSON(sample(secp, permitBy(address))),
		}},
		{"authorization", kind(ethereum.Chain{}, "eip7702", activity.EncodingAuthorization, activity.HashNone), map[string]chaintest.MessageSample{
			"of a chain":     inJSON(sample(secp, `{"address":"0x00000000000000000000000000000000000000aa","chainId":1,"nonce":"7"}`, ethereum.HazardDelegation)),
			"of every chain": inJSON(sample(secp, `{"address":"0x00000000000000000000000000000000000000aa","chainId":0,"nonce":7}`, ethereum.HazardDelegation, ethereum.HazardAnyChainAuthorization)),
			"that ends one":  inJSON(sample(secp, `{"address":"0x0000000000000000000000000000000000000000","chainId":1,"nonce":7}`)),
		}},
		{"personal", kind(ethereum.Chain{}, "", activity.EncodingText, activity.HashKeccak256), map[string]chaintest.MessageSample{
			"text":      open(sample(secp, string(personal.Preimage(personal.EthereumPrefix, []byte(chaintest.HostileText))), texts.HazardFreeText)),
			"hash":      open(sample(secp, string(personal.Preimage(personal.EthereumPrefix, []byte(strings.Repeat("ab", 32)))), texts.HazardHashLike, texts.HazardFreeText)),
			"sign-in":   open(sample(secp, string(personal.Preimage(personal.EthereumPrefix, []byte(strings.Replace(signIn, "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", address, 1)))))),
			"validator": open(sample(secp, "\x19\x00"+strings.Repeat("v", 20)+chaintest.HostileText, personal.HazardValidatorData)),
		}},
		{"Tron", kind(tron.Chain{}, "", activity.EncodingText, activity.HashKeccak256), map[string]chaintest.MessageSample{
			"text": open(sample(secp, string(personal.Preimage(personal.TronPrefix, []byte(chaintest.HostileText))), texts.HazardFreeText)),
		}},
		{"Bitcoin", kind(legacyBitcoin{}, "", activity.EncodingText, activity.HashDoubleSHA256), map[string]chaintest.MessageSample{
			"text": open(sample(secp, string(bip137.Preimage([]byte(chaintest.HostileText))), texts.HazardFreeText)),
			"hash": open(sample(secp, string(bip137.Preimage([]byte(strings.Repeat("ab", 32)))), texts.HazardHashLike, texts.HazardFreeText)),
		}},
		{"off-chain", bare, map[string]chaintest.MessageSample{
			"version 0": sample(ed, offchainV0(ed, chaintest.HostileText), texts.HazardFreeText),
			"legacy":    open(sample(ed, "\xffsolana offchain\x00\x02"+string([]byte{byte(len(chaintest.HostileText)), byte(len(chaintest.HostileText) >> 8)})+chaintest.HostileText, texts.HazardFreeText)),
			"version 1": open(sample(ed, "\xffsolana offchain\x01\x01"+string(ed.PublicKey().Bytes())+chaintest.HostileText, texts.HazardFreeText)),
		}},
		{"raw", bare, map[string]chaintest.MessageSample{
			"text":    open(sample(ed, chaintest.HostileText, texts.HazardFreeText, solanamsg.HazardRawMessage)),
			"sign-in": open(sample(ed, siws)),
		}},
		{"Solana's transaction", bare, map[string]chaintest.MessageSample{"transfer": open(sample(ed, solanaTransfer(ed)))}},
		{"Tron's transaction", chaintest.Messages{Chain: tron.Chain{}, Hazards: tron.Chain{}.HazardNames(), Parse: func(raw []byte) (chains.Transaction, error) {
			return reader.Read(fmt.Sprintf("%x", raw), activity.EncodingHex, activity.HashSHA256)
		}}, map[string]chaintest.MessageSample{"transfer": open(sample(tronKey(t), tronTransfer(t)))}},
	} {
		t.Run(test.name, func(t *testing.T) { chaintest.RunMessages(t, test.kind, test.samples) })
	}
}

func permitBy(owner string) string {
	return `{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],` +
		`"Permit":[{"name":"owner","type":"address"},{"name":"spender","type":"address"},{"name":"value","type":"uint256"},{"name":"nonce","type":"uint256"},{"name":"deadline","type":"uint256"}]},` +
		`"primaryType":"Permit","domain":{"name":"USD Coin","version":"2","chainId":"1","verifyingContract":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"},` +
		`"message":{"owner":"` + owner + `","spender":"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7","value":"250000000","nonce":"0","deadline":"1763726400"}}`
}

// hostileTyped returns typed data with hostile text in every string.
func hostileTyped(t *testing.T) string {
	t.Helper()
	text := testenv.Encode(t, chaintest.HostileText+"\u202e\u001b[2K")
	return `{"types":{"EIP712Domain":[{"name":"name","type":"string"}],"Note":[{"name":"text","type":"string"},{"name":"more","type":"string[]"},{"name":"data","type":"bytes"}]},` +
		`"primaryType":"Note","domain":{"name":` + string(text) + `},"message":{"text":` + string(text) + `,"more":[` + string(text) + `],"data":"0x00ff"}}`
}

// legacyBitcoin has the addresses that BIP-137 finds a key by.
type legacyBitcoin struct{ bitcoin.Chain }

func (c legacyBitcoin) Addresses(pub keystore.PublicKey) []chains.Address {
	return slices.DeleteFunc(c.Chain.Addresses(pub), func(address chains.Address) bool {
		return !strings.HasSuffix(address.Format, "_P2PKH") && !strings.HasSuffix(address.Format, "_P2WPKH")
	})
}

func offchainV0(key keystore.Key, text string) string {
	head := "\xffsolana offchain\x00" + "app\nhazards  none" + strings.Repeat("\x00", 15) + "\x01\x01" + string(key.PublicKey().Bytes())
	return string(binary.LittleEndian.AppendUint16([]byte(head), uint16(len(text)))) + text
}

// solanaTransfer returns a legacy message: 5 lamports to the key 0202….
func solanaTransfer(key keystore.Key) string {
	return "\x01\x00\x01\x03" + string(key.PublicKey().Bytes()) + strings.Repeat("\x02", 32) + strings.Repeat("\x00", 32) + strings.Repeat("\x03", 32) +
		"\x01\x02\x02\x00\x01\x0c\x02\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00"
}

// tronTransfer returns raw_data of the vector that tronKey signs.
func tronTransfer(t *testing.T) string {
	t.Helper()
	var vector struct{ UnsignedTransaction string }
	chaintest.ReadJSON(t, "../chains/tron/testdata/trx.json", &vector)
	return string(chaintest.Unhex(t, vector.UnsignedTransaction))
}

func tronKey(t *testing.T) keystore.Key {
	t.Helper()
	return chaintest.Key(t, keystore.CurveSecp256k1, chaintest.Unhex(t, enginetest.Secret))
}
