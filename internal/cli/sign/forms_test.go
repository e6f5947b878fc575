package sign_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/btcsuite/btcd/address/v2/base58"
	solanago "github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// formsKey is the seed of a Solana key, and formsSigner its address.
var formsKey = ed25519.NewKeyFromSeed([]byte(strings.Repeat("\x11", 32)))

const formsSigner = "F25s3DdjXdCxYBhh2z8FBusVEMT4b9bGNFVKJi3wFoF4"

// formsSession returns a session with the Solana key, and the flags that name it.
func formsSession(t *testing.T) (*clitest.Session, []string) {
	t.Helper()
	s := clitest.NewSession(t)
	s.Must([]byte(strings.Repeat("11", 32)), "keys", "import", "--curve", "CURVE_ED25519", "--yes")
	return s, []string{"--sign-with", formsSigner, "--yes"}
}

// solanaTransfer returns a transfer as solana-go builds it.
func solanaTransfer(t *testing.T) *solanago.Transaction {
	t.Helper()
	from := solanago.MustPublicKeyFromBase58(formsSigner)
	tx, err := solanago.NewTransaction([]solanago.Instruction{
		system.NewTransferInstruction(10_000, from, solanago.MustPublicKeyFromBase58("tkhqC9QX2gkqJtUFk2QKhBmQfFyyqZXSpr73VFRi35C")).Build(),
	}, solanago.MustHashFromBase58("GZSq3KvoFVhE22CQsaWSAxBoAvRiZSs7xVNa6yPecMUu"), solanago.TransactionPayer(from))
	testenv.Must(t, err)
	tx.Signatures = []solanago.Signature{{}}
	return tx
}

// TestSolanaForms signs, inspects and asks for one transaction in every form. The answer
// of sign comes in the same form.
func TestSolanaForms(t *testing.T) {
	t.Parallel()
	s, key := formsSession(t)
	tx := solanaTransfer(t)
	whole, err := tx.MarshalBinary()
	testenv.Must(t, err)
	message, err := tx.Message.MarshalBinary()
	testenv.Must(t, err)
	signature := ed25519.Sign(formsKey, message)
	signed := slices.Concat([]byte{1}, signature, message)
	pair := formsSigner + "=" + base58.Encode(signature) + "\n"
	std, url := base64.StdEncoding, base64.RawURLEncoding
	for name, form := range map[string]struct{ in, out string }{
		"hex":                  {hex.EncodeToString(whole), hex.EncodeToString(signed) + "\n"},
		"base64":               {std.EncodeToString(whole), std.EncodeToString(signed) + "\n"},
		"base64url":            {url.EncodeToString(whole), url.EncodeToString(signed) + "\n"},
		"base58":               {base58.Encode(whole), base58.Encode(signed) + "\n"},
		"message in hex":       {hex.EncodeToString(message), pair},
		"message in base64":    {std.EncodeToString(message), pair},
		"message in base58":    {base58.Encode(message), pair},
		"with byte order mark": {"\ufeff" + std.EncodeToString(whole), std.EncodeToString(signed) + "\n"},
		"UTF-16":               {inUTF16(std.EncodeToString(message)), pair},
		"quoted":               {`"` + std.EncodeToString(whole) + `"` + "\n", std.EncodeToString(signed) + "\n"},
	} {
		for _, kind := range [][]string{{"--type", "solana"}, nil} {
			if got := s.Must([]byte(form.in), slices.Concat([]string{"sign"}, key, kind)...); string(got) != form.out {
				t.Errorf("%s %v: %s, want %s", name, kind, got, form.out)
			}
		}
		if got := s.Must([]byte(form.in), "inspect", "--type", "solana"); !strings.Contains(string(got), "send 0.00001 SOL") {
			t.Errorf("%s: inspect: %s", name, got)
		}
		request := s.Must([]byte(form.in), "request", "--type", "solana", "--sign-with", formsSigner, "--org", "default")
		if !strings.Contains(string(request), hex.EncodeToString(whole)) {
			t.Errorf("%s: request: %s", name, request)
		}
	}
}

