package chains_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestKindTable walks the kinds: the table has every declared kind once, and a kind that
// hands an asset to another party spends it, except where its own definition says that
// it does not: what is unstaked goes to its owner, and what is minted had no owner.
func TestKindTable(t *testing.T) {
	source := testenv.Read(t, "kind.go")
	var declared []chains.Kind
	for _, match := range regexp.MustCompile(`Kind\w+ +Kind = "(\w+)"`).FindAllSubmatch(source, -1) {
		declared = append(declared, chains.Kind(match[1]))
	}
	if !slices.Equal(declared, chains.Kinds()) {
		t.Errorf("declared %v, in the table %v", declared, chains.Kinds())
	}
	free := []chains.Kind{chains.KindReceive, chains.KindUnstake, chains.KindMint}
	spends := []chains.Kind{chains.KindTransfer, chains.KindApprove, chains.KindStake, chains.KindBurn, chains.KindCreate, chains.KindFee}
	for _, kind := range chains.Kinds() {
		if kind.Hands() && !kind.Spends() != slices.Contains(free, kind) {
			t.Errorf("%s hands an asset over, spends %v", kind, kind.Spends())
		}
		if kind.Spends() != slices.Contains(spends, kind) {
			t.Errorf("%s spends %v", kind, kind.Spends())
		}
	}
	if unknown := chains.Kind("bribe"); unknown.Spends() || unknown.Hands() {
		t.Error("a kind that does not exist")
	}
}

// TestWhoseInSentences checks that a sentence calls a recipient ours only if it is.
func TestWhoseInSentences(t *testing.T) {
	for _, c := range []struct {
		kind   chains.Kind
		change bool
		mine   chains.Controlled
		want   string
	}{
		{chains.KindTransfer, true, chains.ControlledYes, "send 5 units of token A to B (change, yours)"},
		{chains.KindTransfer, true, chains.ControlledNo, "send 5 units of token A to B (change)"},
		{chains.KindTransfer, false, chains.ControlledYes, "send 5 units of token A to B (yours)"},
		{chains.KindTransfer, false, chains.ControlledNo, "send 5 units of token A to B"},
		{chains.KindTransfer, false, chains.ControlledUnknown, "send 5 units of token A to B"},
		{chains.KindStake, false, chains.ControlledYes, "stake 5 units of token A, withdrawable by B (yours)"},
		{chains.KindApprove, false, chains.ControlledYes, "allow B to take 5 units of token A"},
	} {
		to, token := chains.PartyWritten([]byte{1}, "B"), chains.PartyWritten([]byte{2}, "A")
		effect := chains.Effect{Kind: c.kind, By: chains.BySigner, To: to, Change: c.change, Controlled: c.mine,
			Asset: chains.Token("eip155:1", token, "erc20"), Amount: chains.ExactlyUint(5)}
		if got := chains.Sentence(effect, nil); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
