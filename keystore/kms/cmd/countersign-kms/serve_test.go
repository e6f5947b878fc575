package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// unsigned returns a transaction with a nonce of two bytes.
func unsigned(nonce uint16) string {
	return fmt.Sprintf("02f20182%04x8477359400850826299e00825208947f8c1877ed0da352f78be4fe4cda58bb804a30df88016345785d8a000080c0", nonce)
}

// served is a running server whose keys are in AWS KMS.
type served struct {
	t       *testing.T
	aws     *loopback.AWS
	program string
	folder  string
	base    string // of the API
	admin   string
	client  *client.Client
	log     *locked
	process *exec.Cmd
	nonce   atomic.Uint32
}

// locked is a buffer that is read while it is written.
type locked struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// serveAWS starts a server with two keys and the app-proof key in AWS KMS.
func serveAWS(t *testing.T) *served {
	t.Helper()
	s := &served{t: t, aws: loopback.NewAWS(t), folder: t.TempDir(), log: &locked{}}
	s.program = build(t, s.folder)
	for name, scheme := range map[string]remote.Scheme{"hot": remote.Secp256k1, "other": remote.Secp256k1, "proof": remote.P256} {
		s.aws.Keys.Generate(name, scheme)
		s.aws.Aliases["alias/"+name] = name
	}
	s.run("init", "d")
	for _, name := range []string{"hot", "other"} {
		s.run("keys", "add", "--config", "d/countersign.yaml", "--uri", "awskms:alias/"+name+"?region=eu-central-1", "--name", name,
			"--public-key", s.aws.Keys.Public(name).Signing.String())
	}
	path := filepath.Join(s.folder, "d", "countersign.yaml")
	text := testenv.Read(t, path)
	with := strings.Replace(string(text), "proofKey: file:proof.pem", "proofKey: awskms:alias/proof?region=eu-central-1", 1)
	testenv.Write(t, path, []byte(with))
	s.start()
	key, err := client.ReadKey(filepath.Join(s.folder, "d", "api-key.json"))
	testenv.Must(t, err)
	if s.client, err = client.New(client.Config{URL: s.base, Key: key, Retries: -1}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *served) command(args ...string) *exec.Cmd {
	command := exec.CommandContext(context.WithoutCancel(s.t.Context()), s.program, args...) // the server is ended by a signal
	command.Dir, command.Env = s.folder, os.Environ()
	for name, value := range s.aws.Environment() {
		command.Env = append(command.Env, name+"="+value)
	}
	return command
}

func (s *served) run(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

var adminAddress = regexp.MustCompile(`"msg":"listening","server":"admin","address":"([^"]+)"`)

func (s *served) start() {
	s.t.Helper()
	s.process = s.command("serve", "--config", "d/countersign.yaml", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	s.process.Stderr = s.log
	out, err := s.process.StdoutPipe()
	testenv.Must(s.t, err)
	testenv.Must(s.t, s.process.Start())
	s.t.Cleanup(func() {
		_ = s.process.Process.Signal(syscall.SIGTERM)
		if err := s.process.Wait(); err != nil {
			s.t.Errorf("the server ended with %v\n%s", err, s.log)
		}
	})
	var listening struct{ Listening string }
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || json.Unmarshal([]byte(line), &listening) != nil {
		s.t.Fatalf("%q: %v\n%s", line, err, s.log)
	}
	s.logs(`"server":"admin"`)
	s.base, s.admin = "http://"+listening.Listening, "http://"+adminAddress.FindStringSubmatch(s.log.String())[1]
}

// id returns the id of a key, and its address.
func (s *served) id(name string) (string, common.Address) {
	public := s.aws.Keys.Public(name).Signing
	return remote.IDOf(public), common.Address(public.KeccakAddress())
}

// sign submits a transaction and returns who has signed it.
func (s *served) sign(keyID string) (sender common.Address, err error) {
	s.t.Helper()
	request, err := s.client.NewRequest(activity.SignTransactionIntent{SignWith: keyID, UnsignedTransaction: unsigned(uint16(0x0300 + s.nonce.Add(1))), Type: activity.TransactionTypeEthereum})
	if err != nil {
		return sender, err
	}
	answer, err := s.client.Submit(s.t.Context(), request)
	if err != nil {
		return sender, err
	}
	raw, err := hexutil.Decode("0x" + strings.TrimPrefix(answer.Result.SignTransaction.SignedTransaction, "0x"))
	if err != nil {
		return sender, err
	}
	var signed types.Transaction
	if err := signed.UnmarshalBinary(raw); err != nil {
		return sender, err
	}
	return types.Sender(types.LatestSignerForChainID(signed.ChainId()), &signed)
}

// refused submits a transaction that must be refused for a reason.
func (s *served) refused(when, keyID string, reason activity.Reason) *activity.Error {
	s.t.Helper()
	_, err := s.sign(keyID)
	refusal, ok := errors.AsType[*activity.Error](err)
	if !ok || refusal.Reason != reason {
		s.t.Errorf("%s: %v, want %s", when, err, reason)
		return &activity.Error{}
	}
	return refusal
}

func (s *served) get(path string) (int, string) {
	s.t.Helper()
	answer, err := http.Get(s.admin + path)
	testenv.Must(s.t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	testenv.Must(s.t, err)
	return answer.StatusCode, string(body)
}

// TestServe has a server sign with keys in AWS KMS: with many clients, while the service has
// faults, and while keys are moved and disabled.
func TestServe(t *testing.T) {
	s := serveAWS(t)
	hot, hotAddress := s.id("hot")
	other, otherAddress := s.id("other")
	for _, latency := range []time.Duration{50 * time.Millisecond, 2 * time.Second} {
		s.aws.Keys.SetDelay(latency)
		before := s.aws.Keys.Signed()
		var done sync.WaitGroup
		for client := range 64 {
			done.Go(func() {
				id, want := hot, hotAddress
				if client%2 == 1 {
					id, want = other, otherAddress
				}
				if sender, err := s.sign(id); err != nil || sender != want {
					t.Errorf("%v: signed by %v, %v, want %v", latency, sender, err, want)
				}
			})
		}
		done.Wait()
		if signed := s.aws.Keys.Signed() - before; signed != 64 {
			t.Errorf("%v: %d signatures were made for 64 clients", latency, signed)
		}
	}
	s.aws.Keys.SetDelay(0)

	s.aws.Keys.SetFault(keystoretest.Throttled)
	if refusal := s.refused("throttled", hot, activity.ReasonUnavailable); refusal.RetryAfter <= 0 {
		t.Errorf("throttled: %+v", refusal)
	}
	s.aws.Keys.SetFault(keystoretest.Denied)
	s.refused("denied", hot, activity.ReasonUnavailable)
	s.aws.Keys.SetFault(keystoretest.Away)
	s.refused("away", hot, activity.ReasonUnavailable)
	s.refused("away", other, activity.ReasonUnavailable)
	if status, body := s.get("/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("away: /readyz %d %s", status, body)
	}
	s.aws.Keys.SetFault(keystoretest.OtherKey)
	s.refused("another key's answer", hot, activity.ReasonInternal)
	s.aws.Keys.SetFault(keystoretest.NoFault)
	if _, err := s.sign(hot); err != nil {
		t.Errorf("after the faults: %v", err)
	}

	moved := s.aws.Keys.Public("hot")
	s.aws.Keys.Generate("hot", remote.Secp256k1)
	s.refused("moved", hot, activity.ReasonInternal)
	s.refused("moved, again", hot, activity.ReasonInternal)
	s.logs("not the pinned " + moved.String() + ": its alias")
	if status, body := s.get("/readyz"); status != http.StatusOK {
		t.Errorf("one key of two: /readyz %d %s", status, body)
	}

	s.run("keys", "disable", "--config", "d/countersign.yaml", other)
	s.refused("disabled", other, activity.ReasonNotFound)
	s.run("keys", "enable", "--config", "d/countersign.yaml", other)
	if _, err := s.sign(other); err != nil {
		t.Errorf("enabled: %v", err)
	}
	s.checkMetrics()
}

// logs waits until the log has a text: it is copied from the server's standard error.
func (s *served) logs(want string) {
	s.t.Helper()
	testenv.Await(s.t, "the log has "+want, func() bool { return strings.Contains(s.log.String(), want) })
}

func (s *served) checkMetrics() {
	s.t.Helper()
	_, metrics := s.get("/metrics")
	for _, want := range []string{
		`countersign_service_calls_total{operation="sign",outcome="ok",service="awskms"}`,
		`countersign_service_calls_total{operation="sign",outcome="throttled",service="awskms"} 1`,
		`countersign_service_calls_total{operation="sign",outcome="denied",service="awskms"} 1`,
		`countersign_service_calls_total{operation="sign",outcome="wrong",service="awskms"}`,
		`countersign_service_call_duration_seconds_count{operation="sign",service="awskms"}`,
		`countersign_skipped_keys 1`,
	} {
		if !strings.Contains(metrics, want) {
			s.t.Errorf("the metrics have no %s", want)
		}
	}
}
