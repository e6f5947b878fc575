package chaintest_test

import (
	"bytes"
	"cmp"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/keystore"
)

// transactions are Ethereum transactions as a kind of message, whose contract they keep.
func transactions(parse func(raw []byte) (chains.Transaction, error)) chaintest.Messages {
	return chaintest.Messages{Chain: ethereum.Chain{}, Name: ethereum.Name, Hazards: ethereum.Chain{}.HazardNames(), Parse: parse}
}

func messageSamples(t *testing.T) map[string]chaintest.MessageSample {
	return map[string]chaintest.MessageSample{"transfer": {Sample: samples(t)["transfer"]}}
}

func TestCorrectMessages(t *testing.T) {
	chaintest.RunMessages(t, transactions(ethereum.Chain{}.Parse), messageSamples(t))
}

// messageFaults are readers with one fault by the check that must fail.
var messageFaults = map[string]func(raw []byte) (chains.Transaction, error){
	"Strict": func(raw []byte) (chains.Transaction, error) {
		return ethereum.Chain{}.Parse(bytes.TrimSuffix(raw, []byte{0xff}))
	},
	"Stable": func(raw []byte) (chains.Transaction, error) {
		tx, err := ethereum.Chain{}.Parse(raw)
		return unstable{tx, new(atomic.Int32)}, err
	},
	"Lines":       dangerous("the text\nhazards  none"),
	"DefaultDeny": dangerous("unexpected"),
	"SignWith": func(raw []byte) (chains.Transaction, error) {
		tx, err := ethereum.Chain{}.Parse(raw)
		return defaulting{tx}, err
	},
}

// unstable is a transaction whose effects differ from call to call.
type unstable struct {
	chains.Transaction
	calls *atomic.Int32
}

func (u unstable) Effects() []chains.Effect {
	path := strings.Repeat("x", int(u.calls.Add(1)))
	return append(u.Transaction.Effects(), chains.Effect{Kind: chains.KindMessage, By: chains.BySigner, Path: path})
}

// dangerous returns a reader of transactions with an additional hazard.
func dangerous(detail string) func(raw []byte) (chains.Transaction, error) {
	return func(raw []byte) (chains.Transaction, error) {
		tx, err := ethereum.Chain{}.Parse(raw)
		return altered{tx, func(tx chains.Transaction, signWith string, keys []keystore.Key) (chains.Signing, error) {
			signing, err := chaintest.Ready(tx, signWith, keys...)
			return hazardous{signing, detail}, err
		}}, err
	}
}

type hazardous struct {
	chains.Signing
	detail string
}

func (h hazardous) Hazards() []chains.Hazard {
	return append(h.Signing.Hazards(), chains.Hazard{Name: ethereum.HazardNoChainID, Detail: h.detail})
}

// defaulting is a transaction with a default key.
type defaulting struct{ chains.Transaction }

func (d defaulting) Request(signWith string) (chains.Request, error) {
	return d.Transaction.Request(cmp.Or(signWith, transferSigner))
}

// transferSigner is the address of the samples' key.
const transferSigner = "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1"

// TestMessageFaults: each check fails for its fault.
func TestMessageFaults(t *testing.T) {
	if fault := os.Getenv(faultVariable); fault != "" {
		chaintest.RunMessages(t, transactions(messageFaults[fault]), messageSamples(t))
		return
	}
	for fault := range messageFaults {
		checkFails(t, fault, "^TestMessageFaults$/^transfer$/^"+fault+"$")
	}
}
