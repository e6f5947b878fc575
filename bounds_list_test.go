package countersign_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// solanaList is a list of as many transactions as are allowed, each with so many transfers, each to
// another recipient, and a fee.
func solanaList(t *testing.T, transfers int) activity.SignTransactionsIntent {
	t.Helper()
	seed := testenv.Hex(t, enginetest.Secret)
	payer := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	list := activity.SignTransactionsIntent{Type: activity.TransactionTypeSolana}
	for n := range activity.MaxTransactions {
		accounts, instructions := []byte(payer), []byte{byte(transfers)}
		for i := range transfers {
			to := sha256.Sum256(fmt.Appendf(nil, "%d %d", n, i))
			accounts = append(accounts, to[:]...)
			instructions = append(instructions, byte(transfers+1), 2, 0, byte(i+1), 12, 2, 0, 0, 0)
			instructions = binary.LittleEndian.AppendUint64(instructions, uint64(1+n))
		}
		accounts = append(accounts, make([]byte, 32)...)
		message := slices.Concat([]byte{1, 0, 1, byte(transfers + 2)}, accounts,
			base58.Decode("4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM")[:32], instructions)
		list.Transactions = append(list.Transactions, activity.ListedTransaction{SignWith: "key-2",
			UnsignedTransaction: hex.EncodeToString(slices.Concat([]byte{1}, make([]byte, 64), message))})
	}
	return list
}

// TestListOfManyEffects: a list has at most 10,000 effects. The largest one waits, with an event, is
// shown and signed.
func TestListOfManyEffects(t *testing.T) {
	testenv.Slow(t)
	b := ballot.New(t, inMemory, engines.WithHazards("solana/no-compute-budget"), func(c *countersign.Config) {
		c.Events = activity.EventTypes()
	})
	submitter := ballot.Voter("user-1", "", b.APIKey)
	submitter.APIKeys[0].Activities = activity.Types()
	b.SetUsers(submitter, ballot.Voter("ann", "finance", b.Ann))
	b.Policy.Set(func(p *ballot.Policy) { p.Groups[0].Count = 1 })
	const most = intents.MaxListEffects/activity.MaxTransactions - 1 // and a fee
	_, err := engines.SubmitIntent(t, b.Fixture, solanaList(t, most+1))
	tooMany := fmt.Sprintf("at most %d are allowed", intents.MaxListEffects)
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, tooMany)
	body := engines.IntentBody(t, b.Fixture, solanaList(t, most))
	waiting := enginetest.MustSubmit(t, b.Engine, b.APIKey.Sign(body))
	if bytes := len(waiting.Encode()); !waiting.Status.Waits() || bytes > 16<<20 {
		t.Errorf("%s, a record of %d bytes of a body of %d", waiting.Status, bytes, len(body))
	}
	signed := b.Approve(b.Ann, waiting)
	result, ok := signed.Result.(activity.SignTransactionsResult)
	if !ok || len(result.SignedTransactions) != activity.MaxTransactions {
		t.Errorf("%s: %+v", signed.Status, signed.Decision)
	}
}

// slow is a policy that waits before it decides.
type slow struct {
	*ballot.Policy
	wait func()
}

func (s *slow) Decide(ctx context.Context, asked access.Authorization) (access.Decision, error) {
	s.wait()
	return s.Policy.Decide(ctx, asked)
}

// TestListingOfWhatIsSlow: a page ends early if judging what waits takes long. The next one goes on.
func TestListingOfWhatIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := &slow{wait: func() {}}
		b := ballot.New(t, inMemory, func(c *countersign.Config) {
			policy.Policy = c.Policy.(*ballot.Policy)
			c.Policy = policy
		})
		for range 3 {
			b.Clock.Advance(time.Second)
			b.Waiting()
		}
		policy.wait = func() { time.Sleep(1100 * time.Millisecond) }
		before, pages, all := "", 0, map[string]bool{}
		for {
			listed, err := b.Engine.ListActivities(t.Context(), b.Ann.Sign(fmt.Sprintf(
				`{"organizationId":%q,"paginationOptions":{"limit":"10"%s}}`, enginetest.Organization, before)))
			testenv.Must(t, err)
			if len(listed) == 0 {
				break
			}
			for _, record := range listed {
				all[record.ID] = true
			}
			pages, before = pages+1, fmt.Sprintf(`,"before":%q`, listed[len(listed)-1].ID)
		}
		if pages < 2 || len(all) != 3 {
			t.Errorf("%d activities on %d pages", len(all), pages)
		}
	})
}
