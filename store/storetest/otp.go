package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// runOTP checks the rules of one-time passwords, created by package otp and carried by
// activities, as an engine does it.
func runOTP(t *testing.T, h Harness) {
	for name, test := range map[string]func(*bench){
		"200 right codes at once: one is used":          rightAtOnce,
		"200 wrong codes at once: three are counted":    wrongAtOnce,
		"the same wrong request counts once":            wrongRepeated,
		"a code is good to the millisecond":             codeExpires,
		"a fourth code kills the oldest":                fourthKillsOldest,
		"sends are limited to the millisecond":          sendsLimited,
		"40 sends of a credential at once: ten go out":  func(b *bench) { tenOfCredential(passwordsOf(b)) },
		"tries are limited over all codes":              triesLimited,
		"undelivered codes never come alive":            undelivered,
		"a code whose node died never comes alive":      nodeDied,
		"a used code is used, whatever became of a try": usedIsUsed,
		"an unused code is nowhere":                     unusedIsNowhere,
	} {
		t.Run(name, func(t *testing.T) { test(open(t, h)) })
	}
}

// secret is an otp.Secret for tests.
type secret []byte

// Reveal implements otp.Secret.
func (s secret) Reveal(use func([]byte) error) error { return use(s) }

// outbox keeps the messages that were sent.
type outbox struct {
	mu   sync.Mutex
	sent map[string]string // code by id
	fail error
}

// Send implements otp.Sender.
func (o *outbox) Send(_ context.Context, message otp.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent[message.OTPID] = strings.Fields(message.Text)[0]
	return o.fail
}

// passwords is a service over a store, with its outbox.
type passwords struct {
	*bench
	*outbox
	service *otp.Service
	node    func(i int) store.Store
}

func passwordsOf(b *bench) *passwords {
	b.t.Helper()
	box := &outbox{sent: map[string]string{}}
	service, err := otp.New(otp.Config{Store: b.Store, Secret: secret(make([]byte, 32)), SMS: box})
	b.noError(err)
	return &passwords{bench: b, outbox: box, service: service, node: func(int) store.Store { return b.Store }}
}

// request asks for a code whose message is only the code.
func request() otp.Request {
	return otp.Request{
		Type: otp.TypeSMS, Contact: "+4915112345678",
		SMS: otp.SMSCustomization{Template: "{{.OtpCode}}"},
	}
}

// issue sends a code through an activity.
func (p *passwords) issue() (id string, err error) {
	p.t.Helper()
	issue, err := p.service.Prepare(organization, "", request())
	p.noError(err)
	body := "issue " + issue.ID()
	begun, err := p.Begin(p.t.Context(), p.claim(body), issue.Reserve(p.now))
	if err != nil {
		return "", err
	}
	if err := issue.Deliver(p.t.Context()); err != nil {
		p.noError(p.Release(p.t.Context(), *begun.Lease, issue.Failed(p.now)))
		return issue.ID(), err
	}
	return issue.ID(), p.Complete(p.t.Context(), *begun.Lease, p.activity(body), issue.Activate(p.now))
}

// mustIssue issues a code and expects no error.
func (p *passwords) mustIssue() (id string) {
	p.t.Helper()
	id, err := p.issue()
	p.noError(err)
	return id
}

// redeem tries a code through an activity. The body identifies the request.
func (p *passwords) redeem(s store.Store, body, id, typed string) error {
	verification, err := p.service.PrepareVerification(organization, id, typed, fingerprint(body))
	if err != nil {
		return err
	}
	begun, err := s.Begin(p.t.Context(), p.claim(body), verification.Attempt(p.now))
	if err != nil {
		return err
	}
	if begun.Lease == nil {
		return fmt.Errorf("body %q was sent before", body)
	}
	err = s.Complete(p.t.Context(), *begun.Lease, p.activity(body), verification.Consume())
	if err != nil {
		return errors.Join(err, s.Release(p.t.Context(), *begun.Lease, nil))
	}
	return nil
}

// refused checks that a try is refused, and why.
func (p *passwords) refused(err, why error) {
	p.t.Helper()
	p.is(err, otp.ErrInvalidCode)
	p.is(err, why)
}

// wrong returns a wrong code.
func wrong(code string) string {
	if code[0] == '0' {
		return "1" + code[1:]
	}
	return "0" + code[1:]
}

