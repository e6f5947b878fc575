package policy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
)

// instead asks a policy about other requests: about the nth of them in place of the transaction
// with the nonce n, with what the engine knows of limits.
type instead struct {
	file  *policy.File
	asked []access.Authorization
}

// transactionOf is a transaction with a nonce.
func transactionOf(nonce int) string {
	return fmt.Sprintf("02e801%02x843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b70180c0", nonce+1)
}

func (i *instead) Authorize(context.Context, access.Authorization) error { return nil }

func (i *instead) Decide(ctx context.Context, asked access.Authorization) (access.Decision, error) {
	for nonce, other := range i.asked {
		if asked.Intent.(activity.SignTransactionIntent).UnsignedTransaction == transactionOf(nonce) {
			other.Spent, other.Now = asked.Spent, asked.Now
			return i.file.Decide(ctx, other)
		}
	}
	return access.Decision{}, access.ErrDenied
}

// TestListsUnderDocumentedPolicies: what a policy in the documentation refuses, it refuses in a list
// with what it allows, and as a list of transactions that have one effect of it each.
func TestListsUnderDocumentedPolicies(t *testing.T) {
	testenv.Slow(t)
	for name, text := range testenv.SamplePolicies(t) {
		t.Run(name, func(t *testing.T) {
			of := &instead{file: load(t, text)}
			f := enginetest.New(t, func(c *countersign.Config) { c.Policy = of })
			judged := func(asked ...access.Authorization) error {
				of.asked = asked
				list := activity.SignTransactionsIntent{Type: activity.TransactionTypeEthereum}
				for nonce := range asked {
					list.Transactions = append(list.Transactions, activity.ListedTransaction{SignWith: "key-1", UnsignedTransaction: transactionOf(nonce)})
				}
				_, err := f.Engine.As(access.User{ID: "ann"}, "").Prepare(t.Context(), enginetest.Organization, list)
				if err != nil && !errors.Is(err, access.ErrDenied) && !strings.Contains(err.Error(), "not authorized") {
					t.Fatal(err)
				}
				return err
			}
			refused := 0
			for _, requests := range requestsBy(t, text) {
				var allowed, denied []access.Authorization
				for _, asked := range requests {
					if judged(asked) != nil {
						denied = append(denied, asked)
					} else if len(allowed) < 3 {
						allowed = append(allowed, asked)
					}
				}
				for _, asked := range denied {
					refused++
					for _, place := range []int{0, len(allowed)} {
						if judged(slices.Insert(slices.Clone(allowed), place, asked)...) == nil {
							t.Errorf("%s: allowed in a list, at %d of %d: %+v", asked.User.Name, place, len(allowed)+1, asked.Effects)
						}
					}
					var parts []access.Authorization
					for _, effect := range asked.Effects {
						part := asked
						part.Effects = []chains.Effect{effect}
						parts = append(parts, part)
					}
					if judged(parts...) == nil {
						t.Errorf("%s: allowed if it is split over a list: %+v", asked.User.Name, asked.Effects)
					}
				}
			}
			if refused == 0 {
				t.Error("nothing was refused")
			}
		})
	}
}

// requestsBy returns the robberies of a policy by each of its users and keys.
func requestsBy(t *testing.T, text string) (all [][]access.Authorization) {
	t.Helper()
	robberies := robberies(t, text)
	for _, key := range lines(text, `key: \[([\w-]+)`) {
		for _, user := range lines(text, `user: ([\w-]+)`) {
			for _, tag := range lines(text, `who: \{tag: ([\w-]+)`) {
				var requests []access.Authorization
				for _, request := range robberies {
					asked := ask(request.effects...)
					asked.Chain, asked.Keys = request.chain, []access.SigningKey{{ID: key, Name: key}}
					asked.User = access.User{ID: user, Name: user, Tags: []string{tag}}
					requests = append(requests, asked)
				}
				all = append(all, requests)
			}
		}
	}
	return all
}
