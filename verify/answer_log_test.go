package verify_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/verify"
)

// logIn returns the log's proof in an answer.
func logIn(t *testing.T, answer []byte) *activity.LogProof {
	t.Helper()
	var read struct {
		Activity struct{ Log *activity.LogProof }
	}
	testenv.JSON(t, answer, &read)
	return read.Activity.Log
}

// withLogOf returns an answer whose log proof is replaced by another one.
func withLogOf(t *testing.T, answer []byte, other activity.LogProof) []byte {
	t.Helper()
	own := testenv.Encode(t, logIn(t, answer))
	others := testenv.Encode(t, other)
	if !bytes.Contains(answer, own) {
		t.Fatalf("%s is not in %s", own, answer)
	}
	return bytes.Replace(answer, own, others, 1)
}

// TestVerifyAnswerLog checks that the answer to a request for proofs proves that its
// activity is in the log, is the same on every repeat, and verifies with the log's key
// only. An altered proof, the proof of another leaf or log, an earlier checkpoint and a
// missing proof are refused.
func TestVerifyAnswerLog(t *testing.T) {
	f := enginetest.New(t, enginetest.WithLog(1))
	key := enginetest.LogSigner(1).VerifierKey(enginetest.Organization)
	ask := func(i int) string {
		return f.Body(enginetest.Request{Proofs: true, At: f.Clock.Now().Add(time.Duration(i) * time.Millisecond)})
	}
	first := answerTo(t, f, ask(0))
	for i := 1; i < 5; i++ {
		answerTo(t, f, ask(i))
	}
	body := ask(5)
	answer := answerTo(t, f, body)
	if again := answerTo(t, f, ask(0)); !bytes.Equal(first, again) {
		t.Errorf("answered again with another proof:\n%s\n%s", first, again)
	}
	trust := verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte(body), ProofKey: &f.ProofKey.PublicKey, LogKey: key}
	checks, err := verify.Answer(answer, trust)
	if err != nil || checksOf(checks) != "body status proof result summary log" {
		t.Fatalf("%v, %v", checks, err)
	}
	good := *logIn(t, answer)
	if size := len(good.Proof) + len(good.Checkpoint); good.Index != 5 || size > 1100 {
		t.Errorf("leaf %d, %d bytes", good.Index, size)
	}

	other := enginetest.New(t, enginetest.WithLog(2))
	altered, earlier, moved := good, good, good
	altered.Proof = alterLastHash(t, good.Proof)
	earlier.Checkpoint = logIn(t, first).Checkpoint
	moved.Index = 4
	record := []byte(strings.SplitN(good.Proof, "\n", 3)[1])
	relabeled := good
	relabeled.Proof = strings.Replace(good.Proof, string(record), "extra "+strings.Repeat("A", 8), 1)
	foreign := *logIn(t, answerTo(t, other, other.Body(enginetest.Request{Proofs: true})))
	plain := f.Body(enginetest.Request{SignWith: strings.ToLower(enginetest.Address)})
	for name, tried := range map[string]struct {
		answer []byte
		trust  verify.Trust
		want   string
	}{
		"an altered hash":       {withLogOf(t, answer, altered), trust, "log: translog: the leaf is not in the log that the checkpoint signs"},
		"an earlier checkpoint": {withLogOf(t, answer, earlier), trust, "log: translog: leaf 5 is not in a log of 1"},
		"the leaf of another":   {withLogOf(t, answer, *logIn(t, first)), trust, "log: the leaf is that of another body"},
		"another index":         {withLogOf(t, answer, moved), trust, "log: the proof is of leaf 5, not of leaf 4"},
		"no leaf":               {withLogOf(t, answer, relabeled), trust, "log: translog: not a leaf"},
		"the log of another":    {withLogOf(t, answer, foreign), trust, "log: translog: checkpoint of"},
		"another key":           {answer, verify.Trust{Chains: all.Chains(all.Limits{}), Body: trust.Body, LogKey: enginetest.LogSigner(2).VerifierKey(enginetest.Organization)}, "log: translog: checkpoint of"},
		"another origin":        {answer, verify.Trust{Chains: all.Chains(all.Limits{}), Body: trust.Body, LogKey: enginetest.LogSigner(1).VerifierKey(enginetest.OtherOrganization)}, "log: translog: checkpoint of"},
		"none":                  {answerTo(t, f, plain), verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte(plain), LogKey: key}, "log: there is no proof of it"},
		"null":                  {bytes.Replace(answer, []byte(`"log":{`), []byte(`"log":null,"was":{`), 1), trust, "log: there is no proof of it"},
	} {
		if _, err := verify.Answer(tried.answer, tried.trust); !errors.Is(err, verify.ErrAnswer) || !strings.Contains(err.Error(), tried.want) {
			t.Errorf("%s: %v, want %s", name, err, tried.want)
		}
	}
	if _, err := verify.Short(verify.ShortAnswer{}, trust); !errors.Is(err, verify.ErrAnswer) || !strings.Contains(err.Error(), "log: a short answer has no proof of it") {
		t.Errorf("a short answer: %v", err)
	}
}

// alterLastHash changes one bit of the last hash of a proof.
func alterLastHash(t *testing.T, proof string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(proof, "\n"), "\n")
	if len(lines) < 4 {
		t.Fatalf("a proof without a hash: %s", proof)
	}
	last := []byte(lines[len(lines)-1])
	last[0] = 'A' + 'B' - max('A', min(last[0], 'B'))
	lines[len(lines)-1] = string(last)
	return strings.Join(lines, "\n") + "\n"
}
