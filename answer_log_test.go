package countersign_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/translog"
	"github.com/countersign-dev/countersign/verify"
)

// withLogKey makes an engine keep a log, and sign it with the key that is derived from
// seed.
func withLogKey(seed byte) func(*countersign.Config) {
	return func(c *countersign.Config) { c.Log, c.LogSigner = true, logSigner(seed) }
}

func logSigner(seed byte) *translog.Signer {
	return translog.NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)))
}

// logIn returns the log's proof in an answer.
func logIn(t *testing.T, answer []byte) *activity.LogProof {
	t.Helper()
	var read struct {
		Activity struct{ Log *activity.LogProof }
	}
	if err := json.Unmarshal(answer, &read); err != nil {
		t.Fatal(err)
	}
	return read.Activity.Log
}

// withLogOf returns an answer whose log proof is replaced by another one.
func withLogOf(t *testing.T, answer []byte, other activity.LogProof) []byte {
	t.Helper()
	own, err := json.Marshal(logIn(t, answer))
	if err != nil {
		t.Fatal(err)
	}
	others, err := json.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
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
	f := enginetest.New(t, withLogKey(1))
	key := logSigner(1).VerifierKey(enginetest.Organization)
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

	other := enginetest.New(t, withLogKey(2))
	altered, earlier, moved := good, good, good
	altered.Proof = alterLastHash(t, good.Proof)
	earlier.Checkpoint = logIn(t, first).Checkpoint
	moved.Index = 4
	record := []byte(strings.SplitN(good.Proof, "\n", 3)[1])
	relabelled := good
	relabelled.Proof = strings.Replace(good.Proof, string(record), "extra "+strings.Repeat("A", 8), 1)
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
		"no leaf":               {withLogOf(t, answer, relabelled), trust, "log: translog: not a leaf"},
		"the log of another":    {withLogOf(t, answer, foreign), trust, "log: translog: checkpoint of"},
		"another key":           {answer, verify.Trust{Chains: all.Chains(all.Limits{}), Body: trust.Body, LogKey: logSigner(2).VerifierKey(enginetest.Organization)}, "log: translog: checkpoint of"},
		"another origin":        {answer, verify.Trust{Chains: all.Chains(all.Limits{}), Body: trust.Body, LogKey: logSigner(1).VerifierKey(enginetest.OtherOrganization)}, "log: translog: checkpoint of"},
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

// TestProveLogged checks that get_activity and ProveLogged prove an activity that was
// recorded earlier, whether or not its request asked for proofs. An engine without a
// key, and an activity without a leaf, add nothing.
func TestProveLogged(t *testing.T) {
	f := enginetest.New(t, withLogKey(1))
	record, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(f.Body(enginetest.Request{})))
	if err != nil || record.Log != nil {
		t.Fatalf("%v, %+v: a proof that was not asked for", err, record.Log)
	}
	if err := f.Engine.Log().Prove(t.Context(), record); err != nil || record.Log == nil || record.Log.Index != 0 {
		t.Errorf("%v, %+v", err, record.Log)
	}
	asked := mustSubmit(t, f.Engine, f.APIKey.Sign(f.Body(enginetest.Request{Proofs: true})))
	query := fmt.Sprintf(`{"organizationId":"%s","activityId":"%s"}`, enginetest.Organization, asked.ID)
	got, err := f.Engine.GetActivity(t.Context(), f.APIKey.Sign(query))
	if err != nil || got.Log == nil || *got.Log != *asked.Log {
		t.Errorf("get_activity: %v, %+v, want %+v", err, got.Log, asked.Log)
	}
	for name, change := range map[string]func(*countersign.Config){
		"no key": func(c *countersign.Config) { c.Log = true },
		"no log": func(*countersign.Config) {},
	} {
		without := enginetest.New(t, change)
		record, err := without.Engine.Submit(t.Context(), without.APIKey.Sign(without.Body(enginetest.Request{Proofs: true})))
		if err == nil {
			err = without.Engine.Log().Prove(t.Context(), record)
		}
		if err != nil || record.Log != nil {
			t.Errorf("%s: %v, %+v", name, err, record.Log)
		}
	}
	if _, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: f.Config.Keystore, Directory: f.Config.Directory, LogSigner: logSigner(1)}); err == nil || !strings.Contains(err.Error(), "LogSigner needs Config.Log") {
		t.Errorf("a key without a log: %v", err)
	}
}

// TestLogOfOrganizations checks whose logs an engine signs: with a directory those of its
// organizations, without one all; and that a directory that cannot be read is not taken
// for one without the organization.
func TestLogOfOrganizations(t *testing.T) {
	unreadable := errors.New("connection refused")
	for name, tried := range map[string]struct {
		change func(*countersign.Config)
		reason activity.Reason
	}{
		"in the directory": {func(*countersign.Config) {}, ""},
		"not in it":        {func(c *countersign.Config) { c.Directory = failingDirectory{access.ErrOrganizationNotFound} }, activity.ReasonNotFound},
		"cannot be read":   {func(c *countersign.Config) { c.Directory = failingDirectory{unreadable} }, activity.ReasonUnavailable},
		"there is none":    {func(c *countersign.Config) { c.Directory, c.Store = nil, memory.New(0) }, ""},
		"the store is closed": {func(c *countersign.Config) {
			closed := memory.New(0)
			_ = closed.Close()
			c.Store = closed
		}, activity.ReasonUnavailable},
	} {
		f := enginetest.New(t, withLogKey(1), tried.change)
		_, err := f.Engine.Log().Advance(t.Context(), enginetest.Organization, 0)
		if refused, _ := errors.AsType[*activity.Error](err); err != nil && (refused == nil || refused.Reason != tried.reason) || err == nil && tried.reason != "" {
			t.Errorf("%s: %v, want %q", name, err, tried.reason)
		}
	}
}

// failingDirectory is a directory whose every answer is an error.
type failingDirectory struct{ err error }

func (d failingDirectory) Organization(context.Context, string) (*access.Organization, error) {
	return nil, d.err
}

func (d failingDirectory) Member(context.Context, string, stamp.ID) (*access.Member, error) {
	return nil, d.err
}
