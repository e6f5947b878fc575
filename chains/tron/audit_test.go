package tron

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// finding is a transaction that an audit found signed without a warning: what its
// summary must say, the hazards that it carries, and what its refusal says if nothing
// can allow it.
type finding struct {
	Name, Finding, Hex string
	Shows, Hazards     []string
	Refused            string
}

// TestFindings has what an audit found, as bytes.
func TestFindings(t *testing.T) {
	var file struct{ Cases []finding }
	chaintest.ReadJSON(t, "testdata/audit/findings.json", &file)
	if len(file.Cases) == 0 {
		t.Fatal("there are none")
	}
	for _, c := range file.Cases {
		t.Run(c.Finding+" "+c.Name, func(t *testing.T) { checkFinding(t, c) })
	}
}

func checkFinding(t *testing.T, c finding) {
	tx, err := Chain{}.Parse(chaintest.Unhex(t, c.Hex))
	if err != nil || c.Refused != "" {
		if err == nil || c.Refused == "" || !strings.Contains(err.Error(), c.Refused) {
			t.Errorf("%v, want a refusal that says %q", err, c.Refused)
		}
		return
	}
	if got := chaintest.Names(tx.Hazards()); !slices.Equal(got, c.Hazards) {
		t.Errorf("hazards %v, want %v", got, c.Hazards)
	}
	var shown strings.Builder
	testenv.Must(t, chains.Render(&shown, tx.Summary().Fields))
	for _, want := range c.Shows {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, shown.String())
		}
	}
}

// TestPermissionsAreNumbered checks that an active permission is shown with the id that
// the network gives it, whatever the transaction says.
func TestPermissionsAreNumbered(t *testing.T) {
	key := lengthField(7, join(lengthField(1, chaintest.Unhex(t, ownerHex)), varintField(2, 1)))
	active := func(id int64) []byte {
		return lengthField(4, join(varintField(1, 2), varintField(2, id), varintField(4, 1), lengthField(6, make([]byte, 32)), key))
	}
	raw := rawOf(46, join(lengthField(1, chaintest.Unhex(t, ownerHex)), lengthField(2, join(varintField(4, 1), key)), active(5), active(3)))
	var shown []string
	for _, permission := range parse(t, raw).Summary().Fields[2:] {
		if !strings.HasSuffix(permission.Label, " permission") {
			break
		}
		shown = append(shown, permission.Fields[1].Label+" "+permission.Fields[1].Value+" "+permission.Fields[1].Note)
	}
	const want = "id 0 |id 2 the transaction says 5: the network numbers permissions itself|id 3 "
	if got := strings.Join(shown, "|"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLockedUntil: resources that are delegated with a lock are a stake of the owner's until
// the lock ends at the latest; without a lock, nothing is staked.
func TestLockedUntil(t *testing.T) {
	for name, c := range map[string]struct {
		fields []byte
		after  time.Duration // the expiration; 0: never
		locked bool
	}{
		"three days by default": {varintField(5, 1), 86_400 * 3 * time.Second, true},
		"a period":              {join(varintField(5, 1), varintField(6, 10)), 30 * time.Second, true},
		"beyond the year 9999":  {join(varintField(5, 1), varintField(6, 1<<62)), 0, true},
		"a period without lock": {varintField(6, 10), 0, false},
		"neither":               {nil, 0, false},
	} {
		tx := parse(t, rawOf(57, join(lengthField(1, chaintest.Unhex(t, ownerHex)), varintField(3, leastStake), lengthField(4, chaintest.Unhex(t, otherHex)), c.fields)))
		effect := tx.Effects()[0]
		want := chains.Until{}
		if c.after > 0 {
			want.Time = time.UnixMilli(tx.frame[rawExpiration].number).Add(c.after).Truncate(time.Second).UTC()
		}
		if staked := effect.Kind == chains.KindStake; staked != c.locked || effect.Until != want || staked && (!effect.To.Equal(tx.ownerParty) || effect.Amount.Value.Int64() != leastStake) {
			t.Errorf("%s: %+v, want until %v", name, effect, want)
		}
	}
}
