package countersign_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/chainvectors"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	keysmemory "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/verify"
)

// payment is a transaction with a nonce that pays some wei.
func payment(nonce, wei int) string {
	item := func(n int) string {
		switch {
		case n < 0x80:
			return fmt.Sprintf("%02x", n)
		case n < 0x100:
			return fmt.Sprintf("81%02x", n)
		}
		return fmt.Sprintf("82%04x", n)
	}
	items := "01" + item(nonce) + "843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b7" + item(wei) + "80c0"
	return fmt.Sprintf("02%02x%s", 0xc0+len(items)/2, items)
}

// listOf is a list of transactions that one key signs.
func listOf(unsigned ...string) activity.SignTransactionsIntent {
	list := activity.SignTransactionsIntent{Type: activity.TransactionTypeEthereum}
	for _, tx := range unsigned {
		list.Transactions = append(list.Transactions, activity.ListedTransaction{SignWith: enginetest.Address, UnsignedTransaction: tx})
	}
	return list
}

// payments are so many transactions of one wei each.
func payments(count int) activity.SignTransactionsIntent {
	var unsigned []string
	for nonce := range count {
		unsigned = append(unsigned, payment(nonce+1, 1))
	}
	return listOf(unsigned...)
}

// TestList: a list is signed as its transactions are one by one, in one activity, and answered from
// its record when it is sent again.
func TestList(t *testing.T) {
	f := enginetest.New(t)
	list := payments(3)
	list.Transactions[1].SignWith = "key-1"
	sent := f.APIKey.Sign(engines.IntentBody(t, f, list))
	record := enginetest.MustSubmit(t, f.Engine, sent)
	result, ok := record.Result.(activity.SignTransactionsResult)
	if !ok || len(result.SignedTransactions) != 3 || record.State() != "signed" {
		t.Fatalf("%+v", record)
	}
	for i := range list.Transactions {
		alone, err := f.Engine.SignTransaction(t.Context(), enginetest.Organization, list.At(i))
		if err != nil || alone.SignedTransaction != result.SignedTransactions[i] {
			t.Errorf("%d: %s alone, %s in the list; %v", i, alone.SignedTransaction, result.SignedTransactions[i], err)
		}
	}
	signatures := f.Signing.Signatures.Load()
	if again := enginetest.MustSubmit(t, f.Engine, sent); again.ID != record.ID || f.Signing.Signatures.Load() != signatures {
		t.Error("sent again, it is another activity, or was signed again")
	}
	if record.Did == nil || len(record.Did.Effects) != 2 || len(record.Did.KeyIDs) != 1 || record.Did.Effects[0].Amount != "0.000000000000000003" ||
		!strings.HasSuffix(record.Did.Effects[0].Sentence, "(transactions 0, 1, 2)") {
		t.Errorf("it did %+v", record.Did)
	}
	byCall, err := f.Engine.As(access.User{ID: "ann"}, "").Sign(t.Context(), enginetest.Organization, list)
	if err != nil || fmt.Sprint(byCall) != fmt.Sprint(result) {
		t.Errorf("by a call: %v, %v", byCall, err)
	}
	prepared, err := f.Engine.Prepare(t.Context(), enginetest.Organization, list)
	testenv.Must(t, err)
	tx, err := messages.ReadAny(list, f.Config.Chains, time.Now)
	if err != nil || tx.Summary().Digest() != prepared.Summary().Digest() || len(prepared.Summary().Fields) != 3 {
		t.Errorf("read without keys it has another summary: %v", err)
	}
}

