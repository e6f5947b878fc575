package chaintest_test

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/keystore"
)

// transactions are those of Ethereum as a kind of message: they keep its contract.
func transactions(parse func(raw []byte) (chains.Transaction, error)) chaintest.Messages {
	return chaintest.Messages{Chain: ethereum.Chain{}, Name: ethereum.Name, Hazards: ethereum.Chain{}.HazardNames(), Parse: parse}
}

func messageSamples(t *testing.T) map[string]chaintest.MessageSample {
	return map[string]chaintest.MessageSample{"transfer": {Sample: samples(t)["transfer"]}}
}

func TestSoundMessages(t *testing.T) {
	chaintest.RunMessages(t, transactions(ethereum.Chain{}.Parse), messageSamples(t))
}

// messageFaults are readers with one fault, by the check that has to notice it.
var messageFaults = map[string]func(raw []byte) (chains.Transaction, error){
	"Strict": func(raw []byte) (chains.Transaction, error) {
		return ethereum.Chain{}.Parse(bytes.TrimSuffix(raw, []byte{0xff}))
	},
	"Stable": func(raw []byte) (chains.Transaction, error) {
		tx, err := ethereum.Chain{}.Parse(raw)
		return restless{tx, new(atomic.Int32)}, err
	},
	"Lines":       dangerous("the text\nhazards  none"),
	"DefaultDeny": dangerous("unexpected"),
	"SignWith": func(raw []byte) (chains.Transaction, error) {
		tx, err := ethereum.Chain{}.Parse(raw)
		return obliging{tx}, err
	},
}

// restless is a transaction with another effect whenever it is asked.
type restless struct {
	chains.Transaction
	asked *atomic.Int32
}

func (r restless) Effects() []chains.Effect {
	effects := bytes.Repeat([]byte{'x'}, int(r.asked.Add(1)))
	return append(r.Transaction.Effects(), chains.Effect{Kind: chains.KindMessage, By: chains.BySigner, Path: string(effects)})
}

// dangerous is a reader of transactions with a hazard more, of a detail.
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

// obliging is a transaction that takes the address of a key if none is named.
type obliging struct{ chains.Transaction }

func (o obliging) Request(signWith string) (chains.Request, error) {
	return o.Transaction.Request(cmp.Or(signWith, transferSigner))
}

// transferSigner is the address of the samples' key.
const transferSigner = "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1"

const messageFaultVariable = "CHAINTEST_MESSAGE_FAULT"

// TestMessageFaultsAreNoticed: each check fails for the fault that it is there for.
func TestMessageFaultsAreNoticed(t *testing.T) {
	if fault := os.Getenv(messageFaultVariable); fault != "" {
		chaintest.RunMessages(t, transactions(messageFaults[fault]), messageSamples(t))
		return
	}
	for fault := range messageFaults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestMessageFaultsAreNoticed$/^transfer$/^"+fault+"$")
			command.Env = append(os.Environ(), messageFaultVariable+"="+fault)
			output, err := command.CombinedOutput()
			if _, failed := errors.AsType[*exec.ExitError](err); !failed {
				t.Errorf("the suite lets a kind pass whose fault is in %s: %v\n%s", fault, err, output)
			}
		})
	}
}
