package policy_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// solanaEffects returns the effects, without the fee, of a transaction of one instruction.
func solanaEffects(t *testing.T, program string, accounts []sdk.PublicKey, data []byte) []chains.Effect {
	t.Helper()
	us := sdk.PublicKey{1}
	var metas sdk.AccountMetaSlice
	for _, account := range accounts {
		metas = append(metas, sdk.NewAccountMeta(account, true, account == us))
	}
	tx, err := sdk.NewTransaction([]sdk.Instruction{sdk.NewInstruction(sdk.MustPublicKeyFromBase58(program), metas, data)}, sdk.Hash{9}, sdk.TransactionPayer(us))
	testenv.Must(t, err)
	tx.Signatures = make([]sdk.Signature, 1)
	raw, err := tx.MarshalBinary()
	testenv.Must(t, err)
	parsed, err := solana.Chain{}.Parse(raw)
	testenv.Must(t, err)
	return parsed.Effects()[1:]
}

// TestSettingsAreBounded: a rule bounds what a Solana instruction sets: numbers as numbers, with
// their sign, and addresses.
func TestSettingsAreBounded(t *testing.T) {
	us, account, hook := sdk.PublicKey{1}, sdk.PublicKey{2}, sdk.PublicKey{3}
	own := []sdk.PublicKey{account, us}
	const vote, token2022 = "Vote111111111111111111111111111111111111111", "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
	commission := func(percent byte) []chains.Effect {
		return solanaEffects(t, vote, own, []byte{5, 0, 0, 0, percent})
	}
	number := func(head []byte, value int16, more ...byte) []chains.Effect {
		return solanaEffects(t, token2022, own, slices.Concat(binary.LittleEndian.AppendUint16(head, uint16(value)), more))
	}
	for name, test := range map[string]struct {
		when    string
		effects []chains.Effect
		allowed bool
	}{
		"a commission of 10 %":      {"effect.number('commission') <= 10", commission(10), true},
		"of 11 %":                   {"effect.number('commission') <= 10", commission(11), false},
		"of 100 %":                  {"effect.number('commission') <= 10", commission(100), false},
		"a transfer fee":            {"effect.number('fee in basis points') <= 100", number([]byte{26, 5}, 100, make([]byte, 8)...), true},
		"one that is too large":     {"effect.number('fee in basis points') <= 100", number([]byte{26, 5}, 101, make([]byte, 8)...), false},
		"a rate":                    {"effect.number('rate in basis points') >= -50 && effect.number('rate in basis points') <= 50", number([]byte{33, 1}, -50), true},
		"one that is too small":     {"effect.number('rate in basis points') >= -50 && effect.number('rate in basis points') <= 50", number([]byte{33, 1}, -51), false},
		"the known hook":            {"effect.arg('hook program') == '" + hook.String() + "'", solanaEffects(t, token2022, own, append([]byte{36, 1}, hook[:]...)), true},
		"another hook":              {"effect.arg('hook program') == '" + us.String() + "'", solanaEffects(t, token2022, own, append([]byte{36, 1}, hook[:]...)), false},
		"no hook":                   {"effect.arg('hook program') == 'none'", solanaEffects(t, token2022, own, append([]byte{36, 1}, make([]byte, 32)...)), true},
		"no commission":             {"effect.number('commission') <= 10", number([]byte{33, 1}, 5), false},
		"a state that is forbidden": {"effect.arg('account state') != 'Frozen'", solanaEffects(t, token2022, own, []byte{28, 1, 2}), false},
	} {
		got, _ := decide(t, "schema: countersign.policy/2\nrules:\n  - {name: sets, allow: settings, when: \""+test.when+"\"}\n", ask(test.effects...))
		if strings.Contains(got, "allowed by sets") != test.allowed {
			t.Errorf("%s: %s", name, got)
		}
	}
}
