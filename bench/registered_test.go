package bench

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// BenchmarkRegistered measures the signature of one key on one input of a 2-of-3 wallet, with
// change, relative to the bare operation:
//
//	registered  the wallet is registered: its scripts of input and change are derived
//	unknown     it is not
func BenchmarkRegistered(b *testing.B) {
	policy, w := registeredWorkload(b)
	for name, config := range map[string]countersign.Config{
		"registered": {ReleaseUnverifiedSignatures: true, Wallets: registry{{RegisteredWallet: policy}}},
		"unknown":    unverified,
	} {
		b.Run(name, func(b *testing.B) { measure.Ratio(b, w.Whole(b, w.Engine(b, config)), w.Bare(b, false)) })
	}
}

// registry is the registered wallets of every organization.
type registry []keystore.Registration

// Registered implements keystore.WalletRegistry.
func (r registry) Registered(context.Context, string) ([]keystore.Registration, error) { return r, nil }

// cosigners are the roots of a 2-of-3 wallet, of which the first is ours.
type cosigners [3]*wallet.Root

var cosignerAccount = wallet.Path{48 + wallet.Hardened, wallet.Hardened, wallet.Hardened, 2 + wallet.Hardened}

// registeredWorkload returns a wallet, and a transaction for each of its first addresses.
func registeredWorkload(b *testing.B) (*walletpolicy.Policy, *workload.Workload) {
	b.Helper()
	var roots cosigners
	var keys []string
	for i := range roots {
		root, err := wallet.FromSeed(workload.Secret(i))
		if err != nil {
			b.Fatal(err)
		}
		key, err := root.XPub(cosignerAccount)
		if err != nil {
			b.Fatal(err)
		}
		roots[i], keys = root, append(keys, key)
	}
	policy, err := walletpolicy.New("treasury", "wsh(sortedmulti(2,@0/**,@1/**,@2/**))", keys)
	if err != nil {
		b.Fatal(err)
	}
	w := &workload.Workload{Kind: workload.Kind{Chain: "bitcoin", Type: "2-of-3", Scheme: workload.LowR}, Store: memory.New()}
	b.Cleanup(func() { _ = w.Store.Close() })
	for index := range uint32(workload.Keys) {
		secret, err := roots[0].Derive(keystore.CurveSecp256k1, append(cosignerAccount[:4:4], 0, index))
		if err != nil {
			b.Fatal(err)
		}
		info, err := w.Store.Add(b.Context(), workload.Organization, keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret})
		if err != nil {
			b.Fatal(err)
		}
		raw := roots.spend(b, policy, index)
		w.Raw = append(w.Raw, raw)
		w.Requests = append(w.Requests, activity.SignTransactionIntent{
			SignWith: info.ID, Type: activity.TransactionTypeBitcoin, UnsignedTransaction: hex.EncodeToString(raw),
		})
	}
	return policy, w
}

// spend returns a transaction that pays from an address of the wallet, with change.
func (c *cosigners) spend(b *testing.B, policy *walletpolicy.Policy, index uint32) []byte {
	b.Helper()
	from, err := policy.Scripts(false, index)
	if err != nil {
		b.Fatal(err)
	}
	back, err := policy.Scripts(true, index)
	if err != nil {
		b.Fatal(err)
	}
	lock := bitcointest.P2WSH(from.Witness)
	lock.Records = append(lock.Records, c.origins(b, psbt.InBIP32Derivation, 0, index)...)
	change := bitcointest.Output{Amount: 60_000, Script: back.Output, Records: c.origins(b, psbt.OutBIP32Derivation, 1, index)}
	paid := bitcointest.Output{Amount: 35_000, Script: append([]byte{0, 20}, workload.Secret(int(index))[:20]...)}
	return bitcointest.PSBT{Inputs: []bitcointest.Input{lock.Input(100_000, index)}, Outputs: []bitcointest.Output{paid, change}}.Encode()
}

func (c *cosigners) origins(b *testing.B, kind byte, branch, index uint32) (records []bitcointest.Record) {
	b.Helper()
	for _, root := range c {
		path := append(cosignerAccount[:4:4], branch, index)
		pub, err := root.PublicKey(path)
		if err != nil {
			b.Fatal(err)
		}
		fingerprint := root.Fingerprint()
		value := fingerprint[:]
		for _, step := range path {
			value = binary.LittleEndian.AppendUint32(value, step)
		}
		records = append(records, bitcointest.Record{Key: append([]byte{kind}, pub.Bytes()...), Value: value})
	}
	return records
}
