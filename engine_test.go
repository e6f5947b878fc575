package countersign_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/messages"
)

const (
	org      = "org"
	otherOrg = "other org"

	// The key of the vectors (chains/ethereum/testdata), a transfer from it, and a
	// legacy transfer without a chain id.
	vectorSecret   = "e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca"
	vectorAddr     = "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"
	transfer       = "02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0"
	signed         = "02f86a0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c001a04d4e7d89896385d9c45261ca8abf4d033f1a15b5e0164a5cc20baa16424d77429fd5199e526182f00ee7273a2ad38ea39e7c5235d297fa008931138cf04fde55"
	tronAddr       = "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn" // of the same key
	tronTransfer   = "0a020a1b2208112233445566778840e0c4d086a6375a65080112610a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e747261637412300a154197cc56300c36f60c7fb7c50babc6c5cdf59d5c56121541f1cd33c4802dec54475c555f95e9403a62fd355318647080f0cc86a637"
	solanaTransfer = "0100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000010001038de13c3d193b88c851e1a881ef1b2c61662562edcf3b7b6bd5838ca14218e29c0d42099a5e0aaeaad1d4ede263662787cb3f6291a6ede340c4aa7ca26249dbe30000000000000000000000000000000000000000000000000000000000000000e72f180aa543b76ce7fc9df601979eeb487f76ae15b568e9877b1c4cb8e9bd2a01020200010c020000001027000000000000"
	legacy         = "e1078504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80"
)

// newEngine returns an engine whose organization org has the vectors' key under the id
// "vector key", and an Ed25519 key "ed key".
func newEngine(t testing.TB, config countersign.Config) (*countersign.Engine, *memory.Store) {
	t.Helper()
	keys := memory.New()
	secret := testenv.Hex(t, vectorSecret)
	for _, key := range []keystore.NewKey{
		{ID: "vector key", Curve: keystore.CurveSecp256k1, Secret: secret},
		{ID: "ed key", Curve: keystore.CurveEd25519, Secret: secret},
	} {
		if _, err := keys.Add(t.Context(), org, key); err != nil {
			t.Fatal(err)
		}
	}
	if config.Keystore == nil {
		config.Keystore = keys
	}
	if config.Chains == nil {
		config.Chains, config.Operations = all.Chains(all.Limits{}), messages.Operations(all.Chains(all.Limits{})...)
	}
	engine, err := countersign.New(config)
	testenv.Must(t, err)
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine, keys
}

func ethereumIntent(signWith, unsigned string) activity.SignTransactionIntent {
	return activity.SignTransactionIntent{SignWith: signWith, Type: activity.TransactionTypeEthereum, UnsignedTransaction: unsigned}
}

func tronIntent(signWith string) activity.SignTransactionIntent {
	return activity.SignTransactionIntent{SignWith: signWith, Type: activity.TransactionTypeTron, UnsignedTransaction: tronTransfer}
}

// TestSignTransactionVectors signs every vector by address and by key id.
func TestSignTransactionVectors(t *testing.T) {
	engine, _ := newEngine(t, countersign.Config{AllowHazards: []string{ethereum.HazardNoChainID, ethereum.HazardDelegation, "ethereum/blind-call"}})
	files, err := filepath.Glob("chains/ethereum/testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		var vector struct{ Address, UnsignedTransaction, SignedTransaction string }
		text := testenv.Read(t, file)
		testenv.JSON(t, text, &vector)
		if vector.SignedTransaction == "" {
			continue // not a vector, such as a golden file
		}
		for _, signWith := range []string{vector.Address, strings.ToLower(vector.Address), "vector key"} {
			result, err := engine.SignTransaction(t.Context(), org, ethereumIntent(signWith, vector.UnsignedTransaction))
			if err != nil || result.SignedTransaction != vector.SignedTransaction {
				t.Errorf("%s with %s: %v, %v", file, signWith, result, err)
			}
		}
	}
}

// TestSignTransactionHexForms checks that every way to write the hex gives the same
// signed bytes.
func TestSignTransactionHexForms(t *testing.T) {
	engine, _ := newEngine(t, countersign.Config{})
	for _, form := range []string{transfer, "0x" + transfer, "0X" + transfer, strings.ToUpper(transfer), "0x" + strings.ToUpper(transfer)} {
		result, err := engine.SignTransaction(t.Context(), org, ethereumIntent(vectorAddr, form))
		if err != nil || result.SignedTransaction != signed {
			t.Errorf("%s: %v, %v", form, result, err)
		}
	}
}

