package sign_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/sign"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/keystore"
)

// typedText is a sign-in of typed data on chain 1.
const typedText = `{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"chainId","type":"uint256"}],"Login":[{"name":"text","type":"string"},{"name":"nonce","type":"uint256"}]},` +
	`"primaryType":"Login","domain":{"name":"A site","chainId":1},"message":{"text":"hello","nonce":7}}`

// typedDigest returns go-ethereum's digest of typed data.
func typedDigest(t *testing.T, text string) []byte {
	t.Helper()
	var typed apitypes.TypedData
	testenv.JSON(t, []byte(text), &typed)
	digest, _, err := apitypes.TypedDataAndHash(typed)
	testenv.Must(t, err)
	return digest
}

// ethMessage returns a request for the fixture's first key to sign a message.
func ethMessage(t *testing.T, kind int, data string) ur.EthSignRequest {
	request := ethRequest(t)
	request.Kind, request.Data = kind, []byte(data)
	return request
}

// signatureIn returns the signature in an answer: its last bytes.
func signatureIn(t *testing.T, stdout, kind string, size int) []byte {
	t.Helper()
	answer := clitest.Collected(t, stdout, kind).CBOR
	return answer[len(answer)-size:]
}

// isRecovered checks a signature r ‖ s ‖ 27 or 28 of the fixture's first key over a digest.
func isRecovered(t *testing.T, digest, signature []byte) {
	t.Helper()
	if signature[64] != 27 && signature[64] != 28 {
		t.Fatalf("v is %d", signature[64])
	}
	raw := bytes.Clone(signature)
	raw[64] -= 27
	public, err := crypto.SigToPub(digest, raw)
	if err != nil || crypto.PubkeyToAddress(*public) != common.HexToAddress(clitest.Address) {
		t.Errorf("the signature is of another key, or of another message: %v", err)
	}
}

// TestEthMessageRequest signs messages of ERC-4527 if the person at the terminal agrees to
// the text. go-ethereum recovers the signer.
func TestEthMessageRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request ur.EthSignRequest
		digest  []byte
		shown   string
	}{
		"typed":    {ethMessage(t, ur.EthTyped, typedText), typedDigest(t, typedText), "typed data (EIP-712)"},
		"personal": {ethMessage(t, ur.EthPersonal, "hello"), accounts.TextHash([]byte("hello")), "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := scanned(t, c.request.Message(), "y\n", "--allow", "all")
			if status != console.ExitSuccess || !strings.Contains(stderr, c.shown) || !strings.Contains(stderr, "nothing proves who sent it") {
				t.Fatalf("exit status %d: %s", status, stderr)
			}
			isRecovered(t, c.digest, signatureIn(t, stdout, ur.TypeEthSignature, 65))
			if stdout, _, status := scanned(t, c.request.Message(), "n\n", "--allow", "all"); status != console.ExitFailure || stdout != "" {
				t.Errorf("signed without a yes: %s", stdout)
			}
		})
	}
}