// TestListRefused: what is wrong with one transaction is said with its place in the list. Nothing is
// signed.
func TestListRefused(t *testing.T) {
	f := enginetest.New(t)
	solana := listOf("00")
	solana.Transactions[0].SignWith = "nobody"
	for want, list := range map[string]activity.SignTransactionsIntent{
		"transactions[1].unsignedTransaction":                                         listOf(payment(1, 1), payment(2, 1)[:40]),
		"it uses nonce 7 of key key-1 on chain 1, as transactions[0] does":            listOf(payment(7, 1), payment(8, 1), payment(7, 2)),
		"transactions[0]: the transaction is well-formed but hazardous: ethereum/no-": listOf(enginetest.Hazardous, payment(1, 1)),
		"transactions[0].signWith":                                                    solana,
		"0, a list must have 1 to 1000":                                               {Type: activity.TransactionTypeEthereum},
		"1001, a list must have 1 to 1000":                                            payments(1001),
	} {
		_, err := f.Engine.Sign(t.Context(), enginetest.Organization, list)
		if strings.HasPrefix(want, "transactions[0].sign") {
			list.Transactions[0] = activity.ListedTransaction{SignWith: "no key", UnsignedTransaction: payment(1, 1)}
			_, err = f.Engine.Sign(t.Context(), enginetest.Organization, list)
		}
		refused, ok := errors.AsType[*activity.Error](err)
		if !ok || !strings.Contains(refused.Message+refused.Field, want) {
			t.Errorf("%s: %v", want, err)
		}
		if body, err := activity.NewRequest(activity.Envelope{OrganizationID: enginetest.Organization, Time: f.Clock.Now()}, list); err == nil {
			if _, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(string(body.Body))); err == nil {
				t.Errorf("%s: submitted, it is signed", want)
			}
		}
	}
	if f.Signing.Signatures.Load() != 0 {
		t.Errorf("%d signatures", f.Signing.Signatures.Load())
	}
}

// dailyWei is a policy that allows so many wei a day; fees are not counted.
func dailyWei(most int, more string) string {
	return fmt.Sprintf(`schema: countersign.policy/2
assets: {main: {chain: "eip155:1", token: native}}
limits:
  - {name: day, asset: main, max: "0.%018d", window: 24h, per: organization%s}
rules:
  - {name: pay, allow: transfer, when: effect.asset == main, limit: day}
  - {name: gas, allow: fee, when: "effect.amount <= ether('0.1')"}
`, most, more)
}

// inMemory sets the store, which spentWei reads.
func inMemory(c *countersign.Config) { c.Store = memory.New(countersign.DefaultStoreBytes) }

// spentWei returns what the limit has counted.
func spentWei(t testing.TB, f *enginetest.Fixture) int64 {
	t.Helper()
	var sum *big.Int
	err := f.Config.Store.Change(t.Context(), enginetest.Organization, store.ChangeFunc(func(ledger store.Ledger) (_, err error) {
		sum, _, err = store.Spent(ledger, store.Charge{Limit: "day", Subject: "organization", Window: 24 * time.Hour}, f.Clock.Now())
		return nil, err
	}))
	testenv.Must(t, err)
	return sum.Int64()
}

// TestListLimits: limits count the sum of a list, exactly, in one charge: also if it has the nonces
// of a list before, of which only the larger amounts count.
func TestListLimits(t *testing.T) {
	f := enginetest.New(t, inMemory, engines.WithPolicy(t, dailyWei(10, ", replaces: nonce")))
	submit := func(amounts ...int) error {
		var unsigned []string
		for i, wei := range amounts {
			unsigned = append(unsigned, payment(i+1, wei))
		}
		f.Clock.Advance(time.Second)
		_, err := engines.SubmitIntent(t, f, listOf(unsigned...))
		return err
	}
	for _, step := range []struct {
		amounts []int
		signed  bool
		counted int64
	}{
		{[]int{4, 4, 3}, false, 0},
		{[]int{4, 4, 1}, true, 9},
		{[]int{4, 5, 2}, false, 9},
		{[]int{4, 5, 1}, true, 10}, // the same nonces: one wei more
		{[]int{1, 1, 1, 1}, false, 10},
		{[]int{4, 5, 1}, true, 10},
	} {
		before := f.Signing.Signatures.Load()
		err := submit(step.amounts...)
		refused, _ := errors.AsType[*activity.Error](err)
		if (err == nil) != step.signed || err != nil && (refused.Reason != activity.ReasonLimitExceeded || f.Signing.Signatures.Load() != before) {
			t.Errorf("%v: %v", step.amounts, err)
		}
		if got := spentWei(t, f); got != step.counted {
			t.Errorf("%v: %d are counted, want %d", step.amounts, got, step.counted)
		}
	}
}