// refusals has each way in which SignTransaction refuses before it signs, with the whole
// message.
var refusals = []struct {
	name     string
	org      string
	intent   activity.SignTransactionIntent
	reason   activity.Reason
	code     activity.Code
	field    string
	message  string
	sentinel error
}{
	{"unknown key", org, ethereumIntent("nobody", transfer), activity.ReasonNotFound, 5, "signWith",
		`could not find any resource to sign with: organization "org" has no key "nobody": use an address that one of its keys has on this chain, or the id of a key or wallet`, keystore.ErrKeyNotFound},
	{"unknown address", org, ethereumIntent("0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", transfer), activity.ReasonNotFound, 5, "signWith",
		`could not find any resource to sign with: organization "org" has no key "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7": use an address that one of its keys has on this chain, or the id of a key or wallet`, keystore.ErrKeyNotFound},
	{"key of another organization", otherOrg, ethereumIntent(vectorAddr, transfer), activity.ReasonNotFound, 5, "signWith",
		`could not find any resource to sign with: organization "other org" has no key "` + vectorAddr + `": use an address that one of its keys has on this chain, or the id of a key or wallet`, keystore.ErrKeyNotFound},
	{"key id of another organization", otherOrg, ethereumIntent("vector key", transfer), activity.ReasonNotFound, 5, "signWith",
		`could not find any resource to sign with: organization "other org" has no key "vector key": use an address that one of its keys has on this chain, or the id of a key or wallet`, keystore.ErrKeyNotFound},
	{"no organization", "", ethereumIntent("vector key", transfer), activity.ReasonNotFound, 5, "signWith",
		`could not find any resource to sign with: organization "" has no key "vector key": use an address that one of its keys has on this chain, or the id of a key or wallet`, keystore.ErrKeyNotFound},
	{"signWith empty", org, ethereumIntent("", transfer), activity.ReasonRequestInvalid, 3, "signWith",
		"signWith is empty: expected an address of the key, or its id", nil},
	{"wrong checksum", org, ethereumIntent("0x97Cc56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", transfer), activity.ReasonRequestInvalid, 3, "signWith",
		"ethereum: signWith: the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped", chains.ErrSignWith},
	{"wrong checksum of an address that no key has", org, ethereumIntent("0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c57", transfer), activity.ReasonRequestInvalid, 3, "signWith",
		"ethereum: signWith: the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped", chains.ErrSignWith},
	{"wrong checksum on Tron", org, tronIntent(tronAddr[:33] + "Q"), activity.ReasonRequestInvalid, 3, "signWith",
		"tron: signWith: the checksum of " + tronAddr[:33] + "Q is wrong: it has been mistyped or cut off", chains.ErrSignWith},
	{"wrong checksum on Tron of an address that no key has", org, tronIntent("TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HD"), activity.ReasonRequestInvalid, 3, "signWith",
		"tron: signWith: the checksum of TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HD is wrong: it has been mistyped or cut off", chains.ErrSignWith},
	{"another chain's address on Solana", org, activity.SignTransactionIntent{SignWith: vectorAddr, Type: activity.TransactionTypeSolana, UnsignedTransaction: solanaTransfer}, activity.ReasonRequestInvalid, 3, "signWith",
		"solana: signWith: this looks like an address of another chain: Solana's are base58 without a prefix", chains.ErrSignWith},
	{"short address", org, ethereumIntent("0x97", transfer), activity.ReasonRequestInvalid, 3, "signWith",
		"ethereum: signWith: an address has 40 hex digits after 0x, this one 2", chains.ErrSignWith},
	{"Ed25519 key", org, ethereumIntent("ed key", transfer), activity.ReasonRequestInvalid, 3, "signWith",
		"keystore: unsupported by this key: key ed key (CURVE_ED25519) cannot make ECDSA signatures on secp256k1", keystore.ErrUnsupported},

	{"malformed", org, ethereumIntent(vectorAddr, "02c0"), activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"ethereum: at byte 2: 0 items: a transaction of type 2 has 9 before it is signed", chains.ErrMalformed},
	{"malformed field", org, ethereumIntent(vectorAddr, strings.Replace(transfer, "e80107", "e80100", 1)), activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"ethereum: field 2 (nonce) at byte 3: integer has a leading zero", chains.ErrMalformed},
	{"signed already", org, ethereumIntent(vectorAddr, signed), activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"ethereum: field 10 (yParity) at byte 43: is not empty: this transaction is signed already", chains.ErrMalformed},
	{"malformed comes before an unknown key", org, ethereumIntent("nobody", "02c0"), activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"ethereum: at byte 2: 0 items: a transaction of type 2 has 9 before it is signed", chains.ErrMalformed},
	{"unsupported Ethereum type", org, ethereumIntent(vectorAddr, "05"+transfer[2:]), activity.ReasonUnsupportedTransactionType, 3, "unsignedTransaction",
		"ethereum: type at byte 0: type 0x05 is unknown: legacy and types 1 to 4 are supported", chains.ErrUnsupported},

	{"empty", org, ethereumIntent(vectorAddr, ""), activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"unsignedTransaction: empty; ethereum expects hex of the raw unsigned transaction in RLP", chains.ErrMalformed},
	{"0x alone", org, ethereumIntent(vectorAddr, "0x"), activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"unsignedTransaction: empty; ethereum expects hex of the raw unsigned transaction in RLP", chains.ErrMalformed},
	{"base64", org, ethereumIntent(vectorAddr, base64.StdEncoding.EncodeToString([]byte(transfer))), activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"unsignedTransaction: this looks like base64; ethereum expects hex of the raw unsigned transaction in RLP", chains.ErrMalformed},
	{"JSON", org, ethereumIntent(vectorAddr, `{"to":"0x00"}`), activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"unsignedTransaction: this looks like JSON; ethereum expects hex of the raw unsigned transaction in RLP", chains.ErrMalformed},
	{"white space", org, ethereumIntent(vectorAddr, transfer+"\n"), activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"unsignedTransaction: white space around the hex: remove it; ethereum expects hex of the raw unsigned transaction in RLP", chains.ErrMalformed},
	{"odd", org, ethereumIntent(vectorAddr, transfer[1:]), activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"unsignedTransaction: odd number of hex digits (83): the text is cut off or a digit is missing; ethereum expects hex of the raw unsigned transaction in RLP", chains.ErrMalformed},
	{"not hex", org, ethereumIntent(vectorAddr, "0x02#c"), activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"unsignedTransaction: character '#' at position 4 is not a hex digit; ethereum expects hex of the raw unsigned transaction in RLP", chains.ErrMalformed},

	{"hazard", org, ethereumIntent(vectorAddr, legacy), activity.ReasonHazardNotAllowed, 7, "unsignedTransaction",
		"the transaction is well-formed but hazardous: ethereum/no-chain-id (the transaction names no chain: once signed, it can be sent on every chain on which the account has funds); to sign it all the same, allow ethereum/no-chain-id by name", nil},
	{"two hazards", org, ethereumIntent(vectorAddr, "c6808080808080"), activity.ReasonHazardNotAllowed, 7, "unsignedTransaction",
		"the transaction is well-formed but hazardous: ethereum/no-chain-id (the transaction names no chain: once signed, it can be sent on every chain on which the account has funds); ethereum/empty-creation (there is no recipient and no code: it would create an empty contract, and its value would be lost); to sign it all the same, allow ethereum/no-chain-id, ethereum/empty-creation by name", nil},
}

