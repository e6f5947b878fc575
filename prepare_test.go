package countersign_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// TestPrepareTransaction signs the same bytes that it shows.
func TestPrepareTransaction(t *testing.T) {
	engine, _ := newEngine(t, countersign.Config{AllowHazards: []string{countersign.AllHazards}})
	prepared, err := engine.Prepare(t.Context(), org, ethereumIntent(vectorAddr, legacy))
	testenv.Must(t, err)
	if ids := prepared.KeyIDs(); !slices.Equal(ids, []string{"vector key"}) {
		t.Errorf("keys %v", ids)
	}
	if hazards := prepared.Hazards(); len(hazards) != 1 || hazards[0].Name != ethereum.HazardNoChainID {
		t.Errorf("hazards %v", hazards)
	}
	if view, err := prepared.SignerView(t.Context()); err != nil || len(view) == 0 || view[0].Label != "from" || view[0].Value != vectorAddr {
		t.Errorf("signer view %v, %v", view, err)
	}
	inspected, err := all.Inspect(activity.TransactionTypeEthereum, legacy, all.Limits{})
	testenv.Must(t, err)
	if prepared.Summary().Digest() != inspected.Summary.Digest() {
		t.Error("the summary differs between inspection and preparation")
	}
	direct, err := engine.SignTransaction(t.Context(), org, ethereumIntent(vectorAddr, legacy))
	testenv.Must(t, err)
	for range 2 {
		if got, err := prepared.Sign(t.Context()); err != nil || got != direct {
			t.Errorf("%v, %v, want %v", got, err, direct)
		}
	}
}

func TestInspectRefuses(t *testing.T) {
	_, err := all.Inspect(activity.TransactionTypeEthereum, transfer+"00", all.Limits{})
	checkError(t, err, activity.ReasonInvalidTransaction, 3, "unsignedTransaction",
		"ethereum: at byte 42: 1 byte trailing after the list of fields")
}

// walletOf is a keystore in memory whose keys are the accounts of one wallet.
type walletOf struct {
	*memory.Store
	wallet keystore.Wallet
}

func (w walletOf) FindWallet(_ context.Context, organizationID, idOrName string) (keystore.Wallet, error) {
	if organizationID != org || idOrName != w.wallet.ID && idOrName != w.wallet.Name {
		return keystore.Wallet{}, keystore.ErrKeyNotFound
	}
	return w.wallet, nil
}

func (w walletOf) WalletOf(_ context.Context, organizationID, keyID string) (keystore.Wallet, error) {
	if _, ok := w.wallet.Account(keyID); !ok || organizationID != org {
		return keystore.Wallet{}, keystore.ErrKeyNotFound
	}
	return w.wallet, nil
}

// TestSignWithWallet checks that a wallet's name stands for its keys, that two possible
// signers are refused if one must sign, and that a transfer to another account of the
// wallet is change.
func TestSignWithWallet(t *testing.T) {
	keys := memory.New()
	wallet := keystore.Wallet{ID: "w", Name: "treasury"}
	add := func(curve keystore.Curve, secret byte, path string) {
		info, err := keys.Add(t.Context(), org, keystore.NewKey{Name: path, Curve: curve, Secret: bytes.Repeat([]byte{secret}, keystore.SecretSize)})
		testenv.Must(t, err)
		wallet.Accounts = append(wallet.Accounts, keystore.Account{KeyInfo: info, Path: path})
	}
	add(keystore.CurveSecp256k1, 0x46, "m/44'/60'/0'/0/0")
	add(keystore.CurveEd25519, 0x46, "m/44'/501'/0'/0'")
	prepare := func(unsigned string) (*countersign.Prepared, error) {
		engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: walletOf{keys, wallet}, AllowHazards: []string{countersign.AllHazards}})
		testenv.Must(t, err)
		return engine.Prepare(t.Context(), org, ethereumIntent("treasury", unsigned))
	}
	prepared, err := prepare(transfer)
	testenv.Must(t, err)
	signers, err := prepared.Keys(t.Context())
	if err != nil || len(signers) != 1 || signers[0].WalletName != "treasury" || signers[0].Path != "m/44'/60'/0'/0/0" || signers[0].Name == "" {
		t.Errorf("keys %+v, %v", signers, err)
	}
	effects, err := prepared.Effects(t.Context())
	if err != nil || slices.ContainsFunc(effects, func(effect chains.Effect) bool { return effect.Change }) {
		t.Errorf("effects %+v, %v", effects, err)
	}

	add(keystore.CurveSecp256k1, 0x47, "m/44'/60'/0'/0/1")
	if _, err := prepare(transfer); err == nil || !strings.Contains(err.Error(), "2 of the wallet's keys could sign: name one by its address or id") {
		t.Errorf("two keys: %v", err)
	}
	checkMine(t, walletOf{keys, wallet})
}

// checkMine pays the second account of a wallet from its first, which is a payment to an
// account of the organization, and an account from itself, which is change.
func checkMine(t *testing.T, keys walletOf) {
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys})
	testenv.Must(t, err)
	for account, change := range map[int]bool{0: true, 2: false} {
		to := all.Addresses(keys.wallet.Accounts[account].PublicKey)[0].Address
		unsigned := strings.Replace(transfer, "08d2b0a37f869ff76bacb5bab3278e26ab7067b7", strings.ToLower(to[2:]), 1)
		prepared, err := engine.Prepare(t.Context(), org, ethereumIntent(keys.wallet.Accounts[0].ID, unsigned))
		testenv.Must(t, err)
		effects, err := prepared.Effects(t.Context())
		if err != nil || effects[0].To.String() != to || effects[0].Change != change || effects[0].Controlled != chains.ControlledYes {
			t.Errorf("to account %d: %+v, %v", account, effects, err)
		}
	}
}