// TestListLimitTogether: of lists that are submitted at once and of which one limit has room for two,
// two are signed.
func TestListLimitTogether(t *testing.T) {
	f := enginetest.New(t, inMemory, engines.WithPolicy(t, dailyWei(100, "")))
	var group sync.WaitGroup
	var signed sync.Map
	for i := range 6 {
		var unsigned []string
		for nonce := range 10 {
			unsigned = append(unsigned, payment(10*i+nonce+1, 5))
		}
		sent := f.APIKey.Sign(engines.IntentBody(t, f, listOf(unsigned...)))
		group.Go(func() {
			if _, err := f.Engine.Submit(t.Context(), sent); err == nil {
				signed.Store(i, true)
			}
		})
	}
	group.Wait()
	count := 0
	signed.Range(func(any, any) bool { count++; return true })
	if count != 2 || spentWei(t, f) != 100 {
		t.Errorf("%d lists are signed, %d wei are counted", count, spentWei(t, f))
	}
}

// TestListFails: a list whose key fails at the 700th signature is not recorded, and its charges are
// given back. The same body can be sent again.
func TestListFails(t *testing.T) {
	f := enginetest.New(t, inMemory, engines.WithPolicy(t, dailyWei(1000, "")))
	sent := f.APIKey.Sign(engines.IntentBody(t, f, payments(1000)))
	made := 0
	f.Signing.Before = func(context.Context) error {
		if made++; made == 700 {
			return errors.New("the key service is down")
		}
		return nil
	}
	_, err := f.Engine.Submit(t.Context(), sent)
	refused, ok := errors.AsType[*activity.Error](err)
	if !ok || refused.Field != "transactions[699]" || !strings.HasPrefix(refused.Message, "transactions[699]: ") {
		t.Errorf("%v", err)
	}
	if got := spentWei(t, f); got != 0 {
		t.Errorf("%d wei stay charged", got)
	}
	record := enginetest.MustSubmit(t, f.Engine, sent)
	if result := record.Result.(activity.SignTransactionsResult); len(result.SignedTransactions) != 1000 || spentWei(t, f) != 1000 {
		t.Errorf("%d are signed, %d wei are charged", len(result.SignedTransactions), spentWei(t, f))
	}
	if len(record.Encode()) > 2<<20 {
		t.Errorf("the record has %d bytes", len(record.Encode()))
	}
}

// alone is a policy that refuses to judge two transactions at once, and one of a certain amount.
type alone struct {
	t     *testing.T
	asked int
}

func (a *alone) Authorize(_ context.Context, asked access.Authorization) error {
	a.asked++
	intent, ok := asked.Intent.(activity.SignTransactionIntent)
	if !ok || len(asked.Effects) != 2 || len(asked.Keys) != 1 || asked.Effects[0].Payload() != "" || asked.Summary().Digest() == [32]byte{} {
		a.t.Errorf("asked about %T with %d effects by %d keys", asked.Intent, len(asked.Effects), len(asked.Keys))
	}
	if strings.Contains(intent.UnsignedTransaction, payment(2, 7)) {
		return fmt.Errorf("%w: seven", access.ErrDenied)
	}
	return nil
}

// TestListJudgedAlone: a policy is asked about each transaction as if it were submitted alone, and
// every one has to be allowed.
func TestListJudgedAlone(t *testing.T) {
	policy := &alone{t: t}
	f := enginetest.New(t, func(c *countersign.Config) { c.Policy = policy })
	if _, err := engines.SubmitIntent(t, f, payments(3)); err != nil || policy.asked != 3 {
		t.Errorf("asked %d times: %v", policy.asked, err)
	}
	for place := range 3 {
		unsigned := []string{payment(11, 1), payment(12, 1)}
		list := listOf(append(append(append([]string{}, unsigned[:place]...), payment(2, 7)), unsigned[place:]...)...)
		_, err := engines.SubmitIntent(t, f, list)
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("transactions[%d]: not authorized: ", place)) {
			t.Errorf("at %d: %v", place, err)
		}
	}
	f.WantSignatures(t, 3)
}

