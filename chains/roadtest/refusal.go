package roadtest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// checkCut: the beginning of a transaction is refused; or it is another one, in a
// format whose last fields may be left out, and then that is seen.
func checkCut(t *testing.T, chain chains.NewChain, sample Sample) {
	whole := parse(t, chain, sample.Raw).Summary().Digest()
	for end := range sample.Raw {
		beginning := sample.Raw[:end:end]
		tx, err := chain.Parse(beginning)
		if err != nil {
			checkRefusal(t, chain, beginning)
		} else if tx.Summary().Digest() == whole {
			t.Errorf("%x is shown as the whole transaction", beginning)
		}
	}
}

// checkTrailing: nothing is left over.
func checkTrailing(t *testing.T, chain chains.NewChain, sample Sample) {
	for _, value := range Boundaries {
		checkRefusal(t, chain, append(bytes.Clone(sample.Raw), value))
	}
}

// checkRefusal: a refusal is a ParseError that says which chain, of what kind,
// where and why.
func checkRefusal(t *testing.T, chain chains.NewChain, raw []byte) {
	t.Helper()
	tx, err := chain.Parse(raw)
	if err == nil || tx != nil {
		t.Fatalf("%x is accepted, or refused (%v) and yet returned", raw, err)
	}
	refusal, ok := errors.AsType[*chains.ParseError](err)
	switch {
	case !ok:
		t.Fatalf("%x: a %T: %v", raw, err, err)
	case refusal.Chain != chain.Name() || !strings.HasPrefix(err.Error(), chain.Name()+": "):
		t.Errorf("%x: %q does not begin with the chain", raw, err)
	case !errors.Is(err, chains.ErrMalformed) && !errors.Is(err, chains.ErrUnsupported):
		t.Errorf("%x: %q is of no kind", raw, err)
	case refusal.Offset < -1 || refusal.Offset > len(raw):
		t.Errorf("%x: %q names a byte that is not there", raw, err)
	case refusal.Problem == "":
		t.Errorf("%x: %q names no problem", raw, err)
	}
}
