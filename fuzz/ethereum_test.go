package fuzz

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/gethoracle"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// ethereumSecret is the key of the vectors in chains/ethereum/testdata.
const ethereumSecret = "e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca"

// ethereumSeeds returns unsigned transactions of every type: those of the vectors,
// and generated ones.
func ethereumSeeds(f *testing.F) [][]byte {
	f.Helper()
	seeds := transactionsOf(f, "ethereum")
	random := rand.New(rand.NewPCG(12, 13))
	for number := range 6 * gethoracle.Kinds {
		seeds = append(seeds, gethoracle.Generate(random, number%gethoracle.Kinds).Unsigned)
	}
	return append(seeds, networkForms(seeds)...)
}

// networkForms returns blob transactions in their network form, with a sidecar of
// empty strings: the reader gets as far as their lengths. Verifying proofs is too
// slow to fuzz; chains/ethereum tests it.
func networkForms(seeds [][]byte) [][]byte {
	empty := []byte{0xc1, 0x80}
	var forms [][]byte
	for _, seed := range seeds {
		if seed[0] != types.BlobTxType {
			continue
		}
		for _, version := range [][]byte{nil, {1}} {
			content := slices.Concat(seed[1:], version, empty, empty, empty)
			forms = append(forms, append([]byte{types.BlobTxType}, gethoracle.List(content)...))
		}
	}
	return forms
}

// ethereumKey returns a handle to the vectors' key, which checks what it signs.
func ethereumKey(f *testing.F) keystore.Key {
	f.Helper()
	return chaintest.Key(f, keystore.CurveSecp256k1, testenv.Hex(f, ethereumSecret))
}

// FuzzEthereumParse checks that the reader accepts what go-ethereum accepts, except
// for the differences that gethoracle lists, that it accepts only the canonical
// encoding, and that the signer can be recovered from what is signed.
func FuzzEthereumParse(f *testing.F) {
	for _, seed := range ethereumSeeds(f) {
		f.Add(seed)
	}
	key := ethereumKey(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		tx, err := ethereum.Chain{}.Parse(raw)
		if !networkForm(raw) {
			if refuses := gethoracle.Refuses(raw); (err == nil) != (refuses == nil) {
				t.Fatalf("%x: ours says %v, the oracle %v", raw, err, refuses)
			}
		}
		if err != nil {
			checkParseError(t, raw, err)
			return
		}
		showEverything(t, tx, key)
		signed, err := signed(t, tx, key, "")
		if err != nil {
			t.Fatalf("%x: %v", raw, err)
		}
		if !bytes.Equal(raw, before) {
			t.Fatalf("%x: the input was written to", before)
		}
		checkEthereumSigned(t, raw, signed, key)
	})
}

// FuzzEthereumSignWith checks that an address is what go-ethereum accepts as one,
// with the right checksum if it is in mixed case, and that the key signs only for its
// own address, and for any id.
func FuzzEthereumSignWith(f *testing.F) {
	for _, seed := range []string{"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", "0x97cc56300c36f60c7fb7c50babc6c5cdf59d5c56",
		"0X97CC56300C36F60C7FB7C50BABC6C5CDF59D5C56", "0x97Cc56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c5",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", "key", "0x", "0", ""} {
		f.Add(seed)
	}
	raw, key := ethereumSeeds(f)[0], ethereumKey(f)
	f.Fuzz(func(t *testing.T, signWith string) {
		tx, err := ethereum.Chain{}.Parse(raw)
		testenv.Must(t, err)
		address, isAddress, refused := ethereumOracle(signWith)
		checkSignWith(t, tx, key, signWith, address, isAddress, refused)
	})
}

// ethereumOracle says whether signWith is an address, an id, or a mistyped address.
func ethereumOracle(signWith string) (address [20]byte, isAddress, refused bool) {
	if !strings.HasPrefix(signWith, "0x") && !strings.HasPrefix(signWith, "0X") {
		return address, false, false
	}
	mixed, err := common.NewMixedcaseAddressFromString("0x" + signWith[2:])
	if err != nil {
		return address, false, true
	}
	digits := signWith[2:]
	oneCase := digits == strings.ToLower(digits) || digits == strings.ToUpper(digits)
	return mixed.Address(), true, !oneCase && !mixed.ValidChecksum()
}

// checkSignWith compares what a transaction says about a signWith with an oracle.
func checkSignWith(t *testing.T, tx chains.Transaction, key keystore.Key, signWith string, address [20]byte, isAddress, refused bool) {
	t.Helper()
	request, err := tx.Request(signWith)
	if (err != nil) != refused || refused && !errors.Is(err, chains.ErrSignWith) {
		t.Fatalf("%q: %v, the oracle refuses: %v", signWith, err, refused)
	}
	if refused {
		return
	}
	want := keystore.ByID(signWith)
	if isAddress {
		want = keystore.ByKeccak(address)
	}
	if at := request.Locators(); len(at) != 1 || at[0] != want {
		t.Fatalf("%q is looked for at %v, want %v", signWith, at, want)
	}
	_, err = request.With(key)
	if ours := !isAddress || address == key.PublicKey().KeccakAddress(); ours && err != nil || !ours && !errors.Is(err, chains.ErrNotSigner) {
		t.Fatalf("%q: %v", signWith, err)
	}
}