func TestSignTransactionRefusals(t *testing.T) {
	engine, _ := newEngine(t, countersign.Config{})
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			result, err := engine.SignTransaction(t.Context(), c.org, c.intent)
			checkError(t, err, c.reason, c.code, c.field, c.message)
			if c.sentinel != nil && !errors.Is(err, c.sentinel) {
				t.Errorf("errors.Is does not find %v", c.sentinel)
			}
			if result.SignedTransaction != "" {
				t.Errorf("there is a result: %s", result.SignedTransaction)
			}
			if _, err := engine.Prepare(t.Context(), c.org, c.intent); err == nil || err.Error() != c.message {
				t.Errorf("PrepareTransaction: %v", err)
			}
		})
	}
}

// TestNotASigner checks a transaction that has no place for the signature of the
// organization's key.
func TestNotASigner(t *testing.T) {
	engine, _ := newEngine(t, countersign.Config{})
	unsigned := "01" + strings.Repeat("00", 64) + // one empty slot
		"01000102" + strings.Repeat("11", 32) + strings.Repeat("22", 32) + // the signer, and a program
		strings.Repeat("33", 32) + "01010000" // blockhash, and a call without accounts and data
	result, err := engine.SignTransaction(t.Context(), org, activity.SignTransactionIntent{
		SignWith: "ed key", Type: activity.TransactionTypeSolana, UnsignedTransaction: unsigned,
	})
	refused := enginetest.Refusal(t, err, activity.ReasonNotFound, "solana: signWith: ")
	if refused.Field != "signWith" || !errors.Is(err, chains.ErrNotSigner) || result.SignedTransaction != "" {
		t.Errorf("%q, %v, %s", refused.Field, err, result.SignedTransaction)
	}
}