// inUTF16 returns a text as PowerShell's > writes it.
func inUTF16(text string) string {
	out := []byte("\xff\xfe")
	for _, unit := range utf16.Encode([]rune(text + "\r\n")) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

// TestSolanaOfflineLoop takes the steps of docs/airgap.md in the forms of the solana
// command: it prints base64 of the message, and takes PUBKEY=SIGNATURE, which it parses as
// a base58 key of 32 bytes and a base58 signature of 64, and verifies over the message.
func TestSolanaOfflineLoop(t *testing.T) {
	t.Parallel()
	s, key := formsSession(t)
	tx := solanaTransfer(t)
	message, err := tx.Message.MarshalBinary()
	testenv.Must(t, err)
	answer := s.Must([]byte(base64.StdEncoding.EncodeToString(message)+"\n"), slices.Concat([]string{"sign", "--type", "solana"}, key)...)
	pubkey, encoded, ok := strings.Cut(strings.TrimSuffix(string(answer), "\n"), "=")
	signer, err := solanago.PublicKeyFromBase58(pubkey)
	if err != nil || !ok || signer != tx.Message.AccountKeys[0] {
		t.Fatalf("%s: %v", answer, err)
	}
	if tx.Signatures[0], err = solanago.SignatureFromBase58(encoded); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if err := tx.VerifySignatures(); err != nil {
		t.Errorf("%s: %v", answer, err)
	}
	document := testenv.Read(t, filepath.Join(testenv.Root(), "docs", "airgap.md"))
	for _, flag := range []string{"--sign-only", "--dump-transaction-message", "--signer"} {
		if !strings.Contains(string(document), flag) {
			t.Errorf("docs/airgap.md does not say %s", flag)
		}
	}
}

// TestFormRefusals: errors say which forms are taken.
func TestFormRefusals(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	for _, c := range []struct{ kind, input, want string }{
		{"solana", "AQ==", "read as base64: neither a transaction nor the message of one"},
		{"solana", "{}", "expected a transaction, or the message of one, in hex, base64 or base58"},
		{"bitcoin", "AQIDBA==", "expected a PSBT in hex, base64 or binary"},
		{"bitcoin", "cHNidP8B!", "expected a PSBT in hex, base64 or binary"},
		{"ethereum", base64.StdEncoding.EncodeToString([]byte("\x02\xf8\x6b and more that is not hex")), "this looks like base64; ethereum expects hex"},
	} {
		_, stderr, status := s.Run([]byte(c.input), "inspect", "--type", c.kind)
		if status != 1 || !strings.Contains(string(stderr), c.want) {
			t.Errorf("%s %q: status %d, %s, want %s", c.kind, c.input, status, stderr, c.want)
		}
	}
}

// TestMessagesKeepTheirBytes: a text in another encoding is refused where the bytes are
// what is signed, and a message of Solana is decoded only as --encoding says.
func TestMessagesKeepTheirBytes(t *testing.T) {
	t.Parallel()
	s, key := formsSession(t)
	offchain := []byte("\xffsolana offchain\x00\x00\x17\x00Approve Portals sign-in")
	for _, kind := range []string{"personal", "tron", "eip712", "delegation", "solana"} {
		for _, text := range []string{"\ufeffhello", inUTF16("hello")} {
			_, stderr, status := s.Run([]byte(text), "inspect", "--message", kind)
			if status != 1 || !strings.Contains(string(stderr), "save it as UTF-8 without a byte order mark") {
				t.Errorf("%s %q: status %d, %s", kind, text, status, stderr)
			}
		}
	}
	want := fmt.Sprintf(`"signature":"%s"`, base58.Encode(ed25519.Sign(formsKey, offchain)))
	for encoding, text := range map[string]string{"": hex.EncodeToString(offchain), "hex": hex.EncodeToString(offchain),
		"base64": base64.StdEncoding.EncodeToString(offchain), "base58": base58.Encode(offchain)} {
		got := s.Must([]byte(text), slices.Concat([]string{"sign", "--message", "solana", "--encoding", encoding}, key)...)
		if !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, want %s", encoding, got, want)
		}
	}
	for encoding, text := range map[string]string{"": base64.StdEncoding.EncodeToString(offchain), "base64": base64.RawStdEncoding.EncodeToString(offchain), "base58": "0OIl"} {
		_, stderr, status := s.Run([]byte(text), "inspect", "--message", "solana", "--encoding", encoding)
		if status != 1 || !strings.Contains(string(stderr), "message: ") {
			t.Errorf("%s: status %d, %s", encoding, status, stderr)
		}
	}
	for text, want := range map[string]string{`"hello"`: "the quotation marks are signed", "0x68656c6c6f": "and not the bytes", "hello\n": "the line end is signed", "hello": ""} {
		_, stderr, status := s.Run([]byte(text), "inspect", "--message", "personal")
		if status != 0 || !strings.Contains(string(stderr), want) || want == "" && strings.Contains(string(stderr), "Note") {
			t.Errorf("%q: status %d, %s, want %s", text, status, stderr, want)
		}
	}
}
