package rpcapi_test

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/store/memory"
)

const (
	otherToken = "fedcba9876543210fedcba9876543210"
	personal   = "\x19Ethereum Signed Message:\n5hello"
	daemon     = uint32(4711)
)

// rights is an engine whose calls wait for two votes, behind entries that can be replaced.
type rights struct {
	*ballot.Ballot
	t     *testing.T
	users atomic.Pointer[rpcapi.Users]
}

func newRights(t *testing.T, roots *x509.CertPool) *rights {
	t.Helper()
	r := &rights{t: t}
	r.enter(roots, entry(token))
	r.Ballot = ballot.New(t, func(c *countersign.Config) {
		c.Store, c.AllowHazards = memory.New(0), []string{countersign.AllHazards}
		c.Directory = rpcapi.Directory(c.Directory, r.users.Load)
	})
	return r
}

// enter puts entries in force.
func (r *rights) enter(roots *x509.CertPool, entries ...rpcapi.User) {
	r.t.Helper()
	users, err := rpcapi.NewUsers(entries, roots)
	testenv.Must(r.t, err)
	r.users.Store(users)
}

// entry recognizes user-1 in every way, and grants some types.
func entry(secret string, activities ...activity.Type) rpcapi.User {
	uid := daemon
	return rpcapi.User{
		OrganizationID: enginetest.Organization, UserID: "user-1", Token: secret, UID: &uid, Activities: activities,
		Certificates: []rpcapi.Certificate{{DNSName: "batcher.example"}},
	}
}

// asked are what callers ask for. Only the first three can be granted.
var asked = []activity.Intent{
	activity.SignTransactionIntent{SignWith: enginetest.Address, UnsignedTransaction: enginetest.Unsigned, Type: activity.TransactionTypeEthereum},
	activity.SignMessageIntent{SignWith: enginetest.Address, Payload: personal, Encoding: activity.EncodingText, HashFunction: activity.HashKeccak256},
	activity.SignRawPayloadsIntent{SignWith: enginetest.Address, Payloads: []string{personal}, Encoding: activity.EncodingText, HashFunction: activity.HashKeccak256},
	activity.InitOTPAuthIntent{OTPType: "OTP_TYPE_EMAIL", Contact: "ann@example.com"},
}

// others returns the types that can be granted except one.
func others(kind activity.Type) (types []activity.Type) {
	for _, intent := range asked[:3] {
		if other := intent.ActivityType(); other != kind {
			types = append(types, other)
		}
	}
	return types
}

// TestRights has callers without a credential ask for each kind of activity, and changes what
// their entries grant, at each moment at which their right is asked: at once, after votes, after
// a restart, and after a reload.
func TestRights(t *testing.T) {
	roots := newAuthority(t).pool()
	changes := map[string]struct {
		change func(r *rights, kind activity.Type)
		says   string // why it is not signed; empty: it is
	}{
		"nothing":           {func(*rights, activity.Type) {}, ""},
		"named":             {func(r *rights, kind activity.Type) { r.enter(roots, entry(token, kind)) }, ""},
		"a token replaced":  {func(r *rights, _ activity.Type) { r.enter(roots, entry(otherToken)) }, ""},
		"the right taken":   {func(r *rights, kind activity.Type) { r.enter(roots, entry(token, others(kind)...)) }, "its list of activities has to name the type"},
		"the entry removed": {func(r *rights, _ activity.Type) { r.enter(roots) }, "no entry of the configuration recognizes user user-1 by"},
		"the user removed": {func(r *rights, _ activity.Type) {
			r.SetUsers(ballot.Voter("ann", "finance", r.Ann), ballot.Voter("ben", "finance", r.Ben))
		}, "user user-1, or the credential that it was submitted with is not in the directory"},
		"half reloaded": {func(r *rights, kind activity.Type) {
			next, err := rpcapi.NewUsers([]rpcapi.User{entry(token, others(kind)...)}, roots)
			testenv.Must(r.t, err)
			r.users.Store(r.users.Load().Still(next))
		}, "its list of activities has to name the type"},
	}
	for _, scheme := range []string{"TOKEN", "CERTIFICATE dns:batcher.example", fmt.Sprintf("PEER uid:%d", daemon)} {
		for _, intent := range asked {
			for what, change := range changes {
				for _, restarts := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/%s/%v", scheme, intent.ActivityType(), what, restarts), func(t *testing.T) {
						r := newRights(t, roots)
						r.check(scheme, intent, restarts, change.says, func() { change.change(r, intent.ActivityType()) })
					})
				}
			}
		}
	}
}