// checkError checks everything about an error except its cause.
func checkError(t *testing.T, err error, reason activity.Reason, code activity.Code, field, message string) {
	t.Helper()
	refused, ok := errors.AsType[*activity.Error](err)
	switch {
	case !ok:
		t.Fatalf("%v (%T) is no *activity.Error", err, err)
	case refused.Reason != reason || refused.Code != code || refused.Field != field:
		t.Errorf("%s, code %d, field %q; want %s, %d, %q", refused.Reason, refused.Code, refused.Field, reason, code, field)
	case refused.Message != message:
		t.Errorf("\n got %s\nwant %s", refused.Message, message)
	}
}

// TestSignTransactionUnknownType checks that the error names the supported types.
func TestSignTransactionUnknownType(t *testing.T) {
	engine, _ := newEngine(t, countersign.Config{})
	for _, kind := range []activity.TransactionType{"", "TRANSACTION_TYPE_DOGECOIN", "transaction_type_ethereum"} {
		intent := activity.SignTransactionIntent{SignWith: vectorAddr, Type: kind, UnsignedTransaction: transfer}
		_, err := engine.SignTransaction(t.Context(), org, intent)
		refused, ok := errors.AsType[*activity.Error](err)
		if !ok || refused.Reason != activity.ReasonUnsupportedTransactionType || refused.Field != "type" || !errors.Is(err, chains.ErrUnsupported) {
			t.Fatalf("%q: %v", kind, err)
		}
		for _, known := range all.TransactionTypes() {
			if !strings.Contains(err.Error(), string(known)) {
				t.Errorf("%q: %v does not name %s", kind, err, known)
			}
		}
	}
}

// TestErrorsTruncateQuotes checks that an error does not repeat megabytes of a caller's
// text.
func TestErrorsTruncateQuotes(t *testing.T) {
	engine, _ := newEngine(t, countersign.Config{})
	long := strings.Repeat("\x00", 1<<20)
	for name, err := range map[string]error{
		"signWith":            signError(t, engine, org, ethereumIntent(long, transfer)),
		"address":             signError(t, engine, org, ethereumIntent("0x"+long, transfer)),
		"organization":        signError(t, engine, long, ethereumIntent(vectorAddr, transfer)),
		"type":                signError(t, engine, org, activity.SignTransactionIntent{Type: activity.TransactionType(long)}),
		"unsignedTransaction": signError(t, engine, org, ethereumIntent(vectorAddr, long)),
	} {
		if size := len(err.Error()); size > 1000 {
			t.Errorf("%s: an error of %d bytes", name, size)
		}
	}
}

func signError(t *testing.T, engine *countersign.Engine, organization string, intent activity.SignTransactionIntent) error {
	t.Helper()
	_, err := engine.SignTransaction(t.Context(), organization, intent)
	if err == nil {
		t.Fatal("signed")
	}
	return err
}

// TestAllowHazards allows hazards by name, and all of them, and checks that no other
// hazard is signed.
func TestAllowHazards(t *testing.T) {
	creation := ethereumIntent(vectorAddr, "c6808080808080") // two hazards
	for _, c := range []struct {
		allow   []string
		refused string // in the message; empty: signed
	}{
		{nil, "allow ethereum/no-chain-id, ethereum/empty-creation by name"},
		{[]string{ethereum.HazardNoChainID}, "allow ethereum/empty-creation by name"},
		{[]string{ethereum.HazardEmptyCreation}, "allow ethereum/no-chain-id by name"},
		{[]string{ethereum.HazardGasOverCap, ethereum.HazardOversize}, "allow ethereum/no-chain-id, ethereum/empty-creation by name"},
		{[]string{ethereum.HazardNoChainID, ethereum.HazardEmptyCreation}, ""},
		{[]string{countersign.AllHazards}, ""},
	} {
		engine, _ := newEngine(t, countersign.Config{AllowHazards: c.allow})
		result, err := engine.SignTransaction(t.Context(), org, creation)
		switch {
		case c.refused == "" && (err != nil || result.SignedTransaction == ""):
			t.Errorf("%v: %v", c.allow, err)
		case c.refused != "" && (err == nil || !strings.HasSuffix(err.Error(), c.refused) || result.SignedTransaction != ""):
			t.Errorf("%v: %v, want …%s", c.allow, err, c.refused)
		}
	}
}

// TestAllHazardsRefusesMalformed checks that a malformed transaction cannot be allowed.
func TestAllHazardsRefusesMalformed(t *testing.T) {
	engine, _ := newEngine(t, countersign.Config{AllowHazards: []string{countersign.AllHazards}})
	_, err := engine.SignTransaction(t.Context(), org, ethereumIntent(vectorAddr, transfer+"00"))
	checkError(t, err, activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"ethereum: at byte 42: 1 byte trailing after the list of fields")
}

