package chaintest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// checkCut checks that each prefix of a transaction is refused, or has another digest if
// the last fields of the format are optional.
func checkCut(t *testing.T, chain chains.Chain, sample Sample) {
	whole := parse(t, chain, sample.Raw).Summary().Digest()
	for end := range sample.Raw {
		prefix := sample.Raw[:end:end]
		tx, err := chain.Parse(prefix)
		if err != nil {
			checkRefusal(t, chain, prefix)
		} else if tx.Summary().Digest() == whole {
			t.Errorf("%x has the digest of the whole transaction", prefix)
		}
	}
}

// checkTrailing checks that a trailing byte is refused.
func checkTrailing(t *testing.T, chain chains.Chain, sample Sample) {
	for _, value := range Boundaries {
		checkRefusal(t, chain, append(bytes.Clone(sample.Raw), value))
	}
}

// checkRefusal checks that bytes are refused with a complete ParseError.
func checkRefusal(t *testing.T, chain chains.Chain, raw []byte) {
	t.Helper()
	tx, err := chain.Parse(raw)
	if err == nil || tx != nil {
		t.Fatalf("%x is accepted, or refused (%v) and a transaction returned", raw, err)
	}
	refusal, ok := errors.AsType[*chains.ParseError](err)
	switch {
	case !ok:
		t.Fatalf("%x: a %T: %v", raw, err, err)
	case refusal.Chain != chain.Name() || !strings.HasPrefix(err.Error(), chain.Name()+": "):
		t.Errorf("%x: %q does not begin with the chain", raw, err)
	case !errors.Is(err, chains.ErrMalformed) && !errors.Is(err, chains.ErrUnsupported):
		t.Errorf("%x: %q has no kind", raw, err)
	case refusal.Offset < -1 || refusal.Offset > len(raw):
		t.Errorf("%x: %q has an offset out of range", raw, err)
	case refusal.Problem == "":
		t.Errorf("%x: %q has no problem", raw, err)
	}
}
