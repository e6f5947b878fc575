package fuzz

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/tape"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store/memory"
)

// otpPlayer performs the same operations on a service and on its model.
type otpPlayer struct {
	t       *testing.T
	tape    *tape.Tape
	service *otp.Service
	model   otpModel
	now     time.Time

	fails bool        // what the sender does next
	last  otp.Message // what it was given
	all   []*otpModelCode
}

// otpLimits are small, so that short sequences reach them.
var otpLimits = otp.Limits{
	Sends: otp.Rate{Count: 3, Window: 10 * time.Second}, Failures: otp.Rate{Count: 2, Window: 20 * time.Second},
	HourlyTries: otp.Rate{Count: 4, Window: 30 * time.Second}, DailyTries: otp.Rate{Count: 6, Window: 90 * time.Second},
	LiveCodes: 2, TriesPerCode: 2, MaxExpiration: time.Minute,
}

// Send implements otp.Sender.
func (p *otpPlayer) Send(_ context.Context, message otp.Message) error {
	p.last = message
	if p.fails {
		return errors.New("not delivered")
	}
	return nil
}

// FuzzOTPService checks that the service answers like the model, to the millisecond,
// for any sequence of operations by two users with two contacts: deliveries that
// succeed or fail, and codes typed correctly, wrongly or late.
func FuzzOTPService(f *testing.F) {
	addChoices(f)
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > maxChoices {
			return
		}
		p := &otpPlayer{t: t, tape: tape.New(choices), now: time.UnixMilli(1_777_000_000_000), model: otpModel{limits: otpLimits}}
		var err error
		p.service, err = otp.New(otp.Config{
			Store: memory.New(0), Secret: keystore.NewSecret(make([]byte, otp.MinSecretSize)),
			Email: p, SMS: p, Limits: otpLimits, Clock: func() time.Time { return p.now },
		})
		testenv.Must(t, err)
		for p.tape.More() {
			p.step()
		}
	})
}

func (p *otpPlayer) step() {
	switch p.tape.Intn(8) {
	case 0, 1, 2:
		p.issue()
	case 3, 4, 5:
		p.verify()
	default:
		p.now = p.now.Add(tape.Pick(p.tape, time.Millisecond, time.Second, 10*time.Second, 30*time.Second-time.Millisecond, time.Minute))
	}
}

// issue requests a code; the message is only the code.
func (p *otpPlayer) issue() {
	seconds, length, alphanumeric := 1+p.tape.Intn(60), otp.MinLength+p.tape.Intn(4), p.tape.Bool()
	code := &otpModelCode{
		user: tape.Pick(p.tape, "ann", "bob"), contact: tape.Pick(p.tape, "+4915112345678", "+4915187654321"),
		state: otpledger.StateLive, expires: p.now.Add(time.Duration(seconds) * time.Second),
	}
	p.fails = p.tape.OneIn(4)
	id, err := p.service.Issue(p.t.Context(), "org", "App", otp.Request{
		Type: otp.TypeSMS, Contact: code.contact, UserIdentifier: code.user, ExpirationSeconds: strconv.Itoa(seconds),
		Length: length, Alphanumeric: &alphanumeric, SMS: otp.SMSCustomization{Template: "{{.OtpCode}}"},
	})
	wait := p.model.mayIssue(p.now, code.user, code.contact)
	switch {
	case wait > 0:
		p.limited(err, wait)
		return
	case p.fails:
		p.is(err, otp.ErrDelivery)
		p.model.failed = append(p.model.failed, otpEvent{p.now, code.user, code.contact})
		code.state = otpledger.StateDead
	default:
		p.is(err, nil)
		p.model.issued(code, p.now)
	}
	if code.id, code.typed = p.last.OTPID, p.last.Text; err == nil && id != code.id {
		p.t.Fatalf("issued %s, sent %s", id, code.id)
	}
	p.all = append(p.all, code)
	p.checkCode(code.typed, length, alphanumeric)
}

var (
	digitsOnly  = regexp.MustCompile(`^[0-9]+$`)
	crockford32 = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]+$`)
)

func (p *otpPlayer) checkCode(typed string, length int, alphanumeric bool) {
	form := digitsOnly
	if alphanumeric {
		form = crockford32
	}
	if len(typed) != length || !form.MatchString(typed) {
		p.t.Fatalf("code %q: %d of %v are expected", typed, length, form)
	}
}

// verify tries one of the codes sent so far.
func (p *otpPlayer) verify() {
	if len(p.all) == 0 {
		return
	}
	code := tape.Pick(p.tape, p.all...)
	typed, right := p.typing(code.typed)
	organization := tape.Pick(p.tape, "org", "org", "org", "another")
	verified, err := p.service.Verify(p.t.Context(), organization, code.id, typed)
	switch {
	case organization != "org":
		p.is(err, otp.ErrUnknown)
		return
	case p.now.After(code.expires.Add(otpledger.Grace)): // the store may have forgotten it
		p.is(err, otp.ErrInvalidCode)
		return
	}
	wait, refused := p.model.verified(code, right, p.now)
	switch {
	case wait > 0:
		p.limited(err, wait)
	case refused != nil:
		p.is(err, refused)
		p.is(err, otp.ErrInvalidCode)
	case err != nil || verified.ID != code.id || verified.Contact != code.contact:
		p.t.Fatalf("a right code is refused: %v, or proves something else: %+v", err, verified)
	}
}

// typing returns what a user types who reads the code correctly or not.
func (p *otpPlayer) typing(code string) (typed string, right bool) {
	switch p.tape.Intn(5) {
	case 0, 1:
		return code, true
	case 2:
		return strings.NewReplacer("0", "o", "1", "l").Replace(strings.ToLower(code)), true
	case 3:
		return code[:len(code)-1], false
	}
	return code + "0", false
}

func (p *otpPlayer) is(err, want error) {
	p.t.Helper()
	if !errors.Is(err, want) {
		p.t.Fatalf("error is %v; %v was expected", err, want)
	}
}

// limited requires a LimitError with the wait.
func (p *otpPlayer) limited(err error, wait time.Duration) {
	p.t.Helper()
	limit, ok := errors.AsType[*otp.LimitError](err)
	if !ok || limit.RetryAfter != wait {
		p.t.Fatalf("refused with %v; to wait %v was expected", err, wait)
	}
}