// TestListWaits: a list waits once for all its transactions, for the approvals that any of them
// needs. It is judged again before it is signed, and what its voters were shown is all of it.
func TestListWaits(t *testing.T) {
	b := ballot.New(t, inMemory)
	submitter := ballot.Voter("user-1", "", b.APIKey)
	submitter.APIKeys[0].Activities = activity.Types()
	ann, ben := ballot.Voter("ann", "finance", b.Ann), ballot.Voter("ben", "finance", b.Ben)
	b.SetUsers(submitter, ann, ben)
	b.Policy.Charges = []store.Charge{{Limit: "day", Subject: "organization", Amount: big.NewInt(2), Max: big.NewInt(6), Window: 24 * time.Hour, Unit: "ETH", Decimals: 18}}
	waiting := enginetest.MustSubmit(t, b.Engine, b.APIKey.Sign(engines.IntentBody(t, b.Fixture, payments(3))))
	if !waiting.Status.Waits() || len(waiting.Decision.Required) != 1 || spentWei(t, b.Fixture) != 0 {
		t.Fatalf("%+v", waiting)
	}
	if said := waiting.Reading.Sentences; len(said) != 2 || !strings.HasPrefix(said[0], "send 0.000000000000000003 ETH from ") {
		t.Errorf("voters are told %q", said)
	}
	wantTaken := "0.000000000000000006 ETH more of limit day, which allows 0.000000000000000006 ETH in 24h0m0s"
	if taken := waiting.Viewer.Review.Limits; !slices.Equal(taken, []string{wantTaken}) {
		t.Errorf("voters are told that it takes %q", taken)
	}
	for _, digest := range []string{"transaction 0", "transaction 1", "transaction 2"} {
		if !strings.Contains(waiting.Reading.Summary, `"label":"`+digest+`"`) || !strings.Contains(waiting.Reading.Effects, digest) {
			t.Errorf("voters are not shown %s", digest)
		}
	}
	b.Approve(b.Ann, waiting)
	b.Policy.Set(func(p *ballot.Policy) { p.Charges[0].Max = big.NewInt(5) })
	if after := b.Approve(b.Ben, waiting); !after.Status.Waits() || !strings.HasPrefix(after.Decision.Reason, "transactions[2]: ") {
		t.Errorf("judged again it is %s: %q", after.Status, after.Decision.Reason)
	}
	b.Policy.Set(func(p *ballot.Policy) { p.Charges[0].Max = big.NewInt(6) })
	b.Resume()
	signed := enginetest.MustSubmit(t, b.Engine, b.APIKey.Sign(string(waiting.Request.Body)))
	if result, ok := signed.Result.(activity.SignTransactionsResult); !ok || len(result.SignedTransactions) != 3 || spentWei(t, b.Fixture) != 6 {
		t.Errorf("%s, %d wei are charged: %+v", signed.Status, spentWei(t, b.Fixture), signed.Decision)
	}
}

// durablePayment is a Solana transaction by a payer: it advances the nth durable nonce and pays
// some lamports to the nth recipient.
func durablePayment(payer ed25519.PublicKey, n int, lamports uint64) string {
	account := func(kind string) []byte {
		digest := sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, n))
		return digest[:]
	}
	keys := [][]byte{payer, account("nonce"), account("recipient"),
		base58.Decode("SysvarRecentB1ockHashes11111111111111111111"), make([]byte, 32)}
	message := slices.Concat([]byte{1, 0, 2, byte(len(keys))}, slices.Concat(keys...), account("value"),
		[]byte{2, 4, 3, 1, 3, 0, 4, 4, 0, 0, 0}, // AdvanceNonceAccount
		[]byte{4, 2, 0, 2, 12, 2, 0, 0, 0}, binary.LittleEndian.AppendUint64(nil, lamports))
	return hex.EncodeToString(slices.Concat([]byte{1}, make([]byte, 64), message))
}