// TestTronRequest signs a transaction and a message of a tron-sign-request.
func TestTronRequest(t *testing.T) {
	t.Parallel()
	secret, err := crypto.HexToECDSA(clitest.Secret)
	testenv.Must(t, err)
	public, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, crypto.CompressPubkey(&secret.PublicKey))
	testenv.Must(t, err)
	unsigned := tronSample.Unsigned(public)
	raw := testenv.Hex(t, unsigned)
	address := common.HexToAddress(clitest.Address).Bytes()
	request := ur.TronSignRequest{ID: bytes.Repeat([]byte{7}, 16), Data: raw, Kind: 1, Address: append([]byte{sign.TronVersion}, address...)}
	stdout, stderr, status := scanned(t, request.Message(), "y\n")
	if status != console.ExitSuccess {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	digest := sha256.Sum256(raw)
	isRecovered(t, digest[:], signatureIn(t, stdout, ur.TypeTronSignature, 65))
	request.Data, request.Kind, request.Address = []byte("hello"), 2, address
	stdout, stderr, status = scanned(t, request.Message(), "y\n", "--allow", "message/free-text")
	if status != console.ExitSuccess || !strings.Contains(stderr, "hello") {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	isRecovered(t, crypto.Keccak256(personal.Preimage(personal.TronPrefix, []byte("hello"))), signatureIn(t, stdout, ur.TypeTronSignature, 65))
}

// offchain returns an off-chain message of Solana, version 0, for a signer.
func offchain(signer []byte, text string) []byte {
	message := slices.Concat([]byte("\xffsolana offchain\x00"), make([]byte, 32), []byte{0, 1}, signer)
	return append(binary.LittleEndian.AppendUint16(message, uint16(len(text))), text...)
}

// TestSolMessageRequest signs an off-chain message, and plain text if its hazard is
// allowed, whatever kind of data the request claims to have.
func TestSolMessageRequest(t *testing.T) {
	t.Parallel()
	public := ed25519.NewKeyFromSeed(testenv.Hex(t, clitest.Seed)).Public().(ed25519.PublicKey)
	for name, c := range map[string]struct {
		data []byte
		args []string
	}{
		"off-chain": {offchain(public, "hello"), []string{"--allow", "message/free-text"}},
		"text":      {[]byte("hello"), []string{"--allow", "all"}},
	} {
		for kind := range 3 {
			t.Run(fmt.Sprintf("%s, kind %d", name, kind), func(t *testing.T) {
				request := ur.SolSignRequest{ID: bytes.Repeat([]byte{7}, 16), Data: c.data, Address: ur.Bytes(public), Kind: kind}
				stdout, stderr, status := scanned(t, request.Message(), "y\n", c.args...)
				if status != console.ExitSuccess || !strings.Contains(stderr, "hello") {
					t.Fatalf("exit status %d: %s", status, stderr)
				}
				if !ed25519.Verify(public, c.data, signatureIn(t, stdout, ur.TypeSolSignature, 64)) {
					t.Error("the signature is not of the message")
				}
			})
		}
	}
}

// TestMessageRequestRefused: messages for another key, messages that are not what the
// request claims, and unreadable messages are refused.
func TestMessageRequestRefused(t *testing.T) {
	t.Parallel()
	public := ed25519.NewKeyFromSeed(testenv.Hex(t, clitest.Seed)).Public().(ed25519.PublicKey)
	stranger := bytes.Repeat([]byte{9}, 32)
	eth := func(kind int, data string, change func(*ur.EthSignRequest)) ur.Message {
		request := ethMessage(t, kind, data)
		if change != nil {
			change(&request)
		}
		return request.Message()
	}
	strangersEth := func(r *ur.EthSignRequest) { r.Address = stranger[:20] }
	sol := func(data, address []byte) ur.Message {
		return ur.SolSignRequest{ID: bytes.Repeat([]byte{7}, 16), Data: data, Address: address, Kind: 2}.Message()
	}
	tron := func(kind int, address []byte) ur.Message {
		return ur.TronSignRequest{ID: bytes.Repeat([]byte{7}, 16), Data: []byte("hello"), Kind: kind, Address: address}.Message()
	}
	s := clitest.NewSession(t) // refusals leave it unchanged
	for name, c := range map[string]struct {
		message ur.Message
		args    []string
		want    string
	}{
		"typed data for a stranger":                   {eth(ur.EthTyped, typedText, strangersEth), nil, "typed data (EIP-712): could not find any resource to sign with"},
		"personal message for a stranger":             {eth(ur.EthPersonal, "hello", strangersEth), nil, "personal message (EIP-191): could not find any resource to sign with"},
		"personal message, and another key":           {eth(ur.EthPersonal, "hello", nil), []string{"--sign-with", clitest.SeedID}, "the request is for the key " + clitest.Address},
		"typed data whose hazard is not allowed":      {eth(ur.EthTyped, typedText, nil), nil, "eip712/unknown-type"},
		"typed data of another chain":                 {eth(ur.EthTyped, typedText, func(r *ur.EthSignRequest) { r.ChainID = 10 }), []string{"--allow", "all"}, "the request names chain 10, and the domain chain 1"},
		"typed data that is text":                     {eth(ur.EthTyped, "hello", nil), nil, "typed data (EIP-712): eip712: "},
		"typed data that is other JSON":               {eth(ur.EthTyped, `{"to":"me"}`, nil), nil, "typed data (EIP-712): eip712: "},
		"typed data that is a transaction":            {eth(ur.EthTyped, string(testenv.Hex(t, clitest.Unsigned)), nil), nil, "typed data (EIP-712): eip712: "},
		"typed data that is a digest":                 {eth(ur.EthTyped, string(typedDigest(t, typedText)), nil), nil, "typed data (EIP-712): eip712: "},
		"personal message that is a transaction":      {eth(ur.EthPersonal, string(testenv.Hex(t, clitest.Unsigned)), nil), nil, "personal message (EIP-191): "},
		"transaction that is typed data":              {eth(ur.EthTx, typedText, nil), nil, "ethereum"},
		"--yes":                                       {eth(ur.EthPersonal, "Approve Portals sign-in", nil), []string{"--yes"}, "only a person at the terminal can confirm it"},
		"off-chain message that names a stranger":     {sol(offchain(stranger, "hello"), public), nil, "the message names other signers"},
		"off-chain message for a stranger":            {sol(offchain(stranger, "hello"), stranger), nil, "sol-sign-request of a message: could not find any resource to sign with"},
		"text of Solana without its hazard's consent": {sol([]byte("hello"), public), nil, "The text is \"hello\""},
		"hash for Solana":                             {sol(typedDigest(t, typedText), public), nil, "neither a transaction nor the message of one"},
		"typed data of Tron":                          {tron(3, nil), []string{"--sign-with", clitest.KeyID}, "tron-sign-request of unknown kind 3"},
		"message of Tron for a stranger":              {tron(2, stranger[:20]), nil, "tron-sign-request of a message: could not find any resource to sign with"},
		"message of Tron with half an address":        {tron(2, stranger[:10]), nil, "the address is neither 20 or 21 bytes nor Base58Check"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := s.Scanned(strings.ToUpper(c.message.String()), "", c.args...)
			if status == console.ExitSuccess || stdout != "" || !strings.Contains(stderr, c.want) {
				t.Errorf("exit status %d, %q, %s", status, stdout, stderr)
			}
		})
	}
}