func TestNewRefuses(t *testing.T) {
	if _, err := countersign.New(countersign.Config{}); err == nil || !strings.Contains(err.Error(), "Config.Keystore is missing") {
		t.Errorf("no keystore: %v", err)
	}
	config := countersign.Config{
		Keystore: memory.New(), Chains: all.Chains(all.Limits{}), Operations: messages.Operations(all.Chains(all.Limits{})...),
		AllowHazards: []string{ethereum.HazardNoChainID, "ethereum/no-such"},
	}
	_, err := countersign.New(config)
	if err == nil || !strings.Contains(err.Error(), `unknown hazard "ethereum/no-such"`) {
		t.Fatalf("unknown hazard: %v", err)
	}
	for _, name := range append(all.HazardNames(), countersign.AllHazards) {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

// TestChains checks that the list of chains is copied, and that an engine without chains, or
// with a nil one, is refused.
func TestChains(t *testing.T) {
	chosen := all.Chains(all.Limits{})
	copied, _ := newEngine(t, countersign.Config{Chains: chosen})
	clear(chosen)
	if _, err := copied.SignTransaction(t.Context(), org, ethereumIntent(vectorAddr, transfer)); err != nil {
		t.Error(err)
	}
	for _, none := range [][]chains.Chain{nil, {}} {
		if _, err := countersign.New(countersign.Config{Keystore: memory.New(), Chains: none}); err == nil || !strings.Contains(err.Error(), "Config.Chains is missing") {
			t.Errorf("no chains: %v", err)
		}
	}
	if _, err := countersign.New(countersign.Config{Keystore: memory.New(), Chains: chosen}); err == nil || !strings.Contains(err.Error(), "Config.Chains: chain 0 is nil") {
		t.Errorf("a nil chain: %v", err)
	}
}

// TestIntentsOfOtherTypes checks that intents that sign nothing are refused, and so is a
// pointer, which is of another type than its value.
func TestIntentsOfOtherTypes(t *testing.T) {
	engine, _ := newEngine(t, countersign.Config{})
	for _, intent := range []activity.Intent{nil, activity.VoteIntent{}, &activity.SignRawPayloadIntent{}} {
		_, err := engine.Prepare(t.Context(), org, intent)
		if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != activity.ReasonRequestInvalid || refused.Field != "type" {
			t.Errorf("%T: %v", intent, err)
		}
		_, err = all.InspectIntent(intent, all.Limits{})
		checkError(t, err, activity.ReasonRequestInvalid, 3, "type", fmt.Sprintf("%T asks for no signature", intent))
	}
}

// TestAllowHazardsIsCopied checks that changing the slice later allows nothing.
func TestAllowHazardsIsCopied(t *testing.T) {
	allow := []string{ethereum.HazardGasOverCap}
	engine, _ := newEngine(t, countersign.Config{AllowHazards: allow})
	allow[0] = ethereum.HazardNoChainID
	if _, err := engine.SignTransaction(t.Context(), org, ethereumIntent(vectorAddr, legacy)); err == nil {
		t.Error("signed what was not allowed when the engine was made")
	}
}

func TestCancelledContext(t *testing.T) {
	engine, _ := newEngine(t, countersign.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	prepared, err := engine.Prepare(ctx, org, ethereumIntent(vectorAddr, transfer))
	testenv.Must(t, err)
	cancel()
	const message = "the request ended before the key signed: context canceled"
	_, err = engine.SignTransaction(ctx, org, ethereumIntent(vectorAddr, transfer))
	checkError(t, err, activity.ReasonUnavailable, 14, "", message)
	_, err = prepared.Sign(ctx)
	checkError(t, err, activity.ReasonUnavailable, 14, "", message)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("errors.Is does not find context.Canceled in %v", err)
	}
}

// TestSignAfterClose checks that nothing is signed after Close, not even a transaction
// that was prepared before.
func TestSignAfterClose(t *testing.T) {
	engine, _ := newEngine(t, countersign.Config{})
	prepared, err := engine.Prepare(t.Context(), org, ethereumIntent(vectorAddr, transfer))
	testenv.Must(t, err)
	testenv.Must(t, engine.Close())
	const message = "the keystore is closed: the engine is shutting down"
	_, err = engine.SignTransaction(t.Context(), org, ethereumIntent(vectorAddr, transfer))
	checkError(t, err, activity.ReasonUnavailable, 14, "", message)
	_, err = prepared.Sign(t.Context())
	checkError(t, err, activity.ReasonUnavailable, 14, "", message)
}