// TestPayroll pays 1,000 salaries on Solana under one vote, each with a durable nonce, as
// docs/recipes.md says. Each transaction can be sent by itself; the answer proves all of them.
func TestPayroll(t *testing.T) {
	b := ballot.New(t, inMemory, engines.WithHazards("solana/no-compute-budget"))
	b.Policy.Set(func(p *ballot.Policy) { p.Groups[0].Count = 1 })
	submitter := ballot.Voter("user-1", "", b.APIKey)
	submitter.APIKeys[0].Activities = activity.Types()
	b.SetUsers(submitter, ballot.Voter("ann", "finance", b.Ann))
	seed := testenv.Hex(t, enginetest.Secret)
	payer := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	list := activity.SignTransactionsIntent{Type: activity.TransactionTypeSolana}
	for n := range activity.MaxTransactions {
		list.Transactions = append(list.Transactions, activity.ListedTransaction{SignWith: "key-2",
			UnsignedTransaction: durablePayment(payer, n, uint64(1_000_000+n))})
	}
	waiting := enginetest.MustSubmit(t, b.Engine, b.APIKey.Sign(engines.IntentBody(t, b.Fixture, list)))
	if !waiting.Status.Waits() {
		t.Fatalf("%+v", waiting)
	}
	signed := b.Approve(b.Ann, waiting)
	result, ok := signed.Result.(activity.SignTransactionsResult)
	if !ok || len(result.SignedTransactions) != len(list.Transactions) {
		t.Fatalf("%s: %q", signed.Status, signed.Decision.Reason)
	}
	for n, text := range result.SignedTransactions {
		raw, err := hex.DecodeString(text)
		if err != nil || !ed25519.Verify(payer, raw[65:], raw[1:65]) || hex.EncodeToString(raw[65:]) != list.Transactions[n].UnsignedTransaction[2*65:] {
			t.Fatalf("%d is not signed: %v", n, err)
		}
	}
	if did := signed.Did; len(did.Effects) != activity.MaxDidEffects || did.More != 1901 || did.Effects[99].Kind != "transfer" || !strings.HasSuffix(did.Effects[0].Sentence, "and 992 more)") {
		t.Errorf("it did %d effects and %d more: %q", len(did.Effects), did.More, did.Sentences()[:3])
	}
	trust := verify.Trust{Body: waiting.Request.Body, ProofKey: &b.ProofKey.PublicKey, Chains: b.Config.Chains}
	checks, err := verify.Answer(signed.AppendAnswer(nil), trust)
	if err != nil || len(checks) != 5 {
		t.Errorf("%v: %v", checks, err)
	}
	other := strings.Replace(string(signed.AppendAnswer(nil)), result.SignedTransactions[7], result.SignedTransactions[8], 2)
	if _, err := verify.Answer([]byte(other), trust); err == nil {
		t.Error("an answer with another transaction verifies")
	}
	list.Transactions[999].UnsignedTransaction = durablePayment(payer, 7, 5)
	if _, err := engines.SubmitIntent(t, b.Fixture, list); err == nil || !strings.HasPrefix(err.Error(), "transactions[999]: it uses the durable nonce in ") {
		t.Errorf("two that advance one nonce: %v", err)
	}
}

// TestListOfEachChain signs each chain's vectors in a list of one as they are signed alone. In one list
// twice, they are refused: the chain can execute one of the two.
func TestListOfEachChain(t *testing.T) {
	for name, v := range chainvectors.All(t) {
		keys := keysmemory.New()
		if _, err := keys.Add(t.Context(), enginetest.Organization, v.Key(t)); err != nil {
			t.Fatal(err)
		}
		engine := chainvectors.Engine(t, keys)
		listed := activity.ListedTransaction{SignWith: v.Address, UnsignedTransaction: v.UnsignedTransaction}
		list := activity.SignTransactionsIntent{Type: v.Type, Transactions: []activity.ListedTransaction{listed}}
		alone, err := engine.SignTransaction(t.Context(), enginetest.Organization, list.At(0))
		if err != nil {
			t.Fatal(name, err)
		}
		result, err := engine.Sign(t.Context(), enginetest.Organization, list)
		if err != nil || result.(activity.SignTransactionsResult).SignedTransactions[0] != alone.SignedTransaction {
			t.Errorf("%s: signed alone %s, in a list %v; %v", name, alone.SignedTransaction, result, err)
		}
		list.Transactions = append(list.Transactions, listed)
		if _, err := engine.Sign(t.Context(), enginetest.Organization, list); err == nil || !strings.Contains(err.Error(), ", as transactions[0] does: ") {
			t.Errorf("%s, twice in a list: %v", name, err)
		}
	}
}