// redeemAtOnce tries a code in n concurrent requests.
func (p *passwords) redeemAtOnce(n int, id, typed string) (right int) {
	p.t.Helper()
	var succeeded atomic.Int32
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			err := p.redeem(p.node(i), fmt.Sprint("body ", i), id, typed)
			switch {
			case err == nil:
				succeeded.Add(1)
			case !errors.Is(err, otp.ErrInvalidCode):
				p.t.Error(err)
			}
		})
	}
	all.Wait()
	return int(succeeded.Load())
}

func rightAtOnce(b *bench) { oneOfManyRight(passwordsOf(b)) }

func oneOfManyRight(p *passwords) {
	id := p.mustIssue()
	p.same(1, p.redeemAtOnce(200, id, p.sent[id]))
	p.refused(p.redeem(p.Store, "later", id, p.sent[id]), otp.ErrUsed)
}

func wrongAtOnce(b *bench) { threeOfManyWrong(passwordsOf(b)) }

func threeOfManyWrong(p *passwords) {
	id := p.mustIssue()
	p.same(0, p.redeemAtOnce(200, id, wrong(p.sent[id])))
	p.do(func(ledger otpledger.Ledger) error {
		code, err := ledger.Code(id)
		p.noError(err)
		p.same(3, len(code.Tried))
		p.same(otpledger.StateDead, code.State)
		meters, err := ledger.Meters(code.User, code.To)
		for _, meter := range meters {
			tries := 0
			for _, event := range meter.Tried {
				tries += int(event.N)
			}
			p.same(3, tries)
		}
		return err
	})
	p.refused(p.redeem(p.Store, "later", id, p.sent[id]), otp.ErrDead)
}

func wrongRepeated(b *bench) {
	p := passwordsOf(b)
	id := p.mustIssue()
	for range 20 {
		p.refused(p.redeem(p.Store, "same", id, wrong(p.sent[id])), otp.ErrWrong)
	}
	p.refused(p.redeem(p.Store, "second", id, wrong(p.sent[id])), otp.ErrWrong)
	p.noError(p.redeem(p.Store, "third", id, strings.ToLower(p.sent[id])))
}

func codeExpires(b *bench) {
	p := passwordsOf(b)
	early, late := p.mustIssue(), p.mustIssue()
	p.now = epoch.Add(otp.DefaultExpiration - time.Millisecond)
	p.noError(p.redeem(p.Store, "early", early, p.sent[early]))
	p.now = epoch.Add(otp.DefaultExpiration)
	p.refused(p.redeem(p.Store, "late", late, p.sent[late]), otp.ErrExpired)
}

func fourthKillsOldest(b *bench) {
	p := passwordsOf(b)
	ids := []string{p.mustIssue(), p.mustIssue(), p.mustIssue()}
	p.now = epoch.Add(otp.DefaultSendsWindow)
	ids = append(ids, p.mustIssue())
	p.refused(p.redeem(p.Store, "first", ids[0], p.sent[ids[0]]), otp.ErrDead)
	for _, id := range ids[1:] {
		p.noError(p.redeem(p.Store, "body of "+id, id, p.sent[id]))
	}
}

func sendsLimited(b *bench) {
	p := passwordsOf(b)
	for range otp.DefaultSends {
		p.mustIssue()
	}
	p.now = epoch.Add(otp.DefaultSendsWindow - time.Millisecond)
	_, err := p.issue()
	var limit *otp.LimitError
	if !errors.As(err, &limit) || limit.RetryAfter != time.Millisecond {
		p.t.Fatalf("the fourth is refused with %v", err)
	}
	p.now = epoch.Add(otp.DefaultSendsWindow)
	p.mustIssue()
}

// tenOfCredential reserves messages to many contacts at once, with one credential that may
// send ten, on the nodes of p.
func tenOfCredential(p *passwords) {
	limits := otp.SendLimits{Credential: otp.Rate{Count: 10, Window: time.Hour}}
	service, err := otp.New(otp.Config{Store: p.Store, Secret: secret(make([]byte, 32)), SMS: p.outbox,
		Limits: otp.Limits{SMS: limits}})
	p.noError(err)
	var sent atomic.Int32
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			wanted := request()
			wanted.Contact, wanted.Credential = fmt.Sprintf("+49151%07d", i), "one"
			issue, err := service.Prepare(organization, "", wanted)
			if err == nil {
				err = p.node(i).Change(p.t.Context(), organization, issue.Reserve(p.now))
			}
			var limit *otp.LimitError
			switch {
			case err == nil:
				sent.Add(1)
			case !errors.As(err, &limit) || limit.Limit != otp.LimitCredentialSends:
				p.t.Error(err)
			}
		})
	}
	all.Wait()
	p.same(int32(10), sent.Load())
}