// check makes a call that waits, has the change happen before its last vote, and checks whether
// it is signed then, and whether the same call is answered.
func (r *rights) check(scheme string, intent activity.Intent, restarts bool, says string, change func()) {
	r.t.Helper()
	engine := r.Engine
	call := func() error {
		_, err := engine.As(access.User{ID: "user-1", Name: "ci"}, scheme).Sign(r.t.Context(), enginetest.Organization, intent)
		return err
	}
	err := call()
	if !intent.ActivityType().Signs() {
		enginetest.Refusal(r.t, err, activity.ReasonNotAuthorized, "may not submit")
		return
	}
	enginetest.Refusal(r.t, err, activity.ReasonConsensusNeeded, "")
	waiting := r.waiting(err)
	r.Approve(r.Ann, waiting)
	change()
	if restarts {
		engine = r.Second(r.t)
	}
	done, err := engine.Submit(r.t.Context(), r.Ben.Sign(r.VoteBody(activity.TypeApproveActivity, waiting, fmt.Sprintf("%x", waiting.Reading.Digest()))))
	testenv.Must(r.t, err)
	if says == "" {
		if err := call(); done.Status != activity.StatusCompleted || err != nil {
			r.t.Fatalf("%s (%s), %v", done.Status, done.Decision.Reason, err)
		}
		r.WantSignatures(r.t, 1)
		return
	}
	if done.Status != activity.StatusConsensusNeeded || !strings.Contains(done.Decision.Reason, says) {
		r.t.Errorf("%s: %s", done.Status, done.Decision.Reason)
	}
	r.WantSignatures(r.t, 0)
	r.enter(newAuthority(r.t).pool(), entry(token))
	r.Register("finance", "finance")
	testenv.Must(r.t, engine.Operator().ResumeWaiting(r.t.Context()))
	if err := call(); err != nil {
		r.t.Errorf("once the right is back: %v", err)
	}
	r.WantSignatures(r.t, 1)
}

// waiting returns the record of the activity that an error names.
func (r *rights) waiting(err error) *activity.Record {
	r.t.Helper()
	named, ok := errors.AsType[*activity.WaitingError](err)
	if !ok {
		r.t.Fatal(err)
	}
	stored, err := r.Config.Store.Get(r.t.Context(), enginetest.Organization, named.ID)
	testenv.Must(r.t, err)
	record, err := activity.DecodeRecord(stored.Data)
	testenv.Must(r.t, err)
	return record
}

// TestRightsAtOnce: what does not wait is signed if the entry grants it, and refused otherwise,
// also the same call that was signed before.
func TestRightsAtOnce(t *testing.T) {
	roots := newAuthority(t).pool()
	for _, intent := range asked {
		r := newRights(t, roots)
		r.Policy.Set(func(p *ballot.Policy) { p.Groups = nil })
		kind := intent.ActivityType()
		as := r.Engine.As(access.User{ID: "user-1"}, "TOKEN")
		if _, err := as.Sign(t.Context(), enginetest.Organization, intent); (err == nil) != kind.Signs() {
			t.Errorf("%s: %v", kind, err)
		}
		prepared, err := as.Prepare(t.Context(), enginetest.Organization, intent)
		if (err == nil) != kind.Signs() {
			t.Errorf("%s: %v", kind, err)
		}
		r.enter(roots, entry(token, others(kind)...))
		_, err = as.Sign(t.Context(), enginetest.Organization, intent)
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "may not submit")
		if prepared != nil {
			_, err = prepared.Sign(t.Context())
			enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "may not submit")
		}
		if kind.Signs() {
			_, err = r.Engine.As(access.User{ID: "user-1"}, "TOKEN", others(kind)...).Sign(t.Context(), enginetest.Organization, intent)
			enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "may not submit")
		}
	}
}

// TestRightsOfPrograms: without entries, what a program grants when it calls is the right, with
// the same default, and it stays for as long as its user exists.
func TestRightsOfPrograms(t *testing.T) {
	for _, intent := range asked[:3] {
		for _, granted := range [][]activity.Type{nil, {intent.ActivityType()}, others(intent.ActivityType())} {
			b := ballot.New(t, func(c *countersign.Config) {
				c.Store, c.AllowHazards = memory.New(0), []string{countersign.AllHazards}
			})
			r := &rights{Ballot: b, t: t}
			_, err := b.Engine.As(access.User{ID: "user-1"}, "", granted...).Sign(t.Context(), enginetest.Organization, intent)
			if len(granted) == 2 {
				enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "may not submit")
				continue
			}
			enginetest.Refusal(t, err, activity.ReasonConsensusNeeded, "")
			waiting := r.waiting(err)
			b.Approve(b.Ann, waiting)
			b.Is(b.Approve(b.Ben, waiting), activity.StatusCompleted)
		}
	}
}

