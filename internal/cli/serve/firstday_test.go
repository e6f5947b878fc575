package serve_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

const firstPolicy = `schema: countersign.policy/2
lists:
  payees: ["0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"]
assets:
  mainnet: {chain: "eip155:1", token: native}
limits:
  - {name: daily, asset: mainnet, max: "5", window: 24h, per: organization}
rules:
  - name: payouts
    allow: transfer
    when: effect.asset == mainnet && effect.to in payees && effect.amount <= ether('0.1')
  - name: large
    allow: transfer
    when: effect.asset == mainnet && effect.to in payees && effect.amount <= ether('1')
    limit: daily
    approvals: [{count: 1, tag: finance, not: submitter}]
  - name: gas
    allow: fee
    when: effect.amount <= ether('0.02')
`

// firstLarge pays 1 ether, for which the policy requires an approval.
const firstLarge = "02f00107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b7880de0b6b3a764000080c0"

// TestFirstDay plays an operator's first day: set-up, two users and an approver, a policy,
// TLS, and an unmodified client of a public SDK, which waits for the approval of a large
// payment. Under load, the API key and the certificate are replaced and a backup is made
// without a single failed request. Then the backup is restored elsewhere: its log is a
// prefix of the server's, and the earlier answer is there, for the SDK too, and verifies.
func TestFirstDay(t *testing.T) {
	t.Parallel()
	testenv.Node(t, "clients.mjs") // skips before the set-up
	s := clitest.NewServed(t)
	path := func(name string) string { return filepath.Join(s.Dir, name) }
	addUser(t, s, "ada", "ada.json")
	addUser(t, s, "ci", "ci-old.json")
	addUser(t, s, "bo", "bo.json", "--tag", "finance", "--votes")
	clitest.WritePrivate(t, path("policy.yaml"), firstPolicy)
	s.Edit(t, "    name: Example\n", "    name: Example\n    policy: policy.yaml\n")
	trusted := &certificates{pool: x509.NewCertPool()}
	trusted.add(clitest.WriteCertificate(t, s.Dir))
	s.Edit(t, "# tls: {certFile: cert.pem, keyFile: key.pem}", "tls: {certFile: cert.pem, keyFile: key.pem}")
	s.Run(t, "serve", "--check", "--config", s.Config())
	n := s.Start(t, "--admin", "none")
	url := strings.Replace(n.Base, "http:", "https:", 1)

	// The answer that must survive, with the engine's proofs.
	public := newSDK(t, s, url, path("cert.pem"))
	waiting, request := public.submits(t, path("ada.json"), firstLarge)
	answered := approved(t, trusted.client(t, url, path("ada.json")), trusted.client(t, url, path("bo.json")), waiting.Activity.ID, request)
	signed := answered.Result.SignTransaction.SignedTransaction
	public.hasSigned(t, path("ada.json"), answered.ID, signed)

	ci := &load{t: t, s: s, by: trusted.client(t, url, path("ci-old.json"))}
	ci.start(4)
	ci.more(8)
	addKey(t, s, path("ci-old.json"), "ci-new.json")
	reloads(t, n)
	next := trusted.client(t, url, path("ci-new.json"))
	testenv.Await(t, "the new key", func() bool { _, err := next.WhoAmI(t.Context()); return err == nil })
	old := ci.use(next)
	ci.more(8)
	removeKey(t, s, path("ci-old.json"))
	renewed := clitest.WriteCertificate(t, s.Dir)
	trusted.add(renewed)
	reloads(t, n)
	testenv.Await(t, "the end of the old key", func() bool { _, err := old.WhoAmI(t.Context()); return err != nil })
	testenv.Await(t, "the new certificate", func() bool { return trusted.served(t, url).Equal(renewed) })
	public = newSDK(t, s, url, path("cert.pem"))
	if got, _ := public.submits(t, path("ci-new.json"), clitest.Unsigned); got.Activity.Result.SignTransactionResult.SignedTransaction == "" {
		t.Errorf("the SDK, with the new key and the new certificate: %+v", got)
	}
	ci.more(8)
	backedUp := filepath.Join(t.TempDir(), "backup")
	s.Run(t, "backup", "--config", s.Config(), backedUp)
	ci.more(8)
	ci.stop()
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Fatalf("exit status %d: %s", status, n.Log)
	}

	shown, err := exec.CommandContext(t.Context(), "countersign", "activities", "show", "--config", s.Config(), answered.ID).CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?s)\n  rules  large, gas\n  limit  daily of .*: this activity 1000000000000000000, of 5000000000000000000 in 24h0m0s; left now 4000000000000000000\n  votes  1, by rule large\n`).Match(shown) {
		t.Errorf("what the policy decided: %v: %s", err, shown)
	}

	// On another machine.
	restored := &clitest.Served{Dir: filepath.Join(t.TempDir(), "restored"), By: s.By, Signer: s.Signer}
	s.Run(t, "restore", backedUp, restored.Dir)
	secret := testenv.Read(t, path(setup.PassphraseName))
	clitest.WritePrivate(t, filepath.Join(restored.Dir, setup.PassphraseName), string(secret))
	logsAgree(t, s, restored)
	second := restored.Start(t, "--admin", "none")
	url = strings.Replace(second.Base, "http:", "https:", 1)
	public.url = url
	public.hasSigned(t, path("ada.json"), answered.ID, signed)
	again, err := trusted.client(t, url, path("ada.json")).Submit(t.Context(), request)
	if err != nil || !bytes.Equal(bytes.TrimSpace(again.Answer), bytes.TrimSpace(answered.Answer)) {
		t.Errorf("the answer from before the backup: %v\n%s\n%s", err, again.Answer, answered.Answer)
	}
	if status := second.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Fatalf("exit status %d: %s", status, second.Log)
	}
	clitest.WritePrivate(t, path("answer.json"), string(again.Answer))
	clitest.WritePrivate(t, path("body.json"), string(request.Body))
	key, err := exec.CommandContext(t.Context(), "openssl", "pkey", "-in", path("proof.pem"), "-pubout").Output()
	testenv.Must(t, err)
	clitest.WritePrivate(t, path("proof-public.pem"), string(key))
	var log struct{ LogKey string }
	testenv.JSON(t, s.Run(t, "log", "key", "--config", s.Config()), &log)
	if out := s.Run(t, "verify", "--proof-key", path("proof-public.pem"), "--log-key", log.LogKey, "--body", path("body.json"), path("answer.json")); !strings.Contains(string(out), `"log"],"skipped":[]`) {
		t.Errorf("%s", out)
	}
}

// approved waits for a submitted request as a client does, while another user's key
// approves it.
func approved(t *testing.T, client, approver *api.Client, id string, request *activity.Request) *api.Activity {
	t.Helper()
	waiting, err := client.GetActivity(t.Context(), id)
	if err != nil || !waiting.Status.Waits() {
		t.Fatalf("it does not wait: %v, %+v", err, waiting)
	}
	type outcome struct {
		activity *api.Activity
		err      error
	}
	done := make(chan outcome, 1)
	go func() {
		signed, err := client.Wait(t.Context(), waiting)
		done <- outcome{signed, err}
	}()
	shown, err := approver.FindWaiting(t.Context(), request.Fingerprint)
	if err != nil || len(shown.Review.Sentences) == 0 {
		t.Fatalf("what is shown: %v, %+v", err, shown)
	}
	if voted, err := approver.Vote(t.Context(), shown, activity.SelectionApproved); err != nil || voted.Status != activity.StatusCompleted {
		t.Fatalf("the vote: %v, %+v", err, voted)
	}
	signed := <-done
	if signed.err != nil || signed.activity.Result.SignTransaction == nil || len(signed.activity.Votes) != 2 {
		t.Fatalf("after the vote: %v, %+v", signed.err, signed.activity)
	}
	return signed.activity
}

// logsAgree verifies the logs of a server and of its restored backup. The backup's log must
// be a prefix of the server's, and verifying it must report that it is shorter.
func logsAgree(t *testing.T, server, restored *clitest.Served) {
	t.Helper()
	checkpoints := map[*clitest.Served]string{}
	for _, s := range []*clitest.Served{server, restored} {
		s.Run(t, "log", "verify", "--config", s.Config())
		checkpoints[s] = filepath.Join(t.TempDir(), "checkpoint")
		clitest.WritePrivate(t, checkpoints[s], string(s.Run(t, "log", "checkpoint", "--config", s.Config())))
	}
	server.Run(t, "log", "verify", "--config", server.Config(), "--checkpoint", checkpoints[restored])
	shorter := exec.CommandContext(t.Context(), "countersign", "log", "verify", "--config", restored.Config(), "--checkpoint", checkpoints[server])
	if out, err := shorter.CombinedOutput(); err == nil || !strings.Contains(string(out), "an earlier backup was restored") {
		t.Errorf("the backup against the server's checkpoint: %v: %s", err, out)
	}
}

// addUser creates an API key and adds its user to the configuration.
func addUser(t *testing.T, s *clitest.Served, name, file string, flags ...string) {
	t.Helper()
	lines := s.Run(t, append([]string{"apikey", "new", "--name", name, "--org", s.By.OrganizationID, "--out", filepath.Join(s.Dir, file)}, flags...)...)
	s.Edit(t, "    users:\n", "    users:\n"+string(lines))
}

// addKey creates another API key for a user who has one.
func addKey(t *testing.T, s *clitest.Served, has, file string) {
	t.Helper()
	added := s.Run(t, "apikey", "new", "--name", "ci", "--config", s.Config(), "--out", filepath.Join(s.Dir, file))
	editKey(t, s, has, func(line string) string { return line + string(added) })
}

// removeKey removes an API key from the configuration.
func removeKey(t *testing.T, s *clitest.Served, file string) {
	t.Helper()
	editKey(t, s, file, func(string) string { return "" })
}

// editKey changes the line of an API key in the configuration.
func editKey(t *testing.T, s *clitest.Served, file string, change func(line string) string) {
	t.Helper()
	key, err := api.ReadKey(file)
	testenv.Must(t, err)
	content := testenv.Read(t, s.Config())
	lines := strings.SplitAfter(string(content), "\n")
	for i, line := range lines {
		if strings.Contains(line, hex.EncodeToString(key.PublicKey())) {
			lines[i] = change(line)
		}
	}
	clitest.WritePrivate(t, s.Config(), strings.Join(lines, ""))
}

func firstRequest(t *testing.T, s *clitest.Served, unsigned string) *activity.Request {
	t.Helper()
	request, err := activity.NewRequest(
		activity.Envelope{OrganizationID: s.By.OrganizationID, Time: time.Now(), GenerateAppProofs: true},
		activity.SignTransactionIntent{SignWith: s.Signer, UnsignedTransaction: unsigned, Type: activity.TransactionTypeEthereum})
	testenv.Must(t, err)
	return request
}

// certificates are the certificates that the clients trust.
type certificates struct {
	mu   sync.Mutex
	pool *x509.CertPool
	all  []*x509.Certificate
}

func (c *certificates) add(certificate *x509.Certificate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, certificate)
	c.pool = x509.NewCertPool()
	for _, one := range c.all {
		c.pool.AddCert(one)
	}
}

// config trusts the certificates trusted at the time of each connection.
func (c *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, //nolint:gosec // VerifyConnection does it, by the pool of the moment
		VerifyConnection: func(state tls.ConnectionState) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: c.pool})
			return err
		},
	}
}

// client returns a client that opens a connection for each request and never retries.
func (c *certificates) client(t *testing.T, url, keyFile string) *api.Client {
	t.Helper()
	key, err := api.ReadKey(keyFile)
	testenv.Must(t, err)
	to, err := api.New(api.Config{URL: url, Key: key, Retries: -1, Poll: 10 * time.Millisecond, HTTP: &http.Client{
		Transport: &http.Transport{TLSClientConfig: c.config(), DisableKeepAlives: true},
	}})
	testenv.Must(t, err)
	return to
}

// served returns the certificate that a server presents.
func (c *certificates) served(t *testing.T, url string) *x509.Certificate {
	t.Helper()
	connected, err := tls.Dial("tcp", strings.TrimPrefix(url, "https://"), c.config())
	testenv.Must(t, err)
	defer connected.Close()
	return connected.ConnectionState().PeerCertificates[0]
}

// load sends requests, all of which must succeed.
type load struct {
	t  *testing.T
	s  *clitest.Served
	mu sync.RWMutex // read-locked during a request
	by *api.Client

	count   sync.Mutex
	sent    int
	wanted  sync.Cond
	stopped bool
	workers sync.WaitGroup
}

func (l *load) start(workers int) {
	l.wanted.L = &l.count
	for range workers {
		l.workers.Go(func() {
			for l.one() {
			}
		})
	}
}

// one sends one request.
func (l *load) one() bool {
	l.count.Lock()
	stopped, i := l.stopped, l.sent+1
	l.sent = i
	l.count.Unlock()
	if stopped {
		return false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	done, err := l.by.Submit(l.t.Context(), firstRequest(l.t, l.s, clitest.NthTransaction(i)))
	if err != nil || done.Result.SignTransaction == nil {
		l.t.Errorf("request %d failed: %v", i, err)
	}
	l.wanted.Broadcast()
	return err == nil
}

// more waits until n more requests have been sent.
func (l *load) more(n int) {
	l.count.Lock()
	defer l.count.Unlock()
	for until := l.sent + n; l.sent < until && !l.t.Failed(); {
		l.wanted.Wait()
	}
}

// use switches to another client once the requests in flight are done.
func (l *load) use(next *api.Client) (old *api.Client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, l.by = l.by, next
	return old
}

func (l *load) stop() {
	l.count.Lock()
	l.stopped = true
	l.count.Unlock()
	l.workers.Wait()
	l.t.Logf("%d requests, none of which failed", l.sent)
}

// reloads makes the server re-read its configuration.
func reloads(t *testing.T, n *clitest.Node) {
	t.Helper()
	testenv.Must(t, n.Command.Process.Signal(syscall.SIGHUP))
}