func triesLimited(b *bench) {
	p := passwordsOf(b)
	tries := 0
	try := func(id string) error {
		tries++
		return p.redeem(p.Store, fmt.Sprint("try ", tries), id, wrong(p.sent[id]))
	}
	for range 3 {
		id := p.mustIssue()
		for range 3 {
			p.refused(try(id), otp.ErrWrong)
		}
	}
	p.now = epoch.Add(otp.DefaultSendsWindow)
	last := p.mustIssue()
	p.refused(try(last), otp.ErrWrong) // the tenth
	p.is(try(last), otp.ErrLimit)
	p.is(p.redeem(p.Store, "right", last, p.sent[last]), otp.ErrLimit)
	p.now = epoch.Add(time.Hour)
	last = p.mustIssue()
	p.noError(p.redeem(p.Store, "right", last, p.sent[last])) // those of the first minute are an hour old
}

func undelivered(b *bench) {
	p := passwordsOf(b)
	p.fail = errors.New("no")
	for range otp.DefaultFailures {
		id, err := p.issue()
		p.is(err, otp.ErrDelivery)
		p.refused(p.redeem(p.Store, "body of "+id, id, p.sent[id]), otp.ErrDead)
	}
	_, err := p.issue()
	p.is(err, otp.ErrLimit)
	p.fail = nil
	p.now = epoch.Add(otp.DefaultFailuresWindow)
	for range otp.DefaultSends { // none of which the failures have used up
		id := p.mustIssue()
		p.noError(p.redeem(p.Store, "body of "+id, id, p.sent[id]))
	}
}

// nodeDied sends a message and loses the node before it completes. The successor sends
// another one.
func nodeDied(b *bench) {
	p := passwordsOf(b)
	first, err := p.service.Prepare(organization, "", request())
	p.noError(err)
	_, err = p.Begin(p.t.Context(), p.claim("a"), first.Reserve(p.now))
	p.noError(err)
	p.noError(first.Deliver(p.t.Context()))
	p.pass(p.ttl + time.Millisecond)

	second, err := p.service.Prepare(organization, "", request())
	p.noError(err)
	begun, err := p.Begin(p.t.Context(), p.claim("a"), second.Reserve(p.now))
	p.noError(err)
	p.noError(second.Deliver(p.t.Context()))
	p.noError(p.Complete(p.t.Context(), *begun.Lease, p.activity("a"), second.Activate(p.now)))
	p.refused(p.redeem(p.Store, "first", first.ID(), p.sent[first.ID()]), otp.ErrUnknown)
	p.noError(p.redeem(p.Store, "second", second.ID(), p.sent[second.ID()]))
}

// usedIsUsed checks that a request that found the code right, but lost it to another
// request, records nothing.
func usedIsUsed(b *bench) {
	p := passwordsOf(b)
	id := p.mustIssue()
	slow, err := p.service.PrepareVerification(organization, id, p.sent[id], fingerprint("slow"))
	p.noError(err)
	begun, err := p.Begin(p.t.Context(), p.claim("slow"), slow.Attempt(p.now))
	p.noError(err)
	p.noError(p.redeem(p.Store, "fast", id, p.sent[id]))
	p.refused(p.Complete(p.t.Context(), *begun.Lease, p.activity("slow"), slow.Consume()), otp.ErrUsed)
	_, err = p.Get(p.t.Context(), organization, p.activity("slow").ID)
	p.is(err, store.ErrNotFound)
}

// unusedIsNowhere searches everything that the store keeps for codes that are live, dead
// and never delivered.
func unusedIsNowhere(b *bench) {
	if b.h.Dump == nil {
		return
	}
	p := passwordsOf(b)
	live := p.mustIssue()
	tried := p.mustIssue()
	p.refused(p.redeem(p.Store, "wrong", tried, wrong(p.sent[tried])), otp.ErrWrong)
	p.fail = errors.New("no")
	failed, err := p.issue()
	p.is(err, otp.ErrDelivery)
	dump := bytes.ToUpper(b.h.Dump(b.t, b.raw))
	for _, id := range []string{live, tried, failed} {
		if !bytes.Contains(dump, []byte(strings.ToUpper(id))) {
			b.t.Fatalf("one-time password %s is not in the dump: it is not a dump of all", id)
		}
		for _, form := range []string{p.sent[id], fmt.Sprintf("%X", p.sent[id])} {
			if bytes.Contains(dump, []byte(form)) {
				b.t.Errorf("the code of %s is kept, as %s", id, form)
			}
		}
	}
}