// TestNotGranted: no entry and no program can grant what is not a signature.
func TestNotGranted(t *testing.T) {
	for _, kind := range activity.Types() {
		_, err := rpcapi.NewUsers([]rpcapi.User{entry(token, activity.TypeSignTransaction, kind)}, newAuthority(t).pool())
		if kind.Signs() != (err == nil) {
			t.Errorf("%s: %v", kind, err)
		}
		if err != nil && !strings.Contains(err.Error(), "activities[1]: ") {
			t.Errorf("%s: %v", kind, err)
		}
		r := newRights(t, newAuthority(t).pool())
		_, err = r.Engine.As(access.User{ID: "user-1"}, "TOKEN", kind).Sign(t.Context(), enginetest.Organization, asked[3])
		if err == nil {
			t.Errorf("%s: a code is sent", kind)
		}
	}
	empty := entry(token)
	empty.Activities = []activity.Type{}
	second := entry(otherToken, activity.TypeSignTransaction)
	second.Certificates, second.UID = nil, nil
	for says, users := range map[string][]rpcapi.User{
		"the list is empty": {empty}, "grant the same in both": {entry(token), second},
	} {
		if _, err := rpcapi.NewUsers(users, newAuthority(t).pool()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// TestMessageAfterVotes: a message that came through each door waits, gets its votes, and is
// then answered with its signature.
func TestMessageAfterVotes(t *testing.T) {
	ca := newAuthority(t)
	for door, dial := range map[string]func(*rights, *rpcapi.Handler) func(body string) string{
		"token": func(r *rights, h *rpcapi.Handler) func(string) string {
			server := httptest.NewServer(h)
			r.t.Cleanup(server.Close)
			return poster(r.t, server.Client(), server.URL, "Authorization", "Bearer "+token)
		},
		"certificate": func(r *rights, h *rpcapi.Handler) func(string) string {
			s := &secured{t: r.t}
			server := s.start(h)
			return poster(r.t, s.client(ca.client(named("batcher.example"))), server.URL)
		},
		"socket": (*rights).dial,
	} {
		t.Run(door, func(t *testing.T) {
			r := newRights(t, ca.pool())
			uid := uint32(os.Getuid())
			who := entry(token)
			who.UID = &uid
			r.enter(ca.pool(), who)
			handler := rpcapi.New(r.Engine, rpcapi.Options{
				Users: r.users.Load, Directory: r.Config.Directory.(access.Users), Keystore: r.Signing, Host: func(string) bool { return true },
			})
			send := dial(r, handler)
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"personal_sign","params":["0x68656c6c6f",%q]}`, enginetest.Address)
			var waits answered
			if err := json.Unmarshal([]byte(send(body)), &waits); err != nil || waits.Error == nil || waits.Error.Data.Reason != "CONSENSUS_NEEDED" {
				t.Fatalf("%+v, %v", waits.Error, err)
			}
			waiting := r.waiting(&activity.WaitingError{ID: waits.Error.Data.ActivityID})
			r.Approve(r.Ann, waiting)
			r.Is(r.Approve(r.Ben, waiting), activity.StatusCompleted)
			if text := send(body); !strings.Contains(text, `"result":"0x`) {
				t.Error(text)
			}
			r.WantSignatures(t, 1)
		})
	}
}

// poster returns what sends a body to a server.
func poster(t testing.TB, client *http.Client, url string, headers ...string) func(string) string {
	return func(body string) string {
		t.Helper()
		_, text := post(t, client, url, body, headers...)
		return text
	}
}

// dial returns what sends a body through a unix socket.
func (r *rights) dial(handler *rpcapi.Handler) func(string) string {
	connection := (&server{t: r.t, handler: handler}).dial()
	answers := bufio.NewReader(connection)
	return func(body string) string {
		r.t.Helper()
		_ = connection.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(connection, body); err != nil {
			r.t.Fatal(err)
		}
		text, err := answers.ReadString('\n')
		testenv.Must(r.t, err)
		return text
	}
}
