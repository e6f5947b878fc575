package messages_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store/memory"
)

// askings counts how often a transaction was asked for its texts.
type askings struct{ summary, effects int }

// watched is a transaction that counts who asks for its texts.
type watched struct {
	chains.Transaction
	asked *askings
}

func (w watched) Summary() chains.Summary  { w.asked.summary++; return w.Transaction.Summary() }
func (w watched) Effects() []chains.Effect { w.asked.effects++; return w.Transaction.Effects() }
func (w watched) Request(signWith string) (chains.Request, error) {
	request, err := w.Transaction.Request(signWith)
	return watchedRequest{request, w.asked}, err
}

type watchedRequest struct {
	chains.Request
	asked *askings
}

func (r watchedRequest) With(keys ...keystore.Key) (chains.Signing, error) {
	signing, err := r.Request.With(keys...)
	return watchedSigning{signing, r.asked}, err
}

type watchedSigning struct {
	chains.Signing
	asked *askings
}

func (s watchedSigning) Effects() []chains.Effect   { s.asked.effects++; return s.Signing.Effects() }
func (s watchedSigning) SignerView() []chains.Field { s.asked.summary++; return s.Signing.SignerView() }

// watchedChain is Ethereum whose transactions are watched.
type watchedChain struct {
	ethereum.Chain
	asked *askings
}

func (c watchedChain) Parse(raw []byte) (chains.Transaction, error) {
	tx, err := c.Chain.Parse(raw)
	return watched{tx, c.asked}, err
}

// TestTextsAreWrittenForReaders is what docs/performance.md says: the texts and arguments of
// what is signed are written only for a policy, a record or a person. An engine without
// policy and store asks for none of them; one with a store asks for the effects, and a person for
// the summary.
func TestTextsAreWrittenForReaders(t *testing.T) {
	transaction := activity.SignTransactionIntent{SignWith: enginetest.Address, UnsignedTransaction: enginetest.Unsigned, Type: "TRANSACTION_TYPE_ETHEREUM"}
	message := activity.SignMessageIntent{SignWith: enginetest.Address, Encoding: activity.EncodingHex, HashFunction: activity.HashKeccak256,
		Payload: fmt.Sprintf("%x", "\x19Ethereum Signed Message:\n5hello")}
	typed := activity.SignMessageIntent{SignWith: enginetest.Address, Encoding: activity.EncodingEIP712, HashFunction: activity.HashNone,
		Payload: `{"types":{"EIP712Domain":[],"M":[{"name":"a","type":"uint8"}]},"primaryType":"M","domain":{},"message":{"a":1}}`}
	for name, intent := range map[string]activity.Intent{"transaction": transaction, "personal message": message, "typed data": typed} {
		t.Run(name, func(t *testing.T) {
			counts := new(askings)
			watch := func(config *countersign.Config) {
				config.Chains = []chains.Chain{watchedChain{asked: counts}}
				config.AllowHazards = []string{countersign.AllHazards}
				config.Operations = messages.Operations(config.Chains...)
				for i := range config.Operations {
					signing := *config.Operations[i].Sign
					read := signing.Read
					signing.Read = func(intent activity.Intent, now func() time.Time) (chains.Transaction, error) {
						tx, err := read(intent, now)
						return watched{tx, counts}, err
					}
					config.Operations[i].Sign = &signing
				}
			}
			bare := enginetest.New(t, watch)
			if _, err := bare.Engine.Sign(t.Context(), enginetest.Organization, intent); err != nil {
				t.Fatal(err)
			}
			if *counts != (askings{}) {
				t.Errorf("a signature without a reader: %+v were asked for", *counts)
			}
			prepared, err := bare.Engine.Prepare(t.Context(), enginetest.Organization, intent)
			testenv.Must(t, err)
			if prepared.Summary(); counts.summary == 0 {
				t.Error("a person who asked for the summary did not get it from the transaction")
			}
			*counts = askings{}
			kept := enginetest.New(t, watch, func(config *countersign.Config) { config.Store = memory.New(math.MaxInt) })
			request, err := activity.NewRequest(activity.Envelope{OrganizationID: enginetest.Organization, Time: kept.Clock.Now()}, intent)
			testenv.Must(t, err)
			if _, err := kept.Engine.Submit(t.Context(), kept.APIKey.Sign(string(request.Body))); err != nil {
				t.Fatal(err)
			}
			if counts.effects == 0 {
				t.Error("the record does not say what was signed")
			}
		})
	}
}

// TestSummaryIsWrittenForRules: the summary is written once for rules that read it, which decide
// by it, and for no others.
func TestSummaryIsWrittenForRules(t *testing.T) {
	for rules, want := range map[string]struct {
		summaries int
		allowed   bool
	}{
		"{name: all, allow: request}": {0, true},
		"{name: known, allow: request, on: ethereum, when: eth.tx.chain_id == 1}, {name: all, allow: request, on: ethereum, when: eth.tx.nonce >= 0}": {1, true},
		"{name: other, allow: request, on: ethereum, when: eth.tx.chain_id == 2}":                                                                     {1, false},
		"{name: here, allow: request, on: ethereum, chains: ['eip155:1']}":                                                                            {1, true},
		"{name: no, deny: request, on: ethereum, when: eth.tx.chain_id == 1}, {name: all, allow: request}":                                            {1, false},
	} {
		counts := new(askings)
		served := []chains.Chain{watchedChain{asked: counts}}
		file, err := policy.Parse("p.yaml", []byte("schema: countersign.policy/2\nrules: ["+rules+"]\n"), policy.Options{Chains: served})
		testenv.Must(t, err)
		f := enginetest.New(t, func(c *countersign.Config) {
			c.Chains, c.Policy, c.AllowHazards = served, file, []string{countersign.AllHazards}
		})
		_, err = f.Submit(t, enginetest.Request{})
		if allowed := err == nil; allowed != want.allowed || counts.summary != want.summaries {
			t.Errorf("%s: %v, with %d summaries", rules, err, counts.summary)
		}
	}
}
