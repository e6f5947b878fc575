package sign_test

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/cli/sign"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/internal/ur"
)

// byConfig are flags of a call on the signing machine.
var byConfig = []string{"--config", "made/countersign.yaml", "--out", "signed.json"}

// TestCameraVotes carries a request to two voters and to the signing machine, and the votes
// to that machine, only by pictures of QR codes. Each voter is shown the transaction and
// asked, and the machine shows it and asks again for each vote. The last vote signs. Every
// second code is lost, and three programs take turns reading the others.
func TestCameraVotes(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	zbar := testenv.Tool(t, "zbarimg")
	q := newQuorum(t)
	readers := map[string]pictureReader{"ann": func(dir string) []byte { return zbarRead(q.Session, zbar, dir) }, "ben": clitest.StartWallets(t).JsQR}
	asked := gozxing(q.Session, drawn(t, q.Session, []byte(clitest.Unsigned), false, "request", "--type", "ethereum", "--sign-with", clitest.Address,
		"--api-key", "made/api-key.json", "--body", "body.json", "--qr", "--fps", "30"))
	votes := map[string][]byte{}
	for name, read := range readers {
		votes[name] = read(drawn(t, q.Session, asked, true, "approve", "--scan", "--api-key", name+".json", "--qr", "--fps", "30"))
	}

	q.counts(string(votes["ann"]), "", "pass the request to this command before its votes")
	q.counts(string(asked), "y\n", "waits for votes (missing: 2 of 2 votes with tag finance")
	q.counts(string(votes["ann"]), "n\n", "not counted: the answer was not yes")
	q.counts(string(votes["ann"]), "y\n", "missing: 1 of 2 votes with tag finance")
	q.counts(string(votes["ann"]), "y\n", "missing: 1 of 2 votes with tag finance")
	answer := zbarRead(q.Session, zbar, drawn(t, q.Session, votes["ben"], true, "sign", "--config", "made/countersign.yaml", "--scan", "--qr", "--fps", "30"))

	collector := ur.NewCollector(ur.TypeAnswer)
	for code := range strings.FieldsSeq(string(answer)) {
		testenv.Must(t, collector.Add(code))
	}
	message, _ := collector.Message()
	short, err := ur.DecodeAnswer(message)
	if err != nil || hex.EncodeToString(short.Signed) != clitest.Signed {
		t.Fatalf("answered %x, %v", short.Signed, err)
	}
	_, stderr, status := q.Scanned(string(votes["ben"]), "", byConfig...) // a recorded answer is not confirmed again
	if status != console.ExitSuccess || !strings.Contains(stderr, sign.RecordedBefore) {
		t.Errorf("a vote again: exit status %d: %s", status, stderr)
	}
	q.Must(nil, "verify", "--config", "made/countersign.yaml", "--votes", "2", "--body", "body.json", "signed.json")
}

// counts scans codes at the signing machine and answers its question. Nothing may be signed,
// and standard error must contain why.
func (q *quorum) counts(codes, answer, why string) {
	q.T.Helper()
	stdout, stderr, status := q.Scanned(codes, answer, byConfig...)
	if status != console.ExitFailure || stdout != "" || !strings.Contains(stderr, why) {
		q.T.Errorf("exit status %d, printed %q, without %q:\n%s", status, stdout, why, stderr)
	}
}

// TestScannedRejection checks that a rejection ends a request, whatever votes follow.
func TestScannedRejection(t *testing.T) {
	t.Parallel()
	q := newQuorum(t)
	q.asks("request.json", time.Now())
	codes := func(command, name string) string {
		q.Must(nil, command, "--yes", "--request", "request.json", "--api-key", name+".json", "--qr-png", command)
		return string(q.Must(nil, "scan", command))
	}
	approval, rejection := codes("approve", "ann"), codes("reject", "ben")
	fails(q.Session, "waits for votes (missing: 2 of 2", "sign", "--yes", "--config", "made/countersign.yaml", "--request", "request.json", "--out", "signed.json")
	q.counts(rejection, "n\n", "not counted: the answer was not yes")
	q.counts(rejection, "y\n", "the request was rejected, and is not signed")
	q.counts(approval, "", "the request was rejected, and is not signed")
	fails(q.Session, "the request was rejected, and is not signed", "sign", "--yes", "--config", "made/countersign.yaml", "--request", "request.json", "--out", "signed.json")
}

// TestVoteAndRequestCodes checks that codes of votes and of requests are not taken for each
// other, and that a vote in a request file is confirmed like a scanned one.
func TestVoteAndRequestCodes(t *testing.T) {
	t.Parallel()
	q := newQuorum(t)
	q.asks("request.json", time.Now())
	sent, err := show.ParseRequestFile("request.json", q.Read("request.json"))
	testenv.Must(t, err)
	request := ur.Request{Body: sent.Body, Header: sent.Stamps[0].Name, Value: sent.Stamps[0].Value}
	q.counts(ur.Vote(request).Message().String(), "", "the scanned vote: it is ACTIVITY_TYPE_SIGN_TRANSACTION_V2, not a vote")
	_, stderr, status := q.Run([]byte(ur.Vote(request).Message().String()+"\n"), "approve", "--yes", "--scan", "--api-key", "ann.json", "--out", "vote.json")
	if want := "the code is of type x-countersign-vote; taken here: x-countersign-request, bbqr-json"; status != console.ExitFailure || !strings.Contains(string(stderr), want) {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	fails(q.Session, "waits for votes", "sign", "--yes", "--config", "made/countersign.yaml", "--request", "request.json", "--out", "signed.json")
	_, stderr, status = q.Run(nil, "sign", "--config", "made/countersign.yaml", "--request", "ann-request.json", "--out", "signed.json")
	if status != console.ExitUsage || !strings.Contains(string(stderr), "this asks for confirmation") || !strings.Contains(string(stderr), "\nethereum transaction\n") {
		t.Errorf("a vote in the file of a request: exit status %d: %s", status, stderr)
	}
	fails(q.Session, "missing: 1 of 2", "sign", "--yes", "--config", "made/countersign.yaml", "--request", "ann-request.json", "--out", "signed.json")
	q.Must(nil, "sign", "--yes", "--config", "made/countersign.yaml", "--request", "ben-request.json", "--out", "signed.json")
}

// fails runs a call that must fail. Standard error must contain why.
func fails(s *clitest.Session, why string, args ...string) {
	s.T.Helper()
	if stdout, stderr, status := s.Run(nil, args...); status != console.ExitFailure || len(stdout) > 0 || !strings.Contains(string(stderr), why) {
		s.T.Errorf("countersign %q: exit status %d, printed %s, without %q:\n%s", args, status, stdout, why, stderr)
	}
}