// signed signs a transaction.
func signed(t *testing.T, tx chains.Transaction, key keystore.Key, signWith string) ([]byte, error) {
	t.Helper()
	request, err := tx.Request(signWith)
	if err != nil {
		return nil, err
	}
	signing, err := request.With(key)
	if err != nil {
		return nil, err
	}
	return signing.AppendSigned(t.Context(), nil)
}

// networkForm reports whether raw is, or looks like, a blob transaction with a
// sidecar. Those have a target of their own.
func networkForm(raw []byte) bool {
	return len(raw) > 1 && raw[0] == types.BlobTxType && firstIsList(raw[1:])
}

func firstIsList(list []byte) bool {
	content, _, err := rlp.SplitList(list)
	return err == nil && len(content) > 0 && content[0] >= 0xc0
}

// checkParseError checks that an error is a *chains.ParseError with an offset inside
// the input.
func checkParseError(t *testing.T, raw []byte, err error) {
	t.Helper()
	parse, ok := errors.AsType[*chains.ParseError](err)
	if !ok || parse.Problem == "" || parse.Offset < 0 || parse.Offset > len(raw) {
		t.Fatalf("%x: %#v", raw, err)
	}
	if !errors.Is(err, chains.ErrMalformed) && !errors.Is(err, chains.ErrUnsupported) {
		t.Fatalf("%x: %v is of no kind", raw, err)
	}
}

// showEverything renders everything that is shown of a transaction, twice, and checks
// that both are equal.
func showEverything(t *testing.T, tx chains.Transaction, key keystore.Key) {
	t.Helper()
	if first, second := tx.Summary().Digest(), tx.Summary().Digest(); first != second {
		t.Fatal("two summaries of a transaction differ")
	}
	tx.Hazards()
	if request, err := tx.Request(key.ID()); err == nil {
		if signing, err := request.With(key); err == nil {
			signing.SignerView()
			signing.Hazards()
			if len(signing.Effects()) != len(tx.Effects()) {
				t.Fatal("a key changes the number of effects")
			}
		}
	}
	for _, effect := range tx.Effects() {
		if line := chains.Sentence(effect, nil); line == "" || strings.ContainsAny(line, "\n\r\x1b") {
			t.Fatalf("an effect is said as %q", line)
		}
	}
	testenv.Must(t, chains.Render(&strings.Builder{}, tx.Summary().Fields))
}

func checkEthereumSigned(t *testing.T, raw, signed []byte, key keystore.Key) {
	t.Helper()
	decoded := new(types.Transaction)
	if err := decoded.UnmarshalBinary(signed); err != nil {
		t.Fatalf("go-ethereum does not decode %x: %v", signed, err)
	}
	canonical := gethoracle.Unsigned(decoded)
	alias := raw[0] < 0xc0 && bytes.Equal(raw, gethoracle.WithEmptySignature(canonical))
	if !networkForm(raw) && !alias && !bytes.Equal(raw, canonical) {
		t.Fatalf("accepted %x, which is in truth %x", raw, canonical)
	}
	var signer types.Signer = types.HomesteadSigner{}
	if decoded.Protected() {
		signer = types.LatestSignerForChainID(decoded.ChainId())
	}
	sender, err := types.Sender(signer, decoded)
	if want := common.Address(key.PublicKey().KeccakAddress()); err != nil || sender != want {
		t.Fatalf("%x: sender %v (%v), want %v", signed, sender, err, want)
	}
}

// FuzzEthereumGenerated checks that we sign what go-ethereum signs to the same bytes.
func FuzzEthereumGenerated(f *testing.F) {
	for kind := range gethoracle.Kinds {
		f.Add(uint64(kind), uint8(kind))
	}
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8) {
		c := gethoracle.Generate(rand.New(rand.NewPCG(seed, 0)), int(kind)%gethoracle.Kinds)
		signsTo(t, activity.TransactionTypeEthereum, crypto.FromECDSA(c.Key), c.Unsigned, c.Signed)
	})
}

// withCalldata returns an unsigned EIP-1559 transaction with the calldata.
func withCalldata(t *testing.T, data []byte) []byte {
	t.Helper()
	tx := types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(1), GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(2), Gas: 21_000, To: &common.Address{9}, Value: new(big.Int), Data: data})
	return gethoracle.Unsigned(tx)
}
